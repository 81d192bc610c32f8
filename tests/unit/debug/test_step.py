"""Stepping: commands in, answers out, and not a bit of any result changes."""

from __future__ import annotations

import ast
import bdb
import io
import subprocess
import sys

import numpy as np
import pytest

import duograph as ms
from duograph import debug, nn, ops
from tests.first_contact.counts import ROOT, SECONDS
from tests.unit.jit.test_native_printing import stream


def inner(a):
    t = a * 2
    return ops.relu(t)


def program(x, n):
    h = inner(x)
    k = h + x
    if k.sum() > 0:
        k = k - 1
    i = 0
    while i < k.max():
        k = k - 1
        i = i + 1
    return k * n


X = np.array([1.0, 20.0, -3.0], np.float32)
LINE = program.__code__.co_firstlineno


def stepped(function, args, commands, **options):
    """What a call gives under these commands, and what the debugger has said."""
    out = io.StringIO()
    with debug.step(stdin=io.StringIO("".join(f"{c}\n" for c in commands)), stdout=out, **options):
        result = function(*args)
    return result, out.getvalue().replace(" \n", "\n")


def said(function, args, commands, **options):
    want = function(*args)
    result, text = stepped(function, args, commands, **options)
    assert same(result, want)
    return text


def same(a, b):
    return a.asnumpy().tobytes() == b.asnumpy().tobytes()


def test_lines_and_names_are_those_of_the_program():
    f = ms.jit(program)
    text = said(
        f,
        (ms.Tensor(X), 3),
        ["args", "step", "where", "next", "args", "next", "p t.shape, a.shape", "up", "p n, x.shape", "c"],
    )
    assert f"test_step.py({LINE + 1})program()" in text
    assert "-> t = a * 2" in text and "-> return ops.relu(t)" in text
    assert "n = 3" in text and "((3,), (3,))" in text and "(3, (3,))" in text
    assert "duograph/jit" not in text.replace("\\", "/")  # frames of the package are not shown
    assert text.index("test_lines_and_names") < text.index("program()\n-> h = inner(x)\n> ")


def test_values_are_under_their_names():
    f = ms.jit(program)
    text = said(f, (ms.Tensor(X), 1), ["next", "p h.tolist()", "next", "p k.tolist()", "next", "p k.tolist()", "c"])
    assert "[2.0, 40.0, 0.0]" in text and "[3.0, 60.0, -3.0]" in text


@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("backend", ["", "interpreter"])
def test_no_bit_changes(level, mode, backend):
    f = ms.jit(program, jit_level=level, capture_mode=mode, backend=backend)
    x = ms.Tensor(np.random.RandomState(0).standard_normal(300).astype(np.float32) * 3)
    want = f(x, 3)
    for commands in [["step"] * 60, ["next"] * 15, ["node 30", "back 7", "node 3"], []]:
        assert same(stepped(f, (x, 3), [*commands, "c", "c", "c"])[0], want)
    assert same(f(x, 3), want)


def test_back_goto_and_nodes():
    f = ms.jit(program)
    text = said(
        f,
        (ms.Tensor(X), 3),
        ["next", "next", "p 'k', k.tolist()", "goto 2", "where", "p t.tolist()", "back", "p a.tolist()", "nodes", "c"],
    )
    assert "'k', [3.0, 60.0, -3.0]" in text
    assert text.count("[2.0, 40.0, -6.0]") == 1 and "[1.0, 20.0, -3.0]" in text
    assert "     0  full : f32[], line" in text


def test_going_to_where_it_stands_stays_there():
    f = ms.jit(program)
    there = ["goto 2", "p t.tolist()"]
    text = said(f, (ms.Tensor(X), 3), [*there, *there, "node 0", "p t.tolist()", "back 0", "p t.tolist()", "c"])
    assert text.count("[2.0, 40.0, -6.0]") == 4
    assert said(f, (ms.Tensor(X), 3), ["goto 0", "goto 0", "p 'here'", "c"]).count("'here'") == 1


@pytest.mark.parametrize("keep", [0, 100, 1 << 30])
def test_going_back_needs_no_memory(keep):
    f = ms.jit(program)
    text = said(
        f,
        (ms.Tensor(X), 3),
        [
            f"until {LINE + 7}",
            "iteration 15",
            "p 'at', i",
            "iteration 2",
            "p 'at', i",
            "goto 3",
            "iteration 20",
            "p 'at', i",
            "c",
        ],
        keep=keep,
    )
    assert [line for line in text.splitlines() if "'at'" in line] == [f"(step) ('at', {i})" for i in (15, 2, 20)]


def counting(x):
    total = x * 0
    i = 0
    while i < x:
        total = total + i
        i = i + 1
    return total


def test_a_loop_of_ten_thousand_iterations():
    f = ms.jit(counting)
    text = said(
        f, (ms.Tensor(10000.0),), ["next", "iteration 9000", "p i", "iteration 9", "p i", "iteration 20000", "c"]
    )
    assert "(step) 9000\n" in text and "(step) 9\n" in text
    assert "the loop has ended before that iteration" in text


