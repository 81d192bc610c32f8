"""Ctrl-C in native programs: ``dg_poll`` lets Python handle pending signals, ``dg_step`` does so before calling Python.

A Python function that is called while a signal is pending handles it before its first line, where it cannot catch what
the handler raises, and ctypes would drop it. So native code looks after signals before it calls Python. What a handler
has raised waits here until the program has ended.
"""

from __future__ import annotations

import threading
from typing import Any

from duograph.runtime.kernels import kernels
from duograph.runtime.kernels.status import HOST
from duograph.runtime.python.asm import Function, Module

__all__ = ["POLL", "provide", "raise_interrupt"]

POLL = "dg_poll"

_raised: dict[int, BaseException] = {}  # by thread: what signal handlers have raised while it was in native code


def _interrupted(_: object, error: BaseException | None, trace: Any) -> None:
    """Called by native code with what a signal handler raised."""
    if error is not None:
        _raised[threading.get_ident()] = error.with_traceback(trace)


def raise_interrupt() -> None:
    """Raises what interrupted the native program that this thread was in."""
    error = _raised.pop(threading.get_ident(), None)
    if error is not None:
        raise error


def _poll(module: Module) -> Function:
    """``i32 dg_poll(ptr bufs, ptr dims)``, with or without the GIL: `HOST` if a handler has raised, else 0."""
    f = Function("i32", POLL, "ptr bufs, ptr dims", module, linkage="")
    error, status = f.space("ptr", 3), f.variable("i32", 0)
    held = f.api("PyGILState_Ensure")
    with f.if_(f.api("PyErr_CheckSignals").ne(0)):
        parts = error, error + 8, error + 16  # type, value, traceback
        f.api("PyErr_Fetch", *parts)
        f.api("PyErr_NormalizeException", *parts)
        with f.if_(f.load("ptr", parts[2]).eq(None)):
            f.store(f.hold(f.word("None")), parts[2])
        answer = f.api("PyObject_Vectorcall", f.word("interrupted"), error, 3, None)
        f.api("PyErr_Clear")
        f.drop(answer)
        for part in parts:
            f.release(f.take(part))
        status.set(HOST)
    f.api("PyGILState_Release", held)
    f.ret(status.get())
    return f


def _step(module: Module) -> Function:
    """``i32 dg_step(ptr bufs, ptr dims)``: what Python answers, unless a handler has raised."""
    f = Function("i32", "dg_step", "ptr bufs, ptr dims", module, linkage="")
    status = f.call("i32", POLL, f.arg("bufs"), f.arg("dims"))
    with f.if_(status.ne(0)):
        f.ret(status)
    f.ret(f.call_at("i32 (ptr, ptr)", f.word("python_step"), f.arg("bufs"), f.arg("dims")))
    return f


def provide(symbol: str, step: int) -> None:
    """Makes ``dg_poll`` known to kernels, and ``symbol``: a function that polls before it calls the one at ``step``."""
    objects = {"None": None, "interrupted": _interrupted}
    module = Module("dg_interrupt_words", objects, numbers={"python_step": step})
    loaded = module.load([_poll(module), _step(module)], [POLL, "dg_step"])
    kernels.provide(POLL, loaded.address(POLL))
    kernels.provide(symbol, loaded.address("dg_step"))
