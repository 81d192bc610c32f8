"""TensorFlow's record files, which hold events of TensorBoard and examples of data sets.

A record is ``length: uint64, crc of length: uint32, data, crc of data: uint32``. The checksums are CRC-32C (of another
polynomial than `zlib.crc32`), rotated and shifted by a constant, so that data with checksums in it does not look like
its own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from typing import BinaryIO

import numpy as np

__all__ = ["crc32c", "framed", "records"]

_POLYNOMIAL = 0x82F63B78
_ROW = 256
_MASK = 0xA282EAD8


@cache
def _tables() -> np.ndarray:
    """``[distance, byte]``: what a byte adds to the checksum if ``distance`` bytes follow it."""
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        first = np.where(first & 1, (first >> 1) ^ np.uint32(_POLYNOMIAL), first >> 1)
    tables = np.empty((_ROW + 4, 256), np.uint32)
    tables[0] = first
    for i in range(1, _ROW + 4):
        tables[i] = (tables[i - 1] >> 8) ^ first[tables[i - 1] & 0xFF]
    return tables


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli). Rows of bytes are looked up at once, since the checksum is linear in them."""
    tables = _tables()
    crc = 0xFFFFFFFF
    whole = len(data) // _ROW * _ROW
    if whole:
        rows = np.frombuffer(data, np.uint8, whole).reshape(-1, _ROW)
        sums = np.zeros(len(rows), np.uint32)
        for i in range(_ROW):
            sums ^= tables[_ROW - 1 - i][rows[:, i]]
        far = [tables[_ROW - 1 - i].tolist() for i in range(4)]  # the checksum so far stands in the first four bytes
        for value in sums.tolist():
            crc = value ^ far[0][crc & 255] ^ far[1][crc >> 8 & 255] ^ far[2][crc >> 16 & 255] ^ far[3][crc >> 24]
    table = tables[0].tolist()
    for byte in data[whole:]:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF)


def framed(data: bytes) -> bytes:
    """A record."""
    length = struct.pack("<Q", len(data))
    return b"".join((length, _masked(length), data, _masked(data)))


def records(file: BinaryIO) -> Iterator[bytes]:
    """The data of the records of a file.

    Raises:
        ValueError: the file is damaged, or cut off.
    """
    number = 0
    while head := file.read(12):
        if len(head) < 12 or head[8:] != _masked(head[:8]):
            raise ValueError(f"the length of record {number} is damaged or cut off")
        (length,) = struct.unpack("<Q", head[:8])
        try:
            data = file.read(length)
        except (MemoryError, OverflowError):  # a length that is no size of a file
            data = b""
        if len(data) < length or file.read(4) != _masked(data):
            raise ValueError(f"record {number} is damaged or cut off")
        yield data
        number += 1
