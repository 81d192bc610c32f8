"""``python -m duograph opt``: passes on MindIR text, the tool behind the literate tests.

python -m duograph opt --list                                     the passes there are
python -m duograph opt graph.mindir                               parse, verify, print
python -m duograph opt - --passes drop_tags,simplify < graph.mindir
python -m duograph opt graph.mindir --passes simplify --style mindspore --each
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

from duograph.base.diagnostics import DuographError
from duograph.ir.node import Graph
from duograph.ir.parser import parse
from duograph.ir.printer import print_graph
from duograph.ir.verify import STAGES, verify
from duograph.passes.manager import PASSES, pass_named, run_pass
from duograph.passes.pipelines import CANONICALISE, OPTIMISE


def main(argv: Sequence[str]) -> int:
    """Runs one command line; returns the exit status: 0, or 1 for text that is no valid MindIR."""
    arguments = _parser().parse_args(argv)
    if arguments.list:
        print("\n".join([*PASSES, *_PIPELINES]))
        return 0
    if arguments.file is None:
        _parser().error("a file is needed ('-' for standard input)")
    text = sys.stdin.read() if arguments.file == "-" else Path(arguments.file).read_text(encoding="utf-8")
    try:
        graph = read(text, arguments.stage)
        for name in [n for n in arguments.passes.split(",") if n]:
            before, graph = graph, run_named(name.strip(), graph)
            if arguments.each and graph is not before:
                print(f"# after {name}\n{print_graph(graph, arguments.style)}")
    except (DuographError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    if not arguments.each:
        print(print_graph(graph, arguments.style), end="")
    return 0


_PIPELINES = {CANONICALISE.name: CANONICALISE, **{p.name: p for p in OPTIMISE.values()}}


def read(text: str, stage: str = "captured") -> Graph:
    """The verified first graph of ``text``; every op of the package is known."""
    declare_ops()
    graph = parse(text)
    verify(graph, stage, after="parsing")
    return graph


def run_named(name: str, graph: Graph) -> Graph:
    """``graph`` after the pass or pipeline called ``name``, verified."""
    graph = _PIPELINES[name].run(graph) if name in _PIPELINES else run_pass(pass_named(name), graph)
    verify(graph, after=f"pass {name}")
    return graph


def declare_ops() -> None:
    """Loads every module that declares ops."""
    for package in ("duograph.ops", "duograph.autodiff"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            importlib.import_module(f"{package}.{module.name}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m duograph opt", description="Run passes on MindIR text.")
    parser.add_argument("file", nargs="?", help="a file with MindIR text; '-' for standard input")
    parser.add_argument("--passes", default="", help="passes and pipelines, separated by commas")
    parser.add_argument("--style", default="mindir", choices=["mindir", "mindspore"], help="output syntax")
    parser.add_argument(
        "--stage", default="captured", choices=list(STAGES), help="the stage whose invariants the input satisfies"
    )
    parser.add_argument("--each", action="store_true", help="print after every pass that changed something")
    parser.add_argument("--list", action="store_true", help="list the passes")
    return parser
