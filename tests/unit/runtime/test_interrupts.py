"""What is raised by Python functions that native code calls is raised by the call, once: Ctrl-C is never lost.

A signal handler runs in whatever Python function is entered next. If that is one which native code has called, its
error must not be taken for a reason to do the work in Python: the work would be done, and the interrupt forgotten.
"""

from __future__ import annotations

import gc
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from duograph.autodiff.tape import Tape, taping
from duograph.core.op import state
from duograph.runtime.guards.program import GuardProgram
from duograph.runtime.launch import launcher
from duograph.runtime.programs import heap
from duograph.runtime.programs import run as executable_run
from tests.unit.alarms import alarm, interrupted_at_each_call, signalled
from tests.unit.jit.native_calls import bits, is_native, native_hits, warmed
from tests.unit.runtime.engine import f32, launching

ERRORS = [KeyboardInterrupt, SystemExit, TimeoutError]
"""The last one is what handlers of alarms raise; nothing tells it from an ordinary failure."""


@pytest.fixture(autouse=True)
def engine() -> Iterator[launcher.Engine]:
    with launching() as found:
        yield found


@pytest.fixture
def collector_off() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


_unseen = itertools.count(1 << 40)
"""Numbers that no call has met."""


class Raising:
    """Stands for a function: raises an error once when it is ``armed``, through the handler of a signal."""

    def __init__(self, real: Callable[..., Any], error: type[BaseException]) -> None:
        self.real, self.error = real, error
        self.armed, self.calls = False, 0

    def __get__(self, subject: object, _: object = None) -> Any:
        return lambda *args: self(subject, *args)

    def __call__(self, *args: Any) -> Any:
        self.calls += 1
        if self.armed:
            self.armed = False
            signalled(self.error)
        return self.real(*args)


def check_raised_once(raising: Raising, work: Callable[[], Any]) -> None:
    """``work`` raises the error; nothing of it was repeated, nothing is left, and the next call is right."""
    want, raising.calls = bits(work()), 0
    raising.armed = True
    with pytest.raises(raising.error):
        work()
    assert (raising.armed, raising.calls) == (False, 1)
    assert bits(work()) == want


