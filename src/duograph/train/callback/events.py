"""TensorBoard's event files: records (`core/recordfile.py`) of a protobuf message ``Event``, written and read here.

An event has a step, a time and named values. What `SummaryRecord` calls a plugin becomes what TensorBoard shows: a
number (scalars), buckets of equal width (histograms; their number is MindSpore's), a PNG (images; a batch becomes one
picture of up to eight in a row, its numbers are brought to 0..255 as MindSpore does), the tensor itself, and texts.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from google.protobuf.message import DecodeError

from duograph.core.protobuf import messages
from duograph.core.recordfile import framed, records

__all__ = ["event", "first", "read_events"]

_SCHEMA = """
message Event {
    optional double wall_time = 1; optional int64 step = 2; optional string file_version = 3;
    optional Summary summary = 5;
}
message Summary {
    message Image {
        optional int32 height = 1; optional int32 width = 2; optional int32 colorspace = 3;
        optional bytes encoded_image_string = 4;
    }
    message Value {
        optional string tag = 1; optional float simple_value = 2; optional Image image = 4;
        optional Histogram histo = 5; optional Tensor tensor = 8; optional Metadata metadata = 9;
    }
    repeated Value value = 1;
}
message Histogram {
    optional double min = 1; optional double max = 2; optional double num = 3; optional double sum = 4;
    optional double sum_squares = 5; repeated double bucket_limit = 6; repeated double bucket = 7;
}
message Metadata {
    message Plugin { optional string plugin_name = 1; }
    optional Plugin plugin_data = 1;
}
message Tensor {
    message Shape {
        message Dim { optional int64 size = 1; }
        repeated Dim dim = 2;
    }
    optional int32 dtype = 1; optional Shape tensor_shape = 2; optional bytes tensor_content = 4;
    repeated bytes string_val = 8;
}
"""
_TEXT = 7
_DTYPES: dict[Any, int] = {
    np.float32: 1, np.float64: 2, np.int32: 3, np.uint8: 4, np.int16: 5, np.int8: 6, np.complex64: 8, np.int64: 9,
    np.bool_: 10, ml_dtypes.bfloat16: 14, np.uint16: 17, np.complex128: 18, np.float16: 19, np.uint32: 22,
    np.uint64: 23,
}  # fmt: skip
"""TensorFlow's numbers of dtypes."""
_OF_NUMBERS = {number: dtype for dtype, number in _DTYPES.items()}
_VERSION = "brain.Event:2"
_IN_A_ROW = 8
_BINS, _IN_A_BIN = 90, 10


@cache
def _event_class() -> Any:
    return messages("duograph_events", _SCHEMA)["Event"]


def first(time: float) -> bytes:
    """The record that begins a file."""
    return framed(_event_class()(wall_time=time, file_version=_VERSION).SerializeToString())


def event(step: int, time: float, values: dict[tuple[str, str], Any]) -> bytes:
    """The record of values by (plugin, tag).

    Raises:
        ValueError: a value that its plugin cannot show.
    """
    made = _event_class()(wall_time=time, step=step)
    for (plugin, tag), value in values.items():
        entry = made.summary.value.add(tag=tag)
        write = _WRITERS.get(plugin, _write_text)
        try:
            write(entry, value)
        except (TypeError, ValueError) as exc:
            raise ValueError(f"The value of {tag!r} cannot be recorded as {plugin}: {exc}") from None
    return framed(made.SerializeToString())


# ---- values ----------------------------------------------------------------------------------------------------------


def _write_scalar(entry: Any, value: Any) -> None:
    array = np.asarray(value)
    if array.size != 1:
        raise ValueError(f"it has {array.size} elements")
    with np.errstate(over="ignore"):
        entry.simple_value = float(np.float32(array.reshape(())))


def _write_tensor(entry: Any, value: Any) -> None:
    array = np.ascontiguousarray(value)
    number = _DTYPES.get(array.dtype.type)
    if number is None:
        raise ValueError(f"its dtype is {array.dtype}")
    entry.tensor.dtype = number
    _shape(entry.tensor, np.shape(value))
    entry.tensor.tensor_content = array.tobytes()


def _shape(tensor: Any, shape: tuple[int, ...]) -> None:
    tensor.tensor_shape.SetInParent()  # of a scalar: a shape without dimensions
    for size in shape:
        tensor.tensor_shape.dim.add(size=size)


def _write_text(entry: Any, value: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value, default=_jsonable)
    entry.tensor.dtype = _TEXT
    _shape(entry.tensor, (1,))
    entry.tensor.string_val.append(text.encode())
    entry.metadata.plugin_data.plugin_name = "text"


