"""Methods of Tensor that fill, and those about what a tensor is: storage, gradients, flags of other back ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.autodiff import hooks as gradient_hooks
from duograph.core import dtype as dt
from duograph.ops import movement
from duograph.ops.creation import full
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from .functional.forms import documented, on_cpu, public_functions
from .inplace import copy_
from .inplace_index import with_diagonal
from .promote import constant, is_number, python_number, to_dtype
from .tensor_shape import shape_of


def fill(self: Tensor, value: Any) -> Tensor:
    """A new tensor of this shape and dtype, every element ``value`` (``None``: 0).

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([1.0, 2.0]).fill(3))
        [3. 3.]
    """
    value = python_number(0 if value is None else value)
    if isinstance(value, Tensor):
        return movement.broadcast_to(to_dtype(value, self.dtype), shape=tuple(self.shape))
    if not is_number(value):
        raise TypeError(f"For 'Tensor.fill', the argument 'value' must be a number, but got {value!r}.")
    return movement.broadcast_to(constant(value, self.dtype), shape=tuple(self.shape)).copy()


def fill_diagonal(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """A copy with the main diagonal filled.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).fill_diagonal(0))
        [[0 2]
         [3 0]]
    """
    return with_diagonal(self, fill_value, wrap)


def _new(name: str, value: Any) -> Callable[..., Tensor]:
    def method(self: Tensor, *size: Any, dtype: Any = None, device: Any = None) -> Tensor:
        on_cpu("new_tensor", device)
        wanted = self.dtype if dtype is None else dt.as_dtype(dtype)
        return full(shape=shape_of(size, "new"), value=value, dtype=wanted)

    method.__doc__ = documented(
        f"A tensor of shape ``size`` filled with {value}, of this dtype unless ``dtype`` says otherwise.",
        "Tensor, of shape ``size``.", f"Tensor([5]).new_{name}(2)", f"[{value} {value}]",
    )  # fmt: skip
    return method


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of shape ``size`` filled with ``fill_value``, of this dtype unless ``dtype`` says otherwise.

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> print(Tensor([1.0]).new_full((2,), 7))
        [7. 7.]
    """
    on_cpu("new_full", device)
    wanted = self.dtype if dtype is None else dt.as_dtype(dtype)
    return movement.broadcast_to(constant(fill_value, wanted), shape=shape_of((size,), "new_full")).copy()


def assign_value(self: Tensor, value: Tensor) -> Tensor:
    """The contents become those of ``value``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2]).assign_value(Tensor([3, 4])))
        [3 4]
    """
    return copy_(self, value)


def set_(self: Tensor, source: Tensor) -> Tensor:
    """Makes this tensor another handle on the storage of ``source``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2]).set_(Tensor([3, 4])))
        [3 4]
    """
    hooks.changes_handle(self, "set_()")
    self._share(source)
    return self


def register_hook(self: Tensor, hook: Callable[[Any], Any]) -> gradient_hooks.HookHandle:
    """Calls ``hook(gradient)`` when the gradient of this tensor is computed; what it returns replaces the gradient.

    Args:
        hook: function of the gradient; ``None`` as result keeps it.

    Returns:
        A handle with ``remove()``.

    Raises:
        TypeError: ``hook`` is not callable.

    Examples:
        >>> x = Tensor([1.0, 2.0])
        >>> handle = x.register_hook(lambda gradient: gradient * 10)
        >>> print(ms.grad(lambda x: (x * x).sum())(x))
        [20. 40.]
        >>> handle.remove()
    """
    if not callable(hook):
        raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
    return gradient_hooks.register_tensor_hook(self, hook)


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """The tensor itself: gradients are asked for with ``grad``, and flow to whatever that names.

    Returns:
        This tensor.

    Raises:
        TypeError: ``requires_grad`` is not a bool.

    Examples:
        >>> print(Tensor([1, 2]).requires_grad_())
        [1 2]
    """
    if not isinstance(requires_grad, bool):
        raise TypeError(f"For 'requires_grad_', the 'requires_grad' must be a bool, but got {requires_grad!r}.")
    return self


def get_bytes(self: Tensor) -> bytes:
    """The elements in row-major order as bytes.

    Returns:
        bytes

    Examples:
        >>> print(Tensor([1, 2], ms.int8).get_bytes())
        b'\\x01\\x02'
    """
    return hooks.value_of(self, "get_bytes()").tobytes()


def set_dtype(self: Tensor, dtype: Any) -> dt.DType:
    """Changes the dtype of this tensor, and returns it.

    Returns:
        The new dtype.

    Examples:
        >>> print(Tensor([1, 2]).set_dtype(ms.float32))
        Float32
    """
    wanted = dt.as_dtype(dtype)
    if wanted is not self.dtype:
        hooks.changes_handle(self, "set_dtype()")
        self._share(self, wanted)
    return wanted


def set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """Marks the tensor as a constant for compiled functions.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2]).set_const_arg())
        [1 2]
    """
    if not isinstance(const_arg, bool):
        raise TypeError(f"For 'set_const_arg', the 'const_arg' must be bool, but got {type(const_arg).__name__}.")
    self.__dict__["const_arg"] = const_arg
    return self


def _nothing(self: Tensor, *_: Any) -> None:
    """Does nothing on CPU, where every result is there when the call returns.

    Returns:
        None

    Examples:
        >>> Tensor([1, 2]).data_sync()
    """


def _never(self: Tensor) -> bool:
    """Whether other processes see the memory, or a device reads it directly: not on CPU.

    Returns:
        ``False``.

    Examples:
        >>> Tensor([1, 2]).is_pinned()
        False
    """
    return False


def pin_memory(self: Tensor) -> Tensor:
    """The tensor itself: all memory is host memory.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2]).pin_memory())
        [1 2]
    """
    return self


FLAGS: dict[str, Any] = {
    "init": None, "init_flag": False, "init_finished": True, "const_arg": False, "virtual_flag": False,
    "param_info": None, "is_meta": False, "symbolic_shape": None,
    "parent_tensor_": None, "index_of_parent_": None, "delta_seed": 0,
}  # fmt: skip
"""Attributes that every tensor has with this value unless it is set."""


METHODS: dict[str, Any] = public_functions(globals()) | {
    "new_zeros": _new("zeros", 0), "new_ones": _new("ones", 1), "new_empty": _new("empty", 0),
    "data_sync": _nothing, "wait_pipeline": _nothing, "is_shared": _never, "is_pinned": _never,
}  # fmt: skip
