"""Names of MindSpore that are not part of its public API, and that programs use nevertheless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.autodiff.function import Function
from duograph.autodiff.modes import no_grad

__all__ = ["_Function", "_no_grad", "add_flags"]

_Function = Function
_no_grad = no_grad


def add_flags(fn: Callable[..., Any] | None = None, **flags: Any) -> Any:
    """Notes ``flags`` for the compiler in ``fn._func_graph_flags``; with flags alone, a decorator that does so.

    Args:
        fn (Callable, optional): the function.
        flags: names and values.

    Returns:
        The function itself.
    """

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        held = {**getattr(function, "_func_graph_flags", {}), **flags}
        function._func_graph_flags = held  # type: ignore[attr-defined]
        return function

    return noted if fn is None else noted(fn)
