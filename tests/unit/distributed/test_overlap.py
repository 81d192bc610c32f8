"""Collectives under way while a compiled program computes: the same bits, one order, nothing done twice."""

from __future__ import annotations

import time
import types

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, communication, nn, ops, parallel
from duograph.base.config import configure
from duograph.distributed import group as groups
from duograph.distributed import transport, world
from duograph.distributed.kept import Kept
from duograph.distributed.world import simulate

N = 1 << 14
"""Elements of what is worth handing to another thread."""


def numbers(*place):
    rng = np.random.default_rng([3, *place])
    return Tensor((rng.standard_normal(N) * 10.0 ** rng.integers(-3, 4, N)).astype(np.float32))


def effects(compiled):
    """The names of the effects of a compiled function in the order in which they run."""
    graph = compiled.explain().versions[0]["graph"]
    lines = [line.split(" = ")[1].split("(")[0] for line in str(graph).splitlines() if " = " in line]
    return [name for name in lines if name.startswith(("collective", "all_", "print", "tanh", "reduce_sum"))]


def test_gradients_are_reduced_while_others_are_computed():
    def program(overlap):
        ms.set_auto_parallel_context(
            parallel_mode="data_parallel", comm_fusion={"allreduce": {"mode": "size", "config": 0.1}}
        )
        net = nn.SequentialCell(*[nn.Dense(160, 160, activation="tanh") for _ in range(3)])
        for k, p in enumerate(net.get_parameters()):
            p.set_data(Tensor(np.random.default_rng(k).standard_normal(p.shape).astype(np.float32) * 0.1))
        optimizer, reducer = (
            nn.Momentum(net.trainable_params(), 0.1, 0.9),
            nn.DistributedGradReducer(net.trainable_params()),
        )
        gradient = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

        @ms.jit
        def step(x):
            loss, gradients = gradient(x)
            optimizer(reducer(gradients))
            return loss

        x = Tensor(np.random.default_rng([1, communication.get_rank()]).standard_normal((32, 160)).astype(np.float32))
        with configure(comm_overlap=overlap):
            for _ in range(4):
                step(x)
        return [p.asnumpy().tobytes() for p in net.get_parameters()], effects(step)

    plain, overlapped = (simulate(3, lambda o=overlap: program(o)) for overlap in (False, True))
    ms.reset_auto_parallel_context()
    assert all(bits == plain[0][0] for bits, _ in (*plain, *overlapped))
    assert "collective_start" not in plain[0][1]
    order = overlapped[0][1]
    first, last = order.index("collective_start"), len(order) - 1 - order[::-1].index("collective_start")
    assert "all_reduce" not in order
    assert order.index("collective_wait") > last > first
    assert "reduce_sum" in order[first:last], "a bias's gradient is computed while the first bucket is under way"


@pytest.mark.parametrize("label", [1, 7])
def test_what_may_raise_does_not_wait_for_what_is_under_way(label):
    def plain(x, y):
        total = ops.AllReduce()(x)
        loss = ops.cross_entropy(x[:4].reshape(2, 2), y)  # labels may be out of range
        return total, ops.AllReduce()(x * loss)

    compiled = ms.jit(plain)

    def program(f):
        x, said = numbers(communication.get_rank()), ""
        for n in (1, label, 1):
            try:
                found = f(x, Tensor([0, n], ms.int32))
            except RuntimeError as error:
                said = str(error).splitlines()[0]
        return [t.asnumpy().tobytes() for t in found], said

    expected = simulate(2, lambda: program(plain))
    assert simulate(2, lambda: program(compiled)) == expected
    assert ("must be numbers of classes" in expected[0][1]) == (label == 7)
    order = [name for name in effects(compiled) if name.startswith("collective")]
    assert order == ["collective_start"] * 2 + ["collective_wait"] * 2


def test_a_result_that_the_next_collective_needs_is_waited_for_first():
    @ms.jit
    def f(x):
        y = ops.AllReduce()(x)
        z = ops.AllReduce()(ops.tanh(y))
        return y, z

    def program():
        found = f(numbers(communication.get_rank()))
        return [t.asnumpy().tobytes() for t in found]

    first, second = simulate(2, program)
    assert first == second
    assert effects(f) == ["all_reduce", "tanh", "all_reduce"], "nothing can be computed meanwhile"


def test_prints_come_after_what_was_asked_for_before(capsys):
    @ms.jit
    def f(x, y):
        a, b = ops.AllReduce()(x), ops.AllReduce()(y)
        ops.Print()("between", a.shape[0])
        return a + b

    def program():
        rank = communication.get_rank()
        return f(numbers(rank, 0), numbers(rank, 1)).asnumpy().tobytes()

    assert len(set(simulate(2, program))) == 1
    assert capsys.readouterr().out.count("between") == 2


