"""``python -m duograph explain`` and ``doctor``: they answer however a program ends; logs; wrong variables."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from duograph.base import logs
from duograph.base.config import VARIABLES, configure
from duograph.compat import doctor
from tests.children import PATIENCE

ROOT = Path(__file__).parents[3]

MAIN = """
import sys
import mindspore as ms

def main():
    f = ms.jit(lambda x: x * 2)
    print(f(ms.Tensor([1.0])), sys.argv[1:])
    {end}

main()
"""


def run(
    *arguments: str, cwd: Path | None = None, stdout: int = subprocess.PIPE, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "duograph", *arguments],
        stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False, cwd=cwd,
        env={**os.environ, **variables},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("end", "status", "last"),
    [
        ("", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("raise ValueError('mine')", 1, "ValueError: mine"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT); input()", 130, "KeyboardInterrupt"),
    ],
)
def test_explain_answers_however_a_program_ends(tmp_path, end, status, last):
    script = tmp_path / "script.py"
    script.write_text(MAIN.format(end=end))
    done = run("explain", str(script), "--full", "-m", "x")
    assert done.stdout == "[2.] ['--full', '-m', 'x']\n", "a program's arguments are its own"
    assert done.returncode in (status, status - 128 - 2 - 2)  # Python's own status, or the signal's
    lines = done.stderr.splitlines()
    assert re.fullmatch(
        r"1 of 1 call ran compiled code \(1 version with 3 operators\), [\d.]+% of the operators", lines[0]
    )
    assert lines[2] == f"main.<locals>.<lambda> ({script}:6): 1 compiled version"
    assert lines[-1] == last or not last
    assert "of duograph not shown" not in done.stderr


def test_explain_of_modules_code_notebooks_and_the_demonstration(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(MAIN.format(end=""))
    done = run("explain", "--full", "-m", "package", "--full", cwd=tmp_path)
    assert done.stdout == "[2.] ['--full']\n" and "make_tuple" in done.stderr
    done = run("explain", "-c", MAIN.format(end=""), "a")
    assert done.stdout == "[2.] ['a']\n" and done.stderr.startswith("1 of 1 call ran compiled code")
    book = tmp_path / "book.ipynb"
    cells = [{"cell_type": "code", "source": [MAIN.format(end="")]}]
    book.write_text(json.dumps({"cells": cells}))
    assert run("explain", str(book)).stderr.startswith("1 of 1 call ran compiled code")
    done = run("explain", "demo", "--network", "mlp", "--epochs", "1")
    assert done.returncode == 0 and "jit" in done.stdout
    assert "calls ran compiled code" in done.stderr and "digits.py" in done.stderr


def test_explain_says_what_ran_in_python(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import mindspore as ms\n@ms.jit\ndef f(x):\n    y = (x @ x).tanh() * 2\n    print(float(y.sum().asnumpy()))\n"
        "    return (y @ y).exp() + 1\nf(ms.ops.ones((4, 4)))\n"
    )
    text = run("explain", str(script)).stderr
    first = text.splitlines()[0]
    assert "between compiled parts ran in Python" in first and first.endswith("what helps.")
    assert f"f ({script}:2): 0 compiled versions, split into 2 compiled segments\n  graph break: " in text
    assert "script.py:5:" in text and " (1 time, " in text and "outside of the function." in text
    assert text.count("graph break") == 1 and "cannot be compiled" not in text


def test_explain_of_a_program_that_is_no_python(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("x = (1\n")
    done = run("explain", str(script))
    assert done.returncode == 1 and "SyntaxError" in done.stderr and "compiled" not in done.stderr


@pytest.mark.parametrize("text", ['{"cells": [', '{"cells": 3}', "\xff", "[]"])
@pytest.mark.parametrize("command", [(), ("explain",)])
def test_a_damaged_notebook_is_one_line(tmp_path, text, command):
    book = tmp_path / "book.ipynb"
    book.write_text(text, encoding="latin-1")
    done = run(*command, str(book))
    assert done.returncode == 2 and done.stderr.startswith("duograph: 'book.ipynb' is not a notebook: ")
    assert len(done.stderr.splitlines()) == 1


def test_explain_without_anybody_who_reads_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import duograph as ms\nprint(ms.jit(lambda x: x * 2)(ms.Tensor([1.0])))\n")
    program = f"exec {sys.executable} -m duograph explain {script} 2>&-"
    done = subprocess.run(["/bin/sh", "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, "[2.]\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "duograph", "explain", str(script)],
        stdout=subprocess.PIPE, stderr=writing, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stdout) == (0, "[2.]\n")


def test_explain_of_nothing(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("print(1)\n")
    assert "no function with @jit was called" in run("explain", str(script)).stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("missing.py",), "duograph: no such file: 'missing.py'"),
        (("folder",), "duograph: there is no __main__.py in the folder 'folder'"),
        (("explain", "missing.py"), "duograph: no such file: 'missing.py'"),
        (("explain", "-m", "missing.module"), "duograph: no module named 'missing.module'"),
        (("explain",), "duograph explain: a program is needed (python -m duograph explain --help)"),
        (("--wrong",), "duograph: unknown option --wrong (python -m duograph --help lists the options)"),
    ],
)
def test_mistakes_are_one_line(tmp_path, arguments, text):
    (tmp_path / "folder").mkdir()
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr == f"{text}\n" and done.stdout == ""


@pytest.mark.parametrize("command", ["explain", "doctor", "demo", "launch", "reduce", "opt"])
def test_usage_of_a_command_is_its_own(command):
    done = run(command, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"usage: python -m duograph {command} ")
    assert "MindSpore script" not in done.stdout


def test_a_module_whose_own_import_fails_shows_why(tmp_path):
    (tmp_path / "broken.py").write_text("import no_such_library\n")
    done = run("explain", "-m", "broken", cwd=tmp_path)
    assert done.returncode == 1 and "no_such_library" in done.stderr and "broken.py" in done.stderr


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("GLOG_v", ("-c", "import mindspore")), ("DUOGRAPH_DUMP", ("doctor",)), ("DUOGRAPH_LOGS", ("explain", "demo"))],
)
def test_a_wrong_variable_is_one_line(name, arguments):
    done = run(*arguments, **{name: "./wrong"})
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"duograph: environment variable {name}='./wrong': expected ")
    assert done.returncode == 1 and done.stdout == ""


def test_a_misspelt_variable_is_said_once_and_a_launched_job_knows_its_own():
    program = "import mindspore, duograph.base.config as c; c.reset_config()"
    done = run("-c", program, DUOGRAPH_LOG="all", DUOGRAPH_QZ="1")
    said, known = "duograph: environment variable {} is not known and ignored; ", "did you mean DUOGRAPH_LOGS?"
    lines = [said.format("DUOGRAPH_LOG") + known]
    lines.append(said.format("DUOGRAPH_QZ") + "python -m duograph doctor --variables lists all")
    assert done.returncode == 0 and done.stderr.splitlines() == lines
    assert run("-c", "import mindspore", DUOGRAPH_LOG_FOLDER="x", DUOGRAPH_JOB_FOLDER="y").stderr == ""


def test_a_page_that_nobody_reads_to_its_end_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    done = run("doctor", "--variables", stdout=writing)
    os.close(writing)
    assert done.returncode == 1 and done.stderr == ""


# ---- logs ------------------------------------------------------------------------------------------------------------

PROGRAM = """
import mindspore as ms
f = ms.jit(lambda x: x * 2)
f(ms.Tensor([1.0])), f(ms.Tensor([[1.0]]))
def g(x):
    y = (x @ x).tanh()
    print(float(y.sum().asnumpy()))
    return (y @ y).exp()
