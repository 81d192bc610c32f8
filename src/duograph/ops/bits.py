"""The same bytes as another dtype."""

from __future__ import annotations

from duograph.core.dtype import DType
from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.types import TensorType

from .rules import batch_with, tensor


def _scaled(x: TensorType, dtype: DType) -> TensorType:
    old, new = x.dtype.itemsize, dtype.itemsize
    if old == new:
        return x.with_dtype(dtype)
    if not x.shape:
        raise RuntimeError(
            f"view: a 0-d tensor of {x.dtype} cannot be seen as {dtype}, whose elements have another size."
        )
    *lead, last = x.shape
    if old < new and isinstance(last, int) and last * old % new:
        raise RuntimeError(
            f"view: the last dimension of {tuple(x.shape)} {x.dtype} does not hold whole elements of {dtype}."
        )
    return TensorType(dtype, (*lead, last * (old // new) if old > new else last // (new // old)))


@primitive
class bitcast:
    """The bytes of ``x`` read as ``dtype``; the last axis grows or shrinks by the ratio of sizes. A copy."""

    bprop = NOT_DIFFERENTIABLE
    batch = batch_with("bitcast", lambda size, rank, dtype: {"dtype": dtype})

    def infer(x, *, dtype):
        return _scaled(tensor("bitcast", x), dtype)

    def reference(x, *, dtype):
        return x.view(dtype.numpy).copy()
