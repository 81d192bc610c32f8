"""``scripts/fuzz programs``, ``arguments``, ``mutants``, ``surface``, ``graphs``, ``run FILE``."""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

from duograph.base.config import set_config

from . import arguments, farm, mutants, relatives, surface


def graphs(first: int, seconds: float) -> int:
    """Random graphs as machine code against the loop IR interpreter and NumPy, until the time is over."""
    from tests.properties.native_graphs import check

    end, seed, failed = time.monotonic() + seconds, first, 0
    while time.monotonic() < end:
        try:
            check(seed)
        except Exception as error:  # noqa: BLE001 - whatever is raised is a finding
            failed += 1
            print(f"==== seed {seed}: {type(error).__name__}: {error}\n", flush=True)
        seed += 1
    print(f"{seed - first} graphs, {failed} differ")
    return failed


def run_file(path: Path, modes: list[str]) -> int:
    """One program in all modes."""
    from .observe import check

    failed = 0
    for mode in modes:
        found, _ = check(path.read_text(encoding="utf-8"), [mode])
        print(f"{mode}: {found or 'as eager mode'}")
        failed += found is not None
    return failed


def shrink_file(path: Path, modes: list[str], most: int) -> None:
    """Prints what differs, and a small program."""
    from .shrink import shrink, verdict

    resource.setrlimit(resource.RLIMIT_AS, (farm.MEMORY, farm.MEMORY))
    source = path.read_text(encoding="utf-8")
    found = verdict(source, modes)
    if found is None:
        print("(does not fail in a fresh process)")
        print(source)
        return
    source, found = shrink(source, found, modes, most)
    print(str(found).replace("\n", " "))
    print(source)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("programs", help="random programs in all modes")
    one.add_argument("--first", type=int, default=0, help="seed of the first program")
    one.add_argument("--count", type=int, default=10**9)
    one.add_argument("--seconds", type=float, default=60)
    one.add_argument("--jobs", type=int, default=1)
    one.add_argument("--python", default=sys.executable, help="the interpreter of the workers")
    one.add_argument("--out", type=Path, default=Path("/tmp/fuzz"), help="folder for failing programs")
    one.add_argument("--modes", default="turns", help="'turns' (jit and one other), 'all', or names with commas")
    one.add_argument("--ignore", action="append", default=[], help="pattern of findings that are known")
    one.add_argument("--shrink", type=int, default=3, help="how many findings of a class are made small")
    one.add_argument("--effort", type=int, default=300, help="candidates that are tried to make one finding small")
    one.add_argument("--reasons", type=int, default=15, help="how many reasons of not capturing are listed")
    other = commands.add_parser("graphs", help="random graphs as machine code")
    other.add_argument("--first", type=int, default=0)
    other.add_argument("--seconds", type=float, default=60)
    for name, examine, what in (
        ("arguments", arguments.examine, "conformance programs with other arguments"),
        ("mutants", mutants.examine, "conformance programs with other statements"),
        ("surface", surface.examine, "the calls that are compared with MindSpore"),
    ):
        derived = commands.add_parser(name, help=what)
        derived.add_argument("--first", type=int, default=0, help="seed of the first program")
        derived.add_argument("--seconds", type=float, default=60)
        derived.add_argument("--python", default=sys.executable, help="the interpreter of the workers")
        part = commands.add_parser(f"{name}-worker", help=f"serves `{name}`")
        part.add_argument("first", type=int)
        part.add_argument("count", type=int)
        part.set_defaults(examine=examine)
    again = commands.add_parser("run", help="one program in all modes")
    again.add_argument("file", type=Path)
    again.add_argument("--modes", default="jit,O0,bytecode,trace,interpreter,graph")
    smaller = commands.add_parser("shrink", help="makes one program small")
    smaller.add_argument("file", type=Path)
    smaller.add_argument("--modes", default="jit,O0,bytecode,trace,interpreter,graph")
    smaller.add_argument("--effort", type=int, default=400, help="candidates that are tried")
    written = commands.add_parser("show", help="prints the program of a seed")
    written.add_argument("seed", type=int)
    commands.add_parser("worker", help="serves `programs`")
    options = parser.parse_args()
    set_config(failures="answer", compare=False)  # as users have it, but compiled; what has failed is a finding
    match options.command:
        case "programs":
            return int(farm.programs(options) > 0)
        case "graphs":
            return int(graphs(options.first, options.seconds) > 0)
        case "arguments" | "mutants" | "surface":
            return int(relatives.batches(options) > 0)
        case "arguments-worker" | "mutants-worker" | "surface-worker":
            relatives.worker(options.first, options.count, options.examine)
        case "run":
            return int(run_file(options.file, options.modes.split(",")) > 0)
        case "shrink":
            shrink_file(options.file, options.modes.split(","), options.effort)
        case "show":
            from .writer import generate

            print(generate(options.seed))
        case "worker":
            farm.worker()
    return 0


if __name__ == "__main__":
    sys.exit(main())
