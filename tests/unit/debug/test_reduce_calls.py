"""Failures of capture, guards and native calls: the call is written as a program, replayed and made small."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.base.config import configure
from duograph.base.failures import forget_failures
from duograph.debug.hunt import files
from duograph.debug.hunt.command import main
from duograph.frontend.ast.loops import Loops
from duograph.frontend.guards.guard import GuardSet

SCALE, WEIGHT = 2.5, Tensor(np.arange(4, dtype=np.float32).reshape(2, 2))
LAYER = nn.Dense(2, 2)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of failures of its own, and a process that has had none."""
    monkeypatch.setattr(files, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(files, "_written", {})
    forget_failures()
    yield tmp_path / "failures"
    forget_failures()


def helper(x, times: int = 3):
    for _ in range(times):
        x = ops.tanh(x) * SCALE
    return x


@ms.jit
def program(x, limit, *, names=("a", "b")):
    h = helper(x @ WEIGHT)
    if len(names) == 2:
        h = LAYER(h) + 1
    if h.sum() < limit:
        h = h + ops.exp(h)
    y = h * limit
    return y.sum() + len(names)


def planted(*_, **__):
    raise KeyError("planted")


ARGS = Tensor([[1.0, 2.0]]), 100.0


def test_a_failure_of_capture(place, monkeypatch, capfd):
    with configure(jit=False):
        want = program(*ARGS)
    fresh = ms.jit(program.fn)
    monkeypatch.setattr(Loops, "exec_For", planted)
    told = r"written to .*\.py: `python -m duograph reduce"
    with configure(failures="answer"), pytest.warns(RuntimeWarning, match=told):
        assert fresh(*ARGS).tolist() == want.tolist()
    (file,) = place.iterdir()
    text = file.read_text(encoding="utf-8")
    assert "# replay: python -m duograph reduce --check" in text and "# program: DUOGRAPH_FAILURES=raise" in text
    assert main(["--check", str(file)]) == 1
    assert capfd.readouterr().out.startswith("it fails: a compiled version: KeyError")
    assert main([str(file)]) == 0
    told = capfd.readouterr().out
    small = Path(str(file).removesuffix(".py") + ".small.py")
    lines = [line for line in small.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert "for _ in" in told and "tanh" not in told and "LAYER" not in told and len(lines) <= 12, told
    assert f"lines became {len(lines)}" in told
    assert main(["--check", str(small)]) == 1
    monkeypatch.undo()
    assert main(["--check", str(small)]) == 0
    assert main([str(small)]) == 0
    assert "it does not fail here" in capfd.readouterr().out
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == str(want), done.stderr  # the program is that of the user


def test_a_failure_of_a_guard(place, monkeypatch, capfd):
    native = GuardSet.native_form
    is_hit = lambda self, args: planted() if any("SCALE" in str(g) for g in self.guards) else native(self, args)  # noqa: E731
    fresh = ms.jit(program.fn)
    monkeypatch.setattr(GuardSet, "native_form", is_hit)
    with configure(failures="answer"), pytest.warns(RuntimeWarning):
        for _ in range(3):
            fresh(*ARGS)
        fresh(Tensor([[1.0, 2.0]]), 101.0)
    found = list(place.iterdir())
    assert found and all(file.suffix == ".py" for file in found)
    assert main([str(found[0])]) == 0
    told = capfd.readouterr().out
    assert "SCALE" in told and "exp" not in told and "it fails: a guard: KeyError" in told


class Odd:
    """Nothing that can be written down: it is local to a test."""

    def __reduce__(self):
        raise TypeError("no")


def test_what_cannot_be_written_is_told_with_its_program(place, monkeypatch, capfd):
    odd = Odd()

    @ms.jit
    def f(x):
        for _ in range(3):
            x = x + 1
        return x, odd

    monkeypatch.setattr(Loops, "exec_For", planted)
    with configure(failures="answer"), pytest.warns(RuntimeWarning):
        f(Tensor([0.0]))
    (file,) = place.iterdir()
    assert file.suffix == ".txt"
    assert main([str(file)]) == main(["--check", str(file)]) == 0
    told = capfd.readouterr().out
    assert "the call is not written down: a Odd cannot be written: no" in file.read_text(encoding="utf-8")
    assert "KeyError: 'planted'" in told and "to replay it: DUOGRAPH_FAILURES=raise" in told
    file.write_text("nothing", encoding="utf-8")
    assert main([str(file)]) == 2


SCRIPT = """
import sys
from dataclasses import dataclass
import duograph as ms
from duograph import nn, ops
from duograph.frontend.ast.loops import Loops


@dataclass
class Sizes:
    width: int = 2


class Twice(nn.Cell):
    def twice(self, x: "ms.Tensor") -> ms.Tensor:
        for _ in range(2):
            x = act(x)
        return x


class Net(Twice):
    def __init__(self, sizes: Sizes):
        super().__init__()
        self.sizes = sizes

    def construct(self, x):
        return self.twice(x) * self.sizes.width


def act(x):
    return ops.relu(x) + 1


def planted(*_, **__):
    raise KeyError("planted")


net, how = Net(Sizes()), sys.argv[1]
Loops.exec_For = planted
x = ms.Tensor([1.0, -2.0])
if how == "global":
    @ms.jit
    def step(x):
        return net(x)
    step(x)
elif how == "cell":
    ms.jit(net)(x)
else:
    ms.set_context(mode=ms.GRAPH_MODE)
    net(x)
"""


@pytest.mark.parametrize("how", ["global", "cell", "graph"])
def test_classes_of_the_script_are_written_down(tmp_path, monkeypatch, capfd, how):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    variables = {**os.environ, "DUOGRAPH_CACHE_DIR": str(tmp_path / "cache"), "DUOGRAPH_FAILURES": "answer"}
    command = [sys.executable, str(script), how]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert "written to" in done.stderr, done.stderr
    (file,) = (tmp_path / "cache" / "failures").iterdir()
    assert file.suffix == ".py", file.read_text(encoding="utf-8")
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "[6. 4.]\n", done.stderr
    monkeypatch.setattr(Loops, "exec_For", planted)
    assert main(["--check", str(file)]) == 1
    assert "KeyError" in capfd.readouterr().out


def test_a_part_that_does_not_end_is_no_failure(tmp_path):
    calls = importlib.import_module("duograph.debug.hunt.calls")
    assert calls.why_the_call_fails("while True:\n    pass\n", 0.2) == ""
    assert calls.why_the_call_fails("import os\nos._exit(1)\n") == ""
    path = tmp_path / "x.py"
    path.write_text("while (", encoding="utf-8")
    assert main([str(path)]) == 2
    assert os.path.exists(path)
