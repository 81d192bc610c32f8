"""Errors of a user of operators: raised as data by the function that owns the words, drawn by the one renderer.

Class and message are those that MindSpore raises. What they leave open stands below them, as a note of the exception:
what kind of mistake it is (the code), the user's own expression with the operands that met, and a way out::

    ValueError: proposed_shape '[const vector]{5, -1}' is invalid for input of size 16
    error[DG0413]: a reshape does not keep the number of elements
      --> net.py:8:12
       |
     8 |     return x.reshape(5, -1)
       |            ^^^^^^^^^^^^^^^^ reshape((2, 8), (5, -1))
    help: 16 elements cannot be divided by 5

Only dynamic mode draws. While a graph is captured, the innermost frame that is not of this package is not the line that
is captured; a mistake of the program then either becomes part of it, or comes again in plain Python.
"""

from __future__ import annotations

import re
import sys
from types import FrameType
from typing import TypeVar

from duograph.base.diagnostics import CODES, Diagnostic, Label
from duograph.base.render import render, render_body
from duograph.base.source import is_internal_file, user_span

from .op import state

E = TypeVar("E", bound=Exception)


def user_error(kind: type[E], code: str, message: str, operands: str = "", *, help: str | None = None) -> E:
    """The exception for a mistake of the user, to be raised by the caller.

    Args:
        kind: the class that MindSpore raises.
        code: a key of `CODES`.
        message: what MindSpore says.
        operands: the operation with the shapes or types that met; stands at the user's expression.
        help: what to do about it.
    """
    error = kind(message)
    if state.binder is None:
        draw_below(error, operands, code=code, help=help)
    return error


def draw_below(error: Exception, operands: str, *, code: str | None = None, help: str | None = None) -> None:
    """Adds the drawing as a note to ``error``, unless it has one: the innermost function knows most."""
    if getattr(error, "__notes__", None):
        return
    called, operator = _called(), re.split(r"\W", operands, maxsplit=1)[0]
    if called and spelled(called) != spelled(operator):
        operands = f"{called}: {operands}"
    span = user_span()
    labels = (Label(span, operands),) if span is not None else ()
    code = code or _OF_CLASS.get(type(error))
    if code is not None:
        error.add_note(render(Diagnostic(code, CODES[code], labels, help=help)))
    elif labels:  # neither the user's types nor values: no memory, or a kernel's own refusal
        error.add_note(render_body(Diagnostic("DG0405", str(error), labels)))
    else:
        error.add_note(f"in {operands}")


def _called() -> str:
    """The public function that the user has called (`called.in_front`); empty if it is none."""
    frame: FrameType | None = sys._getframe(2)
    found: str = ""
    while frame is not None and is_internal_file(frame.f_code.co_filename):
        found = frame.f_globals.get("public_name", found)
        frame = frame.f_back
    return found


def spelled(name: str) -> str:
    """What spellings of one name have in common: ``LogSoftmax``, ``log_softmax``; ``Add``, ``add_``."""
    return name.rpartition(".")[2].replace("_", "").lower()


_OF_CLASS: dict[type[Exception], str] = {TypeError: "DG0404", ValueError: "DG0405", IndexError: "DG0414"}
"""What a mistake is whose function does not say more."""


__all__ = ["draw_below", "spelled", "user_error"]
