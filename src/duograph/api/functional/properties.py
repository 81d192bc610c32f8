"""What a tensor is: shape, size, dtype, device; and the same values in another dtype, as a copy or as a constant."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.core.dtype import as_dtype
from duograph.core.shapes import numel
from duograph.ops.cast import identity as identity_op
from duograph.ops.cast import stop_gradient as stop_gradient_op
from duograph.tensor.tensor import Tensor

from ..promote import as_tensor, describe, to_dtype
from .forms import documented, named, need_tensor, public_functions, renamed


def cast(input: Any, dtype: Any) -> Tensor:
    """``input`` (tensor or number) in ``dtype``.

    Returns:
        Tensor, of the shape of ``input`` and of ``dtype``.

    Raises:
        TypeError: ``dtype`` is no MindSpore dtype.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.cast(Tensor([1.7]), ms.int32))
        [1]
    """
    if not isinstance(dtype, dt.Type):
        raise TypeError(f"For 'Cast', the 'dtype' must be a MindSpore dtype, but got {describe(dtype)}.")
    return to_dtype(as_tensor(input, op="Cast"), as_dtype(dtype))


def shape(input_x: Tensor) -> tuple[Any, ...]:
    """The shape, a tuple.

    Returns:
        tuple[int, ...]

    Examples:
        >>> print(ops.shape(Tensor([[1, 2]])))
        (1, 2)
    """
    need_tensor("Shape", input_x=input_x)
    return tuple(input_x.shape)


def rank(input_x: Tensor) -> int:
    """The number of dimensions.

    Returns:
        int

    Examples:
        >>> print(ops.rank(Tensor([[1, 2]])))
        2
    """
    need_tensor("Rank", input_x=input_x)
    return input_x.ndim


def size(input_x: Tensor) -> Any:
    """The number of elements.

    Returns:
        int

    Examples:
        >>> print(ops.size(Tensor([[1, 2]])))
        2
    """
    need_tensor("Size", input_x=input_x)
    return numel(input_x.shape)


def dtype(x: Tensor) -> dt.DType:
    """The element type.

    Returns:
        The dtype, such as ``mindspore.float32``.

    Examples:
        >>> print(ops.dtype(Tensor([1.0])))
        Float32
    """
    need_tensor("DType", x=x)
    return x.dtype


def stop_gradient(value: Any) -> Any:
    """``value`` as something that gradients do not flow through.

    Returns:
        What was given: equal values, tensors that share their storage.

    Examples:
        >>> print(ms.grad(lambda x: (ops.stop_gradient(x) * x).sum())(Tensor([2.0, 3.0])))
        [2. 3.]
    """
    return stop_gradient_op(value) if isinstance(value, Tensor) else value


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the dtype of ``other``.

    Returns:
        Tensor, of the shape of ``input`` and the dtype of ``other``.

    Examples:
        >>> print(ops.type_as(Tensor([1.5]), Tensor([0])))
        [1]
    """
    need_tensor("TypeAs", input=input, other=other)
    return cast(input, other.dtype)


def identity(x: Any) -> Any:
    """``x`` itself.

    Returns:
        What was given.

    Examples:
        >>> print(ops.identity(Tensor([1, 2])))
        [1 2]
    """
    return identity_op(x) if isinstance(x, Tensor) else x


def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """``input`` on the device ``to``; here there is the CPU alone.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Raises:
        ValueError: unknown or missing device.

    Examples:
        >>> print(ops.move_to(Tensor([1, 2]), "CPU"))
        [1 2]
    """
    need_tensor("MoveTo", input=input)
    return input.move_to(to, blocking)


def dyn_shape(input_x: Tensor) -> Tensor:
    """The shape as an int64 tensor.

    Returns:
        Tensor, of shape ``(rank,)`` and int64.

    Examples:
        >>> print(ops.dyn_shape(Tensor([[1, 2]])))
        [1 2]
    """
    need_tensor("TensorShape", input_x=input_x)
    return as_tensor(tuple(input_x.shape), dt.int64)


FUNCTIONS = public_functions(globals()) | {
    "shape_": shape,
    "numel": renamed(size, "numel", input_x="input"),
    "deepcopy": named(
        lambda input_x: input_x.copy(), "deepcopy",
        documented("A copy with a storage of its own.", "Tensor, of the shape and dtype of ``input_x``.",
                   "ops.deepcopy(Tensor([1, 2]))", "[1 2]"),
    ),
}  # fmt: skip
