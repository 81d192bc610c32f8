"""Lists and runs the benchmarks: `python -m bench [--rounds N] [--peer NAME=PYTHON] [--report] NAME...`, or `all`.

A benchmark is a module of this folder with a docstring, whose first line is its title, and a function
`cases() -> dict[str, Callable[[], float]]`: each case measures once and returns seconds. The runner interleaves the
rounds of all cases, so that a slow moment of the machine hits all of them, and prints medians, and ratios to the first
case of the group (of ``mlp: jit`` the group is ``mlp``). Peers (torch, jax, mindspore) take part in the same rounds,
each in its own interpreter (``_peers.py``), for benchmarks that have ``peer_cases(package)``. ``--report`` also writes
the tables to ``docs/benchmarks.md`` and their summary into the README, always of all benchmarks shown there.
"""

from __future__ import annotations

import argparse
import datetime as dt
import importlib
import importlib.metadata
import os
import pkgutil
import platform
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from bench._peers import PeerDied, start
from bench._report import SUMMARY, write_report

Case = Callable[[], float]


def names() -> list[str]:
    """The benchmarks of this folder."""
    found = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name for name in found if not name.startswith("_"))


def chosen(given: list[str], report: bool) -> list[str]:
    """What to run: a report has at least the benchmarks that the README shows, since it replaces the last one."""
    if given == ["all"]:
        return names()
    return [*SUMMARY, *[name for name in given if name not in SUMMARY]] if report else given


def measure(cases: dict[str, Case], rounds: int) -> dict[str, list[float]]:
    """Seconds of each case in each round, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for round_number in range(rounds + 1):
        for name in list(seconds):
            try:
                taken = cases[name]()
            except PeerDied as reason:
                print(f"  ({name} is left out: {reason})")
                del seconds[name]
                continue
            if round_number:
                seconds[name].append(taken)
    return seconds


def in_words(seconds: float) -> str:
    """A time with a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.2f} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def table(seconds: dict[str, list[float]]) -> str:
    """Median, quartiles, and the ratio to the first case of the group."""
    width = max(map(len, seconds))
    first: dict[str, float] = {}
    rows: dict[str, list[str]] = {}
    for name, values in seconds.items():
        median = statistics.median(values)
        group = name.rpartition(": ")[0]
        ratio = median / first.setdefault(group, median)
        low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (median,) * 3
        spread = f"[{in_words(low)}, {in_words(high)}]"
        rows.setdefault(group, []).append(f"  {name:<{width}}  {in_words(median):>10}  {spread:<24} x {ratio:.2f}")
    return "\n".join(row for group in rows.values() for row in group)


def machine() -> str:
    """Where and when this is measured."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = models[0] if models else model
    versions = f"Python {platform.python_version()}, NumPy {importlib.metadata.version('numpy')}"
    now = dt.datetime.now(dt.UTC)
    return f"{now:%Y-%m-%d %H:%M} UTC, {model}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {versions}"


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Runs benchmarks; without names lists them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run, or `all`")
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default: %(default)s)")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PYTHON", help="also measure NAME, with this interpreter"
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help=f"write docs/benchmarks.md and the README's table: {', '.join(SUMMARY)}, and what is named",
    )
    options = parser.parse_args()
    known = names()
    unknown = [name for name in options.names if name not in (*known, "all")]
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    wanted = chosen(options.names, options.report)
    results = {}
    for name in wanted or known:
        module = importlib.import_module(f"bench.{name}")
        print(f"{name}: {(module.__doc__ or '').strip().splitlines()[0]}")
        if wanted:
            cases = module.cases()
            for peer in options.peer if hasattr(module, "peer_cases") else ():
                cases |= start(name, *peer.split("=", 1))
            print(f"  {machine()}")
            results[name] = measure(cases, max(options.rounds, 1))
            print(table(results[name]), flush=True)
    if options.report:
        write_report(results, machine(), in_words)
    return 0


if __name__ == "__main__":
    sys.exit(main())
