"""``mint.linalg``."""

from __future__ import annotations

from typing import Any

from duograph.api.functional import linalg
from duograph.api.functional.forms import renamed
from duograph.api.functional.linalg import inverse as inv
from duograph.api.native import make_public

norm = linalg.norm


def _as(fn: Any, name: str, **names: str) -> Any:
    return renamed(fn, name, False, "mint.linalg", **names)


vector_norm = _as(linalg.vector_norm, "vector_norm", axis="dim", keepdims="keepdim")
matrix_norm = _as(linalg.matrix_norm, "matrix_norm", axis="dim", keepdims="keepdim")
qr = _as(linalg.qr, "qr", input="A")

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]
make_public({name: globals()[name] for name in __all__}, globals())
