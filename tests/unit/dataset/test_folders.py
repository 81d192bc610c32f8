"""Data sets in their original files: VOC, Coco, IMDB, TFRecord. What is expected is what MindSpore 2.10 gave."""

import gzip
import json
import zlib
from pathlib import Path

import pytest

import duograph.dataset as ds
from tests.unit.dataset.folders import TF_ROWS, example, write_coco, write_imdb, write_tfrecord, write_voc


def rows(data):
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def plain(row):
    return [(str(column.dtype), column.shape, column.tolist()) for column in row]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    root = tmp_path_factory.mktemp("folders")
    write_voc(root / "voc")
    write_coco(root / "coco")
    write_imdb(root / "imdb")
    return root


def test_voc_boxes(folders):
    data = ds.VOCDataset(str(folders / "voc"), task="Detection", shuffle=False, decode=True)
    assert data.get_col_names() == ["image", "bbox", "label", "difficult", "truncate"]
    assert data.get_class_indexing() == {"car": 0, "cat": 1, "dog": 2}
    first, second, third = rows(data)
    assert [row[0].shape for row in (first, second, third)] == [(8, 6, 3), (8, 7, 3), (8, 8, 3)]
    assert plain(first[1:]) == [
        ("float32", (2, 4), [[1, 2, 4, 4], [1, 1, 2, 3]]), ("uint32", (2, 1), [[2], [1]]),
        ("uint32", (2, 1), [[0], [1]]), ("uint32", (2, 1), [[1], [0]]),
    ]  # fmt: skip
    cats = rows(ds.VOCDataset(str(folders / "voc"), "Detection", class_indexing={"cat": 5}, shuffle=False))
    assert [row[2].tolist() for row in cats] == [[[5]], [[5]]]
    assert cats[0][0].ndim == 1


def test_voc_classes_of_pixels(folders):
    image, target = rows(ds.VOCDataset(str(folders / "voc"), shuffle=False, decode=True))[1]
    assert image.shape == target.shape == (8, 7, 3)
    with pytest.raises(NotImplementedError, match="Detection"):
        ds.VOCDataset(str(folders / "voc")).get_class_indexing()


def test_coco(folders):
    images = str(folders / "coco" / "images")

    def of(task, file):
        data = ds.CocoDataset(images, str(folders / "coco" / f"{file}.json"), task=task, shuffle=False, decode=True)
        return data, [plain(row[1:]) for row in rows(data)]

    data, found = of("Detection", "instances")
    assert data.get_class_indexing() == {"cat": [3], "dog": [7]}
    assert found == [
        [("float32", (1, 4), [[0, 0.5, 3, 2]]), ("uint32", (1, 1), [[3]]), ("uint32", (1, 1), [[1]])],
        [
            ("float32", (2, 4), [[1, 2, 3, 4], [2, 2, 1, 1]]),
            ("uint32", (2, 1), [[7], [3]]),
            ("uint32", (2, 1), [[0], [0]]),
        ],
    ]
    _, found = of("Stuff", "instances")
    assert found[0][0] == ("float32", (1, 3), [[4, 5, 6]])
    assert found[1][0] == ("float32", (3, 6), [[1, 2, 3, 4, 5, 6], [1, 2, -1, -1, -1, -1], [7, 8, 9, 10, -1, -1]])
    _, found = of("Keypoint", "instances")
    assert [row[0][1] for row in found] == [(1, 51), (2, 51)] and found[1][1][2] == [[9], [1]]
    data, found = of("Panoptic", "panoptic")
    assert data.get_class_indexing() == {"cat": [3, 0], "dog": [7, 1]}
    assert found[0][3] == ("uint32", (2, 1), [[12], [1]]) and len(found) == 2
    _, found = of("Captioning", "captions")
    assert found == [[("<U9", (2, 1), [["caption 0"], ["caption 2"]])], [("<U9", (1, 1), [["caption 1"]])]]


def test_imdb(folders):
    data = ds.IMDBDataset(str(folders / "imdb"), shuffle=False)
    assert data.get_dataset_size() == 8
    text, label = rows(ds.IMDBDataset(str(folders / "imdb"), usage="test", shuffle=False))[2]
    assert (str(text), label.tolist(), str(label.dtype)) == ("test neg 0", 0, "int32")


@pytest.mark.parametrize("compression", [None, "GZIP", "ZLIB"])
def test_tfrecord(tmp_path, compression):
    path = tmp_path / "x.tfrecord"
    write_tfrecord(path, TF_ROWS)
    if compression:
        path.write_bytes({"GZIP": gzip.compress, "ZLIB": zlib.compress}[compression](path.read_bytes()))
    data = ds.TFRecordDataset(str(path), shuffle=False, compression_type=compression)
    assert data.get_col_names() == ["f", "i", "s", "t"] and data.get_dataset_size() == 4
    assert plain(rows(data)[3]) == [
        ("float32", (1,), [1.5]), ("int64", (2,), [3, 4]), ("uint8", (5,), list(b"text3")), ("uint8", (2,), [97, 98]),
    ]  # fmt: skip
    schema = ds.Schema()
    schema.add_column("i", "int32", [2, 1])
    schema.add_column("f", "float32", [])
    file = tmp_path / "schema.json"
    file.write_text(schema.to_json())
    for given in (schema, str(file)):
        data = ds.TFRecordDataset([str(path)] * 2, given, shuffle=False, compression_type=compression)
        assert data.get_dataset_size() == 8
        assert plain(rows(data)[1]) == [("int32", (2, 1), [[1], [2]]), ("float32", (), 0.5)]
    only = ds.TFRecordDataset(str(path), columns_list=["s"], num_samples=2, shuffle=False, compression_type=compression)
    assert [bytes(row[0]) for row in rows(only)] == [b"text0", b"text1"]


