"""`FileCell`: a Cell for the graph of a file, whose values lie in numbered places."""

from __future__ import annotations

from typing import Any, NamedTuple

from duograph.core.traits import Traits
from duograph.nn.cell import Cell
from duograph.tensor.parameter import Parameter, ParameterTuple

__all__ = ["FileCell", "Plan"]
__capture__ = Traits(program=True)


class Plan(NamedTuple):
    """A graph: steps, and the places of what it takes and gives."""

    steps: tuple[Any, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class FileCell(Cell):
    """Base class of the graphs of files; the reader captures it, so that it becomes a program like any other.

    Args:
        plan: what is to be done.
        places: how many values there are in all.
        weights: parameters by their places.
        constants: other values by their places.
    """

    def __init__(self, plan: Plan, places: int, weights: dict[int, Parameter], constants: dict[int, Any]) -> None:
        super().__init__(auto_prefix=False)
        self.plan, self.places = plan, places
        self.weights = ParameterTuple(weights.values())
        self.places_of_weights = tuple(weights)
        self.constants = tuple(constants.items())

    def known(self) -> list[Any]:
        """The values before the first step, by their places."""
        values: list[Any] = [None] * self.places
        for place, value in self.constants:
            values[place] = value
        for place, value in zip(self.places_of_weights, self.weights):
            values[place] = value
        return values
