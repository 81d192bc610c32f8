"""Locks and forks."""

import functools
import importlib
import os
import threading
import time
import types

import pytest

from duograph.base import fork
from duograph.base.fork import fork_safe_lock, object_lock
from tests.unit.runtime.processes import python

LOWER = fork_safe_lock()
UPPER = fork_safe_lock()
counts = {"upper": 0, "lower": 0}
needs_forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def in_a_new_process(work):
    """The test is ``work``, in a process that has no threads but its own, and little memory to copy.

    One that hangs says where its threads stand.
    """

    @needs_forks
    @functools.wraps(work)
    def test():
        python(f"""
            import faulthandler, warnings
            faulthandler.dump_traceback_later(200, exit=True)
            warnings.simplefilter("ignore")
            from {__name__} import {work.__name__} as test
            test.__wrapped__()
        """)

    return test


@in_a_new_process
def test_a_child_finds_locks_free_and_data_whole():
    """The other thread takes the upper lock, then the lower; both counts change as one."""
    going = True

    def work():
        while going:
            with UPPER, LOWER:
                counts["upper"] += 1
                time.sleep(0.0005)
                counts["lower"] += 1

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                free = UPPER.acquire(timeout=5) and LOWER.acquire(timeout=5)
                os._exit(0 if free and counts["upper"] == counts["lower"] else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        going = False
        worker.join()
    assert counts["upper"] > 0


@in_a_new_process
def test_threads_may_take_locks_in_any_order():
    """One takes the upper lock first, the other the lower: a fork that kept to one order would wait for ever."""
    going, turn = True, threading.Lock()

    def work(first, second):
        while going:
            with turn, first:  # their own orders would have them wait for each other
                time.sleep(0.0005)
                with second:
                    pass
            time.sleep(0.001)

    workers = [threading.Thread(target=work, args=pair) for pair in ((UPPER, LOWER), (LOWER, UPPER))]
    for worker in workers:
        worker.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if UPPER.acquire(timeout=5) and LOWER.acquire(timeout=5) else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        going = False
        for worker in workers:
            worker.join()


@in_a_new_process
def test_a_fork_does_not_wait_for_the_lock_of_an_object():
    lock, held, done = object_lock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    mine = object_lock()
    try:
        with mine:
            child = os.fork()
            if child == 0:
                free = lock.acquire(timeout=5)
                os._exit(0 if free and mine._is_owned() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert not lock.acquire(blocking=False)
    finally:
        done.set()
        holder.join()


@in_a_new_process
def test_a_lock_that_comes_while_a_fork_waits_is_awaited_too():
    """As a module's does that another thread imports and uses at once."""
    held, late = threading.Event(), []

    def work():
        with UPPER:
            held.set()
            time.sleep(0.04)  # the fork has looked at the locks that there are
            late.append(fork_safe_lock())
            late[0].acquire()
        time.sleep(0.3)
        late[0].release()

    worker = threading.Thread(target=work)
    worker.start()
    held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if late[0].acquire(timeout=5) else 1)
    worker.join()
    assert os.waitpid(child, 0)[1] == 0


@in_a_new_process
def test_a_fork_does_not_wait_for_the_lock_of_an_import_that_has_failed():
    """An exception that is kept may keep it; nobody holds it."""
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    fork.time = types.SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    kept = importlib._bootstrap._get_module_lock("duograph.no_such_module")
    for _ in range(5):
        begun = now[0]
        child = os.fork()
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert now[0] - begun == pytest.approx(fork._LONG, abs=0.002)
    assert kept.owner is None


@in_a_new_process
def test_threads_may_fork_at_the_same_time():
    """Each gives back what it took itself, and all of it."""
    ends = []

    def forks():
        for _ in range(30):
            child = os.fork()
            if child == 0:
                os._exit(0 if UPPER.acquire(timeout=5) and LOWER.acquire(timeout=5) else 1)
            ends.append(os.waitpid(child, 0)[1])

    workers = [threading.Thread(target=forks) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert ends == [0] * 90
    for lock in (UPPER, LOWER):
        assert lock.acquire(timeout=5)
        lock.release()


@needs_forks
def test_no_import_is_under_way_when_a_process_forks(tmp_path):
    """The lock of a module that another thread imports would stay locked in the child, for ever.

    Threads switch as often as they can: between the look at the locks and the fork, too.
    """
    for k in range(30):
        (tmp_path / f"duograph_late_{k}.py").write_text("x = [i for i in range(50)]\n")
    program = f"""
        import importlib, os, signal, sys, threading, warnings
        import duograph.base.fork
        duograph.base.fork._PATIENCE = 100.0  # seconds that the machine may stall
        warnings.simplefilter("ignore")
        sys.path.insert(0, {str(tmp_path)!r})
        sys.dont_write_bytecode = True
        sys.setswitchinterval(1e-6)

        def imports():
            for k in range(30):
                importlib.import_module(f"duograph_late_{{k}}")

        ends = set()
        for _ in range(25):
            for k in range(30):
                sys.modules.pop(f"duograph_late_{{k}}", None)
            thread = threading.Thread(target=imports)
            thread.start()
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                imports()
                threading.Thread(target=imports).start()
                os._exit(0)
            ends.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            thread.join()
        print(ends)
    """
    assert python(program) == "{0}\n"
