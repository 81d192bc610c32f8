"""Programs with steps that NumPy computes (decompositions, `unique`) are native calls: results, failures, leftovers."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, mint, ops
from duograph.runtime.programs import host
from tests.unit.jit.native_calls import is_native, native_hits, warmed

SHIFT = np.eye(3, dtype=np.float32)


def matrix(seed: int) -> Tensor:
    a = np.random.default_rng(seed).standard_normal((3, 3)).astype(np.float32)
    return Tensor(a @ a.T + SHIFT)


def likelihood(a: Tensor, b: Tensor) -> Tensor:
    factor = ops.cholesky(a)
    y = ops.inverse(factor) @ b
    return (y * y).sum() + 2 * factor.diagonal().log().sum()


def spectrum(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    values, vectors = mint.linalg.qr(a)
    return values @ b, vectors.sum()


def kinds(a: Tensor, b: Tensor) -> Tensor:
    return mint.unique((a * 2).int()).float().sum() + b.sum()


@pytest.mark.parametrize("function", [likelihood, spectrum, kinds])
@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_calls_are_native_and_give_the_same(function: Any, mode: str) -> None:
    f = ms.jit(function, capture_mode=mode)
    b = Tensor([1.0, -2.0, 0.5])
    for seed in range(8):
        wanted, got = function(matrix(seed), b), f(matrix(seed), b)
        for x, y in zip(*[r if isinstance(r, tuple) else (r,) for r in (wanted, got)], strict=True):
            assert x.dtype == y.dtype and x.asnumpy().tobytes() == y.asnumpy().tobytes()
    assert native_hits(f) >= 5


def test_gradients_are_native() -> None:
    wanted, f = ms.value_and_grad(likelihood, (0, 1)), ms.jit(ms.value_and_grad(likelihood, (0, 1)))
    b = Tensor([1.0, -2.0, 0.5])
    for seed in range(6):
        (x, (da, db)), (y, (ea, eb)) = wanted(matrix(seed), b), f(matrix(seed), b)
        assert [t.asnumpy().tobytes() for t in (x, da, db)] == [t.asnumpy().tobytes() for t in (y, ea, eb)]
    assert native_hits(f) >= 3


def test_steps_of_a_compiled_call_on_a_tape() -> None:
    f, b = ms.jit(likelihood), Tensor([1.0, -2.0, 0.5])
    for seed in range(6):
        wanted, got = ms.grad(likelihood)(matrix(seed), b), ms.grad(f)(matrix(seed), b)
        assert wanted.asnumpy().tobytes() == got.asnumpy().tobytes()


def test_what_a_step_raises_is_what_python_raises() -> None:
    f, b = ms.jit(likelihood), Tensor([1.0, -2.0, 0.5])
    bad = Tensor(-SHIFT)
    with pytest.raises(Exception) as wanted:  # noqa: PT011 - whatever it is
        likelihood(bad, b)
    warmed(f, matrix(0), b)
    for _ in range(3):
        with pytest.raises(type(wanted.value)) as got:
            f(bad, b)
        assert str(got.value) == str(wanted.value)
        assert is_native(f, matrix(1), b)


def test_other_threads_call_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    f, b = ms.jit(likelihood), Tensor([1.0, -2.0, 0.5])
    wanted = [likelihood(matrix(seed), b).asnumpy().tobytes() for seed in range(4)]
    warmed(f, matrix(0), b)
    compute, inner = host.compute, []

    def slow(*args: Any) -> Any:
        if not inner:
            inner.append(None)
            thread = threading.Thread(target=lambda: inner.append(f(matrix(1), b).asnumpy().tobytes()))
            thread.start()
            thread.join()
        return compute(*args)

    monkeypatch.setattr(host, "compute", slow)
    assert f(matrix(2), b).asnumpy().tobytes() == wanted[2]
    assert inner == [None, wanted[1]]


def test_an_input_that_its_owner_drops_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    held = {"a": matrix(0)}
    f = ms.jit(lambda b: likelihood(held["a"], b) + held["a"].sum())
    b = Tensor([1.0, -2.0, 0.5])
    wanted = warmed(f, b)(b).asnumpy().tobytes()
    compute = host.compute

    def dropping(*args: Any) -> Any:
        held["a"] = matrix(7)
        np.full((3, 3), 9, np.float32)  # takes memory that has become free
        return compute(*args)

    monkeypatch.setattr(host, "compute", dropping)
    assert f(b).asnumpy().tobytes() == wanted


def test_an_interrupt_within_a_step_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    f, b = ms.jit(likelihood), Tensor([1.0, -2.0, 0.5])
    warmed(f, matrix(0), b)

    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(host, "compute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f(matrix(1), b)
    assert is_native(f, matrix(1), b)


def test_calls_keep_nothing_of_what_a_step_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    f, b = ms.jit(kinds), Tensor([1.0, -2.0, 0.5])
    warmed(f, matrix(0), b)
    made: list[Any] = []
    write = host.HostStep._write

    def watched(self: Any, run: Any, *args: Any) -> None:
        write(self, run, *args)
        made.extend(weakref.ref(array) for array in run.kept)

    monkeypatch.setattr(host.HostStep, "_write", watched)
    assert is_native(f, matrix(1), b)
    assert made and not any(ref() is not None for ref in made)
