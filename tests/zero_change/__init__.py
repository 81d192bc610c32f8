"""Code of others with every function compiled, and no change to it: see `scripts/zero_change`."""
