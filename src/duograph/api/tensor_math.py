"""Methods of Tensor that compute something of all elements: statistics, matrices, draws."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.core.dim import known_eq
from duograph.core.shapes import existing_axis, normalize_axis, numel
from duograph.ops import diagonals, movement, random, search, slices
from duograph.ops import random as draws
from duograph.ops.arithmetic import abs_, add, div, mul, sub
from duograph.ops.creation import constant_like
from duograph.ops.linalg import matmul
from duograph.ops.unary import exp, tan
from duograph.tensor.tensor import Tensor

from . import operators
from .functional import activation, linalg, products
from .functional import array as arrays
from .functional.forms import not_public, public_functions
from .promote import as_tensor, is_one, promote, promote_float, to_dtype
from .tensor_reduce import mean


def softmax(self: Tensor, axis: int = -1, dtype: Any = None) -> Tensor:
    """``exp(self)`` divided by its sum along ``axis``.

    Returns:
        Tensor, of this shape; of this dtype unless ``dtype`` is given.

    Examples:
        >>> print(Tensor([0.0, 0.0]).softmax())
        [0.5 0.5]
    """
    return activation.softmax(self, axis, dtype=dtype)


def addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * self + alpha * outer(vec1, vec2)``.

    Returns:
        Tensor, of shape ``(n, m)``.

    Examples:
        >>> print(Tensor([[1.0, 1.0]]).addr(Tensor([2.0]), Tensor([3.0, 4.0])))
        [[7. 9.]]
    """
    return products.addr(self, vec1, vec2, beta=beta, alpha=alpha)


def qr(self: Tensor, some: Any = True) -> tuple[Tensor, Tensor]:
    """Orthogonal and triangular factor; ``some=False`` for the complete one. A mode as `ops.qr` takes it works, too.

    Returns:
        Two Tensors.

    Examples:
        >>> print([part.shape for part in Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).qr()])
        [(3, 2), (2, 2)]
    """
    if not isinstance(some, bool | str):
        raise TypeError(f"For 'qr', the 'some' must be bool, but got {type(some).__name__}.")
    return linalg.qr(self, some if isinstance(some, str) else "reduced" if some else "complete")


def reverse_sequence(self: Tensor, seq_lengths: Tensor, seq_dim: int = 0, batch_dim: int = 0) -> Tensor:
    """The first ``seq_lengths[i]`` places along ``seq_dim`` reversed, for every ``i`` along ``batch_dim``.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([[1, 2, 3], [4, 5, 6]]).reverse_sequence(Tensor([2, 3]), seq_dim=1))
        [[2 1 3]
         [6 5 4]]
    """
    return arrays.reverse_sequence(self, seq_lengths, seq_dim, batch_dim)


def bernoulli(self: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability that the element is, else 0.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([0.0, 1.0]).bernoulli())
        [0. 1.]
    """
    return to_dtype(draws.bernoulli(self, tuple(self.shape), generator), self.dtype)


def trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sum of the diagonal of the matrices in two axes.

    Returns:
        Tensor, of this dtype unless ``dtype`` is given; its rank is two less.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).trace())
        5
    """
    i, j = normalize_axis(axis1, self.ndim, "trace"), normalize_axis(axis2, self.ndim, "trace")
    line = diagonals.diagonal(self, offset=offset, axis1=i, axis2=j)
    out = movement.reduce_sum(line, axis=(line.ndim - 1,), keep_dims=False)
    return out if dtype is None else to_dtype(out, dt.as_dtype(dtype))


