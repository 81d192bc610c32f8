"""Ops that move elements without computing: ``reshape``, ``transpose``, ``broadcast_to``, ``flip``, ``roll``, ``tile``.

The first three give *views*: the result shares memory with its operand whenever NumPy's does. Slices and joins are in
``slices.py``, diagonals and triangles in ``diagonals.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.dtype import int64
from duograph.core.op import primitive
from duograph.core.shapes import broadcast_shapes, infer_reshape, normalize_permutation, taken_equal
from duograph.core.types import TensorType

from .rules import batch_with, sum_to, tensor


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

    def batch(in_axes, operands, *, shape):
        (x,) = operands
        missing = len(shape) - (len(x.shape) - 1)
        x = reshape(x, shape=(x.shape[0], *(1,) * missing, *x.shape[1:])) if missing else x
        return broadcast_to(x, shape=(x.shape[0], *shape)), 0


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
        return np.roll(x, shifts, axes)

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
        return x.with_shape(tuple(n * m for n, m in zip(x.shape, multiples, strict=True)))

    def reference(x, *, multiples):
        return np.tile(x, multiples)

    def bprop(ins, out, dout, *, multiples):
        from .reduce import reduce_sum

        pairs = tuple(extent for n, m in zip(ins[0].shape, multiples, strict=True) for extent in (m, n))
        copies = tuple(range(0, len(pairs), 2))
        return (reduce_sum(reshape(dout, shape=pairs), axis=copies) if copies else dout,)


@primitive
class repeat_interleave:
    """Every element along ``axis`` repeated: ``repeats`` times, or ``repeats[i]`` times for a tuple."""

    layout = "any"
    batch = batch_with("repeat_interleave", lambda size, rank, repeats, axis: {"repeats": repeats, "axis": axis + 1})

    def infer(x, *, repeats, axis):
        x = tensor("repeat_interleave", x)
        if isinstance(repeats, tuple) and not taken_equal(len(repeats), x.shape[axis]):
            raise ValueError(
                f"For 'repeat_interleave', axis {axis} of shape {x.shape} needs one each, got {len(repeats)} repeats."
            )
        if min(repeats, default=0) < 0 if isinstance(repeats, tuple) else repeats < 0:
            raise ValueError(f"For 'repeat_interleave', repeats must not be negative, but got {repeats}.")
        size = sum(repeats) if isinstance(repeats, tuple) else x.shape[axis] * repeats
        return x.with_shape((*x.shape[:axis], size, *x.shape[axis + 1 :]))

    def reference(x, *, repeats, axis):
        return np.repeat(x, repeats, axis)

    def bprop(ins, out, dout, *, repeats, axis):
        from .creation import iota, zeros_like
        from .reduce import reduce_sum
        from .scatter import index_add

        (x,) = ins
        if isinstance(repeats, int):
            split = (*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :])
            return (reduce_sum(reshape(dout, shape=split), axis=(axis + 1,)),)
        source = repeat_interleave(iota(shape=(x.shape[axis],), axis=0, dtype=int64), repeats=repeats, axis=0)
        return (index_add(zeros_like(x), source, dout, axis=axis),)


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
