"""The thread pool: `dg_parallel`, a loop over chunks that kernels call, written in LLVM text.

    void dg_parallel(void (*fn)(void *ctx, int64_t begin, int64_t end), void *ctx, int64_t begin, int64_t end,
                     int64_t chunk)

calls `fn(ctx, b, min(b + chunk, end))` for b = begin, begin + chunk, ... and returns when all calls have. Always these
calls, whatever the number of threads; which thread makes them, and when, is open. So a kernel whose partial results are
indexed by chunk has the same result on any number of threads.

**Slices.** The range is cut into as many slices as there are threads. Each takes the chunks of its own slice, then what
is left of the others: so a thread finds in its cache what it wrote in the kernel before, if both go through images or
rows in the same order, and a thread that is late or slow holds nobody up.

**Tickets.** The caller opens the region, wakes sleepers, and takes chunks itself until there are none; workers take
chunks beside it. Then it closes the region and waits for those workers only that are still inside. It never waits for
a worker that has not started: one that sleeps, lost its core or is gone after a fork costs parallelism, never time.

**Busy.** A region inside a region, or from a second Python thread while one is open, runs on the calling thread.

**Workers** spin for about 0.1 ms after a region, then sleep on a futex. They start at the first region that can use
them, block all signals but faults (Ctrl-C goes to the main thread) and take over the caller's floating-point mode.

**Fork.** The pool stops before a fork and starts again at the next region, in parent and child. **Exit.** It stops
at interpreter exit.

On systems other than Linux `dg_parallel` is the plain loop on the calling thread.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from duograph.base.config import config
from duograph.base.cores import available_cores
from duograph.base.events import emit
from duograph.base.fork import fork_safe_lock
from duograph.lower.target import current_target

from .text import MAX_THREADS, NAMES, pool_module

__all__ = ["MAX_THREADS", "available_cores", "info", "refresh", "set_threads", "stop", "symbols", "threads"]

# The pool of this process --------------------------------------------------------------------------------------------


class _Pool:
    """The linked pool and its controls. Changing it is done under a lock; regions need none."""

    def __init__(self) -> None:
        target = current_target()
        self.spins = target.spins
        module, functions = pool_module(target, sys.platform == "linux")
        self.loaded = module.load(functions, NAMES)
        self.lock = threading.RLock()
        self.threads = 1
        self.held = False
        self.configure = self._control("dg_pool_configure", ctypes.c_int32, ctypes.c_int32)
        self.release = self._control("dg_pool_release")
        self.reset = self._control("dg_pool_reset")
        self.started = self._control("dg_pool_started", result=ctypes.c_int32)
        self.stop = self._control("dg_pool_stop")
        self.take = self._control("dg_pool_take", ctypes.c_int32, result=ctypes.c_int32)
        self.resize(_default_threads())
        atexit.register(self.shut_down)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self.before_fork, after_in_parent=self.after_fork, after_in_child=self.after_fork_in_child
            )

    def _control(self, name: str, *arguments: type, result: type | None = None) -> Callable[..., Any]:
        return ctypes.CFUNCTYPE(result, *arguments)(self.loaded.address(name))

    def hold(self) -> bool:
        """Keep regions out and end the workers; False if a region does not end within some seconds."""
        self.held = bool(self.take(1_000_000))
        if self.held:
            self.stop()
        return self.held

    def let_go(self) -> None:
        """Let regions in again, if they are kept out."""
        if self.held:
            self.held = False
            self.release()

    def resize(self, count: int) -> None:
        with self.lock:
            self.hold()
            # More threads than cores: a spinning thread takes its core from one that works.
            self.configure(count - 1, self.spins if count <= available_cores() else 50)
            self.threads = count
            self.let_go()
        emit("threads", count=count)

    def shut_down(self) -> None:
        with self.lock:
            if self.hold():
                self.configure(0, 0)
                self.let_go()

    def before_fork(self) -> None:
        self.lock.acquire()  # other threads may fork at the same time: each releases what it has taken itself
        self.hold()

    def after_fork(self) -> None:
        if self.lock._is_owned():  # type: ignore[attr-defined]  # else it was made while this thread was about to fork
            self.let_go()
            self.lock.release()

    def after_fork_in_child(self) -> None:
        self.reset()
        self.held = False
        if self.lock._is_owned():  # type: ignore[attr-defined]
            self.lock.release()
        else:
            self.lock = threading.RLock()


_the_pool: _Pool | None = None
_creation = fork_safe_lock()
_chosen_threads = 0


def _pool() -> _Pool:
    global _the_pool
    if _the_pool is None:
        with _creation:
            if _the_pool is None:
                _the_pool = _Pool()
    return _the_pool


def set_threads(count: int) -> None:
    """Use `count` threads for a kernel, the calling one among them; 0: the number of cores, or the environment's.

    Raises:
        ValueError: negative, or above `MAX_THREADS`.
    """
    global _chosen_threads
    if not 0 <= count <= MAX_THREADS:
        raise ValueError(f"expected 0 to {MAX_THREADS} threads, got {count}")
    _chosen_threads = count
    refresh()


def refresh() -> None:
    """Look again how many threads there should be, and on which cores they may run."""
    if _the_pool is not None:
        _the_pool.resize(_default_threads())


def threads() -> int:
    """How many threads a kernel uses, the calling one among them."""
    return _the_pool.threads if _the_pool is not None else _default_threads()


def stop() -> None:
    """End the workers; the next region that can use them starts them again."""
    if _the_pool is not None:
        with _the_pool.lock:
            _the_pool.hold()
            _the_pool.let_go()


def info() -> dict[str, int]:
    """Figures for `explain()`: threads that are to be used, workers that run, cores."""
    workers = _the_pool.started() if _the_pool is not None else 0
    return {"threads": threads(), "workers": workers, "cores": available_cores()}


def symbols() -> dict[str, int]:
    """What kernels may import, by name: the pool's entry. Functions of libc are found without being listed."""
    return {"dg_parallel": _pool().loaded.address("dg_parallel")}


def _default_threads() -> int:
    options = config()
    return min(_chosen_threads or options.num_threads or options.omp_num_threads or available_cores(), MAX_THREADS)
