"""Moments, ranges, image measures, combined layers, transposed convolution: values, and both modes alike."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from duograph.nn.layer.recurrent import RNNCellBase
from duograph.nn.wrap.grad_accumulation import GradientAccumulation

RNG = np.random.default_rng(0)
A, B = (ms.Tensor(RNG.random((2, 3, 4), np.float32)) for _ in range(2))
IMAGES = ms.Tensor(RNG.random((2, 1, 16, 16), np.float32))
OTHERS = ms.Tensor(RNG.random((2, 1, 16, 16), np.float32))
SAMPLES = ms.Tensor(np.full((2, 1, 2), 0.3, np.float32))

CASES = [
    (nn.MatMul(transpose_x2=True), (A, B), lambda a, b: a @ b.swapaxes(1, 2)),
    (nn.ReduceLogSumExp(1), (A,), lambda a: np.log(np.exp(a).sum(1))),
    (nn.LBeta(), (A, A), None),
    (nn.IGamma(), (A, B), None),
    (nn.L1Regularizer(0.5), (A,), lambda a: 0.5 * np.abs(a).sum()),
    (nn.PSNR(), (IMAGES, OTHERS), lambda a, b: -10 * np.log10(((a - b) ** 2).mean((1, 2, 3)))),
    (nn.SSIM(), (IMAGES, IMAGES), lambda a, b: np.ones(2)),
    (nn.MSSSIM(power_factors=(0.5, 0.5), filter_size=5), (IMAGES, IMAGES), lambda a, b: np.ones(2)),
    (nn.CentralCrop(0.5), (IMAGES,), lambda a: a[..., 4:12, 4:12]),
    (nn.MatrixDiag(), (ms.Tensor([1.0, 2.0]),), np.diag),
    (nn.MatrixDiagPart(), (A,), lambda a: a.diagonal(0, 1, 2)),
    (nn.Conv2dBnAct(1, 2, 3, has_bn=True, activation="relu"), (IMAGES,), None),
    (nn.DenseBnAct(4, 2, has_bn=True, activation="leakyrelu"), (A[0],), None),
    (nn.TimeDistributed(nn.Dense(4, 2, weight_init="ones"), 1), (A,), None),
    (nn.FractionalMaxPool2d(2, output_size=(5, 5), _random_samples=SAMPLES), (IMAGES,), None),
    (nn.EmbeddingExt(4, 3), (ms.Tensor([0, 2]),), None),
]


@pytest.mark.parametrize(("layer", "inputs", "expected"), CASES, ids=[type(c[0]).__name__ for c in CASES])
def test_layers(layer, inputs, expected):
    eager = layer(*inputs)
    graph = ms.jit(lambda *xs: layer(*xs))(*inputs)
    np.testing.assert_array_equal(eager.asnumpy(), graph.asnumpy())
    if expected is not None:
        np.testing.assert_allclose(eager.asnumpy(), expected(*(x.asnumpy() for x in inputs)), rtol=1e-4, atol=1e-5)


def test_moments():
    mean, variance = nn.Moments(axis=(1, 2), keep_dims=True)(A)
    np.testing.assert_allclose(mean.asnumpy(), A.asnumpy().mean((1, 2), keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(variance.asnumpy(), A.asnumpy().var((1, 2), keepdims=True), rtol=1e-4)
    assert nn.Moments()(A)[0].shape == ()


def test_range():
    assert nn.Range(1, 8, 2)().asnumpy().tolist() == [1, 3, 5, 7] and nn.Range(4)().dtype == ms.int32
    assert nn.Range(1.0, 3.0, 0.5)().dtype == ms.float32


def test_time_folded_into_the_batch():
    dense = nn.Dense(4, 2)
    apart, folded = nn.TimeDistributed(dense, 1), nn.TimeDistributed(dense, 1, 0)
    np.testing.assert_allclose(apart(A).asnumpy(), folded(A).asnumpy(), rtol=1e-6)


def test_transposed_convolution_puts_zeros_behind():
    layer = nn.Conv2dTranspose(
        1, 1, 3, stride=2, pad_mode="pad", padding=1, output_padding=1, has_bias=True, weight_init="ones",
        bias_init="ones",
    )  # fmt: skip
    out = layer(ms.ops.ones((1, 1, 3, 3))).asnumpy()[0, 0]
    assert out.shape == (6, 6) and out[0].tolist() == [2, 3, 2, 3, 2, 0] and not out[5].any()
    with pytest.raises(ValueError, match="output_padding must be in range"):
        nn.Conv2dTranspose(1, 1, 3, pad_mode="pad", output_padding=1)
    with pytest.raises(ValueError, match="pad_mode must be 'pad'"):
        nn.Conv2dTranspose(1, 1, 3, stride=2, output_padding=1)


def test_sampled_softmax():
    rng = np.random.default_rng(1)
    w, b, x = (ms.Tensor(rng.random(shape, np.float32)) for shape in ((7, 10), (7,), (3, 10)))
    labels = ms.Tensor(np.array([[0], [1], [2]]))
    every = nn.SampledSoftmaxLoss(7, 7, sampled_values=(
        ms.Tensor(np.arange(7)), ms.Tensor(np.ones((3, 1), np.float32)), ms.Tensor(np.ones(7, np.float32))
    ))  # fmt: skip
    logits = x.asnumpy() @ w.asnumpy().T + b.asnumpy()
    expected = np.log(np.exp(logits).sum(1)) - logits[range(3), range(3)]
    np.testing.assert_allclose(every(w, b, labels, x).asnumpy(), expected, rtol=1e-5)
    drawn = nn.SampledSoftmaxLoss(4, 7, reduction="mean")
    ms.set_seed(3)
    eager = drawn(w, b, labels, x)
    ms.set_seed(3)
    np.testing.assert_array_equal(eager.asnumpy(), ms.jit(lambda *a: drawn(*a))(w, b, labels, x).asnumpy())


@pytest.mark.parametrize("kind", [nn.Dense, nn.Linear])
def test_dense_layers_take_one_row_without_an_axis_for_it(kind):
    layer, x = kind(4, 2), ms.Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))
    want = layer(x)[1].asnumpy().tobytes()
    for call in (layer, ms.jit(lambda a: layer(a)), lambda a: ms.vmap(layer)(ops.stack([a, a]))[0]):
        assert call(x[1]).shape == (2,) and call(x[1]).asnumpy().tobytes() == want
    assert np.array_equal(ms.grad(lambda a: layer(a).sum())(x[1]).asnumpy(), layer.weight.asnumpy().sum(0))
    with pytest.raises(ValueError, match=r"'Dense|'Linear"):
        layer(ms.Tensor(1.0))


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_gradients_of_steps_are_added_up(mode):
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    accumulate = GradientAccumulation(2, nn.SGD(net.trainable_params(), learning_rate=1.0))
    ms.set_context(mode=mode)
    try:
        weights = [
            (accumulate(ms.Tensor(0.0), (ms.Tensor([[0.5, 0.25 + i]]),)), net.weight.asnumpy().tolist())[1]
            for i in range(4)
        ]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert weights == [[[1, 1]], [[0.5, 0.25]], [[0.5, 0.25]], [[0.0, -2.5]]]


def test_cells_of_a_users_own_have_as_many_gates_as_they_say():
    cell = RNNCellBase(3, 4, True, num_chunks=2)
    assert [tuple(p.shape) for p in cell.get_parameters()] == [(8, 3), (8, 4), (8,), (8,)]
