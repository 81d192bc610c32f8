"""A capture that has no end in sight gives up, says so, and is not tried again at once.

The clock of these tests shows so much more at each look: a capture looks at it once in `budget.PACE` expressions.
"""

import functools
import importlib
import sys
import time
from contextlib import contextmanager

import pytest

import duograph as ms
from duograph import Tensor
from duograph.base.config import config, set_config
from duograph.frontend.rules import budget
from duograph.frontend.rules.budget import LEAST, OutOfTime, share_left


def kinds(x):
    said = []
    for i in range(16):
        said.append(None if x[i % 4] > i else (i,) * i)
    return said


def numbers(x, n):
    return x + [i for i in range(n) if i % 7 == 0][-1]


class Clock:
    """In the place of the processor time of the thread."""

    def __init__(self):
        self.seconds, self.tick = 0.0, 0.01

    def __call__(self):
        self.seconds += self.tick
        return self.seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(time, "thread_time", made)
    return made


@contextmanager
def limited(fn, seconds):
    before = config().capture_seconds
    set_config(capture_seconds=seconds)
    try:
        yield ms.jit(fn)
    finally:
        set_config(capture_seconds=before)


def test_many_paths_and_long_comprehensions_are_left_to_python(clock):
    x = Tensor([1.0, 2.0, 30.0, -1.0])
    with limited(numbers, 0.05) as compiled:
        assert str(compiled(x, 20_000)) == str(numbers(x, 20_000))
        assert "DUOGRAPH_CAPTURE_SECONDS=0.05" in str(compiled.explain().fallbacks[0])
    with limited(kinds, 0.05) as compiled:  # which may be cut: parts of it have fewer paths
        assert str(compiled(x)) == str(kinds(x))
    with limited(functools.partial(kinds), 0.05) as compiled:
        assert str(compiled(x)) == str(kinds(x))
        assert "DUOGRAPH_CAPTURE_SECONDS=0.05" in str(compiled.explain().fallbacks[0])


def test_no_limit():
    x = Tensor([1.0, 2.0])
    with limited(numbers, 0) as compiled:
        assert str(compiled(x, 3_000)) == str(numbers(x, 3_000))
        assert not compiled.explain().fallbacks


def test_functions_that_take_too_long_are_tried_less_and_less(clock):
    x = Tensor([1.0, 2.0])
    with limited(numbers, 0.01) as compiled:
        for n in range(40):
            compiled(x, 10_000 + n)
        assert len(compiled.explain().fallbacks) < 10


def sieve(x):
    held = [True] * 5_000
    for i in range(2, 5_000):
        if held[i]:
            for j in range(i * i, 5_000, i):
                held[j] = False
    return x + sum(held)


def test_elements_of_lists_are_no_operations_that_give_a_capture_time(clock):
    """As values that a loop carries, each of 5,000 elements counted as an operation, worth 2 ms of capture."""
    x = Tensor([1.0, 2.0])
    with limited(sieve, 0.5) as compiled:
        assert str(compiled(x)) == str(sieve(x))
        assert clock.seconds < 1
        assert "DUOGRAPH_CAPTURE_SECONDS=0.5" in str(compiled.explain().fallbacks[0])


def doubled(x):
    held = [1]
    for _ in range(20):
        held = held + held
    return x + len(held)


def test_long_lists_of_numbers_are_looked_through_at_the_speed_of_c():
    x = Tensor([1.0, 2.0])
    with limited(doubled, 0) as compiled:
        expected, lines = str(doubled(x)), lines_of(lambda: compiled(x))
        assert str(compiled(x)) == expected
        assert lines < 1 << 20  # one by one, each element of the longest has a line of Python
        assert not compiled.explain().fallbacks


def lines_of(work):
    """How many lines of Python ``work`` executes."""
    lines = 0

    def count(frame, event, _):
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def test_the_attempt_after_one_that_took_all_the_time_has_a_quarter_of_it(monkeypatch):
    """A number varies, and the capture for any number takes too long: that for this one must not take as long again."""
    functions = importlib.import_module("duograph.jit.capturing")
    shares, original = [], functions.capture

    def noted(fn, names, args, call, dynamic, patterns, share, *rest):
        shares.append((bool(dynamic), share))
        if dynamic:
            raise OutOfTime("its capture takes more than it may")
        return original(fn, names, args, call, dynamic, patterns, share, *rest)

    monkeypatch.setattr(functions, "capture", noted)
    compiled = ms.jit(lambda x, n: x * n)
    for n in (2, 3, 4):
        assert compiled(ms.Tensor([1.0]), n).item() == n
    assert [is_general for is_general, _ in shares] == [False, True, False, False]
    assert shares[2][1] == LEAST
    assert all(share > LEAST for k, (_, share) in enumerate(shares) if k != 2)


