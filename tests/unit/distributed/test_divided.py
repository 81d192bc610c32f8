"""Layers that are divided among ranks: they train as the undivided ones do."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, communication, nn, ops, parallel
from duograph.distributed import world
from duograph.distributed.world import simulate


def initial(*shape):
    return Tensor(np.random.default_rng(shape).standard_normal(shape).astype(np.float32) * 0.3)


class Net(nn.Cell):
    """An embedding, a block of two layers, and a classifier whose outputs are gathered."""

    def __init__(self, divided):
        super().__init__()
        embedding = parallel.VocabParallelEmbedding if divided else nn.Embedding
        self.embed = embedding(12, 8, embedding_table=initial(12, 8))
        if divided:
            self.up = parallel.ColumnParallelDense(8, 24, initial(24, 8), initial(24), gather_output=False)
            self.down = parallel.RowParallelDense(24, 8, initial(8, 24), initial(8))
            self.head = parallel.ColumnParallelDense(8, 12, initial(12, 8), initial(12))
        else:
            self.up = nn.Dense(8, 24, initial(24, 8), initial(24))
            self.down = nn.Dense(24, 8, initial(8, 24), initial(8))
            self.head = nn.Dense(8, 12, initial(12, 8), initial(12))

    def construct(self, ids):
        x = self.embed(ids)
        x = x + self.down(ops.gelu(self.up(x)))
        return self.head(x)


def trained(divided, compiled):
    net, loss = Net(divided), nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), 0.05)
    loss_of = lambda ids, y: loss(net(ids).reshape(-1, 12), y.reshape(-1))
    gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

    def step(ids, y):
        value, grads = gradient(ids, y)
        optimizer(grads)
        return value

    step = ms.jit(step) if compiled else step
    ids = Tensor(np.arange(10).reshape(2, 5) * 7 % 12, ms.int32)
    y = Tensor(np.arange(10).reshape(2, 5) * 5 % 12, ms.int32)
    return np.array([float(step(ids, y)) for _ in range(6)]), net(ids).asnumpy()


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_divided_network_learns_what_the_whole_one_does(ranks):
    losses, outputs = trained(divided=False, compiled=False)
    found = simulate(ranks, lambda: (trained(True, False), trained(True, True)))
    for dynamic, compiled in found:
        assert np.array_equal(dynamic[0], compiled[0])
        assert np.array_equal(dynamic[0], found[0][0][0]), "all ranks have the same loss, to the bit"
        np.testing.assert_allclose(dynamic[0], losses, rtol=2e-4)
        np.testing.assert_allclose(dynamic[1], outputs, rtol=2e-3, atol=2e-3)
    assert losses[-1] < losses[0] / 2


def test_a_block_communicates_once_each_way():
    def program():
        up = parallel.ColumnParallelDense(4, 8, gather_output=False)
        down = parallel.RowParallelDense(8, 4)
        before = world.current().all.calls
        ms.grad(lambda x: down(ops.relu(up(x))).sum())(ops.ones((2, 4)))
        return world.current().all.calls - before

    assert simulate(2, program) == [2, 2]


def test_a_row_parallel_layer_takes_its_part_of_a_whole_input():
    def program():
        layer = parallel.RowParallelDense(4, 3, initial(3, 4), initial(3), input_is_parallel=False)
        x = initial(5, 4)
        gradient = ms.grad(lambda x: layer(x).sum())(x)
        return layer(x).asnumpy(), gradient.asnumpy()

    whole = nn.Dense(4, 3, initial(3, 4), initial(3))
    for out, gradient in simulate(2, program):
        np.testing.assert_allclose(out, whole(initial(5, 4)).asnumpy(), rtol=1e-5)
        np.testing.assert_allclose(gradient, ms.grad(lambda x: whole(x).sum())(initial(5, 4)).asnumpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda: parallel.ColumnParallelDense(4, 5),
        lambda: parallel.RowParallelDense(5, 4),
        lambda: parallel.VocabParallelEmbedding(5, 4),
    ],
)
def test_sizes_must_divide(make):
    def program():
        with pytest.raises(ValueError, match="must be a multiple of the number of ranks, 2, but got 5"):
            make()

    simulate(2, program)


def test_what_would_cut_networks_is_refused():
    def program():
        communication.init()
        for call in (lambda: parallel.shard(len, ((2,),)), lambda: parallel.AutoParallel(nn.ReLU())):
            with pytest.raises(NotImplementedError, match="is not supported on several processes"):
                call()

    simulate(2, program)


def test_parameters_are_sent_from_the_process_that_is_named():
    def program():
        net = nn.Dense(2, 1)
        net.weight.set_data(Tensor([[float(communication.get_rank())] * 2]))
        parallel.parameter_broadcast(net, None, initial_rank=1)
        return net.weight.asnumpy().tolist()

    assert simulate(3, program) == [[[1.0, 1.0]]] * 3
