"""Elementwise mathematics: functions of two operands (a table), and of more. Those of one are in `unary`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.launchable import launchable
from duograph.core.op import Op
from duograph.core.shapes import broadcast_shapes
from duograph.ops import arithmetic, logical, power, unary
from duograph.ops import complex as complex_ops
from duograph.ops.cast import in_single
from duograph.ops.creation import constant_like
from duograph.ops.select import select
from duograph.tensor.tensor import Tensor

from .. import operators
from ..promote import (
    as_tensor,
    is_number,
    is_one,
    promote,
    promote_all,
    promote_float,
    promote_floats,
    promote_within,
    refusal,
)
from .forms import (
    as_float,
    binary_function,
    documented,
    named,
    need_tensor,
    not_public,
    public_functions,
    refused,
    renamed,
    to_dtype,
)


@not_public
def checked(x: Tensor, y: Tensor, title: str) -> tuple[Tensor, Tensor]:
    """Raises MindSpore's error, which names the function, if the shapes do not broadcast."""
    if x.shape != y.shape and x.shape and y.shape:
        broadcast_shapes(x.shape, y.shape, op=title, names=("input1", "input2"))
    return x, y


def _promoted(op: Op, title: str, bring: Any = promote) -> Callable[[Any, Any], Tensor]:
    def compute(x: Any, y: Any) -> Tensor:
        if isinstance(x, list | tuple) or isinstance(y, list | tuple):
            raise refusal(title, x, y)
        return op(*checked(*bring(x, y, title), title))

    return compute


_limited = functools.partial(_promoted, bring=promote_within)
_floating = functools.partial(_promoted, bring=promote_floats)


def _sub(x: Any, y: Any) -> Tensor:
    x, y = checked(*promote(x, y, "Sub"), "Sub")
    return logical.logical_xor(x, y) if x.dtype.is_bool else arithmetic.sub(x, y)


def _add(x: Any, y: Any) -> Tensor:
    x, y = promote(x, y, "Add")
    return arithmetic.add(*checked(x, y, "Add"))


def _floor_div(x: Any, y: Any) -> Tensor:
    x, y = checked(*promote(x, y, "FloorDiv"), "FloorDiv")
    return operators.floor_divide(x, y)


def _trunc_div(x: Any, y: Any) -> Tensor:
    return arithmetic.trunc_div(*checked(*promote(x, y, "TruncateDiv"), "TruncateDiv"))


def _ignoring_nan(op: Op, title: str) -> Callable[[Any, Any], Tensor]:
    def compute(x: Any, y: Any) -> Tensor:
        x, y = checked(*promote_within(x, y, title), title)
        if not x.dtype.is_floating:
            return op(x, y)
        return select(unary.isnan(x), y, select(unary.isnan(y), x, op(x, y)))

    return compute


def _float_power(x: Any, y: Any) -> Tensor:
    x, y = promote(x, y, "FloatPower")
    wide = dt.complex128 if x.dtype.is_complex else dt.float64
    return power.pow_(to_dtype(x, wide), to_dtype(y, wide))


def _gcd(x: Any, y: Any) -> Tensor:
    """Euclid's algorithm on the absolute values; enough steps for the widest integers."""
    x, y = checked(*promote(x, y, "Gcd"), "Gcd")
    a, b = arithmetic.abs_(x), arithmetic.abs_(y)
    for _ in range({1: 13, 2: 25, 4: 47, 8: 93}[x.dtype.itemsize]):
        zero = operators.equal(b, 0)
        safe = select(zero, constant_like(b, 1), b)
        a, b = select(zero, a, b), select(zero, b, arithmetic.mod(a, safe))
    return arithmetic.abs_(a)  # the least integer is its own absolute value, and so are negative remainders


def _lcm(x: Any, y: Any) -> Tensor:
    x, y = checked(*promote(x, y, "Lcm"), "Lcm")
    divisor = _gcd(x, y)
    safe = select(operators.equal(divisor, 0), constant_like(divisor, 1), divisor)
    return arithmetic.abs_(arithmetic.mul(arithmetic.trunc_div(x, safe), y))


