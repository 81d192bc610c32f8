"""Object code on disk, found by its content: a second process starts warm.

One file for each object, in one flat folder. Its name is the hash of everything the code depends on: the LLVM text,
the version of LLVM, the processor, and the format below. So entries never go stale and need no locks: two processes
that write one entry write the same bytes, each to a file of its own that then gets its name (`base/files.py`).

    magic, 8 bytes | BLAKE2b of name and content, 16 bytes | content (see `code.py`)

**The cache is never in the way.** A file that is damaged, short, foreign or unreadable, a folder that cannot be made
or written, a full disk: each is a miss, counted here and told to listeners (`base/events.py`), never an exception.

**Whose code it is.** What is loaded runs with our rights, so nobody else may have written it: the folder must belong to
us (or to root), be no symbolic link, and be writable to nobody else; the same holds for each entry. A folder that is
not so is not used at all: said once in the log, counted as `refused`, told to listeners with the reason.

**Size.** Now and then the folder is measured and the entries that were not used for the longest time are removed.
A use is noted in the file's time of modification, at most once an hour.

The folder: option `cache_dir` (DUOGRAPH_CACHE_DIR), or `duograph` in `compiler_cache_path` (MS_COMPILER_CACHE_PATH), or
`duograph` in the user's cache folder. `compiler_cache=False` (MS_COMPILER_CACHE_ENABLE=0) turns the cache off.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import stat
import time
from array import array
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np

from duograph.base.config import config
from duograph.base.events import emit
from duograph.base.files import remove_abandoned, write_file

__all__ = ["Counters", "counters", "entry_name", "folder", "lookup", "store", "trim"]

FORMAT = 4
"""Part of every entry's name; to be counted up when the same text comes to mean other code."""

_MAGIC = b"duograph"
_CHECK = 16
_SUFFIX = ".o"
_HOUR = 3600.0
_TRIM_EVERY = 256  # stores, on average


@dataclass(slots=True)
class Counters:
    """What happened in this process.

    Attributes:
        hits: entries found.
        misses: entries that were not there.
        damaged: entries that were there and could not be used.
        stored: entries written.
        failed: entries that could not be written.
        evicted: entries removed for their age.
        refused: entries not looked for or not written because others may write to the folder.
    """

    hits: int = 0
    misses: int = 0
    damaged: int = 0
    stored: int = 0
    failed: int = 0
    evicted: int = 0
    refused: int = 0


_counters = Counters()
_refusals: dict[str, str] = {}
"""Folders that are not used, and why."""


def counters() -> dict[str, int]:
    """The figures of this process so far (see `Counters`)."""
    return asdict(_counters)


def folder() -> str | None:
    """Where the entries are; None if the cache is turned off or there is no place for it."""
    options = config()
    if not options.compiler_cache or not options.cache_size:
        return None
    if options.cache_dir:
        return os.path.abspath(options.cache_dir)
    root = options.compiler_cache_path or options.user_cache_dir or os.path.expanduser("~/.cache")
    if root.startswith("~"):  # no home
        return None
    return os.path.abspath(os.path.join(root, "duograph"))


def entry_name(text: str, *dependencies: str) -> str:
    """The name of the entry for a text and whatever else decides about its code."""
    digest = hashlib.sha256(text.encode())
    digest.update("\0".join(("", str(FORMAT), *dependencies)).encode())
    return digest.hexdigest()


def lookup(name: str) -> bytes | None:
    """The object code of an entry, or None."""
    place = folder()
    if place is None:
        return None
    path = os.path.join(place, name + _SUFFIX)
    try:
        if not _is_trusted(place):
            return None
        descriptor = os.open(path, _READ)
    except FileNotFoundError:
        _counters.misses += 1
        return None
    except OSError as error:
        _damaged(path, "it is a symbolic link" if error.errno == errno.ELOOP else str(error))
        return None
    try:
        with open(descriptor, "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            whole = file.read() if stat.S_ISREG(status.st_mode) else b""
    except OSError as error:
        _damaged(path, str(error))
        return None
    stranger = _stranger(status)
    if stranger:
        _damaged(path, f"it {stranger}")
        return None
    start = len(_MAGIC) + _CHECK
    content = whole[start:]
    if not content or whole[:start] != _head(name, content):
        _damaged(path, "its content is not what was written")
        return None
    _counters.hits += 1
    if time.time() - status.st_mtime > _HOUR:
        _note_use(path)
    return content


def store(name: str, content: bytes) -> bool:
    """Write an entry; False if that is not possible."""
    place = folder()
    if place is None:
        return False
    path = os.path.join(place, name + _SUFFIX)
    try:
        if not os.path.lexists(place):
            os.makedirs(place, mode=0o700, exist_ok=True)
        if not _is_trusted(place):
            return False
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):  # to be replaced, not written to
            os.unlink(path)
        write_file(path, (_head(name, content), content), mode=0o600, tidy=False)
    except OSError as error:
        _counters.failed += 1
        emit("cache not written", path=path, reason=str(error))
        return False
    _counters.stored += 1
    if int(name[:8], 16) % _TRIM_EVERY == 0:  # names are random: one store in so many, in whichever process
        trim()
    return True


