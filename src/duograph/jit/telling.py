"""What a compiled function says of itself without being asked: the log, and one piece of advice.

Topics below the logger ``duograph`` (``GLOG_v=1`` shows them, ``DUOGRAPH_LOGS=breaks`` one alone, and so does
``logging.getLogger("duograph.breaks")``): ``captures`` (what was compiled), ``fallbacks`` (what was not), ``breaks``
(what runs in Python in between), ``recompiles`` (which guard failed), and at the level of debugging ``guards`` (what
was assumed). Records hold text only, since they may be kept. ``kernels`` is a topic of the runtime.

A function that runs slowly although it is compiled says so once, with what to change.
"""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Iterable, Sequence
from typing import Any

from duograph.base.config import config
from duograph.base.logs import topic
from duograph.base.lookup import raw_getattr
from duograph.frontend.bytecode.instructions import Instruction, decode
from duograph.frontend.rules.errors import Uncapturable
from duograph.ir.printer import print_graph

from .entries import Entries, Fallback
from .entry import Entry
from .policy import FREE_UNUSED, MOST_CAPTURES, SECONDS

captures, fallbacks, breaks = topic("captures"), topic("fallbacks"), topic("breaks")
recompiles, guards = topic("recompiles"), topic("guards")
_logger = logging.getLogger("duograph")

MOSTLY = 0.5
"""The share of Python in the time of a function that is cut above which that is worth a word."""


def name_of(fn: Any) -> str:
    """What texts call a function, or an object that is called like one, without asking it to show itself."""
    if isinstance(fn, types.MethodType):
        fn = fn.__func__
    return str(raw_getattr(fn, "__qualname__", type(fn).__qualname__))


def instructions_of(function: Any) -> list[Instruction]:
    """The instructions of the Python function, as capture from bytecode reads them; none if there is no such function,
    or this version of Python is not known."""
    try:
        return [] if function._python is None else decode(function._python.__code__)
    except Uncapturable:
        return []


def bytecode_text(function: Any) -> str:
    """The instructions of a function, one a line: where each leads, unless that is the next one."""
    lines = []
    for i, made in enumerate(instructions_of(function)):
        arg = "" if made.arg is None and made.op != "LOAD_CONST" else f" {made.arg!r}"
        leads = "" if made.next == (i + 1,) else f" -> {', '.join(map(str, made.next))}" if made.next else ""
        lines.append(f"\n  {i:4} {made.op}{arg}{leads}")
    return "".join(lines)


def tell_captured(function: Any, entry: Entry) -> None:
    """A version was made."""
    if captures.isEnabledFor(logging.INFO):
        program = entry.program
        captures.info(
            f"{function}: captured in {entry.capture_ms:.1f} ms: {len(entry.graph.nodes)} operations, "
            f"{len(program.guards.guards)} guards"
        )
    if config().bytecode_logs:
        log(function, "bytecode", bytecode_text(function))
        log(function, "guard", "".join([f"\n  {g}" for g in entry.program.guards.guards]))
        log(function, "graph", f"\n{print_graph(entry.graph)}")
    if guards.isEnabledFor(logging.DEBUG):
        guards.debug("\n".join([f"{function} assumes", *[f"  {g}" for g in entry.program.guards.guards]]))


_told: set[tuple[str, str]] = set()  # reasons of fallbacks, and their places
MOST_TOLD = 1 << 10


def tell_fallback(function: Any, fallback: Fallback) -> None:
    """Calls run as plain Python, all of it: a warning for the first ones, for nobody has asked for that. A statement
    that many functions run into is warned of once."""
    is_news = not (function.has_told_fallback or function.is_auxiliary)
    function.has_told_fallback = True
    cause = fallback.reason, str(fallback.span)
    if is_news and (fallback.span is None or cause not in _told):
        if len(_told) >= MOST_TOLD:
            _told.clear()
        _told.add(cause)
        fallbacks.warning(fallback.rendered.replace("error[", "warning[", 1))
    else:
        fallbacks.info(fallback.rendered)


