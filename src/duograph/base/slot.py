"""Slots: what a lower layer leaves open, and a higher one fills. `SLOTS` lists all of them.

    eager_binder: Slot[Binder] = Slot("core.op.eager_binder")         # on the lower layer: its module and name
    eager_binder.fill(EAGER)                                          # on the higher one
    eager_binder.value.bind(op, operands, attrs)                      # wherever it is wanted

A `Slot` has one value, `Listeners` have any number of functions to call. Both are of the process; what belongs to a
thread or to a call is an argument or dispatch state (`core.op.state`). Tables that are open to new rows (rules by op,
kinds of guards by name) are no slots: their owner asks for a row by its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["SLOTS", "Listeners", "Slot"]

T = TypeVar("T")

SLOTS: dict[str, Slot[Any] | Listeners] = {}
"""By name, as far as the modules that declare them are loaded."""


class Slot(Generic[T]):
    """A place for one value.

    Args:
        name: the module that declares it, without the package, and its name there.
        value: what stands there until somebody fills it.

    Attributes:
        value: what stands there now; asking for it while nothing does is an error.
    """

    __slots__ = ("name", "value")

    value: T

    def __init__(self, name: str, *value: T) -> None:
        self.name = name
        if value:
            (self.value,) = value
        _declare(name, self)

    def fill(self, value: T) -> None:
        """From now on ``value`` stands here, instead of what did."""
        self.value = value

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"nobody has filled the slot {self.name}" if name == "value" else name)

    def __repr__(self) -> str:
        return f"<slot {self.name}>"


class Listeners:
    """A place for functions without arguments, which are called in the order in which they were added.

    Args:
        name: the module that declares it, without the package, and its name there.

    Attributes:
        functions: those that have been added.
    """

    __slots__ = ("functions", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.functions: list[Callable[[], object]] = []
        _declare(name, self)

    def add(self, function: Callable[[], object]) -> None:
        """From now on ``function`` is called, too; once, however often it is added."""
        if function not in self.functions:
            self.functions.append(function)

    def remove(self, function: Callable[[], object]) -> None:
        """From now on ``function`` is not called."""
        self.functions.remove(function)

    def tell(self) -> None:
        """Calls all of them."""
        for function in self:
            function()

    def __iter__(self) -> Iterator[Callable[[], object]]:
        return iter(tuple(self.functions))

    def __repr__(self) -> str:
        return f"<listeners {self.name}>"


def _declare(name: str, slot: Slot[Any] | Listeners) -> None:
    if name in SLOTS:
        raise ValueError(f"the slot {name} is declared twice")
    SLOTS[name] = slot
