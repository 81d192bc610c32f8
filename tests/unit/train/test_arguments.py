"""Arguments of training, files and data sets that were taken and not read: they act, or are refused."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
import duograph.dataset as ds
from duograph import Tensor, nn


def data(rows=4):
    return ds.NumpySlicesDataset({"x": np.ones((rows, 2), np.float32), "y": np.ones((rows, 1), np.float32)})


def model():
    net = nn.Dense(2, 1)
    return ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))


@pytest.mark.parametrize(
    ("call", "error", "name"),
    [
        (lambda path: ms.CheckpointConfig(enc_key=b"0" * 16), RuntimeError, "encrypted"),
        (lambda path: ms.CheckpointConfig(enc_mode=3), TypeError, "encryption"),
        (lambda path: ms.CheckpointConfig(crc_check=1), TypeError, "crc_check"),
        (lambda path: ms.CheckpointConfig(keep_chekpoint_max=3), TypeError, "keep_chekpoint_max"),
        (lambda path: ms.save_checkpoint(nn.Dense(1, 1), path, fromat="ckpt"), TypeError, "fromat"),
        (lambda path: model().predict(Tensor([[1.0, 1.0]]), backend="lite"), ValueError, "backend"),
        (lambda path: data().map(lambda x: x, colums=["x"]), TypeError, "colums"),
        (lambda path: data().batch(2, per_batch_mpa=len), TypeError, "per_batch_mpa"),
        (lambda path: ds.PKSampler(1, class_column="kind"), ValueError, "class_column"),
        (lambda path: ds.GeneratorDataset([1], ["x"], schema="s.json"), ValueError, "schema"),
        (lambda path: ms.train.SummaryCollector(path, export_options={"tensor_format": "npy"}), ValueError, "export"),
        (lambda path: ms.TimeMonitor(data_time=1), TypeError, "data_time"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refused(call, error, name, tmp_path):
    with pytest.raises(error, match=name):
        call(str(tmp_path / "file"))


def test_what_tunes_pipelines_only_is_taken():
    rows = data().map(lambda x: x * 2, ["x"], python_multiprocessing=True).batch(2, max_rowsize=4)
    assert [x.tolist() for x, _ in rows] == [[[2, 2], [2, 2]]] * 2


def test_a_failing_run_leaves_a_checkpoint_if_asked(tmp_path):
    class Fails(ms.Callback):
        def step_end(self, run_context):
            if run_context.original_args().cur_step_num == 3:
                raise KeyError("on purpose")

    for asked in (False, True):
        folder = tmp_path / str(asked)
        config = ms.CheckpointConfig(save_checkpoint_steps=100, exception_save=asked)
        callbacks = [ms.ModelCheckpoint("net", str(folder), config), Fails()]
        with pytest.raises(KeyError):
            model().train(1, data().batch(1), callbacks)
        found = sorted(p.name for p in folder.glob("*")) if folder.exists() else []
        assert found == (["net-1_3_breakpoint.ckpt"] if asked else [])


def test_time_monitor_shows_times_of_data(capsys):
    model().train(1, data().batch(2), [ms.TimeMonitor(data_time=True)])
    assert "(data time: " in capsys.readouterr().out
    model().train(1, data().batch(2), [ms.TimeMonitor()])
    assert "data time" not in capsys.readouterr().out
