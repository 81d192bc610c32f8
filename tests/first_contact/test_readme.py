"""What the README says is so: each command in it, and each claim that can be run.

`test_demo.py` has its first command; that eager and compiled code give the same bits is said there, too.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import duograph as ms
from bench._problems import PROBLEMS
from duograph import nn
from tests.distributed.jobs import needs_mpi, refusal_of_the_machine, run

from .counts import ROOT, child

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS: dict[str, str | None] = {
    "python -m venv .venv && .venv/bin/pip install -e . && .venv/bin/python -m duograph demo": "test_demo.py",
    "python -m duograph explain script.py": "test_explain_answers_however_a_program_ends",
    "python -m duograph explain --html report.html script.py": "test_a_page_is_written",
    "python -m duograph explain --profile --html report.html script.py": "test_a_page_with_times_is_written",
    "python -m duograph doctor": "test_the_doctor_finds_nothing",
    "python -m duograph reduce failure.mindir": "test_a_graph_that_fails_is_replayed",
    "python -m duograph script.py": "test_a_script_of_mindspore_runs_unchanged",
    "pip install '.[mpi]'": None,
    "python -m duograph launch -n 2 examples/many_processes.py": "test_one_program_on_two_processes",
    "bash scripts/test": None,
}


def test_each_command_is_run_somewhere():
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert commands == list(COMMANDS)
    for test in filter(None, COMMANDS.values()):
        assert test in globals() or (Path(__file__).parent / test).is_file()


SCRIPT = """\
import mindspore
import mindspore as ms
import mindspore.nn as nn
from mindspore import Tensor, ops
from mindspore.common.initializer import Normal


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init=Normal(0.02))

    def construct(self, x):
        return ops.relu(self.fc(x))


ms.set_seed(1)
net, x = Net(), Tensor([[1.0, 2.0, 3.0]], mindspore.float32)
dynamic = net(x).asnumpy().tobytes()
ms.set_context(mode=ms.GRAPH_MODE)
print(net(x).shape, net(x).asnumpy().tobytes() == dynamic, ms.jit(lambda x: x * 2 + 1)(Tensor([1.0])))
"""
PRINTED = "(1, 2) True [3.]\n"


def test_a_script_of_mindspore_runs_unchanged(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = child("-m", "duograph", str(script))
    assert (done.returncode, done.stdout) == (0, PRINTED), done.stderr


def test_a_script_of_mindspore_runs_with_the_other_name(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("mindspore", "duograph"), encoding="utf-8")
    done = child(str(script))
    assert (done.returncode, done.stdout) == (0, PRINTED), done.stderr


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_program_prints_what_it_says_in_both_modes():
    (program,), printed = blocks("python"), blocks("text")[0]
    for mode in ("1", "0"):
        done = child("-c", program, MS_JIT=mode)
        assert (done.returncode, done.stdout) == (0, printed), done.stderr


def test_the_picture_of_explain(tmp_path):
    (program,) = blocks("python")
    line = "    optimizer(gradients)\n"
    assert program.count(line) == 1
    script = tmp_path / "program.py"
    script.write_text(program.replace(line, f"{line}    print(float(loss))\n"), encoding="utf-8")
    done = child("-m", "duograph", "explain", "program.py", cwd=tmp_path)

    def without_times(text):
        return re.sub(r"[\d.]+ ms", "n ms", text)

    assert without_times(done.stderr) == without_times(blocks("text")[1])


def test_the_doctor_finds_nothing():
    done = child("-m", "duograph", "doctor")
    assert done.returncode == 0 and done.stdout.endswith("Everything works.\n"), done.stdout


def test_what_pytorch_users_write_instead_is_there():
    """The right column of the table, run."""
    net = nn.Dense(2, 1)
    forward = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    _, gradients = forward(ms.ops.ones((3, 2)))
    nn.SGD(net.trainable_params(), 0.1)(gradients)
    assert net.set_train().training and not net.set_train(False).training
    assert ms.mint.add(ms.Tensor(1.0), ms.Tensor(2.0), alpha=2) == 5
    for name in ("nn.Cell", "`construct`", "ms.jit(f)", "optimizer(gradients)", "net.set_train(False)", "mint.add"):
        assert name in README


PROGRAM = """\
import sys
import time
import mindspore as ms

