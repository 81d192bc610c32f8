"""Ops that stay with NumPy, also in the middle of compiled programs, and why.

A test lists them (`tests/house/test_lowering.py`): nothing falls back silently.
"""

from __future__ import annotations

from ..rule import host

LAPACK = "LAPACK, through NumPy: factorisations are its subject, and its threads are kept to one"
# Of these, compiled programs have `masked_select`, `nonzero` and `range_slice` natively (`runtime/programs/found.py`).
SIZE = "the size of the result depends on data: memory for it is found by the op itself"
SPARSE = "rows of sparse tensors are dictionaries in it: once per evaluation, on a few sequences"

HOSTED: dict[str, str] = {
    LAPACK: """
        cholesky cofactors cofactors_along det eig eigh geqrf inverse matrix_logarithm pseudo_inverse qr slogdet solve
        svd svd_values triangular_solve
    """,
    SIZE: """
        bincount ctc_greedy_decoder list_diff masked_select non_max_suppression nonzero range_slice unique
        unique_consecutive
    """,
    SPARSE: "edit_distance",
}

for _reason, _names in HOSTED.items():
    for _name in _names.split():
        host(_name, _reason)
