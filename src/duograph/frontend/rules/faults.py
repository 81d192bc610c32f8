"""Exceptions that come up in statements of a captured program and are none of the program's.

A captured program has ``try`` statements, and paths that end with an exception. Before any of them sees one, the
statement in which it came up asks here: what a signal handler has put into capture (a time limit) leaves capture at
once, and a slip of capture's own code, such as an attribute that is not there, leaves the function to plain Python.
"""

from __future__ import annotations

import dis
import functools
import os
from types import CodeType
from typing import Any

from duograph.base.failures import internal_failure, is_from_outside

from .errors import Uncapturable

_FRONTEND = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_SPELLED = {
    AttributeError: ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"),
    NameError: ("LOAD_GLOBAL", "LOAD_NAME"),
    UnboundLocalError: ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF", "LOAD_FAST_LOAD_FAST"),
}
"""Instructions that name something in the code that has them. What a program names is looked up by calls."""


class FromOutside(BaseException):
    """``error`` came from outside while a program was captured: nothing of the program may catch it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def check_whose(error: Exception, where: object) -> None:
    """Returns if the exception may be the program's.

    Raises:
        FromOutside: it came from outside.
        Uncapturable: it is an internal failure of capture, now on record.
    """
    if is_from_outside(error):
        raise FromOutside(error) from error
    if isinstance(error, RecursionError):  # where Python's stack ends, capture's does not; and containers have cycles
        raise Uncapturable("a recursion that goes deeper than capture follows") from error
    if is_slip(error):
        failure = internal_failure("capture", where, error)
        raise Uncapturable(str(failure)) from error


def is_slip(error: Exception) -> bool:
    """Whether code of capture has named what does not exist, or an assertion of its own failed."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_code.co_filename.startswith(_FRONTEND):
        return False
    kind: Any = type(error)
    return _is_slip_at(kind, trace.tb_frame.f_code, trace.tb_lasti)


@functools.lru_cache(4096)  # captures that begin anew come to the same exceptions again and again
def _is_slip_at(kind: type[Exception], code: CodeType, offset: int) -> bool:
    instructions = list(dis.get_instructions(code))
    at = next((k for k, i in enumerate(instructions) if i.offset == offset), None)
    if at is None:
        return False
    if kind is AssertionError:  # `assert`, and not a `raise` that stands for the program's
        back = next((i.opname for i in reversed(instructions[:at]) if "ASSERTION" in i.opname or i.starts_line), "")
        return back == "LOAD_ASSERTION_ERROR"
    return instructions[at].opname in _SPELLED.get(kind, ())
