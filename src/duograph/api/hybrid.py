"""`kernel`: functions in MindSpore's Hybrid DSL: Python over NumPy arrays, with names that need no import."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from functools import update_wrapper
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np


def _allocate(shape: Any, dtype: Any = "float32", scope: str = "global") -> np.ndarray:
    return np.zeros(shape, dtype)


INTRINSICS: dict[str, Any] = {
    "allocate": _allocate, "output_tensor": _allocate,
    "serial": range, "vectorize": range, "parallel": range, "reduce": range,
    "grid": lambda extents: product(*map(range, extents)),
    "attr": lambda *_: nullcontext(), "block_realize": lambda *_: nullcontext(),
    "rsqrt": lambda x: 1 / np.sqrt(x), "erf": np.vectorize(math.erf), "atan": np.arctan, "atan2": np.arctan2,
    "ceil_div": lambda a, b: (a + b - 1) // b,
    **{name: getattr(np, name) for name in (
        "abs", "ceil", "cos", "exp", "expm1", "float16", "float32", "float64", "floor", "int16", "int32", "int64",
        "int8", "isfinite", "isinf", "isnan", "log", "power", "round", "sign", "sin", "sqrt", "tanh", "trunc",
    )},
}  # fmt: skip
"""What the names of the DSL are."""


class _Names(dict[str, Any]):
    """The names of the DSL, and behind them those of the function's module."""

    def __init__(self, behind: dict[str, Any]) -> None:
        super().__init__(INTRINSICS)
        self._behind = behind

    def __missing__(self, name: str) -> Any:
        return self._behind[name]


class HybridKernel:
    """A function in the Hybrid DSL, which can be called with NumPy arrays."""

    def __init__(self, fn: FunctionType) -> None:
        update_wrapper(self, fn)
        self._fn = FunctionType(fn.__code__, _Names(fn.__globals__), fn.__name__, fn.__defaults__, fn.__closure__)

    def __call__(self, *arrays: Any) -> Any:
        return self._fn(*arrays)


def kernel(fn: Any = None, reg_info: Any = None, compile_attrs: Any = None) -> Any:
    """Makes a function in MindSpore's Hybrid DSL one of NumPy arrays, and the kernel of an `ops.Custom`.

    It runs as Python: ``output_tensor(shape, dtype)`` and ``allocate(shape, dtype)`` give arrays, ``serial``,
    ``vectorize``, ``parallel`` and ``reduce`` are `range`, and functions as ``exp`` are NumPy's.

    Args:
        fn (Callable): the function. Default ``None``: gives the decorator.
        reg_info (Union[str, dict]): how other processors register the kernel; has no effect.
        compile_attrs (dict): how other processors compile it; has no effect.

    Returns:
        Callable, of NumPy arrays.

    Raises:
        TypeError: ``fn`` is no Python function.

    Examples:
        >>> import numpy as np
        >>> from duograph import ops
        >>> @ops.kernel
        ... def double(a):
        ...     b = output_tensor(a.shape, a.dtype)
        ...     for i in serial(a.shape[0]):
        ...         b[i] = a[i] + a[i]
        ...     return b
        >>> print(double(np.array([1.0, 2.5])))
        [2. 5.]
    """
    if fn is None:
        return lambda given: kernel(given, reg_info, compile_attrs)
    if not isinstance(fn, FunctionType):
        raise TypeError(f"For 'kernel', 'fn' must be a Python function, but got {type(fn).__name__}.")
    made: Callable[..., Any] = HybridKernel(fn)
    return made
