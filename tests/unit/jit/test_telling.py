"""What a compiled function tells: counts and times of what runs in Python, the log by topics, one piece of advice."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
import time
from functools import partial
from itertools import count

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor
from duograph.compat.explain import compiled_functions
from duograph.jit import account, comparing, policy, telling
from duograph.jit.groups import python_by_place

X = Tensor(np.ones((8, 8), np.float32))
ROW = Tensor(np.float32([1, -2, 3]))


def waiting(x):
    y = (x @ x).tanh() * 2
    time.sleep(0.002)
    for _ in range(3):
        y = (y @ x).tanh() + 1
        time.sleep(0.001)
    return float((y @ y).asnumpy().mean())


def test_each_break_is_counted_and_timed():
    f = ms.jit(waiting)
    results = [f(X) for _ in range(10)]
    assert results == [waiting(X)] * 10
    breaks = {b.span.line if hasattr(b.span, "line") else str(b.span): b for b in f.explain().breaks}
    assert len(breaks) == 3
    counts = sorted(b.times for b in breaks.values())
    assert counts[0] in range(5, 11) and counts[-1] in range(20, 31)
    slept = max(f.explain().breaks, key=lambda b: b.times)
    assert slept.milliseconds >= slept.times * 1.0
    assert "times" in str(f.explain()) and "ms in Python" in str(f.explain())


def test_time_of_a_break_is_counted_where_it_is_spent(monkeypatch):
    """Neither what compiled forms take, nor what Python takes within them, is of the statements that call them."""
    ticks: list[int] = []
    steps = iter(partial(ticks.append, 0), 1)  # without an end; foreign to capture
    monkeypatch.setattr(account, "perf_counter", lambda: float(len(ticks)))

    def waits(x):
        y = (x @ x).tanh() * 2
        next(steps)
        return (y @ y).tanh() + 1

    def through(x):
        return (waits(x * 2) @ x).tanh().mean()

    gradient = ms.value_and_grad(through)

    @ms.jit
    def f(x):
        value, derivative = gradient(x)
        return (derivative @ x).tanh() - value

    for _ in range(8):
        f(X)
    (own,) = f.explain().breaks
    explanations = [made.explain() for made in compiled_functions()]
    inner = [e for e in explanations if any(b.span == own.span and b is not own for b in e.breaks)]
    assert own.milliseconds <= 1e3 < 1e3 * own.times and inner  # a call before there are compiled forms
    ((cause, milliseconds),) = python_by_place([f.explain(), *inner])
    assert cause.span == own.span
    assert len(ticks) / 2 <= milliseconds / 1e3 <= len(ticks)  # what a first call takes is of no statement


def test_what_a_timed_statement_returns_binds_and_raises():
    @ms.jit
    def f(x, fails):
        y = (x @ x).tanh() * 2
        a = b = time.sleep(0)
        if fails:
            raise ValueError(f"{time.sleep(0)}")
        y = (y @ y).exp() + 1
        return a, b, time.sleep(0), y

    for _ in range(4):
        a, b, c, y = f(X, False)
        assert (a, b, c) == (None, None, None)
        assert y.asnumpy().tobytes() == f.fn(X, False)[3].asnumpy().tobytes()
        with pytest.raises(ValueError, match="None"):
            f(X, True)


def test_breaks_are_counted_in_threads():
    f = ms.jit(waiting)
    f(X)
    threads = [threading.Thread(target=lambda: [f(X) for _ in range(5)]) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert max(b.times for b in f.explain().breaks) >= 15


def test_plain_calls_are_counted_and_timed():
    @ms.jit
    def f(x):
        yield x.asnumpy()

    @ms.jit
    def g(x):
        exec("time.sleep(0.001)")
        return x * len(locals())

    for _ in range(5):
        list(f(X))
        g(X)
    (cause,) = f.explain().fallbacks
    assert cause.hits == 4
    (cause,) = g.explain().fallbacks
    assert cause.hits == 4 and cause.seconds >= 0.004
    assert "4 calls ran as plain Python" in str(g.explain())


@pytest.fixture
def records():
    """What the package logs: each record once, whatever other handlers there are."""
    found = []

    class Keep(logging.Handler):
        def emit(self, record):
            found.append(record)

    logger, handler = logging.getLogger("duograph"), Keep()
    logger.addHandler(handler)
    yield found
    logger.removeHandler(handler)


def test_advice_comes_once(monkeypatch, records):
    monkeypatch.setattr(telling, "SECONDS", 0.005)
    monkeypatch.setattr(comparing, "SECONDS", 0.005)
    monkeypatch.setattr(policy, "OFTEN_TOLD", 4)

    @ms.jit
    def plain(x):
        time.sleep(0.001)
        return x * len(locals())

    cut = ms.jit(waiting)
    for _ in range(24):
        plain(X)
        cut(X)
    said = [r.getMessage() for r in records if r.levelno == logging.WARNING]
    assert len([s for s in said if "has run as plain Python" in s]) == 1
    assert len([s for s in said if "its time in" in s]) == 1
    assert "outside of the function" in cut.explain().advice and "advice: " in str(cut.explain())


def test_a_function_that_is_all_python_warns_once(records):
    def sorted_(x):
        return Tensor(np.sort(x.asnumpy()))

    def generates(x):
        yield x

    functions = [ms.jit(sorted_), ms.jit(generates)]
    for _ in range(4):
        for f in functions:
            f(X)
        functions[0](Tensor([1.0]))  # another fallback of the same function
    said = [r for r in records if r.levelno == logging.WARNING]
    assert [r.name for r in said] == ["duograph.fallbacks"] * 2
    texts = sorted(r.getMessage() for r in said)
    assert "generates cannot be compiled: a generator object" in texts[0]
    assert "sorted_ cannot be compiled: asnumpy() of a tensor" in texts[1]
    assert all(text.startswith("warning[DG0102]") and "it runs as plain Python" in text for text in texts)


def test_a_statement_that_many_functions_run_into_is_warned_of_once(records):
    def inner(x):
        return Tensor(np.sort(x.asnumpy()))

    for f in [ms.jit(inner), ms.jit(inner), ms.jit(lambda x: inner(x)), ms.jit(lambda x: (inner(x),))]:
        for _ in range(4):
            f(X)
        assert f.explain().fallbacks
    assert len([r for r in records if r.levelno == logging.WARNING]) == 1


def test_what_is_compiled_or_cut_does_not_warn(records):
    functions = [ms.jit(lambda x: x * 2), ms.jit(waiting), ms.jit(lambda x: x.reshape(5, -1))]
    for _ in range(4):
        for f in functions[:2]:
            f(X)
        with pytest.raises(ValueError, match="invalid for input"):
            functions[2](X)
    assert not [r for r in records if r.levelno >= logging.WARNING]


def test_cells_are_named(records):
    class Net(ms.nn.Cell):
        def construct(self, x):
            return Tensor(x.asnumpy())

    net = ms.jit(Net())
    for _ in range(3):
        net(X)
    (said,) = [r.getMessage() for r in records if r.levelno == logging.WARNING]
    assert "Net.construct cannot be compiled" in said


def test_advice_of_a_function_that_is_compiled_again_and_again(monkeypatch, records):
    for clock in (telling, comparing):
        monkeypatch.setattr(clock, "SECONDS", 1e9)  # what it costs is no reason here
    f = ms.jit(lambda x, name: (x * 2, name.upper()))
    for i in range(12):
        f(X, f"name {i}")
    said = [r.getMessage() for r in records if r.levelno == logging.WARNING]
    assert len(said) == 1 and "name" in said[0]
    line = f.__wrapped__.__code__.co_firstlineno
    assert f"at {__file__}:{line} was captured" in said[0]
    assert re.search(r"captured \d+ times and has \d+ versions", said[0])


def test_a_function_that_is_fast_gets_none():
    f = ms.jit(lambda x: x + 1)
    for _ in range(100):
        f(X)
    assert f.explain().advice == ""


PROGRAM = """
import duograph as ms
@ms.jit
def f(x, n): return x * n
f(ms.Tensor([1.0]), "a" if False else 2)
f(ms.Tensor([1.0]), 3)
@ms.jit
def g(x): yield x
list(g(ms.Tensor([1.0])))
"""


@pytest.mark.parametrize(("level", "shown"), [("0", 4), ("1", 3), ("2", 0)])
def test_the_log_has_topics(level, shown, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    environment = {**os.environ, "GLOG_v": level}
    done = subprocess.run(
        [sys.executable, str(path)], env=environment, capture_output=True, text=True, check=True, timeout=240
    )
    found = [word in done.stderr for word in ("captured in", "n was 2, is 3", "cannot be compiled", "assumes")]
    assert sum(found) == shown


def test_records_hold_text_only(caplog, monkeypatch):
    monkeypatch.setattr(logging.getLogger("duograph"), "propagate", True)
    with caplog.at_level(logging.DEBUG, "duograph"):
        f = ms.jit(lambda x, n: x * n)
        f(X, 2)
        f(X, 3)
    assert len(caplog.records) >= 5 and not any(r.args for r in caplog.records)


class Meta(type):
    def __repr__(cls):
        raise SystemError("nobody asked")


class Shy(metaclass=Meta):
    """Nobody may look at it: capture assumes what it holds, and tells that in logs."""

    shown: list = []

    def __init__(self):
        self.factor = 2

    def __repr__(self):
        Shy.shown.append(self)
        raise RuntimeError("nobody asked")

    __str__ = __repr__

    def scaled(self, x):
        return x * self.factor


SHY = Shy()
HOLDS = {"a": (SHY, [SHY]), "method": SHY.scaled}


@pytest.mark.parametrize(
    "text", ["SHY.scaled(x)", "HOLDS['a'][0].scaled(x)", "HOLDS['a'][1][0].scaled(x)", "HOLDS['method'](x)",
             "x * (2 if isinstance(SHY, Shy) else 3)", "x * (2 if HOLDS['a'][0] is SHY else 3)"],
)  # fmt: skip
def test_logs_and_explanations_run_no_code_of_objects(text, caplog):
    with caplog.at_level(logging.DEBUG, logger="duograph"):
        f = ms.jit(eval(f"lambda x: {text}"))
        assert f(Tensor([1.0])).tolist() == [2.0]
        SHY.factor = 3
        try:
            assert f(Tensor([1.0])).tolist() == eval(f"lambda x: {text}")(Tensor([1.0])).tolist()
            f(Tensor([1.0, 2.0]))
        finally:
            SHY.factor = 2
        assert str(f.explain())
    assert "assumes" in caplog.text
    assert Shy.shown == []


def test_where_the_time_of_a_cut_function_goes(monkeypatch):
    ticks = count()
    monkeypatch.setattr(account, "perf_counter", lambda: float(next(ticks)))
    cut = ms.jit(waiting)
    for _ in range(account.EARLY[0] // 2):
        cut(X)
    assert cut.explain().times == {} and cut.explain().measured == 0
    for _ in range(account.EARLY[0]):
        assert cut(X) == waiting(X)
    told = cut.explain()
    assert told.measured == 1 and set(told.times) == set(account.PARTS)
    spent = told.times  # some ticks in one call, by a clock to which checks take as long as segments
    assert min(spent["segments"] + spent["guards"], spent["steps"], spent["crossing"]) >= 1e3
    assert "(1 of them measured)" in str(told) and "ms in Python steps" in str(told)


def test_what_was_compared_with_plain_python_is_told():
    cut = ms.jit(waiting)
    cut(X)
    cut.comparison.pays, cut.comparison.compiled, cut.comparison.plain = True, 2e-6, 7e-6
    for _ in range(account.EARLY[0]):
        cut(X)
    told = cut.explain()
    assert told.compared == {"compiled": pytest.approx(2e-3), "plain": pytest.approx(7e-3)}
    assert "; a call takes 2.0 us, and 7.0 us as plain Python" in str(told)
    whole = ms.jit(lambda x: ms.ops.tanh(x * 2))
    whole(X)
    assert whole.explain().compared == whole.explain().versions[0]["compared"] == {}


def test_measured_calls_are_like_others(monkeypatch):
    """Results, errors, gradients, generators, defaults and what is bound, with every call measured."""
    monkeypatch.setattr(account, "is_due", lambda call: True)
    inner = ms.nn.SequentialCell([ms.nn.Dense(3, 3), ms.nn.Tanh()])

    def layers(x):
        h = inner(x.reshape(1, 3)) * 2 + x
        time.sleep(0)
        return ms.ops.tanh(h * x + h).sum()

    def raises(x, at=3):
        y = ms.ops.tanh(x * 2) * x
        try:
            if time.time() > 0 and x.shape[0] == at:
                raise ValueError("here")
        except ValueError as error:
            return y * len(str(error))
        return y

    def yields(x):
        y = ms.ops.tanh(x * 2) * x
        yield y
        time.sleep(0)
        yield ms.ops.tanh(y * x) - y

    gradient = ms.value_and_grad(layers)
    for fn in (layers, raises, lambda x: list(yields(x)), lambda x: gradient(x), lambda x: raises(x, at=4)):
        run = ms.jit(fn)
        for _ in range(5):
            assert str(run(ROW)) == str(fn(ROW))
    assert account._active.meter is None

    failing = ms.jit(lambda x: (ms.ops.tanh(x * 2) * x, time.time(), x + ms.Tensor([1.0, 2.0, 3.0, 4.0, 5.0])))
    for _ in range(4):
        with pytest.raises(ValueError, match="broadcast"):
            failing(ROW)
    assert account._active.meter is None


def test_measured_calls_share_the_variables_of_the_program(monkeypatch):
    """Under any name: what others set during the call is seen."""
    monkeypatch.setattr(account, "is_due", lambda call: True)

    def made():
        called = 0

        def bump():
            nonlocal called
            called += 1
            time.sleep(0)

        def f(x):
            y = x.tanh() * 2 + x.exp() * x.sin()
            bump()
            z = y.cos() * y - y.tanh()
            time.sleep(0)
            return z * z.sin(), called

        return f

    plain, cut = made(), ms.jit(made())
    for _ in range(6):
        assert plain(X)[1] == cut(X)[1]
    assert cut.explain().measured > 2


def test_advice_names_the_line_in_what_is_called_and_how_to_change_it(monkeypatch, records):
    monkeypatch.setattr(telling, "SECONDS", 0.0)
    monkeypatch.setattr(policy, "OFTEN_TOLD", 8)
    ticks = count()
    monkeypatch.setattr(account.Meter, "clock", _slow_clock(account.Meter.clock))
    monkeypatch.setattr(account, "perf_counter", lambda: float(next(ticks)))

    def inside(x):
        y = ms.ops.tanh(x * 2 + x.mean()) * x
        return y * float(y.asnumpy().mean()) + ms.ops.tanh(y * y + x)

    cut = ms.jit(lambda x: inside(x) * 2)
    for _ in range(2 * account.EARLY[0] + 2):
        cut(ROW)
    said = [r.getMessage() for r in records if r.levelno == logging.WARNING]
    assert len(said) == 1 and "test_telling.py" in said[0] and "every n-th call" in said[0], said
    assert f":{inside.__code__.co_firstlineno + 2}:" in said[0]


def _slow_clock(clock):
    """The clock of a skeleton by which steps take most of the time."""

    def slow(meter):
        before = meter.part
        now = clock(meter)
        if before == "steps":
            meter.seconds["steps"] += 1e6
        return now

    return slow


def test_what_is_assumed_of_memory_and_sizes_is_told():
    def writes(x, y):
        x.add_(1)
        return y * 2

    apart = ms.jit(writes)
    one, two = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    apart(one, two)
    apart(one, one)
    assert "x: written, and no memory of other inputs" in apart.explain().versions[-1]["guards"]
    assert apart.explain().recompiles == ["x and y share memory now"]

    sizes = ms.jit(lambda x, y: x * y)
    for n in (2, 3, 4):
        sizes(ms.ops.ones((n,)), ms.ops.ones((n,)))
    sizes(ms.ops.ones((1,)), ms.ops.ones((5,)))
    assert any("x.shape[0] == y.shape[0] >= 1" in v["guards"] for v in sizes.explain().versions)
    assert sizes.explain().recompiles[-1] == "y.shape[0] is 5, x.shape[0] is 1: they were equal"


@pytest.mark.parametrize("asks", ["", "logging.getLogger('duograph').setLevel('INFO')"])
def test_logs_that_begin_at_info_have_ours_if_somebody_asks(asks, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"import logging; logging.basicConfig(level='INFO'); {asks}\n{PROGRAM}")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True, timeout=240)
    assert ("INFO:duograph" in done.stderr) is bool(asks)
