"""What does not pay is left to plain Python: times are numbers that the tests make up."""

import time
import types

import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.base.config import config, set_config
from duograph.jit import policy
from duograph.jit.entry import Entry
from duograph.jit.policy import AGAIN, CLEAR, FIRST, RARER, RETRY, SAMPLES, SETTLED, Comparison, let, typical
from tests.unit.jit.native_calls import python_within

X = Tensor([1.0, 2.0])


def run(one, plain, compiled, most=1000):
    """Feeds a comparison until it knows, or ``most`` calls have gone; gives how many were timed."""
    timed = 0
    for _ in range(most):
        way = one.way()
        if way is None:
            if one.pays is not None:
                break
            one.passed()
            continue
        timed += 1
        one.note(way, compiled if way else plain)
    return timed


@pytest.mark.parametrize(
    ("plain", "compiled", "pays"),
    [(1.0, 0.4, True), (1.0, 1.0, True), (1.0, 1.04, True), (1.0, 1.1, False), (1.0, 9.0, False)],
)
def test_what_is_not_slower_pays(plain, compiled, pays):
    one = Comparison()
    run(one, plain, compiled)
    assert one.pays is pays and one.way() is None
    assert pays or "us as plain Python" in one.reason


def test_what_is_clear_is_known_soon():
    assert run(Comparison(), 10.0, 1.0) == 2 * (FIRST + CLEAR)
    assert run(Comparison(), 10.0, 9.0) == 2 * (FIRST + SAMPLES)


def test_what_is_long_only_at_first_is_not_clear():
    one, plain = Comparison(0), iter([9.0] * FIRST + [9.0, 0.1, 2.0] + [0.1] * 40)
    for _ in range(100):
        if (way := one.way()) is None:
            break
        one.note(way, 0.4 if way else next(plain))  # the first of plain Python's calls compile kernels
    assert one.pays is False


def test_interruptions_do_not_count():
    assert typical([1.0, 1.0, 1.0, 50.0]) == 1.0
    one = Comparison(0)
    for k in range(200):
        if (way := one.way()) is None:
            break
        one.note(way, 100.0 if k % 5 == 0 else 1.0 if way else 1.2)
    assert one.pays is True


def test_kinds_of_calls_that_alternate_are_met_by_both():
    one, met = Comparison(0), set()
    for k in range(40):
        if (way := one.way()) is None:
            break
        met.add((way, k % 2))
        one.note(way, 1.0)
    assert len(met) == 4


def test_one_slow_round_is_not_enough():
    one = Comparison(0)
    for _ in range(2 * (FIRST + SAMPLES)):
        one.note(way := one.way(), 2.0 if way else 1.5)
    assert one.pays is None
    run(one, 1.5, 1.2)
    assert one.pays is True


def test_calls_around_a_change_say_nothing():
    one = Comparison()
    for _ in range(3):
        for _ in range(SETTLED - 1):
            assert one.way() is None
            one.passed()
        one.changed()
    assert one.way() is None


def test_without_end_of_changes_it_is_timed_all_the_same(monkeypatch):
    monkeypatch.setattr(policy, "MOST_CHANGES", 3)
    one = Comparison()
    for _ in range(SETTLED + 3):
        one.passed()
        one.changed()
    for _ in range(SETTLED):
        one.passed()
        one.changed()
    assert one.way() is not None


def test_what_was_left_is_asked_again_later_each_time():
    one = Comparison()
    waited = []
    for _ in range(3):
        run(one, 1.0, 2.0)
        assert one.pays is False
        calls = 0
        while not one.look(64, 1.0):
            calls += 64
        waited.append(calls + 64)
    assert waited == [RETRY, 2 * RETRY, 4 * RETRY]
    run(one, 1.0, 0.99)  # it has to gain as much as it may lose before
    assert one.pays is False
    while not one.look(64, 1.0):
        pass
    run(one, 1.0, 0.9)
    assert one.pays is True


def test_calls_that_become_longer_are_compared_anew():
    one = Comparison()
    run(one, 1.0, 2.0)
    assert not one.look(64, 5.0) and not one.look(64, 1.0) and not one.look(64, 5.0)
    assert one.look(64, 5.0)