def _logaddexp(x: Any, y: Any, base: float = math.e) -> Tensor:
    return _log_of_sum(*checked(*promote_floats(x, y, "LogAddExp"), "LogAddExp"), base)


@in_single
def _log_of_sum(x: Tensor, y: Tensor, base: float) -> Tensor:
    top = arithmetic.maximum(x, y)
    same = operators.equal(x, y)  # also infinities, whose difference is NaN
    gap = arithmetic.neg(arithmetic.abs_(select(same, constant_like(x, 0), arithmetic.sub(x, y))))
    if base == math.e:
        return arithmetic.add(top, unary.log1p(unary.exp(gap)))
    scale = constant_like(x, 1 / math.log(2))
    return arithmetic.add(top, arithmetic.mul(unary.log1p(unary.exp2(gap)), scale))


def _nextafter(x: Any, y: Any) -> Tensor:
    x, y = checked(*promote_floats(x, y, "NextAfter"), "NextAfter")
    if x.dtype.itemsize < 4:  # computed in float32, where other numbers are next
        raise TypeError(
            "For primitive[NextAfter], the input argument[input] must be a type of {Float32, Float64}, "
            f"but got {x.dtype}."
        )
    return arithmetic.nextafter(x, y)


def _heaviside(x: Any, y: Any) -> Tensor:
    x, y = checked(*promote(x, y, "Heaviside"), "Heaviside")
    step = select(operators.greater(x, 0), constant_like(x, 1), constant_like(x, 0))
    return select(operators.equal(x, 0), y, step)


def _divide_or_zero(title: str, where_zero: str) -> Callable[[Any, Any], Tensor]:
    def compute(x: Any, y: Any) -> Tensor:
        x, y = checked(*promote_floats(x, y, title), title)
        zero = operators.equal(y if where_zero == "y" else x, 0)
        safe = select(zero, constant_like(y, 1), y) if where_zero == "y" else y
        return select(zero, constant_like(x, 0), arithmetic.div(x, safe))

    return compute


def _mul_no_nan(x: Any, y: Any) -> Tensor:
    x, y = checked(*promote(x, y, "MulNoNan"), "MulNoNan")
    return select(operators.equal(y, 0), constant_like(x, 0), arithmetic.mul(x, y))


def _squared_difference(x: Any, y: Any) -> Tensor:
    return arithmetic.square(_sub(x, y))


def _logical(op: Op, title: str) -> Callable[[Any, Any], Tensor]:
    def compute(x: Any, y: Any) -> Tensor:
        if not isinstance(x, Tensor) and not isinstance(y, Tensor) and not (is_number(x) and is_number(y)):
            raise refusal(title, x, y)
        return op(*checked(as_tensor(x, dt.bool_), as_tensor(y, dt.bool_), title))

    return compute