def main(n):
    def double(x):
        return x * 2
    def timed(x):
        y = x * x + x.mean() - 1
        time.sleep(0)
        return (y * y).sum() - x.mean()
    f, g = ms.jit(double), ms.jit(timed)
    for _ in range(n):
        f(ms.Tensor([1.0])), g(ms.Tensor([1.0, 2.0]))
    print(sys.argv[1:])

main(3)
"""
ENDS = {
    "by itself": ("", 0),
    "by sys.exit": ("sys.exit(3)\n", 3),
    "by an exception": ("raise KeyError('the end')\n", 1),
}


@pytest.mark.parametrize("is_module", [False, True], ids=["a script", "a module"])
@pytest.mark.parametrize("end", ENDS)
def test_explain_answers_however_a_program_ends(end, is_module, tmp_path):
    """Also of functions that are gone by then, and options of the program are the program's."""
    text, status = ENDS[end]
    script = tmp_path / "script.py"
    script.write_text(PROGRAM + text, encoding="utf-8")
    program = ("-m", "script") if is_module else (str(script),)
    done = child("-m", "duograph", "explain", *program, "--full", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (status, "['--full']\n"), done.stderr
    assert f"main.<locals>.double ({script}:6): 1 compiled version\n" in done.stderr
    assert "called 3 times" in done.stderr
    assert f"main.<locals>.timed ({script}:8): 0 compiled versions, split into" in done.stderr
    assert "graph break: a call of time.sleep, which is not known to be free of effects" in done.stderr
    assert ("KeyError: 'the end'" in done.stderr) == (status == 1)


def test_a_page_is_written(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM, encoding="utf-8")
    done = child("-m", "duograph", "explain", "--html", "report.html", str(script), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a call of time.sleep" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_graph_that_fails_is_replayed(tmp_path):
    (tmp_path / "failure.mindir").write_text(
        "graph @f(%x: f32[3]) -> f32[3] {\n  %0 = exp(%x) : f32[3]\n  return %0\n}\n", encoding="utf-8"
    )
    done = child("-m", "duograph", "reduce", "failure.mindir", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "it does not fail here\n"), done.stderr


def test_a_page_with_times_is_written(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PROGRAM, encoding="utf-8")
    done = child("-m", "duograph", "explain", "--profile", "--html", "report.html", str(script), cwd=tmp_path)
    assert done.returncode == 0 and "of compiled functions" in done.stderr, done.stderr
    assert '"spans"' in (tmp_path / "report.html").read_text(encoding="utf-8")


@needs_mpi
def test_one_program_on_two_processes():
    if why := refusal_of_the_machine():
        pytest.skip(f"MPI alone does not run two processes on this machine: {why}")
    job = run(str(ROOT / "examples" / "many_processes.py"), "--epochs", "1", count=2)
    assert job.status == 0, job.err
    assert job.out.startswith("digits, 2 processes: accuracy ")


def test_no_compiler_is_needed_and_kernels_are_kept(tmp_path):
    """With no program in reach, and nothing compiled before."""
    code = "import duograph as ms\nprint(ms.jit(lambda x: ms.ops.tanh(x) * 0 + 1)(ms.Tensor([1.0])))"
    empty, cache = tmp_path / "empty", tmp_path / "cache"
    empty.mkdir()
    done = child("-c", code, PATH=str(empty), DUOGRAPH_CACHE_DIR=str(cache))
    assert (done.returncode, done.stdout) == (0, "[1.]\n"), done.stderr
    assert [path for path in cache.rglob("*") if path.is_file()]


def test_wheels_are_pure_and_for_the_pythons_that_are_named():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    first, last = re.search(r"CPython 3\.(\d+) to\s+3\.(\d+)", README.replace("\n", " ")).groups()
    assert project["project"]["requires-python"] == f">=3.{first},<3.{int(last) + 1}"
    assert list(project["tool"]["hatch"]["build"]["targets"]) == ["wheel", "sdist"]
    built = {".c", ".cc", ".cpp", ".cu", ".dll", ".dylib", ".h", ".pyd", ".pyx", ".rs", ".so"}
    assert [path for path in (ROOT / "src" / "duograph").rglob("*") if path.suffix in built] == []


def test_the_table_of_speed_is_of_networks_that_are_counted():
    """What `test_networks.py` shows to be one version is what is timed."""
    timed = re.findall(r"^\| ([^|]+?) \|", README, re.MULTILINE)
    assert set(PROBLEMS) <= set(timed)
