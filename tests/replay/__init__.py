"""What a tree compiles, recorded and compared with what another tree compiles (`scripts/replay`)."""
