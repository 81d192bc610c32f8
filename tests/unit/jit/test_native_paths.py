"""Versions of several paths: each call writes, draws, gives or raises what the path that it takes does, natively."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.unit.jit.native_calls import f32, native_hits, python_within

INPUTS = [f32(1, 2), f32(-3, 1), f32(0.5, 0.25), f32(-1, -2), f32(4, 4), f32(-5, 5), f32(2, 1), f32(-1, 0)]


def outcome(fn: Callable[..., Any], *args: Any) -> Any:
    try:
        return shown(fn(*args))
    except ValueError as error:
        return str(error)


def shown(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.asnumpy().tobytes(), str(value.dtype)
    if isinstance(value, tuple | list):
        return type(value), [shown(v) for v in value]
    return type(value), value


class World:
    """What programs write to, and what they do with it."""

    def __init__(self) -> None:
        ms.set_seed(3)
        self.a, self.b = Parameter(f32(1, 1), name="a"), Parameter(f32(2, 2), name="b")
        self.seen: list[int] = []

    def raising(self, x: Tensor) -> Tensor:
        y = (x * self.a).sum()
        if y < 0:
            raise ValueError("negative")
        ops.assign(self.a, self.a + x)
        ops.assign(self.b, self.b * y)
        return y

    def raising_late(self, x: Tensor) -> Tensor:
        ops.assign(self.a, self.a + x)
        if x.sum() < 0:
            raise ValueError("negative")
        return self.a * 2

    def apart(self, x: Tensor) -> Any:
        if x.sum() < 0:
            ops.assign(self.a, x)
            return None
        ops.assign(self.b, x * 2)
        return x.max(), [self.b + 1, 7]

    def noting(self, x: Tensor) -> Tensor:
        if x.sum() < 0:
            self.seen.append([1])
        ops.assign(self.a, self.a * x)
        return self.a.sum()

    def drawing(self, x: Tensor) -> Any:
        if x.sum() < 0:
            return "no noise"
        return x + ops.rand(2)

    def replacing(self, x: Tensor) -> Any:
        if x.sum() < 0:
            return 1
        self.a.set_data(x * 3)
        return x

    def state(self) -> Any:
        return shown([self.a.value(), self.b.value(), self.seen, ops.rand(1)])


PROGRAMS = [name for name in vars(World) if name not in ("__init__", "state") and name[0] != "_"]


def outcomes(name: str, is_jitted: bool) -> tuple[list[Any], Any, Any]:
    world = World()
    method = getattr(world, name)

    def program(x: Tensor) -> Any:
        return method(x)

    run: Any = ms.jit(program) if is_jitted else program
    found = [outcome(run, x) for x in INPUTS * 3]
    return found, world.state(), run


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_path_does_what_it_does(name: str) -> None:
    made, state, run = outcomes(name, is_jitted=True)
    wanted, wanted_state, _ = outcomes(name, is_jitted=False)
    assert made == wanted
    assert state == wanted_state
    assert native_hits(run) > 0
    (version,) = run._own.compiled
    assert len(version.program.paths) == 2
    assert len(version.native.plan.paths) == 2


def step_with(guard: Callable[[Tensor], object]) -> tuple[Any, nn.Cell, tuple[Tensor, Tensor]]:
    ms.set_seed(1)
    net, loss_of = nn.Dense(3, 2), nn.MSELoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.1)
    gradient = ms.value_and_grad(lambda x, y: loss_of(net(x), y), None, optimizer.parameters)

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss, gradients = gradient(x, y)
        guard(loss)
        optimizer(gradients)
        return loss

    return step, net, (Tensor(np.ones((4, 3), np.float32)), Tensor(np.zeros((4, 2), np.float32)))


def refuse_nan(loss: Tensor) -> None:
    if not ops.isfinite(loss):
        raise ValueError("the loss is not finite")


def test_a_step_that_refuses_nan_runs_no_python() -> None:
    step, net, (x, y) = step_with(refuse_nan)
    run = ms.jit(step)
    losses = [run(x, y).item() for _ in range(5)]
    assert python_within(run, x, y) == []
    before = [p.asnumpy().copy() for p in net.trainable_params()]
    for _ in range(2):
        with pytest.raises(ValueError, match="not finite"):
            run(x * float("nan"), y)
    assert all((p.asnumpy() == b).all() for p, b in zip(net.trainable_params(), before, strict=True))
    plain, other, _ = step_with(refuse_nan)
    assert [plain(x, y).item() for _ in range(5)] == losses
    plain(x, y)
    assert all(
        p.asnumpy().tobytes() == q.asnumpy().tobytes()
        for p, q in zip(net.trainable_params(), other.trainable_params(), strict=True)
    )


def test_gradients_after_a_write_by_a_path_are_of_the_new_value() -> None:
    world = World()
    run = ms.jit(lambda x: world.raising(x))
    for x in INPUTS:
        outcome(run, x)
    before = world.a.asnumpy().copy()
    gradient = ms.grad(lambda x: (x * world.a).sum())
    assert gradient(f32(1, 1)).asnumpy().tolist() == before.tolist()
    run(f32(1, 1))
    assert gradient(f32(1, 1)).asnumpy().tolist() == (before + 1).tolist()
