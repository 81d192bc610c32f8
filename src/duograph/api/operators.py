"""The operators of `Tensor`: ``x + y``, ``x < y``, ``~x`` ... with MindSpore's promotion and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.dim import definitely_eq
from duograph.core.errors import user_error
from duograph.core.op import Op
from duograph.core.shapes import broadcast_shapes
from duograph.ops import arithmetic, compare, linalg, logical, power
from duograph.ops.unary import round_
from duograph.tensor.tensor import Tensor

from .promote import as_tensor, is_number, promote, promote_floats, promote_for_order, refusal, to_dtype


def _checked(x: Tensor, y: Tensor, op: str, names: tuple[str, str] = ("input1", "input2")) -> tuple[Tensor, Tensor]:
    """Raises MindSpore's error, which names the operator, if the shapes do not broadcast."""
    if x.shape != y.shape and x.shape and y.shape:
        broadcast_shapes(x.shape, y.shape, op=op, names=names)
    return x, y


_PLAIN = ("input", "other")


def add(x: Any, y: Any) -> Tensor:
    """``x + y``."""
    return arithmetic.add(*_checked(*promote(x, y, "Add"), "AddExt", _PLAIN))


def subtract(x: Any, y: Any) -> Tensor:
    """``x - y``; on bool: exactly one of them."""
    x, y = _checked(*promote(x, y, "Sub"), "SubExt", _PLAIN)
    return logical.logical_xor(x, y) if x.dtype.is_bool else arithmetic.sub(x, y)


def multiply(x: Any, y: Any) -> Tensor:
    """``x * y``."""
    _refuse_sequences(x, y, "Mul")
    return arithmetic.mul(*_checked(*promote(x, y, "Mul"), "Mul"))


def true_divide(x: Any, y: Any) -> Tensor:
    """``x / y``; bool and integers give float32."""
    _refuse_sequences(x, y, "div")
    return arithmetic.div(*_checked(*promote_floats(x, y, "div"), "Div"))


def floor_divide(x: Any, y: Any) -> Tensor:
    """``floor(x / y)``."""
    x, y = _checked(*promote(x, y, "FloorDiv"), "FloorDiv", _PLAIN)
    if x.dtype.is_bool:
        wide = arithmetic.floor_div(to_dtype(x, dt.int8), to_dtype(y, dt.int8))
        return to_dtype(wide, dt.bool_)
    return arithmetic.floor_div(x, y)


def remainder(x: Any, y: Any) -> Tensor:
    """``x % y``, with the sign of ``y``."""
    _refuse_sequences(x, y, "__mod__")
    return arithmetic.mod(*_checked(*promote(x, y, "__mod__"), "FloorMod"))


def power_(x: Any, y: Any) -> Tensor:
    """``x ** y``."""
    _refuse_sequences(x, y, "pow")
    return power.pow_(*_checked(*promote(x, y, "pow"), "Pow"))


def matrix_multiply(x: Any, y: Any) -> Tensor:
    """``x @ y``."""
    if not isinstance(x, Tensor) or not isinstance(y, Tensor):
        raise refusal("MatMulExt", x, y)
    if not x.ndim or not y.ndim:
        raise ValueError("For 'MatMulExt' op, inputs must be all tensors and rank >= 1")
    if x.dtype is not y.dtype:
        raise user_error(
            TypeError,
            "DG0401",
            f"For 'MatMulExt', the type of 'x2' should be same as 'x1', but got 'x1' with type Tensor[{x.dtype}] "
            f"and 'x2' with type Tensor[{y.dtype}].",
            f"matmul({x.abstract}, {y.abstract})",
            help="x.astype(dtype) converts a tensor",
        )
    if y.ndim == 1:
        need_equal_inner(x, y)
    return linalg.matrix_product(x, y)


def need_equal_inner(x: Tensor, y: Tensor) -> None:
    """Raises where the inner sizes of a product differ: what MindSpore's MatMul raises (MatMulExt: `RuntimeError`).

    Raises:
        ValueError: they differ.
    """
    columns, rows = x.shape[-1], y.shape[-2 if y.ndim > 1 else 0]
    if definitely_eq(columns, rows) is False:
        raise inner_sizes_differ(columns, rows, x, y)


def inner_sizes_differ(columns: Any, rows: Any, x: Tensor, y: Tensor) -> ValueError:
    """What MindSpore's MatMul raises for ``columns`` of ``x`` that are not as many as the ``rows`` of ``y``."""
    message = f"For 'MatMul' the input dimensions must be equal, but got 'x1_col': {columns} and 'x2_row': {rows}."
    way = f"the product sums over {columns} elements of the first tensor, and over {rows} of the second"
    return user_error(ValueError, "DG0412", message, f"matmul({x.abstract}, {y.abstract})", help=way)


def _refuse_sequences(x: Any, y: Any, op: str) -> None:
    if isinstance(x, list | tuple) or isinstance(y, list | tuple):
        raise refusal(op, x, y)