def test_more_calls_go_natively_where_many_have():
    assert let(0) == let(64) < let(10_000) < let(1 << 30)


def test_calls_that_raise_count_once_all_do():
    one = Comparison()
    assert not any(one.counts(raised=True) for _ in range(policy.RAISING)) and one.counts(raised=True)
    assert one.counts(raised=False) and not one.counts(raised=True)


# -- functions ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch):
    """Seconds of plain and of compiled calls."""
    seconds = types.SimpleNamespace(plain=1.0, compiled=2.0, timed=0)
    note, before = Comparison.note, config().compare

    def noted(self, is_compiled, _):
        seconds.timed += 1
        note(self, is_compiled, seconds.compiled if is_compiled else seconds.plain)

    monkeypatch.setattr(Comparison, "note", noted)
    set_config(compare=True)
    yield seconds
    set_config(compare=before)


def effects():
    log = []

    @ms.jit
    def f(x, k=1):
        log.append(x * k)
        return {"value": x * 2, "k": k}

    return f, log


def test_a_version_that_does_not_pay_is_left(told):
    f, log = effects()
    for n in range(300):
        assert f(X, n % 1 + 1)["value"].tolist() == [2.0, 4.0]
        assert len(log) == 1 and log.pop().tolist() == [1.0, 2.0]  # each effect once, whoever answers
    assert f.left is not None and f.explain().fallbacks[0] is f.left and "as plain Python" in str(f.explain())
    assert f.left.hits > 200 and f.explain().advice == ""


def test_a_version_that_always_raises_is_left_or_given_up(told):
    @ms.jit
    def f(x):
        y = x * 2
        if y.shape[0] > 1:
            raise ValueError("two")
        return y

    for _ in range(200):
        with pytest.raises(ValueError, match="two"):
            f(X)
    assert f.explain().fallbacks and sum(v["hits"] for v in f.explain().versions) < 40


def test_a_version_that_prints_is_compared(told, capsys):
    @ms.jit
    def f(x):
        total = (x * 2).sum()
        print(f"{float(total):.1f}")
        return total + 1

    for n in range(1000):
        assert f(X).item() == 7.0
    assert capsys.readouterr().out == "6.0\n" * 1000
    assert f.left is not None


def test_one_that_pays_is_asked_again_ever_more_rarely(told):
    told.compiled, times = 0.2, []
    f, log = effects()
    for k in range(AGAIN * RARER + 400):
        before = told.timed
        f(X)
        log.clear()
        times += [k] if told.timed != before else []
    starts = [k for k, one in enumerate(times) if not k or one - times[k - 1] > 100]
    assert len(starts) == 3 and f.left is None
    assert AGAIN <= times[starts[1]] < AGAIN + 40 and AGAIN * RARER <= times[starts[2]] < AGAIN * RARER + 200


@pytest.mark.parametrize("steps", [False, True])
def test_what_paid_only_at_first_is_left(told, steps):
    told.compiled, told.plain = 1.0, 9.0  # plain Python compiles kernels for sizes that are new
    log = []
    f, log = (stepped(log), log) if steps else effects()
    for _ in range(100):
        f(X)
        log.clear()
    told.plain = 0.1
    for _ in range(AGAIN + 100):
        f(X)
        assert len(log) == 1
        log.clear()
    assert f.left is not None


def test_what_only_runs_kernels_is_not_timed(told):
    f = ms.jit(lambda x: ((ops.tanh(x) * 2 + x.exp() - 1).sin() * 3 - x.cos()).exp() * x)
    for _ in range(100):
        f(X)
    assert told.timed == 0 and f.left is None


def test_what_runs_few_kernels_is_timed(told):
    f = ms.jit(lambda x: ops.tanh(x) * 2 + x.exp() - 1)
    for _ in range(100):
        f(X)
    assert told.timed > 0 and f.left is not None  # `told` says so


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_what_calls_cells_in_graph_mode_is_not_compared(told, mode):
    """Plain Python would compile the Cells for itself."""
    net, log = nn.Dense(2, 2), []

    @ms.jit
    def f(x):
        y = net(x)
        log.append(y)
        return {"value": y}

    ms.set_context(mode=mode)
    try:
        for _ in range(40):
            f(X.reshape(1, 2))
            log.clear()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert (told.timed > 0) is (mode == ms.PYNATIVE_MODE)


