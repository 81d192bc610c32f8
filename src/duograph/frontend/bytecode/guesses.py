"""What is chosen where code can be read in more than one way: which block is an ``else`` clause, where a loop ends.

Each reading is compared with the bytecode (`same.py`), so a wrong guess costs time and nothing else: the next reading
has another choice in one place, near to where this one went wrong. In turns, what is read next differs least from the
first reading, or from the one that was right for the longest: where several guesses are wrong, one is found after the
other.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..rules.errors import Uncapturable

T = TypeVar("T")
Key = tuple[int, str, int]
"""The code object, what is chosen, and the instruction where."""
MOST_READINGS = 256
MOST_INSTRUCTIONS = 40_000
"""Readings of one function, and instructions that are read in all of them (about a second)."""


class Hopeless(Uncapturable):
    """No other reading would do."""


class Guesses:
    """The choices of one reading: the likely option each time, but for those that `others` has."""

    def __init__(self, others: dict[Key, int]) -> None:
        self.others = others
        self.open: dict[Key, tuple[int, int]] = {}  # how many options there were, and in which line
        self.line = 0  # where the reading went wrong
        self.right = 0  # up to which line it does what the code does, as far as that is known
        self.steps = 0  # instructions that were read

    def choose(self, code: Any, what: str, i: int, line: int | None, options: Iterable[T]) -> T:
        """One of the options, of which the first is the likely one."""
        kept = list(dict.fromkeys(options))
        if len(kept) > 1:
            self.open.setdefault((id(code), what, i), (len(kept), line or 0))
        return kept[min(self.others.get((id(code), what, i), 0), len(kept) - 1)]

    def next_ones(self) -> Iterator[dict[Key, int]]:
        """Choices that differ in one more place, the nearest ones first."""
        for key in sorted(self.open, key=lambda key: abs(self.open[key][1] - self.line)):
            if key not in self.others:
                for k in range(1, self.open[key][0]):
                    yield {**self.others, key: k}


def read_until(read: Callable[[Guesses], T], size: int) -> T:
    """What the first reading gives that is not refused, of a function of so many instructions.

    Raises:
        Uncapturable: why the first reading was.
    """
    reason = ""
    nearest: list[dict[Key, int]] = [{}]
    best: list[tuple[int, int, dict[Key, int]]] = []
    known: set[Any] = {frozenset()}
    done: set[Any] = set()
    n = 0
    left = max(MOST_INSTRUCTIONS, size)
    for turn in range(2 * MOST_READINGS):
        if left <= 0 or n >= len(nearest):
            break
        if turn % 2 and best:
            others = heapq.heappop(best)[2]
        else:
            others, n = nearest[n], n + 1
        if (key := frozenset(others.items())) in done:
            continue
        done.add(key)
        guesses = Guesses(others)
        try:
            return read(guesses)
        except Hopeless:
            raise
        except Uncapturable as exc:
            reason = reason or exc.reason
        left -= max(guesses.steps, size)
        for more in guesses.next_ones():
            key = frozenset(more.items())
            if key not in known and len(known) < 16 * MOST_READINGS:
                known.add(key)
                nearest.append(more)
                heapq.heappush(best, (-guesses.right, len(known), more))
    raise Uncapturable(reason)
