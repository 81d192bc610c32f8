"""`Tensor`: a handle on a value that is either computed (a NumPy array) or described (a MindIR node).

The same class serves both lives of a program. In dynamic mode ``_data`` is an ``ndarray``; under capture it is an
``ir.Node``. Both have ``shape`` and ``dtype``, and every operation goes through `core.op.Op`, so library code written
against Tensors runs unchanged in both. Methods and operators are attached from one table on the top layer
(``duograph.api.tensor_methods``); this file knows no operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.core import dtype as dt
from duograph.core.dim import Dim
from duograph.core.dtype import DType, all_types, as_dtype
from duograph.core.errors import user_error
from duograph.core.op import get_op, state
from duograph.core.types import TensorType, Type, scalar_type

from .alias import CLOCK, Alias, ViewLink, fresh_stamp, root_of
from .nested import has_symbols, number_tensor, stacked

if TYPE_CHECKING:  # what the top layer attaches; there is only a stub, which scripts/stubs.py writes
    from .methods import Methods
else:
    Methods = object


class SymbolicValueError(RuntimeError):
    """The concrete value of a tensor was asked for while it is only described by a graph."""


class Tensor(Methods):
    """A multi-dimensional array of one dtype.

    Args:
        input_data: a number, nested list or tuple of numbers, NumPy array or Tensor.
        dtype: dtype of the result; default: taken from the data (Python float gives float32, int gives int64,
            NumPy arrays keep theirs).
        shape: shape, only together with ``init``.
        init: an initializer, only together with ``shape`` and ``dtype``.

    Raises:
        TypeError: the data cannot be a Tensor: ragged lists, strings, ``None``.
        ValueError: ``shape`` or ``init`` without what belongs to it.

    Examples:
        >>> import duograph as ms
        >>> print(ms.Tensor([1.0, 2.0]))
        [1. 2.]
    """

    is_parameter = False

    __slots__ = ("__dict__", "__weakref__", "_data", "_mark", "_storage", "_view")
    # Native code makes and reads tensors through these slots (``runtime/launch/launcher.py``).

    _data: Any
    _mark: Any  # what gradient tapes know about this tensor (``autodiff/tape.py``)
    _storage: Alias | int  # the alias, or as long as nobody asked for it: the time at which the storage was made
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
        if input_data is not None and shape is not None:
            raise ValueError(
                f"When initializing a tensor with 'input_data', 'shape' should be set to None.But got shape: {shape}."
            )
        if init is not None and (shape is None or dtype is None):
            raise ValueError("init, dtype and shape must have values at the same time.")
        if dtype is not None and not isinstance(dtype, DType):
            raise TypeError(f"For 'Tensor', the 'dtype' should be one of {list(all_types)}, but got type '{dtype}'.")
        if init is not None:
            data = init.materialize(shape, dtype) if hasattr(init, "materialize") else init
            self._become(data if isinstance(data, Tensor) else array_from(data, dtype))
        elif input_data is None and dtype is not None:
            self._become(_blank(shape, as_dtype(dtype)))
        elif isinstance(input_data, Tensor):
            self._share(input_data, dtype)
        elif state.binder is not None and raw_hasattr(input_data, "to_tensor"):
            self._become(number_tensor(input_data, dtype))
        elif state.binder is not None and isinstance(input_data, list | tuple) and has_symbols(input_data):
            self._become(stacked(input_data, dtype))
        else:
            self._become(array_from(input_data, dtype))

    def _share(self, source: Tensor, dtype: Any = None) -> None:
        """Makes this handle another one on the storage of ``source`` (of its copy in ``dtype`` if that differs).

        It is linked as a view, so that gradients and captured writes find their way to ``source``.

        Raises:
            RuntimeError: ``source`` is a view of this very handle.
        """
        if dtype is not None and as_dtype(dtype) is not source.dtype:
            source = get_op("cast")(source, dtype=as_dtype(dtype))
        base: Tensor | None = source
        while base is not None:
            if base is self:
                if base is source:
                    return
                raise RuntimeError(
                    "a tensor cannot be made another handle on a view of itself; take a copy of the view"
                )
            base = base._view.parent if base._view is not None else None
        twin = get_op("identity")(source)
        self._data, self._storage, self._view, self._mark = twin._data, twin._storage, twin._view, None

    def _become(self, data: Any) -> None:
        """Makes this handle the root of a new storage holding ``data`` (array, node, or another tensor's payload)."""
        self._data = data._data if isinstance(data, Tensor) else data
        self._storage = CLOCK.now
        self._view = self._mark = None

    @property
    def _alias(self) -> Alias:
        """Identity and version of the storage; shared by all tensors that show parts of it."""
        storage = self._storage
        if isinstance(storage, int):
            made = Alias(storage)
            if self._storage is storage:  # no call from here to the store: two threads never put in one each
                self._storage = made
            return self._storage  # type: ignore[return-value]  # an int was replaced
        return storage

    @_alias.setter
    def _alias(self, alias: Alias) -> None:
        self._storage = alias

    @property
    def _version(self) -> int:
        """Stamp of the last write to the storage, 0 if there was none."""
        storage = self._storage
        return 0 if isinstance(storage, int) else storage.version

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
    def abstract(self) -> TensorType:
        """What is known of the value before it is computed: dtype and shape (``Node.type`` of a node)."""
        return TensorType(self.dtype, self._data.shape)

    def array(self) -> np.ndarray:
        """The NumPy array behind this tensor, without a copy (internal; users call `asnumpy`).

        Returns:
            numpy.ndarray

        Examples:
            >>> print(Tensor([1, 2]).array())
            [1 2]
        """
        if type(self._data) is not np.ndarray:
            raise SymbolicValueError("the value of this tensor is not known while its graph is being built")
        return self._data


def wrap(data: Any) -> Tensor:
    """A new tensor that owns ``data``: an ndarray, or a node under capture."""
    t = Tensor.__new__(Tensor)
    t._data = data
    t._storage = CLOCK.now
    t._view = t._mark = None
    return t


def wrap_view(data: Any, link: ViewLink) -> Tensor:
    """A new tensor that shows part of the storage of ``link.parent``."""
    t = Tensor.__new__(Tensor)
    t._data = data
    t._storage = link.parent._alias
    t._view = link
    t._mark = None
    return t


def type_of(value: Any) -> Type:
    """The type of an operand: a Tensor's, a node's, a graph scalar's, or that of a Python number."""
    if isinstance(value, Tensor):
        return value.abstract
    kind = raw_getattr(value, "type")
    return kind if isinstance(kind, Type) else scalar_type(value)


class Placeholder(NamedTuple):
    """Payload of a tensor that only says what will be passed: ``Tensor(shape=[None, 4], dtype=ms.float32)``."""

    dtype: DType
    shape: tuple[int, ...]


def _blank(shape: Any, dtype: DType) -> Any:
    """Zeros of ``shape``; a `Placeholder` if an extent is ``None`` or -1, or the shape is."""
    if shape is None:
        return Placeholder(dtype, (-2,))
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n is None or (isinstance(n, int) and n < 0) or isinstance(n, Dim) or hasattr(n, "divisor") for n in extents):
        return Placeholder(dtype, tuple(n if isinstance(n, int) else -1 for n in extents))
    return np.zeros(extents, dtype.numpy)


