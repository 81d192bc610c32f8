"""Helpers: which calls of a compiled function were native, and what the same calls give without native calls."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np

from duograph import Tensor
from duograph.base.config import configure


def f32(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


def warmed(function: Any, *args: Any, **kwargs: Any) -> Any:
    """``function`` after the calls that make the next one native."""
    for _ in range(3):
        function(*args, **kwargs)
    return function


def native_hits(function: Any) -> int:
    """Calls that no Python has led."""
    return sum(e.native.hits for store in function._stores() for e in store.used if e.native is not None)


def is_native(function: Any, *args: Any, **kwargs: Any) -> bool:
    """Calls the function; whether that was native."""
    before = native_hits(function)
    function(*args, **kwargs)
    return native_hits(function) == before + 1


def python_within(function: Any, *args: Any, **kwargs: Any) -> list[str]:
    """Names of the Python functions that a call of the compiled ``function`` runs."""
    names: list[str] = []
    gc.collect()
    gc.disable()  # its callbacks, and finalizers, are no part of the call
    sys.setprofile(lambda frame, event, _: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        function(*args, **kwargs)
    finally:
        sys.setprofile(None)
        gc.enable()
    return names


def led_by_python(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of the same call with no native call."""
    before = native_hits(function)
    with configure(save_graphs_path="elsewhere"):  # any configuration but the one for which native calls were made
        out = function(*args, **kwargs)
    assert native_hits(function) == before
    return out


def bits(value: Any) -> Any:
    """A value with its tensors as bytes, to be compared."""
    if isinstance(value, Tensor):
        return (type(value), value.dtype, value.shape, value.asnumpy().tobytes())
    if isinstance(value, tuple | list):
        return (type(value), [bits(v) for v in value])
    if isinstance(value, dict):
        return {k: bits(v) for k, v in value.items()}
    return (type(value), value)
