"""What op declarations share and no op is needed for: checks of operand types, half precision, batching by axes.

The families of elementwise ops are in ``elementwise.py``, the gradient of broadcasting (`sum_to`) in ``movement.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dtype import DType
from duograph.core.errors import user_error
from duograph.core.op import NO_RULE, get_op
from duograph.core.shapes import show_shape, taken_equal_shapes
from duograph.core.types import TensorType, Type

# ---- types ----------------------------------------------------------------------------------------------------------


def tensor(op: str, x: Type) -> TensorType:
    """``x`` as a tensor type; `TypeError` naming ``op`` for anything else."""
    if not isinstance(x, TensorType):
        raise user_error(TypeError, "DG0404", f"{op} needs a Tensor, got {x}", f"{op}({x})")
    return x


def same_dtype(op: str, *types: Type) -> DType:
    """The common dtype of the operands; primitives do not promote, the public functions do."""
    first = tensor(op, types[0]).dtype
    for t in types[1:]:
        if tensor(op, t).dtype is not first:
            dtypes = " and ".join(str(tensor(op, x).dtype) for x in types)
            message = f"For '{op}', the operands must have one dtype, but got {dtypes}"
            operands = f"{op}({', '.join(map(str, types))})"
            raise user_error(TypeError, "DG0401", message, operands, help="x.astype(dtype) converts a tensor")
    return first


def camel(op: str) -> str:
    """The name that MindSpore's messages show: ``reduce_sum`` is ``ReduceSum``."""
    return "".join(part[:1].upper() + part[1:] for part in op.split("_"))


def kind_of(dtype: DType) -> str:
    """One letter: ``b`` bool, ``i`` integer, ``f`` floating, ``c`` complex."""
    return "b" if dtype.is_bool else "i" if dtype.is_integer else "f" if dtype.is_floating else "c"


def require_dtype(op: str, dtype: Any) -> DType:
    """``dtype`` if it is one; the ``x.dtype`` of a NumPy array that was taken for a tensor is none."""
    if not isinstance(dtype, DType):
        raise TypeError(f"{op}: the dtype must be one of mindspore, but got {type(dtype).__name__}")
    return dtype


def require_kind(op: str, x: Type, kinds: str, argument: str = "input") -> TensorType:
    """``x`` as a tensor type whose dtype is of one of ``kinds`` (letters of `kind_of`).

    Raises:
        TypeError: it is not, with MindSpore's text.
    """
    x = tensor(op, x)
    if kind_of(x.dtype) not in kinds:
        allowed = sorted(str(d) for d in dt.DTYPES if kind_of(d) in kinds and not d.name.startswith("float8"))
        message = (
            f"For primitive[{camel(op)}], the input argument[{argument}] must be a type of "
            f"{{{', '.join(allowed)}}}, but got {x.dtype}."
        )
        raise user_error(TypeError, "DG0402", message, f"{op}({x})")
    return x


def require_shape(op: str, x: TensorType, shape: Sequence[Any], argument: str) -> None:
    """Kernels rely on what an op says about the shapes of its operands: they do not look again.

    Raises:
        ValueError: the extents of ``x`` are not those of ``shape``.
    """
    if not taken_equal_shapes(x.shape, shape):
        wanted, given = show_shape(shape), show_shape(x.shape)
        message = f"For '{camel(op)}', the shape of '{argument}' must be {wanted}, but got {given}."
        raise user_error(ValueError, "DG0417", message, f"{op}: '{argument}' {x}")


_HALF = (np.dtype(np.float16), dt.bfloat16.numpy)


def in_float32(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """``kernel`` with float16 and bfloat16 arrays computed in float32 and rounded once at the end."""

    def wrapped(*arrays: Any, **attrs: Any) -> Any:
        half = None
        for a in arrays:
            if type(a) is np.ndarray and a.dtype.itemsize == 2 and a.dtype in _HALF:
                half = a.dtype
        if half is None:
            return kernel(*arrays, **attrs)
        wide = [a.astype(np.float32) if type(a) is np.ndarray and a.dtype == half else a for a in arrays]
        out = kernel(*wide, **attrs)
        return tuple(_narrow(o, half) for o in out) if isinstance(out, tuple) else _narrow(out, half)

    return wrapped


def _narrow(out: Any, half: np.dtype) -> Any:
    array = np.asarray(out)
    return array.astype(half) if array.dtype == np.float32 else out


def is_half(array: np.ndarray) -> bool:
    """Whether ``array`` is float16 or bfloat16."""
    return array.dtype in _HALF


# ---- batching (vmap) ------------------------------------------------------------------------------------------------


def batch_with(name: str, shift: Callable[..., dict[str, Any]]) -> Any:
    """Batch rule of one-operand ops whose attributes name axes: ``shift(size, rank, **attrs)`` gives them for the
    operand with a batch axis of ``size`` in front (``rank`` without it)."""

    def batch(in_axes: tuple[int | None, ...], operands: tuple[Any, ...], **attrs: Any) -> tuple[Any, Any]:
        (x,) = operands
        out = get_op(name)(x, **shift(x.shape[0], len(x.shape) - 1, **attrs))
        return out, (0,) * len(out) if isinstance(out, tuple) else 0

    return batch


__all__ = [
    "NO_RULE",
    "batch_with", "camel", "in_float32", "is_half", "kind_of", "require_dtype", "require_kind", "require_shape",
    "same_dtype", "tensor",
]  # fmt: skip
