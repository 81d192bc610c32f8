"""The messages of ONNX files, and tensors in them."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from duograph.core.protobuf import messages

__all__ = [
    "ATTRIBUTE_KINDS",
    "DTYPES",
    "NUMPY",
    "OPSET",
    "PRODUCER",
    "array_of",
    "message",
    "set_attribute",
    "set_tensor",
]

OPSET = 18
"""Version of the operators that are written (ONNX 1.13; later versions run it)."""
IR_VERSION = 8
PRODUCER = "duograph"

_SCHEMA = """
message ModelProto {
    optional int64 ir_version = 1; optional string producer_name = 2; optional string producer_version = 3;
    optional GraphProto graph = 7; repeated OperatorSetIdProto opset_import = 8; repeated FunctionProto functions = 25;
}
message OperatorSetIdProto { optional string domain = 1; optional int64 version = 2; }
message FunctionProto { optional string name = 1; }
message GraphProto {
    repeated NodeProto node = 1; optional string name = 2; repeated TensorProto initializer = 5;
    repeated ValueInfoProto input = 11; repeated ValueInfoProto output = 12; repeated bytes sparse_initializer = 15;
}
message NodeProto {
    repeated string input = 1; repeated string output = 2; optional string name = 3; optional string op_type = 4;
    repeated AttributeProto attribute = 5; optional string doc_string = 6; optional string domain = 7;
}
message AttributeProto {
    optional string name = 1; optional float f = 2; optional int64 i = 3; optional bytes s = 4;
    optional TensorProto t = 5; optional GraphProto g = 6; repeated float floats = 7; repeated int64 ints = 8;
    repeated bytes strings = 9; optional int32 type = 20;
}
message TensorProto {
    message Entry { optional string key = 1; optional string value = 2; }
    repeated int64 dims = 1; optional int32 data_type = 2; repeated float float_data = 4; repeated int32 int32_data = 5;
    repeated int64 int64_data = 7; optional string name = 8; optional bytes raw_data = 9; repeated double double_data = 10;
    repeated uint64 uint64_data = 11; repeated Entry external_data = 13; optional int32 data_location = 14;
}
message ValueInfoProto { optional string name = 1; optional TypeProto type = 2; }
message TypeProto {
    message Tensor { optional int32 elem_type = 1; optional TensorShapeProto shape = 2; }
    optional Tensor tensor_type = 1;
}
message TensorShapeProto {
    message Dimension { optional int64 dim_value = 1; optional string dim_param = 2; }
    repeated Dimension dim = 1;
}
"""  # noqa: E501

DTYPES: dict[Any, int] = {
    np.float32: 1, np.uint8: 2, np.int8: 3, np.uint16: 4, np.int16: 5, np.int32: 6, np.int64: 7, np.bool_: 9,
    np.float16: 10, np.float64: 11, np.uint32: 12, np.uint64: 13, np.complex64: 14, np.complex128: 15,
    ml_dtypes.bfloat16: 16, ml_dtypes.float8_e4m3fn: 17, ml_dtypes.float8_e5m2: 19,
}  # fmt: skip
"""ONNX's numbers of dtypes."""
NUMPY = {number: np.dtype(kind) for kind, number in DTYPES.items()}

_FIELDS = {1: "float_data", 11: "double_data", 7: "int64_data", 12: "uint64_data", 13: "uint64_data"}
"""Where the elements are that are not raw; of all other dtypes in ``int32_data``."""
_AS_BITS = {10: np.uint16, 16: np.uint16, 17: np.uint8, 19: np.uint8}

ATTRIBUTE_KINDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings"}


@cache
def _classes() -> dict[str, Any]:
    return messages("duograph_onnx", _SCHEMA)


def message(name: str) -> Any:
    """An empty message, ``ModelProto`` for example."""
    return _classes()[name]()


def set_tensor(target: Any, array: np.ndarray, name: str = "") -> None:
    """Puts an array into a ``TensorProto``."""
    target.data_type = DTYPES[array.dtype.type]
    target.dims.extend(array.shape)
    target.raw_data = np.ascontiguousarray(array).tobytes()
    if name:
        target.name = name


def array_of(tensor: Any) -> np.ndarray:
    """The array that a ``TensorProto`` holds.

    Raises:
        ValueError: its data is in another file, or is not what its shape needs.
    """
    if tensor.data_location == 1 or tensor.external_data:
        raise ValueError(f"the data of {tensor.name!r} is in another file, which is not read")
    dtype, shape = NUMPY.get(tensor.data_type), tuple(tensor.dims)
    if dtype is None:
        raise ValueError(f"{tensor.name!r} has the dtype number {tensor.data_type}")
    if tensor.HasField("raw_data"):
        data: Any = np.frombuffer(tensor.raw_data, dtype) if len(tensor.raw_data) % dtype.itemsize == 0 else None
    else:
        field = getattr(tensor, _FIELDS.get(tensor.data_type, "int32_data"))
        bits = _AS_BITS.get(tensor.data_type)
        data = np.array(field, dtype) if bits is None else np.array(field, np.int32).astype(bits).view(dtype)
    if data is None or min(shape, default=0) < 0 or data.size != np.prod(shape, dtype=object):
        raise ValueError(f"{tensor.name!r} does not have the elements of the shape {shape}")
    return data.reshape(shape).copy()


def set_attribute(node: Any, name: str, value: Any) -> None:
    """Adds an attribute to a ``NodeProto``: a number, text, array, graph or list of numbers."""
    entry = node.attribute.add(name=name)
    if isinstance(value, bool | int | np.integer):
        entry.i, entry.type = int(value), 2
    elif isinstance(value, float):
        entry.f, entry.type = value, 1
    elif isinstance(value, str):
        entry.s, entry.type = value.encode(), 3
    elif isinstance(value, np.ndarray):
        set_tensor(entry.t, value)
        entry.type = 4
    elif isinstance(value, list | tuple):
        entry.ints.extend(value)
        entry.type = 7
    else:
        entry.g.CopyFrom(value)
        entry.type = 5
