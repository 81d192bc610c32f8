"""Damaged files: every flipped bit and every missing end is an error of one class, or changes nothing."""

import os
import pathlib
import random
import signal
import struct
import sys
import zlib

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.base import files
from duograph.mindrecord import FileReader, FileWriter
from tests import children


def _checkpoint(file_format):
    def write(path):
        ms.save_checkpoint(nn.Dense(3, 4), path, append_dict={"epoch": 3, "note": "hello"}, format=file_format)

    def read(path):
        values = ms.load_checkpoint(path, format=file_format)
        return {n: v if isinstance(v, str) else _bits(v) for n, v in values.items()}

    return write, read


def _bits(tensor):
    return str(tensor.dtype), tuple(tensor.shape), tensor.asnumpy().tobytes()


def _write_mindir(path):
    weight = ms.Parameter(Tensor(np.arange(6, dtype=np.float32)), name="w")

    def function(x):
        return ops.tanh(x * weight) + 2

    ms.export(function, Tensor(np.ones(6, np.float32)), file_name=path, file_format="MINDIR")


def _read_mindir(path):
    return _bits(nn.GraphCell(ms.load(path))(Tensor(np.ones(6, np.float32))))


def _write_records(path):
    writer = FileWriter(path, overwrite=True)
    writer.add_schema({"x": {"type": "float32", "shape": [-1]}, "n": {"type": "string"}, "b": {"type": "bytes"}})
    writer.write_raw_data([{"x": np.arange(i + 1), "n": f"n{i}", "b": b"\x07" * i} for i in range(6)])
    writer.commit()


def _read_records(path):
    reader = FileReader(path)
    rows = [(row["x"].tobytes(), row["x"].shape, row["n"], row["b"]) for row in reader.get_next()]
    return reader.len(), reader.schema(), rows


FORMATS = {
    "ckpt": (*_checkpoint("ckpt"), ValueError),
    "safetensors": (*_checkpoint("safetensors"), ValueError),
    "mindir": (_write_mindir, _read_mindir, RuntimeError),
    "mindrecord": (_write_records, _read_records, RuntimeError),
}


@pytest.fixture(params=FORMATS)
def written(request, tmp_path):
    """Content of a file, a function that says what damaged content is read as, and the class of the errors."""
    write, read, error = FORMATS[request.param]
    path = tmp_path / f"x.{request.param}"
    write(str(path))
    content, good = path.read_bytes(), read(str(path))

    def outcome(damaged):
        path.write_bytes(damaged)
        try:
            return "the same" if read(str(path)) == good else "another value"
        except error as exc:
            return type(exc)

    return content, outcome, error


