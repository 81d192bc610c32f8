"""Incomplete gamma and beta functions, by the methods of `duograph.ops.gamma_kernels`: series and continued fractions.

The loops run until every lane has converged; a lane that has converged does not change any more, so its result does
not depend on the others. The derivative in ``a`` is carried along with each quantity.
"""

from __future__ import annotations

from collections.abc import Callable

from ..loop.builder import Builder
from ..loop.ir import Value
from .common import INF, NAN, any_lane, fast_two_sum, in_f64, two_product, two_sum
from .exponential import exp_of_sum
from .gamma import digamma, lgamma_in_two
from .logarithm import log
from .power import log_in_two

_TINY = 1e-300
_STEPS = 1_000_000
"""Next to ``x = a`` the loops take some ten times the root of ``a`` steps: enough for ``a`` up to 1e10."""


def _iterate(
    b: Builder, init: tuple[Value, ...], body: Callable[..., tuple[Value, ...]], like: Value
) -> tuple[Value, ...]:
    """Repeats ``state, running = body(i, *state)`` for each lane until it no longer runs, `_STEPS` times at most."""

    def goes_on(i: Value, running: Value, *state: Value) -> Value:
        return any_lane(b, b.gt(running, 0.0)) & b.lt(b.extract(i, 0), float(_STEPS))

    def step(i: Value, running: Value, *state: Value) -> tuple[Value, ...]:
        runs = b.gt(running, 0.0)
        *after, more = body(i, *state)
        kept = tuple([b.select(runs, new, old) for new, old in zip(after, state, strict=True)])
        return i + 1.0, b.select(runs & more, b.const(1.0, like), b.const(0.0, like)), *kept

    one = b.const(1.0, like)
    return b.while_((one, one, *init), goes_on, step)[2:]


def _exp_of_terms(b: Builder, *terms: tuple[Value, Value]) -> Value:
    """``exp`` of a sum of large terms that cancel, each in two parts: a rounding error of the sum would count as many
    times as the result is units."""
    (total, low), *others = terms
    for term, term_low in others:
        total, lost = two_sum(total, term)
        low = low + (lost + term_low)
    finite = b.lt(b.abs(total), INF)  # what is lost of an infinite sum is not a number
    high, low = fast_two_sum(total, low)
    return exp_of_sum(b, b.select(finite, high, total), b.select(finite, low, b.const(0.0, low)))


def _times_log(b: Builder, factor: Value, x: Value, x_low: Value | None = None) -> tuple[Value, Value]:
    """``factor * log(x + x_low)`` as a sum of two."""
    high, low = log_in_two(b, x)
    if x_low is not None:
        low = low + x_low / x
    product, rest = two_product(b, factor, high)
    return product, rest + factor * low


def _minus_lgamma(b: Builder, a: Value) -> tuple[Value, Value]:
    high, low = lgamma_in_two(b, a)
    return -high, -low


def _series(b: Builder, a: Value, x: Value) -> tuple[Value, Value]:
    """``sum of x**n / (a (a+1) ... (a+n))`` and its derivative in ``a``."""
    one = b.const(1.0, a)
    first = one / a
    slope = -first * first

    def body(i: Value, n: Value, term: Value, dterm: Value, total: Value, dtotal: Value) -> tuple[Value, ...]:
        n = n + 1.0
        ratio = x / n
        dterm = dterm * ratio - term * ratio / n
        term = term * ratio
        total, dtotal = total + term, dtotal + dterm
        more = b.gt(b.abs(term), b.abs(total) * 1e-17) | b.gt(b.abs(dterm), b.abs(dtotal) * 1e-17)
        return n, term, dterm, total, dtotal, more

    return _iterate(b, (a, first, slope, first, slope), body, a)[3:]  # type: ignore[return-value]


def _fraction(b: Builder, a: Value, x: Value) -> tuple[Value, Value]:
    """The continued fraction of ``gamma(a, x) exp(x) x**-a`` by Lentz' method, and its derivative in ``a``."""
    one, zero = b.const(1.0, a), b.const(0.0, a)
    base = x + 1.0 - a
    d = one / base
    dd = d * d  # the derivative of base is -1

    def body(i: Value, *state: Value) -> tuple[Value, ...]:
        base, c, dc, d, dd, total, dtotal = state
        an = -i * (i - a)
        base = base + 2.0
        under, dunder = an * d + base, i * d + an * dd - one
        d = one / b.select(b.lt(b.abs(under), _TINY), b.const(_TINY, under), under)
        dd = -dunder * d * d
        ratio = an / c
        dc = (i - ratio * dc) / c - one
        c = base + ratio
        c = b.select(b.lt(b.abs(c), _TINY), b.const(_TINY, c), c)
        factor, dfactor = d * c, dd * c + d * dc
        dtotal = dtotal * factor + total * dfactor
        # where a is whole the fraction ends, but not its derivative
        more = b.ge(b.abs(factor - 1.0), 1e-16) | b.ge(b.abs(dfactor), 1e-16)
        return base, c, dc, d, dd, total * factor, dtotal, more

    init = (base, b.const(1.0 / _TINY, a), zero, d, dd, d, dd)
    return _iterate(b, init, body, a)[5:]  # type: ignore[return-value]