def _jsonable(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def _write_histogram(entry: Any, value: Any) -> None:
    """What is not a number is left out."""
    numbers = np.asarray(value).astype(np.float64).reshape(-1)
    numbers = numbers[np.isfinite(numbers)]
    histo = entry.histo
    histo.num = numbers.size
    if not numbers.size:
        histo.min = histo.max = histo.sum = histo.sum_squares = 0.0
        histo.bucket_limit.append(0.0)
        histo.bucket.append(0.0)
        return
    low, high = float(numbers.min()), float(numbers.max())
    histo.min, histo.max = low, high
    histo.sum, histo.sum_squares = math.fsum(numbers), math.fsum(numbers * numbers)
    if high - low < 1e-12 * max(abs(low), abs(high), 1.0) or not math.isfinite(high - low):
        histo.bucket_limit.append(high)
        histo.bucket.append(numbers.size)
        return
    counts, edges = np.histogram(numbers, _bins(numbers.size))
    histo.bucket_limit.extend(edges[1:].tolist())
    histo.bucket.extend(counts.tolist())


def _bins(count: int) -> int:
    if count <= _IN_A_BIN:
        return 2 if count <= 5 else 3
    return min(count // _IN_A_BIN + 1, _BINS)


def _write_image(entry: Any, value: Any) -> None:
    array = np.asarray(value)
    if array.ndim != 4 or array.shape[1] not in (1, 3) or 0 in array.shape:
        raise ValueError(f"images have the shape (N, 1 or 3, H, W), this is {array.shape}")
    pixels = _pixels(array)
    count, channels, height, width = pixels.shape
    columns = min(count, _IN_A_ROW)
    rows = -(-count // columns)
    canvas = np.zeros((rows * columns, channels, height, width), np.uint8)
    canvas[:count] = pixels
    grid = canvas.reshape(rows, columns, channels, height, width).transpose(0, 3, 1, 4, 2)
    picture = np.ascontiguousarray(grid).reshape(rows * height, columns * width, channels)
    entry.image.height, entry.image.width, entry.image.colorspace = picture.shape
    entry.image.encoded_image_string = _png(picture)


def _pixels(array: np.ndarray) -> np.ndarray:
    """Numbers in 0..1 times 255; others moved and scaled into 0..255."""
    if array.dtype == np.uint8:
        return array
    numbers = np.nan_to_num(array.astype(np.float64), posinf=0.0, neginf=0.0)
    low, high = numbers.min(), numbers.max()
    if low >= 0 and high <= 1:
        return (numbers * 255).astype(np.uint8)
    return ((numbers - low) * (255 / (high - low + 1) if high != low else 1)).astype(np.uint8)


def _png(picture: np.ndarray) -> bytes:
    """A picture (H, W, 1 or 3) of bytes as a PNG; lines without a filter."""
    height, width, channels = picture.shape
    lines = np.zeros((height, 1 + width * channels), np.uint8)
    lines[:, 1:] = picture.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes())) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


_WRITERS = {
    "scalar": _write_scalar, "tensor": _write_tensor, "histogram": _write_histogram, "image": _write_image,
}  # fmt: skip


# ---- reading ---------------------------------------------------------------------------------------------------------


def read_events(path: str) -> list[dict[str, Any]]:
    """Reads an event file, or all of a folder one after the other.

    Args:
        path (str): a file that `SummaryRecord` or another writer for TensorBoard made, or a folder of them.

    Returns:
        list of dict: of each event ``step``, ``time`` and ``values``, a dict by tag: numbers, arrays, texts; of a
        histogram a dict of its fields; of an image the bytes of its file.

    Raises:
        ValueError: there is no such file, or it is damaged.

    Examples:
        >>> from duograph.train import SummaryRecord, read_events
        >>> with SummaryRecord("/tmp/duograph-events") as record:
        ...     record.add_value("scalar", "error", 0.5)
        ...     written = record.record(1)
        >>> read_events(record.log_dir)[0]["values"]["error"]
        0.5
    """
    place = Path(path)
    files = sorted(f for f in place.iterdir() if "tfevents" in f.name) if place.is_dir() else [place]
    found: list[dict[str, Any]] = []
    for file in files:
        try:
            found.extend(_events_of(file))
        except (OSError, ValueError, DecodeError, KeyError) as exc:
            raise ValueError(f"The event file {file} cannot be read: {exc}.") from None
    return found


def _events_of(file: Path) -> Iterator[dict[str, Any]]:
    with file.open("rb") as stream:
        for data in records(stream):
            message = _event_class()()
            message.ParseFromString(data)
            if message.HasField("summary"):
                values = {entry.tag: _value_of(entry) for entry in message.summary.value}
                yield {"step": message.step, "time": message.wall_time, "values": values}


def _value_of(entry: Any) -> Any:
    if entry.HasField("simple_value"):
        return entry.simple_value
    if entry.HasField("image"):
        return entry.image.encoded_image_string
    if entry.HasField("histo"):
        fields = {name: getattr(entry.histo, name) for name in ("min", "max", "num", "sum", "sum_squares")}
        return {**fields, "limits": list(entry.histo.bucket_limit), "counts": list(entry.histo.bucket)}
    if entry.HasField("tensor"):
        tensor = entry.tensor
        if tensor.dtype == _TEXT:
            return "\n".join(part.decode(errors="replace") for part in tensor.string_val)
        shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
        return np.frombuffer(tensor.tensor_content, _OF_NUMBERS[tensor.dtype]).reshape(shape)
    return None
