"""The operators of MindSpore's graphs as functions of their inputs.

MindSpore's primitives are duograph's (``ops.Conv2D`` ...): what a file calls the attributes of one, or gives behind its
operands, are the arguments of the class. Those of ``mint`` have no class; `FUNCTIONS` has the functions behind them.
"""

from __future__ import annotations

import inspect
from typing import Any

from duograph import mint, ops
from duograph.api.primitives.base import Primitive
from duograph.core.traits import Traits

from .schema import TYPES

__all__ = ["FUNCTIONS", "IDENTITIES", "meaning", "parameters_of", "primitive_of"]
__capture__ = Traits(program=True)

_F = mint.nn.functional


def _tuple(*items: Any) -> tuple[Any, ...]:
    return items


def _item(items: Any, index: Any) -> Any:
    return items[index]


def _scaled_add(x: Any, y: Any, alpha: Any) -> Any:
    return x + y if alpha == 1 else x + y * alpha


def _scaled_sub(x: Any, y: Any, alpha: Any) -> Any:
    return x - y if alpha == 1 else x - y * alpha


def _group_norm(x: Any, num_groups: Any, weight: Any, bias: Any, eps: Any) -> tuple[Any, ...]:
    return (ops.group_norm(x, num_groups, weight, bias, eps),)


def _layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: Any) -> tuple[Any, ...]:
    return (_F.layer_norm(x, shape, weight, bias, eps),)


def _sliced(x: Any, axis: Any, start: Any, end: Any, step: Any) -> Any:
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, end, step),)]


def _padded(x: Any, padding: Any, value: Any) -> Any:
    return _F.pad(x, padding, "constant", value)


def _full(size: Any, value: Any, dtype: Any) -> Any:
    return mint.full(size, value, dtype=dtype)


FUNCTIONS: dict[str, Any] = {
    "MakeTuple": _tuple, "MakeList": _tuple, "make_list": _tuple, "TupleGetItem": _item, "ListGetItem": _item,
    "list_getitem": _item, "Muls": ops.mul,
    "Divs": ops.div, "DivMod": ops.div, "DivMods": ops.div, "AddExt": _scaled_add, "AddScalar": _scaled_add,
    "SubExt": _scaled_sub, "SubScalar": _scaled_sub, "SumExt": mint.sum, "MeanExt": mint.mean, "ProdExt": mint.prod,
    "MatMulExt": ops.matmul, "BatchMatMulExt": ops.bmm, "Mm": ops.matmul, "Addmm": mint.addmm, "Dense": _F.linear,
    "GroupNorm": _group_norm, "LayerNormExt": _layer_norm, "LogSoftmaxExt": _F.log_softmax,
    "LeakyReLUExt": _F.leaky_relu, "EluExt": _F.elu, "SoftplusExt": _F.softplus, "GeluExt": _F.gelu, "MishExt": _F.mish,
    "Hardtanh": _F.hardtanh, "ClampScalar": ops.clamp, "ClampTensor": ops.clamp, "ArgMaxExt": mint.argmax,
    "ArgMinExt": mint.argmin, "Max": mint.max, "Min": mint.min, "CumsumExt": mint.cumsum, "TopkExt": mint.topk,
    "Embedding": _F.embedding, "StackExt": mint.stack, "SplitTensor": mint.split, "SplitWithSize": mint.split,
    "Chunk": mint.chunk, "Narrow": mint.narrow, "SliceExt": _sliced, "FlattenExt": mint.flatten,
    "TransposeExtView": mint.transpose, "ExpandDimsView": ops.expand_dims, "BroadcastToView": ops.broadcast_to,
    "View": ops.reshape, "Repeat": ops.tile, "OnesLikeExt": mint.ones_like, "ZerosLikeExt": mint.zeros_like,
    "FillScalar": _full, "SelectV2": ops.where, "IndexSelect": mint.index_select, "LogSumExp": mint.logsumexp,
    "Log2": mint.log2, "Log10": mint.log10, "Exp2": mint.exp2, "Frac": mint.frac, "AsinExt": ops.asin,
    "AcosExt": ops.acos, "AtanExt": ops.atan, "AsinhExt": ops.asinh, "AcoshExt": ops.acosh, "Atan2Ext": ops.atan2,
    "AvgPool2D": _F.avg_pool2d, "AdaptiveAvgPool1D": _F.adaptive_avg_pool1d,
    "AdaptiveAvgPool2DExt": _F.adaptive_avg_pool2d, "ConstantPadND": _padded, "Conv2DExt": _F.conv2d,
    "EqScalar": ops.equal, "GreaterEqualScalar": ops.ge, "LessScalar": ops.less,
}  # fmt: skip
"""Functions of operators without a class, and of those that build and take tuples apart."""

IDENTITIES = {
    "Load", "Depend", "Identity", "StopGradient", "Clone", "Copy", "Contiguous", "Detach", "TensorMove",
}  # fmt: skip
"""Operators that give their first input, in an inference graph."""

_NUMBERED: dict[str, dict[Any, Any]] = {
    "dtype": TYPES, "output_type": TYPES, "data_format": {0: "NCHW", 1: "NHWC", 14: "NCDHW"},
    "pad_mode": {0: "pad", 1: "same", 2: "valid"}, "reduction": {0: "sum", 1: "mean", 2: "none"},
    "argmax_type": {"int32": TYPES[34], "int64": TYPES[35]}, "approximate": {0: "none", 1: "tanh"},
    "rounding_mode": {1: "trunc", 2: "floor"},
}  # fmt: skip
"""Parameters whose values are written as numbers."""


def meaning(parameter: str, value: Any) -> Any:
    """The value of a parameter that is written as a number; any other value as it is.

    Raises:
        ValueError: it is a number without a meaning here.
    """
    numbers = _NUMBERED.get(parameter)
    if numbers is None or type(value) is not type(next(iter(numbers))):
        return value
    if value not in numbers:
        raise ValueError(f"has {parameter}={value}, which is not read")
    return numbers[value]


def primitive_of(kind: str) -> type[Primitive] | None:
    """The class of an operator, if it has one."""
    found = getattr(ops, kind, None) if kind.isidentifier() and not kind.startswith("_") else None
    return found if isinstance(found, type) and issubclass(found, Primitive) else None


def parameters_of(function: Any) -> dict[str, bool]:
    """The names of the arguments, and whether each must be given by name."""
    return {
        n: p.kind is p.KEYWORD_ONLY
        for n, p in inspect.signature(function).parameters.items()
        if p.kind is not p.VAR_POSITIONAL
    }
