"""Fresh names that people can read.

A `NameSupply` hands out names that were not handed out before: the hint itself if it is free, else with the smallest
number that makes it free (`x`, `x_1`, `x_2`). The names depend only on the requests and their order, so dumps of the
same program are the same text.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

__all__ = ["NameSupply", "identifier"]

_NOT_WORD = re.compile(r"\0+")
_NUMBERED = re.compile(r"(.*?)_(\d+)\Z", re.DOTALL)


def identifier(text: str, default: str = "x") -> str:
    """`text` as a Python identifier: runs of other characters become `_`; keywords get a trailing `_`.

    >>> identifier("layers.0.weight"), identifier("3d"), identifier("lambda"), identifier("<>")
    ('layers_0_weight', '_3d', 'lambda_', 'x')
    """
    name = "".join(char if ("a" + char).isidentifier() else "\0" for char in text)
    name = _NOT_WORD.sub("_", name)
    if text[:1] != "_":
        name = name.lstrip("_")
    if text[-1:] != "_":
        name = name.rstrip("_")
    if not name:
        return default
    if not name.isidentifier():
        name = "_" + name
    return name + "_" if keyword.iskeyword(name) else name


class NameSupply:
    """Fresh names in one scope.

    Args:
        taken: names never to hand out.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def fresh(self, hint: str = "x") -> str:
        """A name like `hint` that was not handed out before. `x_3` as a hint counts as a hint of `x`."""
        if hint not in self._taken:
            self._taken.add(hint)
            return hint
        numbered = _NUMBERED.match(hint)
        stem = numbered[1] if numbered and numbered[1] else hint
        number = self._next.get(stem, 1)
        while f"{stem}_{number}" in self._taken:
            number += 1
        self._next[stem] = number + 1
        name = f"{stem}_{number}"
        self._taken.add(name)
        return name

    def reserve(self, *names: str) -> None:
        """Never hand out these names."""
        self._taken.update(names)

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    def child(self) -> NameSupply:
        """A supply for an inner scope: it avoids the names taken so far, and leaves this one as it is."""
        inner = NameSupply(self._taken)
        inner._next = dict(self._next)
        return inner
