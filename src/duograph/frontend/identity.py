"""Which object a tensor is, where the program chooses that while it runs.

    y = a if s.sum() > 0 else b      # one `cond`, whose result is neither `a` nor `b`
    if y is a: ...                   # Python says which; so must the program

A tensor that a branch, a loop or a recursive function gives may be one of several objects. Few programs ask which, and
for the others the choice is one of values. If the program asks (``is``, ``in``, keys of dictionaries and sets, writes
in place), a branch is captured again with its paths kept apart, each of which knows the answer; a loop or a recursive
function has no such paths, and is left to Python.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from duograph.tensor.alias import root_of
from duograph.tensor.tensor import Tensor

from .errors import Uncapturable

if TYPE_CHECKING:
    from .regions import Regions

REPEATED = "repeated"
"""The key of loops and recursive functions, whose paths cannot be kept apart."""

_COMPARING = frozenset({
    *("contains", "eq", "ne", "lt", "le", "gt", "ge", "countOf", "indexOf", "index", "count", "remove"),
    *("__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
})  # fmt: skip


class Choices:
    """The tensors of one capture that may be one of several objects."""

    def __init__(self, regions: Regions, born: int) -> None:
        self.regions, self.born = regions, born
        self._made: dict[int, tuple[Tensor, Any, tuple[Tensor, ...] | None]] = {}
        self._written: dict[Any, Any] = {}  # memory that may have another name -> key of who gave it that

    def note(self, handle: Tensor, key: Any, among: tuple[Tensor, ...] | None = None) -> None:
        """``handle`` may be any of ``among`` (None: any tensor). ``key``: of the region that chooses, or `REPEATED`."""
        self._made[id(handle)] = handle, key, among
        self._written[handle._alias] = key
        for tensor in among or ():
            self._written[tensor._alias] = key

    def note_source(self, tensor: Tensor) -> None:
        """``tensor`` may become what a loop or a recursive function gives."""
        self._written.setdefault(root_of(tensor)._alias, REPEATED)

    def check_write(self, alias: Any) -> None:
        """To be called before memory is written to: it has to be known who else sees that."""
        if alias in self._written:
            self._separate(self._written[alias], "a tensor that a loop or a recursive function may give is written to")

    def check_known(self, tensor: Tensor) -> None:
        """To be called where it matters which object ``tensor`` is (it is a key of a dictionary)."""
        made = self._made.get(id(tensor))
        if made is not None:
            self._separate(made[1], "which object a tensor is that a loop or a recursive function gives")

    def check_all_known(self, value: Any) -> None:
        """`check_known` for a tensor, or those in containers."""
        for tensor in _tensors(value):
            self.check_known(tensor)

    def differ(self, results: list[Any]) -> bool:
        """Whether the paths of a program give other tensors from outside, or the same one in other places."""
        seen = []
        for result in results:
            roots = [root_of(t)._alias for t in _tensors(result)]
            seen.append([(roots.index(r), r if r.serial <= self.born else None) for r in roots])
        return any(marks != seen[0] for marks in seen)

    def check_native(self, fn: Any, operands: tuple[Any, ...]) -> None:
        """To be called before native code compares containers: equal items are first of all the same objects."""
        if self._made and getattr(fn, "__name__", "") in _COMPARING:
            tensors = list(_tensors((getattr(fn, "__self__", None), operands)))
            for k, a in enumerate(tensors):
                for b in tensors[:k]:
                    self.same(a, b)

    def same(self, a: Any, b: Any) -> bool:
        """``a is b``."""
        if a is b or not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            return a is b
        chosen = [t for t in (a, b) if id(t) in self._made]
        if chosen:
            left, right = self._origins(a), self._origins(b)
            if left is None or right is None or left & right:
                for tensor in chosen:
                    if self._made[id(tensor)][1] is not REPEATED:
                        self.check_known(tensor)
                self.check_known(chosen[0])
        return False

    def _origins(self, tensor: Tensor) -> set[int] | None:
        made = self._made.get(id(tensor))
        if made is None:
            return {id(tensor)}
        if made[2] is None:
            return None
        found: set[int] = {id(tensor)}
        for t in made[2]:
            below = self._origins(t)
            if below is None:
                return None
            found |= below
        return found

    def _separate(self, key: Any, why: str) -> None:
        if key is REPEATED:
            raise Uncapturable(why)
        self.regions.dissolve(key)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple | deque):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        yield from _tensors(list(value.values()))
