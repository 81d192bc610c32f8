"""Higher derivatives, linear maps and ensembles: numbers of MindSpore's documents, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops

X = Tensor(np.array([[1, 2], [3, 4]], np.float32))


def waves(x):
    return ops.exp(ops.sin(x))


THIRD = [[-4.0515366, 3.6724353], [0.5053504, -0.52061415]]
"""From the example of `mindspore.ops.jet`."""


def test_the_numbers_of_mindspores_examples():
    series = Tensor(np.array([np.ones((2, 2)), np.zeros((2, 2)), np.zeros((2, 2))], np.float32))
    value, derivatives = ops.jet(waves, X, series)
    np.testing.assert_allclose(value.asnumpy(), [[2.319777, 2.4825778], [1.1515628, 0.4691642]], rtol=1e-5)
    np.testing.assert_allclose(derivatives[1].asnumpy(), [[-1.2748207, -1.8274734], [0.966121, 0.55551505]], rtol=1e-5)
    np.testing.assert_allclose(derivatives[2].asnumpy(), THIRD, rtol=1e-5)
    np.testing.assert_allclose(ops.derivative(waves, X, 3)[1].asnumpy(), THIRD, rtol=1e-5)
    x = Tensor(np.array([[1, 2, 3], [3, 4, 5]], np.float32))
    y = Tensor(np.array([[1, 2], [3, 4], [5, 6]], np.float32))
    v = Tensor(np.ones((2, 3), np.float32)), Tensor(np.array([[1, 1], [1, 1], [0, 0]], np.float32))
    out, push = ops.linearize(ops.matmul, (x, y))
    assert out.tolist() == [[22, 28], [40, 52]] and push(v).tolist() == [[12, 15], [16, 19]]


def test_a_curve_that_bends():
    assert ops.jet(lambda x: x * x, Tensor([3.0]), Tensor([[2.0], [5.0]]))[1].tolist() == [[12.0], [38.0]]
    assert ops.derivative(lambda x: x * x, Tensor([3]), 2)[1].dtype is ms.float32, "ints become floats"


def test_refusals():
    with pytest.raises(ValueError, match="less than 1"):
        ops.derivative(waves, X, 0)
    with pytest.raises(TypeError, match="order"):
        ops.derivative(waves, X, 1.5)
    with pytest.raises(ValueError, match="number of orders in front"):
        ops.jet(waves, X, X)
    with pytest.raises(TypeError, match="Tensor"):
        ops.jet(waves, [[1.0]], X)
    with pytest.raises(TypeError, match="Float16"):
        ops.derivative(waves, X.astype(ms.float16), 1)
    with pytest.raises(ValueError, match="invalid length"):
        ops.linearize(waves, X)[1]((X, X))


def test_an_ensemble_that_grows():
    members = nn.CellList([nn.Dense(2, 2) for _ in range(3)])

    def run(x):
        return ms.vmap(members, None)(x)

    step = ms.jit(run)
    assert (step(X) == run(X)).all() and not step.explain().fallbacks
    members.append(nn.Dense(2, 2))
    assert step(X).shape == (4, 2, 2) and (step(X) == run(X)).all()
    with pytest.raises(RuntimeError, match="got 4 and 2"):
        ms.vmap(members)(X)
    with pytest.raises(RuntimeError, match="one Cell"):
        ms.vmap(nn.CellList(), None)(X)
