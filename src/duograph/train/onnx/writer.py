"""From MindIR to an ONNX graph: names, sizes and control flow; the operators are in the files that `export.py` imports.

One node of MindIR becomes one or more of ONNX. Python numbers that are only known at run time are tensors without
dimensions (int64, float64, bool). A size that is not known is computed where it is needed, from the shape of a value
that has it. Closed graphs of branches and loops become subgraphs of ``If`` and ``Loop``, which see the names outside.
What only an exception depends on (``anchor``) is left out: ONNX has no exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from duograph.core.dim import Atom, Dim, Sum, Symbol
from duograph.core.types import ScalarType, TensorType, TupleType, Type
from duograph.ir.control import anchor as anchor_op
from duograph.ir.control import call, cond, custom_vjp, make_tuple, scan, sized, tuple_get, undef, while_loop
from duograph.ir.node import Apply, Const, Graph, Node

from .schema import DTYPES, message, set_attribute

__all__ = ["NoForm", "Writer", "dtype_of"]

_SCALARS = {"bool": np.bool_, "int": np.int64, "float": np.float64}
Value = Any  # a name, or a list of them for a tuple


class NoForm(Exception):
    """What cannot be said in ONNX, and the node that would say it."""

    def __init__(self, what: str, node: Node | None = None) -> None:
        super().__init__(what)
        self.what, self.node = what, node


def dtype_of(kind: Type) -> Any:
    """NumPy's dtype of a tensor or number.

    Raises:
        NoForm: it is neither.
    """
    if isinstance(kind, ScalarType):
        return np.dtype(_SCALARS[kind.kind])
    if isinstance(kind, TensorType):
        dtype = np.dtype(kind.dtype.numpy)
        if dtype.type in DTYPES:
            return dtype
    raise NoForm(f"it has a value of the type {kind}")


class Writer:
    """Writes nodes into a graph, and into those of branches and loops.

    Attributes:
        nodes: the nodes that were written, of the innermost graph.
        initializers: arrays by name, of the outermost graph.
    """

    def __init__(self, operators: dict[str, Any]) -> None:
        self.operators = operators
        self.nodes: list[Any] = []
        self.initializers: dict[str, np.ndarray] = {}
        self.sizes: dict[Symbol, tuple[str, int]] = {}
        self._names: dict[str, int] = {}
        self._constants: dict[Any, str] = {}

    # -- parts ----------------------------------------------------------------------------------------------------

    def name(self, stem: str) -> str:
        """A new name."""
        name = stem
        while name in self._names:
            self._names[stem] = self._names.get(stem, 0) + 1
            name = f"{stem}_{self._names[stem]}"
        self._names[name] = 0
        return name

    def op(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """The name of the result of a new node, or a list of names."""
        node = message("NodeProto")
        node.op_type = kind
        node.input.extend(inputs)
        names = [self.name(kind.lower()) for _ in range(outputs)]
        node.output.extend(names)
        node.name = names[0]
        for key, value in attributes.items():
            set_attribute(node, key, value)
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def constant(self, value: Any, dtype: Any = None) -> str:
        """The name of an array."""
        array = np.ascontiguousarray(np.asarray(value, dtype)).reshape(np.shape(value))
        key: Any = array.dtype, array.shape, array.tobytes()
        if array.nbytes > 1024:
            key = len(self._constants)  # large ones are not compared
        if key not in self._constants:
            name = self._constants[key] = self.name("constant")
            self.initializers[name] = array
        return self._constants[key]

    def ints(self, *values: int) -> str:
        """A list of int64."""
        return self.constant(np.array(values, np.int64))

    def cast(self, name: str, dtype: Any) -> str:
        """A value as another dtype."""
        return self.op("Cast", name, to=DTYPES[np.dtype(dtype).type])

    # -- sizes ----------------------------------------------------------------------------------------------------

    def know(self, name: str, kind: Type) -> None:
        """Takes down which sizes can be found from a value."""
        if isinstance(kind, TensorType):
            for axis, size in enumerate(kind.shape):
                if isinstance(size, Symbol):
                    self.sizes.setdefault(size, (name, axis))

    def size(self, size: Any) -> str:
        """A size, as an int64 without dimensions.

        Raises:
            NoForm: it is the size of no value that there is.
        """
        if isinstance(size, int):
            return self.constant(np.int64(size))
        if isinstance(size, Symbol):
            if size not in self.sizes:
                raise NoForm(f"the size {size} is that of no tensor")
            name, axis = self.sizes[size]
            return self.op("Gather", self.op("Shape", name), self.constant(np.int64(axis)), axis=0)
        if isinstance(size, Atom):
            parts = [self.size(part) for part in size.args]
            if size.op == "//":
                return self.floor_div(parts[0], parts[1])
            return self.op({"%": "Mod", "min": "Min", "max": "Max"}[size.op], *parts)
        assert isinstance(size, Sum)
        total = self.constant(np.int64(size.const))
        for factors, coefficient in size.terms:
            product = self.constant(np.int64(coefficient))
            for factor in factors:
                product = self.op("Mul", product, self.size(factor))
            total = self.op("Add", total, product)
        return total

    def floor_div(self, a: str, b: str) -> str:
        """Of integers: rounded down."""
        return self.op("Div", self.op("Sub", a, self.op("Mod", a, b)), b)

    def shape(self, shape: Sequence[Any]) -> str:
        """Sizes as a list of int64."""
        if all(isinstance(n, int) for n in shape):
            return self.ints(*shape)
        one = self.ints(1)
        return self.op("Concat", *(self.op("Reshape", self.size(n), one) for n in shape), axis=0)

    def reshape(self, name: str, shape: Sequence[Any]) -> str:
        """A value in another shape."""
        open_ = [i for i, n in enumerate(shape) if not isinstance(n, int)]
        if len(open_) == 1 and all(n > 0 for i, n in enumerate(shape) if i not in open_):
            return self.op("Reshape", name, self.ints(*(-1 if i in open_ else n for i, n in enumerate(shape))))
        return self.op("Reshape", name, self.shape(shape), allowzero=1)

    # -- graphs ---------------------------------------------------------------------------------------------------

    def values(self, graph: Graph, given: Iterable[Value], wanted: Iterable[Node]) -> list[Value]:
        """The values of some nodes of a graph, which gets ``given``."""
        found: dict[Node, Value] = dict(zip(graph.params, given, strict=True))
        for param, name in found.items():
            if isinstance(name, str):
                self.know(name, param.type)
        targets = list(wanted)
        needed, items = _needed(targets)
        inside = set(graph.nodes)
        views = sorted(needed - inside, key=lambda node: node.serial)  # of results, made outside of the graph
        for node in (*graph.nodes, *views):
            if node in needed:
                inputs = [self.value(x, found) for x in _operands(node)]
                try:
                    found[node] = self.apply(node, inputs, items.get(node))
                except NoForm as reason:
                    reason.node = reason.node or node
                    raise
                if isinstance(found[node], str):
                    self.know(found[node], node.type)
                elif isinstance(node.type, TupleType):
                    for name, kind in zip(found[node], node.type.items, strict=True):
                        if isinstance(name, str):
                            self.know(name, kind)
        return [self.value(node, found) for node in targets]

    def value(self, node: Node, found: dict[Node, Value]) -> Value:
        """The name of a node's value."""
        if isinstance(node, Const):
            if isinstance(node.type, TensorType | ScalarType):
                return self.constant(node.value, dtype_of(node.type))
            return None  # of a type that nothing can take; whoever needs it fails
        return found[node]

    def apply(self, node: Apply, inputs: list[Value], items: set[int] | None) -> Value:
        """The value of a node. ``items``: which results are asked for, of one that has several (None: all)."""
        op, attrs = node.op, node.attrs
        if op is make_tuple:
            return inputs
        if op is tuple_get:
            if inputs[0][attrs["index"]] is None:
                raise NoForm(f"result {attrs['index']} of {node.operands[0].op.name} has none")  # type: ignore[attr-defined]
            return inputs[0][attrs["index"]]
        if op is anchor_op or op is sized:
            return inputs[0]
        if op is undef:
            return self._undefined(node.type)
        if op is call or op is custom_vjp:
            graph = attrs["graph" if op is call else "forward"]
            return self.values(graph, inputs, [graph.output])[0]
        if op is cond:
            return self._cond(node, inputs, items)
        if op is while_loop:
            return self._loop(inputs, attrs, None)
        if op is scan:
            return self._loop(inputs[1:], attrs, inputs[0])
        write = self.operators.get(op.name)
        if write is None:
            return self._folded(node)
        return write(self, node, *inputs, **attrs)

    def _folded(self, node: Apply) -> str:
        """The value of an operator of numbers that are known."""
        known = all(isinstance(x, Const) for x in node.operands) and not _has_sizes(node.attrs)
        if not known or not isinstance(node.type, TensorType) or node.op.effects or node.op.structured:
            raise NoForm("it has no ONNX form")
        return self.constant(node.op.reference(*(x.value for x in node.operands), **node.attrs))  # type: ignore[attr-defined]

    def _undefined(self, kind: Type) -> Value:
        """Any value of a type: nobody reads it."""
        if isinstance(kind, TupleType):
            return [self._undefined(item) for item in kind.items]
        shape = [n if isinstance(n, int) else 0 for n in getattr(kind, "shape", ())]
        return self.constant(np.zeros(shape, dtype_of(kind)))

    # -- control flow ---------------------------------------------------------------------------------------------

    def _inside(self, write: Any) -> tuple[list[Any], Any]:
        """The nodes that ``write`` makes, for a subgraph, and what it gives."""
        nodes, sizes, self.nodes = self.nodes, dict(self.sizes), []
        try:
            return self.nodes, write()
        finally:
            self.nodes, self.sizes = nodes, sizes

    def _subgraph(self, nodes: list[Any], inputs: list[tuple[str, Type]], outputs: list[tuple[str, Type]]) -> Any:
        graph = message("GraphProto")
        graph.name = self.name("graph")
        graph.node.extend(nodes)
        for entries, field in ((inputs, graph.input), (outputs, graph.output)):
            for name, kind in entries:
                info = field.add(name=name)
                info.type.tensor_type.elem_type = DTYPES[dtype_of(kind).type]
                info.type.tensor_type.shape.SetInParent()
                shape = getattr(kind, "shape", ())
                for size in shape:
                    dimension = info.type.tensor_type.shape.dim.add()
                    if isinstance(size, int):
                        dimension.dim_value = size
        return graph

    def _cond(self, node: Apply, inputs: list[Value], items: set[int] | None) -> list[Value]:
        kind = node.type
        assert isinstance(kind, TupleType)
        wanted = sorted(items) if items is not None else list(range(len(kind.items)))
        graphs = {}
        for word, graph in (("then_branch", node.attrs["then"]), ("else_branch", node.attrs["orelse"])):

            def branch(graph: Graph = graph) -> list[str]:
                results = [_item(graph.output, i) for i in wanted]
                return [self.op("Identity", name) for name in self.values(graph, inputs[1:], results)]

            nodes, names = self._inside(branch)
            graphs[word] = self._subgraph(nodes, [], [(name, kind.items[i]) for name, i in zip(names, wanted)])
        found = self.op("If", inputs[0], outputs=len(wanted), **graphs)
        results: list[Value] = [None] * len(kind.items)
        for i, name in zip(wanted, [found] if len(wanted) == 1 else found):
            results[i] = name
        return results

    def _loop(self, operands: list[Value], attrs: dict[str, Any], count: str | None) -> list[Value]:
        """A loop of ``count`` rounds, or while a condition holds."""
        body, test, number = attrs["body"], attrs.get("cond"), attrs["n_carry"]
        carry, rest = operands[:number], operands[number:]
        params = body.params[(count is not None) :][:number]
        start = self.values(test, operands, [test.output])[0] if test is not None else self.constant(np.bool_(True))
        round_, going = self.name("iteration"), self.name("condition")
        names = [self.name("carry") for _ in carry]

        def once() -> list[str]:
            given = [*names, *rest] if count is None else [round_, *names, *rest]
            after = self.values(body, given, [_item(body.output, i) for i in range(number)])
            on = self.values(test, [*after, *rest], [test.output])[0] if test is not None else going
            return [self.op("Identity", name) for name in (on, *after)]

        nodes, results = self._inside(once)
        truth = ScalarType("bool")
        entries = [(round_, ScalarType("int")), (going, truth), *((n, p.type) for n, p in zip(names, params))]
        outputs = [(results[0], truth), *((n, p.type) for n, p in zip(results[1:], params))]
        graph = self._subgraph(nodes, entries, outputs)
        found = self.op("Loop", count or "", start, *carry, outputs=max(number, 1), body=graph)
        return [found] if number == 1 else found


