"""Functions of ``numpy`` that are not elementwise: reductions, searches, indexing; and the table with all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.api import tensor_shape as shaped
from duograph.api.functional import array as arrays
from duograph.api.functional import index, reduce, sorting, statistics
from duograph.api.functional.compare import isclose as compare
from duograph.api.functional.forms import as_float, axes_of, in_dtype, static_int
from duograph.api.operators import equal, not_equal, rounded
from duograph.api.promote import to_dtype
from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.ops import movement
from duograph.ops.arithmetic import div, maximum, minimum, mod, sub
from duograph.ops.creation import constant_like
from duograph.ops.indexing import gather, gather_elements
from duograph.ops.logical import logical_and, logical_or
from duograph.ops.slices import slice_axis
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor
from .padding import pad
from .products import cov, cross, dot, kron, matrix_power, multi_dot, norm, outer, tensordot, vander
from .ranges import linspace, logspace, meshgrid

# ---- shapes ---------------------------------------------------------------------------------------------------------


# ---- reductions -----------------------------------------------------------------------------------------------------


_WIDE_UNSIGNED = (dt.uint16, dt.uint32, dt.uint64)


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """The sum over ``axis``; of bool and integers in int64 (uint16, uint32 and uint64 keep their dtype).

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.sum([[1.0, 2.0], [3.0, 4.0]], axis=0), mnp.sum([1.0, 2.0], initial=10.0))
        [4. 6.] 13.0
    """
    t = as_tensor(a)
    whole = dtype is None and (t.dtype.is_bool or t.dtype.is_integer) and t.dtype not in _WIDE_UNSIGNED
    t = to_dtype(t, dt.int64) if whole else in_dtype(t, dtype)
    out = reduce.keep_sum(t, axis if axis is not None else (), keepdims)
    return out if initial is None else out + initial  # type: ignore[operator]


def mean(a: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The mean over ``axis``; integers give float32 (MindSpore drops what is behind the point).

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.mean([[1.0, 2.0], [3.0, 6.0]], axis=1))
        [1.5 4.5]
    """
    return in_dtype(reduce.mean(as_float(a), axis, keepdims), dtype)


def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """The product over ``axis``.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.prod([[1.0, 2.0], [3.0, 4.0]], axis=1))
        [ 2. 12.]
    """
    out = reduce.keep_prod(in_dtype(as_tensor(a), dtype), axis if axis is not None else (), keepdims)
    return out if initial is None else out * initial  # type: ignore[operator]


def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.std([1.0, 3.0]), mnp.std([1.0, 3.0], ddof=1))
        1.0 1.4142135
    """
    return reduce.std(as_float(x), axis, ddof, keepdims)


def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.var([1.0, 3.0]), mnp.var([1.0, 3.0], ddof=1))
        1.0 2.0
    """
    return reduce.var(as_float(x), axis, ddof, keepdims)