ms.jit(g)(ms.ops.ones((4, 4)))
def h(x):
    yield x.asnumpy()
ms.jit(h)(ms.Tensor([1.0]))
"""
SAYS = {
    "captures": "captured in",
    "recompiles": "x was",
    "breaks": "<jit g>: asnumpy() of a tensor",
    "guards": "assumes",
    "kernels": "kernels: ",
    "fallbacks": "cannot be compiled",
}


@pytest.mark.parametrize("topic", SAYS)
def test_topics(topic):
    text = run("-c", PROGRAM, DUOGRAPH_LOGS=topic).stderr
    assert SAYS[topic] in text
    assert [other for other, words in SAYS.items() if words in text] == [topic]


def test_levels_and_the_standard_tree():
    text = run("-c", PROGRAM, GLOG_v="1").stderr
    assert [topic for topic, words in SAYS.items() if words not in text] == ["guards"]
    assert "[INFO] DUOGRAPH(" in text
    text = run("-c", PROGRAM, GLOG_v="0").stderr
    assert all(words in text for words in SAYS.values())
    program = f"import logging; logging.basicConfig(); logging.getLogger('duograph.breaks').setLevel(10)\n{PROGRAM}"
    text = run("-c", program).stderr
    assert "INFO:duograph.breaks:" in text and "captured in" not in text
    assert run("-c", PROGRAM).stderr == ""


def test_a_topic_is_a_logger_below_the_packages():
    logger = logs.topic("kernels")
    assert logger is logging.getLogger("duograph.kernels") and logger.parent is logging.getLogger("duograph")
    level = logger.level
    try:
        with configure(logs="kernels"):
            assert logs.topic("kernels").isEnabledFor(logging.DEBUG)
    finally:
        logger.setLevel(level)


# ---- doctor ----------------------------------------------------------------------------------------------------------


def test_doctor(tmp_path):
    done = run("doctor", DUOGRAPH_CACHE_DIR=str(tmp_path / "cache"), DUOGRAPH_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "Versions", "Machine", "Cache", "Settings", "Self-test", "Everything works.",
    ]  # fmt: skip
    shown = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert all(variable.environment in shown for variable in VARIABLES)
    assert shown["DUOGRAPH_NUM_THREADS"].split()[1:] == ["1", "(changed)"] and "(changed)" not in shown["MS_JIT"]
    assert str(tmp_path / "cache") in shown["folder"] and "files" in shown["contents"]
    assert {"numpy", "llvmlite", "processor", "cores"} <= set(shown)


def test_what_doctor_compares_is_compiled(monkeypatch):
    assert doctor._same_bits() == ""
    with configure(jit=False):
        assert doctor._same_bits() == ""
    plain = doctor.ms.jit(lambda v: eval("((v @ v).tanh() * 2 + v.exp()).sum()"))
    monkeypatch.setattr(doctor.ms, "jit", lambda function: plain)
    assert doctor._same_bits().startswith("nothing was compiled")


def test_doctor_gives_advice(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    done = run("doctor", DUOGRAPH_CACHE_DIR=str(file / "below"))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-2:] == [
        "Advice",
        f"  cache can be written: {doctor.ADVICE['cache can be written']}",
    ]
    assert set(doctor.ADVICE) == set(doctor.TESTS)


def test_the_page_of_variables_is_up_to_date():
    """`python -m duograph doctor --variables > docs/environment.md` writes it."""
    assert (ROOT / "docs" / "environment.md").read_text(encoding="utf-8") == doctor.variables_page()


MANY = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops
net = nn.SequentialCell(nn.Dense(2, 4), nn.ReLU(), nn.Dense(4, 1))
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.1)
grads = ms.grad(lambda x: net(x).sum(), None, optimizer.parameters)
@ms.jit
def step(x):
    optimizer(grads(x))
@ms.jit
def named(x, name):
    return x * 2 + len(name)
@ms.jit
def refused(x):
    return ms.Tensor(np.sort(x.asnumpy()))
x = ops.ones((3, 2))
step(x), step(x)
for i in range(4):
    named(x, "a" * i)
for _ in range(3):
    refused(x)
"""


