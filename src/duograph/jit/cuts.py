"""Graph breaks: a function with something that cannot be captured runs as compiled segments around it.

`frontend.split` rewrites the function; here its parts are made, kept and run. Segments are `JitFunction`s, so that each
has its own guards and versions, and what cannot be captured inside one cuts that segment in turn. Such a cut of a cut
is made part of the outer one at its next call: a function with ten foreign lines ends as one skeleton.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duograph.base.fork import object_lock
from duograph.core.types import TensorType
from duograph.frontend.ast.load import FunctionSource, load_function
from duograph.frontend.errors import Uncapturable
from duograph.frontend.policy import is_interpreted
from duograph.frontend.split.build import build_function, keep_source
from duograph.frontend.split.plan import COMPILED, Break, Place, Segment, border_before, place_of, plan_cuts
from duograph.ir.node import Graph
from duograph.ir.printer import all_graphs

if TYPE_CHECKING:
    from .entries import Fallback
    from .function import JitFunction

MOST_CUTS = 64
LIGHT = 3
"""Operations on tensors below which a segment costs more than it saves."""
MOST_GUARDS = 32
"""Guards per operation above which it does: a long list that is handed over is looked through at each call."""


class Cut:
    """The cut form of one function.

    Args:
        function: whose.
        cause: why the function as a whole runs as plain Python; counts calls.
        make: makes the compiled form of a segment.
        part_of: the cut that ``function`` is a segment of, and which; ``None``: it is none.
    """

    def __init__(
        self,
        function: JitFunction,
        cause: Fallback,
        make: Callable[..., JitFunction],
        part_of: tuple[Cut, Segment] | None,
    ) -> None:
        self.function, self.cause, self.make = function, cause, make
        self.outer = part_of[0] if part_of is not None else None
        self.places: frozenset[Place] = frozenset()
        self.breaks: dict[Place, Break] = {}
        self.segments: dict[Any, JitFunction] = {}
        self.called = CompiledForm(make)
        self.current: tuple[JitFunction, ...] = ()
        self._skeleton: types.FunctionType | None = None
        self._is_stale = False
        self._lock = object_lock()

    @property
    def skeleton(self) -> types.FunctionType | None:
        """What runs instead of the function; ``None`` if cutting it is no use."""
        if self._is_stale:
            with self._lock:
                if self._is_stale:
                    self._build()
        made, fn = self._skeleton, self.function._python
        if made is not None and fn is not None:
            if made.__defaults__ is not fn.__defaults__ or made.__kwdefaults__ is not fn.__kwdefaults__:
                made.__defaults__, made.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
        return made

    def note(self, places: dict[Place, Break | None], known: frozenset[Place] | None = None) -> bool:
        """Cuts at these statements, too.

        Args:
            places: the statements. ``None``: the statement computes too little.
            known: where the function was cut when its capture began, if that is not now: another thread may have been
                told the same meanwhile.

        Returns:
            Whether the cut form is another than that of ``known``.
        """
        if known is not None and not places.keys() - known:
            return False
        if len(self.places) >= MOST_CUTS:
            return False
        new = places.keys() - self.places
        if not new:
            return known is not None
        with self._lock:
            self.places |= new
            self.breaks.update({p: b for p, b in places.items() if b is not None})
            self._is_stale = True
        if self.outer is not None:
            self.outer.note(places)
        return True

    def _build(self) -> None:
        fn = self.function._python
        assert fn is not None
        source, places = load_function(fn), self.places
        plan = plan_cuts(source, places, lambda name: is_of_module(fn.__globals__.get(name)))
        self.current = tuple([self._segment(segment, source, fn) for segment in plan.segments])
        held: dict[str, Any] = {s.name: f for s, f in zip(plan.segments, self.current, strict=True)}
        made = build_function(plan.skeleton, source, fn, {COMPILED: self.called, **held}, fn.__qualname__)
        uses = {COMPILED, *held}.intersection(made.__code__.co_freevars)
        self._skeleton = made if uses else None
        self._is_stale = self.places is not places  # last: others read the skeleton without the lock

    def _segment(self, segment: Segment, source: FunctionSource, fn: types.FunctionType) -> JitFunction:
        found = self.segments.get(segment.key)
        if found is None:
            first, last = segment.node.lineno, segment.node.end_lineno
            made = build_function(segment.node, source, fn, {}, f"{fn.__qualname__}[{first}:{last}]")
            keep_source(made, segment.node, source)
            found = self.segments[segment.key] = self.make(made, self, segment)
        return found


def statements_at(error: Uncapturable, function: JitFunction) -> dict[Place, Break | None]:
    """The statements of ``function`` to run as plain Python because of ``error``; none if there are no such."""
    fn = function._python
    if fn is None:
        return {}
    source = load_function(fn)
    if not error.trail and function.part_of is not None:
        return _halves(function.part_of[1])
    frames = [frame for frame, code, _ in error.trail if code is source]
    trail = [node for frame, _, node in error.trail if frames and frame == frames[-1]]
    if not trail:
        return {}
    node = trail[0]
    return {place_of(node): Break(error.reason, error.span or source.span(node))}


def _halves(segment: Segment) -> dict[Place, Break | None]:
    """For a segment that cannot give its results: two of half the length, until one statement is left."""
    run = segment.run
    return {border_before(run[len(run) // 2]): None} if len(run) > 1 else dict.fromkeys(segment.places)


def is_light(graph: Graph, guards: int) -> bool:
    """Whether a graph computes so little that its call costs more than Python's; ``guards`` is their number."""
    parts = list(all_graphs(graph))
    count = len([node for part in parts for node in part.nodes if isinstance(node.type, TensorType)])
    return (count < LIGHT and len(parts) == 1) or guards > MOST_GUARDS * (count + 1)


class CompiledForm:
    """What a function that is called by a statement of a skeleton is compiled as.

    The user's functions of modules: these are there once. A closure that is made at each call would be compiled at each
    call.
    """

    unbound = NameError  # what a skeleton catches to see whether variables are bound

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make = make
        self._known: dict[types.FunctionType, Any] = {}

    def __call__(self, fn: Any) -> Any:
        if type(fn) is not types.FunctionType:
            return fn
        found = self._known.get(fn)
        if found is None:  # the first call; most functions that a program calls once, it calls only once
            self._known[fn] = fn if is_of_module(fn) else False
            return fn
        if found is False:
            return fn
        if found is fn:
            found = self._known[fn] = self.make(fn)
        return fn if found.is_no_use else found


def is_of_module(fn: Any) -> bool:
    """Whether ``fn`` is a function that the user has written, in a module."""
    return type(fn) is types.FunctionType and fn.__globals__.get(fn.__name__) is fn and is_interpreted(fn)
