"""Graph breaks: one foreign line costs one line. What is compiled around it, and what `explain` says."""

import asyncio
import json
import logging
import sys
import threading
import time
import traceback

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.jit import capturing, entries
from duograph.jit.policy import OFTEN_TOLD, RARELY, SURE

X = Tensor([1.0, -2.0, 3.0])


def work(x):
    return ops.tanh(x * 2 + x.mean()) * x - x.sum()


def timed(x):
    y = ops.tanh(x * 2 + x.mean()) * x
    time.sleep(0)
    z = y * y + x - y.mean()
    time.sleep(0)
    return (z * y).sum() + z


def hits(f):
    return [sum(v["hits"] for v in part.versions) for part in f.explain().segments]


def test_what_is_around_a_foreign_call_is_compiled():
    f = ms.jit(timed)
    for _ in range(5):
        assert f(X).tolist() == timed(X).tolist()
    assert len(hits(f)) == 3 and min(hits(f)) >= 3


def test_explain_names_breaks_with_reason_and_line():
    f = ms.jit(timed)
    for _ in range(3):
        f(X)
    first, second = f.explain().breaks
    assert "time.sleep" in first.reason and second.span.line == first.span.line + 2
    assert "graph break: a call of time.sleep" in str(f.explain()) and "segment <jit timed[" in str(f.explain())


def test_fullgraph_refuses_before_anything_ran():
    calls = []

    @ms.jit(fullgraph=True)
    def f(x):
        calls.append(1)
        time.sleep(0)
        return x

    with pytest.raises(RuntimeError, match=r"time\.sleep"):
        f(X)
    assert calls == []


def logged(x, log):
    y = work(x)
    log.info("mean %s", float(y.mean()))
    return work(y) + x


def test_logging_names_the_line_of_the_user():
    log, seen = logging.getLogger("test_cuts"), []

    class Keep(logging.Handler):
        def emit(self, record):
            seen.append((record.funcName, record.lineno, record.filename))

    log.addHandler(Keep())
    log.setLevel(logging.INFO)
    f = ms.jit(logged)
    for _ in range(3):
        f(X, log)
    assert seen == [("logged", logged.__code__.co_firstlineno + 2, "test_cuts.py")] * 3


def locked(x, lock, history):
    with lock:
        y = work(x)
        history.append(json.dumps({"y": float(y.sum())}))
    return work(y) * 2


def test_blocks_of_a_with_statement_are_compiled():
    f, history = ms.jit(locked), []
    lock = threading.Lock()
    for _ in range(4):
        f(X, lock, history)
    assert len(history) == 4 and not lock.locked()
    assert len(f.explain().segments) == 2 and min(hits(f)) >= 2


def lengthy(x, n):
    for i in range(n):
        x = ops.tanh(x * 2 + i) - x.mean() * 0.5
        time.sleep(0)
        x = x + ops.exp(-x * x) - x.mean()
    return x


def test_the_body_of_a_loop_is_compiled_within_the_first_call():
    f = ms.jit(lengthy)
    assert f(X, 20).tolist() == lengthy(X, 20).tolist()
    assert f(X, 20).tolist() == lengthy(X, 20).tolist()
    assert sum(hits(f)) > 30


def test_a_break_in_a_function_that_is_called_is_found_there():
    assert ms.jit(calls_timed)(X).tolist() == calls_timed(X).tolist()


def calls_timed(x):
    y = timed(x)
    return work(y) + x


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(3, 4), nn.Dense(4, 3)
        self.seen = 0

    def construct(self, x):
        y = ops.relu(self.a(x)) - x.mean()
        self.seen = int(time.time() > 0) + self.seen
        return ops.tanh(self.b(y)) + x


