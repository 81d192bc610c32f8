"""One capture: how outside values enter the program.

`Session.external` turns an outside value into what the captured program works on, and records what was assumed:

* tensors are live inputs of the graph, read again at every call, and so are NumPy arrays that tensors are made of;
* numbers and strings are baked in, with a guard (a number that turned out to vary becomes an input, a `Scalar`);
* lists, dicts and sets are *shadowed*: the program works on a copy, and changes are written back after the run;
* functions, classes, modules, Cells and other objects are used as they are, guarded by identity; writes to their
  attributes go to the overlay and are replayed.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.base.collection import collections
from duograph.base.lookup import raw_getattr
from duograph.core.borders import symbols_in
from duograph.core.dim import UnknownSizeError, definitely_eq
from duograph.core.op import state as dispatch
from duograph.core.types import INT, TOKEN
from duograph.ir.builder import Builder
from duograph.ir.node import Node, Param
from duograph.tensor.alias import ViewLink, fresh_stamp
from duograph.tensor.tensor import Tensor

from ..control.identity import Choices
from ..control.regions import Regions
from ..guards.guard import GuardSet
from ..programs.primitives import py_effect
from ..rules import sources
from ..rules.dropped import CONSTANTS
from ..rules.errors import BetterApart, Restart, Uncapturable
from ..rules.facts import HEAP_TYPE, MISSING
from ..rules.policy import check_look, module_kind
from ..rules.readers import own_attribute
from ..rules.sources import Pin, Source
from ..values.movable import Identified
from ..values.shadows import Shadows, is_number_of_numpy
from ..values.world import CONTAINERS, World, attribute_now
from .binder import CaptureBinder
from .called import Called
from .log import Log
from .tensor_inputs import TensorInputs

MAX_PEELS = 2


class Session(Identified, Shadows, TensorInputs):
    """Everything about one attempt to capture a function."""

    def __init__(self, dynamic: set[Source], log: Log, patterns: dict[Source, tuple[Any, ...]] | None = None) -> None:
        super().__init__()
        self.patterns = dict(patterns or {})
        self.symbols: list[tuple[Any, Source, int]] = []  # symbolic dimensions of inputs: symbol, input, axis
        self.assumptions: list[tuple[Any, Any]] = []  # extents that shape rules took to be equal
        self.may_broadcast = False  # whether one that the program finds out may be 1, and broadcast to the other
        self.is_typing = False  # whether an op's own rule is asked, whose node then raises where it was wrong
        self._assuming: set[Any] = set()  # nodes of which they took late ones to be
        self.patterned: dict[int, tuple[Tensor, Source, Tensor]] = {}  # id(handle) -> handle, source, outside tensor
        self._handles: dict[int, tuple[Tensor, Source]] = {}  # id(outside tensor) -> handle and source
        self.born = fresh_stamp()
        self.collections = collections()  # as long as there are no more, what this attempt has made is young
        self.builder = Builder()
        self.builder.context.is_captured = True
        self.builder.current.params = self._params = list[Node]()  # some only tell branches a size
        self.binder = CaptureBinder(self, self.builder)
        self.world = World(self.binder)
        self.regions = Regions(self.world, self.builder, log)
        self.choices = Choices(self.regions, self.shows_outside, self.keep_tensors_apart)
        self.log = log
        self.guards = GuardSet()
        self.dynamic = set(dynamic)  # a copy: `forget` is the end of this attempt, and not of the next one
        self.inputs: list[tuple[Source, Param]] = []
        self.args: Sequence[Any] = ()  # of the call that is captured
        self.written: dict[int, Tensor] = {}
        self.written_parts: dict[int, list[tuple[Source, list[ViewLink]]] | None] = {}  # as `Write.parts`
        self.given_views, self.appended = list[Tensor](), dict[int, Tensor]()  # that leave; to lists that loops grow
        self.sometimes_written: set[int] = set()  # ids of roots that some paths write to, and others do not
        self.initial_contents = self.world.shadowed
        self.span: Any = None
        self.called = Called()
        self.is_over = self.is_done = False  # the attempt; it has given a program
        self.unfinished: set[Any] = set()  # blocks of try and with, of generators, that have been entered and not left
        self.looked_at: Exception | None = None  # the last one that `faults.check_whose` was asked about
        self.loops, self.catches = 0, False  # that a tensor ends; an ``except``, or what swallows exceptions
        self.own_error: Exception | None = None  # the last one that left a function of the user
        self._leaving: Exception | None = None  # what is leaving statements now, and which
        self._left: list[tuple[int, Any, Any]] = []
        self.driver: Any = None
        self.changes_classes = False  # attributes have been set on classes, or deleted: `World.overlay` has them
        self.read_whole: set[int] = set()  # ids of outside objects whose ``__dict__`` has been read
        self.watched: dict[tuple[int, str], Any] = {}  # id(class), name: what it defines, where that is guarded
        self.addresses: dict[int, Any] = {}  # of objects that `id` was asked of, by theirs
        self._tensor_sources: dict[int, tuple[Tensor, Source]] = {}
        self._tensor_params: dict[int, Param] = {}
        self._arrays: dict[int, tuple[Tensor, np.ndarray]] = {}  # id(NumPy array): what is made of it, and it
        self._unlifted: dict[int, dict[tuple[str, str], None]] = {}  # id(outside tensor): who has it in a variable
        self._effects: dict[Any, Any] = {}
        self._token: Param | None = None
        self._rng: list[Param] = []

    def origin(self) -> tuple[Any, ...]:
        """Where nodes come from that are emitted now."""
        span, called = self.span, self.called
        if called.is_plain or span is None:
            return () if span is None else (span,)
        return (called.of(span),)

    def leave(self, error: Exception, frame: Any, node: Any) -> None:
        """Notes that ``error`` leaves a statement."""
        if error is not self._leaving:
            self._leaving, self._left = error, []
        self._left.append((id(frame), frame.code, node))

    def trail_of(self, error: Exception) -> list[tuple[int, Any, Any]]:
        """The statements that ``error`` has left (`Uncapturable.trail`)."""
        return list(self._left) if error is self._leaving else []  # `forget` empties what it finds

    def check_finished(self) -> None:
        """At the end of the program: generators that were left are closed by Python when it drops them."""
        self.check_recorder()
        if self.unfinished:
            raise Uncapturable("a generator is left inside of try or with, which Python ends when it drops it")

    def noted(self) -> tuple[set[Any], set[int], int]:
        """What has been noted of all paths so far, for `take_back`."""
        return set(self.unfinished), set(self.sometimes_written), len(self.binder.reads)

    def take_back(self, noted: tuple[set[Any], set[int], int]) -> bool:
        """Forgets what has been noted since, of paths that are captured once more; whether that can be done: what is
        left of a generator runs when it is dropped, while a session lasts."""
        unfinished, self.sometimes_written, reads = noted
        self.binder.reads.truncate(reads)
        return self.unfinished == unfinished

    def forget(self) -> None:
        """Releases outside objects: the function will run as plain Python, and may drop the last ones who hold them,
        but this session waits for the garbage collector."""
        for part in (self, self.world, self.guards, self.binder):
            for held in vars(part).values():
                if isinstance(held, dict | list | set):
                    held.clear()

    # -- inputs ------------------------------------------------------------------------------------------------

    def assume(self, a: Any, b: Any) -> None:
        """Notes that two extents are taken to be equal.

        Raises:
            UnknownSizeError: the program itself finds one of them out, and there is no op that would raise then.
        """
        if not self.is_typing and self._is_late(a, b):
            raise UnknownSizeError(f"whether the size {a} is {b} is only known at run time")
        self.assumptions.append((a, b))

    def assume_broadcast(self, a: Any, b: Any) -> None:
        """Notes that two extents are taken to be equal by an op that broadcasts, which raises where they do not fit. Of
        what the program itself finds out, and may be 1, a gradient does not know whether it was broadcast.

        Raises:
            UnknownSizeError: the program takes a gradient here.
        """
        if any(self._is_late(x) and definitely_eq(x, 1) is None for x in (a, b)):
            if dispatch.tapes:
                raise UnknownSizeError(f"a gradient, where only the run knows whether the size {a} is {b}, or 1")
            self.may_broadcast = True
        self.assumptions.append((a, b))

    def _is_late(self, *extents: Any) -> bool:
        early = {symbol for symbol, _, _ in self.symbols}
        return any(not symbols_in(x) <= early for x in extents)

    def assumes_late_sizes(self, node: Any, known: int) -> bool:
        """Whether ``node`` is computed only under assumptions about sizes that the program itself finds out.

        Args:
            node: what was emitted last.
            known: how many assumptions there were before. A node that was there already (another path, a further
                attempt at this one) has been typed when it was made, and assumes what it assumed then.
        """
        if any(self._is_late(*pair) for pair in self.assumptions[known:]):
            self._assuming.add(node)
        return node in self._assuming

    def held(self, snap: Any, obj: Any) -> Any:
        """What a tracked container holds in a state; a shadow that the state does not know is as it came."""
        known = snap.containers.get(id(obj))
        return known[1] if known is not None else self.initial_contents.get(id(obj))

    def is_made_inside(self, obj: Any) -> bool:
        """Whether an object was made by the program (and not found outside)."""
        return id(obj) not in self._object_sources

    def token_node(self, node: Node | None) -> Node:
        """The effect token: ``node``, or the one that enters the program."""
        if node is not None:
            return node
        if self._token is None:
            self._token = self.builder.param("token", TOKEN)
        return self._token

    @property
    def token_param(self) -> Param | None:
        return self._token

    def start_random(self) -> tuple[Param, Param]:
        """Seed and counter of the random generator as inputs; called before the program starts."""
        self._rng = [self.builder.param("seed", INT), self.builder.param("offset", INT)]
        return self._rng[0], self._rng[1]

    @property
    def random_params(self) -> list[Param]:
        return self._rng

    # -- outside values ----------------------------------------------------------------------------------------

    def external(self, value: Any, source: Source) -> Any:
        """The outside ``value`` reached by ``source`` as a value of the captured program, which may look into it."""
        found = self.entered(value, source)
        if isinstance(found, (*CONTAINERS, tuple)):
            self.check_read(found)
        return found

    def entered(self, value: Any, source: Source) -> Any:
        """`external` for who looks after what happens to it: there may be journals in it (`journals`)."""
        check_look(type(value), value)
        if isinstance(value, Tensor):
            return self._external_tensor(value, source)
        if isinstance(value, CONSTANTS) or (isinstance(value, np.generic) and is_number_of_numpy(value)):
            return self.external_constant(value, source)
        if isinstance(value, tuple):
            return self.external_tuple(value, source)
        if isinstance(value, CONTAINERS):
            return self.shadow(value, source)
        if type(value) is types.MethodType and self._enter_method(value, source):
            return value
        if type(value) is np.ndarray:
            return self._enter_array(value, source)
        if self.log.unsteady:
            self.check_steady(source)
        self.guards.add(source, "is", Pin(value))
        if id(value) not in self._object_sources:
            self._object_sources[id(value)] = (value, sources.pinned(value))
            if type(value).__flags__ & HEAP_TYPE and not isinstance(value, type):  # it may become of another class
                self.guards.add(sources.pinned(value), "type", type(value))
        return value

    def external_global(self, namespace: dict[str, Any], name: str) -> Any:
        """The global ``name``; the framework's own functions, named by its own code, need no guard."""
        value = namespace[name]
        if (callable(value) or issubclass(type(value), types.ModuleType)) and (
            module_kind(namespace.get("__name__")) == "framework"
        ):
            return value
        return self.external(value, sources.global_(namespace, name))

    def peel(self, key: Any, why: str) -> None:
        """Restarts the capture with one more iteration of loop ``key`` taken out in front of it."""
        count = self.log.peeled.get(key, 0)
        if count >= MAX_PEELS:
            raise Uncapturable(why)
        self.log.peeled[key] = count + 1
        raise Restart

    def source_of(self, obj: Any) -> Source:
        """How to reach an outside object; objects are pinned by the guard that found them."""
        known = (self._tensor_sources if isinstance(obj, Tensor) else self._object_sources).get(id(obj))
        if known is None:
            self.check_outside(obj)
            known = self._object_sources[id(obj)] = (obj, sources.pinned(obj))
        return known[1]

    def original(self, key: Any, owner: Any) -> Any:
        """What the outside world holds for an overlay key, as a value of the program; `MISSING` if nothing.

        What ``owner`` has from its class does not count: written back, it would become its own.
        """
        kind, _, name = key
        if kind == "attr":
            if _is_inherited(owner, name):
                return MISSING
            value = attribute_now(owner, name)
            if id(owner) in self.without_dictionary:  # which holds what it was made with
                return value
            if value is MISSING:
                return value
            return self.external(value, own_attribute(self.source_of(owner), owner, name))
        if kind == "global":
            return self.external(owner[name], sources.global_(owner, name)) if name in owner else MISSING
        try:
            return self.external(owner.cell_contents, sources.cell(owner, name))
        except ValueError:
            self.guard_empty(owner)
            return MISSING

    def guard_empty(self, cell: types.CellType) -> None:
        """A closure variable without a value is an assumption, too."""
        self.guards.add(sources.pinned(cell), "no attribute", "cell_contents")

    def place(self) -> tuple[Any, ...]:
        """Where in the program capture is: the same when the code before a decision runs again for another path."""
        region = self.regions.current
        return (region and (region.key, region.taken), self.builder.next_tag)

    def prefer_break(self, what: str) -> None:
        """To be called before a step in Python: plain Python takes less time for it than a graph.

        Raises:
            BetterApart: the function may be cut, and all its calls come here once.
        """
        if self.log.may_break and self.builder.current.parent is None and not dispatch.tapes:
            raise BetterApart(what)

    @property
    def has_effects(self) -> bool:
        """Whether the program has steps that are done while it runs (`call_effect`)."""
        return bool(self._effects)

    def call_effect(self, target: Any, *operands: Any) -> None:
        """Runs ``target(*values)`` at this point of the program, every time it runs (print and the like).

        The code before a decision runs once for each path: what it has made the first time is the effect.
        """
        if self.steps:
            raise Uncapturable("print beside logging, which is done after the run")
        nodes = tuple(self.binder.node_of(x) for x in operands)
        token = self.binder.order.token()
        target = self._effects.setdefault((self.place(), token, nodes), target)
        self.world.token = self.builder.emit(py_effect, (token, *nodes), {"target": target})


def _is_inherited(owner: Any, name: str) -> bool:
    """Whether ``owner.name`` is an attribute of its class, or of a base of it, that setting it would hide."""
    if name in raw_getattr(owner, "__dict__", ()):
        return False
    for cls in type(owner).__mro__ if not isinstance(owner, type) else owner.__mro__[1:]:
        if name in vars(cls):
            return not hasattr(vars(cls)[name], "__set__")
    return False
