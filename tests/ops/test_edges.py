"""Facts at the edges, measured on MindSpore 2.10 where it has an answer (docs/notes/mindspore_behaviour.md)."""

# Tables read better with long rows.
# ruff: noqa: E501
from __future__ import annotations

import math

import numpy as np
import pytest

import duograph.tensor.eager  # noqa: F401 (installs the eager binder)
from duograph.core import dtype as dt
from duograph.core.dim import Symbol
from duograph.core.types import TensorType
from duograph.ops import advanced_indexing as advanced
from duograph.ops import arithmetic as ar
from duograph.ops import creation as cr
from duograph.ops import cumulative as cu
from duograph.ops import diagonals as dg
from duograph.ops import indexing as ix
from duograph.ops import movement as mv
from duograph.ops import pool, sampling
from duograph.ops import power as pw
from duograph.ops import reduce as rd
from duograph.ops import search as se
from duograph.ops import slices as sl
from duograph.ops import special_kernels as sk
from duograph.ops import stable as st
from duograph.ops import unary as un
from duograph.ops.cast import cast, identity, stop_gradient
from duograph.ops.logical import bitwise_left_shift
from duograph.ops.segments import unsorted_segment_sum
from duograph.ops.sort import sort, topk
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

INF, NAN = math.inf, math.nan
I32_MIN, I64_MIN = -(2**31), -(2**63)


def T(data, dtype=dt.float32) -> Tensor:
    return Tensor(data, dtype)


def f64(*data) -> Tensor:
    return Tensor(np.array(data, np.float64))


def i32(*data) -> Tensor:
    return Tensor(np.array(data, np.int32))


# ---- numbers --------------------------------------------------------------------------------------------------------


def test_division_by_zero_of_integers() -> None:
    x, zero = i32(7, -7, 0), i32(0, 0, 0)
    assert ar.floor_div(x, zero).array().tolist() == [2**31 - 1, I32_MIN, 0]
    assert ar.trunc_div(x, zero).array().tolist() == [2**31 - 1, I32_MIN, 0]


def test_signs_of_quotients_and_remainders() -> None:
    x, y = i32(7, -7, 7, -7), i32(3, 3, -3, -3)
    assert ar.floor_div(x, y).array().tolist() == [2, -3, -3, 2]
    assert ar.trunc_div(x, y).array().tolist() == [2, -2, -2, 2]
    assert ar.mod(x, y).array().tolist() == [1, 2, -2, -1]
    assert ar.fmod(x, y).array().tolist() == [1, -1, 1, -1]
    assert ar.floor_div(T([1.0, 1.0, -1.0]), T([0.1, 0.0, 0.0])).array().tolist() == [9.0, INF, -INF]


def test_integers_wrap_around() -> None:
    assert ar.add(i32(2**31 - 1), i32(1)).array().tolist() == [I32_MIN]
    assert ar.abs_(T([-128], dt.int8)).array().tolist() == [-128]
    assert ar.sub(T([1], dt.uint8), T([2], dt.uint8)).array().tolist() == [255]
    assert bitwise_left_shift(i32(1, 1), i32(33, -1)).array().tolist() == [2, I32_MIN]


def test_powers_of_integers() -> None:
    got = pw.pow_(i32(2, 3, -2, 2, 0, 1, -1), i32(3, 2, 3, -1, -1, -1, -3))
    assert got.array().tolist() == [8, 9, -8, 0, I32_MIN, 1, -1]


def test_bool_arithmetic() -> None:
    x, y = Tensor([True, False, True]), Tensor([True, True, False])
    assert ar.add(x, y).array().tolist() == [True, True, True]
    assert ar.mul(x, y).array().tolist() == [True, False, False]
    assert ar.sub(x, y).array().tolist() == [False, True, True]


