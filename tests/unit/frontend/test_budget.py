"""A capture that has no end in sight gives up, says so, and is not tried again at once."""

import importlib
import time

import duograph as ms
from duograph import Tensor
from duograph.base.config import config, set_config
from duograph.frontend.budget import OutOfTime


def texts(x):
    said = ""
    for i in range(16):
        said += "a" if x[i % 4] > i else "b" * i
    return said


def numbers(x, n):
    return x + [i for i in range(n) if i % 7 == 0][-1]


def limited(fn, seconds):
    before = config().capture_seconds
    set_config(capture_seconds=seconds)
    try:
        compiled = ms.jit(fn)
        yield compiled
    finally:
        set_config(capture_seconds=before)


def test_many_paths_and_long_comprehensions_are_left_to_python():
    x = Tensor([1.0, 2.0, 30.0, -1.0])
    for fn, args in ((texts, (x,)), (numbers, (x, 200_000))):
        for compiled in limited(fn, 0.05):
            assert str(compiled(*args)) == str(fn(*args))
            assert "DUOGRAPH_CAPTURE_SECONDS=0.05" in str(compiled.explain().fallbacks[0])


def test_no_limit():
    x = Tensor([1.0, 2.0])
    for compiled in limited(numbers, 0):
        assert str(compiled(x, 3_000)) == str(numbers(x, 3_000))
        assert not compiled.explain().fallbacks


def test_functions_that_take_too_long_are_tried_less_and_less():
    x = Tensor([1.0, 2.0])
    for compiled in limited(numbers, 0.01):
        for n in range(40):
            compiled(x, 100_000 + n)
        assert len(compiled.explain().fallbacks) < 10


def sieve(x):
    held = [True] * 20_000
    for i in range(2, 20_000):
        if held[i]:
            for j in range(i * i, 20_000, i):
                held[j] = False
    return x + sum(held)


def test_elements_of_lists_are_no_operations_that_give_a_capture_time():
    """As values that a loop carries, each of 10,000 elements counted as an operation, worth 4 ms of capture."""
    x = Tensor([1.0, 2.0])
    for compiled in limited(sieve, 0.5):
        began = time.thread_time()
        assert str(compiled(x)) == str(sieve(x))
        assert time.thread_time() - began < 10
        assert "DUOGRAPH_CAPTURE_SECONDS=0.5" in str(compiled.explain().fallbacks[0])


def doubled(x):
    held = [1]
    for _ in range(20):
        held = held + held
    return x + len(held)


def test_long_lists_of_numbers_are_looked_through_at_the_speed_of_c():
    x = Tensor([1.0, 2.0])
    for compiled in limited(doubled, 0):
        began = time.thread_time()
        assert str(compiled(x)) == str(doubled(x))
        assert time.thread_time() - began < 2.5  # 0.3 s; one by one it was 5 s
        assert not compiled.explain().fallbacks


def test_the_attempt_after_one_that_took_all_the_time_has_a_quarter_of_it(monkeypatch):
    """A number varies, and the capture for any number takes too long: that for this one must not take as long again."""
    functions = importlib.import_module("duograph.jit.function")
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
    assert shares == [(False, 1.0), (True, 1.0), (False, functions.SECOND), (False, 1.0)]
