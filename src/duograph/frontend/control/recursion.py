"""Recursion that only ends by a tensor-dependent decision: the function becomes a named graph that calls itself.

Recursion on constants is inlined like any call. But if a function calls itself with the same constants and arguments of
the same types, inlining would never end: its result depends on a decision at run time. Then the function is captured
once over parameters, as an entry of the context's function table, and calls of it are ``call_named`` nodes. The result
type comes from the paths that do not recurse; with it known, the body is captured again in full.

The graph knows the tracked state as it was when it was made. It stands for the function as long as the program has
changed nothing since that the function may see; a function that changes such a thing itself is none of a graph.
"""

from __future__ import annotations

from typing import Any

from duograph.core.op import no_recording, value_key
from duograph.ir.control import call_named
from duograph.ir.node import Node
from duograph.ops.scalar import Scalar, is_number
from duograph.tensor.tensor import Tensor, type_of

from ..programs.primitives import anchor
from ..rules.errors import Uncapturable
from ..values.world import Frame
from .identity import REPEATED, is_derived
from .join import join_leaves, same_constant
from .paths import Fork, Leaf, Outcome, leaves_of


class PendingResult(Exception):
    """A recursive call whose result type is not known yet: this path is left out of the first capture."""


class Definition:
    """A recursive function while it is being captured."""

    def __init__(self, name: str, held: Any) -> None:
        self.name = name
        self.held = held  # what its key names by ``id``
        self.entry: Any = None  # the state that its graph knows
        self.is_open = True  # its graph is being captured
        self.type: Any = None
        self.captures: list[Node] = []
        self.given: list[Any] = []  # what its paths return


