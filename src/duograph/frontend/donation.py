"""Which outputs of a captured program are the new contents of which inputs: a training step's parameters and state."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from duograph.tensor.give import COUNTS_TELL
from duograph.tensor.tensor import Tensor

from .program import Program
from .recipe import Output, Outside, Recipe

__all__ = ["donations", "given_up", "is_held_by_others"]


def donations(program: Program) -> dict[int, int]:
    """Numbers of outputs that are written to the tensor that an input is, and are nothing else: number of the input.

    Programs with several paths have none: which output is written depends on the path. Neither have those that raise:
    they must leave the world as it was.
    """
    path = program.paths[0]
    if len(program.paths) != 1 or path.kind != "return":
        return {}
    used: dict[int, int] = {}
    others: list[Any] = [path.value, path.containers, path.attributes]
    for output in _outputs(others, set()):
        used[output.index] = used.get(output.index, 0) + 1
    for write in path.tensors:
        used[write.output] = used.get(write.output, 0) + 1
    inputs = {source: j for j, source in enumerate(program.inputs)}
    found: dict[int, int] = {}
    for recipe, index, _ in path.tensors:
        if isinstance(recipe, Outside) and recipe.source in inputs and used[index] == 1 and index != path.offset:
            j = inputs[recipe.source]
            if j not in found.values():
                found[path.first + index] = j
    return found


def given_up(program: Program, donate: Mapping[int, int]) -> list[int]:
    """Numbers of the inputs among those in ``donate`` whose memory others may keep (`Write.replaces`): only what nobody
    else holds may be written then."""
    path = program.paths[0]
    return [donate[k] for w in path.tensors if w.replaces and (k := path.first + w.output) in donate]


def is_held_by_others(tensor: Tensor) -> bool:
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
