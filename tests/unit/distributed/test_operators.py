"""Collective operators in all modes: the same values and gradients, one order, nothing exchanged twice."""

from __future__ import annotations

import re

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, communication, nn, ops
from duograph.base.config import configure
from duograph.communication import comm_func
from duograph.distributed import world
from duograph.distributed.world import simulate
from duograph.mint import distributed as dist


def rank():
    return communication.get_rank()


def operand():
    return Tensor(np.arange(4, dtype=np.float32) * (rank() + 1) + 1)


def weights(n=4):
    return Tensor(np.arange(n, dtype=np.float32) + rank())


PROGRAMS = {
    "all_reduce": lambda x: (ops.AllReduce()(x) * weights()).sum(),
    "all_reduce of the largest": lambda x: (ops.AllReduce("max")(x) * weights()).sum(),
    "all_gather": lambda x: (ops.AllGather()(x) * weights(8)).sum(),
    "reduce_scatter": lambda x: (ops.ReduceScatter()(x) * weights(2)).sum(),
    "broadcast": lambda x: (ops.Broadcast(1)((x,))[0] * weights()).sum(),
    "all_to_all": lambda x: (ops.AlltoAll(2, 0, 0)(x) * weights()).sum(),
    "CollectiveScatter": lambda x: (ops.CollectiveScatter(1)(x) * weights(2)).sum(),
    "CollectiveGather": lambda x: (ops.CollectiveGather(0)(x) * weights(8 if rank() == 0 else 1)).sum(),
    "mean": lambda x: (ops.AllReduce("avg")(x) * weights()).sum(),
    "reduce_scatter of means": lambda x: (ops.ReduceScatter("avg")(x) * weights(2)).sum(),
    "all_to_all of lists": lambda x: (ops.cat(exchanged_lists(x)) * weights()).sum(),
    "AlltoAllV": lambda x: (uneven(ops.AlltoAllV(), x, *UNEVEN[rank()]) * weights(2 + 2 * rank())).sum(),
    "AlltoAllVC": lambda x: (uneven(ops.AlltoAllVC(), x, [1, 3, 1, 1]) * weights(2 + 2 * rank())).sum(),
    "AllGatherV": lambda x: (ops.AllGatherV()(x[: 1 + 2 * rank()], [1, 3]) * weights()).sum(),
    "ReduceScatterV": lambda x: (ops.ReduceScatterV()(x, [1, 3]) * weights(1 + 2 * rank())).sum(),
    "reduce_scatter of lists": lambda x: (scattered_lists(x) * weights(2)).sum(),
}
UNEVEN = ([1, 3], [1, 1]), ([1, 1], [3, 1])
"""How many elements each of two ranks sends and receives."""


def uneven(operator, x, *sizes):
    """All four elements of rank 0, two of rank 1."""
    return operator(x if rank() == 0 else x[:2], *sizes)


def exchanged_lists(x):
    out = [ops.zeros(2), ops.zeros(2)]
    dist.all_to_all(out, [x[:2], x[2:]])
    return out


def scattered_lists(x):
    out = ops.zeros(2)
    dist.reduce_scatter(out, [x[:2], x[2:]])
    return out


GRADIENTS = {
    "all_reduce": [[1, 3, 5, 7]] * 2,
    "all_reduce of the largest": [[1, 0, 0, 0], [1, 3, 5, 7]],
    "all_gather": [[1, 3, 5, 7], [9, 11, 13, 15]],
    "reduce_scatter": [[0, 1, 1, 2]] * 2,
    "broadcast": [[0, 0, 0, 0], [1, 3, 5, 7]],
    "all_to_all": [[0, 1, 1, 2], [2, 3, 3, 4]],
    "CollectiveScatter": [[0, 0, 0, 0], [0, 1, 1, 2]],
    "CollectiveGather": [[0, 1, 2, 3], [4, 5, 6, 7]],
    "mean": [[0.5, 1.5, 2.5, 3.5]] * 2,
    "reduce_scatter of means": [[0, 0.5, 0.5, 1]] * 2,
    "all_to_all of lists": [[0, 1, 1, 2], [2, 3, 3, 4]],
    "AlltoAllV": [[0, 1, 2, 3], [1, 4, 0, 0]],
    "AlltoAllVC": [[0, 1, 2, 3], [1, 4, 0, 0]],
    "AllGatherV": [[1, 0, 0, 0], [3, 5, 7, 0]],
    "ReduceScatterV": [[0, 1, 2, 3]] * 2,
    "reduce_scatter of lists": [[0, 1, 1, 2]] * 2,
}
"""The gradient of the sum of what all ranks compute, in what each has given."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_what_all_ranks_compute_together(name):
    f = PROGRAMS[name]

    def program():
        x = operand()
        found = [ms.grad(f)(x), ms.grad(ms.jit(f))(x), ms.jit(ms.grad(f))(x), ms.jit(ms.grad(f), jit_level="O0")(x)]
        assert ms.jit(f)(x).tolist() == f(x).tolist()
        return [g.tolist() for g in found]

    for found, expected in zip(simulate(2, program), GRADIENTS[name], strict=True):
        assert found == [expected] * 4


def test_the_largest_on_several_ranks_shares_no_gradient():
    """As MindSpore has it: each rank that has the largest gets all of it."""
    f = lambda x: ops.AllReduce("max")(x).sum()
    assert simulate(2, lambda: ms.grad(f)(Tensor([1.0])).tolist()) == [[2.0]] * 2


def test_a_compiled_program_has_its_collectives_in_order():
    def f(x):
        return ops.AllReduce()(x), ops.AllGather()(x), ops.AllReduce("max")(x)

    def program():
        compiled = ms.jit(f)
        compiled(operand())
        return re.findall(r"= (all_\w+)\(", compiled.explain().versions[0]["graph"])

    assert simulate(2, program) == [["all_reduce", "all_gather", "all_reduce"]] * 2


def test_equal_calls_are_two_calls():
    """A group's counter tells how often ranks have met."""

    def program():
        f = ms.jit(lambda x: ops.AllReduce()(x) + ops.AllReduce()(x))
        f(operand())
        before = world.current().all.calls
        f(operand())
        return world.current().all.calls - before

    assert simulate(2, program) == [2, 2]


