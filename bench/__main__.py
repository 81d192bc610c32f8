"""Lists and runs the benchmarks: `python -m bench [--rounds N] NAME...`, or `all`.

A benchmark is a module of this folder with a docstring, whose first line is its title, and a function
`cases() -> dict[str, Callable[[], float]]`: each case measures once and returns seconds. The runner interleaves the
rounds of all cases, so that a slow moment of the machine hits all of them, and prints medians, and ratios to the first
case. Peers (torch, jax, mindspore) are cases only where they are installed.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

Case = Callable[[], float]


def names() -> list[str]:
    """The benchmarks of this folder."""
    found = (module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name for name in found if not name.startswith("_"))


def measure(cases: dict[str, Case], rounds: int) -> dict[str, list[float]]:
    """Seconds of each case in each round, after one round that does not count."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for round_number in range(rounds + 1):
        for name, case in cases.items():
            taken = case()
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
    """Median, quartiles, and the ratio to the first case."""
    width = max(map(len, seconds))
    first = statistics.median(next(iter(seconds.values())))
    rows = []
    for name, values in seconds.items():
        median = statistics.median(values)
        low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (median,) * 3
        spread = f"[{in_words(low)}, {in_words(high)}]"
        rows.append(f"  {name:<{width}}  {in_words(median):>10}  {spread:<24} x {median / first:.2f}")
    return "\n".join(rows)


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Runs benchmarks; without names lists them.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run, or `all`")
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default: %(default)s)")
    options = parser.parse_args()
    known = names()
    wanted = known if options.names == ["all"] else options.names
    unknown = [name for name in wanted if name not in known]
    if unknown:
        parser.error(f"unknown benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    for name in wanted or known:
        module = importlib.import_module(f"bench.{name}")
        print(f"{name}: {(module.__doc__ or '').strip().splitlines()[0]}")
        if wanted:
            print(table(measure(module.cases(), max(options.rounds, 1))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
