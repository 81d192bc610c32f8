"""Programs that look at their own frames, run text, recurse without end, or are watched while they run: as without the
decorator, in every way of capture."""

from __future__ import annotations

import inspect
import sys

import pytest

import duograph as ms
from duograph import Tensor


def looks_at_its_frame(x):
    return x * 2, sys._getframe().f_code.co_name


def looks_at_its_line(x):
    y = x * 2
    return y, inspect.currentframe().f_lineno > 0


def reads_locals(x):
    y = x * 2
    return sorted(locals()), dir(), y


def reads_globals(x):
    return x * len(globals()["__name__"]) * len(list(globals()))


def runs_text(x):
    names = {}
    exec("y = 3", names)
    return x * names["y"] + eval("1 + 1")


class Base:
    def scaled(self, x):
        return x + 1


class Derived(Base):
    __factor = 3

    def scaled(self, x):
        return super().scaled(x) * self.__factor


def calls_super_and_private_names(x):
    return Derived().scaled(x)


def never_ends(x):
    return never_ends(x)


def never_decides(x):
    return x if x.sum() > 1e30 else never_decides(x + 0)


def runs_a_coroutine(x):
    async def doubled():
        return x * 2

    try:
        doubled().send(None)
    except StopIteration as stop:
        return stop.value


def makes_an_async_generator(x):
    async def values():
        yield x

    return type(values()).__name__, x * 2


PROGRAMS = [
    looks_at_its_frame, looks_at_its_line, reads_locals, reads_globals, runs_text, calls_super_and_private_names,
    runs_a_coroutine, makes_an_async_generator,
]  # fmt: skip


def told(fn):
    try:
        return str(fn(Tensor([1.0, 2.0])))
    except RecursionError:
        return "RecursionError"


def traced(frame, event, arg):
    return traced


class Watching:
    """A debugger, profiler or coverage tool that is attached."""

    def __init__(self, tool: str) -> None:
        self.tool = tool

    def __enter__(self) -> None:
        self.before = sys.gettrace(), sys.getprofile()
        if self.tool == "trace":
            sys.settrace(traced)
        elif self.tool == "profile":
            sys.setprofile(lambda *_: None)
        elif self.tool == "monitoring":
            events = sys.monitoring.events
            sys.monitoring.use_tool_id(4, "test")
            watched = (events.LINE, events.PY_START, events.CALL, events.BRANCH, events.RAISE, events.INSTRUCTION)
            sys.monitoring.set_events(4, sum(watched))
            for event in watched:
                sys.monitoring.register_callback(4, event, lambda *_: None)

    def __exit__(self, *_: object) -> None:
        sys.settrace(self.before[0])
        sys.setprofile(self.before[1])
        if self.tool == "monitoring":
            sys.monitoring.set_events(4, 0)
            sys.monitoring.free_tool_id(4)


TOOLS = ["none", "trace", "profile", *(["monitoring"] if sys.version_info >= (3, 12) else [])]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("mode", ["bytecode", "trace"])
def test_as_without_the_decorator(mode, tool):
    wanted = [told(fn) for fn in PROGRAMS]
    compiled = [ms.jit(fn, capture_mode=mode) for fn in PROGRAMS]
    with Watching(tool):
        for _ in range(2):
            assert [told(fn) for fn in compiled] == wanted
    for fn in compiled[:5]:
        report = fn.explain()
        assert report.fallbacks or report.breaks or tool in ("trace", "monitoring"), fn  # those have seen its lines


@pytest.mark.parametrize("mode", ["bytecode", "trace"])
@pytest.mark.parametrize("program", [never_ends, never_decides])
def test_recursion_without_end(program, mode):
    compiled = ms.jit(program, capture_mode=mode)
    assert told(compiled) == told(program) == "RecursionError"


@pytest.mark.parametrize("mode", ["bytecode", "trace"])
def test_code_that_is_replaced(mode):
    def callee(x):
        return x + 1

    def f(x):
        return callee(x) * 2

    compiled = ms.jit(f, capture_mode=mode)
    assert [told(compiled) for _ in range(3)] == ["[4. 6.]"] * 3
    callee.__code__ = (lambda x: x * 7).__code__
    assert told(compiled) == "[14. 28.]"
    f.__code__ = thrice(callee).__code__
    assert told(compiled) == "[21. 42.]"


def thrice(callee):
    def other(x):
        return callee(x) * 3

    return other