@pytest.mark.parametrize("how", ["a Cell", "graph mode"])
def test_cells_are_cut(how):
    net, x = Net(), Tensor([[1.0, 2.0, 3.0]])
    expected = net(x).tolist()
    f = ms.jit(net) if how == "a Cell" else net
    ms.set_context(mode=ms.GRAPH_MODE if how == "graph mode" else ms.PYNATIVE_MODE)
    try:
        for _ in range(4):
            assert f(x).tolist() == expected
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert net.seen == 5
    if how == "a Cell":
        assert len(f.explain().segments) == 2 and min(hits(f)) >= 3


def raises_behind(x):
    y = work(x)
    time.sleep(0)
    z = work(y)
    return z + Tensor([1.0, 2.0])


def test_an_error_behind_a_break_is_raised_at_the_users_line():
    f = ms.jit(raises_behind)
    for _ in range(3):
        with pytest.raises(ValueError, match="broadcast") as caught:
            f(X)
        last = [x for x in traceback.extract_tb(caught.value.__traceback__) if x.filename == __file__][-1]
        assert last.name == "raises_behind" and last.lineno == raises_behind.__code__.co_firstlineno + 4


def test_defaults_and_globals_are_read_as_they_are_now():
    def f(x, k=2):
        y = work(x)
        time.sleep(0)
        return work(y) * k

    g = ms.jit(f)
    first = g(X).tolist()
    g(X)
    f.__defaults__ = (4,)
    assert g(X).tolist() == [2 * v for v in first]


def test_replaced_code_is_run():
    def f(x):
        y = work(x)
        time.sleep(0)
        return work(y)

    def other(x):
        return x + 1

    g = ms.jit(f)
    g(X)
    g(X)
    f.__code__ = other.__code__
    assert g(X).tolist() == other(X).tolist()


def test_a_gradient_through_a_break():
    f = ms.jit(lambda_free)
    for _ in range(3):
        assert ms.grad(f)(X).tolist() == ms.grad(lambda_free)(X).tolist()


def lambda_free(x):
    y = work(x)
    time.sleep(0)
    return (work(y) * x).sum()


def test_threads_share_what_is_cut(often_switched):
    for _ in range(10):  # all start at once, so that each finds the foreign lines itself
        f, expected, wrong = ms.jit(timed), timed(X).tolist(), []
        start = threading.Barrier(4)

        def run(f=f, expected=expected, wrong=wrong, start=start):
            start.wait()
            for _ in range(100):
                if f(X).tolist() != expected:
                    wrong.append(1)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not wrong  # who compiles first decides which parts are; see the next test


class Told:
    """A lock of the versions of a function; knows of a thread that waits for it."""

    def __init__(self):
        self.lock, self.second, self.waits = threading.RLock(), None, threading.Event()

    def __enter__(self):
        if not self.lock.acquire(blocking=False):
            self.waits.set()
            self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()
        second = self.second
        if second is not None and not self.lock._is_owned():
            self.second = None
            second.join()  # it comes first now


def test_a_thread_that_comes_while_another_captures(monkeypatch):
    """At each capture another thread comes to the same point, waits, and goes on to its end before the first one does:
    what it finds is compiled, or cut, and it does not send that back to plain Python."""
    monkeypatch.setattr(entries, "object_lock", Told)
    f, expected, found = ms.jit(timed), timed(X).tolist(), []
    real = capturing.capture

    def capture(*args):
        held = [s.lock for part in [f, *(f.cut.segments.values() if f.cut else ())] for s in part._stores()]
        held = [lock for lock in held if lock.lock._is_owned() and lock.second is None]
        for lock in held:
            lock.second = threading.Thread(target=run, args=(lock.waits,))
            lock.waits.clear()
            lock.second.start()
            assert lock.waits.wait(200)
        return real(*args)

    def run(ended):
        found.append(f(X).tolist())
        ended.set()

    monkeypatch.setattr(capturing, "capture", capture)
    for _ in range(3):
        found.append(f(X).tolist())
    assert len(found) >= 6 and found == [expected] * len(found)
    monkeypatch.undo()
    before = hits(f)
    for _ in range(5):
        f(X)
    assert [after - h for h, after in zip(before, hits(f), strict=True)] == [5, 5, 5]


