"""Groups of ranks, played by threads: order of sums, sizes of messages, and what ranks are told when they differ."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import duograph as ms
from duograph import communication, ops
from duograph.base.config import configure
from duograph.distributed import world
from duograph.distributed.errors import CommunicationError, CommunicationTimeout
from duograph.distributed.reduce import reduced
from duograph.distributed.world import simulate
from duograph.mint import distributed

SIZES = (0, 1, 90, 130, 4096, 70_001)
"""Elements: none, in a frame, over its edge, gathered, and reduced part by part with a rest."""


def group():
    return world.current().all


def operand(n, rank, dtype=np.float32):
    rng = np.random.default_rng([n, rank])
    return (rng.standard_normal(n) * 10.0 ** rng.integers(-4, 5, n)).astype(dtype)


@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("n", SIZES)
def test_a_sum_is_added_up_in_the_order_of_the_ranks(n, ranks):
    expected = operand(n, 0)
    for rank in range(1, ranks):
        expected = expected + operand(n, rank)
    found = simulate(ranks, lambda: group().all_reduce(operand(n, group().rank), "sum"))
    assert all(np.array_equal(x, expected) for x in found)


def test_the_order_is_visible():
    """Else the tests above would not say anything."""
    parts = [operand(4096, rank) for rank in range(3)]
    assert not np.array_equal(reduced(parts, "sum"), reduced(parts[::-1], "sum"))


def test_half_types_are_rounded_once():
    parts = [np.array([1.0], np.float16), np.array([2.0**-11], np.float16), np.array([2.0**-11], np.float16)]
    assert reduced(parts, "sum") == np.float16(1 + 2.0**-10)
    assert parts[0] + parts[1] + parts[2] == np.float16(1)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float16, np.float64, np.complex64])
def test_reductions_of_all_dtypes(dtype):
    x = [
        (operand(200, rank) > 0 if dtype is np.bool_ else operand(200, rank, np.float64)).astype(dtype)
        for rank in (0, 1)
    ]
    for op in ("sum", "prod") if dtype is np.complex64 else ("sum", "prod", "max", "min"):
        out = simulate(2, lambda op=op: group().all_reduce(x[group().rank], op))
        assert out[0].dtype == dtype
        assert out[0].tobytes() == out[1].tobytes() == reduced(x, op).tobytes()


@pytest.mark.parametrize("n", [6, 6000])
def test_what_else_ranks_do_together(n):
    def program():
        g, x = group(), np.arange(n, dtype=np.int32) + 1000 * group().rank
        return (
            g.all_gather(x), g.reduce_scatter(x, "sum"), g.all_to_all(x), g.broadcast(x, 2), g.gather(x, 1),
            g.scatter(np.arange(3 * n, dtype=np.int32).reshape(3, n) if g.rank == 1 else None, x, 1),
            g.reduce(x, "max", 0), g.all_gather_object("x" * n * g.rank),
        )  # fmt: skip

    each, third = np.arange(n), n // 3
    for rank, out in enumerate(simulate(3, program)):
        gathered, scattered, dealt, sent, collected, part, largest, texts = out
        mine = slice(rank * third, (rank + 1) * third)
        assert gathered.tolist() == [(each + 1000 * r).tolist() for r in range(3)]
        assert scattered.tolist() == (3 * each + 3000)[mine].tolist()
        assert dealt.tolist() == np.concatenate([each[mine] + 1000 * r for r in range(3)]).tolist()
        assert sent.tolist() == (each + 2000).tolist()
        assert (collected is None) if rank != 1 else np.array_equal(collected, gathered)
        assert part.tolist() == (each + n * rank).tolist()
        assert largest.tolist() == (each + (2000 if rank == 0 else 1000 * rank)).tolist()
        assert [len(text) for text in texts] == [0, n, 2 * n]


def test_results_are_nobody_elses_memory():
    def program():
        g = group()
        first = [g.all_reduce(np.ones(2), "sum"), g.all_gather(np.ones(2)), g.broadcast(np.ones(2), 0)]
        g.all_reduce(np.zeros(2), "sum")
        return [x.tolist() for x in first]

    assert simulate(1, program) == [[[1, 1], [[1, 1]], [1, 1]]]
    assert simulate(2, program)[0] == [[2, 2], [[1, 1], [1, 1]], [1, 1]]


def test_messages_find_their_way():
    def program():
        g = group()
        for to in range(3):
            g.send(np.full(4, 10 * g.rank + to), to, tag=to)
        return [int(g.receive(np.empty(4, np.int64), source, g.rank)[0][0]) for source in (2, 0, 1)]

    assert simulate(3, program) == [[20 + r, r, 10 + r] for r in range(3)]


def first_rank_does(one, other):
    return lambda: one(group()) if group().rank == 0 else other(group())


DIFFERENT = {
    "shapes": (lambda g: g.all_reduce(np.ones(3), "sum"), lambda g: g.all_reduce(np.ones((3, 1)), "sum")),
    "dtypes": (lambda g: g.all_gather(np.ones(3)), lambda g: g.all_gather(np.ones(3, np.float32))),
    "operations": (lambda g: g.all_reduce(np.ones(3), "sum"), lambda g: g.all_reduce(np.ones(3), "max")),
    "roots": (lambda g: g.broadcast(np.ones(3), 0), lambda g: g.broadcast(np.ones(3), 1)),
    "kinds, of large operands": (lambda g: g.all_reduce(np.ones(999), "sum"), lambda g: g.all_gather(np.ones(999))),
    "sizes of pieces": (
        lambda g: g.all_to_all_parts([np.ones(2), np.ones(2)], [np.ones(2), np.ones(2)]),
        lambda g: g.all_to_all_parts([np.ones(2), np.ones(2)], [np.ones(3), np.ones(2)]),
    ),
    "one goes on": (lambda g: g.barrier(), lambda g: g.end()),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_ranks_that_differ_all_get_one_error(what):
    errors = []

    def program():
        try:
            first_rank_does(*DIFFERENT[what])()
        except CommunicationError as error:
            errors.append(str(error))

    simulate(2, program)
    assert len(errors) == 2
    assert errors[0] == errors[1]
    assert "rank 0" in errors[0]
    assert "rank 1" in errors[0]


def test_a_message_of_another_shape_names_both_ranks():
    with pytest.raises(CommunicationError, match="rank 1 expects float64 .* from rank 0, which has sent float64"):
        simulate(2, first_rank_does(lambda g: g.send(np.ones(2), 1, 0), lambda g: g.receive(np.ones(3), 0, 0)))


def test_who_waits_in_vain_names_those_that_are_missing():
    def program():
        with configure(comm_timeout=0.05):
            if group().rank == 1:
                group().barrier()

    with pytest.raises(CommunicationTimeout, match="rank 1 has waited .* in barrier .*come from ranks 0, 2"):
        simulate(3, program)


@pytest.mark.parametrize("what", ["collective", "message", "part"])
def test_who_waits_for_a_rank_that_has_ended_learns_it(what):
    def program():
        here = world.current()
        if what == "part":
            here.create_group("part", [0, 1])
        if here.rank == 1:
            return
        if what == "message":
            here.all.receive(np.zeros(2, np.float32), 1, 0)
        (here.groups["part"] if what == "part" else here.all).barrier()

    with pytest.raises(CommunicationError, match="rank 1 has ended, while rank 0 waits in "):
        simulate(2, program)


def test_a_difference_is_named_by_line():
    def program():
        if group().rank:
            group().all_reduce(np.ones(1), "max")
        else:
            group().all_reduce(np.ones(1), "sum")

    first = program.__code__.co_firstlineno
    with pytest.raises(CommunicationError) as found:
        simulate(2, program)
    for rank, op, line in ((0, "sum", first + 4), (1, "max", first + 2)):
        assert f"rank {rank}: all_reduce of float64 (1,), {op} at test_group.py:{line} (call 2" in str(found.value)


def test_a_difference_of_compiled_programs_is_named_by_line():
    def sums(x):
        return ms.ops.AllReduce()(x * 2)

    def maxima(x):
        return ms.ops.AllReduce("max")(x * 2)

    def program():
        ms.jit(maxima if group().rank else sums)(ms.Tensor([1.0]))

    with pytest.raises(CommunicationError) as found:
        simulate(2, program)
    for function in (sums, maxima):
        assert f"at test_group.py:{function.__code__.co_firstlineno + 1} (call 2" in str(found.value)


def test_ranks_make_the_same_group_or_learn_who_does_not():
    def program():
        world.current().create_group("pair", [0, 1] if group().rank == 0 else [1, 0])

    said = r"rank 0: create_group 'pair' of ranks \[0, 1\]; rank 1: create_group 'pair' of ranks \[1, 0\]"
    with pytest.raises(CommunicationError, match=said):
        simulate(2, program)


def test_groups_have_an_order_and_know_who_is_in_them():
    def program():
        here = world.current()
        here.create_group("pair", [2, 0])
        if here.rank == 1:
            with pytest.raises(ValueError, match="rank 1 is not in the group 'pair', which has the ranks \\[2, 0\\]"):
                here.group("pair")
            return None
        return here.group("pair").all_gather(np.array([here.rank])).ravel().tolist()

    assert simulate(3, program) == [[2, 0], None, [2, 0]]


@pytest.mark.parametrize("ranks", [[], [0, 0], [0, 5], [-1]])
def test_no_group_of_other_ranks(ranks):
    with pytest.raises(ValueError, match="different ones of those that there are"):
        simulate(2, lambda: world.current().create_group("odd", ranks))


def test_an_error_of_one_rank_is_that_of_the_simulation():
    def program():
        if group().rank == 1:
            raise KeyError("mine")
        group().barrier()

    with pytest.raises(KeyError, match="mine") as found:
        simulate(2, program)
    assert found.value.__notes__ == ["on rank 1 of a simulation of 2"]


def test_a_process_that_a_rank_has_forked_is_none():
    def program():
        world.current()._process = 0
        assert communication.get_group_size() == 2
        for call in (
            lambda: ops.AllReduce()(ops.ones(2)),
            lambda: ms.jit(ops.AllReduce())(ops.ones(2)),
            lambda: distributed.all_reduce(ops.ones(2), async_op=True),
            lambda: distributed.irecv(ops.ones(2), 0),
            distributed.barrier,
        ):
            with pytest.raises(CommunicationError, match="was forked by rank"):
                call()

    simulate(2, program)


def test_an_error_that_nobody_has_waited_for_comes_at_the_end():
    def program():
        distributed.all_reduce(ops.ones(3 + communication.get_rank()), async_op=True)

    with pytest.raises(CommunicationError, match=r"all_reduce of float32 \(3,\).*all_reduce of float32 \(4,\)"):
        simulate(2, program)


def test_figures_count_calls_and_bytes():
    def program():
        g = group()
        for n in (10, 1000):
            g.all_reduce(np.ones(n, np.float32), "sum")
        figures = g.figures["all_reduce"]
        return figures.calls, figures.bytes, figures.waited <= figures.seconds

    assert simulate(2, program) == [(2, 4040, True)] * 2


def test_ranks_have_the_same_versions(monkeypatch):
    monkeypatch.setattr(world, "_versions", lambda: {"NumPy": f"2.{threading.current_thread().name[-1]}"})
    with pytest.raises(CommunicationError, match=r"same NumPy, but rank 0 has 2.0, rank 1 has 2.1"):
        simulate(2, lambda: None)
