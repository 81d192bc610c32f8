"""Primitive classes without constructor parameters: each is one function, and those that are one op name it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.op import Op
from duograph.ops import arithmetic, compare, logical, power, unary
from duograph.ops import complex as complex_ops
from duograph.ops.arithmetic import sub
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
    attention,
    blocks,
    creation,
    ctc,
    image,
    index,
    inplace,
    joining,
    linalg,
    loss,
    math,
    nn,
    padding,
    pool,
    products,
    reduce,
    sorting,
    structure,
)
from ..functional import compare as compare_functions
from ..functional import unary as unary_functions
from ..functional.forms import need_tensor, static_int
from ..functional.loss import softmax_cross_entropy_with_logits
from ..promote import as_tensor, to_dtype
from ..tensor_shape import shape_of
from .base import TablePrimitive, from_function

_FUNCTIONS: dict[str, Callable[..., Any]] = {}
for _module in (
    unary_functions, math, compare_functions, reduce, array, joining, padding, blocks, creation, index, sorting,
    products, linalg, activation, nn, attention, image, pool, loss, ctc, inplace, structure,
):  # fmt: skip
    _FUNCTIONS.update(_module.FUNCTIONS)

_SAME_OP: dict[str, tuple[str, Op]] = {
    # class: (function, the op that it is)
    "Add": ("add", arithmetic.add), "TensorAdd": ("add", arithmetic.add), "Sub": ("sub", arithmetic.sub),
    "Mul": ("mul", arithmetic.mul), "Div": ("tensor_div", arithmetic.div), "RealDiv": ("tensor_div", arithmetic.div),
    "FloorDiv": ("floor_div", arithmetic.floor_div), "FloorMod": ("floor_mod", arithmetic.mod),
    "TruncateDiv": ("truncate_div", arithmetic.trunc_div), "TruncateMod": ("truncate_mod", arithmetic.fmod),
    "Mod": ("fmod", arithmetic.fmod), "Maximum": ("maximum", arithmetic.maximum),
    "Minimum": ("minimum", arithmetic.minimum), "Pow": ("pow", power.pow_), "Atan2": ("atan2", power.atan2),
    "Hypot": ("hypot", power.hypot), "Xlogy": ("xlogy", power.xlogy), "NextAfter": ("nextafter", arithmetic.nextafter),
    "Neg": ("neg", arithmetic.neg), "Abs": ("abs", arithmetic.abs_), "Sign": ("sign", arithmetic.sign),
    "Square": ("square", arithmetic.square), "Reciprocal": ("reciprocal", arithmetic.reciprocal),
    "Inv": ("inv", arithmetic.reciprocal), "Exp": ("exp", unary.exp), "Expm1": ("expm1", unary.expm1),
    "Log": ("log", unary.log), "Log1p": ("log1p", unary.log1p), "Sqrt": ("sqrt", unary.sqrt),
    "Rsqrt": ("rsqrt", unary.rsqrt), "Sigmoid": ("sigmoid", unary.sigmoid), "Tanh": ("tanh", unary.tanh),
    "Sin": ("sin", unary.sin), "Cos": ("cos", unary.cos), "Tan": ("tan", unary.tan), "Asin": ("asin", unary.asin),
    "ACos": ("acos", unary.acos), "Atan": ("atan", unary.atan), "Sinh": ("sinh", unary.sinh),
    "Cosh": ("cosh", unary.cosh), "Asinh": ("asinh", unary.asinh), "Acosh": ("acosh", unary.acosh),
    "Atanh": ("atanh", unary.atanh), "Erf": ("erf", unary.erf), "Erfc": ("erfc", unary.erfc),
    "Erfinv": ("erfinv", unary.erfinv), "Lgamma": ("lgamma", unary.lgamma), "Digamma": ("digamma", unary.digamma),
    "Floor": ("floor", unary.floor), "Ceil": ("ceil", unary.ceil), "Trunc": ("trunc", unary.trunc),
    "Rint": ("rint", unary.round_), "ReLU": ("relu", unary.relu), "IsNan": ("isnan", unary.isnan),
    "IsInf": ("isinf", unary.isinf), "IsFinite": ("isfinite", unary.isfinite), "Equal": ("equal", compare.equal),
    "NotEqual": ("not_equal", compare.not_equal), "Less": ("less", compare.less),
    "LessEqual": ("less_equal", compare.less_equal), "Greater": ("greater", compare.greater),
    "GreaterEqual": ("greater_equal", compare.greater_equal), "LogicalAnd": ("logical_and", logical.logical_and),
    "LogicalOr": ("logical_or", logical.logical_or), "LogicalXor": ("logical_xor", logical.logical_xor),
    "LogicalNot": ("logical_not", logical.logical_not), "BitwiseAnd": ("bitwise_and", logical.bitwise_and),
    "BitwiseOr": ("bitwise_or", logical.bitwise_or), "BitwiseXor": ("bitwise_xor", logical.bitwise_xor),
    "Invert": ("invert", logical.bitwise_not), "LeftShift": ("bitwise_left_shift", logical.bitwise_left_shift),
    "RightShift": ("bitwise_right_shift", logical.bitwise_right_shift), "Conj": ("conj", arithmetic.conj),
    "Real": ("real", complex_ops.real), "Imag": ("imag", complex_ops.imag),
    "Complex": ("complex", complex_ops.complex_),
    "Select": ("select", select_op),
}  # fmt: skip

_COMPOSITE = {
    # class: function
    "AccumulateNV2": "accumulate_n", "AddN": "addn", "Addcdiv": "addcdiv", "Addcmul": "addcmul", "Angle": "angle",
    "Assign": "assign", "AssignAdd": "assign_add", "AssignSub": "assign_sub",
    "Cast": "cast", "ComplexAbs": "abs", "Depend": "depend",
    "Dense": "dense", "Diag": "diag", "DivNoNan": "div_no_nan", "DType": "dtype", "ExpandDims": "expand_dims",
    "FastGelu": "fast_gelu", "FastGeLU": "fast_gelu", "Fill": "fill", "Fills": "fills",
    "Fmax": "fmax", "Fmin": "fmin", "GatherD": "gather_d", "GatherNd": "gather_nd", "Gcd": "gcd",
    "Ger": "outer", "Heaviside": "heaviside", "HSigmoid": "hardsigmoid", "HSwish": "hardswish",
    "Identity": "identity", "IndexFill": "index_fill", "L2Loss": "l2_loss", "Lcm": "lcm", "Lerp": "lerp",
    "LinSpace": "linspace", "LogMatrixDeterminant": "slogdet", "MaskedFill": "masked_fill",
    "MaskedScatter": "masked_scatter", "MaskedSelect": "masked_select", "MatrixDeterminant": "det",
    "MatrixExp": "matrix_exp", "Mish": "mish", "MulNoNan": "mul_no_nan", "NonZero": "nonzero", "Ones": "ones",
    "OnesLike": "ones_like", "Partial": "partial", "Polar": "polar", "PReLU": "prelu", "Print": "print_",
    "Rank": "rank", "ReLU6": "relu6", "Reshape": "reshape", "Round": "round", "ScalarCast": "scalar_cast",
    "ScalarToTensor": "scalar_to_tensor", "ScatterNd": "scatter_nd", "SeLU": "selu", "Shape": "shape",
    "TensorShape": "dyn_shape", "Sinc": "sinc", "Size": "size", "Slice": "slice", "Softplus": "softplus",
    "Softsign": "softsign",
    "SquaredDifference": "squared_difference", "StopGradient": "stop_gradient",
    "TensorScatterAdd": "tensor_scatter_add",
    "TensorScatterDiv": "tensor_scatter_div", "TensorScatterMax": "tensor_scatter_max",
    "TensorScatterMin": "tensor_scatter_min", "TensorScatterMul": "tensor_scatter_mul",
    "TensorScatterSub": "tensor_scatter_sub", "TensorScatterUpdate": "tensor_scatter_update", "Tile": "tile",
    "Trace": "trace", "Transpose": "transpose", "TransposeView": "transpose", "TupleToArray": "tuple_to_array",
    "Unique": "unique",
    "UnsortedSegmentMax": "unsorted_segment_max", "UnsortedSegmentMin": "unsorted_segment_min",
    "UnsortedSegmentProd": "unsorted_segment_prod", "UnsortedSegmentSum": "unsorted_segment_sum", "Xdivy": "xdivy",
    "Zeros": "zeros", "ZerosLike": "zeros_like",
    "Expand": "expand",
    "SiLU": "silu", "LogAddExp": "logaddexp", "LogAddExp2": "logaddexp2",
    "Polygamma": "polygamma",
    "ScalarToArray": "scalar_to_array",
}  # fmt: skip


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
    return broadcast_to(as_tensor(value), shape=shape_of((shape,), "FillV2"))


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
    **{name: from_function(name, _FUNCTIONS[function], op) for name, (function, op) in _SAME_OP.items()},
    **{name: from_function(name, _FUNCTIONS[function]) for name, function in _COMPOSITE.items()},
    **{name: from_function(name, function) for name, function in _OWN.items()},
}
"""Class name to class."""
