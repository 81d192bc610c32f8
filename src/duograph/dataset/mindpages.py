"""MindSpore's record file: a header, and pages of rows.

    file   ::= u64 length of the header , header (JSON) , zeros up to header_size , page ...
    page   ::= row ... , zeros up to page_size
    row    ::= u64 length , content
    RAW_DATA content  ::= a map in MessagePack of the fields that are one number or string
    BLOB_DATA content ::= for each other: u64 (big-endian) length , bytes; of the only one: bytes; of none: four 0

Elements of int32 and int64 arrays are kept in as few bytes as each needs: ``u32 (big-endian) count``, two bits for each
that say how many bytes (1, 2, 4, 8), then the elements. A row group is the rows of one page of blobs; ``row_group_ids``
say where its other fields begin. Beside the file, ``NAME.db`` (SQLite) has a table of all rows and places, which
MindSpore looks rows up in; it is written here, and not read: the pages say the same.

The format has no checksums. Files written here have one in their header, under a name of our own, over the whole file::

    "duograph": {"crc32": "1c291ca3", "set": "90a1b2c3"}

``set`` is the same in all shards that were written together, so that new ones are not mixed with old ones.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from duograph.base.files import crc_of

__all__ = ["Damaged", "Layout", "about", "fields_of", "files_of", "is_blob", "places_of", "row_at"]

_HEADER, _PAGE, _LARGEST = 1 << 14, 1 << 15, 1 << 28
_LENGTH, _BIG, _COUNT = struct.Struct("<Q"), struct.Struct(">Q"), struct.Struct(">I")
_WIDTHS = (1, 2, 4, 8)
_NO_CHECK = "0" * 8
_PACKED = ("int32", "int64")
_SQL = {"int32": "INTEGER", "int64": "INTEGER", "float32": "NUMERIC", "float64": "NUMERIC", "string": "TEXT"}
_PLACES = ("ROW_ID", "PAGE_ID_RAW", "PAGE_OFFSET_RAW", "PAGE_OFFSET_RAW_END", "ROW_GROUP_ID", "PAGE_ID_BLOB",
           "PAGE_OFFSET_BLOB", "PAGE_OFFSET_BLOB_END")  # fmt: skip


class Damaged(ValueError):
    """A file is not a record file, or not as it was written."""


def is_blob(field: dict[str, Any]) -> bool:
    """Whether a field is kept among the blobs."""
    return field["type"] == "bytes" or "shape" in field


def fields_of(schema: dict[str, dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Names of the fields of one number or string, and of the others, in the order of the file."""
    return [n for n in sorted(schema) if not is_blob(schema[n])], [n for n in sorted(schema) if is_blob(schema[n])]


# ---- MessagePack, as far as records need it --------------------------------------------------------------------------

_UNSIGNED = ((0xCC, ">B"), (0xCD, ">H"), (0xCE, ">I"), (0xCF, ">Q"))
_SIGNED = ((0xD0, ">b"), (0xD1, ">h"), (0xD2, ">i"), (0xD3, ">q"))
_FIXED = {0xCA: ">f", 0xCB: ">d", **dict(_UNSIGNED), **dict(_SIGNED)}
_TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}


def _packed(value: Any) -> bytes:
    if isinstance(value, str):
        data = value.encode()
        if len(data) < 32:
            return bytes([0xA0 | len(data)]) + data
        code, letter = next((c, f) for c, f in _TEXTS.items() if len(data) < 1 << 8 * struct.calcsize(f))
        return bytes([code]) + struct.pack(letter, len(data)) + data
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if -32 <= value < 128:
        return struct.pack("b", value)
    for code, letter in _UNSIGNED if value > 0 else _SIGNED:
        bits = 8 * struct.calcsize(letter)
        if value < 1 << bits if value > 0 else value >= -1 << bits - 1:
            return bytes([code]) + struct.pack(letter, value)
    raise ValueError(f"{value} is larger than 64 bits.")


def _packed_map(values: dict[str, Any]) -> bytes:
    head = bytes([0x80 | len(values)]) if len(values) < 16 else b"\xde" + struct.pack(">H", len(values))
    return head + b"".join(_packed(name) + _packed(value) for name, value in values.items())