def test_branches_and_loops_communicate():
    def f(x):
        while x.sum() < 100:
            x = ops.AllReduce()(x)
        if x.sum() > 150:
            return ops.AllGather()(x)
        return ops.AllReduce()(x)

    def program():
        compiled = ms.jit(f)
        same = np.array_equal(compiled(operand()).asnumpy(), f(operand()).asnumpy())
        return same, compiled.explain().fallbacks

    assert simulate(2, program) == [(True, [])] * 2


def test_gradients_of_branches_that_communicate_are_plain_python():
    def f(x):
        y = ops.AllReduce()(x) if x.sum() > 3 else x
        return (y * y).sum()

    def program():
        compiled = ms.jit(ms.grad(f))
        expected = ms.grad(f)(operand()).tolist()
        assert compiled(operand()).tolist() == ms.grad(ms.jit(f))(operand()).tolist() == expected
        return [str(reason) for reason in compiled.explain().fallbacks]

    for (reason,) in simulate(2, program):
        assert "in the gradient of a branch or loop" in reason


def test_a_program_that_fails_afterwards_does_not_communicate_again():
    def f(x, i):
        return ops.AllReduce()(x)[i]

    def program():
        compiled = ms.jit(f)
        compiled(operand(), Tensor(0))
        before = world.current().all.calls
        try:
            compiled(operand(), Tensor(9 if rank() == 0 else 1))
        except IndexError:
            assert rank() == 0
        return world.current().all.calls - before

    assert simulate(2, program) == [1, 1]


def test_batches_are_exchanged_as_a_whole():
    def program():
        batch = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4) * (rank() + 1))
        for f in (ops.AllReduce(), ops.AllGather(), ops.ReduceScatter(), ops.AlltoAll(2, 0, 0)):
            before = world.current().all.calls
            whole = ms.vmap(f)(batch)
            assert world.current().all.calls == before + 1
            assert np.array_equal(whole.asnumpy(), np.stack([f(row).asnumpy() for row in batch]))
        return True

    assert simulate(2, program) == [True, True]


def test_what_writes_into_its_operand_does_so_in_programs():
    def f(x):
        dist.all_reduce(x)
        parts = [ops.zeros_like(x), ops.zeros_like(x)]
        dist.all_gather(parts, x)
        return parts[0] + parts[1]

    def program():
        x, y = operand(), operand()
        assert f(x).tolist() == ms.jit(f)(y).tolist()
        return x.tolist() == y.tolist() == [2.0, 5.0, 8.0, 11.0]

    assert simulate(2, program) == [True, True]


def test_the_rank_is_read_at_every_call():
    f = ms.jit(lambda x: x * communication.get_rank())
    assert simulate(3, lambda: [f(Tensor([2.0])).tolist() for _ in range(2)]) == [[[2.0 * r]] * 2 for r in range(3)]


def test_messages_in_programs():
    def f(x):
        sent = ops.Send(0, 1 - rank())(x)
        return sent + ops.Receive(0, 1 - rank(), (4,), ms.float32)()

    def program():
        return f(operand()).tolist() == ms.jit(f)(operand()).tolist() == [2.0, 5.0, 8.0, 11.0]

    assert simulate(2, program) == [True, True]


def test_messages_wait_for_nothing_else():
    """Whatever the order in which messages and collectives are asked for, nobody waits in a circle."""

    def program():
        other = 1 - rank()
        late, early = ops.zeros(3), ops.zeros(3)
        first = dist.irecv(late, other, tag=1)
        second = dist.irecv(early, other, tag=2)
        dist.isend(ops.ones(3), other, tag=2)
        total = ops.AllReduce()(ops.ones(2))
        second.wait()
        dist.send(early + total.sum(), other, tag=1)
        first.wait()
        return early.tolist(), late.tolist()

    assert simulate(2, program) == [([1.0] * 3, [5.0] * 3)] * 2


