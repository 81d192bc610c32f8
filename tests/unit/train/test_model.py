"""`Model` with its callbacks: what they are called for, and what is said of a Model that lacks something."""

import numpy as np
import pytest

import duograph as ms
import duograph.dataset as ds
from duograph import nn


def data():
    r = np.random.default_rng(0)
    columns = (r.normal(size=(16, 3)).astype(np.float32), r.normal(size=(16, 1)).astype(np.float32))
    return ds.NumpySlicesDataset(columns, ["x", "y"], shuffle=False).batch(4)


@pytest.fixture
def model():
    net = nn.Dense(3, 1)
    return ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mae"})


def test_history_has_one_entry_per_epoch(model):
    history = ms.History()
    model.fit(2, data(), data(), callbacks=history)
    assert history.epoch == {"epoch": [1, 2]}
    assert {name: len(values) for name, values in history.history.items()} == {"net_output": 2, "mae": 2}
    assert all(type(value) is np.float32 for value in history.history["net_output"])
    assert all(isinstance(value, float) for value in history.history["mae"])
    history = ms.History()
    model.train(3, data(), callbacks=history)
    assert {name: len(values) for name, values in history.history.items()} == {"net_output": 3}


class Log(ms.Callback):
    def __init__(self):
        self.seen = []

    def on_train_epoch_end(self, run_context):
        self.seen.append(("train", run_context.original_args().cur_epoch_num))

    def on_eval_end(self, run_context):
        params = run_context.original_args()
        self.seen.append(("eval", params.cur_epoch_num, params.mode, params.train_network is not None))


def test_evaluation_inside_of_fit(model, tmp_path, capsys):
    """Callbacks of the user see it; those that follow the training do not take it for a part of that."""
    log = Log()
    config = ms.CheckpointConfig(save_checkpoint_steps=3, keep_checkpoint_max=9)
    rates = []
    callbacks = [
        log, ms.ModelCheckpoint("x", str(tmp_path), config), ms.LossMonitor(2),
        ms.LearningRateScheduler(lambda rate, step: rates.append(step) or rate),
    ]  # fmt: skip
    model.fit(2, data(), data(), callbacks=callbacks)
    assert log.seen == [("eval", 1, "eval", True), ("train", 1), ("eval", 2, "eval", True), ("train", 2)]
    assert rates == list(range(1, 9))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x-1_3.ckpt", "x-2_2.ckpt", "x-2_4.ckpt"]
    assert capsys.readouterr().out.count("loss is") == 4


def test_a_model_without_a_loss():
    net = nn.Dense(3, 1)
    with pytest.raises(TypeError, match=r"'loss_fn' is None.*all 2 columns.*Dense.construct takes \(x\)"):
        ms.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1)).train(1, data())
    with pytest.raises(ValueError, match="neither 'loss_fn' nor 'eval_network'"):
        ms.Model(net, metrics={"mae"})
    with pytest.raises(ValueError, match="'metrics' can not be None"):
        ms.Model(net).eval(data())


def test_a_network_that_returns_the_loss_needs_none():
    net = nn.WithLossCell(nn.Dense(3, 1), nn.MSELoss())
    history = ms.History()
    ms.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1)).train(3, data(), callbacks=history)
    assert len(history.history["net_output"]) == 3


