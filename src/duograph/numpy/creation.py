"""Functions of ``numpy`` that make tensors, triangles and diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.api.functional import array as arrays
from duograph.api.functional import blocks, creation, random, reduce
from duograph.api.functional.forms import in_dtype
from duograph.api.promote import to_dtype
from duograph.core import dtype as dt
from duograph.ops import diagonals, movement
from duograph.ops.cast import cast
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor of ``obj``; with at least ``ndmin`` axes.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument has an unsupported type.

    Examples:
        >>> print(mnp.array([[1, 2], [3, 4]]), mnp.array([1, 2], ndmin=2).shape)
        [[1 2]
         [3 4]] (1, 2)
    """
    t = in_dtype(as_tensor(obj), dtype)
    if t is obj and copy:
        t = t.copy()  # type: ignore[attr-defined]
    return movement.reshape(t, shape=(*(1,) * (ndmin - t.ndim), *t.shape)) if t.ndim < ndmin else t


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of ``a``.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.asarray([1, 2], mnp.float32))
        [1. 2.]
    """
    return in_dtype(as_tensor(a), dtype)


def copy(a: Any) -> Tensor:
    """A copy.

    Returns:
        Tensor, of the shape and dtype of ``a``.

    Examples:
        >>> x = mnp.array([1, 2])
        >>> y = mnp.copy(x)
        >>> y[0] = 5
        >>> print(x, y)
        [1 2] [5 2]
    """
    return array(a)


def ones(shape: Any, dtype: Any = dt.float32) -> Tensor:
    """Ones.

    Returns:
        Tensor, of shape ``shape``.

    Examples:
        >>> print(mnp.ones((2, 3), mnp.int32))
        [[1 1 1]
         [1 1 1]]
    """
    return creation.ones(shape, dtype)


def zeros(shape: Any, dtype: Any = dt.float32) -> Tensor:
    """Zeros.

    Returns:
        Tensor, of shape ``shape``.

    Examples:
        >>> print(mnp.zeros(3))
        [0. 0. 0.]
    """
    return creation.zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """``fill_value`` in ``shape``.

    Returns:
        Tensor, of shape ``shape``.

    Examples:
        >>> print(mnp.full((2, 2), [1, 2]))
        [[1 2]
         [1 2]]
    """
    value, shape = asarray(fill_value, dtype), shape if isinstance(shape, list | tuple) else (shape,)
    if isinstance(fill_value, int | float):
        return creation.full(shape, fill_value, dtype=value.dtype)
    return cast(arrays.broadcast_to(value, shape), dtype=value.dtype)  # may be written


def _filled(a: Any, value: Any, dtype: Any, shape: Any) -> Tensor:
    t = as_tensor(a)
    return full(tuple(t.shape) if shape is None else shape, value, dtype or t.dtype)


def ones_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Ones in the shape and dtype of ``a``, unless they are given.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.ones_like([[1, 2, 3]]))
        [[1 1 1]]
    """
    return _filled(a, 1, dtype, shape)


def zeros_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Zeros in the shape and dtype of ``a``, unless they are given.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.zeros_like([[1, 2, 3]], mnp.float32))
        [[0. 0. 0.]]
    """
    return _filled(a, 0, dtype, shape)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """``fill_value`` in the shape and dtype of ``a``.

    Returns:
        Tensor, of the shape and dtype of ``a``, unless they are given.

    Examples:
        >>> print(mnp.full_like(mnp.zeros((2, 2)), 7))
        [[7. 7.]
         [7. 7.]]
    """
    return _filled(a, fill_value, dtype, shape)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Evenly spaced numbers; int32 for ints, float32 for floats.

    Returns:
        Tensor, with one axis.

    Examples:
        >>> print(mnp.arange(3), mnp.arange(1, 2, 0.25))
        [0 1 2] [1.   1.25 1.5  1.75]
    """
    first, last = (0, start) if stop is None else (start, stop)
    out = creation.arange(first, last, 1 if step is None else step, dtype=dtype)
    return to_dtype(out, dt.int32) if dtype is None and out.dtype is dt.int64 else out


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = dt.float32) -> Tensor:
    """Ones on diagonal ``k``.

    Returns:
        Tensor, of shape (N, M).

    Examples:
        >>> print(mnp.eye(2, 3, k=1))
        [[0. 1. 0.]
         [0. 0. 1.]]
    """
    base = creation.ones((N, N if M is None else M), dtype)
    return diagonals.triu(diagonals.tril(base, diagonal=k), diagonal=k)


def identity(n: int, dtype: Any = dt.float32) -> Tensor:
    """The identity matrix.

    Returns:
        Tensor, of shape (n, n).

    Examples:
        >>> print(mnp.identity(2))
        [[1. 0.]
         [0. 1.]]
    """
    return creation.eye(n, n, dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = dt.float32) -> Tensor:
    """Ones on and below diagonal ``k``.

    Returns:
        Tensor, of shape (N, M).

    Examples:
        >>> print(mnp.tri(2, 3, dtype=mnp.int32))
        [[1 0 0]
         [1 1 0]]
    """
    return diagonals.tril(creation.ones((N, N if M is None else M), dtype), diagonal=k)


