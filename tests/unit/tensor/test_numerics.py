"""`check_numerics`: the first operator that made a NaN or an infinity, its line and its layer, in every mode."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.core.launchable import is_paused
from tests.children import PATIENCE


class Head(nn.Cell):
    def construct(self, x):
        h = ops.abs(x)
        return ops.log(-h)  # NaN is made here


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)
        self.out = Head()

    def construct(self, x):
        return self.out(self.fc(x)).sum()


def root(x):
    y = ops.sqrt(x)  # its gradient is infinite at 0
    return y.sum()


X = np.ones((2, 3), np.float32)
LIVES = {
    "dynamic": lambda f: f,
    "jit": ms.jit,
    "O0": ms.jit(jit_level="O0"),
    "bytecode": ms.jit(capture_mode="bytecode"),
    "trace": ms.jit(capture_mode="trace"),
    "interpreter": ms.jit(backend="interpreter"),
}


def found(call, **options):
    """The error of a call, message and notes."""
    with pytest.raises(FloatingPointError) as raised, ms.check_numerics(**options):
        call()
    return "\n".join([str(raised.value), *raised.value.__notes__])


def line_of(marker):
    with open(__file__, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if marker in line)


@pytest.mark.parametrize("life", LIVES)
def test_forward(life):
    net = LIVES[life](Net())
    net(Tensor(X))  # compiled before
    told = found(lambda: net(Tensor(X)))
    assert told.startswith("the result of 'log' has 4 NaN among 4 elements, and its operands have none (in the layer")
    assert "(in the layer 'Net.out (Head)')" in told
    assert f"test_numerics.py:{line_of('NaN is ' + 'made here')}:16" in told
    assert "log of float32[2, 2] from -" in told
    assert np.isnan(net(Tensor(X)).asnumpy())  # and nothing is left of it


def test_graph_mode():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = Net()
        net(Tensor(X))
        assert "'Net.out (Head)'" in found(lambda: net(Tensor(X)))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("life", LIVES)
def test_backward_names_the_operator_whose_gradient_it_is(life):
    gradient = ms.grad(LIVES[life](root))
    x = Tensor([0.0, 1.0])
    assert gradient(x).tolist() == [np.inf, 0.5]
    told = found(lambda: gradient(x))
    assert told.startswith("the gradient of 'sqrt' has 1 Inf among 2 elements")
    assert f"test_numerics.py:{line_of('its gradient is ' + 'infinite')}:9" in told
    assert "its gradient, which 'div' made of" in told


def test_gradients_inside_compiled_functions_and_of_second_order():
    inside = ms.jit(lambda x: ms.grad(root)(x) + 1)
    x = Tensor([0.0])
    inside(x)
    assert "the gradient of 'sqrt'" in found(lambda: inside(x))
    power = lambda x: ops.pow(x, 1.5).sum()  # noqa: E731
    told = found(lambda: ms.grad(ms.grad(power))(x))
    assert told.startswith("the gradient of ")
    assert "ops.pow(x, 1.5)" in told


def test_custom_gradients_name_their_own_line():
    class Custom(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (ops.log(-dout),)  # of -1

    told = found(lambda: ms.grad(Custom())(Tensor([1.0])))
    assert told.startswith("the result of 'log'")
    assert f":{line_of('# of' + ' -1')}:" in told


def test_what_is_handed_on_is_not_told_again(caplog):
    x = Tensor([-1.0, 4.0])
    with caplog.at_level(logging.WARNING, "duograph.numerics"), ms.check_numerics("warn"):
        for _ in range(2):
            y = ops.sqrt(x)
            z = (y + 1) * 2
    assert z.tolist()[1] == 6.0
    assert len(caplog.records) == 1
    assert "the result of 'sqrt' has 1 NaN" in caplog.text


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.full((2,), -np.inf, dtype=ms.float32),
        lambda: ops.masked_fill(Tensor([1.0, 2.0]), Tensor([True, False]), -np.inf),
        lambda: ops.softmax(Tensor([1e30, -1e30])),
        lambda: ms.grad(lambda x: ops.where(x > 0, x, 0.0 * x).sum())(Tensor([0.0, 1.0])),
        lambda: ops.logsumexp(Tensor([-200.0, 90.0]), 0),
        lambda: ops.sigmoid(Tensor([-500.0])),
        lambda: ops.ctc_loss(
            ops.log_softmax(Tensor(np.ones((4, 2, 3), np.float32))),
            Tensor([[1, 2], [2, 1]]), Tensor([4, 4]), Tensor([2, 1]),
        ),
        lambda: Tensor([np.inf]) - Tensor([1.0]),
        lambda: Tensor([7]) // Tensor([2]),
    ],
)  # fmt: skip
def test_no_false_alarms(call):
    with ms.check_numerics():
        call()


def test_what_no_result_shows_is_none():
    """``sinc`` and others divide by zero and then choose the other value."""
    zero = Tensor([0.0, 1.0])
    with ms.check_numerics():
        assert ops.sinc(zero).tolist()[0] == 1.0
        assert ops.xlogy(zero, zero).tolist() == [0.0, 0.0]
        assert np.isfinite(ms.grad(lambda x: ops.pow(x, 2.0).sum())(zero).asnumpy()).all()


def test_under_vmap_and_in_graphs_from_files(tmp_path):
    assert "ops.log(x)" in found(lambda: ms.vmap(lambda x: ops.log(x))(Tensor([[-1.0], [2.0]])))
    ms.export(Head(), Tensor([1.0]), file_name=str(tmp_path / "net"), file_format="MINDIR")
    net = nn.GraphCell(ms.load(str(tmp_path / "net.mindir")))
    net(Tensor([1.0]))
    assert "the result of 'log'" in found(lambda: net(Tensor([1.0])))


def test_infinities_may_be_allowed():
    with ms.check_numerics(infinities=False):
        x = Tensor([1.0]) / Tensor([0.0])
        assert x.tolist() == [np.inf]
        with pytest.raises(FloatingPointError, match="'sub' has 1 NaN"):
            x - x


def test_switch_of_jit():
    @ms.jit(check_numerics=True)
    def divide(x, y):
        return x / y

    assert divide(Tensor([1.0]), Tensor([2.0])).tolist() == [0.5]
    with pytest.raises(FloatingPointError, match="the result of 'div' has 1 Inf"):
        divide(Tensor([1.0]), Tensor([0.0]))
    assert not is_paused()
    with pytest.raises(TypeError, match="'check_numerics' must be a bool"):
        ms.jit(divide, check_numerics="raise")


def test_blocks_nest_end_and_decorate():
    @ms.check_numerics("warn")
    def outer(x):
        with ms.check_numerics():
            pytest.raises(FloatingPointError, ops.log, x)
        return ops.log(x)

    outer(Tensor([-1.0]))
    ops.log(Tensor([-1.0]))
    assert not is_paused()


def test_other_threads_are_not_concerned():
    with ms.check_numerics():
        got = []
        thread = threading.Thread(target=lambda: got.append(ops.log(Tensor([-1.0]))))
        thread.start()
        thread.join(PATIENCE)
    assert np.isnan(got[0].asnumpy()).all()


@pytest.mark.parametrize(("value", "status", "word"), [("raise", 1, "FloatingPointError"), ("warn", 0, "DG0421")])
def test_environment_variable(value, status, word):
    program = "import duograph as ms\nprint(ms.jit(lambda x: ms.ops.log(x))(ms.Tensor([-1.0])))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=PATIENCE,
        env={**os.environ, "DUOGRAPH_CHECK_NUMERICS": value},
    )  # fmt: skip
    assert done.returncode == status
    assert word in done.stderr
    assert "the result of 'log' has 1 NaN among 1 elements" in done.stderr


def test_arguments():
    with pytest.raises(ValueError, match="'action' must be 'raise' or 'warn', but got 'stop'"):
        ms.check_numerics("stop")
    with pytest.raises(TypeError, match="'infinities' must be a bool"):
        ms.check_numerics(infinities=1)
