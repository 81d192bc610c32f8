"""Folds: how a reduction accumulates. An accumulator is a tuple of components, one loop IR value each.

Every fold has an identity that changes nothing when it is combined with what was accumulated before, so lanes and
partial results without elements do no harm, and a fold of one partial result is that result.

* Sums start at +0.0: the sum of nothing, and of negative zeros, is +0.0.
* Maxima and minima keep the first NaN they meet.
* Positions are pairs (value, index); of equal values the smaller index stands, and a NaN beats every number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .loop.builder import Builder
from .loop.ir import Value
from .loop.types import VType
from .math.integers import largest, smallest
from .rule import Complex, Element

Parts = tuple[Value, ...]


@dataclass(frozen=True)
class Fold:
    """A kind of accumulation of values of type ``elem`` (half types: ``f32``; complex: pairs of ``elem``).

    Attributes:
        kind: ``sum``, ``mean``, ``prod``, ``max``, ``min``, ``all``, ``any``, ``argmax`` or ``argmin``.
        index: element type of positions.
    """

    kind: str
    elem: str
    pairs: bool = False
    index: str = "i64"

    @property
    def parts(self) -> tuple[str, ...]:
        """Element types of the components."""
        if self.wants_index:
            return (self.elem, self.index)
        return (self.elem, self.elem) if self.pairs else (self.elem,)

    @property
    def wants_index(self) -> bool:
        return self.kind in ("argmax", "argmin")

    @property
    def lanes(self) -> int:
        """Lanes of an accumulator: they decide about the order, so they depend on the type alone."""
        return 8 if VType(self.elem).bits == 64 else 16

    def identity(self, b: Builder, lanes: int) -> Parts:
        t = VType(self.elem, lanes)
        if self.wants_index:
            # where the worst value is the result, all elements are equal, and position 0 is right
            return b.const(self._worst(t), t), b.const(0, VType(self.index, lanes))
        if self.kind in ("sum", "mean"):
            return (b.const(0, t),) * len(self.parts)
        if self.kind == "prod":
            return (b.const(1, t), b.const(0, t))[: len(self.parts)]
        if self.kind in ("all", "any"):
            return (b.const(self.kind == "all", t),)
        return (b.const(self._worst(t), t),)

    def _worst(self, t: VType) -> float | int:
        up = self.kind in ("max", "argmax")
        if t.is_bool:
            return not up
        if t.is_float:
            return -math.inf if up else math.inf
        return smallest(t) if up else largest(t)

    def lift(self, b: Builder, x: Element, index: Value | None) -> Parts:
        """An element as an accumulator."""
        if isinstance(x, Complex):
            return x.re, x.im
        if self.wants_index:
            assert index is not None
            return x, b.splat(index, x.type.lanes)
        return (x,)

    def combine(self, b: Builder, x: Parts, y: Parts) -> Parts:
        """Both accumulators as one; ``x`` holds what comes first."""
        if self.wants_index:
            return self._position(b, x, y)
        if self.kind in ("sum", "mean"):
            return tuple([p | q if p.type.is_bool else p + q for p, q in zip(x, y, strict=True)])
        if self.kind == "prod":
            if self.pairs:
                (a, c), (d, e) = x, y
                return a * d - c * e, a * e + c * d
            return (x[0] & y[0] if x[0].type.is_bool else x[0] * y[0],)
        if self.kind in ("all", "any"):
            return (x[0] & y[0] if self.kind == "all" else x[0] | y[0],)
        return (self._extreme(b, x[0], y[0]),)

    def append(self, b: Builder, x: Parts, y: Parts) -> Parts:
        """`combine`, if all elements in ``y`` come after those in ``x``: positions need no comparison."""
        if not self.wants_index:
            return self.combine(b, x, y)
        (p, i), (q, j) = x, y
        if p.type.is_bool:
            better = q & ~p if self.kind == "argmax" else p & ~q
        elif p.type.is_float:
            better = ~((b.le(q, p) if self.kind == "argmax" else b.ge(q, p)) | b.isnan(p))
        else:
            better = b.gt(q, p) if self.kind == "argmax" else b.lt(q, p)
        return b.select(better, q, p), b.select(better, j, i)

    def _extreme(self, b: Builder, x: Value, y: Value) -> Value:
        up = self.kind == "max"
        if x.type.is_bool:
            return x | y if up else x & y
        if not x.type.is_float:
            return b.max(x, y) if up else b.min(x, y)
        return b.select(b.isnan(x), x, b.select(b.gt(x, y) if up else b.lt(x, y), x, y))

    def _position(self, b: Builder, x: Parts, y: Parts) -> Parts:
        (p, i), (q, j) = x, y
        if p.type.is_bool:
            first = p & ~q if self.kind == "argmax" else q & ~p
            same = ~(p ^ q)
        else:
            first = b.gt(p, q) if self.kind == "argmax" else b.lt(p, q)
            same = b.eq(p, q)
        if p.type.is_float:
            x_nan, y_nan = b.isnan(p), b.isnan(q)
            first = first | (x_nan & ~y_nan)
            same = same | (x_nan & y_nan)
        wins = first | (same & b.lt(i, j))
        return b.select(wins, p, q), b.select(wins, i, j)

    def finish(self, b: Builder, x: Parts, count: Value) -> Element:
        """The result of everything; ``count`` elements (``i64``) went in."""
        if self.wants_index:
            return x[1]
        if self.kind == "mean":
            # the count is rounded to the type first, as the reference does
            n = b.splat(b.convert(count, self.elem), x[0].type.lanes)
            x = tuple([p / n for p in x])
        return Complex(x[0], x[1]) if self.pairs else x[0]
