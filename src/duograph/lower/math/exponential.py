"""``exp``, ``exp2``, ``expm1``, and what is made of them: ``sigmoid``, ``tanh``, ``sinh``, ``cosh``, ``softplus``.

What has a factor that may be subnormal is formed `lift` powers of two larger, and brought down in the last step.

``exp``: ``x = n ln 2 + r``, ``|r| <= ln 2 / 2``, a polynomial in ``r``, and a scaling by ``2**n`` in two factors, so
that overflow and subnormal results come out right.
"""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import (
    F32,
    LOG2E,
    at_least,
    at_most,
    fast_two_sum,
    format_of,
    in_f64,
    poly,
    power_of_two,
    round_even,
    scale,
)
from .logarithm import log1p

# exp(r) = 1 + r + r**2 P(r); expm1(r) = r + r**2 Q(r)
_EXP32 = (0.0013814627, 0.008368717, 0.04166839, 0.16666521, 0.49999994)
_EXP64 = (
    2.500008442577437e-08, 2.763024879588082e-07, 2.755758629088442e-06, 2.4801493097828538e-05, 0.00019841269506688846,
    0.0013888888943631085, 0.008333333333494399, 0.041666666666530155, 0.16666666666666413, 0.5000000000000011,
)  # fmt: skip
_EXPM1_32 = (0.00019845937, 0.0013940628, 0.00833339, 0.041666362, 0.16666666, 0.5)
_EXPM1_64 = (
    2.0875329507630417e-09, 2.5108979286734202e-08, 2.7557402639421614e-07, 2.7557244373042353e-06,
    2.4801587172553352e-05, 0.00019841269885967052, 0.0013888888888962353, 0.008333333333321691, 0.04166666666666651,
    0.16666666666666677, 0.5,
)  # fmt: skip
# 2**r = 1 + r P(r) for |r| <= 1/2
_EXP2_32 = (0.00015353368, 0.0013398876, 0.009618437, 0.055503324, 0.24022648, 0.6931472)
_EXP2_64 = (
    4.4347734601484526e-10, 7.073783845503845e-09, 1.0178199557887947e-07, 1.321543527921249e-06,
    1.5252733493162402e-05, 0.00015403530457117407, 0.0013333558146774581, 0.009618129107594117,
    0.055504108664820084, 0.2402265069591013, 0.6931471805599453,
)  # fmt: skip
_EXP2_SHORT = (
    1.5196147058530988e-05, 0.00015466758856714388, 0.0013333935118791343, 0.009618038124698242, 0.055504103658865114,
    0.24022651066610964, 0.69314718070458,
)  # fmt: skip
_RANGE = {"f32": (-104.5, 89.5), "f64": (-746.0, 710.5)}
"""Where ``exp`` has reached 0 and infinity; ``exp`` of half of it, too, stays in range."""


def _reduced(b: Builder, x: Value, low: Value | None = None) -> tuple[Value, Value]:
    """``n`` and ``r`` of ``x + low``."""
    f = format_of(x)
    n = b.fma(x, LOG2E, f.magic) - f.magic
    r = b.fma(n, -f.ln2_hi, x)
    tail = b.fma(n, -f.ln2_lo, low) if low is not None else None
    return n, r + tail if tail is not None else b.fma(n, -f.ln2_lo, r)


def _exp_of_reduced(b: Builder, r: Value) -> Value:
    return poly(b, r, (*(_EXP32 if r.type.elem == "f32" else _EXP64), 1.0, 1.0))


def _limited(b: Builder, x: Value) -> Value:
    low, high = _RANGE[x.type.elem]
    return at_most(b, at_least(b, x, low), high)


def exp(b: Builder, x: Value) -> Value:
    n, r = _reduced(b, _limited(b, x))
    return scale(b, _exp_of_reduced(b, r), n)