def tril(m: Any, k: int = 0) -> Tensor:
    """The lower triangle.

    Returns:
        Tensor, of the shape and dtype of ``m``.

    Examples:
        >>> print(mnp.tril(mnp.ones((2, 3))))
        [[1. 0. 0.]
         [1. 1. 0.]]
    """
    return blocks.tril(as_tensor(m), k)


def triu(m: Any, k: int = 0) -> Tensor:
    """The upper triangle.

    Returns:
        Tensor, of the shape and dtype of ``m``.

    Examples:
        >>> print(mnp.triu(mnp.ones((2, 3)), k=1))
        [[0. 1. 1.]
         [0. 0. 1.]]
    """
    return blocks.triu(as_tensor(m), k)


def diag(v: Any, k: int = 0) -> Tensor:
    """A matrix with a diagonal, or the diagonal of a matrix.

    Returns:
        Tensor: a matrix for a vector, a vector for a matrix.

    Examples:
        >>> print(mnp.diag([1, 2]))
        [[1 0]
         [0 2]]
        >>> print(mnp.diag([[1, 2], [3, 4]]))
        [1 4]
    """
    t = as_tensor(v)
    return diagonals.diag_embed(t, k) if t.ndim == 1 else diagonals.diagonal(t, offset=k, axis1=0, axis2=1)


def diagflat(v: Any, k: int = 0) -> Tensor:
    """A matrix with all elements on a diagonal.

    Returns:
        Tensor, with two axes.

    Examples:
        >>> print(mnp.diagflat([[1, 2]], k=1))
        [[0 1 0]
         [0 0 2]
         [0 0 0]]
    """
    return blocks.diagflat(as_tensor(v), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """A diagonal.

    Returns:
        Tensor, with one axis less than ``a``.

    Examples:
        >>> print(mnp.diagonal([[1, 2], [3, 4]]))
        [1 4]
    """
    return blocks.diagonal(as_tensor(a), offset, axis1, axis2)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of a diagonal.

    Returns:
        Tensor, with two axes less than ``a``.

    Examples:
        >>> print(mnp.trace([[1.0, 2.0], [3.0, 4.0]]))
        5.0
    """
    return in_dtype(reduce.keep_sum(diagonal(a, offset, axis1, axis2), -1), dtype)


def rand(*shape: Any, dtype: Any = dt.float32) -> Tensor:
    """Uniform in [0, 1); without a shape one number, as a vector.

    Returns:
        Tensor, of the given shape.

    Examples:
        >>> x = mnp.rand(2, 3)
        >>> print(x.shape, bool((0 <= x).all()), bool((x < 1).all()))
        (2, 3) True True
    """
    return random.rand(*(shape or (1,)), dtype=dtype)


def randn(*shape: Any, dtype: Any = dt.float32) -> Tensor:
    """Standard normal; without a shape one number, as a vector.

    Returns:
        Tensor, of the given shape.

    Examples:
        >>> print(mnp.randn(2, 3).shape, mnp.randn().shape)
        (2, 3) (1,)
    """
    return random.randn(*(shape or (1,)), dtype=dtype)


def randint(minval: int, maxval: int | None = None, shape: Any = None, dtype: Any = dt.int32) -> Tensor:
    """Uniform integers; without a shape one, as a vector.

    Returns:
        Tensor, of shape ``shape``.

    Examples:
        >>> dice = mnp.randint(1, 7, (100,))
        >>> print(bool((dice >= 1).all()), bool((dice <= 6).all()), dice.dtype)
        True True Int32
    """
    low, high = (0, minval) if maxval is None else (minval, maxval)
    return random.randint(low, high, (1,) if shape is None else shape, dtype=dtype)


def asfarray(a: Any, dtype: Any = dt.float32) -> Tensor:
    """A tensor of floats, float32 by default.

    Returns:
        Tensor of a float type.

    Examples:
        >>> print(mnp.asfarray([1, 2]))
        [1. 2.]
    """
    kind = dt.as_dtype(dtype)
    return to_dtype(as_tensor(a), kind if kind.is_floating else dt.float32)


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """A tensor like ``prototype`` whose contents do not matter (zeros).

    Returns:
        Tensor, of the shape and dtype of ``prototype``, unless they are given.

    Examples:
        >>> print(mnp.empty_like([[1, 2, 3]]).shape)
        (1, 3)
    """
    return _filled(prototype, 0, dtype, shape)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        array, asarray, copy, ones, zeros, full, full_like, arange, eye, identity, tri, tril, triu, diag,
        diagflat, diagonal, trace, rand, randn, randint, asfarray, empty_like, ones_like, zeros_like,
    )
} | {"empty": zeros}  # fmt: skip
