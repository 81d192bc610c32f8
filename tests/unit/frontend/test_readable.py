"""Whatever a program reads from outside: after it changes, compiled code says what eager code says."""

from __future__ import annotations

import pytest

import duograph as ms
from tests.conformance.harness import describe

from . import (
    readable_classes,
    readable_data,
    readable_numpy,
    readable_objects,
    readable_operators,
    readable_python,
    readable_system,
)  # fmt: skip
from .readable import READABLES


def outcome(fn):
    """What a call gives, or how it ends."""
    try:
        return describe(fn(ms.Tensor([1.0, 2.0])))
    except Exception as error:  # noqa: BLE001
        return type(error), str(error)


TABLES = (
    readable_classes, readable_data, readable_numpy, readable_objects, readable_operators, readable_python,
    readable_system,
)  # fmt: skip
"""Importing them declares the entries."""


@pytest.mark.parametrize("readable", READABLES, ids=lambda r: r.name)
def test_after_a_change_compiled_code_says_what_eager_code_says(readable):
    compiled = ms.jit(readable.fn)
    by_itself = readable.by_itself or (lambda: None)

    def compare():
        for _ in range(3):  # captured, checked in Python, checked natively
            before, is_equal = object(), False
            while before != (before := by_itself()):  # else both calls have read the same
                is_equal = outcome(compiled) == outcome(readable.fn)
            assert is_equal

    compare()
    for change in readable.changes:
        with change():
            compare()
        compare()
