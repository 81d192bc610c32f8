"""The thread pool: each chunk once, the same result on any number of threads, and no way to make it hang."""

import multiprocessing
import os
import threading
import time

import pytest

import duograph as ms
from duograph.runtime.machine.code import load
from duograph.runtime.pool import pool
from tests.unit.runtime.native import COUNT, NESTED, SUM, call, count, np
from tests.unit.runtime.processes import SECONDS, alone, child_agrees, python


@pytest.fixture(autouse=True)
def default_threads():
    yield
    pool.set_threads(0)


@pytest.fixture(params=[1, 2, 4])
def threads(request):
    pool.set_threads(request.param)
    return request.param


def test_each_chunk_once(threads):
    for elements, chunk in [(0, 1), (1, 1), (64, 1), (65, 8), (1000, 7), (1000, 1000), (1000, 5000)]:
        assert np.all(count(elements, chunk) == 1)
    assert pool.info()["workers"] == threads - 1


def test_workers_start_when_they_are_needed():
    pool.set_threads(3)
    count(64, chunk=64)
    assert pool.info()["workers"] == 0
    count(64, chunk=32)
    assert pool.info()["workers"] == 2


def test_sums_have_the_same_bits_on_any_number_of_threads():
    x = np.random.default_rng(0).normal(size=100_050).astype(np.float32)
    results = []
    for threads in (1, 2, 4):
        pool.set_threads(threads)
        partial = np.zeros(1001, np.float32)
        call(load(SUM, ["sums"], pool.symbols()), "sums", [x, partial], [len(x)])
        results.append(partial.tobytes())
    assert len(set(results)) == 1


def many(rounds):
    """That many regions, and a tenth of them: on a machine with other work each may wait for a worker's time slice."""
    return pytest.mark.parametrize("rounds", [rounds // 10, pytest.param(rounds, marks=pytest.mark.timed)])


@many(100_000)
def test_many_regions(rounds):
    pool.set_threads(2)
    assert np.all(count(16, chunk=1, rounds=rounds) == rounds)


@many(2_000)
def test_more_threads_than_cores(rounds):
    pool.set_threads(8)
    assert np.all(count(64, chunk=1, rounds=rounds) == rounds)


def test_a_region_in_a_region(threads):
    x = np.zeros((50, 16), np.int64)
    call(load(NESTED, ["nested"], pool.symbols()), "nested", [x], [50])
    assert np.all(x == 1)


@many(20_000)
def test_two_python_threads_at_once(threads, rounds):
    results = {}

    def work(k):
        results[k] = count(64, chunk=2, rounds=rounds)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.all(results[k] == rounds) for k in range(3))


@many(50_000)
def test_the_number_of_threads_may_change_while_regions_run(rounds):
    results = []
    worker = threading.Thread(target=lambda: results.append(count(64, chunk=2, rounds=rounds)))
    worker.start()
    for k in range(50):
        pool.set_threads(1 + k % 3)
    worker.join()
    assert np.all(results[0] == rounds)


def test_stop_and_start_again():
    pool.set_threads(2)
    count()
    for _ in range(20):
        pool.stop()
        assert pool.info()["workers"] == 0
        assert np.all(count() == 1)
        assert pool.info()["workers"] == 1


def test_fork_in_the_middle(threads):
    count()
    for _ in range(5):
        assert child_agrees(lambda: np.all(count(rounds=100) == 100) and pool.info()["workers"] == threads - 1)
        assert np.all(count(rounds=100) == 100)


def test_fork_while_another_thread_computes():
    pool.set_threads(2)
    going = True
    visits = []

    def work():
        while going:
            visits.append(np.all(count(rounds=500) == 500))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(10):
            assert child_agrees(lambda: np.all(count(rounds=100) == 100))
    finally:
        going = False
        worker.join()
    assert visits and all(visits)


def test_threads_fork_at_the_same_time():
    """Each gives back the pool that it has taken itself; one did not, and nobody computed any more."""
    pool.set_threads(2)
    ends = []

    def forks():
        child = os.fork()
        if child == 0:
            os._exit(0)
        ends.append(os.waitpid(child, 0)[1])

    workers = [threading.Thread(target=forks, daemon=True) for _ in range(3)]
    with pool._pool().lock:
        for worker in workers:
            worker.start()
        time.sleep(0.1)  # by now all of them wait
    for worker in workers:
        worker.join(80)
    assert ends == [0] * 3
    assert np.all(count(rounds=100) == 100)


def _in_a_child(rounds):
    return int(count(rounds=rounds).sum())


def test_multiprocessing_by_fork():
    pool.set_threads(2)
    count()
    with multiprocessing.get_context("fork").Pool(2) as processes:
        assert processes.map(_in_a_child, [1, 10, 100]) == [64, 640, 6400]


@pytest.mark.timeout(3 * SECONDS + 60)
def test_a_process_ends_with_workers_alive():
    program = """
    from duograph.runtime.pool import pool
    from tests.unit.runtime.native import count
    pool.set_threads(4)
    assert count(rounds=1000).min() == 1000
    assert pool.info()["workers"] == 3
    """
    for _ in range(3):
        assert python(program) == ""


def test_a_forked_child_ends_by_itself():
    program = """
    import os
    from tests.unit.runtime.native import count
    count()
    child = os.fork()
    assert count(rounds=100).min() == 100
    if child:
        assert os.waitpid(child, 0)[1] == 0
    """
    assert python(program, DUOGRAPH_NUM_THREADS="2") == ""


def test_a_process_ends_while_a_daemon_thread_computes():
    program = """
    import threading, time
    from tests.unit.runtime.native import count
    threading.Thread(target=count, args=(64, 1, 10**12), daemon=True).start()
    time.sleep(0.3)
    """
    assert python(program, DUOGRAPH_NUM_THREADS="2") == ""


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"DUOGRAPH_NUM_THREADS": "3", "OMP_NUM_THREADS": "2"}, 3),
        ({"OMP_NUM_THREADS": "5,2"}, 5),
        ({"OMP_NUM_THREADS": "many"}, None),
        ({}, None),
    ],
)
def test_threads_from_the_environment(environment, expected):
    program = """
    from duograph.runtime.pool import pool
    from tests.unit.runtime.native import count
    count()
    print(pool.threads(), pool.available_cores())
    """
    cleared = {"DUOGRAPH_NUM_THREADS": "0", "OMP_NUM_THREADS": ""}
    threads, cores = map(int, python(program, **{**cleared, **environment}).split())
    assert threads == (expected or cores)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux only")