def array_from(data: Any, dtype: Any = None) -> np.ndarray:
    """A fresh C-contiguous array from user data with MindSpore's dtype rules.

    Raises:
        TypeError: ``data`` is not made of numbers, or ragged.
    """
    want = None if dtype is None else as_dtype(dtype).numpy
    if isinstance(data, np.ndarray | np.generic) and np.asarray(data).dtype.kind != "M":
        arr = np.asarray(data)
        if not arr.dtype.isnative:
            arr = arr.astype(arr.dtype.newbyteorder("="))
        if arr.dtype not in SUPPORTED:
            raise TypeError(
                f"initializing tensor by numpy array failed, because the element type '{arr.dtype.type}' of array is "
                "not supported."
            )
        return _converted(arr, want)
    if isinstance(data, bool | int | float | complex):
        return _converted(_number_array(data), want or (np.float32 if isinstance(data, float) else None))
    if isinstance(data, list | tuple):
        return _array_from_sequence(data, want)
    raise TypeError(
        "For 'Tensor', the type of 'input_data' should be one of '['TensorPy', 'Tensor', 'ndarray', 'str_', 'list', "
        f"'tuple', 'float', 'int', 'bool', 'complex', 'bytes']', but got type '{type(data).__name__}'."
    )


SUPPORTED = frozenset(d.numpy for d in dt.DTYPES)
"""Dtypes of arrays that tensors are made of."""


