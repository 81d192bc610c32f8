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


NOTEBOOK = r"""
import sys, types, traceback

class Style:
    def structured_traceback(self, kind, error, trace, tb_offset=None, context=5):
        parts = [f"{kind.__name__}  Traceback (most recent call last)"]
        for frame in traceback.extract_tb(trace):
            before = [f"      {frame.lineno - 1} before"] * (context > 1)
            line = f"----> {frame.lineno} {frame.line}"
            parts.append("\n".join([f"\x1b[36mCell\x1b[39m {frame.name}", *before, line, ""]))
        return [*parts, "".join(traceback.format_exception_only(error))]

class Shell:  # as much of IPython as is asked
    custom_exceptions = ()
    InteractiveTB = Style()
    run_code = eval(compile("lambda self: 0", "shell.py", "eval"))
    def set_custom_exc(self, kinds, handler):
        self.custom_exceptions, self.handler = kinds, handler
    def showtraceback(self, found, tb_offset=None):
        print(*self.InteractiveTB.structured_traceback(*found, tb_offset=tb_offset), sep="\n")

shell = Shell()
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
"""
SHOWN = """
def inner(x):
    return ms.jit(mistake)(x)
for wrong in (lambda: inner(x), lambda: 1 / 0):
    try:
        wrong()
    except Exception as error:
        shell.handler(shell, type(error), error, error.__traceback__)
"""


def test_notebooks_fold(tmp_path):
    """IPython has its own hook: the first and the last frame of the user, a line each."""
    path = tmp_path / "program.py"
    path.write_text(NOTEBOOK + PROGRAM + SHOWN)
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, check=True, timeout=PATIENCE, env=_environment()
    )
    first, _, second = done.stdout.partition("ZeroDivisionError  Traceback")
    lines = first.splitlines()
    ran = [line for line in lines if line.startswith("---->")]
    assert len(lines) <= 13 and "" not in lines[:-1]  # IPython itself adds a rule above, and the line that folds
    assert [line.split(" ", 2)[2] for line in ran] == ["wrong()", "return x.reshape(5, -1)"]
    assert "before" not in first and "before" in second, "errors of others are shown as ever"
    assert done.stderr.count("frames of duograph not shown") == 1


def test_constructors_that_are_made_are_of_the_package(tmp_path):
    text = shown(tmp_path, "ms.nn.Dropout(p=1.5)\n")
    assert "<string>" not in text and "ms.nn.Dropout(p=1.5)" in text


def test_one_suggestion_for_a_misspelt_name(tmp_path):
    text = shown(tmp_path, "ms.nn.Conv2D\n")
    assert "the nearest name is 'Conv2d'" in text and "Did you mean" not in text
