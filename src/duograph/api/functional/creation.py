"""Tensors from nothing: ``ones``, ``full``, ``arange``, ``linspace``, ``eye``, windows ..."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import Dim
from duograph.core.shapes import taken_at_most
from duograph.ops import arithmetic, unary
from duograph.ops import creation as make
from duograph.ops.movement import broadcast_to, expand_dims, move_axis, reshape
from duograph.ops.scalar import Scalar, distance, extent_of, fitted
from duograph.ops.select import select
from duograph.ops.slices import stack
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor, wrap

from ..promote import as_tensor, describe, is_number, to_dtype
from ..tensor_shape import shape_of
from .array import ravel
from .forms import (
    documented,
    dtype_or,
    enough_memory,
    in_dtype,
    need_tensor,
    not_public,
    on_cpu,
    public_functions,
    refused,
)
from .joining import meshgrid


def _shape(size: Any, op: str) -> tuple[Any, ...]:
    shape = shape_of((size,), op)
    for i, n in enumerate(shape):
        if isinstance(n, int) and n < 0:
            the = "the the" if op == "Zeros" else "the"
            raise ValueError(
                f"For primitive[{op}], {the} {i}th dimension of input shape must be greater than or equal to 0, but "
                f"got {n}."
            )
    return shape


@not_public
def filled(shape: tuple[Any, ...], value: Any, dtype: dt.DType) -> Tensor:
    """A tensor of ``shape`` holding ``value``: a number, a run-time Scalar or a tensor of one element."""
    if isinstance(value, Tensor | Scalar):
        one = to_dtype(value, dtype) if isinstance(value, Tensor) else value.to_tensor(dtype)
        return broadcast_to(reshape(one, shape=(1,) * len(shape)), shape=shape)
    return make.full(shape=shape, value=fitted(value, dtype), dtype=dtype)


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Ones; float32 by default.

    Returns:
        Tensor, of shape ``shape``.

    Raises:
        TypeError: ``shape`` is not an int, tuple, list or tensor of ints.
        ValueError: an extent is negative.

    Examples:
        >>> print(ops.ones((2, 2)))
        [[1. 1.]
         [1. 1.]]
    """
    return filled(_shape(shape, "Ones"), 1, dtype_or(dtype, dt.float32))


def zeros(size: Any, dtype: Any = None) -> Tensor:
    """Zeros; float32 by default.

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> print(ops.zeros(2))
        [0. 0.]
    """
    return filled(_shape(size, "Zeros"), 0, dtype_or(dtype, dt.float32))


def ones_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Ones of the shape (and dtype) of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.ones_like(Tensor([2, 3])))
        [1 1]
    """
    need_tensor("OnesLikeExt", input=input)
    return filled(tuple(input.shape), 1, dtype_or(dtype, input.dtype))


def zeros_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Zeros of the shape (and dtype) of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.zeros_like(Tensor([2, 3])))
        [0 0]
    """
    need_tensor("ZerosLikeExt", input=input)
    return filled(tuple(input.shape), 0, dtype_or(dtype, input.dtype))


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` everywhere; int64 by default, as MindSpore, whatever ``fill_value`` is.

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> print(ops.full((2,), 7), ops.full((2,), 7, dtype=ms.float32))
        [7 7] [7. 7.]
    """
    if not isinstance(size, int | list | tuple | Tensor | Dim):
        raise TypeError(f"For 'ops.full', 'size' must be a tuple, list or int, but got {describe(size)}.")
    return filled(_shape(size, "FillV2"), fill_value, dtype_or(dtype, dt.int64))


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` in the shape (and dtype) of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.full_like(Tensor([1.0, 2.0]), 7))
        [7. 7.]
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"For ops.full_like, the argument 'input' must be tensor, but got {type(input)}")
    return filled(tuple(input.shape), fill_value, dtype_or(dtype, input.dtype))


