"""What counts as an internal failure, and what the two policies do with one."""

from __future__ import annotations

import functools
import gc
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from duograph.base.config import configure
from duograph.base.failures import (
    InternalFailure,
    InternalFailureWarning,
    collected,
    failure_counts,
    failure_report,
    first_failures,
    internal_failure,
    is_from_outside,
    is_internal,
)


def caught(work: Callable[[], Any]) -> BaseException:
    with pytest.raises(BaseException) as info:  # noqa: PT011 - the test looks at it
        work()
    return info.value


def broken() -> None:
    {}["key"]  # noqa: B018


def fail(area: str = "the fuser") -> Any:
    return internal_failure(area, "add, mul", caught(broken))


def test_the_policy_of_tests_raises_what_no_program_catches():
    with pytest.raises(InternalFailure, match=r"the fuser for add, mul: KeyError: 'key'") as info:
        fail()
    assert isinstance(info.value.__cause__, KeyError) and not isinstance(info.value, Exception)


def test_debug_runs_raise(answering):
    with configure(debug=True), pytest.raises(InternalFailure):
        fail()


def test_users_get_an_answer_a_count_and_one_warning(answering):
    with collected() as found:
        failure = fail()
    fail()
    fail("a guard")
    assert found == [failure] and failure.error == "KeyError: 'key'" and failure.place.startswith("test_failures.py:")
    assert failure_counts() == {"the fuser": 2, "a guard": 1}
    assert [f.area for f in first_failures()] == ["the fuser", "a guard"]
    assert failure_report().splitlines()[0] == f"2 x {failure}"
    (warning,) = answering
    assert warning.category is InternalFailureWarning and "KeyError: 'key'" in str(warning.message)
    assert warning.filename == __file__, "it points at the user's line"


def test_the_failure_keeps_nothing_alive(answering):
    class Held:
        pass

    gone = []

    def work() -> None:
        held = Held()
        weakref.finalize(held, gone.append, 1)
        broken()

    internal_failure("the fuser", "", caught(work))
    gc.collect()
    assert gone


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), MemoryError(), RecursionError(), GeneratorExit()])
def test_what_is_no_failure_goes_on(answering, error):
    assert not is_internal(error)
    with pytest.raises(type(error)):
        internal_failure("the fuser", "", error)
    assert not failure_counts() and not answering


def raised_by(handler: Any) -> BaseException:
    """What leaves code that runs while a signal comes."""
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(Exception) as info:  # noqa: PT011 - the test looks at it
            signal.raise_signal(signal.SIGUSR1)
            time.sleep(1)
        return info.value
    finally:
        signal.signal(signal.SIGUSR1, before)


def over(number: int, frame: Any) -> None:
    raise TimeoutError("too late")


def over_and_out(number: int, frame: Any) -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    raise ValueError("too late")


class Limit:
    def over(self, *_: Any) -> None:
        raise KeyError("too late")

    __call__ = over


@pytest.mark.parametrize(
    "handler", [over, over_and_out, Limit().over, Limit(), functools.partial(over), lambda *a: over(*a)],
    ids=["function", "one that is gone by now", "method", "object", "partial", "lambda"],
)  # fmt: skip
def test_exceptions_of_signal_handlers_are_the_users(answering, handler):
    error = raised_by(handler)
    assert "too late" in str(error) and is_from_outside(error) and not is_internal(error)
    with pytest.raises(type(error), match="too late"):
        internal_failure("the fuser", "", error)
    assert not failure_counts()


def test_so_are_those_of_trace_functions():
    def trace(frame: Any, event: str, argument: Any) -> None:
        if frame.f_code is broken.__code__:
            raise ValueError("traced")

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        error = caught(broken)
    finally:
        sys.settrace(before)
    assert isinstance(error, ValueError) and is_from_outside(error)


def test_an_ordinary_exception_is_internal_also_while_handlers_are_installed():
    before = signal.signal(signal.SIGUSR1, over)
    try:
        assert is_internal(caught(broken))
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_many_threads_give_one_warning(answering):
    threads = [threading.Thread(target=fail) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failure_counts() == {"the fuser": 8} and len(answering) == 1