def with_print(x):
    y = x + 1
    print("y is", y.sum())
    return y * 2


def test_what_has_an_effect_has_it_once(monkeypatch):
    printed = stream(monkeypatch)
    f = ms.jit(with_print)
    f(ms.Tensor(X))
    result, text = stepped(f, (ms.Tensor(X),), ["next", "next", "back 2", "p y.tolist()", "next", "c"])
    assert "[2.0, 21.0, -2.0]" in text
    assert result.tolist() == [4.0, 42.0, -4.0]
    assert printed.getvalue() == "y is 21.0\n" * 2
    _, text = stepped(f, (ms.Tensor(X),), [], when="differs")
    assert "is not compared with eager mode: the call has effects" in text


def factorial(x, n):
    if n.sum() < 1:
        return x
    return x * factorial(x, n - 1)


def test_recursion():
    f = ms.jit(factorial)
    text = said(f, (ms.Tensor(2.0), ms.Tensor(3.0)), ["step"] * 12 + ["where", "c"])
    assert text.count("-> if n.sum() < 1:") >= 3
    said(f, (ms.Tensor(1.0), ms.Tensor(400.0)), ["c"])


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)

    def construct(self, x):
        h = self.fc(x)
        return ops.relu(h)


def test_cells():
    net = Net()
    text = said(ms.jit(net), (ms.Tensor(X.reshape(1, 3)),), ["p self.fc.weight.shape", "next", "p h.shape", "c"])
    assert "(2, 3)" in text and "(1, 2)" in text


def test_gradients_beside_values():
    f = ms.jit(program)
    text = said(f, (ms.Tensor(X), 3), ["next", "next", "grad h", "grad x", "grad nothing", "grad n", "c"])
    assert text.count("3.00000000e+00,  3.00000000e+00,  3.00000000e+00") == 1  # of h
    assert "9.00000000e+00,  9.00000000e+00,  3.00000000e+00" in text  # of x
    assert "no value of the graph has the name 'nothing'" in text


def in_branches(x):
    s = x
    for i in range(50):
        t = s * 1.5
        if t.sum() > 100:
            t = t / 4
        s = t - i * 0.001
    return s


def test_gradients_of_values_in_loops_and_branches():
    f = ms.jit(in_branches)

    def rest(t):  # what happens to it from iteration 20 on
        s = t
        for k in range(20, 50):
            t = t if k == 20 else s * 1.5
            if t.sum() > 100:
                t = t / 4
            s = t - k * 0.001
        return s

    text = said(
        f, (ms.Tensor([1.0, 2.0]),),
        ["next", "iteration 20", "next", "next", "p 't', t.tolist()", "grad t", "iteration 9", "grad s", "c"],
    )  # fmt: skip
    found = [t for t in text.splitlines() if "'t'" in t][0]
    value = ms.Tensor(ast.literal_eval(found.removeprefix("(step) "))[1])
    want = ms.grad(lambda t: rest(t).sum())(value)
    assert repr(want) in text and text.count("(step) Tensor(shape=[2]") == 2


def test_forward_and_backward_graphs():
    f = ms.jit(lambda x: (ops.sin(x) * x * x).sum())
    x = ms.Tensor(np.linspace(-1, 1, 4000).astype(np.float32))
    want = ms.grad(f)(x)
    result, text = stepped(ms.grad(f), (x,), ["c"] * 4)
    assert same(result, want) and text.count("<lambda>()") >= 1


def with_nan(x):
    a = x * 2
    b = ops.log(a)
    return b + 1


def test_conditions():
    f = ms.jit(with_nan)
    want = f(ms.Tensor(X))
    result, text = stepped(f, (ms.Tensor(X),), ["p a.tolist(), b.shape", "c"], when="nan")
    assert "log : f32[3], line" in text and "([2.0, 40.0, -6.0], (3,))" in text and text.count("node ") == 1
    assert same(result, want)
    _, text = stepped(f, (ms.Tensor(X),), ["c"] * 3, when=(-3, 30))
    assert text.count("mul : f32[3]") == 1
    _, text = stepped(f, (ms.Tensor(X),), ["c"] * 3, when=lambda name, value: name == "log")
    assert text.count("as asked for") == 1
    _, text = stepped(f, (ms.Tensor(X),), [], when="differs")
    assert text == ""
    with pytest.raises(ValueError, match="'when' must be"):
        debug.step("other")


def test_the_first_difference_from_eager_is_found(monkeypatch):
    f = ms.jit(with_nan)
    x = ms.Tensor(np.abs(X))
    f(x)
    from duograph.debug.step import run

    value_of = run.value_of
    monkeypatch.setattr(
        run, "value_of", lambda s, frame: value_of(s, frame) + 1 if s.node.op.name == "log" else value_of(s, frame)
    )
    _, text = stepped(f, (x,), ["c"] * 3, when="differs")
    assert text.startswith("node 2, log : f32[3]") and "eager mode has another value here" in text


def never(x):
    y = x.asnumpy().tolist()
    z = eval("len(y)")
    return x * z


