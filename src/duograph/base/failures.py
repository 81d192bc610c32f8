"""Internal failures: what happens when a part of this package breaks, in one place.

A kernel rule, the fuser, the code generator, the launcher, a guard, a pass or capture itself may have a bug. None of
them is needed for an answer: Python, NumPy or the MindIR interpreter do the same work. Whoever has such a reference
catches what its own machinery raises, and says so here::

    try:
        step = lower_group(group)
    except NotAffine:              # what is documented is no failure
        return None
    except Exception as error:
        internal_failure("the fuser", str(group), error)
        return None                # the ops run one by one

What comes of it is the policy, the option ``failures`` (``DUOGRAPH_FAILURES``):

* ``raise`` (tests, and ``DUOGRAPH_DEBUG=1``): `InternalFailure`, which no ``except Exception`` swallows, neither one of
  ours nor one of the program that runs.
* ``answer`` (default): the call returns; the reference answers. The failure is counted by area, told by ``explain()``
  (of the functions concerned) and ``python -m duograph explain`` (all of them), and by one warning per process.

Not every exception that comes up in the middle of our code is a failure of ours: `is_internal` says which. What is not
goes on from here, to whoever is to have it: Ctrl-C, what a signal handler raises (a time limit), a shortage of memory
or stack. The last two are no property of a graph either: caches of failures leave those out.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import logging
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import CodeType, FrameType, TracebackType
from typing import Any

from .config import config
from .events import emit
from .fork import fork_safe_lock
from .slot import Slot

__all__ = [
    "SHORTAGE",
    "ExtensionError",
    "Failure",
    "InternalFailure",
    "InternalFailureWarning",
    "about",
    "are_raised",
    "collected",
    "failure_counts",
    "failure_report",
    "first_failures",
    "forget_failures",
    "internal_failure",
    "is_internal",
    "write_down",
]

SHORTAGE = (MemoryError, RecursionError)
"""Nobody's failure: there may be more memory, or stack, at the next call."""

LENGTH = 300
"""Most characters of an exception's text that are kept: of its first line, as some draw whole graphs."""

_logger = logging.getLogger("duograph")
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class InternalFailure(BaseException):
    """A part of duograph is broken, and the policy is to say so at once (``__cause__`` is what it raised).

    It is no `Exception`: a program that is being tested must not be able to catch it.
    """

    failure: Failure


class ExtensionError(RuntimeError):
    """What a user has added to the compiler (a pass, a backend, a kernel) has failed; the call raises it."""


class InternalFailureWarning(RuntimeWarning):
    """A part of duograph is broken, and its work was done in another, slower way. Given once per process."""


@dataclass(frozen=True)
class Failure:
    """What failed, as data.

    Attributes:
        area: the part of the package, in words that continue "internal failure of".
        what: what it was working on.
        error: class and first line of text of the exception.
        place: where in our code it was raised.
        file: what it was written down in; empty: nothing.
    """

    area: str
    what: str
    error: str
    place: str
    file: str = ""

    def __str__(self) -> str:
        what = f" for {self.what}" if self.what else ""
        return f"internal failure of {self.area}{what}: {self.error} ({self.place}){self.remedy}"

    @property
    def remedy(self) -> str:
        """Where it is written down, and the command that replays it."""
        return f"; written to {self.file}: `python -m duograph reduce {self.file}`" if self.file else ""


write_down: Slot[Callable[[Failure, BaseException, Any], str]] = Slot("base.failures.write_down", lambda *_: "")
"""Writes a failure to a file, with what it was about (`about`), and gives the name of the file; empty: it did not."""
_subject: ContextVar[Any] = ContextVar("duograph_failing", default=None)
_lock = fork_safe_lock()
_counts: dict[str, int] = {}
_first: dict[str, Failure] = {}
_warned = False
_collector: ContextVar[list[Failure] | None] = ContextVar("duograph_failures", default=None)


def internal_failure(area: str, what: object, error: BaseException) -> Failure:
    """Says that a part of this package has failed; to be called where ``error`` was caught.

    Args:
        area: the part, with its article: "the fuser".
        what: what it was working on.
        error: what it raised.

    Returns:
        The failure, already counted and told; the caller has its work done in another way.

    Raises:
        BaseException: ``error`` itself, if it is no failure of ours (`is_internal`).
        InternalFailure: the policy is ``raise``.
    """
    if isinstance(error, InternalFailure) or not is_internal(error):
        raise error
    text = str(error).partition("\n")[0][:LENGTH]
    failure = Failure(area, str(what), f"{type(error).__name__}: {text}", _place(error))
    failure = replace(failure, file=write_down.value(failure, error, _subject.get()))
    if are_raised():
        raised = InternalFailure(str(failure))
        raised.failure = failure
        raise raised from error
    global _warned
    with _lock:
        _counts[area] = _counts.get(area, 0) + 1
        _first.setdefault(area, failure)
        warned, _warned = _warned, True
    found = _collector.get()
    if found is not None:
        found.append(failure)
    _logger.debug("%s", failure, exc_info=error)
    if warned and failure.file:
        _logger.warning("%s", failure)
    emit("internal failure", area=area, failure=str(failure))
    if not warned:
        warnings.warn(
            f"{failure}; this is a fault of duograph, not of your program, whose results are not affected "
            "(`python -m duograph explain PROGRAM` lists all of them; please report it)",
            InternalFailureWarning,
            stacklevel=level_of_user(),
        )
    return failure


