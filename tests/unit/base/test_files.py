"""A file is old or new, never half; nothing is left over by errors, kills or full disks."""

import os
import resource
import signal
import stat
import subprocess
import sys
import threading

import pytest

from duograph.base import files
from duograph.base.files import LineFile, remove_abandoned, write_file


@pytest.fixture(params=["unnamed", "named"])
def way(request, monkeypatch):
    """With files that have no name, and on a file system without such files."""
    if request.param == "named":
        monkeypatch.setattr(files, "_UNNAMED", 0)


@pytest.mark.usefixtures("way")
def test_new_and_replaced(tmp_path):
    path = tmp_path / "folder" / "x"
    write_file(path, b"old")
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()
    path.chmod(0o640)
    write_file(path, [b"ne", b"w"])
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)
    assert os.listdir(path.parent) == ["x"]


def _umask():
    mask = os.umask(0o22)
    os.umask(mask)
    return mask


@pytest.mark.usefixtures("way")
def test_links_are_followed_and_stay(tmp_path):
    (tmp_path / "run7").write_bytes(b"old")
    (tmp_path / "latest").symlink_to("run7")
    write_file(tmp_path / "latest", b"new")
    assert (tmp_path / "latest").is_symlink()
    assert (tmp_path / "run7").read_bytes() == b"new"


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("there", [False, True])
def test_an_error_on_the_way_leaves_what_was_there(tmp_path, there):
    def pieces():
        yield b"half"
        raise KeyboardInterrupt

    path = tmp_path / "x"
    if there:
        path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_file(path, pieces())
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("x", b"old")] * there


@pytest.mark.usefixtures("way")
def test_a_full_disk(tmp_path):
    path = tmp_path / "x"
    write_file(path, b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="large"):
            write_file(path, b"x" * 5000)
        with pytest.raises(OSError, match="large"):
            write_file(tmp_path / "y", b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("x", b"old")]


@pytest.mark.usefixtures("way")
def test_a_folder_in_the_place_of_the_file(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(OSError, match="director"):
        write_file(tmp_path / "x", b"new")
    assert os.listdir(tmp_path) == ["x"]


KILLED = """
import sys
from duograph.base import files
if sys.argv[2] == "named":
    files._UNNAMED = 0
def pieces():
    yield b"half"
    print("writing", flush=True)
    sys.stdin.read()
files.write_file(sys.argv[1], pieces())
"""


@pytest.mark.parametrize("way", ["unnamed", "named"])
def test_what_a_killed_process_leaves_is_removed_by_the_next_save(tmp_path, way):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", KILLED, str(path), way]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        there = len(list(tmp_path.iterdir()))
        assert remove_abandoned(str(tmp_path)) == 0  # it is still at work
        assert len(list(tmp_path.iterdir())) == there
        process.kill()
    assert path.read_bytes() == b"old"
    write_file(path, b"new")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("x", b"new")]


def test_files_of_others_stay(tmp_path):
    names = ["x.part", ".duograph-x", "duograph-1.part"]
    for name in names:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / ".duograph-link.part").symlink_to("x.part")
    write_file(tmp_path / "y", b"new")
    assert sorted(os.listdir(tmp_path)) == sorted([*names, ".duograph-link.part", "y"])


@pytest.mark.usefixtures("way")
def test_many_writers_of_one_file(tmp_path):
    path = tmp_path / "x"
    errors, seen = [], set()

    def write(letter):
        try:
            for _ in range(30):
                write_file(path, [letter * 1000] * 3)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(bytes([65 + k]),)) for k in range(4)]
    for thread in threads:
        thread.start()
    while any(t.is_alive() for t in threads):
        if path.exists():
            content = path.read_bytes()
            seen.add((len(content), len(set(content))))
    for thread in threads:
        thread.join()
    assert seen <= {(3000, 1)}
    assert not errors
    assert os.listdir(tmp_path) == ["x"]


def test_pipes_are_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_file(tmp_path / "pipe", [b"a", b"b"])
    reader.join()
    assert found == [b"ab"]


def test_lines_are_whole(tmp_path):
    file = LineFile(tmp_path / "x")
    file.append(b"one\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="large"):
            file.append(b"x" * 2000 + b"\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    file.append(b"two\n")
    file.flush()
    file.close()
    assert (tmp_path / "x").read_bytes() == b"one\ntwo\n"
