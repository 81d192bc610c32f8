"""Calls of several ops that come often and that no tape sees become one native call, with the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from duograph.base.config import configure
from duograph.ops.norm import batch_norm_training
from duograph.runtime.launch import launcher
from duograph.runtime.programs import executable, fused
from tests.unit.runtime.engine import bits, f32, in_python, launches, launching


@pytest.fixture(autouse=True)
def engine() -> Iterator[launcher.Engine]:
    with launching() as found:
        yield found


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are fused at their first native call."""
    monkeypatch.setattr(fused, "COST", 0.0)
    monkeypatch.setattr(fused, "FEWEST", 1)


def count_fused(work: Callable[[], Any], times: int = 5) -> int:
    """How many records some calls of ``work`` fuse."""
    before = launcher.statistics()["fused"]
    for _ in range(times):
        work()
    return launcher.statistics()["fused"] - before


norm, dense, conv, batch = nn.LayerNorm((48,)), nn.Dense(48, 16), nn.Conv2d(3, 4, 3, has_bias=True), nn.BatchNorm2d(3)
batch.set_train(False)
LABELS = ms.Tensor(np.arange(6, dtype=np.int32))
CALLS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "layer norm": (norm, (6, 48)),
    "layer norm of a transposed tensor": (lambda x: norm(x.T), (48, 6)),
    "dense": (dense, (6, 48)),
    "dense of a cube": (dense, (2, 3, 48)),
    "convolution": (conv, (2, 3, 8, 8)),
    "batch norm": (batch, (2, 3, 8, 8)),
    "loss": (lambda x: ops.cross_entropy(x, LABELS), (6, 10)),
    "variance": (lambda x: x.var(1), (6, 48)),
    "several results": (lambda x: batch_norm_training(x, None, None), (6, 5)),
}


@pytest.mark.parametrize("name", CALLS)
def test_bits_are_those_of_the_ops_one_by_one(name: str, engine: launcher.Engine) -> None:
    call, shape = CALLS[name]
    x = f32(*shape)
    want = bits(in_python(engine, lambda: call(x)))
    assert count_fused(lambda: call(x)) >= 1
    assert launches(lambda: call(x)) >= 1
    for seed in (1, 2):
        x = f32(*shape, seed=seed)
        assert bits(call(x)) == bits(in_python(engine, lambda x=x: call(x)))
    assert bits(call(f32(*shape))) == want


@pytest.mark.parametrize("name", CALLS)
def test_gradient_rules_are_fused(name: str, engine: launcher.Engine) -> None:
    """They run when the tape that they serve records no longer; under a second tape they run op by op."""
    call, shape = CALLS[name]

    def loss(x: Any) -> Any:
        out = call(x)
        return sum((ops.tanh(t).sum() for t in out), 0.0) if isinstance(out, tuple) else ops.tanh(out).sum()

    gradient, second, x = ms.grad(loss), ms.grad(lambda x: ms.grad(loss)(x).sum()), f32(*shape)
    want = bits(in_python(engine, lambda: gradient(x))), bits(in_python(engine, lambda: second(x)))
    count_fused(lambda: gradient(x))
    assert launcher.statistics()["fused"] > 0
    for _ in range(3):
        assert (bits(gradient(x)), bits(second(x))) == want


