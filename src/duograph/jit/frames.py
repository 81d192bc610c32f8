"""Functions that look at frames: they run as they are, with no frame of this package between them and who calls them.

Such a function is never captured, and what it finds depends on the frames below its own (``namedtuple`` and its like
take the module of their caller for that of what they make). Python asks a class for ``__call__``, and then calls what
that gives: here that is the function itself, and whoever has given it is gone by then.
"""

from __future__ import annotations

import types
from typing import Any

from duograph.base.source import span_of_code
from duograph.core.op import state
from duograph.frontend.rules.errors import Uncapturable
from duograph.frontend.split.frames import reads_frames

from .entries import Fallback
from .function import JitFunction
from .options import JitOptions

REASON = "the function looks at frames, which are others in a compiled program"


def is_left(target: Any, options: JitOptions) -> bool:
    """Whether a function is to be a `FrameReader`: it looks at frames, and nobody wants an error for that."""
    if (
        type(target) is not types.FunctionType
        or options.strict
        or options.check_numerics
        or options.signature is not None
    ):
        return False
    return reads_frames(target.__code__)


class _Call:
    """``__call__``: the function itself, unless a program is being captured, or an error is wanted."""

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        if obj is None:
            return JitFunction.__call__
        if state.binder is not None or obj.fn.__code__ is not obj._code or obj._is_strict():
            return JitFunction.__call__.__get__(obj)
        obj.refusal.hits += 1
        return obj.fn


class FrameReader(JitFunction):
    """A compiled function that is plain Python in each call."""

    __slots__ = ()
    __call__ = _Call()  # type: ignore[assignment]

    def __init__(self, fn: Any, options: JitOptions) -> None:
        super().__init__(fn, options)
        span = span_of_code(fn.__code__)
        self.refusal = Fallback(None, REASON, span, f"{fn.__qualname__} runs as plain Python: {REASON}",
                                Uncapturable(REASON, span))  # fmt: skip
        self._own.fallbacks.append(self.refusal)

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        return self if obj is None else types.MethodType(self, obj)