def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """``value`` everywhere in ``shape``, in the dtype ``type``.

    Returns:
        Tensor, of shape ``shape`` and dtype ``type``.

    Examples:
        >>> print(ops.fill(ms.float32, (2,), 1))
        [1. 1.]
    """
    return filled(_shape(shape, "Fill"), value, dt.as_dtype(type))


def fills(x: Tensor, value: Any) -> Tensor:
    """``value`` in the shape and dtype of ``x``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.fills(Tensor([1.0, 2.0]), 3))
        [3. 3.]
    """
    return full_like(x, value)


def _number(x: Any, what: str) -> Any:
    if isinstance(x, Tensor):
        kind = "float" if x.dtype.is_floating else "int"
        return hooks.as_python_number(x, kind)
    return extent_of(x)


def _exceeds(a: Any, b: Any) -> bool:
    return not taken_at_most(a, b) if isinstance(a, Dim) or isinstance(b, Dim) else a > b


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """``start``, ``start + step``, ... below ``end``; int64 if all arguments are ints, else float32.

    Returns:
        Tensor, of shape ``(n,)``.

    Raises:
        ValueError: ``step`` is 0 or has the wrong sign.

    Examples:
        >>> print(ops.arange(3))
        [0 1 2]
    """
    if end is None:
        start, end = 0, start
    start, end, step = (_number(v, "arange") for v in (start, end, step))
    for name, v in (("start", start), ("end", end), ("step", step)):
        if isinstance(v, str) or v is None:
            raise TypeError(f"For ops.arange, the argument '{name}' must be int or float, but got {type(v).__name__}.")
    if step == 0:
        raise ValueError("For Range, delta cannot be equal to zero.")
    if isinstance(start, Scalar) and step == 1 and start.kind == "int" and (size := distance(start, end)) is not None:
        dtype = dtype_or(dtype, dt.int64)
        if dtype.is_integer:  # sums of floats may be rounded twice
            counted = make.arange(start=0, step=1, size=size, dtype=dt.int64)
            return to_dtype(arithmetic.add(counted, as_tensor(start, dt.int64)), dtype)
    if step > 0 and _exceeds(start, end):
        raise ValueError("For Range, delta cannot be positive when limit < start.")
    if step < 0 and _exceeds(end, start):
        raise ValueError("For Range, delta cannot be negative when limit > start.")
    kinds = (int, Dim)
    whole = all(isinstance(v, kinds) for v in (start, end, step))
    size = (end - start + (step - 1 if step > 0 else step + 1)) // step if whole else math.ceil((end - start) / step)
    natural = dt.int64 if whole else dt.float32
    return make.arange(start=start, step=step, size=size, dtype=dtype_or(dtype, natural))


def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """As `arange`; at most ``maxlen`` numbers.

    Returns:
        Tensor, of shape ``(n,)``.

    Examples:
        >>> print(ops.range(Tensor(0), Tensor(6), Tensor(2)))
        [0 2 4]
    """
    return arange(start, end, step)


