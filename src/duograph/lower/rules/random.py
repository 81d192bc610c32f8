"""Random numbers. Bits, uniform numbers, integers and permutations are those of the reference; the rest follows it up
to the last bits of logarithms and sines, which are the native ones.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..kernels.philox import LANES, Draw, generate, interleave, units, words32, words64
from ..kernels.sorting import sort_kernel
from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..lowering import Lowering
from ..math.conversions import to_half
from ..math.exponential import exp
from ..math.gamma import lgamma
from ..math.logarithm import log
from ..math.trigonometric import sine_of_turns
from ..rule import kernel

_MANTISSA = {"f16": 11, "bf16": 8, "f32": 24}
_ATTEMPTS = 1000
"""Rejections end here; that so many occur in a row is impossible for parameters that are numbers."""


def _draw(c: Lowering, function: Function, *rest: Any) -> None:
    seed, offset = c.ins[:2]
    (out,) = c.outs
    c.call(function, [out], [out.size, seed, offset, *rest])


# ---- bits, uniform numbers, integers ---------------------------------------------------------------------------------


@kernel("random_bits")
def random_bits(c: Lowering) -> None:
    _draw(c, _bits())


@cache
def _bits() -> Function:
    b = Builder("random_bits")
    out, n = b.buffer("out", "u32"), b.dim("n")
    generate(b, out, n, Draw.dims(b), 4, lambda words: words32(b, words))
    return b.finish()


@kernel("random_uniform")
def random_uniform(c: Lowering) -> None:
    _draw(c, _uniform(c.outs[0].elem))


@cache
def _uniform(elem: str) -> Function:
    b = Builder(f"random_uniform_{elem}")
    out, n = b.buffer("out", elem), b.dim("n")

    def of_words(words: list[Value]) -> Value:
        if elem == "f64":
            return b.convert(b.convert(words64(b, words) >> 11, "i64"), "f64") * 2.0**-53
        width = _MANTISSA[elem]
        whole = b.convert(words32(b, words) >> (32 - width), "i32")
        return b.convert(b.convert(whole, "f32") * 2.0**-width, elem)

    generate(b, out, n, Draw.dims(b), 2 if elem == "f64" else 4, of_words)
    return b.finish()


@kernel("random_integers")
def random_integers(c: Lowering) -> None:
    low, high = c.attrs["low"], c.attrs["high"]
    span = high - low
    if isinstance(span, int):
        span &= (1 << 64) - 1
        span = span - (1 << 64) if span >> 63 else span
    _draw(c, _integers(c.outs[0].elem), span, low)


@cache
def _integers(elem: str) -> Function:
    b = Builder(f"random_integers_{elem}")
    out, n = b.buffer("out", elem), b.dim("n")
    draw = Draw.dims(b)
    span, low = b.convert(b.dim("span"), "u64"), b.dim("low")
    b.fail(b.eq(span, 0), 1)  # 2**64 numbers: the reference says that this is too many
    divisor = b.max(span, 1)

    def of_words(words: list[Value]) -> Value:
        picked = b.convert(b.rem(words64(b, words), divisor), "i64") + low
        return b.convert(picked, elem)

    generate(b, out, n, draw, 2, of_words)
    return b.finish()


@kernel("random_permutation")
def random_permutation(c: Lowering) -> None:
    """The order of as many random words."""
    seed, offset = c.ins
    (out,) = c.outs
    n = out.size
    words = c.temp("u64", n)
    c.call(_words(), [words], [n, seed, offset])
    c.call(sort_kernel("u64", out.elem, descending=False, with_values=False), [words, out], [1, n, 1, n])


@cache
def _words() -> Function:
    b = Builder("random_words")
    out, n = b.buffer("out", "u64"), b.dim("n")
    generate(b, out, n, Draw.dims(b), 2, lambda words: words64(b, words))
    return b.finish()


# ---- normal ----------------------------------------------------------------------------------------------------------


@kernel("random_normal")
def random_normal(c: Lowering) -> None:
    _draw(c, _normal(c.outs[0].elem))


@cache
def _normal(elem: str) -> Function:
    """Box and Muller in float64: a pair of uniform numbers gives a pair of normal ones."""
    b = Builder(f"random_normal_{elem}")
    out, n = b.buffer("out", elem), b.dim("n")

    def rounded(x: Value) -> Value:
        return to_half(b, x) if elem == "f16" else b.convert(x, elem)

    def pair(x: Value, y: Value, tiny: float) -> Value:
        radius = b.sqrt(log(b, x + tiny) * -2.0)
        turns = y + y  # of half a circle
        whole = b.rint(turns)
        sine, cosine = sine_of_turns(b, turns - whole)
        radius = b.select(b.eq(whole, 1.0), -radius, radius)
        return interleave(b, rounded(radius * cosine), rounded(radius * sine))

    def of_words(words: list[Value]) -> Value:
        if elem == "f64":
            x, y = (b.convert(b.convert((w | (v << 32)) >> 11, "i64"), "f64") for w, v in (words[:2], words[2:]))
            return pair(x * 2.0**-53, y * 2.0**-53, 2.0**-53)
        unit = [b.convert(b.convert(w, "i64"), "f64") * 2.0**-32 for w in words]
        first, second = pair(unit[0], unit[1], 2.0**-32), pair(unit[2], unit[3], 2.0**-32)
        # pairs of one block stay together
        order = [k // 4 * 2 + k % 2 + (k % 4 // 2) * 2 * LANES for k in range(4 * LANES)]
        return b.shuffle(first, second, order)

    generate(b, out, n, Draw.dims(b), 2 if elem == "f64" else 4, of_words)
    return b.finish()


# ---- rejection methods -----------------------------------------------------------------------------------------------


def _per_element(c: Lowering, function: Function) -> None:
    seed, offset, parameter = c.ins
    (out,) = c.outs
    c.call(function, [parameter, out], [out.size, seed, offset])


@kernel("random_gamma")
def random_gamma(c: Lowering) -> None:
    _per_element(c, _gamma(c.outs[0].elem))


@kernel("random_poisson")
def random_poisson(c: Lowering) -> None:
    _per_element(c, _poisson(c.outs[0].elem))


def _sampler(name: str, elem: str, sample: Any) -> Function:
    """``out[i] = sample(b, draw, i, parameter[i])``, computed in float64."""
    b = Builder(f"{name}_{elem}")
    parameter, out, n = b.buffer("parameter", elem), b.buffer("out", elem), b.dim("n")
    draw = Draw.dims(b)

    def one(i: Value) -> None:
        value = sample(b, draw, i, b.convert(b.load(parameter, i), "f64"))
        b.store(out, i, to_half(b, value) if elem == "f16" else b.convert(value, elem))

    b.parallel_for(0, n, 64, one)
    return b.finish()


def _rejection(b: Builder, attempt_once: Any) -> Value:
    """The first accepted value: ``attempt_once(attempt)`` gives a value and whether it is accepted."""

    def goes_on(attempt: Value, _: Value, accepted: Value) -> Value:
        return b.eq(accepted, 0) & b.lt(attempt, _ATTEMPTS)

    def again(attempt: Value, _: Value, __: Value) -> tuple[Value, Value, Value]:
        value, accepted = attempt_once(attempt)
        return attempt + 1, value, b.convert(accepted, "i64")

    _, value, _ = b.while_([b.const(0), b.const(0.0, "f64"), b.const(0)], goes_on, again)
    return value


@cache
def _gamma(elem: str) -> Function:
    """Marsaglia and Tsang; for ``alpha < 1`` a sample of ``alpha + 1`` times ``u**(1/alpha)``."""

    def sample(b: Builder, draw: Draw, i: Value, alpha: Value) -> Value:
        small = b.lt(alpha, 1.0)
        d = b.select(small, alpha + 1.0, alpha) - 1.0 / 3.0
        c = 1.0 / b.sqrt(d * 9.0)

        def attempt_once(attempt: Value) -> tuple[Value, Value]:
            u1, u2, u3, _ = units(b, draw, i, attempt)
            turns = u2 + u2
            whole = b.rint(turns)
            cosine = sine_of_turns(b, turns - whole)[1]
            x = b.sqrt(log(b, u1) * -2.0) * b.select(b.eq(whole, 1.0), -cosine, cosine)
            v = c * x + 1.0
            v = v * v * v
            safe = b.select(b.gt(v, 0.0), v, 1.0)
            limit = x * x * 0.5 + d - d * v + d * log(b, safe)
            return d * v, b.gt(v, 0.0) & b.lt(log(b, u3), limit)

        def drawn() -> Value:
            value = _rejection(b, attempt_once)

            def boosted() -> Value:
                return value * exp(b, log(b, units(b, draw, i, b.const(0))[3]) / alpha)

            return b.if_(small, boosted, lambda: value)[0]

        def degenerate() -> Value:
            return b.select(b.eq(alpha, 0.0), b.const(0.0, alpha), b.const(float("nan"), alpha))

        return b.if_(b.gt(alpha, 0.0), drawn, degenerate)[0]

    return _sampler("random_gamma", elem, sample)


@cache
def _poisson(elem: str) -> Function:
    """Sequential inversion below 10, Hoermann's transformed rejection from there."""

    def sample(b: Builder, draw: Draw, i: Value, rate: Value) -> Value:
        def inverted() -> Value:
            u = units(b, draw, i, b.const(0))[0]
            term = exp(b, -rate)

            def goes_on(step: Value, _: Value, total: Value) -> Value:
                return b.gt(u, total) & b.lt(step, 199)

            def add(step: Value, term: Value, total: Value) -> tuple[Value, Value, Value]:
                term = term * rate / b.convert(step + 1, "f64")
                return step + 1, term, total + term

            step, _, _ = b.while_([b.const(0), term, term], goes_on, add)
            return b.convert(step, "f64")

        def transformed() -> Value:
            scale = b.sqrt(rate) * 2.53 + 0.931
            a = scale * 0.02483 - 0.059
            inverse_alpha = 1.1328 / (scale - 3.4) + 1.1239
            v_r = 0.9277 - 3.6224 / (scale - 2.0)
            log_rate = log(b, rate)

            def attempt_once(attempt: Value) -> tuple[Value, Value]:
                u, v, _, _ = units(b, draw, i, attempt)
                u = u - 0.5
                us = 0.5 - b.abs(u)
                k = b.floor((a * 2.0 / us + scale) * u + rate + 0.43)
                quick = b.ge(us, 0.07) & b.le(v, v_r)
                impossible = b.lt(k, 0.0) | (b.lt(us, 0.013) & b.gt(v, us))
                bound = k * log_rate - rate - lgamma(b, b.select(impossible, 1.0, k + 1.0))
                slow = b.le(log(b, v) + log(b, inverse_alpha) - log(b, a / (us * us) + scale), bound)
                return k, quick | (~impossible & slow)

            return _rejection(b, attempt_once)

        def known() -> Value:
            return b.if_(b.lt(rate, 10.0), inverted, transformed)[0]

        return b.if_(b.ge(rate, 0.0), known, lambda: b.const(float("nan"), rate))[0]

    return _sampler("random_poisson", elem, sample)