def test_nan() -> None:
    x = T([1.0, NAN, 2.0])
    assert math.isnan(ar.maximum(x, T(0.0)).array()[1])
    assert math.isnan(rd.reduce_max(x, axis=(0,)).array())
    assert ar.sign(x).array().tolist() == [1.0, 0.0, 1.0]
    assert rd.argmax(x, axis=0).array() == 1
    values, indices = sort(T([5, 1, 5, 2, NAN]), axis=0, descending=True)
    np.testing.assert_array_equal(values.array(), [NAN, 5, 5, 2, 1])
    assert indices.array().tolist() == [4, 0, 2, 3, 1]
    values, indices = cu.cummax(T([1.0, 3, 2, 3, NAN, 4]), axis=0)
    np.testing.assert_array_equal(values.array(), [1, 3, 3, 3, NAN, NAN])
    assert indices.array().tolist() == [0, 1, 1, 3, 4, 4]


@pytest.mark.parametrize(
    ("dtype", "want"),
    [
        (dt.int32, [1, -1, I32_MIN, I32_MIN, I32_MIN, I32_MIN, 300, -300]),
        (dt.int64, [1, -1, I64_MIN, I64_MIN, I64_MIN, 3000000000, 300, -300]),
        (dt.int8, [1, -1, 0, 0, 0, 0, 44, -44]),
        (dt.uint8, [1, 255, 0, 0, 0, 0, 44, 212]),
        (dt.uint64, [1, 2**64 - 1, 2**63, 0, 2**63, 3000000000, 300, 2**64 - 300]),
        (dt.bool_, [True] * 8),
    ],
    ids=str,
)
def test_cast_of_floats(dtype, want) -> None:
    x = T([1.9, -1.9, NAN, INF, -INF, 3e9, 300.7, -300.7])
    assert cast(x, dtype=dtype).array().tolist() == want


def test_half_types_round_once() -> None:
    x = T([0.1, 0.2, 0.3], dt.bfloat16)
    wide = cast(x, dtype=dt.float32)
    for fn in (un.exp, un.erf, ar.square, un.tanh):
        assert fn(x).array().tolist() == cast(fn(wide), dtype=dt.bfloat16).array().tolist()
    total = mv.reduce_sum(T(np.full(4096, 0.1), dt.float16), axis=(0,))
    assert abs(float(total.array()) - 409.6) < 0.5


@pytest.mark.parametrize("name", ["erf", "erfc", "erfinv", "lgamma", "digamma"])
def test_special_functions_in_float32_round_correctly(name: str) -> None:
    sp = pytest.importorskip("scipy.special")
    x = np.linspace(*{"erfinv": (-0.9999, 0.9999), "lgamma": (0.1, 60), "digamma": (0.1, 60)}.get(name, (-6, 6)), 40001)
    x = x.astype(np.float32)
    want = getattr(sp, {"lgamma": "gammaln"}.get(name, name))(x.astype(np.float64))
    error = np.abs(getattr(sk, name)(x) - want) / np.spacing(np.abs(want).astype(np.float32))
    assert error.max() < 0.51


def test_special_values_of_special_functions() -> None:
    np.testing.assert_array_equal(un.erf(f64(NAN, INF, -INF, -0.0)).array(), [NAN, 1, -1, -0.0])
    np.testing.assert_array_equal(un.erfc(f64(INF, -INF, 30.0)).array(), [0, 2, 0])
    np.testing.assert_array_equal(un.erfinv(f64(1, -1, 2, 0)).array(), [INF, -INF, NAN, 0])
    np.testing.assert_array_equal(un.lgamma(f64(0, -1, 1e306, INF)).array()[[0, 1, 3]], [INF, INF, INF])
    np.testing.assert_array_equal(un.round_(T([0.5, 1.5, 2.5, -0.5])).array(), [0, 2, 2, -0.0])


def test_logsumexp_does_not_overflow() -> None:
    x = f64(1000.0, 1000.0)
    assert st.logsumexp(x, (0,)).array() == pytest.approx(1000 + math.log(2))
    assert st.logsumexp(f64(-INF, -INF), (0,)).array() == -INF
    assert st.logsumexp(f64(INF, 0), (0,), keep_dims=True).array().tolist() == [INF]