@pytest.fixture
def often_switched():
    """The interpreter switches between threads at nearly every line."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def test_parts_that_are_no_use_go_back_to_python():
    @ms.jit
    def f(x):
        y = x + 1
        time.sleep(0)
        return y

    for _ in range(4):
        f(X)
    assert f.explain().segments == []


def test_a_bound_method_is_cut_and_stays_bound():
    class Net(nn.Cell):
        def construct(self, x):
            y = work(x)
            time.sleep(0)
            return work(y) * 2

    net = Net()
    f = ms.jit(net.construct)
    for _ in range(4):
        assert f(X).tolist() == net(X).tolist()
    assert len(f.explain().segments) == 2


def test_what_is_compiled_in_advance_is_compiled_as_a_whole(capsys):
    class Net(nn.Cell):
        def construct(self, x):
            print("once")
            return work(x)

    net = Net()
    net.compile(X)
    assert capsys.readouterr().out == ""


def test_lambdas_are_cut():
    f = ms.jit(lambda x: work(x) * (time.time() > 0) + work(x * 2))
    for _ in range(3):
        assert f(X).tolist() == (work(X) + work(X * 2)).tolist()
    assert len(f.explain().segments) == 2


def test_a_function_that_calls_stack_is_cut():
    """Of `ops`, and not of `inspect`."""

    @ms.jit
    def f(x):
        y = ops.stack([work(x), x])
        time.sleep(0)
        return work(y)

    for _ in range(3):
        assert f(X).tolist() == work(ops.stack([work(X), X])).tolist()
    assert len(f.explain().segments) == 2


@pytest.mark.parametrize(("size", "segments"), [(3, 0), (1 << 16, 1)])
def test_two_operations_are_worth_a_segment_where_they_are_long(size, segments):
    """The numbers of the text are none."""

    @ms.jit
    def f(x):
        time.sleep(0)
        return x * 2 + 1

    x = ops.ones(size)
    for _ in range(4):
        assert f(x).tolist() == [3.0] * size
    assert len(f.explain().segments) == segments


def test_a_cut_whose_segments_are_not_reached_ends():
    known = {}

    @ms.jit
    def f(x):
        key = id(x)
        if key not in known:
            known[key] = work(work(x))
        return known[key] + 1

    for _ in range(3 * OFTEN_TOLD):
        assert f(X).tolist() == (work(work(X)) + 1).tolist()
    assert f.cut.skeleton is None


class Switch:
    is_on = True


@pytest.mark.parametrize("extra", range(0, RARELY, 5))
def test_a_refusal_that_has_held_long_is_looked_at_rarely_and_ends(extra):
    switch = Switch()

    @ms.jit
    def f(x):
        if switch.is_on:
            return work(x) * eval("1")
        return work(x)

    for _ in range(SURE + RARELY + extra):
        assert f(X).tolist() == work(X).tolist()
    switch.is_on = False
    for _ in range(RARELY + 2):
        assert f(X).tolist() == work(X).tolist()
    assert len(f.explain().versions) == 1


class Table:
    def __init__(self, rows):
        self.rows = rows

    def mean(self):
        return self.rows.mean() + (time.time() < 0)


def test_a_cut_with_nothing_compiled_ends():
    @ms.jit
    def f(table):
        return table.mean() + table.rows.sum()

    table = Table(np.ones(3))
    for _ in range(OFTEN_TOLD + 8):
        assert f(table) == 4.0
    assert f.cut.skeleton is None


class Named:
    locals, dir, exc_info = 2.0, 3.0, 0.5

    def eval(self):
        return self


def test_functions_with_such_names_are_cut():
    held = Named()

    @ms.jit
    def f(x):
        y = work(x) * held.locals * held.exc_info
        time.sleep(0)
        stack, dir = [y, x], held.eval().dir
        return work(ops.stack(stack)) * dir

    for _ in range(3):
        assert f(X).tolist() == (work(ops.stack([work(X) * 2.0 * 0.5, X])) * 3.0).tolist()
    assert len(f.explain().segments) == 2


def test_elements_of_a_comprehension_are_compiled():
    @ms.jit
    def f(x):
        return ops.stack([work(x * k) * (time.time() > 0) for k in (1.0, 2.0, 3.0)])

    for _ in range(3):
        assert f(X).tolist() == [work(X * k).tolist() for k in (1.0, 2.0, 3.0)]
    assert any(part.versions and part.versions[0]["hits"] for part in f.explain().segments)


def test_what_a_generator_goes_through_may_be_bound_anew():
    @ms.jit
    def f(x):
        parts = x.sin(), work(x)
        rate = float(np.cos(time.time()))
        parts = tuple(p * rate for p in parts)
        return work(parts[0]) + work(parts[1])

    for _ in range(3):
        f(X)
    read = [name for part in f.explain().segments for v in part.versions for name in v["inputs"]]
    assert "rate" in read, "the tuple is made by a segment, not by the skeleton"


async def waits(x):
    y = work(x)
    z = await twice(y)
    async for k in numbers():
        z = z * k
    return work(z) + y


async def twice(x):
    return x * 2


async def numbers():
    yield 1.0
    yield 3.0


def test_asynchronous_functions_are_cut_where_they_wait():
    f = ms.jit(waits)
    for _ in range(4):
        together = asyncio.run(gathered(f(X), f(X * 2)))
        assert [t.tolist() for t in together] == [t.tolist() for t in asyncio.run(gathered(waits(X), waits(X * 2)))]
    assert min(hits(f)) > 4 and "await" in str(f.explain().breaks[0])


async def gathered(*waiting):
    return await asyncio.gather(*waiting)


def test_a_value_that_is_needed_is_cut_out_where_versions_for_each_are_of_no_use():
    @ms.jit
    def f(x, n):
        y = work(x)
        text = {n: "n"}[n]
        return work(y * n), text

    for n in range(40):
        assert f(X, n)[0].tolist() == work(work(X) * n).tolist()
    explanation = f.explain()
    assert len(explanation.segments) == 2 and len(explanation.versions) < 16
    assert all(len(part.versions) <= 2 for part in explanation.segments) and explanation.unattempted < 3


def test_a_whole_graph_that_cannot_be_is_told_all_reasons():
    @ms.jit(fullgraph=True)
    def f(x):
        y = x * json.loads("2")  # which is pure
        open("nothing")
        time.sleep(0)
        return json.dumps(y.asnumpy().tolist())

    with pytest.raises(RuntimeError, match="f cannot be compiled: the built-in function open") as raised:
        f(X)
    assert "json.loads is" not in str(raised.value)
    for reason in ("a call of time.sleep, which is not known", "asnumpy() of a tensor"):
        assert reason in str(raised.value)


class Descending:
    @ms.jit
    def down(self, x, n):
        y = ops.tanh(x * 2 - 1) * x + x.mean()
        time.sleep(0)
        return y if n == 0 else self.down(y, n - 1) + x.mean()


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("kind", ["decorated", "undecorated", "method"])
def test_what_is_cut_and_calls_itself_comes_as_deep_as_plain_python(kind, mode):
    def down(x, n):
        y = ops.tanh(x * 2 - 1) * x + x.mean()
        time.sleep(0)
        return y if n == 0 else again(y, n - 1) + x.mean()

    again = down
    x, expected = X * 0.25, down(X * 0.25, 700)
    f = ms.jit(down, capture_mode=mode)
    if kind == "decorated":
        again = f
    elif kind == "method":
        f = Descending().down
    for depth in (0, 3, 3, 700, 3, *[700] * 6):
        result = f(x, depth)
    assert result.tolist() == expected.tolist()
    assert f.explain().segments and min(hits(f)[:1]) > 0
