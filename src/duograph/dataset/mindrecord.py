"""Records on disk: `FileWriter` and `FileReader`, under ``mindspore.mindrecord``'s names.

A file has a header and one piece per record, each with a CRC-32, so that no damaged byte is read as another value::

    file   ::= "duorec1\\n" , u32 length of the header , header , u32 check , record ...
    header ::= JSON: {"schema": {...}, "index": [...], "records": 5, "shards": 2, "shard": 0, "set": "1c291ca3"}
    record ::= u32 length of the content , u32 check , content
    content ::= for each field: u32 length , bytes   (of an array: its shape in JSON, a line feed, its elements)

The check of the header is over all before it, that of a record over its number, its length and its content. ``set`` is
the same in all shards that were written together, so that new ones are not mixed with old ones. Numbers are
little-endian. Shards are files ``NAME0``, ``NAME1``, ... as MindSpore names them. MindSpore's own binary page
format is not read.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

import numpy as np

from duograph.base.files import crc_of, write_file
from duograph.base.public import saying_why

__all__ = ["FileReader", "FileWriter", "SUCCESS"]

SUCCESS = "SUCCESS"
_TYPES = ("int32", "int64", "float32", "float64", "string", "bytes")
_MAGIC = b"duorec1\n"
_WORD, _PAIR = struct.Struct("<I"), struct.Struct("<II")


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
        self._rows: list[dict[str, bytes]] = []
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
        """Writes the files, each in one move."""
        if self.schema is None:
            raise RuntimeError("add_schema must be called before commit.")
        shards = len(self.paths)
        together = crc_of(value for row in self._rows for value in row.values())
        about = {"schema": self.schema, "index": self._index, "shards": shards, "set": f"{together:08x}"}
        for shard, path in enumerate(self.paths):
            write_file(path, _pieces({**about, "shard": shard}, self._rows[shard::shards]))
        return SUCCESS


class FileReader:
    """Reads the records of a file, or of all shards in a list.

    Args:
        file_name (Union[str, list[str]]): path, or paths of shards.
        num_consumer (int): accepted. Default: ``4``.
        columns (list[str]): only these fields. Default: ``None``, all.

    Raises:
        ValueError: there is no such file.
        RuntimeError: a file is damaged, or none that `FileWriter` writes.

    Supported Platforms:
        ``CPU``
    """

    def __init__(self, file_name: Any, num_consumer: int = 4, columns: list[str] | None = None) -> None:
        given = [str(f) for f in (file_name if isinstance(file_name, list) else [file_name])]
        self.paths = existing_shards(file_name)
        self.columns = columns
        about = [_about(path) for path in self.paths]
        self._schema = about[0]["schema"]
        self._count = sum(a["records"] for a in about)
        for path, a in zip(self.paths, about, strict=True):
            if a["schema"] != self._schema:
                raise RuntimeError(f"Invalid file, the schema of {path} is not that of {self.paths[0]}.")
        if self.paths != given and {a["shard"] for a in about if a["set"] == about[0]["set"]} != set(
            range(max(a["shards"] for a in about))
        ):
            raise RuntimeError(f"Invalid file, the shards {', '.join(self.paths)} were not written together.")

    def schema(self) -> dict[str, dict[str, Any]]:
        """The fields of a record."""
        return dict(self._schema)

    def len(self) -> int:
        """The number of records."""
        return self._count

    def get_next(self) -> Iterator[dict[str, Any]]:
        """All records, one dict each: arrays for numbers, str and bytes.

        Raises:
            RuntimeError: a file is damaged.
        """
        names = list(self.columns or self._schema)
        for path in self.paths:
            for row in _records(path, list(self._schema)):
                yield {n: _loaded(self._schema[n], row[n]) for n in names}

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


# ---- the file --------------------------------------------------------------------------------------------------------


def _pieces(about: dict[str, Any], rows: list[dict[str, bytes]]) -> Iterator[bytes]:
    header = json.dumps({**about, "records": len(rows)}).encode()
    head = _MAGIC + _WORD.pack(len(header)) + header
    yield head + _WORD.pack(zlib.crc32(head))
    for number, row in enumerate(rows):
        content = b"".join(_WORD.pack(len(value)) + value for value in row.values())
        yield _PAIR.pack(len(content), _check(number, content)) + content


def _check(number: int, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(struct.pack("<QQ", number, len(content))))


def _damaged(path: str, what: str) -> NoReturn:
    raise RuntimeError(f"Invalid file, the mindrecord file {path} is damaged: {what}.")


def _about(path: str) -> dict[str, Any]:
    """The header of a file."""
    with _opened(path) as file:
        return _header(path, file)


def _opened(path: str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as exc:
        raise ValueError(f"The file {path} does not exist or permission denied! ({exc.strerror})") from None


def _header(path: str, file: BinaryIO) -> dict[str, Any]:
    head = file.read(len(_MAGIC) + 4)
    if head[: len(_MAGIC)] != _MAGIC:
        raise RuntimeError(
            f"Invalid file, {path} is no mindrecord file that FileWriter wrote, or its start is damaged."
        )
    length = int.from_bytes(head[len(_MAGIC) :], "little")
    rest = file.read(length + 4)
    if len(rest) != length + 4 or zlib.crc32(head + rest[:-4]) != int.from_bytes(rest[-4:], "little"):
        _damaged(path, "its header is not what was written")
    return json.loads(rest[:-4])


def _records(path: str, names: list[str]) -> Iterator[dict[str, bytes]]:
    with _opened(path) as file:
        count = _header(path, file)["records"]
        size = os.fstat(file.fileno()).st_size
        for number in range(count):
            head = file.read(_PAIR.size)
            length, check = _PAIR.unpack(head) if len(head) == _PAIR.size else (0, 0)
            content = file.read(length) if length <= size else b""
            if len(head) != _PAIR.size or len(content) != length or _check(number, content) != check:
                _damaged(path, f"record {number} of {count} is not what was written")
            row, at = {}, 0
            for name in names:
                (length,) = _WORD.unpack_from(content, at)
                row[name] = content[at + 4 : at + 4 + length]
                at += 4 + length
            yield row
        if file.read(1):
            _damaged(path, f"there is more after its {count} records")


def _stored(name: str, field: dict[str, Any], row: dict[str, Any]) -> bytes:
    if name not in row:
        raise ValueError(f"A record has no field {name!r}.")
    value, kind = row[name], field["type"]
    if kind == "string":
        return str(value).encode()
    if kind == "bytes":
        if isinstance(value, int | list | tuple):  # `bytes(3)` would be three zeros
            raise ValueError(f"The field {name!r} needs bytes, but got {type(value).__name__}.")
        return bytes(value)
    array = np.asarray(value, dtype=kind)
    shape = field.get("shape")
    if shape is not None and -1 not in shape and tuple(array.shape) != tuple(shape):
        raise ValueError(f"The field {name!r} has shape {tuple(shape)}, but got {tuple(array.shape)}.")
    return json.dumps(list(array.shape)).encode() + b"\n" + array.tobytes()


def _loaded(field: dict[str, Any], value: bytes) -> Any:
    kind = field["type"]
    if kind == "bytes":
        return value
    if kind == "string":
        return value.decode()
    shape, _, data = value.partition(b"\n")
    return np.frombuffer(data, kind).reshape(json.loads(shape)).copy()


__getattr__ = saying_why(__name__)
