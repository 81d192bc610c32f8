"""Layers of mint.nn: signatures, values, graphs; small modules of the top."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph.mint import nn
from duograph.scipy import linalg

IMAGE = ms.Tensor(np.random.default_rng(0).normal(size=(2, 4, 6, 6)).astype(np.float32))
ROWS = ms.Tensor(np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32))


@pytest.mark.parametrize(
    ("layer", "x", "shape"),
    [
        (nn.Linear(4, 5), ROWS, (3, 5)),
        (nn.Conv2d(4, 6, 3), IMAGE, (2, 6, 4, 4)),
        (nn.Conv2d(4, 6, 3, padding="same", groups=2), IMAGE, (2, 6, 6, 6)),
        (nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"), IMAGE, (2, 6, 6, 6)),
        (nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1), IMAGE, (2, 2, 12, 12)),
        (nn.BatchNorm2d(4), IMAGE, (2, 4, 6, 6)),
        (nn.LayerNorm((6, 6)), IMAGE, (2, 4, 6, 6)),
        (nn.GroupNorm(2, 4), IMAGE, (2, 4, 6, 6)),
        (nn.PReLU(4), IMAGE, (2, 4, 6, 6)),
        (nn.MaxPool2d(2), IMAGE, (2, 4, 3, 3)),
        (nn.AvgPool2d(3, stride=2, padding=1), IMAGE, (2, 4, 3, 3)),
        (nn.Flatten(), IMAGE, (2, 144)),
        (nn.Unfold(3), IMAGE, (2, 36, 16)),
        (nn.ReflectionPad2d((1, 2, 1, 0)), IMAGE, (2, 4, 7, 9)),
        (nn.Upsample(scale_factor=2.0), IMAGE, (2, 4, 12, 12)),
        (nn.Softmax(dim=0), ROWS, (3, 4)),
        (nn.Dropout(0.5), ROWS, (3, 4)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, ms.nn.Cell) else "",
)
def test_layers_in_both_modes(layer, x, shape):
    eager, graph = layer(x), ms.jit(lambda v: layer(v))(x)
    assert tuple(eager.shape) == shape
    np.testing.assert_array_equal(eager.asnumpy(), graph.asnumpy())


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize(("kernel", "dilation", "sides"), [(3, 1, (1, 1, 1, 1)), ((2, 3), (3, 1), (1, 1, 1, 2))])
def test_same_padding_has_the_mode_that_was_asked_for(mode, kernel, dilation, sides):
    layer = nn.Conv2d(4, 6, kernel, padding="same", dilation=dilation, padding_mode=mode)
    padded = nn.functional.pad(IMAGE, sides, mode)
    want = nn.functional.conv2d(padded, layer.weight, layer.bias, dilation=dilation)
    for got in (layer(IMAGE), ms.jit(lambda x: layer(x))(IMAGE)):
        np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())
    with pytest.raises(ValueError, match="must be zeros"):
        nn.ConvTranspose2d(4, 6, kernel, padding_mode=mode)
    with pytest.raises(ValueError, match="needs 'stride' 1"):
        nn.Conv2d(4, 6, kernel, 2, "same", padding_mode=mode)


def test_batch_norm_statistics():
    layer = nn.BatchNorm2d(4, momentum=0.5).set_train()
    out = layer(IMAGE).asnumpy()
    np.testing.assert_allclose(out.mean((0, 2, 3)), 0, atol=1e-6)
    x = IMAGE.asnumpy()
    np.testing.assert_allclose(layer.running_mean.asnumpy(), 0.5 * x.mean((0, 2, 3)), rtol=1e-5)
    np.testing.assert_allclose(layer.running_var.asnumpy(), 0.5 + 0.5 * x.var((0, 2, 3), ddof=1), rtol=1e-5)
    assert layer.num_batches_tracked.asnumpy() == 1


def test_settings():
    layer = nn.Threshold(0.1, value=20.0)
    np.testing.assert_allclose(layer(ROWS).asnumpy(), np.where(ROWS.asnumpy() > 0.1, ROWS.asnumpy(), 20.0))
    with pytest.raises(ValueError, match="4D|rank|dimension"):
        nn.BatchNorm2d(4)(ROWS)


def test_losses():
    labels = ms.Tensor(np.array([1, 0, 3]))
    x = ROWS.asnumpy().astype(np.float64)
    logs = x - np.log(np.exp(x).sum(1, keepdims=True))
    np.testing.assert_allclose(nn.CrossEntropyLoss()(ROWS, labels).asnumpy(), -logs[range(3), [1, 0, 3]].mean(), 1e-5)
    np.testing.assert_allclose(nn.MSELoss()(ROWS, ROWS * 2.0).asnumpy(), (x**2).mean(), rtol=1e-5)


def test_scipy_linalg():
    a = ms.Tensor(np.array([[4.0, 1.0], [1.0, 3.0]], np.float32))
    b = ms.Tensor(np.array([1.0, 2.0], np.float32))
    expected = np.linalg.solve(a.asnumpy(), b.asnumpy())
    for lower in (False, True):
        np.testing.assert_allclose(linalg.cho_solve(linalg.cho_factor(a, lower), b).asnumpy(), expected, rtol=1e-5)
    values, vectors = linalg.eigh(a)
    np.testing.assert_allclose((vectors @ (values.expand_dims(1) * vectors.T)).asnumpy(), a.asnumpy(), rtol=1e-5)
    assert linalg.block_diag(a, b).shape == (3, 4)
    np.testing.assert_allclose(linalg.solve_triangular(a, b, lower=True).asnumpy(), [0.25, 1.75 / 3], rtol=1e-6)


def test_profiler_and_parallel(tmp_path):
    with ms.profiler.profile(
        schedule=ms.profiler.schedule(wait=1, active=1, repeat=1),
        on_trace_ready=ms.profiler.tensorboard_trace_handler(str(tmp_path)),
    ) as recorded:
        for _ in range(4):
            recorded.step()
    assert len(recorded.steps) == 1 and (tmp_path / "profile.json").exists()
    with pytest.raises(RuntimeError, match="call start first"):
        recorded.step()
    net = ms.parallel.AutoParallel(nn.ReLU())
    np.testing.assert_array_equal(net(ROWS).asnumpy(), np.maximum(ROWS.asnumpy(), 0))


def test_batch_norm_of_a_cumulative_average():
    layer, batches = nn.BatchNorm1d(3, momentum=None).set_train(), [ROWS[:, :3], ROWS[1:, :3] * 2]
    for batch in batches:
        layer(batch)
    means = [batch.asnumpy().mean(0) for batch in batches]
    variances = [batch.asnumpy().var(0, ddof=1) for batch in batches]
    np.testing.assert_allclose(layer.running_mean.asnumpy(), np.mean(means, 0), rtol=1e-5)
    np.testing.assert_allclose(layer.running_var.asnumpy(), np.mean(variances, 0), rtol=1e-5)
