"""Reductions: sums, means, extremes, statistics, counts, with MindSpore's argument names and result dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.ops import arithmetic, cumulative, stable
from duograph.ops import reduce as red
from duograph.ops.cast import in_single
from duograph.ops.compare import equal
from duograph.ops.creation import constant_like
from duograph.ops.indexing import gather_elements
from duograph.ops.movement import expand_dims, reshape, squeeze
from duograph.ops.movement import reduce_sum as sum_of
from duograph.ops.norm import moments
from duograph.ops.norm import reduce_mean as mean_of
from duograph.ops.select import select
from duograph.ops.slices import slice_axis
from duograph.ops.stable import root
from duograph.ops.unary import isnan
from duograph.tensor.tensor import Tensor

from .. import operators
from .forms import (
    Axis,
    as_float,
    as_tensor,
    axes_of,
    axis_of,
    documented,
    in_dtype,
    need_tensor,
    not_public,
    public_functions,
    to_dtype,
)


def _summable(x: Tensor) -> Tensor:
    """bool and integers are added up as int64; uint16, uint32 and uint64 stay what they are."""
    wide = (x.dtype.is_bool or x.dtype.is_integer) and x.dtype not in (dt.uint16, dt.uint32, dt.uint64)
    return to_dtype(x, dt.int64) if wide else x


def sum(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum over ``dim`` (default: all axes); bool and integers give int64.

    Returns:
        Tensor, of the shape of ``input`` without ``dim``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: an axis is out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.sum(Tensor([[1, 2], [3, 4]]), 0))
        [4 6]
    """
    need_tensor("SumExt", input=input)
    x = in_dtype(input, dtype) if dtype is not None else _summable(input)
    return sum_of(x, axis=axes_of(dim, input, "SumExt"), keep_dims=keepdim)


def prod(input: Tensor, axis: Axis = None, keep_dims: bool = False, dtype: Any = None) -> Tensor:
    """The product over ``axis`` (default: all axes); bool and integers give int64.

    Returns:
        Tensor, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(ops.prod(Tensor([2.0, 3.0])))
        6.0
    """
    need_tensor("ProdExt", input=input)
    x = in_dtype(input, dtype) if dtype is not None else _summable(input)
    return red.reduce_prod(x, axis=axes_of(axis, input, "ProdExt"), keep_dims=keep_dims)


