"""Functions of ``ops`` that change their operand."""

from __future__ import annotations

from typing import Any

from duograph.ops import indexing
from duograph.ops.cast import stop_gradient as stop_gradient_op
from duograph.ops.unary import erfinv, relu
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from .activation import threshold as threshold_function
from .forms import axis_of, contents, public_functions


def inplace_index_add(var: Any, indices: Tensor, updates: Tensor, axis: int) -> Any:
    """Adds the slices ``updates`` to ``var`` at ``indices`` along ``axis``, in place.

    Returns:
        The contents of ``var`` after it.

    Examples:
        >>> print(ops.inplace_index_add(ms.Parameter(Tensor([1.0, 2.0])), Tensor([1], ms.int32), Tensor([10.0]), 0))
        [ 1. 12.]
    """
    write(var, indexing.index_add(var, indices, updates, axis=axis_of(axis, var, "InplaceIndexAdd")))
    return contents(var)


def erfinv_(input: Tensor) -> Tensor:
    """`erfinv`, in place.

    Returns:
        The tensor itself.

    Examples:
        >>> print(ops.erfinv_(Tensor([0.0, 1.0])))
        [ 0. inf]
    """
    write(input, erfinv(input))
    return input


def relu_(input: Tensor) -> Tensor:
    """`relu`, in place.

    Returns:
        The tensor itself.

    Examples:
        >>> print(ops.relu_(Tensor([-1.0, 1.0])))
        [0. 1.]
    """
    write(input, relu(input))
    return input


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """`threshold`, in place.

    Returns:
        The tensor itself.

    Examples:
        >>> print(ops.threshold_(Tensor([0.5, 2.0]), 1.0, -1.0))
        [-1.  2.]
    """
    write(input, threshold_function(input, threshold, value))
    return input


def stop_gradient_(input: Tensor) -> Tensor:
    """From here on ``input`` is a constant for gradients.

    Returns:
        The tensor itself.

    Examples:
        >>> print(ops.stop_gradient_(Tensor([1.0])))
        [1.]
    """
    write(input, stop_gradient_op(input))
    return input


FUNCTIONS = public_functions(globals())