VIEWS: dict[str, Callable[[], Any]] = {
    "transposed": lambda: f32(48, 6).T,
    "turned": lambda: f32(48, 2, 3).permute(2, 1, 0),
    "one number": lambda: ops.broadcast_to(f32(1)[0], (6, 48)),
    "a row": lambda: ops.broadcast_to(f32(48), (6, 48)),
    "a column": lambda: ops.broadcast_to(f32(6, 1), (6, 48)),
    "a turned row": lambda: ops.broadcast_to(f32(48, 3).T, (2, 3, 48)),
    "every other": lambda: f32(6, 96)[:, ::2],
    "backwards": lambda: ms.Tensor.from_numpy(np.ones((6, 48), np.float32).cumsum(1)[:, ::-1]),
    "not aligned": lambda: ms.Tensor.from_numpy(
        np.frombuffer(b"x" + np.arange(288, dtype=np.float32).tobytes(), np.float32, offset=1).reshape(6, 48)
    ),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_keep_their_memory_where_that_is_in_one_piece(name: str, engine: launcher.Engine) -> None:
    """Gradients of sums are views of one number; copies of it would cost more than what is computed."""
    x, y = VIEWS[name](), f32(48)
    for call in (norm, lambda x: x * y):
        want = bits(in_python(engine, lambda call=call: call(x)))
        count_fused(lambda call=call: call(x))
        assert bits(call(x)) == want
        again = x + 1  # in one piece: another record
        assert bits(call(again)) == bits(in_python(engine, lambda call=call, again=again: call(again)))


def test_records_under_a_tape_stay_what_they_are() -> None:
    x = f32(6, 48)
    count_fused(lambda: norm(x))
    plain = bits(norm(x))
    out, gradient = ms.value_and_grad(lambda x: norm(x).sum())(x)
    assert bits(norm(x)) == plain
    assert bits(out) == bits(norm(x).sum())
    assert gradient.shape == x.shape


def test_results_are_tensors_of_their_own() -> None:
    """Writing to one changes no other; results that show others share their memory, as without fusion."""
    x = f32(4, 6)

    def halves(x: Any) -> Any:
        return (x * 2 + 1).chunk(2, 1)

    for _ in range(6):
        one, two = halves(x)
    kept = one.asnumpy().copy()
    two[:] = 0
    assert (one.asnumpy() == kept).all()
    first, again = norm(f32(3, 48)), norm(f32(3, 48))
    first[0, 0] = 7
    assert again[0, 0] != 7


def test_it_pays_after_some_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The more a call loses without it, the sooner it is fused."""
    monkeypatch.undo()
    seen: dict[int, int] = {}
    before = fused.calls_before

    def noted(plan: Any) -> int:
        wait = before(plan)
        if wait:
            seen[plan.ops[-1].nbytes[0]] = wait
        return wait

    monkeypatch.setattr(fused, "calls_before", noted)
    for rows in (1, 4096):
        for _ in range(3):
            norm(f32(rows, 48))
    (_, small), (_, large) = sorted(seen.items())
    assert small > 1000 > large >= fused.FEWEST


def test_what_cannot_be_fused_goes_on_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    x = f32(6, 48)
    want = bits(norm(x))

    def refused(*_: Any) -> None:
        raise fused.Uncovered("a test")

    monkeypatch.setattr(fused, "pack_fused", refused)
    assert count_fused(lambda: norm(x)) == 0
    assert launches(lambda: norm(x)) >= 1
    assert bits(norm(x)) == want


def test_failures_while_fusing_are_not_the_call_s(monkeypatch: pytest.MonkeyPatch, answering: Any) -> None:
    """An internal failure is counted, and the record goes on as it was; Ctrl-C is the call's."""
    x = f32(6, 48)
    want = bits(norm(x))
    raised: list[BaseException] = [KeyboardInterrupt(), ValueError("a bug")]
    real = executable.Executable

    def broken(*args: Any) -> Any:
        if raised:
            raise raised.pop(0)
        return real(*args)

    monkeypatch.setattr(fused, "Executable", broken)
    with pytest.raises(KeyboardInterrupt):
        for _ in range(4):
            norm(x)
    y = f32(7, 48)
    for _ in range(5):
        assert bits(norm(y)) == bits(norm(y))
    assert not raised
    assert bits(norm(x)) == want


def test_debug_mode_keeps_ops_apart() -> None:
    """Red zones lie behind the blocks of executables that are checked after each call."""
    with configure(debug=True):
        x = f32(5, 48)
        assert count_fused(lambda: norm(x)) == 0
