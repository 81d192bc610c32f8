"""Elementwise functions of ``numpy``: those of ``ops`` with lists and numbers as operands, and a ``dtype``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.api.functional.forms import as_float, documented, in_dtype
from duograph.api.promote import as_tensor as any_tensor
from duograph.api.promote import is_number, python_type, to_dtype
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
    add arctan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide fmod gcd greater
    greater_equal heaviside hypot lcm less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor matmul
    maximum minimum multiply not_equal remainder subtract true_divide
"""
_BINARY = {name: name for name in _BINARY_NAMES.split()} | {"power": "pow", "mod": "remainder"}


_EXAMPLES = """
abs: [-1.5, 2.0] -> [1.5 2. ]
absolute: [-3, 4] -> [3 4]
arccos: [1.0, 0.0, -1.0] -> [0.        1.5707964 3.1415927]
arccosh: [1.0, 2.0] -> [0.       1.316958]
arcsin: [0.0, 0.5, 1.0] -> [0.        0.5235988 1.5707964]
arcsinh: [0.0, 1.0] -> [0.        0.8813736]
arctan: [0.0, 1.0] -> [0.        0.7853982]
arctanh: [0.0, 0.5] -> [0.         0.54930615]
ceil: [-1.5, 0.2] -> [-1.  1.]
cos: [0.0, 1.0] -> [1.        0.5403023]
cosh: [0.0, 1.0] -> [1.        1.5430807]
deg2rad: [0.0, 90.0, 180.0] -> [0.        1.5707964 3.1415927]
exp: [0.0, 1.0] -> [1.        2.7182817]
exp2: [0.0, 1.0, 3.0] -> [1. 2. 8.]
expm1: [0.0, 1e-10, 1.0] -> [0.0000000e+00 1.0000000e-10 1.7182819e+00]
floor: [-1.5, 0.2] -> [-2.  0.]
isfinite: [1.0, mnp.inf, mnp.nan] -> [ True False False]
isinf: [1.0, -mnp.inf, mnp.nan] -> [False  True False]
isnan: [1.0, mnp.inf, mnp.nan] -> [False False  True]
isneginf: [-mnp.inf, mnp.inf] -> [ True False]
isposinf: [-mnp.inf, mnp.inf] -> [False  True]
log: [1.0, mnp.e] -> [0. 1.]
log10: [1.0, 1000.0] -> [0. 3.]
log1p: [0.0, 1e-10, 1.0] -> [0.000000e+00 1.000000e-10 6.931472e-01]
log2: [1.0, 8.0] -> [0. 3.]
logical_not: [True, False] -> [False  True]
negative: [1.0, -2.0] -> [-1.  2.]
positive: [1.0, -2.0] -> [ 1. -2.]
rad2deg: [0.0, mnp.pi] -> [  0. 180.]
reciprocal: [2.0, 4.0] -> [0.5  0.25]
rint: [0.5, 1.5, 1.7] -> [0. 2. 2.]
sign: [-3.0, 0.0, 2.0] -> [-1.  0.  1.]
signbit: [-1.0, 0.0, 1.0] -> [ True False False]
sin: [0.0, 1.0] -> [0.       0.841471]
sinh: [0.0, 1.0] -> [0.        1.1752012]
sqrt: [1.0, 9.0] -> [1. 3.]
square: [2.0, -3.0] -> [4. 9.]
tan: [0.0, 1.0] -> [0.        1.5574077]
tanh: [0.0, 1.0] -> [0.        0.7615942]
trunc: [-1.7, 1.7] -> [-1.  1.]
bitwise_not: [0, 5] -> [-1 -6]
fabs: [-1.5, 2.0] -> [1.5 2. ]
invert: [0, 5] -> [-1 -6]
radians: [0.0, 180.0] -> [0.        3.1415927]
fix: [-1.7, 1.7] -> [-1.  1.]
cbrt: [-8.0, 27.0] -> [-2.  3.]
add: [1, 2], [0.5, 1.5] -> [1.5 3.5]
arctan2: [1.0, -1.0], [1.0, -1.0] -> [ 0.7853982 -2.3561945]
bitwise_and: [12, 10], 6 -> [4 2]
bitwise_or: [12, 10], 6 -> [14 14]
bitwise_xor: [12, 10], 6 -> [10 12]
divide: [1, 2], [2, 4] -> [0.5 0.5]
equal: [1, 2, 3], [1, 0, 3] -> [ True False  True]
floor_divide: [7, -7], 2 -> [ 3 -4]
fmod: [7, -7], 3 -> [ 1 -1]
gcd: [12, 18], 8 -> [4 2]
greater: [1, 2, 3], 2 -> [False False  True]
greater_equal: [1, 2, 3], 2 -> [False  True  True]
heaviside: [-1.0, 0.0, 2.0], 0.5 -> [0.  0.5 1. ]
hypot: [3.0, 5.0], [4.0, 12.0] -> [ 5. 13.]
lcm: [4, 6], 10 -> [20 30]
less: [1, 2, 3], 2 -> [ True False False]
less_equal: [1, 2, 3], 2 -> [ True  True False]
logaddexp: [0.0, 100.0], [0.0, 100.0] -> [  0.6931472 100.693146 ]
logaddexp2: [0.0, 3.0], [0.0, 3.0] -> [1. 4.]
logical_and: [True, True], [True, False] -> [ True False]
logical_or: [False, True], [False, False] -> [False  True]
logical_xor: [True, True], [True, False] -> [False  True]
matmul: [[1.0, 2.0]], [[3.0], [4.0]] -> [[11.]]
maximum: [1.0, 5.0], [3.0, 2.0] -> [3. 5.]
minimum: [1.0, 5.0], [3.0, 2.0] -> [1. 2.]
multiply: [1, 2], [3, 4] -> [3 8]
not_equal: [1, 2, 3], [1, 0, 3] -> [False  True False]
remainder: [7, -7], 3 -> [1 2]
subtract: [1, 2], [3, 1] -> [-2  1]
true_divide: [1, 2], 4 -> [0.25 0.5 ]
power: [1, 2, 3], 2 -> [1 4 9]
mod: [7, -7], 3 -> [1 2]
"""
"""What the docstrings show: name, operands, and what is printed."""
_SHOWN = dict(row.split(": ", 1) for row in _EXAMPLES.strip().split("\n"))
_HERE = {"input": "x1", "dividend": "x1", "other": "x2", "divisor": "x2", "exponent": "x2", "values": "x2"}
"""Parameters of ``ops``, and how they are called here."""


