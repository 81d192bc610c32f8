"""Pooling over any number of spatial axes, in the layout (batch, channels, *spatial).

Maximum pooling gives values and their flat positions in the plane; its gradient is `scatter_planes`, whose gradient
is a gather. Average pooling is linear: it and `avg_pool_grad` are each other's gradients. Spatial extents are ints.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import get_op, primitive
from duograph.core.shapes import conv_output_size, taken_at_most, window_count
from duograph.core.types import TensorType, TupleType

from .conv import add_windows, merged_batch, pad_spatial, windows
from .creation import constant_like
from .movement import reshape
from .power import pow_
from .rules import in_float32, require_kind, require_shape, tensor
from .slices import all_batched
from .stable import power_of_size

Pairs = tuple[tuple[int, int], ...]


def pooled_size(
    op: str, x: TensorType, kernel: Any, stride: Any, padding: Pairs, dilation: Any, ceil_mode: bool
) -> tuple[Any, ...]:
    """Spatial extents after pooling.

    Raises:
        ValueError: the rank is wrong, or no window fits.
    """
    rank = len(kernel)
    if x.ndim != rank + 2:
        raise ValueError(f"For '{op}', the input must have {rank + 2} dimensions, but got shape {tuple(x.shape)}.")
    if any(isinstance(n, int) and n < 0 for pair in padding for n in pair):
        raise ValueError(f"For '{op}', the padding must not be negative, but got {padding}.")
    size = tuple(
        conv_output_size(n, k, s, p, d, ceil_mode)
        for n, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    )
    if not all(taken_at_most(1, n) for n in (*kernel, *size)):
        raise ValueError(
            f"For '{op}', each element of the output shape must be larger than 0, but got {(*x.shape[:2], *size)} for "
            f"an input of shape {tuple(x.shape)} and the kernel {kernel}."
        )
    return size


def _reach(size: Any, kernel: Any, stride: Any, padding: Pairs, dilation: Any, count: Any) -> Pairs:
    """``padding`` grown behind (or cropped) so that exactly ``count`` windows are covered."""
    return tuple(
        (a, (c - 1) * s + d * (k - 1) + 1 - n - a)
        for n, k, s, (a, _), d, c in zip(size, kernel, stride, padding, dilation, count, strict=True)
    )


def joint_batch(op: str) -> Any:
    """Batch rule of ops on values and indices: both get the batch, and it joins axis 0."""

    def batch(in_axes: Any, operands: Any, **attrs: Any) -> Any:
        full = all_batched(in_axes, operands)
        size, n = full[0].shape[:2]
        merged = [reshape(t, shape=(size * n, *t.shape[2:])) for t in full]
        out = get_op(op)(*merged, **attrs)
        return reshape(out, shape=(size, n, *out.shape[1:])), 0

    return batch


# ---- maximum --------------------------------------------------------------------------------------------------------


@primitive
class max_pool:
    """The greatest element of each window, and its flat position in the unpadded plane (int64). NaN is greatest."""

    batch = merged_batch("max_pool")

    def infer(x, *, kernel, stride, padding, dilation, ceil_mode=False):
        x = require_kind("max_pool", x, "if")
        size = pooled_size("MaxPool", x, kernel, stride, padding, dilation, ceil_mode)
        for n, s, (front, _), d in zip(x.shape[2:], stride, padding, dilation, strict=True):
            # The first tap behind the front padding, of the windows that begin in it, has to be an element.
            first = max((start % d for start in range(-front, 0, s)), default=0)
            if not taken_at_most(first + 1, n):
                raise ValueError(
                    f"For 'MaxPool', a window of the kernel {kernel} with the dilation {dilation} has no element in an "
                    f"input of shape {tuple(x.shape)} with the padding {padding}."
                )
        shape = (*x.shape[:2], *size)
        return TupleType((TensorType(x.dtype, shape), TensorType(dt.int64, shape)))

    def reference(x, *, kernel, stride, padding, dilation, ceil_mode):
        size = x.shape[2:]
        count = [
            window_count(n, k, s, p, d, ceil_mode)
            for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True)
        ]
        return _max_windows(x, kernel, stride, _reach(size, kernel, stride, padding, dilation, count), dilation)

    def bprop(ins, out, dout, *, kernel, stride, padding, dilation, ceil_mode):
        (x,) = ins
        windows = () if any(d != 1 for d in dilation) else (kernel, stride, tuple([front for front, _ in padding]))
        return (scatter_planes(dout[0], out[1], size=tuple(x.shape[2:]), windows=windows),)


def _in_planes(*index: int | slice) -> tuple[int | slice, ...]:
    """``index`` of the spatial axes, in every plane of the batch."""
    return (slice(None), slice(None), *index)


def _lowest(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _max_windows(x, kernel, stride, padding, dilation):
    size, padded = x.shape[2:], any(p > 0 for pair in padding for p in pair)
    view = windows(pad_spatial(x, padding, _lowest(x.dtype)), kernel, stride, dilation)
    count = view.shape[2 + len(kernel) :]
    ordinary = x.dtype.kind in "iu" or not np.isnan(x).any()
    taps, offsets = list(product(*map(range, kernel))), []
    first = view[_in_planes(*taps[0])]
    best = np.full(first.shape, _lowest(x.dtype), x.dtype) if padded else np.array(first, order="C")
    chosen = np.full(first.shape, -1 if padded else 0, np.int32)
    for number, tap in enumerate(taps):
        offset = 0
        for t, n, d in zip(tap, size, dilation, strict=True):
            offset = offset * n + t * d
        offsets.append(offset)
        if number == 0 and not padded:
            continue
        value = view[_in_planes(*tap)]
        better = value > best
        if not ordinary:
            better |= np.isnan(value) & ~np.isnan(best)
        if padded:  # where all is lowest, the first place inside counts, never one in the padding
            better |= (chosen < 0) & _inside(tap, size, count, stride, dilation, padding)
        best = np.where(better, value, best)
        chosen = np.where(better, np.int32(number), chosen)
    start = np.zeros((), np.int64)
    for n, c, s, (front, _) in zip(size, count, stride, padding, strict=True):
        start = (start * n)[..., None] + np.arange(c) * s - front
    return best, start + np.take(np.array(offsets, np.int64), chosen)


def _inside(tap, size, count, stride, dilation, padding):
    """Which positions have their element ``tap`` inside the unpadded input; broadcasts over positions."""
    inside = np.ones((), bool)
    for t, n, c, s, d, (front, _) in zip(tap, size, count, stride, dilation, padding, strict=True):
        at = np.arange(c) * s + t * d - front
        inside = inside[..., None] & (at >= 0) & (at < n)
    return inside


@primitive
class scatter_planes:
    """Planes of extents ``size``: zeros, plus every value of ``x`` added at its flat position in its plane.

    ``windows`` (kernel, stride and padding in front, each per axis), if not empty, says that positions were chosen
    from such windows; it decides how sums are computed, never which.
    """

    batch = joint_batch("scatter_planes")

    def infer(x, indices, *, size, windows=()):
        require_kind("scatter_planes", indices, "i", "indices")
        x = tensor("scatter_planes", x)
        require_shape("scatter_planes", indices, x.shape, "indices")
        return x.with_shape((*x.shape[:2], *size))

    def reference(x, indices, *, size, windows=()):
        return _add_at(x, indices, size=size)

    def bprop(ins, out, dout, *, size, windows):
        return (lambda: gather_planes(dout, ins[1]), None)


@primitive
class gather_planes:
    """The elements of ``x`` at flat positions ``indices`` in each plane; the adjoint of `scatter_planes`."""

    layout = "any"
    batch = joint_batch("gather_planes")

    def infer(x, indices):
        require_kind("gather_planes", indices, "i", "indices")
        x = tensor("gather_planes", x)
        require_shape("gather_planes", indices, (*x.shape[:2], *indices.shape[2:]), "indices")
        return x.with_shape(tuple(indices.shape))

    def reference(x, indices):
        flat = x.reshape(*x.shape[:2], prod(x.shape[2:]))
        places = indices.reshape(*indices.shape[:2], prod(indices.shape[2:]))
        return np.take_along_axis(flat, places, axis=2).reshape(indices.shape)

    def bprop(ins, out, dout):
        return (lambda: scatter_planes(dout, ins[1], size=tuple(ins[0].shape[2:])), None)


@in_float32
def _add_at(x, indices, *, size):
    lead, plane = x.shape[:2], prod(size)
    offset = np.arange(prod(lead), dtype=np.int64).reshape(*lead, *(1,) * (indices.ndim - 2)) * plane
    places = (indices + offset).ravel()
    if x.dtype.kind == "f":  # bincount sums in float64, in order of position
        total = np.bincount(places, x.ravel(), prod(lead) * plane).astype(x.dtype)
    else:
        total = np.zeros(prod(lead) * plane, x.dtype)
        np.add.at(total, places, x.ravel())
    return total.reshape(*lead, *size)


@primitive
class adaptive_max_pool:
    """Maximum over ``output_size`` nearly equal windows per axis, and the flat positions of the maxima (int64)."""

    batch = merged_batch("adaptive_max_pool")

    def infer(x, *, output_size):
        x = require_kind("adaptive_max_pool", x, "if")
        if 0 in x.shape[2:] and 0 not in output_size:
            raise ValueError(f"For 'AdaptiveMaxPool', there is no maximum of an empty plane of shape {x.shape}.")
        shape = (*x.shape[:2], *output_size)
        return TupleType((TensorType(x.dtype, shape), TensorType(dt.int64, shape)))

    def reference(x, *, output_size):
        lead, size = x.shape[:2], x.shape[2:]
        values = np.empty((*lead, *output_size), x.dtype)
        where = np.empty((*lead, *output_size), np.int64)
        plane = np.arange(prod(size)).reshape(size)
        for cell in product(*map(range, output_size)):
            part = tuple(
                slice(i * n // o, -(-(i + 1) * n // o)) for i, n, o in zip(cell, size, output_size, strict=True)
            )
            block = np.ascontiguousarray(x[_in_planes(*part)]).reshape(*lead, -1)
            at = np.argmax(block, axis=2)
            values[_in_planes(*cell)] = np.take_along_axis(block, at[..., None], 2)[..., 0]
            where[_in_planes(*cell)] = plane[part].ravel()[at]
        return values, where

    def bprop(ins, out, dout, *, output_size):
        return (scatter_planes(dout[0], out[1], size=tuple(ins[0].shape[2:])),)


@primitive
class max_unpool:
    """Planes of extents ``size``: zeros, with every value of ``x`` put at its flat position (the last one stays)."""

    raises = True
    batch = joint_batch("max_unpool")

    def infer(x, indices, *, size):
        require_kind("max_unpool", indices, "i", "indices")
        x = tensor("max_unpool", x)
        require_shape("max_unpool", indices, x.shape, "indices")
        return x.with_shape((*x.shape[:2], *size))

    def reference(x, indices, *, size):
        lead, plane = x.shape[:2], prod(size)
        if indices.size and (indices.min() < 0 or indices.max() >= plane):
            raise ValueError(
                f"For 'MaxUnpool', the indices must be in [0, {plane}), but got {indices.min()} .. {indices.max()}."
            )
        out = np.zeros((*lead, plane), x.dtype)
        np.put_along_axis(out, indices.reshape(*lead, -1), x.reshape(*lead, -1), axis=2)
        return out.reshape(*lead, *size)

    def bprop(ins, out, dout, *, size):
        return (lambda: gather_planes(dout, ins[1]), None)


# ---- average --------------------------------------------------------------------------------------------------------


@primitive
class avg_pool:
    """The mean of each window.

    ``count_include_pad`` counts padding as zeros (what ``ceil_mode`` adds behind it is never counted); ``divisor``, if
    not 0, divides every sum instead of the number of elements.
    """

    batch = merged_batch("avg_pool")

    def infer(x, *, kernel, stride, padding, ceil_mode=False, count_include_pad=True, divisor=0):
        x = require_kind("avg_pool", x, "f")
        size = pooled_size("AvgPool", x, kernel, stride, padding, (1,) * len(kernel), ceil_mode)
        return x.with_shape((*x.shape[:2], *size))

    def reference(x, **how):
        return _mean_windows(x, **how)

    def bprop(ins, out, dout, **how):
        return (avg_pool_grad(dout, input_size=tuple(ins[0].shape[2:]), **how),)


@primitive
class avg_pool_grad:
    """The adjoint of `avg_pool` on an input of spatial extents ``input_size``."""

    batch = merged_batch("avg_pool_grad")

    def infer(dout, *, input_size, kernel, stride, padding, ceil_mode=False, count_include_pad=True, divisor=0):
        dout = require_kind("avg_pool_grad", dout, "f", "dout")
        return dout.with_shape((*dout.shape[:2], *input_size))

    def reference(dout, **how):
        return _spread_mean(dout, **how)

    def bprop(ins, out, dout, *, input_size, **how):
        return (avg_pool(dout, **how),)


def _counts(size, kernel, stride, padding, count, count_include_pad, divisor) -> Any:
    """What each window's sum is divided by, as an array over the positions."""
    if divisor:
        return np.float64(divisor)
    total = np.ones((), np.float64)
    for axis, (n, k, s, (a, b), c) in enumerate(zip(size, kernel, stride, padding, count, strict=True)):
        start = np.arange(c) * s - a
        low, high = (-a, n + b) if count_include_pad else (0, n)
        covered = np.minimum(start + k, high) - np.maximum(start, low)
        total = total * covered.reshape((c, *(1,) * (len(count) - axis - 1)))
    return total


