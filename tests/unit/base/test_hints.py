"""Help with errors that Python raises itself where a call does not fit; nothing of the program is evaluated for it."""

from __future__ import annotations

import sys

import pytest

import duograph as ms
from duograph.base import hints

NAMES = {"ms": ms, "x": ms.ops.ones((2, 3)), "f": lambda a: a, "softmax": ms.ops.softmax, "n": 3}


class Watched:
    """What is asked for its attributes says so."""

    asked = 0

    def __getattr__(self, name):
        Watched.asked += 1
        return 3


def notes(tmp_path, text, **names):
    path = tmp_path / "program.py"
    path.write_text(text)
    with pytest.raises(TypeError) as raised:
        exec(compile(text, str(path), "exec"), {**NAMES, **names})
    hints.add_hint(raised.value, raised.value.__traceback__.tb_next)
    return getattr(raised.value, "__notes__", [])


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("ms.ops.softmax(x, dim=1)", "it is called 'axis' here"),
        ("y = 1 + softmax(\n    x, dim=1)", "it is called 'axis' here"),
        ("ms.ops.sum(x, axis=0)", "it is called 'dim' here"),
        ("ms.ops.conv2d(x, x, strides=2)", "the nearest is 'stride'"),
        ("ms.ops.randn((2, 3), device='cpu')", "there is one device, the CPU: leave it out"),
        ("ms.Tensor([1.0], dtyp=ms.float32)", "the nearest is 'dtype'"),
        ("x.T()", "'T' is a property here, write it without parentheses"),
    ],
)
def test_calls_that_do_not_fit(tmp_path, text, help):
    assert notes(tmp_path, text) == [f"help: {help}"]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x.size(0)", "x.shape[i]"),
        ("ms.Tensor([1.0], requires_grad=True)", "value_and_grad"),
        ("ms.nn.Adam(ms.nn.Dense(2, 3).trainable_params()).step()", "optimizer(grads)"),
    ],
)
def test_what_pytorch_has(tmp_path, text, part):
    (note,) = notes(tmp_path, text)
    assert part in note


def test_what_is_not_ours_is_left_alone(tmp_path):
    for text in ("f(dim=1)", "n()", "(lambda: 3)()()", "dict(a=1)()", "sorted([], dim=1)", "n.real()"):
        assert notes(tmp_path, text) == []


def test_nothing_of_the_program_runs(tmp_path):
    w = Watched()
    assert notes(tmp_path, "w.size()", w=w) == [] and Watched.asked == 1


def test_errors_that_are_shown_have_it(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text("x.size()\n")
    try:
        exec(compile(path.read_text(), str(path), "exec"), dict(NAMES))
    except TypeError as error:
        sys.excepthook(type(error), error, error.__traceback__.tb_next)
    assert "help: 'size' is a property here" in capsys.readouterr().err