def test_other_versions_go_on(told):
    f, log = effects()
    for _ in range(60):
        f(X)
        log.clear()
    assert f.left is not None
    told.plain = 100.0
    f.comparison.look = lambda calls, seconds: Comparison.look(f.comparison, calls, told.plain)
    for _ in range(400):
        f(X)
        log.clear()
    assert f.left is None and f.comparison.pays is True


def test_calls_of_a_version_that_loses_are_plain_though_another_is_in_use(told, monkeypatch):
    runs, run = [], Entry.run
    monkeypatch.setattr(Entry, "run", lambda self, values: runs.append(1) or run(self, values))

    @ms.jit
    def f(x):
        x[0] = 1.0
        return ((ops.tanh(x) * 2 + x.exp() - 1).sin() * 3 - x.cos()).exp() * x

    told.compiled = 9.0
    whole, part = ops.ones((4, 4)), ops.ones((4, 8))[:, ::2]  # Python leads what writes to the second
    for _ in range(100):
        assert f(whole).tolist() == f(part).tolist()
    assert f.left is None and len(runs) < 40
    told.plain, before = 100.0, len(runs)
    for entry in f._own.compiled:
        entry.comparison.look = lambda calls, seconds, c=entry.comparison: Comparison.look(c, calls, told.plain)
    for _ in range(100):
        f(part)
    assert len(runs) > before + 40  # it pays now


def stepped(log):
    @ms.jit
    def f(x):
        y = ops.tanh(x) * 2 + x.exp() * ops.sin(x)
        log.append(time.time())
        return ops.cos(y) - y.exp() * ops.tanh(y)

    return f


def test_a_cut_that_does_not_pay_is_left_and_one_that_does_is_not(told):
    for compiled in (2.0, 0.5):
        told.compiled = compiled
        log = []
        f = stepped(log)
        results = {str(f(X)) for _ in range(400)}
        assert len(results) == 1 and len(log) == 400
        assert (f.left is None) == (compiled < 1)


def test_a_part_that_does_not_pay_is_left_and_told(told):
    def note(x):
        y = ops.tanh(x) * 2 + x.exp() * ops.sin(x)
        return {1.5: y, "z": ops.cos(y) - y.exp()}  # Python makes it

    def f(x):
        time.sleep(0)
        found = note(x)
        time.sleep(0)
        return ops.cos(found["z"]) - found[1.5].exp() * ops.tanh(x)

    compiled = ms.jit(f)
    for _ in range(300):
        assert compiled(X).tolist() == f(X).tolist()
    told_of = compiled.explain()
    assert (
        told_of.left_parts and "us as plain Python" in told_of.left_parts[0] and told_of.left_parts[0] in str(told_of)
    )


def test_a_part_that_is_given_up_is_not_cut_out_again(told):
    """A statement of its own becomes what its operands are, which is the same part."""

    @ms.jit
    def f(x):
        for i in range(0, 6, 2):
            yield {1.5: (x[i : i + 2] * 2).tanh().mean()}  # which Python makes

    x = Tensor([float(i) for i in range(6)])
    results = {str(list(f(x))) for _ in range(120)}
    assert len(results) == 1
    (part,) = f.cut.segments.values()
    assert part.is_no_use
    hits = part.answered
    list(f(x))
    assert part.answered == hits


def test_a_strict_function_is_always_compiled(told):
    log = []

    @ms.jit(fullgraph=True)
    def f(x):
        log.append(1)
        return {"x": x}

    for _ in range(100):
        f(X)
    assert told.timed == 0 and len(log) == 100


def test_methods_and_keywords_and_errors(told):
    class Counter:
        def __init__(self):
            self.n = 0

        @ms.jit
        def step(self, x, *, by=1):
            self.n += by
            if by > 1:
                raise ValueError(by)
            return {"x": x}

    one = Counter()
    for _ in range(300):
        assert one.step(x=X)["x"] is X
    assert one.n == 300 and Counter.step.left is not None
    with pytest.raises(ValueError, match="7"):
        one.step(X, by=7)
    with pytest.raises(TypeError, match="missing 1 required"):
        one.step()
    assert one.n == 307


