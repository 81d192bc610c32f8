"""Internal failures are written down, replayed by a command, and made small."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import ops
from duograph.base.config import configure
from duograph.base.failures import InternalFailure, first_failures, forget_failures
from duograph.debug.hunt import files
from duograph.debug.hunt.command import main
from duograph.debug.hunt.files import Case, read_case
from duograph.debug.hunt.shrink import shrunk
from duograph.ir.parser import parse
from duograph.ir.printer import print_graph

steps = importlib.import_module("duograph.runtime.programs.steps")
pipelines = importlib.import_module("duograph.passes.pipelines")
executable = importlib.import_module("duograph.runtime.programs.executable")


def program(x, w):
    y = ops.relu(x @ w)
    z = ops.exp(y) + 1
    return (z * y).sum() + 3


ARGS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), np.ones((4, 2), np.float32)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of failures of its own, and a process that has had none."""
    monkeypatch.setattr(files, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(files, "_written", {})
    forget_failures()
    yield tmp_path / "failures"
    forget_failures()


def plant(monkeypatch, module, name, is_hit):
    """From now on a function raises where ``is_hit`` of its arguments."""
    real = getattr(module, name)

    def planted(*args, **kwargs):
        if is_hit(*args):
            raise KeyError("planted")
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, planted)


def has_exp(group, *_):
    return any(node.op.name == "exp" for node in group.nodes)


def test_a_failure_is_written_replayed_and_made_small(place, monkeypatch, capsys):
    plant(monkeypatch, steps, "lower_group", has_exp)
    f = ms.jit(program)
    want = program(*map(ms.Tensor, ARGS))
    with configure(failures="answer"), pytest.warns(RuntimeWarning) as told:
        assert f(*map(ms.Tensor, ARGS)).tolist() == want.tolist()
    (file,) = place.iterdir()
    assert f"written to {file}: `python -m duograph reduce {file}`" in str(told[0].message)
    assert str(file) in str(first_failures()[0])
    assert main(["--check", str(file)]) == 1
    assert capsys.readouterr().out.startswith("it fails: the fuser: KeyError")
    assert main([str(file)]) == 0
    small = Path(str(file).replace(".mindir", ".small.mindir"))
    told = capsys.readouterr().out
    assert re.search(rf"\d+ nodes became 1: python -m duograph reduce --check {small}", told)
    assert [node.op.name for node in read_case(str(small)).graph.nodes] == ["exp"]
    assert main(["--check", str(small)]) == 1
    monkeypatch.undo()
    assert main(["--check", str(small)]) == 0
    assert main([str(small)]) == 0
    assert "it does not fail here" in capsys.readouterr().out


def test_tests_are_told_as_well(place, monkeypatch):
    plant(monkeypatch, steps, "lower_group", has_exp)
    with pytest.raises(InternalFailure, match="python -m duograph reduce"):
        ms.jit(program)(*map(ms.Tensor, ARGS))
    assert len(list(place.iterdir())) == 1


def test_passes_verifier_and_code_generator(place, monkeypatch):
    compile_graph = pipelines.Pipeline.run
    monkeypatch.setattr(pipelines.Pipeline, "run", lambda *_, **__: 1 / 0)
    with configure(failures="answer"), pytest.warns(RuntimeWarning):
        ms.jit(program)(*map(ms.Tensor, ARGS))
    (file,) = place.iterdir()
    assert main(["--check", str(file)]) == 1
    monkeypatch.setattr(pipelines.Pipeline, "run", compile_graph)
    assert main(["--check", str(file)]) == 0
    plant(monkeypatch, executable, "Build", lambda *_: True)
    with configure(failures="answer"):
        ms.jit(program)(*map(ms.Tensor, ARGS))
    assert len(list(place.iterdir())) == 2


def test_other_values_are_a_failure(monkeypatch):
    graph = parse(
        "graph @main(%x: f32[4]) -> f32[4] {\n  %0 = exp(%x) : f32[4]\n  %1 = sin(%0) : f32[4]\n"
        "  %2 = mul(%1, %0) : f32[4]\n  %3 = neg(%2) : f32[4]\n  return %3\n}\n"
    )
    run = executable.Executable.run

    def planted(self, values, repeat=True):
        out = run(self, values, repeat)
        return out + 1 if any(n.op.name == "sin" for n in self.graph.nodes) else out

    monkeypatch.setattr(executable.Executable, "run", planted)
    small, values = shrunk(graph, 1, [np.ones(4, np.float32)])
    assert [node.op.name for node in small.nodes] == ["sin"]
    assert values is not None and values[0].tolist() == ops.exp(ms.Tensor(np.ones(4, np.float32))).tolist()
    monkeypatch.undo()
    with pytest.raises(ValueError, match="does not fail here"):
        shrunk(graph, 1, None)


def test_without_a_graph_the_program_is_the_command(place, monkeypatch):
    capturing = importlib.import_module("duograph.jit.capturing")
    plant(monkeypatch, capturing, "capture", lambda *_: True)
    with configure(failures="answer"), pytest.warns(RuntimeWarning):
        ms.jit(program)(*map(ms.Tensor, ARGS))
    (file,) = place.iterdir()
    text = file.read_text(encoding="utf-8")
    assert file.suffix == ".py" and "# program: DUOGRAPH_FAILURES=raise" in text and "KeyError: 'planted'" in text


def test_files_are_few_and_a_full_disk_is_no_failure(place, monkeypatch):
    plant(monkeypatch, steps, "lower_group", has_exp)
    with configure(failures="answer"), pytest.warns(RuntimeWarning):
        for n in range(1, 4):
            ms.jit(lambda x: ops.exp(x) * 2 + 1)(ms.Tensor(np.ones(n, np.float32)))
    assert len(list(place.iterdir())) == 1
    files._written.clear()
    monkeypatch.setattr(files, "folder", lambda: "/proc/none")
    with configure(failures="answer"):
        assert ms.jit(lambda x: ops.exp(x) * 2 + 1)(ms.Tensor([0.0])).tolist() == [3.0]


def test_a_file_is_read_back(tmp_path):
    text = "graph @g(%x: bf16[2], %n: int, %b: bool, %a: float) -> bf16[2] {\n  return %x\n}\n"
    graph = parse(text)
    x = ms.Tensor([1.5, 2.0], ms.bfloat16).array()
    path = tmp_path / "case.mindir"
    path.write_text(Case(graph, 2, [x, -3, True, float("inf")], "said").text(str(path)), encoding="utf-8")
    case = read_case(str(path))
    assert (case.level, case.said) == (2, "said")
    assert case.values[0].tobytes() == x.tobytes() and case.values[0].dtype == x.dtype
    assert case.values[1:] == [-3, True, float("inf")]
    assert print_graph(case.graph) == print_graph(graph)


def test_bad_input(tmp_path, capsys):
    path = tmp_path / "x.mindir"
    for text in (
        "",
        "graph",
        "# level: x\ngraph @g() -> int {\n return 1\n}",
        "# array k: f 3 abc\n",
        "# array k: float32 3 abcd\n",
        "# value: (\n",
        "# array k\n",
    ):
        path.write_text(text, encoding="utf-8")
        assert main([str(path)]) == 2
    assert main([str(tmp_path / "none")]) == 2
    assert "is not a graph" in capsys.readouterr().err