def _split(b: Builder, a: Value, x: Value) -> tuple[Value, ...]:
    """Which elements are regular, which of them the series serves, safe operands, and ``x**a exp(-x) / gamma(a)``."""
    fine = b.gt(a, 0.0) & b.gt(x, 0.0) & b.lt(a, INF) & b.lt(x, INF)
    one = b.const(1.0, a)
    a, x = b.select(fine, a, one), b.select(fine, x, one)
    factor = _exp_of_terms(b, _times_log(b, a, x), (-x, b.const(0.0, x)), _minus_lgamma(b, a))
    return fine, b.lt(x, a + 1.0), a, x, factor


def _parts(b: Builder, a: Value, x: Value, left: Value) -> tuple[tuple[Value, Value], tuple[Value, Value]]:
    """The series where it serves and the fraction elsewhere; each with operands that converge at once otherwise."""
    series = _series(b, a, b.select(left, x, b.const(0.0, a)))
    fraction = _fraction(b, b.select(left, b.const(1.0, a), a), b.select(left, b.const(2.0, a), x))
    return series, fraction


def _gamma(b: Builder, a: Value, x: Value, upper: bool) -> Value:
    fine, left, safe_a, safe_x, factor = _split(b, a, x)
    (series, _), (fraction, _) = _parts(b, safe_a, safe_x, left)
    one, zero, nan = b.const(1.0, a), b.const(0.0, a), b.const(NAN, a)
    below, above = factor * series, factor * fraction
    empty = (b.eq(x, 0.0) & b.gt(a, 0.0)) | (b.eq(a, INF) & b.gt(x, 0.0) & b.lt(x, INF))
    full = (b.eq(x, INF) & b.gt(a, 0.0) & b.lt(a, INF)) | (b.eq(a, 0.0) & b.gt(x, 0.0))
    edge = b.select(empty, zero, b.select(full, one, nan))
    if upper:
        return b.select(fine, b.select(left, one - below, above), one - edge)
    return b.select(fine, b.select(left, below, one - above), edge)


@in_f64
def igamma(b: Builder, a: Value, x: Value) -> Value:
    return _gamma(b, a, x, upper=False)


@in_f64
def igammac(b: Builder, a: Value, x: Value) -> Value:
    return _gamma(b, a, x, upper=True)


@in_f64
def igamma_grad_a(b: Builder, a: Value, x: Value) -> Value:
    fine, left, a, x, factor = _split(b, a, x)
    (series, dseries), (fraction, dfraction) = _parts(b, a, x, left)
    slope = log(b, x) - digamma(b, a)  # of the logarithm of the factor
    value = b.select(left, factor * (slope * series + dseries), -factor * (slope * fraction + dfraction))
    return b.select(fine, value, b.const(0.0, value))


def _beta_fraction(b: Builder, p: Value, q: Value, x: Value) -> Value:
    one = b.const(1.0, p)

    def nonzero(v: Value) -> Value:
        return b.select(b.lt(b.abs(v), _TINY), b.const(_TINY, v), v)

    def half(step: Value, c: Value, d: Value, total: Value) -> tuple[Value, Value, Value]:
        d = one / nonzero(step * d + one)
        c = nonzero(step / c + one)
        return c, d, total * d * c

    def body(m: Value, c: Value, d: Value, total: Value) -> tuple[Value, ...]:
        double = p + m * 2.0
        c, d, total = half(m * (q - m) * x / ((double - 1.0) * double), c, d, total)
        c, d, total = half(-(p + m) * (p + q + m) * x / (double * (double + 1.0)), c, d, total)
        return c, d, total, b.ge(b.abs(d * c - 1.0), 1e-16)

    first = one / nonzero(one - (p + q) * x / (p + 1.0))
    return _iterate(b, (one, first, first), body, p)[2]


@in_f64
def betainc(b: Builder, a: Value, c: Value, x: Value) -> Value:
    """The regularised incomplete beta function of ``a``, ``c`` and ``x``."""
    one, zero = b.const(1.0, x), b.const(0.0, x)
    defined = b.gt(a, 0.0) & b.gt(c, 0.0)
    fine = defined & b.gt(x, 0.0) & b.lt(x, 1.0)
    safe_a, safe_c = b.select(fine, a, one), b.select(fine, c, one)
    safe_x = b.select(fine, x, b.const(0.5, x))
    swap = b.gt(safe_x, (safe_a + 1.0) / (safe_a + safe_c + 2.0))
    p, q = b.select(swap, safe_c, safe_a), b.select(swap, safe_a, safe_c)
    both, lost = two_sum(safe_a, safe_c)
    of_both, low = lgamma_in_two(b, both)
    low = low + b.select(b.eq(lost, 0.0), lost, lost * digamma(b, both))
    rest, rest_low = two_sum(one, -safe_x)
    factor = _exp_of_terms(
        b, _times_log(b, safe_a, safe_x), _times_log(b, safe_c, rest, rest_low), (of_both, low),
        _minus_lgamma(b, safe_a), _minus_lgamma(b, safe_c), _times_log(b, -one, p),
    )  # fmt: skip
    part = factor * _beta_fraction(b, p, q, b.select(swap, one - safe_x, safe_x))
    edge = b.select(defined & b.eq(x, 0.0), zero, b.select(defined & b.eq(x, 1.0), one, b.const(NAN, x)))
    return b.select(fine, b.select(swap, one - part, part), edge)
