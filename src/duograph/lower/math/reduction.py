"""Reduction of angles by multiples of pi / 2, for every finite argument.

Up to `_NEAR` the multiples are subtracted in parts of pi / 2 (W. J. Cody and W. Waite). Beyond, 2 / pi is multiplied
in as a long fraction of which only the bits that matter are used (M. H. Payne and R. N. Hanek, "Radian reduction for
trigonometric functions", SIGNUM Newsletter 18 (1983)). That path runs only if some lane needs it; a lane's result does
not depend on the others.
"""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import F64, any_lane, fast_two_sum, lane_by_lane, round_even, two_product, two_sum

_TWO_OVER_PI = 0.6366197723675814
_NEAR = 1.0e6
"""The quotient by pi / 2 has at most 20 bits."""

# pi / 2 in parts of 33, 33 and 53 bits: products of the first two with the quotient are exact
_PART1, _PART2, _PART3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
_HALF_PI, _HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17

# 2 / pi: 64 zero bits and 1216 bits of the fraction
_WORDS = (
    0x0, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
    0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
)  # fmt: skip
# 2 / pi in parts of 29 bits: their products with a float32 are exact in float64
_PIECES = (
    0.636619770899415, 1.4681663246252086e-09, 2.2760100671971816e-18, 5.8812147387730434e-27, 1.0346868700836215e-35,
    3.783256351091319e-45, 3.720474878517739e-53, 4.227114694466663e-62,
)  # fmt: skip


def quadrant_f32(b: Builder, x: Value) -> tuple[Value, Value]:
    """For float32 ``x``: the number of quarter turns (``i64``, modulo 4 in the low bits) and the rest in float64."""
    wide = b.convert(x, "f64")
    n, shifted = round_even(b, wide * _TWO_OVER_PI)
    r = b.fma(n, -_PART2, b.fma(n, -_PART1, wide))
    quarter = b.bitcast(shifted, "i64")
    far = b.gt(b.abs(wide), _NEAR)
    far_quarter, far_r = b.if_(any_lane(b, far), lambda: lane_by_lane(b, _far_f32, wide), lambda: (quarter, r))
    return b.select(far, far_quarter, quarter), b.select(far, far_r, r)


def _far_f32(b: Builder, x: Value) -> tuple[Value, Value]:
    """Each product is exact, and so is taking away its multiples of 4; the sum is small."""
    total = low = b.const(0.0, x)
    for piece in _PIECES:
        product = x * piece
        product = product - b.rint(product * 0.25) * 4.0
        total, error = two_sum(total, product)
        low = low + error
    n, shifted = round_even(b, total)
    turns = (total - n) + low
    return b.bitcast(shifted, "i64"), turns * _HALF_PI


def quadrant_f64(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """For float64 ``x``: the number of quarter turns as in `quadrant_f32`, and the rest as a sum of two."""
    n, shifted = round_even(b, x * _TWO_OVER_PI)
    high = x - n * _PART1
    high, low = two_sum(high, n * -_PART2)
    high, low = fast_two_sum(high, low - n * _PART3)
    quarter = b.bitcast(shifted, "i64")
    far = b.gt(b.abs(x), _NEAR)
    found = b.if_(any_lane(b, far), lambda: lane_by_lane(b, _far_f64, x), lambda: (quarter, high, low))
    return (
        b.select(far, found[0], quarter),
        b.select(far, found[1], high),
        b.select(far, found[2], low),
    )


def _far_f64(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """``|x| = m * 2**e``: the product of ``m`` and 192 bits of 2 / pi, from the weight ``2**(2 - e)`` on, modulo 4."""
    bits = b.bitcast(x, "u64")
    m = (bits & ((1 << F64.mantissa) - 1)) | (1 << F64.mantissa)
    # bit number e - 2 of the fraction, 64 zero bits before it
    start = (b.shr(bits, F64.mantissa) & 0x7FF) - (F64.bias + F64.mantissa + 2 - 64)
    start = b.select(b.lt(b.abs(x), float("inf")), start, b.const(64, start))
    start = b.select(b.gt(b.abs(x), _NEAR), start, b.const(64, start))
    w0, w1, w2 = _window(b, start)
    top = m * w0 + _high_product(b, m, w1)
    below, more = m * w1, _high_product(b, m, w2)
    middle = below + more
    one, zero = b.const(1, m), b.const(0, m)
    top = top + b.select(b.lt(middle, below), one, zero)
    # now top : middle is the product as a fraction of 4 quarter turns
    quarter = b.shr(top + (1 << 61), 62)
    high = (top << 2) | b.shr(middle, 62)
    low = middle << 2
    negative = b.lt(b.bitcast(high, "i64"), 0)
    high_minus = ~high + b.select(b.eq(low, 0), one, zero)
    high, low = b.select(negative, high_minus, high), b.select(negative, -low, low)
    # four 32-bit parts, each exact in float64
    parts = [
        _small_to_float(b, b.shr(high, 32)) * 2.0**-32,
        _small_to_float(b, high & 0xFFFFFFFF) * 2.0**-64,
        _small_to_float(b, b.shr(low, 32)) * 2.0**-96,
        _small_to_float(b, low & 0xFFFFFFFF) * 2.0**-128,
    ]
    f, f_low = fast_two_sum(parts[0], parts[1])
    f, f_low = fast_two_sum(f, f_low + (parts[2] + parts[3]))
    r, r_low = two_product(b, f, b.const(_HALF_PI, f))
    r_low = r_low + (f * _HALF_PI_LOW + f_low * _HALF_PI)
    r, r_low = fast_two_sum(r, r_low)
    flip = negative ^ b.lt(x, 0.0)
    quarter = b.bitcast(b.select(b.lt(x, 0.0), -quarter, quarter), "i64")
    nan = x - x  # of infinity and NaN
    return quarter, b.select(flip, -r, r) + nan, b.select(flip, -r_low, r_low)


def _small_to_float(b: Builder, x: Value) -> Value:
    """An integer below ``2**52`` as float64."""
    return b.bitcast(x | (0x433 << 52), "f64") - 2.0**52


def _high_product(b: Builder, m: Value, w: Value) -> Value:
    """The upper word of a product of 53 bits with 64 bits."""
    mask = 0xFFFFFFFF
    m_high, m_low, w_high, w_low = b.shr(m, 32), m & mask, b.shr(w, 32), w & mask
    cross = m_high * w_low + b.shr(m_low * w_low, 32)
    other = m_low * w_high + (cross & mask)
    return m_high * w_high + b.shr(cross, 32) + b.shr(other, 32)


def _window(b: Builder, start: Value) -> tuple[Value, Value, Value]:
    """192 bits of `_WORDS` from bit ``start`` (up to 1087) on: the words by a tree of selects, then a shift."""
    words = [b.const(w, start) for w in _WORDS]
    number = b.shr(start, 6)
    for step, count in ((16, 4), (8, 11), (4, 7), (2, 5), (1, 4)):
        later = b.ne(number & step, 0)
        words = [
            b.select(later, words[i + step], words[i]) if i < count and i + step < len(words) else words[i]
            for i in range(max(count, 19) if step == 16 else count)
        ]
    shift = start & 63
    rest = b.const(63, shift) - shift
    return tuple(  # type: ignore[return-value]
        [(words[i] << shift) | b.shr(b.shr(words[i + 1], 1), rest) for i in range(3)]
    )
