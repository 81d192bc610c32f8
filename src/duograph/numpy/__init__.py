"""``duograph.numpy``: NumPy's functions on tensors, as ``mindspore.numpy``.

Made by tables over the functions of ``duograph.ops``: elementwise ones take lists and numbers as well as tensors, and a
``dtype`` for the result. What NumPy spells otherwise is in ``functions.py``.
"""

from __future__ import annotations

import math
from typing import Any

from duograph.api.native import make_public as _make_public
from duograph.base.public import missing as _missing
from duograph.base.public import own_names as _own_names
from duograph.core.dtype import (
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)  # fmt: skip
from duograph.core.traits import Traits as _Traits

from . import axes as _axes
from . import creation as _creation
from . import elementwise as _elementwise
from . import fft
from . import functions as _functions
from . import histograms as _histograms
from . import nans as _nans
from . import places as _places
from . import polynomials as _polynomials
from . import sets as _sets
from . import shapes as _shapes
from .elementwise import BINARY, UNARY
from .places import mgrid, ogrid

pi, e, inf, nan, euler_gamma, newaxis = math.pi, math.e, math.inf, math.nan, 0.5772156649015329, None
PI = pi
__capture__ = _Traits(rules=True)
int_, uint, float_ = int32, uint32, float32

_MORE = (_creation, _shapes, _functions, _axes, _histograms, _nans, _places, _polynomials, _sets)
for _table, _home in ((UNARY, _elementwise), (BINARY, _elementwise), *[(m.FUNCTIONS, m) for m in _MORE]):
    _make_public(_table, vars(_home))
    globals().update(_table)
__all__ = [
    *UNARY, *BINARY, *[name for m in _MORE for name in m.FUNCTIONS], "mgrid", "ogrid", "fft",
    "bool_", "e", "euler_gamma", "float16", "float32", "float64", "inf", "int8",
    "int16", "int32", "int64", "nan", "newaxis", "pi", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    raise _missing(__name__, name, __all__)


def __dir__() -> list[str]:
    return sorted(_own_names(globals()))
