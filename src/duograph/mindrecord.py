"""Records on disk: `FileWriter` and `FileReader`, under ``mindspore.mindrecord``'s names.

A file is an SQLite database (readable with any SQLite tool) with a schema and one blob per field; shards are files
``NAME0``, ``NAME1``, ... as MindSpore names them. MindSpore's own binary page format is not read.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np

__all__ = ["FileReader", "FileWriter", "SUCCESS"]

SUCCESS = "SUCCESS"
_TYPES = ("int32", "int64", "float32", "float64", "string", "bytes")


class FileWriter:
    """Writes records to a file, or to several shards.

    Args:
        file_name (str): path of the file.
        shard_num (int): number of files, 1 to 1000. Default: ``1``.
        overwrite (bool): whether existing files are replaced. Default: ``False``.

    Raises:
        TypeError: ``shard_num`` is not an int.
        ValueError: ``shard_num`` is out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import tempfile, os
        >>> from duograph.mindrecord import FileReader, FileWriter
        >>> path = os.path.join(tempfile.mkdtemp(), "points.mindrecord")
        >>> writer = FileWriter(path)
        >>> _ = writer.add_schema({"x": {"type": "float32", "shape": [-1]}, "name": {"type": "string"}})
        >>> writer.write_raw_data([{"x": [1.0, 2.0], "name": "a"}])
        'SUCCESS'
        >>> writer.commit()
        'SUCCESS'
        >>> [row["name"] for row in FileReader(path).get_next()]
        ['a']
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False) -> None:
        if isinstance(shard_num, bool) or not isinstance(shard_num, int):
            raise TypeError(f"The parameter shard_num's type should be int, but got {type(shard_num).__name__}.")
        if not 1 <= shard_num <= 1000:
            raise ValueError(f"Shard number should between 1 and 1000, but got {shard_num}.")
        self.paths = shard_paths(file_name, shard_num)
        self.schema: dict[str, dict[str, Any]] | None = None
        self._rows: list[dict[str, Any]] = []
        for path in self.paths:
            if os.path.exists(path) and not overwrite:
                raise RuntimeError(f"Invalid file, mindrecord files already exist. Please check file path: {path}.")
        self._index: list[str] = []

    def add_schema(self, content: dict[str, dict[str, Any]], desc: str | None = None) -> int:
        """Says which fields a record has: ``{"x": {"type": "float32", "shape": [-1]}}``; gives the schema's number.

        Raises:
            ValueError: a field's type is not one of int32, int64, float32, float64, string, bytes.
        """
        for name, field in content.items():
            if not isinstance(field, dict) or field.get("type") not in _TYPES:
                raise ValueError(f"The field {name!r} needs a type out of {list(_TYPES)}, but got {field!r}.")
        self.schema = dict(content)
        return 0

    def add_index(self, index_fields: list[str]) -> str:
        """Names fields that records are looked up by; kept with the file."""
        missing = [f for f in index_fields if self.schema is None or f not in self.schema]
        if missing:
            raise ValueError(f"index field {missing[0]!r} is not in the schema.")
        self._index = list(index_fields)
        return SUCCESS

    def write_raw_data(self, raw_data: list[dict[str, Any]], parallel_writer: bool = False) -> str:
        """Adds records; every field must fit the schema.

        Raises:
            RuntimeError: there is no schema.
            TypeError: a record is not a dict.
            ValueError: a field is missing or does not fit its type.
        """
        if self.schema is None:
            raise RuntimeError("add_schema must be called before write_raw_data.")
        for row in raw_data:
            if not isinstance(row, dict):
                raise TypeError(f"Each element of raw_data must be a dict, but got {type(row).__name__}.")
            self._rows.append({name: _stored(name, field, row) for name, field in self.schema.items()})
        return SUCCESS

    def commit(self) -> str:
        """Writes the files."""
        if self.schema is None:
            raise RuntimeError("add_schema must be called before commit.")
        for shard, path in enumerate(self.paths):
            if os.path.exists(path):
                os.remove(path)
            with closing(sqlite3.connect(path)) as db:
                db.execute("CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT)")
                about = {"schema": json.dumps(self.schema), "index": json.dumps(self._index)}
                db.executemany("INSERT INTO about VALUES (?, ?)", about.items())
                columns = ", ".join(f'"{name}" BLOB' for name in self.schema)
                db.execute(f"CREATE TABLE records (id INTEGER PRIMARY KEY, {columns})")
                marks = ", ".join("?" * (len(self.schema) + 1))
                rows = self._rows[shard :: len(self.paths)]
                db.executemany(
                    f"INSERT INTO records VALUES ({marks})",
                    [(i, *row.values()) for i, row in enumerate(rows)],
                )
                db.commit()
        return SUCCESS