def _unpacked(data: bytes, at: int) -> tuple[Any, int]:
    code = data[at]
    at += 1
    if code < 0x80:
        return code, at
    if code >= 0xE0:
        return code - 256, at
    if code in _FIXED:
        letter = _FIXED[code]
        return struct.unpack_from(letter, data, at)[0], at + struct.calcsize(letter)
    if 0xA0 <= code < 0xC0:
        length = code & 31
    elif code in _TEXTS:
        (length,) = struct.unpack_from(_TEXTS[code], data, at)
        at += struct.calcsize(_TEXTS[code])
    elif code in (0xC2, 0xC3):
        return code == 0xC3, at
    else:
        raise Damaged(f"a value of the kind {code:#x}")
    if at + length > len(data):
        raise Damaged("a text is cut off")
    return data[at : at + length].decode(), at + length


def _unpacked_map(data: bytes) -> dict[str, Any]:
    if data[:1] == b"\xde":
        (count,), at = struct.unpack_from(">H", data, 1), 3
    elif data and data[0] & 0xF0 == 0x80:
        count, at = data[0] & 15, 1
    else:
        raise Damaged("a row that is not a map")
    found = {}
    for _ in range(count):
        name, at = _unpacked(data, at)
        found[name], at = _unpacked(data, at)
    return found


# ---- arrays ----------------------------------------------------------------------------------------------------------


