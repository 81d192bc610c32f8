"""Properties of Tensor that ask for its type only, and changes of dtype and device."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.core.dim import Dim, UnknownSizeError
from duograph.core.dtype import DType
from duograph.core.shapes import numel
from duograph.ops.cast import cast, identity
from duograph.ops.layout import assume, layout_of, lies_contiguously, stand_in
from duograph.tensor import hooks
from duograph.tensor.tensor import Tensor

from .functional.forms import documented
from .promote import refusal, to_dtype

# ---- properties -----------------------------------------------------------------------------------------------------


def size(self: Tensor) -> int:
    """Number of elements.

    Returns:
        int

    Examples:
        >>> print(Tensor([[1, 2]]).numel())
        2
    """
    return numel(self.shape)  # type: ignore[return-value]


def itemsize(self: Tensor) -> int:
    """Bytes of one element."""
    return self.dtype.itemsize


def nbytes(self: Tensor) -> int:
    """Bytes of all elements."""
    return self.dtype.itemsize * size(self)


def strides(self: Tensor) -> tuple[int, ...]:
    """Bytes to step along each axis."""
    return tuple(n * self.dtype.itemsize for n in stride(self))


def device(self: Tensor) -> str:
    """Where the tensor lives: ``CPU``."""
    return "CPU"


def data(self: Tensor) -> Tensor:
    """Another handle on the same storage."""
    return identity(self)


def has_init(self: Tensor) -> bool:
    """Whether an initializer has yet to fill the tensor; here it always has."""
    return False


PROPERTIES: dict[str, Any] = {
    f.__name__: property(f) for f in (size, itemsize, nbytes, strides, device, data, has_init)
}


# ---- questions ------------------------------------------------------------------------------------------------------


def dim(self: Tensor) -> int:
    """Number of dimensions.

    Returns:
        int

    Examples:
        >>> print(Tensor([[1, 2]]).dim())
        2
    """
    return len(self.shape)


def stride(self: Tensor, dim: int | None = None) -> Any:
    """Elements to step along each axis, or along axis ``dim``.

    Returns:
        list[int], or int for ``dim``.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).stride())
        [2, 1]
    """
    if any(isinstance(n, Dim) for n in self.shape):
        raise UnknownSizeError("the strides of a tensor whose size varies")
    assume(layout_of(self))
    array = stand_in(self)
    steps = [n // array.dtype.itemsize for n in array.strides]
    if dim is None:
        return steps
    if not -len(steps) <= dim < len(steps):
        rank = len(steps)
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    return steps[dim]


def is_contiguous(self: Tensor) -> bool:
    """Whether the elements lie one after the other in memory.

    Returns:
        bool

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).T.is_contiguous())
        False
    """
    found, assumed = lies_contiguously(self)
    assume(assumed)
    return found


def contiguous(self: Tensor) -> Tensor:
    """The tensor itself if it is contiguous, else a contiguous copy.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).T.contiguous().is_contiguous())
        True
    """
    return self if is_contiguous(self) else cast(self, dtype=self.dtype)


def storage_offset(self: Tensor) -> int:
    """Elements between the start of the storage and this tensor.

    Returns:
        int

    Examples:
        >>> print(Tensor([1, 2, 3])[1:].storage_offset())
        1
    """
    root = self
    while root._view is not None:
        root = root._view.parent
    start = hooks.value_of(root, "storage_offset()").__array_interface__["data"][0]
    return (hooks.value_of(self, "storage_offset()").__array_interface__["data"][0] - start) // self.dtype.itemsize


def data_ptr(self: Tensor) -> int:
    """Address of the first element.

    Returns:
        int

    Examples:
        >>> x = Tensor([1, 2])
        >>> print(x.data_ptr() == x.asnumpy().ctypes.data)
        True
    """
    return hooks.value_of(self, "data_ptr()").__array_interface__["data"][0]


def is_floating_point(self: Tensor) -> bool:
    """Whether the dtype is a floating one.

    Returns:
        bool

    Examples:
        >>> print(Tensor([1.0]).is_floating_point())
        True
    """
    return self.dtype.is_floating


def is_complex(self: Tensor) -> bool:
    """Whether the dtype is complex.

    Returns:
        bool

    Examples:
        >>> print(Tensor([1.0]).is_complex())
        False
    """
    return self.dtype.is_complex


def is_signed(self: Tensor) -> bool:
    """Whether the dtype can hold negative numbers.

    Returns:
        bool

    Examples:
        >>> print(Tensor([1], ms.uint8).is_signed())
        False
    """
    return self.dtype.is_signed


# ---- dtype and device -----------------------------------------------------------------------------------------------


def astype(self: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    """The tensor in ``dtype``; the same object if it has it already.

    Args:
        dtype: a dtype, ``bool``, ``int``, ``float``, ``complex`` or a name such as ``"float32"``.
        copy: accepted for compatibility.

    Returns:
        Tensor.

    Raises:
        TypeError: ``dtype`` names no dtype.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(Tensor([1.7, 2.2]).astype("int32"))
        [1 2]
    """
    return to_dtype(self, dt.as_dtype(dtype, "astype"))


def type_(self: Tensor, dtype: Any = None) -> Any:
    """The name of the dtype; or the tensor in ``dtype``, if one is given.

    Args:
        dtype: as of `astype`. Default: ``None``.

    Returns:
        Tensor or str.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(Tensor([1.5]).type(), Tensor([1.5]).type("int32"))
        Float32 [1]
    """
    return str(self.dtype) if dtype is None else to_dtype(self, dt.as_dtype(dtype, "type"))


def to(
    self: Tensor, *target: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False, copy: bool = False
) -> Tensor:
    """The tensor in another dtype, or that of another tensor; devices other than CPU are refused.

    With ``copy`` always another tensor.

    Returns:
        Tensor; this one, if it is as wanted.

    Examples:
        >>> print(Tensor([1, 2]).to(ms.float32))
        [1. 2.]
    """
    out = self
    for x in (*target, dtype, device):
        if isinstance(x, Tensor):
            out = to_dtype(out, x.dtype)
        elif isinstance(x, str) and x.split(":")[0].upper() in ("CPU", "GPU", "ASCEND"):
            move_to(out, x)
        elif x is not None and not isinstance(x, bool):
            out = astype(out, x)
    return cast(out, dtype=out.dtype) if copy and out is self else out


def move_to(self: Tensor, to: str, blocking: bool = True) -> Tensor:
    """The tensor on device ``to``; there is only the CPU.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2]).move_to("CPU"))
        [1 2]
    """
    if not isinstance(to, str):
        raise TypeError(f"For 'move_to', the device must be str, but got {type(to).__name__}.")
    if to.split(":", maxsplit=1)[0].upper() != "CPU":
        raise ValueError(f"For 'move_to', the device {to!r} is not available, this build runs on CPU only.")
    return self


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the dtype of ``other``.

    Returns:
        Tensor, of this shape.

    Examples:
        >>> print(Tensor([1, 2]).type_as(Tensor([0.5])))
        [1. 2.]
    """
    if not isinstance(other, Tensor):
        raise refusal("TypeAs", self, other)
    return to_dtype(self, other.dtype)


