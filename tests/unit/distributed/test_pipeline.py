"""A pipeline over ranks computes what one process does that takes the pieces of a batch one by one."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, communication, nn, parallel
from duograph.distributed.world import simulate

PIECES = 4


def stages(count):
    """``count`` stages of one network, the first of which takes indices."""
    rng = np.random.default_rng(count)
    initial = lambda *shape: Tensor(rng.standard_normal(shape).astype(np.float32) * 0.5)
    first = [nn.Embedding(7, 6, embedding_table=initial(7, 6)), nn.Dense(6, 8, initial(8, 6), initial(8))]
    middle = [
        nn.SequentialCell(nn.LayerNorm((8,)), nn.Dense(8, 8, initial(8, 8), initial(8)), nn.Tanh()) for _ in range(2)
    ]
    last = [nn.Dense(8, 3, initial(3, 8), initial(3))]
    cells = [nn.SequentialCell(*first), *middle, nn.SequentialCell(*last)]
    if count == 2:
        return [nn.SequentialCell(*cells[:2]), nn.SequentialCell(*cells[2:])]
    return cells if count == 4 else [nn.SequentialCell(*cells)]


def trained(count):
    """Losses of some steps, and what becomes of the weights of this rank."""
    pipe = parallel.Pipeline(stages(count), nn.CrossEntropyLoss(), micro_size=PIECES)
    optimizer = nn.Momentum(pipe.weights, 0.1, 0.9)
    losses = []
    for k in range(3):
        x, y = (np.arange(8) * 3 + k) % 7, (np.arange(8) + k) % 3
        loss, gradients = pipe.gradients(Tensor(x, ms.int32), Tensor(y, ms.int32))
        optimizer(gradients)
        losses.append(loss.asnumpy().tobytes())
    return losses, [p.asnumpy() for p in pipe.weights]


def by_pieces(count):
    """The same with one process: all stages, one piece after the other."""
    net, loss_fn = nn.SequentialCell(*stages(count)), nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    gradient = ms.value_and_grad(lambda x, y: loss_fn(net(x), y) * (1 / PIECES), None, optimizer.parameters)
    for k in range(3):
        x, y = (np.arange(8) * 3 + k) % 7, (np.arange(8) + k) % 3
        total = None
        for i in range(PIECES):
            piece = slice(2 * i, 2 * i + 2)
            _, parts = gradient(Tensor(x[piece], ms.int32), Tensor(y[piece], ms.int32))
            total = parts if total is None else tuple(a + b for a, b in zip(total, parts, strict=True))
        optimizer(total)
    return [p.asnumpy() for p in net.trainable_params()]


@pytest.mark.parametrize("ranks", [2, 4])
def test_weights_are_those_of_one_process_to_the_bit(ranks):
    found = simulate(ranks, lambda: trained(ranks))
    assert all(losses == found[0][0] for losses, _ in found)
    weights = [w for _, own in found for w in own]
    for mine, alone in zip(weights, by_pieces(ranks), strict=True):
        assert np.array_equal(mine, alone)


def test_the_last_rank_has_what_comes_out():
    def program():
        pipe = parallel.Pipeline(stages(2), nn.CrossEntropyLoss())
        return pipe(Tensor([1, 2], ms.int32))

    first, last = simulate(2, program)
    assert first is None
    whole = nn.SequentialCell(*stages(2))(Tensor([1, 2], ms.int32))
    assert np.array_equal(last.asnumpy(), whole.asnumpy())


def test_stages_and_pieces_must_fit():
    def program():
        with pytest.raises(ValueError, match="one stage per rank, 2, but got 1"):
            parallel.Pipeline(stages(1), nn.CrossEntropyLoss())
        pipe = parallel.Pipeline(stages(2), nn.CrossEntropyLoss(), micro_size=3)
        if communication.get_rank() == 0:
            with pytest.raises(ValueError, match="a multiple of the 'micro_size' 3, but got 4 rows"):
                pipe.gradients(Tensor([1, 2, 3, 4], ms.int32), Tensor([0, 0, 0, 0], ms.int32))

    simulate(2, program)
