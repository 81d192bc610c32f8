"""Processes that work for a pipeline: forked, so that functions and sources need not be picklable, each with a pipe of
its own in each direction.

Large arrays of results do not go through pipes: the worker puts them where the group that it works on has room, in
memory that was shared before the fork (anonymous: nothing is to be unlinked, however everybody ends), and who asks
copies them from there: arrays that lie there would change under a process that is forked later. All else is pickled.
A worker reads its pipe at all times, so that neither side waits for the
other to read; it ends with the process that made it, however that ends.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import multiprocessing
import os
import pickle
import random
import secrets
import select
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from queue import SimpleQueue
from typing import Any, NamedTuple, cast

import numpy as np

from duograph.base.limits import soft_limit
from duograph.base.tracebacks import folded_text
from duograph.tensor.random import manual_seed

_ROOM = 2**28 if sys.platform == "linux" else 2**24
"""Bytes of results that a group may put into shared memory. On Linux it takes none before it is written to."""
_LEAST = 2**12
"""Arrays of fewer bytes are pickled."""
_GRACE = 5.0
"""Seconds until a worker that nobody wants anything from any more ends in the middle of what it does."""

_forking = threading.Lock()
"""Held from the making of pipes until only the two processes that they are for hold them: a worker that another thread
forks in between would keep them open, and neither a killed worker nor the end of its results would be seen."""
_ends: dict[int, list[Connection]] = {}
"""This process's ends of the pipes of all its workers. Whoever is forked must not hold them: they would stay open."""


def _close_ends() -> None:
    global _forking
    _forking = threading.Lock()
    for ends in list(_ends.values()):
        for end in ends:
            end.close()
    _ends.clear()


os.register_at_fork(after_in_child=_close_ends)


class WorkerError(Exception):
    """What led to an error in a worker process, as text: tracebacks do not leave their process."""

    def __str__(self) -> str:
        return f"in a worker process:\n{self.args[0].rstrip()}"


class Failed(NamedTuple):
    """An item whose result is an error, and its traceback."""

    error: BaseException
    text: str

    @classmethod
    def by(cls, error: BaseException) -> Failed:
        """What stands for ``error`` among results."""
        return cls(error, folded_text(error.__cause__ or error))


class _Shared(NamedTuple):
    """An array of a result, in shared memory."""

    start: int
    shape: tuple[int, ...]
    dtype: str


class _Call:
    """A group of items that a worker was given."""

    def __init__(self, room: int | None) -> None:
        self.room = room
        self.data: bytes | None = None
        self.error: Exception | None = None


class _Worker(NamedTuple):
    process: BaseProcess
    tasks: Connection
    results: Connection
    calls: deque[_Call]


class Processes:
    """Forked processes that apply ``function`` to groups of items.

    Args:
        function: what they do.
        workers: how many.
        rooms: how many groups may have shared memory at the same time.
        placed: whether ``function`` takes a second argument: what gives new arrays for results.
        seed: for the global generators (`random`, NumPy's, ours), which start from it and the number of the item at
            every item: what the user's code draws does not depend on which worker it runs in. Default ``None``: each
            worker seeds them once, from the operating system (to do it for an item takes 10 microseconds).
    """

    def __init__(
        self, function: Callable[..., Any], workers: int, rooms: int, placed: bool = False, seed: int | None = None
    ) -> None:
        self._seed = seed
        self._memory = _memory(rooms)
        self._rooms = list(range(rooms)) if self._memory is not None else []
        self._workers: list[_Worker] = []
        self._polled, self._by_number, self._sentinels = select.poll(), dict[int, _Worker](), set[int]()
        ends = _ends[id(self)] = []
        self._ended = Finalize(self, _end, (id(self), self._workers), exitpriority=10)  # or Python would wait for them
        context = multiprocessing.get_context("fork")
        for _ in range(workers):
            with _forking:
                (tasks, own), (results, given) = context.Pipe(duplex=False), context.Pipe(duplex=False)
                ends += own, results
                process = context.Process(
                    target=_work, args=(function, placed, tasks, given, self._memory, os.getpid())
                )
                with warnings.catch_warnings():  # of CPython 3.12 and later, about threads: ours are ready for a fork
                    warnings.filterwarnings("ignore", ".*fork.*", DeprecationWarning)
                    process.start()
                tasks.close()
                given.close()
            self._workers.append(worker := _Worker(process, own, results, deque()))
            for number in (results.fileno(), process.sentinel):
                self._polled.register(number, select.POLLIN)
                self._by_number[number] = worker
            self._sentinels.add(process.sentinel)
        if self._memory is not None and hasattr(mmap, "MADV_DONTFORK"):
            self._memory.madvise(mmap.MADV_DONTFORK)

    def submit(self, group: list[Any]) -> _Call:
        """Gives a group to the worker that has least to do."""
        call = _Call(self._rooms.pop() if self._rooms else None)
        try:
            self._receive(0)
            worker = min(self._workers, key=lambda w: len(w.calls))
            worker.tasks.send_bytes(pickle.dumps((call.room, self._seed, group), 5))
            worker.calls.append(call)
            if self._seed is not None:
                self._seed += len(group)
        except ConnectionError:
            pass  # it has died, which is said where results are asked for
        except Exception as error:  # noqa: BLE001 - raised where its results are asked for
            call.error = error
        return call

    def result(self, call: _Call) -> tuple[list[Any], float]:
        """The results of a group, up to the first error, and how long they took.

        Raises:
            RuntimeError: a process has died.
        """
        while call.data is None and call.error is None:
            self._receive(None)
        if call.error is not None:
            raise call.error
        results, seconds = pickle.loads(cast("bytes", call.data))
        if call.room is not None:
            results = [self._owned(r) if type(r) is tuple else r for r in results]
            self._rooms.append(call.room)
        return results, seconds

    def _receive(self, timeout: int | None) -> None:
        """Takes what workers have sent, or waits until one has.

        Raises:
            RuntimeError: a process has died.
        """
        ready = [number for number, _ in self._polled.poll(timeout)]
        for number in sorted(ready, key=self._sentinels.__contains__):  # what was written before an end is before it
            worker = self._by_number[number]
            try:
                if number in self._sentinels and not worker.results.poll():
                    raise EOFError
                data = worker.results.recv_bytes()
            except (EOFError, OSError):
                raise RuntimeError(
                    "a worker process of the data pipeline has ended: it was killed (was there enough memory?) or has "
                    "crashed."
                ) from None
            worker.calls.popleft().data = data

    def _owned(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            [np.ndarray(x.shape, x.dtype, self._memory, x.start).copy() if isinstance(x, _Shared) else x for x in row]
        )

    def close(self, wait: bool) -> None:
        """Ends the workers when they have done what they have; ``wait``: until then."""
        self._ended()
        for worker in self._workers if wait else ():
            worker.process.join()


