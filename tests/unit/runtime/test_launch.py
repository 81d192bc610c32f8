"""Native launching does what Python does: same results, same errors, same views; and leaks nothing."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import ops
from duograph.core.op import get_op, override_bprop
from duograph.runtime.launch import launcher
from duograph.runtime.programs import fused
from tests.unit.growth import growth
from tests.unit.runtime.engine import bits, f32, in_python, launches, launching
from tests.unit.runtime.processes import child_agrees, python


@pytest.fixture(autouse=True)
def engine() -> Iterator[launcher.Engine]:
    with launching() as found:
        yield found


def same_as_in_python(engine: launcher.Engine, fn: Any, native: bool = True) -> None:
    """``fn`` gives the same before, while and after it has a record; the last call is native, or must not be."""
    want = bits(in_python(engine, fn))
    for _ in range(3):
        assert bits(fn()) == want
    assert (launches(fn) > 0) is native


def test_the_second_call_teaches_and_the_third_is_native() -> None:
    x, y = f32(8), f32(8, seed=1)
    seen = [launcher.statistics()]
    for _ in range(4):
        x + y
        seen.append(launcher.statistics())
    assert [s["launches"] - seen[0]["launches"] for s in seen] == [0, 0, 0, 1, 2]
    assert [s["misses"] - seen[0]["misses"] > 0 for s in seen[1:3]] == [True, True]
    assert seen[3]["misses"] == seen[4]["misses"]


def reads(x: ms.Tensor) -> None:
    float(x[0])


def computes(x: ms.Tensor) -> None:
    ops.tanh(x) + ops.exp(x)


def in_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def in_a_finalizer(work: Callable[[], None]) -> None:
    class Late:
        def __del__(self) -> None:
            work()

    late = Late()
    late.itself = late  # type: ignore[attr-defined]
    del late
    gc.collect()


@pytest.mark.parametrize("work", [reads, computes])
@pytest.mark.parametrize("where", [in_a_thread, in_a_finalizer])
def test_what_others_do_while_a_call_is_noted_does_not_make_it_pythons(
    engine: launcher.Engine, where: Any, work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was noted then is no plain sequence of ops of this call; the next one is noted anew."""
    x, other, real, done = f32(7), f32(5), launcher._Notes.record, []

    def record(*args: Any) -> None:
        if not done:
            done.append(1)
            where(lambda: work(other))
        real(*args)

    monkeypatch.setattr(launcher._Notes, "record", record)
    for _ in range(4):
        assert bits(x + 2.5) == bits(in_python(engine, lambda: x + 2.5))
    assert done
    (plan,) = [plan for _, (_, cell), _, plan in engine.owners if cell.home == (ms.Tensor, "__add__")]
    assert plan is not None


# ---- operands -------------------------------------------------------------------------------------------------------

X, Y, M = f32(4, 3), f32(4, 3, seed=1), f32(3, 3, seed=2)
WHOLE = ms.Tensor(np.arange(12).reshape(4, 3))
HALF = X.astype(ms.float16)
WEIGHT = ms.Parameter(np.full((3, 3), 0.5, np.float32), name="w")


@pytest.mark.parametrize(
    "fn",
    [
        pytest.param(lambda: X + Y, id="tensors"),
        pytest.param(lambda: X + X, id="the same tensor twice"),
        pytest.param(lambda: X @ WEIGHT, id="a Parameter"),
        pytest.param(lambda: X * 2.5, id="a float"),
        pytest.param(lambda: 2 - X, id="an int in front"),
        pytest.param(lambda: X * True, id="a bool"),
        pytest.param(lambda: WHOLE + 1.5, id="a float that lifts integers"),
        pytest.param(lambda: WHOLE / 2, id="a division of integers"),
        pytest.param(lambda: X + WHOLE, id="mixed dtypes"),
        pytest.param(lambda: HALF * X, id="half and single"),
        pytest.param(lambda: X < Y, id="a comparison"),
        pytest.param(lambda: -X, id="one operand"),
        pytest.param(lambda: X**2, id="a power"),
        pytest.param(lambda: X + Y[0], id="broadcasting"),
        pytest.param(lambda: M.T + M, id="a transposed view"),
        pytest.param(lambda: X[:, ::2] * 2, id="a strided view"),
        pytest.param(lambda: ops.relu(X), id="a function"),
        pytest.param(lambda: ops.add(X, other=Y), id="keywords"),
        pytest.param(lambda: X.sum(axis=0), id="a method with an axis"),
        pytest.param(lambda: X.sum(axis=(0, 1), keepdims=True), id="a method with axes"),
        pytest.param(lambda: ops.cat((X, Y), axis=1), id="a tuple of tensors"),
        pytest.param(lambda: ops.clamp(X, 0, 1), id="several ops"),
        pytest.param(lambda: X.max(axis=1, return_indices=True), id="two results"),
        pytest.param(lambda: X.astype(ms.float64), id="a dtype"),
        pytest.param(lambda: X.astype(ms.float32), id="nothing to do"),
    ],
)
def test_same_bits(engine: launcher.Engine, fn: Any) -> None:
    same_as_in_python(engine, fn)


