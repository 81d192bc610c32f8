"""What Python and NumPy expect of a Tensor: truth, numbers, iteration, arrays, copies, pickles, DLPack."""

from __future__ import annotations

import copy as copy_module
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from duograph.base.tree import map_tree
from duograph.core import dtype as dt
from duograph.core.op import get_op, state
from duograph.tensor import format as tensor_format
from duograph.tensor import hooks
from duograph.tensor.alias import root_of
from duograph.tensor.tensor import Tensor, with_known_dtype, wrap

from . import __capture__ as _OF_API
from .functional.forms import on_cpu
from .operators import eq_operator
from .promote import is_number

__capture__ = replace(_OF_API, captured=("tensor",))


def __bool__(self: Tensor) -> bool:
    return hooks.truth(self)


def __int__(self: Tensor) -> int:
    return hooks.as_python_number(self, "int")


def __float__(self: Tensor) -> float:
    return hooks.as_python_number(self, "float")


def __complex__(self: Tensor) -> complex:
    return hooks.as_python_number(self, "complex")


def __index__(self: Tensor) -> int:
    return hooks.as_python_number(self, "index")


def __len__(self: Tensor) -> int:
    if not self.shape:
        raise TypeError("Not support len of a 0-D tensor")
    return self.shape[0]


def __iter__(self: Tensor) -> Iterator[Tensor]:
    if not self.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter([self[i] for i in range(self.shape[0])])


def __contains__(self: Tensor, value: Any) -> bool:
    if not isinstance(value, Tensor) and not is_number(value):
        return False
    return bool(eq_operator(self, value).any())


def __hash__(self: Tensor) -> int:
    return object.__hash__(self) if state.binder is None else hooks.identity_of(self)


def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    array = hooks.value_of(self, "conversion to a NumPy array")
    return np.array(_lent(array), dtype=dtype, copy=copy)


def __repr__(self: Tensor) -> str:
    return tensor_format.tensor_repr(self)


def __str__(self: Tensor) -> str:
    return tensor_format.tensor_str(self)


def _repr_html_(self: Tensor) -> str:
    return tensor_format.tensor_html(self)


def __format__(self: Tensor, spec: str) -> str:
    if not spec:
        return str(self)
    if self.size != 1:
        raise TypeError(
            f"unsupported format string passed to Tensor.__format__: {spec!r} formats one number, but the shape is "
            f"{tuple(self.shape)}"
        )
    return format(item(self), spec)


def __array_function__(self: Tensor, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """``numpy.mean(tensor)`` and its like: NumPy's function of the arrays, whose result is NumPy's.

    Left alone, some of these functions ask a method of the same name, whose arguments are MindSpore's.
    """

    def plain(value: Any) -> Any:
        return asnumpy(value) if isinstance(value, Tensor) else value

    if isinstance(kwargs.get("out"), Tensor):
        raise TypeError(f"For 'numpy.{func.__name__}', 'out' must be an array of NumPy, but got a Tensor.")
    return func(*map_tree(plain, list(args)), **map_tree(plain, dict(kwargs)))


# ---- values ---------------------------------------------------------------------------------------------------------


def asnumpy(self: Tensor) -> np.ndarray:
    """The tensor as a NumPy array that shares its memory.

    Elements that are assigned to one are seen by the other. The array is an object of its own, and so is what it has as
    ``base``: another shape, dtype or size (``resize`` refuses) that they are given is not the tensor's.

    Returns:
        numpy.ndarray

    Raises:
        SymbolicValueError: the value is not known while a graph is being built.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> Tensor([1, 2]).asnumpy()
        array([1, 2])
    """
    return _lent(hooks.value_of(self, "asnumpy()"))


def _lent(array: np.ndarray) -> np.ndarray:
    """The memory of ``array`` as an array from which nobody gets to ``array`` itself.

    A view alone would have it as its ``base``, whose shape, dtype, strides and flags can be set. So the memory goes
    through DLPack: a capsule keeps ``array``, and shows it to nobody. The view at the end makes ``flags.writeable``
    something that can be turned off and on again, which NumPy allows only if some base is an array.
    """
    dtype = array.dtype
    if any(stride % dtype.itemsize for stride in array.strides):  # DLPack counts strides in elements: bytes, then
        single = as_strided(array, (*array.shape, 1), (*array.strides, dtype.itemsize))
        return np.from_dlpack(single.view(np.uint8)).view(dtype)[..., 0]
    if dtype.num < _FIRST_OF_EXTENSIONS:
        return np.from_dlpack(array).view()
    return np.from_dlpack(array.view(f"u{dtype.itemsize}")).view(dtype)


_FIRST_OF_EXTENSIONS = 256
"""NumPy's numbers of dtypes that other packages have added (bfloat16, float8, int4), which DLPack does not know."""


def tolist(self: Tensor) -> Any:
    """The elements as Python numbers in nested lists.

    Returns:
        list; of a 0-d tensor a number.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).tolist())
        [[1, 2], [3, 4]]
    """
    array = hooks.value_of(self, "tolist()")
    return (array if array.dtype.kind in "biufc" else array.astype(np.float32)).tolist()


def item(self: Tensor, *index: Any) -> Any:
    """The element at ``index`` (a flat position, or one per axis) as a Python number.

    Without ``index`` the tensor must have one element.

    Args:
        index (int): the position, or a position on each axis.

    Returns:
        int, float, bool or complex

    Raises:
        IndexError: ``index`` is not a position, or there is no such element.
        ValueError: there is no ``index``, and the tensor has more elements than one.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).item(3))
        4
    """
    if not index:
        kind = "bool" if self.dtype.is_bool else "int" if self.dtype.is_integer else "float"
        return hooks.as_python_number(_one(self), "complex" if self.dtype.is_complex else kind)
    where = index[0] if len(index) == 1 else index
    if isinstance(where, list):
        where = tuple(where)
    if isinstance(where, tuple):
        return item(self[where])
    return item(self.reshape((-1,))[where])


def _one(self: Tensor) -> Tensor:
    count = self.size
    if isinstance(count, int) and count != 1:
        raise hooks.not_single(count, str(self.abstract))
    return self


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares the memory of ``array``.

    A tensor of a read-only array cannot be written to. A matrix or memory-mapped array gives a tensor like any other,
    of the shape that it has; shapes that it is given later are not the tensor's.

    Args:
        array: a NumPy array.

    Returns:
        Tensor.

    Raises:
        TypeError: ``array`` is not a NumPy array, is masked, of an unsupported dtype, or of foreign byte order.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"Expected a NumPy array, but got {type(array).__name__}.")
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            "For 'from_numpy', a masked array was given, and a Tensor has no mask. Use 'array.filled(value)', or "
            "'array.data' to have the masked elements as they are in memory."
        )
    if not array.dtype.isnative:
        raise TypeError(
            f"For 'from_numpy', the memory of an array of dtype {array.dtype} cannot be shared, because its byte order "
            "is not this machine's; 'Tensor(array)' makes a copy in the right order."
        )
    dt.as_dtype(array.dtype, "from_numpy")
    plain = with_known_dtype(array.view(np.ndarray))
    return wrap(plain if plain.flags.aligned else plain.copy())


