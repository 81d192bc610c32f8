"""What the functions share: polynomials, scaling by powers of two, sums and products with their rounding errors.

`Format` holds what differs between float32 and float64. Coefficients are our own fits: minimax for the relative error
of the whole function (Remez in high precision), rounded to the format, highest power first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Value

INF, NAN = float("inf"), float("nan")


@dataclass(frozen=True)
class Format:
    """A floating point format.

    Attributes:
        elem, bits: its name and the unsigned integer of its size.
        mantissa: stored bits of the mantissa.
        bias: of the exponent.
        magic: 1.5 * 2**mantissa; adding it rounds to a whole number, which then stands in the low bits.
        half_mask: keeps the upper half of the mantissa, so that products of two such numbers are exact.
        ln2_hi, ln2_lo: ln 2 in two parts; products of the first with an exponent are exact.
    """

    elem: str
    bits: str
    mantissa: int
    bias: int
    magic: float
    half_mask: int
    ln2_hi: float
    ln2_lo: float

    @property
    def one_bits(self) -> int:
        return self.bias << self.mantissa

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)


F32 = Format("f32", "u32", 23, 127, 1.5 * 2**23, 0xFFFFF000, 0.693145751953125, 1.4286068e-06)
F64 = Format(
    "f64", "u64", 52, 1023, 1.5 * 2**52, 0xFFFFFFFFF8000000, 0.6931471805598903, 5.497923018708371e-14
)  # fmt: skip
_FORMATS = {"f32": F32, "f64": F64}
LOG2E = 1.4426950408889634


def format_of(x: Value) -> Format:
    """The format of a float value."""
    return _FORMATS[x.type.elem]


def in_f64(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` with float32 operands computed in float64 and rounded once: for functions that need not be fast."""

    def wrapped(b: Builder, *xs: Value) -> Value:
        if xs[0].type.elem == "f64":
            return function(b, *xs)  # type: ignore[no-any-return]
        return b.convert(function(b, *[b.convert(x, "f64") for x in xs]), "f32")

    return wrapped


# ---- polynomials ----------------------------------------------------------------------------------------------------


def poly(b: Builder, x: Value, coefficients: Sequence[float]) -> Value:
    """The polynomial by Horner's rule, one `fma` per coefficient."""
    total: Any = coefficients[0]
    for c in coefficients[1:]:
        total = b.fma(total, x, c)
    return total  # type: ignore[no-any-return]


# ---- limits ---------------------------------------------------------------------------------------------------------


def at_least(b: Builder, x: Value, low: float) -> Value:
    """The larger of both; NaN stays NaN."""
    return b.select(b.lt(x, low), b.const(low, x), x)


def at_most(b: Builder, x: Value, high: float) -> Value:
    """The smaller of both; NaN stays NaN."""
    return b.select(b.gt(x, high), b.const(high, x), x)


def any_lane(b: Builder, condition: Value) -> Value:
    """Whether a condition holds in one lane at least."""
    return b.fold_lanes(condition, lambda x, y: x | y)


def lane_by_lane(b: Builder, function: Callable[..., Any], *xs: Value) -> tuple[Value, ...]:
    """``function`` of scalars, which returns a tuple, for each lane in turn: small code for what is rarely needed."""
    lanes = xs[0].type.lanes
    if lanes == 1:
        return tuple(function(b, *xs))
    inputs = [b.alloca(x.type.elem, lanes) for x in xs]
    for buffer, x in zip(inputs, xs, strict=True):
        b.store(buffer, 0, x)
    outputs: list[Any] = []

    def one(i: Value) -> None:
        results = function(b, *[b.load(buffer, i) for buffer in inputs])
        for result, buffer in zip(results, outputs, strict=True):
            b.store(buffer, i, result)

    outputs.extend(b.alloca(elem, lanes) for elem in _elements(function, xs))
    b.for_(0, lanes, 1, one)
    return tuple([b.load(buffer, 0, lanes) for buffer in outputs])


