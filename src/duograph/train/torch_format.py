"""PyTorch's files, ``.pt`` and ``.pth``: tensors and containers out of ZIP archives and pickles, without PyTorch.

Since PyTorch 1.6 a file is a ZIP archive of uncompressed parts::

    archive/data.pkl      a pickle; a tensor is a call of torch._utils._rebuild_tensor_v2(storage, offset, sizes, ...)
    archive/data/0 ...    the bytes of the storages, which the pickle refers to by persistent ids
    archive/byteorder     "little" (what is read here) or "big"; absent: little

Before, it was five pickles one after the other (a magic number, the protocol, facts of the system, the object, the keys
of the storages), then for each key eight bytes of length and the bytes. Both are read; nothing of a file is executed
(`pickled.py`). The memory that a file may ask for is bounded by its size, since a tensor may repeat one element often.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from .pickled import Name, NotData, read_pickle

__all__ = ["decode"]

_MAGIC = 0x1950A86A20F9469CFC6C
_LEGACY_PROTOCOL = 1001
_REPEATED = 8
"""How often the elements of a file may occur in its tensors, on average (tied weights share a storage)."""
_SMALL = 1 << 24  # bytes that any file may ask for
_BUILTINS = ("builtins", "__builtin__")

_DTYPES: dict[str, Any] = {
    "float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16,
    "int64": np.int64, "int32": np.int32, "int16": np.int16, "int8": np.int8, "uint8": np.uint8, "uint16": np.uint16,
    "uint32": np.uint32, "uint64": np.uint64, "bool": np.bool_, "complex64": np.complex64, "complex128": np.complex128,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128", "UntypedStorage": "uint8",
}  # fmt: skip


class _Storage:
    """The bytes that tensors share; those of an old file come after the tensors."""

    def __init__(self, dtype: np.dtype[Any], count: int) -> None:
        self.dtype, self.count = dtype, count
        self.data: memoryview | bytes | None = None

    def elements(self, dtype: np.dtype[Any]) -> np.ndarray:
        if self.data is None:
            raise ValueError("a tensor without data")
        if len(self.data) % dtype.itemsize:
            raise ValueError(f"{len(self.data)} bytes are not a whole number of elements of {dtype}")
        return np.frombuffer(self.data, dtype)


class _Stored:
    """A tensor whose storage may not be there yet."""

    def __init__(self, storage: Any, offset: Any, sizes: Any, strides: Any, dtype: np.dtype[Any]) -> None:
        numbers = (offset, *sizes, *strides)
        if not isinstance(storage, _Storage) or len(sizes) != len(strides):
            raise TypeError("a tensor without storage or strides")
        if any(type(n) is not int or n < 0 for n in numbers):
            raise ValueError(f"a tensor of the sizes {sizes} and strides {strides} at {offset}")
        self.storage, self.offset, self.dtype = storage, offset, dtype
        self.sizes, self.strides = tuple(sizes), tuple(strides)

    def nbytes(self) -> int:
        return math.prod(self.sizes) * self.dtype.itemsize

    def array(self) -> np.ndarray:
        elements = self.storage.elements(self.dtype)
        if 0 in self.sizes:
            return np.zeros(self.sizes, self.dtype)
        last = self.offset + sum((n - 1) * stride for n, stride in zip(self.sizes, self.strides))
        if last >= len(elements):
            raise ValueError(f"a tensor reaches to element {last} of a storage that has {len(elements)}")
        steps = tuple(stride * self.dtype.itemsize for stride in self.strides)
        view = np.lib.stride_tricks.as_strided(elements[self.offset :], self.sizes, steps, writeable=False)
        if self.dtype == np.bool_:
            return view.view(np.uint8) != 0  # whatever the byte is
        return np.array(view, order="C")

    def take_state(self, state: Any) -> None:
        """Attributes that a program gave to the tensor: they are no part of its value."""


# ---- what the pickles call -------------------------------------------------------------------------------------------


def _tensor(storage: Any, offset: Any, sizes: Any, strides: Any, *_: Any) -> _Stored:
    return _Stored(storage, offset, sizes, strides, storage.dtype)


def _tensor_of_dtype(
    storage: Any, offset: Any, sizes: Any, strides: Any, grad: Any, hooks: Any, dtype: Any, *_: Any
) -> _Stored:
    return _Stored(storage, offset, sizes, strides, _dtype_of(dtype))


def _dtype_of(name: Any) -> np.dtype[Any]:
    known = _DTYPES.get(name.removeprefix("torch.")) if isinstance(name, Name) else None
    if known is None:
        raise NotData(f"it has tensors of the dtype {name}")
    return np.dtype(known)


def _same(value: Any, *_: Any) -> Any:
    return value


def _from_type(function: Any, cls: Any, arguments: Any, state: Any) -> Any:
    if cls not in ("torch.Tensor", "torch.nn.parameter.Parameter") or function not in FUNCTIONS:
        raise NotData(f"it has an object of the class {cls}")
    return FUNCTIONS[function](*arguments)


class _NumpyDtype:
    """A dtype of NumPy, whose byte order comes with its state."""

    def __init__(self, title: str) -> None:
        if title[:1] not in "biufc" or not title[1:].isdigit():
            raise NotData(f"it has arrays of the dtype {title!r}")
        self.dtype = np.dtype(title)

    def take_state(self, state: Any) -> None:
        if state[1] == ">":
            self.dtype = self.dtype.newbyteorder(">")


def _numpy_scalar(dtype: _NumpyDtype, data: bytes) -> Any:
    return np.frombuffer(data, dtype.dtype)[0].item()


def _encode(text: str, how: str) -> bytes:
    if how != "latin1":
        raise NotData(f"it has bytes in the encoding {how!r}")
    return text.encode("latin1")


def _ordered(items: Any = ()) -> dict[Any, Any]:
    """Python 2 gives the items as a list of pairs."""
    if any(type(key) is not str for key, _ in items):
        raise NotData("it has an OrderedDict whose keys are not strings")
    return dict(items)


def _of_list(kind: Callable[[Any], Any]) -> Callable[..., Any]:
    """A container of the members of a list, which are no containers themselves."""

    def made(items: Any = ()) -> Any:
        if any(isinstance(item, list | tuple | dict | set | frozenset) for item in items):
            raise NotData("it has a set of containers")
        return kind(items)

    return made


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_of_dtype,
    "torch._utils._rebuild_parameter": _same,
    "torch._utils._rebuild_parameter_with_state": _same,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "torch.Size": lambda sizes=(): tuple(sizes),
    "torch.device": lambda *parts: ":".join(map(str, parts)),
    "collections.OrderedDict": _ordered,
    "collections.defaultdict": lambda *_: {},
    "_codecs.encode": _encode,
    **{f"{module}.{kind.__name__}": _of_list(kind) for module in _BUILTINS for kind in (set, frozenset)},
    **{f"{module}.complex": complex for module in _BUILTINS},
    **{f"numpy.{core}.multiarray.scalar": _numpy_scalar for core in ("core", "_core")},
    "numpy.dtype": lambda title, *_: _NumpyDtype(title),
}  # fmt: skip
"""What a file may call, by the name in its pickle."""


# ---- files -----------------------------------------------------------------------------------------------------------


def decode(data: bytes) -> Any:
    """The object of a file; its tensors are arrays of NumPy.

    Raises:
        NotData: it holds objects of other classes; the message names the first.
        ValueError: these are no bytes of a file of PyTorch, or only a part of them.
    """
    content = _of_archive(data) if data[:4] == b"PK\3\4" else _of_stream(data)
    budget = [max(_REPEATED * len(data), _SMALL)]
    try:
        return _with_arrays(content, budget, {})
    except RecursionError:
        raise ValueError("its containers are nested too deeply") from None


def _of_archive(data: bytes) -> Any:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [info.filename for info in archive.infolist()]
            pickles = [name for name in names if name.endswith("/data.pkl") and name.count("/") == 1]
            if len(pickles) != 1:
                raise ValueError("a ZIP archive without the one data.pkl that torch.save writes")
            root = pickles[0].removesuffix("data.pkl")
            if f"{root}constants.pkl" in names:
                raise NotData("it is a TorchScript program; torch.save(module.state_dict(), file) writes its tensors")
            if f"{root}byteorder" in names and _part(archive, f"{root}byteorder") != b"little":
                raise ValueError("it was written on a machine of another byte order")
            storages: dict[str, _Storage] = {}

            def persistent(identity: Any) -> _Storage:
                key, made = _storage(identity, storages)
                if made.data is None:
                    made.data = _part(archive, f"{root}data/{key}")
                    if len(made.data) != made.count * made.dtype.itemsize:
                        raise ValueError(f"storage {key} has {len(made.data)} bytes")
                return made

            return read_pickle(_part(archive, pickles[0]), FUNCTIONS, persistent)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError, struct.error) as exc:
        raise ValueError(f"damaged archive: {exc}") from None


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is compressed, which torch.save never does")
    return archive.read(info)


def _storage(identity: Any, known: dict[str, _Storage]) -> tuple[str, _Storage]:
    match identity:
        case ("storage", Name() as kind, str(key), _, int(count), *_) if count >= 0:
            name = _STORAGES.get(kind.rpartition(".")[2]) if kind.startswith("torch.") else None
            if name is None:
                raise NotData(f"it has a storage of the class {kind}")
            if key not in known:
                known[key] = _Storage(np.dtype(_DTYPES[name]), count)
            return key, known[key]
    raise NotData(f"it refers to something that is not a storage: {str(identity)[:80]}")


def _of_stream(data: bytes) -> Any:
    file = io.BytesIO(data)
    if data[:1] != b"\x80" or read_pickle(file, {}) != _MAGIC or read_pickle(file, {}) != _LEGACY_PROTOCOL:
        raise ValueError("no file that torch.save writes")
    system = read_pickle(file, {})
    if not isinstance(system, dict) or system.get("little_endian") is not True:
        raise ValueError("it was written on a machine of another byte order")
    storages: dict[str, _Storage] = {}

    def persistent(identity: Any) -> _Storage:
        if isinstance(identity, tuple) and len(identity) == 6 and identity[5] is not None:
            raise NotData("it has storages that are views of others")
        return _storage(identity, storages)[1]

    content = read_pickle(file, FUNCTIONS, persistent)
    keys = read_pickle(file, {})
    if not isinstance(keys, list) or sorted(map(str, keys)) != sorted(storages):
        raise ValueError("the keys of its storages are not those of its tensors")
    for key in keys:
        storage, head = storages[key], file.read(8)
        (count,) = struct.unpack("<Q", head) if len(head) == 8 else (-1,)
        size = storage.count * storage.dtype.itemsize
        storage.data = file.read(size)
        if count != storage.count or len(storage.data) != size:
            raise ValueError(f"storage {key} is cut off")
    return content


def _with_arrays(value: Any, budget: list[int], made: dict[int, Any]) -> Any:
    """``value`` with arrays for its tensors; an object that occurs twice is one object again."""
    if id(value) in made:
        return made[id(value)]
    result = value
    if isinstance(value, _Stored):
        budget[0] -= value.nbytes()
        if budget[0] < 0:
            raise ValueError("its tensors ask for many times the memory of the file")
        result = value.array()
    elif type(value) is dict:
        result = made[id(value)] = {}
        for key, item in value.items():
            result[key] = _with_arrays(item, budget, made)
    elif type(value) is list:
        result = made[id(value)] = []
        result.extend(_with_arrays(item, budget, made) for item in value)
    elif type(value) is tuple:
        result = tuple(_with_arrays(item, budget, made) for item in value)
    elif isinstance(value, _NumpyDtype):
        result = str(value.dtype)
    elif isinstance(value, _Storage):
        raise NotData("it has a storage that is in no tensor")
    made[id(value)] = result
    return result
