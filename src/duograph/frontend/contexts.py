"""``@contextmanager`` of the user: the generator is interpreted, the protocol is contextlib's."""

from __future__ import annotations

import contextlib
import types
from typing import Any


def is_context_factory(fn: types.FunctionType) -> bool:
    """Whether ``fn`` is what ``contextlib.contextmanager`` makes of a generator function."""
    return fn.__code__.co_filename == contextlib.__file__ and hasattr(fn, "__wrapped__")


class CapturedContext:
    """A context manager over an interpreted generator."""

    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def enter(self) -> Any:
        """Runs the generator to its ``yield``."""
        try:
            return next(self.generator)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def leave(self, exc: BaseException | None) -> bool:
        """Runs the rest; true if the exception is swallowed."""
        if exc is None:
            try:
                next(self.generator)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.generator.throw(exc)
        except StopIteration:
            return True
        except BaseException as raised:
            if raised is exc:
                return False
            raise
        raise RuntimeError("generator didn't stop after throw()")