def _text(name: str, fn: Callable[..., Tensor]) -> str:
    """The docstring of the function ``name``, which computes ``fn`` of ``ops``."""
    summary = (fn.__doc__ or "").partition("\n")[0]
    alias = re.fullmatch(r"As `(\w+)`\.", summary)
    if alias:
        return _text(name, _OPS[alias[1]])
    summary = re.sub(r"\w+", lambda word: _HERE.get(word[0], word[0]), summary.replace("alpha * ", ""))
    operands, _, printed = _SHOWN[name].partition(" -> ")
    returns = f"Tensor, of the shape {'of the operand' if name in _UNARY else 'that both operands broadcast to'}."
    return documented(summary, returns, f"mnp.{name}({operands})", printed)


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

    function.__name__, function.__doc__ = name, _text(name, fn)
    return function


def _binary(name: str, fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def function(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
        if type(x2) in (int, float) and _fits(x2, x1):
            return in_dtype(fn(x1, x2), dtype)
        if type(x1) in (int, float) and _fits(x1, x2):
            return in_dtype(fn(x1, x2), dtype)
        x = as_tensor(x1) if is_number(x1) and is_number(x2) else operand(x1)
        return in_dtype(fn(x, operand(x2)), dtype)

    function.__name__, function.__doc__ = name, _text(name, fn)
    return function


def _cube_root(x: Tensor) -> Tensor:
    """The real cube root."""
    y = as_float(x)
    return mul(sign(y), pow_(abs_(y), constant_like(y, 1.0 / 3.0)))


UNARY: dict[str, Callable[..., Any]] = {name: _unary(name, _OPS[fn]) for name, fn in _UNARY.items()}
UNARY["cbrt"] = _unary("cbrt", _cube_root)
BINARY: dict[str, Callable[..., Any]] = {name: _binary(name, _OPS[fn]) for name, fn in _BINARY.items()}


def inner(a: Any, b: Any) -> Tensor:
    """Products of the last axes, summed.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.inner([1.0, 2.0], [3.0, 4.0]), mnp.inner([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]))
        11.0 [21. 43.]
    """
    return _OPS["inner"](as_tensor(a), as_tensor(b))


def float_power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1 ** x2`` in floats: float64 where an operand is, else float32.

    Returns:
        Tensor of a float type.

    Examples:
        >>> print(mnp.float_power([1, 2, 3], 2))
        [1. 4. 9.]
    """
    parts = [as_float(as_tensor(x)) for x in (x1, x2)]
    wide = dt.float64 if any(t.dtype is dt.float64 for t in parts) else dt.float32
    return in_dtype(pow_(*(to_dtype(t, wide) for t in parts)), dtype)


def _is_limit(number: Any, x: Any) -> bool:
    return isinstance(x, Tensor) and x.dtype.is_integer and is_number(number) and python_type(number) is int


def _bound(fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """`maximum` or `minimum`: a number takes the dtype of the tensor beside it, or the nearest that this has."""

    def function(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
        if (type(x2) in (int, float) and _fits(x2, x1)) or _is_limit(x2, x1) or _is_limit(x1, x2):
            return in_dtype(fn(x1, x2), dtype)
        x, y = as_tensor(x1), as_tensor(x2)
        if is_number(x2) and not is_number(x1):
            y = to_dtype(y, x.dtype)
        elif is_number(x1) and not is_number(x2):
            x = to_dtype(x, y.dtype)
        return in_dtype(fn(x, y), dtype)

    function.__name__, function.__doc__ = fn.__name__, _text(fn.__name__, fn)
    return function


def copysign(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """``x1`` with the sign of ``x2``, in the dtype of ``x1``.

    Returns:
        Tensor, of the shape that both operands broadcast to.

    Examples:
        >>> print(mnp.copysign([1.0, -2.0], [-1.0, 1.0]))
        [-1.  2.]
    """
    x = as_tensor(x1)
    return in_dtype(to_dtype(_OPS["copysign"](x, operand(x2)), x.dtype), dtype)


BINARY.update({"inner": inner, "float_power": float_power, "copysign": copysign})
BINARY.update({name: _bound(_OPS[name]) for name in ("maximum", "minimum")})
