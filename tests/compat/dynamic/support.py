"""What the tests of this folder share: values as plain Python data, and two assertions.

The expected values were measured with MindSpore 2.10 (CPU). A tensor is written as ``("Float32", nested list)``, a NumPy
array as ``("float32", nested list, "numpy")``, anything that is neither container nor number as its ``str``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
import pytest

TOLERANCE = 2e-5
"""Relative to the larger of 1 and the values: MindSpore's CPU kernels differ from ours in the last bits."""


def seen(value: Any) -> Any:
    """``value`` as plain data."""
    if isinstance(value, ms.Tensor):
        held = value.astype(ms.float32) if value.dtype == ms.bfloat16 else value
        return str(value.dtype), held.asnumpy().tolist()
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist(), "numpy"
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return tuple([seen(v) for v in value])
    if isinstance(value, list):
        return [seen(v) for v in value]
    if isinstance(value, dict):
        return {seen(k): seen(v) for k, v in value.items()}
    if isinstance(value, type):
        return f"class {value.__name__}"
    return value if value is None or isinstance(value, bool | int | float | complex | str) else str(value)


def close(actual: Any, expected: Any) -> bool:
    """Whether two pieces of plain data are equal, floats up to `TOLERANCE`."""
    if isinstance(expected, float) and isinstance(actual, float):
        if math.isnan(expected) or math.isinf(expected):
            return repr(actual) == repr(expected)
        return abs(actual - expected) <= TOLERANCE * max(1.0, abs(expected))
    if isinstance(expected, list | tuple):
        return (
            type(actual) is type(expected)
            and len(actual) == len(expected)
            and all(close(a, e) for a, e in zip(actual, expected, strict=True))
        )
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and list(actual) == list(expected)
            and all(close(actual[k], expected[k]) for k in expected)
        )
    return type(actual) is type(expected) and actual == expected


def same(value: Any, expected: Any) -> None:
    """Asserts that ``value`` is what MindSpore gives."""
    actual = seen(value)
    assert close(actual, expected), f"{actual} instead of {expected}"


def fails(program: Callable[[], Any], error: type[Exception], text: str) -> None:
    """Asserts that ``program`` raises MindSpore's error, with its text."""
    with pytest.raises(error) as caught:
        program()
    assert type(caught.value) is error
    assert text in str(caught.value)
