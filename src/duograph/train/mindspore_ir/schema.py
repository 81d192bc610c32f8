"""The messages of MindSpore's ``.mindir`` files (``mind_ir.proto``), and values in them."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from duograph.core import dtype as dt
from duograph.core.protobuf import messages
from duograph.tensor.tensor import Tensor

__all__ = ["DTYPES", "MONAD", "TYPES", "array_of", "model", "value_of"]

_SCHEMA = """
message ModelProto {
    optional string ir_version = 1; optional string producer_name = 2; optional GraphProto graph = 7;
    repeated GraphProto functions = 8; optional bool little_endian = 10; repeated PrimitiveProto primitives = 12;
    optional int64 mind_ir_version = 13;
}
message GraphProto {
    repeated NodeProto node = 1; optional string name = 2; repeated TensorProto parameter = 3;
    repeated ValueInfoProto input = 5; repeated ValueInfoProto output = 6; repeated bytes map_parameter = 10;
}
message PrimitiveProto {
    optional string name = 1; optional string op_type = 2; repeated AttributeProto attribute = 3;
    optional string instance_name = 4; optional int32 prim_type = 5;
}
message ValueInfoProto { optional string name = 1; repeated TensorProto tensor = 2; optional AttributeProto attr_info = 5; }
message NodeProto {
    repeated string input = 1; repeated string output = 2; optional string name = 3; optional string op_type = 4;
    repeated AttributeProto attribute = 5; optional string domain = 7;
}
message AttributeProto {
    optional string name = 1; optional float f = 2; optional int64 i = 3; optional double d = 4; optional bytes s = 5;
    repeated float floats = 8; repeated double doubles = 9; repeated int64 ints = 10; repeated bytes strings = 11;
    repeated TensorProto tensors = 12; optional int32 type = 16; repeated AttributeProto values = 17;
}
message TensorProto {
    repeated int64 dims = 1; optional int32 data_type = 2; repeated float float_data = 3; optional string name = 7;
    optional bytes raw_data = 9; optional bytes external_data = 12; optional int32 compression_type = 16;
}
"""  # noqa: E501

DTYPES: dict[int, Any] = {
    1: dt.float32, 2: dt.uint8, 3: dt.int8, 4: dt.uint16, 5: dt.int16, 6: dt.int32, 7: dt.int64, 9: dt.bool_,
    10: dt.float16, 11: dt.float64, 12: dt.uint32, 13: dt.uint64, 14: dt.complex64, 15: dt.complex128, 16: dt.bfloat16,
    17: dt.float64,
}  # fmt: skip
"""Dtypes by their number in a tensor."""
TYPES: dict[int, Any] = {
    30: dt.bool_, 32: dt.int8, 33: dt.int16, 34: dt.int32, 35: dt.int64, 37: dt.uint8, 38: dt.uint16, 39: dt.uint32,
    40: dt.uint64, 42: dt.float16, 43: dt.float32, 44: dt.float64, 45: dt.bfloat16, 51: dt.complex64,
    52: dt.complex128,
}  # fmt: skip
"""Dtypes by their number among the arguments of an operator (``mindspore.common.dtype``)."""
_NUMPY = {
    1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_,
    10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64, 14: np.complex64, 15: np.complex128,
    16: ml_dtypes.bfloat16, 17: np.float64,
}  # fmt: skip
_FLOAT, _STRING, _BOOL, _DOUBLE, _TENSOR, _TENSORS, _TUPLE, _LIST, _NONE = 1, 8, 9, 11, 17, 19, 20, 21, 25
_INTEGERS = (2, 3, 4, 5, 6, 7, 12, 13)
_MONADS = (23, 24)

MONAD = object()
"""The value that orders effects; no operator computes with it."""


@cache
def _classes() -> dict[str, Any]:
    return messages("duograph_mindspore_ir", _SCHEMA)


def model() -> Any:
    """An empty ``ModelProto``."""
    return _classes()["ModelProto"]()


def array_of(tensor: Any) -> np.ndarray:
    """The array that a ``TensorProto`` holds.

    Raises:
        ValueError: its data is in another file or compressed, or is not what its shape needs.
    """
    shape = tuple(tensor.dims)
    if tensor.HasField("external_data"):
        raise ValueError(f"the data of {tensor.name!r} is in another file, which is not read")
    if tensor.compression_type:
        raise ValueError(f"the data of {tensor.name!r} is compressed, which is not read")
    if tensor.data_type not in _NUMPY:
        raise ValueError(f"{tensor.name!r} has the dtype number {tensor.data_type}")
    dtype: Any = np.dtype(_NUMPY[tensor.data_type])
    if min(shape, default=0) < 0 or len(tensor.raw_data) != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError(f"{tensor.name!r} does not have the elements of the shape {shape}")
    return np.frombuffer(tensor.raw_data, dtype).reshape(shape).copy()


def value_of(entry: Any) -> Any:
    """The value of an ``AttributeProto`` as Python's: numbers, text, Tensors, tuples of them, None or `MONAD`.

    Raises:
        ValueError: it is of another kind.
    """
    kind = entry.type
    if kind == _BOOL:
        return bool(entry.ints[0] if entry.ints else entry.i)
    if kind in _INTEGERS:
        return entry.ints[0] if entry.ints else entry.i
    if kind == _FLOAT:
        return entry.floats[0] if entry.floats else entry.f
    if kind == _DOUBLE:
        return entry.doubles[0] if entry.doubles else entry.d
    if kind == _STRING:
        return (entry.strings[0] if entry.strings else entry.s).decode(errors="replace")
    if kind in (_TENSOR, _TENSORS) and len(entry.tensors) == 1:
        return Tensor(array_of(entry.tensors[0]))
    if kind in (_TUPLE, _LIST):
        return tuple(value_of(item) for item in entry.values)
    if kind == _NONE:
        return None
    if kind in _MONADS:
        return MONAD
    raise ValueError(f"{entry.name!r} is a value of the kind {kind}, which is not read")