def exp_of_sum(b: Builder, x: Value, low: Value) -> Value:
    """``exp(x + low)`` for ``low`` far below ``x`` (0 where that is infinite), rounded nearly once."""
    f = format_of(x)
    x = _limited(b, x)
    n = b.fma(x, LOG2E, f.magic) - f.magic
    r, r_low = fast_two_sum(b.fma(n, -f.ln2_hi, x), b.fma(n, -f.ln2_lo, low))
    total, lost = fast_two_sum(b.const(1.0, r), r)
    return scale(b, total + (lost + b.fma(r * r, poly(b, r, _EXP32 if f.elem == "f32" else _EXP64), r_low)), n)


def lift(x: Value) -> int:
    """By how many powers of two numbers are formed larger to be normal, or smaller to be finite."""
    return 32 if format_of(x) is F32 else 64


def exp_times(b: Builder, x: Value, low: Value, factor: Value, factor_low: Value) -> Value:
    """``exp(x + low) * (factor + factor_low) * 2**lift`` for ``x <= 0``, rounded nearly once."""
    f = format_of(x)
    n, r = _reduced(b, at_least(b, x, _RANGE[f.elem][0]), low)
    p = b.fma(r * r, poly(b, r, _EXP32 if f is F32 else _EXP64), r)
    value = factor + b.fma(factor, p, b.fma(factor_low, p, factor_low))
    return value * power_of_two(b, n + f.magic, lift(x))


def exp_in_parts(b: Builder, x: Value) -> tuple[Value, Value]:
    """``p`` and ``power`` with ``exp(x) * 2**lift = power * (1 + p)``, for ``x`` from -109.5 to 65 (-752 to 660)."""
    n, r = _reduced(b, x)
    p = b.fma(r * r, poly(b, r, _EXP32 if format_of(x) is F32 else _EXP64), r)
    return p, power_of_two(b, n + format_of(x).magic, lift(x))


def _exp_halved(b: Builder, x: Value) -> Value:
    """``exp(x) / 2`` for ``x >= 0``: infinite only where that is."""
    low, high = _RANGE[x.type.elem]
    n, r = _reduced(b, at_most(b, x, high + 1.0))
    return scale(b, _exp_of_reduced(b, r), n - 1.0)


def exp_negative(b: Builder, x: Value) -> Value:
    """``exp(x)`` for ``x <= 0``."""
    n, r = _reduced(b, at_least(b, x, _RANGE[x.type.elem][0]))
    return scale(b, _exp_of_reduced(b, r), n)


def exp2(b: Builder, x: Value) -> Value:
    f = format_of(x)
    x = at_most(b, at_least(b, x, -1.0 - f.bias - f.mantissa - 1), f.bias + 1.5)
    n = (x + f.magic) - f.magic
    r = x - n
    return scale(b, b.fma(r, poly(b, r, _EXP2_32 if f is F32 else _EXP2_64), 1.0), n)


def exp2_short(b: Builder, x: Value) -> Value:
    """``2**x`` of float64 to 2**-34, for what is rounded to float32; ``|x|`` is at most 1022."""
    n, shifted = round_even(b, x)
    r = x - n
    return b.fma(r, poly(b, r, _EXP2_SHORT), 1.0) * power_of_two(b, shifted)


def expm1(b: Builder, x: Value) -> Value:
    """``2**n (expm1(r) + 1) - 1``, summed without loss: ``r`` and the rest of ``expm1(r)`` stay apart."""
    f = format_of(x)
    limited = at_most(b, at_least(b, x, -50.0), 89.0 if f is F32 else 710.0)
    n = b.fma(limited, LOG2E, f.magic) - f.magic
    high, low = b.fma(n, -f.ln2_hi, limited), n * f.ln2_lo
    r = high - low
    lost = (high - r) - low
    rest = b.fma(r * r, poly(b, r, _EXPM1_32 if f is F32 else _EXPM1_64), b.fma(lost, r, lost))
    half = power_of_two(b, (n - 1.0) + f.magic)  # 2**n may be too large for a float
    head = half - 0.5
    cut = (half - head) - 0.5
    total, error = fast_two_sum(head, half * r)
    value = (total + (error + (half * rest + cut))) * 2.0
    return b.select(b.lt(b.abs(x), 2.0**-f.mantissa * 0.25), x, value)  # keeps -0.0 and subnormal numbers


