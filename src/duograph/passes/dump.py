"""Graphs as numbered text files, in the manner of MindSpore's ``MS_DEV_SAVE_GRAPHS``.

    <path>/00_bootstrap_0001.ir, <path>/01_canonicalise_tags_0002.ir, ...

Level 1 writes the ends of stages, level 2 every pass that changed something, level 3 also a ``.dot`` beside each. The
level, the folder and the look (``mindir``, which can be parsed, or ``mindspore``) are switches (``save_graphs``,
``save_graphs_path``, ``dump_style``; `DUOGRAPH_DUMP=pass` is level 2), read when a compilation starts, so that they can
be changed while the program runs::

    with configure(save_graphs=2, save_graphs_path="/tmp/ir"): ...

Without a folder of its own the files go to ``rank_0/ir`` below the working directory. What cannot be written (a full
disk) is said in the log, and the rest of that compilation is not written either.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

from duograph.base.config import config
from duograph.base.events import emit
from duograph.base.files import write_file
from duograph.ir.node import Const, Graph, Node
from duograph.ir.printer import all_graphs, origin_text, print_graph, unique_names
from duograph.ir.walk import count_ops

_serial = itertools.count(1)


class Dumper:
    """Writes the graphs of one compilation. ``style``: as for `print_graph`; default: the switch ``dump_style``."""

    def __init__(self, level: int | None = None, folder: str | Path | None = None, style: str | None = None) -> None:
        switches = config()
        asked = max(switches.save_graphs, 0 if switches.dump == "off" else 2)
        self.level = asked if level is None else level
        place = switches.save_graphs_path if folder is None else folder
        self.folder = Path("rank_0") / "ir" if str(place) in (".", "") else Path(place)
        self.style = switches.dump_style if style is None else style
        self._step = itertools.count(0)
        self._given_up = False

    def stage(self, name: str, graph: Graph) -> Path | None:
        """Writes ``graph`` as it is at the end of a stage; listeners hear of it at any level."""
        emit("graph", stage=name, graph=graph)
        return self._write(name, graph) if self.level >= 1 else None

    def write(self, name: str, graph: Graph) -> Path | None:
        """Writes ``graph`` as a pass has left it."""
        return self._write(name, graph) if self.level >= 2 else None

    def _write(self, name: str, graph: Graph) -> Path | None:
        if self._given_up:
            return None
        safe = "".join(c if c.isalnum() or c in "_.-" else "_" for c in name)
        path = self.folder / f"{next(self._step):02}_{safe}_{next(_serial):04}.ir"
        text = print_graph(graph, self.style)  # in MindSpore's look it has a header of its own
        try:
            write_file(path, (header(graph) + text if self.style == "mindir" else text).encode())
            if self.level >= 3:
                write_file(path.with_suffix(".dot"), dot(graph).encode())
        except OSError as error:  # a full disk: the program compiles and runs all the same
            self._given_up = True
            emit("graphs not written", path=str(path), reason=str(error))
            logging.getLogger("duograph").warning("the graphs of @%s are not written: %s", graph.name, error)
            return None
        return path


def header(graph: Graph) -> str:
    """What the graph consists of, as comments."""
    graphs = all_graphs(graph)
    counts = count_ops(graph)
    lines = [
        f"# IR entry: @{graph.name}",
        f"# Total subgraphs: {len(graphs)}",
        f"# Total params: {len(graph.params)}",
        "# Params:",
        *[f"#   %{p.name}: {p.type}" for p in graph.params],
        f"# Total nodes: {sum(counts.values())}",
        *[f"#   {op.name}: {n}" for op, n in sorted(counts.items(), key=lambda item: (-item[1], item[0].name))],
    ]
    return "\n".join(lines) + "\n\n"


def dot(graph: Graph) -> str:
    """The graph for Graphviz, one cluster per sub-graph."""
    graphs = all_graphs(graph)
    names = unique_names(graphs)
    lines = ["digraph {", "  node [shape=box, fontname=monospace];"]
    for i, g in enumerate(graphs):
        lines += [f"  subgraph cluster_{i} {{", f"    label={_quoted('@' + names[g])};", *_dot_nodes(i, g), "  }"]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_nodes(number: int, graph: Graph) -> Iterator[str]:
    def key(node: Node) -> str:
        return f"n{number}_{node.serial}"

    for p in graph.params:
        yield f"    {key(p)} [label={_quoted(f'%{p.name}: {p.type}')}, style=rounded];"
    for node in graph.nodes:
        where = origin_text(node)
        yield f"    {key(node)} [label={_quoted(f'{node.op.name}: {node.type}' + (f' ({where})' if where else ''))}];"
        for operand in node.operands:
            if not isinstance(operand, Const):
                yield f"    {key(operand)} -> {key(node)};"
    yield f"    out{number} [label=return];"
    if not isinstance(graph.output, Const):
        yield f"    {key(graph.output)} -> out{number};"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
