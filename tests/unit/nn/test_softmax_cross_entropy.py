"""The gradient of `nn.SoftmaxCrossEntropyWithLogits` is MindSpore's: ``softmax(logits) - labels``, none for labels."""

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
Y = np.random.default_rng(1).random((3, 4)).astype(np.float32) * np.float32([[1], [3], [0]])
PROBS = (np.exp(X) / np.exp(X).sum(1, keepdims=True)).astype(np.float32)


def losses(reduction):
    layer = nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)
    return {
        "eager": lambda x, y: layer(x, y),
        "jit": ms.jit(lambda x, y: layer(x, y)),
        "O0": ms.jit(lambda x, y: layer(x, y), jit_level="O0"),
        "interpreter": ms.jit(lambda x, y: layer(x, y), backend="interpreter"),
    }


@pytest.mark.parametrize("reduction, share", [("none", 1), ("sum", 1), ("mean", 3)])
@pytest.mark.parametrize("mode", ["eager", "jit", "O0", "interpreter"])
def test_labels_that_do_not_add_up_to_one(mode, reduction, share):
    loss = losses(reduction)[mode]
    for outer in (ms.grad(loss, (0, 1)), ms.jit(ms.grad(loss, (0, 1)))):
        for_logits, for_labels = outer(Tensor(X), Tensor(Y))
        assert np.allclose(for_logits.asnumpy() * share, PROBS - Y, atol=1e-6)
        assert not for_labels.asnumpy().any()


def test_the_value_is_the_cross_entropy():
    expected = -(Y * np.log(PROBS)).sum(1)
    for loss in losses("none").values():
        assert np.allclose(loss(Tensor(X), Tensor(Y)).asnumpy(), expected, rtol=1e-5)


def test_second_derivatives():
    """Of the sum of ``softmax - labels`` times a vector: those of softmax."""
    weights = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    loss = losses("sum")["eager"]
    second = ms.grad(lambda x: (ms.grad(loss)(x, Tensor(Y)) * weights).sum())
    expected = ms.grad(lambda x: (ops.softmax(x, axis=-1) * weights).sum())
    assert np.allclose(second(Tensor(X)).asnumpy(), expected(Tensor(X)).asnumpy(), atol=1e-5)


def test_the_primitive():
    primitive = ops.SoftmaxCrossEntropyWithLogits()
    for_logits, for_labels = ms.grad(lambda x, y: primitive(x, y)[0], (0, 1))(Tensor(X), Tensor(Y))
    assert np.allclose(for_logits.asnumpy(), PROBS - Y, atol=1e-6) and not for_labels.asnumpy().any()


def test_labels_out_of_range_that_count_as_none():
    layer = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
    slope = ms.grad(lambda x: layer(x, Tensor([1, 9, 2], ms.int32)).sum())(Tensor(X)).asnumpy()
    assert np.allclose(slope, PROBS - np.eye(10, dtype=np.float32)[[1, 9, 2], :4], atol=1e-6)
