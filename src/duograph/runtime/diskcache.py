"""Object code on disk, found by its content: a second process starts warm.

One file for each object, in one flat folder. Its name is the hash of everything the code depends on: the LLVM text,
the version of LLVM, the processor, and the format below. So entries never go stale and need no locks: two processes
that write one entry write the same bytes, each to a file of its own that is then renamed.

    magic, 8 bytes | BLAKE2b of the content, 16 bytes | content (see `code.py`)

**The cache is never in the way.** A file that is damaged, short, foreign or unreadable, a folder that cannot be made
or written, a full disk: each is a miss, counted here and told to listeners (`base/events.py`), never an exception.
A file that belongs to another user is not loaded: it would run with our rights.

**Size.** Now and then the folder is measured and the entries that were not used for the longest time are removed.
A use is noted in the file's time of modification, at most once an hour.

The folder: option `cache_dir` (DUOGRAPH_CACHE_DIR), or `duograph` in `compiler_cache_path` (MS_COMPILER_CACHE_PATH), or
`duograph` in the user's cache folder. `compiler_cache=False` (MS_COMPILER_CACHE_ENABLE=0) turns the cache off.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from dataclasses import asdict, dataclass

from duograph.base.config import config
from duograph.base.events import emit

__all__ = ["Counters", "counters", "entry_name", "folder", "lookup", "store", "trim"]

FORMAT = 3
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
    """

    hits: int = 0
    misses: int = 0
    damaged: int = 0
    stored: int = 0
    failed: int = 0
    evicted: int = 0


_counters = Counters()
_temporary = itertools.count()


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
        with open(path, "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            whole = file.read()
    except FileNotFoundError:
        _counters.misses += 1
        return None
    except OSError as error:
        _damaged(path, str(error))
        return None
    if hasattr(os, "geteuid") and status.st_uid not in (os.geteuid(), 0):
        _damaged(path, "it belongs to another user")
        return None
    start = len(_MAGIC) + _CHECK
    content = whole[start:]
    if not content or whole[:start] != _head(content):
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
    path = os.path.join(place, name)
    temporary = f"{path}.{os.getpid()}.{next(_temporary)}.tmp"
    try:
        try:
            _write(temporary, content)
        except FileNotFoundError:
            os.makedirs(place, mode=0o700, exist_ok=True)
            _write(temporary, content)
        os.replace(temporary, path + _SUFFIX)
    except OSError as error:
        _counters.failed += 1
        emit("cache not written", path=path, reason=str(error))
        _remove(temporary)
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
    found: list[tuple[float, int, str]] = []
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.name.endswith((_SUFFIX, ".tmp")):
                    status = _status(entry)
                    if status is not None:
                        found.append((status.st_mtime, status.st_size, entry.path))
    except OSError as error:
        emit("cache not trimmed", path=place, reason=str(error))
        return 0
    total = sum(size for _, size, _ in found)
    room = limit * 9 // 10 if total > limit else total
    now = time.time()
    removed = 0
    for used, size, path in sorted(found):
        abandoned = path.endswith(".tmp") and now - used > _HOUR  # its writer was killed
        if (total > room or abandoned) and _remove(path):
            total -= size
            removed += 1
    _counters.evicted += removed
    return removed


def discard(name: str, reason: str) -> None:
    """Count an entry as damaged that looked right and could not be linked."""
    _counters.hits -= 1
    _damaged(name, reason)


def _head(content: bytes) -> bytes:
    return _MAGIC + hashlib.blake2b(content, digest_size=_CHECK).digest()


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with open(descriptor, "wb") as file:
        file.write(_head(content))
        file.write(content)


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
