"""Normalisations: mean, softmax and log_softmax as primitives (they are hot), the others as composites over ops.

Statistics are computed from centred values, so that a large mean does not eat the variance.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.core.launchable import launchable
from duograph.core.op import primitive
from duograph.core.shapes import normalize_axis, numel, taken_equal

from .arithmetic import abs_, add, div, maximum, mul, sub
from .cast import cast, in_single, single
from .creation import constant_like, full
from .movement import broadcast_to, reduce_sum, reshape
from .pool import avg_pool
from .power import pow_
from .rules import batch_with, in_float32, require_kind
from .scalar import dim_size, scalar_binary, scalar_tensor
from .stable import p_norm, root
from .unary import exp, rsqrt


def _shift_axis(size, rank, *, axis):
    return {"axis": axis + 1}


def _shift_axes(size, rank, *, axis, keep_dims):
    return {"axis": tuple(a + 1 for a in axis), "keep_dims": keep_dims}


def _shift_axis_tuple(size, rank, *, axis, **rest):
    return {"axis": tuple(a + 1 for a in axis), **rest}


@primitive
class reduce_mean:
    """Mean over ``axis`` (normalised tuple; the empty tuple: over nothing) of floating or complex ``x``."""

    batch = batch_with("reduce_mean", _shift_axes)

    def infer(x, *, axis, keep_dims=False):
        x = require_kind("reduce_mean", x, "fc")
        return x.with_shape(tuple(1 if i in axis else n for i, n in enumerate(x.shape) if keep_dims or i not in axis))

    def reference(x, *, axis, keep_dims):
        return _mean(x, axis=axis, keep_dims=keep_dims)

    def bprop(ins, out, dout, *, axis, keep_dims):
        (x,) = ins
        kept = tuple(1 if i in axis else n for i, n in enumerate(x.shape))
        wide = single(dout)  # float16 has no counts from 65520 on
        share = div(wide, count_along(x, axis, wide.dtype))
        share = cast(share, dtype=dout.dtype) if wide is not dout else share
        return (broadcast_to(reshape(share, shape=kept), shape=tuple(x.shape)),)


@in_float32
def _mean(x, *, axis, keep_dims):
    count = math.prod(x.shape[a] for a in axis)
    return np.true_divide(np.sum(x, axis=axis, keepdims=keep_dims), x.dtype.type(count))


def number_along(x: Any, axis: tuple[int, ...]) -> Any:
    """How many elements of ``x`` lie along ``axis``; a number of the graph where extents are only known at run time."""
    count = numel(x.shape[a] for a in axis)
    return count if isinstance(count, int) else functools.reduce(operator.mul, [dim_size(x, axis=a) for a in axis])


def count_along(x: Any, axis: tuple[int, ...], dtype: Any) -> Any:
    """`number_along` as a 0-d tensor."""
    count = number_along(x, axis)
    return full(shape=(), value=count, dtype=dtype) if isinstance(count, int) else scalar_tensor(count, dtype=dtype)


@primitive
class softmax:
    """``exp(x)`` divided by its sum along ``axis`` (counted from the front)."""

    batch = batch_with("softmax", _shift_axis)

    def infer(x, *, axis):
        x = require_kind("softmax", x, "f", "logits")
        normalize_axis(axis, x.ndim, "Softmax")
        return x

    def reference(x, *, axis):
        return _softmax(x, axis=axis)

    def bprop(ins, out, dout, *, axis):
        weighted = mul(out, dout)
        return (sub(weighted, mul(out, reduce_sum(weighted, axis=(axis,), keep_dims=True))),)


@primitive
class log_softmax:
    """Logarithm of `softmax`, accurate where that underflows."""

    batch = batch_with("log_softmax", _shift_axis)

    def infer(x, *, axis):
        x = require_kind("log_softmax", x, "f", "logits")
        normalize_axis(axis, x.ndim, "LogSoftmax")
        return x

    def reference(x, *, axis):
        return _log_softmax(x, axis=axis)

    def bprop(ins, out, dout, *, axis):
        return (sub(dout, mul(exp(out), reduce_sum(dout, axis=(axis,), keep_dims=True))),)


@primitive
class standardize:
    """``x`` with mean 0 and variance 1 over ``axis`` (normalised tuple), as layer normalisation has it.

    The variance is the biased one, of centred values; ``epsilon`` is added to it. Half types compute in float32.
    """

    batch = batch_with("standardize", _shift_axis_tuple)

    def infer(x, *, axis, epsilon):
        return require_kind("standardize", x, "f")

    def reference(x, *, axis, epsilon):
        return _standardize(x, axis=axis, epsilon=epsilon)

    def bprop(ins, out, dout, *, axis, epsilon):
        x, y, g = (single(t) for t in (ins[0], out, dout))
        centred, _, variance = moments(x, axis)
        total = sub(g, reduce_mean(g, axis=axis, keep_dims=True))
        total = sub(total, mul(y, reduce_mean(mul(g, y), axis=axis, keep_dims=True)))
        dx = mul(total, rsqrt(shifted(variance, epsilon)))
        return (dx if dx.dtype == dout.dtype else cast(dx, dtype=dout.dtype),)


@in_float32
def _standardize(x, *, axis, epsilon):
    centred = x - _mean(x, axis=axis, keep_dims=True)
    variance = _mean(centred * centred, axis=axis, keep_dims=True)
    return centred * (x.dtype.type(1) / np.sqrt(variance + x.dtype.type(epsilon)))


@in_float32
def _softmax(x, *, axis):
    if x.ndim == 0:
        return np.exp(x - x)
    e = np.exp(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))
    return e / np.sum(e, axis=axis, keepdims=True)


@in_float32
def _log_softmax(x, *, axis):
    if x.ndim == 0:
        return x - x
    shifted = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


# ---- statistics -----------------------------------------------------------------------------------------------------


def scaled(x: Any, factor: Any) -> Any:
    """``x`` times a number, which may be one of the graph."""
    return mul(x, constant_like(x, factor))


def shifted(x: Any, offset: Any) -> Any:
    """``x`` plus a number, which may be one of the graph."""
    return add(x, constant_like(x, offset))


def moments(x: Any, axis: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """Centred values, mean and (biased) variance over ``axis``; both statistics keep their axes."""
    mean = reduce_mean(x, axis=axis, keep_dims=True)
    centred = sub(x, mean)
    return centred, mean, reduce_mean(mul(centred, centred), axis=axis, keep_dims=True)


def _trailing_axes(x: Any, count: int) -> tuple[int, ...]:
    return tuple(range(len(x.shape) - count, len(x.shape)))


def _affine(x: Any, weight: Any, bias: Any) -> Any:
    x = x if weight is None else mul(x, weight)
    return x if bias is None else add(x, bias)


def layer_norm(x: Any, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """``x`` with mean 0 and variance 1 over its last axes (those of ``normalized_shape``), then scaled and shifted.

    Raises:
        ValueError: the last axes of ``x`` are not ``normalized_shape``.
    """
    return _affine(standardize(x, axis=_normalized_axes(x, normalized_shape), epsilon=float(eps)), weight, bias)


def _normalized_axes(x: Any, normalized_shape: Sequence[int]) -> tuple[int, ...]:
    shape = tuple(normalized_shape)
    if not shape or tuple(x.shape[len(x.shape) - len(shape) :]) != shape:
        raise ValueError(
            f"For 'LayerNorm', the last dimensions of the input must be normalized_shape {shape}, "
            f"but got an input of shape {tuple(x.shape)}."
        )
    return _trailing_axes(x, len(shape))


@in_single
def rms_norm(x: Any, weight: Any, eps: float = 1e-6) -> tuple[Any, Any]:
    """``x`` divided by its root mean square over the axes of ``weight``, times ``weight``; and the reciprocal root."""
    axes = _trailing_axes(x, len(weight.shape))
    rstd = rsqrt(shifted(reduce_mean(mul(x, x), axis=axes, keep_dims=True), eps))
    return mul(mul(x, rstd), weight), rstd


def _per_channel(x: Any, t: Any) -> Any:
    """A vector of one number per channel, as a tensor that broadcasts against ``x`` (N, C, ...)."""
    return reshape(t, shape=(1, t.shape[0], *(1,) * (len(x.shape) - 2)))


def _check_channels(x: Any, vector: Any) -> None:
    if vector is not None and not taken_equal(x.shape[1], vector.shape[0]):
        raise ValueError(
            f"For BatchNorm, scale.shape[0] should be equal to input_x's channel dimension: {x.shape[1]}, "
            f"but got scale.shape[0]: {vector.shape[0]}."
        )


@launchable
def batch_norm_inference(x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float = 1e-5) -> Any:
    """``x`` (N, C, ...) normalised by given statistics per channel."""
    _check_channels(x, mean)
    scale = rsqrt(shifted(variance, eps))
    if weight is not None:
        scale = mul(scale, weight)
    out = mul(sub(x, _per_channel(x, mean)), _per_channel(x, scale))
    return out if bias is None else add(out, _per_channel(x, bias))


@launchable
@in_single
def batch_norm_training(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> tuple[Any, Any, Any]:
    """``x`` (N, C, ...) normalised by its own statistics per channel; also the batch mean and biased variance (C,)."""
    _check_channels(x, weight)
    axes = (0, *range(2, len(x.shape)))
    centred, mean, variance = moments(x, axes)
    out = mul(centred, rsqrt(shifted(variance, eps)))
    weight = None if weight is None else _per_channel(x, weight)
    bias = None if bias is None else _per_channel(x, bias)
    channels = (x.shape[1],)
    return _affine(out, weight, bias), reshape(mean, shape=channels), reshape(variance, shape=channels)


def unbiased_variance(variance: Any, x: Any) -> Any:
    """The unbiased variance per channel of ``x`` (N, C, ...), of the biased one."""
    count = number_along(x, (0, *range(2, len(x.shape))))
    if isinstance(count, int):
        return scaled(variance, count / (count - 1)) if count > 1 else variance
    return mul(variance, scalar_tensor(count / scalar_binary(count - 1, 1, fn="max"), dtype=variance.dtype))


@launchable
def group_norm(x: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """``x`` (N, C, ...) normalised within groups of channels, then scaled and shifted per channel.

    Raises:
        ValueError: the channels do not divide into the groups.
    """
    n, c, *rest = x.shape
    if num_groups < 1 or c % num_groups:
        raise ValueError(f"For 'GroupNorm', the channels {c} must be divisible by num_groups {num_groups}.")
    grouped = reshape(x, shape=(n, num_groups, c // num_groups, *rest))
    out = standardize(grouped, axis=tuple(range(2, len(x.shape) + 1)), epsilon=float(eps))
    out = reshape(out, shape=tuple(x.shape))
    weight = None if weight is None else _per_channel(x, weight)
    return _affine(out, weight, None if bias is None else _per_channel(x, bias))


@launchable
def instance_norm(x: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """``x`` (N, C, *size) normalised over the spatial axes of each sample and channel."""
    out = standardize(x, axis=tuple(range(2, len(x.shape))), epsilon=float(eps))
    weight = None if weight is None else _per_channel(x, weight)
    bias = None if bias is None else _per_channel(x, bias)
    return _affine(out, weight, bias)


# ---- norms and clipping ---------------------------------------------------------------------------------------------


@in_single
def l2_normalize(x: Any, axis: int | tuple[int, ...] = 0, epsilon: float = 1e-12) -> Any:
    """``x / sqrt(max(sum(x*x), epsilon))`` over ``axis``."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(normalize_axis(a, len(x.shape), "L2Normalize") for a in axes)
    total = reduce_sum(mul(x, x), axis=axes, keep_dims=True)
    return mul(x, rsqrt(maximum(total, constant_like(total, epsilon))))


