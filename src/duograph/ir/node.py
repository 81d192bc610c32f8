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
from duograph.core.op import Op, attrs_key, value_key
from duograph.core.types import OBJECT, TensorType, Type, scalar_type


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


class Graph:
    """A closed graph. Made by `Context.graph`; equal graphs of one context are the same object."""

    __slots__ = ("_nodes", "_plan", "context", "name", "output", "params")

    def __init__(self, context: Context, name: str, params: tuple[Param, ...], output: Node) -> None:
        self.context, self.name, self.params, self.output = context, name, params, output
        self._nodes: tuple[Apply, ...] | None = None
        self._plan: Any = None  # how the interpreter runs this graph, made at its first run

    @property
    def nodes(self) -> tuple[Apply, ...]:
        """All applications, operands before users, in program order."""
        if self._nodes is None:
            seen: set[Node] = set()
            found: list[Apply] = []
            work = [self.output]
            while work:
                node = work.pop()
                if node in seen:
                    continue
                seen.add(node)
                if isinstance(node, Apply):
                    found.append(node)
                    work.extend(node.operands)
            self._nodes = tuple(sorted(found, key=lambda n: n.serial))
        return self._nodes

    @property
    def subgraphs(self) -> tuple[Graph, ...]:
        """Graphs that nodes of this graph refer to, in order of first use, without repetition."""
        found: dict[Graph, None] = {}
        for node in self.nodes:
            for value in node.attrs.values():
                if isinstance(value, Graph):
                    found[value] = None
        return tuple(found)

    def __repr__(self) -> str:
        return f"<graph @{self.name}({', '.join(map(repr, self.params))}) -> {self.output.type}>"


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
        self.overwritten: dict[int, set[int]] = {}
        """Tag of a captured op: which of its operands (and then results) the program later wrote to in place. Eager
        cannot use such values for a gradient, so neither may a derivative of this program."""
        self.keys: dict[str, Any] = {}  # what printed text refers to by name: large arrays, opaque objects
        self.functions: dict[str, Graph] = {}  # what `call_named` calls

    def _number(self, node: Any) -> Any:
        self._serial += 1
        node.serial = self._serial
        node.context = self
        return node

    @property
    def last_serial(self) -> int:
        """The serial of the node that was made last."""
        return self._serial

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
            node = Apply()
            node.op, node.operands, node.attrs, node.tag, node.type = op, operands, attrs, tag, type_
            self._table[key] = self._number(node)
        return node

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
