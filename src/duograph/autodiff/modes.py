"""Switching recording off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from duograph.core.op import drop_aside, state

from .hooks import call_user


@contextmanager
def _detached() -> Iterator[None]:
    """What `no_grad` does. A generator sets things right also if Ctrl-C comes when the block is left: when it goes."""
    before, mine, depth = state.tapes, [], state.detached  # type: ignore[var-annotated]
    state.tapes = mine
    state.detached += 1
    try:
        yield
    finally:
        if state.tapes is mine:  # else this runs too late: see `restoring`
            state.tapes, state.detached = before, depth
            if state.aside:
                drop_aside()


class no_grad:
    """Within the block (or the decorated function) nothing is recorded: results are constants for gradients.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> def f(x):
        ...     with ms.no_grad():
        ...         scale = x * 2
        ...     return scale * x
        >>> print(ms.grad(f)(ms.Tensor([3.0])))
        [6.]
    """

    def __init__(self, fn: Any = None) -> None:
        self._fn = fn
        self._entered: list[Any] = []

    def __enter__(self) -> no_grad:
        block = _detached()
        block.__enter__()
        self._entered.append(block)
        return self

    def __exit__(self, *_: object) -> None:
        self._entered.pop().__exit__(None, None, None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._fn is not None:
            with self:
                return call_user(self._fn, args, kwargs)
        (fn,) = args

        @wraps(fn)
        def without_grad(*inner: Any, **named: Any) -> Any:
            with no_grad():
                return call_user(fn, inner, named)

        return without_grad


def is_grad_enabled() -> bool:
    """Whether a gradient is being recorded in this thread."""
    return bool(state.tapes)
