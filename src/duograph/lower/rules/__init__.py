"""The `lower` rules, one module per family of ops; `duograph.lower.rule` loads them all."""