def test_numbers_are_told_apart() -> None:
    """A record serves all numbers, and -0.0, NaN, 1, True and 1.0 are all different."""
    x = ms.Tensor([1.0, -1.0])
    for _ in range(4):
        for number, want in ((0.0, "[ 0. -0.]"), (-0.0, "[-0.  0.]"), (1, "[ 1. -1.]"), (1.0, "[ 1. -1.]")):
            assert str((x * number).asnumpy()) == want
        assert np.isnan((x * float("nan")).asnumpy()).all()
    flags = ms.Tensor([True, False])
    for _ in range(4):
        assert (flags + 1).dtype is ms.int64
        assert (flags + True).dtype is ms.bool_
        assert (flags + 1.0).dtype is ms.float32


def test_numbers_in_a_list_are_elements_and_no_operands(engine: launcher.Engine) -> None:
    x = f32(2)
    same_as_in_python(engine, lambda: x + [x[0], 1])
    for n in (2, 3, 2.5, 2):
        assert bits(x + [x[0], n]) == bits(in_python(engine, lambda n=n: x + [x[0], n]))


def test_large_numbers_wrap_as_in_python(engine: launcher.Engine) -> None:
    x = ms.Tensor([1, 2])
    same_as_in_python(engine, lambda: x + 2**70)
    same_as_in_python(engine, lambda: x + (2**63 - 1))


def test_arrays_as_numpy_has_them(engine: launcher.Engine) -> None:
    """Misaligned, read-only, reversed and broadcast arrays."""
    raw = np.zeros(41, np.uint8)
    misaligned = raw[1:].view(np.float32)[:8]
    misaligned[:] = np.arange(8)
    frozen = np.arange(8, dtype=np.float32)
    frozen.flags.writeable = False
    other = f32(8)
    for array in (misaligned, frozen, np.arange(8, dtype=np.float32)[::-1], np.broadcast_to(np.float32(3), (8,))):
        x = ms.from_numpy(array)
        same_as_in_python(engine, lambda x=x: x + other)
        same_as_in_python(engine, lambda x=x: other * x)


def test_results_are_arrays_like_any_other() -> None:
    x = f32(3, 5)
    for _ in range(4):
        out = x + x
    array = out.asnumpy()
    assert array.flags.writeable
    assert array.flags.c_contiguous
    assert array.ctypes.data % 64 == 0
    assert (array * 2).base is None


def test_empty_tensors(engine: launcher.Engine) -> None:
    x = ms.Tensor(np.zeros((0, 3), np.float32))
    same_as_in_python(engine, lambda: x + 1, native=False)
    assert (x @ f32(3, 2)).shape == (0, 2)


def test_subclasses_and_strangers_go_to_python(engine: launcher.Engine) -> None:
    class Mine(ms.Tensor):
        pass

    mine = Mine(np.ones(3, np.float32))
    same_as_in_python(engine, lambda: mine + 1.0, native=False)
    x = ms.Tensor([1.0, 2.0, 3.0])
    same_as_in_python(engine, lambda: x + np.float32(2))  # the op below is native again
    same_as_in_python(engine, lambda: x == None, native=False)  # noqa: E711 - what is compared to None here is the answer


def test_errors_are_the_same(engine: launcher.Engine) -> None:
    x, y, index = f32(4), f32(3), ms.Tensor([7])

    def failing(fn: Any) -> list[str]:
        found = []
        for _ in range(4):
            with pytest.raises((TypeError, ValueError, IndexError, RuntimeError)) as error:
                fn()
            found.append(f"{error.type.__name__}: {error.value}")
        return found

    for fn in (lambda: x + y, lambda: x + "text", lambda: x @ f32(3, 3), lambda: x[index], lambda: ops.relu(1)):
        want = in_python(engine, lambda fn=fn: failing(fn))
        assert failing(fn) == want


def test_an_index_may_get_wrong_later() -> None:
    """The record of a good call does not let a bad one pass."""
    x, index = f32(4), ms.Tensor([1])
    for _ in range(4):
        x[index]
    with pytest.raises(IndexError):
        x[ms.Tensor([9])]


# ---- views ----------------------------------------------------------------------------------------------------------


def test_views_share_memory() -> None:
    for _ in range(4):
        x = ms.Tensor(np.zeros((2, 3), np.float32))
        row, flat, turned = x[0], x.reshape(6), x.T
        row += 1  # a new tensor
        x[0].add_(5)
        assert flat.asnumpy().tolist() == [5, 5, 5, 0, 0, 0]
        flat[5] = 7
        assert turned[2, 1].asnumpy() == 7
        assert row.asnumpy().tolist() == [1, 1, 1]


