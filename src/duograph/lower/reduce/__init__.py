"""Reductions: kernels whose order of accumulation depends on shape and dtype alone."""