def global_norm(tensors: Sequence[Any]) -> Any:
    """The 2-norm of all elements of all tensors (one dtype)."""
    total = None
    for t in tensors:
        part = reduce_sum(mul(t, t), axis=tuple(range(len(t.shape))), keep_dims=False) if t.shape else mul(t, t)
        total = part if total is None else add(total, part)
    return root(total)


def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0, axis: tuple[int, ...] | None = None) -> Any:
    """``x`` scaled down so that its norm over ``axis`` (default: all) is at most ``max_norm``."""
    axes = tuple(range(len(x.shape))) if axis is None else axis
    norm = p_norm(x, norm_type, axes, True) if axes else abs_(x)
    limit = constant_like(x, max_norm)
    return div(mul(x, limit), maximum(norm, limit))


def clip_by_global_norm(tensors: Sequence[Any], clip_norm: float) -> list[Any]:
    """All tensors scaled by one factor so that their joint 2-norm is at most ``clip_norm``."""
    norm = global_norm(tensors)
    limit = constant_like(norm, clip_norm)
    divisor = maximum(norm, limit)
    return [div(mul(t, limit), divisor) for t in tensors]


def lrn(x: Any, depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5) -> Any:
    """Local response normalisation over the channels of ``x`` (N, C, H, W)."""
    n, c, h, w = x.shape
    if isinstance(c, int) and depth_radius > c:
        depth_radius = c  # there is nothing further away
    squares = reshape(mul(x, x), shape=(n, 1, c, h * w))
    total = avg_pool(
        squares,
        kernel=(2 * depth_radius + 1, 1),
        stride=(1, 1),
        padding=((depth_radius, depth_radius), (0, 0)),
        divisor=1,
    )
    denominator = shifted(scaled(reshape(total, shape=(n, c, h, w)), alpha), bias)
    return mul(x, pow_(denominator, constant_like(x, -beta)))
