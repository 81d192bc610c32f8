"""The rules of all ops, one module per family, and which of them have the rules of the ops that a file declares.

A module is loaded when one of its ops is lowered for the first time, and a small program needs few of them. An op whose
file is not in the table is found all the same, by loading everything.
"""

from __future__ import annotations

FAMILIES: dict[str, str] = {
    "advanced_indexing": "indexing scatter",
    "arithmetic": "pointwise_arithmetic pointwise_complex",
    "banded": "diagonals",
    "bits": "pointwise_cast",
    "boxes": "boxes hosted",
    "cast": "pointwise_cast",
    "collective": "pointwise_cast",
    "compare": "pointwise_logic",
    "complex": "pointwise_complex pointwise_math",
    "conv": "conv",
    "creation": "creation",
    "ctc": "sequences",
    "cumulative": "cumulative",
    "decoding": "hosted sequences fractional_pool",
    "decompositions": "hosted",
    "deferred": "",  # collectives, which are steps in Python
    "diagonals": "diagonals",
    "factored": "hosted sequences",
    "fft": "fourier",
    "image": "pool",
    "indexing": "indexing movement scatter",
    "linalg": "matmul",
    "logical": "pointwise_logic",
    "movement": "movement reduce",
    "norm": "reduce",
    "pool": "pool",
    "power": "pointwise_math",
    "random": "random",
    "ranges": "hosted slices",
    "reduce": "reduce",
    "scalar": "",  # numbers of a program: executables compute them themselves
    "search": "hosted histogram",
    "segments": "scatter",
    "select": "pointwise_logic",
    "slices": "slices padding",
    "smooth_activation": "pointwise_math",
    "sort": "sort",
    "special": "pointwise_math",
    "unary": "pointwise_arithmetic pointwise_logic pointwise_math",
    "windows": "windows",
}
"""File of `ops` -> modules with the rules of its ops, in the order in which they are looked through."""
