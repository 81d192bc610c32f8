"""Squares of vectors transposed in registers."""

from __future__ import annotations

from collections.abc import Sequence

from .loop.builder import Builder
from .loop.ir import Value


def transposed(b: Builder, rows: Sequence[Value]) -> list[Value]:
    """A square of vectors, transposed by exchanging lanes of pairs: log2(n) rounds.

    Where elements have four or eight bytes, 128 bits at a time are put in place first and transposed then: processors
    have instructions for each of these steps that need neither tables nor copies of their operands.
    """
    n, out = len(rows), list(rows)
    unit = 128 // out[0].type.bits if out[0].type.bits >= 32 else 0
    if unit and n % unit == 0 and n // unit in (1, 2, 4):
        columns = [_gathered(b, out[i::unit], unit) for i in range(unit)]
        return [line for q in range(n // unit) for line in _squares(b, [column[q] for column in columns])]
    step = n // 2
    while step:
        for i in range(n):
            if i & step == 0:
                first, second = out[i], out[i + step]
                out[i] = b.shuffle(first, second, [k if k & step == 0 else n + k - step for k in range(n)])
                out[i + step] = b.shuffle(first, second, [k + step if k & step == 0 else n + k for k in range(n)])
        step //= 2
    return out


def _gathered(b: Builder, rows: list[Value], unit: int) -> list[Value]:
    """As many vectors of that many pieces of ``unit`` lanes: vector q gets piece q of every row."""
    if len(rows) == 1:
        return rows

    def pieces(pair: Sequence[Value], *chosen: int) -> Value:
        return b.shuffle(pair[0], pair[1], [piece * unit + k for piece in chosen for k in range(unit)])

    if len(rows) == 2:
        return [pieces(rows, 0, 2), pieces(rows, 1, 3)]
    low, high = ([pieces(rows[i : i + 2], *chosen) for i in (0, 2)] for chosen in ((0, 1, 4, 5), (2, 3, 6, 7)))
    return [pieces(half, *chosen) for half in (low, high) for chosen in ((0, 2, 4, 6), (1, 3, 5, 7))]


def _squares(b: Builder, rows: list[Value]) -> list[Value]:
    """Two or four vectors, transposed in each piece of as many lanes."""
    unit, lanes = len(rows), rows[0].type.lanes

    def mixed(x: Value, y: Value, width: int, half: int) -> Value:
        """Runs of ``width`` lanes of both in turn, from the first or second half of each piece."""
        places = range(half * unit // 2, (half + 1) * unit // 2, width)
        order = [part + at + k for at in places for part in (0, lanes) for k in range(width)]
        return b.shuffle(x, y, [piece + k for piece in range(0, lanes, unit) for k in order])

    if unit == 2:
        return [mixed(rows[0], rows[1], 1, half) for half in (0, 1)]
    first, second = ([mixed(rows[i], rows[i + 1], 1, half) for half in (0, 1)] for i in (0, 2))
    return [mixed(x, y, 2, half) for x, y in zip(first, second, strict=True) for half in (0, 1)]
