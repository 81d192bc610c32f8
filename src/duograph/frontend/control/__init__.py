"""Paths that depend on tensors: regions, how they are joined, early ends, recursion."""
