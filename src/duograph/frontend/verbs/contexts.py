"""``@contextmanager`` of the user: the generator is interpreted, the protocol is contextlib's."""

from __future__ import annotations

import contextlib
import inspect
import types
from typing import Any

from ..rules import sources
from ..values.restricted import Restricted


@contextlib.contextmanager
def _example() -> Any:
    yield


_FACTORY: types.CodeType = _example.__code__  # of the function in contextlib that all decorated ones share
_MANAGER: Any = type(_example())
assert "func" in _FACTORY.co_freevars


def is_context_factory(fn: types.FunctionType) -> bool:
    """Whether ``fn`` is what ``contextlib.contextmanager`` makes of a generator function."""
    return fn.__code__ is _FACTORY


def enter_factory(calls: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CapturedContext:
    """What such a function gives. It calls the function in its cell, not the one in ``__wrapped__``."""
    cell = fn.__closure__[_FACTORY.co_freevars.index("func")]
    return _context(calls, calls.session.external(cell.cell_contents, sources.cell(cell, "func")), args, kwargs)


def _context(calls: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CapturedContext:
    generator = calls.call(function, args, kwargs)
    calls.semantics.note_made(generator)
    return CapturedContext(calls, generator)


def _made_again(calls: Any, manager: Any) -> CapturedContext:
    """What a function is called in that such a context decorates: another one for each call."""
    read = calls.semantics.getattr
    return _context(calls, read(manager, "func"), tuple(read(manager, "args")), dict(read(manager, "kwds")))


RECREATE = {
    contextlib.ContextDecorator._recreate_cm: lambda calls, manager: manager,  # type: ignore[attr-defined]
    _MANAGER._recreate_cm: _made_again,
}
"""What is called instead of functions of contextlib, where a context is a decorator."""


class Quiet(Restricted):
    """``numpy.errstate`` of what is ignored. Tensors do not ask for it, and capture computes with no number of NumPy's
    of which it would be asked (`run_native`)."""

    why = "numpy.errstate, used other than in a with statement"

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class CapturedContext(Restricted):
    """A context manager over an interpreted generator. Nothing is known of it but how a ``with`` statement uses it."""

    why = "a context manager of a generator, used other than once in a with statement"

    def __init__(self, calls: Any, generator: Any) -> None:
        self.calls, self.gen = calls, generator

    def enter(self) -> Any:
        """Runs the generator to its ``yield``."""
        if not inspect.isgenerator(self.gen) or inspect.getgeneratorstate(self.gen) != inspect.GEN_CREATED:
            self.refuse()
        self.calls.semantics.change_opaque(self.gen)
        try:
            return next(self.gen)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def leave(self, exc: BaseException | None) -> bool:
        """Runs the rest; true if the exception is swallowed."""
        self.calls.semantics.change_opaque(self.gen)
        kind = None if exc is None else type(exc)
        return bool(_MANAGER.__exit__(self, kind, exc, None if exc is None else exc.__traceback__))
