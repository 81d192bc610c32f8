"""Functions of ``mint`` whose arguments or results differ from those of ``ops``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.api import operators, tensor_parts
from duograph.api import tensor_shape as shaped
from duograph.api.functional import (
    array,
    creation,
    forms,
    index,
    joining,
    linalg,
    math,
    products,
    reduce,
    statistics,
    unary,
)
from duograph.api.functional.activation import softmax as compute
from duograph.api.functional.compare import isclose
from duograph.api.functional.forms import in_dtype, need_tensor, renamed
from duograph.api.native import make_public
from duograph.api.promote import is_one, to_dtype
from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.shapes import existing_axis
from duograph.ops import diagonals, movement
from duograph.ops.reduce import reduce_all
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from . import creation as creation_functions
from . import order

_M = unary.FUNCTIONS | math.FUNCTIONS


def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input + alpha * other``.

    Returns:
        Tensor, of the shape that both operands broadcast to.

    Examples:
        >>> print(mint.add(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]), alpha=2))
        [ 7. 10.]
    """
    return _M["add"](input, other if is_one(alpha, other) else _M["mul"](other, alpha))


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``.

    Returns:
        Tensor, of the shape that the operands broadcast to.

    Examples:
        >>> print(mint.addcdiv(Tensor([1.0, 1.0]), Tensor([4.0, 9.0]), Tensor([2.0, 3.0]), value=0.5))
        [2.  2.5]
    """
    return math.addcdiv(input, tensor1, tensor2, value)


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``.

    Returns:
        Tensor, of shape (batch, rows, columns).

    Examples:
        >>> ones = mint.ones(1, 2, 2)
        >>> print(mint.baddbmm(ones, Tensor([[[1.0, 2.0], [3.0, 4.0]]]), ones, beta=2, alpha=10))
        [[[32. 32.]
          [72. 72.]]]
    """
    return products.baddbmm(input, batch1, batch2, beta, alpha)


