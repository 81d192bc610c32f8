"""Hints about how calls are compiled. They change nothing about results; most are automatic here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["lazy_inline", "no_inline", "recompute"]


def lazy_inline(fn: Any = None, attrs: Any = None, policy: Any = None) -> Any:
    """Decorator of ``Cell.__init__``: a hint to share the calls of equal Cells. Repeated graphs are shared anyway.

    Args:
        fn (function): the ``__init__`` of a Cell. Default: ``None``.
        attrs (Union[list[str], str]): accepted. Default: ``None``.
        policy (Union[None, str]): ``None`` or ``"front"``. Default: ``None``.

    Returns:
        The function itself, or a decorator.

    Supported Platforms:
        ``CPU``
    """
    if policy not in (None, "front"):
        raise ValueError(f"For 'lazy_inline', 'policy' must be None or 'front', but got {policy!r}.")
    return fn if callable(fn) else _unchanged


def no_inline(fn: Callable[..., Any] | None = None) -> Any:
    """Decorator: a hint to keep calls of a function shared.

    Args:
        fn (function): a function. Default: ``None``.

    Returns:
        The function itself, or a decorator.

    Supported Platforms:
        ``CPU``
    """
    return _unchanged if fn is None else fn


def recompute(block: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls a Cell whose inner values may be computed again for the gradient instead of being kept.

    Args:
        block (Cell): what to call.
        args: its arguments.
        kwargs: its keyword arguments.

    Returns:
        What ``block`` returns.

    Raises:
        TypeError: ``block`` is not a Cell.

    Supported Platforms:
        ``CPU``
    """
    if not (hasattr(block, "construct") and callable(block)):
        raise TypeError("Recompute function now only support block which inherited from Cell!")
    return block(*args, **kwargs)


def _unchanged(fn: Any) -> Any:
    return fn
