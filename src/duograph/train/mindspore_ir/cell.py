"""`GraphOfFile`: a graph of MindSpore, operator by operator."""

from __future__ import annotations

from typing import Any, NamedTuple

from duograph.core.traits import Traits

from ..file_cell import FileCell, Plan

__all__ = ["Choice", "GraphOfFile", "Repeat", "Step"]
__capture__ = Traits(program=True)


class Step(NamedTuple):
    """One operator: what is in the places ``inputs`` goes through a function to ``output``."""

    function: Any
    inputs: tuple[int, ...]
    settings: dict[str, Any]
    output: int


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


class GraphOfFile(FileCell):
    """The graph of a file of MindSpore."""

    def construct(self, *inputs: Any) -> Any:
        return _run(self.plan, self.known(), inputs)[0]


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
