"""Elementary functions of real and complex numbers: one line per op, the algorithms are in `lower.math`."""

from __future__ import annotations

from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Value
from ..math import exponential, logarithm
from ..math.integers import power as integer_power
from ..rule import pointwise


def _real(name: str, function: Any) -> None:
    """A function of floats alone."""
    pointwise(name, exact=False)(function)


_real("exp", exponential.exp)
_real("exp2", exponential.exp2)
_real("expm1", exponential.expm1)
_real("log", logarithm.log)
_real("log1p", logarithm.log1p)
_real("log2", logarithm.log2)
_real("log10", logarithm.log10)
_real("xlogy", logarithm.xlogy)
_real("sigmoid", exponential.sigmoid)
_real("softplus", exponential.softplus)
_real("tanh", exponential.tanh)
_real("sinh", exponential.sinh)
_real("cosh", exponential.cosh)
_real("asinh", logarithm.asinh)
_real("acosh", logarithm.acosh)
_real("atanh", logarithm.atanh)

pointwise("sqrt")(lambda b, x: b.sqrt(x))
pointwise("rsqrt")(lambda b, x: b.const(1.0, x) / b.sqrt(x))


@pointwise("pow", exact=False)
def pow_(b: Builder, x: Any, y: Any) -> Value:
    return integer_power(b, x, y)
