"""What native launching tells gradient tapes is what Python tells them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import ops
from duograph.autodiff.tape import Tape, taping
from duograph.core.op import get_op
from duograph.runtime.launch import launcher
from tests.unit.runtime.engine import bits, f32, in_python, launches, launching


@pytest.fixture(autouse=True)
def engine() -> Iterator[launcher.Engine]:
    with launching() as found:
        yield found


def chain(x: Any, w: Any) -> Any:
    for _ in range(3):
        x = ops.tanh(x @ w) * 0.5 + x[0] - x.T.reshape(3, 3)
    return (x**2).sum()


def unused_parts(x: Any, w: Any) -> Any:
    for _ in range(5):
        x * w + 1  # leads nowhere
    return (x * x).sum()


def constants(x: Any, w: Any) -> Any:
    with ms.no_grad():
        scale = x * w
    return (scale * x).sum()


def written(x: Any, w: Any) -> Any:
    y = x * w
    y[0] = x[1] * 3
    y.add_(x)
    return (y * y).sum()


def two_outputs(x: Any, w: Any) -> Any:
    values, _ = (x * w).max(axis=1, return_indices=True)
    return values.sum()


def inner_gradient(x: Any, w: Any) -> Any:
    return (ms.grad(lambda v: (v * v * w).sum())(x) * x).sum()


def hooked(x: Any, w: Any) -> Any:
    y = x * w
    y.register_hook(lambda g: g * 2)
    return (y * y).sum()


PROGRAMS = [chain, unused_parts, constants, written, two_outputs, inner_gradient]


@pytest.mark.parametrize("fn", [*PROGRAMS, hooked], ids=lambda f: f.__name__)
def test_same_gradients(engine: launcher.Engine, fn: Any) -> None:
    check_gradient(engine, ms.grad(fn, (0, 1)))


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda f: f.__name__)
def test_same_second_gradients(engine: launcher.Engine, fn: Any) -> None:
    first: Any = ms.grad(fn, (0, 1))
    check_gradient(engine, ms.grad(lambda x, w: sum((g * g).sum() for g in first(x, w)), (0, 1)))


def check_gradient(engine: launcher.Engine, gradient: Any) -> None:
    x, w = f32(3, 3), f32(3, 3, seed=1)
    want = bits(in_python(engine, lambda: gradient(x, w)))
    for _ in range(4):
        assert bits(gradient(x, w)) == want


def test_parameters_and_frozen_ones(engine: launcher.Engine) -> None:
    class Net(ms.nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.w = ms.Parameter(np.full((3, 3), 0.5, np.float32))
            self.b = ms.Parameter(np.ones(3, np.float32), requires_grad=False)

        def construct(self, x: ms.Tensor) -> ms.Tensor:
            return (x @ self.w + self.b).sum()

    net, x = Net(), f32(2, 3)
    gradient = ms.grad(net, 0, ms.ParameterTuple([net.w]))

    def steps() -> Any:
        net.w.set_data(ms.Tensor(np.full((3, 3), 0.5, np.float32)))
        seen = []
        for _ in range(3):
            dx, (dw,) = gradient(x)
            net.w.set_data(net.w - 0.1 * dw)
            seen += [dx, dw, net.w.value()]
        return bits(seen)

    want = in_python(engine, steps)
    for _ in range(3):
        assert steps() == want


def test_ops_are_recorded_natively() -> None:
    x, y = f32(4), f32(4, seed=1)
    for _ in range(3):
        with taping([tape := Tape()]):
            variable = tape.watch(x)
            z = x * y
            w = z + 1.0
    assert [type(item) for item in tape.log] == [tuple, tuple]
    first, second = tape.entries
    assert [first.op.name, second.op.name] == ["mul", "add"]
    assert first.variables == (variable, None)
    assert first.outputs == (tape.variable(z),) == second.variables[:1]
    assert second.outputs == (tape.variable(w),)
    assert tape.variable(y) is None


def test_what_another_tape_has_watched_is_recorded_natively() -> None:
    """A generator is trained through a discriminator whose weights were those of the step before."""
    x, w = f32(4), f32(4, seed=1)
    part = w[1:]
    outer = Tape()
    for _ in range(3):
        for others in ([], [outer]):
            with taping([*others, tape := Tape()]):
                for tensor in (w, part):
                    tape.watch(tensor)
                _ = x * w, x[1:] * part
        with taping([tape := Tape()]):
            variable = tape.watch(x)
            _ = x * w, x[1:] * part, x[1:] * w[1:]
    assert all(type(item) is tuple for item in tape.log)
    assert [(entry.op.name, entry.variables[1:]) for entry in tape.entries if entry.op.name == "mul"] == [
        ("mul", (None,))
    ] * 3
    assert tape.entries[0].variables == (variable, None) and tape.variable(part) is None


def test_values_that_were_overwritten_are_noticed() -> None:
    x = f32(4)

    def spoiled(x: Any) -> Any:
        y = x * 2
        z = y * y
        with ms.no_grad():
            y.add_(1)
        return z.sum()

    for _ in range(4):
        with pytest.raises(RuntimeError, match="modified in place"):
            ms.grad(spoiled)(x)


def test_unwatched_calls_are_not_recorded() -> None:
    x, y = f32(4), f32(4, seed=1)
    for _ in range(4):
        with taping([tape := Tape()]):
            tape.watch(x)
            y * y
            x > y
    assert [entry.op.name for entry in tape.entries] == []
    assert launches(lambda: y * y) == 1


def test_marks_of_several_tapes() -> None:
    """A tensor that an outer and an inner tape watch has two variables, and loses neither."""
    x = f32(4)
    for _ in range(3):
        with taping([outer := Tape()]):
            a = outer.watch(x)
            with taping([outer, inner := Tape()]):
                b = inner.watch(x)
                y = x * x
            z = x + y
        assert (outer.variable(x), inner.variable(x)) == (a, b)
        assert inner.variable(y) is not None
        assert outer.variable(y) is not None
        assert inner.variable(z) is None
        assert [entry.op.name for entry in outer.entries] == ["mul", "add"]


def test_marks_do_not_keep_tapes() -> None:
    weight = ms.Parameter(np.ones(3, np.float32))
    for _ in range(50):
        ms.grad(lambda: (weight * weight).sum(), None, weight)()
    depth, mark = 0, weight._mark
    while mark is not None:
        depth, mark = depth + 1, mark[3]
    assert depth <= 1


def test_several_tapes_are_told_of_native_calls() -> None:
    x, y = f32(4), f32(4, seed=1)

    def inside() -> int:
        with taping([outer := Tape(), inner := Tape()]):
            outer.watch(x)
            inner.watch(y)
            count = launches(lambda: x * y)
        assert [len(tape.entries) for tape in (outer, inner)] == [4, 4]
        return count

    assert inside() == 1


def test_two_outputs_are_told_natively() -> None:
    x = f32(3, 4)
    with taping([tape := Tape()]):
        tape.watch(x)
        assert launches(lambda: get_op("sort")(x, axis=1, descending=False)) == 1
    assert [entry.op.name for entry in tape.entries] == ["sort"] * 4
    assert [len(entry.outputs) for entry in tape.entries] == [2] * 4


def test_views_of_read_only_tensors_say_nothing_about_others(engine):
    """What was recorded from a view of an expanded tensor, which cannot be written, serves views of any tensor."""

    def squares(a):
        return (a * a).sum()

    def written(a):
        a[0] = 7.0
        return (a * a).sum()

    for _ in range(8):
        row = ms.Tensor([1.0, 2.0]).expand((3, 2))[0]
        ms.grad(squares)(row)
        row.reshape(-1)
        with pytest.raises(RuntimeError, match="cannot be written"):
            row.reshape(-1).add_(1.0)
    assert ms.grad(written)(ms.Tensor([3.0, 4.0])).asnumpy().tolist() == [0.0, 8.0]
    assert ms.Tensor([3.0, 4.0]).reshape(-1).add_(1.0).asnumpy().tolist() == [4.0, 5.0]
