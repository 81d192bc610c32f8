"""Bessel functions of order 0 and 1 in float64, by the methods of `duograph.ops.bessel_kernels`, as loops.

* ``I``: the power series up to 30, then the asymptotic series.
* ``K``: the power series up to 2, then the trapezoidal rule for ``K_n(x) = integral of exp(-x cosh t) cosh(n t)``.
* ``J`` and ``Y`` up to 25: Miller's backward recurrence, and Neumann's series for ``Y``; beyond, Hankel's series.
"""

from __future__ import annotations

from collections.abc import Callable

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import INF, NAN, at_least, at_most, in_f64
from .exponential import cosh, exp, sinh
from .logarithm import log
from .trigonometric import sine_and_cosine

_PI, _ROOT_PI, _EULER = 3.141592653589793, 1.772453850905516, 0.5772156649015329
_I_BORDER, _K_BORDER, _J_BORDER = 30.0, 2.0, 25.0
_TINY = 2.2250738585072014e-308
_START = 80
"""The order from which the recurrence runs down; ``J_80(25)`` is below 1e-30."""


def _number(b: Builder, i: Value, like: Value) -> Value:
    """A loop counter as float64."""
    return b.splat(b.convert(i, "f64"), like.type.lanes)


# ---- modified functions ---------------------------------------------------------------------------------------------


def _i_series(b: Builder, order: int, x: Value) -> Value:
    quarter = x * x * 0.25
    first = x * 0.5 if order else b.splat(b.const(1.0, x), x.type.lanes)

    def step(i: Value, term: Value, total: Value) -> tuple[Value, ...]:
        k = _number(b, i, x)
        term = term * quarter / (k * (k + float(order)))
        return term, total + term

    return b.for_(1, 80, 1, step, (first, first))[1]


def _i_far(b: Builder, order: int, x: Value) -> Value:
    """``I_n(x) exp(-x)``."""
    one = b.const(1.0, x)

    def step(i: Value, term: Value, total: Value) -> tuple[Value, ...]:
        k = _number(b, i, x)
        odd = k * 2.0 - 1.0
        term = term * (odd * odd - 4.0 * order * order) / (k * 8.0 * x)
        return term, total + term

    return b.for_(1, 30, 1, step, (one, one))[1] / b.sqrt(x * (2.0 * _PI))


def i(order: int, scaled: bool) -> Callable[..., Value]:
    """``I_0`` or ``I_1``, times ``exp(-|x|)`` if ``scaled``."""

    @in_f64
    def function(b: Builder, x: Value) -> Value:
        y = b.abs(x)
        near = _i_series(b, order, at_most(b, y, _I_BORDER))
        far = _i_far(b, order, at_most(b, at_least(b, y, _I_BORDER), 1e300))
        if scaled:
            near = near * exp(b, -y)
        else:
            far = far * exp(b, y)
        value = b.select(b.le(y, _I_BORDER), near, far)
        if order:  # times 1 or -1: LLVM moves a copysign beyond the rounding to float16, where it has no instruction
            return value * b.copysign(b.const(1.0, x), x)
        return b.select(b.isnan(x), x, value)

    return function


def _k_series(b: Builder, order: int, x: Value) -> Value:
    """For ``0 < x <= 2``."""
    quarter = x * x * 0.25
    logarithm = log(b, x * 0.5)
    one, zero = b.const(1.0, x), b.const(0.0, x)

    def step(i: Value, term: Value, harmonic: Value, total: Value) -> tuple[Value, ...]:
        next_ = _number(b, i, x) + 1.0
        weight = harmonic - _EULER if order == 0 else harmonic * 2.0 + (one / next_ - 2.0 * _EULER)
        total = total + term * weight
        return term * quarter / (next_ * (next_ + float(order))), harmonic + one / next_, total

    *_, total = b.for_(0, 30, 1, step, (one, zero, zero))
    if order == 0:
        return total - logarithm * _i_series(b, 0, x)
    return one / x + logarithm * _i_series(b, 1, x) - x * 0.25 * total


def _k_far(b: Builder, order: int, x: Value) -> Value:
    """``K_n(x) exp(x)`` for ``x >= 2``."""
    width = at_most(b, b.const(0.7, x) / b.sqrt(x), 0.2)

    def step(i: Value, total: Value) -> Value:
        t = _number(b, i, x) * width
        half = sinh(b, t * 0.5)
        term = exp(b, x * -2.0 * half * half)
        return total + (term * cosh(b, t) if order else term)

    (total,) = b.for_(1, 30, 1, step, (b.const(0.5, x),))
    return total * width


