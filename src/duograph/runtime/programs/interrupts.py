"""Ctrl-C in native programs: ``dg_poll`` has Python look after signals, ``dg_step`` does so before it calls Python.

A Python function that is called while a signal is pending handles it before its first line, where it cannot catch what
the handler raises, and ctypes would drop it. So native code looks after signals before it calls Python. What a handler
has raised waits here until the program has ended.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from duograph.runtime.kernels import kernels
from duograph.runtime.kernels.status import HOST
from duograph.runtime.launch.words import decref, incref
from duograph.runtime.machine import code
from duograph.runtime.python.asm import Function, Words, module

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


def _poll(words: Words) -> Function:
    """``i32 dg_poll(ptr bufs, ptr dims)``, with or without the GIL: `HOST` if a handler has raised, else 0."""
    f = Function("i32", POLL, "ptr bufs, ptr dims", words, linkage="")
    error, status = f.space("ptr", 3), f.variable("i32", 0)
    held = f.api("i32", "PyGILState_Ensure")
    with f.if_(f.api("i32", "PyErr_CheckSignals").ne(0)):
        parts = error, error + 8, error + 16  # type, value, traceback
        f.api("void", "PyErr_Fetch", *parts)
        f.api("void", "PyErr_NormalizeException", *parts)
        with f.if_(f.load("ptr", parts[2]).eq(None)):
            f.store(incref(f, f.word("None")), parts[2])
        answer = f.api("ptr", "PyObject_Vectorcall", f.word("interrupted"), error, 3, f.const("ptr", 0))
        f.api("void", "PyErr_Clear")
        for used in (answer, *(f.load("ptr", part) for part in parts)):
            decref(f, used)
        status.set(HOST)
    f.api("void", "PyGILState_Release", held)
    f.ret(status.get())
    return f


def _step(words: Words) -> Function:
    """``i32 dg_step(ptr bufs, ptr dims)``: what Python answers, unless a handler has raised."""
    f = Function("i32", "dg_step", "ptr bufs, ptr dims", words, linkage="")
    status = f.call("i32", POLL, f.arg("bufs"), f.arg("dims"))
    with f.if_(status.ne(0)):
        f.ret(status)
    f.ret(f.call("i32", f.word("python_step"), f.arg("bufs"), f.arg("dims")))
    return f


def provide(symbol: str, step: int) -> None:
    """Makes ``dg_poll`` known to kernels, and ``symbol``: a function that polls before it calls the one at ``step``."""
    words = Words("dg_interrupt_words")
    text = module([_poll(words), _step(words)], words)
    linked = code.load(text, [POLL, "dg_step", words.symbol])
    values = {"None": id(None), "interrupted": id(_interrupted), "python_step": step}
    for name in words.index:
        value = values.get(name) or ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
        ctypes.c_void_p.from_address(linked.address(words.symbol) + words.at(name)).value = value
    _kept.append(linked)
    kernels.provide(POLL, linked.address(POLL))
    kernels.provide(symbol, linked.address("dg_step"))


_kept: list[object] = []
