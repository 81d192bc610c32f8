"""Building graphs: a stack of scopes over one context.

A `Scope` collects the nodes that are emitted while it is innermost. Closing it with some outputs makes a *closed*
graph: nodes emitted inside become its body, everything else that they need becomes a parameter, and the caller gets
the outer nodes to pass for them. Branches and loop bodies are scopes; nothing ever has free variables afterwards.

    builder = Builder()
    with builder.scope() as inner:
        y = builder.emit(mul, (x, x), {})
    graph, captures = inner.close("body", (), (y,))      # graph(%x) ; captures == [x]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from duograph.core.dim import Dim, Symbol, symbols_of
from duograph.core.op import Op
from duograph.core.types import TensorType, Type

from .control import make_tuple, tuple_get
from .node import Apply, Const, Context, Graph, Node, Param
from .walk import same_node, with_origin


class Scope:
    """Nodes emitted while this scope was innermost, and the parameters declared for it."""

    def __init__(self, builder: Builder, parent: Scope | None) -> None:
        self.builder = builder
        self.parent = parent
        self.emitted: set[Node] = set()

    def owns(self, node: Node) -> bool:
        return node in self.emitted

    def close(
        self, name: str, params: Sequence[Param], outputs: Sequence[Node] | Node, first_captures: Sequence[Node] = ()
    ) -> tuple[Graph, list[Node]]:
        """The closed graph of this scope.

        Args:
            name: readable name, made unique in the context.
            params: parameters in front (loop carries), declared by the caller with `Builder.param`.
            outputs: one node, or several that become a tuple.
            first_captures: outer nodes that must be captured first and in this order (so that two branches can be
                closed with equal parameter lists), whether used or not.

        Returns:
            The graph, whose parameters are ``params`` followed by one per capture, and the captured outer nodes.
        """
        context = self.builder.context
        output = outputs if isinstance(outputs, Node) else context.apply(make_tuple, tuple(outputs), {})
        captures: dict[Node, Param] = {}
        for node in first_captures:
            captures[node] = self._capture_param(len(captures), node)
        inside = set(params)
        rebuilt: dict[Node, Node] = {}

        def visit(root: Node) -> Node:
            work = [root]
            while work:
                node = work[-1]
                if node in rebuilt:
                    work.pop()
                elif node in captures:
                    rebuilt[node] = captures[node]
                    work.pop()
                elif node in inside or isinstance(node, Const):
                    rebuilt[node] = node
                    work.pop()
                elif isinstance(node, Apply) and (node in self.emitted or node is output):
                    pending = [o for o in node.operands if o not in rebuilt]
                    if pending:
                        work.extend(reversed(pending))
                        continue
                    operands = tuple(rebuilt[o] for o in node.operands)
                    rebuilt[node] = same_node(node, operands, node.attrs)
                    work.pop()
                else:
                    captures[node] = rebuilt[node] = self._capture_param(len(captures), node)
                    work.pop()
            return rebuilt[root]

        # Rebuild in program order, so that serials of the closed graph keep the order of the program.
        wanted = _reachable_in(self, output)
        for node in sorted(wanted, key=lambda n: n.serial):
            visit(node)
        body = visit(output)
        for node in self._definers(wanted, [*params, *captures]):
            captures.setdefault(node, self._capture_param(len(captures), node))
        return context.named_graph(name, (*params, *captures.values()), body), list(captures)

    def _definers(self, nodes: Sequence[Apply], known: Sequence[Node]) -> list[Node]:
        """Outer nodes that say how large the sizes are that only attributes of ``nodes`` mention."""
        missing = {s for n in nodes for value in n.attrs.values() for s in _sizes_in(value)}
        if missing:
            missing.difference_update(s for n in known for s in _shape_symbols(n.type))
            missing.difference_update(s for n in nodes for s in _introduced(n))
        found: list[Node] = []
        scope = self.parent
        while scope is not None and missing:
            for symbol in sorted(missing, key=str):
                definers = [n for n in scope.emitted if symbol in _shape_symbols(n.type)]
                if definers:
                    found.append(min(definers, key=lambda n: n.serial))
                    missing.remove(symbol)
            scope = scope.parent
        return found

    def _capture_param(self, index: int, node: Node) -> Param:
        """The parameter for the ``index``-th capture. Named by program order, so that capturing the same code again
        gives the same graph (regions are captured once per path, and their beginnings must come out equal)."""
        return self.builder.context.param(f"c{index}.{self.builder.next_tag}", node.type)


def _sizes_in(value: Any) -> frozenset[Symbol]:
    if isinstance(value, Dim):
        return symbols_of(value)
    return frozenset().union(*map(_sizes_in, value)) if isinstance(value, tuple) else frozenset()


def _shape_symbols(type: Type) -> tuple[Symbol, ...]:
    """The sizes that a tensor of ``type`` tells by its shape."""
    return tuple([d for d in type.shape if isinstance(d, Symbol)]) if isinstance(type, TensorType) else ()


def _introduced(node: Apply) -> set[Symbol]:
    """The sizes that ``node`` finds: neither an operand nor an attribute knows them."""
    known = {s for o in node.operands for s in _shape_symbols(o.type)}
    return set(_shape_symbols(node.type)) - known - _sizes_in(tuple(node.attrs.values()))


def _reachable_in(scope: Scope, output: Node) -> list[Apply]:
    seen: set[Node] = set()
    work: list[Node] = [output]
    found: list[Apply] = []
    while work:
        node = work.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Apply) and (node in scope.emitted):
            found.append(node)
            work.extend(node.operands)
        elif node is output and isinstance(node, Apply):
            work.extend(node.operands)
    return found


class Builder:
    """Emits nodes into the innermost scope. ``tagging`` gives every emitted node its place in program order."""

    def __init__(self, context: Context | None = None, tagging: bool = True) -> None:
        self.context = context or Context()
        self.tagging = tagging
        self.next_tag = 1
        self.current = Scope(self, None)
        self.origin: tuple[Any, ...] = ()
        self.original: Apply | None = None  # what the next node of the same op is a copy of

    @contextmanager
    def scope(self) -> Iterator[Scope]:
        inner = Scope(self, self.current)
        self.current = inner
        try:
            yield inner
        finally:
            assert inner.parent is not None
            self.current = inner.parent

    def emit(self, op: Op, operands: tuple[Node, ...], attrs: dict[str, Any]) -> Node:
        """The application of ``op``, as a node of the innermost scope."""
        tag = 0
        if self.tagging:
            tag = self.next_tag
            self.next_tag += 1
        if op is tuple_get and isinstance(operands[0], Apply) and operands[0].op is make_tuple:
            return operands[0].operands[attrs["index"]]
        node: Node = self.context.apply(op, operands, attrs, tag)
        if self.original is not None and op is self.original.op:
            node, self.original = with_origin(node, self.original), None
        if not self._known(node):
            self.current.emitted.add(node)
            if self.origin and node not in self.context.origins:
                self.context.origins[node] = self.origin
        return node

    def _known(self, node: Node) -> bool:
        scope = self.current.parent
        while scope is not None:
            if node in scope.emitted:
                return True
            scope = scope.parent
        return False

    def param(self, name: str, type: Any) -> Param:
        """A parameter with a name that is unique in the context."""
        return self.context.param(self.context.fresh_name(name), type)

    def inner_param(self, name: str, type: Any) -> Param:
        """A parameter of a loop body or function that is being built, named by program order like captures."""
        self.next_tag += 1
        return self.context.param(f"{name}.{self.next_tag}", type)

    def results(self, node: Node) -> tuple[Node, ...]:
        """The items of a tuple-typed node as nodes."""
        return tuple(self.emit(tuple_get, (node,), {"index": i}) for i in range(len(node.type.items)))  # type: ignore[attr-defined]

    def graph(self, name: str, params: Sequence[Param], outputs: Sequence[Node] | Node) -> Graph:
        """The closed graph of the outermost scope; a capture is an error."""
        graph, captures = self.current.close(name, params, outputs)
        assert not captures, f"free variables in @{name}: {captures}"
        return graph
