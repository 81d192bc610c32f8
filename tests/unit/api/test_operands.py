"""What is not a tensor where a tensor belongs is refused by name, never by an attribute that it happens not to have."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import mint, ops

ARRAY, PLACES = np.ones((2, 3), np.float32), np.array([0, 1])
TENSOR = object()
"""Stands for a tensor of its own in each call."""

GIVEN: list[tuple[Any, ...]] = [
    (ARRAY,), (ARRAY, ARRAY), (ARRAY, 1), (ARRAY, PLACES), (ARRAY, 1, PLACES), (ARRAY, ARRAY, ARRAY),
    (ARRAY, 1, PLACES, ARRAY), (TENSOR, 1), (TENSOR, ARRAY), (TENSOR, 1, ARRAY), (1,),
]  # fmt: skip

ANYTHING = {
    "bool_eq", "bucketize", "cartesian_prod", "cond", "constexpr", "deepcopy", "depend", "identity", "is_", "is_not",
    "is_tensor", "print_", "sequence_mask", "stop_gradient", "tail",
}  # fmt: skip
"""They take other things, too: arrays, sequences, functions, or any object."""

PREFIXES = ("scalar_", "string_", "tuple_", "list_", "dict_", "make_", "in_", "not_in_", "func")


def functions(module: ModuleType) -> list[Any]:
    """The public functions of a module that take tensors, with their names."""
    found = [(name, getattr(module, name)) for name in dir(module) if not name.startswith(("_", *PREFIXES))]
    return [(n, f) for n, f in found if callable(f) and not inspect.isclass(f) and n not in ANYTHING]


@pytest.mark.parametrize("module", [ops, mint, mint.nn.functional], ids=lambda m: m.__name__)
def test_what_is_no_tensor(module: ModuleType) -> None:
    wrong = []
    for name, function in functions(module):
        for given in GIVEN:
            try:
                function(*(ms.Tensor(ARRAY) if x is TENSOR else x for x in given))
            except (TypeError, ValueError, RuntimeError):
                continue
            except Exception as error:  # noqa: BLE001 - found
                wrong.append((name, [type(x).__name__ for x in given], f"{type(error).__name__}: {error}"))
    assert wrong == []