# ---- errors ---------------------------------------------------------------------------------------------------------

X23 = Tensor(np.arange(6.0).reshape(2, 3))
F32_EMPTY_PLANES = Tensor(np.zeros((1, 1, 0, 5), np.float32))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ar.add(T([1, 2]), T([1, 2, 3])), ValueError, "need to broadcast"),
        (lambda: ar.add(T([1.0]), i32(1)), TypeError, "one dtype"),
        (lambda: un.exp(i32(1)), TypeError, r"For primitive\[Exp\]"),
        (lambda: mv.reshape(X23, shape=(4,)), ValueError, "is invalid for input of size 6"),
        (lambda: mv.transpose(X23, perm=(0,)), ValueError, "size of perm should equal to rank of x"),
        (lambda: sl.concat(X23, T([1.0], dt.float64), axis=0), ValueError, "element rank must be same"),
        (lambda: sl.concat(X23, mv.transpose(X23, perm=(1, 0)), axis=0), ValueError, "must match except in given concat"),
        (lambda: sl.strided_slice(X23, slices=((None, None, None),) * 3), IndexError, "too many indices"),
        (lambda: sl.dynamic_slice(X23, 2, axes=(0,), sizes=(1,)), IndexError, "index 2 is out of bounds for dimension with size 2"),
        (lambda: ix.gather(X23, i32(3), axis=1), RuntimeError, r"should be in the range \[0, 3\), but got 3"),
        (lambda: ix.gather_elements(X23, Tensor([[5]]), axis=0), RuntimeError, "must be in"),
        (lambda: advanced.advanced_get(X23, Tensor([5]), spec=("index",)), IndexError, "index 5 is out of bounds for dimension with size 2"),
        (lambda: advanced.advanced_get(X23, Tensor([0, 1]), Tensor([0, 1, 2]), spec=("index", "index")), IndexError, "could not be broadcast"),
        (lambda: advanced.advanced_put(X23, f64(1, 2), Tensor([0]), spec=("index",)), ValueError, "shape mismatch"),
        (lambda: rd.reduce_max(Tensor(np.zeros((0, 2))), axis=(0,)), ValueError, "no identity"),
        (lambda: topk(X23, k=4, axis=1), ValueError, "'k' must be in the range"),
        (lambda: unsorted_segment_sum(X23, i32(0, 9), 3), RuntimeError, "segment_ids"),
        (lambda: se.bincount(i32(-1)), ValueError, "non-negative"),
        (lambda: cr.full(shape=(-1,), value=0, dtype=dt.float32), ValueError, "negative"),
        (lambda: sl.pad(X23, padding=((2, 0), (0, 0)), mode="reflect"), ValueError, "too large"),
        (lambda: sampling.grid_sample(F32_EMPTY_PLANES, T(np.zeros((1, 1, 1, 2), np.float32))), ValueError, "nothing to sample"),
        (lambda: pool.max_pool(F32_EMPTY_PLANES, kernel=(3, 3), stride=(2, 2), padding=((1, 1),) * 2, dilation=(1, 1), ceil_mode=True), ValueError, "no element"),
        (lambda: pool.max_pool(T(np.ones((1, 1, 1, 2), np.float32)), kernel=(1, 2), stride=(1, 1), padding=((0, 0), (1, 1)), dilation=(1, 3)), ValueError, "no element"),
        (lambda: ar.add(X23), TypeError, "takes 2 operands"),
        (lambda: mv.reduce_sum(X23), TypeError, "needs the attribute 'axis'"),
    ],
)  # fmt: skip
def test_errors(call, error, text) -> None:
    with pytest.raises(error, match=text):
        call()


