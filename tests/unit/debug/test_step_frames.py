"""Stepping: loops that were unrolled, ends of functions, sources that have changed, debuggers of editors."""

from __future__ import annotations

import importlib
import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import debug, ops
from duograph.jit.page import collected

ROOT = Path(__file__).parents[3]
SECONDS = 120


def said(function, args, commands, **options):
    """What the debugger has said under these commands; the result is that of a call without it."""
    want = function(*args)
    out = io.StringIO()
    with debug.step(stdin=io.StringIO("".join(f"{c}\n" for c in commands)), stdout=out, **options):
        result = function(*args)
    assert result.asnumpy().tobytes() == want.asnumpy().tobytes()
    return out.getvalue().replace(" \n", "\n")


def told(text):
    return [line.removeprefix("(step) ") for line in text.splitlines() if line.startswith("(step) (")]


def counted(x):
    i = 0
    while i < 1000:  # the first iterations are unrolled
        x = x * 0.999 + ops.sin(x)
        i = i + 1
    return x


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_iterations_are_counted_from_the_first_that_was_unrolled(mode):
    plain, values = np.float32(1.0), []
    x = ms.Tensor([plain])
    for _ in range(41):
        values.append(x.item())
        x = x * 0.999 + ops.sin(x)
    text = said(
        ms.jit(counted, capture_mode=mode), (ms.Tensor([plain]),),
        ["iteration 500", "p (i,)", "iteration 40", "p (i, x.item())", "iteration 3", "p (x.item(),)", "iteration 999",
         "p (i,)", "iteration 1000", "c"],
    )  # fmt: skip
    assert told(text) == ["(500,)", f"(40, {values[40]!r})", f"({values[3]!r},)", "(999,)"]
    assert "the loop has ended before that iteration" in text


def nested(x):
    for i in range(3):
        for j in range(4):
            x = x * 1.5 + i * j
        for k in range(100):
            x = x - k
            if x.sum() > 3:
                x = x / 2
    return x


@pytest.mark.parametrize("mode", ["ast", "bytecode"])
def test_variables_of_unrolled_loops_and_loops_in_them(mode):
    first = nested.__code__.co_firstlineno
    text = said(
        ms.jit(nested, capture_mode=mode), (ms.Tensor([1.0]),),
        ["node 3", "iteration 2", "p (i, j)", "iteration 1", "p (i, j)",
         f"tbreak {first + 5}", "c", "iteration 50", "p (i, k)", "iteration 20", "p (i, k)", "iteration 99", "p (i, k)",
         f"tbreak {first + 3}", "c", "node 2", "p (i,)", "iteration 3", "p (i, j)", "iteration 1", "p (i, j)", "c"],
    )  # fmt: skip
    assert told(text) == ["(0, 2)", "(0, 1)", "(0, 50)", "(0, 20)", "(0, 99)", "(1,)", "(1, 3)", "(1, 1)"]


def inner(a):
    b = a * 3
    return ops.exp(b)


def outer(x):
    z = inner(x * 2)
    w = z.sum()
    return w


def test_functions_end_at_their_return():
    first = outer.__code__.co_firstlineno
    text = said(
        ms.jit(outer), (ms.Tensor([0.0]),), ["step", "next", "next", "next", f"break {first + 3}", "c", "p w", "c"]
    )
    assert f"test_step_frames.py({inner.__code__.co_firstlineno + 2})inner()->Tensor" in text
    assert f"> {__file__}({first + 3})outer()\n-> return w\n(step) Tensor(shape=[], dtype=Float32, value= 1)" in text


SOURCE = """\
import duograph as ms
from duograph import ops
@ms.jit
def f(x):
    y = x * 2
    z = ops.exp(y)
    return z.sum()
"""


