"""Comparisons and tests that give bool."""

from __future__ import annotations

import math
from typing import Any

from duograph.core import dtype as dt
from duograph.ops import arithmetic, unary
from duograph.ops import compare as compare_ops
from duograph.ops.complex import imag
from duograph.ops.creation import constant_like, full
from duograph.ops.logical import logical_and, logical_or
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from .. import operators
from ..promote import promote, promote_float
from .forms import binary_function, need_tensor, public_functions

_IO = ("input", "other")
_COMPARISONS = {
    "equal": (operators.equal, "Whether equal; NaN equals nothing."), "eq": (operators.equal, "As `equal`."),
    "not_equal": (operators.not_equal, "Whether different."), "ne": (operators.not_equal, "As `not_equal`."),
    "less": (operators.less, "``input < other``."), "lt": (operators.less, "As `less`."),
    "tensor_lt": (operators.less, "As `less`."),
    "less_equal": (operators.less_equal, "``input <= other``."), "le": (operators.less_equal, "As `less_equal`."),
    "tensor_le": (operators.less_equal, "As `less_equal`."),
    "greater": (operators.greater, "``input > other``."), "gt": (operators.greater, "As `greater`."),
    "tensor_gt": (operators.greater, "As `greater`."),
    "greater_equal": (operators.greater_equal, "``input >= other``."),
    "ge": (operators.greater_equal, "As `greater_equal`."),
    "tensor_ge": (operators.greater_equal, "As `greater_equal`."),
}  # fmt: skip


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether ``|input - other| <= atol + rtol * |other|``; equal infinities are close.

    Returns:
        Tensor of bool, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.isclose(Tensor([1.0, 2.0]), Tensor([1.0, 2.5])))
        [ True False]
    """
    need_tensor("IsClose", input=input, other=other)
    x, y = promote(input, other, "IsClose")
    same = compare_ops.equal(x, y)
    if not x.dtype.is_bool:
        a, b = promote_float(x), promote_float(y)
        gap = arithmetic.abs_(arithmetic.sub(a, b))
        size = arithmetic.abs_(b)
        limit = arithmetic.add(constant_like(size, atol), arithmetic.mul(constant_like(size, rtol), size))
        near = logical_and(compare_ops.less_equal(gap, limit), unary.isfinite(b))
        same = logical_or(same, near)
        if equal_nan:
            same = logical_or(same, logical_and(unary.isnan(a), unary.isnan(b)))
    return same


def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-5) -> Tensor:
    """Whether ``|x - y| < tolerance``.

    Returns:
        Tensor of bool, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.approximate_equal(Tensor([1.0, 2.0]), Tensor([1.0, 2.5])))
        [ True False]
    """
    need_tensor("ApproximateEqual", x=x, y=y)
    x, y = promote(x, y, "ApproximateEqual")
    gap = arithmetic.abs_(arithmetic.sub(x, y))
    return compare_ops.less(gap, constant_like(gap, tolerance))


def isposinf(input: Tensor) -> Tensor:
    """Whether positive infinity.

    Returns:
        Tensor of bool, of the shape of ``input``.

    Examples:
        >>> print(ops.isposinf(Tensor([1.0, float("inf"), -float("inf")])))
        [False  True False]
    """
    need_tensor("IsPosInf", input=input)
    return _is_infinity(input, math.inf)


def isneginf(input: Tensor) -> Tensor:
    """Whether negative infinity.

    Returns:
        Tensor of bool, of the shape of ``input``.

    Examples:
        >>> print(ops.isneginf(Tensor([1.0, float("inf"), -float("inf")])))
        [False False  True]
    """
    need_tensor("IsNegInf", input=input)
    return _is_infinity(input, -math.inf)


def _is_infinity(x: Tensor, value: float) -> Tensor:
    if not x.dtype.is_floating:
        return full(shape=tuple(x.shape), value=False, dtype=dt.bool_)
    return compare_ops.equal(x, constant_like(x, value))


def isreal(input: Tensor) -> Tensor:
    """Whether the imaginary part is 0.

    Returns:
        Tensor of bool, of the shape of ``input``.

    Examples:
        >>> print(ops.isreal(Tensor([1 + 1j, 2 + 0j])))
        [False  True]
    """
    need_tensor("IsReal", input=input)
    if not input.dtype.is_complex:
        return full(shape=tuple(input.shape), value=True, dtype=dt.bool_)

    part = imag(input)
    return compare_ops.equal(part, constant_like(part, 0))


def is_nonzero(input: Tensor) -> Any:
    """Whether the only element of ``input`` is not 0.

    Returns:
        bool

    Examples:
        >>> print(ops.is_nonzero(Tensor([2])))
        True
    """
    return hooks.truth(operators.not_equal(input, 0))


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor.

    Returns:
        bool

    Examples:
        >>> print(ops.is_tensor(Tensor([1])), ops.is_tensor(1))
        True False
    """
    return isinstance(obj, Tensor)


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex.

    Returns:
        bool

    Examples:
        >>> print(ops.is_complex(Tensor([1.0])))
        False
    """
    need_tensor("is_complex", input=input)
    return input.dtype.is_complex


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is floating.

    Returns:
        bool

    Examples:
        >>> print(ops.is_floating_point(Tensor([1.0])))
        True
    """
    need_tensor("is_floating_point", input=input)
    return input.dtype.is_floating


FUNCTIONS = public_functions(globals()) | {
    **{name: binary_function(name, fn, _IO, doc) for name, (fn, doc) in _COMPARISONS.items()},
}  # fmt: skip