class FileReader:
    """Reads the records of a file, or of all shards in a list.

    Args:
        file_name (Union[str, list[str]]): path, or paths of shards.
        num_consumer (int): accepted. Default: ``4``.
        columns (list[str]): only these fields. Default: ``None``, all.

    Supported Platforms:
        ``CPU``
    """

    def __init__(self, file_name: Any, num_consumer: int = 4, columns: list[str] | None = None) -> None:
        self.paths = existing_shards(file_name)
        self.columns = columns
        with closing(sqlite3.connect(self.paths[0])) as db:
            self._schema = json.loads(db.execute("SELECT value FROM about WHERE key = 'schema'").fetchone()[0])

    def schema(self) -> dict[str, dict[str, Any]]:
        """The fields of a record."""
        return dict(self._schema)

    def len(self) -> int:
        """The number of records."""
        total = 0
        for path in self.paths:
            with closing(sqlite3.connect(path)) as db:
                total += db.execute("SELECT count(*) FROM records").fetchone()[0]
        return total

    def get_next(self) -> Iterator[dict[str, Any]]:
        """All records, one dict each: arrays for numbers, str and bytes."""
        names = list(self.columns or self._schema)
        for path in self.paths:
            with closing(sqlite3.connect(path)) as db:
                for row in db.execute(f"SELECT {', '.join(_quoted(n) for n in names)} FROM records ORDER BY id"):
                    yield {n: _loaded(self._schema[n], v) for n, v in zip(names, row, strict=True)}

    def close(self) -> None:
        """Files are open only while they are read."""


def shard_paths(file_name: str, shard_num: int) -> list[str]:
    """Paths of the shards of a file."""
    if shard_num == 1:
        return [file_name]
    width = len(str(shard_num - 1))
    return [f"{file_name}{i:0{width}d}" for i in range(shard_num)]


def existing_shards(file_name: Any) -> list[str]:
    """The files that ``file_name`` means: a list, one file, or the shards that begin with its name."""
    if isinstance(file_name, list):
        return [str(f) for f in file_name]
    if os.path.exists(file_name):
        return [str(file_name)]
    folder, base = os.path.split(str(file_name))
    names = sorted(n for n in os.listdir(folder or ".") if n.startswith(base) and n[len(base) :].isdigit())
    if not names:
        raise ValueError(f"The file {file_name} does not exist or permission denied!")
    return [os.path.join(folder, n) for n in names]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _stored(name: str, field: dict[str, Any], row: dict[str, Any]) -> Any:
    if name not in row:
        raise ValueError(f"A record has no field {name!r}.")
    value, kind = row[name], field["type"]
    if kind == "string":
        return str(value)
    if kind == "bytes":
        return bytes(value)
    array = np.asarray(value, dtype=kind)
    shape = field.get("shape")
    if shape is not None and -1 not in shape and tuple(array.shape) != tuple(shape):
        raise ValueError(f"The field {name!r} has shape {tuple(shape)}, but got {tuple(array.shape)}.")
    return json.dumps(list(array.shape)).encode() + b"\n" + array.tobytes()


def _loaded(field: dict[str, Any], value: Any) -> Any:
    kind = field["type"]
    if kind in ("string", "bytes"):
        return value
    shape, _, data = value.partition(b"\n")
    return np.frombuffer(data, kind).reshape(json.loads(shape)).copy()
