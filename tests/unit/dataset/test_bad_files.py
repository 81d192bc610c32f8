"""Files that are empty, cut off, larger than they say, or of other columns: one error that names them."""

import gzip
import struct
import zlib

import numpy as np
import pytest

import duograph.dataset as ds


def rows(dataset):
    return list(dataset.create_tuple_iterator(num_epochs=1, output_numpy=True))


def idx(shape, data=b""):
    return b"\0\0\x08" + bytes([len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data


def annotated(root):
    (root / "ImageSets" / "Segmentation").mkdir(parents=True)
    (root / "ImageSets" / "Segmentation" / "train.txt").write_text("")
    (root / "none.json").write_text('{"images": [], "annotations": [], "categories": []}')


NONE = {
    "folder": lambda d: ds.ImageFolderDataset(d),
    "classes": lambda d: (d / "a").mkdir() or ds.ImageFolderDataset(d),
    "text": lambda d: ds.TextFileDataset(str(d / "x")),
    "csv": lambda d: ds.CSVDataset(str(d / "x"), column_names=["a"]),
    "header": lambda d: (d / "x").write_text("a,b\n") and ds.CSVDataset(str(d / "x")),
    "voc": lambda d: annotated(d) or ds.VOCDataset(d),
    "coco": lambda d: annotated(d) or ds.CocoDataset(d, d / "none.json"),
    "cifar": lambda d: (d / "test_batch.bin").write_bytes(b"") or ds.Cifar10Dataset(d),
}


@pytest.mark.parametrize("make", NONE.values(), ids=NONE)
@pytest.mark.parametrize("ask", [rows, len], ids=["rows", "size"])
def test_nothing_there_is_an_error(tmp_path, make, ask):
    (tmp_path / "x").write_text("")
    with pytest.raises(RuntimeError, match=rf"there are no rows for '\w+' in {tmp_path}"):
        ask(make(tmp_path))


@pytest.mark.parametrize(
    ("text", "defaults", "message"),
    [
        ("1,x\n", [0, 0.0], "line 1 of .*x cannot be read: could not convert string to float: 'x'"),
        ("1,2\n\n3\n", [0, 0.0], "line 3 of .*x has 1 fields, not 2"),
        ("1,2\n3,4,5\n", None, "line 2 of .*x has 3 fields, not 2"),
        ("99999999999,1\n", [0, 0.0], "line 1 of .*x cannot be read: .*out of bounds for int32"),
        ("a" * 200000 + ",1\n", None, "x cannot be read: field larger"),
    ],
    ids=["number", "few", "many", "range", "long"],
)
def test_lines_that_do_not_fit_are_named(tmp_path, text, defaults, message):
    (tmp_path / "x").write_text(text)
    with pytest.raises(RuntimeError, match=message):
        rows(ds.CSVDataset(str(tmp_path / "x"), column_defaults=defaults, column_names=["i", "f"], shuffle=False))


def test_files_with_other_columns_and_odd_delimiters(tmp_path):
    for name, header in (("x", "a,b"), ("y", "b,a")):
        (tmp_path / name).write_text(header + "\n1,2\n")
    with pytest.raises(RuntimeError, match=r"columns of .*y are \['b', 'a'\], those before \['a', 'b'\]"):
        rows(ds.CSVDataset([str(tmp_path / "x"), str(tmp_path / "y")]))
    for wrong in ("", ";;", "\n", '"', 3):
        with pytest.raises(ValueError, match="field_delim"):
            ds.CSVDataset(str(tmp_path / "x"), wrong)


def test_what_is_no_text_is_named(tmp_path):
    path = tmp_path / "x"
    path.write_bytes("käse,1\n".encode("latin1"))
    for made in (ds.TextFileDataset(str(path)), ds.CSVDataset(str(path)), ds.CSVDataset(str(path), column_names=["a"])):
        with pytest.raises(RuntimeError, match="x cannot be read: 'utf-8'"):
            rows(made)


def test_no_more_is_expanded_than_a_file_says(tmp_path):
    """A file of a kilobyte that becomes a megabyte; one of any size is read no further."""
    labels = gzip.compress(idx([2], b"\1\2"))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(labels)
    images = tmp_path / "train-images-idx3-ubyte.gz"
    for data, size in (
        (idx([2, 4, 4]) + bytes(1 << 20), 32), (idx([2**31, 2**31, 4]), 2**64), (idx([2, 4, 4], bytes(31)), 32),
    ):  # fmt: skip
        images.write_bytes(gzip.compress(data))
        with pytest.raises(RuntimeError, match=f"idx3-ubyte.gz does not have {size} bytes"):
            rows(ds.MnistDataset(tmp_path))
    images.write_bytes(gzip.compress(idx([2, 4, 4], bytes(32))))
    assert len(rows(ds.MnistDataset(tmp_path))) == 2
    images.write_bytes(gzip.compress(idx([0, 4, 4])))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx([0])))
    with pytest.raises(RuntimeError, match="no rows for 'MnistDataset'"):
        rows(ds.MnistDataset(tmp_path))
    (tmp_path / "x").write_bytes(zlib.compress(bytes(1 << 20)))
    with pytest.raises(RuntimeError, match="x cannot be read: the length of record 0"):
        ds.TFRecordDataset(str(tmp_path / "x"), compression_type="ZLIB")
    (tmp_path / "x").write_bytes(zlib.compress(bytes(1 << 20))[:100])
    with pytest.raises(RuntimeError, match="x cannot be read"):
        ds.TFRecordDataset(str(tmp_path / "x"), compression_type="ZLIB")


def test_labels_beyond_the_classes(tmp_path):
    (tmp_path / "test_batch.bin").write_bytes(b"\x0a" + bytes(3072))
    with pytest.raises(RuntimeError, match="a label in .* is 10, of 10 classes"):
        rows(ds.Cifar10Dataset(tmp_path))


def test_dicts_in_rows_stay_dicts():
    made = ds.GeneratorDataset(lambda: iter([({"k": 1},), ({"k": 2},)]), "x")
    assert [row[0] for row in made] == [{"k": 1}, {"k": 2}]
    assert rows(ds.NumpySlicesDataset([1, 2], "x", shuffle=False))[1][0] == np.array(2)


def test_lines_end_where_lines_of_files_end(tmp_path):
    """Not at the other characters at which ``str.splitlines`` does; a mark of byte order is no part of a name."""
    path, lines = tmp_path / "x", ["a\u2028b", "c\x85d", "e\x0cf\x1cg"]
    path.write_bytes("\r\n".join([*lines[:2], "", *lines[2:]]).encode())
    assert [str(text) for (text,) in rows(ds.TextFileDataset(str(path), shuffle=False))] == lines
    assert ds.text.Vocab.from_file(str(path)).vocab() == {line: k for k, line in enumerate(lines)}
    path.write_bytes("\ufeffa,b\r\n1,2\r\n".encode())
    assert ds.CSVDataset(str(path)).get_col_names() == ["a", "b"] and len(rows(ds.CSVDataset(str(path)))) == 1
