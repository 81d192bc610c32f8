"""Rows A1 to A13 of the seeds' feature list: modes and switching. Each test is named by its row."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from tests.seeds.conftest import PROGRAMS, run_duograph, run_python

MODES = [ms.PYNATIVE_MODE, ms.GRAPH_MODE]
X, Y = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]


class Add(nn.Cell):
    def __init__(self):
        super().__init__()
        self.add = ops.Add()

    def construct(self, x, y):
        return self.add(x, y)


def test_a1_two_modes():
    assert (ms.GRAPH_MODE, ms.PYNATIVE_MODE) == (0, 1)


def test_a2_dynamic_is_the_default():
    assert run_duograph("-c", "import mindspore as ms\nprint(ms.get_context('mode') == ms.PYNATIVE_MODE)") == "True\n"


def test_a3_one_switch_under_two_names():
    from duograph import context

    context.set_context(mode=ms.GRAPH_MODE)
    assert ms.get_context("mode") == context.get_context("mode") == ms.GRAPH_MODE
    ms.set_context(mode=ms.PYNATIVE_MODE)
    assert context.get_context("mode") == ms.PYNATIVE_MODE


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"mode": 2}, ValueError),
        ({"mode": "graph"}, TypeError),
        ({"nope": 1}, ValueError),
        ({"device_target": "TPU"}, ValueError),
    ],
)
def test_a4_wrong_values(wrong, error):
    with pytest.raises(error, match=next(iter(wrong))):
        ms.set_context(**wrong)
    assert ms.get_context("mode") == ms.PYNATIVE_MODE


def test_a5_one_cell_in_both_modes(capsys):
    net, x, y = Add(), Tensor(X), Tensor(Y)
    for mode in (0, 1, 0, 1):
        ms.set_context(mode=mode)
        print(net(x, y))
    assert capsys.readouterr().out == "[5. 7. 9.]\n" * 4


def test_a6_graph_mode_compiles_once():
    net, x, y = Add(), Tensor(X), Tensor(Y)
    frames = []
    code = Add.construct.__code__

    def profile(frame, event, argument):
        if event == "call" and frame.f_code is code:
            frames.append(frame)

    ms.set_context(mode=ms.GRAPH_MODE)
    sys.setprofile(profile)
    try:
        results = {net(x, y).asnumpy().tobytes() for _ in range(10)}
    finally:
        sys.setprofile(None)
    assert len(results) == 1 and len(frames) <= 1, "the Python body does not run again"


@pytest.mark.parametrize("mode", MODES)
def test_a7_functions_stay_dynamic(mode):
    calls = []

    def plain(x):
        calls.append(type(x.asnumpy()))
        return ops.add(x, x)

    ms.set_context(mode=mode)
    plain(Tensor(X))
    plain(Tensor(X))
    assert calls == [np.ndarray] * 2


def test_a8_mode_and_device_together():
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    assert ms.get_context("mode") == ms.GRAPH_MODE and ms.get_context("device_target") == "CPU"


@pytest.mark.parametrize("device", ["GPU", "Ascend"])
def test_a9_devices_that_are_not_here(device):
    with pytest.raises(RuntimeError, match=device):
        ms.set_context(device_target=device)


@pytest.mark.parametrize("program", ["002.py", "004_1.py"])
def test_a9_the_device_is_the_frameworks_business(tmp_path, program):
    """The same script with the device named and not named prints the same."""
    text = (PROGRAMS / program).read_text(encoding="utf-8")
    named = "import mindspore\nmindspore.set_seed(1)\nmindspore.set_context(device_target='CPU')\n" + text
    unnamed = "import mindspore\nmindspore.set_seed(1)\n" + text.replace(", device_target='CPU'", "")
    printed = []
    for name, variant in (("named.py", named), ("unnamed.py", unnamed)):
        (tmp_path / name).write_text(variant, encoding="utf-8")
        printed.append(run_duograph(str(tmp_path / name)))
    assert printed[0] == printed[1] and printed[0]


@pytest.mark.parametrize("mode", MODES)
def test_a10_same_code_in_both_modes(mode):
    ms.set_context(mode=mode)
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    assert net(Tensor([X])).shape == (1, 2)


def test_a11_same_bits_in_both_modes():
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Sigmoid(), nn.Dense(4, 2), nn.Softmax())
    bits = set()
    for mode in MODES:
        ms.set_context(mode=mode)
        bits.add(net(Tensor([X])).asnumpy().tobytes() + ms.grad(net)(Tensor([X])).asnumpy().tobytes())
    assert len(bits) == 1


def test_a13_values_are_there_at_once():
    a, b = Tensor(X), Tensor(Y)
    seen = []
    for _ in range(2):
        a = ops.mul(a, b)
        seen.append(a.asnumpy().tolist())
    assert seen == [[4.0, 10.0, 18.0], [16.0, 50.0, 108.0]]


def test_a14_compile_cost_is_visible():
    @ms.jit
    def f(x):
        return x + 1

    for _ in range(3):
        f(Tensor(X))
    (version,) = f.explain().versions
    assert version["capture_ms"] > 0 and version["compile_ms"] > 0 and version["hits"] == 3
    stats = f.stats
    assert (stats["versions"], stats["hits"], stats["fallbacks"]) == (1, 3, 0)
    assert stats["capture_ms"] == version["capture_ms"] and stats["compile_ms"] == version["compile_ms"]


def test_a14_a_first_call_is_cheap():
    """It compiles once, and later calls add nothing. What it costs for five layers, less than 500 ms, is a figure of
    `scripts/budgets`: "first call, five layers"."""
    layers = [cell for _ in range(4) for cell in (nn.Dense(16, 16), nn.ReLU())]
    f = ms.jit(nn.SequentialCell(*layers, nn.Dense(16, 4)))
    f(Tensor(np.ones((2, 16), np.float32)))
    first = f.stats
    assert (first["versions"], first["fallbacks"]) == (1, 0)
    assert first["capture_ms"] > 0 and first["compile_ms"] > 0
    f(Tensor(np.ones((2, 16), np.float32)))
    later = f.stats
    assert [later[k] for k in ("versions", "capture_ms", "compile_ms")] == [
        first[k] for k in ("versions", "capture_ms", "compile_ms")
    ]


def test_plain_python_sees_no_mindspore():
    """Only the runner and install_as_mindspore() bring the alias."""
    done = run_python("-c", "import duograph, sys\nprint('mindspore' in sys.modules)")
    assert done.stdout == "False\n", done.stderr
