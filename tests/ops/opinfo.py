"""The table that the primitive tests are driven by: per op, what it is called with and what NumPy or SciPy say.

A row is an `OpInfo`. Samples are float64 (or what the op is about) and small; from them the tests derive values in every
dtype, gradients of first and second order, batching and the equality of eager and graph.
"""

# Tables read better with long rows.
# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import scipy.special as sp

from duograph.core import dtype as dt
from duograph.core.op import get_op

for _family in (
    "bits", "complex", "creation", "cumulative", "diagonals", "indexing", "logical", "power", "random", "reduce",
    "search", "segments", "slices", "sort", "unary", "windows",
):  # fmt: skip
    import_module(f"duograph.ops.{_family}")  # declares its ops


@dataclass
class Sample:
    """One call: arrays (tensors) in operand order, and attributes."""

    operands: tuple[np.ndarray, ...]
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass
class OpInfo:
    """One row.

    Attributes:
        name: of the primitive.
        samples: calls.
        reference: what the value must be, on float64 arrays; ``None``: only the other properties are tested.
        gradient: whether gradients are compared with differences.
        second: whether second derivatives are, too.
        batch: whether the op has a batch rule.
        dtypes: kinds of dtype to run value tests in, letters of `rules.kind_of`.
        rtol: of the float64 value.
    """

    name: str
    samples: list[Sample]
    reference: Callable[..., Any] | None = None
    gradient: bool = True
    second: bool = True
    batch: bool = True
    dtypes: str = "f"
    rtol: float = 1e-13

    @property
    def op(self) -> Any:
        return get_op(self.name)

    def __repr__(self) -> str:
        return self.name


_rng = np.random.default_rng(7)


