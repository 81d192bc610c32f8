"""Discrete Fourier transforms of lines in float64: mixed radices, and Bluestein's convolution for large primes.

The decimation in time is done stage by stage between two areas (Stockham), so that nothing is reordered: before a stage
of radix ``r``, ``D[b, j]`` is term ``j`` of the transform of length ``L`` of every ``n/L``-th element from ``b`` on.

Lanes are lines: eight lines are transformed at once, each element of the scratch memory being a vector; what is left is
done line by line by the same code with one lane, whose results have the same bits.

References:
    L. I. Bluestein, "A linear filtering approach to the computation of the discrete Fourier transform", IEEE Trans.
    Audio and Electroacoustics 18 (1970).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..loop.types import VType
from ..math.trigonometric import sine_of_turns

LANES = 8
LARGEST = 31
"""Prime factors up to here are radices; beyond, the line is transformed as a convolution."""


@dataclass(frozen=True)
class Pair:
    """A complex number."""

    re: Value
    im: Value

    def __add__(self, other: Pair) -> Pair:
        return Pair(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Pair) -> Pair:
        return Pair(self.re - other.re, self.im - other.im)

    def scaled(self, factor: Any) -> Pair:
        return Pair(self.re * factor, self.im * factor)

    def times(self, other: Pair) -> Pair:
        return Pair(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def turned(self) -> Pair:
        """Times the imaginary unit."""
        return Pair(-self.im, self.re)


class Area:
    """Complex numbers in two buffers of ``f64``, each element ``lanes`` numbers."""

    def __init__(self, b: Builder, re: Buffer, im: Buffer, lanes: int) -> None:
        self.b, self.re, self.im, self.lanes = b, re, im, lanes

    def load(self, i: Any, terms: int = 1) -> Pair:
        """An element, or several neighbouring ones of a single line as lanes."""
        at, lanes = self.b.mul(i, self.lanes), self.lanes * terms
        return Pair(self.b.load(self.re, at, lanes), self.b.load(self.im, at, lanes))

    def store(self, i: Any, x: Pair) -> None:
        at = self.b.mul(i, self.lanes)
        self.b.store(self.re, at, x.re)
        self.b.store(self.im, at, x.im)


def root(b: Builder, e: Value, n: Value) -> Pair:
    """``exp(2 pi i e / n)`` for ``0 <= e < n``; the angle is reduced exactly, in integers."""
    half_turns = b.div(e * 4 + n, n * 2)  # 2 e / n, rounded
    rest = b.convert(e * 2 - half_turns * n, "f64") / b.convert(n, "f64")
    sine, cosine = sine_of_turns(b, rest)
    odd = b.ne(half_turns & 1, 0)
    return Pair(b.select(odd, -cosine, cosine), b.select(odd, -sine, sine))


# ---- stages ----------------------------------------------------------------------------------------------------------


@cache
def transform_kernel(lanes: int) -> Function:
    """Transforms the first ``n`` elements in place; behind them there is room for as many.

    ``cos`` and ``sin`` hold the ``n`` roots; ``sign`` is that of the exponent.
    """
    b = Builder(f"fft_{lanes}")
    data = Area(b, b.buffer("re", "f64"), b.buffer("im", "f64"), lanes)
    cos, sin = b.buffer("cos", "f64"), b.buffer("sin", "f64")
    n, sign = b.dim("n"), b.dim("sign", "f64")

    def twiddle(e: Value) -> Pair:
        """The roots ``e``: one for all lanes, or one for each of several terms."""
        re, im = b.gather(cos, e), b.gather(sin, e) * sign
        return Pair(b.splat(re, lanes), b.splat(im, lanes)) if e.type.lanes == 1 else Pair(re, im)

    def stage(radix: int, area: Value, length: Value, blocks: Value) -> None:
        """One pass with a radix that is known; ``blocks`` is the number of them afterwards."""

        def block(k: Value) -> None:
            def term(j: Value, terms: int) -> None:
                u = [data.load(area + (k + blocks * p) * length + j, terms) for p in range(radix)]
                step = (b.lanes(terms) + j) * blocks
                u = [u[0], *[x.times(twiddle(step * p)) for p, x in enumerate(u[1:], 1)]]
                to = n - area + k * length * radix + j
                for q, y in enumerate(_small(u, b.splat(sign, u[0].re.type.lanes))):
                    data.store(to + length * q, y)

            # a single line has its neighbouring terms as lanes
            b.vector_loop(0, length, LANES if lanes == 1 else 1, term)

        b.for_(0, blocks, 1, block)

    def any_stage(radix: Value, area: Value, length: Value, blocks: Value) -> None:
        """One pass with any radix, by its definition."""
        share = b.div(n, radix)

        def block(k: Value) -> None:
            def term(j: Value) -> None:
                def result(q: Value) -> None:
                    def add(p: Value, re: Value, im: Value) -> tuple[Value, Value]:
                        e = p * j * blocks + b.rem(p * q, radix) * share
                        e = b.select(b.ge(e, n), e - n, e)
                        x = Pair(re, im) + data.load(area + (k + blocks * p) * length + j).times(twiddle(e))
                        return x.re, x.im

                    zero = b.const(0.0, VType("f64", lanes))
                    re, im = b.for_(0, radix, 1, add, (zero, zero))
                    data.store(n - area + (k * radix + q) * length + j, Pair(re, im))

                b.for_(0, radix, 1, result)

            b.for_(0, length, 1, term)

        b.for_(0, blocks, 1, block)

    def unfinished(area: Value, length: Value, left: Value) -> Value:
        return b.gt(left, 1)

    def next_stage(area: Value, length: Value, left: Value) -> tuple[Value, Value, Value]:
        def choose(radices: tuple[int, ...]) -> Value:
            if not radices:
                rest = smallest_factor(b, left, 7)
                any_stage(rest, area, length, b.div(left, rest))
                return rest
            radix = radices[0]

            def use() -> Value:
                stage(radix, area, length, left / radix)
                return b.const(radix)

            return b.if_(b.eq(b.rem(left, radix), 0), use, lambda: choose(radices[1:]))[0]

        chosen = choose((4, 2, 3, 5))
        return n - area, length * chosen, b.div(left, chosen)

    area, _, _ = b.while_([b.const(0), b.const(1), n], unfinished, next_stage)
    b.for_(0, b.select(b.ne(area, 0), n, 0), 1, lambda i: data.store(i, data.load(n + i)))
    return b.finish()


def _small(u: list[Pair], sign: Value) -> list[Pair]:
    """The transform of 2, 3, 4 or 5 numbers."""
    if len(u) == 2:
        return [u[0] + u[1], u[0] - u[1]]
    if len(u) == 4:
        a, b, c = u[0] + u[2], u[0] - u[2], u[1] + u[3]
        d = (u[1] - u[3]).scaled(sign).turned()
        return [a + c, b + d, a - c, b - d]
    r, half = len(u), len(u) // 2
    sums = [u[p] + u[r - p] for p in range(1, half + 1)]
    turns = [(u[p] - u[r - p]).scaled(sign).turned() for p in range(1, half + 1)]
    out = [u[0]] * r
    for x in sums:
        out[0] = out[0] + x
    for q in range(1, half + 1):
        even, odd = u[0], None
        for p, (x, y) in enumerate(zip(sums, turns, strict=True), 1):
            angle = 2 * math.pi * (p * q % r) / r
            even = even + x.scaled(math.cos(angle))
            part = y.scaled(math.sin(angle))
            odd = part if odd is None else odd + part
        assert odd is not None
        out[q], out[r - q] = even + odd, even - odd
    return out


def smallest_factor(b: Builder, n: Value, first: int) -> Value:
    """The smallest divisor of ``n`` from ``first`` on, of odd ones; it is prime if smaller ones have been taken out."""
    (found,) = b.while_([b.const(first)], lambda d: b.ne(b.rem(n, d), 0), lambda d: d + 2)
    return found


def largest_factor(b: Builder, n: Value) -> Value:
    """The largest prime factor of ``n`` (1 of 1)."""

    def unfinished(left: Value, _: Value) -> Value:
        return b.gt(left, 1)

    def divide(left: Value, _: Value) -> tuple[Value, Value]:
        even = b.eq(left & 1, 0)
        factor = b.if_(even, lambda: b.const(2), lambda: _odd_factor(b, left))[0]
        return b.div(left, factor), factor

    return b.while_([b.max(n, 1), b.const(1)], unfinished, divide)[1]


def _odd_factor(b: Builder, n: Value) -> Value:
    """The smallest factor of an odd number; itself beyond its root."""

    def goes_on(d: Value) -> Value:
        return b.ne(b.rem(n, d), 0) & b.le(d * d, n)

    (found,) = b.while_([b.const(3)], goes_on, lambda d: d + 2)
    return b.select(b.eq(b.rem(n, found), 0), found, n)


# ---- lines -----------------------------------------------------------------------------------------------------------


def fill_roots(
    b: Builder, cos: Buffer, sin: Buffer, n: Value, count: Value, exponent: Callable[[Value], Value]
) -> None:
    """``count`` roots ``exp(2 pi i exponent(k) / n)``."""

    def some(k: Value, lanes: int) -> None:
        w = root(b, exponent(b.lanes(lanes) + k), b.splat(n, lanes))
        b.store(cos, k, w.re)
        b.store(sin, k, w.im)

    b.vector_loop(0, count, LANES, some)


def next_power(b: Builder, n: Value) -> Value:
    (found,) = b.while_([b.const(1)], lambda m: b.lt(m, n), lambda m: m + m)
    return found


__all__ = [
    "LANES", "LARGEST", "Area", "Pair", "fill_roots", "largest_factor", "next_power", "root", "transform_kernel",
]  # fmt: skip
