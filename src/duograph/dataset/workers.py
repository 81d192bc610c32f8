"""Rows that are made by threads or processes beside the one that asks for them: in order, with the same random numbers.

`ordered` maps a function over items with several workers, which run ahead of the consumer by a limited number of items.
`prefetched` runs a whole iterator in a thread.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, NamedTuple

from . import config
from .processes import Failed, Processes, WorkerError

_TURN = 0.005
_MOST_AT_ONCE, _MOST_BYTES = 64, 2**20


def workers_of(given: Any) -> int:
    """The number of workers of a node: what it was given, else what ``config`` was.

    Raises:
        TypeError: it is not an int.
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


class Job(NamedTuple):
    """Rows as a function of items: what a node above may have its workers do together with its own."""

    function: Callable[[Any], Any]
    items: Iterable[Any]
    workers: int
    processes: bool
    known: int | None = None
    """How many rows there are, if that is known."""
    seed: int | None = None
    """See `Processes`."""

    def rows(self) -> Iterator[Any]:
        """The rows; see `ordered`."""
        return ordered(*self[:4], seed=self.seed)


def ordered(
    function: Callable[..., Any],
    items: Iterable[Any],
    workers: int,
    processes: bool = False,
    ahead: int | None = None,
    placed: bool = False,
    seed: int | None = None,
) -> Iterator[Any]:
    """``map(function, items)``, made by several workers; items are drawn by who asks.

    Args:
        function: what is done; with threads it is called by several at once.
        items: its arguments.
        workers: how many. 1: nothing runs beside who asks.
        processes: forked processes, not threads; they get items in groups that take some milliseconds.
        ahead: how many items at most. Default ``None``: as many as ``config`` says.
        placed: see `Processes`.
        seed: see `Processes`.

    Raises:
        RuntimeError: a process has died.
    """
    if workers == 1:
        yield from map(function, items)
        return
    most = max(workers, config.get_prefetch_size()) if ahead is None else ahead
    rooms = max(most, 2 * workers)
    pool: Any = Processes(function, workers, rooms, placed, seed) if processes else _Threads(function, workers)
    waiting: deque[Any] = deque()
    source, size, ended, is_whole = iter(items), 1, False, False
    error: Exception | None = None
    try:
        while not ended or waiting:
            while not ended and len(waiting) < (most if size == 1 else 2 * workers):
                group: list[Any] = []
                try:
                    while len(group) < size:
                        group.append(next(source))
                except StopIteration:
                    ended = True
                except Exception as raised:  # noqa: BLE001 - raised below, after the rows before it
                    ended, error = True, raised
                if group:
                    waiting.append(pool.submit(group))
            if waiting:
                results, seconds = pool.result(waiting.popleft())
                if processes:
                    size = _group_size(results, seconds)
                for result in results:
                    if isinstance(result, Failed):
                        raise result.error from WorkerError(result.text)
                    yield result
        is_whole = True
        if error is not None:
            raise error
    finally:  # what is still running is waited for if that is nothing: CPython 3.11 may stumble over its end at exit
        pool.close(is_whole)


class _Threads:
    """What `Processes` are, with threads."""

    def __init__(self, function: Callable[[Any], Any], workers: int) -> None:
        self._pool, self._function = ThreadPoolExecutor(workers, "duograph-data"), function

    def submit(self, group: list[Any]) -> Future[Any]:
        return self._pool.submit(lambda: [self._function(item) for item in group])

    def result(self, future: Future[Any]) -> tuple[list[Any], float]:
        if (error := future.exception()) is not None:
            trace = error.__traceback__
            raise error.with_traceback(trace and trace.tb_next)  # without the frame of the pool
        return future.result(), 0.0

    def close(self, wait: bool) -> None:
        self._pool.shutdown(wait=wait, cancel_futures=True)


def _group_size(results: list[Any], seconds: float) -> int:
    """How many items a process gets at once: as many as take it `_TURN`, since handing over costs a third of a
    millisecond, but no more than `_MOST_AT_ONCE`, in bytes of their results too."""
    first = results[0]
    each = sum(getattr(x, "nbytes", 0) for x in first) if isinstance(first, tuple | list) else 0
    by_time = int(_TURN * len(results) / max(seconds, 1e-9))
    return max(1, min(by_time, _MOST_AT_ONCE, _MOST_BYTES // max(each, 1)))


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