def test_what_does_not_compile_is_stepped_through_plainly():
    f = ms.jit(never)
    f(ms.Tensor(X))
    _, text = stepped(f, (ms.Tensor(X),), ["next", "p y", "c"] + ["c"] * 9)
    assert "-> y = x.asnumpy().tolist()" in text or "-> z = eval" in text


def test_recompilations_lambdas_and_exec():
    f = ms.jit(lambda x: ops.relu(x) * 2)
    for n in range(1, 6):
        assert "relu" in said(
            f,
            (ms.Tensor(X[:1].repeat(n)),),
            ["node 2", "p _relu_%d" % test_recompilations_lambdas_and_exec.__code__.co_firstlineno, "nodes", "c"],
        )
    text = "def e(x):\n    y = x + 1\n    return y * y\n"
    names = {}
    exec(compile(text, "<a text of its own>", "exec"), names)
    assert "<a text of its own>(2)e()\n-> y = x + 1" in said(ms.jit(names["e"]), (ms.Tensor(X),), ["next", "c"])
    for other in (text, f"pass\n{text}", text):  # sources of one name
        exec(other, names)
        assert "(step)" in said(ms.jit(names["e"]), (ms.Tensor(X),), ["next", "p y", "c"])


def test_a_program_that_raises():
    def f(x):
        y = x + 1
        if y.sum() > 0:
            raise ValueError("too large")
        return y

    g = ms.jit(f)
    with pytest.raises(ValueError, match="too large"):
        g(ms.Tensor(X))
    with pytest.raises(ValueError, match="too large"):
        stepped(g, (ms.Tensor(X),), ["c"] * 9)


def test_quitting_and_the_end_of_commands():
    f = ms.jit(program)
    for commands in (["quit"], ["next"], ["node 3", "quit"]):
        with pytest.raises(bdb.BdbQuit):
            stepped(f, (ms.Tensor(X), 3), commands)
        assert sys.gettrace() is None
        assert f(ms.Tensor(X), 3).shape == (3,)


def test_bad_commands_are_told():
    f = ms.jit(program)
    text = said(
        f,
        (ms.Tensor(X), 3),
        ["goto x", "goto -1", "iteration -1", "iteration", "back 9", "nodes", "node x", "p h", "c"],
    )
    assert text.count("a number is needed") == 3
    assert text.count("***") == 7


def test_what_is_tried_at_the_prompt_changes_nothing():
    f = ms.jit(program)
    text = said(f, (ms.Tensor(X), 3), ["next", "h.add_(1)", "h[0] = 5", "h = None", "x2 = h", "c"])
    assert "Traceback" not in text
    x = ms.Tensor(X)
    want = ms.grad(f)(x, 3)
    assert same(stepped(ms.grad(f), (x, 3), ["p x * 2", "!f(x, 2)", "c"] + ["c"] * 9)[0], want)


def test_large_values_are_summarised():
    big = ms.Tensor(np.zeros(1 << 24, np.float32))
    text = said(ms.jit(lambda x: ops.relu(x) + 1), (big,), ["node 2", "p x", "nodes", "c"])
    assert "f32[16777216], line" in text and len(text) < 3000


def test_an_option_of_jit(monkeypatch):
    f = ms.jit(program, debug=True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("next\np h.tolist()\nc\n"))
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    result = f(ms.Tensor(X), 3)
    monkeypatch.undo()
    assert "[2.0, 40.0, 0.0]" in out.getvalue()
    assert same(result, program(ms.Tensor(X), 3))
    with pytest.raises(TypeError, match="'debug' must be a bool"):
        ms.jit(program, debug=1)


def test_it_is_alone():
    with ms.profile(), pytest.raises(RuntimeError, match="profiled"):
        debug.step().__enter__()


SCRIPT = """\
import duograph as ms
from duograph import debug
@ms.jit
def f(x):
    y = x * 2
    z = y + 1
    return z
f(ms.Tensor([1.0]))
with debug.step():
    r = f(ms.Tensor([1.0]))
print(r, "is the end")
"""


def test_another_debugger_gets_the_frames(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    commands = "break 6\nc\np y\nc\nwhere\np y\nc\n"
    done = subprocess.run(
        [sys.executable, "-m", "pdb", str(script)], input=commands + "q\n", capture_output=True, text=True, cwd=ROOT,
        timeout=SECONDS,
    )  # fmt: skip
    assert "script.py(6)f()" in done.stdout and "2.00000000e+00" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("2.00000000e+00") == 2 and "<module>()" in done.stdout
    assert "[3.] is the end" in done.stdout


def in_place(x):
    h = x * 2
    h.add_(1)
    h += 1
    g = h + 0
    return g


def test_variables_that_are_written_to():
    text = said(
        ms.jit(in_place), (ms.Tensor(X),), ["next", "p h.tolist()", "next", "p h.tolist()", "next", "p h.tolist()", "c"]
    )
    assert [t for t in text.splitlines() if "[" in t and ">" not in t] == [
        "(step) [2.0, 40.0, -6.0]", "(step) [3.0, 41.0, -5.0]", "(step) [4.0, 42.0, -4.0]",
    ]  # fmt: skip
