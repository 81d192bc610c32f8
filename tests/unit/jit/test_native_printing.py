"""Programs that print are native calls: steps in Python within them, what becomes of their output, and their order."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.runtime.programs.executable import Executable, compiled_graph
from duograph.runtime.programs.in_place import written_directly
from duograph.runtime.programs.steps import Step, step_may_fail
from tests.unit.jit.native_calls import native_hits

OFTEN = 6


class Stream(io.StringIO):
    """Standard output whose every write calls ``then``."""

    then: Callable[[str], object] = staticmethod(lambda _: None)

    def write(self, text: str) -> int:
        self.then(text)
        return super().write(text)

    def clear(self) -> None:
        self.seek(0)
        self.truncate()


def stream(monkeypatch: pytest.MonkeyPatch) -> Stream:
    made = Stream()
    monkeypatch.setattr(sys, "stdout", made)
    return made


def told(x: Tensor, i: Tensor) -> Tensor:
    y = x * 2
    if y.sum() > 4:
        print("large", y)
    return (y + 1).tanh() * y[i] + x


def rows() -> list[Tensor]:
    return [Tensor([float(k), 1.0]) for k in range(OFTEN)]


def test_a_branch_that_prints_is_native(monkeypatch: pytest.MonkeyPatch) -> None:
    out = stream(monkeypatch)
    f, i = ms.jit(told), Tensor(1)
    made = [f(x, i).asnumpy().tobytes() for x in rows()]
    text = out.getvalue()
    assert native_hits(f) >= OFTEN - 2
    out.clear()
    assert made == [told(x, i).asnumpy().tobytes() for x in rows()]
    assert text == out.getvalue()
    assert text.count("large") == 4


def test_what_was_printed_before_a_failure_is_not_printed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    out = stream(monkeypatch)
    f, x = ms.jit(told), Tensor([3.0, 1.0])
    for _ in range(OFTEN):
        f(x, Tensor(1))
    hits = native_hits(f)
    for k in (2, 7):
        out.clear()
        with pytest.raises(IndexError, match="out of bounds"):
            f(x, Tensor(k))
        assert out.getvalue() == "large [6. 2.]\n"
    out.clear()
    f(x, Tensor(1))
    assert out.getvalue() == "large [6. 2.]\n"
    assert native_hits(f) == hits + 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_an_error_of_the_stream_is_the_callers(monkeypatch: pytest.MonkeyPatch, error: type[BaseException]) -> None:
    out = stream(monkeypatch)
    f, x, i = ms.jit(told), Tensor([3.0, 1.0]), Tensor(1)
    wanted = [f(x, i).asnumpy().tobytes() for _ in range(OFTEN)][0]

    def fail(_: str) -> None:
        raise error

    out.then = fail
    with pytest.raises(error):
        f(x, i)
    del out.then
    out.clear()
    assert f(x, i).asnumpy().tobytes() == wanted
    assert out.getvalue() == "large [6. 2.]\n"


def test_a_stream_may_call_what_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    out = stream(monkeypatch)
    f, x, i = ms.jit(told), Tensor([3.0, 1.0]), Tensor(1)
    wanted = [f(x, i).asnumpy().tobytes() for _ in range(OFTEN)][0]
    inner: list[bytes] = []

    def again(text: str) -> None:
        if not inner:
            inner.append(b"")
            inner.append(f(Tensor([4.0, 1.0]), i).asnumpy().tobytes())

    out.clear()
    out.then = again
    assert f(x, i).asnumpy().tobytes() == wanted
    assert inner[1] == told(Tensor([4.0, 1.0]), i).asnumpy().tobytes()
    assert out.getvalue().startswith("large [8. 2.]\nlarge [6. 2.]\n")


class Net(nn.Cell):
    """Two layers that tell what is between them, if they are to."""

    def __init__(self, tells: bool) -> None:
        super().__init__()
        self.first, self.second, self.tells = nn.Dense(4, 8), nn.Dense(8, 3), tells

    def construct(self, x: Tensor) -> Tensor:
        y = ops.relu(self.first(x))
        if self.tells:
            print("between:", y.mean())
        return self.second(y)


def trained(jitted: bool, tells: bool = True) -> tuple[list[bytes], Any]:
    """The losses and weights of some steps, and what has made them."""
    ms.set_seed(7)
    net = Net(tells)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    loss_of = nn.CrossEntropyLoss()
    gradient = ms.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss, gradients = gradient(x, y)
        optimizer(gradients)
        return loss

    run: Any = ms.jit(step) if jitted else step
    x = Tensor(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4))
    losses = [run(x, Tensor([0, 1, 2, 1, 0])) for _ in range(OFTEN)]
    return [t.asnumpy().tobytes() for t in (*losses, *net.trainable_params())], run


def test_a_step_with_a_layer_that_prints_is_native(monkeypatch: pytest.MonkeyPatch) -> None:
    out = stream(monkeypatch)
    made, step = trained(jitted=True)
    text = out.getvalue()
    assert native_hits(step) >= OFTEN - 2
    out.clear()
    assert made == trained(jitted=False)[0]
    assert text == out.getvalue()
    assert text.count("between") == OFTEN


def test_a_step_that_prints_is_fused_and_written_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Effects come after all that may fail, and before parameters are overwritten."""
    out = stream(monkeypatch)
    found = [executable_of(trained(jitted=True, tells=tells)[1]) for tells in (True, False)]
    steps = [steps_of(e) for e in found]
    assert all(not step_may_fail(s) for s in steps[0][place(steps[0], "py_effect") + 1 :])
    kernels = [[s for s in some if s.lowering is not None] for some in steps]
    assert len(kernels[0]) <= len(kernels[1]) + 1  # the mean that is printed
    direct = [written_directly(e.graph, some, e.build.donate) for e, some in zip(found, steps, strict=True)]
    assert len(direct[0]) == len(direct[1]) > 0


