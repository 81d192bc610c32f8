"""Hooks on gradients, and the one place where user code is called."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from duograph.core.op import state
from duograph.tensor.tensor import Tensor

_call: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = [lambda fn, args, kwargs: fn(*args, **kwargs)]


def call_user(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a function that the user wrote; a capture frontend interprets it instead (`set_call_user`)."""
    return _call[0](fn, args, kwargs)


def set_call_user(hook: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Replaces what `call_user` does."""
    _call[0] = hook
