"""The operators that are read from ONNX files, by name."""

from __future__ import annotations

from typing import Any

from duograph import ops
from duograph.core.traits import Traits

from . import functions as f
from . import layers
from .functions import tensor

__capture__ = Traits(program=True)


def _of_tensor(name: str) -> Any:
    function = getattr(ops, name)
    return lambda *xs: function(*[tensor(x) for x in xs])


FUNCTIONS: dict[str, Any] = {
    "Add": f.add, "Sub": f.sub, "Mul": f.mul, "Div": f.div, "Mod": f.mod, "Pow": f.power, "Less": f.less,
    "LessOrEqual": f.less_or_equal, "Greater": f.greater, "GreaterOrEqual": f.greater_or_equal, "Equal": f.equal,
    "Where": f.where, "Max": f.maximum, "Min": f.minimum, "Sum": f.total, "Cast": f.cast, "Identity": f.identity,
    "Dropout": f.dropout, "Clip": f.clip, "LeakyRelu": f.leaky_relu, "Elu": f.elu, "Selu": f.selu, "PRelu": f.prelu,
    "HardSigmoid": f.hard_sigmoid, "HardSwish": f.hard_swish, "Gelu": f.gelu, "Softsign": f.softsign,
    "Softplus": f.softplus, "Shape": f.shape, "Size": f.size, "Reshape": f.reshape, "Flatten": f.flatten,
    "Transpose": f.transpose, "Unsqueeze": f.unsqueeze, "Squeeze": f.squeeze, "Concat": f.concat, "Split": f.split,
    "Slice": f.slices, "Expand": f.expand, "Tile": f.tile, "Pad": f.pad, "Trilu": f.trilu, "Constant": f.constant,
    "ConstantOfShape": f.constant_of_shape, "Range": f.sequence, "OneHot": f.one_hot, "ReduceSum": layers.reduce_sum,
    "ReduceMean": layers.reduce_mean, "ReduceMax": layers.reduce_max, "ReduceMin": layers.reduce_min,
    "ReduceL2": layers.reduce_l2, "ReduceSumSquare": layers.reduce_sum_square,
    "ReduceLogSumExp": layers.reduce_log_sum_exp, "ReduceProd": layers.reduce_prod, "ArgMax": layers.arg_max,
    "ArgMin": layers.arg_min, "TopK": layers.top_k, "CumSum": layers.cum_sum, "Softmax": layers.softmax,
    "LogSoftmax": layers.log_softmax, "MatMul": layers.mat_mul, "Gemm": layers.gemm, "Einsum": layers.einsum,
    "Conv": layers.convolution, "ConvTranspose": layers.convolution_transposed, "MaxPool": layers.max_pooled,
    "AveragePool": layers.average_pooled, "GlobalAveragePool": layers.global_average,
    "GlobalMaxPool": layers.global_max, "BatchNormalization": layers.batch_normalization,
    "LayerNormalization": layers.layer_normalization, "InstanceNormalization": layers.instance_normalization,
    "Gather": layers.gather, "GatherElements": layers.gather_elements, "GatherND": layers.gather_nd,
    "ScatterElements": layers.scatter_elements, "ScatterND": layers.scatter_nd,
    "NonZero": layers.nonzero, "LSTM": layers.lstm, "GRU": layers.gru,
    **{kind: _of_tensor(name) for kind, name in {
        "Neg": "neg", "Abs": "abs", "Sign": "sign", "Reciprocal": "reciprocal", "Exp": "exp", "Log": "log",
        "Sqrt": "sqrt", "Sigmoid": "sigmoid", "Sin": "sin", "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos",
        "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh",
        "Atanh": "atanh", "Erf": "erf", "Floor": "floor", "Ceil": "ceil", "Round": "round", "Relu": "relu",
        "IsNaN": "isnan", "IsInf": "isinf", "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor",
        "Not": "logical_not", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
        "BitwiseNot": "bitwise_not", "Mish": "mish",
    }.items()},
}  # fmt: skip
"""The operators that are read."""
