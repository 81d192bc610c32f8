"""Relatives of the conformance programs: what they are compared in, and batches of them in processes of their own.

`arguments` and `mutants` derive them. What is compared is what the table compares, but for texts of exceptions, which
may name the layer, and for the sign of NaN, which is not promised: arrays that show one are compared as they are shown.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import pkgutil
import re
import resource
import subprocess
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from duograph.base.config import set_config
from duograph.base.failures import InternalFailure

from .clock import TooSlow, limited

BATCH = 60
"""Programs of one process: one that dies loses no more than the rest of a batch."""
MEMORY = 8 << 30
SECONDS = 20.0
"""Processor time that one program may take in a compiled mode."""
EAGER_SECONDS = 2.0
"""Processor time in eager mode after which a program is not compared: most have no end."""
NOT_REPEATABLE = "cached_callee"
"""In the names of programs whose cache belongs to their module: a mode finds in it what another has left."""

View = Callable[[Any], Any]


def table() -> list[Any]:
    """The conformance programs."""
    from tests.conformance import programs
    from tests.conformance.harness import PROGRAMS

    for info in pkgutil.iter_modules(programs.__path__):
        importlib.import_module(f"{programs.__name__}.{info.name}")
    return [p for p in PROGRAMS if any(p.calls) and NOT_REPEATABLE not in p.name]


# Running --------------------------------------------------------------------------------------------------------------


def viewed(value: Any, view: View | None) -> Any:
    """``value``, or a view of it if it is a tensor with dimensions."""
    import duograph as ms

    return view(value) if view is not None and type(value) is ms.Tensor and value.ndim else value


def shown(program: Any, mode: Any, views: Sequence[View | None]) -> dict[str, Any]:
    """What a run of ``program`` shows, without the texts of exceptions."""
    from tests.conformance.harness import run

    number = -1

    def transform(fn: Any) -> Any:
        if not callable(fn):  # what a changed `build` gives: `jit` says so at once, eager mode when it is called
            raise TypeError("a program that is not callable")
        made = mode.transform(fn)

        def call(*args: Any) -> Any:
            nonlocal number
            number += 1
            view = views[number] if number < len(views) else None
            return made(*[viewed(argument, view) for argument in args])

        return call if not mode.graph_mode else made

    with limited(EAGER_SECONDS if mode.name == "eager" else SECONDS), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = run(program, dataclasses.replace(mode, transform=transform, native=False))
    parts = {part: _portable(getattr(outcome, part)) for part in ("printed", "arguments", "globals", "random")}
    for part in ("results", "gradients"):
        parts[part] = [r[:2] if r[0] == "raised" else Shown(*_portable(r)) for r in getattr(outcome, part)]
    return parts


def _portable(shown: Any) -> Any:
    """Without the addresses of objects, the names of modules, what is kept with objects of compiled methods, and bits
    beside NaN."""
    if isinstance(shown, tuple) and len(shown) == 5 and isinstance(shown[4], bytes) and "nan" in shown[3]:
        return shown[:4]
    if isinstance(shown, str):
        shown = re.sub(r"\bParameter#\d+", "Parameter#", shown)  # numbers go on from mode to mode
        return re.sub(r"\bmutant\d+_\d+\b", "mutant", re.sub(r"\b0x[0-9a-f]{6,}", "0x", shown))
    if isinstance(shown, list | tuple):
        return type(shown)([_portable(part) for part in shown if not _is_of_versions(part)])
    if isinstance(shown, dict):
        return {key: _portable(value) for key, value in shown.items()}
    return shown


def _is_of_versions(part: Any) -> bool:
    return isinstance(part, tuple) and len(part) == 2 and part[0] == ("str", "'_duograph_versions'")


class Shown(tuple[Any, Any]):
    """A result, and its ties to the arguments. A copy may stand for a tensor that a loop or a branch chose, so fewer
    ties than eager mode has are no difference; more are."""

    def __new__(cls, result: Any, ties: Any) -> Shown:
        return super().__new__(cls, (result, ties))

    def __eq__(self, eager: object) -> bool:
        return isinstance(eager, Shown) and self[0] == eager[0] and set(self[1]) <= set(eager[1])

    __hash__ = tuple.__hash__


def compare(make: Callable[[], Any], modes: Sequence[Any], views: Sequence[View | None] = ()) -> str | None:
    """In what one of ``modes`` first differs from eager mode, if any does; ``make`` gives the program to each."""
    from tests.conformance.harness import EAGER

    try:
        expected = shown(make(), EAGER, views)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - no callable, more work than a fuzzer has time for, an error that ends programs
        return None
    for mode in modes:
        program = make()
        try:
            actual = shown(program, mode, views)
        except (TooSlow, InternalFailure, Exception) as error:  # noqa: BLE001 - what escapes is a finding like any other
            return f"{mode.name}: {type(error).__name__}: {error} (calls: {program.calls})"
        for part, want in expected.items():
            have = actual[part]
            if have == want:
                continue
            if isinstance(want, list):
                call = next(i for i, (w, h) in enumerate(zip(want, have, strict=True)) if not h == w)
                have, want = have[call], f"{want[call]} (calls: {program.calls[: call + 1]})"
                part = f"{part} of call {call}"
            return f"{mode.name}: {part}: here {str(have)[:400]}, eager {str(want)[:1500]}"
    return None


# Batches --------------------------------------------------------------------------------------------------------------


def worker(first: int, count: int, examine: Callable[[int, list[Any]], tuple[str, str | None]]) -> None:
    """Says which program comes next, and what was found. ``examine`` takes a seed and the table."""
    set_config(failures="raise")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    all_of_them = table()
    for seed in range(first, first + count):
        print(f"@ {seed}", flush=True)
        name, found = examine(seed, all_of_them)
        if found is not None:
            print(f"==== {seed} {name}: {found}", flush=True)


def batches(options: argparse.Namespace) -> int:
    """Batches of ``options.command`` until the time is over; the number of findings."""
    end, first, findings = time.monotonic() + options.seconds, options.first, 0
    while time.monotonic() < end:
        command = [options.python, "-m", "tests.fuzz", f"{options.command}-worker", str(first), str(BATCH)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        last, shows = first, False
        for line in done.stdout.splitlines():
            if line.startswith("@ "):
                last = int(line[2:])
            shows = not line.startswith("@ ") and (shows or line.startswith("===="))
            if shows:
                findings += line.startswith("====")
                print(line, flush=True)
        if done.returncode:
            findings += 1
            why = done.stderr.strip().splitlines()[-1:]
            print(f"==== {last}: the process ended with status {done.returncode} {why}", flush=True)
            first = last + 1
            continue
        first += BATCH
    print(f"{first - options.first} programs from seed {options.first}, {findings} differ")
    return findings
