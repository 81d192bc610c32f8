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

from duograph.core.assumptions import assumptions
from duograph.core.borders import renamed
from duograph.core.dim import by_name
from duograph.core.op import NOT_DIFFERENTIABLE, Op, value_key

from .control import make_tuple, tuple_get, undef
from .node import Apply, Const, Context, Graph, Node, Param, finds_sizes, introduced, sizes_in_attrs, told_sizes
from .sizes import unknown_sizes, with_tells
from .walk import retyped, same_but_tags, same_node, with_origin


class Scope:
    """Nodes emitted while this scope was innermost. ``params``: parameters of its graph that may tell inner scopes
    the sizes that only attributes mention there."""

    def __init__(self, builder: Builder, parent: Scope | None) -> None:
        self.builder = builder
        self.parent = parent
        self.emitted: set[Node] = set()
        self.params: Sequence[Node] = ()
        self.repeats = False  # its graph is the body of a loop or of a recursive function

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
        outputs = self._keeping_sizes([outputs] if isinstance(outputs, Node) else outputs, isinstance(outputs, Node))
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
        with assumptions():  # what these nodes assume of sizes was told when they were emitted
            for node in sorted(wanted, key=lambda n: n.serial):
                visit(node)
            body = visit(output)
        for node in self._definers(wanted, [*params, *captures]):
            captures.setdefault(node, self._capture_param(len(captures), node))
        return context.named_graph(name, (*params, *captures.values()), body), list(captures)

    def _keeping_sizes(self, outputs: Sequence[Node], single: bool) -> Sequence[Node] | Node:
        """``outputs``, with whom everything is reached that finds a size which attributes mention."""
        tells: dict[Node, None] = {}
        if any(finds_sizes(n) for n in self.emitted if isinstance(n, Apply)):
            while more := self._unreached([*outputs, *tells]) - tells.keys():
                tells.update(dict.fromkeys(sorted(more, key=lambda n: n.serial)))
        if tells:
            before, outputs = outputs, with_tells(outputs, tells)
            self.emitted.update(node for node in outputs if node not in before)
        return outputs[0] if single else outputs

    def _unreached(self, outputs: Sequence[Node]) -> set[Node]:
        """Values of this scope that tell sizes which the way to ``outputs`` mentions, but does not find."""
        reached = {n for output in outputs for n in _reachable_in(self, output)}
        missing = unknown_sizes(reached)
        found: set[Node] = set()
        for node in self.emitted - reached if missing else ():
            if isinstance(node, Apply) and not missing.isdisjoint(told_sizes(node.type)):
                source = node.operands[0] if node.op is tuple_get else node
                if isinstance(source, Apply) and finds_sizes(source) and not missing.isdisjoint(introduced(source)):
                    found.add(node)
        return found

    def _definers(self, nodes: Sequence[Apply], known: Sequence[Node]) -> list[Node]:
        """Outer nodes that say how large the sizes are that only attributes of ``nodes`` mention."""
        if self.parent is None:
            return []
        missing = {s for n in nodes for s in sizes_in_attrs(n)}
        if missing:
            missing.difference_update(s for n in known for s in told_sizes(n.type))
            missing.difference_update(s for n in nodes for s in introduced(n))
        found: list[Node] = []
        scope: Scope | None = self.parent
        while scope is not None and missing:
            for symbol in sorted(missing, key=by_name):
                values = [n for n in scope.emitted if not (isinstance(n, Apply) and n.op is undef)]
                definers = [n for n in (*scope.params, *values) if symbol in told_sizes(n.type)]
                if definers:
                    found.append(min(definers, key=lambda n: n.serial))
                    missing.remove(symbol)
            scope = scope.parent
        return found

    def _capture_param(self, index: int, node: Node) -> Param:
        """The parameter for the ``index``-th capture. Named by program order, so that capturing the same code again
        gives the same graph (regions are captured once per path, and their beginnings must come out equal)."""
        return self.builder.context.param(f"c{index}.{self.builder.place}", node.type)


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


