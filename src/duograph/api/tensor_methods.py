"""The one place where operators and methods are attached to `Tensor`.

Three sources: the Python protocol and operators; methods written for Tensor, because their signature differs from that
of the function (``tensor_*.py``, ``inplace``); and `DELEGATED`, the methods that are a function of the functional API
with the tensor first.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from duograph.base.absent import ELSEWHERE, Elsewhere
from duograph.tensor.tensor import Tensor

from . import (
    indexing,
    inplace,
    inplace_index,
    inplace_random,
    native,
    operators,
    switch,  # noqa: F401 (puts the native engine behind the first op)
    tensor_basic,
    tensor_index,
    tensor_math,
    tensor_parts,
    tensor_python,
    tensor_reduce,
    tensor_shape,
    tensor_state,
)
from .functional import (
    activation,
    array,
    blocks,
    compare,
    creation,
    image,
    index,
    joining,
    linalg,
    math,
    nn,
    padding,
    products,
    random,
    reduce,
    sorting,
    sparse,
    statistics,
    unary,
)
from .functional.forms import renamed

_FUNCTIONS: dict[str, Callable[..., Any]] = {}
for _module in (
    unary, math, compare, reduce, array, joining, padding, blocks, index, sorting, products, linalg, random, activation,
    nn, image, statistics, creation,
):  # fmt: skip
    native.make_public(_module.FUNCTIONS, vars(_module), native.FUNCTIONS)
    _FUNCTIONS.update(_module.FUNCTIONS)

_NAMES = """
    abs absolute acos acosh addbmm addcdiv addcmul addmm addmv aminmax angle approximate_equal arccos arccosh arcsin
    arcsinh arctan arctan2 arctanh argsort argwhere asin asinh atan atan2 atanh baddbmm bincount bitwise_and
    bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm ceil cholesky cholesky_inverse
    cholesky_solve clamp clip col2im conj copysign cos cosh count_nonzero cross cummax cummin cumprod deg2rad det diag
    diagflat diagonal_scatter digamma div divide dot dsplit eq equal erf erfc erfinv exp expm1 fills fliplr flipud
    float_power floor floor_divide fmax fmin fmod fold frac gather_elements gather_nd gcd ge ger greater
    greater_equal gt hardshrink heaviside histc hsplit hypot imag index_select inner inv inverse invert isfinite
    isinf isnan isneginf isposinf isreal kthvalue lcm ldexp le lerp less less_equal lgamma log log10 log1p log2
    log_matrix_determinant logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor
    logit logsumexp lt masked_fill masked_scatter masked_select matmul matrix_determinant matrix_power maximum
    median minimum mm msort mul multinomial multiply mvlgamma nan_to_num nanmean nanmedian nanquantile nansum ne neg
    negative nextafter nonzero norm not_equal outer polygamma positive pow quantile rad2deg random_categorical real
    reciprocal remainder renorm repeat_interleave roll rot90 round rsqrt scatter select_scatter sgn sigmoid sign
    signbit sin sinc sinh slice_scatter slogdet soft_shrink sort sqrt square std_mean subtract svd tan tanh top_k
    topk triangular_solve tril triu true_divide trunc unfold unique_consecutive unique_with_pad unsorted_segment_max
    unsorted_segment_min unsorted_segment_prod var_mean vsplit xdivy xlogy
"""
DELEGATED = _NAMES.split()
"""Methods that are a function of the functional API."""

WRITTEN = (tensor_basic, tensor_shape, tensor_parts, tensor_reduce, tensor_index, tensor_math, tensor_state)
"""Modules of methods that are written for Tensor."""

SYNONYMS = (("axis", "dim"), ("keepdims", "keep_dims", "keepdim"), ("min", "clip_value_min"), ("max", "clip_value_max"))
"""Keywords of which MindSpore's methods take any, whichever one the function has."""


def as_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as a method that accepts the synonyms of its keywords."""
    own = inspect.signature(function).parameters
    renamed = {
        other: name for group in SYNONYMS for name in group if name in own for other in group if other not in own
    }
    if not renamed:
        return function

    @wraps(function)
    def method(self: Tensor, *args: Any, **options: Any) -> Any:
        if options:
            options = {renamed.get(name, name): value for name, value in options.items()}
        return function(self, *args, **options)

    return method


def attach(members: dict[str, Any]) -> None:
    """Sets ``members`` on `Tensor`."""
    for name, member in members.items():
        setattr(Tensor, name, member)


attach({name: as_method(_FUNCTIONS[name]) for name in DELEGATED})
attach(native.public_methods({
    "multiply": renamed(_FUNCTIONS["multiply"], "multiply", True, other="value"),
    "float_power": renamed(_FUNCTIONS["float_power"], exponent="other"),
    "approximate_equal": renamed(_FUNCTIONS["approximate_equal"], y="other"),
}))  # fmt: skip


attach({name: Elsewhere("Tensor", name) for name in ELSEWHERE["Tensor"]})
attach(native.public_methods({"to_coo": sparse.dense_to_sparse_coo, "to_csr": sparse.dense_to_sparse_csr}))
attach(operators.OPERATORS)
attach(tensor_python.PROTOCOL)
attach({"__getitem__": indexing.getitem, "__setitem__": indexing.setitem})
attach(tensor_basic.PROPERTIES | tensor_state.FLAGS)
attach(native.public_methods(tensor_shape.PROPERTIES))
for _module in WRITTEN:
    attach(native.public_methods(_module.METHODS))
for _module in (inplace, inplace_index, inplace_random):
    attach(native.public_methods(_module.METHODS))

__all__ = ["DELEGATED", "as_method", "attach", "native"]
