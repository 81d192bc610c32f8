"""Elementwise arithmetic that is exact up to one rounding: ``add``, ``mul``, ``div``, ``mod``, ``maximum``, ``abs`` ...

NumPy broadcasting, one dtype; the public functions (``duograph.api``) promote mixed dtypes and Python numbers before
they come here. Gradients of complex values follow MindSpore: the conjugate of the derivative times the cotangent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.op import Op, primitive

from .cast import cast
from .compare import equal, greater
from .creation import constant_like
from .elementwise import binary, elementwise, elementwise_batch, unary
from .movement import sum_to
from .rules import in_float32
from .select import select

conj: Op = unary("conj", np.conjugate, lambda x, out, dout: conj(dout), "Complex conjugate.", layout="any")


def adjoint(x: Any) -> Any:
    """The conjugate of complex ``x``; real tensors as they are."""
    return conj(x) if x.dtype.is_complex else x


@primitive
class add:
    """``x + y``; on bool: or."""

    layout = "any"
    infer = elementwise("add")
    reference = in_float32(np.add)
    batch = elementwise_batch("add")

    def bprop(ins, out, dout):
        x, y = ins
        return (lambda: sum_to(dout, x.shape), lambda: sum_to(dout, y.shape))


@primitive
class sub:
    """``x - y``; on bool: exclusive or."""

    layout = "any"
    infer = elementwise("sub")
    reference = in_float32(lambda x, y: np.not_equal(x, y) if x.dtype.kind == "b" else np.subtract(x, y))
    batch = elementwise_batch("sub")

    def bprop(ins, out, dout):
        x, y = ins
        return (lambda: sum_to(dout, x.shape), lambda: sum_to(neg(dout), y.shape))


@primitive
class mul:
    """``x * y``; on bool: and."""

    layout = "any"
    infer = elementwise("mul")
    reference = in_float32(np.multiply)
    batch = elementwise_batch("mul")

    def bprop(ins, out, dout):
        x, y = ins
        return (lambda: sum_to(mul(adjoint(y), dout), x.shape), lambda: sum_to(mul(adjoint(x), dout), y.shape))


@primitive
class div:
    """``x / y`` for floating and complex dtypes."""

    layout = "any"
    infer = elementwise("div", "fc")
    reference = in_float32(np.true_divide)
    batch = elementwise_batch("div")

    def bprop(ins, out, dout):
        x, y = ins
        dx = div(dout, adjoint(y))
        return (lambda: sum_to(dx, x.shape), lambda: sum_to(neg(mul(dx, adjoint(out))), y.shape))


neg: Op = unary("neg", np.negative, lambda x, out, dout: neg(dout), "``-x``.", layout="any", kinds="ifc")

# ---- quotients and remainders ---------------------------------------------------------------------------------------


def _integer_quotient(floor: bool) -> Any:
    """Integer division; by zero it gives the largest value of the type, the smallest, or 0, by the sign of ``x``."""

    def divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        zero = y == 0
        safe = np.where(zero, y.dtype.type(1), y)
        quotient = np.floor_divide(x, safe)
        if not floor:
            quotient = quotient + ((quotient < 0) & (quotient * safe != x)).astype(x.dtype)
        if not zero.any():
            return quotient
        info = np.iinfo(x.dtype)
        saturated = np.where(x > 0, x.dtype.type(info.max), np.where(x < 0, x.dtype.type(info.min), x.dtype.type(0)))
        return np.where(zero, saturated, quotient)

    return divide


_FLOOR_QUOTIENT, _TRUNC_QUOTIENT = _integer_quotient(floor=True), _integer_quotient(floor=False)


def _rounded_quotient(round_, integer):
    """The quotient is taken in float64 before it is rounded, as MindSpore does."""

    def divide(x, y):
        if x.dtype.kind != "f":
            return integer(x, y)
        return round_(np.true_divide(x, y, dtype=np.float64)).astype(x.dtype)

    return divide


floor_div = binary(
    "floor_div", _rounded_quotient(np.floor, _FLOOR_QUOTIENT), lambda x, y, out, dout: (None, None), kinds="if",
    doc="``floor(x / y)``.",
)  # fmt: skip
trunc_div = binary(
    "trunc_div",
    _rounded_quotient(np.trunc, _TRUNC_QUOTIENT),
    lambda x, y, out, dout: (None, None),
    kinds="if",
    doc="``x / y`` rounded towards zero.",
)
mod = binary(
    "mod", np.remainder,
    lambda x, y, out, dout: (dout, lambda: neg(mul(floor_div(x, y), dout))), kinds="if",
    doc="Remainder with the sign of ``y``, as Python's ``%``; integers modulo zero give 0.",
)  # fmt: skip
fmod = binary(
    "fmod", np.fmod,
    lambda x, y, out, dout: (dout, lambda: neg(mul(trunc_div(x, y), dout))), kinds="if",
    doc="Remainder with the sign of ``x``, as C's ``fmod``; integers modulo zero give 0.",
)  # fmt: skip

# ---- extremes -------------------------------------------------------------------------------------------------------


def _shared(wins: Any, x: Any, y: Any, dout: Any) -> Any:
    """Cotangent of the winner of a comparison: all of it where ``wins``, half of it where both are equal."""
    half = mul(dout, constant_like(dout, 0.5))
    return select(equal(x, y), half, select(wins, dout, constant_like(dout, 0)))


maximum = binary(
    "maximum", np.maximum,
    lambda x, y, out, dout: (
        lambda: _shared(greater(x, y), x, y, dout),
        lambda: _shared(greater(y, x), x, y, dout),
    ), kinds="bif",
    doc="The larger of both; NaN if one is NaN. Equal operands share the gradient.",
)  # fmt: skip
minimum = binary(
    "minimum", np.minimum,
    lambda x, y, out, dout: (
        lambda: _shared(greater(y, x), x, y, dout),
        lambda: _shared(greater(x, y), x, y, dout),
    ), kinds="bif",
    doc="The smaller of both; NaN if one is NaN. Equal operands share the gradient.",
)  # fmt: skip

# ---- signs and simple powers ----------------------------------------------------------------------------------------


def _sign(x):
    if x.dtype.kind == "c":
        return np.where(x == 0, x.dtype.type(0), x / np.abs(x))
    if x.dtype.kind in "bu":
        return (x > 0).astype(x.dtype)
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


def _to_dtype_of(x: Any, value: Any) -> Any:
    return value if value.dtype is x.dtype else cast(value, dtype=x.dtype)


sign = unary(
    "sign", _sign, lambda x, out, dout: None, layout="any",
    doc="-1, 0 or 1; ``x / |x|`` for complex numbers; 0 for NaN, as MindSpore. Its gradient is zero (real dtypes).",
)  # fmt: skip
abs_ = unary(
    "abs", np.abs, lambda x, out, dout: mul(_to_dtype_of(x, dout), sign(x)),
    doc="``|x|``; real for complex numbers. The gradient at 0 is 0.",
    result=lambda t: t.with_dtype(t.dtype.to_real()),
)  # fmt: skip
square = unary(
    "square", np.square, lambda x, out, dout: mul(mul(adjoint(x), constant_like(x, 2)), dout), "``x * x``.", kinds="ifc"
)
reciprocal = unary(
    "reciprocal", lambda x: np.true_divide(x.dtype.type(1), x),
    lambda x, out, dout: neg(mul(dout, adjoint(mul(out, out)))), "``1 / x``.", kinds="fc",
)  # fmt: skip

# ---- neighbours -----------------------------------------------------------------------------------------------------

nextafter = binary("nextafter", np.nextafter, kinds="f", doc="The next representable number after ``x`` towards ``y``.")
copysign = binary(
    "copysign", np.copysign,
    lambda x, y, out, dout: (lambda: mul(dout, mul(sign(x), sign(out))), None), kinds="f",
    doc="The magnitude of ``x`` with the sign of ``y``.",
)  # fmt: skip
