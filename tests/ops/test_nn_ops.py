"""Composites of neural networks and linear algebra: values against NumPy, SciPy and MindSpore, gradients against
central differences, and the graph against eager to the bit."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import duograph.tensor.eager  # noqa: F401 (installs the eager binder)
from duograph.autodiff.backward import backpropagate
from duograph.autodiff.recurrence import recurrent_layers
from duograph.autodiff.tape import Tape, taping
from duograph.core.dim import fresh_symbol
from duograph.core.dtype import float32
from duograph.core.op import binding
from duograph.core.types import TensorType
from duograph.ir.builder import Builder
from duograph.ir.interpreter import Interpreter
from duograph.ops import activation as act
from duograph.ops import attention as att
from duograph.ops import conv, ctc, decompositions, image, linalg, loss, pool, rnn, sampling
from duograph.ops.arithmetic import mul, square
from duograph.ops.complex import imag, real
from duograph.ops.creation import ones_like
from duograph.ops.einsum import einsum
from duograph.ops.graph_binder import GraphBinder
from duograph.tensor.tensor import Tensor, wrap
from tests.ops.test_primitives import differences

# as attributes of the package these names are public functions
fft, norm = import_module("duograph.ops.fft"), import_module("duograph.ops.norm")
_rng = np.random.default_rng(3)


def R(*shape: int) -> np.ndarray:
    """Random numbers, none close to a kink at a multiple of one quarter."""
    x = _rng.standard_normal(shape)
    return np.where(np.abs(x * 4 - np.round(x * 4)) < 0.02, x + 0.03, x)


def ints(n: int, *shape: int) -> np.ndarray:
    return _rng.integers(0, n, shape)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    return sp.softmax(x, axis)


Case = tuple[Callable[..., Any], list[np.ndarray], Any]


def _case(f: Callable[..., Any], *arrays: np.ndarray, want: Any = None) -> Case:
    return f, list(arrays), want


X, Y, P = R(3, 4), R(3, 4), sp.expit(R(3, 4))
SIGNS, BITS = np.where(R(3, 4) > 0, 1.0, -1.0), (R(3, 4) > 0).astype(float)
LOGITS, CLASSES, WEIGHTS = R(5, 4), np.array([0, 3, 1, 1, 2]), np.abs(R(4))
LOGP = sp.log_softmax(LOGITS, 1)
PICKED, ROW_WEIGHTS = LOGP[np.arange(5), CLASSES], WEIGHTS[CLASSES]
IMAGE, GRID = R(2, 2, 4, 5), R(2, 3, 2, 2) * 0.4

LOSSES = {
    "mse": _case(loss.mse_loss, X, Y, want=np.mean((X - Y) ** 2)),
    "l1": _case(loss.l1_loss, X, Y, want=np.mean(np.abs(X - Y))),
    "smooth_l1": _case(lambda x, y: loss.smooth_l1_loss(x, y, 0.7), X, Y,
                       want=np.where(abs(X - Y) < 0.7, (X - Y) ** 2 / 1.4, abs(X - Y) - 0.35)),
    "huber": _case(lambda x, y: loss.huber_loss(x, y, "sum", 0.7), X, Y, want=np.sum(sp.huber(0.7, X - Y))),
    "bce": _case(loss.binary_cross_entropy, P, BITS, want=-np.mean(np.log(np.where(BITS == 1, P, 1 - P)))),
    "bce_logits": _case(loss.binary_cross_entropy_with_logits, X, BITS,
                        want=-np.mean(sp.log_expit(np.where(BITS == 1, X, -X)))),
    "bce_pos_weight": _case(
        lambda x, y, w: loss.binary_cross_entropy_with_logits(x, y, None, w, "none"), X, BITS, WEIGHTS,
        want=-(WEIGHTS * BITS * sp.log_expit(X) + (1 - BITS) * sp.log_expit(-X))),
    "kl": _case(lambda x, y: loss.kl_div(x, y, "batchmean"), np.log(P), np.abs(Y),
                want=np.sum(np.abs(Y) * (np.log(np.abs(Y)) - np.log(P))) / 3),
    "cross_entropy": _case(lambda x, t: loss.cross_entropy(x, t), LOGITS, CLASSES, want=-PICKED.mean()),
    "cross_entropy_weight": _case(
        lambda x, t, w: loss.cross_entropy(x, t, w, label_smoothing=0.2), LOGITS, CLASSES, WEIGHTS,
        want=(-0.8 * (PICKED * ROW_WEIGHTS).sum() - 0.05 * (LOGP * WEIGHTS).sum()) / ROW_WEIGHTS.sum()),
    "cross_entropy_ignore": _case(lambda x, t: loss.cross_entropy(x, t, ignore_index=1), LOGITS, CLASSES,
                                  want=-PICKED[[0, 1, 4]].mean()),
    "cross_entropy_probs": _case(lambda x, t: loss.cross_entropy(x, t, reduction="none"), LOGITS, softmax(R(5, 4), 1)),
    "cross_entropy_2d": _case(lambda x, t: loss.cross_entropy(x, t, reduction="sum"), R(2, 3, 4), ints(3, 2, 4)),
    "sparse": _case(loss.sparse_softmax_cross_entropy_with_logits, LOGITS, CLASSES, want=-PICKED.mean()),
    "multi_margin": _case(lambda x, t, w: loss.multi_margin_loss(x, t, 2, 1.0, w), LOGITS, CLASSES, WEIGHTS),
    "multilabel_margin": _case(
        lambda x, t: loss.multilabel_margin_loss(x, t, "none")[0], X,
        np.array([[1, 2, -1, 0], [3, -1, 1, 1], [-1, 0, 1, 2]]),
        want=[sum(max(0, 1 - X[0, t] + X[0, i]) for t in (1, 2) for i in (0, 3)) / 4,
              sum(max(0, 1 - X[1, 3] + X[1, i]) for i in (0, 1, 2)) / 4, 0.0]),
    "multilabel_soft": _case(loss.multilabel_soft_margin_loss, X, BITS,
                             want=-np.mean(sp.log_expit(np.where(BITS == 1, X, -X)))),
    "soft_margin": _case(loss.soft_margin_loss, X, SIGNS, want=np.mean(np.logaddexp(0, -SIGNS * X))),
    "hinge_embedding": _case(loss.hinge_embedding_loss, X, SIGNS,
                             want=np.mean(np.where(SIGNS == 1, X, np.maximum(0, 1 - X)))),
    "margin_ranking": _case(lambda x, y, t: loss.margin_ranking_loss(x, y, t, 0.3), X, Y, SIGNS,
                            want=np.mean(np.maximum(0, -SIGNS * (X - Y) + 0.3))),
    "triplet": _case(lambda a, b, c: loss.triplet_margin_loss(a, b, c, p=3, swap=True), X, Y, R(3, 4)),
    "cosine": _case(lambda a, b: loss.cosine_embedding_loss(a, b, wrap(np.array([1, -1, 1])), 0.1), X, Y),
    "poisson": _case(lambda x, y: loss.poisson_nll_loss(x, y, full=True), X, np.abs(Y) * 3),
    "gaussian": _case(lambda x, y, v: loss.gaussian_nll_loss(x, y, v, full=True), X, Y, P,
                      want=np.mean(0.5 * (np.log(2 * np.pi * P) + (X - Y) ** 2 / P))),
    "dice": _case(loss.dice_loss, P, BITS, want=1 - 2 * (P * BITS).sum() / ((P**2).sum() + (BITS**2).sum() + 1e-5)),
    "focal": _case(loss.focal_loss, R(2, 3, 4), ints(3, 2, 1, 4)),
}  # fmt: skip

ACTIVATIONS = {
    "relu6": _case(act.relu6, X * 5, want=np.clip(X * 5, 0, 6)),
    "leaky_relu": _case(act.leaky_relu, X, want=np.where(X > 0, X, 0.2 * X)),
    "elu": _case(lambda x: act.elu(x, 0.7), X, want=np.where(X > 0, X, 0.7 * np.expm1(X))),
    "celu": _case(lambda x: act.celu(x, 0.7), X, want=np.where(X > 0, X, 0.7 * np.expm1(X / 0.7))),
    "selu": _case(act.selu, X),
    "gelu": _case(act.gelu, X, want=X * sp.ndtr(X)),
    "gelu_tanh": _case(lambda x: act.gelu(x, "tanh"), X),
    "fast_gelu": _case(act.fast_gelu, X, want=X * sp.expit(1.702 * X)),
    "silu": _case(act.silu, X, want=X * sp.expit(X)),
    "mish": _case(act.mish, X, want=X * np.tanh(np.log1p(np.exp(X)))),
    "hardswish": _case(act.hardswish, X * 3, want=X * 3 * np.clip(X * 3 + 3, 0, 6) / 6),
    "hardsigmoid": _case(act.hardsigmoid, X * 3, want=np.clip(X * 3 + 3, 0, 6) / 6),
    "hardtanh": _case(lambda x: act.hardtanh(x, -0.4, 0.6), X, want=np.clip(X, -0.4, 0.6)),
    "hardshrink": _case(act.hardshrink, X, want=np.where(np.abs(X) > 0.5, X, 0)),
    "softshrink": _case(act.softshrink, X, want=np.sign(X) * np.maximum(np.abs(X) - 0.5, 0)),
    "tanhshrink": _case(act.tanhshrink, X, want=X - np.tanh(X)),
    "softplus": _case(lambda x: act.softplus(x, 2, 1.5), X, want=np.where(2 * X > 1.5, X, np.log1p(np.exp(2 * X)) / 2)),
    "softsign": _case(act.softsign, X, want=X / (1 + np.abs(X))),
    "logsigmoid": _case(act.logsigmoid, X * 20, want=sp.log_expit(X * 20)),
    "prelu": _case(act.prelu, R(2, 4, 3), R(4)),
    "threshold": _case(lambda x: act.threshold(x, 0.3, 9.0), X, want=np.where(X > 0.3, X, 9.0)),
    "glu": _case(act.glu, X, want=X[:, :2] * sp.expit(X[:, 2:])),
    "softmin": _case(act.softmin, X, want=softmax(-X, 1)),
}

_lnx = (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, keepdims=True) + 1e-5)
NORMS = {
    "layer_norm": _case(lambda x, w, b: norm.layer_norm(x, (4,), w, b), X, WEIGHTS, Y[0], want=_lnx * WEIGHTS + Y[0]),
    "rms_norm": _case(lambda x, w: norm.rms_norm(x, w)[0], X, WEIGHTS,
                      want=X / np.sqrt((X**2).mean(1, keepdims=True) + 1e-6) * WEIGHTS),
    "batch_norm": _case(lambda x, w, b: norm.batch_norm_training(x, w, b)[0], R(3, 2, 3), R(2), R(2)),
    "batch_norm_inference": _case(norm.batch_norm_inference, R(3, 2, 3), R(2), R(2), R(2), np.abs(R(2))),
    "group_norm": _case(lambda x, w, b: norm.group_norm(x, 2, w, b), R(2, 4, 3), R(4), R(4)),
    "instance_norm": _case(norm.instance_norm, R(2, 2, 4), R(2), R(2)),
    "l2_normalize": _case(lambda x: norm.l2_normalize(x, 1), X, want=X / np.linalg.norm(X, axis=1, keepdims=True)),
    "clip_by_norm": _case(lambda x: norm.clip_by_norm(x, 1.0), X, want=X / np.linalg.norm(X)),
    "clip_by_norm_3": _case(lambda x: norm.clip_by_norm(x, 1.0, 3.0), X, want=X / (np.abs(X) ** 3).sum() ** (1 / 3)),
    "global_norm": _case(lambda x, y: norm.clip_by_global_norm([x, y], 1.0)[1], X, Y,
                         want=Y / np.sqrt((X**2).sum() + (Y**2).sum())),
    "lrn": _case(lambda x: norm.lrn(x, 1, 1.0, 0.5, 0.75), R(1, 4, 2, 2)),
}  # fmt: skip

LAYERS = {
    "conv_transpose": _case(
        lambda x, w: conv.conv_transpose(x, w, stride=(2,), padding=((1, 0),), dilation=(1,), output_padding=(1,)),
        R(2, 3, 4), R(3, 2, 3)),
    "lp_pool": _case(lambda x: pool.lp_pool(x, 3.0, kernel=(2,), stride=(2,)), np.abs(R(1, 2, 6))),
    "adaptive_avg_pool": _case(lambda x: image.adaptive_avg_pool(x, (2, 3)), IMAGE),
    "bilinear": _case(lambda x: image.interpolate(x, (3, 7), mode="bilinear"), IMAGE),
    "bicubic": _case(lambda x: image.interpolate(x, (5, 3), mode="bicubic", align_corners=True), IMAGE),
    "pixel_shuffle": _case(lambda x: image.pixel_shuffle(x, 2), R(2, 4, 2, 3)),
    "pixel_unshuffle": _case(lambda x: image.pixel_unshuffle(image.pixel_shuffle(x, 2), 2), R(1, 4, 2, 3)),
    "unfold": _case(lambda x: image.unfold(x, (2, 3), (2, 1), ((1, 1), (0, 0)), (1, 2)), IMAGE),
    "fold": _case(lambda x: image.fold(x, (4, 5), (2, 2), (1, 1), ((1, 1), (0, 0)), (2, 1)), R(1, 8, 12)),
    "grid_sample": _case(sampling.grid_sample, IMAGE, GRID),
    "grid_sample_reflect": _case(lambda x, g: sampling.grid_sample(x, g, padding_mode="reflection"), IMAGE, GRID * 4),
    "grid_sample_cubic": _case(lambda x, g: sampling.grid_sample(x, g, "bicubic", "border", True), IMAGE, GRID),
    "affine_grid": _case(lambda t: sampling.affine_grid(t, (2, 3, 2, 4)), R(2, 2, 3)),
    "attention": _case(lambda q, k, v: att.scaled_dot_product_attention(q, k, v, is_causal=True),
                       R(2, 3, 4), R(2, 3, 4), R(2, 3, 2)),
    "heads": _case(lambda q, k, v: att.multi_head_attention(q, k, v, 2)[0], R(3, 2, 4), R(5, 2, 4), R(5, 2, 4)),
    "rotary": _case(lambda x, c, s: att.rotary_position_embedding(x, c, s, 1), R(2, 3, 4), R(3, 4), R(3, 4)),
    "lstm": _case(lambda x, h, c, w, u, b, d: rnn.lstm_cell(x, (h, c), w, u, b, d)[0],
                  R(2, 3), R(2, 2), R(2, 2), R(8, 3), R(8, 2), R(8), R(8)),
    "gru": _case(rnn.gru_cell, R(2, 3), R(2, 2), R(6, 3), R(6, 2), R(6), R(6)),
    "rnn_layers": _case(
        lambda x, h, w, u, v: recurrent_layers("RNN", x, h, [(w, u), (w, v)], True, wrap(np.array([3, 1])))[0],
        R(3, 2, 3), R(2, 2, 2), R(2, 3), R(2, 2), R(2, 2)),
}  # fmt: skip

ALGEBRA = {
    "vector": _case(linalg.matrix_product, X[0], R(2, 4, 3)),
    "dot": _case(linalg.dot, R(2, 4), R(3, 4, 2)),
    "inner": _case(linalg.inner, X, R(2, 4), want=None),
    "outer": _case(linalg.outer, X[0], Y[1], want=np.outer(X[0], Y[1])),
    "tensordot": _case(lambda x, y: linalg.tensordot(x, y, ((0, 2), (1, 0))), R(2, 3, 4), R(4, 2, 5)),
    "cholesky": _case(lambda x: decompositions.cholesky(einsum("ij,kj->ik", x, x)), R(3, 3) + 2 * np.eye(3)),
    "eigh": _case(lambda x: square(decompositions.eigh(einsum("ij,kj->ik", x, x))[1]), R(3, 3)),
    "svd_u": _case(lambda x: square(decompositions.svd(x)[1]), R(4, 3)),
    "svd_v": _case(lambda x: square(decompositions.svd(x)[2]), R(3, 4)),
    "qr_r": _case(lambda x: decompositions.qr(x)[1], R(4, 3)),
    "fft": _case(lambda x: mul(real(fft.fft(x, 5)), imag(fft.fft(x, 5, norm="ortho"))), X),
    "rfft": _case(lambda x: imag(fft.rfft(x, 5)), X, want=np.fft.rfft(X, 5).imag),
    "irfft": _case(lambda x: fft.irfft(fft.rfft(x), 4, norm=None), X, want=X),
    **{f"norm_{o}": _case(lambda x, o=o: decompositions.matrix_norm(x, o), X, want=np.linalg.norm(X, o))
       for o in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)},
}  # fmt: skip

ALL = {**LOSSES, **ACTIVATIONS, **NORMS, **LAYERS, **ALGEBRA}


def call(f: Callable[..., Any], arrays: list[np.ndarray]) -> np.ndarray:
    return f(*[wrap(np.array(a)) for a in arrays]).array()


@pytest.mark.parametrize("name", [n for n, c in ALL.items() if c[2] is not None])
def test_value(name: str) -> None:
    f, arrays, want = ALL[name]
    np.testing.assert_allclose(call(f, arrays), want, rtol=1e-9, atol=1e-9)


def gradients(f: Callable[..., Any], xs: list[Tensor], wanted: list[int], weights: Tensor) -> list[Tensor | None]:
    with taping([tape := Tape()]):
        variables = [tape.watch(xs[i]) for i in wanted]
        out = f(*xs)
        seed = tape.variable(out)
    return backpropagate(tape, [(seed, weights)], variables)


@pytest.mark.parametrize("name", list(ALL))
def test_gradient(name: str) -> None:
    f, arrays, _ = ALL[name]
    wanted = [i for i, a in enumerate(arrays) if a.dtype == np.float64]
    weights = np.random.default_rng(1).uniform(0.5, 1.5, call(f, arrays).shape)

    def value(moved: list[np.ndarray]) -> float:
        full = list(arrays)
        for i, a in zip(wanted, moved, strict=True):
            full[i] = a
        return float(np.sum(call(f, full) * weights))

    got = gradients(f, [wrap(np.array(a)) for a in arrays], wanted, wrap(weights))
    for g, want in zip(got, differences(value, [arrays[i] for i in wanted], 1e-6), strict=True):
        np.testing.assert_allclose(np.zeros(want.shape) if g is None else g.array(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", list(ALL))
def test_float32_graph_has_the_bits_of_eager(name: str) -> None:
    """Value and gradients, built with nodes for tensors and run by the interpreter."""
    f, arrays, _ = ALL[name]
    operands = [wrap(a.astype(np.float32) if a.dtype == np.float64 else a) for a in arrays]
    wanted = [i for i, a in enumerate(arrays) if a.dtype == np.float64]
    out = f(*operands)
    weights = np.ones(out.shape, np.float32)
    eager = [out, *gradients(f, operands, wanted, wrap(weights))]
    builder = Builder()
    params = [builder.param(f"x{i}", t.abstract) for i, t in enumerate(operands)]
    with binding(GraphBinder(builder)):
        inputs = [wrap(p) for p in params]
        built = [f(*inputs), *gradients(f, inputs, wanted, wrap(weights))]
    kept = [(e, b) for e, b in zip(eager, built, strict=True) if b is not None]
    graph = builder.graph("f", params, [b._data for _, b in kept])
    got = Interpreter().run(graph, [t.array() for t in operands])
    for (e, _), g in zip(kept, got, strict=True):
        assert e.array().dtype == np.float32
        np.testing.assert_array_equal(g, e.array())


@pytest.mark.parametrize("name", [*ACTIVATIONS, *NORMS])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_stay(name: str, dtype: str) -> None:
    import ml_dtypes

    f, arrays, _ = ALL[name]
    half = np.dtype(np.float16 if dtype == "float16" else ml_dtypes.bfloat16)
    got = f(*[wrap(a.astype(half)) for a in arrays])
    assert got.array().dtype == half
    want = call(f, [a.astype(half).astype(np.float64) for a in arrays])
    np.testing.assert_allclose(got.array().astype(float), want, rtol=0.06, atol=0.06)


# ---- sizes that are only known at run time --------------------------------------------------------------------------

N = "N"
_CONV = {"stride": (1, 1), "padding": ((1, 1), (1, 1)), "dilation": (1, 1)}
_WINDOW = {"kernel": (2,), "stride": (2,), "padding": ((0, 0),)}
SYMBOLIC: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
    "linear": (att.linear, [(N, 4, 5), (6, 5), (6,)]),
    "matmul": (lambda x, w: linalg.matmul(x, w), [(N, 4, 2), (N, 2, 3)]),
    "mse": (loss.mse_loss, [(N, 4), (N, 4)]),
    "softmax": (lambda x: norm.softmax(x, axis=1), [(N, N)]),
    "batch_norm": (lambda x, w, b: norm.batch_norm_training(x, w, b)[0], [(N, 4, 2, 2), (4,), (4,)]),
    "layer_norm": (lambda x, w, b: norm.layer_norm(x, (4,), w, b), [(N, 4), (4,), (4,)]),
    "group_norm": (lambda x, w, b: norm.group_norm(x, 2, w, b), [(N, 4, 3), (4,), (4,)]),
    "conv": (lambda x, w: conv.conv(x, w, **_CONV), [(N, 2, 5, 5), (3, 2, 3, 3)]),
    "max_pool": (lambda x: pool.max_pool(x, **_WINDOW, dilation=(1,))[0], [(N, 2, 5)]),
    "avg_pool": (lambda x: pool.avg_pool(x, **_WINDOW), [(N, 2, 5)]),
    "adaptive": (lambda x: image.adaptive_avg_pool(x, (2, 2)), [(N, 2, 5, 5)]),
    "attention": (lambda q, k, v: att.scaled_dot_product_attention(q, k, v, is_causal=True),
                  [(2, N, 4), (2, N, 4), (2, N, 3)]),
    "heads": (lambda q: att.multi_head_attention(q, q, q, 2)[0], [(5, N, 4)]),
    "einsum": (lambda q, k: einsum("bij,bkj->ik", q, k), [(N, 3, 4), (N, 2, 4)]),
    "lstm": (lambda x, h, c, w, u: rnn.lstm_cell(x, (h, c), w, u)[0], [(N, 3), (N, 2), (N, 2), (8, 3), (8, 2)]),
    "pixel_shuffle": (lambda x: image.pixel_shuffle(x, 2), [(N, 4, 2, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", list(SYMBOLIC))
def test_one_graph_for_all_sizes(name: str) -> None:
    """Value and gradients of a graph with a symbolic size have eager's bits at every size."""
    f, shapes = SYMBOLIC[name]
    size, builder = fresh_symbol("n"), Builder()
    params = [
        builder.param(f"x{i}", TensorType(float32, tuple(size if n == N else n for n in s)))
        for i, s in enumerate(shapes)
    ]

    def with_gradients(xs: list[Tensor]) -> list[Tensor]:
        out = f(*xs)
        return [out, *[g for g in gradients(f, xs, list(range(len(xs))), ones_like(out)) if g is not None]]

    with binding(GraphBinder(builder)):
        built = with_gradients([wrap(p) for p in params])
    graph = builder.graph("f", params, [b._data for b in built])
    for n in (1, 2, 5):
        arrays = [R(*[n if e == N else e for e in s]).astype(np.float32) for s in shapes]
        for got, want in zip(Interpreter().run(graph, arrays), with_gradients([wrap(a) for a in arrays]), strict=True):
            np.testing.assert_array_equal(got, want.array())