def mean(x: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
    """The mean over ``axis`` (default: all axes); integers stay, truncated.

    Returns:
        Tensor, of the shape of ``x`` without ``axis``.

    Examples:
        >>> print(ops.mean(Tensor([[1.0, 3.0], [5.0, 7.0]]), 0))
        [3. 5.]
    """
    need_tensor("ReduceMean", x=x)
    axes = axes_of(axis, x, "ReduceMean")
    if x.dtype.is_bool or x.dtype.is_integer:
        total = sum_of(_summable(x), axis=axes, keep_dims=keep_dims)
        count = constant_like(total, numel(x.shape[a] for a in axes))
        return to_dtype(arithmetic.trunc_div(total, count), x.dtype)
    return mean_of(x, axis=axes, keep_dims=keep_dims)


def _all_any(op: Any, title: str) -> Callable[..., Tensor]:
    def function(input: Tensor, axis: Axis = None, keep_dims: bool = False) -> Tensor:
        need_tensor(title, input=input)
        return op(to_dtype(input, dt.bool_), axis=axes_of(axis, input, title), keep_dims=keep_dims)

    function.__name__ = title[6:].lower()
    function.__doc__ = documented(
        f"{op.doc.replace('``x``', '``input``')}\n\nThe default is all axes.",
        "Tensor of bool, of the shape of ``input`` without ``axis``.",
        f"ops.{function.__name__}(Tensor([True, False]))", str(function.__name__ == "any"),
    )  # fmt: skip
    return function


all = _all_any(red.reduce_all, "ReduceAll")
any = _all_any(red.reduce_any, "ReduceAny")


# ---- extremes -------------------------------------------------------------------------------------------------------


def _with_initial(x: Tensor, initial: Any, where: Any, title: str) -> Tensor:
    """``x`` where the mask holds, and ``initial`` elsewhere."""
    if where is None:
        return x
    if initial is None:
        raise ValueError(f"For {title}, initial value must be provided for where masks")
    return select(as_tensor(where, dt.bool_), x, constant_like(x, initial))


def _extreme(op: Any, better: Any, title: str) -> Callable[..., Tensor]:
    def function(
        input: Tensor, axis: Axis = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
    ) -> Tensor:
        need_tensor(title, input=input)
        x = _with_initial(input, initial, where, title)
        out = op(x, axis=axes_of(axis, x, title), keep_dims=keepdims)
        return out if initial is None else better(out, constant_like(out, initial))

    function.__name__ = "amax" if op is red.reduce_max else "amin"
    function.__doc__ = documented(
        f"{op.doc}\n\n``where`` masks elements out; ``initial`` takes part.",
        "Tensor, of the shape of ``input`` without ``axis``.",
        f"ops.{function.__name__}(Tensor([2, 3, 1]))", "3" if op is red.reduce_max else "1",
    )  # fmt: skip
    return function


amax = _extreme(red.reduce_max, arithmetic.maximum, "ReduceMax")
amin = _extreme(red.reduce_min, arithmetic.minimum, "ReduceMin")


@not_public
def extreme_with_index(x: Tensor, axis: int, keep_dims: bool, largest: bool) -> tuple[Tensor, Tensor]:
    """The first extreme along ``axis`` and its int64 index; the gradient goes to that element."""
    find = red.argmax if largest else red.argmin
    if not x.shape:
        return x, find(x, axis=0)
    index = find(x, axis=axis, keep_dims=True)
    value = gather_elements(x, index, axis=axis)
    return (value, index) if keep_dims else (squeeze(value, (axis,)), squeeze(index, (axis,)))


def _with_position(largest: bool) -> Callable[..., tuple[Tensor, Tensor]]:
    plain = amax if largest else amin
    better = arithmetic.maximum if largest else arithmetic.minimum
    name = "max" if largest else "min"

    def function(
        input: Tensor, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
    ) -> tuple[Tensor, Tensor]:
        need_tensor(f"ArgM{name[1:]}WithValue", input=input)
        if not input.shape or axis is None:
            value = plain(input, initial=initial, where=where)
            return value, constant_like(to_dtype(value, dt.int64), 0)  # MindSpore does not look for the place
        x = input if initial is None else better(input, constant_like(input, initial))
        x = _with_initial(x, initial, where, name)
        return extreme_with_index(x, axis_of(axis, x, f"ArgM{name[1:]}WithValue"), keepdims, largest)

    function.__name__ = name
    function.__doc__ = documented(
        f"The {name}imum along ``axis`` and its index: a pair of tensors.\n\n"
        "Without ``axis``: of all elements, and 0, as MindSpore gives no position then.",
        "Two Tensors, of the shape of ``input`` without ``axis``.",
        f"*ops.{name}(Tensor([2, 3, 1]), 0)", "3 1" if largest else "1 2",
    )  # fmt: skip
    return function


max = _with_position(largest=True)
min = _with_position(largest=False)


def aminmax(input: Tensor, *, axis: int | None = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Minimum and maximum along ``axis``.

    Returns:
        Two Tensors, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(*ops.aminmax(Tensor([3, 1, 2])))
        1 3
    """
    need_tensor("AminMax", input=input)
    return _ignoring_nan(amin, input, axis, keepdims), _ignoring_nan(amax, input, axis, keepdims)


def _ignoring_nan(extreme: Any, x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
    """`amin` or `amax` of what is not NaN; NaN where the first element is NaN, as MindSpore compares."""
    if not x.dtype.is_floating or not x.shape:
        return extreme(x, axis, keepdims)
    worst = constant_like(x, float("inf") if extreme is amin else float("-inf"))
    unknown = isnan(x)
    places = range(x.ndim) if axis is None else (axis_of(axis, x, "AminMax"),)
    first = unknown
    for i in places:
        first = slice_axis(first, i, 0, 1)
    out = extreme(select(unknown, worst, x), axis, True)
    out = select(first, constant_like(out, float("nan")), out)
    return out if keepdims else squeeze(out, tuple(places))


def _position(find: Any, dtype: dt.DType, title: str) -> Callable[..., Tensor]:
    def position(x: Tensor, axis: int | None, keepdims: bool) -> Tensor:
        need_tensor(title, input=x)
        if x.dtype.is_bool:
            x = to_dtype(x, dt.uint8)
        if axis is None:
            return find(reshape(x, shape=(numel(x.shape),)), axis=0, keep_dims=False, dtype=dtype)
        return find(x, axis=axis_of(axis, x, title), keep_dims=keepdims, dtype=dtype)

    return position


_argmax, _argmin = _position(red.argmax, dt.int64, "ArgMaxExt"), _position(red.argmin, dt.int32, "Argmin")


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the first maximum along ``dim``, or in the flattened tensor.

    Returns:
        Tensor of int64, of the shape of ``input`` without ``dim``.

    Examples:
        >>> print(ops.argmax(Tensor([3, 1, 4])))
        2
    """
    return _argmax(input, dim, keepdim)


def argmin(input: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Index (int32) of the first minimum along ``axis``, or in the flattened tensor.

    Returns:
        Tensor of int32, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(ops.argmin(Tensor([3, 1, 4])))
        1
    """
    return _argmin(input, axis, keepdims)


# ---- statistics -----------------------------------------------------------------------------------------------------


@not_public
def var_and_mean(
    x: Tensor, axis: Axis, ddof: Any, keepdims: bool, title: str, is_root: bool = False
) -> tuple[Tensor, Tensor]:
    """Variance (sum of squares over count minus ``ddof``), or its root, and mean over ``axis``."""
    need_tensor(title, input=x)
    x = as_float(x)
    return spread(x, axes_of(axis, x, title), ddof, keepdims, is_root)


@not_public
@in_single
def spread(x: Tensor, axes: tuple[int, ...], ddof: Any, keepdims: bool, is_root: bool) -> tuple[Tensor, Tensor]:
    """Variance, or its root, and mean over ``axes`` (normalised) of floating or complex ``x``."""
    centred, mean_, _ = moments(x, axes)
    if x.dtype.is_complex:
        size = arithmetic.abs_(centred)
        squares = arithmetic.mul(size, size)
    else:
        squares = arithmetic.mul(centred, centred)
    total = sum_of(squares, axis=axes, keep_dims=keepdims)
    count = numel(x.shape[a] for a in axes)
    left = constant_like(total, count - int(ddof))
    variance = arithmetic.div(total, arithmetic.maximum(left, constant_like(left, 0)))
    return root(variance) if is_root else variance, mean_ if keepdims else squeeze(mean_, axes)


def var(input: Tensor, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance over ``axis``; divides by the count minus ``ddof``.

    Returns:
        Tensor, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(ops.var(Tensor([1.0, 3.0])))
        1.0
    """
    return var_and_mean(input, axis, ddof, keepdims, "Var")[0]


def std(input: Tensor, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over ``axis``; divides by the count minus ``ddof``.

    Returns:
        Tensor, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(ops.std(Tensor([1.0, 3.0])))
        1.0
    """
    return var_and_mean(input, axis, ddof, keepdims, "Std", True)[0]


def var_mean(input: Tensor, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Variance and mean.

    Returns:
        Two Tensors, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(*ops.var_mean(Tensor([1.0, 3.0])))
        1.0 2.0
    """
    return var_and_mean(input, axis, ddof, keepdims, "VarMean")


def std_mean(input: Tensor, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean.

    Returns:
        Two Tensors, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(*ops.std_mean(Tensor([1.0, 3.0])))
        1.0 2.0
    """
    return var_and_mean(input, axis, ddof, keepdims, "StdMean", True)


def logsumexp(
    input: Tensor, dim: Axis = None, keepdim: bool = False, *, axis: Axis = None, keep_dims: bool = False
) -> Tensor:
    """``log(sum(exp(input)))`` over ``dim``, without overflow; ``axis`` and ``keep_dims`` are older names.

    Returns:
        Tensor, of the shape of ``input`` without ``dim``.

    Raises:
        TypeError: none or both of ``dim`` and ``axis``.

    Examples:
        >>> print(ops.logsumexp(Tensor([0.0]), 0))
        0.0
    """
    need_tensor("LogSumExp", input=input)
    if (dim is None) == (axis is None):
        raise TypeError("logsumexp() needs the argument 'dim', or its older name 'axis'")
    axes = axes_of(axis if dim is None else dim, input, "LogSumExp")
    return stable.logsumexp(as_float(input), axes, keepdim or keep_dims)


def nansum(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of what is not NaN.

    Returns:
        Tensor, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(ops.nansum(Tensor([1.0, float("nan")])))
        1.0
    """
    need_tensor("NanSum", input=input)
    x = select(isnan(input), constant_like(input, 0), input) if input.dtype.is_floating else input
    return sum(x, axis, keepdims, dtype=dtype)


def nanmean(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of what is not NaN.

    Returns:
        Tensor, of the shape of ``input`` without ``axis``.

    Examples:
        >>> print(ops.nanmean(Tensor([1.0, float("nan")])))
        1.0
    """
    need_tensor("NanMean", input=input)
    total = nansum(input, axis, keepdims, dtype=dtype)
    count = sum(operators.invert(isnan(input)), axis, keepdims)
    return arithmetic.div(total, to_dtype(count, total.dtype))


def count_nonzero(x: Tensor, axis: Axis = (), keep_dims: bool = False, dtype: Any = dt.int32) -> Tensor:
    """The number of elements over ``axis`` that are not 0.

    Returns:
        Tensor, of the shape of ``x`` without ``axis``, of ``dtype``.

    Examples:
        >>> print(ops.count_nonzero(Tensor([0, 1, 2])))
        2
    """
    need_tensor("CountNonZero", x=x)
    hits = to_dtype(operators.not_equal(x, 0), dt.int64)
    return in_dtype(sum_of(hits, axis=axes_of(axis, x, "CountNonZero"), keep_dims=keep_dims), dtype)


# ---- running reductions ---------------------------------------------------------------------------------------------


def cumsum(x: Tensor, axis: int, dtype: Any = None) -> Tensor:
    """Running sum along ``axis``.

    Returns:
        Tensor, of the shape of ``x``.

    Examples:
        >>> print(ops.cumsum(Tensor([1.0, 2.0, 3.0]), 0))
        [1. 3. 6.]
    """
    need_tensor("CumSum", x=x)
    x = in_dtype(x, dtype)
    if x.dtype.is_bool:
        raise TypeError("For primitive[CumSum], the input argument[input] must be a number, but got Bool.")
    return cumulative.cumsum(x, axis=axis_of(axis, x, "CumSum"))


def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Running product along ``dim``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.cumprod(Tensor([1.0, 2.0, 3.0]), 0))
        [1. 2. 6.]
    """
    need_tensor("CumProd", input=input)
    x = in_dtype(input, dtype) if dtype is not None else _summable(input)
    return cumulative.cumprod(x, axis=axis_of(dim, x, "CumProd"))


def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Running maximum along ``axis`` and its index.

    Returns:
        Two Tensors, of the shape of ``input``.

    Examples:
        >>> print(*ops.cummax(Tensor([1, 3, 2]), 0))
        [1 3 3] [0 1 1]
    """
    need_tensor("Cummax", input=input)
    return cumulative.cummax(input, axis=axis_of(axis, input, "Cummax"))


def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Running minimum along ``axis`` and its index.

    Returns:
        Two Tensors, of the shape of ``input``.

    Examples:
        >>> print(*ops.cummin(Tensor([3, 1, 2]), 0))
        [3 1 1] [0 1 1]
    """
    need_tensor("Cummin", input=input)
    values, places = cumulative.cummin(input, axis=axis_of(axis, input, "Cummin"))
    return values, to_dtype(places, dt.int32)


def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    """``log(cumsum(exp(input)))`` along ``axis``, without overflow.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.logcumsumexp(Tensor([0.0, -float("inf")]), 0))
        [0. 0.]
    """
    need_tensor("CumulativeLogsumexp", input=input)
    return stable.logcumsumexp(input, axis_of(axis, input, "CumulativeLogsumexp"))


@not_public
def trace_of_equal(x: Tensor, y: Tensor) -> Tensor:
    """The number of equal elements, int32 of shape (1,)."""
    hits = to_dtype(equal(x, y), dt.int32)
    return expand_dims(sum_of(hits, axis=tuple(range(x.ndim)), keep_dims=False), 0)


def _reduction_alias(fn: Callable[..., Tensor], name: str, printed: str) -> Callable[..., Tensor]:
    def function(x: Tensor, axis: Axis = ()) -> Tensor:
        return fn(x, axis)

    function.__name__ = name
    function.__doc__ = documented(
        (fn.__doc__ or "").split("\n\n")[0], "Tensor, of the shape of ``x`` without ``axis``.",
        f"ops.{name}(Tensor([2, 3, 1]))", printed,
    )  # fmt: skip
    return function


@not_public
def keep_sum(x: Tensor, axis: Axis = (), keep_dims: bool = False) -> Tensor:
    """The sum over ``axis``; keeps the dtype (``ops.ReduceSum``)."""
    need_tensor("ReduceSum", x=x)
    axes = axes_of(axis, x, "ReduceSum")
    if x.dtype.is_bool:
        return red.reduce_any(x, axis=axes, keep_dims=keep_dims)
    return sum_of(x, axis=axes, keep_dims=keep_dims)


@not_public
def keep_prod(x: Tensor, axis: Axis = (), keep_dims: bool = False) -> Tensor:
    """The product over ``axis``; keeps the dtype (``ops.ReduceProd``)."""
    need_tensor("ReduceProd", x=x)
    return red.reduce_prod(x, axis=axes_of(axis, x, "ReduceProd"), keep_dims=keep_dims)


FUNCTIONS = public_functions(globals()) | {
    "reduce_sum": _reduction_alias(keep_sum, "reduce_sum", "6"),
    "reduce_mean": _reduction_alias(mean, "reduce_mean", "2"),
    "reduce_max": _reduction_alias(amax, "reduce_max", "3"),
    "reduce_min": _reduction_alias(amin, "reduce_min", "1"),
}  # fmt: skip
