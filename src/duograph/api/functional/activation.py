"""Activations: elementwise ones, and those along an axis."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Any

from duograph.core.shapes import existing_axis
from duograph.ops import activation as act
from duograph.ops import arithmetic, movement
from duograph.ops.norm import log_softmax as log_softmax_op
from duograph.ops.norm import softmax as softmax_op
from duograph.ops.slices import slice_axis
from duograph.ops.unary import relu as relu_op
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from .forms import (
    as_float,
    axis_of,
    documented,
    in_dtype,
    named,
    need_tensor,
    public_functions,
    renamed,
    unary_function,
)


def _on_floats(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: fn(as_float(x))


_PLAIN: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "relu6": (act.relu6, "ReLU6", "x"), "selu": (act.selu, "SeLU", "x"), "silu": (act.silu, "SiLU", "input"),
    "mish": (act.mish, "Mish", "x"), "hardsigmoid": (act.hardsigmoid, "HSigmoid", "input"),
    "hardswish": (act.hardswish, "HSwish", "input"), "logsigmoid": (act.logsigmoid, "LogSigmoid", "x"),
    "softsign": (act.softsign, "Softsign", "x"), "tanhshrink": (act.tanhshrink, "Tanhshrink", "input"),
    "fast_gelu": (act.fast_gelu, "FastGeLU", "x"),
}  # fmt: skip


ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    name: unary_function(name, _on_floats(fn), title, arg, fn.__doc__ or "")
    for name, (fn, title, arg) in _PLAIN.items()
}


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``; with ``inplace`` the tensor itself is written and returned.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.relu(Tensor([-1.0, 2.0])))
        [0. 2.]
    """
    need_tensor("ReLU", input=input)
    return _in_place(input, relu_op(input), inplace)


def _in_place(x: Tensor, value: Tensor, inplace: bool) -> Tensor:
    if not inplace:
        return value
    write(x, value)
    return x


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``x`` times the normal distribution function of ``x``; ``"tanh"`` approximates it.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.gelu(Tensor([-1.0, 0.0, 1.0]), approximate="tanh"))
        [-0.15880801  0.          0.841192  ]
    """
    need_tensor("GeLU", input=input)
    return act.gelu(as_float(input), approximate)


def _slope_function(
    name: str, fn: Callable[..., Any], title: str, default: Any, option: str, example: tuple[str, str],
    arg: str = "input",
) -> Any:  # fmt: skip
    """``fn(input, option=default)``, with the names MindSpore gives both arguments."""

    def function(*args: Any, **options: Any) -> Tensor:
        bound = signature.bind(*args, **options)
        bound.apply_defaults()
        x, value = bound.arguments[arg], bound.arguments[option]
        need_tensor(title, **{arg: x})
        return fn(as_float(x), value)

    kind = Parameter.POSITIONAL_OR_KEYWORD
    signature = Signature([Parameter(arg, kind), Parameter(option, kind, default=default)])
    function.__signature__ = signature  # type: ignore[attr-defined]
    returns = "Tensor, half as long along ``axis``." if fn is act.glu else f"Tensor, of the shape of ``{arg}``."
    operand, printed = example
    return named(function, name, documented(fn.__doc__ or "", returns, f"ops.{name}(Tensor({operand}))", printed))


_AROUND_ZERO = "[-1.0, 2.0]"
_SHRUNK = "[0.25, 2.0]"

leaky_relu = _slope_function("leaky_relu", act.leaky_relu, "LeakyReLU", 0.2, "alpha", (_AROUND_ZERO, "[-0.2  2. ]"))


elu = _slope_function("elu", act.elu, "Elu", 1.0, "alpha", ("[0.0, 2.0]", "[0. 2.]"), "input_x")


celu = _slope_function("celu", act.celu, "CeLU", 1.0, "alpha", ("[0.0, 2.0]", "[0. 2.]"), "x")


hardshrink = _slope_function("hardshrink", act.hardshrink, "HShrink", 0.5, "lambd", (_SHRUNK, "[0. 2.]"))


softshrink, soft_shrink = (
    _slope_function(name, act.softshrink, "SoftShrink", 0.5, "lambd", (_SHRUNK, "[0.  1.5]"))
    for name in ("softshrink", "soft_shrink")
)


glu = _slope_function("glu", act.glu, "GLU", -1, "axis", ("[2.0, 0.0]", "[1.]"), "x")


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """``input`` limited to ``min_val`` .. ``max_val``.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.hardtanh(Tensor([-2.0, 0.5, 2.0])))
        [-1.   0.5  1. ]
    """
    need_tensor("Hardtanh", input=input)
    return act.hardtanh(input, min_val, max_val)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself above the threshold.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.softplus(Tensor([0.0, 30.0])))
        [ 0.6931472 30.       ]
    """
    need_tensor("SoftplusExt", input=input)
    return act.softplus(as_float(input), beta, threshold)


