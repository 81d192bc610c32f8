"""Exceptions of code that is not interpreted: are they the program's own, or about how capture keeps values?

While a graph is being built, numbers are `Scalar`, sizes `Dim`, and some strings `GraphText`. Code of the framework
or of a library that was not written for them raises an ordinary exception that plain Python would not
(``ops.ones((k,))``: "the shape must be an int, but got Scalar"). Taken for the program's own it would select an
``except`` clause, end a path, or show the user a wrong message. So what such code raises when it was handed a value of
this kind is a refusal.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.lookup import FUNCTIONS, raw_getattr, raw_hasattr
from duograph.core.dim import Dim
from duograph.core.op import Op
from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.scalar import Scalar, UnknownTextError, extent_of
from duograph.tensor.tensor import Tensor

from ..rules.errors import INTERNAL, Uncapturable
from ..rules.opaque import is_iterator
from ..values.restricted import Restricted
from ..values.text import GraphText
from .decimals import in_context, uses_decimals
from .operands import are_plain, check_operands, guard_weights, is_of_numpy, note_operands, uses_numpy

if TYPE_CHECKING:
    from ..session.session import Session

MAX_DEPTH = 8


def check_error(session: Session, exc: Exception, fn: Any, *operands: Any) -> None:
    """``fn``, which is not interpreted, has raised ``exc`` for ``operands``.

    Raises:
        Uncapturable: what it raised may be ours.
    """
    if isinstance(exc, UnknownTextError):  # the message of an error, as a rule
        raise Uncapturable(
            f"{raw_getattr(fn, '__name__', type(fn).__name__)} of values only known at run time"
        ) from exc
    if isinstance(exc, INTERNAL):
        return
    if exc is not session.own_error:  # of a function of the user that it called
        _refuse_ours(exc, fn, (raw_getattr(fn, "__self__"), *operands))


def _with_extents(attr: Any) -> Any:
    """An attribute of an op, whose numbers that are made of sizes become extents."""
    if type(attr) is tuple:
        return tuple(map(_with_extents, attr))
    return extent_of(attr)


def run_native(session: Session, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)``, which is not interpreted, if it may have these operands.

    Raises:
        Uncapturable: it may not, or what it raised may be ours.
    """
    plain = are_plain(fn, args, kwargs)
    if not plain:
        check_operands(session, fn, args, kwargs)
        session.choices.check_native(fn, args)
        note_operands(session, fn, args, kwargs)
    if type(fn) is types.FunctionType and fn.__closure__:
        guard_weights(session, fn)
    if isinstance(fn, Op):  # called by code of this package
        kwargs = {name: _with_extents(value) for name, value in kwargs.items()}
    if type(fn) in FUNCTIONS or not raw_hasattr(fn, "construct"):
        session.note_identity(fn, 0)
    try:
        if "decimal" in sys.modules and (not plain or type(fn) is type) and uses_decimals(fn, args, kwargs):
            return in_context(session, fn, args, kwargs)
        if not (is_of_numpy(fn) if plain else uses_numpy(fn, args)):
            return fn(*args, **kwargs)
        try:
            with np.errstate(all="raise"):
                return fn(*args, **kwargs)
        except FloatingPointError as error:
            raise Uncapturable(f"{error}: what that does depends on numpy.geterr()") from error
    except Exception as exc:
        check_error(session, exc, fn, args, kwargs)
        raise


def _refuse_ours(exc: Exception, fn: Any, operands: Any) -> None:
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, INTERNAL):  # it was caught, and another one raised instead
            raise Uncapturable(str(cause)) from exc
        cause = cause.__context__
    uses = fn is not list and fn is not tuple and not isinstance(exc, StopIteration)
    if is_open(operands) or calls_back(fn, operands, uses):
        name = raw_getattr(fn, "__name__", type(fn).__name__)
        raise Uncapturable(f"{name} of values only known at run time ({type(exc).__name__}: {exc})") from exc


def is_open(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether a number, a size or a text in ``value`` is only known at run time."""
    if isinstance(value, Scalar | NumpyScalar | GraphText | Dim | Restricted):
        return True
    if isinstance(value, Tensor):
        return value.is_symbolic and any(isinstance(d, Dim) for d in value.shape)
    if not depth:
        return False
    if isinstance(value, tuple | list | set | frozenset):
        return any(is_open(v, depth - 1) for v in value)
    if isinstance(value, dict):
        return any(is_open(v, depth - 1) for v in value.values())
    if isinstance(value, slice):
        return is_open((value.start, value.stop, value.step), depth - 1)
    return hasattr(type(value), "symbolic_bounds")


def calls_back(fn: Any, operands: tuple[Any, ...], uses: bool) -> bool:
    """Whether ``fn`` was handed a function of the program, or an iterator whose values it ``uses`` (and not only
    collects), which may have given it something of that kind."""
    if raw_getattr(fn, "__module__") == "_operator":
        return False
    given: list[Any] = []
    for part in operands:
        given += part.values() if isinstance(part, dict) else part if isinstance(part, tuple) else ()
    return any(hasattr(type(v), "runs_user_code") or (uses and is_iterator(v)) for v in given)