def _elements(function: Callable[..., Any], xs: tuple[Value, ...]) -> list[str]:
    """Element types of the results of ``function``, found by writing it once into a builder that is thrown away."""
    b = Builder("types")
    return [r.type.elem for r in function(b, *[b.load(b.buffer(f"x{i}", x.type.elem), 0) for i, x in enumerate(xs)])]


# ---- powers of two --------------------------------------------------------------------------------------------------


def round_even(b: Builder, x: Value) -> tuple[Value, Value]:
    """``x`` (small) rounded to a whole number; and that number plus `Format.magic`, which has it in its low bits."""
    magic = format_of(x).magic
    shifted = x + magic
    return shifted - magic, shifted


def power_of_two(b: Builder, shifted: Value, more: int = 0) -> Value:
    """``2**(n + more)`` for ``n + magic``, where that is a normal number."""
    f = format_of(shifted)
    bits = b.bitcast(shifted, f.bits) << f.mantissa
    return b.bitcast(bits + (f.one_bits + (more << f.mantissa)), f.elem)


def scale(b: Builder, x: Value, n: Value) -> Value:
    """``x * 2**n`` with one rounding, for whole ``n`` up to twice the range of exponents."""
    half, shifted = round_even(b, n * 0.5)
    rest = (n - half) + format_of(x).magic
    return x * power_of_two(b, shifted) * power_of_two(b, rest)


def split_exponent(b: Builder, x: Value) -> tuple[Value, Value]:
    """``k`` and ``m`` with ``x = 2**k * m`` and ``m`` in ``[sqrt(1/2), sqrt(2))``, for positive finite ``x``."""
    f = format_of(x)
    small = b.lt(x, f.smallest_normal)
    lift = f.mantissa + 2
    bits = b.bitcast(b.select(small, x * 2.0**lift, x), f.bits)
    root = 0x3F3504F3 if f is F32 else 0x3FE6A09E667F3BCD  # bits of sqrt(1/2)
    shifted = bits + (f.one_bits - root)
    exponent = b.shr(shifted, f.mantissa) | ((f.bias + f.mantissa) << f.mantissa)  # 2**mantissa + k + bias
    k = b.bitcast(exponent, f.elem) - b.select(
        small, b.const(2.0**f.mantissa + f.bias + lift, x), b.const(2.0**f.mantissa + f.bias, x)
    )
    m = b.bitcast((shifted & ((1 << f.mantissa) - 1)) + root, f.elem)
    return k, m


# ---- double numbers: unevaluated sums of two floats ------------------------------------------------------------------


def upper_half(b: Builder, x: Value) -> Value:
    """``x`` with the lower half of its mantissa cut off."""
    f = format_of(x)
    return b.bitcast(b.bitcast(x, f.bits) & f.half_mask, f.elem)


def fast_two_sum(big: Value, small: Value) -> tuple[Value, Value]:
    """The sum and its error, for ``|big| >= |small|`` (or ``big`` zero)."""
    total = big + small
    return total, small - (total - big)


def two_sum(x: Value, y: Value) -> tuple[Value, Value]:
    """The sum and its error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def two_product(b: Builder, x: Value, y: Value) -> tuple[Value, Value]:
    """The product and its error; by halves, so that it is right without a fused multiply-add, too."""
    product = x * y
    xh, yh = upper_half(b, x), upper_half(b, y)
    xl, yl = x - xh, y - yh
    return product, ((xh * yh - product) + xh * yl + xl * yh) + xl * yl


def quotient_of_sums(b: Builder, top: Value, top_low: Value, under: Value, under_low: Value) -> tuple[Value, Value]:
    """``(top + top_low) / (under + under_low)``, and what is missing."""
    inverse = b.const(1.0, under) / under
    quotient = top * inverse
    product, lost = two_product(b, quotient, under)
    return quotient, (((top - product) - lost) + (top_low - quotient * under_low)) * inverse
