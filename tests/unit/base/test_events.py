"""Stages and listeners."""

import threading

import pytest

from duograph.base import events
from duograph.base.events import emit, is_listened_to, listen, record, stage


def test_stages_nest():
    with record() as log:
        with stage("compile", function="f"):
            with stage("capture"):
                emit("graph break", reason="print")
            with stage("capture"):
                pass
    assert [(e.kind, e.path) for e in log] == [
        ("begin", ("compile",)),
        ("begin", ("compile", "capture")),
        ("graph break", ("compile", "capture")),
        ("end", ("compile", "capture")),
        ("begin", ("compile", "capture")),
        ("end", ("compile", "capture")),
        ("end", ("compile",)),
    ]
    assert log.events[0].data == {"function": "f"}
    assert log.of_kind("graph break")[0].data == {"reason": "print"}
    times = log.times()
    assert times["compile",] >= times["compile", "capture"] > 0
    assert [line.split("x  ")[1] for line in log.table().splitlines()] == ["compile", "  capture"]
    assert " 2 x" in log.table()
    assert len(log) == 7


def test_stage_knows_its_duration_without_listeners():
    assert not is_listened_to()
    with stage("alone") as timer:
        emit("nobody hears")
    assert timer.duration > 0


def test_failing_stage_ends():
    with record() as log, pytest.raises(KeyError):
        with stage("outer"), stage("inner"):
            raise KeyError
    assert [e.error for e in log.of_kind("end")] == ["KeyError", "KeyError"]


def test_listeners_end_in_any_order():
    one, two = [], []
    first, second = listen(one.append), listen(two.append)
    first.__enter__()
    second.__enter__()
    emit("a")
    first.__exit__(None, None, None)
    emit("b")
    second.__exit__(None, None, None)
    emit("c")
    assert [e.kind for e in one] == ["a"] and [e.kind for e in two] == ["a", "b"]
    assert events._listeners == ()


def test_a_listener_that_fails_leaves_no_stage_open():
    def bad(event):
        if event.kind == "end":
            raise RuntimeError("listener")

    with listen(bad), pytest.raises(RuntimeError, match="listener"):
        with stage("s"):
            pass


def test_threads_have_their_own_path():
    with record() as log, stage("main"):
        thread = threading.Thread(target=lambda: emit("from thread"))
        thread.start()
        thread.join()
    assert log.of_kind("from thread")[0].path == ()
