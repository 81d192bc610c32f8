"""A long run of random programs; see ``scripts/fuzz``."""

from __future__ import annotations

import argparse
import collections
import re
import signal
import time
from pathlib import Path
from typing import Any

from tests.properties.differ import difference, shrink
from tests.properties.programs import HEADER, generate


class TooSlow(BaseException):
    """A program that takes too long."""


def _too_slow(*_: Any) -> None:
    raise TooSlow


def checked(source: str, seed: int, modes: tuple[str, ...], seconds: int) -> tuple[str, Any, Any, list[str]]:
    """`difference`, limited in time; whatever is raised counts as a difference."""
    signal.signal(signal.SIGVTALRM, _too_slow)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1)
    try:
        return difference(source, seed, modes)
    except TooSlow:
        return "too slow", None, None, []
    except Exception as error:  # noqa: BLE001 - an escape from the harness is a finding like any other
        return f"escaped: {type(error).__name__}", str(error), None, []
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def native(first: int, seconds: float) -> None:
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


def main() -> None:
    """Generates, compares, shrinks, reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--modes", default="jit,graph")
    parser.add_argument("--numeric", type=float, default=0.3, help="share of programs with gradients")
    parser.add_argument("--shrink", type=int, default=150, help="most attempts to make a failing program smaller")
    parser.add_argument("--out", type=Path, help="folder for failing programs")
    parser.add_argument("--native", action="store_true", help="random graphs as machine code instead of programs")
    options = parser.parse_args()
    if options.native:
        native(options.first, options.seconds)
        return
    modes = tuple(options.modes.split(","))
    reasons: collections.Counter[str] = collections.Counter()
    ran = captured = failed = 0
    end = time.monotonic() + options.seconds
    for seed in range(options.first, options.first + options.count * options.step, options.step):
        if time.monotonic() > end:
            break
        numeric = seed * 7919 % 100 < options.numeric * 100
        source = generate(seed, numeric)
        part, expected, actual, fallbacks = checked(source, seed, modes, 8)
        ran += 1
        captured += not fallbacks
        reasons.update({re.sub(r"'\w+'|\d+", "_", reason): 1 for reason in fallbacks})
        if fallbacks and options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"fallback{seed}.py").write_text(f"# {fallbacks}\n{source}", encoding="utf-8")
        if not part:
            continue
        failed += 1
        kind = re.sub(r"\d", "", part)

        def fails(candidate: str, seed: int = seed, kind: str = kind) -> bool:
            return re.sub(r"\d", "", checked(candidate, seed, modes, 10)[0]) == kind

        small = shrink(source, fails, 0 if part == "too slow" else options.shrink)
        part, expected, actual, _ = checked(small, seed, modes, 8)
        text = (
            f"==== seed {seed}: {part}\n  eager: {expected}\n  other: {actual}\n{small.removeprefix(HEADER).strip()}\n"
        )
        print(text, flush=True)
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"program{seed}.py").write_text(f'"""{part}"""\n{small}', encoding="utf-8")
    print(f"{ran} programs, {captured} captured without fallback, {failed} differ")
    for reason, count in reasons.most_common(25):
        print(f"{count:5} {reason}")


if __name__ == "__main__":
    main()