class Failing(ms.Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 6:
            raise OSError("enough")


class Keys(ms.Callback):
    def __init__(self):
        self.seen = {}

    def on_train_end(self, run_context):
        self.seen["train"] = dict(run_context.original_args())

    def on_eval_end(self, run_context):
        self.seen["eval"] = dict(run_context.original_args())


def test_what_callbacks_know_of_a_run(model, tmp_path):
    """The keys that callbacks of MindSpore's programs read."""
    keys, save = Keys(), ms.ModelCheckpoint("x", str(tmp_path), ms.CheckpointConfig(save_checkpoint_steps=4))
    model.train(1, data(), callbacks=[keys, save])
    model.eval(data(), callbacks=keys)
    train, evaluation = keys.seen["train"], keys.seen["eval"]
    for seen in (train, evaluation):
        assert keys in seen["list_callback"] and seen["parallel_mode"] == "stand_alone" and seen["device_number"] == 1
        assert seen["dataset_sink_mode"] is False
    assert train["last_save_ckpt_step"] == 4 and train["latest_ckpt_file"] == save.latest_ckpt_file_name


def test_settings_of_checkpoints_act(model, tmp_path):
    config = ms.CheckpointConfig(
        save_checkpoint_steps=4, append_info=["epoch_num", {"note": "x"}], crc_check=True, exception_save=True
    )
    assert config.append_dict == {"epoch_num": 0, "note": "x"}
    with pytest.raises(OSError, match="enough"):
        model.train(2, data(), callbacks=[ms.ModelCheckpoint("x", str(tmp_path), config), Failing()])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["x-1_4.ckpt", "x-2_2_breakpoint.ckpt"]
    saved = ms.load_checkpoint(str(tmp_path / "x-2_2_breakpoint.ckpt"))
    assert saved["epoch_num"] == 2 and saved["note"] == "x"
    assert (tmp_path / "x-1_4.ckpt").read_bytes()[-17:-10] == b"crc_num"
    with pytest.raises(RuntimeError, match="encrypted"):
        ms.CheckpointConfig(enc_key=b"0" * 16)


# ---- mistakes with a Model -------------------------------------------------------------------------------------------


def test_a_loss_without_an_optimizer_is_computed_and_nothing_moves():
    net = nn.Dense(3, 1)
    before = net.weight.asnumpy().copy()
    history = ms.History()
    ms.Model(net, nn.MSELoss()).train(1, data(), callbacks=history)
    assert np.array_equal(net.weight.asnumpy(), before) and history.history["net_output"][0] > 0


@pytest.mark.parametrize("columns", [1, 3])
def test_a_loss_takes_two_columns(model, columns):
    rows = {name: np.ones((4, 3), np.float32) for name in "abc"[:columns]}
    with pytest.raises(ValueError, match=f"should return two elements, but got {columns}"):
        model.train(1, ds.NumpySlicesDataset(rows).batch(2))


@pytest.mark.parametrize("wrong", [np.ones((4, 3)), ms.Tensor([1.0]), "folder"], ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("method", ["train", "eval"])
def test_data_that_is_no_dataset(model, wrong, method):
    with pytest.raises(TypeError, match=f"'Model.{method}'.*must be a Dataset.*NumpySlicesDataset"):
        model.train(1, wrong) if method == "train" else model.eval(wrong)


def test_an_empty_dataset(model):
    empty = ds.NumpySlicesDataset(np.ones((1, 3), np.float32)).batch(2, drop_remainder=True)
    with pytest.raises(ValueError, match="no valid data"):
        model.train(1, empty)


def test_names_in_place_of_loss_and_optimizer():
    with pytest.raises(TypeError, match="'loss_fn' must be Cell or function, but got 'mse'"):
        ms.Model(nn.Dense(3, 1), "mse")
    with pytest.raises(TypeError, match="'optimizer' must be Optimizer, but got <class 'str'>"):
        ms.Model(nn.Dense(3, 1), nn.MSELoss(), "sgd")
    with pytest.raises(ValueError, match="'level' should be in : .*'O3', 'auto'.*, but got O9"):
        ms.Model(nn.Dense(3, 1), amp_level="O9")
    with pytest.raises(TypeError, match="The type of 'optimizer' should be .* but got type 'type'"):
        ms.amp.build_train_network(nn.Dense(3, 1), nn.Adam)


SCORES = np.array([[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]], np.float32)


@pytest.mark.parametrize("metric", [ms.train.Accuracy(), ms.train.Precision(), ms.train.Recall()])
@pytest.mark.parametrize("target", [[[1], [0]], [1, 0, 2], [[0.5, 0.2, 0.3]] * 2, [[1, 0], [0, 1]]])
def test_metrics_of_classes_refuse_targets_of_other_shapes(metric, target):
    """NumPy would broadcast: a column of labels gave a precision of 3."""
    with pytest.raises(ValueError, match="one class for each row"):
        metric.update(SCORES, np.array(target))


@pytest.mark.parametrize("metric", [ms.train.F1(), ms.train.TopKCategoricalAccuracy(1)])
def test_metrics_that_take_labels_as_a_column(metric):
    metric.update(SCORES, np.array([[1], [0]]))
    assert np.all(np.atleast_1d(metric.eval())[:2] == 1)


@pytest.mark.parametrize("metric", [ms.train.Accuracy("multilabel"), ms.train.Recall("multilabel")])
def test_multilabel_metrics_take_zeros_and_ones_of_one_shape(metric):
    ones = np.eye(3)[:2]
    for predicted, target in ((SCORES, ones), (ones, ones[:, :1])):
        with pytest.raises(ValueError, match="multilabel"):
            metric.update(predicted, target)