_IO, _XY = ("input", "other"), ("x", "y")
_BINARY: dict[str, tuple[Callable[[Any, Any], Tensor], tuple[str, str], str]] = {
    "add": (_add, _IO, "``input + other``."), "tensor_add": (_add, _IO, "As `add`."),
    "mul": (_promoted(arithmetic.mul, "Mul"), _IO, "``input * other``."),
    "multiply": (_promoted(arithmetic.mul, "Mul"), _IO, "As `mul`."),
    "tensor_mul": (_promoted(arithmetic.mul, "Mul"), _IO, "As `mul`."),
    "sub": (_sub, _IO, "``input - other``."), "tensor_sub": (_sub, _IO, "As `sub`."),
    "floor_div": (_floor_div, _XY, "``floor(x / y)``."), "floordiv": (_floor_div, _IO, "As `floor_div`."),
    "floor_divide": (_floor_div, _IO, "As `floor_div`."), "tensor_floordiv": (_floor_div, _IO, "As `floor_div`."),
    "floor_mod": (_promoted(arithmetic.mod, "FloorMod"), _XY, "Remainder with the sign of ``y``."),
    "floormod": (_promoted(arithmetic.mod, "FloorMod"), _XY, "As `floor_mod`."),
    "tensor_mod": (_promoted(arithmetic.mod, "FloorMod"), _XY, "As `floor_mod`."),
    "mod": (_promoted(arithmetic.mod, "Mod"), _XY, "As `floor_mod`."),
    "remainder": (_promoted(arithmetic.mod, "Remainder"), _IO, "Remainder with the sign of ``other``."),
    "fmod": (_promoted(arithmetic.fmod, "FMod"), _IO, "Remainder with the sign of ``input``."),
    "truncate_mod": (_promoted(arithmetic.fmod, "TruncateMod"), _XY, "Remainder with the sign of ``x``."),
    "truncate_div": (_trunc_div, _XY, "Quotient rounded towards zero; keeps the dtype."),
    "tensor_div": (_floating(arithmetic.div, "Div"), _XY, "``x / y``."),
    "maximum": (_limited(arithmetic.maximum, "Maximum"), _IO, "The larger of both; NaN if one is NaN."),
    "minimum": (_limited(arithmetic.minimum, "Minimum"), _IO, "The smaller of both; NaN if one is NaN."),
    "fmax": (_ignoring_nan(arithmetic.maximum, "Fmax"), _IO, "The larger of both; the other one if one is NaN."),
    "fmin": (_ignoring_nan(arithmetic.minimum, "Fmin"), _IO, "The smaller of both; the other one if one is NaN."),
    "atan2": (_floating(power.atan2, "Atan2"), _IO, "Angle of the point (other, input)."),
    "arctan2": (_floating(power.atan2, "Atan2"), _IO, "As `atan2`."),
    "hypot": (_floating(power.hypot, "Hypot"), _IO, "``sqrt(input**2 + other**2)``."),
    "xlogy": (_floating(power.xlogy, "Xlogy"), _IO, "``input * log(other)``, 0 where input is 0."),
    "xdivy": (_divide_or_zero("Xdivy", "x"), _XY, "``x / y``, 0 where ``x`` is 0."),
    "div_no_nan": (_divide_or_zero("DivNoNan", "y"), _XY, "``x / y``, 0 where ``y`` is 0."),
    "mul_no_nan": (_mul_no_nan, _XY, "``x * y``, 0 where ``y`` is 0."),
    "squared_difference": (_squared_difference, _XY, "``(x - y)**2``."),
    "nextafter": (_nextafter, _IO, "The next number towards other."),
    "float_power": (_float_power, ("input", "exponent"), "``input ** exponent`` in float64."),
    "gcd": (_gcd, _IO, "Greatest common divisor."), "lcm": (_lcm, _IO, "Least common multiple."),
    "logaddexp": (_logaddexp, _IO, "``log(exp(input) + exp(other))``."),
    "logaddexp2": (lambda x, y: _logaddexp(x, y, 2.0), _IO, "``log2(2**input + 2**other)``."),
    "bitwise_and": (operators.bitwise_and, _IO, "``input & other``."),
    "bitwise_or": (operators.bitwise_or, _IO, "``input | other``."),
    "bitwise_xor": (operators.bitwise_xor, _IO, "``input ^ other``."),
    "bitwise_left_shift": (operators.left_shift, _IO, "``input << other``."),
    "bitwise_right_shift": (operators.right_shift, _IO, "``input >> other``."),
    "logical_and": (_logical(logical.logical_and, "LogicalAnd"), _IO, "``input and other``, elementwise."),
    "logical_or": (_logical(logical.logical_or, "LogicalOr"), _IO, "``input or other``, elementwise."),
    "logical_xor": (_logical(logical.logical_xor, "LogicalXor"), _IO, "Exactly one of both, elementwise."),
}  # fmt: skip

