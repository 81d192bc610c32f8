"""``python -m duograph explain PROGRAM``: runs a program, then tells what was compiled, what was not, and why.

It tells that however the program ends: by ``sys.exit``, by an exception, or by itself.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from duograph.base.config import config
from duograph.base.events import Event, listen
from duograph.base.failures import failure_report
from duograph.core.op import eager_binder
from duograph.jit.groups import grouped_recompiles, python_by_place
from duograph.jit.page import write_page
from duograph.profiling import profile
from duograph.runtime.launch.launcher import statistics

from .run import NoProgram, flushed, hide_runner_frames, run_program

MOST_ALIKE = 2
"""Functions of one line that have a paragraph each; a loop may make and compile hundreds."""


def explain(
    arguments: Sequence[str],
    full: bool = False,
    page: str | None = None,
    is_profiled: bool = False,
    trace: str | None = None,
) -> int:
    """Runs a program, then tells what was compiled; returns the exit status.

    Args:
        arguments (Sequence[str]): the program (also ``-m MODULE``, ``-c CODE``, ``demo``) and its arguments.
        full (bool): also guards and graphs. Default ``False``.
        page (str): where to write it as a page for a browser, too. Default ``None``: nowhere.
        is_profiled (bool): also where the time and the memory go (`duograph.profile`). Default ``False``.
        trace (str): where to write a timeline for Perfetto, too. Default ``None``: nowhere.
    """
    hide_runner_frames()
    kept: list[Any] = []  # functions that the program itself has dropped by the time it ends

    def keep(event: Event) -> None:
        if event.kind == "compiling":
            kept.append(event.data["function"])

    is_there, before = True, eager_operators()
    recorded = profile() if is_profiled or trace is not None else None
    try:
        with listen(keep), recorded or nullcontext():
            names = _demo(arguments[1:]) if arguments[0] == "demo" else run_program(arguments)
    except NoProgram as error:
        is_there = False
        _tell(f"duograph: {error}")
        return 2
    except SyntaxError as error:
        is_there = error.filename != arguments[0]  # the program itself: nothing of it has run
        raise
    finally:
        if is_there:
            eager = eager_operators() - before
            flushed(sys.stdout)  # the program's own words come first
            _tell(report(full, eager))
            if is_profiled:
                _tell(f"\n{recorded}")
            if page is not None:
                _write(page, lambda: _write_page(page, " ".join(arguments), recorded))
            if trace is not None and recorded is not None:
                _write(trace, lambda: recorded.save(trace))
    del names  # they kept the program's functions alive until now
    return 0


def _tell(text: str) -> None:
    """A text for the user, if there is a stream for it and somebody reads that; the program's status stays."""
    if sys.stderr is not None:  # `print` would take standard output instead
        with suppress(OSError, ValueError):
            print(text, file=sys.stderr)
        flushed(sys.stderr)


def _write_page(path: str, title: str, recorded: profile | None) -> None:
    functions = compiled_functions()
    write_page(path, functions, title, headline([f.explain() for f in functions]), recorded)


def _write(path: str, write: Callable[[], None]) -> None:
    try:
        write()
    except OSError as error:
        _tell(f"duograph explain: {path} is not written: {error.strerror}")


def _demo(arguments: Sequence[str]) -> Any:
    if Path("demo").exists():
        return run_program(["demo", *arguments])
    return import_module("duograph.demo.digits").main(list(arguments))


def report(full: bool = False, eager: int | None = None) -> str:
    """What was compiled in one line, then a paragraph for each function that is still there.

    Args:
        full (bool): also guards and graphs. Default: False.
        eager (int): operators that ran one by one. Default: None, not known.
    """
    functions = compiled_functions()
    told: set[Any] = set()
    parts = [headline([f.explain() for f in functions], eager)]
    for _, group in groupby(functions, key=lambda f: (_place(f), _name(f))):
        alike = list(group)
        more = len(alike) - MOST_ALIKE if len(alike) > MOST_ALIKE + 1 and not full else 0
        parts += [_paragraph(f, full, told) for f in alike[: len(alike) - more]]
        if more:
            versions = _count(sum(len(f.explain().versions) for f in alike[-more:]), "compiled version")
            parts[-1] += (
                f"\n... and {more} more functions created at this line, with {versions}: define it once, outside "
            )
            parts[-1] += "of the loop, and pass what varies as an argument."
    failed = failure_report()  # eager ops have no paragraph, and functions that are gone have none any more
    return "\n\n".join([*parts, f"internal failures of duograph, with counts:\n{failed}"] if failed else parts)


def eager_operators() -> int:
    """Operators that have run one by one in this process: a native launch counts as one."""
    return int(eager_binder.value.calls + statistics()["launches"])  # type: ignore[attr-defined]


