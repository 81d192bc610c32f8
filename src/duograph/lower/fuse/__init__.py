"""Which nodes are computed together, and by which schedule."""
