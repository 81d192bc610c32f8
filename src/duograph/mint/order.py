"""Functions of ``mint`` that put elements in order or find those that differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.api import tensor_shape as shaped
from duograph.api.functional import (
    forms,
    sorting,
)
from duograph.api.functional.forms import axis_of, need_tensor, static_int
from duograph.api.native import make_public
from duograph.core import dtype as dt
from duograph.ops import movement, search
from duograph.ops.scalar import integer_of
from duograph.ops.sort import sort as sort_op
from duograph.ops.sort import topk as topk_op
from duograph.tensor.tensor import Tensor


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of all elements; with ``dim`` also its index.

    Returns:
        Tensor; with ``dim`` values and indices.

    Examples:
        >>> print(mint.median(Tensor([3.0, 1.0, 4.0, 2.0])))
        2.0
        >>> values, indices = mint.median(Tensor([[3.0, 1.0, 2.0], [7.0, 9.0, 8.0]]), dim=1)
        >>> print(values, indices)
        [2. 8.] [2 2]
    """
    need_tensor("Median", input=input)
    if dim is None:
        return sorting.median(shaped.ravel(input), 0)[0]
    return sorting.median(input, dim, keepdim)


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """In order along ``dim``, and the int64 indices.

    Returns:
        tuple of two Tensors, of the shape of ``input``.

    Examples:
        >>> values, indices = mint.sort(Tensor([3, 1, 2]), descending=True)
        >>> print(values, indices)
        [3 2 1] [0 2 1]
    """
    need_tensor("Sort", input=input)
    axis = axis_of(dim, input, "sort")
    return sort_op(input, axis=axis, descending=descending, index_dtype=dt.int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The int64 indices that put ``input`` in order.

    Returns:
        Tensor of int64, of the shape of ``input``.

    Examples:
        >>> print(mint.argsort(Tensor([[3, 1, 2], [4, 6, 5]])))
        [[1 2 0]
         [0 2 1]]
    """
    return sort(input, dim=dim, descending=descending)[1]


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The ``k`` largest or smallest elements and their int64 indices.

    Returns:
        tuple of two Tensors.

    Examples:
        >>> values, indices = mint.topk(Tensor([3, 1, 4, 2]), 2)
        >>> print(values, indices)
        [4 3] [2 0]
    """
    axis = axis_of(dim, input, "topk")
    return topk_op(input, k=integer_of(static_int(k, "topk", "k")), axis=axis, largest=largest, index_dtype=dt.int64)


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements; on demand which one each element is, and how often each occurs.

    Returns:
        Tensor, or a tuple of those that are asked for.

    Raises:
        ValueError: ``dim`` is given.

    Examples:
        >>> values, inverse, counts = mint.unique(Tensor([3, 1, 3, 2]), return_inverse=True, return_counts=True)
        >>> print(values, inverse, counts)
        [1 2 3] [2 0 2 1] [1 1 2]
    """
    need_tensor("Unique", input=input)
    if dim is not None:
        raise ValueError("For 'unique', 'dim' is not supported; unique elements of the flattened tensor are.")
    values, inverse, counts = search.unique(shaped.ravel(input), ordered=sorted)
    inverse = movement.reshape(inverse, shape=tuple(input.shape))
    picked = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return picked[0] if len(picked) == 1 else tuple(picked)


FUNCTIONS: dict[str, Callable[..., Any]] = forms.public_functions(globals())
make_public(FUNCTIONS, globals())
