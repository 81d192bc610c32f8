"""Event files for TensorBoard: read back by the tensorboard package where it is installed, and by our own reader."""

import contextlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.api import noted
from duograph.core.recordfile import crc32c, framed, records
from duograph.train import SummaryCollector, SummaryRecord, read_events


def test_checksum_of_the_standard():
    """RFC 3720 B.4, and rows and rests against one byte after the other."""
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(bytes(range(32))) == 0x46DD794E
    data = np.random.default_rng(0).integers(0, 256, 3000, np.uint8).tobytes()
    for end in (0, 1, 255, 256, 257, 512, 1000, 3000):
        crc = 0xFFFFFFFF
        for byte in data[:end]:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        assert crc32c(data[:end]) == crc ^ 0xFFFFFFFF


PICTURES = np.linspace(-1, 3, 2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
VALUES = {
    ("scalar", "loss"): 0.5,
    ("scalar", "count"): Tensor([3], ms.int32),
    ("histogram", "weights"): Tensor(np.arange(100, dtype=np.float32)),
    ("histogram", "constant"): np.full(7, 2.0),
    ("histogram", "none"): np.array([np.nan, np.inf]),
    ("image", "pictures"): Tensor(PICTURES),
    ("image", "gray"): np.arange(36, dtype=np.uint8).reshape(1, 1, 6, 6),
    ("tensor", "matrix"): Tensor([[1.0, 2.0]], ms.float16),
    ("tensor", "half"): Tensor(1.5, ms.bfloat16),
    ("custom_lineage_data", "about"): {"name": "net", "layers": np.int64(3)},
}


def written(path):
    noted.take()
    with SummaryRecord(str(path)) as record:
        for (plugin, name), value in VALUES.items():
            record.add_value(plugin, name, value)
        assert record.record(7)
        record.set_mode("eval")
        record.add_value("scalar", "loss", 0.25)
        assert record.record(8)
    return record.log_dir


def test_our_reader_gives_back_what_was_recorded(tmp_path):
    first, second = read_events(written(tmp_path))
    assert (first["step"], second["step"], second["values"]) == (7, 8, {"eval/loss": 0.25})
    values = first["values"]
    assert (values["loss"], values["count"]) == (0.5, 3.0)
    weights = values["weights"]
    assert (weights["num"], weights["min"], weights["max"], weights["sum"]) == (100, 0, 99, 4950)
    assert sum(weights["counts"]) == 100 and len(weights["limits"]) == 11
    assert values["constant"]["counts"] == [7] and values["none"]["num"] == 0
    assert values["matrix"].tolist() == [[1, 2]] and values["matrix"].dtype == np.float16
    assert values["half"].shape == () and float(values["half"]) == 1.5
    assert json.loads(values["about"]) == {"name": "net", "layers": 3}
    assert values["pictures"].startswith(b"\x89PNG")


def test_pictures_are_those_of_mindspore(tmp_path):
    Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    import io

    values = read_events(written(tmp_path))[0]["values"]
    gray = np.asarray(Image.open(io.BytesIO(values["gray"])))
    assert np.array_equal(gray, np.arange(36, dtype=np.uint8).reshape(6, 6))
    picture = np.asarray(Image.open(io.BytesIO(values["pictures"])))
    assert picture.shape == (4, 10, 3)
    scaled = ((PICTURES + 1) * (255 / 5)).astype(np.uint8)  # from -1..3, MindSpore adds 1 to the width
    assert np.abs(picture[:, :5].transpose(2, 0, 1).astype(int) - scaled[0]).max() <= 1
    assert np.abs(picture[:, 5:].transpose(2, 0, 1).astype(int) - scaled[1]).max() <= 1


def test_tensorboard_reads_it(tmp_path):
    accumulators = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="tensorboard is not installed; our own reader is compared with it where it is",
        exc_type=ImportError,
    )
    ours = read_events(written(tmp_path))[0]["values"]
    board = accumulators.EventAccumulator(str(tmp_path), size_guidance=dict.fromkeys(("scalars", "tensors"), 0))
    board.Reload()
    tags = board.Tags()
    assert set(tags["scalars"]) == {"loss", "count", "eval/loss"}
    assert set(tags["images"]) == {"pictures", "gray"}
    assert set(tags["histograms"]) == {"weights", "constant", "none"}
    assert [(e.step, e.value) for e in board.Scalars("eval/loss")] == [(8, 0.25)]
    (picture,) = board.Images("pictures")
    assert (picture.width, picture.height) == (10, 4)
    assert picture.encoded_image_string == ours["pictures"]
    histogram = board.Histograms("weights")[0].histogram_value
    assert (histogram.num, histogram.sum) == (100, 4950)
    assert list(histogram.bucket) == ours["weights"]["counts"]
    assert list(board.Tensors("matrix")[0].tensor_proto.tensor_shape.dim)[1].size == 2
    assert board.Tensors("about")[0].tensor_proto.string_val[0].decode() == ours["about"]
    assert board.SummaryMetadata("about").plugin_data.plugin_name == "text"


