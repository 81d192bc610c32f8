"""MindSpore's checkpoint file: a protobuf message ``Checkpoint`` of named tensors.

The message is declared here in code (three short messages), so that no generated module is needed::

    Checkpoint { repeated Value value = 1; }
    Value      { required string tag = 1; oneof { TensorProto tensor = 2; MapTensorProto maptensor = 3; } }
    TensorProto { repeated int64 dims = 1; required string tensor_type = 2; required bytes tensor_content = 3; }

A 0-d tensor has no dims (files of old versions: ``[0]``). A string has type ``str`` and four bytes (UTF-32) per
character. Large tensors come in several values of one tag, whose bytes are joined.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from duograph.core import dtype as dt

_PACKAGE = "duograph_checkpoint"
SLICE = 512 * 1024 * 1024
"""Most bytes of one value."""

_Field = descriptor_pb2.FieldDescriptorProto


class Entry(NamedTuple):
    """One named tensor, or a string (``dtype`` is ``"str"``)."""

    name: str
    dims: tuple[int, ...]
    dtype: str
    content: bytes


@cache
def _checkpoint_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="duograph_checkpoint.proto", package=_PACKAGE, syntax="proto2")

    def add(message: Any, name: str, number: int, label: int, kind: int, of: str = "") -> Any:
        field = message.field.add(name=name, number=number, label=label, type=kind)
        if of:
            field.type_name = of
        return field

    many, one, must = _Field.LABEL_REPEATED, _Field.LABEL_OPTIONAL, _Field.LABEL_REQUIRED
    checkpoint = file.message_type.add(name="Checkpoint")
    add(checkpoint, "value", 1, many, _Field.TYPE_MESSAGE, f".{_PACKAGE}.Checkpoint.Value")
    value = checkpoint.nested_type.add(name="Value")
    add(value, "tag", 1, must, _Field.TYPE_STRING)
    add(value, "tensor", 2, one, _Field.TYPE_MESSAGE, f".{_PACKAGE}.TensorProto").oneof_index = 0
    add(value, "maptensor", 3, one, _Field.TYPE_MESSAGE, f".{_PACKAGE}.MapTensorProto").oneof_index = 0
    value.oneof_decl.add(name="value")
    tensor = file.message_type.add(name="TensorProto")
    add(tensor, "dims", 1, many, _Field.TYPE_INT64)
    add(tensor, "tensor_type", 2, must, _Field.TYPE_STRING)
    add(tensor, "tensor_content", 3, must, _Field.TYPE_BYTES)
    mapping = file.message_type.add(name="MapTensorProto")
    add(mapping, "tensor", 1, many, _Field.TYPE_MESSAGE, f".{_PACKAGE}.TensorProto")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Checkpoint"))


def encode(entries: list[Entry]) -> bytes:
    """The bytes of a checkpoint file."""
    checkpoint = _checkpoint_class()()
    for entry in entries:
        for start in range(0, max(len(entry.content), 1), SLICE):
            value = checkpoint.value.add(tag=entry.name)
            value.tensor.dims.extend(entry.dims)
            value.tensor.tensor_type = entry.dtype
            value.tensor.tensor_content = entry.content[start : start + SLICE]
    return checkpoint.SerializeToString()


def decode(data: bytes) -> list[Entry]:
    """The entries of a checkpoint file.

    Raises:
        ValueError: these are no bytes of a checkpoint.
    """
    checkpoint = _checkpoint_class()()
    try:
        checkpoint.ParseFromString(data)
    except DecodeError as exc:
        raise ValueError(f"not a checkpoint: {exc}") from None
    parts: dict[str, list[Any]] = {}
    for value in checkpoint.value:
        parts.setdefault(value.tag, []).append(value.tensor)
    return [
        Entry(name, tuple(t[0].dims), t[0].tensor_type, b"".join(part.tensor_content for part in t))
        for name, t in parts.items()
    ]


def text_of(entry: Entry) -> str:
    """The string that an entry holds."""
    return entry.content.decode("utf-32-le")


def text_entry(name: str, text: str) -> Entry:
    """A string as an entry."""
    return Entry(name, (0,), "str", text.encode("utf-32-le"))


def array_of(entry: Entry) -> np.ndarray:
    """The array that an entry holds."""
    dtype = dt.as_dtype(entry.dtype, "load_checkpoint").numpy
    array = np.frombuffer(entry.content, dtype)
    shape = () if entry.dims == (0,) and array.size == 1 else entry.dims
    return array.reshape(shape).copy()


def entry_of(name: str, array: np.ndarray) -> Entry:
    """An array as an entry."""
    return Entry(name, tuple(array.shape), str(dt.from_numpy(array.dtype)), np.ascontiguousarray(array).tobytes())
