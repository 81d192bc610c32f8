"""Remainders of floats, which are exact."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import INF, NAN, any_lane, lane_by_lane, two_product


def fmod(b: Builder, x: Value, y: Value) -> Value:
    """``x - trunc(x / y) * y`` with the sign of ``x``.

    Quotients that fit are subtracted at once; only if some lane has a larger one, the C library's ``fmod`` runs.
    """
    ratio = x / y
    quotient = b.trunc(ratio)
    if x.type.elem == "f32":
        limit = 2.0**26  # the quotient in float64 is right, and its product with y exact
        wide_x, wide_y = b.convert(x, "f64"), b.convert(y, "f64")
        rest = b.convert(wide_x - b.trunc(wide_x / wide_y) * wide_y, "f32")
        large = b.ge(b.abs(ratio), limit)
    else:
        limit = 2.0**50
        product, error = two_product(b, quotient, y)
        rest = (x - product) - error
        # the quotient may have been rounded up to the next whole number
        rest = b.select(b.lt(rest * b.copysign(b.const(1.0, x), x), 0.0), rest + b.copysign(y, x), rest)
        large = b.ge(b.abs(ratio), limit) | b.lt(b.abs(x), 2.0**-900)
    within = b.lt(b.abs(x), b.abs(y))
    defined = b.ne(y, 0.0) & b.lt(b.abs(x), INF) & b.eq(y, y)
    far = large & defined & ~within
    (slow,) = b.if_(any_lane(b, far), lambda: lane_by_lane(b, _library_fmod, x, y), lambda: rest)
    value = b.copysign(b.select(far, slow, b.select(within, x, rest)), x)
    return b.select(defined, value, b.select(b.isnan(x), x, b.const(NAN, x)))


def _library_fmod(b: Builder, x: Value, y: Value) -> tuple[Value]:
    return (b.rem(x, y),)


def python_mod(b: Builder, x: Value, y: Value) -> Value:
    """The remainder with the sign of ``y``, as NumPy's ``remainder``."""
    rest = fmod(b, x, y)
    other_sign = b.lt(y, 0.0) ^ b.lt(rest, 0.0)
    moved = b.select(other_sign, rest + y, rest)
    zero = b.copysign(b.const(0.0, x), y)
    # modulo zero: NumPy returns the NaN of fmod
    return b.select(b.eq(y, 0.0), rest, b.select(b.eq(rest, 0.0), zero, moved))
