"""Which object a tensor is, where the program chooses that while it runs.

    y = a if s.sum() > 0 else b      # one `cond`, whose result is neither `a` nor `b`
    if y is a: ...                   # Python says which; so must the program

A tensor that a branch, a loop or a recursive function gives may be one of several objects. Few programs ask which, and
for the others the choice is one of values. If the program asks (``is``, ``in``, keys of dictionaries and sets, writes
in place, attributes of the user's, the class where that is none of all), a branch is captured again with its paths kept
apart, each of which knows the answer; a loop or a recursive function has no such paths, and is left to Python.

What leaves the program is the object that Python would give, or a view of the same memory: the branch gives the number
of the outside tensor that was chosen, too, from the next attempt on (`Choices.number_of`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from duograph.base.lookup import raw_getattr
from duograph.ops.ranges import RunTimeView
from duograph.ops.scalar import Scalar
from duograph.tensor.alias import Alias, root_of
from duograph.tensor.tensor import Tensor

from ..rules.errors import Restart, Uncapturable

if TYPE_CHECKING:
    from .paths import Leaf
    from .regions import Regions

REPEATED = "repeated"
"""The key of loops and recursive functions, whose paths cannot be kept apart."""

_COMPARING = frozenset({
    *("contains", "eq", "ne", "lt", "le", "gt", "ge", "countOf", "indexOf", "index", "count", "remove"),
    *("__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"),
})  # fmt: skip


_HOLDERS = (list, tuple, deque, dict)

_OF_LAYOUT = frozenset({"is_contiguous", "stride", "strides", "storage_offset", "flags"})


def is_derived(tensor: Any) -> bool:
    """Whether a tensor is of a class that is derived from Tensor, as Parameter is."""
    return isinstance(tensor, Tensor) and type(tensor) is not Tensor


MOST_SELECTING = 64
"""Regions of one capture that give numbers of outside tensors."""

MOST_SEPARATED = 12
"""Choices of tensors that are kept apart in one capture; each costs an attempt."""


class Choices:
    """The tensors of one capture that may be one of several objects."""

    def __init__(
        self,
        regions: Regions,
        shows_outside: Callable[[Alias], bool],
        keep_apart: Callable[[Iterable[Tensor]], None],
    ) -> None:
        self.regions, self._shows_outside, self._keep_apart = regions, shows_outside, keep_apart
        self.are_exact = False  # what leaves the program are the very objects that Python would give
        self.made: dict[int, tuple[Tensor, Any, tuple[Tensor, ...] | None]] = {}  # by their ids
        self._written: dict[Any, Any] = {}  # memory that may have another name -> key of who gave it that
        self._keys: dict[int, Tensor] = {}  # of dictionaries and sets, by their ids
        self._shown: set[int] = set()  # ids of those of `made` that are views of what is known
        self._options: list[Tensor] = []  # views of outside tensors, and these; their numbers begin at 1
        self._numbers: dict[
            int, Any
        ] = {}  # id of one of `made` -> the number of the option that it is; 0: a new tensor
        self.derived: set[int] = set()
        """Ids of those that may be of a class derived from Tensor: where that matters, they have to be known."""

    def note(
        self, handle: Tensor, key: Any, among: tuple[Tensor, ...] | None = None, is_plain: bool = True,
        is_copy: bool = True,
    ) -> None:  # fmt: skip
        """``handle`` may be any of ``among`` (None: any tensor). ``key``: of the region that chooses, or `REPEATED`.
        ``is_plain``: it is of class Tensor in any case. ``is_copy``: it does not share the memory of ``among``."""
        if not is_plain or any(is_derived(t) or id(t) in self.derived for t in among or ()):
            self.derived.add(id(handle))
        self.made[id(handle)] = handle, key, among
        if not is_copy:
            self._shown.add(id(handle))
            return
        self._written[handle._alias] = key
        for tensor in among or ():
            self._written[tensor._alias] = key

    def note_repeated(self, handle: Tensor, is_plain: bool = True) -> None:
        """``handle`` may be any tensor: a loop or a recursive function gives it."""
        self.note(handle, REPEATED, is_plain=is_plain)

    def number_of(self, tensor: Tensor) -> Any:
        """The number of the outside tensor that ``tensor`` is, or is a view of; 0: it is none."""
        if id(tensor) in self.made and id(tensor) not in self._shown:
            return self._numbers.get(id(tensor), 0)
        if not self._is_option(tensor):
            return 0
        numbers = [k for k, option in enumerate(self._options, 1) if option is tensor]
        self._options += [tensor] * (not numbers)
        return numbers[0] if numbers else len(self._options)

    def note_number(self, handle: Tensor, number: Any) -> None:
        """``number`` says which option ``handle``, one of `made`, is."""
        self._numbers[id(handle)] = number

    def chosen(self, handle: Tensor) -> tuple[Any, dict[int, Tensor]] | None:
        """The number of the option that ``handle`` is, and the options; ``None``: it is a new tensor."""
        number = self._numbers.get(id(handle), 0)
        if type(number) is int and number == 0:
            return None
        origins = self._origins(handle)
        options = {k: x for k, x in enumerate(self._options, 1) if origins is None or id(x) in origins}
        return number, options

    def _is_option(self, tensor: Tensor) -> bool:
        root: Any = tensor
        while root._view is not None:
            bounds = root._view.op.bounds if isinstance(root._view.op, RunTimeView) else ()
            if any(isinstance(bound, Scalar) and hasattr(bound.node, "op") for bound in bounds):
                return False  # maybe the branch alone knows it
            root = root._view.parent
        return type(root) is Tensor and self._shows_outside(root._alias)

    def _unnumbered(self, tensor: Tensor) -> set[Any]:
        """The keys of regions that may give ``tensor`` as an option, and do not say which."""
        _, key, among = self.made.get(id(tensor), (None, REPEATED, ()))
        found = set().union(*map(self._unnumbered, among or ()))
        if key is not REPEATED and id(tensor) not in self._shown and key not in self.regions.log.selecting:
            inner = found or any(id(t) in self._numbers or self._is_option(t) for t in among or ())
            found |= {key} if inner else set()
        return found

    def note_source(self, tensor: Tensor) -> None:
        """``tensor`` may become what a loop or a recursive function gives."""
        self._written.setdefault(root_of(tensor)._alias, REPEATED)

    def check_write(self, alias: Any) -> None:
        """To be called before memory is written to: it has to be known who else sees that."""
        if alias in self._written:
            self._separate(self._written[alias], "a tensor that a loop or a recursive function may give is written to")

    def check_weight(self, weight: Tensor) -> None:
        """To be called before a gradient is taken of ``weight``: what may be it would have to be no copy."""
        if weight._alias in self._written:
            key = self._written[weight._alias]
            self._separate(key, "a gradient of a tensor that a loop or a recursive function may have given")

    def note_key(self, tensor: Tensor) -> None:
        """To be called where ``tensor`` is looked for among others by its hash: in a dictionary, in a set."""
        self.check_known(tensor)
        self._keys[id(tensor)] = tensor
        self._keep_apart(self._keys.values())

    def check_known(self, tensor: Tensor) -> None:
        """To be called where it matters which object ``tensor`` is."""
        made = self.made.get(id(tensor))
        if made is not None:
            self._separate(made[1], "which object a tensor is that a loop or a recursive function gives")

    def check_attribute(self, tensor: Tensor, found: Any, name: str) -> None:
        """To be called before an attribute of one of `made` is read, which class Tensor has as ``found``, or lacks."""
        if found is None or name in _OF_LAYOUT or id(tensor) in self.derived:
            self.check_known(tensor)

    def check_leaving(self, tensor: Tensor) -> None:
        """To be called where ``tensor`` leaves the program, as a plain one."""
        made = self.made.get(id(tensor))
        if made is None:
            return
        if id(tensor) in self.derived or (self.are_exact and made[1] != "top") or self._may_have_attributes(tensor):
            self.check_known(tensor)  # a copy has no attributes of the user's
        elif self.are_exact:  # tensors of the whole program's paths, which may be their own
            for one in made[2] or ():
                self.check_leaving(one)
                if self._shows_outside(root_of(one)._alias):
                    self.check_known(tensor)
        elif len(self.regions.log.selecting) < MOST_SELECTING and (keys := self._unnumbered(tensor)):
            self.regions.log.selecting |= keys
            raise Restart

    def _may_have_attributes(self, tensor: Tensor) -> bool:
        made = self.made.get(id(tensor))
        if made is None:
            overlay = self.regions.world.overlay
            return bool(raw_getattr(tensor, "__dict__", {})) or any(
                key[0] == "attr" and owner is tensor for key, (owner, _) in overlay.items()
            )
        return any(map(self._may_have_attributes, made[2] or ()))

    def differ(self, leaves: list[Leaf]) -> bool:
        """Whether the paths of a program leave other tensors from outside, or the same one in other places, in what
        they give and write."""
        written = {("overlay", key): None for leaf in leaves for key in leaf.state.overlay}
        written |= {("containers", id(shadow)): None for shadow, _ in self.regions.world.binder.session.shadows()}
        seen = []
        for leaf in leaves:
            held = [leaf.outcome.value, *[getattr(leaf.state, kind).get(key, (None, None))[1] for kind, key in written]]
            roots = [root_of(t)._alias for t in _tensors(held)]
            seen.append([(roots.index(r), r if self._shows_outside(r) else None) for r in roots])
        return any(marks != seen[0] for marks in seen)

    def check_native(self, fn: Any, operands: tuple[Any, ...]) -> None:
        """To be called before native code compares containers: equal items are first of all the same objects."""
        compared = (raw_getattr(fn, "__self__"), *operands)
        if raw_getattr(fn, "__name__", "") in _COMPARING and any(isinstance(v, _HOLDERS) for v in compared):
            tensors = list(_tensors(compared))
            self._keep_apart(tensors)
            for k, a in enumerate(tensors if self.made else ()):
                for b in tensors[:k]:
                    self.same(a, b)

    def same(self, a: Any, b: Any) -> bool:
        """``a is b``."""
        if a is b or not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            return a is b
        chosen = [t for t in (a, b) if id(t) in self.made]
        if chosen:
            left, right = self._origins(a), self._origins(b)
            if left is None or right is None or left & right:
                for tensor in chosen:
                    if self.made[id(tensor)][1] is not REPEATED:
                        self.check_known(tensor)
                self.check_known(chosen[0])
        return False

    def _origins(self, tensor: Tensor) -> set[int] | None:
        made = self.made.get(id(tensor))
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
        log = self.regions.log
        if key is REPEATED or log.separated >= MOST_SEPARATED:  # as each level of a recursive function would be
            raise Uncapturable(why)
        log.separated += 1
        self.regions.dissolve(key)


def _tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in ``value``, in order, as often as they occur; in containers that hold themselves once."""
    work: list[tuple[Any, frozenset[int]]] = [(value, frozenset())]
    while work:
        found, around = work.pop()
        if isinstance(found, Tensor):
            yield found
        elif isinstance(found, _HOLDERS) and id(found) not in around:
            held = list(found.values()) if isinstance(found, dict) else list(found)
            work += [(item, around | {id(found)}) for item in reversed(held)]