# ---- storage --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        lambda x: mv.reshape(x, shape=(12,)),
        lambda x: mv.transpose(x, perm=(1, 0)),
        lambda x: sl.strided_slice(x, slices=((2, None, -2), (1, 3, None))),
        lambda x: dg.diagonal(x, offset=1, axis1=0, axis2=1),
        lambda x: identity(x),
        lambda x: stop_gradient(sl.strided_slice(x, slices=((0, 2, 1),))),
    ],
)
def test_writing_through_views(view) -> None:
    """A write through a view changes the base in dynamic mode exactly as `write_view` says it does in a graph."""
    base = Tensor(np.arange(12.0).reshape(3, 4))
    part = view(base)
    value = Tensor(-1.0 - np.arange(np.prod(part.shape)).reshape(part.shape))
    parts = [part]
    while parts[-1]._view is not None:
        parts.append(parts[-1]._view.parent)
    said = value
    for inner, outer in zip(parts, parts[1:], strict=False):
        said = inner._view.op.write_view(outer, said, **inner._view.attrs)
    said = said.array().copy()
    write(part, value)
    np.testing.assert_array_equal(base.array(), said)
    np.testing.assert_array_equal(part.array(), value.array())


def test_copies_do_not_alias() -> None:
    x = Tensor(np.arange(6.0).reshape(2, 3))
    for y in (
        mv.flip(x, axes=()), mv.roll(x, shifts=(0,), axes=(0,)), mv.tile(x, multiples=(1, 1)), sl.concat(x, axis=0),
        cast(x, dtype=dt.float64), advanced.advanced_get(x, spec=((None, None, None),)), sl.pad(x, padding=((0, 0), (0, 0))),
        sl.dynamic_slice(x, 0, axes=(0,), sizes=(2,)), ar.conj(x), un.trunc(x),
    ):  # fmt: skip
        assert not np.may_share_memory(x.array(), y.array())


# ---- sizes that depend on values ------------------------------------------------------------------------------------


def test_unique() -> None:
    values, inverse, counts = se.unique(i32(5, 1, 5, 2, 1))
    assert [t.array().tolist() for t in (values, inverse, counts)] == [[5, 1, 2], [0, 1, 0, 2, 1], [2, 2, 1]]
    values, inverse, _ = se.unique(Tensor([[3, 1], [3, 2]]), ordered=True)
    assert values.array().tolist() == [1, 2, 3]
    assert inverse.array().tolist() == [[2, 0], [2, 1]]
    values, inverse, counts = se.unique_consecutive(i32(1, 1, 2, 1, 1, 1), axis=0)
    assert [t.array().tolist() for t in (values, inverse, counts)] == [[1, 2, 1], [0, 0, 1, 2, 2, 2], [2, 1, 3]]


def test_every_call_gets_its_own_dimension() -> None:
    """Two results whose sizes depend on values are not known to be of one size."""
    type_ = TensorType(dt.float32, (4,))
    assert se.nonzero.result_type((type_,), {}).shape != se.nonzero.result_type((type_,), {}).shape


def test_masked_scatter() -> None:
    x, mask = Tensor(np.zeros((2, 2))), Tensor([[True, False], [True, True]])
    assert se.masked_scatter(x, mask, f64(1, 2, 3, 4)).array().tolist() == [[1, 0], [2, 3]]


def test_symbolic_shapes() -> None:
    """Shape rules work on dimensions that have no value yet."""
    n = Symbol("n", 1)
    x = TensorType(dt.float32, (n, 3))
    assert ar.add.infer(x, TensorType(dt.float32, (3,))).shape == (n, 3)
    assert sl.concat.infer(x, x, axis=0).shape == (n * 2, 3)
    assert sl.strided_slice.infer(x, slices=((1, None, None),)).shape == (n - 1, 3)
    assert ix.gather.infer(x, TensorType(dt.int64, (n,)), axis=1).shape == (n, n)
    assert mv.reduce_sum.infer(x, axis=(0,)).shape == (3,)
