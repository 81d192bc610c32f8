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

    def compare():
        for _ in range(3):  # captured, checked in Python, checked natively
            if readable.fn.__name__.startswith("moment") and outcome(compiled) == outcome(readable.fn):
                continue  # a second may begin between two calls, but not each time
            assert outcome(compiled) == outcome(readable.fn)

    compare()
    for change in readable.changes:
        with change():
            compare()
        compare()
