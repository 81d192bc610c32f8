"""Rows that are made by threads or processes beside the one that asks for them: in order, with the same random numbers.

`ordered` maps a function over items with several workers, at most so many items ahead of who asks. `prefetched` runs a
whole iterator in a thread. Workers are those of `concurrent.futures`; processes are forked, so that functions and
sources need not be picklable: only items and results are. They end with the process that made them, however it ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from queue import SimpleQueue
from typing import Any

from . import config

_PR_SET_PDEATHSIG = 1
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
        processes: forked processes, not threads.

    Raises:
        RuntimeError: a process has died.
    """
    if workers == 1:
        yield from map(function, items)
        return
    ahead = max(workers, config.get_prefetch_size())
    pool = _processes(function, workers) if processes else ThreadPoolExecutor(workers, "duograph-data")
    call = _in_worker if processes else function
    waiting: deque[Future[Any]] = deque()
    source, ended = iter(items), False
    error: Exception | None = None
    try:
        while not ended or waiting:
            while not ended and len(waiting) < ahead:
                try:
                    waiting.append(pool.submit(call, next(source)))
                except StopIteration:
                    ended = True
                except Exception as raised:  # noqa: BLE001 - raised below, after the rows before it
                    ended, error = True, raised
            if waiting:
                yield _result(waiting.popleft())
        if error is not None:
            raise error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _result(future: Future[Any]) -> Any:
    try:
        return future.result()
    except BrokenProcessPool:
        raise RuntimeError(
            "a worker process of the data pipeline has ended: it was killed (was there enough memory?) or has crashed."
        ) from None


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
    with contextlib.suppress(OSError, AttributeError):  # elsewhere than on Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _in_worker(item: Any) -> Any:
    return _here.function(item)


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
