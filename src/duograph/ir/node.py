"""MindIR nodes: immutable, hash-consed, typed at construction.

    Node  ::= Param(name, type)                       formal input of a graph
            | Const(value, type)                      array, Python number or object
            | Apply(op, operands, attrs, tag, type)   application of a primitive
    Graph ::= (name, params, output)                  closed: every node reachable from `output` is a constant, an
                                                      application, or one of `params`

Equal nodes of one `Context` *are* the same object, so common sub-expressions vanish and dead code is whatever is not
reachable. Control flow is four ops whose attributes are closed graphs (``ir/control.py``).

``tag`` keeps occurrences apart while a program is being captured: eager Python computes ``x*x`` twice if it is
written twice, and the gradient sums two contributions; sharing the node before differentiation would change the bits
of that sum. Capture tags nodes by program order, and canonicalisation drops the tags after gradients are expanded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.borders import symbols_in
from duograph.core.dim import Dim, Symbol
from duograph.core.op import Op, attrs_key, value_key
from duograph.core.types import OBJECT, TOKEN, TensorType, TupleType, Type, scalar_type


class Node:
    """Base of MindIR nodes. ``serial`` grows with creation, so operands have smaller serials than their users."""

    __slots__ = ("context", "serial", "type")

    context: Context
    serial: int
    type: Type

    @property
    def shape(self) -> Any:
        assert isinstance(self.type, TensorType), f"{self.type} has no shape"
        return self.type.shape

    @property
    def dtype(self) -> Any:
        assert isinstance(self.type, TensorType), f"{self.type} has no dtype"
        return self.type.dtype


class Param(Node):
    __slots__ = ("name",)
    name: str

    def __repr__(self) -> str:
        return f"%{self.name}: {self.type}"


class Const(Node):
    __slots__ = ("value",)
    value: Any

    def __repr__(self) -> str:
        return f"const {self.value!r}: {self.type}"


class Apply(Node):
    __slots__ = ("attrs", "op", "operands", "tag")
    op: Op
    operands: tuple[Node, ...]
    attrs: dict[str, Any]
    tag: int

    def __repr__(self) -> str:
        return f"<{self.op.name} #{self.serial}: {self.type}>"


def _by_tags(nodes: list[Apply]) -> list[Apply]:
    """``nodes``, in the order in which they were made, in that of their tags: where branches do the same at the same
    place, the first of them has made the nodes of all."""
    tags: dict[Node, int] = {}
    latest, in_order = 0, True
    for node in nodes:
        tag = node.tag
        if not tag and not node.op.structured:
            return nodes  # not as captured
        for operand in node.operands:
            needed = tags.get(operand, 0)
            if needed > tag:
                if node.tag:
                    return nodes
                tag = needed
        tags[node] = tag
        if tag < latest:
            in_order = False
        else:
            latest = tag
    return nodes if in_order else sorted(nodes, key=lambda node: (tags[node], node.serial))


def _effects_late(nodes: list[Apply]) -> list[Apply]:
    """``nodes`` with those at the end that are effects (they take a token), or need what effects give."""
    late: set[Node] = set()
    for node in nodes:
        for operand in node.operands:
            if operand in late or operand.type is TOKEN:
                late.add(node)
                break
    return [*(n for n in nodes if n not in late), *(n for n in nodes if n in late)] if late else nodes


def _early(nodes: list[Apply], starts: list[Apply]) -> list[Apply]:
    """``nodes`` in an order in which each of ``starts`` comes as soon as what it needs is there."""
    order: list[Apply] = []
    done: set[Node] = set()
    for start in starts:
        needed = reachable(start) - done
        order += [n for n in nodes if n in needed]
        done |= needed
    return order + [n for n in nodes if n not in done]


def _serial(node: Node) -> int:
    return node.serial


class Graph:
    """A closed graph. Made by `Context.graph`; equal graphs of one context are the same object."""

    __slots__ = ("_nodes", "_plan", "_subgraphs", "context", "name", "output", "params")

    def __init__(self, context: Context, name: str, params: tuple[Param, ...], output: Node) -> None:
        self.context, self.name, self.params, self.output = context, name, params, output
        self._nodes: tuple[Apply, ...] | None = None
        self._subgraphs: tuple[Graph, ...] | None = None
        self._plan: Any = None  # how the interpreter runs this graph, made at its first run

    @property
    def nodes(self) -> tuple[Apply, ...]:
        """All applications, operands before users, in program order; but effects come after all that does not depend
        on them: what may raise, wherever rewrites have put it, does so before something irrevocable has happened. What
        begins early (`passes/overlap.py`) comes as soon as its operands are there.
        """
        if self._nodes is None:
            seen: set[Node] = set()
            found: list[Apply] = []
            work = [self.output]
            has_effects = has_sizes = False
            while work:
                node = work.pop()
                if node in seen:
                    continue
                seen.add(node)
                has_effects |= node.type is TOKEN
                if isinstance(node, Apply):
                    found.append(node)
                    work.extend(node.operands)
                    has_sizes |= node.op.structured or node.op.data_dependent
            found.sort(key=_serial)
            found = _by_tags(found)
            if has_effects:
                found = _effects_late(found)
                if starts := [n for n in found if "early" in n.op.effects]:
                    found = _early(found, starts)
            self._nodes = tuple(_after_sizes(found, self.params) if has_sizes else found)
        return self._nodes

    @property
    def subgraphs(self) -> tuple[Graph, ...]:
        """Graphs that nodes of this graph refer to, in order of first use, without repetition."""
        if self._subgraphs is None:
            found: dict[Graph, None] = {}
            for node in self.nodes:
                for value in node.attrs.values():
                    if isinstance(value, Graph):
                        found[value] = None
            self._subgraphs = tuple(found)
        return self._subgraphs

    def __repr__(self) -> str:
        return f"<graph @{self.name}({', '.join(map(repr, self.params))}) -> {self.output.type}>"


def reachable(root: Node) -> set[Node]:
    """``root`` and all nodes that it depends on."""
    seen: set[Node] = set()
    work = [root]
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work.extend(node.operands if isinstance(node, Apply) else ())
    return seen


def finds_sizes(node: Apply) -> bool:
    """Whether ``node`` gives sizes that neither an operand nor an attribute tells: what follows calls each by the name
    that it has in the type of ``node``, so that ``node`` can neither be merged with another one nor copied."""
    if node.op.data_dependent:
        return True
    sizes = symbols_in(node.type) if node.op.structured else None
    return bool(sizes) and not sizes <= symbols_in(tuple([o.type for o in node.operands]))  # type: ignore[operator]


def is_wide(node: Node) -> bool:
    """Whether ``node`` is a number of more than 64 bits: Python has such numbers, machine code does not."""
    return isinstance(node, Const) and type(node.value) is int and not -(1 << 63) <= node.value < 1 << 63


def told_sizes(type: Type) -> tuple[Symbol, ...]:
    """The sizes that a tensor of ``type`` tells by its shape."""
    return tuple([d for d in type.shape if isinstance(d, Symbol)]) if isinstance(type, TensorType) else ()


def sizes_in_attrs(node: Apply) -> set[Symbol]:
    """The sizes that attributes of ``node`` are computed from; a type only names some."""
    found: set[Symbol] = set()
    for value in node.attrs.values():
        if isinstance(value, tuple | Dim):
            found |= symbols_in(value)
    return found


def introduced(node: Apply) -> set[Symbol]:
    """The sizes that ``node`` finds: neither an operand nor an attribute knows them. (What is undefined has none, even
    where its type names some.)"""
    if node.op.name == "undef":
        return set()
    if finds_sizes(node):
        return symbols_in(node.type) - symbols_in(tuple([o.type for o in node.operands]))
    known = {s for o in node.operands for s in told_sizes(o.type)}
    known |= symbols_in(tuple([o.type for o in node.operands if isinstance(o.type, TupleType)]))  # `tuple_get`
    return set(told_sizes(node.type)) - known - sizes_in_attrs(node)


def _after_sizes(nodes: list[Apply], params: tuple[Param, ...]) -> list[Apply]:
    """``nodes`` in an order in which those whose attributes mention a size come after the one that finds it. (None
    finds what ``params`` tell: the type of a `cond` all of whose results are undefined only names it.)"""
    found: dict[Symbol, Apply] = {}
    told = {size for p in params for size in told_sizes(p.type)}
    for node in nodes:
        if finds_sizes(node):
            for size in introduced(node) - told:
                found.setdefault(size, node)
    if not found:
        return nodes
    order: list[Apply] = []
    done: set[Node] = set()
    begun: set[Node] = set()  # whose needs are being seen to; what only waits in `work` may be needed sooner
    inside = set(nodes)
    for root in nodes:
        work = [root]
        while work:
            node = work[-1]
            begun.add(node)
            needs = [o for o in node.operands if o in inside]
            needs += [found[s] for s in sizes_in_attrs(node) if s in found]
            waiting = [n for n in needs if n not in done and n not in begun]
            if waiting:
                work.extend(waiting)  # type: ignore[arg-type]
                continue
            work.pop()
            if node not in done:
                done.add(node)
                order.append(node)
    return order


SMALL = 64
"""Arrays up to this many elements are interned by content, larger ones by identity."""


class Context:
    """The intern table of one compilation: nodes, graphs and their origins live and die with it."""

    def __init__(self) -> None:
        self._table: dict[Any, Any] = {}
        self._serial = 0
        self._names: dict[str, int] = {}
        self._taken: set[str] = set()  # names of parameters and graphs, wherever they come from
        self.origins: dict[Node, tuple[Any, ...]] = {}
        self.variables: dict[Node, tuple[tuple[str, str], ...]] = {}
        """Functions of the user, and their variables that hold a value (debuggers show it under these names)."""
        self.iterations: dict[Node, tuple[tuple[Any, int, Any], ...]] = {}
        """Loops of the program around a node: what tells them apart; the iteration, as far as they were unrolled; and
        variables of these, (function, name, value) each, or ``None`` for what has stayed a loop."""
        self.overwritten: dict[int, set[int]] = {}
        """Tag of a captured op: which of its operands (and then results) the program later wrote to in place. Eager
        cannot use such values for a gradient, so neither may a derivative of this program."""
        self.writes = 0  # grows with what is in `overwritten`
        self.is_captured = False  # from a program that plain Python can run instead
        self.differentiated = 0  # how many graphs have been differentiated
        self.replayed: dict[int, int] = {}  # tags in derivatives -> tags of the captured ops that they repeat
        self.keys: dict[str, Any] = {}  # what printed text refers to by name: large arrays, opaque objects
        self.functions: dict[str, Graph] = {}  # what `call_named` calls
        self.memos: dict[object, dict[Any, Any]] = {}  # what parts of the compiler remember (`ir.memo`)

    def note_variable(self, node: Node, function: str, name: str) -> None:
        """A variable of a function of the user holds the value of ``node``."""
        known = self.variables.get(node, ())
        if (function, name) not in known:
            self.variables[node] = (*known, (function, name))

    def _number(self, node: Any) -> Any:
        self._serial += 1
        node.serial = self._serial
        node.context = self
        return node

    def fresh_name(self, prefix: str) -> str:
        """A graph or parameter name not used in this context yet: ``x``, ``x.1``, ``x.2``, ..."""
        while True:
            n = self._names.get(prefix, 0)
            self._names[prefix] = n + 1
            name = prefix if n == 0 else f"{prefix}.{n}"
            if name not in self._taken:
                return name

    def param(self, name: str, type: Type) -> Param:
        key = ("param", name, type)
        node = self._table.get(key)
        if node is None:
            node = Param()
            node.name, node.type = name, type
            self._taken.add(name)
            self._table[key] = self._number(node)
        return node

    def const(self, value: Any) -> Const:
        """A constant: ndarray, Python bool/int/float, or any other object (opaque)."""
        type_: Type
        if isinstance(value, np.ndarray):
            type_ = TensorType(dt.from_numpy(value.dtype), value.shape)
            key: Any = ("array", type_, value.tobytes()) if value.size <= SMALL else ("array-id", id(value))
        elif isinstance(value, bool | int | float):
            type_ = scalar_type(value)
            key = ("number", value_key(value))
        else:
            type_ = OBJECT
            key = ("object", id(value))
        node = self._table.get(key)
        if node is None:
            node = Const()
            if isinstance(value, np.ndarray) and value.size <= SMALL:
                value = np.array(value, order="C")
            node.value, node.type = value, type_
            self._table[key] = self._number(node)
        return node

    def apply(self, op: Op, operands: tuple[Node, ...], attrs: dict[str, Any], tag: int = 0) -> Apply:
        """The application of ``op``; its type is inferred, errors are those of ``op.infer``."""
        key = (op, operands, attrs_key(attrs), tag)
        node = self._table.get(key)
        if node is None:
            type_ = op.result_type(tuple([o.type for o in operands]), attrs)
            plain = (op, operands, attrs_key(attrs), tag)  # `result_type` may have changed NumPy's numbers to Python's
            if plain != key:
                return self.apply(op, operands, attrs, tag)
            node = Apply()
            node.op, node.operands, node.attrs, node.tag, node.type = op, operands, attrs, tag, type_
            self._table[key] = self._number(node)
        return node

    def variant(self, node: Apply, type: Type) -> Apply:
        """``node`` with other names for the sizes that it finds."""
        key = ("variant", node.op, node.operands, attrs_key(node.attrs), node.tag, type)
        found: Apply | None = self._table.get(key)
        if found is None:
            found = Apply()
            found.op, found.operands, found.attrs, found.tag, found.type = (
                node.op, node.operands, node.attrs, node.tag, type
            )  # fmt: skip
            self._table[key] = self._number(found)
        return found

    def named_graph(self, name: str, params: tuple[Param, ...], output: Node) -> Graph:
        """The graph with these parameters and output, called ``name`` or ``name.1``, ``name.2``, ...: names are unique
        in a context, and building equal content again gives the same graph."""
        found: Graph | None = self._table.get(("content", name, params, output))
        if found is None:
            found = self.graph(self.fresh_name(name), params, output)
            self._table["content", name, params, output] = found
        return found

    def graph(self, name: str, params: tuple[Param, ...], output: Node) -> Graph:
        key = ("graph", name, params, output)
        graph = self._table.get(key)
        if graph is None:
            self._taken.add(name)
            self._table[key] = graph = Graph(self, name, params, output)
        return graph
