"""Calls of `logging` and `warnings`: steps that are done after each run, in their order, as writes to the outside are.

What such a call makes of the place in the program it was written at (file, line, function) is told to it. A level that
is off is a guard, and no step. What the code of a user would see of it (a handler, a filter or a logger of another
class) is not deferred: that may do anything meanwhile.
"""

from __future__ import annotations

import ast
import copy
import io
import logging
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from duograph.base.lookup import raw_getattr
from duograph.core.dtype import DType
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..rules.exceptions import members_of
from ..rules.policy import is_builtin_class, is_user_class
from ..values.functions import name_of
from ..values.recipe import Constant
from ..values.text import GraphText
from .substitutes import SUBSTITUTES, substitute
from .texts import text_of_user_object

_LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR,
    "critical": logging.CRITICAL,
}  # fmt: skip
_COMPREHENSIONS: dict[type, str] = {ast.GeneratorExp: "<genexpr>"}
if sys.version_info < (3, 12):  # from then on they are no functions
    _COMPREHENSIONS |= {ast.ListComp: "<listcomp>", ast.SetComp: "<setcomp>", ast.DictComp: "<dictcomp>"}
_PLAIN = (str, int, float, bool, type(None), Scalar, GraphText)


class Step:
    """A step, which is the same object each time that its place in the program is come to."""

    def make_python_object(self, collector: Any) -> Any:
        return Constant(self)


@dataclass(frozen=True)
class _Record(Step):
    """Hands a record to a logger, as ``Logger._log`` does for who has called from there."""

    logger: logging.Logger
    level: int
    file: str
    line: int
    function: str

    def __call__(self, message: Any, *args: Any) -> None:
        logger = self.logger
        if logger is logging.root and not logger.handlers:
            logging.basicConfig()
        made = logger.makeRecord(
            logger.name, self.level, self.file, self.line, message, args, None, self.function, None, None
        )
        logger.handle(made)


@dataclass(frozen=True)
class _Line(Step):
    """Prints into a stream."""

    file: Any
    options: tuple[tuple[str, Any], ...]

    def __call__(self, *values: Any) -> None:
        print(*values, file=self.file, **dict(self.options))


_print_now = SUBSTITUTES[print]


@substitute(print)
def _print(calls: Any, *values: Any, file: Any = None, **options: Any) -> None:
    if file is None:
        _print_now(calls, *values, **options)
        return
    if type(file) is io.StringIO and calls.session.is_made_inside(file):
        _print_into(calls, file, values, **options)
        return
    if file is not sys.stderr or is_user_class(type(file)):
        raise Uncapturable("print into a file that is not sys.stderr")
    if calls.session.catches:
        raise Uncapturable("print into sys.stderr where the program may catch what that raises")
    if any(type(v) is not (bool if name == "flush" else str) for name, v in options.items()):
        raise Uncapturable("print with options that are not strings")
    line = _Line(file, tuple(options.items()))
    _defer(calls, line, [text_of_user_object(calls, v) for v in values])


def _print_into(
    calls: Any, file: io.StringIO, values: Any, sep: Any = None, end: Any = None, flush: bool = False
) -> None:
    """Prints into a text in memory that the program has made."""
    if not {type(sep), type(end)} <= {str, type(None)} or type(flush) is not bool:
        raise Uncapturable("print with options that are not strings")
    shown = [calls.call(str, (v,), {}) for v in values]
    line = calls.call((" " if sep is None else sep).join, (shown,), {}) + ("\n" if end is None else end)
    calls.call(calls.semantics.getattr(file, "write"), (line,), {})


@dataclass(frozen=True)
class _Warning(Step):
    """Warns as ``warnings.warn`` does for who has called it from there."""

    category: type[Warning]
    file: str
    line: int
    names: dict[str, Any] = field(compare=False)  # the globals of who has called

    def __call__(self, text: Any) -> None:
        module, known = self.names.get("__name__", "<string>"), self.names.setdefault("__warningregistry__", {})
        warnings.warn_explicit(text, self.category, self.file, self.line, module, known)


