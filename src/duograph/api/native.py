"""What of the API the native launcher stands in for (``runtime/launch/launcher.py``), from the first native kernel on.

Operators and indexing become native methods. Functions and methods of the lists below get a `launchable` before them:
what they do depends on dtypes, shapes and arguments alone, so a call that came before can be repeated natively.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from duograph.core import kernel
from duograph.core.called import named_in_errors
from duograph.core.launchable import is_launchable, launchable
from duograph.core.op import Op
from duograph.tensor.tensor import Tensor

from . import indexing, operators
from .promote import kept_constants, operand_of

NUMBERS_ARE_WEAK = [
    "add", "sub", "mul", "multiply", "div", "divide", "true_divide", "floor_divide", "remainder", "fmod",
    "pow", "maximum", "minimum", "clamp", "clip", "clip_by_value", "eq", "ne", "lt", "le", "gt", "ge", "equal",
    "not_equal", "less", "less_equal", "greater", "greater_equal", "where", "masked_fill", "lerp", "atan2",
    "leaky_relu", "elu", "celu", "hardshrink", "softshrink", "hardtanh", "threshold",
]  # fmt: skip
"""Functions to which a number is a 0-d tensor, whatever its value: they compute nothing else with it."""

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
    "sum", "swapaxes", "swapdims", "t", "tan", "tanh", "tanhshrink", "threshold", "tile", "transpose",
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


def public_methods(table: dict[str, Any]) -> dict[str, Any]:
    """``table`` as users get it: what is listed (and the properties ``T``, ``mT``) launchable, errors with its name."""
    made = {name: _public(value, name, name in METHODS) if name[:2] != "__" else value for name, value in table.items()}
    made.update({n: property(launchable(table[n].fget, name=n)) for n in ("T", "mT") if n in table})
    return made


def make_public(table: dict[str, Any], home: dict[str, Any], listed: Sequence[str] = ()) -> None:
    """Makes the functions of a table as users get them: some launchable, all named in their errors.

    Args:
        table: the functions by public name.
        home: the names of the module where they are written.
        listed: those that become launchable.
    """
    for name, function in table.items():
        made = _public(function, name, name in listed)
        if home.get(name, None if hasattr(builtins, name) else function) is function:
            home[name] = made
            if made is not function:  # pickled by these names
                made.__module__, made.__qualname__ = home["__name__"], name
        table[name] = made


def _public(function: Any, name: str, is_listed: bool) -> Any:
    if is_listed or is_launchable(function):
        return launchable(function, name in NUMBERS_ARE_WEAK, name)
    return named_in_errors(function, name)


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