@in_float32
def _mean_windows(x, *, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    size, ones = x.shape[2:], (1,) * len(kernel)
    count = [window_count(n, k, s, p, 1, ceil_mode) for n, k, s, p in zip(size, kernel, stride, padding, strict=True)]
    view = windows(pad_spatial(x, _reach(size, kernel, stride, padding, ones, count)), kernel, stride, ones)
    total = np.zeros((*x.shape[:2], *count), x.dtype)
    for tap in product(*map(range, kernel)):
        total += view[_in_planes(*tap)]
    return total / _counts(size, kernel, stride, padding, count, count_include_pad, divisor).astype(x.dtype)


@in_float32
def _spread_mean(dout, *, input_size, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    count = dout.shape[2:]
    part = dout / _counts(input_size, kernel, stride, padding, count, count_include_pad, divisor).astype(dout.dtype)
    full = [
        max(n + a + b, (c - 1) * s + k)
        for n, (a, b), c, s, k in zip(input_size, padding, count, stride, kernel, strict=True)
    ]
    total = np.zeros((*dout.shape[:2], *full), dout.dtype)
    parts = np.broadcast_to(
        part.reshape(*dout.shape[:2], *(1,) * len(kernel), *count), (*dout.shape[:2], *kernel, *count)
    )
    add_windows(total, parts, kernel, count, stride, (1,) * len(kernel))
    crop = tuple(slice(a, a + n) for n, (a, _) in zip(input_size, padding, strict=True))
    return np.ascontiguousarray(total[(slice(None), slice(None), *crop)])


def lp_pool(
    x: Any, norm_type: float, *, kernel: tuple[int, ...], stride: tuple[int, ...], ceil_mode: bool = False
) -> Any:
    """``(sum of x**norm_type)**(1 / norm_type)`` over each window."""
    powers = pow_(x, constant_like(x, norm_type))
    padding = ((0, 0),) * len(kernel)
    total = avg_pool(powers, kernel=kernel, stride=stride, padding=padding, ceil_mode=ceil_mode, divisor=1)
    return power_of_size(total, 1.0 / norm_type)