def one_plus_exp(b: Builder, x: Value, x_low: Value | None = None) -> Value:
    """``(1 + exp(x + x_low)) * 2**-lift``: ``1 + 2**n + 2**n expm1(r)`` rounded once.

    ``x`` is at most 110.5 (753 in float64) and at least -60 (-600), so that both powers of two are normal numbers.
    """
    f = format_of(x)
    shifted = b.fma(x, LOG2E, f.magic)
    n = shifted - f.magic
    r = b.fma(n, -f.ln2_hi, x)
    r = b.fma(n, -f.ln2_lo, r) if x_low is None else r - b.fma(n, f.ln2_lo, -x_low)
    p = b.fma(r * r, poly(b, r, _EXP32 if f is F32 else _EXP64), r)
    power, one = power_of_two(b, shifted, -lift(x)), b.const(2.0 ** -lift(x), x)
    total, lost = fast_two_sum(power, one)
    return total + b.fma(power, p, lost)


def sigmoid(b: Builder, x: Value) -> Value:
    """``1 / (1 + exp(-x))``; large denominators are finite and subnormal results right."""
    low, high = (-30.0, 104.5) if format_of(x) is F32 else (-60.0, 746.0)
    divisor = one_plus_exp(b, at_most(b, at_least(b, -x, low), high))
    return b.const(1.0, x) / divisor * 2.0 ** -lift(x)


def softplus(b: Builder, x: Value) -> Value:
    """``max(x, 0) + log1p(exp(-|x|))``."""
    return b.select(b.lt(x, 0.0), b.const(0.0, x), x) + log1p(b, exp_negative(b, -b.abs(x)))


# ---- hyperbolic functions -------------------------------------------------------------------------------------------

# tanh(x) = x + x z P(z), sinh(x) = x + x z Q(z), z = x**2
_TANH32 = (-0.00566697726, 0.0206061769, -0.0537300073, 0.133313313, -0.333332777)
_TANH64 = (
    -1.9516265655582233e-05, 8.33525520342125e-05, -0.000233407621995126, 0.000588455096848087, -0.0014555455229510958,
    0.003592092463004751, -0.008863232646109203, 0.021869488388707916, -0.05396825396386521, 0.1333333333332681,
    -0.333333333333333,
)  # fmt: skip
_SINH64 = (
    7.759324009396987e-13, 1.6057239962805204e-10, 2.5052123403265803e-08, 2.7557319155308296e-06,
    0.00019841269841437768, 0.008333333333333139, 0.16666666666666669,
)  # fmt: skip


def tanh(b: Builder, x: Value) -> Value:
    """A polynomial near 0, else ``1 - 2 / (exp(2|x|) + 1)``."""
    f = format_of(x)
    border, far, coefficients = (0.625, 10.0, _TANH32) if f is F32 else (0.55, 20.0, _TANH64)
    t = b.abs(x)
    z = t * t
    near = b.fma(t * z, poly(b, z, coefficients), t)
    limited = at_most(b, t, far)
    shifted = b.fma(limited, 2.0 * LOG2E, f.magic)
    n = shifted - f.magic
    r = b.fma(n, -f.ln2_lo, b.fma(n, -f.ln2_hi, limited + limited))
    e = _exp_of_reduced(b, r) * power_of_two(b, shifted)
    away = b.const(1.0, x) - b.const(2.0, x) / (e + 1.0)
    return b.copysign(b.select(b.lt(t, border), near, away), x)


@in_f64
def sinh(b: Builder, x: Value) -> Value:
    t = b.abs(x)
    z = t * t
    near = b.fma(t * z, poly(b, z, _SINH64), t)
    e = _exp_halved(b, t)
    return b.copysign(b.select(b.lt(t, 1.0), near, e - b.const(0.25, x) / e), x)


@in_f64
def cosh(b: Builder, x: Value) -> Value:
    e = _exp_halved(b, b.abs(x))
    return e + b.const(0.25, x) / e


__all__ = [
    "cosh", "exp", "exp2", "exp2_short", "exp_negative", "exp_in_parts", "exp_of_sum", "exp_times", "expm1", "lift",
    "one_plus_exp", "sigmoid", "sinh", "softplus", "tanh",
]  # fmt: skip
