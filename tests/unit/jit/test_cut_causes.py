"""A cut belongs to the calls that it was made for; its breaks are found together."""

import time

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops

X = Tensor([1.0, -2.0, 3.0])


def work(x):
    return ops.tanh(x * 2 + x.mean()) * x - x.sum()


def watched(log):
    def f(x, debug=False):
        y = work(x)
        if debug:
            log.append(time.time())
        return work(y) * y

    return f


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("rest", [{}, {"debug": False}], ids=["left out", "given"])
def test_a_call_with_a_flag_does_not_cut_those_without(first, rest):
    log = []
    plain, f = watched([]), ms.jit(watched(log))
    if first:
        f(X, debug=True)
    for k in range(40):
        flags = {"debug": True} if k % 8 == 7 else rest
        assert f(X, **flags).tolist() == plain(X).tolist()
    assert len(log) == 5 + first
    told = f.explain()
    assert len(told.versions) == 1 and told.versions[0]["native_calls"] > 25 and len(told.breaks) == 1
    assert min(v["hits"] for part in told.segments for v in part.versions) >= 3  # those with the flag are cut
    assert f.stats["captures"] <= 5


def test_a_flag_of_an_object_is_one():
    class Settings:
        debug = True

    settings, log = Settings(), []

    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.verbose = True

        def construct(self, x):
            if self.verbose and settings.debug:
                log.append(time.time())
            return work(x)

    net = Net()
    f = ms.jit(net)
    for _ in range(4):
        f(X)
    net.verbose = False
    for _ in range(40):
        assert f(X).tolist() == work(X).tolist()
    assert len(log) == 4 and [v["hits"] > 20 for v in f.explain().versions] == [True]


def test_a_step_that_counts_is_no_flag():
    log = []

    @ms.jit
    def f(x, step):
        y = work(x)
        if step % 2 == 0:
            log.append(time.time())
        return work(y) * y

    for step in range(60):
        assert f(X, step).tolist() == (work(work(X)) * work(X)).tolist()
    assert len(log) == 30 and f.stats["captures"] < 20


def test_texts_that_are_others_each_time_are_soon_no_flags():
    log = []

    @ms.jit
    def f(x, name):
        if name.startswith("n"):
            log.append((name, time.time()))
        return work(x)

    for k in range(60):
        assert f(X, f"n{k}").tolist() == work(X).tolist()
    assert len(log) == 60 and f.stats["captures"] < 24


def test_breaks_of_one_kind_are_found_together():
    log = []

    @ms.jit
    def f(x):
        a = work(x)
        log.append(time.time())
        b = work(a) + x
        t = (time.time(), 2)
        c = work(b) * a
        log.append((t, [time.time()]))
        d = work(c) - b
        log.append(time.time())
        e = work(d) * c
        log.append(time.time())
        log.append(time.time())
        return work(e)

    for _ in range(3):
        f(X)
    assert len(log) == 15
    assert len(f.explain().breaks) == 7  # `append` of what is no name but for its argument is one, too
    assert f.stats["captures"] == 7 and len(f.explain().segments) == 6


def test_a_branch_with_such_a_call_is_not_cut_before_it_is_taken():
    log = []

    @ms.jit
    def f(x, save=False):
        a = work(x)
        log.append(time.time())
        b = work(a)
        if save:
            log.append(time.time())
        return work(b) * a

    for _ in range(4):
        f(X)
    assert len(f.explain().breaks) == 1
    f(X, save=True)
    f(X)
    assert len(log) == 7 and np.isfinite(f(X).asnumpy()).all()


def test_arguments_that_are_wrong_raise_what_python_raises():
    f = ms.jit(watched([]))
    f(X, debug=True)
    for call in (lambda: f(), lambda: f(X, other=1), lambda: f(X, False, 3)):
        with pytest.raises(TypeError, match=r"f\(\)"):
            call()


def equal_constants(x):
    total = x.sum()
    a = d = None
    b, c, e, g = 0.5, (1, -2.5), 10**9 + 1, "two words"
    if total > 0:
        a, d = 0.5, [(1, -2.5), 10**9 + 1, "two words"]
    time.sleep(0)
    return [a is b, *([d[0] is c, d[1] is e, d[2] is g] if d else [])], total * 2


def chosen_constants(x):
    total, b = x.sum(), 2.5
    a = b if total > 0 else 3.5
    if a is b:
        total = total * 2
    return [a is b], ops.tanh(total)


@pytest.mark.filterwarnings("ignore:DG0102")
@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("fn", [equal_constants, chosen_constants])
def test_equal_constants_are_the_objects_that_python_has(mode, fn):
    f = ms.jit(fn, capture_mode=mode)
    for x in (X, -X, X, -X):
        (found, a), (wanted, b) = f(x), fn(x)
        assert found == wanted and a.tolist() == b.tolist()
