"""Exceptions of code that is not interpreted: are they the program's own, or about how capture keeps values?

While a graph is being built, numbers are `Scalar`, sizes `Dim`, and some strings `GraphText`. Code of the framework
or of a library that was not written for them raises an ordinary exception that plain Python would not
(``ops.ones((k,))``: "the shape must be an int, but got Scalar"). Taken for the program's own it would select an
``except`` clause, end a path, or show the user a wrong message. So what such code raises when it was handed a value of
this kind is a refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from duograph.core.dim import Dim
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from .errors import INTERNAL, Uncapturable
from .text import GraphText

if TYPE_CHECKING:
    from .session import Session

MAX_DEPTH = 8


class native_code:
    """Within the block, ``fn`` runs, which is not interpreted, on ``operands``.

    Raises:
        Uncapturable: what it raised may be ours; otherwise what it raised.
    """

    __slots__ = ("fn", "operands", "session")

    def __init__(self, session: Session, fn: Any, *operands: Any) -> None:
        self.session, self.fn, self.operands = session, fn, operands

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, exc: BaseException | None, trace: Any) -> None:
        if not isinstance(exc, Exception) or isinstance(exc, INTERNAL):
            return
        if exc is not self.session.own_error:  # of a function of the user that it called
            _refuse_ours(exc, self.fn, (getattr(self.fn, "__self__", None), *self.operands))


def run_native(session: Session, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """``fn(*args, **kwargs)`` in a block of `native_code`."""
    with native_code(session, fn, args, kwargs):
        return fn(*args, **kwargs)


def _refuse_ours(exc: Exception, fn: Any, operands: Any) -> None:
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, INTERNAL):  # it was caught, and another one raised instead
            raise Uncapturable(str(cause)) from exc
        cause = cause.__context__
    if is_open(operands):
        name = getattr(fn, "__name__", type(fn).__name__)
        raise Uncapturable(f"{name} of values only known at run time ({type(exc).__name__}: {exc})") from exc


def is_open(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Whether a number, a size or a text in ``value`` is only known at run time."""
    if isinstance(value, Scalar | GraphText | Dim):
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
