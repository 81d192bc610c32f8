"""Threads of little stack run whatever others run."""

import threading

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, communication, ops
from duograph.core.op import state
from duograph.distributed import journal
from duograph.distributed.world import simulate
from duograph.nn import dispatch
from duograph.runtime.machine import threads
from duograph.runtime.machine.threads import apart, has_little_stack, with_stack
from tests.unit.runtime.processes import python


def on_little(work, kib=64):
    """What ``work`` gives on a thread of so much stack."""
    found = []
    before = threading.stack_size(kib << 10)
    try:
        thread = threading.Thread(target=lambda: found.append(work()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    return found[0]


def test_who_has_little():
    assert not has_little_stack()
    assert on_little(has_little_stack)
    assert not on_little(has_little_stack, 1024)
    assert not on_little(lambda: with_stack(has_little_stack))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_products(dtype):
    """The driver of GEMM packs panels on the stack of who runs it."""
    r = np.random.default_rng(0)
    a, b = (Tensor(r.normal(size=(300, 300)).astype(dtype)) for _ in range(2))

    def product(x, y):
        return ops.matmul(x, y) + x

    want = product(a, b).asnumpy().tobytes()
    compiled = ms.jit(product)
    compiled(a, b)
    assert on_little(lambda: [product(a, b).asnumpy().tobytes() for _ in range(4)]) == [want] * 4
    assert on_little(lambda: [compiled(a, b).asnumpy().tobytes() for _ in range(4)]) == [want] * 4
    assert on_little(lambda: ms.jit(lambda x: product(x, x))(a).shape) == (300, 300)


def test_a_size_that_is_set_while_a_thread_starts_stays(monkeypatch):
    """A program sets a small size for one thread of its own: the default must not become small for ever."""
    start_thread = threads.start_thread

    def meanwhile(thread):
        start_thread(thread)
        threading.stack_size(0)

    monkeypatch.setattr(threads, "start_thread", meanwhile)
    before = threading.stack_size(64 << 10)
    try:
        assert apart(lambda: 5) == 5
        assert threading.stack_size() == 0
    finally:
        threading.stack_size(before)


def test_ranks_are_ranks_on_threads_of_little_stack():
    """Compiled programs run on another thread then, which is in the world of this one."""

    def program():
        rank = communication.get_rank()
        x = Tensor(np.arange(6, dtype=np.float32) + rank)
        step = ms.jit(lambda x: (ops.AllGather()(ops.AllReduce()(x * 2) * x) ** 2).sum())
        return [float(step(x)) for _ in range(3)]

    want = simulate(2, program)
    before = threading.stack_size(256 << 10)
    try:
        assert simulate(2, program) == want
    finally:
        threading.stack_size(before)


def test_what_a_compiled_call_calls_is_within_it():
    """Cells run plainly, and what is printed is noted, on the other thread, too; what it changes comes back."""
    with dispatch.plainly():
        assert apart(dispatch.runs_plainly)
    assert not apart(dispatch.runs_plainly)
    given: journal.Notes = [("a", 1), ("b", 2)]
    with journal.replayed(given):
        assert apart(lambda: journal.once("a", int)) == 1
        assert apart(lambda: journal.once("another", lambda: 7)) == 7
        assert journal.once("b", lambda: 9) == 9


def test_the_other_thread_is_in_the_same_state():
    mark = object()
    before = state.tapes
    state.tapes = [mark]
    try:
        assert apart(lambda: state.tapes) == [mark]
    finally:
        state.tapes = before


def test_errors_and_a_lack_of_threads(monkeypatch):
    with pytest.raises(ZeroDivisionError):
        apart(lambda: 1 / 0)

    def no_more(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start", no_more)
    assert apart(lambda: 5) == 5


def test_versions_that_are_replaced_while_a_thread_enters():
    """Who calls from another thread than the last one runs Python first, and so may let that one replace the versions.

    In a process of its own, which would die: the versions that are dropped are overwritten at once.
    """
    program = """
        import threading
        import duograph as ms
        from duograph.runtime.launch import launcher

        @ms.jit
        def double(x):
            return x * 2

        x = ms.Tensor([1.0, 2.0])
        for _ in range(4):
            double(x)
        assert len(double._own.native) == 1
        kept, entered = [], []

        def lets_others_run():
            double._own.native = (*double._own.native,)
            kept.extend((i,) for i in range(50))
            entered.append(1)
            return False

        launcher.has_little_stack = lets_others_run
        found = []
        thread = threading.Thread(target=lambda: found.append(double(x).asnumpy().tolist()))
        thread.start()
        thread.join()
        print(found, bool(entered))
    """
    assert python(program) == "[[2.0, 4.0]] True\n"