# ---- single facts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]), ("ij,jk", [(3, 4), (4, 5)]), ("ba", [(2, 3)]), ("ij->", [(2, 3)]),
        ("ii->i", [(4, 4)]), ("ii", [(4, 4)]), ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]), ("i,j->ij", [(3,), (4,)]),
        ("...ij,...jk->...ik", [(6, 1, 3, 4), (2, 4, 5)]), ("b...->...b", [(2, 3, 4)]), ("iij,j->i", [(3, 3, 4), (4,)]),
        ("bhid,bhjd->bhij", [(2, 2, 3, 4), (2, 2, 5, 4)]), ("a,a,a->a", [(3,)] * 3), ("ij,kl->", [(2, 3), (3, 2)]),
        ("bn,anm,bm->ba", [(2, 5), (3, 5, 4), (2, 4)]), ("...,...", [(2, 3), (3,)]),
        ("i j , j k -> k i", [(2, 3), (3, 4)]),
        ("ij,ij->ij", [(3, 1), (3, 4)]),
    ],
)  # fmt: skip
def test_einsum(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [R(*s) for s in shapes]
    got = call(lambda *xs: einsum(equation, *xs), arrays)
    np.testing.assert_allclose(got, np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij,jk", [(2, 3)]), ("ij->ik", [(2, 3)]), ("ij->ii", [(2, 3)]), ("ij,jk->ik", [(2, 3), (4, 2)]),
     ("ijk", [(2, 3)]), ("i1->i", [(2, 3)])],
)  # fmt: skip
def test_einsum_refuses(equation: str, shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="einsum"):
        einsum(equation, *[wrap(R(*s)) for s in shapes])


