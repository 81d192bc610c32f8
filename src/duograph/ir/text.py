"""How values, types and attributes look in MindIR text: shared words of printer and parser.

    value ::= true | false | none | ... | 12 | 1.5 | -inf | nan | 0x1.8p+1 | bits(0x7fc00001) | c(1.0,-0.0) | 'text'
            | (value, value) | {N+1} | f32 | type<f32[3]> | @graph | obj@k0
    const ::= value | const<f32[2]>[1.0, 2.0] | const<f32[1000]>@k1 | const<object>@k2

Everything is exact: a float is written in decimal where that reads back to the same bits, in hexadecimal where it
does not, and as `bits(...)` where it is a NaN with a payload. What cannot be written (large arrays, which are
interned by identity, and opaque objects) gets a key in the table of its context (`Context.keys`).
"""

from __future__ import annotations

import math
import re
import struct
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import Dim
from duograph.core.types import SHORT_DTYPE_NAMES, TensorType, Type

from .node import SMALL, Const, Context, Graph

DTYPE_OF_NAME = {SHORT_DTYPE_NAMES[d.name]: d for d in dt.DTYPES}
PLAIN_NAME = re.compile(r"[A-Za-z_][\w.]*\Z", re.ASCII)


def name_text(name: str) -> str:
    """A name of a graph or parameter; quoted where it is no plain word."""
    return name if PLAIN_NAME.match(name) else string_text(name)


def string_text(text: str) -> str:
    """A string literal on one line."""
    return "'" + text.encode("unicode_escape").decode("ascii").replace("'", "\\'") + "'"


def key_of(context: Context, value: Any) -> str:
    """The name under which text of ``context`` speaks of an object, the same one each time."""
    for key, known in context.keys.items():
        if known is value:
            return key
    key = f"k{len(context.keys)}"
    context.keys[key] = value
    return key


def float_text(x: float) -> str:
    """A Python float, exactly."""
    if math.isnan(x):
        bits = struct.unpack("<Q", struct.pack("<d", x))[0]
        return "nan" if bits == 0x7FF8000000000000 else f"bits({bits:#x})"
    return repr(x)


def attr_text(value: Any, context: Context, graph_name: Any = lambda g: name_text(g.name)) -> str:
    """An attribute; ``graph_name`` gives the printed name of a graph."""
    kind = type(value)
    if kind is bool:
        return "true" if value else "false"
    if value is None:
        return "none"
    if value is Ellipsis:
        return "..."
    if kind is int:
        return str(value)
    if kind is float:
        return float_text(value)
    if kind is complex:
        return f"c({float_text(value.real)},{float_text(value.imag)})"
    if kind is str:
        return string_text(value)
    if kind is tuple:
        inner = ", ".join([attr_text(v, context, graph_name) for v in value])
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, Dim):
        return f"{{{value}}}"
    if isinstance(value, dt.DType):
        return SHORT_DTYPE_NAMES[value.name]
    if isinstance(value, Type):
        return f"type<{value}>"
    if isinstance(value, Graph):
        return f"@{graph_name(value)}"
    return f"obj@{key_of(context, value)}"


def const_text(node: Const) -> str:
    """A constant as it stands between the operands."""
    value = node.value
    if isinstance(node.type, TensorType):
        if value.size > SMALL:
            return f"const<{node.type}>@{key_of(node.context, value)}"
        return f"const<{node.type}>{_array_text(value)}"
    if type(value) in (bool, int, float):
        return attr_text(value, node.context)
    return f"const<{node.type}>@{key_of(node.context, value)}"


def _array_text(array: np.ndarray) -> str:
    if array.ndim == 0:
        return element_text(array[()], array.dtype)
    return "[" + ", ".join([_array_text(part) for part in array]) + "]"


def element_text(x: Any, dtype: np.dtype) -> str:
    """One element of an array, exactly."""
    x = np.asarray(x, dtype)
    if dtype.kind == "b":
        return "true" if x else "false"
    if dtype.kind in "iu":
        return str(int(x))
    if dtype.kind == "c":
        part = np.dtype(f"f{dtype.itemsize // 2}")
        return f"c({element_text(x.real, part)},{element_text(x.imag, part)})"
    number = float(x)
    if not math.isfinite(number):
        text = repr(number)
    else:
        text = str(np.float32(x)) if dtype.itemsize < 8 else repr(number)
    if np.array(float(text), dtype).tobytes() == x.tobytes():
        return text
    if math.isnan(number):
        return f"bits({int.from_bytes(x.tobytes(), 'little'):#x})"
    return number.hex()


def element_from(text: str, dtype: np.dtype) -> Any:
    """What `element_text` wrote, for real dtypes."""
    if dtype.kind == "b":
        if text not in ("true", "false"):
            raise ValueError(f"{text!r} is not a truth value")
        return text == "true"
    if dtype.kind in "iu":
        return int(text)
    if text.startswith("bits("):
        return np.frombuffer(int(text[5:-1], 16).to_bytes(dtype.itemsize, "little"), dtype)[0]
    return float_from(text)


def float_from(text: str) -> float:
    """A decimal or hexadecimal float, `nan` or `inf`, or the bits of one."""
    if text.startswith("bits("):
        return float(struct.unpack("<d", struct.pack("<Q", int(text[5:-1], 16)))[0])
    return float.fromhex(text) if "0x" in text else float(text)
