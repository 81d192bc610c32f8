"""Joining the paths of a region: which values become outputs of a ``cond``, and which keep the paths apart.

Two leaves join if they ended the same way. Value by value:

* the same object, or equal immutable constants: kept as they are;
* tensors of equal type, numbers of equal kind: one output of the ``cond``; equal views of one tensor: such a view;
* two texts: which of them it is, as a number;
* tuples and lists of equal length, dicts of equal keys: element by element;
* anything else: a local variable gets a `Conflict`, which knows both values if it can (`alternatives`), and is harmless
  unless read; elsewhere the region dissolves.

Types are never promoted to make values join: eager Python would not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from duograph.core.dim import Dim
from duograph.core.dtype import DType
from duograph.core.op import no_recording, state, value_key
from duograph.core.types import TensorType, scalar_type
from duograph.ir.control import cond
from duograph.ir.node import Graph, Node
from duograph.ops.cast import identity, stop_gradient
from duograph.ops.graph_binder import Stored
from duograph.ops.scalar import Scalar, is_number
from duograph.tensor.alias import fresh_stamp, root_of
from duograph.tensor.tensor import Tensor

from ..rules.exact import are_same_elements, are_same_keys
from ..rules.facts import HEAP_TYPE, MISSING
from ..values.text import GraphText, Pick
from ..values.world import Conflict, Snapshot, new_tuple, set_contents
from .alternatives import choice, outlives
from .growth import check_length
from .join_journals import Absent, Build, constant, join_journals
from .paths import Fork, Leaf, NoJoin, Outcome

if TYPE_CHECKING:
    from .regions import Regions

"""Makes the joined value from the list of ``cond`` outputs."""


def same_constant(a: Any, b: Any) -> bool:
    """Whether two immutable Python constants are indistinguishable (``1``, ``1.0`` and ``True`` are not the same)."""
    if type(a) is not type(b):
        return False
    if isinstance(a, DType):
        return bool(a == b)
    if type(a).__flags__ & HEAP_TYPE:  # equal objects of such a class may have different attributes
        return a is b
    if isinstance(a, float | bool | int | complex | range | slice | str | bytes | type(None) | type(...)):
        return bool(value_key(a) == value_key(b))
    return False


def has_changed(before: Any, after: Any) -> bool:
    """Whether a container that held ``before`` (`world.contents`) holds something else now."""
    if isinstance(before, set):
        return not are_same_elements(before, after)
    if len(before) != len(after):
        return True
    if isinstance(before, dict):
        if not are_same_keys(before, after):
            return True
        pairs = list(zip(before.values(), after.values(), strict=True))
    else:
        pairs = list(zip(before, after, strict=True))
    return any(a is not b and not same_constant(a, b) for a, b in pairs)


class Joiner:
    """Collects the pairs of values that the two branches of one decision must output; ``pred`` is what it decided by,
    if what comes afterwards may ask."""

    def __init__(self, regions: Regions, key: Any, pred: Any = None) -> None:
        self.regions, self.key, self.pred = regions, key, pred
        self.world = regions.world
        self.binder = regions.world.binder
        self.pairs: list[tuple[Any, Any]] = []
        self.joins_texts = True
        self.joins_exits = regions.joins_exits(key)
        self._memo: dict[tuple[int, int], Build] = {}
        self._twins: dict[tuple[int, int], int] = {}

    def output(self, a: Any, b: Any) -> Build:
        """A ``cond`` output that is ``a`` on one side and ``b`` on the other."""
        self.pairs.append((a, b))
        index = len(self.pairs) - 1
        return lambda results: results[index]

    def mark(self) -> tuple[int, int, int]:
        return len(self.pairs), len(self._memo), len(self._twins)

    def undo(self, mark: tuple[int, int, int]) -> None:
        """Forgets what was planned since ``mark``: also the builds, whose outputs are gone with the pairs."""
        del self.pairs[mark[0] :]
        for table, size in ((self._memo, mark[1]), (self._twins, mark[2])):
            while len(table) > size:
                table.popitem()

    def value(self, a: Any, b: Any) -> Build:
        """How to build the joined value of ``a`` and ``b``; raises `NoJoin`."""
        for side, obj, other in ((0, a, b), (1, b, a)):  # also one that is the same on both sides: it may have a twin
            if isinstance(obj, list | dict | deque) and self._twins.setdefault((side, id(obj)), id(other)) != id(other):
                raise NoJoin("aliased differently")
        if a is b or same_constant(a, b):
            if isinstance(a, tuple):
                for item in a:  # what it holds may have a twin
                    self.value(item, item)
            return lambda _: a
        memo = self._memo.get((id(a), id(b)))
        if memo is not None:
            return memo
        build = self._memo[id(a), id(b)] = self._value(a, b)
        return build

    def _value(self, a: Any, b: Any) -> Build:
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            return self._tensors(a, b)
        if is_number(a) and is_number(b):
            kinds = [x.type if isinstance(x, Scalar) else scalar_type(x) for x in (a, b)]
            if kinds[0] == kinds[1]:
                return self.output(a, b)
            raise NoJoin(f"{kinds[0]} and {kinds[1]}")
        if isinstance(a, Node) and isinstance(b, Node) and a.type == b.type:
            return self.output(a, b)
        log = self.regions.log
        if log.joins_texts and self.joins_texts and _is_choice(a) and type(b) is str:
            log.has_joined_text = True
            return self._texts(a, b)
        if type(a) is not type(b):
            raise NoJoin(f"{type(a).__name__} and {type(b).__name__}")
        if isinstance(a, tuple) and len(a) == len(b):
            items = [self.value(x, y) for x, y in zip(a, b, strict=True)]
            return lambda results: new_tuple(type(a), [f(results) for f in items])
        older = [x for x in (a, b) if self.world.is_tracked(x)]  # than the decision
        if len(older) < 2 and not any(id(x) in self.binder.session.originals for x in older):
            if isinstance(a, list) and len(a) == len(b):
                items = [self.value(x, y) for x, y in zip(a, b, strict=True)]
                return self._once(lambda results: self.world.track([f(results) for f in items]))
            if isinstance(a, dict) and type(a) is dict and are_same_keys(a, b):
                named = {k: self.value(a[k], b[k]) for k in a}
                return self._once(lambda results: self.world.track({k: f(results) for k, f in named.items()}))
        raise NoJoin(f"two different {type(a).__name__} objects")

    def _texts(self, a: Any, b: str) -> Build:
        """One of several texts, by its number. Nobody but who shows it knows which: `capture` joins no texts in the
        next attempt, if the program asks."""
        known: tuple[str, ...] = (a,)
        number: Any = 0
        if isinstance(a, GraphText):
            chosen: Any = a.parts[0]
            known, number = chosen[0].texts, chosen[1]
        index = self.output(number, len(known))
        pick = Pick((*known, b))
        return self._once(lambda results: GraphText([(pick, index(results))]))

    @staticmethod
    def _once(build: Build) -> Build:
        made: list[Any] = []

        def first(results: list[Any]) -> Any:
            if not made:
                made.append(build(results))
            return made[0]

        return first

    def _tensors(self, a: Tensor, b: Tensor) -> Build:
        if type(a) is not type(b) or not _join_types(a.abstract, b.abstract):
            raise NoJoin(f"{a.abstract} and {b.abstract}")
        self.check_detached(*[x._data if isinstance(x._data, Node) else x for x in (a, b)])
        view = None if a._view is None else self._views(a, b)
        made, choices = view or self.output(a, b), self.binder.session.choices
        numbers = (
            [choices.number_of(x) for x in (a, b)] if view is None and self.key in self.regions.log.selecting else []
        )
        number = self.value(*numbers) if numbers else None

        def build(results: list[Any]) -> Any:
            joined = made(results)
            choices.note(joined, self.key, (a, b), is_copy=view is None)
            if number is not None:
                choices.note_number(joined, number(results))
            return joined

        return build if view is None else self._once(build)

    def check_detached(self, *values: Node | Tensor) -> None:
        """What comes from outside of `no_grad` and is passed on, or not written, keeps its gradient; a ``cond`` within
        the block has none. (In a loop there is but the ``cond``: only tapes outside ask for gradients, and plain
        Python answers them.)"""
        if not state.detached or not any(may_have_gradient(x) and outlives(self, x) for x in values):
            return
        scope = self.regions.builder.current
        while scope is not None and not scope.repeats:
            scope = scope.parent
        if scope is None or self.binder.watched:
            raise NoJoin("a tensor from outside of `no_grad`")
        self.binder.note_hooked()

    def _views(self, a: Tensor, b: Tensor) -> Build | None:
        """The view that both paths have made of one tensor, which shares its memory as theirs do. (Paths of a whole
        program run from its beginning: what they have made before they part are other tensors of the same node.)"""
        x, y = a._view, b._view
        if x is None and y is None and (a is b or (isinstance(a._data, Node) and a._data is b._data)):
            return self.value(a, b)
        if (
            x is None or y is None or x.op is not y.op or root_of(a).is_parameter
        ):  # a run-time view has an op of its own
            return None
        if x.op is identity and self.binder.node_of(a) is not self.binder.node_of(b):  # each has a gradient of its own
            return None
        if value_key(tuple(x.attrs.items())) != value_key(tuple(y.attrs.items())):
            return None
        parent = self._views(x.parent, y.parent)
        return None if parent is None else lambda results: x.op(parent(results), **x.attrs)


def may_have_gradient(value: Node | Tensor) -> bool:
    """Whether a float does not come from within `no_grad`; a tensor (no node) is one from outside."""
    kind = value.abstract if isinstance(value, Tensor) else value.type
    is_float = isinstance(kind, TensorType) and kind.dtype.is_floating
    return is_float and getattr(value, "op", None) is not stop_gradient


def _is_choice(value: Any) -> bool:
    """Whether ``value`` is a text, or one of several that have been joined."""
    if isinstance(value, GraphText):
        return len(value.parts) == 1 and isinstance(value.parts[0], tuple) and isinstance(value.parts[0][0], Pick)
    return type(value) is str


def _join_types(a: Any, b: Any) -> bool:
    """Whether tensors of these types can be one value: the sizes may be different ones if nobody knows either."""
    if a == b:
        return True
    pairs = zip(a.shape, b.shape, strict=False)
    return bool(a.dtype is b.dtype and len(a.shape) == len(b.shape)) and all(
        m == n or (isinstance(m, Dim) and isinstance(n, Dim)) for m, n in pairs
    )


def join_leaves(regions: Regions, key: Any, tree: Leaf | Fork) -> Leaf | None:
    """The tree as one leaf in the current scope, or ``None`` if its paths must stay apart."""
    return _join(regions, key, tree)


def _join(regions: Regions, key: Any, tree: Leaf | Fork) -> Leaf | None:
    if isinstance(tree, Leaf):
        return tree
    outer, entry = regions.builder.current, regions.world.snapshot()
    sides = []
    for side, scope in ((tree.then, tree.then_scope), (tree.orelse, tree.else_scope)):
        regions.builder.current = scope
        leaf = _join(regions, key, side)
        regions.builder.current = outer
        if isinstance(side, Fork):  # what its paths have left is none of the other side's
            regions.world.restore(entry)
        if leaf is None:
            return None
        sides.append(leaf)
    a, b = sides
    joiner = Joiner(regions, key, tree.pred)
    try:
        outcome = _join_outcomes(joiner, a, b)
        apply_state = _join_states(joiner, a.state, b.state, tree)
    except NoJoin:
        return None
    results = emit_cond(regions, tree, a.state, b.state, joiner.pairs) if joiner.pairs else []
    apply_state(results)
    regions.world.definitions = _visible_definitions(tree, entry, a.state, b.state)
    return Leaf(outcome(results), regions.world.snapshot(), outer)


def _visible_definitions(fork: Fork, *states: Snapshot) -> dict[Any, Any]:
    """Recursive functions that became graphs on either side, but for those that need values of that side."""
    found = {key: d for state in reversed(states) for key, d in state.definitions.items()}
    scopes = fork.then_scope, fork.else_scope
    return {k: d for k, d in found.items() if not any(scope.owns(n) for scope in scopes for n in d.captures)}


_EXITS = frozenset({"next", "break", "continue", "either"})
"""Ways to end a block that hand no value on. "either": two of them, as a variable may be one of two values; who joins
paths decides which, right after (`Regions.run`)."""


def _join_outcomes(joiner: Joiner, a: Leaf, b: Leaf) -> Callable[[list[Any]], Any]:
    one, two = a.outcome, b.outcome
    kinds = {"next" if o.kind == "continue" and joiner.key[-1] == "loop" else o.kind for o in (one, two)}
    if "either" in kinds or (len(kinds) > 1 and joiner.joins_exits):
        if not kinds <= _EXITS:
            raise NoJoin("paths end in different ways")
        x, y = (o.value if o.kind == "either" else o.kind for o in (one, two))
        way = choice(joiner, x, y, "how a block ends")
        return lambda results: Outcome("either", way(results))
    if len(kinds) != 1 or "raise" in kinds:
        raise NoJoin("paths end in different ways")
    kind = kinds.pop()
    # A pair of a tensor and a text that is returned may keep its path, which knows whose tensor that is.
    joiner.joins_texts = kind != "return" or all(_is_choice(o.value) for o in (one, two))
    value = joiner.value(one.value, two.value)
    joiner.joins_texts = True
    return lambda results: Outcome(kind, value(results))


def _join_states(joiner: Joiner, a: Snapshot, b: Snapshot, fork: Fork) -> Callable[[list[Any]], None]:
    """Plans the joined tracked state; the returned function applies it to the world (which is in the entry state)."""
    world = joiner.world
    todo: list[Callable[[list[Any]], None]] = []
    for frame in dict.fromkeys([*a.locals, *b.locals]):
        if frame not in a.locals or frame not in b.locals:
            frame_state = a.locals.get(frame) or b.locals.get(frame) or {}
            todo.append(partial(_keep_frame, world, frame, frame_state))
            continue
        todo.append(_join_locals(joiner, frame, a.locals[frame], b.locals[frame]))
    for key in dict.fromkeys([*a.containers, *b.containers]):
        todo.append(_join_container(joiner, key, a, b))
    for key in dict.fromkeys([*a.overlay, *b.overlay]):
        owner = (a.overlay.get(key) or b.overlay[key])[0]
        original = joiner.binder.session.original
        x, y = (s.overlay[key][1] if key in s.overlay else original(key, owner) for s in (a, b))
        if (x is MISSING) != (y is MISSING):
            raise NoJoin("an attribute exists on one path only")
        build = joiner.value(x, y) if x is not MISSING else constant(MISSING)
        todo.append(partial(_set_overlay, world, key, owner, build))
    todo.extend(_join_store(joiner, a, b))
    if a.token is b.token and not (fork.then_scope.owns(a.token) or fork.else_scope.owns(a.token)):
        todo.append(lambda _: setattr(world, "token", a.token))
    else:  # equal effects are one node, but each branch has them
        token = joiner.output(_Token(a.token), _Token(b.token))
        todo.append(lambda r: setattr(world, "token", token(r)))
    offset = joiner.value(a.offset, b.offset)
    todo.append(lambda r: setattr(world, "offset", offset(r)))
    checked = joiner.value(a.checked, b.checked)
    todo.append(lambda r: setattr(world, "checked", checked(r)))

    def apply(results: list[Any]) -> None:
        for step in todo:
            step(results)

    return apply


def _set_overlay(world: Any, key: Any, owner: Any, build: Build, results: list[Any]) -> None:
    world.overlay[key] = (owner, build(results))


def _keep_frame(world: Any, frame: Any, values: dict[str, Any], _: list[Any]) -> None:
    world.push(frame)
    frame.locals.clear()
    frame.locals.update(values)


def _set_stored(binder: Any, alias: Any, stored: Any, _: list[Any]) -> None:
    binder.store[alias] = stored


def _join_locals(joiner: Joiner, frame: Any, a: dict[str, Any], b: dict[str, Any]) -> Callable[[list[Any]], None]:
    builds: dict[str, Build] = {}
    for name in [*a, *(n for n in b if n not in a)]:
        x, y = a.get(name, MISSING), b.get(name, MISSING)
        mark = joiner.mark()
        try:
            if x is MISSING or y is MISSING:
                raise NoJoin("assigned on one path only")
            builds[name] = joiner.value(x, y)
        except NoJoin as exc:
            joiner.undo(mark)
            why = f"variable {name!r} is {exc}" + " on different paths" * (x is not MISSING and y is not MISSING)
            try:
                builds[name] = choice(joiner, x, y, why)
            except NoJoin:
                builds[name] = constant(Conflict(joiner.key, why))

    def apply(results: list[Any]) -> None:
        values = {name: build(results) for name, build in builds.items()}
        frame.locals.clear()
        frame.locals.update(values)

    return apply


def _join_container(joiner: Joiner, key: int, a: Snapshot, b: Snapshot) -> Callable[[list[Any]], None]:
    world = joiner.world
    session = joiner.binder.session
    obj, held = a.containers.get(key) or b.containers[key]
    x, y = session.held(a, obj), session.held(b, obj)
    if x is None or y is None:  # made on one path: it lives on unchanged

        def keep(_: list[Any]) -> None:
            world.track(obj)
            set_contents(obj, held)

        return keep
    world.track(obj)
    if isinstance(x, list):
        is_journal = key in session.journals
        if len(x) != len(y) and any(id(obj) in entry.containers for _, entry in joiner.regions.loops):
            check_length(obj, x, y)
        if not is_journal and len(x) != len(y):
            raise NoJoin("a list has different lengths")
        builds: Any = (
            join_journals(joiner, obj, x, y) if is_journal else [joiner.value(p, q) for p, q in zip(x, y, strict=True)]
        )
        return lambda results: set_contents(obj, [f(results) for f in builds])
    if isinstance(x, dict):
        if not are_same_keys(x, y):
            raise NoJoin("a dict or object has different keys")
        named = {k: joiner.value(x[k], y[k]) for k in x}
        return lambda results: set_contents(obj, {k: f(results) for k, f in named.items()})
    if not are_same_keys(x, y):
        raise NoJoin("a set has different elements, or another order")
    return lambda _: set_contents(obj, x)


def _join_store(joiner: Joiner, a: Snapshot, b: Snapshot) -> list[Callable[[list[Any]], None]]:
    binder = joiner.binder
    steps: list[Callable[[list[Any]], None]] = []
    for alias in dict.fromkeys([*a.store, *b.store]):
        x, y = a.store.get(alias), b.store.get(alias)
        if x == y:
            steps.append(partial(_set_stored, binder, alias, x))
            continue
        if alias in binder.written_apart:
            raise NoJoin("a tensor without gradients, of others' memory, that is written on one path only")
        if binder.is_watched_and(alias, x) or binder.is_watched_and(alias, y):
            raise NoJoin("an argument that a gradient is taken of is written on one path only")
        root = (x or y).root  # type: ignore[union-attr]
        if (x is None or y is None) and isinstance(root._data, Node) and not outlives(joiner, root._data):
            steps.append(partial(_set_stored, binder, alias, x or y))
            continue
        nodes = [s.node if s is not None else binder.birth_node(root) for s in (x, y)]
        joiner.check_detached(*nodes)
        if not _join_types(nodes[0].type, nodes[1].type):
            raise NoJoin("a tensor has different types")
        memory, left = _joined_memory(joiner, root, x, y)
        out = joiner.output(*nodes)
        entry = binder.store.get(alias)
        written = [s.stamp for s in (x, y) if s is not None and (entry is None or s.stamp != entry.stamp)]

        def store(
            results: list[Any], alias: Any = alias, root: Any = root, out: Build = out, memory: int = memory,
            left: Any = left, written: Any = written,
        ) -> None:  # fmt: skip
            stored = binder.store[alias] = Stored(root, binder.node_of(out(results)), fresh_stamp(), memory, left)
            binder.merged[stored.stamp] = written

        steps.append(store)
    return steps


def _joined_memory(joiner: Joiner, root: Any, x: Stored | None, y: Stored | None) -> tuple[int, Node | None]:
    """`Stored.memory` and `Stored.left` after paths that have left ``x`` and ``y``."""
    memories = [s.memory if s is not None else 0 for s in (x, y)]
    lefts = [s.left if s is not None else None for s in (x, y)]
    if memories[0] == memories[1]:
        return memories[0], lefts[0]
    if joiner.binder.session.is_outside(root) and (0 in memories or lefts[0] is not lefts[1]):
        raise NoJoin("a Parameter gets other memory on one path only")
    return fresh_stamp(), lefts[0]


class _Token:
    """A token as a joinable value."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node


