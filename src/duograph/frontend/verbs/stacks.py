"""What a ``with`` statement calls, and ``contextlib.ExitStack``: a list of what is to be left, which is tracked."""

from __future__ import annotations

import contextlib
from typing import Any

from ..rules.errors import INTERNAL, Uncapturable
from ..rules.opaque import is_file
from ..rules.policy import module_kind
from .contexts import CapturedContext
from .special_methods import user_method
from .substitutes import substitute

_PURE_MANAGERS = (contextlib.nullcontext, contextlib.suppress)


def protocol_method(manager: Any, name: str) -> Any:
    """``__enter__`` or ``__exit__`` of a context manager, bound to it."""
    method = user_method(manager, name)
    if method is not None:
        return method.__get__(manager)
    found = getattr(type(manager), name, None)
    if found is None:
        missed = " (missed __exit__ method)" if name == "__exit__" else ""
        raise TypeError(f"{type(manager).__name__!r} object does not support the context manager protocol{missed}")
    if module_kind(type(manager).__module__) == "framework" or type(manager) in _PURE_MANAGERS or is_file(manager):
        return getattr(manager, name)
    raise Uncapturable(f"a with statement over an object of class {type(manager).__name__!r}")


class CapturedStack(CapturedContext):
    """An ``ExitStack`` that the program has made: contexts are entered, functions are called at the end."""

    def __init__(self, calls: Any) -> None:
        super().__init__(calls, None)
        self.entries: list[Any] = calls.world.track([])

    def enter(self) -> CapturedStack:
        return self

    def leave(self, exc: BaseException | None) -> bool:
        """Leaves what was entered, the last first; true if the exception is swallowed."""
        pending = exc
        while self.entries:
            try:
                if self._left(self.entries.pop(), pending):
                    pending = None
            except INTERNAL:
                raise
            except Exception as error:
                raise Uncapturable("a context of an ExitStack that raises where it is left") from error
        return exc is not None and pending is None

    def _left(self, entry: Any, exc: BaseException | None) -> bool:
        fn, args, kwargs = entry
        if isinstance(fn, CapturedContext):
            return fn.leave(exc)
        if args is not None:
            self.calls.call(fn, args, kwargs)
            return False
        told = (None, None, None) if exc is None else (type(exc), exc, exc.__traceback__)
        return bool(self.calls.semantics.as_bool(self.calls.call(fn, told, {})))

    def enter_context(self, manager: Any) -> Any:
        """Enters a context, which is left with the stack."""
        calls = self.calls
        if isinstance(manager, CapturedContext):
            value = manager.enter()
            self.entries.append((manager, None, None))
            return value
        enter, leave = (protocol_method(manager, name) for name in ("__enter__", "__exit__"))
        value = calls.call(enter, (), {})
        self.entries.append((leave, None, None))
        return value

    def callback(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Has ``fn`` called when the stack is left."""
        self.entries.append((fn, args, kwargs))
        return fn

    close = push = pop_all = CapturedContext.refuse


class _Closing(CapturedContext):
    """A ``contextlib.closing`` that the program has made."""

    def __init__(self, calls: Any, thing: Any) -> None:
        super().__init__(calls, None)
        self.thing = thing

    def enter(self) -> Any:
        return self.thing

    def leave(self, exc: BaseException | None) -> bool:
        self.calls.call(self.calls.semantics.getattr(self.thing, "close"), (), {})
        return False


@substitute(contextlib.closing)
def _closing(calls: Any, thing: Any) -> _Closing:
    return _Closing(calls, thing)


@substitute(contextlib.ExitStack)
def _stack(calls: Any) -> CapturedStack:
    return CapturedStack(calls)


@substitute(CapturedStack.enter_context)
def _enter(calls: Any, stack: CapturedStack, manager: Any) -> Any:
    return stack.enter_context(manager)


@substitute(CapturedStack.callback)
def _call_later(calls: Any, stack: CapturedStack, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    return stack.callback(fn, *args, **kwargs)
