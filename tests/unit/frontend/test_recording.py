"""Trace capture: a program takes the decisions of the runs that were recorded, and a call that decides otherwise is
recorded in addition. That it computes what eager mode does is what the mode "trace" of the conformance table is for."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor, ops
from tests.unit.alarms import interrupted_by


def traced(fn):
    return ms.jit(fn, capture_mode="trace")


def runs(fn) -> list[int]:
    """How many runs each version knows; 0: it has all paths."""
    return [version["runs"] for version in fn.explain().versions]


def test_a_graph_has_the_path_of_the_run_only():
    @traced
    def f(x):
        return x * 2 if x.sum() > 0 else ops.sin(x)

    f(Tensor([1.0]))
    assert runs(f) == [1]
    assert "sin" not in f.explain().versions[0]["graph"]


def test_another_decision_is_recorded_in_addition():
    @traced
    def f(x):
        return x * 2 if x.sum() > 0 else x - 1

    results = [f(Tensor([v])).item() for v in (1.0, -1.0, 2.0, -2.0)]
    assert results == [2.0, -2.0, 4.0, -3.0]
    assert runs(f) == [2]
    assert f.explain().recompiles == ["no run that was recorded decides like this one"]
    assert "run by run" in str(f.explain())


def test_of_three_decisions_those_that_runs_took_are_in_the_graph():
    @traced
    def f(x):
        for i in range(3):
            x = x + 1 if x.sum() > i else ops.cos(x)
        return x

    f(Tensor([5.0]))
    f(Tensor([6.0]))
    assert runs(f) == [1]
    f(Tensor([-9.0]))
    assert runs(f) == [2]


def test_numbers_that_python_needs_are_those_of_the_run():
    @traced
    def f(x, items):
        n = int(x)
        return items[:n], "ab" * n

    items = [1, 2, 3]
    assert [f(Tensor(v), items) for v in (1.0, 2.0, 1.0)] == [([1], "ab"), ([1, 2], "abab"), ([1], "ab")]
    assert runs(f) == [2]
    assert not f.explain().breaks


def test_floats_are_no_assumptions():
    @traced
    def f(x):
        return "%r" % [float(x.sum())], x * 2

    assert [f(Tensor([v]))[0] for v in (0.5, -0.25, 3.0)] == ["[0.5]", "[-0.25]", "[3.0]"]


def test_a_loop_has_the_iterations_of_the_run():
    @traced
    def f(x):
        n = 0
        while x.sum() < 8:
            x, n = x * 2, n + 1
        return x, n

    assert [f(Tensor([v]))[1] for v in (1.0, 2.0, 4.0, 1.0)] == [3, 2, 1, 3]
    assert runs(f) == [3]
    assert "while_loop" not in f.explain().versions[0]["captured"]


def test_a_loop_of_many_iterations_stays_a_loop():
    @traced
    def f(x):
        while x.sum() < 100:
            x = x + 1
        return x

    assert f(Tensor([0.0])).item() == 100.0
    assert "while_loop" in f.explain().versions[0]["captured"]


def test_a_decision_in_a_loop_of_the_graph_belongs_to_no_run():
    @traced
    def f(x):
        for i in range(100):
            x = x + 1 if x.sum() < 50 else x - 1
        return x

    assert [f(Tensor([v])).item() for v in (0.0, 40.0)] == [50.0, 50.0]
    assert runs(f) == [1]


def test_many_different_runs_end_with_all_paths():
    @traced
    def f(x):
        n = 0
        while x.sum() > 0:
            x, n = x - 1, n + 1
        return n

    assert [f(Tensor([float(v)])) for v in range(12)] == list(range(12))
    (version,) = f.explain().versions
    assert version["runs"] == 0
    assert version["why_all_paths"] == "more than 8 runs decide differently"


@pytest.mark.parametrize("lines", [70, 50], ids=["one run", "several runs"])
def test_a_run_of_many_decisions_is_not_recorded(lines):
    body = "\n".join(f"    x = x + 1 if x.sum() > {i * 37 % 50} else x - 0.5" for i in range(lines))
    names: dict[str, object] = {}
    exec(f"def f(x):\n{body}\n    return x", names)
    f = traced(names["f"])
    for value in (25.0, 12.0, 35.0, 18.0, 29.0):
        assert f(Tensor([value])).item() == names["f"](Tensor([value])).item()
    (version,) = f.explain().versions
    assert version["runs"] == 0
    assert "decisions" in version["why_all_paths"]


def test_a_run_that_raises_where_it_decides_is_captured_as_a_whole():
    @traced
    def f(x):
        try:
            n = 10 // int(x)
        except ZeroDivisionError:
            n = -1
        return x + n if n > 2 else x - n

    assert [f(Tensor(v)).item() for v in (0.0, 2.0, 9.0, 0.0)] == [1.0, 7.0, 8.0, 1.0]


def test_what_leaves_a_recording_has_changed_nothing():
    class Counter:
        n = 0

    counter, seen = Counter(), []

    def f(x):
        counter.n += 1
        x[0] = x[0] + 1
        seen.append(counter.n)
        if x.sum() > 0:
            raise ValueError("positive")
        return x * counter.n

    def told(fn):
        counter.n, shown = 0, []
        seen.clear()
        for value in (-3.0, 5.0, -3.0, 5.0):
            x = Tensor([value])
            try:
                result = fn(x).item()
            except ValueError as error:
                result = str(error)
            shown.append((result, x.item(), counter.n, list(seen)))
        return shown

    assert told(traced(f)) == told(f)


def test_text_is_printed_once_by_a_call_that_leaves(capsys):
    @traced
    def f(x):
        y = (ops.tanh(x) * x).sum() - x.mean()
        if x.sum() > 0:
            print("positive")
        return y * 2

    for value in (-1.0, 1.0, -1.0, 1.0, 1.0):
        f(Tensor([value]))
    assert capsys.readouterr().out == "positive\n" * 3


def test_random_numbers_that_decide_are_those_of_the_run():
    def f(x):
        y = ops.rand((3,))
        return x + y if y.sum() > 1.5 else x - y

    def told(fn):
        ms.set_seed(1)
        return [fn(Tensor([1.0, 2.0, 3.0])).asnumpy().tobytes() for _ in range(10)]

    assert told(traced(f)) == told(f)


def test_gradients_of_both_runs():
    def f(x):
        return (x * x).sum() if x.sum() > 0 else (x * x * x).sum()

    compiled = traced(f)
    for value in (1.0, -1.0, 2.0, -2.0):
        x = Tensor([value, value])
        assert ms.grad(compiled)(x).asnumpy().tobytes() == ms.grad(f)(x).asnumpy().tobytes()


def test_interruption_of_a_recording_leaves_a_function_that_works():
    @traced
    def f(x):
        while x.sum() > 0:
            x = x + 1.0
        return x

    with interrupted_by(after=0.1, again=0.5):  # again: in a callback of the collector, say, one is lost
        f(Tensor([1.0]))
    assert f(Tensor([-1.0])).item() == -1.0


def test_sizes_that_vary_and_decide():
    @traced
    def f(x):
        return x.sum() if x[0] > 0 else x.mean() * x.shape[0]

    for n in (2, 3, 4, 5):
        for sign in (1.0, -1.0):
            assert f(ops.ones((n,)) * sign).item() == n * sign


def test_parts_of_a_function_that_is_cut_are_recorded_by_themselves():
    import time

    @traced
    def f(x):
        y = x * 2 if x.sum() > 0 else x - 1
        y = (y.tanh() * y + 1) * y
        time.sleep(0)
        z = y * 3 if y.sum() > 0 else y + 1
        return (z.tanh() * z + 1) * z

    plain = f.__wrapped__
    for value in (1.0, -1.0, 2.0, -2.0):
        assert f(Tensor([value])).item() == plain(Tensor([value])).item()
    assert [runs(part.function) for part in f.explain().segments] == [[2], [2]]
