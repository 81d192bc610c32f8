"""Elementwise functions of ``numpy``: those of ``ops`` with lists and numbers as operands, and a ``dtype``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.api.functional.forms import in_dtype
from duograph.api.promote import as_tensor as any_tensor
from duograph.api.promote import is_number, to_dtype
from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.ops.power import pow_
from duograph.tensor.tensor import Tensor

_OPS = functions()
_UNARY = {
    name: name
    for name in [
        "abs",
        "absolute",
        "arccos",
        "arccosh",
        "arcsin",
        "arcsinh",
        "arctan",
        "arctanh",
        "ceil",
        "cos",
        "cosh",
        "deg2rad",
        "exp",
        "exp2",
        "expm1",
        "floor",
        "isfinite",
        "isinf",
        "isnan",
        "isneginf",
        "isposinf",
        "log",
        "log10",
        "log1p",
        "log2",
        "logical_not",
        "negative",
        "positive",
        "rad2deg",
        "reciprocal",
        "rint",
        "sign",
        "signbit",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "tan",
        "tanh",
        "trunc",
        "bitwise_not",
    ]
} | {"fabs": "abs", "invert": "bitwise_not", "radians": "deg2rad", "fix": "trunc"}
_BINARY = {
    name: name
    for name in [
        "add",
        "arctan2",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "copysign",
        "divide",
        "equal",
        "float_power",
        "floor_divide",
        "fmod",
        "gcd",
        "greater",
        "greater_equal",
        "heaviside",
        "hypot",
        "lcm",
        "less",
        "less_equal",
        "logaddexp",
        "logaddexp2",
        "logical_and",
        "logical_or",
        "logical_xor",
        "matmul",
        "maximum",
        "minimum",
        "multiply",
        "not_equal",
        "remainder",
        "subtract",
        "true_divide",
    ]
} | {"power": "pow", "mod": "remainder", "inner": "inner"}


def as_tensor(x: Any) -> Tensor:
    """``x`` as a tensor; Python integers, also in lists, become int32 as everywhere in ``mindspore.numpy``."""
    t = any_tensor(x)
    python = not isinstance(x, Tensor | np.ndarray | np.generic)
    return to_dtype(t, dt.int32) if python and t.dtype is dt.int64 else t


def operand(x: Any) -> Any:
    """Lists, tuples and arrays as tensors; tensors and numbers as they are."""
    return x if isinstance(x, Tensor) or is_number(x) else as_tensor(x)


def _unary(name: str, fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(x: Any, dtype: Any = None) -> Tensor:
        return in_dtype(fn(as_tensor(x)), dtype)

    function.__name__, function.__doc__ = name, fn.__doc__
    return function


def _binary(name: str, fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
        x = as_tensor(x1) if is_number(x1) and is_number(x2) else operand(x1)
        return in_dtype(fn(x, operand(x2)), dtype)

    function.__name__, function.__doc__ = name, fn.__doc__
    return function


def _cube_root(x: Tensor) -> Tensor:
    """The real cube root."""
    from duograph.api.functional.forms import as_float
    from duograph.ops.arithmetic import abs_, mul, sign
    from duograph.ops.creation import constant_like

    y = as_float(x)
    return mul(sign(y), pow_(abs_(y), constant_like(y, 1.0 / 3.0)))


UNARY: dict[str, Callable[..., Any]] = {name: _unary(name, _OPS[fn]) for name, fn in _UNARY.items()}
UNARY["cbrt"] = _unary("cbrt", _cube_root)
BINARY: dict[str, Callable[..., Any]] = {name: _binary(name, _OPS[fn]) for name, fn in _BINARY.items()}
