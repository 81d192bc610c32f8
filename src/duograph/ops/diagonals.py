"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.dim import dim_max, dim_min
from duograph.core.op import primitive

from .creation import full, zeros_like
from .movement import in_shape_of
from .rules import batch_with, require_shape, same_dtype, tensor
from .slices import all_batched


def _shift(size, rank, offset, axis1, axis2):
    return {"offset": offset, "axis1": axis1 + 1, "axis2": axis2 + 1}


def _diagonal_length(rows, columns, offset):
    return dim_max(dim_min(rows + min(offset, 0), columns - max(offset, 0)), 0)


def _diagonal_view(x: np.ndarray, offset: int, axis1: int, axis2: int) -> np.ndarray:
    """Like `np.diagonal`, but writable if ``x`` is."""
    y = np.moveaxis(x, (axis1, axis2), (-2, -1))[..., max(-offset, 0) :, max(offset, 0) :]
    *rest, down, right = y.strides
    shape = (*y.shape[:-2], min(y.shape[-2:]))
    return np.lib.stride_tricks.as_strided(y, shape, (*rest, down + right), writeable=x.flags.writeable)


@primitive
class diagonal:
    """The diagonal ``offset`` places above the main one of the matrices in ``axis1`` and ``axis2``; the last axis."""

    view = True
    layout = "any"
    batch = batch_with("diagonal", _shift)

    def infer(x, *, offset=0, axis1=0, axis2=1):
        x = tensor("diagonal", x)
        if x.ndim < 2:
            raise ValueError(f"For 'diagonal', the tensor must have at least 2 dimensions, but got {x.ndim}.")
        if axis1 == axis2:
            raise ValueError(f"For 'diagonal', axis1 and axis2 cannot be the same, but got {axis1}.")
        rest = [n for i, n in enumerate(x.shape) if i not in (axis1, axis2)]
        return x.with_shape((*rest, _diagonal_length(x.shape[axis1], x.shape[axis2], offset)))

    def reference(x, *, offset, axis1, axis2):
        return _diagonal_view(x, offset, axis1, axis2)

    def strides(shape, strides, *, offset, axis1, axis2):
        rest = [step for i, step in enumerate(strides) if i not in (axis1, axis2)]
        return [*rest, strides[axis1] + strides[axis2]]

    def bprop(ins, out, dout, *, offset, axis1, axis2):
        return (diagonal_update(zeros_like(ins[0]), dout, offset=offset, axis1=axis1, axis2=axis2),)

    def write_view(base, value, *, offset, axis1, axis2):
        return diagonal_update(base, value, offset=offset, axis1=axis1, axis2=axis2)


@primitive
class diagonal_update:
    """``base`` with the diagonal that `diagonal` names replaced by ``value``."""

    layout = "any"

    def infer(base, value, *, offset, axis1, axis2):
        same_dtype("diagonal_update", base, value)
        place = diagonal.infer(base, offset=offset, axis1=axis1, axis2=axis2)
        require_shape("diagonal_update", value, place.shape, "value")
        return base

    def reference(base, value, *, offset, axis1, axis2):
        out = np.array(base, order="C")
        _diagonal_view(out, offset, axis1, axis2)[...] = value
        return out

    def bprop(ins, out, dout, *, offset, axis1, axis2):
        return (
            lambda: diagonal_update(dout, zeros_like(ins[1]), offset=offset, axis1=axis1, axis2=axis2),
            lambda: in_shape_of(diagonal(dout, offset=offset, axis1=axis1, axis2=axis2), ins[1]),
        )

    def batch(in_axes, operands, *, offset, axis1, axis2):
        base, value = all_batched(in_axes, operands)
        return diagonal_update(base, value, offset=offset, axis1=axis1 + 1, axis2=axis2 + 1), 0


def diag_embed(x: Any, offset: int = 0) -> Any:
    """Square matrices (last two axes) with the rows of ``x`` on diagonal ``offset`` and zeros elsewhere."""
    n = x.shape[-1] + abs(offset)
    base = full(shape=(*x.shape[:-1], n, n), value=0, dtype=x.dtype)
    rank = len(base.shape)
    return diagonal_update(base, x, offset=offset, axis1=rank - 2, axis2=rank - 1)


def _matrix(name, x):
    x = tensor(name, x)
    if x.ndim < 2:
        raise ValueError(f"For '{name.title()}', the rank of the input must be at least 2, but got {x.ndim}.")
    return x


@primitive
class tril:
    """The lower triangles of the matrices in the last two axes, up to diagonal ``diagonal``; zeros above."""

    layout = "any"
    batch = batch_with("tril", lambda size, rank, diagonal: {"diagonal": diagonal})

    def infer(x, *, diagonal=0):
        return _matrix("tril", x)

    def reference(x, *, diagonal):
        rows, columns = x.shape[-2:]
        return np.where(np.tri(rows, columns, k=diagonal, dtype=bool), x, np.zeros((), x.dtype))

    def bprop(ins, out, dout, *, diagonal):
        return (tril(dout, diagonal=diagonal),)


@primitive
class triu:
    """The upper triangles of the matrices in the last two axes, from diagonal ``diagonal``; zeros below."""

    layout = "any"
    batch = batch_with("triu", lambda size, rank, diagonal: {"diagonal": diagonal})

    def infer(x, *, diagonal=0):
        return _matrix("triu", x)

    def reference(x, *, diagonal):
        rows, columns = x.shape[-2:]
        return np.where(np.tri(rows, columns, k=diagonal - 1, dtype=bool), np.zeros((), x.dtype), x)

    def bprop(ins, out, dout, *, diagonal):
        return (triu(dout, diagonal=diagonal),)
