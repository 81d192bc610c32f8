"""Winograd's algorithm for 3x3 kernels: `forward` says which sums it computes and when it is chosen."""
