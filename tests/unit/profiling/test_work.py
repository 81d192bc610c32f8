"""Floating-point operations of kernels, by the usual count."""

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.jit.page.measured import peak


def flops(fn, *args):
    compiled = ms.jit(fn)
    compiled(*args)
    return [kernel.flops for kernel in compiled.explain().kernels]


def ones(*shape):
    return ops.ones(shape)


@pytest.mark.parametrize(
    ("fn", "args", "count"),
    [
        (lambda x: x * 2 + 1, (ones(3, 5),), 30),
        (lambda x: ops.relu(x) > 0, (ones(4),), 4),
        (lambda x: x.sum(), (ones(3, 5),), 15),
        (lambda x, w: x @ w, (ones(3, 5), ones(5, 7)), 2 * 3 * 5 * 7),
        (lambda x, w: ops.matmul(x, w.T) + 1, (ones(2, 3, 5), ones(7, 5)), 2 * 2 * 3 * 5 * 7 + 42),
        (lambda x: ops.softmax(x), (ones(2, 5),), 50),
        (lambda x: x[::2].T, (ones(4, 5),), 0),
        (lambda x: x + 1, (Tensor(np.arange(4)),), 0),
    ],
)
def test_counts(fn, args, count):
    assert sum(flops(fn, *args)) == count


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_and_their_gradients(groups):
    layer = nn.Conv2d(4, 6, 3, pad_mode="pad", padding=1, group=groups, has_bias=False)
    x = ones(2, 4, 8, 8)
    one_way = 2 * (2 * 6 * 8 * 8) * (4 // groups * 3 * 3)
    assert sum(flops(layer, x)) == one_way
    both = ms.grad(lambda v: layer(v), (0,), layer.trainable_params())
    assert sum(flops(both, x)) == 2 * one_way


def test_sizes_that_vary_are_not_counted():
    f = ms.jit(lambda x: x * 2)
    for n in (3, 4, 5):
        f(ones(n))
    assert [kernel.flops for kernel in f.explain().kernels] == [3, None]


def test_rates_in_tables():
    x = ones(64, 64)
    f = ms.jit(lambda v: v @ v)
    f(x)
    with ms.profile() as p:
        f(x)
        x @ x
    assert [row.flops for row in p.kernels] == [2 * 64**3]
    assert [row.flops for row in p.operators if row.key == "matmul"] == [2 * 2 * 64**3]
    assert "GFLOP/s" in p.table("kernel")
    assert peak()["flops"]["value"] > 0 < peak()["bytes"]["value"]
