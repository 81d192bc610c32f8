"""The table of what is called instead of a function of Python or a library, and how one gets a row in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..rules.errors import Uncapturable
from ..values.collector import Collector
from ..values.recipe import Called
from .contexts import RECREATE

SUBSTITUTES: dict[Any, Callable[..., Any]] = {**RECREATE}


def substitute(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what is called instead of ``functions``; it gets the `Calls` object first."""

    def register(fn: Callable[..., Any]) -> Callable[..., Any]:
        for f in functions:
            SUBSTITUTES[f] = fn
        return fn

    return register


class SymbolicRange:
    """``range`` whose bounds are only known at run time; a ``for`` over it becomes a loop of the graph."""

    symbolic_bounds = True

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step

    def make_python_object(self, collector: Collector) -> Called:
        """Where it leaves the program, it is a range again."""
        return Called(range, [collector.recipe(bound) for bound in (self.start, self.stop, self.step)])

    def _unknown(self, *_: Any) -> Any:
        raise Uncapturable("a range with bounds only known at run time, used other than in a for statement")

    __iter__ = __len__ = __bool__ = __getitem__ = __contains__ = __reversed__ = index = count = _unknown
    __eq__ = __hash__ = __str__ = __repr__ = __format__ = _unknown  # type: ignore[assignment]