def nodes_in(regions: Regions, scope: Any, snap: Snapshot, values: list[Any]) -> list[Node]:
    """The nodes of ``values`` as they are at the end of a path, emitted into the scope of that path."""
    binder, builder = regions.world.binder, regions.builder
    before = binder.store, builder.current
    binder.store, builder.current = dict(snap.store), scope
    try:
        return [
            binder.session.token_node(v.node)
            if isinstance(v, _Token)
            else binder.node_of(v.stand_in() if isinstance(v, Absent) else v)
            for v in values
        ]
    finally:
        binder.store, builder.current = before


def close_pair(scope_a: Any, outs_a: Any, scope_b: Any, outs_b: Any) -> tuple[Graph, Graph, list[Node]]:
    """Both branches as closed graphs with the same parameters, and the outer nodes to pass for them."""
    _, captures = scope_a.close("then", (), outs_a)
    _, more = scope_b.close("else", (), outs_b)
    captures = list(dict.fromkeys([*captures, *more]))
    then, _ = scope_a.close("then", (), outs_a, captures)
    orelse, _ = scope_b.close("else", (), outs_b, captures)
    return then, orelse, captures


def emit_cond(regions: Regions, fork: Any, a: Snapshot, b: Snapshot, pairs: list[tuple[Any, Any]]) -> list[Any]:
    """Emits the ``cond`` of a decision whose sides output ``pairs``; gives the outputs as handles."""
    with no_recording():
        nodes_a = nodes_in(regions, fork.then_scope, a, [p[0] for p in pairs])
        nodes_b = nodes_in(regions, fork.else_scope, b, [p[1] for p in pairs])
    then, orelse, captures = close_pair(fork.then_scope, nodes_a, fork.else_scope, nodes_b)
    binder = regions.world.binder
    handles = [binder.wrap(c) for c in captures]
    return list(cond(fork.pred, *handles, then=then, orelse=orelse))


def close_pair_with_params(
    cond_scope: Any, test: Node, body_scope: Any, outputs: list[Node], params: list[Any]
) -> tuple[Graph, Graph, list[Node]]:
    """Condition and body of a loop as closed graphs over the carry ``params``, and the invariants to pass."""
    _, captures = cond_scope.close("while.cond", params, test)
    _, more = body_scope.close("while.body", params, outputs)
    captures = [c for c in dict.fromkeys([*captures, *more]) if c not in params]
    cond_graph, _ = cond_scope.close("while.cond", params, test, captures)
    body_graph, _ = body_scope.close("while.body", params, outputs, captures)
    return cond_graph, body_graph, captures
