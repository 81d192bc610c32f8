"""Ops that move elements without computing: ``reshape``, ``transpose``, ``broadcast_to``, ``flip``, ``roll``, ``tile``.

The first three give *views*: the result shares memory with its operand whenever NumPy's does. `reduce_sum` stands here
too: it and `broadcast_to` are each other's gradient, and with `sum_to` every operator that broadcasts is declared on
them. Other reductions are in ``reduce.py``, slices and joins in ``slices.py``, diagonals and triangles in
``diagonals.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import (
    broadcast_shapes,
    infer_reshape,
    normalize_permutation,
    reduced_shape,
    taken_at_most,
    taken_equal,
)
from duograph.core.types import TensorType

from .rules import batch_with, in_float32, tensor


@primitive
class reshape:
    """``x`` with the same elements in another ``shape`` (no -1 here; the public function resolves it)."""

    view = True
    layout = "any"
    batch = batch_with("reshape", lambda size, rank, shape: {"shape": (size, *shape)})

    def infer(x, *, shape):
        x = tensor("reshape", x)
        return TensorType(x.dtype, infer_reshape(x.shape, shape))

    def reference(x, *, shape):
        if not x.size:  # NumPy raises where the type says 0
            shape = tuple(0 if extent == -1 else extent for extent in shape)
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
    batch = batch_with("transpose", lambda size, rank, perm: {"perm": (0, *[p + 1 for p in perm])})

    def infer(x, *, perm):
        x = tensor("transpose", x)
        normalize_permutation(perm, x.ndim)
        return TensorType(x.dtype, tuple(x.shape[i] for i in perm))

    def reference(x, *, perm):
        return x.transpose(perm)

    def strides(shape, strides, *, perm):
        return [strides[i] for i in perm]

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

    def strides(before, strides, *, shape):
        missing = len(shape) - len(before)
        return [0] * missing + [0 if n == 1 else step for n, step in zip(before, strides, strict=True)]

    def bprop(ins, out, dout, *, shape):
        return (sum_to(dout, ins[0].shape),)

    def batch(in_axes, operands, *, shape):
        (x,) = operands
        missing = len(shape) - (len(x.shape) - 1)
        x = reshape(x, shape=(x.shape[0], *(1,) * missing, *x.shape[1:])) if missing else x
        return broadcast_to(x, shape=(x.shape[0], *shape)), 0


def reduction_shape(shape, axis, keep_dims):
    """The shape after reducing ``axis`` (normalised tuple); the empty tuple reduces nothing."""
    return reduced_shape(shape, axis, keep_dims) if axis else tuple(shape)


def restore_axes(x, value, axis):
    """``value`` (reduced from ``x`` over ``axis``) broadcast back to the shape of ``x``."""
    return broadcast_to(reshape(value, shape=reduction_shape(x.shape, axis, True)), shape=tuple(x.shape))


def shift_axes(size, rank, axis, **rest):
    """The attributes of a reduction for an operand with a batch axis in front."""
    return {"axis": tuple(a + 1 for a in axis), **rest}


@primitive
class reduce_sum:
    """Sum over ``axis`` (normalised tuple; empty tuple: over nothing). Keeps the dtype of ``x``."""

    batch = batch_with("reduce_sum", shift_axes)

    def infer(x, *, axis, keep_dims=False):
        x = tensor("reduce_sum", x)
        return TensorType(x.dtype, reduction_shape(x.shape, axis, keep_dims))

    def reference(x, *, axis, keep_dims):
        if x.dtype.kind in "fc" or x.dtype.kind == "V":
            return _float_sum(x, axis=axis, keep_dims=keep_dims)
        return np.sum(x, axis=axis, keepdims=keep_dims, dtype=x.dtype)

    def bprop(ins, out, dout, *, axis, keep_dims):
        return (restore_axes(ins[0], dout, axis),)


@in_float32
def _float_sum(x, *, axis, keep_dims):
    return np.sum(x, axis=axis, keepdims=keep_dims)


def sum_to(grad: Any, shape: Any) -> Any:
    """``grad`` summed over the axes that broadcasting from ``shape`` had added: the gradient of broadcasting."""
    if grad.shape == shape or tuple(grad.shape) == tuple(shape):
        return grad
    extra = len(grad.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if isinstance(n, int) and n == 1 and grad.shape[i + extra] != 1
    )
    if axes:
        grad = reduce_sum(grad, axis=axes, keep_dims=False)
    return grad if tuple(grad.shape) == tuple(shape) else reshape(grad, shape=tuple(shape))


def in_shape_of(grad: Any, x: Any) -> Any:
    """``grad`` in the shape of ``x``, which it has, though its symbolic dimensions may be written in another way."""
    return grad if tuple(grad.shape) == tuple(x.shape) else reshape(grad, shape=tuple(x.shape))


def _check_axes(name: str, x: TensorType, axes: tuple[int, ...]) -> None:
    if any(not 0 <= axis < len(x.shape) for axis in axes):
        raise ValueError(f"For '{name}', the axes must be in [0, {len(x.shape)}), but got {axes}.")


@primitive
class flip:
    """``x`` reversed along ``axes``."""

    layout = "any"
    batch = batch_with("flip", lambda size, rank, axes: {"axes": tuple(a + 1 for a in axes)})

    def infer(x, *, axes):
        x = tensor("flip", x)
        _check_axes("flip", x, axes)
        return x

    def reference(x, *, axes):
        return np.array(np.flip(x, axes), order="C")

    def bprop(ins, out, dout, *, axes):
        return (flip(dout, axes=axes),)


@primitive
class roll:
    """``x`` shifted cyclically by ``shifts[i]`` places along ``axes[i]``."""

    layout = "any"
    batch = batch_with("roll", lambda size, rank, shifts, axes: {"shifts": shifts, "axes": tuple(a + 1 for a in axes)})

    def infer(x, *, shifts, axes):
        x = tensor("roll", x)
        _check_axes("roll", x, axes)
        if len(shifts) != len(axes):
            raise ValueError(f"For 'roll', there must be one shift per axis, but got {shifts} and {axes}.")
        return x

    def reference(x, *, shifts, axes):
        # NumPy refuses an empty tuple of axes, which is what a scalar is rolled along.
        return np.roll(x, shifts, axes) if axes else np.array(x)

    def bprop(ins, out, dout, *, shifts, axes):
        return (roll(dout, shifts=tuple(-s for s in shifts), axes=axes),)


@primitive
class tile:
    """``x`` repeated ``multiples[i]`` times along axis ``i`` (one entry per axis of ``x``)."""

    layout = "any"
    batch = batch_with("tile", lambda size, rank, multiples: {"multiples": (1, *multiples)})

    def infer(x, *, multiples):
        x = tensor("tile", x)
        if len(multiples) != x.ndim:
            raise ValueError(f"For 'Tile', multiples {multiples} must have one entry per axis of shape {x.shape}.")
        shape = tuple([n * m for n, m in zip(x.shape, multiples, strict=True)])
        if not all(taken_at_most(0, n) for n in shape if type(n) is not int):
            raise ValueError(f"For 'Tile', the shape cannot have negative sizes, but got {shape}.")
        return x.with_shape(shape)

    def reference(x, *, multiples):
        return np.tile(x, multiples)

    def bprop(ins, out, dout, *, multiples):
        pairs = tuple(extent for n, m in zip(ins[0].shape, multiples, strict=True) for extent in (m, n))
        copies = tuple(range(0, len(pairs), 2))
        return (reduce_sum(reshape(dout, shape=pairs), axis=copies) if copies else dout,)


def expand_dims(x: Any, axis: int) -> Any:
    """``x`` with a new axis of size 1 at position ``axis`` of the result (not negative)."""
    return reshape(x, shape=(*x.shape[:axis], 1, *x.shape[axis:]))


def squeeze(x: Any, axes: tuple[int, ...]) -> Any:
    """``x`` without ``axes`` (normalised), whose size must be 1."""
    for axis in axes:
        if not taken_equal(x.shape[axis], 1):
            raise ValueError(
                f"Cannot select an axis to squeeze out which has size not equal to one, got shape {tuple(x.shape)}."
            )
    return reshape(x, shape=tuple(n for i, n in enumerate(x.shape) if i not in axes))


def move_axis(x: Any, source: int, target: int) -> Any:
    """``x`` with axis ``source`` moved to position ``target`` (both not negative)."""
    rest = [i for i in range(len(x.shape)) if i != source]
    rest.insert(target, source)
    return transpose(x, perm=tuple(rest))
