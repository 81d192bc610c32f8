"""Records on disk: `FileWriter` and `FileReader`, under ``mindspore.mindrecord``'s names and in its format.

Files of both are read by both; the format is in `mindpages.py`. Shards are files ``NAME0``, ``NAME1``, ... and each has
an index ``NAME.db`` beside it, which MindSpore needs.
"""

from __future__ import annotations

import bisect
import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np

from duograph.base.files import crc_of, write_file
from duograph.base.public import saying_why

from .mindpages import Damaged, Layout, about, fields_of, files_of, is_blob, places_of, row_at

__all__ = ["FileReader", "FileWriter", "SUCCESS"]

SUCCESS = "SUCCESS"
_MOST_OPEN = 64
"""Files that are kept open: there may be more shards than a process may open."""
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
        self._index: list[str] | None = None
        self._desc = ""

    def add_schema(self, content: dict[str, dict[str, Any]], desc: str | None = None) -> int:
        """Says which fields a record has: ``{"x": {"type": "float32", "shape": [-1]}}``; gives the schema's number.

        Raises:
            ValueError: a field's type is not one of int32, int64, float32, float64, string, bytes; or its name has
                other characters than letters, digits and underscores; or its shape leaves more than one size open.
        """
        for name, field in content.items():
            if not isinstance(name, str) or not re.fullmatch(r"[0-9a-zA-Z_]+", name):
                raise ValueError(f"The name of a field has letters, digits and underscores, but got {name!r}.")
            if not isinstance(field, dict) or field.get("type") not in _TYPES:
                raise ValueError(f"The field {name!r} needs a type out of {list(_TYPES)}, but got {field!r}.")
            shape = field.get("shape", [])
            sizes = isinstance(shape, list | tuple) and all(type(n) is int and n >= -1 for n in shape)
            if not sizes or list(shape).count(-1) > 1 or set(field) - {"type", "shape"}:
                raise ValueError(f"The field {name!r} has a type and at most a shape, but got {field!r}.")
            if "shape" in field and field["type"] in ("string", "bytes"):
                raise ValueError(f"The field {name!r} of the type {field['type']} has no shape.")
        self.schema = {name: {**field} for name, field in content.items()}
        self._desc = desc or ""
        return 0

    def add_index(self, index_fields: list[str]) -> str:
        """Names fields that records are looked up by; kept with the file."""
        missing = [f for f in index_fields if self.schema is None or f not in self.schema]
        if missing:
            raise ValueError(f"index field {missing[0]!r} is not in the schema.")
        assert self.schema is not None
        for name in index_fields:
            if is_blob(self.schema[name]):
                raise ValueError(f"index field {name!r} is not a single number or string.")
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
        """Writes the files, each in one move."""
        if self.schema is None:
            raise RuntimeError("add_schema must be called before commit.")
        shards, index = len(self.paths), fields_of(self.schema)[0] if self._index is None else self._index
        together = f"{crc_of(_bytes_of(value) for row in self._rows for value in row.values()):08x}"
        written = []
        for shard in range(shards):
            first, last = (len(self._rows) * n // shards for n in (shard, shard + 1))
            rows = self._rows[first:last]
            written.append(files_of(rows, self.schema, index, self._desc, self.paths, shard, together))
        for path, (pieces, database) in zip(self.paths, written):
            write_file(path, pieces)
            write_file(f"{path}.db", database)
        return SUCCESS


class FileReader:
    """Reads the records of a file and of those written together with it, or of the files in a list.

    Args:
        file_name (Union[str, list[str]]): path of one of the shards, which stands for all of them; or paths, of which
            nothing else is read.
        num_consumer (int): accepted. Default: ``4``.
        columns (list[str]): only these fields. Default: ``None``, all.

    Raises:
        ValueError: there is no such file.
        RuntimeError: a file is damaged, or no mindrecord file, or others of its set are missing.

    Supported Platforms:
        ``CPU``
    """

    def __init__(self, file_name: Any, num_consumer: int = 4, columns: list[str] | None = None) -> None:
        given = [str(f) for f in (file_name if isinstance(file_name, list) else [file_name])]
        self.paths = existing_shards(file_name)
        self.columns = columns
        found = [_about(path) for path in self.paths]
        self._schema = found[0]["schema"]
        self._count = sum(a["rows"] for a in found)
        for path, a in zip(self.paths, found, strict=True):
            if a["schema"] != self._schema:
                raise RuntimeError(f"Invalid file, the schema of {path} is not that of {self.paths[0]}.")
        if self.paths != given and {a["shard"] for a in found if a["set"] == found[0]["set"]} != set(
            range(max(len(a["shards"]) for a in found))
        ):
            raise RuntimeError(f"Invalid file, the shards {', '.join(self.paths)} were not written together.")

    def schema(self) -> dict[str, dict[str, Any]]:
        """The fields of a record."""
        return dict(self._schema)

    def len(self) -> int:
        """The number of records."""
        return self._count

    def get_next(self) -> Iterator[dict[str, Any]]:
        """All records, one dict each: numbers, str and bytes, and arrays for what has a shape.

        Raises:
            RuntimeError: a file is damaged.
        """
        names = list(self.columns or self._schema)
        for row in Records(self.paths, self._schema):
            yield {n: row[n] for n in names}

    def close(self) -> None:
        """Files are open only while they are read."""


_KINDS = {
    "bool": "int32", "int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32", "int32": "int32",
    "uint32": "int64", "int64": "int64", "uint64": "int64", "float16": "float32", "float32": "float32",
    "float64": "float64",
}  # fmt: skip
"""The types of records for those of pipelines."""


def save_rows(rows: list[dict[str, np.ndarray]], names: list[str], file_name: str, num_files: int) -> None:
    """Writes rows of a pipeline, under the schema that they have.

    Raises:
        ValueError: there are no rows, or a column that records cannot hold.
    """
    if not rows:
        raise ValueError(f"There are no rows to write to {file_name}.")
    writer = FileWriter(file_name, num_files, overwrite=True)
    writer.add_schema({name: _field_of(name, [row[name] for row in rows]) for name in names})
    writer.write_raw_data([{name: _value_of(value) for name, value in row.items()} for row in rows])
    writer.commit()


def _field_of(name: str, arrays: list[np.ndarray]) -> dict[str, Any]:
    first = arrays[0]
    kind = {"U": "string", "S": "bytes"}.get(first.dtype.kind) or _KINDS.get(first.dtype.name)
    if kind is None or (kind in ("string", "bytes") and first.ndim):
        raise ValueError(f"The column {name!r} of the type {first.dtype} and shape {first.shape} fits no record.")
    if first.dtype == np.uint64 and any(array.size and array.max() > np.iinfo(np.int64).max for array in arrays):
        raise ValueError(f"The column {name!r} has numbers that are larger than int64.")
    if not first.ndim:
        return {"type": kind}
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1 and len({shape[1:] for shape in shapes}) > 1:
        raise ValueError(f"The rows of the column {name!r} differ in more than their first size: {sorted(shapes)[:2]}.")
    return {"type": kind, "shape": list(first.shape) if len(shapes) == 1 else [-1, *first.shape[1:]]}


def _value_of(value: np.ndarray) -> Any:
    return value.item() if value.dtype.kind in "US" else value


def shard_paths(file_name: str, shard_num: int) -> list[str]:
    """Paths of the shards of a file."""
    if shard_num == 1:
        return [file_name]
    width = len(str(shard_num - 1))
    return [f"{file_name}{i:0{width}d}" for i in range(shard_num)]


def existing_shards(file_name: Any) -> list[str]:
    """The files of ``file_name``: a list, the set that a file belongs to, or the shards that begin with its name.

    Raises:
        ValueError: there is no such file.
        RuntimeError: of the set that a file belongs to, others are missing, or it is called otherwise itself.
    """
    if isinstance(file_name, list):
        return [str(f) for f in file_name]
    folder, base = os.path.split(str(file_name))
    if os.path.exists(file_name):
        names = _about(str(file_name))["shards"]
        if len(names) < 2:
            return [str(file_name)]
        missing = [n for n in names if n != base and not os.path.exists(os.path.join(folder, n))]
        if missing or base not in names:
            what = f"of which {', '.join(missing)} cannot be found" if missing else "but is called otherwise"
            raise RuntimeError(
                f"Invalid file, {file_name} is one of the files {', '.join(names)}, {what}; "
                f"[{str(file_name)!r}], a list, is this file alone."
            )
        return [os.path.join(folder, n) for n in names]
    names = sorted(n for n in os.listdir(folder or ".") if n.startswith(base) and n[len(base) :].isdigit())
    if not names:
        raise ValueError(f"The file {file_name} does not exist or permission denied!")
    return [os.path.join(folder, n) for n in names]


# ---- the file --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _read(path: str) -> Iterator[BinaryIO]:
    """A file that is read."""
    with _named(path), open(path, "rb") as file:
        yield file


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """Whatever is wrong with a file is said with its name."""
    try:
        yield
    except OSError as exc:
        raise ValueError(f"The file {path} does not exist or permission denied! ({exc.strerror})") from None
    except Damaged as exc:
        raise RuntimeError(f"Invalid file, the mindrecord file {path} is damaged: {exc}.") from None


def _about(path: str) -> dict[str, Any]:
    with _read(path) as file:
        return about(file)


class Records(Sequence[dict[str, Any]]):
    """The records of files that have one schema, by number: what is kept is where they lie.

    Raises:
        RuntimeError: a file is damaged, or has changed since.
    """

    def __init__(self, paths: list[str], schema: dict[str, dict[str, Any]]) -> None:
        self._paths, self._layout = paths, Layout(schema, *fields_of(schema))
        self._versions, places = [], []
        for path in paths:
            with _read(path) as file:
                self._versions.append(_version(file.fileno()))
                places.append(places_of(file, about(file)))
        self._ends = np.cumsum([len(p) for p in places]).tolist()
        self._places = np.concatenate(places)
        self._open: dict[int, _Open] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: Any) -> Any:
        of = bisect.bisect_right(self._ends, number)
        with _named(self._paths[of]):
            file = self._open.get(of) or self._opened(of)
            if _version(file.number) != self._versions[of]:
                raise Damaged("it has changed since its rows were counted")
            return row_at(file.number, self._layout, self._places[number].tolist())

    def _opened(self, of: int) -> _Open:
        file = _Open(self._paths[of])
        if len(self._open) >= _MOST_OPEN:
            self._open.clear()  # who reads one at this moment holds it
        self._open[of] = file
        return file


