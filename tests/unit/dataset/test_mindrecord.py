"""MindSpore's record files: those that MindSpore wrote are read, and it reads those that are written here."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import duograph.dataset as ds
from duograph.mindrecord import FileReader, FileWriter
from tests.unit.dataset.mindrecord_cases import CASES, flat

STORED = np.load(Path(__file__).parent / "mindspore.npz")


def write(path, name, shards=1):
    schema, rows = CASES[name]
    writer = FileWriter(str(path), shard_num=shards, overwrite=True)
    writer.add_schema(schema, "a text")
    writer.write_raw_data(rows)
    writer.commit()
    return rows


@pytest.mark.parametrize("name", CASES)
def test_files_of_mindspore(tmp_path, name):
    schema, rows = CASES[name]
    path = tmp_path / "theirs.mindrecord"
    path.write_bytes(STORED[name].tobytes())
    reader = FileReader(str(path))
    assert reader.len() == len(rows) and reader.schema().keys() == schema.keys()
    assert [flat(row) for row in reader.get_next()] == [flat(row) for row in rows]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shards", [1, 2])
def test_files_of_ours(tmp_path, name, shards):
    rows = write(tmp_path / "ours", name, shards)
    assert [flat(row) for row in FileReader(str(tmp_path / "ours")).get_next()] == [flat(row) for row in rows]
    paths = [tmp_path / "ours"] if shards == 1 else [tmp_path / f"ours{i}" for i in range(shards)]
    found = []
    for path in paths:
        database = sqlite3.connect(f"{path}.db")
        assert database.execute("SELECT NAME FROM SHARD_NAME").fetchall() == [(path.name,)]
        found.append(database.execute("SELECT COUNT(*) FROM INDEXES").fetchone()[0])
        database.close()
    assert sum(found) == len(rows)


@pytest.mark.parametrize("name", CASES)
def test_the_pages_are_those_of_mindspore(tmp_path, name):
    """Byte by byte, but for the header and what a number of the form 0.25 takes (float or double)."""
    write(tmp_path / "ours", name)
    ours, theirs = (tmp_path / "ours").read_bytes(), STORED[name].tobytes()
    if name != "several":
        assert ours[1 << 14 :].rstrip(b"\0")[:-1] == theirs[1 << 14 :].rstrip(b"\0")[:-1]


def test_mindspore_reads_them(tmp_path):
    theirs = pytest.importorskip("mindspore.mindrecord", reason="MindSpore is not installed; its files are stored")
    for name in CASES:
        rows = write(tmp_path / "ours", name)
        assert [flat(row) for row in theirs.FileReader(str(tmp_path / "ours")).get_next()] == [
            flat(row) for row in rows
        ]


def test_a_pipeline_of_records(tmp_path):
    path = tmp_path / "theirs.mindrecord"
    path.write_bytes(STORED["several"].tobytes())
    data = ds.MindDataset(str(path), ["label", "small", "points"], shuffle=False)
    rows = list(data.create_tuple_iterator(output_numpy=True, num_epochs=1))
    assert [row[0].tolist() for row in rows] == [-150, -50, 50, 150, 250]
    assert (rows[0][0].dtype, rows[0][0].shape, rows[0][1].dtype, rows[2][2].shape) == (np.int32, (), np.int32, (2, 3))


def test_saved_pipelines(tmp_path):
    data = ds.NumpySlicesDataset({"x": np.arange(6, dtype=np.float32).reshape(3, 2), "n": [1, 2, 3]}, shuffle=False)
    data.save(str(tmp_path / "x.mindrecord"))
    again = ds.MindDataset(str(tmp_path / "x.mindrecord"), shuffle=False)
    rows = [[column.tolist() for column in row] for row in again.create_tuple_iterator(output_numpy=True, num_epochs=1)]
    assert again.get_col_names() == ["n", "x"] and rows == [[1, [0, 1]], [2, [2, 3]], [3, [4, 5]]]


@pytest.mark.parametrize(
    "schema",
    [
        {"a b": {"type": "int32"}}, {"x); DROP TABLE INDEXES; --": {"type": "int32"}}, {"x": {"type": "int8"}},
        {"x": {"type": "int32", "shape": [-1, -1]}}, {"x": {"type": "bytes", "shape": [2]}},
        {"x": {"type": "int32", "size": 3}},
    ],
)  # fmt: skip
def test_schemas_that_are_refused(tmp_path, schema):
    with pytest.raises(ValueError, match="field"):
        FileWriter(str(tmp_path / "x")).add_schema(schema)


def test_damaged_files_of_mindspore_are_named(tmp_path):
    """They have no checksum: what is read is an error with the file's name, or values of the right types."""
    data = STORED["several"].tobytes()
    path = tmp_path / "odd.mindrecord"
    length = int.from_bytes(data[:8], "little") + 8
    places = [
        *range(0, length, 7),
        *range(1 << 14, (1 << 14) + 500, 3),
        *range((1 << 14) + (1 << 15), (1 << 14) + (1 << 15) + 200),
    ]
    for at in places:
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x13]) + data[at + 1 :])
        try:
            list(FileReader(str(path)).get_next())
        except RuntimeError as error:
            assert "odd.mindrecord" in str(error)
    for end in (*range(0, length, 50), len(data) // 2):
        path.write_bytes(data[:end])
        with pytest.raises(RuntimeError, match=r"odd\.mindrecord is damaged"):
            FileReader(str(path))


def test_bytes_are_one_element_which_decode_takes(tmp_path):
    """As in MindSpore, whose programs keep compressed images in records."""
    pytest.importorskip("PIL")
    images = [np.full((4, 6, 3), 40 * n, np.uint8) for n in range(3)]
    writer = FileWriter(str(tmp_path / "x"), shard_num=1)
    writer.add_schema({"data": {"type": "bytes"}, "label": {"type": "int32"}}, "images")
    writer.write_raw_data(
        [{"data": ds.vision.encode_png(image).tobytes(), "label": n} for n, image in enumerate(images)]
    )
    writer.commit()
    data = ds.MindDataset(str(tmp_path / "x"), ["data", "label"], shuffle=False)
    (first,) = data.take(1).project("data").create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert (first[0].dtype.kind, first[0].shape) == ("S", (1,))
    batch = next(iter(data.map(ds.vision.Decode(), "data").batch(3)))
    assert (batch[0].asnumpy() == images).all() and batch[1].asnumpy().tolist() == [0, 1, 2]


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_of_large_files_are_read_when_they_are_asked_for(tmp_path, workers, monkeypatch):
    monkeypatch.setattr("duograph.dataset.records.KEPT", 1000)
    writer = FileWriter(str(tmp_path / "x"), shard_num=2)
    writer.add_schema({"n": {"type": "int32"}, "data": {"type": "bytes"}})
    writer.write_raw_data([{"n": k, "data": bytes([k]) * 9000} for k in range(9)])
    writer.commit()
    data = ds.MindDataset(
        str(tmp_path / "x0"), sampler=ds.SequentialSampler(2, 9), num_parallel_workers=workers,
        padded_sample={"n": -1, "data": b""}, num_padded=2,
    )  # fmt: skip
    rows = list(data.create_tuple_iterator(output_numpy=True, num_epochs=1))
    assert [int(n) for _, n in rows] == [*range(2, 9), -1, -1] and rows[3][0][0] == bytes([5]) * 9000
    content = (tmp_path / "x0").read_bytes()
    (tmp_path / "x0").write_bytes(content[:-1])  # in place: what was open is this file
    with pytest.raises(RuntimeError, match=r"x0 is damaged: it has changed since its rows were counted"):
        list(data)


def test_a_file_stands_for_all_that_were_written_with_it(tmp_path):
    writer = FileWriter(str(tmp_path / "set"), shard_num=3)
    writer.add_schema({"n": {"type": "int32"}})
    writer.write_raw_data([{"n": k} for k in range(7)])
    writer.commit()
    second = str(tmp_path / "set1")

    def numbers(files):
        return [int(n) for (n,) in ds.MindDataset(files, shuffle=False).create_tuple_iterator(output_numpy=True)]

    assert sorted(numbers(second)) == list(range(7)) == sorted(row["n"] for row in FileReader(second).get_next())
    assert len(numbers([second])) < 7
    (tmp_path / "set2").rename(tmp_path / "else")
    with pytest.raises(RuntimeError, match=r"set1 is one of the files set0, set1, set2, of which set2 cannot be found"):
        numbers(second)
    with pytest.raises(RuntimeError, match="cannot be found"):
        FileReader(str(tmp_path / "else"))