# ---- copies, pickles, DLPack ----------------------------------------------------------------------------------------


def __copy__(self: Tensor) -> Tensor:
    """Another handle on the same storage."""
    twin = type(self).__new__(type(self))
    twin._data, twin._storage, twin._view, twin._mark = self._data, self._alias, self._view, None
    twin.__dict__.update(self.__dict__)
    return twin


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A tensor of its own; views of a storage that is copied along become views of the copy."""
    found = memo.get(id(self))
    if found is not None:
        return found
    twin = type(self).__new__(type(self))
    memo[id(self)] = twin
    if id(root_of(self)) in memo and self._view is not None:  # the storage is part of what is copied: stay a view of it
        parent, op, attrs = self._view
        same = op(copy_module.deepcopy(parent, memo), **attrs)
        twin._data, twin._storage, twin._view, twin._mark = same._data, same._storage, same._view, None
    elif self.is_symbolic or state.binder is not None:
        twin._become(get_op("stop_gradient")(self.copy()))  # as the copy of an array has it
    else:
        twin._become(np.array(self.array(), order="C"))
    twin.__dict__.update(copy_module.deepcopy(self.__dict__, memo))
    return twin


def __reduce_ex__(self: Tensor, protocol: int) -> tuple[Any, ...]:
    array = np.ascontiguousarray(hooks.value_of(self, "pickling")).reshape(self.shape)
    return _rebuild, (type(self), array.tobytes(), self.dtype, tuple(self.shape), dict(self.__dict__))


def _rebuild(cls: type[Tensor], data: bytes, dtype: dt.DType, shape: tuple[int, ...], fields: dict[str, Any]) -> Tensor:
    tensor = cls.__new__(cls)
    tensor._become(np.frombuffer(bytearray(data), dtype.numpy).reshape(shape))
    tensor.__dict__.update(fields)
    return tensor


def __dlpack__(self: Tensor, **options: Any) -> Any:
    return hooks.value_of(self, "DLPack").__dlpack__(**options)


def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    return (1, 0)


def to_dlpack(self: Tensor) -> Any:
    """A DLPack capsule that shares the memory of the tensor.

    Returns:
        A DLPack capsule.

    Examples:
        >>> print(ms.Tensor.from_dlpack(Tensor([1, 2]).to_dlpack()))
        [1 2]
    """
    return self.__dlpack__()


def from_dlpack(source: Any) -> Tensor:
    """A tensor that shares the memory of ``source``, an object with ``__dlpack__`` (or a capsule)."""
    return wrap(with_known_dtype(np.from_dlpack(source if hasattr(source, "__dlpack__") else _Capsule(source))))


class _Capsule:
    """A bare DLPack capsule as NumPy wants it: an object with ``__dlpack__``."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


PROTOCOL: dict[str, Any] = {
    f.__name__: f
    for f in (
        __bool__, __int__, __float__, __complex__, __index__, __len__, __iter__, __contains__, __hash__, __array__,
        __array_function__, _repr_html_,
        __repr__, __str__, __format__, __copy__, __deepcopy__, __reduce_ex__, __dlpack__, __dlpack_device__, asnumpy,
        tolist, item, to_dlpack,
    )
} | {"numpy": asnumpy, "from_numpy": staticmethod(from_numpy), "from_dlpack": staticmethod(from_dlpack)}  # fmt: skip


# ---- functions of the top-level namespace ---------------------------------------------------------------------------


def tensor(
    input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None, const_arg: bool = False,
    device: Any = None,
) -> Tensor:  # fmt: skip
    """``ms.tensor(...)``: a new `Tensor`, see there."""
    on_cpu("tensor", device)
    return Tensor(input_data, dtype, shape, init, const_arg)


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)


def frombuffer(buffer: Any, *, dtype: Any = dt.float32, count: int = -1, offset: int = 0) -> Tensor:
    """A tensor that shares the memory of an object with the buffer protocol."""
    return wrap(np.frombuffer(buffer, dt.as_dtype(dtype).numpy, count, offset))
