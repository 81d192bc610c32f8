"""Debuggers and tracers see the lines of compiled functions: these run plainly then, and are compiled again later."""

from __future__ import annotations

import logging
import subprocess
import sys
import textwrap

import pytest

import duograph as ms
from duograph import Tensor, nn
from duograph.base.tracing import may_be_traced
from duograph.jit import telling
from tests.children import PATIENCE

X = Tensor([1.0, -2.0])
MONITORED = pytest.mark.skipif(sys.version_info < (3, 12), reason="there is no sys.monitoring")


def double(x):
    y = x * 2
    return y + 1


class Net(nn.Cell):
    def construct(self, x):
        y = x * 2
        return y + 1


class Traced:
    """Within the block, ``sys.settrace`` notes the lines of functions in this file."""

    def __enter__(self):
        self.lines = []
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self.lines

    def __exit__(self, *_):
        sys.settrace(self.before)

    def trace(self, frame, event, arg):
        if frame.f_code.co_name not in ("double", "construct") or frame.f_code.co_filename != __file__:
            return None
        if event == "line":
            self.lines.append(frame.f_lineno - frame.f_code.co_firstlineno)
        return self.trace


LIVES = {
    "ast": lambda: ms.jit(double),
    "bytecode": lambda: ms.jit(double, capture_mode="bytecode"),
    "trace": lambda: ms.jit(double, capture_mode="trace"),
    "O0": lambda: ms.jit(double, jit_level="O0"),
    "fullgraph": lambda: ms.jit(double, fullgraph=True),
    "cell": lambda: ms.jit(Net()),
}


@pytest.mark.parametrize("life", LIVES)
def test_settrace(life):
    f = LIVES[life]()
    expected = [f(X).tolist() for _ in range(4)][-1]  # native by now
    with Traced() as lines:
        assert f(X).tolist() == expected
    assert lines == [1, 2]
    assert f(X).tolist() == expected
    assert not may_be_traced()


def test_a_function_that_was_never_compiled_is_not_captured():
    f = ms.jit(double)
    with Traced() as lines:
        f(X)
    assert lines == [1, 2]
    assert not f.explain().versions
    f(X)
    assert len(f.explain().versions) == 1


def test_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = Net()
        for _ in range(3):
            net(X)
        with Traced() as lines:
            net(X)
        assert lines == [1, 2]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_gradients():
    f = ms.grad(ms.jit(double))
    f(X)
    with Traced() as lines:
        assert f(X).tolist() == [2.0, 2.0]
    assert lines == [1, 2]


def test_profilers_are_none():
    f = ms.jit(double)
    events = []
    sys.setprofile(lambda frame, event, arg: events.append(frame.f_code.co_name))
    try:
        for _ in range(3):
            f(X)
    finally:
        sys.setprofile(None)
    assert "double" not in events
    assert len(f.explain().versions) == 1


def test_it_is_said_once(caplog, monkeypatch):
    monkeypatch.setattr(telling, "_traced", [False])
    f = ms.jit(double)
    with caplog.at_level(logging.WARNING, "duograph"), Traced():
        f(X)
        f(X)
    (record,) = caplog.records
    assert record.message == (
        "Compiled functions run as plain Python, so that their lines are seen: tests.unit.jit.test_tracers.Traced is "
        "set with sys.settrace. They are compiled again when it is gone."
    )


@MONITORED
@pytest.mark.parametrize(("tool", "is_seen"), [("DEBUGGER_ID", True), ("PROFILER_ID", False)])
@pytest.mark.parametrize("local", [True, False], ids=["line", "start"])
def test_monitoring(tool, is_seen, local):
    f = ms.jit(double)
    for _ in range(3):
        f(X)
    monitoring, number = sys.monitoring, getattr(sys.monitoring, tool)
    seen = []
    monitoring.use_tool_id(number, "test")
    try:
        if local:  # as a debugger does for a function with a breakpoint
            monitoring.register_callback(number, monitoring.events.LINE, lambda code, line: seen.append(code.co_name))
            monitoring.set_local_events(number, double.__code__, monitoring.events.LINE)
        else:
            monitoring.register_callback(
                number, monitoring.events.PY_START, lambda code, offset: seen.append(code.co_name)
            )
            monitoring.set_events(number, monitoring.events.PY_START)
        f(X)
    finally:
        monitoring.set_events(number, 0)
        monitoring.set_local_events(number, double.__code__, 0)
        monitoring.free_tool_id(number)
    assert ("double" in seen) is is_seen
    f(X)
    assert not may_be_traced()


@MONITORED
def test_a_coverage_tool_is_asked_once_whether_it_wants_lines():
    def one(x):
        return x * 3

    f = ms.jit(one)
    monitoring, seen = sys.monitoring, []
    number = monitoring.COVERAGE_ID
    monitoring.use_tool_id(number, "test")
    try:
        monitoring.register_callback(number, monitoring.events.PY_START, lambda code, offset: seen.append(code.co_name))
        monitoring.set_events(number, monitoring.events.PY_START)
        for _ in range(3):
            f(X)
        assert seen.count("one") == 1
        monitoring.set_local_events(number, one.__code__, monitoring.events.LINE)
        f(X)
        assert seen.count("one") == 2
    finally:
        monitoring.set_events(number, 0)
        monitoring.set_local_events(number, one.__code__, 0)
        monitoring.free_tool_id(number)


PROGRAM = """
import duograph as ms

@ms.jit
def f(x):
    y = x * 2
    return y + 1

x = ms.Tensor([1.0])
for i in range(4):
    print("result", f(x))
print("versions", len(f.explain().versions))
"""


def test_pdb(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    typed = "b 6\nc\np ('stopped', float(x[0]))\nc\nclear 1\nc\nq\n"
    done = subprocess.run(
        [sys.executable, "-m", "pdb", str(file)], input=typed, capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip
    assert "-> y = x * 2" in done.stdout
    assert "('stopped', 1.0)" in done.stdout
    assert done.stdout.count("result [3.]") == 4
    assert "versions 1" in done.stdout  # after the last breakpoint is gone
    assert done.stderr.count("Compiled functions run as plain Python") == 1