@pytest.mark.parametrize("product", [linalg.matrix_product, linalg.dot, linalg.inner, lambda x, y: einsum("i,i", x, y)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64"])
def test_long_vectors_are_multiplied_exactly_enough(product: Callable[..., Any], dtype: str) -> None:
    """One chain of 2**20 float32 additions would be off by more than 1e-4."""
    x, y = (np.random.default_rng(i).uniform(0, 0.1, 2**20).astype(dtype) for i in range(2))
    got, want = call(product, [x, y]), np.dot(x.astype(np.complex128), y.astype(np.complex128))
    np.testing.assert_allclose(got.astype(np.complex128), want, rtol=1e-3 if dtype == "float16" else 1e-6)
    assert got.dtype == dtype and got.shape == ()


def test_determinants_of_singular_matrices_have_two_derivatives() -> None:
    """Those of ``ad - bc`` and of a matrix of rank 1: the minors that are left, with their signs."""
    one, zero = np.array([[0.0, 1.0], [0.0, 0.0]]), np.zeros((2, 2))
    along = decompositions.cofactors_along
    np.testing.assert_allclose(call(along, [zero, one]), [[0, 0], [-1, 0]], atol=1e-12)
    ones, first = np.ones((2, 3, 3)), np.zeros((2, 3, 3))
    first[:, 0, 0] = 1
    want = [[0, 0, 0], [0, 1, -1], [0, -1, 1]]
    np.testing.assert_allclose(call(along, [ones, first]), [want, want], atol=1e-12)


@pytest.mark.parametrize("norm_mode", fft.NORMS)
@pytest.mark.parametrize("n", [None, 1, 3, 4, 7, 8])
def test_fft_family(norm_mode: str, n: int | None) -> None:
    x, z = R(3, 6), R(3, 6) + 1j * R(3, 6)
    for name in ("fft", "ifft", "rfft", "irfft"):
        a = x if name == "rfft" else z
        want = getattr(np.fft, name)(a, n, norm=norm_mode)
        np.testing.assert_allclose(call(lambda t: getattr(fft, name)(t, n, norm=norm_mode), [a]), want, atol=1e-12)
    np.testing.assert_allclose(call(fft.fft2, [z]), np.fft.fft2(z), atol=1e-12)
    np.testing.assert_array_equal(call(lambda t: fft.fftshift(t, 1), [x]), np.fft.fftshift(x, 1))
    np.testing.assert_array_equal(call(lambda t: fft.fftshift(t, inverse=True), [x]), np.fft.ifftshift(x))


def test_batch_norm_of_seed_003() -> None:
    """MindSpore prints 15.99984 for relu(bn(conv))**2 of this program."""
    one, zero = wrap(np.ones(1, np.float32)), wrap(np.zeros(1, np.float32))
    out = norm.batch_norm_inference(wrap(np.full((1, 1, 1, 1), 4, np.float32)), one, zero, zero, one)
    assert str(out.array()) == "[[[[3.99998]]]]"
    assert str(square(out).array()) == "[[[[15.99984]]]]"


def test_max_pool_positions_and_nan() -> None:
    x = np.array([[[1.0, np.nan, 3.0, 3.0, -np.inf, -np.inf]]])
    values, places = pool.max_pool(wrap(x), kernel=(2,), stride=(2,), padding=((0, 0),), dilation=(1,))
    np.testing.assert_array_equal(values.array(), [[[np.nan, 3, -np.inf]]])
    np.testing.assert_array_equal(places.array(), [[[1, 2, 4]]])
    lowest = wrap(np.full((1, 1, 2), -np.inf))
    _, places = pool.max_pool(lowest, kernel=(3,), stride=(1,), padding=((1, 1),), dilation=(1,))
    np.testing.assert_array_equal(places.array(), [[[0, 0]]])
    whole = pool.max_pool(wrap(np.array([[[5, -7]]])), kernel=(2,), stride=(1,), padding=((0, 0),), dilation=(1,))[0]
    assert whole.array().tolist() == [[[5]]]


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
def test_sampling_where_a_place_is_no_number(mode: str) -> None:
    """Outside of the image with zeros around it, in its first row or column where places are clipped, as in PyTorch."""
    image, grid = wrap(np.arange(1.0, 7.0).reshape(1, 1, 2, 3)), np.array([[np.nan, 1], [np.inf, -1], [1, np.nan]])
    for padding, values in (("zeros", [0, 0, 0]), ("border", [4, 3, 3]), ("reflection", [4, 1, 3])):
        got = sampling.grid_sample(image, wrap(grid.reshape(1, 1, 3, 2)), mode, padding, True)
        assert got.array().ravel().tolist() == values


def test_what_is_clipped_has_no_gradient_at_the_border() -> None:
    image, corners = wrap(np.array([[[[1.0, 2.0], [4.0, 8.0]]]])), np.array([[[[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]]]])
    for padding in ("border", "reflection"):
        xs, weights = [image, wrap(corners)], wrap(np.ones((1, 1, 1, 3)))
        (slope,) = gradients(
            lambda x, g, how=padding: sampling.grid_sample(x, g, "bilinear", how, True), xs, [1], weights
        )
        np.testing.assert_array_equal(slope.array()[0, 0], [[0, 0], [0, 3], [2, 0]])


def test_same_padding_puts_the_odd_element_behind() -> None:
    got = conv.resolve_padding("same", 0, (7, 8), (3, 2), (2, 1), (1, 1))
    assert got == ((1, 1), (0, 1))
    assert conv.resolve_padding("pad", (1, 2, 3, 4), (7, 8), (3, 3), (1, 1), (1, 1)) == ((1, 2), (3, 4))


@pytest.mark.parametrize(
    ("mode", "padding", "error"),
    [("foo", 0, "'pad_mode' must be str"), ("same", 1, "must be zero when 'pad_mode' is not 'pad'"), ("pad", -1, ">?")],
)
def test_wrong_padding(mode: str, padding: int, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        conv.resolve_padding(mode, padding, (4, 4), (3, 3), (1, 1), (1, 1))


def test_wrong_shapes_have_the_errors_of_mindspore() -> None:
    plain = {"stride": (1, 1), "padding": ((0, 0),) * 2, "dilation": (1, 1)}
    with pytest.raises(RuntimeError, match=r"shape1\[-1\] must be equal to shape2\[-2\], but got 3 and 4\."):
        linalg.matmul(wrap(R(2, 3)), wrap(R(4, 2)))
    with pytest.raises(ValueError, match="inputs must be all tensors and rank >= 1"):
        linalg.matrix_product(wrap(R()), wrap(R(2)))
    with pytest.raises(RuntimeError, match="shape: 3, but got 'C_in' of input 'x' shape: 2, and 'group': 1"):
        conv.conv(wrap(R(1, 2, 5, 5)), wrap(R(4, 3, 3, 3)), **plain)
    with pytest.raises(ValueError, match="does not fit into the input"):
        conv.conv(wrap(R(1, 2, 2, 5)), wrap(R(4, 2, 3, 3)), **plain)
    with pytest.raises(RuntimeError, match="Singular"):
        decompositions.inverse(wrap(np.zeros((2, 2))))


def test_ctc_counts_all_alignments() -> None:
    """Against the sum over every path of three steps, and the gradient through log_softmax against differences."""
    from itertools import groupby, product

    logits = R(3, 2, 3)
    targets, steps, labels = np.array([[1, 2], [1, 0]]), np.array([3, 2]), np.array([2, 1])
    log_probs = sp.log_softmax(logits, 2)
    want = []
    for i in range(2):
        chance = 0.0
        for path in product(range(3), repeat=int(steps[i])):
            if [k for k, _ in groupby(path) if k] == list(targets[i, : labels[i]]):
                chance += np.exp(sum(log_probs[t, i, k] for t, k in enumerate(path)))
        want.append(-np.log(chance))
    rest = [wrap(targets), wrap(steps), wrap(labels)]

    def f(x: Tensor) -> Tensor:
        return ctc.ctc_loss(norm.log_softmax(x, axis=2), *rest, reduction="sum")[0]

    got = ctc.ctc_loss(wrap(log_probs), *rest, reduction="none")[0]
    np.testing.assert_allclose(got.array(), want, rtol=1e-12)
    (grad,) = gradients(f, [wrap(logits)], [0], wrap(np.ones(())))
    (slope,) = differences(lambda a: float(f(wrap(a[0])).array()), [logits], 1e-6)
    np.testing.assert_allclose(grad.array(), slope, atol=1e-8)


def test_hard_gumbel_softmax_is_one_hot_with_the_slope_of_the_soft_one() -> None:
    x, noise, weights = R(6, 4), R(6, 4), R(6, 4)
    hard = act.gumbel_softmax(wrap(x), wrap(noise), 0.7, True).array()
    np.testing.assert_allclose(hard, np.eye(4)[np.argmax(x + noise, 1)], atol=1e-12)
    slopes = [
        gradients(lambda t, h=h: act.gumbel_softmax(t, wrap(noise), 0.7, h), [wrap(x)], [0], wrap(weights))[0].array()
        for h in (True, False)
    ]
    np.testing.assert_array_equal(*slopes)