def test_threads_from_affinity():
    cores, threads = os.sched_getaffinity(0), pool.available_cores()
    count()
    assert pool.threads() == threads
    try:
        ms.runtime.set_cpu_affinity(True, [min(cores)])
        assert pool.threads() == 1
    finally:
        os.sched_setaffinity(0, cores)
        pool.refresh()
    assert pool.threads() == threads <= len(cores)


def test_threads_from_the_context():
    try:
        ms.set_context(runtime_num_threads=3)
        assert pool.threads() == 3
        assert np.all(count() == 1)
        assert pool.info()["workers"] == 2
    finally:
        ms.set_context(runtime_num_threads=0)
    assert pool.threads() == pool.available_cores()


@pytest.mark.parametrize("wrong", [-1, pool.MAX_THREADS + 1])
def test_impossible_numbers_of_threads(wrong):
    with pytest.raises(ValueError, match=f"expected 0 to {pool.MAX_THREADS} threads, got {wrong}"):
        pool.set_threads(wrong)


def signals_that_workers_block():
    """Masks of the threads that the pool adds to this process."""
    pool.set_threads(2)
    kept = load(COUNT, ["count"], pool.symbols())  # starts threads that end
    before = set(os.listdir("/proc/self/task"))
    count()
    masks = []
    for task in set(os.listdir("/proc/self/task")) - before:
        with open(f"/proc/self/task/{task}/status", encoding="ascii") as file:
            masks.append(next(int(line.split()[1], 16) for line in file if line.startswith("SigBlk")))
    return masks


def test_workers_leave_signals_to_the_main_thread():
    """A signal handled by a worker would not wake the main thread out of a wait."""
    (mask,) = alone(signals_that_workers_block)
    assert mask & 1 << 1, "SIGINT"


def test_workers_take_over_the_floating_point_mode():
    """A library that sets "flush to zero" on the calling thread must not make results depend on threads."""
    program = """
    import ctypes, numpy as np
    from duograph.runtime.pool import pool
    from duograph.runtime.machine.code import load
    from tests.unit.runtime.native import call, count
    pool.set_threads(2)
    count()                                     # the worker starts in the usual mode
    text = '''
    declare void @dg_parallel(ptr, ptr, i64, i64, i64)
    declare void @llvm.x86.sse.stmxcsr(ptr)
    declare void @llvm.x86.sse.ldmxcsr(ptr)
    define internal void @chunk(ptr %x, i64 %begin, i64 %end) nounwind {
      %at = getelementptr float, ptr %x, i64 %begin
      %v = load volatile float, ptr %at
      %w = fmul float %v, 0.5
      store float %w, ptr %at
      ret void
    }
    define i32 @flushed(ptr %bufs, ptr %dims) nounwind {
      %x = load ptr, ptr %bufs
      %old = alloca i32
      %new = alloca i32
      call void @llvm.x86.sse.stmxcsr(ptr %old)
      %mode = load i32, ptr %old
      %flush = or i32 %mode, 32768
      store i32 %flush, ptr %new
      call void @llvm.x86.sse.ldmxcsr(ptr %new)
      call void @dg_parallel(ptr @chunk, ptr %x, i64 0, i64 100000, i64 100)
      call void @dg_parallel(ptr @chunk, ptr %x, i64 0, i64 100000, i64 1)
      call void @llvm.x86.sse.ldmxcsr(ptr %old)
      ret i32 0
    }'''
    x = np.full(100_000, np.finfo(np.float32).tiny, np.float32)
    call(load(text, ["flushed"], pool.symbols()), "flushed", [x], [])
    assert not x.any()
    """
    import platform

    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("x86 only")
    python(program)
