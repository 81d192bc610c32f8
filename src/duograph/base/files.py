"""Writing files whole: a name stands for the old content or for the new one, and nothing is ever left over.

The one writer of every kind of file that this package makes. The content goes into a file without a name (Linux'
``O_TMPFILE``), which is then given its name in one step: if the process is killed or the disk is full before that, the
system takes the file back. Where a file system has no such files, and for the moment in which a file replaces another,
it is called ``.duograph-*.part`` and locked by its writer; the system drops the lock of a process that dies, and the
next save into the folder removes what is not locked. So no figure of age is needed, and no list of processes.

A symbolic link is followed, as by `open`; a file that is replaced leaves its permissions to the new one. Files that
grow line by line (`LineFile`) consist of whole lines at any time.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import zlib
from collections.abc import Iterable, Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["LineFile", "crc_of", "remove_abandoned", "write_file"]

_PREFIX, _SUFFIX = ".duograph-", ".part"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_UNNAMED = getattr(os, "O_TMPFILE", 0)
_PERMISSIONS = 0o666  # less what the process's mask takes away
_NO_UNNAMED_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
"""What systems say of `O_TMPFILE` that do not know it (``ENOENT``: some, of a folder that is there)."""


def write_file(
    path: str | os.PathLike[str],
    content: bytes | Iterable[bytes | memoryview],
    mode: int | None = None,
    tidy: bool = True,
) -> None:
    """Writes a file in one move; folders are made as needed.

    Args:
        path: the file.
        content: its bytes, or pieces of them.
        mode: its permissions. Default: those of the file that is replaced, or what the process gives new files.
        tidy: whether to remove what killed processes have left in the folder.

    Raises:
        OSError: the file cannot be written; what was there is there still.
    """
    target = os.path.realpath(path)
    pieces = (content,) if isinstance(content, bytes) else content
    try:
        old: os.stat_result | None = os.stat(target)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode) and not stat.S_ISDIR(old.st_mode):
        with open(target, "wb") as device:  # a pipe or a device has no content to keep
            device.writelines(pieces)
        return
    folder = os.path.dirname(target)
    os.makedirs(folder, exist_ok=True)
    if tidy:
        remove_abandoned(folder)
    if mode is None and old is not None:
        mode = stat.S_IMODE(old.st_mode)
    try:
        if not _write_unnamed(folder, target, pieces, mode, old is None):
            _write_named(folder, target, pieces, mode)
    except OSError as exc:
        raise OSError(exc.errno, exc.strerror, os.fspath(path)) from exc  # the name that the caller knows


def crc_of(pieces: Iterable[bytes | memoryview]) -> int:
    """CRC-32 of pieces one after the other."""
    value = 0
    for piece in pieces:
        value = zlib.crc32(piece, value)
    return value


def remove_abandoned(folder: str) -> int:
    """Removes the files that killed processes have left in a folder; how many they were."""
    if fcntl is None:
        return 0
    removed = 0
    for path in _parts(folder):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:  # it has got its name, or is not ours
            continue
        try:
            if _lock(descriptor):
                os.unlink(path)
                removed += 1
        except OSError:  # another process was quicker, or nobody may remove it
            continue
        finally:
            os.close(descriptor)
    return removed


class LineFile:
    """A file that lines are appended to: each is there as a whole, or (a full disk) not at all."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115  (closed by `close`)

    def size(self) -> int:
        """In bytes."""
        return os.fstat(self._file.fileno()).st_size

    def append(self, line: bytes) -> None:
        """Writes a line.

        Raises:
            OSError: it cannot be written.
        """
        size = self.size()
        try:
            _fill(self._file.fileno(), (line,), None)
        except BaseException as exc:
            os.ftruncate(self._file.fileno(), size)
            if isinstance(exc, OSError):
                raise OSError(exc.errno, exc.strerror, self._file.name) from exc
            raise

    def flush(self) -> None:
        """Brings the lines to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


def _parts(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.name.startswith(_PREFIX) and e.name.endswith(_SUFFIX)]
    except OSError:  # a folder that may be written but not listed
        return
    for name in names:
        yield os.path.join(folder, name)


def _write_unnamed(folder: str, target: str, pieces: Iterable[bytes | memoryview], mode: int | None, new: bool) -> bool:
    """Whether the system has files without a name; if so, the file is written."""
    if not _UNNAMED or not os.path.isdir("/proc/self/fd"):
        return False
    try:
        descriptor = os.open(folder, os.O_WRONLY | _UNNAMED | os.O_CLOEXEC, _PERMISSIONS if mode is None else mode)
    except OSError as exc:
        if exc.errno in _NO_UNNAMED_FILES:
            return False
        raise
    with open(descriptor, "wb", buffering=0):
        _fill(descriptor, pieces, mode)
        _lock(descriptor)  # before it has a name
        if new:
            with contextlib.suppress(FileExistsError):  # another process has made one meanwhile
                _link(descriptor, target)
                return True
        part = _part(folder)
        _link(descriptor, part)
        _rename(part, target)
    return True


def _write_named(folder: str, target: str, pieces: Iterable[bytes | memoryview], mode: int | None) -> None:
    while True:
        part = _part(folder)
        descriptor = os.open(part, _NEW, _PERMISSIONS if mode is None else mode)
        if fcntl is None or (_lock(descriptor) is not False and os.fstat(descriptor).st_nlink):
            break
        os.close(descriptor)  # a process that tidies up saw it before it was locked, and removes it
    try:
        with open(descriptor, "wb", buffering=0):
            _fill(descriptor, pieces, mode)
            os.fsync(descriptor)  # network file systems tell only here that the disk is full
            if fcntl is not None:
                _rename(part, target)
                return
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    _rename(part, target)  # Windows renames closed files only


def _fill(descriptor: int, pieces: Iterable[bytes | memoryview], mode: int | None) -> None:
    if mode is not None and hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)
    for piece in pieces:
        rest = memoryview(piece).cast("B")
        while rest:
            rest = rest[os.write(descriptor, rest[: 1 << 30]) :]


def _link(descriptor: int, name: str) -> None:
    """Gives an unnamed file its name. (`os.link` follows the link in /proc only if a folder is open.)"""
    folder = os.open(os.path.dirname(name), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.link(f"/proc/self/fd/{descriptor}", os.path.basename(name), dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _rename(part: str, target: str) -> None:
    try:
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _part(folder: str) -> str:
    return os.path.join(folder, f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}")


def _lock(descriptor: int) -> bool | None:
    """Whether nobody else holds the file; None if the file system has no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
