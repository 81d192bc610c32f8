"""Primitive classes without constructor parameters: each is one function, and those that are one op name it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.op import Op
from duograph.ops import arithmetic, compare, logical, power, unary
from duograph.ops import complex as complex_ops
from duograph.ops.arithmetic import sub
from duograph.ops.cast import cast
from duograph.ops.diagonals import diagonal
from duograph.ops.indexing import index_add
from duograph.ops.movement import broadcast_to, reshape
from duograph.ops.norm import softmax
from duograph.ops.reduce import reduce_all
from duograph.ops.select import select as select_op
from duograph.tensor.tensor import Tensor

from ..functional import (
    activation,
    array,
    creation,
    loss,
    math,
    reduce,
    structure,
)
from ..functional.forms import need_tensor, static_int
from ..functional.loss import softmax_cross_entropy_with_logits
from ..promote import as_tensor, to_dtype
from ..public_ops import functions
from ..tensor_shape import shape_of
from .base import TablePrimitive, from_function

_FUNCTIONS = functions() | {"complex": math.complex}

_OPS: dict[str, Op] = {
    "Add": arithmetic.add, "TensorAdd": arithmetic.add, "Sub": arithmetic.sub, "Mul": arithmetic.mul,
    "Div": arithmetic.div, "RealDiv": arithmetic.div, "FloorDiv": arithmetic.floor_div, "FloorMod": arithmetic.mod,
    "TruncateDiv": arithmetic.trunc_div, "TruncateMod": arithmetic.fmod, "Mod": arithmetic.fmod,
    "Maximum": arithmetic.maximum, "Minimum": arithmetic.minimum, "Pow": power.pow_, "Atan2": power.atan2,
    "Hypot": power.hypot, "Xlogy": power.xlogy, "NextAfter": arithmetic.nextafter, "Neg": arithmetic.neg,
    "Abs": arithmetic.abs_, "Sign": arithmetic.sign, "Square": arithmetic.square,
    "Reciprocal": arithmetic.reciprocal, "Inv": arithmetic.reciprocal, "Exp": unary.exp, "Expm1": unary.expm1,
    "Log": unary.log, "Log1p": unary.log1p, "Sqrt": unary.sqrt, "Rsqrt": unary.rsqrt, "Sigmoid": unary.sigmoid,
    "Tanh": unary.tanh, "Sin": unary.sin, "Cos": unary.cos, "Tan": unary.tan, "Asin": unary.asin,
    "ACos": unary.acos, "Atan": unary.atan, "Sinh": unary.sinh, "Cosh": unary.cosh, "Asinh": unary.asinh,
    "Acosh": unary.acosh, "Atanh": unary.atanh, "Erf": unary.erf, "Erfc": unary.erfc, "Erfinv": unary.erfinv,
    "Lgamma": unary.lgamma, "Digamma": unary.digamma, "Floor": unary.floor, "Ceil": unary.ceil,
    "Trunc": unary.trunc, "Rint": unary.round_, "ReLU": unary.relu, "IsNan": unary.isnan, "IsInf": unary.isinf,
    "IsFinite": unary.isfinite, "Equal": compare.equal, "NotEqual": compare.not_equal, "Less": compare.less,
    "LessEqual": compare.less_equal, "Greater": compare.greater, "GreaterEqual": compare.greater_equal,
    "LogicalAnd": logical.logical_and, "LogicalOr": logical.logical_or, "LogicalXor": logical.logical_xor,
    "LogicalNot": logical.logical_not, "BitwiseAnd": logical.bitwise_and, "BitwiseOr": logical.bitwise_or,
    "BitwiseXor": logical.bitwise_xor, "Invert": logical.bitwise_not, "LeftShift": logical.bitwise_left_shift,
    "RightShift": logical.bitwise_right_shift, "Conj": arithmetic.conj, "Real": complex_ops.real,
    "Imag": complex_ops.imag, "Complex": complex_ops.complex_, "Select": select_op,
}  # fmt: skip
"""Classes that are one op."""

_NAMES = """
    AccumulateNV2 AddN Addcdiv Addcmul Angle Assign AssignAdd AssignSub Cast ComplexAbs Depend Dense Diag DivNoNan
    DType ExpandDims FastGelu FastGeLU Fill Fills Fmax Fmin GatherD GatherNd Gcd Ger Heaviside HSigmoid HSwish
    Identity IndexFill L2Loss Lcm Lerp LinSpace LogMatrixDeterminant MaskedFill MaskedScatter MaskedSelect
    MatrixDeterminant MatrixExp Mish MulNoNan NonZero Ones OnesLike Partial Polar PReLU Print Rank ReLU6 Reshape
    Round ScalarCast ScalarToTensor ScatterNd SeLU Shape TensorShape Sinc Size Slice Softplus Softsign
    SquaredDifference StopGradient TensorScatterAdd TensorScatterDiv TensorScatterMax TensorScatterMin
    TensorScatterMul TensorScatterSub TensorScatterUpdate Tile Trace Transpose TransposeView TupleToArray Unique
    UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum Xdivy Zeros ZerosLike Expand SiLU
    LogAddExp LogAddExp2 Polygamma ScalarToArray
