"""The disk cache: a second process starts warm, and nothing that happens to the files is ever more than a miss."""

import errno
import os
import shutil
import stat
import time

import pytest

from duograph.base.config import configure, reset_config
from duograph.base.events import record
from duograph.base.failures import failure_counts
from duograph.runtime.machine import code, diskcache
from duograph.runtime.machine.code import statistics
from tests.unit.runtime.native import scaled
from tests.unit.runtime.processes import SECONDS, finish, python, start

PROGRAM = """
from tests.unit.runtime.native import scaled
from duograph.runtime.machine.code import statistics
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
    code._loaded.clear()  # as in a new process, whoever in this one still holds the code
    before = statistics()
    assert scaled(factor) == [factor, 2 * factor, 3 * factor]
    after = statistics()
    names = ("compiled", "disk_hits", "disk_misses", "disk_damaged", "disk_stored", "disk_failed", "disk_refused")
    return {name: after[name] - before[name] for name in names if after[name] != before[name]}


COLD = {"compiled": 1, "disk_misses": 1, "disk_stored": 1}
WARM = {"disk_hits": 1}


def test_the_second_time_is_a_hit(cache):
    assert _run() == COLD
    assert _run() == WARM
    (entry,) = cache.iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


@pytest.mark.timeout(2 * SECONDS + 60)
def test_a_second_process_starts_warm(tmp_path):
    place = {"DUOGRAPH_CACHE_DIR": str(tmp_path)}
    assert python(PROGRAM, **place).split() == ["2", "0", "2", "0"]
    assert python(PROGRAM, **place).split() == ["0", "2", "0", "0"]


@pytest.mark.timeout(4 * SECONDS + 60)
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


def test_an_entry_that_looks_right_and_cannot_be_linked_is_a_miss(cache, answering):
    assert _run() == COLD
    (entry,) = cache.iterdir()
    code = b"no object code"
    entry.write_bytes(diskcache._head(entry.stem, code) + code)
    assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}
    assert _run() == WARM and failure_counts() == {"the code cache": 1}


def _set_owner(monkeypatch, *paths):
    """As if the process were another user's, and the paths too except the last."""
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    original = os.lstat, os.fstat

    def owned(status, uid):
        return os.stat_result([uid if k == 4 else x for k, x in enumerate(status)])

    inodes = {os.stat(path).st_ino: 4712 if path is paths[-1] else 4711 for path in paths}

    def patched(ask):
        def answer(*args, **named):
            status = ask(*args, **named)
            return owned(status, inodes[status.st_ino]) if status.st_ino in inodes else status

        return answer

    monkeypatch.setattr(os, "lstat", patched(original[0]))
    monkeypatch.setattr(os, "fstat", patched(original[1]))


def test_an_entry_of_another_user_is_not_loaded(cache, monkeypatch):
    assert _run() == COLD
    (entry,) = cache.iterdir()
    _set_owner(monkeypatch, cache, entry)
    assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}


REFUSED = {"compiled": 1, "disk_refused": 2}  # not looked for, not written


def test_a_folder_of_another_user_is_not_used(cache, monkeypatch, caplog):
    assert _run() == COLD
    _set_owner(monkeypatch, cache)
    with record() as log:
        assert _run() == REFUSED
    assert [e.data["reason"] for e in log if e.kind == "cache not used"] == ["belongs to another user (number 4712)"]
    assert caplog.text.count("is not kept in") == 1


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(cache, mode):
    assert _run() == COLD
    cache.chmod(mode)
    with record() as log:
        assert _run() == _run() == REFUSED
    assert len([e for e in log if e.kind == "cache not used"]) == 1  # said once
    assert len(list(cache.iterdir())) == 1
    assert diskcache.trim(limit=0) == 0
    cache.chmod(0o755)
    assert _run() == WARM


def test_an_entry_that_others_may_write_to_is_not_loaded(cache):
    assert _run() == COLD
    (entry,) = cache.iterdir()
    entry.chmod(0o666)
    assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert _run() == WARM


def test_links_are_not_followed(cache, tmp_path):
    assert _run() == COLD
    (entry,) = cache.iterdir()
    moved = entry.rename(tmp_path / "elsewhere")
    content = moved.read_bytes()
    entry.symlink_to(moved)
    with record() as log:
        assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}
    assert [e.data["reason"] for e in log if e.kind == "cache entry not used"] == ["it is a symbolic link"]
    assert not entry.is_symlink()
    assert moved.read_bytes() == content
    link = tmp_path / "link"
    link.symlink_to(cache)
    with configure(cache_dir=str(link)):
        assert _run() == REFUSED


def test_an_entry_is_bound_to_its_name(cache):
    assert _run(1.75) == COLD
    (first,) = cache.iterdir()
    assert _run(2.75) == COLD
    (second,) = (entry for entry in cache.iterdir() if entry != first)
    shutil.copy(first, second)
    assert _run(2.75) == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}


def test_a_pipe_in_the_place_of_an_entry(cache):
    assert _run() == COLD
    (entry,) = cache.iterdir()
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}
    assert _run() == WARM


def _failing(monkeypatch, error):
    def fail(path, *args, **kwargs):
        raise OSError(error, os.strerror(error), path)

    monkeypatch.setattr(diskcache, "write_file", fail)


@pytest.mark.parametrize("error", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.ENAMETOOLONG])
def test_a_folder_that_cannot_be_written(cache, monkeypatch, error):
    """Not by permissions: tests may run as root, whom these do not stop."""
    _failing(monkeypatch, error)
    assert _run() == {"compiled": 1, "disk_misses": 1, "disk_failed": 1}
    assert _run() == {"compiled": 1, "disk_misses": 1, "disk_failed": 1}


def test_a_disk_that_fills_up_while_an_entry_is_written(cache, monkeypatch):
    original = os.write

    def write(descriptor, data):
        original(descriptor, data[:4])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", write)
        assert _run() == {"compiled": 1, "disk_misses": 1, "disk_failed": 1}
    assert not list(cache.iterdir())
    assert _run() == COLD


def test_a_real_full_disk():
    """/dev/full takes nothing; as a folder it is not even one."""
    with configure(cache_dir="/dev/full"):
        assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_failed": 1}


def test_an_unreadable_entry(cache, monkeypatch):
    assert _run() == COLD
    original = os.open

    def refuse(path, flags, *args, **kwargs):
        if str(path).endswith(".o"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return original(path, flags, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        assert _run() == {"compiled": 1, "disk_damaged": 1, "disk_stored": 1}
    assert _run() == WARM


def test_the_folder_vanishes(cache):
    assert _run() == COLD
    shutil.rmtree(cache)
    assert _run() == COLD


def test_size_is_capped_and_the_longest_unused_go_first(cache):
    cache.mkdir(0o700)
    names = [f"{k:064x}" for k in range(10)]
    now = time.time()
    for age, name in enumerate(names):
        diskcache.store(name, b"x" * 976)  # 1000 bytes with the head
        os.utime(cache / f"{name}.o", (now - age * 7200,) * 2)
    (cache / ".duograph-killed.part").write_bytes(b"")
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


def test_code_made_with_other_options_is_not_taken(cache, monkeypatch):
    assert _run() == COLD
    monkeypatch.setattr(code.llvm, "OPTIONS", (*code.llvm.OPTIONS, "-another"))
    assert _run() == COLD
