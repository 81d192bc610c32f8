"""Elementwise functions of ``numpy``: those of ``ops`` with lists and numbers as operands, and a ``dtype``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.api.functional.forms import as_float, in_dtype
from duograph.api.promote import as_tensor as any_tensor
from duograph.api.promote import is_number, to_dtype
from duograph.api.public_ops import functions
from duograph.core import dtype as dt
from duograph.ops.arithmetic import abs_, mul, sign
from duograph.ops.creation import constant_like
from duograph.ops.power import pow_
from duograph.tensor.tensor import Tensor

_OPS = functions()
_UNARY_NAMES = """
    abs absolute arccos arccosh arcsin arcsinh arctan arctanh ceil cos cosh deg2rad exp exp2 expm1 floor isfinite
    isinf isnan isneginf isposinf log log10 log1p log2 logical_not negative positive rad2deg reciprocal rint sign
    signbit sin sinh sqrt square tan tanh trunc bitwise_not
"""
_UNARY = {name: name for name in _UNARY_NAMES.split()}
_UNARY |= {"fabs": "abs", "invert": "bitwise_not", "radians": "deg2rad", "fix": "trunc"}
_BINARY_NAMES = """
    add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide equal float_power floor_divide fmod gcd greater
    greater_equal heaviside hypot lcm less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor matmul
    maximum minimum multiply not_equal remainder subtract true_divide
"""
_BINARY = {name: name for name in _BINARY_NAMES.split()} | {"power": "pow", "mod": "remainder", "inner": "inner"}


def as_tensor(x: Any) -> Tensor:
    """``x`` as a tensor; Python integers, also in lists, become int32 as everywhere in ``mindspore.numpy``."""
    t = any_tensor(x)
    python = not isinstance(x, Tensor | np.ndarray | np.generic)
    return to_dtype(t, dt.int32) if python and t.dtype is dt.int64 else t


def operand(x: Any) -> Any:
    """Lists, tuples, arrays and numbers as tensors, ints as int32 and floats as float32; bools as they are.

    So a uint8 tensor and 3 give int32, and a float16 tensor and 2.5 give float32, as everywhere in ``mindspore.numpy``.
    """
    return x if isinstance(x, Tensor | bool) else as_tensor(x)


_FLOATS = ("ceil", "trunc", "fix", "sign", "signbit")  # compute in floats of integers, too
_HALVES = (
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cos", "cosh", "sin", "sinh", "tan", "tanh",
)  # fmt: skip
"""Give float16 of what has 8 bits."""


def _prepared(name: str, x: Tensor) -> Tensor:
    """``x`` in the dtype that the function ``name`` computes in."""
    small = x.dtype.is_bool or (x.dtype.is_integer and x.dtype.itemsize == 1)
    if small and name in _HALVES:
        return to_dtype(x, dt.float16)
    return as_float(x) if name in _FLOATS else x


_WHOLE = (dt.int32, dt.int64)
_SINGLE_OR_MORE = (dt.float32, dt.float64, dt.complex64, dt.complex128)


def _fits(number: Any, x: Any) -> bool:
    """Whether a number beside the tensor ``x`` asks for no other dtype than that of ``x``: it may stay a number."""
    if not isinstance(x, Tensor):
        return False
    return x.dtype in _SINGLE_OR_MORE or (type(number) is int and x.dtype in _WHOLE)


def _unary(name: str, fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def compute(x: Any, dtype: Any) -> Tensor:
        return in_dtype(fn(_prepared(name, as_tensor(x))), dtype)

    if name in ("negative", "positive", "logical_not"):

        def function(a: Any, dtype: Any = None) -> Tensor:
            return compute(a, dtype)
    elif name == "arccos":

        def function(input: Any, dtype: Any = None) -> Tensor:  # type: ignore[misc]
            return compute(input, dtype)
    else:

        def function(x: Any, dtype: Any = None) -> Tensor:  # type: ignore[misc]
            return compute(x, dtype)

    function.__name__, function.__doc__ = name, fn.__doc__
    return function


def _binary(name: str, fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
        if type(x2) in (int, float) and _fits(x2, x1):
            return in_dtype(fn(x1, x2), dtype)
        if type(x1) in (int, float) and _fits(x1, x2):
            return in_dtype(fn(x1, x2), dtype)
        x = as_tensor(x1) if is_number(x1) and is_number(x2) else operand(x1)
        return in_dtype(fn(x, operand(x2)), dtype)

    function.__name__, function.__doc__ = name, fn.__doc__
    return function


def _cube_root(x: Tensor) -> Tensor:
    """The real cube root."""
    y = as_float(x)
    return mul(sign(y), pow_(abs_(y), constant_like(y, 1.0 / 3.0)))


UNARY: dict[str, Callable[..., Any]] = {name: _unary(name, _OPS[fn]) for name, fn in _UNARY.items()}
UNARY["cbrt"] = _unary("cbrt", _cube_root)
BINARY: dict[str, Callable[..., Any]] = {name: _binary(name, _OPS[fn]) for name, fn in _BINARY.items()}


def inner(a: Any, b: Any) -> Tensor:
    """Products of the last axes, summed."""
    return _OPS["inner"](as_tensor(a), as_tensor(b))


def float_power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 ** x2`` in floats: float64 where an operand is, else float32."""
    parts = [as_float(as_tensor(x)) for x in (x1, x2)]
    wide = dt.float64 if any(t.dtype is dt.float64 for t in parts) else dt.float32
    return in_dtype(pow_(*(to_dtype(t, wide) for t in parts)), dtype)


def _bound(fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`maximum` or `minimum`: a number takes the dtype of the tensor beside it."""

    def function(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
        if type(x2) in (int, float) and _fits(x2, x1):
            return in_dtype(fn(x1, x2), dtype)
        x, y = as_tensor(x1), as_tensor(x2)
        if is_number(x2) and not is_number(x1):
            y = to_dtype(y, x.dtype)
        elif is_number(x1) and not is_number(x2):
            x = to_dtype(x, y.dtype)
        return in_dtype(fn(x, y), dtype)

    function.__name__, function.__doc__ = fn.__name__, fn.__doc__
    return function


def copysign(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1`` with the sign of ``x2``, in the dtype of ``x1``."""
    x = as_tensor(x1)
    return in_dtype(to_dtype(_OPS["copysign"](x, operand(x2)), x.dtype), dtype)


BINARY.update({"inner": inner, "float_power": float_power, "copysign": copysign})
BINARY.update({name: _bound(_OPS[name]) for name in ("maximum", "minimum")})
