"""Powers and other functions of two operands that need logarithms or roots for their gradients."""

from __future__ import annotations

import numpy as np

from .arithmetic import add, adjoint, div, mul, neg, sub
from .cast import in_single
from .compare import equal, greater_equal
from .creation import constant_like
from .elementwise import binary
from .logical import logical_and
from .select import select
from .unary import log


def _pow(x, y):
    if x.dtype.kind in "fc":
        return np.power(x, y)
    if x.dtype.kind == "b":
        return x | ~y
    return _integer_power(x, y)


def _integer_power(x, y):
    """Integers wrap around; a negative exponent truncates the real result: 0 unless ``x`` is 1 or -1.

    ``0 ** -1`` is the smallest value of the type, as in MindSpore.
    """
    negative = y < 0
    out = np.power(x, np.where(negative, y.dtype.type(0), y))
    if not negative.any():
        return out
    odd = (y & y.dtype.type(1)) != 0
    unit = np.where(x == 1, 1, np.where(x == -1, np.where(odd, -1, 1), 0)).astype(x.dtype)
    inverse = np.where(x == 0, np.iinfo(x.dtype).min, unit).astype(x.dtype)
    return np.where(negative, inverse, out)


def _pow_gradients(x, y, out, dout):
    def of_x():
        # Where y is 0 the slope is 0, also at x = 0 and at infinities: the exponent y - 1 must not get there.
        zero = constant_like(y, 0)
        exponent = select(equal(y, zero), zero, sub(y, constant_like(y, 1)))
        return mul(dout, adjoint(mul(y, pow_(x, exponent))))

    def of_y():
        # 0 ** y is flat in y from 0 on; its logarithm must not make NaN of that.
        zero = equal(x, constant_like(x, 0))
        if y.dtype.is_floating:
            zero = logical_and(zero, greater_equal(y, constant_like(y, 0)))
        safe = select(zero, constant_like(x, 1), x)
        return mul(dout, adjoint(mul(out, log(safe))))

    return of_x, of_y


pow_ = binary("pow", _pow, _pow_gradients, "``x ** y``.", layout="contiguous")

atan2 = binary(
    "atan2", np.arctan2,
    lambda x, y, out, dout: _atan2_gradients(x, y, dout),
    "The angle of the point with ordinate ``x`` and abscissa ``y``.", layout="contiguous", kinds="f",
)  # fmt: skip


@in_single
def _atan2_gradients(x, y, dout):
    squares = add(mul(x, x), mul(y, y))
    nothing = equal(squares, constant_like(squares, 0))
    scale = div(dout, select(nothing, constant_like(squares, 1), squares))
    return mul(scale, y), neg(mul(scale, x))


hypot = binary(
    "hypot", np.hypot,
    lambda x, y, out, dout: (lambda: mul(dout, div(x, out)), lambda: mul(dout, div(y, out))),
    "``sqrt(x*x + y*y)`` without overflow.", layout="contiguous", kinds="f",
)  # fmt: skip


def _xlogy(x, y):
    zero = (x == 0) & ~np.isnan(y)
    return np.where(zero, x.dtype.type(0), x * np.log(np.where(zero, x.dtype.type(1), y)))


def _xlogy_gradients(x, y, out, dout):
    zero = equal(x, constant_like(x, 0))
    safe = select(zero, constant_like(y, 1), y)
    return (lambda: mul(dout, log(safe)), lambda: mul(dout, div(x, y)))


xlogy = binary("xlogy", _xlogy, _xlogy_gradients, "``x * log(y)``, 0 where ``x`` is 0.", layout="contiguous", kinds="f")
