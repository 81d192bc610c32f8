"""The safetensors file: eight bytes of header length, a JSON header, then the tensors.

Written here in a few lines because the library's NumPy binding has no bfloat16 and its raw binding changes between
versions. Tensors are laid out largest alignment first and by name, as the library does.

The format has a place for texts, ``__metadata__``, that readers may ignore. Files written here have in it a CRC-32 of
the whole file (computed with zeros in its place) and the strings that were saved, under names of our own::

    "__metadata__": {"duograph.crc32": "1c291ca3", "duograph.text.note": "..."}

Whatever else stands there (``format``) is about the file and is not a value.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np

from duograph.base.files import crc_of
from duograph.core import dtype as dt

_NAMES: dict[str, dt.DType] = {
    "BOOL": dt.bool_, "I8": dt.int8, "I16": dt.int16, "I32": dt.int32, "I64": dt.int64, "U8": dt.uint8,
    "U16": dt.uint16, "U32": dt.uint32, "U64": dt.uint64, "F16": dt.float16, "BF16": dt.bfloat16, "F32": dt.float32,
    "F64": dt.float64, "C64": dt.complex64, "F8_E4M3": dt.float8_e4m3fn, "F8_E5M2": dt.float8_e5m2,
}  # fmt: skip
_TITLES = {dtype: name for name, dtype in _NAMES.items()}
_OURS = "duograph."
_CHECK, _TEXT = f"{_OURS}crc32", f"{_OURS}text."
_NO_CHECK = "0" * 8


def encode(arrays: dict[str, np.ndarray], texts: dict[str, str]) -> list[bytes]:
    """The bytes of a file in pieces, with a checksum; ``texts`` go into its metadata.

    Raises:
        TypeError: a dtype that the format does not have.
    """
    metadata = {_CHECK: _NO_CHECK, **{_TEXT + name: text for name, text in texts.items()}}
    header: dict[str, object] = {"__metadata__": metadata}
    parts = []
    offset = 0
    for name, array in sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])):
        dtype = dt.from_numpy(array.dtype)
        if dtype not in _TITLES:
            raise TypeError(f"safetensors files cannot hold {dtype.name}")
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": _TITLES[dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        parts.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    head = struct.pack("<Q", len(text)) + text
    return [_with_check(head, crc_of([head, *parts])), *parts]


def decode(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays and texts of a file.

    Raises:
        ValueError: these are no bytes of a safetensors file, or not the bytes that were written.
    """
    try:
        (length,) = struct.unpack_from("<Q", data)
        start = 8 + length
        header = json.loads(data[8:start])
        metadata = header.pop("__metadata__", {})
        if any(key.startswith(_OURS) for key in metadata):
            _check(data, start, metadata)
        if sum(info["data_offsets"][1] - info["data_offsets"][0] for info in header.values()) > len(data) - start:
            raise ValueError("it is damaged: its tensors overlap or are cut off")
        arrays = {name: _array(data, start, name, info) for name, info in header.items()}
        texts = {key[len(_TEXT) :]: text for key, text in metadata.items() if key.startswith(_TEXT)}
    except (
        struct.error,
        json.JSONDecodeError,
        UnicodeDecodeError,
        AttributeError,
        RecursionError,
        LookupError,
        TypeError,
    ) as exc:
        raise ValueError(f"not a safetensors file: {exc}") from None
    return arrays, texts


def has_check(data: bytes) -> bool:
    """Whether a file that can be decoded has a checksum."""
    (length,) = struct.unpack_from("<Q", data)
    return _CHECK in json.loads(data[8 : 8 + length]).get("__metadata__", {})


def _array(data: bytes, start: int, name: str, info: dict[str, Any]) -> np.ndarray:
    match info:
        case {"dtype": str(title), "shape": [*shape], "data_offsets": [int(begin), int(end)]} if title in _NAMES:
            dtype = _NAMES[title].numpy
            sizes = all(type(n) is int and n >= 0 for n in shape)
            if sizes and 0 <= begin <= end <= len(data) - start and math.prod(shape) * dtype.itemsize == end - begin:
                return np.frombuffer(data[start + begin : start + end], dtype).reshape(shape).copy()
    raise ValueError(f"it is damaged: {name!r} is described as {info}")


def _field(check: str) -> bytes:
    return f'"{_CHECK}":"{check}"'.encode()


def _with_check(head: bytes, value: int) -> bytes:
    return head.replace(_field(_NO_CHECK), _field(f"{value:08x}"), 1)


def _check(data: bytes, start: int, metadata: dict[str, str]) -> None:
    """Raises ValueError unless the file is as it was written here."""
    check = metadata.get(_CHECK)
    field = _field(str(check))
    at = data.find(field, 8, start)
    if check is None or at < 0:
        raise ValueError("it is damaged: its checksum is gone")
    without = data[:at] + _field(_NO_CHECK) + data[at + len(field) : start]
    if f"{crc_of([without, memoryview(data)[start:]]):08x}" != check:
        raise ValueError("it is damaged: its CRC-32 is wrong")
