"""The thread that runs asynchronous collectives, in the order in which they were asked for.

While it has something to do, collectives that are asked for synchronously queue up behind: all ranks run the same
calls in the same order, whichever way each was asked for, and at any time one thread at most uses MPI.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from .places import place, running

__all__ = ["Work", "Worker"]


class Work:
    """What an asynchronous call gives.

    Args:
        run: the call.
        then: what happens to its result, in the thread that waits for it. Default: whoever asks gets it (`result`).
        worker: who runs it.

    Attributes:
        seconds: how long the call took, once it is done.
    """

    def __init__(
        self, run: Callable[[], Any], then: Callable[[Any], Any] | None = None, worker: Worker | None = None
    ) -> None:
        self._run, self._then, self._place = run, then, place()
        self._done = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None
        self._is_taken = self._is_looked_at = False
        self._worker = worker
        self.seconds = 0.0

    @classmethod
    def done(cls, result: Any) -> Work:
        """A call that is over."""
        made = cls(lambda: result)
        made.perform()
        return made

    @classmethod
    def failed(cls, error: BaseException) -> Work:
        """A call that has raised."""
        made = cls(lambda: None)
        made._error = error
        made._done.set()
        return made

    def perform(self) -> None:
        """Runs the call; for the worker."""
        start = time.perf_counter()
        try:
            with running(self._place, self._worker):
                self._result = self._run()
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits
            self._error = error
        self.seconds = time.perf_counter() - start
        self._done.set()

    def is_completed(self) -> bool:
        """Whether the transfer is done."""
        return self._done.is_set()

    def wait(self) -> bool:
        """Waits until it is done and its result is where it belongs.

        Returns:
            ``True``.
        """
        result = self.result()
        if self._then is not None and not self._is_taken:
            self._is_taken = True
            self._then(result)
            self._result = None
        return True

    def result(self) -> Any:
        """What the call gives, as soon as it is done; raises what it has raised."""
        self._come()
        self._is_looked_at = True
        if self._error is not None:
            raise self._error
        return self._result

    def _come(self) -> None:
        """Waits until it is done."""
        if self._worker is not None:
            self._worker.waiting += 1  # a thread more, or less, would only change how long it sleeps
        try:
            while not self._done.wait(0.1):  # in pieces, for Ctrl-C
                pass
        finally:
            if self._worker is not None:
                self._worker.waiting -= 1

    def is_lost(self) -> bool:
        """Whether it has raised, and nobody has learned that."""
        return self._error is not None and not self._is_looked_at


class Worker:
    """A queue and, once something is in it, a thread, which calls ``begin`` first.

    Attributes:
        waiting: how many threads wait for something that it does.
    """

    def __init__(self, name: str, begin: Callable[[], None]) -> None:
        self._name, self._begin = name, begin
        self._queue: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._last: Work | None = None
        self._failed: list[Work] = []
        self.waiting = 0

    def submit(self, run: Callable[[], Any], then: Callable[[Any], Any] | None = None) -> Work:
        """Runs a call some time."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=self._name, daemon=True)
            self._thread.start()
        self._last = work = Work(run, then, self)
        self._queue.put(work)
        return work

    def run(self, call: Callable[[], Any]) -> Any:
        """Runs a call now, after those that were asked for before it."""
        self.drain()
        return call()

    def drain(self) -> None:
        """Waits until everything that was asked for has been run."""
        last = self._last
        if last is not None:
            last._come()
            self._last = None

    def stop(self) -> None:
        """Ends the thread, after what it has to do."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(5)
            self._thread = None

    def raise_lost(self) -> None:
        """Raises what the first call has raised whose result nobody has asked for."""
        for work in self._failed:
            if work.is_lost():
                work.result()

    def _serve(self) -> None:
        self._begin()
        while (work := self._queue.get()) is not None:
            work.perform()
            if work.is_lost():
                self._failed.append(work)
