"""``python -m duograph reduce``: makes a graph that fails small, or replays its failure.

python -m duograph reduce FILE                   writes the smallest graph that fails in the same way beside it
python -m duograph reduce FILE -o small.mindir
python -m duograph reduce --check FILE           says how the graph fails; the status is 1 if it does
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from duograph.base.diagnostics import DuographError
from duograph.base.files import write_file
from duograph.ir.printer import print_graph
from duograph.ir.walk import count_nodes

from .files import Case, read_case
from .replay import why_it_fails
from .shrink import shrunk

__all__ = ["main"]


def main(argv: Sequence[str]) -> int:
    """Runs one command line; returns the exit status: 1 if the graph fails and was only checked, 2 for bad input."""
    arguments = _parser().parse_args(argv)
    try:
        case = read_case(arguments.file)
    except (DuographError, OSError, SyntaxError, ValueError) as error:
        print(f"duograph reduce: {arguments.file} is no graph: {error}", file=sys.stderr)
        return 2
    why = why_it_fails(case.graph, case.level, case.values)
    if arguments.check or not why:
        print(f"it fails: {why}" if why else "it does not fail here")
        return int(bool(why))
    graph, values = shrunk(case.graph, case.level, case.values)
    out = arguments.output or f"{arguments.file.removesuffix('.mindir')}.small.mindir"
    write_file(out, Case(graph, case.level, values, case.said or why).text(out).encode())
    print(print_graph(graph), end="")
    print(f"it fails: {why}")
    print(f"{count_nodes(case.graph)} nodes became {count_nodes(graph)}: python -m duograph reduce --check {out}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="duograph reduce", description="Make a graph that fails small.")
    parser.add_argument("file", help="a file of an internal failure, or MindIR text")
    parser.add_argument("-o", "--output", help="where to write the small graph")
    parser.add_argument("--check", action="store_true", help="only say how the graph fails")
    return parser
