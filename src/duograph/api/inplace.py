"""In-place methods: ``x.add_(y)`` changes ``x``, everything that shares its memory, and returns ``x``.

Each one computes the new contents with ordinary ops and writes them (``tensor.eager.write``), so aliasing, gradients
and capture are those of every other write. The dtype and shape of ``x`` stay: values are cast to it, except that a
floating result does not fit an integer tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.op import state
from duograph.ops import arithmetic, unary
from duograph.ops.cast import cast
from duograph.ops.linalg import matmul
from duograph.ops.movement import broadcast_to
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from . import operators
from .functional.forms import documented
from .functional.index import clamp
from .functional.products import blend
from .indexing import fitted
from .promote import as_tensor, constant, is_number, is_one, promote_float, python_number, to_dtype


def store(x: Tensor, value: Tensor, op: str) -> Tensor:
    """Writes ``value`` into ``x`` and returns ``x``.

    Raises:
        TypeError: the dtype of ``value`` does not fit.
        ValueError: its shape does not broadcast to that of ``x``.
    """
    if _rank(value.dtype) > _rank(x.dtype):
        raise TypeError(
            f"For '{op}', the result of dtype {value.dtype} cannot be stored in a tensor of dtype {x.dtype}."
        )
    write(x, fitted(to_dtype(value, x.dtype), tuple(x.shape)))
    return x


def contents_read(x: Tensor) -> Tensor:
    """The contents of ``x`` for an operator whose result replaces them: a copy where a gradient may be taken, as its
    rule may need them when they are gone. Who else has read them, and needs them, is told by `Overwritten`."""
    return cast(x, dtype=x.dtype) if state.tapes or state.binder is not None else x


def _rank(dtype: dt.DType) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating else 1 if dtype.is_integer else 0


def scaled(other: Any, alpha: Any) -> Any:
    return other if is_one(alpha, other) else operators.multiply(other, alpha)


def add_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self += alpha * other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).add_(1, alpha=2))
        [3. 4.]
    """
    return store(self, operators.add(self, scaled(other, alpha)), "add_")


def sub_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    """``self -= alpha * other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).sub_(1, alpha=2))
        [-1.  0.]
    """
    return store(self, operators.subtract(self, scaled(other, alpha)), "sub_")


def mul_(self: Tensor, other: Any) -> Tensor:
    """``self *= other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).mul_(3))
        [3. 6.]
    """
    return store(self, operators.multiply(contents_read(self), other), "mul_")


def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """``self /= other``; ``rounding_mode`` is ``None``, ``'floor'`` or ``'trunc'``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).div_(2))
        [0.5 1. ]
    """
    if rounding_mode == "floor":
        return store(self, operators.floor_divide(self, other), "div_")
    quotient = operators.true_divide(contents_read(self), other)
    if rounding_mode == "trunc":
        return store(self, to_dtype(unary.trunc(quotient), self.dtype), "div_")
    if rounding_mode is not None:
        raise ValueError(f"For 'div', rounding_mode value should be 'floor' or 'trunc', but got {rounding_mode}.")
    return store(self, quotient, "div_")


def floor_divide_(self: Tensor, other: Any) -> Tensor:
    """``self //= other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([5, 6]).floor_divide_(2))
        [2 3]
    """
    return store(self, operators.floor_divide(self, other), "floor_divide_")


def remainder_(self: Tensor, other: Any) -> Tensor:
    """``self %= other``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([5, 6]).remainder_(4))
        [1 2]
    """
    return store(self, operators.remainder(contents_read(self), other), "remainder_")


def pow_(self: Tensor, exponent: Any) -> Tensor:
    """``self **= exponent``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([2.0, 3.0]).pow_(2))
        [4. 9.]
    """
    return store(self, operators.power_(contents_read(self), exponent), "pow_")


