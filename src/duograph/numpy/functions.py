"""Functions of ``numpy`` that are not elementwise: creation, shapes, joins, reductions, indexing, products."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.api import tensor_shape as shaped
from duograph.api.functional import array as arrays
from duograph.api.functional import blocks, creation, index, joining, random, reduce, sorting, statistics
from duograph.api.functional.forms import as_float, axes_of, in_dtype, static_int
from duograph.api.functional.joining import concat as join
from duograph.api.functional.joining import stack as join_anew
from duograph.api.promote import to_dtype
from duograph.core import dtype as dt
from duograph.core.shapes import numel
from duograph.ops import diagonals, movement
from duograph.ops.arithmetic import div, sub
from duograph.ops.creation import constant_like
from duograph.ops.indexing import gather, gather_elements
from duograph.ops.slices import slice_axis
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor
from .padding import pad
from .products import cov, cross, dot, kron, matrix_power, multi_dot, norm, outer, tensordot, vander
from .ranges import linspace, logspace, meshgrid


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor of ``obj``; with at least ``ndmin`` axes."""
    t = in_dtype(as_tensor(obj), dtype)
    if t is obj and copy:
        t = t.copy()  # type: ignore[attr-defined]
    return movement.reshape(t, shape=(*(1,) * (ndmin - t.ndim), *t.shape)) if t.ndim < ndmin else t


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of ``a``."""
    return in_dtype(as_tensor(a), dtype)


def copy(a: Any) -> Tensor:
    """A copy."""
    return array(a)


def ones(shape: Any, dtype: Any = dt.float32) -> Tensor:
    """Ones."""
    return creation.ones(shape, dtype)


def zeros(shape: Any, dtype: Any = dt.float32) -> Tensor:
    """Zeros."""
    return creation.zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """``fill_value`` in ``shape``."""
    return arrays.broadcast_to(asarray(fill_value, dtype), shape if isinstance(shape, list | tuple) else (shape,))


def _like(value: Any) -> Callable[..., Tensor]:
    def function(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
        t = as_tensor(a)
        return creation.full(tuple(t.shape) if shape is None else shape, value, dtype=dtype or t.dtype)

    return function


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """``fill_value`` in the shape and dtype of ``a``."""
    return _like(fill_value)(a, dtype, shape)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers; int32 for ints, float32 for floats."""
    first, last = (0, start) if stop is None else (start, stop)
    out = creation.arange(first, last, 1 if step is None else step, dtype=dtype)
    return to_dtype(out, dt.int32) if dtype is None and out.dtype is dt.int64 else out


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = dt.float32) -> Tensor:
    """Ones on diagonal ``k``."""
    base = creation.ones((N, N if M is None else M), dtype)
    return diagonals.triu(diagonals.tril(base, diagonal=k), diagonal=k)


def identity(n: int, dtype: Any = dt.float32) -> Tensor:
    """The identity matrix."""
    return creation.eye(n, n, dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = dt.float32) -> Tensor:
    """Ones on and below diagonal ``k``."""
    return diagonals.tril(creation.ones((N, N if M is None else M), dtype), diagonal=k)


def tril(m: Any, k: int = 0) -> Tensor:
    """The lower triangle."""
    return blocks.tril(as_tensor(m), k)


def triu(m: Any, k: int = 0) -> Tensor:
    """The upper triangle."""
    return blocks.triu(as_tensor(m), k)


def diag(v: Any, k: int = 0) -> Tensor:
    """A matrix with a diagonal, or the diagonal of a matrix."""
    t = as_tensor(v)
    return diagonals.diag_embed(t, k) if t.ndim == 1 else diagonals.diagonal(t, offset=k, axis1=0, axis2=1)