def k(order: int, scaled: bool) -> Callable[..., Value]:
    """``K_0`` or ``K_1``, times ``exp(x)`` if ``scaled``."""

    @in_f64
    def function(b: Builder, x: Value) -> Value:
        low = at_most(b, at_least(b, x, _TINY), _K_BORDER)
        near, far = _k_series(b, order, low), _k_far(b, order, at_most(b, at_least(b, x, _K_BORDER), 1e300))
        if scaled:
            near = near * exp(b, low)
        else:
            far = far * exp(b, -x)
        value = b.select(b.le(x, _K_BORDER), near, far)
        return b.select(b.gt(x, 0.0), value, b.select(b.eq(x, 0.0), b.const(INF, x), b.const(NAN, x)))

    return function


# ---- J and Y --------------------------------------------------------------------------------------------------------


def _j_near(b: Builder, order: int, x: Value, second: bool) -> Value:
    """``J_n(x)`` or ``Y_n(x)`` for ``0 <= x <= 25``."""
    y = at_least(b, x, 1e-8)
    zero, one = b.const(0.0, x), b.const(1.0, x)

    def step(i: Value, *state: Value) -> tuple[Value, ...]:
        above, here, norm, series, wanted = state
        at = b.sub(_START, i)
        even = b.eq(at & 1, 0)
        norm = norm + b.select(even, b.select(b.eq(at, 0), here, here * 2.0), zero)
        half = b.shr(at, 1)
        number = _number(b, half, x)
        safe = at_least(b, number, 1.0)
        weight = one / safe if order == 0 else (safe * 2.0 + 1.0) / (safe * (safe + 1.0))
        weight = b.select(b.eq(half & 1, 0), weight, -weight)
        counts = b.gt(half, 0) & b.eq(at & 1, order)
        series = series + b.select(counts, here * weight, zero)
        wanted = b.select(b.eq(at, order), here, wanted)
        above, here = here, _number(b, at, x) * 2.0 / y * here - above
        factor = b.select(b.gt(b.abs(here), 1e100), b.const(1e-100, x), one)
        return tuple([v * factor for v in (above, here, norm, series, wanted)])

    above, _, norm, series, wanted = b.for_(0, _START + 1, 1, step, (zero, b.const(1e-100, x), zero, zero, zero))
    first = wanted / norm
    if order:
        first = first * (x / y)
    if not second:
        return first
    low = at_least(b, x, _TINY)
    logarithm = log(b, low * 0.5) + _EULER
    if order == 0:
        return (logarithm * first - series / norm * 2.0) * (2.0 / _PI)
    pole = above / norm / low  # `above` ends as order 0
    return ((logarithm - 1.0) * first - series / norm - pole) * (2.0 / _PI)


def _j_far(b: Builder, order: int, x: Value, second: bool) -> Value:
    """Hankel's series for ``x >= 25``."""
    zero, one = b.const(0.0, x), b.const(1.0, x)

    def step(i: Value, term: Value, p: Value, q: Value) -> tuple[Value, ...]:
        k = _number(b, i, x)
        odd = k * 2.0 - 1.0
        term = term * (b.const(4.0 * order * order, x) - odd * odd) / (k * 8.0 * x)
        signed = b.select(b.eq(i & 2, 0), term, -term)  # + for 0 and 1 modulo 4
        is_odd = b.ne(i & 1, 0)
        return term, p + b.select(is_odd, zero, signed), q + b.select(is_odd, signed, zero)

    _, p, q = b.for_(1, 24, 1, step, (one, one, zero))
    # of x - pi / 4, or x - 3 pi / 4, without rounding that: root 2 times both
    sine, cosine = sine_and_cosine(b, x)
    sine, cosine = (-sine - cosine, sine - cosine) if order else (sine - cosine, sine + cosine)
    wave = p * sine + q * cosine if second else p * cosine - q * sine
    return wave / (b.sqrt(x) * _ROOT_PI)


def j(order: int) -> Callable[..., Value]:
    """``J_0`` or ``J_1``."""

    @in_f64
    def function(b: Builder, x: Value) -> Value:
        y = b.abs(x)
        near = _j_near(b, order, at_most(b, y, _J_BORDER), second=False)
        value = b.select(b.le(y, _J_BORDER), near, _j_far(b, order, at_least(b, y, _J_BORDER), second=False))
        value = b.select(b.eq(y, INF), b.const(0.0, x), value)
        if order:
            value = b.select(b.lt(x, 0.0), -value, value)
        return b.select(b.isnan(x), x, value)

    return function


def y(order: int) -> Callable[..., Value]:
    """``Y_0`` or ``Y_1``."""

    @in_f64
    def function(b: Builder, x: Value) -> Value:
        near = _j_near(b, order, at_most(b, at_least(b, x, 0.0), _J_BORDER), second=True)
        value = b.select(b.le(x, _J_BORDER), near, _j_far(b, order, at_least(b, x, _J_BORDER), second=True))
        value = b.select(b.eq(x, INF), b.const(0.0, x), value)
        return b.select(b.gt(x, 0.0), value, b.select(b.eq(x, 0.0), b.const(-INF, x), b.const(NAN, x)))

    return function
