"""Confusion matrices and curves, similarity, records, feeding from data sets; expected values are MindSpore's."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import duograph as ms
import duograph.dataset as ds
from duograph import nn, train
from duograph.api import noted
from duograph.train.callback import OnRequestExit, SummaryCollector, SummaryRecord


def value(metric, *inputs):
    metric.clear()
    metric.update(*(ms.Tensor(np.array(x)) if not isinstance(x, list) or np.ndim(x[0]) < 2 else x for x in inputs))
    return metric.eval()


def test_confusion_matrix():
    assert value(train.ConfusionMatrix(2), [1, 0, 1, 0], [1, 0, 0, 1]).tolist() == [[1, 1], [1, 1]]
    scores = [[0.1, 0.9], [0.8, 0.2]]
    metric = train.ConfusionMatrix(2, "all")
    metric.update(ms.Tensor(np.array(scores)), ms.Tensor(np.array([1, 0])))
    assert metric.eval().tolist() == [[0.5, 0], [0, 0.5]]
    with pytest.raises(RuntimeError, match="call the 'update' method"):
        train.ConfusionMatrix(2).eval()


@pytest.mark.parametrize(
    ("name", "expected"), [("sensitivity", 0.5), ("precision", 1.0), ("f1 score", 2 / 3), ("threat score", 0.5)]
)
def test_confusion_matrix_metric(name, expected):
    metric = train.ConfusionMatrixMetric(False, name, False, "mean")
    metric.update(np.array([[[0], [1]], [[1], [0]]]), np.array([[[0], [1]], [[0], [1]]]))
    np.testing.assert_allclose(metric.eval(), [expected])


def test_curves():
    fpr, tpr, thresholds = value(train.ROC(pos_label=1), [3, 1, 4, 2], [0, 1, 0, 1])
    assert fpr.tolist() == [0, 0.5, 1, 1, 1] and tpr.tolist() == [0, 0, 0, 0.5, 1]
    assert thresholds.tolist() == [5, 4, 3, 2, 1]
    assert train.auc(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.8, 1.0])) == pytest.approx(0.65)
    with pytest.raises(ValueError, match="increasing or decreasing"):
        train.auc(np.array([0.0, 1.0, 0.5]), np.array([0.0, 0.8, 1.0]))


def test_similarity():
    rows = np.array([[1, 3, 4, 7], [2, 4, 2, 5], [3, 1, 5, 8]])
    metric = nn.CosineSimilarity()
    metric.update(rows)
    assert metric.eval()[0, 1] == pytest.approx(0.94025615)
    dice = train.Dice()
    dice.update(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]]), np.array([[0, 1], [1, 0], [0, 1]]))
    assert dice.eval() == pytest.approx(0.2046779137180255)
    bleu = train.get_metric_fn("bleu_score")
    bleu.update([["i", "have", "a", "pen", "on", "my", "desk"]], [[["i", "have", "a", "pen", "in", "my", "desk"]]])
    assert bleu.eval() == pytest.approx(0.48892302243490104)


def test_rearranged_inputs():
    class Kept(train.Metric):
        def clear(self):
            self.seen = None

        @train.rearrange_inputs
        def update(self, *inputs):
            self.seen = inputs

        def eval(self):
            return self.seen

    metric = Kept().set_indexes([1, 0])
    metric.update("a", "b")
    assert metric.eval() == ("b", "a")


def data():
    x = np.random.default_rng(0).normal(size=(16, 3)).astype(np.float32)
    return ds.NumpySlicesDataset({"x": x, "y": x.sum(1, keepdims=True)}, shuffle=False).batch(4)


def test_data_sink():
    seen = []
    step = train.data_sink(lambda x, y: seen.append(x.shape) or len(seen), data(), sink_size=3)
    assert [step(), step()] == [3, 6]
    net = nn.Dense(3, 1)
    helper = train.DatasetHelper(data(), sink_size=6)
    assert helper.sink_size() == 6 and train.connect_network_with_dataset(net, helper) is net
    assert len([net(x) for x, _ in helper]) == 6
    assert helper.types_shapes() == ([ms.float32, ms.float32], [(4, 3), (4, 1)])
    with pytest.raises(ValueError, match="sink_size"):
        train.data_sink(print, data(), 0)


def model():
    net = nn.Dense(3, 1)
    return ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.05), metrics={"mse"})


def test_records(tmp_path):
    noted.take()  # what other tests have noted
    with SummaryRecord(str(tmp_path / "a")) as record:
        record.add_value("scalar", "loss", ms.Tensor(2.0))
        record.record(1)
        path = record.log_dir
    (event,) = train.read_events(path)
    assert event["step"] == 1 and event["values"] == {"loss": 2.0}
    with pytest.raises(ValueError, match="plugin"):
        record.add_value("sound", "x", 1)
    model().train(2, data(), callbacks=[SummaryCollector(str(tmp_path / "b"), 2)], dataset_sink_mode=False)
    events = train.read_events(str(tmp_path / "b"))
    assert [event["step"] for event in events] == [1, 2, 4, 6, 8]
    assert events[0]["values"]["learning_rate"] == pytest.approx(0.05)


def test_exit_on_request(tmp_path):
    class Ask(ms.train.Callback):
        def on_train_step_end(self, run_context):
            if run_context.original_args().cur_step_num == 3:
                os.kill(os.getpid(), signal.SIGUSR1)

    history = []
    count = train.LambdaCallback(on_train_step_end=lambda run: history.append(1))
    before = signal.getsignal(signal.SIGUSR1)
    stop = OnRequestExit(directory=str(tmp_path), sig=signal.SIGUSR1)
    model().train(5, data(), callbacks=[Ask(), stop, count], dataset_sink_mode=False)
    assert len(history) == 3 and (tmp_path / "Net_train.ckpt").exists()
    assert signal.getsignal(signal.SIGUSR1) == before


def test_metrics_of_programs_use_what_the_base_has():
    class Share(train.Metric):
        def __init__(self):
            super().__init__()
            self.clear()

        def clear(self):
            self.right, self.all = 0, 0

        @train.rearrange_inputs
        def update(self, *inputs):
            predicted, label = (self._convert_data(x) for x in inputs)
            self.right += int((predicted.argmax(1) == label).sum())
            self.all += len(label)

        def eval(self):
            return self.right / self.all

    share = Share()
    assert share(ms.Tensor([[0.1, 0.9], [0.8, 0.2]]), ms.Tensor([1, 1])) == 0.5
    assert share([[0.1, 0.9]], np.array([1])) == 1.0, "each call begins anew"
    with pytest.raises(TypeError, match="the input data type must be tensor, list or numpy.ndarray"):
        share("abc", [1])