def trim(limit: int | None = None) -> int:
    """Remove the entries that were not used for the longest time, until nine tenths of `limit` bytes remain.

    Args:
        limit: Default: the option `cache_size`.

    Returns:
        How many were removed.
    """
    place = folder()
    if place is None:
        return 0
    limit = config().cache_size << 20 if limit is None else limit
    removed = 0
    try:
        if not _is_trusted(place):
            return 0
        abandoned = remove_abandoned(place)
        used, sizes = array("d"), array("q")  # of hundreds of thousands of entries, perhaps: no list of their paths
        for time_of_use, size, _ in _entries(place):
            used.append(time_of_use)
            sizes.append(size)
        excess = sum(sizes) - limit * 9 // 10
        if sum(sizes) > limit:
            oldest = np.argsort(used, kind="stable")
            removable = int(np.searchsorted(np.cumsum(np.array(sizes)[oldest]), excess))
            last = used[oldest[min(removable, len(oldest) - 1)]]
            for _, size, path in sorted(entry for entry in _entries(place) if entry[0] <= last):
                if excess > 0 and _remove(path):
                    excess -= size
                    removed += 1
    except OSError as error:
        emit("cache not trimmed", path=place, reason=str(error))
        return 0
    _counters.evicted += removed
    return removed + abandoned


def _entries(place: str) -> Iterator[tuple[float, int, str]]:
    """Of each entry when it was used for the last time, its size, and its path."""
    with os.scandir(place) as entries:
        for entry in entries:
            status = _status(entry) if entry.name.endswith(_SUFFIX) else None
            if status is not None:
                yield status.st_mtime, status.st_size, entry.path


def discard(name: str, reason: str) -> None:
    """Count an entry as damaged that looked right and could not be linked."""
    _counters.hits -= 1
    _damaged(name, reason)


_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ |= getattr(os, "O_NONBLOCK", 0)  # a pipe in the place of an entry must not make us wait


def _head(name: str, content: bytes) -> bytes:
    digest = hashlib.blake2b(name.encode() + b"\0", digest_size=_CHECK)
    digest.update(content)
    return _MAGIC + digest.digest()


def _stranger(status: os.stat_result) -> str | None:
    """Who else may have written a file or folder; None if nobody."""
    if not hasattr(os, "geteuid"):
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return f"belongs to another user (number {status.st_uid})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"may be written by others (mode {stat.S_IMODE(status.st_mode):o}; chmod go-w)"
    return None


def _is_trusted(place: str) -> bool:
    """Whether the folder is ours alone.

    Raises:
        OSError: there is none, or none that can be looked at.
    """
    status = os.lstat(place)
    if stat.S_ISLNK(status.st_mode):
        reason: str | None = "is a symbolic link"
    elif not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), place)
    else:
        reason = _stranger(status)
    if reason is None:
        _refusals.pop(place, None)
        return True
    _counters.refused += 1
    if _refusals.get(place) != reason:
        _refusals[place] = reason
        emit("cache not used", path=place, reason=reason)
        logging.getLogger("duograph").warning("compiled code is not kept in %s: the folder %s", place, reason)
    return False


def _damaged(path: str, reason: str) -> None:
    _counters.damaged += 1
    emit("cache entry not used", path=path, reason=reason)


def _note_use(path: str) -> None:
    try:
        os.utime(path)
    except OSError as error:
        emit("cache entry not touched", path=path, reason=str(error))


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # another process has removed it
        return None


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:  # another process has removed it, or nobody may
        return False
    return True