def diff(self: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along ``axis``, ``n`` times.

    Returns:
        Tensor, of this dtype; ``n`` shorter along ``axis``.

    Examples:
        >>> print(Tensor([1, 3, 6]).diff())
        [2 3]
    """
    place = existing_axis(axis, self.ndim, "diff")
    parts = [as_tensor(p, self.dtype) for p in (prepend, append) if p is not None]
    out = self
    if parts:
        around = [as_tensor(prepend, self.dtype)] if prepend is not None else []
        around.append(self)
        around += [as_tensor(append, self.dtype)] if append is not None else []
        out = slices.concat(*around, axis=place)
    for _ in range(n):
        if out.shape[place] == 0:  # it stays empty, however often
            break
        later, earlier = slices.slice_axis(out, place, 1, None), slices.slice_axis(out, place, 0, -1)
        out = operators.not_equal(later, earlier) if out.dtype.is_bool else sub(later, earlier)
    return out


def cov(self: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariance matrix of the rows; columns are observations, which may have integer and real weights.

    Returns:
        Tensor, of shape ``(n, n)`` for ``n`` rows.

    Examples:
        >>> print(Tensor([[1.0, 2.0], [2.0, 4.0]]).cov())
        [[0.5 1. ]
         [1.  2. ]]
    """
    if self.ndim > 2:
        raise ValueError(f"For 'cov', the rank of input must be at most 2, but got {self.ndim}.")
    x = promote_float(self)
    x = movement.reshape(x, shape=(1, numel(x.shape))) if x.ndim < 2 else x
    count = x.shape[1]
    weights = None
    for given in (fweights, aweights):
        if given is not None:
            given = to_dtype(given, x.dtype)
            weights = given if weights is None else mul(weights, given)
    if weights is None:
        centred = sub(x, mean(x, 1, True))
        total = matmul(centred, movement.transpose(centred, perm=(1, 0)))
        out = div(total, constant_like(total, count - correction))
    else:
        whole = movement.reduce_sum(weights, axis=(0,), keep_dims=False)
        centre = div(movement.reduce_sum(mul(x, weights), axis=(1,), keep_dims=True), whole)
        centred = sub(x, centre)
        norm = whole
        if correction and aweights is not None:
            again = movement.reduce_sum(mul(weights, to_dtype(aweights, x.dtype)), axis=(0,), keep_dims=False)
            norm = sub(whole, div(mul(again, constant_like(whole, correction)), whole))
        elif correction:
            norm = sub(whole, constant_like(whole, correction))
        out = div(matmul(mul(centred, weights), movement.transpose(centred, perm=(1, 0))), norm)
    return movement.reshape(out, shape=()) if known_eq(x.shape[0], 1) else out


def allclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are within ``atol + rtol * |other|`` of each other, as a Python bool.

    Returns:
        bool

    Examples:
        >>> print(Tensor([1.0]).allclose(Tensor([1.0])))
        True
    """
    return bool(isclose(self, other, rtol, atol, equal_nan).all())


def isclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Where the elements are within ``atol + rtol * |other|`` of each other.

    Returns:
        Tensor of bool, of the shape both broadcast to.

    Examples:
        >>> print(Tensor([1.0, 2.0]).isclose(Tensor([1.0, 2.5])))
        [ True False]
    """
    x, y = promote(self, other, "IsClose")
    equal = operators.equal(x, y)
    x, y = promote_float(x), promote_float(y)
    room = add(constant_like(y, atol), mul(constant_like(y, rtol), abs_(y)))
    finite = operators.less(abs_(y), float("inf"))
    near = operators.bitwise_and(operators.less_equal(abs_(sub(x, y)), room), finite)
    close = operators.bitwise_or(equal, near)
    if not equal_nan:
        return close
    both = operators.bitwise_and(operators.not_equal(x, x), operators.not_equal(y, y))
    return operators.bitwise_or(close, both)


@not_public
def add_method(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self + alpha * other``.

    Returns:
        Tensor, of the shape both broadcast to and the promoted dtype.

    Examples:
        >>> print(Tensor([1, 2]).add(3, alpha=10))
        [31 32]
    """
    return operators.add(self, other if is_one(alpha, other) else operators.multiply(other, alpha))


@not_public
def sub_method(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self - alpha * other``.

    Returns:
        Tensor, of the shape both broadcast to and the promoted dtype.

    Examples:
        >>> print(Tensor([1, 2]).sub(3, alpha=10))
        [-29 -28]
    """
    return operators.subtract(self, other if is_one(alpha, other) else operators.multiply(other, alpha))


def unique(
    self: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The different elements, ascending; with the flags also where each element went, and how often each occurs.

    Returns:
        Tensor, or a tuple of the two or three that are asked for.

    Examples:
        >>> print(Tensor([3, 1, 3]).unique())
        [1 3]
    """
    if dim is not None and self.ndim != 1:
        raise ValueError("For 'unique', 'dim' is supported for 1-d tensors only.")
    values, inverse, counts = search.unique(self, ordered=sorted, index_dtype=dt.int64)
    chosen = (values, *((inverse,) if return_inverse else ()), *((counts,) if return_counts else ()))
    return chosen if len(chosen) > 1 else values


def uniform(self: Tensor, from_: float = 0.0, to: float = 1.0, generator: Any = None) -> Tensor:
    """A tensor of this shape and dtype, drawn evenly from ``from_`` to ``to``.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([1.0, 2.0]).uniform().shape)
        (2,)
    """
    sample = random.standard_uniform(tuple(self.shape), dt.float32, generator)
    return to_dtype(operators.add(operators.multiply(sample, float(to - from_)), float(from_)), self.dtype)


def log_normal(self: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """A tensor of this shape whose logarithm is normal.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([1.0, 2.0]).log_normal() >= 0)
        [ True  True]
    """
    sample = random.standard_normal(tuple(self.shape), dt.float32)
    return to_dtype(exp(operators.add(operators.multiply(sample, float(std)), float(mean))), self.dtype)


def cauchy(self: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """A tensor of this shape with a Cauchy distribution.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([1.0, 2.0]).cauchy().shape)
        (2,)
    """
    sample = random.standard_uniform(tuple(self.shape), dt.float32)
    angle = operators.multiply(operators.subtract(sample, 0.5), 3.141592653589793)
    return to_dtype(operators.add(operators.multiply(tan(angle), float(sigma)), float(median)), self.dtype)


METHODS: dict[str, Any] = public_functions(globals()) | {"add": add_method, "sub": sub_method}
