"""Python's functions of numbers, and those of `math`, on numbers that are only known at run time."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.scalar import BINARY, UNARY, Scalar, as_scalar, scalar_binary, scalar_unary
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from .native_errors import run_native
from .operands import MOST_DIGITS
from .special_methods import user_method
from .substitutes import SUBSTITUTES, substitute

_NUMBERS = Scalar | int | float


def _number(kind: str) -> Callable[..., Any]:
    convert = {"int": int, "float": float}[kind]

    def build(calls: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], NumpyScalar):
            args = (args[0].number,)
        if len(args) == 1 and not kwargs and isinstance(args[0], Tensor | Scalar):
            if isinstance(args[0], Tensor):
                size = functools.reduce(operator.mul, [d for d in args[0].shape if isinstance(d, int)], 1)
                if size != 1:
                    raise Uncapturable(f"{kind}() of a tensor of several elements")  # raises, each in its own words
            return as_scalar(args[0], kind)
        method = user_method(args[0], f"__{kind}__") if args else None
        if method is not None:
            return calls.semantics.special(f"__{kind}__", method, args[0])
        if args and isinstance(args[0], str | bytes | bytearray) and len(args[0]) > MOST_DIGITS and kind == "int":
            raise Uncapturable("an integer that may have more digits than sys.get_int_max_str_digits()")
        return run_native(calls.session, convert, *args, **kwargs)

    return build


SUBSTITUTES[int] = _number("int")
SUBSTITUTES[float] = _number("float")


@substitute(abs)
def _abs(calls: Any, obj: Any) -> Any:
    method = user_method(obj, "__abs__")
    return calls.call(method, (obj,), {}) if method is not None else run_native(calls.session, abs, obj)


@substitute(divmod)
def _divmod(calls: Any, a: Any, b: Any) -> Any:
    if not isinstance(a, Scalar) and not isinstance(b, Scalar):
        return run_native(calls.session, divmod, a, b)
    if all(isinstance(x, _NUMBERS) for x in (a, b)):
        return a // b, a % b
    raise Uncapturable("divmod of a number that is only known at run time and of what is none")


@substitute(round)
def _round(calls: Any, number: Any, ndigits: Any = None) -> Any:
    if isinstance(number, Scalar):
        if ndigits is None:
            return scalar_unary(number, fn="round")
        if type(ndigits) is not int:
            raise Uncapturable("round to digits whose number is only known at run time")
        return scalar_binary(number, ndigits, fn="round")
    method = user_method(number, "__round__")
    given = () if ndigits is None else (ndigits,)
    return (
        calls.call(method, (number, *given), {})
        if method is not None
        else (run_native(calls.session, round, number, *given))
    )


def _of_math(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `math`, which takes numbers of tensors, and gives one."""

    def build(calls: Any, *args: Any, **kwargs: Any) -> Any:
        args = tuple([x.number if isinstance(x, NumpyScalar) else x for x in args])
        if kwargs or not any(isinstance(x, Tensor | Scalar) for x in args):
            return calls.call_native(fn, args, kwargs)
        if fn is math.isqrt and any(isinstance(x, Tensor) for x in args):
            raise Uncapturable("math.isqrt of a tensor")
        whole = fn is math.isqrt
        numbers = [x if type(x) is float or whole else SUBSTITUTES[float](calls, x) for x in args]
        if len(numbers) == 1 and f"math.{fn.__name__}" in UNARY:
            return scalar_unary(numbers[0], fn=f"math.{fn.__name__}")
        if len(numbers) == 2 and f"math.{fn.__name__}" in BINARY:
            return scalar_binary(*numbers, fn=f"math.{fn.__name__}")
        raise Uncapturable(f"math.{fn.__name__} of these numbers, which are only known at run time")

    return build


@substitute(math.isclose)
def _isclose(calls: Any, a: Any, b: Any, /, **kwargs: Any) -> Any:
    if not any(isinstance(x, Tensor | Scalar) for x in (a, b)):
        return calls.call_native(math.isclose, (a, b), kwargs)
    if any(isinstance(x, Tensor | Scalar) for x in kwargs.values()):
        raise Uncapturable("math.isclose with a tolerance that is only known at run time")
    math.isclose(0.0, 0.0, **kwargs)  # which raises for tolerances that make no sense
    absolute, relative = float(kwargs.get("abs_tol", 0.0)), float(kwargs.get("rel_tol", 1e-9))
    a, b = (x if type(x) is float else SUBSTITUTES[float](calls, x) for x in (a, b))
    distance = abs(b - a)
    near = (distance <= abs(relative * b)) | (distance <= abs(relative * a)) | (distance <= absolute)
    finite = [math.isfinite(x) if type(x) is float else _is_finite(x) for x in (a, b)]
    return (a == b) | (finite[0] & finite[1] & near)


def _is_finite(number: Scalar) -> Any:
    return scalar_unary(number, fn="math.isfinite")


for _fn in (math.floor, math.ceil):
    SUBSTITUTES[_fn] = lambda calls, x, _fn=_fn: (
        scalar_unary(SUBSTITUTES[float](calls, x), fn=_fn.__name__)
        if isinstance(x, Tensor)
        else calls.call_native(_fn, (x,), {})
    )
for _name in (*UNARY, *BINARY):
    if _name.startswith("math."):
        SUBSTITUTES[UNARY.get(_name) or BINARY[_name]] = _of_math(UNARY.get(_name) or BINARY[_name])
