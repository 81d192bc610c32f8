"""`GraphOfFile`: a graph of MindSpore, operator by operator."""

from __future__ import annotations

from typing import Any, NamedTuple

from duograph.core.traits import Traits
from duograph.nn.cell import Cell
from duograph.tensor.parameter import Parameter, ParameterTuple

__all__ = ["Choice", "GraphOfFile", "Plan", "Repeat", "Step"]
__capture__ = Traits(program=True)


class Step(NamedTuple):
    """One operator: what is in the places ``inputs`` goes through a function to ``output``."""

    function: Any
    inputs: tuple[int, ...]
    settings: dict[str, Any]
    output: int


class Plan(NamedTuple):
    """A graph: steps, and the places of what it takes and gives."""

    steps: tuple[Any, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Choice(NamedTuple):
    """A call of what ``Switch`` chooses."""

    condition: int
    then: Plan
    orelse: Plan
    outputs: tuple[int, ...]


class Repeat(NamedTuple):
    """A loop: ``body`` goes from one state to the next as long as ``test`` of the state is true, ``after`` ends it."""

    state: tuple[int, ...]
    test: Plan
    body: Plan
    after: Plan
    outputs: tuple[int, ...]


class GraphOfFile(Cell):
    """The graph of a file; the reader captures it, so that it becomes a program like any other.

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

    def construct(self, *inputs: Any) -> Any:
        values: list[Any] = [None] * self.places
        for place, value in self.constants:
            values[place] = value
        for place, value in zip(self.places_of_weights, self.weights):
            values[place] = value
        return _run(self.plan, values, inputs)[0]


def _run(plan: Plan, outer: list[Any], inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    values = list(outer)
    for place, value in zip(plan.inputs, inputs):
        values[place] = value
    for step in plan.steps:
        if isinstance(step, Step):
            values[step.output] = step.function(*[values[place] for place in step.inputs], **step.settings)
        elif isinstance(step, Choice):
            if values[step.condition]:
                results = _run(step.then, values, ())
            else:
                results = _run(step.orelse, values, ())
            for place, value in zip(step.outputs, results):
                values[place] = value
        else:
            state = tuple([values[place] for place in step.state])
            (going,) = _run(step.test, values, state)
            while going:
                state = _run(step.body, values, state)
                (going,) = _run(step.test, values, state)
            for place, value in zip(step.outputs, _run(step.after, values, state)):
                values[place] = value
    return tuple([values[place] for place in plan.outputs])