def with_known_dtype(arr: np.ndarray) -> np.ndarray:
    """``arr``, or a view of it with the one object of its dtype: arrays that were pickled have another, and native code
    tells dtypes apart by identity."""
    known = dt.from_numpy(arr.dtype).numpy
    return arr if arr.dtype is known else arr.view(known)


def _number_array(value: Any) -> np.ndarray:
    arr = np.array(value)
    if arr.dtype == object:
        raise RuntimeError("Unsupported tensor type!")
    return arr


def _converted(arr: np.ndarray, want: Any) -> np.ndarray:
    """A copy of ``arr`` in ``want``; integers wrap around, as in MindSpore."""
    if want is None or arr.dtype == want:
        want = dt.from_numpy(arr.dtype).numpy
        if arr.dtype is want:
            return np.array(arr, order="C")
        made = np.empty(arr.shape, want)
        made[...] = arr
        return made
    with np.errstate(all="ignore"):
        if arr.dtype.kind == "c" and np.dtype(want).kind not in "cb":
            arr = arr.real
        return np.array(arr.astype(want), order="C")


def _array_from_sequence(data: Any, want: Any) -> np.ndarray:
    try:
        arr = np.array(_plain(data))
        if want is not None and want.kind in "iu" and arr.dtype.kind == "f" and arr.max(initial=0) >= 2**63:
            arr = _wrapped(np.array(_plain(data), object), arr)
    except (ValueError, OverflowError):
        arr = None
    if arr is None or arr.dtype not in SUPPORTED:
        said = f"For Tensor, the input_data is {data} that contain unsupported element."
        way = "all rows must have one length, and all elements must be numbers or bools"
        raise user_error(TypeError, "DG0404", said, "Tensor()", help=way)
    if (want is None and arr.dtype.kind == "f") or (arr.size == 0 and want is None):
        want = np.float32
    elif want is None and arr.dtype.kind == "i":  # NumPy numbers in a list count as Python's
        want = np.int64
    return _converted(arr, want)


def _wrapped(numbers: np.ndarray, floats: np.ndarray) -> np.ndarray:
    """Ints of which int64 and uint64 each hold only some, wrapped around; ``floats``, if there are others."""
    if not all(type(n) is int for n in numbers.flat):
        return floats
    return np.array([n & (2**64 - 1) for n in numbers.flat], np.uint64).reshape(numbers.shape)


def _plain(data: Any) -> Any:
    """Nested sequences with tensors replaced by arrays."""
    if isinstance(data, Tensor):
        return data.array()
    return [_plain(x) for x in data] if isinstance(data, list | tuple) else data


__all__ = [
    "SUPPORTED", "Alias", "Dim", "Placeholder", "SymbolicValueError", "Tensor", "ViewLink", "array_from", "fresh_stamp",
    "root_of", "type_of", "with_known_dtype", "wrap", "wrap_view",
]  # fmt: skip