def headline(explanations: Sequence[Any], eager: int | None = None) -> str:
    """How many calls ran compiled code, and what ran in Python, with how to find out more.

    Args:
        explanations: of all functions, segments included.
        eager: operators that ran one by one.
    """
    if not explanations:
        why = "no function with @jit was called, and no Cell in graph mode (set_context(mode=GRAPH_MODE))"
        if not config().jit:
            why = "MS_JIT is 0"
        elif config().check_numerics != "off":
            why = "functions run as plain Python while DUOGRAPH_CHECK_NUMERICS looks at each operator"
        return f"nothing was compiled: {why}"
    versions = [version for e in explanations for version in e.versions]
    own = [e for e in explanations if not e.function.is_auxiliary]
    plain = sum(e.plain_calls for e in own)
    calls = sum(version["hits"] for e in own for version in e.versions) + sum(e.cut_calls for e in own)
    text = f"{calls} of {_count(calls + plain, 'call')} ran compiled code ({_count(len(versions), 'version')}"
    text += f" with {_count(sum(v['operations'] for v in versions), 'operator')})"
    ran = sum(e.operators for e in explanations)
    text += f", {ran / (ran + eager):.1%} of the operators" if ran and eager is not None else ""
    breaks = python_by_place(explanations) if any(e.breaks for e in explanations) else []
    if breaks:
        spent, (worst, longest) = sum(milliseconds for _, milliseconds in breaks), breaks[0]
        text += f"; {_count(len(breaks), 'statement')} between compiled parts ran in Python, {spent:.2f} ms in all"
        text += f", {longest:.2f} ms of it at {worst.span}" if len(breaks) > 1 and worst.span else ""
    return text if not plain and not breaks else f"{text}. Below: each reason, with its line and what helps."


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'s' if number != 1 else ''}"


def compiled_functions() -> list[Any]:
    """The compiled functions that have been called, in the order of their source lines."""
    if "duograph.jit.function" not in sys.modules:
        return []
    from duograph.jit.function import JitFunction

    # The garbage collector knows every live function; a registry of our own would have to be kept on each creation.
    found = [f for f in gc.get_objects() if isinstance(f, JitFunction)]
    called = [f for f in found if (e := f.explain()).versions or e.fallbacks or e.breaks]
    return sorted(called, key=_place)


def _place(function: Any) -> tuple[str, int]:
    code = getattr(getattr(function.fn, "__func__", function.fn), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("", 0)


def _name(function: Any) -> str:
    return getattr(function.fn, "__qualname__", str(function.fn))


def _paragraph(function: Any, full: bool, told: set[Any]) -> str:
    """``told``: the breaks that earlier paragraphs have told; those of segments are also the function's."""
    explanation = function.explain()
    if full:
        return str(explanation)
    file, line = _place(function)
    count = _count(len(explanation.versions), "compiled version")
    parts = f", split into {_count(len(explanation.segments), 'compiled segment')}" if explanation.is_cut else ""
    lines = [f"{_name(function)} ({file}:{line}): {count}{parts}"]
    for number, version in enumerate(explanation.versions):
        milliseconds = version["capture_ms"] + version["compile_ms"]
        hits = _count(version["hits"], "time")
        size = _count(version["operations"], "operator")
        lines.append(f"  version {number}: {size}, made in {milliseconds:.0f} ms, called {hits}")
        lines += [f"  in Python: {note}" for note in version["in_python"]]
    lines += [f"  recompiled: {reason}" for reason in grouped_recompiles(explanation.recompiles)]
    lines += [f"  a version for each size of {reason}" for reason in explanation.static_sizes]
    refused = set() if explanation.is_cut else {(f.reason, str(f.span)) for f in explanation.fallbacks}
    for found in explanation.breaks:
        if (found.reason, str(found.span)) in told | refused:
            continue
        told.add((found.reason, str(found.span)))
        spent = f" ({_count(found.times, 'time')}, {found.milliseconds:.2f} ms)" if found.times else ""
        lines.append(f"  graph break: {found}{spent}. {found.hint}")
    lines += [f"  {failure}" for failure in explanation.failures]
    lines += [f"  {text}" for part in explanation.told_fallbacks() for text in part.splitlines()]
    if calls := explanation.compared_calls:
        lines.append(f"  {_count(calls, 'call')} ran as plain Python to find out whether compiling pays")
    if explanation.unattempted:
        why = "earlier compilations failed, were not reused, or took too long"
        lines.append(f"  {_count(explanation.unattempted, 'call')} with new arguments ran as plain Python: {why}")
    lines += [f"  advice: {explanation.advice}"] if explanation.advice else []
    return "\n".join(lines)
