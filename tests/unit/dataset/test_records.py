"""Records on disk and folders of images."""

import numpy as np
import pytest

import duograph.dataset as ds
from duograph.mindrecord import FileReader, FileWriter

SCHEMA = {"x": {"type": "float32", "shape": [-1]}, "label": {"type": "int32"}, "name": {"type": "string"}}


def written(path, shards=1):
    writer = FileWriter(str(path), shards)
    writer.add_schema(SCHEMA, "points")
    writer.write_raw_data([{"x": np.arange(i + 1), "label": i, "name": f"n{i}"} for i in range(5)])
    writer.commit()
    return str(path)


@pytest.mark.parametrize("shards", [1, 3])
def test_what_is_written_is_read(tmp_path, shards):
    path = written(tmp_path / "points.mindrecord", shards)
    reader = FileReader(path)
    rows = sorted(reader.get_next(), key=lambda row: int(row["label"]))
    assert reader.len() == 5
    assert [row["name"] for row in rows] == ["n0", "n1", "n2", "n3", "n4"]
    assert rows[3]["x"].dtype == np.float32
    assert rows[3]["x"].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_mind_dataset(tmp_path):
    data = ds.MindDataset(written(tmp_path / "a"), columns_list=["label", "x"], shuffle=False)
    assert data.get_col_names() == ["label", "x"]
    assert data.get_dataset_size() == 5
    assert [int(label) for label, _ in data.create_tuple_iterator(output_numpy=True)] == [0, 1, 2, 3, 4]


def test_wrong_records_are_refused(tmp_path):
    writer = FileWriter(str(tmp_path / "b"))
    with pytest.raises(RuntimeError):
        writer.write_raw_data([{}])
    with pytest.raises(ValueError, match="type"):
        writer.add_schema({"x": {"type": "float8"}})
    writer.add_schema(SCHEMA)
    with pytest.raises(ValueError, match="no field 'x'"):
        writer.write_raw_data([{"label": 1, "name": "a"}])
    with pytest.raises(ValueError, match="does not exist"):
        ds.MindDataset(str(tmp_path / "nothing"))
    with pytest.raises(RuntimeError, match="already exist"):
        FileWriter(written(tmp_path / "c"))


def test_image_folders(tmp_path):
    for name, count in (("cat", 2), ("dog", 1)):
        (tmp_path / name).mkdir()
        for i in range(count):
            (tmp_path / name / f"{i}.png").write_bytes(bytes([i, 7]))
    (tmp_path / "cat" / "notes.txt").write_text("no image")
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False)
    rows = list(data.create_tuple_iterator(output_numpy=True))
    assert [int(label) for _, label in rows] == [0, 0, 1]
    assert rows[1][0].tolist() == [1, 7]
    assert data.get_class_indexing() == {"cat": 0, "dog": 1}
    with pytest.raises(ValueError, match="does not exist"):
        ds.ImageFolderDataset(str(tmp_path / "nowhere"))
