"""What a user sees of an error that nobody catches: the own lines, and how many frames of the package are not shown."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.children import PATIENCE

PROGRAM = """
import sys, threading
import numpy as np
import duograph as ms

def mistake(x):
    return x.reshape(5, -1)

def chained(x):
    try:
        mistake(x)
    except ValueError as error:
        raise KeyError("outer") from error

x = ms.Tensor(np.ones((2, 8), np.float32))
"""


def shown(tmp_path, last, **environment):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + last)
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**_environment(), **environment},
    )
    return done.stderr


def _environment():
    return {name: value for name, value in os.environ.items() if name != "DUOGRAPH_TRACEBACK"}


@pytest.mark.parametrize("call", ["mistake(x)", "ms.jit(mistake)(x)"])
def test_frames_of_the_package_are_folded(tmp_path, call):
    text = shown(tmp_path, call)
    assert "program.py" in text and "duograph/api" not in text and "duograph/jit" not in text
    assert "ValueError: proposed_shape '[const vector]{5, -1}' is invalid for input of size 16" in text
    assert "reshape([2, 8], [5, -1])" in text and "help: 16 elements cannot be divided into groups of 5" in text
    assert "of duograph not shown; DUOGRAPH_TRACEBACK=full shows them)" in text


def test_all_frames_when_asked_for(tmp_path):
    text = shown(tmp_path, "mistake(x)", DUOGRAPH_TRACEBACK="full")
    assert "duograph/api" in text and "not shown" not in text


def test_causes_and_threads(tmp_path):
    text = shown(tmp_path, "thread = threading.Thread(target=chained, args=(x,)); thread.start(); thread.join()")
    assert "Exception in thread" in text and "direct cause" in text and "KeyError: 'outer'" in text
    assert "duograph/api" not in text and "not shown" in text


def test_errors_of_the_program_alone_are_as_ever(tmp_path):
    assert "not shown" not in shown(tmp_path, "raise SystemError('mine')")


def test_the_exception_keeps_its_traceback_and_a_hook_of_the_program_is_left_alone(tmp_path):
    last = """
def mine(kind, error, trace):
    count = 0
    while trace is not None:
        count, trace = count + 1, trace.tb_next
    print("frames", count > 3, file=sys.stderr)

sys.excepthook = mine
mistake(x)
"""
    assert shown(tmp_path, last) == "frames True\n"
    again = "try:\n    mistake(x)\nexcept ValueError as error:\n    kept = error\n"
    again += (
        "before = kept.__traceback__\nsys.excepthook(ValueError, kept, before)\nassert kept.__traceback__ is before"
    )
    assert "AssertionError" not in shown(tmp_path, again)
