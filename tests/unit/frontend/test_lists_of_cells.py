"""Lists of Cells that programs index and slice: others that hold the same may stand for them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn

ROWS = Tensor(np.ones((2, 4), np.float32))
LAYERS = nn.CellList([nn.Dense(4, 4), nn.Dense(4, 4), nn.Dense(4, 2)])


def same(a, b):
    assert a.dtype is b.dtype and a.asnumpy().tobytes() == b.asnumpy().tobytes()


def captures(*functions):
    """How often the functions were captured: versions that were not found with others."""
    return sum(len([e for e in f._own.compiled if e._origin is None]) for f in functions)


@dataclasses.dataclass
class Config:
    gain: float


def test_closures_over_lists_of_cells_are_captured_once():
    layers = nn.CellList([nn.Dense(4, 4), nn.Dense(4, 4), nn.Dense(4, 2)])

    def run(x, k):
        @ms.jit
        def inner(x):
            for layer in layers[:-1][::-1]:
                x = layer(x).tanh() * len(layers[1:])
            return layers[-1](x) + layers[:2][0](x).sum() * k

        return inner(x), inner

    made = [run(ROWS, 2.0) for _ in range(5)]
    assert captures(*[function for _, function in made]) == 1
    for result, function in made:
        same(result, function.fn(ROWS))
    layers.insert(0, nn.Dense(4, 4))
    result, function = run(ROWS, 2.0)
    same(result, function.fn(ROWS))


def test_objects_made_anew_beside_a_list_of_cells_make_one_version():
    layers = nn.CellList([nn.Dense(4, 4), nn.Dense(4, 4)])

    @ms.jit
    def f(config, x):
        for layer in layers[:-1]:
            x = layer(ROWS * x) * config.gain
        return x

    for i in range(6):
        same(f(Config(2.0 + i), ROWS), f.fn(Config(2.0 + i), ROWS))
    assert len(f.explain().versions) <= 2


@pytest.mark.parametrize("use", [lambda x: LAYERS[-1](x), lambda x: LAYERS[:2][0](x) * len(LAYERS[1:])])
def test_cells_of_a_list_that_are_not_used_may_be_others(use):
    def run(k):
        function = ms.jit(lambda x: use(x) * k)
        return function(ROWS), function

    made = [run(2.0)[1] for _ in range(4)]
    assert captures(*made) == 1
    LAYERS[1] = nn.Dense(4, 4)
    result, function = run(2.0)
    same(result, function.fn(ROWS))