class _Open:
    """An open file, which is closed when nobody holds it any more."""

    def __init__(self, path: str) -> None:
        self.number = os.open(path, os.O_RDONLY)

    def __del__(self) -> None:
        if "number" in self.__dict__:
            os.close(self.number)


def _version(file: int) -> tuple[int, ...]:
    found = os.fstat(file)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _bytes_of(value: Any) -> bytes | memoryview:
    if isinstance(value, np.ndarray):
        return np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    return value if isinstance(value, bytes) else repr(value).encode()


def _stored(name: str, field: dict[str, Any], row: dict[str, Any]) -> Any:
    if name not in row:
        raise ValueError(f"A record has no field {name!r}.")
    value, kind = row[name], field["type"]
    if kind == "string":
        return str(value)
    if kind == "bytes":
        if isinstance(value, int | list | tuple):  # `bytes(3)` would be three zeros
            raise ValueError(f"The field {name!r} needs bytes, but got {type(value).__name__}.")
        return bytes(value)
    array = np.asarray(value, dtype=kind)
    shape = field.get("shape")
    if shape is None:
        if array.ndim:
            raise ValueError(f"The field {name!r} is one number, but got the shape {tuple(array.shape)}.")
        return array.item()
    fits = len(shape) == array.ndim and all(want in (-1, n) for want, n in zip(shape, array.shape))
    if not fits:
        raise ValueError(f"The field {name!r} has shape {tuple(shape)}, but got {tuple(array.shape)}.")
    return array


__getattr__ = saying_why(__name__)