def addmm_(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``self = beta * self + alpha * mat1 @ mat2``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([[1.0]]).addmm_(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
        [[12.]]
    """
    return store(self, blend(self, matmul(mat1, mat2), beta, alpha), "addmm_")


# ---- one tensor -----------------------------------------------------------------------------------------------------


_AT_ZERO = {"exp_": "[1.]", "sigmoid_": "[0.5]", "tanh_": "[0.]", "sin_": "[0.]", "cos_": "[1.]", "erfinv_": "[0.]"}
_AT_ONE = {"log_": "[0.]", "neg_": "[-1.]"}


def _unary(op: Callable[[Tensor], Tensor], name: str, floating: bool = True) -> Callable[[Tensor], Tensor]:
    def method(self: Tensor) -> Tensor:
        return store(self, op(promote_float(contents_read(self)) if floating else contents_read(self)), name)

    method.__name__ = name
    operand, printed = ("[0.0]", _AT_ZERO[name]) if name in _AT_ZERO else ("[1.0]", _AT_ONE.get(name, "[1.]"))
    method.__doc__ = documented(f"`{name[:-1]}` in place.", "This tensor.", f"Tensor({operand}).{name}()", printed)
    return method


_UNARY = {
    **{
        f"{name}_": _unary(op, f"{name}_")
        for name, op in (
            ("exp", unary.exp), ("log", unary.log), ("sqrt", unary.sqrt), ("sigmoid", unary.sigmoid),
            ("tanh", unary.tanh), ("erfinv", unary.erfinv), ("sin", unary.sin), ("cos", unary.cos),
            ("reciprocal", arithmetic.reciprocal),
        )
    },
    "sign_": _unary(arithmetic.sign, "sign_", floating=False),
    "neg_": _unary(operators.negative, "neg_", floating=False),
    "abs_": _unary(operators.absolute, "abs_", floating=False),
    "floor_": _unary(lambda x: unary.floor(x) if x.dtype.is_floating else x, "floor_", floating=False),
    "ceil_": _unary(lambda x: unary.ceil(x) if x.dtype.is_floating else x, "ceil_", floating=False),
    "round_": _unary(operators.rounded, "round_", floating=False),
    "relu_": _unary(unary.relu, "relu_", floating=False),
}  # fmt: skip


def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Values below ``min`` become ``min``, those above ``max`` become ``max``.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1, 5, 9]).clamp_(2, 7))
        [2 5 7]
    """
    low, high = (None if limit is None else as_tensor(limit, self.dtype) for limit in (min, max))
    return store(self, clamp(contents_read(self), low, high), "clamp_")


# ---- filling --------------------------------------------------------------------------------------------------------


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """The elements become those of ``src`` (broadcast and cast).

    Returns:
        This tensor.

    Raises:
        TypeError: ``src`` is not a Tensor.
        RuntimeError: ``src`` has more axes.

    Examples:
        >>> print(Tensor([1.0, 2.0]).copy_(Tensor([3, 4])))
        [3. 4.]
    """
    if not isinstance(src, Tensor):
        raise TypeError(f"copy_(): argument 'src' (position 1) must be Tensor, not {type(src).__name__}.")
    if src.ndim > self.ndim:
        raise RuntimeError(
            "For 'InplaceCopy', the rank of 'value' must be less than 'variable', but got the dimension of 'value': "
            f"{tuple(src.shape)} and 'variable': {tuple(self.shape)}."
        )
    write(self, fitted(to_dtype(src, self.dtype), tuple(self.shape)))
    return self


def fill_(self: Tensor, value: Any) -> Tensor:
    """Every element becomes ``value``, a number or a 0-d tensor.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).fill_(3))
        [3. 3.]
    """
    value = python_number(value)
    if not is_number(value) and not (isinstance(value, Tensor) and not value.shape):
        raise TypeError(f"For 'fill_', the 'value' must be a number or a 0-d Tensor, but got {value!r}.")
    scalar = to_dtype(value, self.dtype) if isinstance(value, Tensor) else constant(value, self.dtype)
    write(self, broadcast_to(scalar, shape=tuple(self.shape)))
    return self


def zero_(self: Tensor) -> Tensor:
    """Every element becomes 0.

    Returns:
        This tensor.

    Examples:
        >>> print(Tensor([1.0, 2.0]).zero_())
        [0. 0.]
    """
    return fill_(self, 0)


METHODS: dict[str, Callable[..., Tensor]] = _UNARY | {
    f.__name__: f
    for f in (add_, sub_, mul_, div_, floor_divide_, remainder_, pow_, addmm_, clamp_, copy_, fill_, zero_)
}
