"""Reference counts without a call: for long rows of objects that a native call holds while it runs."""

from __future__ import annotations

import sys

from duograph.runtime.python.asm import Function, Value
from duograph.runtime.python.cpython import COUNT, IMMORTAL

__all__ = ["hold", "let_go"]


def hold(f: Function, value: Value) -> None:
    """`Function.hold` of an object that `let_go` releases, without a call where CPython's counts are known."""
    count = f.get(value, COUNT)
    if sys.version_info >= (3, 14):
        f.api("Py_IncRef", value)
    elif sys.version_info >= (3, 12):  # the lower half counts; objects that live for ever have it full
        with f.if_(count.to("i32").ne(IMMORTAL)):
            f.store((count + 1).to("i32"), value)
    else:
        f.set(value, COUNT, count + 1)


def let_go(f: Function, place: Value) -> None:
    """Releases the object at ``place``, which somebody else holds, too, most of the time: without a call then."""
    value, last, done = f.take(place), f.label("last"), f.label("done")
    if sys.version_info < (3, 12):
        count = f.get(value, COUNT)
        f.goto_if(count.eq(1), last)
        f.set(value, COUNT, count - 1)
        f.goto(done)
    f.place(last)
    f.release(value)
    f.place(done)