def _log(calls: Any, logger: Any, level: Any, message: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    session = calls.session
    if type(logger) not in (logging.Logger, logging.RootLogger):
        raise Uncapturable(f"a logger of class {type(logger).__qualname__}")
    if type(level) is not int:
        raise Uncapturable("a level of logging that is only known at run time")
    if any(kwargs.values()):
        raise Uncapturable(f"logging with {', '.join(kwargs)}")
    is_on = logger.isEnabledFor(level)
    session.guards.add(session.source_of(logger.isEnabledFor), "gives", ((level,), is_on))
    if not is_on:
        return
    _check_handlers(calls, logger)
    _tell(calls, lambda file, line, name: _Record(logger, level, file, line, name), (message, *args))


def _tell(calls: Any, step_at: Any, args: tuple[Any, ...]) -> None:
    session = calls.session
    node, frame = session.site
    line = node.func.end_lineno if isinstance(node.func, ast.Attribute) else node.lineno
    name = _COMPREHENSIONS.get(frame.function) or name_of(frame.name).rpartition(".")[2]
    made = step_at(session.span.file, line, name)
    _defer(calls, made, args)


def _defer(calls: Any, step: Step, args: Sequence[Any]) -> None:
    session = calls.session
    if session.has_effects:
        raise Uncapturable("logging beside print, which is done at once")
    session.defer(session.steps.setdefault(step, step), tuple(map(_as_it_is_now, args)))


def _as_it_is_now(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.copy()
    if type(value) in (tuple, list):
        return type(value)(map(_as_it_is_now, value))
    if type(value) is dict and all(type(k) in _PLAIN for k in value):
        return {k: _as_it_is_now(v) for k, v in value.items()}
    if isinstance(value, Exception) and is_builtin_class(type(value)) and not vars(value):
        made = copy.copy(value)  # without where it came up
        members_of(made)
        made.args = _as_it_is_now(value.args)
        return made
    if type(value) not in _PLAIN and not isinstance(value, DType):
        raise Uncapturable(f"logging of an object of class {type(value).__qualname__}")
    return value


def _check_unread(calls: Any, held: Any) -> None:
    """Refuses a list that the program has in hand: it may have changed it, and does so after the run."""
    if calls.session.is_in_hand(held):
        raise Uncapturable("a list of filters or handlers that the program looks into")


def _check_handlers(calls: Any, logger: Any) -> None:
    at = logger
    while at is not None:
        _check_unread(calls, at.handlers)
        for one in (at, *at.handlers):
            _check_unread(calls, one.filters)
            if one.filters or type(one).__module__.partition(".")[0] != "logging":
                raise Uncapturable("logging that runs the user's code")
            if type(one).__name__ == "MemoryHandler":
                raise Uncapturable("logging that is formatted later, when its arguments may have changed")
        at = at.parent if at.propagate else None


def _register() -> None:
    for name, level in _LEVELS.items():

        def method(calls: Any, logger: Any, msg: Any, *args: Any, _level: int = level, **kwargs: Any) -> None:
            _log(calls, logger, _level, msg, args, kwargs)

        def function(calls: Any, msg: Any, *args: Any, _level: int = level, **kwargs: Any) -> None:
            _log(calls, logging.root, _level, msg, args, kwargs)

        substitute(getattr(logging.Logger, name))(method)
        substitute(getattr(logging, name))(function)


_register()


@substitute(logging.Logger.log)
def _log_at(calls: Any, logger: Any, level: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    _log(calls, logger, level, msg, args, kwargs)


@substitute(logging.getLogger)
def _logger(calls: Any, name: Any = None) -> Any:
    if name is not None and type(name) is not str:
        raise Uncapturable("a logger whose name is only known at run time")
    found = logging.getLogger(name)  # which is there as long as the process
    return calls.session.external(found, calls.session.source_of(found))


@substitute(logging.Logger.isEnabledFor)
def _is_enabled(calls: Any, logger: Any, level: Any) -> bool:
    if type(logger) not in (logging.Logger, logging.RootLogger) or type(level) is not int:
        raise Uncapturable(f"whether a logger of class {type(logger).__qualname__} is enabled")
    is_on = logger.isEnabledFor(level)
    calls.session.guards.add(calls.session.source_of(logger.isEnabledFor), "gives", ((level,), is_on))
    return is_on


@substitute(warnings.warn)
def _warn(calls: Any, message: Any, category: Any = None, stacklevel: Any = 1, source: Any = None) -> None:
    kind = UserWarning if category is None else category
    if stacklevel != 1 or source is not None or type(message) is not str or not isinstance(kind, type):
        raise Uncapturable("warnings.warn with more than a text and a class")
    if not is_builtin_class(kind) or not issubclass(kind, Warning):
        raise Uncapturable(f"a warning of class {kind.__qualname__}")
    names, asked = calls.session.site[1].globals, calls.session.source_of(_becomes)
    told = (message, kind, names.get("__name__", "<string>"), calls.session.span.line)
    _check_unread(calls, warnings.filters)
    becomes = _becomes(*told)
    if becomes not in ("text", "an item of a list"):
        raise Uncapturable(f"a warning that is {becomes}")
    calls.session.guards.add(asked, "gives", (told, becomes))
    calls.session.recorder = raw_getattr(warnings._showwarnmsg_impl, "__self__")  # type: ignore[attr-defined]
    _tell(calls, lambda file, line, _: _Warning(kind, file, line, names), (message,))


_SHOWN: Any = (warnings._showwarnmsg_impl, warnings._showwarning_orig)  # type: ignore[attr-defined]


def _fits(pattern: Any, text: str) -> bool:
    """Whether a filter's pattern fits; the filters that Python starts with have names of modules."""
    if pattern is None or type(pattern) is str:
        return pattern in (None, text)
    return bool(pattern.match(text))


def _becomes(text: str, category: type[Warning], module: str, line: int) -> str:
    """What filters, and contexts that record, make of a warning."""
    actions = (
        action
        for action, wanted, kind, name, number in warnings.filters
        if _fits(wanted, text) and issubclass(category, kind) and _fits(name, module) and number in (0, line)
    )
    if next(actions, getattr(warnings, "defaultaction", "")) == "error":
        return "an error"
    show, shown = warnings._showwarnmsg_impl, warnings.showwarning  # type: ignore[attr-defined]
    if shown is _SHOWN[1] and show is _SHOWN[0]:
        return "text"
    is_recorded = shown is _SHOWN[1] and type(raw_getattr(show, "__self__")) is list
    return "an item of a list" if is_recorded else "shown by code of the user"
