"""Recursion that only ends by a tensor-dependent decision: the function becomes a named graph that calls itself.

Recursion on constants is inlined like any call. But if a function calls itself with the same constants and arguments of
the same types, inlining would never end: its result depends on a decision at run time. Then the function is captured
once over parameters, as an entry of the context's function table, and calls of it are ``call_named`` nodes. The result
type comes from the paths that do not recurse; with it known, the body is captured again in full.
"""

from __future__ import annotations

from typing import Any

from duograph.core.op import no_recording, value_key
from duograph.ir.control import call_named
from duograph.ir.node import Node
from duograph.ops.scalar import Scalar, is_number
from duograph.tensor.tensor import Tensor, type_of

from .errors import Uncapturable
from .identity import REPEATED
from .join import has_changed, join_leaves, same_constant
from .paths import Fork, Leaf, Outcome, leaves_of
from .primitives import anchor
from .world import Frame


class PendingResult(Exception):
    """A recursive call whose result type is not known yet: this path is left out of the first capture."""


class Definition:
    """A recursive function while it is being captured."""

    def __init__(self, name: str, held: Any) -> None:
        self.name = name
        self.held = held  # what its key names by ``id``
        self.type: Any = None
        self.captures: list[Node] = []
        self.given: list[Any] = []  # what its paths return


class Recursion:
    """Detects and captures recursive functions of one session."""

    def __init__(self, calls: Any) -> None:
        self.calls = calls
        self.session = calls.session
        self.active: list[tuple[Any, dict[str, Any]]] = []
        self.definitions: dict[Any, Definition] = {}
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
        if key is not None and key in self.definitions:
            return True
        same = [v for f, v in self.active if f is fn]
        if key is not None and len(same) >= 2 and all(_repeats(v, values) for v in same[-2:]):
            return True
        self.active.append((fn, values))
        return False

    def _key(self, fn: Any, values: dict[str, Any]) -> Any:
        parts: list[Any] = []
        symbolic = False
        for name, v in values.items():
            if isinstance(v, Tensor | Scalar):
                parts.append((name, type_of(v)))
                symbolic = True
            else:
                parts.append((name, value_key(v) if type(v) in (bool, int, float, str) else id(v)))
        return (id(fn), tuple(parts)) if symbolic else None

    def call(self, fn: Any, source: Any, frame: Frame, values: dict[str, Any]) -> Any:
        key = self._key(fn, values)
        definition = self.definitions.get(key)
        if definition is None:
            definition = self._define(key, fn, source, frame, values)
        if definition.type is None:
            raise PendingResult
        session, binder = self.session, self.session.binder
        operands = [v for v in values.values() if isinstance(v, Tensor | Scalar)]
        captured = [binder.wrap(n) for n in definition.captures]
        result = call_named(*operands, *captured, name=definition.name, type=definition.type)
        if isinstance(result, Tensor):
            session.choices.note(result, REPEATED)
            for tensor in (v for v in (*operands, *definition.given) if isinstance(v, Tensor)):
                session.choices.note_source(tensor)
        return result

    def _define(self, key: Any, fn: Any, source: Any, frame: Frame, values: dict[str, Any]) -> Definition:
        definition = Definition(self._name(frame, values), (fn, values))
        self.definitions[key] = definition
        saved = self.active, self.calls.depth
        try:
            for _ in range(6):
                self.active = []
                before = definition.type, list(definition.captures)
                self._capture(definition, source, frame, values)
                if (definition.type, definition.captures) == before:
                    return definition
        finally:
            self.active = saved[0]
        raise Uncapturable(f"the type of the result of the recursive function {frame.name!r} does not settle")

    def _name(self, frame: Frame, values: dict[str, Any]) -> str:
        """A name in the function table, the same if another path comes here again, with a closure of its own."""
        types = tuple(type_of(v) for v in values.values() if isinstance(v, Tensor | Scalar))
        place = (*self.session.place(), frame.name, types)
        if place not in self._named:
            name = frame.name.replace("<", "").replace(">", "")
            self._named[place] = self.session.builder.context.fresh_name(name)
        return self._named[place]

    def _capture(self, definition: Definition, source: Any, frame: Frame, values: dict[str, Any]) -> None:
        session = self.session
        entry = session.world.snapshot()
        builder, regions = session.builder, session.regions
        params = []
        inner = Frame(frame.name, frame.code, frame.globals, frame.parent)
        inner.cells, inner.special = frame.cells, frame.special
        for name, v in values.items():
            if isinstance(v, Tensor | Scalar):
                param = builder.inner_param(name, type_of(v))
                params.append(param)
                v = session.binder.wrap(param)
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
            tree = regions.explore(regions.next_key(), body)
            pruned = _without_pending(tree)
            if pruned is None:
                raise RecursionError("maximum recursion depth exceeded")
            definition.given = [leaf.outcome.value for leaf in leaves_of(pruned)]
            leaf = join_leaves(regions, (definition.name, "value"), pruned)
            if leaf is None:
                raise Uncapturable(f"the recursive function {frame.name!r} returns values of different types")
            self._check_effects(entry, leaf)
            session.world.restore(leaf.state)
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

    def _check_effects(self, before: Any, leaf: Leaf) -> None:
        after = leaf.state
        if after.token is not before.token or after.offset is not before.offset or after.store != before.store:
            raise Uncapturable("a recursive function with effects")
        session = self.session
        for key, (obj, held) in after.containers.items():
            first = session.held(before, obj)
            if (
                first is not None
                and (key in before.containers or key in session.originals)
                and has_changed(first, held)
            ):
                raise Uncapturable("a recursive function that changes a container of its caller")
        if after.overlay != before.overlay:
            raise Uncapturable("a recursive function that writes to outside objects")


def _repeats(old: dict[str, Any], new: dict[str, Any]) -> bool:
    for name, b in new.items():
        a = old.get(name)
        if isinstance(a, Tensor | Scalar) and isinstance(b, Tensor | Scalar):
            if type_of(a) != type_of(b):
                return False
        elif isinstance(a, Scalar) and is_number(b):
            if a.type != type_of(b):
                return False
        elif a is not b and not same_constant(a, b):
            return False
    return any(isinstance(v, Tensor | Scalar) for v in new.values())


def _without_pending(tree: Leaf | Fork) -> Leaf | Fork | None:
    """The tree without paths that need a result which is not known yet."""
    if isinstance(tree, Leaf):
        pending = tree.outcome.kind == "raise" and isinstance(tree.outcome.value, PendingResult)
        return None if pending else tree
    then, orelse = _without_pending(tree.then), _without_pending(tree.orelse)
    if then is None or orelse is None:
        return then or orelse
    return Fork(tree.pred, then, orelse, tree.then_scope, tree.else_scope)
