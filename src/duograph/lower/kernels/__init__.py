"""Kernels that several rules share: strided copies, rows picked and written by offsets, sorting, random words."""
