"""Rows of the op table for the primitives of neural networks and linear algebra (see `opinfo`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sp
from scipy.signal import correlate

import duograph.ops.activation
import duograph.ops.attention
import duograph.ops.ctc
import duograph.ops.einsum
import duograph.ops.fft
import duograph.ops.loss
import duograph.ops.rnn
import duograph.ops.sampling  # noqa: F401 (declare the ops)
from duograph.ops import banded, conv, decompositions, image, pool, special  # noqa: F401 (declare the ops)
from tests.ops.opinfo import OpInfo, S, values

_rng = np.random.default_rng(11)


def matmul(x: np.ndarray, w: np.ndarray, transpose_a: bool = False, transpose_b: bool = False) -> np.ndarray:
    return np.matmul(np.swapaxes(x, -1, -2) if transpose_a else x, np.swapaxes(w, -1, -2) if transpose_b else w)


def convolve(x: np.ndarray, w: np.ndarray, stride: Any, padding: Any, dilation: Any, groups: int = 1) -> np.ndarray:
    """Every pair of channels by SciPy, on the dilated kernel, thinned out by the stride."""
    x = np.pad(x, ((0, 0), (0, 0), *padding))
    wide = np.zeros((*w.shape[:2], *[(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]))
    wide[(slice(None), slice(None), *[slice(None, None, d) for d in dilation])] = w
    per_in, per_out = w.shape[1], w.shape[0] // groups
    thin = tuple(slice(None, None, s) for s in stride)
    if not len(x):
        return np.zeros((0, len(w), 4))
    rows = []
    for o in range(w.shape[0]):
        first = o // per_out * per_in
        parts = [[correlate(a[first + c], wide[o, c], "valid", "direct") for c in range(per_in)] for a in x]
        rows.append(np.array([np.sum(p, axis=0)[thin] for p in parts]))
    return np.stack(rows, 1)


def pooled(fold: Any) -> Any:
    def reference(x: np.ndarray, kernel: Any, stride: Any, padding: Any, **_: Any) -> np.ndarray:
        fill = -np.inf if fold is np.max else 0.0
        x = np.pad(x, ((0, 0), (0, 0), *padding), constant_values=fill)
        axes = tuple(range(2, x.ndim))
        view = np.lib.stride_tricks.sliding_window_view(x, kernel, axes)
        view = view[(slice(None), slice(None), *[slice(None, None, s) for s in stride])]
        return fold(view, axis=tuple(range(x.ndim, view.ndim)))

    return reference


def definite(*shape: int) -> np.ndarray:
    """Matrices far from singular, with distinct eigenvalues."""
    x = _rng.standard_normal(shape)
    return x @ np.swapaxes(x, -1, -2) + np.diag(np.arange(1.0, shape[-1] + 1) * 2)


_PLAIN = {"stride": (1,), "padding": ((0, 0),), "dilation": (1,)}
_MIXED = {"stride": (2, 1), "padding": ((1, 0), (2, 1)), "dilation": (1, 2), "groups": 2}
_CUBE = {"stride": (1, 2, 1), "padding": ((1, 1), (0, 0), (0, 1)), "dilation": (1, 1, 1)}
CONVOLUTIONS = [
    OpInfo("conv", [
        S(values(2, 3, 6), values(4, 3, 3), **_PLAIN), S(values(2, 4, 5, 6), values(6, 2, 3, 2), **_MIXED),
        S(values(1, 2, 3, 4, 3), values(2, 2, 2, 2, 2), **_CUBE), S(values(0, 3, 6), values(4, 3, 3), **_PLAIN),
        S(values(2, 3, 4), values(4, 3, 1), stride=(3,), padding=((0, 0),), dilation=(1,)),
    ], convolve, rtol=1e-11),
    OpInfo("conv_input_grad", [
        S(values(2, 4, 4), values(4, 3, 3), input_size=(6,), **_PLAIN),
        S(values(2, 6, 2, 7), values(6, 2, 3, 2), input_size=(5, 6), **_MIXED),
        S(values(1, 2, 2), values(2, 1, 3), input_size=(6,), stride=(2,), padding=((-2, 1),), dilation=(1,)),
    ]),
    OpInfo("conv_weight_grad", [
        S(values(2, 3, 6), values(2, 4, 4), kernel_size=(3,), **_PLAIN),
        S(values(2, 4, 5, 6), values(2, 6, 2, 7), kernel_size=(3, 2), **_MIXED),
    ]),
]  # fmt: skip

_WINDOW = {"kernel": (3, 2), "stride": (2, 2), "padding": ((1, 1), (0, 0))}
_PLACES = np.array([[[3, 0, 3], [5, 1, 2]]])
POOLING = [
    OpInfo("max_pool", [S(values(2, 2, 5, 4), **_WINDOW, dilation=(1, 1))], pooled(np.max)),
    OpInfo("max_pool", [S(values(1, 2, 6, 5), **_WINDOW, dilation=(2, 1), ceil_mode=True)]),
    OpInfo("avg_pool", [S(values(2, 2, 5, 4), **_WINDOW)], pooled(np.mean)),
    OpInfo("avg_pool", [S(values(1, 2, 6, 5), **_WINDOW, ceil_mode=c, count_include_pad=p, divisor=d)
                        for c in (False, True) for p in (False, True) for d in (0, 5)]),
    OpInfo("avg_pool_grad", [S(values(1, 2, 3, 2), input_size=(5, 4), **_WINDOW)]),
    OpInfo("adaptive_max_pool", [S(values(2, 2, 5, 4), output_size=(2, 3))]),
    OpInfo("scatter_planes", [S(values(1, 2, 3), _PLACES, size=(2, 3)),
                              S(values(1, 2, 2), np.array([[[1, 2], [0, 3]]]), size=(5,), windows=((2,), (2,), (0,)))]),
    OpInfo("gather_planes", [S(values(1, 2, 2, 3), _PLACES)]),
    OpInfo("max_unpool", [S(values(1, 2, 3), np.array([[[3, 0, 4], [5, 1, 2]]]), size=(2, 3))]),
]  # fmt: skip

RESIZING = [
    OpInfo(name, [S(values(2, 5, 2), axis=1, size=n, mode=m, align=a)
                  for m in image.MODES for a in (False, True) for n in (3, 8)])
    for name in ("resize_axis", "resize_axis_grad")
]  # fmt: skip

NORMALISATION = [
    OpInfo("softmax", [S(values(3, 4), axis=1), S(values(3, 4) * 300, axis=0)], sp.softmax, rtol=1e-10),
    OpInfo("log_softmax", [S(values(3, 4), axis=1), S(values(3, 4) * 300, axis=0)], sp.log_softmax, rtol=1e-10),
    OpInfo("standardize", [S(values(3, 4), axis=(1,), epsilon=1e-5), S(values(2, 3), axis=(), epsilon=0.5),
                           S(values(2, 3, 4) * 9 + 50, axis=(0, 2), epsilon=0.1)],
           lambda x, axis, epsilon: (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon),
           rtol=1e-10),
    OpInfo("reduce_mean", [S(values(2, 3, 4), axis=a, keep_dims=k) for a in ((0,), (0, 2), ()) for k in (False, True)],
           lambda x, axis, keep_dims: np.mean(x, axis=axis, keepdims=keep_dims)),
    OpInfo("softplus", [S(values(2, 3) * 20), S(np.zeros(2))], lambda x: np.logaddexp(0, x)),
]  # fmt: skip

_flags = [(a, b) for a in (False, True) for b in (False, True)]
PRODUCTS = [
    OpInfo("matmul", [
        S(values(*((2, 3) if a else (3, 2))), values(*((4, 2) if b else (2, 4))), transpose_a=a, transpose_b=b)
        for a, b in _flags
    ] + [S(values(2, 3, 2), values(2, 4)), S(values(2, 1, 3, 2), values(3, 2, 4)), S(values(3, 0), values(0, 2))],
        matmul, rtol=1e-12),
]  # fmt: skip

DECOMPOSITIONS = [
    OpInfo("inverse", [S(definite(2, 3, 3))], np.linalg.inv, rtol=1e-9),
    OpInfo("det", [S(definite(2, 3, 3))], np.linalg.det, rtol=1e-9),
    OpInfo("cofactors", [S(definite(2, 3, 3))],
           lambda x: np.linalg.det(x)[..., None, None] * np.linalg.inv(x).swapaxes(-1, -2), rtol=1e-9),
    OpInfo("cofactors_along", [S(definite(2, 3, 3), values(2, 3, 3)), S(definite(3, 3), values(3, 3))]),
    OpInfo("pseudo_inverse", [S(values(2, 3, 3), np.full((2, 1, 1), 1e-9)), S(values(4, 3), np.full((1, 1), 1e-9)),
                              S(values(3, 4), np.full((1, 1), 1e-9))], lambda x, limit: np.linalg.pinv(x), rtol=1e-9),
    OpInfo("slogdet", [S(definite(2, 3, 3))], lambda x: np.linalg.slogdet(x)[0], rtol=1e-9, second=False),
    OpInfo("solve", [S(definite(2, 3, 3), values(2, 3, 2)), S(definite(3, 3), values(2, 3, 2))], np.linalg.solve,
           rtol=1e-9),
    OpInfo("triangular_solve", [S(definite(3, 3), values(2, 3, 2), lower=a, transposed=b, unit=u)
                                for a, b in _flags for u in (False, True)]),
    OpInfo("svd", [S(values(2, 3, 3)), S(values(4, 3)), S(values(3, 4))], lambda x: np.linalg.svd(x)[1], rtol=1e-9),
    OpInfo("svd_values", [S(values(2, 4, 3))], lambda x: np.linalg.svd(x)[1], rtol=1e-9),
    OpInfo("qr", [S(values(4, 3)), S(values(3, 3))], lambda x: np.linalg.qr(x)[0], rtol=1e-9),
]  # fmt: skip

_POSITIVE = np.array([0.3, 1.1, 2.7, 6.2])
_BAND = {"lowest": -1, "highest": 1, "alignment": "RIGHT_LEFT"}
SPECIAL = [
    *[OpInfo(f"bessel_{name}", [S(_POSITIVE)], getattr(sp, name), rtol=1e-12, dtypes="f")
      for name in ("i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1")],
    OpInfo("igamma", [S(_POSITIVE, _POSITIVE[::-1].copy())], sp.gammainc, rtol=1e-12, second=False),
    OpInfo("igammac", [S(_POSITIVE, _POSITIVE[::-1].copy())], sp.gammaincc, rtol=1e-12, second=False),
    OpInfo("betainc", [S(_POSITIVE, _POSITIVE[::-1].copy(), _POSITIVE / 7)], sp.betainc, rtol=1e-12, gradient=False,
           second=False),
    OpInfo("diagonals_of", [S(values(2, 3, 4), np.array(0.5), **_BAND)], batch=False),
    OpInfo("with_diagonals", [S(values(2, 3, 4), values(2, 3, 3), **_BAND)], batch=False),
]  # fmt: skip

NN_TABLE = [*SPECIAL, *CONVOLUTIONS, *POOLING, *RESIZING, *NORMALISATION, *PRODUCTS, *DECOMPOSITIONS]