def test_flipped_bits(written):
    content, outcome, error = written
    rng = random.Random(7)
    for _ in range(200):
        damaged = bytearray(content)
        damaged[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        assert outcome(bytes(damaged)) in ("the same", error)


def test_several_flipped_bits(written):
    content, outcome, error = written
    rng = random.Random(8)
    for _ in range(100):
        damaged = bytearray(content)
        for _ in range(rng.randrange(2, 9)):
            damaged[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        assert outcome(bytes(damaged)) in ("the same", error)


def test_missing_ends_and_more_than_was_written(written):
    content, outcome, error = written
    rng = random.Random(9)
    for _ in range(100):
        assert outcome(content[: rng.randrange(len(content))]) is error
    assert outcome(b"") is error
    assert outcome(content + b"\0") is error
    assert outcome(content + content) is error


def test_zeroed_pages(written):
    content, outcome, error = written
    for at in range(0, len(content), 64):
        zeros = content[:at] + bytes(len(content[at : at + 64])) + content[at + 64 :]
        assert outcome(zeros) in ("the same", error)


def test_swapped_records(tmp_path):
    """Each is right on its own, but not in its place."""
    path = tmp_path / "x"
    writer = FileWriter(str(path))
    writer.add_schema({"x": {"type": "int32"}})
    writer.write_raw_data([{"x": 1}, {"x": 2}])
    writer.commit()
    content = path.read_bytes()
    first, second = (struct.pack("<Q", 4) + b"\x81\xa1x" + bytes([n]) for n in (1, 2))
    assert content.count(first + second) == 1
    path.write_bytes(content.replace(first + second, second + first))
    with pytest.raises(RuntimeError, match="CRC-32"):
        list(FileReader(str(path)).get_next())


def test_checkpoints_of_other_writers_have_no_checksum(tmp_path):
    """MindSpore's own file, with and without its checksum."""
    tensor = b"\x08\x02\x12\x05Int32\x1a\x08" + struct.pack("<ii", 5, 6)
    value = b"\x0a\x01x\x12" + bytes([len(tensor)]) + tensor
    file = b"\x0a" + bytes([len(value)]) + value
    path = tmp_path / "x.ckpt"
    path.write_bytes(file)
    assert ms.load_checkpoint(str(path))["x"].asnumpy().tolist() == [5, 6]
    path.write_bytes(file + b"crc_num" + zlib.crc32(file).to_bytes(10, "big"))
    assert ms.load_checkpoint(str(path), crc_check=True)["x"].asnumpy().tolist() == [5, 6]
    path.write_bytes(file[:-1] + b"\1crc_num" + zlib.crc32(file).to_bytes(10, "big"))
    with pytest.raises(ValueError, match="CRC"):
        ms.load_checkpoint(str(path))


def test_crc_check(tmp_path):
    path = str(tmp_path / "x.ckpt")
    ms.save_checkpoint({"x": Tensor([1.0, 2.0])}, path, crc_check=True)
    content = (tmp_path / "x.ckpt").read_bytes()
    assert content[-17:-10] == b"crc_num"
    assert int.from_bytes(content[-10:], "big") == zlib.crc32(content[:-17])
    assert ms.load_checkpoint(path, crc_check=True)["x"].asnumpy().tolist() == [1.0, 2.0]


def test_safetensors_of_other_libraries(tmp_path):
    """What they note about the file is not a value (`format`); the checksum does not disturb them."""
    from safetensors.numpy import load_file, save_file

    path = str(tmp_path / "x.safetensors")
    save_file({"w": np.arange(3.0)}, path, {"format": "ms", "total_size": "24"})
    assert list(ms.load_checkpoint(path, format="safetensors")) == ["w"]
    ms.save_checkpoint({"w": Tensor([1, 2]), "note": "x"}, path, format="safetensors")
    assert load_file(path)["w"].tolist() == [1, 2]


def test_saving_in_the_background(tmp_path):
    """The last save wins, and reading waits for it."""
    path = str(tmp_path / "x.ckpt")
    for k in range(20):
        ms.save_checkpoint({"k": Tensor(k)}, path, async_save=True)
    assert ms.load_checkpoint(path)["k"].asnumpy() == 19
    ms.save_checkpoint({"k": Tensor(20)}, path, async_save=True)
    ms.save_checkpoint({"k": Tensor(21)}, path)
    assert ms.load_checkpoint(path)["k"].asnumpy() == 21


def test_names_and_lists(tmp_path):
    net = nn.Dense(2, 2)
    ms.save_checkpoint(list(net.get_parameters()), str(tmp_path / "my_ckpt"), choice_func=lambda name: "bias" in name)
    assert list(ms.load_checkpoint(str(tmp_path / "my_ckpt"))) == ["bias"]


def test_shards_of_two_writings_are_not_mixed(tmp_path):
    """As after a process that was killed between two shards."""

    def write(value):
        writer = FileWriter(str(tmp_path / "x"), 2, overwrite=True)
        writer.add_schema({"x": {"type": "int32"}})
        writer.write_raw_data([{"x": value}, {"x": value}])
        writer.commit()
        return (tmp_path / "x0").read_bytes()

    old = write(1)
    write(2)
    assert [int(row["x"]) for row in FileReader(str(tmp_path / "x")).get_next()] == [2, 2]
    (tmp_path / "x0").write_bytes(old)
    with pytest.raises(RuntimeError, match="not written together"):
        FileReader(str(tmp_path / "x"))
    (tmp_path / "x0").unlink()
    with pytest.raises(RuntimeError, match="not written together"):
        FileReader(str(tmp_path / "x"))
    assert FileReader([str(tmp_path / "x1")]).len() == 1  # said explicitly


def test_what_is_no_file(tmp_path):
    for name in ("x.ckpt", "x.safetensors", "x.mindir", "x"):
        (tmp_path / name).mkdir()
    for read in (
        lambda: ms.load_checkpoint(str(tmp_path / "x.ckpt")),
        lambda: ms.load_checkpoint(str(tmp_path / "x.safetensors"), format="safetensors"),
        lambda: ms.load(str(tmp_path / "x.mindir")),
        lambda: FileReader(str(tmp_path / "x")),
    ):
        with pytest.raises(ValueError, match="does not exist"):
            read()


def test_a_save_in_the_background_goes_where_it_was_told(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "a")
    ms.save_checkpoint({"k": Tensor(np.ones(10))}, "x.ckpt", async_save=True)
    monkeypatch.chdir(tmp_path / "b")
    assert list(ms.load_checkpoint(str(tmp_path / "a" / "x.ckpt"))) == ["k"]
    assert not list((tmp_path / "b").iterdir())


def _interrupted(moment, end):
    """Makes saving end at a moment: with half of the file written, or before it takes the place of the old one."""

    def half(descriptor, pieces, mode):
        piece = b"".join(pieces)
        os.write(descriptor, piece[: len(piece) // 2])
        end()

    setattr(files, moment, half if moment == "_fill" else lambda part, target: end())


if __name__ == "__main__":
    _interrupted(sys.argv[2], lambda: os.kill(os.getpid(), signal.SIGKILL))
    ms.save_checkpoint([{"name": "w", "data": Tensor([2.0])}], sys.argv[1])


@pytest.mark.parametrize("moment", ["_fill", "_rename"])
def test_a_process_that_is_killed_while_it_saves_leaves_the_old_checkpoint(tmp_path, moment):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint([{"name": "w", "data": Tensor([1.0])}], path)
    here = pathlib.Path(__file__).resolve()
    child = children.start([sys.executable, "-m", "tests.unit.train.test_damage", path, moment], cwd=here.parents[3])
    assert child.wait(children.PATIENCE) == -signal.SIGKILL
    assert ms.load_checkpoint(path)["w"].tolist() == [1.0]
    ms.save_checkpoint([{"name": "w", "data": Tensor([3.0])}], path)
    assert ms.load_checkpoint(path)["w"].tolist() == [3.0]
    assert os.listdir(tmp_path) == ["a.ckpt"]


@pytest.mark.parametrize("moment", ["_fill", "_rename"])
def test_ctrl_c_while_saving_leaves_the_old_checkpoint(tmp_path, moment, monkeypatch):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint([{"name": "w", "data": Tensor([1.0])}], path)

    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(files, moment, getattr(files, moment))
    _interrupted(moment, stop)
    with pytest.raises(KeyboardInterrupt):
        ms.save_checkpoint([{"name": "w", "data": Tensor([2.0])}], path)
    assert ms.load_checkpoint(path)["w"].tolist() == [1.0]
