"""MindIR as text.

    graph @main(%x: f32[N,4], %w: f32[4,8]) -> f32[N,8] {
      %0 = matmul(%x, %w, transpose_a=false, transpose_b=false) : f32[N,8]     # net.py:12
      return %0
    }

The entry comes first, the graphs it refers to follow in order of first use. Operands are values of the graph,
constants (inline) and attributes; `op!7` is an application with tag 7 (`ir/node.py`); `dim N = [1, 8]` in front gives
the range of a symbolic dimension. Everything behind `#` is a comment: the source line. `ir/parser.py` reads this back
to the very same objects; `ir/text.py` has the words for values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from duograph.base.html import folded, text_block
from duograph.base.source import CalledSpan, Span
from duograph.core.dim import Dim, Symbol, by_name, symbols_of
from duograph.core.types import StackType, TensorType, TupleType

from .mindspore_style import mindspore_text
from .node import Apply, Const, Graph, Node
from .text import attr_text, const_text, name_text

_COMMENT_COLUMN = 72


def print_graph(
    graph: Graph, style: str = "mindir", origins: bool = True, notes: Mapping[Node, str] | None = None
) -> str:
    """``graph`` and everything it refers to, as text that ends in a newline.

    Args:
        graph: the entry.
        style: ``"mindir"``, which `parser.parse` reads, or ``"mindspore"``, the look of MindSpore's dumps.
        origins: whether to say in comments which source line a node stems from.
        notes: words to put under some nodes (the verifier's complaints).
    """
    if style == "mindspore":
        return mindspore_text(graph)
    if style != "mindir":
        raise ValueError(f"style must be 'mindir' or 'mindspore', got {style!r}")
    graphs = all_graphs(graph)
    names = unique_names(graphs)
    lines = [f"dim {s} = [{s.lo}, {s.hi}]" for s in _ranged_symbols(graphs)]
    for g in graphs:
        lines += _graph_lines(g, names, origins, notes or {})
    return "\n".join(lines) + "\n"


def _html(graph: Graph) -> str:
    """For notebooks: the text, which opens where it is long."""
    graphs = all_graphs(graph)
    count = sum(len(g.nodes) for g in graphs)
    note = f"{count} operations" + (f" in {len(graphs)} graphs" if len(graphs) > 1 else "")
    return folded(f"graph @{graph.name}", note, [text_block("", print_graph(graph))], is_open=count <= _SHORT)


_SHORT = 40
"""Operations of a graph whose text a notebook shows at once."""
Graph._repr_html_ = _html  # type: ignore[attr-defined]


def all_graphs(graph: Graph) -> list[Graph]:
    """``graph`` and all graphs it refers to, directly or not, each once, in order of first use."""
    found: dict[Graph, None] = {}
    work = [graph]
    while work:
        g = work.pop()
        if g not in found:
            found[g] = None
            work.extend(reversed(g.subgraphs))
    return list(found)


def unique_names(graphs: list[Graph]) -> dict[Graph, str]:
    """A printed name for each graph; a pass may have left several graphs with one name."""
    names: dict[Graph, str] = {}
    taken = {g.name for g in graphs}
    used: set[str] = set()
    for g in graphs:
        name, n = g.name, 0
        while name in used:
            n += 1
            name = f"{g.name}.v{n}"
            if name in taken:
                continue
        used.add(name)
        names[g] = name
    return names


def node_names(graph: Graph) -> dict[Node, str]:
    """The text of every value of ``graph`` as an operand."""
    names: dict[Node, str] = {p: f"%{name_text(p.name)}" for p in graph.params}
    for i, node in enumerate(graph.nodes):
        names[node] = f"%{i}"
    return names


def origin_text(node: Node) -> str:
    """The user's lines that a node stems from, innermost last; of code of this package also the layer."""
    found = dict.fromkeys(map(place_text, node.context.origins.get(node, ())))
    return ", ".join(found)


def place_text(span: Span) -> str:
    """``net.py:12``; of code of this package the user's line that led to it and the layer, where they are known:
    ``net.py:12 in Net.fc (Dense)``."""
    users = span.users
    place = f"{users.file.rpartition('/')[2]}:{users.line}"
    layer = span.layer if isinstance(span, CalledSpan) and span.caller is not None else ""
    return f"{place} in {layer}" if layer else place


def _graph_lines(
    graph: Graph, graph_names: dict[Graph, str], origins: bool, notes: Mapping[Node, str]
) -> Iterator[str]:
    names = node_names(graph)

    def operand(node: Node) -> str:
        return const_text(node) if isinstance(node, Const) else names.get(node, f"<free {node!r}>")

    def graph_name(g: Graph) -> str:
        return name_text(graph_names.get(g, g.name))

    params = ", ".join([f"{names[p]}: {p.type}" for p in graph.params])
    yield f"graph @{graph_name(graph)}({params}) -> {graph.output.type} {{"
    for node in graph.nodes:
        parts = [operand(o) for o in node.operands]
        parts += [f"{k}={attr_text(v, node.context, graph_name)}" for k, v in node.attrs.items()]
        tag = f"!{node.tag}" if node.tag else ""
        line = f"  {names[node]} = {node.op.name}{tag}({', '.join(parts)}) : {node.type}"
        comment = origin_text(node) if origins else ""
        yield f"{line:<{_COMMENT_COLUMN}}  # {comment}" if comment else line
        if node in notes:
            yield f"  #{'^' * (len(line) - 3)}"
            yield from (f"  # {text}" for text in notes[node].splitlines())
    yield f"  return {operand(graph.output)}"
    yield "}"


# ---- symbolic dimensions --------------------------------------------------------------------------------------------


def _ranged_symbols(graphs: list[Graph]) -> list[Symbol]:
    """Symbols whose range is not the usual one, sorted by name."""
    found: set[Symbol] = set()
    for g in graphs:
        for node in (*g.params, *g.nodes):
            _collect(node.type, found)
            if isinstance(node, Apply):
                _collect(tuple(node.attrs.values()), found)
    return sorted([s for s in found if s is not Symbol(s.name)], key=by_name)


def _collect(value: Any, found: set[Symbol]) -> None:
    if isinstance(value, Dim):
        found.update(symbols_of(value))
    elif isinstance(value, tuple):
        for v in value:
            _collect(v, found)
    elif isinstance(value, TensorType):
        _collect(value.shape, found)
    elif isinstance(value, TupleType):
        _collect(value.items, found)
    elif isinstance(value, StackType):
        _collect(value.item, found)