def amax(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The maximum over ``axis`` of the elements where ``where`` holds, and of ``initial``.

    Returns:
        Tensor, of the dtype of ``a``.

    Examples:
        >>> print(mnp.amax([[1, 5], [7, 3]], axis=1))
        [5 7]
        >>> print(mnp.amax([1, 5, 7], initial=0, where=mnp.array([True, True, False])))
        5
    """
    return reduce.amax(as_tensor(a), axis, keepdims, initial=initial, where=None if where is True else where)


def amin(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
    """The minimum over ``axis`` of the elements where ``where`` holds, and of ``initial``.

    Returns:
        Tensor, of the dtype of ``a``.

    Examples:
        >>> print(mnp.amin([[1, 5], [7, 3]], axis=1), mnp.amin([4, 5], initial=2))
        [1 3] 2
    """
    return reduce.amin(as_tensor(a), axis, keepdims, initial=initial, where=None if where is True else where)


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Maximum minus minimum.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.ptp([[1.0, 5.0], [2.0, 9.0]], axis=1))
        [4. 7.]
    """
    t = as_tensor(x)
    return sub(reduce.amax(t, axis, keepdims), reduce.amin(t, axis, keepdims))


def argmax(a: Any, axis: int | None = None) -> Tensor:
    """Index of the first maximum.

    Returns:
        Tensor of int.

    Examples:
        >>> print(mnp.argmax([[1.0, 5.0], [7.0, 3.0]]), mnp.argmax([[1.0, 5.0], [7.0, 3.0]], axis=1))
        2 [1 0]
    """
    return reduce.argmax(as_tensor(a), axis)


def argmin(a: Any, axis: int | None = None) -> Tensor:
    """Index of the first minimum (int32, as MindSpore's).

    Returns:
        Tensor of int.

    Examples:
        >>> print(mnp.argmin([[1.0, 5.0], [7.0, 3.0]], axis=0))
        [0 1]
    """
    return to_dtype(reduce.argmin(as_tensor(a), axis), dt.int32)


def all(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all hold.

    Returns:
        Tensor of bool.

    Examples:
        >>> print(mnp.all([[True, False], [True, True]], axis=1))
        [False  True]
    """
    return reduce.all(as_tensor(a), axis, keepdims)


def any(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any holds.

    Returns:
        Tensor of bool.

    Examples:
        >>> print(mnp.any([[True, False], [False, False]], axis=1))
        [ True False]
    """
    return reduce.any(as_tensor(a), axis, keepdims)


def average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """The weighted mean.

    Returns:
        Tensor; with ``returned`` also the sum of the weights.

    Examples:
        >>> print(mnp.average([1.0, 5.0], weights=[3.0, 1.0]))
        2.0
    """
    t = as_float(x)
    axes = axes_of(axis, t, "average")
    if weights is None:
        out = reduce.mean(t, axes)
        total: Any = constant_like(out, numel(t.shape[i] for i in axes))
    else:
        w = to_dtype(as_tensor(weights), t.dtype)
        if w.ndim != t.ndim:
            w = movement.reshape(w, shape=tuple(n if i in axes else 1 for i, n in enumerate(t.shape)))
        w = arrays.broadcast_to(w, tuple(t.shape))
        total = reduce.keep_sum(w, axes)
        out = div(reduce.keep_sum(t * w, axes), total)  # type: ignore[operator]
    return (out, arrays.broadcast_to(total, tuple(out.shape))) if returned else out


def _at_least_32_bits(t: Tensor, signed: bool) -> Tensor:
    """Bool and smaller integers as int32; with ``signed=False`` the unsigned ones as uint32."""
    kind = t.dtype
    if not (kind.is_bool or (kind.is_integer and kind.itemsize < 4)) or (signed and kind is dt.uint16):
        return t
    unsigned = kind in (dt.uint8, dt.uint16) and not signed
    return to_dtype(t, dt.uint32 if unsigned else dt.int32)


def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Running sum, of bool and small integers in int32; of the flattened tensor by default.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.cumsum([[1, 2], [3, 4]]), mnp.cumsum([[1, 2], [3, 4]], axis=1).tolist())
        [ 1  3  6 10] [[1, 3], [3, 7]]
    """
    t = as_tensor(a) if dtype is not None else _at_least_32_bits(as_tensor(a), signed=True)
    return reduce.cumsum(shaped.ravel(t) if axis is None else t, 0 if axis is None else axis, dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Running product, of bool and small integers in 32 bits; of the flattened tensor by default.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.cumprod([1, 2, 3, 4]))
        [ 1  2  6 24]
    """
    t = as_tensor(a) if dtype is not None else _at_least_32_bits(as_tensor(a), signed=False)
    out = reduce.cumprod(shaped.ravel(t) if axis is None else t, 0 if axis is None else axis, dtype)
    return out if dtype is not None else to_dtype(out, t.dtype)


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The number of elements that are not 0.

    Returns:
        Tensor of int.

    Examples:
        >>> print(mnp.count_nonzero([[0, 1], [2, 3]], axis=1))
        [1 2]
    """
    return reduce.count_nonzero(as_tensor(x), () if axis is None else axis, keepdims, dt.int32)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours; numbers before and behind stand for a whole slice.

    Returns:
        Tensor, ``n`` shorter along ``axis``.

    Examples:
        >>> print(mnp.diff([1, 2, 4, 7]), mnp.diff([1, 2, 4, 7], n=2))
        [1 2 3] [1 1]
    """
    t = as_tensor(a)
    one = tuple(1 if i == axis % t.ndim else n for i, n in enumerate(t.shape))

    def slice_of(x: Any) -> Any:
        if x is None:
            return None
        part = to_dtype(as_tensor(x), t.dtype)
        return part if part.ndim else arrays.broadcast_to(part, one)

    return statistics.diff(t, n, axis, slice_of(prepend), slice_of(append))


# ---- indexing -------------------------------------------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """``x`` where the condition holds, ``y`` elsewhere; with the condition alone its coordinates.

    Returns:
        Tensor; with the condition alone a tuple of them.

    Examples:
        >>> print(mnp.where([True, False, True], [1, 2, 3], 0))
        [1 0 3]
    """
    mask = as_tensor(condition)
    if x is None and y is None:
        return index.nonzero(mask, as_tuple=True)
    return index.where(mask, x, y)


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """The slices at ``indices`` along ``axis``; places outside are moved to the border (``clip``) or wrap.

    Returns:
        Tensor, of the dtype of ``a``.

    Raises:
        NotImplementedError: another mode.

    Examples:
        >>> print(mnp.take([10, 20, 30], [2, 0, 9]), mnp.take([10, 20, 30], [4, -1], mode="wrap"))
        [30 10 30] [20 30]
    """
    if mode not in ("clip", "wrap"):
        raise NotImplementedError(f"For 'take', the 'mode' must be 'clip' or 'wrap', but got {mode}.")

    t = as_tensor(a)
    if axis is None:
        t, axis = shaped.ravel(t), 0
    i = axis % t.ndim
    places, n = to_dtype(as_tensor(indices), dt.int64), t.shape[i]
    if mode == "clip":  # as MindSpore: -1 is the last place, and what is before the first becomes the first
        places = minimum(maximum(places, constant_like(places, -n)), constant_like(places, n - 1))
        places = mod(places, constant_like(places, n))
    else:
        places = mod(places, constant_like(places, n))
    return gather(t, places, axis=i)


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> Tensor:
    """One index along ``axis`` per result element.

    Returns:
        Tensor, of the shape of ``indices``.

    Examples:
        >>> print(mnp.take_along_axis([[10, 20], [30, 40]], mnp.array([[1], [0]]), axis=1))
        [[20]
         [30]]
    """
    t, places = as_tensor(arr), as_tensor(indices)
    if axis is None:
        return gather_elements(shaped.ravel(t), places, axis=0)
    i = axis % t.ndim
    if places.ndim != t.ndim:
        raise ValueError(f"For 'take_along_axis', 'indices' must have {t.ndim} dimensions, but got {places.ndim}.")
    others = shaped.broadcast_shape(*[tuple(1 if k == i else n for k, n in enumerate(x.shape)) for x in (t, places)])
    t, places = (arrays.broadcast_to(x, (*others[:i], x.shape[i], *others[i + 1 :])) for x in (t, places))
    return gather_elements(t, places, axis=i)


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Tensor:
    """Limited to an interval; between numbers in the dtype of ``x``.

    Returns:
        Tensor, of the shape of ``x``.

    Examples:
        >>> print(mnp.clip([1, 5, 9], 2, 6))
        [2 5 6]
    """
    t = as_tensor(x)
    out = index.clamp(t, xmin, xmax)
    keeps = not isinstance(xmin, Tensor) and not isinstance(xmax, Tensor)
    return in_dtype(to_dtype(out, t.dtype) if keeps else out, dtype)


def unique(x: Any, return_inverse: bool = False) -> Any:
    """The different elements in order of appearance; on demand which one each (of the flattened tensor) is.

    Returns:
        Tensor; with ``return_inverse`` also indices.

    Examples:
        >>> values, inverse = mnp.unique([3, 1, 3, 2], return_inverse=True)
        >>> print(values, inverse)
        [3 1 2] [0 1 0 2]
    """
    values, inverse = sorting.unique(shaped.ravel(as_tensor(x)))
    return (values, inverse) if return_inverse else values


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where ``v`` would go (int32).

    Returns:
        Tensor of int32, of the shape of ``v``.

    Examples:
        >>> print(mnp.searchsorted([1, 3, 5], [0, 3, 9]), mnp.searchsorted([1, 3, 5], [3], side="right"))
        [0 1 3] [2]
    """
    places = None if sorter is None else as_tensor(sorter)
    return to_dtype(sorting.searchsorted(as_tensor(a), as_tensor(v), side=side, sorter=places), dt.int32)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Elementwise closeness.

    Returns:
        Tensor of bool.

    Examples:
        >>> print(mnp.isclose([1.0, 2.0], [1.000001, 2.1]))
        [ True False]
    """
    return compare(as_tensor(a), as_tensor(b), rtol, atol, equal_nan)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Whether shapes and elements are the same, with ``equal_nan`` NaN equal to NaN: a bool tensor.

    Returns:
        Tensor of bool.

    Examples:
        >>> print(mnp.array_equal([1, 2], [1, 2]), mnp.array_equal([1, 2], [1, 2, 3]))
        True False
    """
    x, y = as_tensor(a1), as_tensor(a2)
    if tuple(x.shape) != tuple(y.shape):
        return as_tensor(False)

    same = equal(x, y)
    if equal_nan:
        same = logical_or(same, logical_and(not_equal(x, x), not_equal(y, y)))
    return reduce.all(same)


# ---- random draws ----------------------------------------------------------------------------------------------------


def size(a: Any, axis: int | None = None) -> Any:
    """The number of elements, or the extent of ``axis``.

    Returns:
        int.

    Examples:
        >>> print(mnp.size([[1, 2, 3], [4, 5, 6]]), mnp.size([[1, 2, 3], [4, 5, 6]], 1))
        6 3
    """
    t = as_tensor(a)
    return numel(t.shape) if axis is None else t.shape[static_int(axis, "size", "axis")]


def isscalar(element: Any) -> bool:
    """Whether ``element`` is a number, not a tensor.

    Args:
        element (Any): what is asked about.

    Returns:
        bool.

    Examples:
        >>> print(mnp.isscalar(3.0), mnp.isscalar(mnp.array(3.0)))
        True False
    """
    return isinstance(element, bool | int | float | complex | str | np.generic)


def argwhere(a: Any) -> Tensor:
    """The coordinates of what is not 0, one row each.

    Args:
        a (Union[Tensor, list, tuple, number]): the operand.

    Returns:
        Tensor of int64, of shape (number of elements that are not 0, number of axes).

    Examples:
        >>> print(mnp.argwhere([[0, 1], [2, 0]]))
        [[0 1]
         [1 0]]
    """
    return index.nonzero(as_tensor(a))


def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """The integral of ``y`` by the trapezium rule.

    Returns:
        Tensor, with one axis less than ``y``.

    Examples:
        >>> print(mnp.trapz([1.0, 2.0, 3.0]), mnp.trapz([1.0, 2.0, 3.0], x=[4.0, 6.0, 8.0]))
        4.0 8.0
    """
    return statistics.trapz(as_tensor(y), None if x is None else as_tensor(x), dx=dx, dim=axis)


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: int | None = None) -> Tensor:
    """How often each of 0, 1, ... occurs, or the sums of ``weights`` there; exactly ``length`` of them if given.

    Returns:
        Tensor, with one axis.

    Examples:
        >>> print(mnp.bincount([0, 2, 2]), mnp.bincount([0, 1, 1], weights=[0.5, 1.0, 2.0]))
        [1. 0. 2.] [0.5 3. ]
    """
    t = as_tensor(x)
    given = None if weights is None else as_tensor(weights)
    out = sorting.bincount(t, given, minlength if length is None else length)
    return out if length is None else slice_axis(out, 0, 0, length)


def around(a: Any, decimals: int = 0) -> Tensor:
    """Rounded, halves to even.

    Returns:
        Tensor, of the shape of ``a``.

    Examples:
        >>> print(mnp.around([0.5, 1.5, 2.345], 1), mnp.around([0.5, 1.5]))
        [0.5 1.5 2.3] [0. 2.]
    """
    return rounded(as_tensor(a), decimals)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        linspace, logspace, meshgrid, sum, mean, prod, std, var, ptp, argmax, argmin, amax, amin, all, any, average,
        cumsum, cumprod, count_nonzero, diff, where, take, take_along_axis, clip, unique, searchsorted, isclose,
        array_equal, pad, dot, outer, tensordot, kron, cross, norm, multi_dot, cov, size, isscalar, around, argwhere,
        trapz, matrix_power, vander, bincount,
    )
} | {"round": around, "max": amax, "min": amin, "sometrue": any}  # fmt: skip
