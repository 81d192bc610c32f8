"""Elements in memory: vectors of neighbours, strided, interleaved complex pairs, and the rest of a row under a mask."""

from __future__ import annotations

from typing import Any

from .loop.builder import Builder, Index
from .loop.ir import Buffer, Value
from .rule import Complex, Element


class Rest:
    """The first ``count`` lanes of vectors of ``lanes``: what is left of a row."""

    def __init__(self, b: Builder, count: Value, lanes: int) -> None:
        self.b, self.count, self.lanes = b, b.convert(count, "i32"), lanes
        self._mask = self._below(self.count, lanes)  # here, where it serves all uses

    def _below(self, count: Value, lanes: int) -> Value:
        return self.b.lt(self.b.lanes(lanes, "i32"), self.b.splat(count, lanes))

    def mask(self, lanes: int) -> Value:
        """The lanes that count; of pairs, if ``lanes`` is twice as many."""
        return self._mask if lanes == self.lanes else self._below(self.count * 2, lanes)


def load_element(
    b: Builder, buf: Buffer, index: Index, step: Any, lanes: int, pairs: bool = False, rest: Rest | None = None
) -> Element:
    """``lanes`` elements from ``index`` on, ``step`` apart; both are counted in elements (complex: in ``pairs``)."""
    if pairs:
        return _load_pairs(b, buf, index, step, lanes, rest)
    known = step if isinstance(step, int) else step.const
    if lanes == 1:
        return b.load(buf, index)
    mask = None if rest is None else rest.mask(lanes)
    if known == 1:
        return b.load(buf, index, lanes, mask)
    if known == 0:
        return b.splat(b.load(buf, index), lanes)
    return b.gather(buf, b.lanes(lanes) * b.value(step) + b.value(index), mask)


def _load_pairs(b: Builder, buf: Buffer, index: Index, step: Any, lanes: int, rest: Rest | None) -> Complex:
    first = b.mul(index, 2)
    known = step if isinstance(step, int) else step.const
    if lanes == 1 or known != 1:
        double = b.mul(step, 2)
        re = load_element(b, buf, first, double, lanes, rest=rest)
        return Complex(re, load_element(b, buf, b.add(first, 1), double, lanes, rest=rest))
    both = b.load(buf, first, 2 * lanes, None if rest is None else rest.mask(2 * lanes))
    even, odd = range(0, 2 * lanes, 2), range(1, 2 * lanes, 2)
    return Complex(b.shuffle(both, both, even), b.shuffle(both, both, odd))


def store_element(b: Builder, buf: Buffer, index: Index, element: Element, rest: Rest | None = None) -> None:
    """Stores neighbouring elements from ``index`` on (complex: counted in pairs)."""
    if not isinstance(element, Complex):
        b.store(buf, index, element, None if rest is None else rest.mask(element.type.lanes))
        return
    lanes = element.re.type.lanes
    first = b.mul(index, 2)
    if lanes == 1:
        b.store(buf, first, element.re)
        b.store(buf, b.add(first, 1), element.im)
        return
    order = [k // 2 + (k % 2) * lanes for k in range(2 * lanes)]
    both = b.shuffle(element.re, element.im, order)
    b.store(buf, first, both, None if rest is None else rest.mask(2 * lanes))
