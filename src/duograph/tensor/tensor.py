"""`Tensor`: a handle on a value that is either computed (a NumPy array) or described (a MindIR node).

The same class serves both lives of a program. In dynamic mode ``_data`` is an ``ndarray``; under capture it is an
``ir.Node``. Both have ``shape`` and ``dtype``, and every operation goes through `core.op.Op`, so library code written
against Tensors runs unchanged in both. Methods and operators are attached from one table on the top floor
(``duograph.api.tensor_methods``); this file knows no operator.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import Dim
from duograph.core.dtype import DType, as_dtype
from duograph.core.types import ScalarType, TensorType, Type, scalar_type

from .alias import Alias, ViewLink, fresh_stamp, root_of


class SymbolicValueError(RuntimeError):
    """The concrete value of a tensor was asked for while it is only described by a graph."""


class Tensor:
    """A multi-dimensional array of one dtype.

    Args:
        input_data: a number, nested list or tuple of numbers, NumPy array or Tensor.
        dtype: dtype of the result; default: taken from the data (Python float gives float32, int gives int64,
            NumPy arrays keep theirs).
        shape: shape, only together with ``init``.
        init: an initializer, only together with ``shape`` and ``dtype``.

    Raises:
        TypeError: the data cannot be a Tensor.
        ValueError: nested lists are ragged.

    Examples:
        >>> import duograph as ms
        >>> print(ms.Tensor([1.0, 2.0]))
        [1. 2.]
    """

    __slots__ = ("__dict__", "__weakref__", "_alias", "_data", "_view")

    _data: Any
    _alias: Alias
    _view: ViewLink | None

    def __init__(
        self,
        input_data: Any = None,
        dtype: Any = None,
        shape: Any = None,
        init: Any = None,
        const_arg: bool = False,
        device: str | None = None,
    ) -> None:
        if init is not None:
            data = init.materialize(shape, dtype) if hasattr(init, "materialize") else init
            self._become(data if isinstance(data, Tensor) else array_from(data, dtype))
            return
        if input_data is None and shape is not None and dtype is not None:
            self._become(np.zeros(tuple(shape), as_dtype(dtype).numpy))
            return
        if isinstance(input_data, Tensor):
            self._become(_copied(input_data, dtype))
            return
        self._become(array_from(input_data, dtype))

    def _become(self, data: Any) -> None:
        """Makes this handle the root of a new storage holding ``data`` (array, node, or another tensor's payload)."""
        self._data = data._data if isinstance(data, Tensor) else data
        self._alias = Alias()
        self._view = None

    @property
    def is_symbolic(self) -> bool:
        """Whether this tensor is described by a graph node (under capture) and has no value yet."""
        return type(self._data) is not np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Tuple of the dimensions."""
        return self._data.shape

    @property
    def dtype(self) -> DType:
        """Element type."""
        data = self._data
        return dt.from_numpy(data.dtype) if type(data) is np.ndarray else data.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._data.shape)

    @property
    def type(self) -> TensorType:
        return TensorType(self.dtype, self._data.shape)

    def array(self) -> np.ndarray:
        """The NumPy array behind this tensor, without a copy (internal; users call `asnumpy`)."""
        if type(self._data) is not np.ndarray:
            raise SymbolicValueError("the value of this tensor is not known while its graph is being built")
        return self._data


def wrap(data: Any) -> Tensor:
    """A new tensor that owns ``data``: an ndarray, or a node under capture."""
    t = Tensor.__new__(Tensor)
    t._data = data
    t._alias = Alias()
    t._view = None
    return t


def wrap_view(data: Any, link: ViewLink) -> Tensor:
    """A new tensor that shows part of the storage of ``link.parent``."""
    t = Tensor.__new__(Tensor)
    t._data = data
    t._alias = link.parent._alias
    t._view = link
    return t


def type_of(value: Any) -> Type:
    """The type of an operand: a Tensor's, a graph scalar's, or that of a Python number."""
    if isinstance(value, Tensor):
        return value.type
    kind = getattr(value, "type", None)
    return kind if isinstance(kind, ScalarType) else scalar_type(value)


def array_from(data: Any, dtype: Any = None) -> np.ndarray:
    """A fresh C-contiguous array from user data with MindSpore's dtype rules."""
    want = None if dtype is None else as_dtype(dtype).numpy
    if isinstance(data, np.ndarray) or isinstance(data, np.generic):
        arr = np.array(data, dtype=want, order="C", copy=True)
        _check_supported(arr, data)
        return arr
    if isinstance(data, bool | int | float | complex):
        return np.array(data, dtype=want or dt.dtype_of(data).numpy)
    if isinstance(data, list | tuple | range):
        return _array_from_sequence(data, want)
    raise TypeError(
        "For Tensor, the `input_data` must be one of [Tensor, ndarray, str, list, tuple, float, int, bool, complex, "
        f"bytes], but got {data!r} with type {type(data).__name__}."
    )


def _array_from_sequence(data: Any, want: Any) -> np.ndarray:
    plain, has_numpy = _plain(data)
    try:
        arr = np.array(plain)
    except ValueError as exc:
        raise ValueError(f"For Tensor, the input_data is ragged or not numeric: {exc}") from None
    if arr.dtype == object:
        raise TypeError(f"For Tensor, the input_data must contain numbers only, but got {data!r}.")
    _check_supported(arr, data)
    if want is None and arr.dtype == np.float64 and not has_numpy:
        want = np.float32
    if want is None and arr.size == 0 and not has_numpy:
        want = np.float32
    if want is None and arr.dtype == np.complex128 and not has_numpy:
        want = np.complex64
    return np.ascontiguousarray(arr, dtype=want).reshape(arr.shape)


def _plain(data: Any) -> tuple[Any, bool]:
    """Nested sequences with tensors replaced by arrays, and whether any array-like (with its own dtype) was met."""
    if isinstance(data, Tensor):
        return data.array(), True
    if isinstance(data, np.ndarray | np.generic):
        return data, True
    if isinstance(data, list | tuple):
        parts = [_plain(x) for x in data]
        return [p for p, _ in parts], any(flag for _, flag in parts)
    return data, False


def _check_supported(arr: np.ndarray, data: Any) -> None:
    if arr.dtype.kind not in "biufc" and arr.dtype != ml_dtypes.bfloat16:
        raise TypeError(f"For Tensor, the input_data of dtype {arr.dtype} is not supported: {data!r}")


def _copied(source: Tensor, dtype: Any) -> np.ndarray:
    want = None if dtype is None else as_dtype(dtype).numpy
    return np.array(source.array(), dtype=want, order="C", copy=True)


__all__ = [
    "Alias", "Dim", "SymbolicValueError", "Tensor", "ViewLink", "array_from", "fresh_stamp", "root_of", "type_of",
    "wrap", "wrap_view",
]  # fmt: skip
