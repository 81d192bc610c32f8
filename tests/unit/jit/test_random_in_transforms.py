"""Random numbers inside of `vmap` and of gradients that are compiled: new ones in every call, those of eager mode."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor, ops

MODES = [{}, {"jit_level": "O0"}, {"backend": "interpreter"}]


def same_for_all(x):
    return ms.vmap(lambda v: v + ops.rand(2))(x)


def unused(x):
    return ms.vmap(lambda v: (ops.dropout(x), v)[1])(x)


def nested(x):
    return ms.vmap(lambda r: ms.vmap(lambda v: v * ops.rand(1))(r) + ops.randn(1))(ops.stack((x, x)))


def in_a_gradient(x):
    return ms.grad(lambda y: (ops.dropout(y, 0.5) * ops.rand(3)).sum())(x)


def gradient_in_vmap(x):
    return ms.vmap(ms.grad(lambda v: v * v * ops.rand(1).sum()))(x)


def on_one_path(x):
    if x.sum() > 0:
        return ms.vmap(lambda v: v + ops.rand(1))(x)
    return x + ops.rand(3)


def integers(x):
    return ms.vmap(lambda v: v + ops.randint(0, 9, (2,)))(x)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [same_for_all, unused, nested, in_a_gradient, gradient_in_vmap, on_one_path, integers])
def test_same_as_eager(f, mode):
    compiled = ms.jit(f, **mode)
    histories = []
    for g in (f, compiled):
        ms.set_seed(7)
        values = ([1.0, 2.0, 3.0], [-1.0, 0.0, -3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
        histories.append([(g(Tensor(v)).tolist(), ms.get_rng_state()) for v in values])
    assert histories[0] == histories[1]
    assert histories[0][2] != histories[0][3]