def linspace(start: Any, end: Any, steps: Any) -> Tensor:
    """``steps`` evenly spaced numbers from ``start`` to ``end``, both included; float32 for numbers.

    Returns:
        Tensor, of shape ``(steps,)``.

    Examples:
        >>> print(ops.linspace(0.0, 1.0, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    count = _number(steps, "linspace")
    if isinstance(count, np.integer):
        count = int(count)
    if isinstance(count, bool) or not isinstance(count, int | Dim):
        raise TypeError(f"For 'linspace', the 'steps' must be int, but got {type(steps).__name__}.")
    if not isinstance(start, Tensor) and not isinstance(end, Tensor):
        if not is_number(start) or not is_number(end):
            raise refused("LinSpace", start=start, end=end)
        return make.linspace(start=start, stop=end, steps=count, dtype=dt.float32)
    low, high = as_tensor(start), as_tensor(end)
    dtype = next((t.dtype for t in (low, high) if t.dtype.is_floating), dt.float32)
    low, high = to_dtype(low, dtype), to_dtype(high, dtype)
    return _between(low, high, count)


def _between(low: Tensor, high: Tensor, steps: int | Dim) -> Tensor:
    weight = make.linspace(start=0.0, stop=1.0, steps=steps, dtype=low.dtype)
    low, high = (expand_dims(t, t.ndim) for t in (low, high))
    return arithmetic.add(low, arithmetic.mul(arithmetic.sub(high, low), weight))


def logspace(start: Any, end: Any, steps: int, base: int = 10, *, dtype: Any = dt.float32) -> Tensor:
    """``base`` to the powers of `linspace`.

    Returns:
        Tensor, of shape ``(steps,)`` and ``dtype``.

    Examples:
        >>> print(ops.logspace(0.0, 2.0, 3))
        [  1.  10. 100.]
    """
    exponents = to_dtype(linspace(start, end, steps), dt.float64)
    out = unary.exp(arithmetic.mul(exponents, make.constant_like(exponents, math.log(base))))
    return in_dtype(out, dtype)


def eye(n: Any, m: Any = None, dtype: Any = None) -> Tensor:
    """Ones on the diagonal of an ``n`` by ``m`` matrix.

    Returns:
        Tensor, of shape ``(n, m)``; ``m`` is ``n`` unless it is given.

    Examples:
        >>> print(ops.eye(2, 3, ms.int32))
        [[1 0 0]
         [0 1 0]]
    """
    rows = _number(n, "eye")
    columns = rows if m is None else _number(m, "eye")
    if (
        isinstance(rows, bool)
        or isinstance(columns, bool)
        or not all(isinstance(k, int | Dim) for k in (rows, columns))
    ):
        raise TypeError(f"For 'Eye', 'n' and 'm' must be int, but got {type(n).__name__} and {type(m).__name__}.")
    return make.eye(n=rows, m=columns, dtype=dtype_or(dtype, dt.float32))


def one_hot(indices: Tensor, depth: Any, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    """A new axis of ``depth`` that holds ``on_value`` at the index and ``off_value`` elsewhere.

    Returns:
        Tensor, of the dtype of ``on_value``; its rank is one more than that of ``indices``.

    Raises:
        TypeError: ``indices`` are not integers.
        ValueError: ``axis`` is out of range.

    Examples:
        >>> print(ops.one_hot(Tensor([0, 2]), 3))
        [[1 0 0]
         [0 0 1]]
    """
    need_tensor("OneHot", indices=indices)
    if not indices.dtype.is_integer:
        raise TypeError(f"For 'OneHot', the 'indices' must be integers, but got {indices.dtype}.")
    on, off = as_tensor(on_value), as_tensor(off_value)
    if not -1 <= axis <= indices.ndim:
        raise ValueError(f"For 'OneHot', the 'axis' must be in [-1, {indices.ndim}], but got {axis}.")
    size = _number(depth, "one_hot")
    if (not isinstance(on_value, Tensor) and on_value == 1) and (not isinstance(off_value, Tensor) and off_value == 0):
        out = make.one_hot(indices, depth=size, dtype=on.dtype)
    else:
        out = select(make.one_hot(indices, depth=size, dtype=dt.bool_), on, to_dtype(off, on.dtype))
    return out if axis in (-1, indices.ndim) else move_axis(out, indices.ndim, axis)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dt.int64) -> Tensor:
    """Coordinates (2, N) of the lower triangle.

    Returns:
        Tensor, of shape ``(2, n)`` and ``dtype``.

    Examples:
        >>> print(ops.tril_indices(2, 2))
        [[0 1 1]
         [0 0 1]]
    """
    total = _staircase(row, offset + 1, col)
    return _triangle("tril_indices", row, col, total, dtype, lambda i: (0, i + offset + 1))


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = dt.int64) -> Tensor:
    """Coordinates (2, N) of the upper triangle.

    Returns:
        Tensor, of shape ``(2, n)`` and ``dtype``.

    Examples:
        >>> print(ops.triu_indices(2, 2))
        [[0 0 1]
         [0 1 1]]
    """
    total = row * col - _staircase(row, offset, col)
    return _triangle("triu_indices", row, col, total, dtype, lambda i: (i + offset, col))


def _staircase(rows: int, first: int, most: int) -> int:
    """The sum of ``first + i``, at least 0 and at most ``most``, over all rows ``i``."""
    low = min(max(0, -first), rows)
    high = min(max(low, most - first), rows)
    return (high - low) * (2 * first + low + high - 1) // 2 + most * (rows - high)


def _triangle(
    name: str, rows: int, columns: int, total: int, dtype: Any, span: Callable[[Any], tuple[Any, Any]]
) -> Tensor:
    """Coordinates of the columns ``span(i)`` (from, to) of every row ``i``, ``total`` in all.

    Raises:
        MemoryError: no machine has room for so many.
    """
    enough_memory(name, (2, max(total, rows)), dt.int64)
    i = np.arange(rows, dtype=np.int64)
    low, high = (np.clip(end, 0, columns) + np.zeros_like(i) for end in span(i))
    counts = np.maximum(high - low, 0)
    starts = np.cumsum(counts) - counts
    out = np.empty((2, total), np.int64)
    out[0] = np.repeat(i, counts)
    out[1] = np.arange(total) - np.repeat(starts - low, counts)
    return wrap(out.astype(dt.as_dtype(dtype).numpy))


def _window(
    name: str, weights: Callable[[Tensor, int], Tensor], natural: dt.DType = dt.float32
) -> Callable[..., Tensor]:
    def function(window_length: Any, periodic: bool = True, *, dtype: Any = None) -> Tensor:
        n = int(_number(window_length, name))
        if n < 0:
            raise ValueError(f"For '{name}', the 'window_length' must not be negative, but got {n}.")
        out = dtype_or(dtype, natural)
        if n <= 1:
            return make.full(shape=(n,), value=1, dtype=out)
        last = n if periodic else n - 1
        place = make.arange(start=0.0, step=1.0, size=n, dtype=dt.float64)
        return to_dtype(weights(place, last), out)

    function.__name__ = name
    function.__doc__ = documented(
        f"The {name.split('_', maxsplit=1)[0].title()} window; one place more, cut off, if it is ``periodic``.",
        "Tensor, of shape ``(window_length,)``.", f"ops.{name}(4).shape", "(4,)",
    )  # fmt: skip
    return function


def _cosines(*coefficients: float) -> Callable[[Tensor, int], Tensor]:
    def weights(place: Tensor, last: int) -> Tensor:
        total = make.full(shape=(), value=coefficients[0], dtype=dt.float64)
        for k, c in enumerate(coefficients[1:], 1):
            angle = arithmetic.mul(place, make.constant_like(place, 2 * math.pi * k / last))
            total = arithmetic.add(total, arithmetic.mul(unary.cos(angle), make.constant_like(place, c)))
        return total

    return weights


def _bartlett(place: Tensor, last: int) -> Tensor:
    half = arithmetic.sub(arithmetic.mul(place, make.constant_like(place, 2 / last)), make.constant_like(place, 1))
    return arithmetic.sub(make.constant_like(place, 1), arithmetic.abs_(half))


def hamming_window(
    window_length: Any, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None
) -> Tensor:
    """The Hamming window ``alpha - beta * cos``.

    Returns:
        Tensor, of shape ``(window_length,)``.

    Examples:
        >>> print(ops.hamming_window(4, alpha=0.5, beta=0.5))
        [0.  0.5 1.  0.5]
    """
    return _window("hamming_window", _cosines(alpha, -beta))(window_length, periodic, dtype=dtype)


def kaiser_window(window_length: Any, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None) -> Tensor:
    """The Kaiser window: Bessel functions of ``beta`` times half a circle.

    Returns:
        Tensor, of shape ``(window_length,)``.

    Examples:
        >>> print(ops.kaiser_window(3, periodic=False, beta=0.0))
        [1. 1. 1.]
    """
    from duograph.ops.special import bessel_i0

    def weights(place: Tensor, last: int) -> Tensor:
        one = make.constant_like(place, 1)
        turn = arithmetic.sub(arithmetic.mul(place, make.constant_like(place, 2 / last)), one)
        height = unary.sqrt(arithmetic.sub(one, arithmetic.square(turn)))
        scale = make.constant_like(place, beta)
        return arithmetic.div(bessel_i0(arithmetic.mul(height, scale)), bessel_i0(scale))

    return _window("kaiser_window", weights)(window_length, periodic, dtype=dtype)


def scalar_to_tensor(input_x: Any, dtype: Any = dt.float32) -> Tensor:
    """A number as a 0-d tensor.

    Returns:
        Tensor, 0-d.

    Examples:
        >>> print(ops.scalar_to_tensor(2))
        2.0
    """
    return as_tensor(input_x, dt.as_dtype(dtype))


def tuple_to_array(input_x: Any) -> Tensor:
    """A tuple of numbers as a tensor.

    Returns:
        Tensor, of shape ``(n,)``.

    Examples:
        >>> print(ops.tuple_to_array((1, 2, 3)))
        [1 2 3]
    """
    made = as_tensor(tuple(input_x))
    return to_dtype(made, dt.int32) if made.dtype is dt.int64 else made


def cartesian_prod(*inputs: Tensor) -> Tensor:
    """All combinations of one element of each vector, one row each.

    Returns:
        Tensor, of shape ``(combinations, vectors)``; of one vector the vector itself.

    Examples:
        >>> print(ops.cartesian_prod(Tensor([1, 2]), Tensor([3, 4])))
        [[1 3]
         [1 4]
         [2 3]
         [2 4]]
    """
    if len(inputs) == 1:
        return inputs[0]
    return stack(*[ravel(g) for g in meshgrid(*inputs, indexing="ij")], axis=1)


_range = builtins.range


def empty(*size: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose contents do not matter (zeros).

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> print(ops.empty(2, 3).shape)
        (2, 3)
    """
    on_cpu("empty", device)
    given = size[0] if len(size) == 1 and isinstance(size[0], list | tuple) else size
    return make.full(shape=tuple(given), value=0, dtype=dtype_or(dtype, dt.float32))


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """`empty` in the shape of ``input``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.empty_like(Tensor([1, 2])).shape)
        (2,)
    """
    need_tensor("EmptyLike", input=input)
    on_cpu("empty_like", device)
    return make.full(shape=tuple(input.shape), value=0, dtype=dtype_or(dtype, input.dtype))


def eps(x: Tensor) -> Tensor:
    """The smallest number that makes a difference when added to 1, in the shape of ``x``.

    Returns:
        Tensor, of the shape and dtype of ``x``.

    Examples:
        >>> print(ops.eps(Tensor([1.0, 2.0])))
        [1.1920929e-07 1.1920929e-07]
    """
    need_tensor("Eps", x=x)
    return make.full(shape=tuple(x.shape), value=float(np.finfo(x.dtype.numpy).eps), dtype=x.dtype)


FUNCTIONS = public_functions(globals()) | {
    "tensor_range": range,
    "hann_window": _window("hann_window", _cosines(0.5, -0.5), dt.float64),
    "blackman_window": _window("blackman_window", _cosines(0.42, -0.5, 0.08)),
    "bartlett_window": _window("bartlett_window", _bartlett),
    "scalar_to_array": as_tensor,
}  # fmt: skip
