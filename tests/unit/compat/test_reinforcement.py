"""Replay buffers of MindSpore's package for reinforcement learning."""

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, ParameterTuple, Tensor, nn
from duograph.compat.reinforcement import BatchAssign, BufferAppend, BufferGetItem, BufferSample

SHAPES, DTYPES = [(2,), ()], [ms.float32, ms.int32]


class Buffer(nn.Cell):
    def __init__(self, capacity, unique=False):
        super().__init__()
        empty = [Tensor(np.zeros((capacity, *s)), t) for s, t in zip(SHAPES, DTYPES, strict=True)]
        self.rows = ParameterTuple([Parameter(x, name=f"b{i}") for i, x in enumerate(empty)])
        self.count = Parameter(Tensor(0, ms.int32), name="count")
        self.head = Parameter(Tensor(0, ms.int32), name="head")
        self.append = BufferAppend(capacity, SHAPES, DTYPES)
        self.item = BufferGetItem(capacity, SHAPES, DTYPES)
        self.sample = BufferSample(capacity, 3, SHAPES, DTYPES, seed=5, unique=unique)

    def construct(self, x, y, index):
        self.append(self.rows, [x, y], self.count, self.head)
        return self.item(self.rows, self.count, self.head, index)


def row(k):
    return Tensor([k, -k], ms.float32), Tensor(k, ms.int32)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_buffer_is_a_ring(mode):
    ms.set_context(mode=mode)
    try:
        buffer = Buffer(3)
        oldest = [int(buffer(*row(k), 0)[1]) for k in range(5)]
        newest = buffer(*row(5), -1)
        assert oldest == [0, 0, 0, 1, 2] and newest[0].tolist() == [5.0, -5.0]
        assert (int(buffer.count), int(buffer.head)) == (3, 0)
        batch = Tensor([[k, k] for k in range(10, 15)], ms.float32), Tensor([*range(10, 15)], ms.int32)
        assert buffer(*batch, 0)[1].item() == 12  # of a batch larger than the buffer the last rows stay
        with pytest.raises(IndexError, match="'BufferGetItem', the 'index'"):
            buffer(*row(0), 3)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_samples_are_rows_of_the_buffer():
    buffer = Buffer(4, unique=True)
    with pytest.raises(ValueError, match="too few rows for a batch of 3"):
        buffer.sample(buffer.rows, buffer.count, buffer.head)
    for k in range(1, 4):
        buffer(*row(k), 0)
    x, y = buffer.sample(buffer.rows, buffer.count, buffer.head)
    assert sorted(y.tolist()) == [1, 2, 3] and x[:, 0].tolist() == y.tolist()
    again = Buffer(4)
    again(*row(7), 0)
    assert again.sample(again.rows, again.count, again.head)[1].tolist() == [7, 7, 7]


def test_what_does_not_fit_is_refused():
    buffer = Buffer(3)
    with pytest.raises(ValueError, match=r"'exp\[1\]' must be a row of shape \(\) and Int32"):
        buffer.append(buffer.rows, [row(1)[0], Tensor(1.0)], buffer.count, buffer.head)
    with pytest.raises(ValueError, match="must have 2 tensors"):
        buffer.append(buffer.rows, [row(1)[0]], buffer.count, buffer.head)
    with pytest.raises(ValueError, match="'batchsize' must be int and must <= 2"):
        BufferSample(2, 3, SHAPES, DTYPES)
    assert int(buffer.count) == 0


def test_parameters_are_assigned_together():
    a, b = nn.Dense(2, 2), nn.Dense(2, 2)
    BatchAssign()(a.trainable_params(), b.trainable_params())
    assert a.weight.asnumpy().tobytes() == b.weight.asnumpy().tobytes()
    with pytest.raises(ValueError, match="has 2 Parameters and 'source' 1"):
        BatchAssign()(a.trainable_params(), b.trainable_params()[:1])
