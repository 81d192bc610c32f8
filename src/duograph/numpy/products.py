"""Products of vectors and matrices of ``numpy``, and `cov`."""

from __future__ import annotations

from typing import Any

from duograph.api import tensor_shape as shaped
from duograph.api.functional import array as arrays
from duograph.api.functional import joining, linalg, products, statistics
from duograph.api.functional.forms import as_float, axis_of, in_dtype
from duograph.api.promote import promoted_dtype, to_dtype
from duograph.ops import movement
from duograph.ops.arithmetic import mul, neg, sub
from duograph.ops.linalg import matmul as product
from duograph.ops.linalg import outer as outer_product
from duograph.ops.slices import slice_axis, stack
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Tensor:
    """The vector product of vectors of 2 or 3 components; of two plane vectors its one component that is not 0.

    Args:
        a (Union[list, tuple, Tensor]): first vectors.
        b (Union[list, tuple, Tensor]): second vectors.
        axisa (int): the axis of ``a`` with the components. Default -1.
        axisb (int): the axis of ``b`` with the components. Default -1.
        axisc (int): the axis of the result with the components. Default -1.
        axis (int): takes the place of the three. Default ``None``.

    Returns:
        Tensor.

    Raises:
        ValueError: the vectors have other numbers of components.

    Examples:
        >>> print(mnp.cross([1, 0, 0], [0, 1, 0]), mnp.cross([1, 2], [3, 4]))
        [0 0 1] -2
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = (_components_last(as_tensor(v), i) for v, i in ((a, axisa), (b, axisb)))
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ValueError(f"For 'cross', vectors must have 2 or 3 components, but got {x.shape[-1]} and {y.shape[-1]}.")
    kind = promoted_dtype(x, y)
    p, q = (_parts(to_dtype(v, kind)) for v in (x, y))
    last = sub(mul(p[0], q[1]), mul(p[1], q[0]))
    if len(p) == len(q) == 2:
        return last
    first = _difference(p, q, 1, 2)
    second = _difference(p, q, 2, 0)
    out = stack(first, second, last, axis=last.ndim)
    return movement.move_axis(out, out.ndim - 1, axis_of(axisc, out, "cross"))


def _components_last(t: Tensor, axis: int) -> Tensor:
    return movement.move_axis(t, axis_of(axis, t, "cross"), t.ndim - 1)


def _parts(t: Tensor) -> list[Tensor]:
    last = t.ndim - 1
    return [movement.squeeze(slice_axis(t, last, i, i + 1), (last,)) for i in range(t.shape[-1])]


def _difference(p: list[Tensor], q: list[Tensor], i: int, j: int) -> Tensor:
    """``p[i] q[j] - p[j] q[i]``, where a third component that is not there is 0."""
    forth = mul(p[i], q[j]) if len(p) > i and len(q) > j else None
    back = mul(p[j], q[i]) if len(p) > j and len(q) > i else None
    if back is None:
        assert forth is not None
        return forth
    return sub(forth, back) if forth is not None else neg(back)


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, dtype: Any = None,
) -> Tensor:  # fmt: skip
    """The covariance matrix of variables (rows, or columns with ``rowvar=False``); of one variable a number.

    Returns:
        Tensor, with two axes; a number for one variable.

    Examples:
        >>> print(mnp.cov([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
        [[ 1. -1.]
         [-1.  1.]]
    """
    t = _variables(m, rowvar)
    if y is not None:
        other = _variables(y, rowvar)
        kind = promoted_dtype(t, other)
        t = joining.concat([to_dtype(t, kind), to_dtype(other, kind)], 0)
    weights = {name: as_tensor(w) for name, w in (("fweights", fweights), ("aweights", aweights)) if w is not None}
    out = statistics.cov(t, correction=(0 if bias else 1) if ddof is None else ddof, **weights)
    return in_dtype(movement.reshape(out, shape=()) if t.shape[0] == 1 else out, dtype)


def _variables(x: Any, rowvar: bool) -> Tensor:
    t = as_float(as_tensor(x))
    if t.ndim < 2:
        return movement.reshape(t, shape=(1, t.shape[0] if t.ndim else 1))
    return t if rowvar or t.shape[0] == 1 else shaped.transpose(t)


def dot(a: Any, b: Any) -> Tensor:
    """The dot product.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.dot([1.0, 2.0], [3.0, 4.0]), mnp.dot([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]))
        11.0 [21. 43.]
    """
    return products.dot(as_float(a), as_float(b))


def outer(a: Any, b: Any) -> Tensor:
    """Products of all pairs.

    Returns:
        Tensor, with two axes.

    Examples:
        >>> print(mnp.outer([1, 2], [3, 4, 5]))
        [[ 3  4  5]
         [ 6  8 10]]
    """
    return outer_product(shaped.ravel(as_tensor(a)), shaped.ravel(as_tensor(b)))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """Sum of products over pairs of axes.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.tensordot(mnp.ones((2, 3)), mnp.ones((3, 4)), axes=1).shape)
        (2, 4)
    """
    return products.tensor_dot(as_tensor(a), as_tensor(b), axes)


def kron(a: Any, b: Any) -> Tensor:
    """The Kronecker product.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.kron([1, 10], [1, 2]))
        [ 1  2 10 20]
    """
    return products.kron(as_tensor(a), as_tensor(b))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """A vector or matrix norm.

    Returns:
        Tensor.

    Raises:
        ValueError: the name of a norm of matrices for vectors.

    Examples:
        >>> print(mnp.norm([3.0, 4.0]), mnp.norm([[3.0, -4.0], [1.0, 1.0]], ord=1, axis=1))
        5.0 [7. 2.]
    """
    t = as_float(as_tensor(x))
    if isinstance(ord, str) and (t.ndim if axis is None else len(axis) if isinstance(axis, list | tuple) else 1) != 2:
        raise ValueError(f"For 'norm', the order {ord} can only be used with matrices.")
    return linalg.norm(t, ord, axis, keepdims)


def multi_dot(arrays: Any) -> Tensor:
    """The product of several matrices, from left to right.

    Args:
        arrays (list): matrices; the first and the last may be vectors.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.multi_dot([mnp.ones((2, 3)), mnp.ones((3, 4)), mnp.ones((4, 1))]))
        [[12.]
         [12.]]
    """
    first, *rest = [as_float(as_tensor(a)) for a in arrays]
    for other in rest:
        first = product(first, other)
    return first


def matrix_power(a: Any, n: int) -> Tensor:
    """The product of ``n`` factors ``a``.

    Returns:
        Tensor, of the shape of ``a``.

    Examples:
        >>> print(mnp.matrix_power([[1.0, 1.0], [0.0, 1.0]], 5))
        [[1. 5.]
         [0. 1.]]
    """
    return linalg.matrix_power(as_tensor(a), n)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Powers of ``x`` as columns, falling by default.

    Returns:
        Tensor, with two axes.

    Examples:
        >>> print(mnp.vander([1, 2, 3]), mnp.vander([1, 2], 4, increasing=True).tolist())
        [[1 1 1]
         [4 2 1]
         [9 3 1]] [[1, 1, 1, 1], [1, 2, 4, 8]]
    """
    out = linalg.vander(as_tensor(x), N)
    return arrays.flip(out, (1,)) if increasing else out
