"""Guards for a constant of each class, wherever it is found, hold for the calls that they were made for: natively."""

from __future__ import annotations

import enum
import fractions
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import duograph as ms
from tests.first_contact.counts import LED_BY_PYTHON, STEADY, counts_of

CALLS = 8


class Colour(enum.Enum):
    RED = 1


VALUES = [
    3, -1, 1 << 70, 1.5, -0.0, float("nan"), 1 + 2j, True, None, "text", "", b"bytes", b"", (), (1, "a", b"b"),
    [1, 2.0], {"a": b"b"}, {1, 2}, frozenset("a"), slice(1, 2), ..., range(3), Colour.RED, np.float32(1.5),
    np.dtype("float16"), ms.float16, int, len, fractions.Fraction(1, 3),
]  # fmt: skip


def as_argument(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return lambda x, v: (x * 2, v), (value,)


def as_item(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return lambda x, d: (x * 2, d["k"]), ({"k": value},)


def as_attribute(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return lambda x, o: (x * 2, o.k), (SimpleNamespace(k=value),)


def as_closure(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return lambda x: (x * 2, value), ()


def as_default(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    def function(x: Any, v: Any = value) -> Any:
        return x * 2, v

    return function, ()


def as_global(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    names: dict[str, Any] = {"V": value}
    exec("def function(x): return x * 2, V", names)
    return names["function"], ()


def as_field_of_a_cell(value: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    class Net(ms.nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.k = value

        def construct(self, x: Any) -> Any:
            return x * 2, self.k

    return Net(), ()


PLACES = [as_argument, as_item, as_attribute, as_closure, as_default, as_global, as_field_of_a_cell]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__}-{value!s:.12}")
def test_one_version_that_native_code_calls(place: Any, value: Any) -> None:
    function, arguments = place(value)
    compiled = ms.jit(function)
    x = ms.Tensor(np.ones(3, np.float32))
    for _ in range(CALLS):
        doubled, given = compiled(x, *arguments)
        assert type(given) is type(value) and (given == value or given != given)
        assert doubled.asnumpy().tolist() == [2, 2, 2]
    told = compiled.explain()
    assert counts_of(told) == STEADY, str(told)
    (version,) = told.versions
    assert (version["hits"], version["native_calls"]) == (CALLS, CALLS - LED_BY_PYTHON), version["why_not_native"]