def forget_told() -> None:
    """As in a new process. For tests."""
    _told.clear()


def tell_breaks(function: Any, found_breaks: Iterable[Any]) -> None:
    """A function is cut at these statements; ``None``: at one that computes too little."""
    for found in found_breaks:
        if found is not None:
            breaks.info(f"{function}: {found}")
            log(function, "graph_break", f"{found}. {found.hint}")


def log(function: Any, kind: str, text: str) -> None:
    """A line of ``MS_JIT_BYTECODE_LOGS``, about a function that is captured from bytecode."""
    kinds = config().bytecode_logs
    if kinds and function.options.capture_mode == "bytecode" and (kind in kinds or "all" in kinds):
        print(f"[{kind}] {function}: {text}", file=sys.stderr)


def tell_recompiled(function: Any, reason: str) -> None:
    """No version holds for a call, and why the latest does not."""
    recompiles.info(f"{function}: {reason}")


_traced = [False]


def tell_traced(tracer: str) -> None:
    """Says, once, that functions run plainly for a debugger's sake."""
    if not _traced[0]:
        _traced[0] = True
        _logger.warning(
            f"Compiled functions run as plain Python, so that their lines are seen: {tracer}. They are compiled again "
            "when it is gone."
        )


def advice(function: Any, stores: Sequence[Entries]) -> str:
    """One sentence on why a function is slow, and one on what to change; empty if it is not."""
    plain = [f for store in stores for f in store.fallbacks if f is not function.left]
    if function.cut is not None:
        account, calls = function.cut.account, function.cut.cause.hits
        spent = account.milliseconds(calls)
        if account.share_of_python > MOSTLY and spent["steps"] + spent["crossing"] > SECONDS * 1e3:
            worst = _worst_break(function.cut)
            return (
                f"{function} spends {account.share_of_python:.0%} of its time in Python, most of it at "
                f"{worst.span or 'one statement'}: {worst.reason}. {worst.hint}"
            )
    elif sum(f.seconds for f in plain) > SECONDS:
        worst_plain = max(plain, key=lambda f: f.seconds)
        return (
            f"{function} has run as plain Python {sum(f.hits for f in plain)} times: {worst_plain!r}. "
            "Move that out of the function, or compile the parts around it."
        )
    again, waited = sum(len(s.recompiles) for s in stores), sum(s.attempts.unattempted for s in stores)
    is_storm = again > MOST_CAPTURES or any(s.unused + s.attempts.dropped > FREE_UNUSED for s in stores)
    if is_storm or (waited > MOST_CAPTURES and sum(s.seconds for s in stores) > SECONDS):
        why = next((r for s in stores for r in reversed(s.recompiles)), "")
        plainly = f", and {waited} call{'s' * (waited != 1)} ran as plain Python" if waited else ""
        code, made = getattr(function._python, "__code__", None), sum(len(s.compiled) for s in stores)
        place = f" at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
        versions = f"{made} version{'s' * (made != 1)}"
        return (
            f"{function}{place} was captured {again + 1} times and has {versions}{plainly}: {why}. "
            "Pass the value that varies as a Tensor, or move it out of the function."
        )
    return ""


def _worst_break(cut: Any) -> Any:
    """The break that takes longest: where most of that is a break in what it calls, that one."""
    worst = max(cut.breaks.values(), key=lambda b: b.spent[1])
    inner = [form.cut for form in cut.called.forms if form.cut is not None and form.cut.breaks]
    inner = [made for made in inner if max(b.spent[1] for b in made.breaks.values()) > MOSTLY * worst.spent[1]]
    return _worst_break(inner[0]) if inner else worst


def advise(function: Any, stores: Sequence[Entries]) -> None:
    """Says `advice`, once."""
    said = "" if function.has_advised else advice(function, stores)
    if said:
        function.has_advised = True
        _logger.warning(said)