def _converter(name: str, dtype: DType) -> Any:
    def convert(self: Tensor) -> Tensor:
        return to_dtype(self, dtype)

    convert.__doc__ = documented(
        f"The tensor in {dtype.name}.", f"Tensor, of this shape and {dtype.name}; this one, if it is that already.",
        f"Tensor([0, 1]).{name}().dtype", str(dtype),
    )  # fmt: skip
    return convert


def value(self: Tensor) -> Tensor:
    """The tensor itself.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2]).value())
        [1 2]
    """
    return self


def copy(self: Tensor) -> Tensor:
    """A copy with a storage of its own; gradients flow through it.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([1, 2]).copy())
        [1 2]
    """
    return cast(self, dtype=self.dtype)


def init_data(self: Tensor, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
    """The tensor itself: initializers run when a tensor is made.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 2]).init_data())
        [1 2]
    """
    return self


def flush_from_cache(self: Tensor) -> None:
    """Does nothing: there is no host cache.

    Returns:
        None.

    Examples:
        >>> print(Tensor([1, 2]).flush_from_cache())
        None
    """


_CONVERTERS = {
    "float": dt.float32, "half": dt.float16, "bfloat16": dt.bfloat16, "double": dt.float64, "int": dt.int32,
    "long": dt.int64, "short": dt.int16, "byte": dt.uint8, "bool": dt.bool_,
}  # fmt: skip
METHODS: dict[str, Any] = {
    "dim": dim, "ndimension": dim, "numel": size, "nelement": size, "stride": stride, "is_contiguous": is_contiguous,
    "contiguous": contiguous, "storage_offset": storage_offset, "data_ptr": data_ptr, "value": value, "copy": copy,
    "clone": copy, "is_floating_point": is_floating_point, "is_complex": is_complex, "is_signed": is_signed,
    "astype": astype, "type": type_, "to": to, "move_to": move_to, "type_as": type_as, "init_data": init_data,
    "flush_from_cache": flush_from_cache,
    **{name: _converter(name, dtype) for name, dtype in _CONVERTERS.items()},
}  # fmt: skip