def test_broadcast_views_cannot_be_written() -> None:
    for _ in range(4):
        wide = ms.Tensor([1.0, 2.0]).broadcast_to((3, 2))
        with pytest.raises(RuntimeError, match="broadcast view"):
            wide.add_(1)


# ---- state ----------------------------------------------------------------------------------------------------------


def test_graphs_are_built_in_python() -> None:
    @ms.jit
    def f(x: ms.Tensor) -> ms.Tensor:
        return ops.relu(x + x) * 2

    x = f32(8)
    for _ in range(4):
        want = bits(ops.relu(x + x) * 2)
    assert bits(f(x)) == want


def test_replaced_rules_are_seen() -> None:
    op, x = get_op("floor"), ms.Tensor([1.5, 2.5])
    gradient = ms.grad(lambda x: ops.floor(x).sum())
    for _ in range(4):
        assert gradient(x).asnumpy().tolist() == [0, 0]
    try:
        override_bprop(op, lambda ins, out, dout: (dout * 3,))
        for _ in range(4):
            assert gradient(x).asnumpy().tolist() == [3, 3]
    finally:
        override_bprop(op, None)


def test_shapes_without_end_do_not_leak(engine: launcher.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "MOST_RECORDS", 16)
    for n in range(1, 60):
        x = ms.Tensor(np.ones(n, np.float32))
        for _ in range(3):
            assert (x + x).shape == (n,)
    assert len(engine.owners) <= 16


def test_two_threads() -> None:
    """Each has its own dispatch state, and one may take a gradient while the other does not."""
    x, y = f32(64), f32(64, seed=1)
    want = bits(x * y + x), bits(ms.grad(lambda x: (x * y + x).sum())(x))
    wrong: list[Any] = []

    def compute() -> None:
        for _ in range(300):
            if bits(x * y + x) != want[0]:
                wrong.append("value")

    def differentiate() -> None:
        for _ in range(100):
            if bits(ms.grad(lambda x: (x * y + x).sum())(x)) != want[1]:
                wrong.append("gradient")

    threads = [threading.Thread(target=t) for t in (compute, differentiate, compute, differentiate)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_long_kernels_let_other_threads_run() -> None:
    x = f32(256, 256)
    want = bits(x @ x)
    found: list[Any] = []

    def compute() -> None:
        for _ in range(10):
            found.append(bits(x @ x) == want)

    threads = [threading.Thread(target=compute) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [True] * 30


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_process_goes_on() -> None:
    x = f32(8)
    for _ in range(4):
        want = bits(ms.grad(lambda x: (x * x).sum())(x))
    assert child_agrees(lambda: bits(ms.grad(lambda x: (x * x).sum())(x)) == want)


# ---- what stays behind ----------------------------------------------------------------------------------------------


def calls_of_every_kind() -> Callable[[], None]:
    """20,000 of them: native ones, with numbers, views, tapes, and those that end in Python."""
    block = launching()
    block.__enter__()
    fused.COST = 0.0  # what can be fused is so before anything is counted
    x, y = f32(8), f32(8, seed=1)
    gradient = ms.grad(lambda x, y: ((x * y + 1.5)[:4] - x.reshape(2, 4)[0]).sum(), (0, 1))
    watched = [x, y, get_op("add"), get_op("mul"), np.dtype(np.float32), ms.float32, type(x)]

    def work(n: int) -> None:
        for _ in range(n):
            x + y
            x * 2.5
            x[1:3]
            x.T
            gradient(x, y)

    work(200)
    gc.collect()
    counts = [sys.getrefcount(v) for v in watched]
    held = launcher.statistics()["records"], ms.runtime.memory_allocated()

    def calls() -> None:
        work(4_000)
        gc.collect()
        assert [sys.getrefcount(v) for v in watched] == counts
        assert (launcher.statistics()["records"], ms.runtime.memory_allocated()) == held

    return calls


def test_reference_counts_and_memory_stay() -> None:
    assert growth(calls_of_every_kind) < 4_000  # not a byte for a call of one kind


def test_tensors_and_calls_at_the_end_of_the_process() -> None:
    """Tensors outlive the modules that made them, and `__del__` may compute while everything is taken down."""
    program = """
        import sys
        import numpy as np
        import duograph as ms

        x = ms.Tensor(np.ones(1000, np.float32))
        for _ in range(4):
            y = x + x
        sys.kept_to_the_end = [y, (x * 2).asnumpy(), x[:10]]

        class Late:
            def __del__(self):
                sys.kept_to_the_end.append(y * 3)

        sys.late = Late()
        print(float(y.sum()))
    """
    assert python(program) == "2000.0\n"
