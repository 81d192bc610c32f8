"""The tracked state of a captured program: what its variables and objects hold at this point of the path.

Capture runs over *real* Python values: lists are lists, numbers are numbers, and tensors are `Tensor` handles on graph
nodes. What has to be tracked is everything that the program can change, because branches and loops run one piece of
code from the same state more than once:

* local variables of the frames (`Frame`),
* containers and instances that were made during capture, and shadows of outside containers (``containers``),
* attributes, globals and closure cells of the outside world, whose writes are kept in ``overlay`` and replayed after
  the compiled program ran,
* the contents of storages (`GraphBinder.store`), the effect token, and the random generator's counter.

`World.snapshot` copies all of it, `World.restore` puts it back. Outside objects are never modified by capture.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from types import CellType, MemberDescriptorType
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.core.op import state as dispatch

from ..rules.errors import Uncapturable
from ..rules.exact import are_same_elements, is_same_key
from ..rules.facts import MISSING
from ..rules.opaque import Opaque
from ..rules.policy import is_interpreted

CONTAINERS = (list, dict, set, deque)
"""Kinds of containers whose contents are tracked."""


class Conflict:
    """What a variable holds after a join of paths that left it with values of different kinds.

    Harmless until it is read. Who reads it decides which path was taken, if the join knows both values (``choice``);
    else the capture starts again with the paths kept apart (``key`` names the region whose paths were joined).

    Attributes:
        choice: a condition, the value where it holds, and the one where it does not; `MISSING` for none.
    """

    __slots__ = ("choice", "key", "why")

    def __init__(self, key: Any, why: str, choice: tuple[Any, Any, Any] | None = None) -> None:
        self.key, self.why, self.choice = key, why, choice

    def __repr__(self) -> str:
        return f"<conflict: {self.why}>"


class Frame:
    """Local variables of one call of an interpreted function; closures refer to it through ``parent``."""

    __slots__ = ("captured", "cells", "code", "function", "globals", "locals", "name", "parent", "serial", "special")

    def __init__(self, name: str, code: Any, globals_: dict[str, Any], parent: Frame | None) -> None:
        self.name = name
        self.code = code
        self.globals = globals_
        self.parent = parent
        self.locals: dict[str, Any] = {}
        self.cells: dict[str, Any] = {}
        self.captured = False
        self.function: Any = None  # whose call it is; of a comprehension, its class of syntax
        self.special: dict[str, Any] = {}
        self.serial = 0


@dataclass(slots=True)
class Snapshot:
    """A copy of the tracked state. Containers are copied one level deep: their elements are tracked themselves."""

    locals: dict[Frame, dict[str, Any]]
    containers: dict[int, tuple[Any, Any]]
    overlay: dict[Any, tuple[Any, Any]]
    store: dict[Any, Any]
    token: Any
    offset: Any
    checked: Any
    tape_lengths: list[tuple[Any, int]]
    moment: int
    definitions: dict[Any, Any]


def new_tuple(cls: type, items: Iterable[Any]) -> Any:
    """A tuple of class ``cls``; nothing of the user runs."""
    try:
        return tuple.__new__(cls, items)
    except TypeError:  # what C code makes, as ``time.struct_time``
        return cls(items)


def attribute_now(owner: Any, name: str) -> Any:
    """``owner.name`` outside, but for what a ``__getattr__`` of the user says; `MISSING` if there is nothing else."""
    found = raw_getattr(owner, name, MISSING)
    if found is MISSING:
        for cls in type(owner).__mro__:
            getter = vars(cls).get("__getattr__")
            if getter is not None and not is_interpreted(getter):  # that of Cells, which looks into their tables
                try:
                    return getter(owner, name)
                except AttributeError:
                    break
    return found


def held_now(kind: str, owner: Any, name: str) -> Any:
    """What the outside world holds where an entry of the overlay writes, as far as no code of the user runs."""
    if kind == "attr":
        for cls in type(owner).__mro__:
            if type(slot := vars(cls).get(name)) is MemberDescriptorType:
                try:
                    return slot.__get__(owner)
                except AttributeError:
                    return None
        return raw_getattr(owner, "__dict__", {}).get(name)
    if kind == "global":
        return owner.get(name)
    try:
        return owner.cell_contents
    except ValueError:  # it is empty
        return None


def refill_set(obj: set[Any], items: Any) -> None:
    """Makes a set hold exactly ``items`` by taking out and putting in what differs: all others stay in their places,
    on which the order depends."""
    wanted = {v: v for v in items}
    if not wanted:
        set.clear(obj)
    set.difference_update(obj, [v for v in list(obj) if v not in wanted or not is_same_key(wanted[v], v)])
    set.update(obj, [v for v in items if v not in obj])  # a set of all would make room for them


def put_item(obj: Any, key: Any, value: Any) -> None:
    """Sets one element of a tracked container, or an attribute of an instance, whatever its class does about it."""
    for kind in (list, OrderedDict, dict, deque):
        if isinstance(obj, kind):
            kind.__setitem__(obj, key, value)  # type: ignore[index]
            return
    vars(obj)[key] = value


def is_own_dictionary(obj: Any) -> bool:
    """Whether the attributes of a dictionary are its items (``self.__dict__ = self``)."""
    return isinstance(obj, dict) and raw_getattr(obj, "__dict__") is obj


_COPIES: dict[type, Any] = {list: list.copy, dict: dict.copy, set: set.copy}


def contents(obj: Any) -> Any:
    """A copy of what a tracked container or instance holds."""
    if (copy := _COPIES.get(type(obj))) is not None:
        return copy(obj)
    if isinstance(obj, list | deque):
        return list(obj)
    if isinstance(obj, dict):
        return dict(obj.items())  # ``dict(obj)`` would ask an OrderedDict of the user for each item
    if isinstance(obj, set):
        return set(obj)
    return dict(vars(obj))


def refill_dict(obj: dict[Any, Any], items: dict[Any, Any]) -> None:
    """Makes a dict hold exactly ``items``, in their order, whatever its class does in ``update``."""
    if isinstance(obj, OrderedDict):
        OrderedDict.clear(obj)
        for key, value in items.items():
            OrderedDict.__setitem__(obj, key, value)
    else:
        dict.clear(obj)
        dict.update(obj, items)


def set_contents(obj: Any, value: Any) -> None:
    """Makes a tracked container or instance hold ``value`` (as given by `contents`)."""
    if isinstance(obj, list):
        list.__setitem__(obj, slice(None), value)
    elif isinstance(obj, deque):
        deque.clear(obj)
        deque.extend(obj, value)
    elif isinstance(obj, dict):
        if dict.__len__(obj) != len(value) or any(a is not b for a, b in zip(obj.items(), value.items(), strict=False)):
            refill_dict(obj, value)
    elif isinstance(obj, set):
        refill_set(obj, value)
    else:
        vars(obj).clear()
        vars(obj).update(value)


def _are_same(a: Any, b: Any) -> bool:
    """Whether two contents are the same objects, in the same order."""
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(j is k and a[j] is b[k] for j, k in zip(a, b, strict=True))
    return are_same_elements(a, b) if isinstance(a, set) else all(x is y for x, y in zip(a, b, strict=True))


class World:
    """All tracked state of one capture session."""

    def __init__(self, binder: Any) -> None:
        self.binder = binder
        self.frames: list[Frame] = []
        self.containers: dict[int, Any] = {}
        self.shadowed: dict[int, Any] = {}
        """By id, what the shadows of outside containers held when they were made, and others when they were found."""
        self.overlay: dict[Any, tuple[Any, Any]] = {}  # (kind, id(owner), key) -> (owner, value)
        self.token: Any = None
        self.opaque = Opaque()
        self.seed: Any = 0  # state of the default random generator, as run-time numbers
        self.offset: Any = 0
        self.checked: Any = 0
        """A run-time 0 that depends on all that has run so far and might have raised (`primitives.anchor`)."""
        self.definitions: dict[Any, Any] = {}
        """Recursive functions that are graphs by now (`recursion`): those of one path are none of another's."""

    def overwrite(self, kind: str, owner: Any, name: str, value: Any) -> None:
        """The program sets an attribute or a global variable of the outside world, or deletes it (`MISSING`)."""
        key = kind, id(owner), name
        if value is not MISSING and key in self.overlay and self.overlay[key][1] is MISSING:
            raise Uncapturable(f"{name!r}, which is deleted and set again: it becomes the last one of its owner's")
        self.overlay[key] = (owner, value)

    def read_cell(self, cell: CellType) -> type[ValueError]:
        """What a closure's cell raises that is empty. The one of a variable that the program has set is refused."""
        if any(kind == "cell" and owner == id(cell) for kind, owner, _ in self.overlay):
            raise Uncapturable("a closure's variable that is written here and read through its cell")
        return ValueError

    def push(self, frame: Frame) -> None:
        self.frames.append(frame)

    def pop(self, frame: Frame) -> None:
        """Ends the frame's call; its variables stay tracked as long as a closure may read them."""
        if not frame.captured and frame in self.frames:
            self.frames.remove(frame)

    def track(self, obj: Any) -> Any:
        """From now on, changes of this list, dict, set or instance belong to the tracked state."""
        self.containers[id(obj)] = obj
        return obj

    def find(self, obj: Any) -> None:
        """Tracks what native code has made unseen: states that do not know it take it to be as it is now."""
        if id(obj) not in self.containers:
            self.shadowed[id(obj)] = contents(obj)
            self.containers[id(obj)] = obj

    def is_tracked(self, obj: Any) -> bool:
        return id(obj) in self.containers

    def snapshot(self) -> Snapshot:
        return Snapshot(
            {f: dict(f.locals) for f in self.frames},
            {key: (obj, contents(obj)) for key, obj in self.containers.items()},
            dict(self.overlay),
            dict(self.binder.store),
            self.token,
            self.offset,
            self.checked,
            [(t, len(t.log)) for t in dispatch.tapes],
            self.opaque.clock,
            self.definitions,
        )

    def changed_since(self, snap: Snapshot) -> str:
        """What the program has changed since ``snap`` that code may see which runs from then on; empty if nothing.

        Variables count that closures may read.
        """
        if self.token is not snap.token or self.offset is not snap.offset or self.binder.store != snap.store:
            return "what it prints, draws or writes to a tensor"
        before, now = ({key: value for key, (_, value) in x.items()} for x in (snap.overlay, self.overlay))
        if not _are_same(before, now):
            return "an attribute or a global variable"
        known = {key: held for key, (_, held) in snap.containers.items()}
        known |= {key: held for key, held in self.shadowed.items() if key not in known}  # found since
        if any(not _are_same(contents(obj), known[key]) for key, obj in self.containers.items() if key in known):
            return "a container or an object"
        for frame, before in snap.locals.items():
            names = frame.code.in_closures if frame.captured else ()
            if any(frame.locals.get(name, MISSING) is not before.get(name, MISSING) for name in names):
                return "a variable that closures read"
        return "an iterator or an array" if self.opaque.changed_since(snap.moment) is not None else ""

    def restore(self, snap: Snapshot) -> None:
        self.opaque.check(snap.moment)
        self.frames[:] = list(snap.locals)
        for frame, values in snap.locals.items():
            frame.locals.clear()
            frame.locals.update(values)
        found_since = {k: o for k, o in self.containers.items() if k not in snap.containers and k in self.shadowed}
        self.containers = {key: obj for key, (obj, _) in snap.containers.items()}
        for key, obj in found_since.items():  # another path may get at them by other ways
            set_contents(obj, self.shadowed[key])
            self.containers[key] = obj
        for obj, value in snap.containers.values():
            set_contents(obj, value)
        self.overlay = dict(snap.overlay)
        self.binder.store = dict(snap.store)
        self.token = snap.token
        self.offset = snap.offset
        self.checked = snap.checked
        self.definitions = snap.definitions
        for tape, length in snap.tape_lengths:
            del tape.log[length:]
