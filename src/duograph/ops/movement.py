"""Ops that move elements without computing: ``reshape``, ``transpose``, ``broadcast_to``.

The first ones give *views*: the result shares memory with its operand whenever NumPy's does.
"""

from __future__ import annotations

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import broadcast_shapes, infer_reshape
from duograph.core.types import TensorType

from .rules import sum_to, tensor


@primitive
class reshape:
    """``x`` with the same elements in another ``shape`` (no -1 here; the public function resolves it)."""

    view = True
    layout = "any"

    def infer(x, *, shape):
        x = tensor("reshape", x)
        return TensorType(x.dtype, infer_reshape(x.shape, shape))

    def reference(x, *, shape):
        return x.reshape(shape)

    def bprop(ins, out, dout, *, shape):
        return (reshape(dout, shape=tuple(ins[0].shape)),)

    def write_view(base, value, *, shape):
        return reshape(value, shape=tuple(base.shape))


@primitive
class transpose:
    """``x`` with axis ``i`` of the result taken from axis ``perm[i]``."""

    view = True
    layout = "any"

    def infer(x, *, perm):
        x = tensor("transpose", x)
        if sorted(perm) != list(range(x.ndim)):
            raise ValueError(f"For 'Transpose', perm {perm} must be a permutation of the {x.ndim} axes of shape {x.shape}.")
        return TensorType(x.dtype, tuple(x.shape[i] for i in perm))

    def reference(x, *, perm):
        return x.transpose(perm)

    def bprop(ins, out, dout, *, perm):
        return (transpose(dout, perm=_inverse(perm)),)

    def write_view(base, value, *, perm):
        return transpose(value, perm=_inverse(perm))


def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(perm))


@primitive
class broadcast_to:
    """``x`` repeated along new or size-1 axes up to ``shape``."""

    view = True
    layout = "any"

    def infer(x, *, shape):
        x = tensor("broadcast_to", x)
        if tuple(broadcast_shapes(x.shape, shape)) != tuple(shape):
            raise ValueError(f"For 'BroadcastTo', shape {tuple(x.shape)} cannot be broadcast to {tuple(shape)}.")
        return TensorType(x.dtype, shape)

    def reference(x, *, shape):
        return np.broadcast_to(x, shape)

    def bprop(ins, out, dout, *, shape):
        return (sum_to(dout, ins[0].shape),)