def _same_size(a: Apply, b: Apply) -> bool:
    """Whether what decides the size that ``a`` and ``b`` find, of one op, is equal."""
    decides = a.op.size_from
    if decides is None or len(introduced(a)) != 1 or len(introduced(b)) != 1:
        return False
    return all(
        same_but_tags(x, y) if isinstance(x, Node) and isinstance(y, Node) else bool(value_key(x) == value_key(y))
        for x, y in zip(decides(*a.operands, **a.attrs), decides(*b.operands, **b.attrs), strict=True)
    )


class Builder:
    """Emits nodes into the innermost scope. ``tagging`` gives every emitted node its place in program order, counted
    from ``first_tag``."""

    def __init__(self, context: Context | None = None, tagging: bool = True, first_tag: int = 0) -> None:
        self.context = context or Context()
        self.tagging = tagging
        self.first_tag, self.next_tag = first_tag, first_tag + 1
        self.current = Scope(self, None)
        self.origin: tuple[Any, ...] = ()
        self.iterations: tuple[tuple[Any, int, Any], ...] = ()  # of loops that are being captured
        self.original: Apply | None = None  # what the next node of the same op is a copy of
        self._finders: dict[Op, list[Apply]] = {}

    @property
    def place(self) -> int:
        """How far the program has come."""
        return self.next_tag - self.first_tag

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
        if op is tuple_get and isinstance(operands[0], Apply) and operands[0].op.data_dependent:
            node = self._found_item(node)
        if op.data_dependent and self.tagging and op is not getattr(self.original, "op", None):
            node = self._sized_alike(node)
        elif self.original is not None and op is self.original.op:
            node = with_origin(node, self.original)
            if isinstance(node, Apply):  # with residuals it gives more
                node = retyped(node, self.original.type, first=True)
            self.original = None
        if not self._known(node):
            self.current.emitted.add(node)
            if self.origin and node not in self.context.origins:
                self.context.origins[node] = self.origin
            if self.iterations:
                self.context.iterations.setdefault(node, self.iterations)
        return node

    def _sized_alike(self, node: Node) -> Node:
        """``node``, which finds a size, with the name that an equal size was given before: of ``x[mask]`` and
        ``y[mask]`` every rule knows that they are equally long. What has no gradient is found once."""
        assert isinstance(node, Apply)
        before = self._finders.setdefault(node.op, [])
        for other in before:
            if self._is_visible(other):
                if node.op.bprop is NOT_DIFFERENTIABLE and node.attrs == other.attrs:
                    if all(map(same_but_tags, node.operands, other.operands)):
                        return other
                elif _same_size(node, other):
                    node = retyped(
                        node, renamed(node.type, dict(zip(introduced(node), introduced(other), strict=True)))
                    )
                    break
        before.append(node)
        return node

    def _found_item(self, item: Node) -> Node:
        """``item``, of what a node finds, as it was taken before: where that is found once, its items are, too."""
        assert isinstance(item, Apply)
        before = self._finders.setdefault(item.op, [])
        for other in before:
            if other.operands == item.operands and other.attrs == item.attrs and self._is_visible(other):
                return other
        before.append(item)
        return item

    def _is_visible(self, node: Node) -> bool:
        return node in self.current.emitted or self._known(node)

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
        return self.context.param(f"{name}.{self.place}", type)

    def results(self, node: Node) -> tuple[Node, ...]:
        """The items of a tuple-typed node as nodes."""
        return tuple(self.emit(tuple_get, (node,), {"index": i}) for i in range(len(node.type.items)))  # type: ignore[attr-defined]

    def graph(self, name: str, params: Sequence[Param], outputs: Sequence[Node] | Node) -> Graph:
        """The closed graph of the outermost scope; a capture is an error."""
        graph, captures = self.current.close(name, params, outputs)
        assert not captures, f"free variables in @{name}: {captures}"
        return graph
