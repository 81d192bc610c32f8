"""Arithmetic of complex numbers as pairs, after NumPy: plain products, Smith's division.

References:
    R. L. Smith, "Algorithm 116: Complex division", Comm. ACM 5 (1962) 435.
"""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from ..rule import Complex
from .hypotenuse import hypot


def mul(b: Builder, x: Complex, y: Complex) -> Complex:
    return Complex(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re)


def div(b: Builder, x: Complex, y: Complex) -> Complex:
    """The smaller part of the divisor is divided by the larger one first. By zero: both parts by zero."""
    wide = b.ge(b.abs(y.re), b.abs(y.im))
    big, small = b.select(wide, y.re, y.im), b.select(wide, y.im, y.re)
    ratio = small / big
    scale = b.const(1.0, big) / (big + small * ratio)
    # (re + im ratio, im - re ratio) scale; with the parts of y exchanged (re ratio + im, im ratio - re) scale
    first, second = b.select(wide, x.re, x.im), b.select(wide, x.im, x.re)
    product = first * ratio
    re_part = (first + second * ratio) * scale
    im_part = b.select(wide, second - product, product - second) * scale
    zero = b.eq(y.re, 0.0) & b.eq(y.im, 0.0)
    by = b.abs(y.re)
    return Complex(b.select(zero, x.re / by, re_part), b.select(zero, x.im / by, im_part))


def reciprocal(b: Builder, x: Complex) -> Complex:
    return div(b, Complex(b.const(1.0, x.re), b.const(0.0, x.re)), x)


def magnitude(b: Builder, x: Complex) -> Value:
    return hypot(b, x.re, x.im)


def sign(b: Builder, x: Complex) -> Complex:
    """``x / |x|``, and 0 for 0."""
    zero = b.eq(x.re, 0.0) & b.eq(x.im, 0.0)
    unit = div(b, x, Complex(magnitude(b, x), b.const(0.0, x.re)))
    return Complex(b.select(zero, b.const(0.0, x.re), unit.re), b.select(zero, b.const(0.0, x.re), unit.im))