# -- eager calls -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(
    "fn",
    [lambda x: ops.topk(x, 2)[0].sum(), lambda x: ops.max_pool2d(x, 2).sum()],
    ids=["topk", "max_pool2d"],
)
def test_while_tapes_are_told(fn: Any, error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    raising = Raising(Tape.record, error)
    monkeypatch.setattr(Tape, "record", raising)
    gradient, x = ms.grad(fn), f32(1, 1, 4, 4)
    for _ in range(3):
        gradient(x)
    check_raised_once(raising, lambda: gradient(x))
    assert state.tapes == []


def test_nothing_is_held_after_interrupts(monkeypatch: pytest.MonkeyPatch, collector_off: None) -> None:
    raising = Raising(Tape.record, KeyboardInterrupt)
    monkeypatch.setattr(Tape, "record", raising)
    x = f32(8, 64)
    with taping([tape := Tape()]):
        tape.watch(x)
        for _ in range(3):
            ops.topk(x, 32)
        before = None
        for _ in range(8):
            raising.armed = True
            with pytest.raises(KeyboardInterrupt):
                ops.topk(x, 32)
            gc.collect()
            held = sys.getrefcount(x), sys.getrefcount(x.array()), len(tape.log), ms.runtime.memory_allocated()
            assert before in (None, held)
            before = held


@pytest.mark.parametrize("error", ERRORS)
def test_while_a_number_becomes_a_tensor(
    engine: launcher.Engine, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    raising = Raising(launcher.numbers.value.operand_of, error)
    monkeypatch.setattr(launcher.numbers, "value", launcher.numbers.value._replace(operand_of=raising))
    x = ms.Tensor(np.ones(4, np.complex128))  # native code leaves numbers of this dtype to Python
    for _ in range(4):
        launches = engine.get("launches")
        x + next(_unseen)
    plans = [owner[3] for owner in engine.owners]
    assert engine.get("launches") == launches + 1 and None not in plans, f"no record of numbers: {plans}"
    raising.armed, raising.calls = True, 0
    number = next(_unseen)
    with pytest.raises(error):
        x + number
    assert raising.calls == 1
    assert bits(x + number) == bits(ms.Tensor(x.asnumpy() + number))


def test_while_a_thread_is_entered(engine: launcher.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call of a thread asks Python for the thread's dispatch state."""

    class Interrupted:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise KeyboardInterrupt

    x = f32(4)
    for _ in range(3):
        want = x + x
    engine.set("thread", 0)
    with monkeypatch.context() as patched:
        patched.setattr(launcher, "state", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            x + x
    assert bits(x + x) == bits(want)


def test_notes_of_calls_without_record_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call of a kind is noted; an interrupt within it leaves no notes among the tapes."""
    raising = Raising(launcher._Notes.record, KeyboardInterrupt)
    monkeypatch.setattr(launcher._Notes, "record", raising)
    x = f32(7, 5)
    want = bits(ops.tanh(x))
    raising.armed = True
    with pytest.raises(KeyboardInterrupt):
        for _ in range(3):
            ops.tanh(x)
    assert state.tapes == []
    assert bits(ops.tanh(x)) == want


# -- guards and calls of compiled functions ----------------------------------------------------------------------------


class Holder:
    """Its attribute is computed."""

    error: type[BaseException] | None = None

    @property
    def part(self) -> int:
        if self.error is not None:
            raise self.error
        return 3


def test_guards_fail_for_values_that_cannot_be_read_and_raise_interrupts() -> None:
    program = GuardProgram(1)
    program.equal(program.attr(program.arg(0), "part"), 3)
    check, holder = program.function(), Holder()
    count = sys.getrefcount(holder)
    assert check(holder)
    for ordinary in (AttributeError, ValueError, RuntimeError):
        holder.error = ordinary
        assert check(holder) is False
    for error in (KeyboardInterrupt, SystemExit, GeneratorExit):
        holder.error = error
        with pytest.raises(error):
            check(holder)
    holder.error = None
    assert check(holder)
    assert sys.getrefcount(holder) == count


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_while_a_compiled_function_checks_its_guards(error: type[BaseException]) -> None:
    holder, x = Holder(), f32(3)
    function = warmed(ms.jit(lambda x: x * holder.part), x)
    assert is_native(function, x)
    hits, holder.error = native_hits(function), error
    with pytest.raises(error):
        function(x)
    holder.error = None
    assert native_hits(function) == hits
    assert is_native(function, x)


def test_names_of_arguments_that_compare_in_python() -> None:
    class Name(str):
        armed = False
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            if self.armed:
                self.armed = False
                raise KeyboardInterrupt
            return str.__eq__(self, other)

    function, name, x = ms.jit(lambda x: x * 2), Name("x"), f32(3)
    warmed(function, x=x)
    name.armed = True
    with pytest.raises(KeyboardInterrupt):
        function(**{name: x})
    assert not name.armed
    assert is_native(function, x=x)


@pytest.mark.parametrize("error", ERRORS)
def test_while_a_compiled_function_gets_a_larger_arena(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    raising = Raising(executable_run.Run.grow, error)
    monkeypatch.setattr(executable_run.Run, "grow", raising)
    function = ms.jit(lambda x: ops.matmul(ops.sin(x), ops.cos(x)).sum(), dynamic=1)
    for n in (2, 3, 4, 5):
        function(f32(n, n))
    x = f32(250, 250)
    hits, raising.calls, raising.armed = native_hits(function), 0, True
    with pytest.raises(error):
        function(x)
    assert (raising.calls, native_hits(function)) == (1, hits)
    assert is_native(function, x)
    assert bits(function(x)) == bits(ops.matmul(ops.sin(x), ops.cos(x)).sum())


def test_an_arena_that_cannot_grow_is_for_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python gives back what can be missed, and tries again."""
    raising = Raising(executable_run.Run.grow, MemoryError)
    monkeypatch.setattr(executable_run.Run, "grow", raising)
    function = ms.jit(lambda x: ops.matmul(ops.sin(x), ops.cos(x)).sum(), dynamic=1)
    for n in (2, 3, 4, 5):
        function(f32(n, n))
    x = f32(250, 250)
    raising.armed = True
    assert bits(function(x)) == bits(ops.matmul(ops.sin(x), ops.cos(x)).sum())
    assert not raising.armed


@pytest.mark.parametrize("error", ERRORS)
def test_while_a_compiled_function_gives_memory_back(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call has been served then: it ends as if the signal had come a moment later."""

    def waves(x: Any, n: Any) -> Any:
        while n > 0.0:  # the gradient needs every value
            x, n = ops.sin(x), n - 1.0
        return x.sum()

    raising = Raising(heap.reset, error)
    function, x = ms.jit(lambda x, n: ms.grad(waves)(x, n)), f32(300)
    few, many = (ms.Tensor(np.float32(n)) for n in (3, 300))
    warmed(function, x, few)
    monkeypatch.setattr(heap, "reset", raising)
    hits, raising.armed = native_hits(function), True
    with pytest.raises(error):
        function(x, many)
    assert (raising.armed, raising.calls, native_hits(function)) == (False, 1, hits + 1)
    for n in (many, few, many):
        assert bits(function(x, n)) == bits(ms.grad(waves)(x, n))
    assert native_hits(function) == hits + 4


# -- at any moment -----------------------------------------------------------------------------------------------------

pool, norm = nn.MaxPool2d(2, 2), nn.BatchNorm2d(3).set_train()
LOOPS = {
    "pool": ms.grad(lambda x: pool(x).sum()),
    "norm": ms.grad(lambda x: norm(x).sum()),
    "max": ms.grad(lambda x: ops.max(x, 3)[0].sum()),
    "nested": ms.grad(lambda x: ms.grad(lambda y: (ops.tanh(y) * y * y).sum())(x).sum()),
}


@pytest.mark.parametrize("name", LOOPS)
def test_no_interrupt_is_lost_wherever_it_comes(name: str) -> None:
    work, x = LOOPS[name], f32(2, 3, 8, 8)
    want = [bits(work(x)) for _ in range(4)]
    ended = list(interrupted_at_each_call(lambda: work(x)))
    assert len(ended) > 100 and all(ended)
    assert bits(work(x)) == want[0]


@pytest.mark.timed
@pytest.mark.parametrize("name", LOOPS)
def test_no_interrupt_is_lost(name: str) -> None:
    """Of 60 timers, each at another moment of the work, every one ends the loop, but for those that Python itself drops
    because they come in callbacks of weak references or in finalizers."""
    assert threading.current_thread() is threading.main_thread()
    work, x, lost = LOOPS[name], f32(2, 3, 8, 8), 0
    for _ in range(4):
        work(x)

    dropped: list[object] = []
    hook = sys.unraisablehook
    sys.unraisablehook = lambda error: dropped.append(error.exc_type)
    try:
        with alarm() as clock:
            for attempt in range(60):
                lost += not clock.interrupts(lambda: work(x), after=2e-3 + attempt * 1.37e-5, within=0.25)
    finally:
        sys.unraisablehook = hook
    assert lost <= dropped.count(KeyboardInterrupt)


def in_short_loops(x: Any, n: Any) -> Any:
    while n > 0:
        for _ in range(40):
            x = x * 0.5 + 1
        n = n - 1
    return x


def in_itself(x: Any, n: Any) -> Any:
    if n < 1:
        return x
    return in_itself(x, n - 1) + in_itself(x, n - 1)


@pytest.mark.timed
@pytest.mark.parametrize(("fn", "few", "many"), [(in_short_loops, 2, 10_000_000), (in_itself, 2, 30)])
def test_long_runs_can_be_stopped_whatever_they_spend_their_time_with(fn: Any, few: int, many: int) -> None:
    """The outer loop makes few iterations between two inner ones; the other program has no loops at all."""
    function, x = ms.jit(fn), f32(3)
    short, long = (ms.Tensor(np.int64(n)) for n in (few, many))
    expected = bits(fn(x, short))
    for _ in range(3):
        assert bits(function(x, short)) == expected
    with alarm() as clock:
        for _ in range(2):
            begin = time.perf_counter()
            assert clock.interrupts(lambda: function(x, long), after=0.2, within=0.1)
            assert time.perf_counter() - begin < 5
            assert bits(function(x, short)) == expected
    assert not function.explain().fallbacks
