"""MindSpore's checkpoint file: a protobuf message ``Checkpoint`` of named tensors.

A 0-d tensor has no dims (files of old versions: ``[0]``). A string has type ``str`` and four bytes (UTF-32) per
character. Large tensors come in several values of one tag, whose bytes are joined.

**Checks.** Files written here begin and end with a field that other readers skip, as protobuf demands::

    fixed64 length_of_file = 1000; ... ; fixed32 crc32_of_all_before = 1001;

A file that has the first must have the second, so that a truncated file cannot pass for one without checks. MindSpore's
own check (``crc_check=True``: ``crc_num`` and ten bytes at the end) is written on demand, and looked at when it is
there.
"""

from __future__ import annotations

import math
import struct
import zlib
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError

from duograph.base.files import crc_of
from duograph.core import dtype as dt
from duograph.core.protobuf import messages

_SCHEMA = """
message Checkpoint {
    message Value { required string tag = 1; optional TensorProto tensor = 2; optional MapTensorProto maptensor = 3; }
    repeated Value value = 1;
}
message TensorProto { repeated int64 dims = 1; required string tensor_type = 2; required bytes tensor_content = 3; }
message MapTensorProto { repeated TensorProto tensor = 1; }
"""
SLICE = 512 * 1024 * 1024
"""Most bytes of one value."""

_FIRST = b"\xc1\x3e"  # field 1000, eight bytes
_LAST = b"\xcd\x3e"  # field 1001, four bytes
_FOREIGN_CHECK = b"crc_num"
_BORDERS = 10 + 6  # bytes


class StoredTensor(NamedTuple):
    """One named tensor, or a string (``dtype`` is ``"str"``)."""

    name: str
    dims: tuple[int, ...]
    dtype: str
    content: bytes


@cache
def _checkpoint_class() -> Any:
    return messages("duograph_checkpoint", _SCHEMA)["Checkpoint"]


def encode(entries: list[StoredTensor], foreign_check: bool = False) -> list[bytes]:
    """The bytes of a checkpoint file, in pieces; ``foreign_check``: with MindSpore's own checksum as well."""
    pieces = [_FIRST, b""]
    for entry in entries:
        for start in range(0, max(len(entry.content), 1), SLICE):
            part = _checkpoint_class()()  # messages one after the other are one message
            value = part.value.add(tag=entry.name)
            value.tensor.dims.extend(entry.dims)
            value.tensor.tensor_type = entry.dtype
            value.tensor.tensor_content = entry.content[start : start + SLICE]
            pieces.append(part.SerializeToString())
    pieces[1] = struct.pack("<Q", sum(map(len, pieces)) + 8 + 6)
    pieces.append(_LAST)
    pieces.append(struct.pack("<I", crc_of(pieces)))
    if foreign_check:
        pieces.append(_FOREIGN_CHECK + crc_of(pieces).to_bytes(10, "big"))
    return pieces


def decode(data: bytes) -> list[StoredTensor]:
    """The entries of a checkpoint file.

    Raises:
        ValueError: these are no bytes of a checkpoint, or not the bytes that were written.
    """
    checkpoint = _checkpoint_class()()
    try:
        checkpoint.ParseFromString(_checked(data))
    except DecodeError:
        raise ValueError("it is not a checkpoint, or only a part of one") from None
    parts: dict[str, list[Any]] = {}
    for value in checkpoint.value:
        parts.setdefault(value.tag, []).append(value.tensor)
    return [
        StoredTensor(name, tuple(t[0].dims), t[0].tensor_type, b"".join(part.tensor_content for part in t))
        for name, t in parts.items()
    ]


def has_check(data: bytes) -> bool:
    """Whether a file has a checksum."""
    return data[:2] == _FIRST or data[-17:-10] == _FOREIGN_CHECK


def _checked(data: bytes) -> bytes:
    """The message in a file whose checksums, where it has any, are right."""
    if data[-17:-10] == _FOREIGN_CHECK:
        data, check = data[:-17], data[-10:]
        if zlib.crc32(data) != int.from_bytes(check, "big"):
            raise ValueError("it is damaged: its CRC-32 is wrong")
    if data[:2] != _FIRST and data[-6:-4] != _LAST:
        return data  # of another writer
    whole = data[:2] == _FIRST and len(data) >= _BORDERS
    if not whole or struct.unpack_from("<Q", data, 2)[0] != len(data) or data[-6:-4] != _LAST:
        raise ValueError("it is damaged: its length is not what was written")
    if zlib.crc32(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        raise ValueError("it is damaged: its CRC-32 is wrong")
    return data


def text_of(entry: StoredTensor) -> str:
    """The string that an entry holds."""
    return entry.content.decode("utf-32-le")


def text_entry(name: str, text: str) -> StoredTensor:
    """A string as an entry."""
    return StoredTensor(name, (0,), "str", text.encode("utf-32-le"))


def array_of(entry: StoredTensor) -> np.ndarray:
    """The array that an entry holds.

    Raises:
        ValueError: it has no such dtype, or not as many bytes as its shape needs.
    """
    try:
        dtype = dt.as_dtype(entry.dtype, "load_checkpoint").numpy
    except TypeError:
        raise ValueError(f"{entry.name!r} has the unknown dtype {entry.dtype!r}") from None
    shape = () if entry.dims == (0,) and len(entry.content) == dtype.itemsize else entry.dims
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(entry.content):
        raise ValueError(
            f"{entry.name!r} has {len(entry.content)} bytes, which do not make {entry.dtype} of shape {shape}"
        )
    return np.frombuffer(entry.content, dtype).reshape(shape).copy()


def entry_of(name: str, array: np.ndarray) -> StoredTensor:
    """An array as an entry."""
    return StoredTensor(
        name, tuple(array.shape), str(dt.from_numpy(array.dtype)), np.ascontiguousarray(array).tobytes()
    )
