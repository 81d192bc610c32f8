"""Reductions of ``numpy`` that leave out NaN."""

from __future__ import annotations

import math
from typing import Any

from duograph.api.functional import reduce
from duograph.api.functional.forms import as_float, in_dtype
from duograph.api.functional.index import where
from duograph.ops.unary import isnan
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor
from .functions import cumsum


def _filled(a: Any, value: float) -> Any:
    """The tensor with ``value`` in the place of NaN."""
    t = as_tensor(a)
    return where(isnan(t), value, t) if t.dtype.is_floating else t


def _extreme(a: Any, axis: Any, dtype: Any, keepdims: bool, fn: Any, least: float) -> Tensor:
    t = in_dtype(as_tensor(a), dtype)
    out: Any = fn(_filled(t, least), axis, keepdims)
    if not t.dtype.is_floating:
        return out  # type: ignore[no-any-return]
    return where(reduce.all(isnan(t), axis, keepdims), math.nan, out)


def nanmax(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The largest of what is not NaN; NaN where there is nothing else.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.nanmax([[1.0, mnp.nan], [3.0, 2.0]], axis=1))
        [1. 3.]
    """
    return _extreme(a, axis, dtype, keepdims, reduce.amax, -math.inf)


def nanmin(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest of what is not NaN; NaN where there is nothing else.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.nanmin([[1.0, mnp.nan], [3.0, 2.0]], axis=1))
        [1. 2.]
    """
    return _extreme(a, axis, dtype, keepdims, reduce.amin, math.inf)


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum of what is not NaN.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.nansum([[1.0, mnp.nan], [3.0, 2.0]], axis=1))
        [1. 5.]
    """
    return reduce.nansum(as_tensor(a), axis, keepdims, dtype=dtype)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The mean of what is not NaN.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.nanmean([[1.0, mnp.nan], [3.0, 2.0]], axis=1))
        [1.  2.5]
    """
    return reduce.nanmean(as_float(a), axis, keepdims, dtype=dtype)


def nanvar(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance of what is not NaN: sums of squares divided by its number less ``ddof``; NaN where that is not
    positive.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.nanvar([1.0, mnp.nan, 3.0]))
        1.0
    """
    t: Any = as_float(as_tensor(a))
    known: Any = ~isnan(t)  # type: ignore[operator]
    t = where(known, t, 0.0)  # NaN would reach gradients through products with 0
    mean: Any = reduce.sum(t, axis, True) / reduce.sum(known, axis, True)  # type: ignore[operator]
    gap: Any = where(known, t - mean, 0.0)
    total: Any = reduce.sum(gap * gap, axis, keepdims)
    count: Any = reduce.sum(known, axis, keepdims)
    free: Any = count - ddof
    return in_dtype(total / where(free > 0, free, math.nan), dtype)


def nanstd(a: Any, axis: Any = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The square root of `nanvar`.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.nanstd([1.0, mnp.nan, 3.0], ddof=1))
        1.4142135
    """
    out: Any = nanvar(a, axis, None, ddof, keepdims)
    return in_dtype(out**0.5, dtype)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum, in which NaN counts as 0.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.nancumsum([1.0, mnp.nan, 3.0]))
        [1. 1. 4.]
    """
    return cumsum(_filled(a, 0.0), axis, dtype)


FUNCTIONS = {f.__name__: f for f in (nanmax, nanmin, nansum, nanmean, nanvar, nanstd, nancumsum)}