def are_raised() -> bool:
    """Whether the policy is ``raise``: then what else would show in nothing but time is looked for, too."""
    return config().failures == "raise" or config().debug


@contextlib.contextmanager
def collected() -> Iterator[list[Failure]]:
    """The failures of the block, in this thread or task."""
    found: list[Failure] = []
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)


@contextlib.contextmanager
def about(*subject: Any) -> Iterator[None]:
    """What fails in the block has to do with a graph: ``(graph, level)``, and perhaps the values it was run on."""
    token = _subject.set(subject)
    try:
        yield
    finally:
        _subject.reset(token)


# ---- what can be asked ----------------------------------------------------------------------------------------------


def failure_counts() -> dict[str, int]:
    """How many failures there were in this process, by area."""
    with _lock:
        return dict(_counts)


def first_failures() -> list[Failure]:
    """The first failure of each area."""
    with _lock:
        return list(_first.values())


def failure_report() -> str:
    """All of it as text, one line for each area; empty if nothing has failed."""
    with _lock:
        return "\n".join(f"{_counts[area]} x {failure}" for area, failure in _first.items())


def forget_failures() -> None:
    """As in a new process: nothing counted, no warning given. For tests."""
    global _warned
    with _lock:
        _counts.clear()
        _first.clear()
        _warned = False


# ---- whose fault an exception is ------------------------------------------------------------------------------------


def is_internal(error: BaseException) -> bool:
    """Whether an exception that came up in code of this package, where the user's code takes no part, is its fault.

    It is not if it comes of what the user has added (`ExtensionError`), ends a program (`KeyboardInterrupt`,
    `SystemExit`), is a shortage of memory or stack, or came from outside in the middle of things: from a signal handler
    or a trace function.
    """
    if isinstance(error, ExtensionError) or not isinstance(error, Exception):
        return False
    return not isinstance(error, SHORTAGE) and not is_from_outside(error)


def is_from_outside(error: BaseException) -> bool:
    """Whether a signal handler or a trace function has raised it, in the middle of whatever ran."""
    if error.__traceback__ is None:
        return False
    handlers = _handlers()
    return any(
        frame.f_code in handlers or _is_given_its_caller(frame) for frame, _ in traceback.walk_tb(error.__traceback__)
    )


_getsignal = importlib.import_module("_signal").getsignal
"""`signal.getsignal` without making an enum of what it gives, which takes a hundred times as long."""


def _handlers() -> set[CodeType]:
    found: set[CodeType] = set()
    for number in range(1, signal.NSIG):
        handler: Any = _getsignal(number)
        if isinstance(handler, int | None):
            continue
        while hasattr(handler, "func"):  # functools.partial
            handler = handler.func
        if callable(handler) and not hasattr(handler, "__code__") and not hasattr(handler, "__func__"):
            handler = type(handler).__call__
        code = getattr(getattr(handler, "__func__", handler), "__code__", None)
        if isinstance(code, CodeType):
            found.add(code)
    return found


def _is_given_its_caller(frame: FrameType) -> bool:
    """Whether one of the arguments is the frame below: such are the calls of signal handlers and trace functions."""
    caller, code = frame.f_back, frame.f_code
    if caller is None or code.co_filename.startswith(_PACKAGE):  # ours hold the exception: its frames would stay
        return False
    places = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    given = [frame.f_locals.get(name) for name in code.co_varnames[:places]]
    return any(x is caller or (type(x) is tuple and any(y is caller for y in x)) for x in given)


# ---- where ----------------------------------------------------------------------------------------------------------


def _place(error: BaseException) -> str:
    """The innermost line of ours that the exception came through."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = frame.f_code.co_filename
        if name.startswith(_PACKAGE):
            found = f"{name.removeprefix(_PACKAGE)}:{line}"
    return found or _of(error.__traceback__)


def _of(trace: TracebackType | None) -> str:
    return "nowhere" if trace is None else f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"


def level_of_user() -> int:
    """The ``stacklevel`` of the innermost frame outside this package, counted from the caller of `warnings.warn`."""
    frame, level = sys._getframe(1), 1
    own = (_PACKAGE, contextlib.__file__)  # which our decorators go through
    while frame.f_back is not None and frame.f_code.co_filename.startswith(own):
        frame, level = frame.f_back, level + 1
    return level
