"""Regions: exploring the paths of a piece of code, and joining them.

A tensor-dependent decision (`Regions.decide`) has two outcomes, and the code that follows it must be captured for
both. A *region* is the stretch of code between such a decision and the place where its paths join: an ``if``
statement, a conditional expression, an inlined call, a loop body, the whole function. `Regions.run` executes the
region once per path, each time from the same tracked state, and joins the results into ``cond`` nodes: values of equal
type become one output, everything else keeps the paths apart.

Keeping paths apart means *dissolving* the region: its decisions become decisions of the enclosing region, so the code
after it is captured once per path (continuation duplication), until a place is reached where they do join; at the
latest the end of the program, whose result is then a union with a selector. Where the paths of a region are found not
to join at its end, the state before it is put back and its code becomes part of the enclosing region at once. Where
that is found later (a variable is read that the paths have left with values of different types), the region is
remembered and the capture restarts. Nodes are hash-consed and tagged by program order, so what was captured before
comes out as the very same nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

from duograph.base.failures import is_from_outside
from duograph.core.op import drop_aside, value_key
from duograph.core.op import state as dispatch
from duograph.ir.builder import Scope
from duograph.ir.node import Apply, Node

from ..programs.recording import Leave, Recorder, Unrecordable
from ..rules.errors import INTERNAL, Restart, TooManyPaths, Uncapturable, Undecidable
from ..rules.faults import FromOutside
from ..values.world import Snapshot, World
from .join import join_leaves
from .paths import Fork, Leaf, Outcome

MAX_PATHS = 64
FEW_PATHS = 8
"""Paths of a whole function that may be cut: two halves of it have fewer."""
MAX_DECISIONS = 512
MAX_RESTARTS = 200
MOST_ALIKE = 48
"""Regions of one place that are dissolved one by one; each costs another exploration of what it contains."""
ALIKE = 6
"""Regions of one place (a statement in a loop that is unrolled, or in a function that is called again and again) that
are dissolved one by one, each explored in vain, before all of them are."""
MAX_EXPLORED = 2000
"""Further paths that one capture may explore, beside the first of each region, over all its attempts: beyond it, plain
Python is the better answer."""

MAX_CALLS = 20_000
"""Calls of functions in one capture, over all its attempts: native code may call one without an end."""


@dataclass(slots=True)
class Decision:
    pred: Any
    taken: bool
    scope: Scope


@dataclass(slots=True)
class Region:
    """One execution of a region along one path."""

    key: Any
    prefix: tuple[bool, ...]
    scopes: dict[tuple[bool, ...], Scope]
    tapes: list[Any]  # those around the region
    path: list[Decision] = field(default_factory=list)
    counter: int = 0
    straight: int = 0  # > 0 while code runs that must not add to `path`

    @property
    def taken(self) -> tuple[bool, ...]:
        return tuple(d.taken for d in self.path)


def same_value(a: Node, b: Node, depth: int = 6) -> bool:
    """Whether two nodes compute the same: equal operations on equal operands (the tag is only the place)."""
    if a is b:
        return True
    if not (depth and isinstance(a, Apply) and isinstance(b, Apply)) or a.op is not b.op or a.op.effects:
        return False
    if len(a.operands) != len(b.operands) or a.attrs.keys() != b.attrs.keys():
        return False
    if any(value_key(v) != value_key(b.attrs[k]) for k, v in a.attrs.items()):
        return False
    return all(same_value(x, y, depth - 1) for x, y in zip(a.operands, b.operands, strict=True))


class Regions:
    """The stack of regions of a capture session, and what earlier attempts have learned."""

    def __init__(self, world: World, builder: Any, log: Any) -> None:
        self.world = world
        self.builder = builder
        self.current: Region | None = None
        self.log = log
        self.dissolved: set[Any] = log.dissolved
        self.recorder: Recorder | None = None  # of the run whose decisions are taken
        self.loops: list[tuple[Any, Snapshot]] = []  # of the graph that are being captured, and the states before them

    def dissolve(self, key: Any) -> NoReturn:
        """Keeps the paths of region ``key`` apart from now on; the capture starts again."""
        self._note_dissolved(key)
        raise Restart

    def _note_dissolved(self, key: Any) -> None:
        if len(self.dissolved) > MAX_RESTARTS:
            raise Uncapturable("too many tensor-dependent paths with results of different types")
        self.dissolved.add(key)
        place = self.log.places.get(key)
        count = self.log.dissolved_at[place] = self.log.dissolved_at.get(place, 0) + (place is not None)
        if count > MOST_ALIKE and not self.log.is_by_place:  # a loop that is unrolled without end
            raise Uncapturable("too many tensor-dependent paths with results of different types at one place")

    def decide(self, pred: Any) -> bool:
        """The value of the tensor-dependent condition ``pred`` (a bool Scalar) on the path being captured."""
        region = self.current
        assert region is not None
        self.check_no_batch()
        for made in region.path:
            if same_value(made.pred.node, pred.node):  # this path is the one on which the answer is known
                return made.taken
        if region.straight:
            raise Undecidable
        k = len(region.path)
        if k > MAX_DECISIONS:
            raise Uncapturable("a loop in code that is not interpreted, whose end depends on tensor values")
        if k < len(region.prefix):
            taken = region.prefix[k]
        else:
            recorder = self.recording
            taken = True if recorder is None else recorder.decision(region.taken, pred)
        key = (*region.taken, taken)
        if key not in region.scopes:
            region.scopes[key] = Scope(self.builder, self.builder.current)
        scope = region.scopes[key]
        self.builder.current = scope
        # What happens in a branch is recorded as one `cond`. Tapes that the region itself started belong to the path.
        dispatch.aside = (*dispatch.aside, *region.tapes)
        drop_aside()
        region.path.append(Decision(pred, taken, scope))
        return taken

    @property
    def recording(self) -> Recorder | None:
        """What takes the decisions that come now: not those in a loop of the graph, which belong to no single run."""
        return self.recorder if self.current is not None and self.current.key == "top" else None

    def known(self, number: Any) -> Any:
        """The int or bool that ``number`` is in the run that is recorded, as one more decision; ``None``: no run is."""
        recorder, region = self.recording, self.current
        if recorder is None or region is None or number.kind == "float":
            return None
        if number.kind == "bool":
            return self.decide(number)
        way = region.taken
        for value in recorder.numbers(way):
            if self.decide(number == value):
                return value
        value = recorder.number(way, number)
        return value if self.decide(number == value) else None

    @contextmanager
    def within(self, loop: Any, entry: Snapshot) -> Iterator[None]:
        """Within the block ``loop`` is captured, from the state ``entry``."""
        self.loops.append((loop, entry))
        try:
            yield
        finally:
            self.loops.pop()

    @contextmanager
    def straight(self) -> Iterator[None]:
        """Within the block the path does not divide.

        Raises:
            Undecidable: it would have to.
        """
        region = self.current
        assert region is not None
        region.straight += 1
        try:
            yield
        finally:
            region.straight -= 1

    def check_no_batch(self) -> None:
        """Refuses paths within a `vmap`, whose state nobody puts back."""
        if dispatch.binder is not self.world.binder:
            raise Uncapturable("a tensor-dependent decision within vmap")

    def next_key(self) -> Any:
        """Identity of the next region on this path, the same in every attempt."""
        region = self.current
        if region is None:  # code of the user's that runs because an argument is looked at
            raise Uncapturable("a compiled function that is called while arguments are looked at")
        region.counter += 1
        return (region.key, region.taken, region.counter)

    def run(self, body: Callable[[], Outcome]) -> Outcome:
        """Runs ``body`` as a region: all its paths, joined. Leaves the world in the joined state."""
        key = self.next_key()
        if key in self.dissolved or self.recording is not None or self._is_dissolved_at(key, body):
            return body()
        session = self.world.binder.session
        entry, tag, noted = self.world.snapshot(), self.builder.next_tag, session.noted()
        tree = self.explore(key, body, entry)
        leaf = tree if isinstance(tree, Leaf) else join_leaves(self, key, tree)
        if leaf is not None:
            return self._finish(leaf)
        self._note_dissolved(key)
        if self.world.opaque.changed_since(entry.moment) is not None or not session.take_back(noted):
            raise Restart
        self.world.restore(entry)
        self.builder.next_tag = tag
        return body()

    def _is_dissolved_at(self, key: Any, body: Callable[[], Outcome]) -> bool:
        """Whether region ``key`` is like the others of its place, which had to be dissolved."""
        log = self.log
        place = log.places[key] = self.world.binder.session.span, getattr(body, "__code__", None)
        if not log.is_by_place or log.dissolved_at.get(place, 0) < ALIKE:
            return False
        if log.paths_before is None:
            log.paths_before = log.paths
        return True

    def branch(self, pred: Any, then: Callable[[], Outcome], orelse: Callable[[], Outcome]) -> Outcome:
        """``then()`` if ``pred`` else ``orelse()``, joined right after."""
        return self.run(lambda: then() if self.decide(pred) else orelse())

    def joins_exits(self, key: Any) -> bool:
        """Whether paths of a region that end in different ways are joined, too: where two others of its place were
        dissolved, or each iteration of a loop that is unrolled would double the paths."""
        return self.log.dissolved_at.get(self.log.places.get(key), 0) >= 2

    def _finish(self, leaf: Leaf) -> Outcome:
        if leaf.outcome.kind == "raise":
            raise leaf.outcome.value
        if leaf.outcome.kind == "either":
            condition, one, other = leaf.outcome.value.choice
            return Outcome(one if self.decide(condition) else other)
        return leaf.outcome

    def explore(self, key: Any, body: Callable[[], Outcome], entry: Snapshot | None = None) -> Leaf | Fork:
        """All paths of ``body`` from the current state (``entry``), as a binary tree of decisions."""
        entry = entry or self.world.snapshot()
        outer_scope, outer_tapes, outer_region = self.builder.current, dispatch.tapes, self.current
        outer_modes = dispatch.aside, dispatch.detached
        scopes: dict[tuple[bool, ...], Scope] = {}
        tag = self.builder.next_tag
        recorded: list[list[Any]] = []
        recorder = self.recorder if key == "top" else None
        session = self.world.binder.session
        span = session.span

        def visit(prefix: tuple[bool, ...]) -> tuple[Leaf, list[Decision]]:
            self.log.paths += bool(prefix)  # calls that do not divide are as many as the program has
            self.log.calls += not prefix
            self.log.budget.check(self.builder, len(session.inputs))
            if self.log.paths > MAX_EXPLORED or self.log.calls > MAX_CALLS:
                raise Uncapturable("too many tensor-dependent paths")
            region = Region(key, prefix, scopes, outer_tapes)
            self.current = region
            self.builder.current, dispatch.tapes = outer_scope, list(outer_tapes)
            dispatch.aside, dispatch.detached = outer_modes
            session.span = span  # by which the places of regions are known
            leads = not prefix
            if recorder is not None:
                recorder.is_leading = leads
            try:
                outcome = self._outcome(body)
                if recorder is not None and leads:
                    recorder.way = region.taken
                scope = self.builder.current
                self._check_recorded(entry, recorded)
                return Leaf(outcome, self.world.snapshot(), scope), region.path
            finally:
                self.current = outer_region
                self.builder.current, dispatch.tapes = outer_scope, outer_tapes
                dispatch.aside, dispatch.detached = outer_modes  # a path that was given up has left no block

        def build(prefix: tuple[bool, ...], leaf: Leaf, path: list[Decision]) -> Leaf | Fork:
            k = len(prefix)
            if len(path) == k:
                return leaf
            is_outer = outer_region is None or outer_region.key == "top"
            if self.log.may_break and is_outer and len(scopes) > max(2 * FEW_PATHS, 3 * len(path)):
                raise TooManyPaths("decisions whose paths do not join")
            if len(scopes) > 2 * MAX_PATHS and recorder is not None:
                raise Unrecordable("the runs take too many decisions by tensors")
            if len(scopes) > 2 * MAX_PATHS:
                raise Uncapturable("too many tensor-dependent paths in one region")
            taken, scope = path[k].taken, path[k].scope
            mine = build((*prefix, taken), leaf, path)
            if recorder is not None and recorder.is_open((*prefix, not taken)):
                aside = Scope(self.builder, scope.parent)
                return _fork(path[k], mine, Leaf(Outcome("leave"), entry, aside), aside)
            last = self.builder.next_tag
            if key not in self.dissolved and self.world.opaque.changed_since(entry.moment) is not None:
                self.dissolve(key)  # a larger region may contain the making of what was changed, too
            self.world.restore(entry)
            self.builder.next_tag = tag
            other, other_path = visit((*prefix, not taken))
            asked = [d.pred.node for d in other_path[: k + 1]]
            if asked != [d.pred.node for d in path[: k + 1]]:  # what the first path has made changes what comes before
                raise Uncapturable("code before a tensor-dependent decision takes another course on its paths")
            self.builder.next_tag = max(last, self.builder.next_tag)
            return _fork(path[k], mine, build((*prefix, not taken), other, other_path), other_path[k].scope)

        leaf, path = visit(())
        tree = build((), leaf, path)
        if isinstance(tree, Fork):
            # What came before the first decision is not part of the `cond`: tapes keep it.
            shared = [(tape, tape.since(length)) for tape, length in entry.tape_lengths]
            self.world.restore(entry)
            for tape, entries in shared:
                tape.log += entries
        return tree

    def _check_recorded(self, entry: Snapshot, first: list[list[Any]]) -> None:
        """Refuses a region whose paths record different variables before their first decision: the joined state has
        those of all paths, but a tape keeps the entries of one, so gradients of the others would be lost."""
        for k, (tape, length) in enumerate(entry.tape_lengths):
            outputs = [e.outputs for e in tape.since(length)]
            if k == len(first):
                first.append(outputs)
            elif first[k] != outputs:
                raise Uncapturable("code before a tensor-dependent decision is recorded differently on its paths")

    def _outcome(self, body: Callable[[], Outcome]) -> Outcome:
        try:
            return body()
        except INTERNAL:
            raise
        except Leave:
            return Outcome("leave")
        except RecursionError as exc:
            raise Uncapturable("recursion without an end that is known while compiling") from exc
        except GeneratorExit as exc:
            raise Uncapturable("a tensor-dependent decision in code that runs when a generator is closed") from exc
        except Exception as exc:
            if is_from_outside(exc):
                raise FromOutside(exc) from exc
            return Outcome("raise", exc)


def _fork(decision: Decision, mine: Leaf | Fork, other: Leaf | Fork, other_scope: Scope) -> Fork:
    """The two sides of a decision, of which ``mine`` is the one that it took."""
    if decision.taken:
        return Fork(decision.pred, mine, other, decision.scope, other_scope)
    return Fork(decision.pred, other, mine, other_scope, decision.scope)
