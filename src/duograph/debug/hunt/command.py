"""``python -m duograph reduce``: makes a graph, or a call, that fails small, or replays its failure.

python -m duograph reduce FILE                   writes the smallest one that fails in the same way beside it
python -m duograph reduce FILE -o small.mindir
python -m duograph reduce --check FILE           says how it fails; the status is 1 if it does

A file of a call (``.py``) is a program, and is run; with a traceback only (``.txt``), the program that failed is.
"""

from __future__ import annotations

import argparse
import ast
import os
import shlex
import sys
from collections.abc import Sequence

from duograph.base.diagnostics import DuographError
from duograph.base.files import write_file
from duograph.ir.printer import print_graph
from duograph.ir.walk import count_nodes

from .calls import shrunk_program, why_the_call_fails
from .files import REPLAY, Case, quiet, read_case
from .replay import why_it_fails
from .shrink import shrunk

__all__ = ["main"]


def main(argv: Sequence[str]) -> int:
    """Runs one command line; returns the exit status: 1 if the graph fails and was only checked, 2 for bad input."""
    arguments = _parser().parse_args(argv)
    kind = os.path.splitext(arguments.file)[1]
    try:
        if kind in (".py", ".txt"):
            with open(arguments.file, encoding="utf-8") as file, quiet():
                text = file.read()
                return _call(arguments, text) if kind == ".py" else _program(arguments, text)
        case = read_case(arguments.file)
    except OSError as error:
        print(f"duograph reduce: {arguments.file} cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    except (DuographError, SyntaxError, ValueError) as error:
        print(f"duograph reduce: {arguments.file} is not a graph: {error}", file=sys.stderr)
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


def _call(arguments: argparse.Namespace, text: str) -> int:
    """Replays or reduces a call."""
    ast.parse(text)
    why = why_the_call_fails(text)
    if arguments.check or not why:
        print(f"it fails: {why}" if why else "it does not fail here")
        return int(bool(why))
    small = shrunk_program(text)
    out = arguments.output or f"{arguments.file.removesuffix('.py')}.small.py"
    write_file(
        out, f"# it fails: {why}\n# replay: python -m duograph reduce --check {shlex.quote(out)}\n{small}".encode()
    )
    print(small, end="")
    print(f"it fails: {why}")
    print(f"{_lines(text)} lines became {_lines(small)}: python -m duograph reduce --check {out}")
    return 0


def _lines(text: str) -> int:
    return sum(bool(line.strip()) and not line.startswith("#") for line in text.splitlines())


def _program(arguments: argparse.Namespace, text: str) -> int:
    """Says how to replay what only the program itself shows."""
    command = next((line.removeprefix(REPLAY) for line in text.splitlines() if line.startswith(REPLAY)), "")
    if not command:
        raise ValueError("it has no command")
    print(text, end="")
    print(f"the call cannot be separated from its program, so it was not reduced; to replay it: {command}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m duograph reduce", description="Minimize a failing graph or call.")
    parser.add_argument("file", help="a file written after an internal failure, or MindIR text")
    parser.add_argument("-o", "--output", help="where to write the minimized graph")
    parser.add_argument(
        "--check", action="store_true", help="only replay the failure; the exit status is 1 if it occurs"
    )
    return parser