@pytest.mark.parametrize("after", ["# 1\n# 2\n\n\ndef g(): pass\n", "x = (\n", None])
def test_a_source_that_has_changed_on_disk(tmp_path, monkeypatch, after):
    file = tmp_path / "a_module_that_changes.py"
    file.write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("a_module_that_changes")
    try:
        module.f(ms.Tensor([0.0]))
        if after is None:
            os.remove(file)
        else:
            file.write_text(after, encoding="utf-8")
        for _ in range(2):
            text = said(module.f, (ms.Tensor([0.0]),), ["next", "next", "p (z.item(),)", "list", "c"])
            assert "-> z = ops.exp(y)" in text and "(1.0,)" in text and "  5  \t    y = x * 2" in text
        with ms.profile() as profile:
            module.f(ms.Tensor([0.0]))
        assert "z = ops.exp(y)" in str(profile)
        rows = {row[0]: row for row in collected([module.f])["sources"][str(file)]}
        assert rows[6] == [6, "    z = ops.exp(y)", "compiled"]
    finally:
        del sys.modules["a_module_that_changes"]


def wrong(x, w):
    h = x @ w
    return h + ops.ones((3,))


def test_a_program_that_always_raises_is_stepped_through_as_it_is():
    out = io.StringIO()
    commands = io.StringIO("next\np h.shape\nnext\nc\nc\n")
    with debug.step(stdin=commands, stdout=out), pytest.raises(ValueError, match="broadcast"):
        ms.jit(wrong)(ops.ones((2, 3)), ops.ones((3, 4)))
    text = out.getvalue()
    assert "<graph" not in text and "-> h = x @ w" in text and "(2, 4)" in text
    assert "-> return h + ops.ones((3,))" in text


EDITOR = """\
import sys
import duograph as ms
from duograph import debug

seen = []

def stops():
    frame = sys._getframe(1)
    seen.append(("breakpoint", frame.f_lineno, sorted(frame.f_locals)))

def lines(frame, event, arg):
    if (frame.f_code.co_filename, frame.f_code.co_name, event) == (__file__, "f", "line"):
        seen.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))
    return lines

def line(code, number):
    if code.co_filename != __file__:
        return sys.monitoring.DISABLE
    lines(sys._getframe(1), "line", None)

@ms.jit
def f(x):
    y = x * 2
    z = ms.ops.log(y)
    return z + 1

sys.breakpointhook = stops
if sys.argv[1] == "settrace":
    sys.settrace(lines)
else:
    tool = sys.monitoring.DEBUGGER_ID
    sys.monitoring.use_tool_id(tool, "editor")
    sys.monitoring.register_callback(tool, sys.monitoring.events.LINE, line)
    sys.monitoring.set_events(tool, sys.monitoring.events.LINE)
with debug.step(sys.argv[2] if len(sys.argv) > 2 else None):
    result = f(ms.Tensor([0.0]))
for one in seen:
    print(one)
print(result)
"""


@pytest.mark.parametrize("way", ["settrace", "monitoring"])
def test_debuggers_of_editors_get_the_frames(tmp_path, way):
    if way == "monitoring" and not hasattr(sys, "monitoring"):
        pytest.skip("CPython 3.11 has no sys.monitoring")
    script = tmp_path / "script.py"
    script.write_text(EDITOR, encoding="utf-8")
    first = EDITOR.splitlines().index("def f(x):") + 1
    for when in ([], ["nan"]):
        done = subprocess.run(
            [sys.executable, str(script), way, *when], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            cwd=ROOT, timeout=SECONDS,
        )  # fmt: skip
        assert done.returncode == 0 and done.stdout.endswith("[-inf]\n"), done.stdout + done.stderr
        frames = [line for line in done.stdout.splitlines() if line.startswith(("('f'", "('breakpoint'"))]
        want = [("f", first + 1, ["x"]), ("f", first + 2, ["x", "y"]), ("f", first + 3, ["x", "y", "z"])]
        if when:
            want.insert(2, ("breakpoint", first + 2, ["x", "y", "z"]))
        assert frames == list(map(str, want))
        assert ("node 2, log" in done.stdout) == bool(when)


@pytest.mark.parametrize("up", [0, 1, 4])
def test_nothing_stays_in_the_modules_that_were_shown(up):
    said(ms.jit(lambda x: x * 2 + 1), (ms.Tensor([1.0]),), [*["up"] * up, "c"])
    assert "__pdb_convenience_variables" not in globals()
