"""Rows that are made by threads or processes beside the one that asks for them: in order, with the same random numbers.

`ordered` maps a function over items with several workers, at most so many items ahead of who asks. `prefetched` runs a
whole iterator in a thread. Workers are those of `concurrent.futures`; processes are forked, so that functions and
sources need not be picklable: only items and results are. They end with the process that made them, however it ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from queue import SimpleQueue
from typing import Any, NamedTuple, cast

from duograph.base.tracebacks import folded_text

from . import config

_TURN = 0.005
_MOST_AT_ONCE, _MOST_BYTES = 64, 2**20
_here = threading.local()
"""``function``: what this process is a worker for; its one thread begins it and does the work."""


def workers_of(given: Any) -> int:
    """The number of workers of a node: what it was given, else what ``config`` was.

    Raises:
        TypeError: it is no int.
        ValueError: it is not positive.
    """
    number = config.chosen_workers() if given is None else given
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(
            f"Argument num_parallel_workers with value {given} is not of type [<class 'int'>], but got {type(given)}."
        )
    if number < 1:
        raise ValueError("num_parallel_workers is not within the required interval of [1, cpu_thread_cnt].")
    return number


def ordered(
    function: Callable[[Any], Any], items: Iterable[Any], workers: int, processes: bool = False
) -> Iterator[Any]:
    """``map(function, items)``, made by several workers; items are drawn by who asks.

    Args:
        function: what is done; with threads it is called by several at once.
        items: its arguments.
        workers: how many. 1: nothing runs beside who asks.
        processes: forked processes, not threads; they get items in groups that take some milliseconds.

    Raises:
        RuntimeError: a process has died.
    """
    if workers == 1:
        yield from map(function, items)
        return
    ahead = max(workers, config.get_prefetch_size())
    pool = _processes(function, workers) if processes else ThreadPoolExecutor(workers, "duograph-data")
    call = _in_worker if processes else partial(_in_thread, function)
    waiting: deque[Future[Any]] = deque()
    source, size, ended, is_whole = iter(items), 1, False, False
    error: Exception | None = None
    try:
        while not ended or waiting:
            while not ended and len(waiting) < (ahead if size == 1 else 2 * workers):
                group: list[Any] = []
                try:
                    while len(group) < size:
                        group.append(next(source))
                except StopIteration:
                    ended = True
                except Exception as raised:  # noqa: BLE001 - raised below, after the rows before it
                    ended, error = True, raised
                if group:
                    waiting.append(pool.submit(call, group))
            if waiting:
                results, seconds = _result(waiting.popleft())
                if processes:
                    size = _group_size(results, seconds)
                for result in results:
                    if isinstance(result, _Failed):
                        raise result.error from WorkerError(result.text)
                    yield result
        is_whole = True
        if error is not None:
            raise error
    finally:  # what is still running is waited for if that is nothing: CPython 3.11 may stumble over its end at exit
        pool.shutdown(wait=is_whole, cancel_futures=True)


def _group_size(results: list[Any], seconds: float) -> int:
    """How many items a process gets at once: as many as take it `_TURN`, since handing over costs a third of a
    millisecond, but no more than `_MOST_AT_ONCE`, in bytes of their results too."""
    first = results[0]
    each = sum(getattr(x, "nbytes", 0) for x in first) if isinstance(first, tuple | list) else 0
    by_time = int(_TURN * len(results) / max(seconds, 1e-9))
    return max(1, min(by_time, _MOST_AT_ONCE, _MOST_BYTES // max(each, 1)))


def _in_thread(function: Callable[[Any], Any], group: list[Any]) -> tuple[list[Any], float]:
    return [function(item) for item in group], 0.0


def _result(future: Future[Any]) -> Any:
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        raise RuntimeError(
            "a worker process of the data pipeline has ended: it was killed (was there enough memory?) or has crashed."
        )
    if error is not None:
        trace = error.__traceback__
        raise error.with_traceback(trace and trace.tb_next)  # without the frame of the pool
    return future.result()


def _processes(function: Callable[[Any], Any], workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, context, _begin_worker, (function, os.getpid()))
    with warnings.catch_warnings():  # of CPython 3.12 and later, about threads: ours are ready for a fork
        warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
        pool.submit(os.getpid)  # starts them all
    return pool


def _begin_worker(function: Callable[[Any], Any], parent: int) -> None:
    """The first thing that a worker process does: it will end with its parent, and leaves Ctrl-C to it."""
    _here.function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ends = os.pidfd_open(parent)
    except (OSError, AttributeError):  # elsewhere than on Linux, or not allowed in this container
        ends = cast("BaseProcess", multiprocessing.parent_process()).sentinel
    if os.getppid() != parent:
        os._exit(1)
    threading.Thread(target=_end_after, args=(ends,), name="duograph-parent", daemon=True).start()


def _end_after(parent: int) -> None:
    """Ends this process when the one behind a file descriptor has ended, by whatever means.

    ``PR_SET_PDEATHSIG`` is no answer: its signal is sent when the *thread* that forked ends. A worker that it kills may
    hold the lock of the queue of calls; one that comes later waits for that lock, and the exit of Python for that one.
    """
    with contextlib.suppress(OSError):
        wait([parent])
    os._exit(1)


class WorkerError(Exception):
    """What led to an error in a worker process, as text: tracebacks do not leave their process."""

    def __str__(self) -> str:
        return f"in a worker process:\n{self.args[0].rstrip()}"


class _Failed(NamedTuple):
    error: Exception
    text: str


def _in_worker(group: list[Any]) -> tuple[list[Any], float]:
    """The results of a group of items, up to the first error, and how long they took."""
    begin, results = time.perf_counter(), []
    for item in group:
        try:
            results.append(_here.function(item))
        except Exception as error:  # noqa: BLE001 - raised again in the parent
            results.append(_Failed(error, folded_text(error.__cause__ or error)))
            break
    return results, time.perf_counter() - begin


_END = object()
MOST = 256 * 2**20


def prefetched(rows: Iterator[Any], depth: int) -> Iterator[Any]:
    """The same rows, made by a thread that is at most ``depth`` rows, or `MOST` bytes of rows like the first, ahead."""
    made: SimpleQueue[Any] = SimpleQueue()
    room, stopped, process = threading.Semaphore(1), threading.Event(), os.getpid()

    def produce() -> None:
        try:
            for number, row in enumerate(rows):
                if number == 0 and (more := min(depth, MOST // max(sum(x.nbytes for x in row), 1)) - 1) > 0:
                    room.release(more)
                made.put((row, None))
                room.acquire()
                if stopped.is_set():
                    break
            end: Any = (_END, None)
        except BaseException as error:  # noqa: BLE001 - raised again where rows are asked for
            end = (_END, error)
        with contextlib.suppress(Exception):
            rows.close()  # type: ignore[attr-defined]
        made.put(end)

    threading.Thread(target=produce, name="duograph-data", daemon=True).start()
    try:
        while True:
            if os.getpid() != process:
                raise RuntimeError("an iterator with workers cannot go on in a forked process: make a new one there.")
            row, error = made.get()
            if row is _END:
                if error is not None:
                    raise error
                return
            room.release()
            yield row
    finally:
        stopped.set()
        room.release()