def comparison(op: Op, title: str) -> Callable[[Any, Any], Tensor]:
    """A comparison operator: promoted operands, bool result."""

    def compare_(x: Any, y: Any) -> Tensor:
        _refuse_sequences(x, y, title)
        return op(*_checked(*promote_for_order(x, y, title), title))

    compare_.__doc__ = op.doc
    compare_.__name__ = op.name
    return compare_


equal, not_equal = comparison(compare.equal, "Equal"), comparison(compare.not_equal, "NotEqual")
less, less_equal = comparison(compare.less, "Less"), comparison(compare.less_equal, "LessEqual")
greater, greater_equal = comparison(compare.greater, "Greater"), comparison(compare.greater_equal, "GreaterEqual")


def bitwise(op: Op, title: str) -> Callable[[Any, Any], Tensor]:
    """``&``, ``|`` or ``^``: on integers bit by bit, on bool logical."""

    def combine(x: Any, y: Any) -> Tensor:
        _refuse_sequences(x, y, title)
        x, y = promote(x, y, title)
        if not x.dtype.is_integer and not x.dtype.is_bool:
            allowed = ", ".join(
                f"Tensor[{name}]"
                for name in ("Bool", "Int16", "Int32", "Int64", "Int8", "UInt16", "UInt32", "UInt64", "UInt8")
            )
            raise TypeError(
                f"For primitive[{title}], the input argument[x] must be a type of {{{allowed}}}, "
                f"but got Tensor[{x.dtype}]."
            )
        return op(*_checked(x, y, title))

    combine.__doc__ = op.doc
    combine.__name__ = op.name
    return combine


bitwise_and = bitwise(logical.bitwise_and, "BitwiseAnd")
bitwise_or = bitwise(logical.bitwise_or, "BitwiseOr")
bitwise_xor = bitwise(logical.bitwise_xor, "BitwiseXor")
left_shift = bitwise(logical.bitwise_left_shift, "BitwiseLeftShift")
right_shift = bitwise(logical.bitwise_right_shift, "BitwiseRightShift")


def invert(x: Tensor) -> Tensor:
    """``~x``: logical not, on every dtype (MindSpore's; for the bits there is `bitwise_not`)."""
    return logical.logical_not(to_dtype(x, dt.bool_))


def negative(x: Tensor) -> Tensor:
    """``-x``."""
    if x.dtype.is_bool:
        raise TypeError("Select CPU operator[Neg] fail! Unsupported data type!")
    return arithmetic.neg(x)


def positive(x: Tensor) -> Tensor:
    """``+x``: the same tensor."""
    return x


def absolute(x: Tensor) -> Tensor:
    """``abs(x)``."""
    return x if x.dtype.is_bool else arithmetic.abs_(x)


def rounded(x: Tensor, ndigits: int | None = None) -> Tensor:
    """``round(x, ndigits)``: halves to even; integers stay."""
    if x.dtype.is_integer or x.dtype.is_bool:
        return x
    if not ndigits:
        return round_(x)
    scale = as_tensor(10.0**ndigits, x.dtype)
    return arithmetic.div(round_(arithmetic.mul(x, scale)), scale)


def _comparable(y: Any) -> bool:
    return isinstance(y, Tensor) or is_number(y)


def eq_operator(x: Tensor, y: Any) -> Any:
    """``x == y``: elementwise with tensors and numbers; ``False`` with anything else."""
    return equal(x, y) if _comparable(y) else False


def ne_operator(x: Tensor, y: Any) -> Any:
    """``x != y``: elementwise with tensors and numbers; ``True`` with anything else."""
    return not_equal(x, y) if _comparable(y) else True


def _swapped(fn: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Tensor]:
    def reflected(x: Tensor, y: Any) -> Tensor:
        return fn(y, x)

    reflected.__doc__ = fn.__doc__
    return reflected


_ARITHMETIC: dict[str, Callable[[Any, Any], Tensor]] = {
    "add": add, "sub": subtract, "mul": multiply, "truediv": true_divide, "floordiv": floor_divide,
    "mod": remainder, "pow": power_, "matmul": matrix_multiply, "and": bitwise_and, "or": bitwise_or,
    "xor": bitwise_xor,
}  # fmt: skip

OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": fn for name, fn in _ARITHMETIC.items()},
    **{f"__r{name}__": _swapped(fn) for name, fn in _ARITHMETIC.items()},
    "__eq__": eq_operator, "__ne__": ne_operator, "__lt__": less, "__le__": less_equal, "__gt__": greater,
    "__ge__": greater_equal, "__neg__": negative, "__pos__": positive, "__abs__": absolute, "__invert__": invert,
    "__round__": rounded,
}  # fmt: skip
"""Dunder name to function; there are no in-place operators: ``x += 1`` makes a new tensor, as in MindSpore."""
