"""What of the API the native launcher stands in for (``runtime/launch/launcher.py``), from the first native kernel on.

Operators and indexing become native methods. Functions and methods of the lists below get a `launchable` before them:
what they do depends on dtypes, shapes and arguments alone, so a call that came before can be repeated natively.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from duograph.core import kernel
from duograph.core.launchable import launchable
from duograph.core.op import Op
from duograph.tensor.tensor import Tensor

from . import indexing, operators
from .promote import kept_constants, operand_of

NUMBERS_ARE_WEAK = [
    "add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide", "remainder", "fmod",
    "pow", "maximum", "minimum", "clamp", "clip", "clip_by_value", "eq", "ne", "lt", "le", "gt", "ge", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "where", "masked_fill", "lerp", "atan2",
]  # fmt: skip
"""Functions to which a number is a 0-d tensor, whatever its value."""

FUNCTIONS = [
    "abs", "absolute", "acos", "acosh", "add", "addcdiv", "addcmul", "addmm", "amax", "amin", "argmax", "argmin",
    "asin", "asinh", "atan", "atan2", "atanh", "baddbmm", "bias_add", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bmm", "broadcast_to", "cat", "ceil", "celu", "chunk", "clamp", "clip", "clip_by_value", "concat", "cos", "cosh",
    "cross_entropy", "cumsum", "dense", "div", "divide", "dot", "elu", "eq", "equal", "erf", "erfc", "exp", "exp2",
    "expand_dims", "expm1", "flatten", "flip", "floor", "floor_divide", "fmod", "gather", "gather_elements", "ge",
    "gelu", "glu", "greater", "greater_equal", "gt", "hardshrink", "hardsigmoid", "hardswish", "hardtanh",
    "index_select", "kl_div", "l1_loss", "layer_norm", "le", "leaky_relu", "lerp", "less", "less_equal", "log",
    "log10", "log1p", "log2", "log_softmax", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logsigmoid", "logsumexp", "lt", "masked_fill", "matmul", "maximum", "mean", "minimum", "mish", "mm", "moveaxis",
    "movedim", "mse_loss", "mul", "multiply", "narrow", "ne", "neg", "negative", "nll_loss", "norm", "not_equal",
    "one_hot", "ones_like", "outer", "permute", "pow", "prelu", "prod", "reciprocal", "relu", "relu6", "remainder",
    "reshape", "roll", "rot90", "round", "rsqrt", "selu", "sigmoid", "sign", "silu", "sin", "sinh", "softmax",
    "softmin", "softplus", "softshrink", "softsign", "split", "sqrt", "square", "squeeze", "stack", "std", "sub",
    "subtract", "sum", "swapaxes", "swapdims", "t", "tan", "tanh", "tanhshrink", "threshold", "tile", "transpose",
    "tril", "triu", "true_divide", "trunc", "unbind", "unsqueeze", "unstack", "var", "where", "zeros_like",
]  # fmt: skip
"""Functions of the functional API."""

METHODS = [
    "sum", "mean", "prod", "var", "std", "all", "any", "max", "min", "amax", "amin", "argmax", "argmin", "cumsum",
    "reshape", "view", "view_as", "reshape_as", "transpose", "permute", "swapaxes", "swapdims", "moveaxis", "movedim",
    "expand_dims", "squeeze", "unsqueeze", "flatten", "ravel", "broadcast_to", "expand", "expand_as", "narrow",
    "split", "chunk", "unbind", "t", "tile", "repeat", "astype", "type_as", "float", "half", "bfloat16", "double",
    "int", "long", "short", "byte", "bool", "contiguous", "select", "diagonal", "gather", "where", "take",
    "index_add", "index_fill", "flip", "softmax",
]  # fmt: skip
"""Methods that are written for Tensor."""


def launchable_methods(table: dict[str, Any]) -> dict[str, Any]:
    """``table`` with the listed methods (and the properties ``T``, ``mT``) launchable."""
    made = {n: launchable(f, n in NUMBERS_ARE_WEAK) if n in METHODS else f for n, f in table.items()}
    made.update({n: property(launchable(table[n].fget)) for n in ("T", "mT") if n in table})
    return made


def make_launchable(module: ModuleType) -> None:
    """Makes the listed functions of a family launchable, in its table and in the module."""
    table: dict[str, Callable[..., Any]] = module.FUNCTIONS
    for name in FUNCTIONS:
        function = table.get(name)
        if function is None:
            continue
        table[name] = launchable(function, name in NUMBERS_ARE_WEAK)
        if vars(module).get(name) is function:
            setattr(module, name, table[name])


def start() -> bool:
    """Makes operators, indexing, listed functions and calls of ops native; whether that is possible here.

    ``import duograph`` does not load the launcher: it takes longer than all the rest.
    """
    from duograph.runtime.launch import launcher
    from duograph.runtime.programs import fused

    launcher.numbers.fill(launcher.Numbers(operand_of, kept_constants))
    launcher.fusion.fill(fused)
    if not launcher.is_registered():
        for name, function in operators.OPERATORS.items():
            launcher.register(Tensor, name, function, weak_numbers=True)
        launcher.register(Tensor, "__getitem__", indexing.getitem)
        launcher.register(Op, "__call__", Op.__call__)
    return launcher.activate()


kernel.at_first_native.add(start)