BINARY: dict[str, Callable[..., Tensor]] = {
    name: binary_function(name, fn, args, doc) for name, (fn, args, doc) in _BINARY.items()
}
"""Functions of two operands, tensors or numbers."""


def _exponents(compute: Callable[[Any, Any], Tensor], name: str, doc: str) -> Callable[..., Tensor]:
    def function(input: Any, exponent: Any) -> Tensor:
        return compute(input, exponent)

    returns = "Tensor, of the shape both operands broadcast to."
    return named(function, name, documented(doc, returns, f"ops.{name}(Tensor([2.0, 3.0]), 2)", "[4. 9.]"))


BINARY["pow"] = _exponents(_promoted(power.pow_, "Pow"), "pow", "``input ** exponent``.")
BINARY["pows"] = _exponents(_promoted(power.pow_, "Pow"), "pows", "As `pow`.")
BINARY["tensor_pow"] = _exponents(_promoted(power.pow_, "Pow"), "tensor_pow", "As `pow`.")
BINARY["float_power"] = _exponents(_float_power, "float_power", "``input ** exponent`` in float64.")


def heaviside(input: Any, values: Any) -> Tensor:
    """0 where ``input`` is below 0, 1 above, ``values`` where it is 0.

    Returns:
        Tensor, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.heaviside(Tensor([-1.0, 0.0, 1.0]), Tensor([0.5])))
        [0.  0.5 1. ]
    """
    return _heaviside(input, values)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``input / other``; integers give float32.

    Args:
        input: tensor or number.
        other: tensor or number.
        rounding_mode: ``None``, ``"floor"`` or ``"trunc"``; the rounded quotients keep the promoted dtype.

    Returns:
        Tensor, of the shape both operands broadcast to.

    Raises:
        ValueError: unknown ``rounding_mode``.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.div(Tensor([1, 2]), 2))
        [0.5 1. ]
    """
    if rounding_mode is None:
        return _floating(arithmetic.div, "Div")(input, other)
    if rounding_mode == "floor":
        return _floor_div(input, other)
    if rounding_mode == "trunc":
        return _trunc_div(input, other)
    raise ValueError(f"For ops.div, rounding_mode value should be None, 'floor' or 'trunc', but got {rounding_mode}.")


divide = renamed(div, "divide")


def true_divide(dividend: Any, divisor: Any) -> Tensor:
    """``dividend / divisor``.

    Returns:
        Tensor, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.true_divide(Tensor([3, 4]), 2))
        [1.5 2. ]
    """
    return div(dividend, divisor)


def subtract(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """``input - alpha * other``.

    Returns:
        Tensor, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.subtract(Tensor([3, 4]), 1, alpha=2))
        [1 2]
    """
    return _sub(input, other if is_one(alpha, other) else BINARY["mul"](other, alpha))


def copysign(x: Any, other: Any) -> Tensor:
    """The magnitude of ``x`` with the sign of ``other``.

    Returns:
        Tensor, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.copysign(Tensor([1.0, 2.0]), Tensor([-1.0, 1.0])))
        [-1.  2.]
    """
    x, y = promote(x, other, "Copysign")
    return arithmetic.copysign(promote_float(x), promote_float(y))


def ldexp(x: Any, other: Any) -> Tensor:
    """``x * 2**other``.

    Returns:
        Tensor, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.ldexp(Tensor([1.0]), Tensor([1, 2, 3])))
        [2. 4. 8.]
    """
    need_tensor("Ldexp", x=x)
    exponent = as_float(as_tensor(other))
    return BINARY["mul"](as_float(x), unary.exp2(exponent))


def lerp(input: Any, end: Any, weight: Any) -> Tensor:
    """``input + weight * (end - input)``.

    Returns:
        Tensor, of the shape all operands broadcast to.

    Examples:
        >>> print(ops.lerp(Tensor([0.0, 0.0]), Tensor([4.0, 8.0]), 0.5))
        [2. 4.]
    """
    need_tensor("Lerp", input=input, end=end)
    return BINARY["add"](input, BINARY["mul"](weight, _sub(end, input)))


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """``input + value * tensor1 * tensor2``.

    Returns:
        Tensor, of the shape all operands broadcast to.

    Examples:
        >>> print(ops.addcmul(Tensor([1.0]), Tensor([2.0]), Tensor([3.0]), 2))
        [13.]
    """
    need_tensor("Addcmul", input=input, tensor1=tensor1, tensor2=tensor2)
    if is_one(value, tensor1):
        return _add(input, BINARY["mul"](tensor1, tensor2))
    return _plus_product(input, tensor1, tensor2, value)


def _plus_multiple_of_product(input: Tensor, a: Tensor, b: Tensor, value: Any) -> Tensor:
    mul = BINARY["mul"]
    return _add(input, mul(mul(a, b), value))


_plus_product = launchable(_plus_multiple_of_product, weak_numbers=True)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Any = 1) -> Tensor:
    """``input + value * tensor1 / tensor2``.

    Returns:
        Tensor, of the shape all operands broadcast to.

    Examples:
        >>> print(ops.addcdiv(Tensor([1.0]), Tensor([6.0]), Tensor([3.0]), 2))
        [5.]
    """
    need_tensor("Addcdiv", input=input, tensor1=tensor1, tensor2=tensor2)
    if is_one(value, tensor1):
        return _add(input, div(tensor1, tensor2))
    return _plus_quotient(input, tensor1, tensor2, value)


def _plus_multiple_of_quotient(input: Tensor, a: Tensor, b: Tensor, value: Any) -> Tensor:
    return _add(input, BINARY["mul"](div(a, b), value))


_plus_quotient = launchable(_plus_multiple_of_quotient, weak_numbers=True)


def addn(x: Any) -> Tensor:
    """The sum of a list of tensors of one shape.

    Returns:
        Tensor, of their shape.

    Raises:
        TypeError: ``x`` is not a tensor, list or tuple of tensors.

    Examples:
        >>> print(ops.addn([Tensor([1, 2]), Tensor([3, 4]), Tensor([5, 6])]))
        [ 9 12]
    """
    if isinstance(x, Tensor):
        return x
    if not isinstance(x, list | tuple) or not all(isinstance(t, Tensor) for t in x):
        raise refused("AddN", x=x)
    if not x:
        raise ValueError("For 'AddN', the sequence must hold at least one tensor.")
    first, *rest = promote_all(*x, op="AddN")
    for t in rest:
        if tuple(t.shape) != tuple(first.shape):
            raise ValueError(
                f"For 'AddN', all input shapes must be the same, but got {tuple(first.shape)} and {tuple(t.shape)}."
            )
        first = arithmetic.add(first, t)
    return first


accumulate_n = renamed(addn, "accumulate_n")


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """The complex number of the given magnitude and argument.

    Returns:
        Tensor of complex64 or complex128, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.polar(Tensor([1.0, 2.0]), Tensor([0.0, 0.0])))
        [1.+0.j 2.+0.j]
    """
    need_tensor("Polar", abs=abs, angle=angle)
    return complex_ops.complex_(arithmetic.mul(abs, unary.cos(angle)), arithmetic.mul(abs, unary.sin(angle)))


def complex(real: Tensor, imag: Tensor) -> Tensor:
    """``real + 1j * imag``."""
    need_tensor("Complex", real=real, imag=imag)
    return complex_ops.complex_(real, imag)


def tensor_muls(input: Any, other: Any) -> Tensor:
    """As `mul`.

    Returns:
        Tensor, of the shape both operands broadcast to.

    Examples:
        >>> print(ops.tensor_muls(Tensor([1, 2]), 3))
        [3 6]
    """
    return BINARY["mul"](input, other)


FUNCTIONS = public_functions(globals()) | {
    **BINARY,
}  # fmt: skip
