"""Philox4x32-10: random words as a function of a key and a counter.

Reference: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

The key is the seed (64 bits). The 128-bit counter is (block number, lane, offset): 32 bits of block number, 32 of lane
(the high part of the block number, or the attempt of a rejection method), 64 of offset. A block is four 32-bit words.
"""

from __future__ import annotations

import numpy as np

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_CHUNK = 4096  # blocks computed at a time, so that they stay in the cache


def philox(counter: tuple[np.ndarray, ...], key: tuple[int, int]) -> tuple[np.ndarray, ...]:
    """Ten rounds on four arrays of 32-bit counter words (kept in uint64); gives four arrays of words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1, c2, c3 = (p1 >> _32) ^ c1 ^ np.uint64(k0), p1 & _LOW, (p0 >> _32) ^ c3 ^ np.uint64(k1), p0 & _LOW
        k0, k1 = (k0 + _W0) & 0xFFFFFFFF, (k1 + _W1) & 0xFFFFFFFF
    return c0, c1, c2, c3


def blocks(seed: int, offset: int, numbers: np.ndarray, lane: int | None = None) -> tuple[np.ndarray, ...]:
    """The four words of each of the blocks ``numbers`` (uint64 array) of the draw ``(seed, offset)``."""
    seed, offset = int(seed) & 0xFFFFFFFFFFFFFFFF, int(offset) & 0xFFFFFFFFFFFFFFFF
    high = numbers >> _32 if lane is None else np.full_like(numbers, lane)
    low, top = np.full_like(numbers, offset & 0xFFFFFFFF), np.full_like(numbers, offset >> 32)
    return philox((numbers & _LOW, high, low, top), (seed & 0xFFFFFFFF, seed >> 32))


def words32(seed: int, offset: int, count: int) -> np.ndarray:
    """``count`` 32-bit words (uint32): word ``i`` is word ``i % 4`` of block ``i // 4``."""
    out = np.empty(((count + 3) // 4, 4), np.uint32)
    for start in range(0, len(out), _CHUNK):
        part = out[start : start + _CHUNK]
        words = blocks(seed, offset, np.arange(start, start + len(part), dtype=np.uint64))
        for column, word in enumerate(words):
            part[:, column] = word
    return out.reshape(-1)[:count]


def words64(seed: int, offset: int, count: int) -> np.ndarray:
    """``count`` 64-bit words, each of two 32-bit ones, the low one first."""
    pairs = words32(seed, offset, 2 * count).astype(np.uint64).reshape(-1, 2)
    return pairs[:, 0] | (pairs[:, 1] << _32)