class Noting(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 1, weight_init="ones", has_bias=False)
        self.scalar, self.tensor = ops.ScalarSummary(), ops.TensorSummary()
        self.histogram, self.image = ops.HistogramSummary(), ops.ImageSummary()

    def construct(self, x):
        y = self.dense(x)
        self.scalar("mean", y.mean())
        self.tensor("row", y.reshape((-1,)))
        self.histogram("output", y)
        self.image("input", x.reshape((1, 1, 2, 4)))
        return y


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_values_from_inside_of_a_network(tmp_path, mode):
    noted.take()
    ms.set_context(mode=mode)
    try:
        with SummaryRecord(str(tmp_path)) as record:
            Noting()(Tensor(np.arange(8, dtype=np.float32).reshape(2, 4)))
            record.record(1)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    values = read_events(record.log_dir)[0]["values"]
    assert values["mean"] == 14 and values["row"].tolist() == [6, 22] and values["output"]["sum"] == 28
    assert values["input"].startswith(b"\x89PNG")


def test_what_a_collector_records(tmp_path):
    noted.take()
    net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Dense(8, 2))
    pictures, labels = np.zeros((6, 1, 2, 2), np.float32), np.zeros(6, np.int32)
    data = ms.dataset.NumpySlicesDataset((pictures, labels), ["x", "y"], shuffle=False).batch(2)
    model = ms.Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"acc"})
    model.train(1, data, callbacks=SummaryCollector(str(tmp_path / "all"), collect_freq=2))
    values = read_events(str(tmp_path / "all"))[0]["values"]
    assert set(values) == {
        "loss", "learning_rate", "input_data/auto", "0.weight/auto", "2.weight/auto", "2.bias/auto",
    }  # fmt: skip
    chosen = {"histogram_regular": r"2\.b", "collect_metric": True}
    collector = SummaryCollector(str(tmp_path / "few"), 1, collect_specified_data=chosen, keep_default_action=False)
    model.train(1, data, callbacks=collector)
    assert set(read_events(str(tmp_path / "few"))[0]["values"]) == {"loss", "learning_rate", "2.bias/auto"}
    model.eval(data, callbacks=SummaryCollector(str(tmp_path / "eval")))
    assert set(read_events(str(tmp_path / "eval"))[-1]["values"]) == {"eval/acc"}
    model.fit(5, data, data, valid_frequency=2, callbacks=SummaryCollector(str(tmp_path / "fit"), 100))
    found = [event["step"] for event in read_events(str(tmp_path / "fit")) if "eval/acc" in event["values"]]
    assert found == [6, 12], "evaluated after the second and the fourth epoch of three steps"
    for data, kind in (({"colect_metric": True}, ValueError), ({"histogram_regular": "("}, ValueError), (3, TypeError)):
        with pytest.raises(kind, match="SummaryCollector"):
            SummaryCollector(str(tmp_path), collect_specified_data=data)


@pytest.fixture
def closing():
    """Closes the records that it is given when the test ends."""
    with contextlib.ExitStack() as stack:
        yield stack.enter_context


def test_values_that_cannot_be_shown(tmp_path, closing):
    record = closing(SummaryRecord(str(tmp_path)))
    for plugin, value, message in (
        ("scalar", np.ones(3), "3 elements"), ("image", np.ones((2, 2)), r"\(2, 2\)"), ("scalar", "text", "text"),
        ("tensor", np.array(["a"]), "dtype"),
    ):  # fmt: skip
        record.add_value(plugin, "x", value)
        with pytest.raises(ValueError, match=message):
            record.record(1)
    assert record.record(2) and read_events(record.log_dir) == []
    for part in ("../x", "a/b"):
        with pytest.raises(ValueError, match="file_prefix"):
            SummaryRecord(str(tmp_path), file_prefix=part)


def test_a_full_file_stays_readable(tmp_path, closing):
    record = closing(SummaryRecord(str(tmp_path), max_file_size=200))
    for step in range(100):
        record.add_value("scalar", "x", step)
        if not record.record(step):
            break
    assert 0 < step < 10 and len(read_events(record.log_dir)) == step
    loud = closing(SummaryRecord(str(tmp_path), max_file_size=10, raise_exception=True))
    with pytest.raises(RuntimeError, match="max_file_size"):
        loud.record(1)
    assert loud.log_dir != record.log_dir


def test_damaged_files_are_named(tmp_path):
    data = Path(written(tmp_path)).read_bytes()
    path = tmp_path / "x.tfevents"
    for end in range(1, len(data), 31):
        path.write_bytes(data[:end])
        try:
            read_events(str(path))
        except ValueError as error:
            assert "x.tfevents" in str(error)
    for at in range(0, len(data), 17):
        path.write_bytes(data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :])
        with pytest.raises(ValueError, match=r"x\.tfevents cannot be read: (the length of )?record \d"):
            read_events(str(path))
    head = struct.pack("<Q", 2**62)
    path.write_bytes(head + framed(head)[8 + 4 + 8 :] + b"x")  # a length with its right checksum
    with pytest.raises(ValueError, match="cut off"):
        read_events(str(path))
    path.write_bytes(framed(b"\xff\xff\xff"))
    with pytest.raises(ValueError, match=r"x\.tfevents"):
        read_events(str(path))
    with path.open("rb") as file:
        assert list(records(file)) == [b"\xff\xff\xff"]
    with pytest.raises(ValueError, match="missing"):
        read_events(str(tmp_path / "missing"))