def _narrowed(array: np.ndarray) -> bytes:
    """Integers in as few bytes as each needs."""
    numbers = array.reshape(-1)
    codes = np.zeros(numbers.size, np.uint8)
    for code, width in enumerate(_WIDTHS[:-1]):
        codes[(numbers < -(1 << 8 * width - 1)) | (numbers >= 1 << 8 * width - 1)] = code + 1
    padded = np.zeros(-(-numbers.size // 4) * 4, np.uint8)
    padded[: numbers.size] = codes
    bits = padded.reshape(-1, 4) @ np.array([64, 16, 4, 1], np.uint8)
    wide = numbers.astype("<i8").view(np.uint8).reshape(-1, 8)
    kept = np.arange(8) < np.array(_WIDTHS)[codes][:, None]
    return _COUNT.pack(numbers.size) + bits.astype(np.uint8).tobytes() + wide[kept].tobytes()


def _widened(data: bytes, dtype: str) -> np.ndarray:
    count = _COUNT.unpack_from(data)[0] if len(data) >= 4 else -1
    bits = np.frombuffer(data[4 : 4 + -(-count // 4)], np.uint8)
    if count < 0 or bits.size != -(-count // 4):
        raise Damaged("an array is cut off")
    codes = ((bits[:, None] >> np.array([6, 4, 2, 0], np.uint8)) & 3).reshape(-1)[:count]
    widths = np.array(_WIDTHS)[codes]
    rest = np.frombuffer(data, np.uint8, offset=4 + bits.size)
    if rest.size != widths.sum():
        raise Damaged("an array is cut off")
    wide = np.zeros((count, 8), np.uint8)
    wide[np.arange(8) < widths[:, None]] = rest
    raw = wide.view("<i8").reshape(-1)
    return (raw << 64 - 8 * widths >> 64 - 8 * widths).astype(dtype)


def _blob(field: dict[str, Any], value: Any) -> bytes:
    if field["type"] == "bytes":
        return value
    return _narrowed(value) if field["type"] in _PACKED else np.ascontiguousarray(value).tobytes()


def _loaded(field: dict[str, Any], data: bytes) -> Any:
    kind = field["type"]
    if kind == "bytes":
        return data
    try:
        array = _widened(data, kind) if kind in _PACKED else np.frombuffer(data, kind)
        return array.reshape(field["shape"]).copy()
    except (ValueError, TypeError) as exc:
        raise Damaged(f"an array of the shape {field['shape']}: {exc}") from None


# ---- writing ---------------------------------------------------------------------------------------------------------


def files_of(
    rows: list[dict[str, Any]], schema: dict[str, dict[str, Any]], index: list[str], desc: str, paths: list[str],
    shard: int, together: str,
) -> tuple[list[bytes | memoryview], bytes]:  # fmt: skip
    """The pieces of a shard's file, and its database.

    Args:
        rows: the rows of the shard; arrays for what has a shape.
        schema: the fields.
        index: fields that rows are looked up by.
        desc: a text about the schema.
        paths: of all shards.
        shard: which of them this is.
        together: the mark of shards that belong together.

    Raises:
        ValueError: a row is larger than a page may be, or the header than a header.
    """
    plain, blobs = fields_of(schema)
    contents = [_contents(row, schema, plain, blobs) for row in rows]
    largest = max((len(part) for pair in contents for part in pair), default=0)
    page = _fitting(_PAGE, largest, "a record")
    groups = _groups(contents, page)
    raw_pages: list[tuple[int, list[dict[str, int]], list[bytes]]] = []
    places: list[tuple[int, ...]] = []
    for number, group in enumerate(groups):
        size = sum(len(raw) for raw, _ in group)
        if not raw_pages or raw_pages[-1][0] + size > page:
            raw_pages.append((0, [], []))
        used, starts, pieces = raw_pages[-1]
        raw_id, raw_at, blob_at = len(groups) + len(raw_pages) - 1, used, 0
        for raw, blob in group:
            ends = raw_at + len(raw), blob_at + len(blob)
            places.append((len(places), raw_id, raw_at, ends[0], number, number, blob_at, ends[1]))
            raw_at, blob_at = ends
        starts.append({"id": number, "offset": used})
        pieces.extend(raw for raw, _ in group)
        raw_pages[-1] = (used + size, starts, pieces)
    described, first = [], 0
    for number, group in enumerate(groups):
        size, last = sum(len(blob) for _, blob in group), first + len(group)
        described.append(_page(number, size, "BLOB_DATA", number, [{"id": 0, "offset": 0}], shard, first, last))
        first = last
    for number, (size, starts, _) in enumerate(raw_pages):
        described.append(_page(len(groups) + number, size, "RAW_DATA", number, starts, shard, 0, 0))
    names = [os.path.basename(path) for path in paths]
    header: dict[str, Any] = {
        "compression_size": sum(_saved(row, schema, blobs) for row in rows),
        "duograph": {"crc32": _NO_CHECK, "set": together},
        "header_size": 0,
        "index_fields": [{"index_field": name, "schema_id": 0} for name in index] or None,
        "page": described, "page_size": page,
        "schema": [{"blob_fields": blobs, "desc": desc, "schema": schema}],
        "shard_addresses": names, "shard_id": shard, "statistics": None, "version": "3.0",
    }  # fmt: skip
    header["header_size"] = _fitting(_HEADER, len(json.dumps(header)) + 32, "the header")
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    head = (_LENGTH.pack(len(text)) + text).ljust(header["header_size"], b"\0")
    parts = [[blob for _, blob in group] for group in groups] + [pieces for _, _, pieces in raw_pages]
    zeros = memoryview(bytes(page))
    body: list[bytes | memoryview] = []
    for part in parts:
        body += part  # nothing is copied
        body.append(zeros[sum(map(len, part)) :])
    check = f"{crc_of([head, *body]):08x}".encode()
    head = head.replace(b'"crc32":"' + _NO_CHECK.encode(), b'"crc32":"' + check, 1)
    return [head, *body], _database(rows, schema, index, places, names[shard])


def _fitting(size: int, needed: int, what: str) -> int:
    while size < needed:
        size *= 2
    if size > _LARGEST:
        raise ValueError(f"{what} of {needed} bytes is larger than {_LARGEST}, which is the most that the format has.")
    return size


def _contents(row: dict[str, Any], schema: dict[str, Any], plain: list[str], blobs: list[str]) -> tuple[bytes, bytes]:
    raw = _packed_map({name: row[name] for name in plain} if plain else {"id": 0})
    data = [_blob(schema[name], row[name]) for name in blobs]
    blob = b"".join(_BIG.pack(len(part)) + part for part in data) if len(data) > 1 else data[0] if data else bytes(4)
    return _LENGTH.pack(len(raw)) + raw, _LENGTH.pack(len(blob)) + blob


def _groups(contents: list[tuple[bytes, bytes]], page: int) -> list[list[tuple[bytes, bytes]]]:
    groups: list[list[tuple[bytes, bytes]]] = [[]]
    raw = blob = 0
    for pair in contents:
        if raw + len(pair[0]) > page or blob + len(pair[1]) > page:
            groups.append([])
            raw = blob = 0
        raw, blob = raw + len(pair[0]), blob + len(pair[1])
        groups[-1].append(pair)
    return groups


def _page(
    number: int, size: int, kind: str, of_kind: int, groups: list[dict[str, int]], shard: int, first: int, last: int
) -> dict[str, Any]:
    return {
        "end_row_id": last, "page_id": number, "page_size": size, "page_type": kind, "page_type_id": of_kind,
        "row_group_ids": groups, "shard_id": shard, "start_row_id": first,
    }  # fmt: skip


def _saved(row: dict[str, Any], schema: dict[str, Any], blobs: list[str]) -> int:
    packed = [row[name] for name in blobs if schema[name]["type"] in _PACKED]
    return sum(array.nbytes - len(_narrowed(array)) for array in packed)


def _database(
    rows: list[dict[str, Any]], schema: dict[str, Any], index: list[str], places: list[tuple[int, ...]], name: str
) -> bytes:
    columns = [f"{place} INT NOT NULL" for place in _PLACES]
    keys = ["ROW_ID"]
    for number, field in enumerate(index):
        columns += [f"INC_{number} INT", f"{field}_0 {_SQL[schema[field]['type']]}"]
        keys.append(f"INC_{number}")
    database = sqlite3.connect(":memory:")
    try:
        database.execute(f"CREATE TABLE INDEXES({', '.join(columns)}, PRIMARY KEY({','.join(keys)}))")
        database.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
        database.execute("INSERT INTO SHARD_NAME VALUES (?)", (name,))
        entries = [
            (*place, *(value for field in index for value in (0, row[field]))) for place, row in zip(places, rows)
        ]
        database.executemany(f"INSERT INTO INDEXES VALUES ({','.join('?' * len(columns))})", entries)
        database.commit()
        return database.serialize()
    finally:
        database.close()


# ---- reading ---------------------------------------------------------------------------------------------------------


def about(file: BinaryIO) -> dict[str, Any]:
    """The header of a file, as far as it is needed: ``schema``, ``rows``, ``shards`` (names of the files of its set, by
    number), ``shard`` (its own number), ``set``, ``pages``.

    Raises:
        Damaged: the file is none, or not as it was written.
    """
    size = os.fstat(file.fileno()).st_size
    file.seek(0)
    head = file.read(8)
    length = _LENGTH.unpack(head)[0] if len(head) == 8 else 0
    if not 2 <= length <= size - 8 or length > _LARGEST:
        raise Damaged("it is not a mindrecord file, or its start is damaged")
    text = file.read(length)
    try:
        header = json.loads(text)
        if "duograph" in header:
            _check(file, text, header["duograph"]["crc32"])
        (described,) = header["schema"]
        schema, page = described["schema"], header["page_size"]
        pages = {kind: [] for kind in ("BLOB_DATA", "RAW_DATA")}  # type: ignore[var-annotated]
        for entry in sorted(header["page"], key=lambda entry: entry["page_type_id"]):
            at = header["header_size"] + entry["page_id"] * page
            if not (0 <= entry["page_size"] <= page and 0 <= at <= at + entry["page_size"] <= size):
                raise Damaged("it is cut off")
            pages[entry["page_type"]].append((at, entry))
            numbers = [n for group in entry["row_group_ids"] for n in (group["id"], group["offset"])]
            if any(type(n) is not int or n < 0 for n in numbers):
                raise Damaged("the places of its row groups are none")
        rows = sum(entry["end_row_id"] - entry["start_row_id"] for _, entry in pages["BLOB_DATA"])
        _check_schema(schema, described["blob_fields"] or [])
        return {
            "schema": schema, "rows": rows, "shard": header["shard_id"],
            "shards": [os.path.basename(name) for name in header["shard_addresses"]],
            "set": header.get("duograph", {}).get("set"), "pages": pages,
        }  # fmt: skip
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as exc:
        raise (
            exc if isinstance(exc, Damaged) else Damaged(f"its header is damaged ({type(exc).__name__}: {exc})")
        ) from None


def _check_schema(schema: dict[str, Any], blobs: list[str]) -> None:
    for name, field in schema.items():
        if field["type"] not in (*_SQL, "bytes") or not re.fullmatch(r"\w+", name):
            raise Damaged(f"a field {name!r} of the type {field['type']}, which is not read")
        if any(type(n) is not int for n in field.get("shape", ())):
            raise Damaged(f"a field {name!r} of the shape {field['shape']}")
    if sorted(blobs) != [name for name in sorted(schema) if is_blob(schema[name])]:
        raise Damaged("its blobs are not those of its schema")


def _check(file: BinaryIO, text: bytes, check: str) -> None:
    without = text.replace(f'"crc32":"{check}"'.encode(), f'"crc32":"{_NO_CHECK}"'.encode(), 1)

    def pieces() -> Iterator[bytes]:
        yield _LENGTH.pack(len(text)) + without
        while part := file.read(1 << 20):
            yield part

    if f"{crc_of(pieces()):08x}" != check:
        raise Damaged("its CRC-32 is wrong")


def places_of(file: BinaryIO, header: dict[str, Any]) -> np.ndarray:
    """Where the rows of a file lie, in order: of each the begin and length of its plain fields, and of its blobs.

    Raises:
        Damaged: the file is not as it was written.
    """
    starts = {
        group["id"]: (at, entry["page_size"], group["offset"])
        for at, entry in header["pages"]["RAW_DATA"]
        for group in entry["row_group_ids"]
    }
    found = []
    for number, (at, entry) in enumerate(header["pages"]["BLOB_DATA"]):
        count = entry["end_row_id"] - entry["start_row_id"]
        if count < 0 or (count and number not in starts):
            raise Damaged(f"row group {number} is not there")
        if count:
            blobs = _places_at(file, at, entry["page_size"], 0, count)
            found.append(np.hstack([_places_at(file, *starts[number], count), blobs]))
    return np.concatenate(found) if found else np.empty((0, 4), np.int64)


class Layout(NamedTuple):
    """A schema, and its fields in the order of the file (`fields_of`)."""

    schema: dict[str, dict[str, Any]]
    plain: list[str]
    blobs: list[str]


def row_at(file: int, layout: Layout, place: Sequence[int]) -> dict[str, Any]:
    """The row at one of `places_of`; ``file``: the descriptor, which several threads may share.

    Raises:
        Damaged: the file is not as it was written.
    """
    schema, plain, blobs = layout
    begin, length, blobs_begin, blobs_length = place
    try:
        values = _unpacked_map(os.pread(file, length, begin)) if plain else {}
        found = {name: _plain(schema[name], values[name]) for name in plain}
    except (KeyError, IndexError, struct.error, UnicodeDecodeError, TypeError) as exc:
        raise Damaged(f"the row at {begin}: {exc!r}") from None
    found.update(zip(blobs, _blobs_of(schema, blobs, os.pread(file, blobs_length, blobs_begin))))
    return {name: found[name] for name in schema}


def _plain(field: dict[str, Any], value: Any) -> Any:
    kind = field["type"]
    wanted = str if kind == "string" else int if kind in _PACKED else float
    if not isinstance(value, wanted | int if wanted is float else wanted):
        raise TypeError(f"{value!r} is not of type {kind}")
    return wanted(value)


def _places_at(file: BinaryIO, at: int, size: int, offset: int, count: int) -> np.ndarray:
    """Begins and lengths of ``count`` rows of a page from ``offset`` on."""
    file.seek(at + offset)
    data = file.read(max(size - offset, 0))
    found, place = [], 0
    for _ in range(count):
        if place + 8 > len(data):
            raise Damaged("a page has fewer rows than it should")
        (length,) = _LENGTH.unpack_from(data, place)
        if length > len(data) - place - 8:
            raise Damaged("a row is longer than its page")
        found.append((at + offset + place + 8, length))
        place += 8 + length
    return np.array(found, np.int64)


def _blobs_of(schema: dict[str, Any], names: list[str], data: bytes) -> list[Any]:
    if len(names) == 1:
        return [_loaded(schema[names[0]], data)]
    found, at = [], 0
    for name in names:
        length = _BIG.unpack_from(data, at)[0] if at + 8 <= len(data) else len(data)
        if length > len(data) - at - 8:
            raise Damaged(f"the field {name!r} is cut off")
        found.append(_loaded(schema[name], data[at + 8 : at + 8 + length]))
        at += 8 + length
    return found