def test_all_attempts_at_a_call_share_the_time(clock):
    for limit, spent, share in ((2, 0.5, 0.75), (2, 1.0, 0.5), (2, 5.0, LEAST), (0, 5.0, 1.0)):
        clock.seconds, clock.tick = 100 + spent, 0
        with limited(len, limit):
            assert share_left(100.0) == share


def apart_in_each_iteration(x):
    total = 0
    for i in range(20):
        a, b = (x, i) if x.sum() > 3 else (i, x)  # a tensor or a number: the paths do not join
        total += i
    return a, b, total


def test_paths_that_do_not_join_are_learned_of_a_place_and_not_once_more_in_each_iteration(monkeypatch):
    """Each is an attempt: twenty of them had taken as long as four hundred iterations."""
    capture = importlib.import_module("duograph.frontend.capture")
    attempts, original = [], capture._attempt
    monkeypatch.setattr(capture, "_attempt", lambda *args: attempts.append(1) or original(*args))
    compiled = ms.jit(apart_in_each_iteration)
    for x in (Tensor([1.0, 4.0]), Tensor([1.0, 1.0])):
        assert str(compiled(x)) == str(apart_in_each_iteration(x))
    assert len(compiled.explain().versions) == 1 and not compiled.explain().fallbacks
    assert len(attempts) < 10


def sometimes_apart(x):
    found = []
    for i in range(16):
        test = x.sum() > 3 if i < 7 else x[0] > i
        found.append((x if i < 7 else x * 2) if test else (i if i < 7 else x * 3))
    return found


def test_what_does_join_is_found_where_keeping_all_apart_is_too_much():
    compiled = ms.jit(sometimes_apart, fullgraph=True)  # else it is cut
    for value in (-1.0, 2.5, 30.0):
        x = Tensor([value])
        assert str(compiled(x)) == str(sometimes_apart(x))
    assert len(compiled.explain().versions) == 1 and not compiled.explain().breaks


def six_parts(x, n):
    time.sleep(0)
    x = (x * [i for i in range(n) if i % 7 == 0][-1] + x.mean()).tanh() - x * 2
    time.sleep(0)
    x = (x * [i for i in range(n) if i % 7 == 1][-1] + x.mean()).tanh() - x * 2
    time.sleep(0)
    x = (x * [i for i in range(n) if i % 7 == 2][-1] + x.mean()).tanh() - x * 2
    time.sleep(0)
    x = (x * [i for i in range(n) if i % 7 == 3][-1] + x.mean()).tanh() - x * 2
    time.sleep(0)
    x = (x * [i for i in range(n) if i % 7 == 4][-1] + x.mean()).tanh() - x * 2
    time.sleep(0)
    return (x * [i for i in range(n) if i % 7 == 5][-1] + x.mean()).tanh() - x * 2


def test_the_parts_of_a_function_share_the_time_of_one_capture(clock):
    x = Tensor([1.0, 2.0])
    with limited(six_parts, 0.5) as compiled:
        for n in (20, 20, 50_000):
            began = clock.seconds
            assert str(compiled(x, n)) == str(six_parts(x, n))
            spent = clock.seconds - began
        assert len(compiled.explain().segments) == 6
        assert spent < 2.5  # each had as much as the function: more than 3 s


def polynomial(x, root):
    found = [1]
    for _ in range(40):
        found = [a - root * b for a, b in zip([*found, 0], [0, *found], strict=True)]
    return x + sum(found)


def test_a_program_that_reads_many_tensors_may_have_many_operations(monkeypatch):
    """A network and its optimizer: as many as their Parameters need."""
    monkeypatch.setattr(budget, "MOST_OPERATIONS", 100)
    monkeypatch.setattr(budget, "PER_INPUT", 10)
    held = [Tensor([float(k)]) for k in range(60)]

    def each(x, times):
        for p in held:
            for _ in range(times):
                x = x * p
        return x

    for times, versions in ((8, 1), (20, 0)):
        compiled = ms.jit(each)
        assert compiled(Tensor([1.0]), times).tolist() == each(Tensor([1.0]), times).tolist()
        assert len(compiled.explain().versions) == versions


def test_arithmetic_of_numbers_that_vary_has_an_end(monkeypatch):
    """Each is an operation, worth some capture time: a table of two million had hours. So the number is guarded."""
    x = Tensor([1.0, 2.0])
    versions = []
    for most in (budget.MOST_OPERATIONS, 500):
        monkeypatch.setattr(budget, "MOST_OPERATIONS", most)
        compiled = ms.jit(polynomial)
        for root in (1, 2, 3, 4):
            assert compiled(x, root).tolist() == polynomial(x, root).tolist()
        versions.append(len(compiled.explain().versions))
    assert versions == [2, 4]
