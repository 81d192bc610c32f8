"""Containers from outside that a program writes, and does not read.

A `Journal` stands for one: what the program does to it is kept in order, and done to the container itself after each
run. Neither its length nor what it holds is assumed of it, so a history that grows is the same program each time.

Capture cannot tell in advance what will be read. So nothing but the receiver of a write (`ast.receivers`) gets a
journal in hand: whatever else would, notes that the container is read, and the capture starts again with a shadow
(`shadows`) in its place. What holds journals counts as they do.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from duograph.ops.scalar import Scalar

from ..rules import sources
from ..rules.dropped import check_dropped
from ..rules.errors import Restart, Uncapturable
from ..rules.sources import Source, pinned
from .grown import GrownList
from .recipe import operations

if TYPE_CHECKING:
    from duograph.ir.node import Param

    from ..guards.guard import GuardSet

JOURNALED = (list, dict, set, deque, defaultdict, OrderedDict)
"""Classes of containers that may have journals; what derives from them may have methods of its own."""
METHODS = frozenset({"append", "appendleft", "extend", "extendleft", "insert", "add", "discard", "update"})
"""Methods that only write, where a class has them."""
MOST_READ = 8
"""This many containers may turn out to be read, before all that are written are taken to be."""
_PLAIN = (str, int, float, bool, bytes, type(None))


class Journal(list[Any]):
    """What is done to one outside container, flat: a verb, its operands, the next verb, and so on. (A list: paths that
    do the same join as lists do.)"""

    __slots__ = ()


class Outside(list[Any]):
    """The world that a program tells things (`verbs/deferred.py`), as a container: what it is told is its journal."""

    __slots__ = ()

    def perform(self, step: Callable[..., Any], args: Sequence[Any]) -> None:
        step(*args)


OUTSIDE = Outside()


def latest(journal: Sequence[Any], original: Any, key: Any) -> tuple[Any, ...]:
    """What the program itself has put where ``original[key]`` is now, in a tuple; empty if it has not."""
    if type(key) is not int or not isinstance(original, list | deque):
        return ()
    added = list(takewhile(lambda done: done[0] == "append", reversed(operations(journal))))
    most = original.maxlen if isinstance(original, deque) and original.maxlen is not None else len(added)
    return tuple(added[-1 - key][1]) if -min(len(added), most) <= key < 0 else ()


class Learned:
    """What attempts of one capture have learned of outside containers, by id.

    Attributes:
        written: those that the program writes to.
        parents: dictionaries that hold some of those.
        read: those that it reads, whatever else it does with them.
        enabled: whether there are journals. Each that turns out to be read costs an attempt.
    """

    def __init__(self) -> None:
        self.enabled = True
        self.written: set[int] = set()
        self.parents: set[int] = set()
        self.read: set[int] = set()

    def note_read(self, containers: Iterable[int]) -> None:
        self.read.update(containers)
        self.enabled = self.enabled and len(self.read) <= MOST_READ


class Journals:
    """A part of `Session`."""

    originals: dict[int, tuple[Any, Source]]
    guards: GuardSet
    inputs: list[tuple[Source, Param]]
    args: Sequence[Any]
    log: Any
    regions: Any
    note_changed: Any
    shadow: Any
    is_in_hand: Any

    def __init__(self) -> None:
        self.journals: dict[int, Journal] = {}  # by their ids
        self.steps: dict[Any, Any] = {}  # those that are deferred, by what they are equal to
        self.recorder: Any = None  # the list of a context in which warnings of the program are recorded
        self.site: Any = None  # the call that is being made, and the frame that makes it
        self.looked_into: set[int] = set()  # ids of shadows that some code has got in hand
        self.exempt: frozenset[int] = frozenset()  # ids of outside containers on the way to the receiver of a write

    def may_be_journal(self, value: Any, source: Source) -> bool:
        """Whether nothing is known to read this outside container, and something to write to it, or it is unsteady."""
        known: Learned = self.log.containers
        if value is OUTSIDE:
            return True
        is_written = id(value) in known.written or (source in self.log.unsteady and type(value) in JOURNALED)
        return known.enabled and is_written and id(value) not in known.read

    def check_steady(self, source: Source) -> None:
        """To be called before something is assumed of what is found there.

        Raises:
            Uncapturable: it is another thing in each call.
        """
        if source in self.log.unsteady and source.kind != "arg":
            raise Uncapturable(f"{source} is read, which is another one in each call")

    def holds_written(self, value: Any) -> bool:
        """Whether containers in this dictionary have been found to be written: then all are taken to be, unless they
        are read."""
        known: Learned = self.log.containers
        if id(value) not in known.parents:
            return False
        known.written.update([id(v) for v in value.values() if type(v) in JOURNALED])
        return True

    def check_read(self, value: Any) -> None:
        """Notes that code gets ``value`` in hand, which may do with it whatever it likes.

        Raises:
            Restart: there are journals in it, which must be shadows then.
        """
        original = self.originals.get(id(value))
        if original is not None:
            if id(original[0]) in self.exempt:
                return
            self.looked_into.add(id(value))
        self.check_held(value)

    def check_held(self, value: Any) -> None:
        """Notes that ``value`` is to be held by what code may get in hand.

        Raises:
            Restart: as in `check_read`.
        """
        if not self.journals:
            return
        found: set[int] = set()
        self._gather(value, found, set())
        if found:
            for original, source in self.originals.values():
                if id(original) in found:
                    self.check_steady(source)
            self.log.containers.note_read(found)
            raise Restart

    def _gather(self, value: Any, found: set[int], seen: set[int]) -> None:
        if id(value) in self.journals:
            found.add(id(self.originals[id(value)][0]))
        elif isinstance(value, list | tuple | deque | dict) and id(value) not in seen:
            seen.add(id(value))
            for v in dict.values(value) if isinstance(value, dict) else value:
                self._gather(v, found, seen)

    def write(self, journal: Journal, method: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """The program does this to a container.

        Raises:
            Restart: it reads as well, or what is written cannot be told from what is there.
        """
        done = self._verbs(self.originals[id(journal)][0], method, args, kwargs)
        if done is None:
            self.take_as_read(journal)
        self.note_changed(journal)
        for verb in done or ():
            is_repeated = verb[0] == "append" and self.regions.loops
            if is_repeated and journal and type(journal[-1]) is GrownList and journal[-2] == "extend":
                journal[-1].append(verb[1])
            else:
                journal.extend(verb)

    def defer(self, step: Callable[..., Any], args: tuple[Any, ...]) -> None:
        """Has ``step(*args)`` done after each run, in its place among such steps.

        Raises:
            Uncapturable: there are no journals (what is written to a file has none).
        """
        if not self.log.containers.enabled:
            raise Uncapturable("a step that is done after the run")
        journal = self.shadow(OUTSIDE, pinned(OUTSIDE))
        self.note_changed(journal)
        journal.extend(("perform", step, args))

    def check_recorder(self) -> None:
        """At the end of the program: refuses it if the list that gets its warnings, after the run, is in its hands."""
        if self.recorder is not None and self.is_in_hand(self.recorder):
            raise Uncapturable("a warning that is recorded in a list which the program has")

    def take_as_read(self, container: Any) -> None:
        """What is to come needs to know what is in a container.

        Raises:
            Restart: it is a journal.
            Uncapturable: it is that of the world.
        """
        if id(container) in self.journals and self.originals[id(container)][0] is OUTSIDE:
            raise Uncapturable("a step that is done after the run, of which only a run knows how often it is done")
        if id(container) in self.journals:
            self.check_steady(self.originals[id(container)][1])
            self.log.containers.note_read([id(self.originals[id(container)][0])])
            raise Restart

    def _verbs(
        self, original: Any, method: str, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> list[tuple[Any, ...]] | None:
        """The verbs of one call; ``None`` if there are none for it."""
        if method == "update" and isinstance(original, dict) and len(args) <= 1:
            if args and type(args[0]) is not dict:
                return None
            pairs = [*(args[0].items() if args else ()), *kwargs.items()]
            return [("__setitem__", *pair) for pair in pairs] if all(self._is_key(k) for k, _ in pairs) else None
        if kwargs:
            return None
        match method, args:
            case "append" | "appendleft", [_]:
                return [(method, *args)]
            case "extend" | "extendleft", [values] if type(values) in (list, tuple):
                return [("append" if method == "extend" else "appendleft", v) for v in values]
            case "insert", [int() as at, _] if type(at) is int:
                return [(method, *args)]
            case "add" | "discard", [element] if isinstance(element, Scalar) or _is_plain(element):
                return [(method, element)]
            case "__setitem__", [key, _] if isinstance(original, dict) and self._is_key(key):
                return [(method, *args)]
        return None

    def _is_key(self, key: Any) -> bool:
        return _is_plain(key) or self._source_of_number(key) is not None

    def _source_of_number(self, key: Any) -> Source | None:
        if not isinstance(key, Scalar):
            return None
        return next((source for source, param in self.inputs if param is key.node), None)

    def guard_dropped(self, journal: Journal) -> None:
        """At the end of a path: nobody observes the destruction of what the writes push out of the container."""
        original, source = self.originals[id(journal)]
        done = operations(journal)
        if isinstance(original, deque) and original.maxlen is not None:
            n = min(len(done), original.maxlen)
            self.guards.add(source, "sheds", n)
            for v in [*list(original)[:n], *list(original)[-n:]]:
                check_dropped(v)
        for verb, operands in done:
            while verb == "when":
                _, verb, operands = operands
            if verb == "__setitem__":
                number = self._source_of_number(operands[0])
                place = sources.found(source, operands[0] if number is None else number)
                self.guards.add(place, "silent", None)
                check_dropped(place.load(self.args))


def _is_plain(key: Any) -> bool:
    if type(key) is tuple:
        return all(map(_is_plain, key))
    return type(key) in _PLAIN and key == key
