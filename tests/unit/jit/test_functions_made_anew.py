"""Functions that are defined and compiled anew in each call of what makes them: captures do not go on for ever."""

from __future__ import annotations

import time

import pytest

import duograph as ms
from duograph import Tensor
from duograph.frontend.capture import capture
from duograph.jit import capturing
from duograph.jit.policy import FREE_UNUSED, SURE, first_calls

X = Tensor([1.0, 2.0, 3.0])
MANY = 60


@pytest.fixture
def captures(monkeypatch):
    made = []
    monkeypatch.setattr(capturing, "capture", lambda *args: made.append(1) or capture(*args))
    return made


def with_a_number(k):
    def f(x):
        return (x * k).tanh() - x.mean()

    return f


def with_a_default(k):
    def f(x, scale=k / 2):
        return (x * scale).tanh() - x.mean()

    return f


def of_another_function(k):
    def scaled(x):
        return x * k

    def f(x):
        return scaled(x).tanh() - x.mean()

    return f


@pytest.mark.parametrize("make", [with_a_number, with_a_default, of_another_function])
def test_numbers_that_vary_from_function_to_function(make, captures):
    for k in range(MANY):
        function = make(k)
        assert ms.jit(function)(X).tolist() == function(X).tolist()
    assert len(captures) <= 3


def with_a_break(k):
    def f(x):
        y = (x * 2).tanh() * x - x.mean()
        time.sleep(0)
        return (y * y + x).sum() - y

    return f


def with_a_number_that_is_needed(k):
    def f(x):
        return (x * 2).tanh() * len("a" * k)

    return f


def with_an_object(k):
    kept = object()

    def f(x):
        return (x * 2).tanh(), hash(kept) == k

    return f


@pytest.mark.parametrize("make", [with_a_break, with_a_number_that_is_needed, with_an_object])
def test_what_serves_no_other_function_becomes_rare(make, captures):
    for k in range(MANY):
        function = make(k)
        got, wanted = ms.jit(function)(X), function(X)
        assert str(got) == str(wanted)
        if k == FREE_UNUSED + 4:
            captures.clear()
    assert not captures

    function = ms.jit(make(10**3))
    for _ in range(SURE + 1):
        function(X)
    explained = function.explain()
    assert 0 < explained.unattempted <= SURE  # it is called often enough
    assert explained.versions or explained.breaks or explained.fallbacks


def test_a_function_that_serves_others_is_captured_at_once(captures):
    for k in range(MANY):
        function = with_a_number_that_is_needed(k % 4)
        assert ms.jit(function)(X).tolist() == function(X).tolist()
    assert len(captures) <= 2 * 4 + 2


def test_strict_functions_are_captured_at_once():
    for k in range(MANY // 2):
        assert ms.jit(with_a_number_that_is_needed(k), fullgraph=True).explain().unattempted == 0
    with pytest.raises(RuntimeError, match="cannot be compiled"):
        ms.jit(with_a_break(1), fullgraph=True)(X)


def test_how_long_they_wait():
    counts = [first_calls(n) for n in (0, FREE_UNUSED, FREE_UNUSED + 1, FREE_UNUSED + 2, FREE_UNUSED + 3, 10**6)]
    assert counts == [0, 0, 1, 3, 7, SURE]