def test_a_program_that_fails_meanwhile_exchanges_nothing_twice():
    """On one rank alone plain Python repeats the call: it gets what the first attempt has begun."""

    def body(x, y, table, i):
        a, b = ops.AllReduce()(x), ops.AllReduce()(y)
        try:
            found = table[i]
        except IndexError:
            found = table[0] * 100
        return a + b * found, ops.AllReduce()(a)

    def program(compiled):
        f = ms.jit(body) if compiled else body
        rank, told = communication.get_rank(), []
        for k, i in enumerate((1, 5 if rank == 0 else 2, 0)):
            given = numbers(rank, k), numbers(k, rank), Tensor([1.0, 2.0, 3.0]), Tensor(i)
            told += [t.asnumpy().tobytes() for t in f(*given)]
        return told, "collective_start" in effects(f) if compiled else True

    assert simulate(2, lambda: program(True)) == simulate(2, lambda: program(False))


def test_programs_that_fail_meanwhile_leave_nothing():
    def program():
        @ms.jit
        def f(x, y, table, i):
            a, b = ops.AllReduce()(x), ops.AllReduce()(y)
            try:
                found = table[i]
            except IndexError:
                found = table[0]
            return a + b * found

        for i in (0, 7, 7, 7, 7):
            f(numbers(0), numbers(1), Tensor([1.0, 2.0]), Tensor(i))
        held = len(world.current()._tickets.__dict__)
        f(numbers(0), numbers(1), Tensor([1.0, 2.0]), Tensor(0))
        return held, len(world.current()._tickets.__dict__), "collective_start" in effects(f)

    assert all(held <= 2 and left == 0 and begun for held, left, begun in simulate(2, program))


def test_ranks_that_do_not_fit_are_told_at_the_wait():
    def program():
        n = N if communication.get_rank() == 0 else 2 * N
        f = ms.jit(lambda x, y: ops.AllReduce()(x) + ops.AllReduce()(y))
        f(ops.ones(n), ops.ones(n))

    with pytest.raises(RuntimeError, match="do not do the same"):
        simulate(2, program)


def test_what_is_hidden_is_reported(monkeypatch):
    """What was not waited for; nothing was, says the clock of those who wait."""
    original = groups.Group.all_reduce
    slow = lambda self, x, op, *more: (time.sleep(0.02), original(self, x, op, *more))[1]  # noqa: E731
    monkeypatch.setattr(groups.Group, "all_reduce", slow)
    monkeypatch.setattr(world, "time", types.SimpleNamespace(perf_counter=lambda: 0.0))

    def program():
        @ms.jit
        def f(x, y, w):
            a, b = ops.AllReduce()(x), ops.AllReduce()(y)
            for _ in range(20):
                w = ops.tanh(w @ w)
            return a + b, w

        w = Tensor(np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32))
        for _ in range(3):
            f(numbers(0), numbers(1), w)[1].asnumpy()
        (told,) = [line for version in f.explain().versions for line in version["communication"]]
        assert told.startswith(("all_reduce: 6 calls, ", "all_reduce: 12 calls, "))  # of both ranks, if they share it
        assert float(told.split()[-4]) > 20
        return parallel.communication_report()

    report = simulate(2, program)[0]
    hidden = [float(line.split()[-1]) for line in report.splitlines() if "all_reduce" in line]
    assert len(hidden) == 2 and min(hidden) > 0.1


def test_memory_is_used_again_when_nobody_has_it():
    kept = Kept()
    x = np.arange(60000, dtype=np.float32)
    first, other = kept.copy(x), kept.copy(x)
    part, where = first[1:], {first.ctypes.data, other.ctypes.data}
    assert len(where) == 2 and first.tobytes() == x.tobytes()
    del first, other
    again = kept.copy(-x)
    assert again.ctypes.data in where and part.tobytes() == x[1:].tobytes()
    del part, again
    assert {kept.empty((60000,), np.float32).ctypes.data for _ in range(4)} <= where
    assert kept.empty((3, 5), np.int8).shape == (3, 5)


def test_operands_and_results_of_overlapped_collectives_stay_what_they_are():
    """Their memory is used again: by nobody while somebody has it."""

    def program():
        @ms.jit
        def f(x, y, w):
            a, b = ops.AllReduce()(x), ops.AllReduce()(y)
            return a, b, (w @ w).sum(), x + 1

        rank, w = communication.get_rank(), ops.ones((64, 64))
        found = [f(Tensor(np.full(40000, i + rank, np.float32)), Tensor(np.full(40001, -i, np.float32)), w)
                 for i in range(5)]  # fmt: skip
        return [[float(part.asnumpy().min()) for part in row] for row in found]

    for rank, rows in enumerate(simulate(2, program)):
        assert rows == [[2 * i + 1.0, -2.0 * i, 64.0**3, i + rank + 1.0] for i in range(5)]


def test_who_works_for_others_looks_often_only_if_somebody_waits(monkeypatch):
    naps, looks = [], []

    class Late:
        def test(self):
            looks.append(0)
            return len(looks) > transport.SPINS + 30

    monkeypatch.setattr(transport.time, "sleep", naps.append)
    for worker, sleeps in (
        (types.SimpleNamespace(waiting=0), True),
        (types.SimpleNamespace(waiting=1), False),
        (None, False),
    ):
        naps.clear()
        looks.clear()
        transport.wait(Late(), 0, lambda *_: AssertionError(), None, worker)
        assert bool(naps) == sleeps