def test_explain_gives_advice_and_says_what_is_alike_once():
    text = run("explain", "-c", MANY).stderr
    head = text.splitlines()[next(i for i, line in enumerate(text.splitlines()) if "ran compiled code" in line)]
    assert re.match(
        r"6 of 9 calls ran compiled code \(\d versions with \d+ operators\), [\d.]+% of the operators", head
    )
    (told,) = [line for line in text.splitlines() if line.startswith("  recompiled: ")]
    assert told.startswith(
        "  recompiled: name was 'aa', is 'aaa' (3 times, the latest is shown). Pass the value that varies as a"
    )
    plainly = text[text.index("refused (<string>") :]
    assert plainly.count("asnumpy()") == 3  # once as the message, the line of source, and below it
    assert "advice: Compute it with `ops`" in plainly and "3 calls ran as plain Python" in plainly
    full = run("explain", "--full", "-c", MANY).stderr
    guards = [line for line in full[: full.index("named")].splitlines() if line.startswith("  guard: ")]
    assert sum("<Adam>: " in line for line in guards) == 1 and len(guards) < 25, guards
    assert "4 parameters: shape and dtype of 0.weight, 0.bias, 2.weight, 2.bias" in full
    assert re.search(r"matmul\(.*# <string>:\d+ in SequentialCell\.0 \(Dense\)", full)


def test_functions_that_a_loop_makes_are_told_together():
    loop = "for i in range(5): ms.jit(lambda x, i=i: x * i)(ms.Tensor([1.0]))"
    text = run("explain", "-c", f"import duograph as ms\n{loop}").stderr
    assert text.count("<lambda> (<string>:2)") == 2
    assert "... and 3 more functions created at this line, with 3 compiled versions: define it once" in text


@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [
        ("MS_JIT", "0", "MS_JIT is 0"),
        ("DUOGRAPH_CHECK_NUMERICS", "warn", "while DUOGRAPH_CHECK_NUMERICS looks at each"),
    ],
)
def test_why_nothing_was_compiled(monkeypatch, variable, value, why):
    monkeypatch.setenv(variable, value)
    text = run("explain", "-c", "import duograph as ms\nms.jit(lambda x: x + 1)(ms.Tensor([1.0]))").stderr
    assert "nothing was compiled: " in text and why in text
