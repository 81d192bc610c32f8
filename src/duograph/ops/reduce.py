"""Reductions. The order of accumulation is NumPy's pairwise order on the C-contiguous operand: a function of shape alone."""

from __future__ import annotations

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import reduced_shape
from duograph.core.types import TensorType

from .movement import broadcast_to, reshape
from .rules import in_float32, tensor


@primitive
class reduce_sum:
    """Sum over ``axis`` (normalised tuple; empty tuple: over nothing). Keeps the dtype of ``x``."""

    def infer(x, *, axis, keep_dims=False):
        x = tensor("reduce_sum", x)
        return TensorType(x.dtype, reduced_shape(x.shape, axis, keep_dims))

    def reference(x, *, axis, keep_dims):
        if x.dtype.kind in "fc" or x.dtype.kind == "V":
            return _float_sum(x, axis=axis, keep_dims=keep_dims)
        return np.sum(x, axis=axis, keepdims=keep_dims, dtype=x.dtype)

    def bprop(ins, out, dout, *, axis, keep_dims):
        (x,) = ins
        kept = reduced_shape(x.shape, axis, True)
        return (broadcast_to(reshape(dout, shape=kept), shape=tuple(x.shape)),)


@in_float32
def _float_sum(x, *, axis, keep_dims):
    return np.sum(x, axis=axis, keepdims=keep_dims)
