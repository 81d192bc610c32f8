"""Training that one can watch: the bar on a terminal and nowhere else, times of epochs, the plot of a history."""

from __future__ import annotations

import io
import re
import sys
import types

import numpy as np
import pytest

import duograph as ms
from duograph import dataset, nn, train
from duograph.base.config import configure
from duograph.train.callback import monitors, progress


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    return Terminal()


def plain(terminal):
    """What is shown, without the codes that move and colour it."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", terminal.getvalue())


def parts():
    x = np.linspace(-1, 1, 64, dtype=np.float32).reshape(16, 4)
    data = dataset.NumpySlicesDataset((x, (x.sum(1) > 0).astype(np.int32)), ["x", "y"], shuffle=False).batch(4)
    net = nn.Dense(4, 2, weight_init="ones")
    return ms.Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"loss", "accuracy"}), data


def test_a_bar_on_a_terminal(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stdout", terminal)  # here: pytest has a stream of its own for each phase
    model, data = parts()
    model.fit(2, data, data, callbacks=[ms.LossMonitor(4)])
    text = plain(terminal)
    assert "4/4" in text and "steps/s" in text and "left" in text and "Epoch 1/2, evaluating" in text
    ends = r"Epoch \d/2: loss [\d.]+, accuracy [\d.]+, loss [\d.]+, 4 steps in [\d.e+-]+ s \(.*/s\)"
    assert len(re.findall(ends, text)) == 2
    assert "epoch: 1 step: 4, loss is " in text, "what callbacks print stays"
    model.eval(data)
    assert re.search(r"Evaluated: accuracy [\d.]+, loss [\d.]+, 4 steps in", plain(terminal))


def test_a_run_that_fails_gives_the_terminal_back(terminal, monkeypatch):
    monkeypatch.setattr(sys, "stdout", terminal)

    class Fails(ms.Callback):
        def on_train_step_end(self, run_context):
            raise KeyboardInterrupt

    model, data = parts()
    with pytest.raises(KeyboardInterrupt):
        model.train(1, data, callbacks=Fails())
    assert sys.stdout is terminal and terminal.getvalue().endswith("\x1b[?25h\r\x1b[1A\x1b[2K")


def test_a_notebook_shows_the_lines(monkeypatch, capsys):
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    model, data = parts()
    model.fit(2, data, data)
    model.eval(data)
    first, second, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"Epoch 1/2: loss [\d.]+, accuracy [\d.]+, loss [\d.]+, 4 steps in .*/s\)", first)
    assert second.startswith("Epoch 2/2: loss") and last.startswith("Evaluated: accuracy")
    shell.kernel = None  # IPython that writes to a file
    model.fit(1, data, data)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("why", ["a pipe", "switched off", "one's own", "no stream"])
def test_no_bar(terminal, monkeypatch, why):
    model, data = parts()
    stream = None if why == "no stream" else io.StringIO() if why == "a pipe" else Terminal()
    monkeypatch.setattr(sys, "stdout", stream)
    with configure(progress=why != "switched off"):
        added = progress.with_progress(train.ProgressBar() if why == "one's own" else None)
        assert len(added) == (why == "one's own")
        if why == "a pipe":
            model.fit(1, data, data)
            assert stream.getvalue() == ""


def test_times_of_epochs(monkeypatch, capsys):
    """By a clock that only callbacks move: 1 s per step of training, 10 s per step of evaluation."""
    now = [0.0]
    clock = types.SimpleNamespace(time=lambda: now[0], monotonic=lambda: now[0])
    monkeypatch.setattr(monitors, "time", clock)

    class Slow(ms.Callback):
        def on_train_step_begin(self, run_context):
            now[0] += 1.0

        def on_eval_step_begin(self, run_context):
            now[0] += 10.0

    model, data = parts()
    model.fit(2, data, data, callbacks=[Slow(), ms.TimeMonitor()])
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines
        == [
            "Eval epoch time: 40000.000 ms, per step time: 10000.000 ms",
            "Train epoch time: 4000.000 ms, per step time: 1000.000 ms",
        ]
        * 2
    )


class Axes:
    """What matplotlib's has of what is used."""

    def __init__(self):
        self.drawn = {}

    def plot(self, x, y, marker, label):
        self.drawn[label] = (list(x), y)

    def set_xlabel(self, text):
        self.label = text

    def legend(self):
        """Nothing to do."""


def test_history_draws_itself(monkeypatch):
    history = ms.History()
    with pytest.raises(ValueError, match="nothing to draw"):
        history.plot()
    model, data = parts()
    model.fit(2, data, data, callbacks=history)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        history.plot()
    pyplot = types.ModuleType("matplotlib.pyplot")
    pyplot.figure = lambda: types.SimpleNamespace(gca=Axes)
    package = types.ModuleType("matplotlib")
    package.pyplot = pyplot
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", pyplot)
    drawn = history.plot().drawn
    assert set(drawn) == {"loss", "accuracy"} and all(at == [1, 2] and len(y) == 2 for at, y in drawn.values())
    mine = Axes()
    assert history.plot(mine) is mine


class Noting(nn.Cell):
    """A network that notes what it sees."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 2, weight_init="ones")
        self.note, self.histogram = ms.ops.ScalarSummary(), ms.ops.HistogramSummary()

    def construct(self, x):
        y = self.dense(x)
        self.note("mean", y.mean())
        self.histogram("output", y)
        return y


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_what_a_network_notes_is_recorded(tmp_path, mode):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        net, (_, data) = Noting(), parts()
        model = ms.Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.1))
        model.train(1, data, callbacks=ms.SummaryCollector(str(tmp_path), collect_freq=2))
    finally:
        ms.set_context(mode=before)
    events = ms.train.read_events(str(tmp_path))
    assert [event["step"] for event in events] == [1, 2, 4]
    assert all({"mean", "loss", "output", "dense.weight/auto"} <= set(event["values"]) for event in events)
    assert events[0]["values"]["output"]["num"] == 8


def test_notes_that_are_refused():
    with pytest.raises(TypeError, match="'name' must be str"):
        ms.ops.ScalarSummary()(3, ms.Tensor(1.0))
    with pytest.raises(ValueError, match=r"shape of 'value' must be \(\) or \(1,\)"):
        ms.ops.ScalarSummary()("a", ms.ops.ones(2))
    with pytest.raises(ValueError, match="must be 4, but got 2"):
        ms.ops.ImageSummary()("a", ms.ops.ones((2, 2)))
    with pytest.raises(ValueError, match="at least 1"):
        ms.ops.TensorSummary()("a", ms.Tensor(1.0))
    with pytest.raises(TypeError, match="must be Tensor"):
        ms.ops.HistogramSummary()("a", 1.0)
