"""Convolution over any number of spatial axes, in the layout (batch, channels, *spatial).

One bilinear map, three primitives: the map itself and its adjoints in the input and in the weight. Each one's gradients
are the two others, so gradients of any order exist. The kernels copy windows into a matrix and multiply (im2col).
Extents are ints here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from operator import index
from typing import Any

import numpy as np

from duograph.core.op import get_op, primitive
from duograph.core.shapes import conv_output_size, same_padding, taken_at_most, taken_equal
from duograph.core.types import TensorType

from .arithmetic import add
from .movement import reshape, squeeze
from .rules import in_float32, require_kind, require_shape, same_dtype
from .slices import slice_axis, stack


def merged_batch(op: Any) -> Any:
    """Batch rule: a batch of the first operand alone joins its axis 0; otherwise one call per element."""

    def batch(in_axes: Any, operands: Any, **attrs: Any) -> Any:
        x, *rest = operands
        if any(axis is not None for axis in in_axes[1:]):
            return looped_batch(op, in_axes, operands, attrs)
        size, n = x.shape[:2]
        out = get_op(op)(reshape(x, shape=(size * n, *x.shape[2:])), *rest, **attrs)
        outs = out if isinstance(out, tuple) else (out,)
        split = tuple(reshape(o, shape=(size, n, *o.shape[1:])) for o in outs)
        return (split, (0,) * len(split)) if isinstance(out, tuple) else (split[0], 0)

    return batch


def looped_batch(op: str, in_axes: Any, operands: Any, attrs: dict[str, Any]) -> Any:
    """Batch rule of the last resort: the op on every element of the batch, stacked."""
    size = next(x.shape[0] for axis, x in zip(in_axes, operands, strict=True) if axis is not None)
    calls = []
    for i in range(size):
        each = [
            x if axis is None else squeeze(slice_axis(x, 0, i, i + 1), (0,))
            for axis, x in zip(in_axes, operands, strict=True)
        ]
        calls.append(get_op(op)(*each, **attrs))
    if isinstance(calls[0], tuple):
        parts = tuple(stack(*part, axis=0) for part in zip(*calls, strict=True))
        return parts, (0,) * len(parts)
    return stack(*calls, axis=0), 0


@primitive
class conv:
    """Cross-correlation of ``x`` (N, C, *size) with ``w`` (O, C / groups, *kernel).

    ``stride`` and ``dilation`` hold one int per spatial axis, ``padding`` a (front, back) pair.
    """

    batch = merged_batch("conv")

    def infer(x, w, *, stride, padding, dilation, groups=1):
        dtype = same_dtype("conv", require_kind("conv", x, "ifc"), w)
        _check_operands(x, w, groups)
        size = tuple(
            conv_output_size(n, k, s, p, d)
            for n, k, s, p, d in zip(x.shape[2:], w.shape[2:], stride, padding, dilation, strict=True)
        )
        if not all(taken_at_most(1, n) for n in size):
            raise ValueError(
                f"For 'Conv{x.ndim - 2}d', input shape's h and w after padding must be greater than or equal to "
                f"kernel_size's h and w respectively: the kernel {tuple(w.shape[2:])} (dilation {dilation}) does not "
                f"fit into the input {tuple(x.shape[2:])} padded by {padding}."
            )
        return TensorType(dtype, (x.shape[0], w.shape[0], *size))

    def reference(x, w, *, stride, padding, dilation, groups):
        return _convolve(x, w, stride=stride, padding=padding, dilation=dilation, groups=groups)

    def bprop(ins, out, dout, **how):
        x, w = ins
        return (
            lambda: conv_input_grad(dout, w, input_size=tuple(x.shape[2:]), **how),
            lambda: conv_weight_grad(x, dout, kernel_size=tuple(w.shape[2:]), **how),
        )


@primitive
class conv_input_grad:
    """The adjoint of `conv` in its input of spatial size ``input_size``; also the transposed convolution."""

    batch = merged_batch("conv_input_grad")

    def infer(dout, w, *, input_size, stride, padding, dilation, groups=1):
        dtype = same_dtype("conv_input_grad", require_kind("conv_input_grad", dout, "ifc", "dout"), w)
        _check_channels(dout, w.shape[0], w.ndim, groups)
        for extent in (*w.shape[2:], *(front for front, _ in padding)):
            index(extent)  # raises if unknown: which taps a stride phase has is what the kernel is made of
        for n, m, *how in zip(input_size, dout.shape[2:], w.shape[2:], stride, padding, dilation, strict=True):
            if not taken_at_most(m, conv_output_size(n, *how)):
                raise ValueError(
                    f"For 'Conv{w.ndim - 2}DTranspose', an output of size {tuple(input_size)} has no room for inputs "
                    f"of size {tuple(dout.shape[2:])} with a kernel of {tuple(w.shape[2:])}."
                )
        return TensorType(dtype, (dout.shape[0], w.shape[1] * groups, *input_size))

    def reference(dout, w, *, input_size, stride, padding, dilation, groups):
        return _spread(dout, w, input_size=input_size, stride=stride, padding=padding, dilation=dilation, groups=groups)

    def bprop(ins, out, dout, *, input_size, **how):
        d, w = ins
        return (
            lambda: conv(dout, w, **how),
            lambda: conv_weight_grad(dout, d, kernel_size=tuple(w.shape[2:]), **how),
        )


@primitive
class conv_weight_grad:
    """The adjoint of `conv` in its weight of spatial size ``kernel_size``."""

    def batch(in_axes, operands, **attrs):
        return looped_batch("conv_weight_grad", in_axes, operands, attrs)

    def infer(x, dout, *, kernel_size, stride, padding, dilation, groups=1):
        dtype = same_dtype("conv_weight_grad", require_kind("conv_weight_grad", x, "ifc"), dout)
        require_shape("conv_weight_grad", dout, (x.shape[0], *dout.shape[1:]), "dout")
        _check_channels(x, x.shape[1], dout.ndim, groups)
        return TensorType(dtype, (dout.shape[1], x.shape[1] // groups, *kernel_size))

    def reference(x, dout, *, kernel_size, stride, padding, dilation, groups):
        return _correlate(
            x, dout, kernel_size=kernel_size, stride=stride, padding=padding, dilation=dilation, groups=groups
        )

    def bprop(ins, out, dout, *, kernel_size, **how):
        x, d = ins
        return (
            lambda: conv_input_grad(d, dout, input_size=tuple(x.shape[2:]), **how),
            lambda: conv(x, dout, **how),
        )


def _check_operands(x: TensorType, w: TensorType, groups: int) -> None:
    rank = x.ndim - 2
    if rank < 1 or w.ndim != x.ndim:
        raise ValueError(
            f"For 'Conv{max(rank, 1)}D', input and weight must have the same number of dimensions, at least 3, but got "
            f"shapes {tuple(x.shape)} and {tuple(w.shape)}."
        )
    if not taken_equal(x.shape[1], w.shape[1] * groups):
        raise RuntimeError(
            f"For 'Conv{rank}D', 'C_in' of input 'x' shape divide by parameter 'group' must be equal to 'C_in' of "
            f"input 'weight' shape: {w.shape[1]}, but got 'C_in' of input 'x' shape: {x.shape[1]}, "
            f"and 'group': {groups}."
        )
    if not taken_equal(w.shape[0] % groups, 0):
        raise ValueError(
            f"For 'Conv{rank}D', the output channels {w.shape[0]} must be divisible by the groups {groups}."
        )


def _check_channels(x: TensorType, channels: Any, ndim: int, groups: int) -> None:
    """That a transposed convolution (or what belongs to one) can read ``x``."""
    rank = x.ndim - 2
    if rank < 1 or ndim != x.ndim:
        raise ValueError(
            f"For 'Conv{max(rank, 1)}DTranspose', input and weight must have the same number of dimensions, at least "
            f"3, but got {x.ndim} and {ndim}."
        )
    if not taken_equal(channels % groups, 0) or not taken_equal(x.shape[1], channels):
        raise ValueError(
            f"For 'Conv{rank}DTranspose', the input must have {channels} channels, as the weight, divisible by the "
            f"groups {groups}, but got shape {tuple(x.shape)}."
        )


# ---- kernels --------------------------------------------------------------------------------------------------------


def pad_spatial(x: Any, padding: Any, value: Any = 0) -> Any:
    """``x`` with its trailing axes padded by ``value``; negative padding crops."""
    if any(p < 0 for pair in padding for p in pair):
        lead = x.ndim - len(padding)
        crop = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(padding, x.shape[lead:], strict=True))
        x = x[(slice(None),) * lead + crop]
        padding = tuple((max(a, 0), max(b, 0)) for a, b in padding)
    if not any(p for pair in padding for p in pair):
        return np.ascontiguousarray(x)
    lead = x.ndim - len(padding)
    shape = (*x.shape[:lead], *[n + a + b for n, (a, b) in zip(x.shape[lead:], padding, strict=True)])
    out = np.full(shape, value, x.dtype)
    inside = tuple(slice(a, a + n) for n, (a, _) in zip(x.shape[lead:], padding, strict=True))
    out[(slice(None),) * lead + inside] = x
    return out


def windows(x: np.ndarray, kernel: Any, stride: Any, dilation: Any) -> np.ndarray:
    """A view of (lead, lead, *size): every window of ``x``, of shape (lead, lead, *kernel, *positions)."""
    rank = len(kernel)
    sizes = x.shape[-rank:]
    count = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(sizes, kernel, stride, dilation, strict=True)]
    steps = x.strides[-rank:]
    return np.lib.stride_tricks.as_strided(
        x,
        (*x.shape[:-rank], *kernel, *count),
        (
            *x.strides[:-rank],
            *[t * d for t, d in zip(steps, dilation, strict=True)],
            *[t * s for t, s in zip(steps, stride, strict=True)],
        ),
        writeable=False,
    )


def _columns(x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> tuple[Any, Any]:
    """All windows as matrices (N, groups, C / groups * taps, positions), and the extents of the positions."""
    view = windows(pad_spatial(x, padding), kernel, stride, dilation)
    positions = view.shape[2 + len(kernel) :]
    n, c = x.shape[:2]
    shape = (n, groups, c // groups * prod(kernel), prod(positions))
    return np.ascontiguousarray(view.reshape(shape)), positions


@in_float32
def _convolve(x, w, *, stride, padding, dilation, groups):
    columns, positions = _columns(x, w.shape[2:], stride, padding, dilation, groups)
    n, o = x.shape[0], w.shape[0]
    weight = w.reshape(groups, o // groups, prod(w.shape[1:]))
    return np.matmul(weight, columns).reshape(n, o, *positions)


@in_float32
def _spread(dout, w, *, input_size, stride, padding, dilation, groups):
    n, o, *positions = dout.shape
    kernel, per_group = w.shape[2:], w.shape[1]
    weight = w.reshape(groups, o // groups, per_group * prod(kernel))
    weight = np.ascontiguousarray(weight.transpose(0, 2, 1))
    columns = np.matmul(weight, dout.reshape(n, groups, o // groups, prod(positions)))
    columns = columns.reshape(n, groups * per_group, *kernel, *positions)
    padded = [size + a + b for size, (a, b) in zip(input_size, padding, strict=True)]
    reach = [d * (k - 1) + (p - 1) * s + 1 for k, d, p, s in zip(kernel, dilation, positions, stride, strict=True)]
    total = np.zeros((n, groups * per_group, *map(max, padded, reach)), columns.dtype)
    add_windows(total, columns, kernel, positions, stride, dilation)
    border = [(-a, a + n - have) for n, (a, _), have in zip(input_size, padding, total.shape[2:], strict=True)]
    return pad_spatial(total, border)


def add_windows(total: Any, parts: Any, kernel: Any, positions: Any, stride: Any, dilation: Any) -> None:
    """Adds windows (lead, lead, *kernel, *positions) into ``total`` at their places, tap by tap in C order."""
    for tap in product(*map(range, kernel)):
        places = tuple(
            slice(t * d, t * d + (p - 1) * s + 1, s)
            for t, d, p, s in zip(tap, dilation, positions, stride, strict=True)
        )
        total[(slice(None), slice(None), *places)] += parts[(slice(None), slice(None), *tap)]


@in_float32
def _correlate(x, dout, *, kernel_size, stride, padding, dilation, groups):
    n, o, *positions = dout.shape
    size = [(p - 1) * s + d * (k - 1) + 1 for p, s, d, k in zip(positions, stride, dilation, kernel_size, strict=True)]
    # positions may be fewer than fit (floor division); the windows used are those that dout has
    fitted = tuple((a, need - have - a) for (a, _), need, have in zip(padding, size, x.shape[2:], strict=True))
    columns, _ = _columns(x, kernel_size, stride, fitted, dilation, groups)
    parts = dout.reshape(n, groups, o // groups, prod(positions))
    total = np.zeros((groups, o // groups, columns.shape[2]), columns.dtype)
    for part, column in zip(parts, columns, strict=True):  # one sample after the other
        total += np.matmul(part, column.transpose(0, 2, 1))
    return total.reshape(o, x.shape[1] // groups, *kernel_size)


# ---- what users say, resolved ---------------------------------------------------------------------------------------


def resolve_padding(
    pad_mode: str,
    padding: Any,
    size: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    op: str = "Conv2D",
) -> tuple[tuple[int, int], ...]:
    """(front, back) padding per spatial axis.

    Args:
        pad_mode: ``"same"`` (the output has ceil(size / stride) positions, the odd element is padded behind),
            ``"valid"`` (none), or ``"pad"`` (what ``padding`` says).
        padding: an int, one int per axis, or two per axis (front, back, front, back ...).
        size: spatial extents of the input.
        kernel: extents of the kernel.
        stride: stride per axis.
        dilation: dilation per axis.
        op: name for messages.

    Raises:
        ValueError: unknown mode, padding without ``"pad"``, negative or ill-shaped padding.
    """
    rank = len(kernel)
    mode = pad_mode.lower() if isinstance(pad_mode, str) else pad_mode
    if mode not in ("valid", "same", "pad"):
        raise ValueError(
            f"For '{op}', the 'pad_mode' must be str and must be in '['valid', 'same', 'pad']', but got '{pad_mode}'."
        )
    given = (padding,) * rank if isinstance(padding, int) else tuple(padding)
    if mode != "pad":
        if any(given):
            raise ValueError(
                f"For '{op}', the 'pad' must be zero when 'pad_mode' is not 'pad', "
                f"but got 'pad': {padding} and 'pad_mode': {pad_mode}."
            )
        if mode == "valid":
            return ((0, 0),) * rank
        return tuple(same_padding(n, k, s, d) for n, k, s, d in zip(size, kernel, stride, dilation, strict=True))  # type: ignore[misc]
    if len(given) == 1:
        given = given * rank
    if any(p < 0 for p in given):
        raise ValueError(f"For '{op}', the 'padding' must be greater than or equal to 0, but got {padding}.")
    if len(given) == rank:
        return tuple((p, p) for p in given)
    if len(given) == 2 * rank:
        return tuple((given[2 * i], given[2 * i + 1]) for i in range(rank))
    raise ValueError(
        f"For '{op}', the 'padding' must be an int or a tuple of {rank} or {2 * rank} ints, but got {padding}."
    )


def conv_transpose(
    x: Any,
    w: Any,
    *,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    groups: int = 1,
    output_padding: tuple[int, ...] | None = None,
) -> Any:
    """Transposed convolution of ``x`` (N, C, *size) with ``w`` (C, O / groups, *kernel).

    The output extent is ``(size - 1) * stride - front - back + dilation * (kernel - 1) + output_padding + 1``.
    """
    extra = output_padding or (0,) * len(stride)
    size = tuple(
        (n - 1) * s - a - b + d * (k - 1) + e + 1
        for n, s, (a, b), d, k, e in zip(x.shape[2:], stride, padding, dilation, w.shape[2:], extra, strict=True)
    )
    if not all(taken_at_most(1, n) for n in size):
        raise ValueError(f"For 'ConvTranspose', the output extents {size} must be positive.")
    return conv_input_grad(x, w, input_size=size, stride=stride, padding=padding, dilation=dilation, groups=groups)


def add_bias(x: Any, bias: Any) -> Any:
    """``x`` (N, C, *size) plus one number per channel."""
    return add(x, reshape(bias, shape=(1, bias.shape[0], *(1,) * (len(x.shape) - 2))))
