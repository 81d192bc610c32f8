"""MindIR in the look of MindSpore's dumps, for eyes (and tests) that know those.

    subgraph @main() {
      %0(out) = Add(%para1_x, %para2_y)
          : (<Tensor[Float32], (2, 3)>, <Tensor[Float32], (2, 3)>) -> (<Tensor[Float32], (2, 3)>)
      Return(%0)
          : (<Tensor[Float32], (2, 3)>)
    }

For reading only: `ir/printer.py` has the form that can be parsed.
"""

from __future__ import annotations

from collections.abc import Iterator

from duograph.core.types import ObjectType, ScalarType, StackType, TensorType, TokenType, TupleType, Type

from .node import Apply, Const, Graph, Node
from .text import attr_text, const_text

_NAMES = {
    "make_tuple": "MakeTuple", "tuple_get": "TupleGetItem", "while_loop": "While", "scan": "Scan", "cond": "If",
    "call": "Call", "py_call": "PyExecute", "py_effect": "PyExecute", "reduce_sum": "ReduceSum", "matmul": "MatMul",
    "relu": "ReLU", "softmax": "Softmax",
}  # fmt: skip


def mindspore_text(graph: Graph) -> str:
    """``graph`` and all it refers to in MindSpore's look."""
    graphs: dict[Graph, None] = {}
    work = [graph]
    while work:
        g = work.pop()
        if g not in graphs:
            graphs[g] = None
            work.extend(reversed(g.subgraphs))
    every = dict.fromkeys(p for g in graphs for p in g.params)
    params: dict[Node, str] = {p: f"%para{i}_{p.name}" for i, p in enumerate(every, 1)}
    lines = [f"# IR entry: @{graph.name}", f"# Total subgraphs: {len(graphs)}", f"# Total params: {len(graph.params)}"]
    lines.append("# Params:")
    lines += [f"{params[p]}: {type_text(p.type)} : []" for p in graph.params]
    for g in graphs:
        own = "" if g is graph else ", ".join([params[p] for p in g.params])
        lines += ["", f"subgraph instance: {g.name}", f"subgraph @{g.name}({own}) {{", *_body(g, dict(params)), "}"]
    return "\n".join(lines) + "\n"


def type_text(type: Type) -> str:
    """A type as MindSpore writes it."""
    match type:
        case TensorType(dtype, shape):
            inner = ", ".join(map(str, shape))
            return f"<Tensor[{dtype}], ({inner + ',' if len(shape) == 1 else inner})>"
        case ScalarType(kind):
            return {"bool": "<Bool, NoShape>", "int": "<Int64, NoShape>", "float": "<Float32, NoShape>"}[kind]
        case TupleType(items):
            return f"<Tuple[{', '.join(type_text(t) for t in items)}]>"
        case StackType(item):
            return f"<List[{type_text(item)}]>"
        case TokenType():
            return "<UMonad, NoShape>"
        case ObjectType():
            return "<Any, NoShape>"
    return f"<{type}>"


def op_text(name: str) -> str:
    """``reduce_max`` is ``ReduceMax``."""
    return _NAMES.get(name) or "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _body(graph: Graph, names: dict[Node, str]) -> Iterator[str]:
    def operand(node: Node) -> str:
        return const_text(node) if isinstance(node, Const) else names[node]

    for i, node in enumerate(graph.nodes):
        names[node] = f"%{i}"
        operands = ", ".join(map(operand, node.operands))
        yield f"  %{i}({_variable(node)}) = {op_text(node.op.name)}({operands}){_attrs(node)}"
        types = ", ".join([type_text(o.type) for o in node.operands])
        yield f"      : ({types}) -> ({type_text(node.type)})"
        for span in node.context.origins.get(node, ()):
            yield f"      # In file {span.users.file}:{span.users.line}"
    yield f"  Return({operand(graph.output)})"
    yield f"      : ({type_text(graph.output.type)})"


def _variable(node: Apply) -> str:
    return "out" if not node.tag else f"out{node.tag}"


def _attrs(node: Apply) -> str:
    if not node.attrs:
        return ""
    return f" primitive_attrs: {{{', '.join(f'{k}: {attr_text(v, node.context)}' for k, v in node.attrs.items())}}}"