"""
"""Classes that are a function."""

_OTHERWISE = {
    "TensorAdd": "add", "Div": "tensor_div", "RealDiv": "tensor_div", "Mod": "fmod",
    "LeftShift": "bitwise_left_shift", "RightShift": "bitwise_right_shift", "AccumulateNV2": "accumulate_n",
    "ComplexAbs": "abs", "FastGeLU": "fast_gelu", "Ger": "outer", "HSigmoid": "hardsigmoid", "HSwish": "hardswish",
    "LogMatrixDeterminant": "slogdet", "MatrixDeterminant": "det", "Print": "print_", "TensorShape": "dyn_shape",
    "TransposeView": "transpose",
}  # fmt: skip
"""Class: its function, where that is not the class's name in small letters (``add_n`` or ``addn`` for ``AddN``)."""


def _function_of(name: str) -> Callable[..., Any]:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return _FUNCTIONS[_OTHERWISE.get(name) or (words if words in _FUNCTIONS else name.lower())]


def flatten(x: Tensor) -> Tensor:
    """All axes but the first as one."""
    need_tensor("Flatten", x=x)
    return array.flatten(x)


def gelu(x: Tensor) -> Tensor:
    """``x`` times the normal distribution function of ``x``, approximated with tanh as MindSpore's primitive."""
    return activation.gelu(x, "tanh")


def masked_float_status(x: Tensor) -> Tensor:
    """1.0 in a tensor of shape (1,) if any element is not finite, else 0.0."""
    fine = reduce_all(unary.isfinite(x), axis=tuple(range(x.ndim)), keep_dims=False)
    return reshape(to_dtype(logical.logical_not(fine), dt.float32), shape=(1,))


def softmax_cross_entropy(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Cross entropy of every row, and its gradient with respect to the logits."""
    return softmax_cross_entropy_with_logits(logits, labels), sub(softmax(logits, axis=logits.ndim - 1), labels)


def fill_v2(shape: Any, value: Tensor) -> Tensor:
    """``value`` in ``shape``."""
    value = as_tensor(value)
    return cast(broadcast_to(value, shape=shape_of((shape,), "FillV2")), dtype=value.dtype)  # may be written


def diag_part(x: Tensor) -> Tensor:
    """The inverse of ``Diag``."""
    half = tuple(x.shape[: x.ndim // 2])
    n = 1
    for extent in half:
        n *= extent
    square = reshape(x, shape=(n, n))
    return reshape(diagonal(square, offset=0, axis1=0, axis2=1), shape=half)


def bincount(array: Tensor, size: Any, weights: Tensor) -> Tensor:
    """The sums of ``weights`` at each of 0 ... size-1."""
    zeros = creation.zeros((static_int(size, "Bincount", "size"),), weights.dtype)
    return index_add(zeros, array, weights, axis=0)


def inplace_update_v2(x: Tensor, indices: Any, v: Tensor) -> Tensor:
    """``x`` with the rows ``indices`` replaced by ``v``."""
    return structure.inplace_update(x, v, indices)


def identity_n(x: Any) -> tuple[Tensor, ...]:
    """The same tensors."""
    return tuple(_FUNCTIONS["identity"](t) for t in x)


def invert_permutation(x: Any) -> Any:
    """The inverse of a permutation given as a tuple."""
    order = [0] * len(x)
    for place, value in enumerate(x):
        order[value] = place
    return tuple(order)


_OWN: dict[str, Callable[..., Any]] = {
    "Flatten": flatten, "GeLU": gelu, "Gelu": gelu, "FloatStatus": masked_float_status,
    "SoftmaxCrossEntropyWithLogits": softmax_cross_entropy, "SigmoidCrossEntropyWithLogits": loss.sigmoid_cross_entropy,
    "SquareSumAll": loss.square_sum_all, "DiagPart": diag_part, "FillV2": fill_v2,
    "EqualCount": reduce.trace_of_equal, "Eps": creation.eps,
    "InvertPermutation": invert_permutation, "Bincount": bincount, "InplaceUpdateV2": inplace_update_v2,
    "IdentityN": identity_n,
}  # fmt: skip

CLASSES: dict[str, type[TablePrimitive]] = {
    **{name: from_function(name, _function_of(name), op) for name, op in _OPS.items()},
    **{name: from_function(name, _function_of(name)) for name in _NAMES.split()},
    **{name: from_function(name, function) for name, function in _OWN.items()},
}
"""Class name to class."""
