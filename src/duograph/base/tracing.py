"""Debuggers, coverage tools and other tracers: who looks at the lines of a function while it runs.

Compiled code has no lines. So calls of functions that are traced run plainly, and native code has to know when. Python
raises an audit event when somebody sets a tracer (``sys.settrace``, ``PyEval_SetTrace``) or registers with
``sys.monitoring``: from then on `may_be_traced` says that each call has to ask `tracer_of`, until there is none left.

What does not look at lines is no tracer: profilers (``sys.setprofile``, cProfile, the profilers of ``sys.monitoring``).
Nor is a coverage tool for files that it leaves out.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from types import CodeType
from typing import Any

__all__ = ["EVENTS", "WATCHED", "find_tracers", "has_monitoring_debugger", "heard", "may_be_traced", "tracer_of"]

EVENTS = ("sys.settrace", "sys.monitoring.register_callback")
"""The audit events."""

WATCHED = ctypes.c_int64(0)
"""Not 0 while there may be a tracer in some thread. Native code reads it."""

_monitoring: Any = getattr(sys, "monitoring", None)
_threads: set[int] = set()  # that have set a tracer since `find_tracers`
_asked: weakref.WeakSet[CodeType] = weakref.WeakSet()
"""What a coverage tool has seen begin, and so could have asked for its lines."""

if _monitoring is not None:
    _of = _monitoring.events
    _LINES = _of.LINE | _of.INSTRUCTION
    _BEGINS = _of.PY_START | _of.PY_RESUME | _LINES
    _TOOLS = [i for i in range(6) if i not in (_monitoring.PROFILER_ID, _monitoring.OPTIMIZER_ID)]


def may_be_traced() -> bool:
    """Whether there may be a tracer in some thread."""
    return WATCHED.value != 0


def heard() -> None:
    """Somebody sets a tracer, or takes it away."""
    _threads.add(threading.get_ident())
    WATCHED.value = 1


def find_tracers() -> None:
    """Finds the tracers that were there before anybody listened to `EVENTS`."""
    if sys.gettrace() is not None or threading.gettrace() is not None or _tools():
        heard()


def tracer_of(code: CodeType | None) -> str:
    """What looks at the lines of ``code`` when this thread runs it; empty if nothing does."""
    tracer = sys.gettrace()
    if tracer is not None and _is_of_interest(tracer, code):
        owner = getattr(tracer, "__self__", tracer)
        kind = type(owner) if not hasattr(owner, "__qualname__") else owner
        return f"{kind.__module__}.{kind.__qualname__} is set with sys.settrace"
    tools = _tools()
    for tool in tools:
        if _watches(tool, code):
            return f"{_monitoring.get_tool(tool)!r} is registered with sys.monitoring"
    if tracer is None and not tools:
        _forget()
    return ""


def has_monitoring_debugger() -> bool:
    """Whether there is a debugger that gets its events from ``sys.monitoring``, as those of editors do from 3.12 on."""
    return _monitoring is not None and _monitoring.get_tool(_monitoring.DEBUGGER_ID) is not None


def _forget() -> None:
    """This thread has no tracer any more, and nobody monitors."""
    _threads.discard(threading.get_ident())
    _threads.intersection_update(list(sys._current_frames()))
    if not _threads:
        WATCHED.value = 0
    if _threads:  # another thread has got one meanwhile
        WATCHED.value = 1


def _tools() -> list[int]:
    return [] if _monitoring is None else [tool for tool in _TOOLS if _monitoring.get_tool(tool) is not None]


def _is_of_interest(tracer: Any, code: CodeType | None) -> bool:
    """Whether a function of ``sys.settrace`` looks at the lines of ``code``, as far as it can be asked: Coverage.py
    knows the files that it leaves out."""
    owner = getattr(tracer, "__self__", tracer)
    known = getattr(owner, "should_trace_cache", None)
    if code is None or not isinstance(known, dict):
        return True
    found = known.get(code.co_filename)
    return found is None or bool(getattr(found, "trace", True))


def _watches(tool: int, code: CodeType | None) -> bool:
    """Whether a tool looks at the lines of ``code``.

    It asks for the lines of a function when that begins, for itself. A debugger may do so each time, when there is a
    breakpoint; a coverage tool knows the first time.
    """
    here = 0 if code is None else _monitoring.get_local_events(tool, code)
    everywhere = _monitoring.get_events(tool)
    if (here | everywhere) & _LINES:
        return True
    if not everywhere & _BEGINS:
        return False
    if tool != _monitoring.COVERAGE_ID or code is None:
        return True
    if code in _asked:
        return False
    _asked.add(code)
    return True
