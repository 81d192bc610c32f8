"""The long tail of functions and Primitive classes: values against NumPy and SciPy, capture, gradients."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as sp

import duograph as ms
from duograph import Parameter, Tensor, ops

rng = np.random.default_rng(11)
A = rng.standard_normal((4, 3))
SQUARE = A[:3] + 3 * np.eye(3)
V = np.array([0.3, 1.0, 2.5, 7.0])


def T(x: object, dtype: object = None) -> Tensor:
    return Tensor(np.asarray(x), dtype)


VALUES = [
    *[(f"bessel_{n}", lambda n=n: getattr(ops, f"bessel_{n}")(T(V)), lambda n=n: getattr(sp, n)(V))
      for n in ("i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1")],
    ("igamma", lambda: ops.igamma(T(V), T(V[::-1])), lambda: sp.gammainc(V, V[::-1])),
    ("igammac", lambda: ops.igammac(T(V), T(V[::-1])), lambda: sp.gammaincc(V, V[::-1])),
    ("zeta", lambda: ops.zeta(T(V + 1), T(V)), lambda: sp.zeta(V + 1, V)),
    ("betainc", lambda: ops.Betainc()(T(V), T(V[::-1]), T(V / 8)), lambda: sp.betainc(V, V[::-1], V / 8)),
    ("population_count", lambda: ops.population_count(T([-1, 5, 0], ms.int16)), lambda: [16, 2, 0]),
    ("hfft", lambda: ops.hfft(T(A), 6, 0), lambda: np.fft.hfft(A, 6, 0)),
    ("ihfft", lambda: ops.ihfft(T(A), None, 0, "ortho"), lambda: np.fft.ihfft(A, None, 0, "ortho")),
    ("rfftn", lambda: ops.rfftn(T(A)), lambda: np.fft.rfftn(A)),
    ("irfft2", lambda: ops.irfft2(T(A), (4, 4)), lambda: np.fft.irfft2(A, (4, 4))),
    ("view_as_real", lambda: ops.view_as_real(T([1 + 2j])), lambda: [[1, 2]]),
    ("kaiser_window", lambda: ops.kaiser_window(6, False, 8.0, dtype=ms.float64), lambda: np.kaiser(6, 8.0)),
    ("lstsq", lambda: ops.lstsq(T(A), T(A[:, :2])), lambda: np.linalg.lstsq(A, A[:, :2], rcond=None)[0]),
    ("lstsq wide", lambda: ops.lstsq(T(A.T), T(SQUARE)), lambda: np.linalg.lstsq(A.T, SQUARE, rcond=None)[0]),
    ("eigvals", lambda: ops.eigvals(T(SQUARE)), lambda: np.linalg.eigvals(SQUARE)),
    ("orgqr", lambda: ops.orgqr(*ops.geqrf(T(A))), lambda: np.linalg.qr(A)[0]),
    ("matrix_diag", lambda: ops.matrix_diag(T([1.0, 2.0]), 1), lambda: np.diag([1.0, 2.0], 1)),
    ("matrix_diag_part", lambda: ops.matrix_diag_part(T(SQUARE), (0, 1), 9.0),
     lambda: [[9, SQUARE[0, 1], SQUARE[1, 2]], np.diag(SQUARE)]),
    ("mirror_pad", lambda: ops.mirror_pad(T(A), [[1, 0], [0, 2]], "SYMMETRIC"),
     lambda: np.pad(A, ((1, 0), (0, 2)), "symmetric")),
    ("iou", lambda: ops.iou(T([[1, 1, 3, 4.0]]), T([[2, 2, 5, 5.0]])), lambda: [[6 / 22]]),
    ("segment_sum", lambda: ops.SegmentSum()(T(A), T([0, 0, 2, 2])), lambda: [A[:2].sum(0), [0] * 3, A[2:].sum(0)]),
    ("left_shift", lambda: ops.LeftShift()(T([1, 2, -3], ms.int8), T([0, -1, 5], ms.int8)), lambda: [1, 0, -96]),
    ("full is int64", lambda: ops.full((2,), 1.7), lambda: [1, 1]),
    ("Mod", lambda: ops.Mod()(T([-4.0]), T([3.0])), lambda: [-1]),
    ("compare and pack", lambda: ops.CompareAndBitpack()(T(np.arange(8.0)), T(5.0)), lambda: [3]),
    ("hsv", lambda: ops.HSVToRGB()(ops.RGBToHSV()(T([[0.2, 0.7, 0.4]]))), lambda: [[0.2, 0.7, 0.4]]),
    ("edit distance", lambda: ops.EditDistance(False)(
        T([[0, 0], [0, 1]]), T([1, 2]), T([1, 2]), T([[0, 0]]), T([2]), T([1, 1])), lambda: [1.0]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "want"), [pytest.param(c, w, id=n) for n, c, w in VALUES])
def test_value_in_both_modes(call, want):
    for run in (call, ms.jit(call)):
        np.testing.assert_allclose(run().asnumpy(), want(), rtol=1e-7, atol=1e-9)


GRADIENTS = [
    (ops.bessel_i1, V), (ops.bessel_k0e, V), (ops.bessel_y1, V), (ops.bessel_j1, V),
    (lambda a: ops.igamma(a, T(V[::-1])), V), (lambda x: ops.igammac(T(V[::-1]), x), V),
    (lambda x: ops.Betainc()(T(V), T(V[::-1]), x), V / 8), (lambda q: ops.zeta(T(V + 1), q), V),
    (lambda x: ops.matrix_diag_part(x, (-1, 1), 0.0), SQUARE), (lambda x: ops.matrix_diag(x, (0, 1)), A[:2]),
    (lambda b: ops.lstsq(T(A), b), A[:, :2]), (lambda x: ops.hfft(x, 4), A), (lambda x: ops.stft(x, 4), V),
    (lambda b: ops.lu_solve(b, T(SQUARE), T([2, 2, 3], ms.int32)), A[:3]),
    (lambda x: ops.crop_and_resize(x, T([[0.1, 0.2, 0.9, 0.8]], ms.float32), T([0], ms.int32), (3, 2)),
     rng.standard_normal((1, 4, 4, 1)).astype(np.float32)),
    (lambda x: ops.ROIAlign(2, 2, 1.0, 2)(x, T([[0, 0.2, 0.3, 2.2, 2.3]])), rng.standard_normal((1, 1, 4, 4))),
    (lambda x: ops.fractional_max_pool2d(x, 2, 2, _random_samples=T([[[0.3, 0.6]]])),
     rng.standard_normal((1, 1, 5, 5))),
]  # fmt: skip


@pytest.mark.parametrize(("function", "point"), GRADIENTS)
def test_gradient_agrees_with_differences(function, point):
    def total(x):
        out = function(x)
        return (out * ops.cos(ops.arange(0, out.size, dtype=out.dtype)).reshape(out.shape)).sum()

    grad = ms.grad(total)(T(point)).asnumpy()
    captured = ms.jit(lambda x: ms.grad(total)(x))(T(point)).asnumpy()
    assert (grad == captured).all()
    step = 1e-6 if point.dtype == np.float64 else 1e-2
    for place in np.ndindex(*point.shape):
        moved = [point.copy(), point.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        slope = (float(total(T(moved[0]))) - float(total(T(moved[1])))) / (2 * step)
        np.testing.assert_allclose(grad[place], slope, rtol=2e-3 if step > 1e-3 else 1e-5, atol=1e-3 * step**0.25)


def test_lu_factors_give_the_matrix_back():
    packed, pivots = T([[2, 1, 1], [0.5, 1, 1.5], [0.5, 0, 2.5]]), T([2, 2, 3], ms.int32)
    order, lower, upper = ops.lu_unpack(packed, pivots)
    whole = (order @ lower @ upper).asnumpy()
    solved = ops.lu_solve(T(A[:3]), packed, pivots).asnumpy()
    np.testing.assert_allclose(whole @ solved, A[:3])


def test_matrix_set_diag_is_the_inverse_of_diag_part():
    for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"):
        rows = ops.matrix_diag_part(T(A), (-2, 1), 0.0, align)
        assert (ops.matrix_set_diag(T(A), rows, (-2, 1), align).asnumpy() == A).all()


def test_suppression_keeps_the_best_of_overlapping_boxes():
    corners = T([[0, 0, 2, 2], [0, 0, 2, 1.9], [3, 3, 4, 4]], ms.float32)
    kept = ops.NonMaxSuppressionV3()(corners, T([0.5, 0.9, 0.3], ms.float32), 5, 0.5, 0.0)
    assert kept.asnumpy().tolist() == [1, 2]
    ranked = T([[0, 0, 2, 2, 0.5], [0, 0, 2, 1.9, 0.9], [3, 3, 4, 4, 0.3]], ms.float32)
    _, _, mask = ops.NMSWithMask(0.5)(ranked)
    assert mask.asnumpy().tolist() == [True, False, True]


def test_greedy_decoder_drops_blanks_and_repetitions():
    scores = np.eye(3)[[[1], [1], [2], [1]]]
    places, labels, shape, total = ops.ctc_greedy_decoder(T(scores), T([4]))
    assert labels.asnumpy().tolist() == [1, 1] and places.asnumpy().tolist() == [[0, 0], [0, 1]]
    assert shape.asnumpy().tolist() == [1, 2] and total.asnumpy().tolist() == [[-4.0]]


STEPS = [
    ("ApplyMomentum", (0.1, "g", 0.9), 1, lambda v, s, g: v - 0.1 * (0.9 * s[0] + g)),
    ("ApplyAdagradV2", (0.1, "g"), 1, lambda v, s, g: v - 0.1 * g / (np.sqrt(s[0] + g * g) + 1e-6)),
    ("ApplyAdaMax", (0.9, 0.1, 0.9, 0.99, 1e-8, "g"), 2,
     lambda v, s, g: v - 0.1 / (1 - 0.9) * (0.9 * s[0] + 0.1 * g) / (np.maximum(0.99 * s[1], abs(g)) + 1e-8)),
    ("AdamWeightDecay", (0.1, 0.9, 0.99, 1e-8, 0.5, "g"), 2,
     lambda v, s, g: v - 0.1 * (
         (0.9 * s[0] + 0.1 * g) / (np.sqrt(0.99 * s[1] + 0.01 * g * g) + 1e-8) + 0.5 * v)),
    ("ApplyGradientDescent", (0.1, "g"), 0, lambda v, s, g: v - 0.1 * g),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operands", "slots", "want"), STEPS)
def test_optimiser_steps_write_their_variable(name, operands, slots, want):
    start, grad, state = np.float32([1.0, -2.0]), np.float32([0.5, 0.25]), [np.float32([0.3, 0.4])] * slots
    make = getattr(ops, name)
    step = make(epsilon=1e-6) if name == "ApplyAdagradV2" else make()
    variables = [Parameter(T(x), name=f"p{i}") for i, x in enumerate([start, *state])]
    given = [T(grad) if x == "g" else x for x in operands]
    ms.jit(lambda: step(*variables, *given))()
    np.testing.assert_allclose(variables[0].asnumpy(), want(start, state, grad), rtol=1e-5)


def test_sparse_steps_write_only_their_rows():
    var, accum = (Parameter(T(np.ones((3, 2), np.float32)), name=n) for n in ("var", "accum"))
    ops.SparseApplyAdagrad(0.1)(var, accum, T(np.ones((2, 2), np.float32)), T([2, 2], ms.int32))
    assert (var.asnumpy()[:2] == 1).all() and np.allclose(var.asnumpy()[2], 1 - 0.1 * 2 / np.sqrt(5))


def test_a_handle_on_a_view_of_itself_is_refused():
    x = ms.Tensor([1.0, 2.0])
    assert x.set_(x) is x
    assert x.add_(1).asnumpy().tolist() == [2.0, 3.0]
    with pytest.raises(RuntimeError, match="another handle on a view of itself"):
        x.set_(x[0:1])
    y = ms.Tensor([5.0, 6.0])
    x.set_(y)
    y.add_(1)
    assert x.asnumpy().tolist() == [6.0, 7.0]
