"""``python -m duograph explain PROGRAM``: runs a program, then tells what was compiled, what was not, and why.

It tells that however the program ends: by ``sys.exit``, by an exception, or by itself.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Any

from duograph.base.events import Event, listen
from duograph.base.failures import failure_report

from .run import hide_runner_frames, run_module, run_script


def main(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit status."""
    full, rest = list(arguments[:1]) == ["--full"], list(arguments)
    rest = rest[1:] if full else rest
    run, rest = (run_module, rest[1:]) if rest[:1] == ["-m"] else (run_script, rest)
    if not rest:
        print("usage: python -m duograph explain [--full] PROGRAM | -m MODULE [ARGUMENT ...]", file=sys.stderr)
        return 2
    hide_runner_frames()
    kept: list[Any] = []  # functions that the program itself has dropped by the time it ends

    def keep(event: Event) -> None:
        if event.kind == "compiling":
            kept.append(event.data["function"])

    try:
        with listen(keep):
            names = run(rest[0], rest[1:])
    finally:
        print(report(full), file=sys.stderr)
    del names  # they kept the program's functions alive until now
    return 0


def report(full: bool = False) -> str:
    """One paragraph for each function that was compiled in this process and is still there.

    Args:
        full (bool): also guards and graphs. Default: False.
    """
    functions = compiled_functions()
    parts = [_paragraph(f, full) for f in functions] if functions else ["nothing was compiled"]
    failed = failure_report()  # eager ops have no paragraph, and functions that are gone have none any more
    return "\n\n".join([*parts, f"parts of duograph that failed, and how often:\n{failed}"] if failed else parts)


def compiled_functions() -> list[Any]:
    """The compiled functions that have been called, in the order of their source lines."""
    if "duograph.jit.function" not in sys.modules:
        return []
    from duograph.jit.function import JitFunction

    # The garbage collector knows every live function; a registry of our own would have to be kept on each creation.
    found = [f for f in gc.get_objects() if isinstance(f, JitFunction)]
    called = [f for f in found if f.explain().versions or f.explain().fallbacks]
    return sorted(called, key=_place)


def _place(function: Any) -> tuple[str, int]:
    code = getattr(getattr(function.fn, "__func__", function.fn), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)


def _paragraph(function: Any, full: bool) -> str:
    explanation = function.explain()
    if full:
        return str(explanation)
    name = getattr(function.fn, "__qualname__", str(function.fn))
    file, line = _place(function)
    count = len(explanation.versions)
    lines = [f"{name} ({file}:{line}): {count} compiled version{'s' if count != 1 else ''}"]
    for number, version in enumerate(explanation.versions):
        milliseconds = version["capture_ms"] + version["compile_ms"]
        lines.append(f"  version {number}: made in {milliseconds:.0f} ms, called {version['hits']} times")
    lines += [f"  recompiled: {reason}" for reason in explanation.recompiles]
    lines += [f"  graph break: {found}" for found in explanation.breaks]
    lines += [f"  {failure}" for failure in explanation.failures]
    for fallback in explanation.fallbacks:
        lines += [f"  {text}" for text in fallback.rendered.splitlines()]
    return "\n".join(lines)
