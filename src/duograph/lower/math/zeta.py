"""Hurwitz' zeta function and the derivatives of ``digamma`` (Euler-Maclaurin summation, reflection)."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import INF, NAN, in_f64, poly
from .power import pow_
from .trigonometric import sine_of_turns

_TERMS = 12
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_SERIES = tuple(value / math.factorial(2 * k) for k, value in enumerate(_BERNOULLI, start=1))


def _hurwitz(b: Builder, s: Value, q: Value, power: Callable[[Value], Value]) -> Value:
    """``sum over n >= 0 of (q + n)**-s`` for ``q > 0``; ``power(x)`` is ``x**-s``."""

    def step(i: Value, total: Value) -> Value:
        return total + power(q + b.splat(b.convert(i, "f64"), q.type.lanes))

    (total,) = b.for_(0, _TERMS, 1, step, (b.const(0.0, q),))
    a = q + float(_TERMS)
    one = b.const(1.0, q)
    last = power(a)
    total = total + (last * a / (s - one) + last * 0.5)
    factor, rest = s, last / a
    for k, c in enumerate(_SERIES, start=1):
        total = total + factor * rest * c
        factor = factor * (s + float(2 * k - 1)) * (s + float(2 * k))
        rest = rest / (a * a)
    return total


@in_f64
def zeta(b: Builder, s: Value, q: Value) -> Value:
    """Defined for ``s > 1`` and ``q > 0``; infinite at its poles."""
    fine = b.gt(s, 1.0) & b.gt(q, 0.0)
    safe_s, safe_q = b.select(fine, s, b.const(2.0, s)), b.select(fine, q, b.const(1.0, q))
    value = _hurwitz(b, safe_s, safe_q, lambda x: pow_(b, x, -safe_s))
    value = b.select(b.eq(safe_q, INF) & b.lt(safe_s, INF), b.const(0.0, s), value)
    pole = b.eq(s, 1.0) | (b.gt(s, 1.0) & b.le(q, 0.0) & b.eq(q, b.floor(q)))
    return b.select(fine, value, b.select(pole, b.const(INF, s), b.const(NAN, s)))


def _whole_power(b: Builder, x: Value, n: int) -> Value:
    """``x**n`` by squaring, for ``n >= 1`` known now."""
    result: Value | None = None
    while n:
        if n & 1:
            result = x if result is None else result * x
        n >>= 1
        x = x * x if n else x
    assert result is not None
    return result


def _cotangent_derivative(n: int) -> list[float]:
    """The polynomial in ``c = cot(t)`` that the ``n``-th derivative of ``cot(t)`` is, highest power first.

    Each derivative multiplies with ``dc/dt = -(1 + c**2)``.
    """
    p = [0.0, 1.0]  # c, lowest power first
    for _ in range(n):
        slope = [k * v for k, v in enumerate(p)][1:]
        p = [0.0] * (len(slope) + 2)
        for k, v in enumerate(slope):
            p[k] -= v
            p[k + 2] -= v
    return p[::-1]


def polygamma(b: Builder, x: Value, *, n: int) -> Value:
    """``psi_n(x) = (-1)**(n+1) n! zeta(n+1, x)``; below 0 by ``(-1)**n psi_n(1-x) - d^n/dx^n pi cot(pi x)``."""

    @in_f64
    def function(b: Builder, x: Value) -> Value:
        one = b.const(1.0, x)
        pole = b.le(x, 0.0) & b.eq(x, b.floor(x))
        negative = b.lt(x, 0.0) & ~pole
        q = b.select(pole, one, b.select(negative, one - x, x))
        sign = 1.0 if n % 2 else -1.0
        scale = sign * (math.factorial(n) if n <= 170 else INF)
        s = b.const(float(n + 1), x)
        value = _hurwitz(b, s, q, lambda v: _whole_power(b, one / v, n + 1)) * scale
        value = b.select(b.eq(x, INF), b.const(0.0, x), value)
        sine, cosine = sine_of_turns(b, x - b.rint(x))
        cotangent = cosine / b.select(negative, sine, one)
        reflected = value * -sign - poly(b, cotangent, _cotangent_derivative(n)) * math.pi ** (n + 1)
        value = b.select(negative, reflected, value)
        value = b.select(pole, b.const(INF if n % 2 else NAN, x), value)
        return b.select(b.isnan(x), x, value)

    return function(b, x)  # type: ignore[no-any-return]
