"""`OnnxCell`: a network that was read from an ONNX file, operator by operator."""

from __future__ import annotations

from typing import Any, NamedTuple

from duograph.core import dtype as dt
from duograph.core.traits import Traits
from duograph.tensor.tensor import Tensor

from ..file_cell import FileCell, Plan
from .functions import tensor

__all__ = ["Branches", "OnnxCell", "Rounds", "Step"]
__capture__ = Traits(program=True)


class Step(NamedTuple):
    """One operator: what is in the places ``inputs`` (-1: nothing) goes through a function to ``outputs``."""

    function: Any
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    settings: dict[str, Any]
    single: bool


class Branches(NamedTuple):
    """The operator ``If``."""

    condition: int
    then: Plan
    orelse: Plan
    outputs: tuple[int, ...]


class Rounds(NamedTuple):
    """The operator ``Loop``, without values that are gathered from all rounds."""

    rounds: int
    condition: int
    carry: tuple[int, ...]
    body: Plan
    outputs: tuple[int, ...]


class OnnxCell(FileCell):
    """A network from an ONNX file; `duograph.onnx.load` makes it.

    Weights are Parameters under the names of the file, so the network can be trained on. (Statistics of batch norms do
    not move, and dropout does nothing: files for inference say no more.)

    Inputs:
        Those of the graph, in its order.

    Outputs:
        What the graph gives: a Tensor, or a tuple of several.

    Raises:
        TypeError: another number of inputs.

    Examples:
        >>> import duograph as ms
        >>> from duograph import nn
        >>> x = ms.Tensor([[1.0, 2.0, 3.0]])
        >>> ms.onnx.export(nn.Dense(3, 2), x, file_name="/tmp/read.onnx")
        >>> net = ms.onnx.load("/tmp/read.onnx")
        >>> [parameter.name for parameter in net.get_parameters()], net(x).shape
        (['weight', 'bias'], (1, 2))
    """

    def construct(self, *inputs: Any) -> Any:
        if len(inputs) != len(self.plan.inputs):
            raise TypeError(f"The network takes {len(self.plan.inputs)} inputs, but got {len(inputs)}.")
        values = self.known()
        for place, value in zip(self.plan.inputs, inputs):
            values[place] = value
        results = _run(self.plan, values)
        return results[0] if len(results) == 1 else results


def _run(plan: Plan, values: list[Any]) -> tuple[Any, ...]:
    for step in plan.steps:
        if isinstance(step, Step):
            given = [values[place] if place >= 0 else None for place in step.inputs]
            result = step.function(*given, **step.settings)
            results = (result,) if step.single else result
            for place, value in zip(step.outputs, results):
                values[place] = value
        elif isinstance(step, Branches):
            if values[step.condition]:
                chosen = _run(step.then, list(values))
            else:
                chosen = _run(step.orelse, list(values))
            for place, value in zip(step.outputs, chosen):
                values[place] = value
        else:
            carry = _rounds(step, values)
            for place, value in zip(step.outputs, carry):
                values[place] = value
    return tuple([tensor(values[place]) for place in plan.outputs])


def _rounds(step: Rounds, values: list[Any]) -> tuple[Any, ...]:
    carry = tuple([tensor(values[place]) for place in step.carry])
    if step.condition < 0 and step.rounds < 0:
        raise ValueError("A loop of the network has no end.")
    body = step.body
    if step.rounds >= 0:
        count = values[step.rounds]
        for number in range(int(count)):
            inside = list(values)
            inside[body.inputs[0]] = Tensor(number, dt.int64)
            inside[body.inputs[1]] = Tensor(True)
            for place, value in zip(body.inputs[2:], carry):
                inside[place] = value
            going, *after = _run(body, inside)
            carry = tuple(after)
            if not going:
                break
        return carry
    going, number = values[step.condition], 0
    while going:
        inside = list(values)
        inside[body.inputs[0]] = Tensor(number, dt.int64)
        inside[body.inputs[1]] = Tensor(True)
        for place, value in zip(body.inputs[2:], carry):
            inside[place] = value
        going, *after = _run(body, inside)
        carry = tuple(after)
        number += 1
    return carry