def threshold(input: Tensor, thr: float, value: float) -> Tensor:
    """``input`` where it is above ``thr``, ``value`` elsewhere.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.threshold(Tensor([0.5, 2.0]), 1.0, -1.0))
        [-1.  2.]
    """
    need_tensor("Threshold", input=input)
    return act.threshold(input, thr, value)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``input`` above 0, ``weight * input`` below.

    Returns:
        Tensor, of the shape and dtype of ``input``.

    Examples:
        >>> print(ops.prelu(Tensor([[-1.0, 1.0]]), Tensor([0.25, 0.5])))
        [[-0.25  1.  ]]
    """
    need_tensor("PReLU", input=input, weight=weight)
    return act.prelu(input, movement.reshape(weight, shape=(1,)) if weight.ndim == 0 else weight)


def swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """`silu` of the first half along ``dim`` times the second half.

    Returns:
        Tensor, of the dtype of ``input``; half as long along ``dim``.

    Examples:
        >>> print(ops.swiglu(Tensor([0.0, 1.0, 2.0, 3.0])))
        [0.        2.1931758]
    """
    need_tensor("Swiglu", input=input)
    axis = existing_axis(dim, input.ndim, "Swiglu")
    half = input.shape[axis] // 2
    return arithmetic.mul(act.silu(slice_axis(input, axis, 0, half)), slice_axis(input, axis, half, 2 * half))


def softmax(input: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """``exp(input)`` divided by its sum along ``axis``.

    Returns:
        Tensor, of the shape of ``input``; of its dtype unless ``dtype`` is given.

    Examples:
        >>> print(ops.softmax(Tensor([0.0, 0.0, 0.0, 0.0])))
        [0.25 0.25 0.25 0.25]
    """
    need_tensor("Softmax", input=input)
    x = as_float(in_dtype(input, dtype))
    return softmax_op(x, axis=_one_axis(axis, x, "Softmax"))


def log_softmax(logits: Tensor, axis: int = -1) -> Tensor:
    """Logarithm of `softmax`.

    Returns:
        Tensor, of the shape and dtype of ``logits``.

    Examples:
        >>> print(ops.log_softmax(Tensor([0.0, 0.0])))
        [-0.6931472 -0.6931472]
    """
    need_tensor("LogSoftmax", logits=logits)
    x = as_float(logits)
    return log_softmax_op(x, axis=_one_axis(axis, x, "LogSoftmax"))


def softmin(x: Tensor, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Softmax of ``-x``.

    Returns:
        Tensor, of the shape of ``x``; of its dtype unless ``dtype`` is given.

    Examples:
        >>> print(ops.softmin(Tensor([1.0, 1.0])))
        [0.5 0.5]
    """
    need_tensor("Softmin", x=x)
    y = as_float(in_dtype(x, dtype))
    return softmax_op(arithmetic.neg(y), axis=_one_axis(axis, y, "Softmax"))


def _one_axis(axis: Any, x: Tensor, op: str) -> int:
    if isinstance(axis, list | tuple):
        if len(axis) != 1:
            raise ValueError(f"For '{op}', the length of 'axis' must be 1, but got {axis}.")
        axis = axis[0]
    return axis_of(axis, x, op)


FUNCTIONS = public_functions(globals()) | {
    **ACTIVATIONS,
    "selu": renamed(ACTIVATIONS["selu"], x="input_x"),
}  # fmt: skip
