"""The safetensors file: eight bytes of header length, a JSON header, then the tensors.

Written here in a few lines because the library's NumPy binding has no bfloat16 and its raw binding changes between
versions. Tensors are laid out largest alignment first and by name, as the library does.
"""

from __future__ import annotations

import json
import struct

import numpy as np

from duograph.core import dtype as dt

_NAMES: dict[str, dt.DType] = {
    "BOOL": dt.bool_, "I8": dt.int8, "I16": dt.int16, "I32": dt.int32, "I64": dt.int64, "U8": dt.uint8,
    "U16": dt.uint16, "U32": dt.uint32, "U64": dt.uint64, "F16": dt.float16, "BF16": dt.bfloat16, "F32": dt.float32,
    "F64": dt.float64, "C64": dt.complex64, "F8_E4M3": dt.float8_e4m3fn, "F8_E5M2": dt.float8_e5m2,
}  # fmt: skip
_TITLES = {dtype: name for name, dtype in _NAMES.items()}


def encode(arrays: dict[str, np.ndarray], texts: dict[str, str]) -> bytes:
    """The bytes of a file; ``texts`` go into its metadata.

    Raises:
        TypeError: a dtype that the format does not have.
    """
    header: dict[str, object] = {"__metadata__": texts} if texts else {}
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
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def decode(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays and texts of a file.

    Raises:
        ValueError: these are no bytes of a safetensors file.
    """
    try:
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        texts = header.pop("__metadata__", {})
        start = 8 + length
        arrays = {}
        for name, info in header.items():
            begin, end = info["data_offsets"]
            dtype = _NAMES[info["dtype"]].numpy
            arrays[name] = np.frombuffer(data[start + begin : start + end], dtype).reshape(info["shape"]).copy()
    except (struct.error, KeyError, TypeError, UnicodeDecodeError) as exc:
        raise ValueError(f"not a safetensors file: {exc}") from None
    return arrays, texts
