"""What is chosen where code can be read in more than one way: which block is an ``else`` clause, where a loop ends.

Each reading is compared with the bytecode (`same.py`), so a wrong guess costs time and nothing else: the next reading
has another choice in one place, and further ones in two. Those near to where a reading went wrong come first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from ..rules.errors import Uncapturable

T = TypeVar("T")
Key = tuple[int, str, int]
"""The code object, what is chosen, and the instruction where."""
MOST_READINGS = 64
MOST_INSTRUCTIONS = 16_000
"""Readings of one function, and instructions that are read in all of them."""


class Hopeless(Uncapturable):
    """No other reading would do."""


class Guesses:
    """The choices of one reading: the likely option each time, but for those that `others` has."""

    def __init__(self, others: dict[Key, int]) -> None:
        self.others = others
        self.open: dict[Key, tuple[int, int]] = {}  # how many options there were, and in which line
        self.line = 0  # where the reading went wrong

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
    work: list[dict[Key, int]] = [{}]
    known: set[Any] = set()
    most = min(MOST_READINGS, max(1, MOST_INSTRUCTIONS // max(size, 1)))
    for others in work:
        guesses = Guesses(others)
        try:
            return read(guesses)
        except Hopeless:
            raise
        except Uncapturable as exc:
            reason = reason or exc.reason
        for more in guesses.next_ones():
            key = frozenset(more.items())
            if key not in known and len(work) < most:
                known.add(key)
                work.append(more)
    raise Uncapturable(reason)