def _memory(rooms: int) -> mmap.mmap | None:
    """Memory that processes which are forked share, if it can be had."""
    if soft_limit("RLIMIT_AS") not in (-1, None):  # which also counts what is not touched
        return None
    flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    try:
        return mmap.mmap(-1, rooms * _ROOM, flags)
    except (OSError, ValueError, OverflowError):  # no overcommitment, or too small addresses
        return None


class _Room:
    """Where the arrays of a group's results go."""

    def __init__(self, memory: mmap.mmap, number: int) -> None:
        self._memory, self._start, self._used = memory, number * _ROOM, 0
        self._given: dict[int, tuple[np.ndarray, _Shared]] = {}

    def place(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """A new array, if possible in the room."""
        size = math.prod(shape) * dtype.itemsize
        if size < _LEAST or self._used + size > _ROOM:
            return np.empty(shape, dtype)
        made: np.ndarray = np.ndarray(shape, dtype, self._memory, self._start + self._used)
        self._given[id(made)] = made, _Shared(self._start + self._used, shape, dtype.str)
        self._used += -(-size // 64) * 64
        return made

    def stored(self, result: Any) -> Any:
        """A result whose large arrays are in the room."""
        return tuple([self._stored(x) for x in result]) if type(result) is tuple else result

    def _stored(self, x: Any) -> Any:
        # what has Fortran's order keeps it when it is pickled
        if type(x) is not np.ndarray or x.nbytes < _LEAST or x.dtype.kind not in "biufc" or x.flags.fnc:
            return x
        if id(x) not in self._given:
            made = self.place(x.shape, x.dtype)
            made[...] = x
            x = made
        return self._given[id(x)][1] if id(x) in self._given else x


def _end(key: int, workers: list[_Worker]) -> None:
    """Tells workers that nothing more will come, and nothing more is wanted."""
    for worker in workers:
        with contextlib.suppress(OSError):  # the end of a pipe is not enough: others may have been forked with it
            worker.tasks.send_bytes(b"")
    for end in _ends.pop(key, ()):
        end.close()


def _work(
    function: Callable[..., Any],
    placed: bool,
    tasks: Connection,
    results: Connection,
    memory: mmap.mmap | None,
    parent: int,
) -> None:
    """What a worker process does: groups, one after another. Ctrl-C is left to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ends = os.pidfd_open(parent)
    except (OSError, AttributeError):  # elsewhere than on Linux, or not allowed in this container
        ends = cast("BaseProcess", multiprocessing.parent_process()).sentinel
    if os.getppid() != parent:
        os._exit(1)
    _reseed(secrets.randbits(62))
    given: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(tasks, ends, given), name="duograph-parent", daemon=True).start()
    while data := given.get():
        begin, made = time.perf_counter(), []
        try:
            number, seed, group = pickle.loads(data)
            room = None if memory is None or number is None else _Room(memory, number)
            for place, item in enumerate(group):
                if seed is not None:
                    _reseed(seed + place)
                result = function(item) if room is None or not placed else function(item, room.place)
                made.append(result if room is None else room.stored(result))
        except BaseException as error:  # noqa: BLE001 - raised again in the parent
            made.append(Failed.by(error))
        try:
            results.send_bytes(_pickled(made, time.perf_counter() - begin))
        except OSError:  # nobody wants them any more
            return


def _reseed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(random.getrandbits(32))
    manual_seed(random.getrandbits(63))


def _read(tasks: Connection, parent: int, given: SimpleQueue[bytes]) -> None:
    """Reads what a worker is to do, and ends its process when the one behind a file descriptor has ended.

    ``PR_SET_PDEATHSIG`` is no answer: its signal is sent when the *thread* that forked ends.
    """
    open_ends: list[Any] = [tasks, parent]
    grace: float | None = None
    while True:
        ready = []
        with contextlib.suppress(OSError):
            ready = wait(open_ends, grace)
        if tasks not in ready or parent in ready:
            os._exit(1)
        try:
            data = tasks.recv_bytes()
        except (EOFError, OSError):
            data = b""
        given.put(data)
        if not data:
            open_ends.remove(tasks)
            grace = _GRACE


def _pickled(results: list[Any], seconds: float) -> bytes:
    try:
        return pickle.dumps((results, seconds), 5)
    except Exception:
        for number, result in enumerate(results):
            try:
                pickle.dumps(result, 5)
            except Exception as error:  # noqa: BLE001 - raised again in the parent
                return pickle.dumps(([*results[:number], Failed.by(error)], seconds), 5)
        raise