def test_messages_of_one_sender_and_tag_keep_their_order():
    def program():
        other, got = 1 - rank(), [ops.zeros(1) for _ in range(5)]
        handles = [dist.irecv(x, other) for x in got[:4]]
        for k in range(5):
            dist.send(Tensor([float(k)]), other)
        dist.recv(got[4], other)
        return [handle.wait() for handle in handles] and [x.tolist()[0] for x in got]

    assert simulate(2, program) == [[0.0, 1.0, 2.0, 3.0, 4.0]] * 2


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0)])
def test_scalars_and_empty_tensors_keep_their_shape(shape):
    def program():
        x, found = ops.full(shape, rank() + 1.0, dtype=ms.float32), ops.zeros(shape)
        dist.isend(x, 1 - rank())
        dist.recv(found, 1 - rank())
        gathered = [ops.zeros(shape), ops.zeros(shape)] if rank() == 0 else None
        dist.gather(x, gathered, dst=0)
        return [each.asnumpy() for each in (found, *(gathered or ()))]

    for each, want in zip(simulate(2, program), ([2.0, 1.0, 2.0], [1.0]), strict=True):
        assert [a.tolist() for a in each] == [np.full(shape, w).tolist() for w in want]


def test_means_are_sums_divided():
    def program():
        x = Tensor(np.full(3, 1.0 + rank(), np.float16))
        dist.all_reduce(x, "avg")
        with pytest.raises(TypeError, match="no mean"):
            ops.AllReduce("avg")(Tensor([1, 2]))
        return x.tolist(), ops.AllReduce("avg")(ops.ones(20000) * rank())[0].item()

    assert simulate(2, program) == [([1.5] * 3, 0.5)] * 2


def test_nothing_is_done_in_a_group_after_a_rank_has_waited_in_vain():
    def program():
        if rank() == 1:
            with configure(comm_timeout=0.05):
                for words in ("nothing has come from rank 0", "nothing can be done in the group 'world' any more"):
                    with pytest.raises(RuntimeError, match=words):
                        communication.comm_func.barrier()

    simulate(2, program)


def test_uneven_exchanges():
    def program():
        x = Tensor(np.arange(3, dtype=np.float32) + 10 * rank())
        sizes = [1, 2] if rank() == 0 else [2, 1]
        out, _ = comm_func.all_to_all_single_with_output_shape((3,), x, [1, 2] if rank() == 0 else [2, 1], sizes)
        return out.tolist()

    assert simulate(2, program) == [[0.0, 10.0, 11.0], [1.0, 2.0, 12.0]]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ops.AllReduce("mean"), ValueError, "'op' must be in"),
        (lambda: ops.AllReduce(group=3), TypeError, "'group' must be str"),
        (lambda: ops.AllReduce()([1.0]), TypeError, "must be tensors"),
        (lambda: ops.AllGather()(Tensor(1.0)), ValueError, "at least 1 dimension"),
        (lambda: ops.ReduceScatter()(ops.ones(3)), ValueError, "multiple of the number of ranks, 2"),
        (lambda: ops.AlltoAll(3, 0, 0)(ops.ones(3)), ValueError, "'split_count' must be the number of ranks, 2"),
        (lambda: ops.AllReduce(group="no")(ops.ones(3)), ValueError, "there is no group 'no'"),
        (lambda: ops.Broadcast(2)((ops.ones(3),)), ValueError, "must be a rank of the group"),
        (lambda: dist.all_gather([ops.ones(3)], ops.ones(3)), ValueError, "2 entries"),
        (lambda: dist.send(ops.ones(3), 1, tag=40000), ValueError, "'tag' must be in range"),
        (lambda: ms.grad(lambda x: ops.AllReduce("prod")(x).sum())(ops.ones(3)), TypeError, "a gradient where 'op'"),
        (lambda: dist.init_process_group(world_size=3), ValueError, "there are 2 processes"),
        (lambda: nn.SyncBatchNorm(2, process_groups=[[1 - rank()]]), ValueError, "each process must be in one"),
    ],
)
def test_mistakes_are_told_before_anything_is_sent(call, error, words):
    def program():
        before = world.current().all.calls
        with pytest.raises(error, match=words):
            call()
        return world.current().all.calls - before

    assert set(simulate(2, program)) <= {0, 1}  # a gradient is asked for after the sum


def test_modes_that_cut_networks_by_themselves_are_refused():
    def program():
        with pytest.raises(NotImplementedError, match="not partitioned automatically"):
            ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
        with pytest.raises(ValueError, match="there are 2 processes"):
            ms.set_auto_parallel_context(device_num=8)

    simulate(2, program)
    assert ms.get_auto_parallel_context("parallel_mode") == "stand_alone"


def test_mpis_own_order_is_a_switch():
    """In a simulation there is no MPI to ask: the order is that of the ranks."""

    def program():
        with configure(comm_order="mpi"):
            return ops.AllReduce()(Tensor(np.ones(5000, np.float32))).sum().tolist()

    assert simulate(2, program) == [10000.0] * 2