def _item(output: Node, index: int) -> Node:
    """One of the nodes that a graph gives."""
    while isinstance(output, Apply) and output.op in (anchor_op, sized):
        output = output.operands[0]
    if isinstance(output, Apply) and output.op is make_tuple:
        return output.operands[index]
    return output.context.apply(tuple_get, (output,), {"index": index})


def _operands(node: Apply) -> tuple[Node, ...]:
    """The operands whose values a node needs."""
    return node.operands[:1] if node.op is anchor_op else node.operands


def _needed(wanted: list[Node]) -> tuple[set[Apply], dict[Node, set[int]]]:
    """All nodes that some need, and of those with several results, which; a node that is asked for whole is missing."""
    found: set[Apply] = set()
    items: dict[Node, set[int]] = {}
    whole: set[Node] = set(wanted)
    work = list(wanted)
    while work:
        node = work.pop()
        if node in found or not isinstance(node, Apply):
            continue
        found.add(node)
        for operand in _operands(node):
            if node.op is tuple_get:
                items.setdefault(operand, set()).add(node.attrs["index"])
            else:
                whole.add(operand)
            work.append(operand)
    return found, {node: indices for node, indices in items.items() if node not in whole}


def _has_sizes(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_sizes, value.values()))
    if isinstance(value, tuple | list):
        return any(map(_has_sizes, value))
    return isinstance(value, Dim)
