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


def recompute(
    block: Any, *args: Any, use_reentrant: bool = True, output_recompute: bool = False, early_stop: bool = True,
    context_fn: Any = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """Calls a Cell. What its gradient needs is kept, not computed again: results are the same, memory is not saved.

    Args:
        block (Cell): what to call.
        args: its arguments.
        use_reentrant (bool): how MindSpore computes again. Default ``True``.
        output_recompute (bool): whether results are computed again, too. Default ``False``.
        early_stop (bool): whether computing again stops early. Default ``True``.
        context_fn (Callable): gives two contexts; the call runs in the first. Default ``None``.
        kwargs: the keyword arguments of ``block``.

    Returns:
        What ``block`` returns.

    Raises:
        TypeError: ``block`` is not a Cell, or a switch is not a bool.

    Supported Platforms:
        ``CPU``
    """
    if not (hasattr(block, "construct") and callable(block)):
        raise TypeError("Recompute function now only support block which inherited from Cell!")
    switches = {"use_reentrant": use_reentrant, "output_recompute": output_recompute, "early_stop": early_stop}
    for name, value in switches.items():
        if not isinstance(value, bool):
            raise TypeError(f"For 'recompute', the '{name}' must be a bool, but got {value!r}.")
    if context_fn is None:
        return block(*args, **kwargs)
    forward, _ = context_fn()
    with forward:
        return block(*args, **kwargs)


def _unchanged(fn: Any) -> Any:
    return fn
