"""Which outputs of a captured program are the new contents of which inputs: a training step's parameters and state."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from duograph.tensor.give import COUNTS_TELL
from duograph.tensor.tensor import Tensor

from ..values.recipe import Output, Outside, Recipe
from .program import Program

__all__ = ["Donation", "donation_of"]


@dataclass(frozen=True)
class Donation:
    """What the caller of a program gives away. Decided here and nowhere else: how kernels make use of it is
    `runtime.programs.in_place`, and what is not an array of its own is passed as a copy whatever stands here.

    Attributes:
        inputs: numbers of outputs that are written to the tensor that an input is, and are nothing else: number of the
            input.
        shown: numbers of the inputs among those whose memory others may keep (`Write.replaces`): only what nobody else
            holds may be written then.
    """

    inputs: Mapping[int, int]
    shown: Sequence[int]

    def arrays(self, values: Sequence[Any]) -> list[Any]:
        """What a program is called with for these values: tensors are arrays, and those that others hold copies."""
        kept = [j for j in self.shown if _is_held_by_others(values[j])]
        arrays = [v.array() if isinstance(v, Tensor) else v for v in values]
        for j in kept:  # the code writes to what it is given
            arrays[j] = arrays[j].copy()
        return arrays


def donation_of(program: Program) -> Donation:
    """The inputs that calls of ``program`` may overwrite.

    Programs with several paths have none: which output is written depends on the path. Neither have those that raise:
    they must leave the world as it was.
    """
    path = program.paths[0]
    if len(program.paths) != 1 or path.kind != "return":
        return Donation({}, ())
    used: dict[int, int] = {}
    others: list[Any] = [path.value, path.containers, path.attributes]
    for output in _outputs(others, set()):
        used[output.index] = used.get(output.index, 0) + 1
    for write in path.tensors:
        used[write.output] = used.get(write.output, 0) + 1
    inputs = {source: j for j, source in enumerate(program.inputs)}
    found: dict[int, int] = {}
    shown: list[int] = []
    for recipe, index, replaces, _ in path.tensors:
        if isinstance(recipe, Outside) and recipe.source in inputs and used[index] == 1 and index != path.offset:
            j = inputs[recipe.source]
            if j not in found.values():
                found[path.first + index] = j
                if replaces:
                    shown.append(j)
    return Donation(found, shown)


def _is_held_by_others(tensor: Tensor) -> bool:
    """Whether somebody else may hold the memory of ``tensor``: a view, or a NumPy array."""
    array = tensor._data
    return not (COUNTS_TELL and array.flags.owndata and sys.getrefcount(array) == 3)  # tensor, variable, argument


def _outputs(value: Any, seen: set[int]) -> Iterator[Output]:
    """All `Output` recipes in a structure of recipes."""
    if isinstance(value, Output):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _outputs(item, seen)
    elif isinstance(value, Recipe) and is_dataclass(value) and id(value) not in seen:
        seen.add(id(value))
        for f in fields(value):
            yield from _outputs(getattr(value, f.name), seen)
