"""Elementwise mathematics of one tensor: a table, and the few with options."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.op import Op
from duograph.ops import arithmetic, logical, movement, unary
from duograph.ops import complex as complex_ops
from duograph.ops.cast import in_single
from duograph.ops.creation import constant_like, iota
from duograph.ops.scalar import Scalar
from duograph.ops.select import select
from duograph.tensor.tensor import Tensor

from .. import operators
from ..promote import is_number
from .forms import (
    as_float,
    need_tensor,
    public_functions,
    refused,
    static_int,
    to_dtype,
    unary_function,
)


def _floating(op: Op) -> Callable[[Tensor], Tensor]:
    return lambda x: op(as_float(x))


def _keeps_integers(op: Op) -> Callable[[Tensor], Tensor]:
    return lambda x: x if x.dtype.is_bool or x.dtype.is_integer else op(x)


_FLOATING = {
    # name: (primitive, MindSpore's title, argument name)
    "exp": (unary.exp, "Exp", "input"), "expm1": (unary.expm1, "Expm1", "input"),
    "exp2": (unary.exp2, "Exp2", "input"), "log": (unary.log, "Log", "input"),
    "log1p": (unary.log1p, "Log1p", "input"), "log2": (unary.log2, "Log2", "input"),
    "log10": (unary.log10, "Log10", "input"), "sqrt": (unary.sqrt, "Sqrt", "x"),
    "rsqrt": (unary.rsqrt, "Rsqrt", "input"), "reciprocal": (arithmetic.reciprocal, "Reciprocal", "input"),
    "sigmoid": (unary.sigmoid, "Sigmoid", "input"), "sin": (unary.sin, "Sin", "input"),
    "cos": (unary.cos, "Cos", "input"), "tan": (unary.tan, "Tan", "input"), "asin": (unary.asin, "Asin", "input"),
    "acos": (unary.acos, "ACos", "input"), "atan": (unary.atan, "Atan", "input"),
    "sinh": (unary.sinh, "Sinh", "input"), "cosh": (unary.cosh, "Cosh", "input"),
    "tanh": (unary.tanh, "Tanh", "input"), "asinh": (unary.asinh, "Asinh", "input"),
    "acosh": (unary.acosh, "Acosh", "input"), "atanh": (unary.atanh, "Atanh", "input"),
    "erf": (unary.erf, "Erf", "input"), "erfc": (unary.erfc, "Erfc", "input"),
    "erfinv": (unary.erfinv, "Erfinv", "input"), "lgamma": (unary.lgamma, "Lgamma", "input"),
    "digamma": (unary.digamma, "Digamma", "input"),
    "arcsin": (unary.asin, "Asin", "x"), "arccos": (unary.acos, "ACos", "input"),
    "arctan": (unary.atan, "Atan", "input"), "arcsinh": (unary.asinh, "Asinh", "input"),
    "arccosh": (unary.acosh, "Acosh", "input"), "arctanh": (unary.atanh, "Atanh", "input"),
    "inv": (arithmetic.reciprocal, "Inv", "x"),
}  # fmt: skip


_PLAIN: dict[str, tuple[Callable[[Tensor], Tensor], str, str, str]] = {
    "abs": (operators.absolute, "Abs", "input", "``|x|``; real for complex numbers."),
    "absolute": (operators.absolute, "Abs", "input", "As `abs`."),
    "neg": (operators.negative, "Neg", "input", "``-x``."),
    "negative": (operators.negative, "Neg", "input", "``-x``."),
    "positive": (operators.positive, "Positive", "input", "``x`` itself."),
    "square": (lambda x: x if x.dtype.is_bool else arithmetic.square(x), "Square", "input", "``x * x``."),
    "sign": (arithmetic.sign, "Sign", "input", "-1, 0 or 1."),
    "sgn": (arithmetic.sign, "Sgn", "input", "-1, 0 or 1; ``x / |x|`` for complex numbers."),
    "floor": (_keeps_integers(unary.floor), "Floor", "input", "Rounded down."),
    "ceil": (_keeps_integers(unary.ceil), "Ceil", "input", "Rounded up."),
    "trunc": (_keeps_integers(unary.trunc), "Trunc", "input", "Rounded towards zero."),
    "rint": (_keeps_integers(unary.round_), "Rint", "input", "Rounded to the nearest integer, halves to even."),
    "conj": (lambda x: arithmetic.conj(x) if x.dtype.is_complex else x, "Conj", "input", "Complex conjugate."),
    "real": (lambda x: complex_ops.real(x) if x.dtype.is_complex else x, "Real", "input", "Real part."),
    "imag": (complex_ops.imag, "Imag", "input", "Imaginary part."),
    "angle": (lambda x: complex_ops.angle(as_float(x)), "Angle", "input", "Argument of a complex number."),
    "isnan": (unary.isnan, "IsNan", "input", "Whether NaN."),
    "isnan_ext": (unary.isnan, "IsNan", "input", "Whether NaN."),
    "isinf": (unary.isinf, "IsInf", "input", "Whether infinite."),
    "isfinite": (unary.isfinite, "IsFinite", "input", "Whether neither infinite nor NaN."),
    "logical_not": (operators.invert, "LogicalNot", "input", "``not x``, elementwise."),
    "bitwise_not": (logical.bitwise_not, "BitwiseNot", "input", "``~x`` on integers and bool."),
    "invert": (logical.bitwise_not, "Invert", "x", "``~x`` on integers."),
    "deg2rad": (lambda x: arithmetic.mul(as_float(x), constant_like(as_float(x), math.pi / 180)), "Deg2Rad", "x",
                "Degrees as radians."),
    "rad2deg": (lambda x: arithmetic.mul(as_float(x), constant_like(as_float(x), 180 / math.pi)), "Rad2Deg", "x",
                "Radians as degrees."),
    "frac": (lambda x: arithmetic.sub(x, _keeps_integers(unary.trunc)(x)), "Frac", "x", "The part after the point."),
}  # fmt: skip


UNARY: dict[str, Callable[..., Tensor]] = {
    **{
        name: unary_function(name, _floating(op), title, arg, f"{op.doc}\n\nIntegers are taken as float32.")
        for name, (op, title, arg) in _FLOATING.items()
    },
    **{name: unary_function(name, fn, title, arg, doc) for name, (fn, title, arg, doc) in _PLAIN.items()},
}
"""Functions of one tensor."""


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """Rounded to ``decimals`` places, halves to even.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.round(Tensor([0.5, 1.5, 2.5])))
        [0. 2. 2.]
    """
    need_tensor("Round", input=input)
    return operators.rounded(input, decimals)


def signbit(input: Tensor) -> Tensor:
    """Whether the sign is minus, for -0.0 too.

    Returns:
        Tensor of bool, of the shape of ``input``.

    Examples:
        >>> print(ops.signbit(Tensor([-1.0, 0.0])))
        [ True False]
    """
    need_tensor("SignBit", input=input)
    return unary.signbit(input)


def sinc(input: Tensor) -> Tensor:
    """``sin(pi x) / (pi x)``, 1 at 0.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.sinc(Tensor([0.0])))
        [1.]
    """
    need_tensor("Sinc", input=input)
    x = as_float(input)
    if not x.dtype.is_complex:
        return unary.sinc(x)
    zero = operators.equal(x, 0)
    angle = arithmetic.mul(select(zero, constant_like(x, 1), x), constant_like(x, math.pi))
    return select(zero, constant_like(x, 1), arithmetic.div(unary.sin(angle), angle))


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """``log(x / (1 - x))``; with ``eps``, of ``x`` limited to ``eps`` .. ``1 - eps``.

    Returns:
        Tensor, of the shape of ``input``.

    Examples:
        >>> print(ops.logit(Tensor([0.5])))
        [0.]
    """
    need_tensor("Logit", input=input)
    x = as_float(input)
    if eps is not None and not is_number(eps):
        raise refused("Logit", input=input, eps=eps)
    if eps is not None and eps >= 0:
        return _logit_within(x, eps)
    if not x.dtype.is_complex:
        return unary.logit(x)
    return unary.log(arithmetic.div(x, arithmetic.sub(constant_like(x, 1), x)))


@in_single
def _logit_within(x: Tensor, eps: float) -> Tensor:
    return unary.logit(arithmetic.minimum(arithmetic.maximum(x, constant_like(x, eps)), constant_like(x, 1 - eps)))


def polygamma(n: Any, input: Tensor) -> Tensor:
    """The derivative of order ``n`` of `digamma`.

    Returns:
        Tensor, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.polygamma(Tensor(1), Tensor([1.0])))
        [1.644934]
    """
    order = static_int(n, "polygamma", "n")
    need_tensor("Polygamma", input=input)
    x = as_float(input)
    return unary.digamma(x) if order == 0 else unary.polygamma(x, n=order)


MANY_TERMS = 64
"""From how many terms on `mvlgamma` does not write them one by one."""


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """Logarithm of the multivariate gamma function of dimension ``p``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.mvlgamma(Tensor([3.0]), 1))
        [0.6931472]
    """
    need_tensor("Mvlgamma", input=input)
    x = as_float(input)
    p = p if not isinstance(p, Scalar) else int(p)  # how many terms there are decides what is computed
    total = constant_like(x, p * (p - 1) / 4 * math.log(math.pi))
    if isinstance(p, int) and p > MANY_TERMS:  # one op for all of them: if there is no memory, it says so at once
        halves = iota(shape=(p,), axis=None, dtype=dt.float64)
        halves = to_dtype(arithmetic.mul(halves, constant_like(halves, 0.5)), x.dtype)
        terms = unary.lgamma(arithmetic.sub(movement.expand_dims(x, x.ndim), halves))
        return arithmetic.add(total, movement.reduce_sum(terms, axis=(x.ndim,), keep_dims=False))
    for i in range(p):
        total = arithmetic.add(total, unary.lgamma(arithmetic.sub(x, constant_like(x, i / 2))))
    return total


FUNCTIONS = public_functions(globals()) | UNARY