# ---- what is wrong ---------------------------------------------------------------------------------------------------


def test_damaged_records_are_named(tmp_path):
    path = tmp_path / "odd.tfrecord"
    write_tfrecord(path, TF_ROWS)
    data = path.read_bytes()
    for at in range(0, len(data), 13):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(RuntimeError, match=r"odd\.tfrecord cannot be read"):
            rows(ds.TFRecordDataset(str(path)))
    path.write_bytes(data[:-3])
    with pytest.raises(RuntimeError, match=r"odd\.tfrecord cannot be read"):
        rows(ds.TFRecordDataset(str(path)))
    path.write_bytes(b"")
    with pytest.raises(RuntimeError, match="no example"):
        ds.TFRecordDataset(str(path))
    write_tfrecord(path, [TF_ROWS[0], {"i": [1]}])
    with pytest.raises(RuntimeError, match="no feature 'f'"):
        rows(ds.TFRecordDataset(str(path), shuffle=False))
    schema = ds.Schema()
    schema.add_column("i", "int32", [3])
    with pytest.raises(RuntimeError, match="reshape"):
        rows(ds.TFRecordDataset(str(path), schema))
    with pytest.raises(ValueError, match="no column 'z'"):
        ds.TFRecordDataset(str(path), columns_list=["z"])
    with pytest.raises(ValueError, match="compression_type"):
        ds.TFRecordDataset(str(path), compression_type="LZ4")
    assert example({"a": [1]})


@pytest.mark.parametrize(
    "text, message",
    [
        ("<annotation>", "cannot be read"), ("", "cannot be read"), ("<annotation/>", "object is missing"),
        ("<a><object><name>x</name></object></a>", "bndbox is missing"),
        ("<a><object><name>x</name><bndbox><xmin>1</xmin></bndbox></object></a>", "no ymin"),
        ('<!DOCTYPE a [<!ENTITY e SYSTEM "/etc/passwd">]><a>&e;</a>', "cannot be read"),
    ],
)  # fmt: skip
def test_damaged_annotations_are_named(tmp_path, text, message):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    write_voc(tmp_path / "voc")
    (tmp_path / "voc" / "Annotations" / "b.xml").write_text(text)
    with pytest.raises(RuntimeError, match=rf"{message}.*b\.xml|b\.xml.*{message}"):
        ds.VOCDataset(str(tmp_path / "voc"), task="Detection")


def test_names_that_lead_out_of_the_folder(tmp_path):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    write_voc(tmp_path / "voc")
    write_coco(tmp_path / "coco")
    (tmp_path / "voc" / "ImageSets" / "Main" / "train.txt").write_text("../../../etc/passwd\n")
    (tmp_path / "voc" / "ImageSets" / "Segmentation" / "train.txt").write_text("../../secret\n")
    with pytest.raises(RuntimeError, match="leads out of the folder"):
        ds.VOCDataset(str(tmp_path / "voc"), task="Detection")
    with pytest.raises(RuntimeError, match="leads out of the folder"):
        rows(ds.VOCDataset(str(tmp_path / "voc")))
    with pytest.raises(ValueError, match="no list of images"):
        ds.VOCDataset(str(tmp_path / "voc"), usage="../Main/train")
    file = tmp_path / "coco" / "instances.json"
    about = json.loads(file.read_text())
    for name in ("../../secret.jpg", "/etc/passwd"):
        about["images"][0]["file_name"] = name
        file.write_text(json.dumps(about))
        with pytest.raises(RuntimeError, match="leads out of the folder"):
            rows(ds.CocoDataset(str(tmp_path / "coco" / "images"), str(file), shuffle=False))


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about.pop("images"), lambda about: about["annotations"][0].pop("bbox"),
        lambda about: about["annotations"][0].update(bbox=[1, 2]),
        lambda about: about["annotations"][0].update(image_id=77),
        lambda about: about.update(images=3), lambda about: about.pop("categories"),
        lambda about: about["annotations"][0].update(category_id="x"),
        lambda about: about["annotations"][0].update(iscrowd=-1),
    ],
)  # fmt: skip
def test_annotations_that_lack_something_are_named(tmp_path, change):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    write_coco(tmp_path)
    file = Path(tmp_path) / "instances.json"
    about = json.loads(file.read_text())
    change(about)
    file.write_text(json.dumps(about))
    with pytest.raises(RuntimeError, match=r"instances\.json cannot be read"):
        ds.CocoDataset(str(tmp_path / "images"), str(file))
    for text in ("", "[1, 2]", "[" * 100_000):
        file.write_text(text)
        with pytest.raises(RuntimeError, match=r"instances\.json cannot be read"):
            ds.CocoDataset(str(tmp_path / "images"), str(file))