def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The maximum over ``dim``.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(mint.amax(Tensor([[1, 5], [7, 3]]), dim=1))
        [5 7]
    """
    return reduce.amax(input, dim, keepdim)


def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The minimum over ``dim``.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(mint.amin(Tensor([[1, 5], [7, 3]]), dim=(0, 1)))
        1
    """
    return reduce.amin(input, dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the first minimum.

    Returns:
        Tensor of int64.

    Examples:
        >>> print(mint.argmin(Tensor([[3.0, 1.0], [2.0, 4.0]])), mint.argmin(Tensor([[3.0, 1.0], [2.0, 4.0]]), dim=0))
        1 [1 0]
    """
    return to_dtype(reduce.argmin(input, dim, keepdim), dt.int64)


def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """The number of elements that are not 0 (int64).

    Returns:
        Tensor of int64.

    Examples:
        >>> print(mint.count_nonzero(Tensor([[0, 1], [2, 3]]), dim=0))
        [1 2]
    """
    return reduce.count_nonzero(input, dim, dtype=dt.int64)


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Running sum; integers as int64.

    Returns:
        Tensor, of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.

    Examples:
        >>> print(mint.cumsum(Tensor([[1, 2, 3], [4, 5, 6]]), dim=1))
        [[ 1  3  6]
         [ 4  9 15]]
    """
    need_tensor("CumsumExt", input=input)
    wide = (
        input if dtype is not None or input.dtype.is_floating or input.dtype.is_complex else to_dtype(input, dt.int64)
    )
    return reduce.cumsum(wide, dim, dtype)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with ``input`` on a diagonal, or a diagonal of a matrix.

    Returns:
        Tensor: a matrix for a vector, a vector for a matrix.

    Raises:
        ValueError: ``input`` has neither one axis nor two.

    Examples:
        >>> print(mint.diag(Tensor([1, 2])))
        [[1 0]
         [0 2]]
        >>> print(mint.diag(Tensor([[1, 2], [3, 4]]), 1))
        [2]
    """
    need_tensor("Diag", input=input)
    if input.ndim == 1:
        return diagonals.diag_embed(input, diagonal)
    if input.ndim != 2:
        raise ValueError(f"For 'diag', the input must be 1-D or 2-D, but got {input.ndim}-D.")
    return diagonals.diagonal(input, offset=diagonal, axis1=0, axis2=1)


def eq(input: Any, other: Any) -> Tensor:
    """Elementwise equality.

    Returns:
        Tensor of bool, of the shape that both operands broadcast to.

    Examples:
        >>> print(mint.eq(Tensor([1, 2, 3]), Tensor([1, 0, 3])))
        [ True False  True]
    """
    return operators.equal(input, other)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both tensors have one shape and the same elements: a Python bool.

    Returns:
        bool.

    Raises:
        TypeError: an operand is not a Tensor.

    Examples:
        >>> print(mint.equal(Tensor([1, 2]), Tensor([1, 2])), mint.equal(Tensor([1, 2]), Tensor([1, 2, 3])))
        True False
    """
    need_tensor("Equal", input=input, other=other)

    if tuple(input.shape) != tuple(other.shape):
        return False
    return hooks.truth(reduce_all(eq(input, other), axis=tuple(range(input.ndim)), keep_dims=False))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close: a Python bool.

    Returns:
        bool.

    Examples:
        >>> print(mint.allclose(Tensor([2.0]), Tensor([2.00001])), mint.allclose(Tensor([1.0]), Tensor([1.1])))
        True False
    """
    return hooks.truth(reduce.all(isclose(input, other, rtol, atol, equal_nan)))


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from ``start_dim`` to ``end_dim`` as one.

    Returns:
        Tensor, of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.

    Examples:
        >>> print(mint.flatten(mint.ones(2, 3, 4)).shape, mint.flatten(mint.ones(2, 3, 4), start_dim=1).shape)
        (24,) (2, 12)
    """
    need_tensor("Flatten", input=input)
    return shaped.flatten(input, start_dim=start_dim, end_dim=end_dim)


_gather = index.gather_elements


_index_select = index.index_select


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """``input`` with ``alpha * source`` added to the slices ``index`` along ``dim``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> rows = Tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
        >>> print(mint.index_add(mint.zeros(3, 2), 0, Tensor([2, 0, 2]), rows, alpha=10))
        [[20. 20.]
         [ 0.  0.]
         [40. 40.]]
    """
    return _index_add(input, index, source if is_one(alpha, source) else _M["mul"](source, alpha), dim)


_index_add = index.index_add


def item(input: Tensor) -> Any:
    """The only element as a Python number.

    Returns:
        int, float, bool or complex.

    Examples:
        >>> print(mint.item(Tensor([2.5])) * 2)
        5.0
    """
    need_tensor("Item", input=input)
    return input.item()  # type: ignore[attr-defined]


def _extreme(largest: bool) -> Callable[..., Any]:
    plain, pair = (reduce.amax, reduce.max) if largest else (reduce.amin, reduce.min)
    both = _M["maximum" if largest else "minimum"]

    def function(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        if isinstance(dim, Tensor) or other is not None:
            return both(input, dim if other is None else other)
        return plain(input) if dim is None else pair(input, dim, keepdim)

    name, of_all, of_columns, of_both = ("max", "7", "[7 5]", "[2 5]") if largest else ("min", "1", "[1 3]", "[1 4]")
    function.__name__ = name
    function.__doc__ = forms.documented(
        "Of all elements; with ``dim`` values and indices; with a tensor the elementwise one.",
        "Tensor; with ``dim`` a tuple of values and indices.",
        f"mint.{name}(Tensor([[1, 5], [7, 3]]))", of_all,
        f"mint.{name}(Tensor([[1, 5], [7, 3]]), 0)[0]", of_columns,
        f"mint.{name}(Tensor([1, 5]), Tensor([2, 4]))", of_both,
    )  # fmt: skip
    return function


max, min = _extreme(True), _extreme(False)


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean over ``dim``.

    Returns:
        Tensor.

    Examples:
        >>> print(mint.mean(Tensor([[1.0, 2.0], [3.0, 6.0]]), dim=0), mint.mean(Tensor([1.0, 2.0])))
        [2. 4.] 1.5
    """
    return reduce.mean(in_dtype(input, dtype), dim, keepdim)


def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm over ``dim``.

    Returns:
        Tensor.

    Examples:
        >>> print(mint.norm(Tensor([3.0, 4.0])), mint.norm(Tensor([[3.0, -4.0], [1.0, 1.0]]), p=1, dim=1))
        5.0 [7. 2.]
    """
    order = 2 if p in ("fro", None) else p
    if order == "nuc":
        return linalg.matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    return linalg.vector_norm(input, order, dim, keepdim, dtype=dtype)


def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The product over ``dim``.

    Returns:
        Tensor.

    Examples:
        >>> print(mint.prod(Tensor([[1.0, 2.0], [3.0, 4.0]]), dim=1))
        [ 2. 12.]
    """
    return reduce.prod(input, dim, keepdim, dtype)


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Product of two matrices.

    Returns:
        Tensor, of shape (rows, columns).

    Examples:
        >>> print(mint.mm(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[1.0], [10.0]])))
        [[21.]
         [43.]]
    """
    need_tensor("mm", input=input, mat2=mat2)
    if input.ndim != 2 or mat2.ndim != 2:
        raise ValueError(f"For 'mm', both inputs must be 2-D, but got {input.ndim}-D and {mat2.ndim}-D.")
    return operators.matrix_multiply(input, mat2)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """p-norms of the differences of all pairs of rows; always computed from the differences.

    Returns:
        Tensor, of shape (..., rows of ``x1``, rows of ``x2``).

    Examples:
        >>> print(mint.cdist(Tensor([[0.0, 0.0], [3.0, 4.0]]), Tensor([[0.0, 0.0]])))
        [[0.]
         [5.]]
    """
    modes = (
        "use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist",
    )  # fmt: skip
    if compute_mode not in modes:
        raise ValueError(f"For 'cdist', the 'compute_mode' must be in {list(modes)}, but got {compute_mode!r}.")
    return linalg.cdist(x1, x2, p)


_scatter = index.scatter


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``input`` with ``src`` added at one index along ``dim`` each.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(mint.scatter_add(mint.zeros(2, 3), 1, Tensor([[0, 2], [1, 1]]), Tensor([[1.0, 2.0], [3.0, 4.0]])))
        [[1. 0. 2.]
         [0. 7. 0.]]
    """
    return statistics.scatter_add_elements(input, dim, index, src)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice ``index`` along ``dim``.

    Returns:
        Tensor, with one axis less than ``input``.

    Examples:
        >>> print(mint.select(Tensor([[1, 2], [3, 4]]), 1, 0))
        [1 3]
    """
    axis = existing_axis(dim, input.ndim, "select")
    at = index + input.shape[axis] if index < 0 else index
    return movement.squeeze(tensor_parts.narrow(input, axis, at, 1), (axis,))


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """``exp(input)`` divided by its sum along ``dim``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(mint.softmax(Tensor([[0.0, 0.0], [0.0, 100.0]]), dim=1))
        [[5.0e-01 5.0e-01]
         [3.8e-44 1.0e+00]]
    """
    return compute(input, dim, dtype=dtype)


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without axes of size 1.

    Returns:
        Tensor, of the dtype of ``input``.

    Examples:
        >>> print(mint.squeeze(mint.ones(1, 2, 1)).shape, mint.squeeze(mint.ones(1, 2, 1), dim=0).shape)
        (2,) (2, 1)
    """
    need_tensor("Squeeze", input=input)
    return shaped.squeeze(input, dim)


def _moment(root: bool, with_mean: bool) -> Callable[..., Any]:
    def function(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
        out, mean_ = reduce.var_and_mean(input, dim, correction, keepdim, "var", root)
        return (out, mean_) if with_mean else out

    function.__name__ = ("std" if root else "var") + ("_mean" if with_mean else "")
    name = function.__name__
    printed = "1.4142135" if root else "2.0"
    function.__doc__ = forms.documented(
        f"The {'standard deviation' if root else 'variance'} over ``dim``{' and the mean' if with_mean else ''}; "
        "divides by the count minus ``correction``.",
        "tuple of two Tensors." if with_mean else "Tensor.",
        f"*mint.{name}(Tensor([[1.0, 3.0], [3.0, 5.0]]), 1)" if with_mean else f"mint.{name}(Tensor([1.0, 3.0]))",
        f"[{', '.join([printed] * 2)}] [2. 4.]".replace(".0", ".").replace(",", "") if with_mean else printed,
    )  # fmt: skip
    return function


std, var, std_mean, var_mean = (_moment(True, False), _moment(False, False), _moment(True, True), _moment(False, True))


def _as(fn: Callable[..., Any], name: str, weak_numbers: bool = False, /, **names: str) -> Callable[..., Any]:
    return renamed(fn, name, weak_numbers, "mint", **names)


_RENAMED: dict[str, Callable[..., Any]] = {
    "sub": _as(math.subtract, "sub"),
    "div": _as(math.div, "div", True),
    "all": _as(reduce.all, "all", axis="dim", keep_dims="keepdim"),
    "any": _as(reduce.any, "any", axis="dim", keep_dims="keepdim"),
    "arange": _as(creation.arange, "arange"),
    "argmax": _as(reduce.argmax, "argmax"),
    "cat": _as(joining.concat, "cat", axis="dim"),
    "stack": _as(joining.stack, "stack", axis="dim"),
    "chunk": _as(joining.chunk, "chunk", axis="dim"),
    "split": _as(joining.split, "split", axis="dim"),
    "cummax": _as(reduce.cummax, "cummax", axis="dim"),
    "cummin": _as(reduce.cummin, "cummin", axis="dim"),
    "cumprod": _as(reduce.cumprod, "cumprod"),
    "diff": _as(statistics.diff, "diff", x="input", axis="dim"),
    "dstack": _as(joining.dstack, "dstack"),
    "flip": _as(array.flip, "flip"),
    "gather": _as(index.gather_elements, "gather"),
    "index_select": _as(index.index_select, "index_select", axis="dim"),
    "nansum": _as(reduce.nansum, "nansum", axis="dim", keepdims="keepdim"),
    "narrow": _as(array.narrow, "narrow", axis="dim"),
    "permute": _as(array.permute, "permute", axis="dims"),
    "scatter": _as(index.scatter, "scatter", axis="dim"),
    "transpose": _as(array.swapaxes, "transpose", axis0="dim0", axis1="dim1"),
    "float_power": _as(_M["float_power"], "float_power"),
}
"""Functions of ``ops`` whose parameters have PyTorch's names here."""

FUNCTIONS: dict[str, Callable[..., Any]] = forms.public_functions(globals()) | _RENAMED | {
    "sqrt": renamed(_M["sqrt"], x="input"), "frac": renamed(_M["frac"], x="input"),
    "bmm": renamed(products.bmm, input_x="input"), "mv": renamed(products.mv, mat="input"),
    "isnan": renamed(_M["isnan"], input="tensor"), "mm": launchable(mm), "concat": _RENAMED["cat"],
    "divide": _RENAMED["div"], "floor_divide": _M["floor_divide"], "fix": _M["trunc"], "vdot": products.dot,
}  # fmt: skip
make_public(FUNCTIONS, globals())
FUNCTIONS = creation_functions.FUNCTIONS | order.FUNCTIONS | FUNCTIONS