def test_a_left_function_is_part_of_what_calls_it_and_of_gradients(told):
    f, log = effects()
    for _ in range(100):
        f(X)
        log.clear()
    assert f.left is not None
    outer = ms.jit(lambda x: f(x)["value"] + 1, fullgraph=True)
    assert outer(X).tolist() == [3.0, 5.0] and len(log) == 1
    assert ms.grad(lambda x: f(x)["value"].sum())(X).tolist() == [2.0, 2.0]


# -- calls that go elsewhere natively ----------------------------------------------------------------------------------


def cut_function():
    def f(x, k=1):
        y = ops.tanh(x) * k + x.exp() * ops.sin(x)
        time.sleep(0)
        return ops.cos(y) - y.exp() * ops.tanh(y)

    return f


def test_calls_of_a_cut_function_are_all_counted():
    f = ms.jit(cut_function())
    for _ in range(1000):
        f(X)
    told = f.explain()
    assert told.breaks[0].times == told.fallbacks[0].hits == 1000
    assert f.stats["breaks"] == 1


def test_calls_that_wait_for_an_attempt_go_natively():
    """A rate that is computed of the number of the step: no version is of use, and Python leads one call of many."""

    @ms.jit
    def f(x, step):
        return x - x * (0.1 * float.fromhex((1 + step / 100).hex()))

    for step in range(600):
        assert f(X, step).tolist() == f.fn(X, step).tolist()
    names = []
    for step in range(600, 620):
        names += python_within(f, X, step)
    assert names.count("__call__") <= 1
    assert names.count("f") == 20
    f.explain()
    assert f(X, 5).tolist() == f.fn(X, 5).tolist()
    unattempted = f.explain().unattempted
    for step in range(1000, 1010):
        f(X, step)
    assert f.explain().unattempted == unattempted + 10


def test_code_and_defaults_that_change_are_seen_by_the_next_call():
    plain, f = cut_function(), ms.jit(cut_function())
    for _ in range(200):
        f(X)
    plain.__defaults__ = f.fn.__defaults__ = (3,)
    assert f(X).tolist() == plain(X).tolist() == f(X).tolist()
    f.fn.__code__ = (lambda x, k=1: x).__code__
    assert f(X) is X


@pytest.mark.parametrize("calls", [1, 300])
@pytest.mark.parametrize("owner", ["instance", "class"])
@pytest.mark.parametrize("is_decorated", [False, True])
def test_another_construct_is_called_by_the_next_call(calls, owner, is_decorated):
    class Net(nn.Cell):
        def construct(self, x):
            y = ops.tanh(x) * 2 + x.exp() * ops.sin(x)
            time.sleep(0)
            return ops.cos(y) - y.exp() * ops.tanh(y)

        if is_decorated:
            construct = ms.jit(construct)

    net = Net()
    f = ms.jit(net)
    want = net(X).tolist()
    for _ in range(calls):
        assert f(X).tolist() == want
    if owner == "instance":
        net.construct = types.MethodType(lambda self, x: x * 7, net)
    else:
        Net.construct = lambda self, x: x * 7
    for _ in range(3):
        assert f(X).tolist() == (X * 7).tolist()


def refused_function():
    return lambda x: eval("x * 2")


@pytest.mark.parametrize("make", [cut_function, refused_function])
def test_a_signature_is_checked_at_each_call(make):
    f = ms.jit(make(), input_signature=(X,))
    for _ in range(300):
        f(X)
    for wrong in (Tensor([[1.0]]), 3):
        for _ in range(3):
            with pytest.raises(ValueError, match="the signature says"):
                f(wrong)
    assert f(X).tolist() == make()(X).tolist()


def test_another_configuration_is_asked_for_by_the_next_call():
    f = ms.jit(cut_function())
    for _ in range(200):
        f(X)
    hits = f.fn and f.explain().fallbacks[0].hits
    set_config(jit=False)
    try:
        f(X)
    finally:
        set_config(jit=True)
    assert f.explain().fallbacks[0].hits == hits