def executable_of(f: Any) -> Executable:
    (entry,) = f._own.compiled
    found = compiled_graph(entry.graph, 1, entry.donation.inputs)
    assert found is not None
    return found


def steps_of(executable: Executable) -> list[Step]:
    return executable.build.steps_of(executable.graph)


def place(steps: list[Step], op: str) -> int:
    """Of the first step with this operator."""
    return [s.nodes[0].op.name for s in steps].index(op)


def test_effects_keep_their_order_and_what_may_fail_is_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    out = stream(monkeypatch)

    @ms.jit
    def f(x: Tensor, i: Tensor) -> Tensor:
        for k in range(3):
            if x.sum() > k:
                print("at", k)
            x = x * 2 - x[i]
        return x

    x, i = Tensor([1.0, 3.0]), Tensor(0)
    for _ in range(OFTEN):
        out.clear()
        f(x, i)
        assert out.getvalue() == "at 0\nat 1\nat 2\n"
    steps = steps_of(executable_of(f))
    assert place(steps, "advanced_get") < place(steps, "cond")
    out.clear()
    with pytest.raises(IndexError):
        f(x, Tensor(5))
    assert out.getvalue() == "at 0\n"


@pytest.mark.parametrize("last", range(1, 9))
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_the_stream_is_written_as_print_writes(
    monkeypatch: pytest.MonkeyPatch, last: int, error: type[BaseException]
) -> None:
    """Piece by piece; what follows the piece that the stream refuses is not written, and what is before it is."""

    def f(x: Tensor) -> Tensor:
        print("sum", x.sum(), sep="=")
        y = ops.exp(x)
        print("of", y.shape, end="|", flush=True)
        return y

    compiled, out = ms.jit(f), stream(monkeypatch)
    x = Tensor(np.ones((2, 3), np.float32))
    for _ in range(OFTEN):
        compiled(x)
    written: list[list[str]] = []
    for g in (f, compiled):
        pieces: list[str] = []

        def then(text: str, pieces: list[str] = pieces) -> None:
            if len(pieces) >= last:
                raise error("full")
            pieces.append(text)

        monkeypatch.setattr(out, "then", then)
        try:
            g(x)
        except error:
            pieces.append("refused")
        written.append(pieces)
    assert written[1] == written[0] and "refused" in written[0] or last == 8