class Recursion:
    """Detects and captures recursive functions of one session."""

    def __init__(self, calls: Any) -> None:
        self.calls = calls
        self.session = calls.session
        self.active: list[tuple[Any, dict[str, Any]]] = []
        self._names: list[Any] = []
        self._named: dict[Any, str] = {}

    def push(self, fn: Any) -> None:
        self._names.append(fn)

    def pop(self) -> None:
        self._names.pop()
        self.active.pop()

    def applies(self, fn: Any, values: dict[str, Any]) -> bool:
        """Whether this call must become a call of a graph; also notes the call's arguments."""
        key = self._key(fn, values)
        if key is not None and self._known(key) is not None:
            return True
        same = [v for f, v in self.active if f is fn]
        if key is not None and len(same) >= 2 and all(_repeats(v, values) for v in same[-2:]):
            return True
        self.active.append((fn, values))
        return False

    def _known(self, key: Any) -> Definition | None:
        """The definition that stands for such a call now.

        Raises:
            Uncapturable: the function has changed what it may see, and calls itself.
        """
        definition: Definition | None = self.session.world.definitions.get(key)
        if definition is None or not (changed := self.session.world.changed_since(definition.entry)):
            return definition
        if definition.is_open:
            raise Uncapturable(f"a recursive function that changes {changed}")
        return None

    def _key(self, fn: Any, values: dict[str, Any]) -> Any:
        parts: list[Any] = []
        symbolic = False
        for name, v in values.items():
            if _is_parameter(v):
                parts.append((name, type_of(v)))
                symbolic = True
            else:
                parts.append((name, value_key(v) if type(v) in (bool, int, float, str) else id(v)))
        return (id(fn), tuple(parts)) if symbolic else None

    def call(self, fn: Any, source: Any, frame: Frame, values: dict[str, Any]) -> Any:
        key = self._key(fn, values)
        definition = self._known(key)
        if definition is None:
            definition = self._define(key, fn, source, frame, values)
        if definition.type is None:
            raise PendingResult
        session, binder = self.session, self.session.binder
        operands = [v for v in values.values() if _is_parameter(v)]
        captured = [binder.wrap(n) for n in definition.captures]
        result = call_named(*operands, *captured, name=definition.name, type=definition.type)
        if isinstance(result, Tensor):
            session.choices.note(result, REPEATED)
            for tensor in (v for v in (*operands, *definition.given) if isinstance(v, Tensor)):
                session.choices.note_source(tensor)
        return result

    def _define(self, key: Any, fn: Any, source: Any, frame: Frame, values: dict[str, Any]) -> Definition:
        definition = Definition(self._name(frame, values), (fn, values))
        world = self.session.world
        world.definitions = {**world.definitions, key: definition}
        definition.entry = world.snapshot()
        saved = self.active, self.calls.depth
        try:
            for _ in range(6):
                self.active = []
                before = definition.type, list(definition.captures)
                self._capture(definition, source, frame, values)
                if (definition.type, definition.captures) == before:
                    definition.is_open = False
                    return definition
        finally:
            self.active = saved[0]
        raise Uncapturable(f"the type of the result of the recursive function {frame.name!r} does not settle")

    def _name(self, frame: Frame, values: dict[str, Any]) -> str:
        """A name in the function table, the same if another path comes here again, with a closure of its own."""
        types = tuple(type_of(v) for v in values.values() if _is_parameter(v))
        place = (*self.session.place(), frame.name, types)
        if place not in self._named:
            name = frame.name.replace("<", "").replace(">", "")
            self._named[place] = self.session.builder.context.fresh_name(name)
        return self._named[place]

    def _capture(self, definition: Definition, source: Any, frame: Frame, values: dict[str, Any]) -> None:
        session, entry = self.session, definition.entry
        builder, regions = session.builder, session.regions
        params = []
        inner = Frame(frame.name, frame.code, frame.globals, frame.parent)
        inner.cells, inner.special, inner.function = frame.cells, frame.special, frame.function
        for name, v in values.items():
            if _is_parameter(v):
                param = builder.inner_param(name, type_of(v))
                params.append(param)
                v = session.binder.wrap(param)
                if isinstance(v, Tensor):
                    session.choices.note(v, REPEATED)
            inner.locals[name] = v

        def body() -> Outcome:
            session.world.push(inner)
            session.world.checked = 0
            self._names.append(None)
            self.active.append((None, {}))
            try:
                return Outcome("value", self.calls.run_body(source, inner))
            finally:
                session.world.pop(inner)
                self._names.pop()
                self.active.pop()

        with no_recording(), builder.scope() as scope:
            scope.repeats = True
            tree = regions.explore(regions.next_key(), body)
            pruned = _without_pending(tree)
            if pruned is None:
                raise RecursionError("maximum recursion depth exceeded")
            definition.given = [leaf.outcome.value for leaf in leaves_of(pruned)]
            leaf = join_leaves(regions, (definition.name, "value"), pruned)
            if leaf is None:
                raise Uncapturable(f"the recursive function {frame.name!r} returns values of different types")
            session.world.restore(leaf.state)
            if changed := session.world.changed_since(entry):
                raise Uncapturable(f"a recursive function that changes {changed}")
            node = self._result(leaf.outcome.value, frame.name)
            if isinstance(leaf.state.checked, Scalar):
                node = builder.emit(anchor, (node, leaf.state.checked.node), {})
            session.world.restore(entry)
        if definition.type is None:
            definition.type = node.type
            return
        graph, captures = scope.close(definition.name, params, node, definition.captures)
        definition.captures = captures
        builder.context.functions[definition.name] = graph

    def _result(self, value: Any, name: str) -> Node:
        if isinstance(value, Tensor) or is_number(value):
            return self.session.binder.node_of(value)
        raise Uncapturable(f"the recursive function {name!r} returns a {type(value).__name__}")


def _is_parameter(value: Any) -> bool:
    """Whether an argument is one of the graph. A tensor of a derived class (it has a name) is the one that it is."""
    return isinstance(value, Scalar) or (isinstance(value, Tensor) and not is_derived(value))


def _repeats(old: dict[str, Any], new: dict[str, Any]) -> bool:
    for name, b in new.items():
        a = old.get(name)
        if _is_parameter(a) and _is_parameter(b):
            if type_of(a) != type_of(b):
                return False
        elif isinstance(a, Scalar) and is_number(b):
            if a.type != type_of(b):
                return False
        elif a is not b and not same_constant(a, b):
            return False
    return any(_is_parameter(v) for v in new.values())


def _without_pending(tree: Leaf | Fork) -> Leaf | Fork | None:
    """The tree without paths that need a result which is not known yet."""
    if isinstance(tree, Leaf):
        pending = tree.outcome.kind == "raise" and isinstance(tree.outcome.value, PendingResult)
        return None if pending else tree
    then, orelse = _without_pending(tree.then), _without_pending(tree.orelse)
    if then is None or orelse is None:
        return then or orelse
    return Fork(tree.pred, then, orelse, tree.then_scope, tree.else_scope)