def values(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Random numbers, all different and none close to a kink at an integer or half."""
    x = _rng.uniform(low, high, shape)
    near = np.abs(x * 2 - np.round(x * 2)) < 0.05
    return np.where(near, x + 0.07, x)


def ints(*shape: int, low: int = -5, high: int = 6, dtype: Any = np.int64) -> np.ndarray:
    return _rng.integers(low, high, shape).astype(dtype)


def bools(*shape: int) -> np.ndarray:
    return _rng.integers(0, 2, shape).astype(bool)


def S(*operands: Any, **attrs: Any) -> Sample:
    return Sample(tuple(np.asarray(o) for o in operands), attrs)


def one(low: float = -2.0, high: float = 2.0) -> list[Sample]:
    return [S(values(2, 3, low=low, high=high)), S(values(low=low, high=high)), S(values(0, 2, low=low, high=high))]


def two(low: float = -2.0, high: float = 2.0) -> list[Sample]:
    v = lambda *s: values(*s, low=low, high=high)
    return [S(v(2, 3), v(2, 3)), S(v(2, 3), v(3)), S(v(2, 1), v(1, 3)), S(v(), v(2)), S(v(0, 3), v(3))]


def int_pairs() -> list[Sample]:
    nonzero = ints(3, 4)
    return [S(ints(3, 4), np.where(nonzero == 0, 2, nonzero)), S(ints(3, 1), np.array([2, -3, 5]))]


def bool_pairs() -> list[Sample]:
    return [S(bools(2, 3), bools(3)), S(bools(), bools(2))]


ELEMENTWISE = [
    OpInfo("add", two(), np.add, dtypes="if"), OpInfo("sub", two(), np.subtract, dtypes="if"),
    OpInfo("mul", two(), np.multiply, dtypes="if"), OpInfo("div", two(0.5), np.divide),
    OpInfo("neg", one(), np.negative, dtypes="if"), OpInfo("maximum", two(), np.maximum, dtypes="if"),
    OpInfo("minimum", two(), np.minimum, dtypes="if"), OpInfo("mod", two(0.6, 3), np.remainder),
    OpInfo("fmod", two(0.6, 3), np.fmod), OpInfo("floor_div", two(0.6, 3), np.floor_divide),
    OpInfo("floor_div", int_pairs(), np.floor_divide, gradient=False),
    OpInfo("mod", int_pairs(), np.remainder, gradient=False), OpInfo("fmod", int_pairs(), np.fmod, gradient=False),
    OpInfo("trunc_div", int_pairs(), lambda x, y: np.trunc(x / y), gradient=False),
    OpInfo("trunc_div", two(0.6, 3), lambda x, y: np.trunc(x / y)),
    OpInfo("sign", one(), np.sign, dtypes="if"), OpInfo("abs", one(), np.abs, dtypes="if"),
    OpInfo("square", one(), np.square, dtypes="if"), OpInfo("reciprocal", one(0.4), np.reciprocal),
    OpInfo("nextafter", two(), np.nextafter, gradient=False), OpInfo("copysign", two(), np.copysign),
    OpInfo("pow", two(0.3), np.power), OpInfo("atan2", two(), np.arctan2), OpInfo("hypot", two(), np.hypot),
    OpInfo("pow", [S(ints(3, 4), ints(4, low=0, high=4))], np.power, gradient=False),
    OpInfo("xlogy", two(0.3), sp.xlogy),
    OpInfo("exp", one(), np.exp), OpInfo("expm1", one(), np.expm1), OpInfo("exp2", one(), np.exp2),
    OpInfo("log", one(0.2), np.log), OpInfo("log1p", one(-0.8), np.log1p), OpInfo("log2", one(0.2), np.log2),
    OpInfo("log10", one(0.2), np.log10), OpInfo("sqrt", one(0.2), np.sqrt),
    OpInfo("rsqrt", one(0.2), lambda x: 1 / np.sqrt(x)), OpInfo("sigmoid", one(-5, 5), sp.expit),
    OpInfo("sin", one(), np.sin), OpInfo("cos", one(), np.cos), OpInfo("tan", one(-1, 1), np.tan),
    OpInfo("asin", one(-0.9, 0.85), np.arcsin), OpInfo("acos", one(-0.9, 0.85), np.arccos),
    OpInfo("atan", one(), np.arctan), OpInfo("sinh", one(), np.sinh), OpInfo("cosh", one(), np.cosh),
    OpInfo("tanh", one(), np.tanh), OpInfo("asinh", one(), np.arcsinh), OpInfo("acosh", one(1.2, 3), np.arccosh),
    OpInfo("atanh", one(-0.9, 0.8), np.arctanh), OpInfo("erf", one(-4, 4), sp.erf),
    OpInfo("erfc", one(-4, 4), sp.erfc, rtol=1e-12), OpInfo("erfinv", one(-0.95, 0.9), sp.erfinv),
    OpInfo("normal_cdf", one(-4, 4), sp.ndtr, rtol=1e-12),
    OpInfo("gelu", one(-4, 4), lambda x: x * sp.ndtr(x), rtol=1e-12),
    OpInfo("gelu_by_tanh", one(-4, 4), lambda x: x * sp.expit(np.sqrt(8 / np.pi) * (x + 0.044715 * x**3)), rtol=1e-12),
    OpInfo("silu", one(-5, 5), lambda x: x * sp.expit(x), rtol=1e-12),
    OpInfo("fast_gelu", one(-5, 5), lambda x: x * sp.expit(1.702 * x), rtol=1e-12),
    OpInfo("mish", one(-5, 5), lambda x: x * np.tanh(np.logaddexp(0, x)), rtol=1e-12),
    OpInfo("tanhshrink", one(-4, 4), lambda x: x - np.tanh(x), rtol=1e-12),
    OpInfo("sinc", [*one(-4, 4), S(np.array([0.0, -2.5, 0.25]))], np.sinc, rtol=1e-12),
    OpInfo("logit", one(0.05, 0.95), sp.logit, rtol=1e-12),
    OpInfo("lgamma", one(0.3, 6), sp.gammaln, rtol=1e-12), OpInfo("digamma", one(0.3, 6), sp.digamma, rtol=1e-12),
    OpInfo("polygamma", [S(values(2, 3, low=0.4, high=5), n=2)], lambda x, n: sp.polygamma(n, x), rtol=1e-12),
    OpInfo("floor", one(), np.floor), OpInfo("ceil", one(), np.ceil), OpInfo("trunc", one(), np.trunc),
    OpInfo("round", [*one(), S(np.array([0.5, 1.5, 2.5, -0.5]))], np.round, gradient=False),
    OpInfo("relu", one(), lambda x: np.maximum(x, 0), dtypes="if"),
    OpInfo("isnan", [S(np.array([1.0, np.nan, np.inf]))], np.isnan, gradient=False),
    OpInfo("isinf", [S(np.array([1.0, np.nan, -np.inf]))], np.isinf, gradient=False),
    OpInfo("isfinite", [S(np.array([1.0, np.nan, -np.inf]))], np.isfinite, gradient=False),
    OpInfo("signbit", [S(np.array([1.0, -0.0, -2.0]))], np.signbit, gradient=False),
]  # fmt: skip

LOGIC = [
    *[
        OpInfo(name, [*two()[:2], *int_pairs()], getattr(np, name), gradient=False)
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    ],
    *[OpInfo(f"logical_{n}", bool_pairs(), getattr(np, f"logical_{n}"), gradient=False) for n in ("and", "or", "xor")],
    *[
        OpInfo(f"bitwise_{n}", [*int_pairs(), *bool_pairs()], getattr(np, f"bitwise_{n}"), gradient=False)
        for n in ("and", "or", "xor")
    ],
    OpInfo("logical_not", [S(bools(2, 3))], np.logical_not, gradient=False),
    OpInfo("bitwise_not", [S(ints(2, 3)), S(bools(3))], np.invert, gradient=False),
    OpInfo("bitwise_left_shift", [S(ints(3), ints(3, low=0, high=9))], np.left_shift, gradient=False),
    OpInfo("bitwise_right_shift", [S(ints(3), ints(3, low=0, high=9))], np.right_shift, gradient=False),
    OpInfo("select", [S(bools(2, 3), values(3), values(2, 1)), S(bools(), values(2), values(2))], np.where),
    OpInfo("cast", [S(values(2, 3), dtype=dt.float32)], lambda x, dtype: x.astype(dtype.numpy), gradient=False),
    OpInfo("identity", [S(values(2, 3))], lambda x: x),
    OpInfo("stop_gradient", [S(values(2, 3))], lambda x: x, gradient=False),
]  # fmt: skip


def _axes(name: str, fn: Any, **options: Any) -> OpInfo:
    samples = [
        S(values(2, 3, 2), axis=axis, keep_dims=keep)
        for axis in ((0,), (1, 2), (0, 1, 2), ())
        for keep in (False, True)
    ]
    samples.append(S(values(), axis=(), keep_dims=False))
    return OpInfo(name, samples, lambda x, axis, keep_dims: fn(x, axis=axis, keepdims=keep_dims), **options)


def _running(x: np.ndarray, fn: Any, start: float, axis: int, exclusive: bool, reverse: bool) -> np.ndarray:
    y = np.flip(x, axis) if reverse else x
    out = fn(y, axis=axis)
    if exclusive:
        first = np.full_like(np.take(y, [0], axis), start)
        out = np.concatenate([first, np.take(out, range(x.shape[axis] - 1), axis)], axis)
    return np.flip(out, axis) if reverse else out


def _run_samples(x: np.ndarray) -> list[Sample]:
    return [S(x, axis=a, exclusive=e, reverse=r) for a in (0, 1) for e in (False, True) for r in (False, True)]


_with_zeros = np.array([[1.5, 0.0, 2.0, -1.0], [0.0, 3.0, 0.0, 0.5]])
REDUCTIONS = [
    _axes("reduce_sum", np.sum), _axes("reduce_prod", np.prod), _axes("reduce_max", np.max), _axes("reduce_min", np.min),
    OpInfo("reduce_sum", [S(np.zeros((0, 3)), axis=(0,), keep_dims=False)], lambda x, **_: x.sum(0)),
    OpInfo("reduce_prod", [S(_with_zeros, axis=(1,), keep_dims=False)], lambda x, **_: x.prod(1)),
    OpInfo("reduce_all", [S(bools(2, 3), axis=(1,), keep_dims=True)], lambda x, **_: x.all(1, keepdims=True), gradient=False),
    OpInfo("reduce_any", [S(bools(2, 3), axis=(0, 1), keep_dims=False)], lambda x, **_: x.any(), gradient=False),
    *[
        OpInfo(
            name, [S(values(3, 4), axis=a, keep_dims=k, dtype=dt.int32) for a in (0, 1) for k in (False, True)],
            lambda x, axis, keep_dims, dtype, fn=getattr(np, name): fn(x, axis=axis, keepdims=keep_dims), gradient=False,
        )
        for name in ("argmax", "argmin")
    ],
    OpInfo("cumsum", _run_samples(values(3, 4)), lambda x, **a: _running(x, np.cumsum, 0, **a)),
    OpInfo("cumprod", [*_run_samples(values(3, 4)), *_run_samples(_with_zeros)],
           lambda x, **a: _running(x, np.cumprod, 1, **a)),
    OpInfo("linear_scan", [S(values(3, 2), values(3, 2), axis=a, reverse=r) for a in (0, 1) for r in (False, True)]),
    OpInfo("cummax", [S(values(3, 4), axis=a) for a in (0, 1)]), OpInfo("cummin", [S(values(3, 4), axis=1)]),
]  # fmt: skip

_ALL = (None, None, None)
MOVEMENT = [
    OpInfo("reshape", [S(values(2, 3), shape=(3, 2)), S(values(), shape=(1, 1)), S(values(0, 2), shape=(2, 0, 3))],
           lambda x, shape: x.reshape(shape)),
    OpInfo("transpose", [S(values(2, 3, 4), perm=(2, 0, 1)), S(values(), perm=())], lambda x, perm: x.transpose(perm)),
    OpInfo("broadcast_to", [S(values(3, 1), shape=(2, 3, 4)), S(values(), shape=(2,))],
           lambda x, shape: np.broadcast_to(x, shape)),
    OpInfo("flip", [S(values(2, 3), axes=(1,)), S(values(2, 3), axes=(0, 1))], lambda x, axes: np.flip(x, axes)),
    OpInfo("roll", [S(values(2, 3), shifts=(1, -2), axes=(0, 1))], lambda x, shifts, axes: np.roll(x, shifts, axes)),
    OpInfo("tile", [S(values(2, 3), multiples=(2, 3)), S(values(), multiples=())],
           lambda x, multiples: np.tile(x, multiples)),
    OpInfo("repeat_interleave", [S(values(2, 3), repeats=2, axis=1), S(values(2, 3), repeats=(2, 0, 3), axis=1)],
           lambda x, repeats, axis: np.repeat(x, repeats, axis)),
    OpInfo("strided_slice", [
        S(values(4, 5), slices=((1, 3, 1), (None, None, -2))), S(values(4, 5), slices=((3, 0, -1),)),
        S(values(4, 5), slices=((2, 2, None),)), S(values(4, 5), slices=()),
    ], lambda x, slices: x[(*[slice(*s) for s in slices], ...)]),
    OpInfo("slice_update", [S(values(4, 5), values(2, 3), slices=((1, 3, 1), (None, None, -2)))]),
    OpInfo("concat", [S(values(2, 3), values(2, 1), axis=1), S(values(1, 2), values(0, 2), values(2, 2), axis=0)],
           lambda *xs, axis: np.concatenate(xs, axis)),
    OpInfo("pad", [
        S(values(2, 3), padding=((1, 0), (2, 1)), mode=mode, value=0)
        for mode in ("constant", "replicate", "circular")
    ] + [S(values(3, 4), padding=((1, 2), (2, 1)), mode="reflect", value=0)],
           lambda x, padding, mode, value: np.pad(x, padding, {"replicate": "edge", "circular": "wrap"}.get(mode, mode))),
    OpInfo("diagonal", [S(values(3, 4), offset=k, axis1=0, axis2=1) for k in (-3, -1, 0, 2, 5)]
           + [S(values(2, 3, 3), offset=0, axis1=2, axis2=0)],
           lambda x, **a: np.diagonal(x, a["offset"], a["axis1"], a["axis2"])),
    OpInfo("diagonal_update", [S(values(3, 4), values(3), offset=1, axis1=0, axis2=1)]),
    OpInfo("bitcast", [S(values(2, 4), dtype=dt.int64), S(values(2, 4), dtype=dt.int32), S(ints(2, 4, dtype=np.int16), dtype=dt.uint32)],
           lambda x, dtype: x.view(dtype.numpy), gradient=False),
    OpInfo("tril", [S(values(2, 3, 4), diagonal=k) for k in (-1, 0, 2)], lambda x, diagonal: np.tril(x, diagonal)),
    OpInfo("triu", [S(values(2, 3, 4), diagonal=k) for k in (-1, 0, 2)], lambda x, diagonal: np.triu(x, diagonal)),
    OpInfo("sliding_window", [S(values(2, 7), axis=1, size=3, step=2, dilation=1),
                              S(values(6, 2), axis=0, size=2, step=1, dilation=3)]),
    OpInfo("sliding_window_sum", [S(values(2, 3, 3), axis=1, extent=7, size=3, step=2, dilation=1)]),
]  # fmt: skip


def _gather_elements(x: np.ndarray, i: np.ndarray, axis: int) -> np.ndarray:
    return np.take_along_axis(x, i, axis)


def _advanced(x: np.ndarray, *indices: np.ndarray, spec: Any) -> np.ndarray:
    rest = iter(indices)
    return x[tuple(slice(*e) if isinstance(e, tuple) else next(rest) if e == "index" else e for e in spec)]


_x345, _i0, _i1, _i2 = values(3, 4, 5), np.array([0, -1, 2, 0]), np.array([[1], [-2]]), np.array([3, 0, 3, 1])
ADVANCED = [
    S(_x345, _i0, spec=("index",)), S(_x345, _i0, spec=(_ALL, "index")), S(_x345, _i1, spec=(_ALL, _ALL, "index")),
    S(_x345, _i0, _i1, spec=("index", "index")), S(_x345, _i0, _i2, spec=("index", _ALL, "index")),
    S(_x345, _i1, spec=(1, None, "index")), S(_x345, _i0, _i1, spec=(_ALL, None, "index", "index")),
    S(_x345, _i0, spec=(None, (0, 2, 1), 1, "index")), S(_x345, _i1, spec=((None, None, -1), "index", (1, 4, 2))),
    S(_x345, np.array(2), spec=("index",)), S(_x345, np.zeros((0,), np.int64), spec=(_ALL, "index")),
]  # fmt: skip
INDEXING = [
    OpInfo("gather", [S(values(3, 4), np.array([[1, 0], [2, -1]]), axis=0), S(values(3, 4), np.array(2), axis=1)],
           lambda x, i, axis: np.take(x, i, axis)),
    OpInfo("gather_elements", [S(values(3, 4), ints(2, 4, low=-3, high=3), axis=0), S(values(3, 4), ints(3, 6, low=0, high=4), axis=1)],
           _gather_elements),
    OpInfo("gather_nd", [S(values(3, 4, 2), np.array([[0, 1], [2, 3], [0, 1]])), S(values(3, 2), np.array([[2], [0]]))],
           lambda x, i: x[tuple(np.moveaxis(i, -1, 0))]),
    OpInfo("advanced_get", ADVANCED, _advanced),
    OpInfo("advanced_put", [
        S(s.operands[0], np.broadcast_to(values(), _advanced(*s.operands, **s.attrs).shape) + values(*_advanced(*s.operands, **s.attrs).shape),
          *s.operands[1:], spec=s.attrs["spec"], reduction=how)
        for s in ADVANCED for how in ("none", "add")
    ] + [S(_x345, values(1), _i0, spec=("index",), reduction="none")]),
    OpInfo("index_add", [S(values(3, 4), np.array([0, 2, 0, -1]), values(4, 4), axis=0), S(values(2, 3), np.array([1]), values(2, 1), axis=1)]),
    OpInfo("scatter_elements", [S(values(3, 4), np.array([[0, 1, 2, -1]]), values(1, 4), axis=1, reduction=r)
                                for r in ("none", "add", "mul", "max", "min")]
           + [S(values(3, 4), np.array([[0, 0, 2, -1]]), values(1, 4), axis=1, reduction=r) for r in ("add", "mul", "max")]),
    OpInfo("scatter_nd_update", [S(values(3, 4), np.array([[0], [2]]), values(2, 4), reduction=r)
                                 for r in ("none", "add", "mul", "max", "min")]),
    OpInfo("unsorted_segment", [S(values(4, 2), np.array([0, 2, 0, -1]), num_segments=3, reduction=r) for r in ("sum", "prod")]
           + [S(values(4, 2), np.array([0, 1, 0, -1]), num_segments=2, reduction=r) for r in ("max", "min")]),
    OpInfo("one_hot", [S(np.array([0, 3, -1, 1]), depth=3, dtype=dt.float32)], gradient=False),
]  # fmt: skip

ORDER = [
    OpInfo("sort", [S(values(3, 4), axis=a, descending=d, index_dtype=dt.int32) for a in (0, 1) for d in (False, True)]),
    OpInfo("topk", [S(values(3, 4), k=2, axis=a, largest=g, index_dtype=dt.int32) for a in (0, 1) for g in (False, True)]),
    OpInfo("searchsorted", [S(np.sort(values(6)), values(2, 3), right=r, dtype=dt.int64) for r in (False, True)],
           lambda b, v, right, dtype: np.searchsorted(b, v, "right" if right else "left"), gradient=False),
    OpInfo("nonzero", [S(bools(3, 4)), S(np.zeros((0, 2)))], np.argwhere, gradient=False, batch=False),
    OpInfo("masked_select", [S(values(3, 4), bools(3, 4)), S(values(2), np.zeros(2, bool))], lambda x, m: x[m], batch=False),
    OpInfo("bincount", [S(ints(9, low=0, high=5), minlength=7)], lambda x, minlength: np.bincount(x, minlength=minlength),
           gradient=False, batch=False),
    OpInfo("histogram", [S(values(20), bins=4, low=-1.0, high=1.0)],
           lambda x, bins, low, high: np.histogram(x, bins, (low, high))[0], gradient=False, batch=False),
]  # fmt: skip

COMPLEX = [
    OpInfo(name, [S(values(2, 3) + 1j * values(2, 3))], getattr(np, name), gradient=False) for name in ("real", "imag", "angle", "abs", "conj")
] + [OpInfo("complex", [S(values(2, 3), values(3))], lambda x, y: x + 1j * y, gradient=False)]  # fmt: skip

TABLE = [*ELEMENTWISE, *LOGIC, *REDUCTIONS, *MOVEMENT, *INDEXING, *ORDER, *COMPLEX]