def diagflat(v: Any, k: int = 0) -> Tensor:
    """A matrix with all elements on a diagonal."""
    return blocks.diagflat(as_tensor(v), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """A diagonal."""
    return blocks.diagonal(as_tensor(a), offset, axis1, axis2)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal."""
    return in_dtype(reduce.keep_sum(diagonal(a, offset, axis1, axis2), -1), dtype)


# ---- shapes ---------------------------------------------------------------------------------------------------------


def reshape(x: Any, new_shape: Any) -> Tensor:
    """The elements in another shape."""
    return arrays.reshape(as_tensor(x), new_shape)


def transpose(a: Any, axes: Any = None) -> Tensor:
    """The axes in another order, reversed by default."""
    t = as_tensor(a)
    return shaped.transpose(t) if axes is None else arrays.transpose(t, axes)


def expand_dims(a: Any, axis: Any) -> Tensor:
    """With new axes of size 1."""
    t = as_tensor(a)
    for i in sorted(axis) if isinstance(axis, list | tuple) else (axis,):
        t = arrays.expand_dims(t, i)
    return t


def squeeze(a: Any, axis: Any = None) -> Tensor:
    """Without axes of size 1."""
    return arrays.squeeze(as_tensor(a), axis)


def ravel(x: Any) -> Tensor:
    """All elements in one dimension."""
    return shaped.ravel(as_tensor(x))


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes exchanged."""
    return shaped.swapaxes(as_tensor(x), axis1, axis2)


def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """Axes moved."""
    return shaped.moveaxis(as_tensor(a), source, destination)


def broadcast_to(array: Any, shape: Any) -> Tensor:
    """Repeated up to ``shape``."""
    return arrays.broadcast_to(as_tensor(array), shape)


def broadcast_arrays(*args: Any) -> list[Tensor]:
    """All repeated up to one shape."""
    parts = [as_tensor(a) for a in args]
    shape = shaped.broadcast_shape(*[t.shape for t in parts])
    return [arrays.broadcast_to(t, shape) for t in parts]


def tile(a: Any, reps: Any) -> Tensor:
    """Repeated along every axis."""
    t, times = as_tensor(a), (reps,) if isinstance(reps, int) else tuple(reps)
    return shaped.tile(t, *((1,) * (t.ndim - len(times)) + times))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Every element repeated."""
    return arrays.repeat_interleave(as_tensor(a), repeats, axis)


def flip(m: Any, axis: Any = None) -> Tensor:
    """Reversed along axes (default: all)."""
    t = as_tensor(m)
    return arrays.flip(t, tuple(range(t.ndim)) if axis is None else axis)


def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """Shifted cyclically; one shift for several axes, or several shifts of one axis."""
    places = list(shift) if isinstance(shift, list | tuple) else [shift]
    if axis is None:
        return arrays.roll(as_tensor(a), builtins.sum(places))
    axes = list(axis) if isinstance(axis, list | tuple) else [axis]
    n = builtins.max(len(places), len(axes))
    places, axes = (x * n if len(x) == 1 else x for x in (places, axes))
    return arrays.roll(as_tensor(a), tuple(places), tuple(axes))


def rot90(a: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """Turned by 90 degrees ``k`` times."""
    return arrays.rot90(as_tensor(a), k, axes)


def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    """One after the other; ``axis=None`` flattens first."""
    parts = [as_tensor(a) for a in arrays]
    return join([shaped.ravel(t) for t in parts] if axis is None else parts, 0 if axis is None else axis)


def append(arr: Any, values: Any, axis: int | None = None) -> Tensor:
    """``values`` behind ``arr``."""
    return concatenate((arr, values), axis)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Along a new axis."""
    return join_anew([as_tensor(a) for a in arrays], axis)


def _joined(fn: Callable[[Any], Tensor]) -> Callable[..., Tensor]:
    def function(tup: Any) -> Tensor:
        return fn([as_tensor(t) for t in tup])

    return function


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Equal parts (a tuple), or parts at given positions (a list)."""
    t = as_tensor(x)
    if isinstance(indices_or_sections, int) and t.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(t, indices_or_sections, axis)


def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Nearly equal parts (a tuple), or parts at given positions (a list)."""
    parts = shaped.tensor_split(as_tensor(x), indices_or_sections, axis)
    return parts if isinstance(indices_or_sections, int) else list(parts)


def _at_least(fn: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(*arys: Any) -> Any:
        out = [fn(as_tensor(a)) for a in arys]
        return out[0] if len(out) == 1 else out

    return function


# ---- reductions -----------------------------------------------------------------------------------------------------


_WIDE_UNSIGNED = (dt.uint16, dt.uint32, dt.uint64)


def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """The sum over ``axis``; of bool and integers in int64 (uint16, uint32 and uint64 keep their dtype)."""
    t = as_tensor(a)
    whole = dtype is None and (t.dtype.is_bool or t.dtype.is_integer) and t.dtype not in _WIDE_UNSIGNED
    t = to_dtype(t, dt.int64) if whole else in_dtype(t, dtype)
    out = reduce.keep_sum(t, axis if axis is not None else (), keepdims)
    return out if initial is None else out + initial  # type: ignore[operator]


def mean(a: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The mean over ``axis``; integers give float32 (MindSpore drops what is behind the point)."""
    return in_dtype(reduce.mean(as_float(a), axis, keepdims), dtype)


def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
    """The product over ``axis``."""
    out = reduce.keep_prod(in_dtype(as_tensor(a), dtype), axis if axis is not None else (), keepdims)
    return out if initial is None else out * initial  # type: ignore[operator]


def std(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation."""
    return reduce.std(as_float(x), axis, ddof, keepdims)


def var(x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """The variance."""
    return reduce.var(as_float(x), axis, ddof, keepdims)


def _extreme(fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Tensor:
        return fn(as_tensor(a), axis, keepdims, initial=initial, where=None if where is True else where)

    return function


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Maximum minus minimum."""
    t = as_tensor(x)
    return sub(reduce.amax(t, axis, keepdims), reduce.amin(t, axis, keepdims))


def argmax(a: Any, axis: int | None = None) -> Tensor:
    """Index of the first maximum."""
    return reduce.argmax(as_tensor(a), axis)


def argmin(a: Any, axis: int | None = None) -> Tensor:
    """Index of the first minimum (int32, as MindSpore's)."""
    return to_dtype(reduce.argmin(as_tensor(a), axis), dt.int32)


def all(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all hold."""
    return reduce.all(as_tensor(a), axis, keepdims)


def any(a: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any holds."""
    return reduce.any(as_tensor(a), axis, keepdims)


def average(x: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """The weighted mean."""
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
    """Running sum, of bool and small integers in int32; of the flattened tensor by default."""
    t = as_tensor(a) if dtype is not None else _at_least_32_bits(as_tensor(a), signed=True)
    return reduce.cumsum(shaped.ravel(t) if axis is None else t, 0 if axis is None else axis, dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Running product, of bool and small integers in 32 bits; of the flattened tensor by default."""
    t = as_tensor(a) if dtype is not None else _at_least_32_bits(as_tensor(a), signed=False)
    out = reduce.cumprod(shaped.ravel(t) if axis is None else t, 0 if axis is None else axis, dtype)
    return out if dtype is not None else to_dtype(out, t.dtype)


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The number of elements that are not 0."""
    return reduce.count_nonzero(as_tensor(x), () if axis is None else axis, keepdims, dt.int32)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours; numbers before and behind stand for a whole slice."""
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
    """``x`` where the condition holds, ``y`` elsewhere; with the condition alone its coordinates."""
    mask = as_tensor(condition)
    if x is None and y is None:
        return index.nonzero(mask, as_tuple=True)
    return index.where(mask, x, y)


def take(a: Any, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """The slices at ``indices`` along ``axis``; places outside are moved to the border (``clip``) or wrap.

    Raises:
        NotImplementedError: another mode.
    """
    if mode not in ("clip", "wrap"):
        raise NotImplementedError(f"For 'take', the 'mode' must be 'clip' or 'wrap', but got {mode}.")
    from duograph.ops.arithmetic import maximum, minimum, mod

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
    """One index along ``axis`` per result element."""
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
    """Limited to an interval; between numbers in the dtype of ``x``."""
    t = as_tensor(x)
    out = index.clamp(t, xmin, xmax)
    keeps = not isinstance(xmin, Tensor) and not isinstance(xmax, Tensor)
    return in_dtype(to_dtype(out, t.dtype) if keeps else out, dtype)


def unique(x: Any, return_inverse: bool = False) -> Any:
    """The different elements in order of appearance; on demand which one each (of the flattened tensor) is."""
    values, inverse = sorting.unique(shaped.ravel(as_tensor(x)))
    return (values, inverse) if return_inverse else values


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Where ``v`` would go (int32)."""
    places = None if sorter is None else as_tensor(sorter)
    return to_dtype(sorting.searchsorted(as_tensor(a), as_tensor(v), side=side, sorter=places), dt.int32)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Elementwise closeness."""
    from duograph.api.functional.compare import isclose as compare

    return compare(as_tensor(a), as_tensor(b), rtol, atol, equal_nan)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Whether shapes and elements are the same, with ``equal_nan`` NaN equal to NaN: a bool tensor."""
    x, y = as_tensor(a1), as_tensor(a2)
    if tuple(x.shape) != tuple(y.shape):
        return as_tensor(False)
    from duograph.api.operators import equal, not_equal
    from duograph.ops.logical import logical_and, logical_or

    same = equal(x, y)
    if equal_nan:
        same = logical_or(same, logical_and(not_equal(x, x), not_equal(y, y)))
    return reduce.all(same)


# ---- random draws ----------------------------------------------------------------------------------------------------


def rand(*shape: Any, dtype: Any = dt.float32) -> Tensor:
    """Uniform in [0, 1); without a shape one number, as a vector."""
    return random.rand(*(shape or (1,)), dtype=dtype)


def randn(*shape: Any, dtype: Any = dt.float32) -> Tensor:
    """Standard normal; without a shape one number, as a vector."""
    return random.randn(*(shape or (1,)), dtype=dtype)


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = dt.int32) -> Tensor:
    """Uniform integers; without a shape one, as a vector."""
    low, high = (0, minval) if maxval is None else (minval, maxval)
    return random.randint(low, high, (1,) if shape is None else shape, dtype=dtype)


def size(a: Any, axis: int | None = None) -> Any:
    """The number of elements, or the extent of ``axis``."""
    t = as_tensor(a)
    return numel(t.shape) if axis is None else t.shape[static_int(axis, "size", "axis")]


def isscalar(element: Any) -> bool:
    """Whether ``element`` is a number, not a tensor."""
    return isinstance(element, bool | int | float | complex | str | np.generic)


def asfarray(a: Any, dtype: Any = dt.float32) -> Tensor:
    """A tensor of floats, float32 by default."""
    kind = dt.as_dtype(dtype)
    return to_dtype(as_tensor(a), kind if kind.is_floating else dt.float32)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """A tensor like ``prototype`` whose contents do not matter (zeros)."""
    return _like(0)(prototype, dtype, shape)


def argwhere(a: Any) -> Tensor:
    """The coordinates of what is not 0, one row each."""
    return index.nonzero(as_tensor(a))


def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """The integral of ``y`` by the trapezium rule."""
    return statistics.trapz(as_tensor(y), None if x is None else as_tensor(x), dx=dx, dim=axis)


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: int | None = None) -> Tensor:
    """How often each of 0, 1, ... occurs, or the sums of ``weights`` there; exactly ``length`` of them if given."""
    t = as_tensor(x)
    given = None if weights is None else as_tensor(weights)
    out = sorting.bincount(t, given, minlength if length is None else length)
    return out if length is None else slice_axis(out, 0, 0, length)


def around(a: Any, decimals: int = 0) -> Tensor:
    """Rounded, halves to even."""
    from duograph.api.operators import rounded

    return rounded(as_tensor(a), decimals)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        array, asarray, copy, ones, zeros, full, full_like, arange, linspace, logspace, eye, identity, tri, tril, triu,
        diag, diagflat, diagonal, trace, reshape, transpose, expand_dims, squeeze, ravel, swapaxes, moveaxis,
        broadcast_to, broadcast_arrays, tile, repeat, flip, roll, rot90, concatenate, append, stack, split, array_split,
        meshgrid, sum, mean, prod, std, var, ptp, argmax, argmin, all, any, average, cumsum, cumprod, count_nonzero,
        diff, where, take, take_along_axis, clip, unique, searchsorted, isclose, array_equal, pad, dot, outer,
        tensordot, kron, cross, norm, multi_dot, cov, rand, randn, randint, size, isscalar, around,
    )
} | {
    "round": around, "ones_like": _like(1), "zeros_like": _like(0), "empty_like": empty_like, "empty": zeros,
    "amax": _extreme(reduce.amax), "amin": _extreme(reduce.amin), "max": _extreme(reduce.amax),
    "min": _extreme(reduce.amin),
    "hstack": _joined(joining.hstack), "vstack": _joined(joining.vstack), "dstack": _joined(joining.dstack),
    "column_stack": _joined(joining.column_stack), "atleast_1d": _at_least(arrays.atleast_1d),
    "atleast_2d": _at_least(arrays.atleast_2d), "atleast_3d": _at_least(arrays.atleast_3d), "asfarray": asfarray,
    "fliplr": lambda m: flip(m, 1), "flipud": lambda m: flip(m, 0), "sometrue": any, "argwhere": argwhere,
    "trapz": trapz,
    "nanmean": lambda a, axis=None, dtype=None, keepdims=False: reduce.nanmean(
        as_float(a), axis, keepdims, dtype=dtype
    ),
    "nansum": lambda a, axis=None, dtype=None, keepdims=False: reduce.nansum(as_tensor(a), axis, keepdims, dtype=dtype),
    "matrix_power": matrix_power, "vander": vander, "bincount": bincount,
}  # fmt: skip
