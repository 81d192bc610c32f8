"""The disk cache: a second process starts warm, and nothing that happens to the files is ever more than a miss."""

import errno
import gc
import os
import stat
import time

import pytest

from duograph.base.config import configure, reset_config
from duograph.base.events import record
from duograph.runtime import diskcache
from duograph.runtime.code import statistics
from tests.unit.runtime.native import scaled
from tests.unit.runtime.processes import finish, python, start

PROGRAM = """
from tests.unit.runtime.native import scaled
from duograph.runtime.code import statistics
assert scaled(2.25) == [2.25, 4.5, 6.75]
assert scaled(3.25) == [3.25, 6.5, 9.75]
figures = statistics()
print(figures["compiled"], figures["disk_hits"], figures["disk_stored"], figures["disk_damaged"])
"""


@pytest.fixture
def cache(tmp_path):
    """A cache folder of the test's own."""
    place = tmp_path / "cache"
    with configure(cache_dir=str(place)):
        yield place


def _run(factor=1.75):
    """Load a kernel anew and check its result; which of the counters moved."""
    gc.collect()
    before = statistics()
    assert scaled(factor) == [factor, 2 * factor, 3 * factor]
    after = statistics()
    names = ("compiled", "disk_hits", "disk_misses", "disk_damaged", "disk_stored", "disk_failed")
    return {name: after[name] - before[name] for name in names if after[name] != before[name]}


COLD = {"compiled": 1, "disk_misses": 1, "disk_stored": 1}
WARM = {"disk_hits": 1}


def test_the_second_time_is_a_hit(cache):
    assert _run() == COLD
    assert _run() == WARM
    (entry,) = cache.iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_a_second_process_starts_warm(tmp_path):
    place = {"DUOGRAPH_CACHE_DIR": str(tmp_path)}
    assert python(PROGRAM, **place).split() == ["2", "0", "2", "0"]
    assert python(PROGRAM, **place).split() == ["0", "2", "0", "0"]


def test_processes_at_once(tmp_path):
    running = [start(PROGRAM, DUOGRAPH_CACHE_DIR=str(tmp_path)) for _ in range(4)]
    for process in running:
        assert finish(process).split()[3] == "0"
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".o", ".o"]


def _truncated(path):
    os.truncate(path, path.stat().st_size // 2)


def _empty(path):
    os.truncate(path, 0)


def _head_only(path):
    os.truncate(path, 24)


def _flipped(path):
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)


def _foreign(path):
    path.write_bytes(b"\x7fELF something else entirely")


def _a_directory(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [_truncated, _empty, _head_only, _flipped, _foreign])
def test_a_damaged_entry_is_a_miss_and_is_made_anew(cache, damage):
    assert _run() == COLD
    (entry,) = cache.iterdir()
    damage(entry)
    with record() as log:
        assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}
    assert "cache entry not used" in {event.kind for event in log}
    assert _run() == WARM


def test_an_entry_that_is_no_file_is_a_miss(cache):
    assert _run() == COLD
    (entry,) = cache.iterdir()
    _a_directory(entry)
    assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_failed": 1}
    assert [path.suffix for path in cache.iterdir()] == [".o"]  # no temporary file left


def test_an_entry_that_looks_right_and_cannot_be_linked_is_a_miss(cache):
    assert _run() == COLD
    (entry,) = cache.iterdir()
    code = b"no object code"
    entry.write_bytes(diskcache._head(code) + code)
    assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}
    assert _run() == WARM


def test_an_entry_of_another_user_is_not_loaded(cache, monkeypatch):
    assert _run() == COLD
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    (entry,) = cache.iterdir()
    if entry.stat().st_uid == 0:
        os.chown(entry, 4712, -1)
    assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}


def _failing(monkeypatch, function, error):
    def fail(path, *args, **kwargs):
        if "cache" in os.fspath(path):
            raise OSError(error, os.strerror(error), path)
        return original(path, *args, **kwargs)

    original = getattr(os, function)
    monkeypatch.setattr(os, function, fail)


@pytest.mark.parametrize("error", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.ENAMETOOLONG])
def test_a_folder_that_cannot_be_written(cache, monkeypatch, error):
    """Not by permissions: tests may run as root, whom these do not stop."""
    _failing(monkeypatch, "open", error)
    assert _run() == {"compiled": 1, "disk_misses": 1, "disk_failed": 1}
    assert _run() == {"compiled": 1, "disk_misses": 1, "disk_failed": 1}


def test_a_disk_that_fills_up_while_an_entry_is_written(cache, monkeypatch):
    def write(path, object_code):
        with open(path, "wb") as file:
            file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    cache.mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(diskcache, "_write", write)
        assert _run() == {"compiled": 1, "disk_misses": 1, "disk_failed": 1}
    assert not list(cache.iterdir())
    assert _run() == COLD


def test_a_real_full_disk():
    """/dev/full takes nothing; as a folder it is not even one."""
    with configure(cache_dir="/dev/full"):
        assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_failed": 1}


def test_an_unreadable_entry(cache, monkeypatch):
    import builtins

    assert _run() == COLD
    original = open

    def refuse(path, mode="r", *args, **kwargs):
        if mode == "rb":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return original(path, mode, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(builtins, "open", refuse)
        assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}
    assert _run() == WARM


def test_the_folder_vanishes(cache):
    import shutil

    assert _run() == COLD
    shutil.rmtree(cache)
    assert _run() == COLD


def test_size_is_capped_and_the_longest_unused_go_first(cache):
    cache.mkdir()
    names = [f"{k:064x}" for k in range(10)]
    now = time.time()
    for age, name in enumerate(names):
        diskcache.store(name, b"x" * 976)  # 1000 bytes with the head
        os.utime(cache / f"{name}.o", (now - age * 7200,) * 2)
    left = cache / "killed.tmp"
    left.write_bytes(b"")
    os.utime(left, (now - 7200,) * 2)
    assert diskcache.lookup(names[9])  # a use makes it young again
    assert diskcache.trim(limit=20_000) == 1  # only what a killed process left
    assert diskcache.trim(limit=5_000) == 6
    assert sorted(path.stem for path in cache.iterdir()) == sorted(names[i] for i in (0, 1, 2, 9))


def test_the_cap_is_kept_while_entries_are_made(cache):
    with configure(cache_size=1):
        for k in range(20):  # 2 MB; every one whose name is a multiple of 256 measures
            diskcache.store(f"{k * 256:08x}" + "0" * 56, b"x" * 100_000)
    assert sum(path.stat().st_size for path in cache.iterdir()) <= 1 << 20
    with configure(cache_size=0):
        assert diskcache.folder() is None


def test_where_the_folder_is(monkeypatch, tmp_path):
    for name in ("DUOGRAPH_CACHE_DIR", "MS_COMPILER_CACHE_PATH", "MS_COMPILER_CACHE_ENABLE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    def folder(**environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        reset_config()
        return diskcache.folder()

    try:
        assert folder() == str(tmp_path / ".cache/duograph")
        assert folder(XDG_CACHE_HOME=str(tmp_path / "x")) == str(tmp_path / "x/duograph")
        assert folder(MS_COMPILER_CACHE_PATH=str(tmp_path / "m")) == str(tmp_path / "m/duograph")
        assert folder(DUOGRAPH_CACHE_DIR=str(tmp_path / "d")) == str(tmp_path / "d")
        assert folder(MS_COMPILER_CACHE_ENABLE="0") is None
    finally:
        monkeypatch.undo()
        reset_config()
