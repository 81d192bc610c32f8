"""A loop without an end is an effect: a program that has come to one does not go on, whoever reads its results."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor, ops
from tests.unit.alarms import interrupted_by


def gives_what_it_was_given(x):
    while x.sum() > 0:
        x = x * 1.0
    return x


def does_nothing(x):
    while x.sum() > 0:
        pass
    return x


def counts(x):
    n = 0
    while x.sum() > 0:
        n += 1
    return x


def gives_what_nobody_reads(x):
    y = x
    while y.sum() > 0:
        y = ops.abs(y)
    return x


def may_be_left(x):
    y = x
    while y.sum() > 0:
        y = y * 2 / 2
        if y.sum() < 0:
            break
    return x


def stands_in_a_branch(x):
    y = x
    if x.sum() > 0.5:
        while y.sum() > 0:
            y = y * 1.0
    return x


def stands_in_a_loop(x):
    for i in range(100):
        y = x * i
        while y.sum() > 0:
            y = ops.abs(y)
    return x


def stands_in_one_without_an_end(x):
    y = x
    while y.sum() > 0:
        while y.sum() > 0:
            y = y * 1.0
    return x


def writes(x):
    y = x * 1
    while y.sum() > 0:
        y[0] = 3
    return x


def raises_nothing(x):
    y, i = x, Tensor(0)
    while y.sum() > 0:
        x[i]
        y = y * 1.0
    return x


def decides(x):
    while gives_what_it_was_given(x).sum() > 0:
        x = x * 2
    return x


PROGRAMS = [gives_what_it_was_given, does_nothing, counts, gives_what_nobody_reads, may_be_left, stands_in_a_branch,
            stands_in_a_loop, stands_in_one_without_an_end, writes, raises_nothing, decides]  # fmt: skip


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # in callbacks of weak references
@pytest.mark.parametrize("how", ["compiled", "O0", "gradient", "gradient inside"])
@pytest.mark.parametrize("fn", PROGRAMS)
def test_it_runs_until_it_is_interrupted(fn, how):
    match how:
        case "gradient":
            inner = ms.jit(fn)
            run = ms.grad(lambda x: inner(x) * x)
        case "gradient inside":
            run = ms.jit(ms.grad(lambda x: fn(x) * x))
        case "O0":
            run = ms.jit(fn, jit_level="O0")
        case _:
            run = ms.jit(fn)
    run(Tensor([-1.0, 0.5]))  # it ends
    has_ended = []
    with interrupted_by(after=0.05, again=0.5):  # again: in a callback of the collector, say, one is lost
        has_ended.append(run(Tensor([1.0, 0.5])))
    assert not has_ended


def test_one_that_changes_what_is_read_costs_nothing():
    @ms.jit
    def f(x):
        while x.sum() < 100:
            x = x * 2
        return x

    f(Tensor([1.0]))
    assert "anchor" not in f.explain().versions[0]["graph"]
