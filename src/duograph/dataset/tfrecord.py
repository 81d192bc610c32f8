"""`TFRecordDataset`: examples of TensorFlow, without it."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from duograph.core import dtype as dt
from duograph.core.protobuf import messages
from duograph.core.recordfile import records

from .files import _Lines

__all__ = ["Schema", "TFRecordDataset"]

_SCHEMA = """
message Example {
    message Bytes { repeated bytes value = 1; }
    message Floats { repeated float value = 1; }
    message Ints { repeated int64 value = 1; }
    message Feature { optional Bytes bytes_list = 1; optional Floats float_list = 2; optional Ints int64_list = 3; }
    message Entry { optional string key = 1; optional Feature value = 2; }
    message Features { repeated Entry feature = 1; }
    optional Features features = 1;
}
"""


@cache
def _example_class() -> Any:
    return messages("duograph_example", _SCHEMA)["Example"]


class Schema:
    """Names, types and shapes of columns, for `TFRecordDataset`.

    Args:
        schema_file (str): a JSON file: ``{"columns": {"image": {"type": "uint8", "shape": [3]}}}``. Default ``None``.

    Raises:
        ValueError: there is no such file.
        RuntimeError: it is none of that form.

    Examples:
        >>> import duograph.dataset as ds
        >>> schema = ds.Schema()
        >>> schema.add_column("label", "int64", [1])
        >>> schema.columns
        {'label': ('int64', [1])}
    """

    def __init__(self, schema_file: str | None = None) -> None:
        self.columns: dict[str, tuple[str, list[int] | None]] = {}
        self.num_rows: int | None = None
        if schema_file is not None:
            if not Path(schema_file).is_file():
                raise ValueError(f"The file {schema_file} does not exist or permission denied!")
            try:
                self.from_json(json.loads(Path(schema_file).read_text(encoding="utf-8")))
            except (ValueError, TypeError, KeyError, AttributeError) as exc:
                raise RuntimeError(f"Invalid schema file, {schema_file} cannot be read: {exc}.") from None

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """Adds a column.

        Args:
            name (str): its name.
            de_type (Union[str, mindspore.dtype]): its type.
            shape (list[int]): of each row; -1: open. Default ``None``: whatever there is.

        Raises:
            TypeError: there is no such type.
        """
        self.columns[name] = (
            np.dtype(dt.as_dtype(de_type, "add_column").numpy).name,
            None if shape is None else list(shape),
        )

    def from_json(self, json_obj: dict[str, Any]) -> None:
        """Takes the columns of a dict ``{"columns": {...}, "numRows": 3}``."""
        columns = json_obj["columns"]
        pairs = [(c["name"], c) for c in columns] if isinstance(columns, list) else columns.items()
        for name, column in pairs:
            self.add_column(name, column["type"], column.get("shape"))
        self.num_rows = json_obj.get("numRows", self.num_rows)

    def to_json(self) -> str:
        """The columns as JSON."""
        columns = {
            name: {"type": kind, **({} if shape is None else {"shape": shape})}
            for name, (kind, shape) in self.columns.items()
        }
        return json.dumps({"columns": columns, **({} if self.num_rows is None else {"numRows": self.num_rows})})


class TFRecordDataset(_Lines):
    """Examples (``tf.train.Example``) of TFRecord files: int64, float32, and bytes as uint8.

    The files are read into memory when rows are first asked for; their checksums are checked.

    Args:
        dataset_files (Union[str, list[str]]): the files, in the order of their names.
        schema (Union[str, Schema]): types and shapes of the columns, also as a JSON file. Default ``None``: all
            features of the first example, flat, in the order of their names.
        columns_list (list[str]): only these columns. Default ``None``: all.
        num_samples (int): at most this many rows. Default ``None``: ``numRows`` of the schema, or all.
        num_parallel_workers (int): how many threads read rows. Default ``None``.
        shuffle (Union[bool, Shuffle]): Default: yes.
        num_shards (int): number of processes that share the rows. Default ``None``.
        shard_id (int): which of them this is. Default ``None``.
        shard_equal_rows (bool): kept for old programs: shards have equal rows. Default ``False``.
        cache (DatasetCache): kept for old programs. Default ``None``.
        compression_type (str): ``""``, ``"GZIP"`` or ``"ZLIB"``. Default ``None``: none.

    Raises:
        ValueError: no such file, schema or column; another compression.
        RuntimeError: a file is damaged, or an example does not have a column as the schema says it.
    """

    def __init__(
        self, dataset_files: Any, schema: Any = None, columns_list: list[str] | None = None,
        num_samples: int | None = None, num_parallel_workers: int | None = None, shuffle: Any = True,
        num_shards: int | None = None, shard_id: int | None = None, shard_equal_rows: bool = False, cache: Any = None,
        compression_type: str | None = None,
    ) -> None:  # fmt: skip
        if compression_type not in (None, "", "GZIP", "ZLIB"):
            raise ValueError(f"Input compression_type must be '', 'GZIP' or 'ZLIB', but got {compression_type!r}.")
        if schema is not None and not isinstance(schema, str | Schema):
            raise TypeError(f"The schema must be a path or a Schema, but got {type(schema)}.")
        self._schema = Schema(schema) if isinstance(schema, str) else schema
        self._compression = compression_type or ""
        if num_samples is None and self._schema is not None:
            num_samples = self._schema.num_rows
        files = [dataset_files] if isinstance(dataset_files, str | Path) else sorted(dataset_files)
        super().__init__(files, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._names = self._names_of(columns_list)

    def _names_of(self, wanted: list[str] | None) -> list[str]:
        known = list(self._schema.columns) if self._schema is not None else sorted(self._features_of_first())
        for name in wanted or ():
            if name not in known:
                raise ValueError(f"columns_list: there is no column {name!r}; there are {known}.")
        return list(wanted or known)

    def _features_of_first(self) -> dict[str, Any]:
        """The features of the first example."""
        for path in self._paths:
            for data in self._stream(path):
                return _features_of(data)
        raise RuntimeError(f"Invalid file, there is no example in {', '.join(map(str, self._paths))}.")

    def _stream(self, path: Path) -> Any:
        try:
            with path.open("rb") as file:
                if self._compression == "ZLIB":
                    yield from records(io.BufferedReader(_Inflated(file)))
                elif self._compression:
                    with gzip.GzipFile(fileobj=file) as content:
                        yield from records(content)  # type: ignore[arg-type]
                else:
                    yield from records(file)
        except (ValueError, OSError, EOFError, zlib.error, DecodeError) as exc:
            raise RuntimeError(f"Invalid TFRecord file, {path} cannot be read: {exc}.") from None

    def column_names(self):
        return list(self._names)

    def read(self, path):
        return [(path, data) for data in self._stream(path)]

    def row(self, index):
        path, data = self.records()[index]
        try:
            features = _features_of(data)
            return tuple(self._column(name, features) for name in self._names)
        except (ValueError, DecodeError, KeyError) as exc:
            what = f"there is no feature {exc}" if isinstance(exc, KeyError) else str(exc)
            raise RuntimeError(f"Invalid TFRecord file, an example of {path} cannot be read: {what}.") from None

    def _column(self, name: str, features: dict[str, Any]) -> np.ndarray:
        array = _array_of(features[name])
        kind, shape = (None, None) if self._schema is None else self._schema.columns[name]
        if kind is not None and array.dtype != kind:
            if array.dtype == np.uint8:
                raise ValueError(f"{name!r} has bytes, the schema says {kind}")
            array = array.astype(kind)
        return array if shape is None else array.reshape(shape)


class _Inflated(io.RawIOBase):
    """What is compressed in a file, a part at a time."""

    def __init__(self, file: Any) -> None:
        self._file, self._inflate = file, zlib.decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._inflate.eof:
            data = self._inflate.unconsumed_tail or self._file.read(1 << 16)
            found = self._inflate.decompress(data, len(buffer))
            if found:
                buffer[: len(found)] = found
                return len(found)
            if not data:
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
        return 0


def _features_of(data: bytes) -> dict[str, Any]:
    example = _example_class()()
    example.ParseFromString(data)
    return {entry.key: entry.value for entry in example.features.feature}


def _array_of(feature: Any) -> np.ndarray:
    if feature.HasField("int64_list"):
        return np.array(feature.int64_list.value, np.int64)
    if feature.HasField("float_list"):
        return np.array(feature.float_list.value, np.float32)
    parts = list(feature.bytes_list.value)
    width = max(map(len, parts), default=0)
    return np.frombuffer(b"".join(part.ljust(width, b"\0") for part in parts), np.uint8).copy()
