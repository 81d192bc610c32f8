"""Slices, updates of slices, joins and padding.

Slices are tuples ``(start, stop, step)`` per axis, with Python's meaning (negative bounds count from the end, ``None``
is open). A slice is a view; writing through it is `slice_update`. The dynamic forms take start indices that are only
known at run time.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from duograph.core.dim import Extent, known_eq
from duograph.core.errors import user_error
from duograph.core.op import primitive
from duograph.core.shapes import show_shape, slice_length, taken_at_most, taken_equal, taken_equal_shapes
from duograph.core.types import TensorType

from .creation import stored, zeros_like
from .movement import broadcast_to, expand_dims, in_shape_of, squeeze
from .rules import batch_with, in_float32, same_dtype, tensor

_ALL = (None, None, None)


def _sliced_shape(shape, slices):
    if len(slices) > len(shape):
        raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
    sizes = [slice_length(n, *s) for n, s in zip(shape, slices, strict=False)]
    return (*sizes, *shape[len(slices) :])


def _index(slices):
    return tuple(slice(*s) for s in slices)


@primitive
class strided_slice:
    """``x[start:stop:step, ...]``, one entry of ``slices`` per axis (axes that are missing at the end are whole)."""

    view = True
    layout = "any"
    batch = batch_with("strided_slice", lambda size, rank, slices: {"slices": (_ALL, *slices)})

    def infer(x, *, slices):
        x = tensor("strided_slice", x)
        return x.with_shape(_sliced_shape(x.shape, slices))

    def reference(x, *, slices):
        return x[(*_index(slices), ...)]

    def strides(shape, strides, *, slices):
        steps = [1 if step is None else step for _, _, step in slices]
        return [n * step for n, step in zip(strides, steps, strict=False)] + list(strides[len(steps) :])

    def bprop(ins, out, dout, *, slices):
        return (slice_update(zeros_like(ins[0]), dout, slices=slices),)

    def write_view(base, value, *, slices):
        return slice_update(base, value, slices=slices)


@primitive
class slice_update:
    """``base`` with the part that ``slices`` name replaced by ``value``, which has exactly that shape."""

    layout = "any"

    def infer(base, value, *, slices):
        same_dtype("slice_update", base, value)
        part = _sliced_shape(base.shape, slices)
        if not taken_equal_shapes(part, value.shape):
            raise ValueError(f"slice_update: the slice has shape {part}, the value {tuple(value.shape)}.")
        return base

    def reference(base, value, *, slices):
        out = np.array(base, order="C")
        out[(*_index(slices), ...)] = value
        return out

    def bprop(ins, out, dout, *, slices):
        return (
            lambda: slice_update(dout, zeros_like(ins[1]), slices=slices),
            lambda: in_shape_of(strided_slice(dout, slices=slices), ins[1]),
        )

    def batch(in_axes, operands, *, slices):
        base, value = all_batched(in_axes, operands)
        return slice_update(base, value, slices=(_ALL, *slices)), 0


def all_batched(in_axes: Any, operands: Any) -> list[Any]:
    """The operands, each with a batch axis in front; those without one are repeated."""
    size = next(x.shape[0] for axis, x in zip(in_axes, operands, strict=True) if axis is not None)
    return [
        x if axis is not None else broadcast_to(expand_dims(x, 0), shape=(size, *x.shape))
        for axis, x in zip(in_axes, operands, strict=True)
    ]


# ---- start indices known at run time --------------------------------------------------------------------------------


@primitive
class dynamic_slice:
    """The block of ``sizes[i]`` elements from ``starts[i]`` (int scalars) along ``axes[i]``; negative starts wrap.

    Raises:
        IndexError: the block does not lie inside.
    """

    raises = True
    layout = "any"

    def infer(x, *starts, axes, sizes):
        x = tensor("dynamic_slice", x)
        shape = list(x.shape)
        for axis, size in zip(axes, sizes, strict=True):
            shape[axis] = size
        return x.with_shape(tuple(shape))

    def reference(x, *starts, axes, sizes):
        return np.array(x[_block(x.shape, starts, axes, sizes)], order="C")

    def bprop(ins, out, dout, *, axes, sizes):
        x, *starts = ins
        return (lambda: dynamic_update(zeros_like(x), dout, *starts, axes=axes), *[None] * len(starts))

    def batch(in_axes, operands, *, axes, sizes):
        x, *starts = operands
        return dynamic_slice(x, *starts, axes=tuple(a + 1 for a in axes), sizes=sizes), 0


@primitive
class dynamic_update:
    """``base`` with the block that begins at ``starts`` along ``axes`` replaced by ``value`` (same rank)."""

    raises = True
    layout = "any"

    def infer(base, value, *starts, axes):
        same_dtype("dynamic_update", base, value)
        return base

    def reference(base, value, *starts, axes):
        out = np.array(base, order="C")
        out[_block(base.shape, starts, axes, [value.shape[a] for a in axes])] = value
        return out

    def bprop(ins, out, dout, *, axes):
        _, value, *starts = ins
        sizes = tuple(value.shape[a] for a in axes)
        return (
            lambda: dynamic_update(dout, zeros_like(value), *starts, axes=axes),
            lambda: dynamic_slice(dout, *starts, axes=axes, sizes=sizes),
            *[None] * len(starts),
        )

    def batch(in_axes, operands, *, axes):
        base, value = all_batched(in_axes[:2], operands[:2])
        return dynamic_update(base, value, *operands[2:], axes=tuple(a + 1 for a in axes)), 0


def _block(shape, starts, axes, sizes):
    index = [slice(None)] * len(shape)
    for start, axis, size in zip(starts, axes, sizes, strict=True):
        first = start + shape[axis] if start < 0 else start
        if not 0 <= first <= shape[axis] - size:
            message = f"index {start} is out of bounds for dimension with size {shape[axis]}"
            raise user_error(IndexError, "DG0414", message, f"axis {axis} of {show_shape(shape)}")
        index[axis] = slice(first, first + size)
    return tuple(index)


# ---- joins ----------------------------------------------------------------------------------------------------------


@primitive
class concat:
    """The operands one after the other along ``axis``."""

    layout = "any"

    def infer(*xs, axis):
        if not xs:
            raise ValueError("For primitive[Concat], at least one tensor is needed.")
        dtype = same_dtype("concat", *xs)
        shapes = [tuple(x.shape) for x in xs]
        first = shapes[0]
        if any(len(s) != len(first) for s in shapes):
            message = f"For primitive[Concat], element rank must be same(shapes are {shapes})!"
            raise user_error(ValueError, "DG0416", message, f"concat({', '.join(map(str, xs))})")
        for s in shapes[1:]:
            for i, (a, b) in enumerate(zip(first, s, strict=True)):
                if i != axis and not taken_equal(a, b):
                    raise user_error(
                        ValueError,
                        "DG0417",
                        f"For primitive[Concat], shapes of tensors must match except in given concat axis {axis}, "
                        f"but got mismatch in {i}(all input shapes are {shapes})!",
                        f"concat({', '.join(map(str, xs))})",
                    )
        total = first[axis]
        for s in shapes[1:]:
            total = total + s[axis]
        return TensorType(dtype, (*first[:axis], total, *first[axis + 1 :]))

    def reference(*xs, axis):
        return np.concatenate(xs, axis)

    def bprop(ins, out, dout, *, axis):
        parts, start = [], 0
        for x in ins:
            stop = start + x.shape[axis]
            parts.append(lambda start=start, stop=stop: slice_axis(dout, axis, start, stop))
            start = stop
        return tuple(parts)

    def batch(in_axes, operands, *, axis):
        return concat(*all_batched(in_axes, operands), axis=axis + 1), 0


def slice_axis(x: Any, axis: int, start: Any, stop: Any, step: int = 1) -> Any:
    """``x[start:stop:step]`` along one axis."""
    return strided_slice(x, slices=((_ALL,) * axis) + ((start, stop, step),))


def stack(*xs: Any, axis: int) -> Any:
    """The operands along a new ``axis`` (not negative)."""
    return concat(*[expand_dims(x, axis) for x in xs], axis=axis)


def split(x: Any, sizes: tuple[Extent, ...], axis: int) -> tuple[Any, ...]:
    """Views of ``x`` of the given ``sizes``, one after the other along ``axis``."""
    parts = []
    start: Extent = 0
    for size in sizes:
        parts.append(slice_axis(x, axis, start, start + size))
        start = start + size
    return tuple(parts)


def unstack(x: Any, axis: int) -> tuple[Any, ...]:
    """The slices of ``x`` along ``axis`` (static size), without that axis."""
    return tuple(squeeze(slice_axis(x, axis, i, i + 1), (axis,)) for i in range(x.shape[axis]))


# ---- padding --------------------------------------------------------------------------------------------------------

_PAD_MODES: dict[str, Literal["constant", "reflect", "edge", "wrap"]] = {
    "constant": "constant",
    "reflect": "reflect",
    "replicate": "edge",
    "circular": "wrap",
}


def _shift_padding(size, rank, padding, **rest):
    return {"padding": ((0, 0), *padding), **rest}


@primitive
class pad:
    """``x`` with ``padding[i] = (before, after)`` elements more along axis ``i``.

    ``mode`` is ``constant`` (``value``), ``reflect`` (mirrored without the edge), ``replicate`` or ``circular``.
    Negative padding is for the public function to cut off.
    """

    layout = "any"
    batch = batch_with("pad", _shift_padding)

    def infer(x, *, padding, mode="constant", value=0):
        x = tensor("pad", x)
        if mode not in _PAD_MODES:
            raise ValueError(f"For 'Pad', mode must be one of {sorted(_PAD_MODES)}, but got {mode!r}.")
        stored(value, x.dtype)
        if len(padding) != x.ndim:
            raise ValueError(f"For 'Pad', padding {padding} must have one pair per axis of shape {x.shape}.")
        if any(isinstance(n, int) and n < 0 for pair in padding for n in pair):
            raise ValueError(f"For 'Pad', padding must not be negative, but got {padding}.")
        for n, (before, after) in zip(x.shape, padding, strict=True):
            limit = {"reflect": n - 1, "circular": n}.get(mode)
            if mode == "replicate":
                fits = known_eq(before + after, 0) or taken_at_most(1, n)
            else:
                fits = limit is None or (taken_at_most(before, limit) and taken_at_most(after, limit))
            if not fits:
                raise ValueError(
                    f"For 'Pad', padding {padding} is too large for shape {tuple(x.shape)} in mode {mode!r}."
                )
        return x.with_shape(tuple(n + before + after for n, (before, after) in zip(x.shape, padding, strict=True)))

    def reference(x, *, padding, mode, value):
        if mode == "constant":
            out = np.full([n + b + a for n, (b, a) in zip(x.shape, padding, strict=True)], value, x.dtype)
            out[tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, padding, strict=True))] = x
            return out
        return np.pad(x, padding, _PAD_MODES[mode])

    def bprop(ins, out, dout, *, padding, mode, value):
        (x,) = ins
        if mode != "constant":
            return (pad_adjoint(dout, padding=padding, mode=mode, shape=tuple(x.shape)),)
        inner = tuple((before, before + n, 1) for n, (before, _) in zip(x.shape, padding, strict=True))
        return (strided_slice(dout, slices=inner),)


@primitive
class pad_adjoint:
    """Adds every element of the padded ``dout`` to the element it was copied from; the gradient of `pad`."""

    def infer(dout, *, padding, mode, shape):
        return tensor("pad_adjoint", dout).with_shape(shape)

    def reference(dout, *, padding, mode, shape):
        return in_float32(_fold_padding)(dout, padding=padding, mode=mode, shape=shape)

    def bprop(ins, out, dout, *, padding, mode, shape):
        return (pad(dout, padding=padding, mode=mode),)

    def batch(in_axes, operands, *, padding, mode, shape):
        (dout,) = operands
        folded = pad_adjoint(dout, padding=((0, 0), *padding), mode=mode, shape=(dout.shape[0], *shape))
        return folded, 0


def _fold_padding(dout, *, padding, mode, shape):
    for axis, (pair, n) in enumerate(zip(padding, shape, strict=True)):
        if pair == (0, 0):
            continue
        source = np.pad(np.arange(n), pair, _PAD_MODES[mode])
        moved = np.moveaxis(dout, axis, 0)
        total = np.zeros((n, *moved.shape[1:]), dout.dtype)
        np.add.at(total, source, moved)
        dout = np.moveaxis(total, 0, axis)
    return np.array(dout, order="C")


__all__ = [
    "concat", "dynamic_slice", "dynamic_update", "pad", "pad_adjoint", "slice_axis", "slice_update", "split",
    "stack", "strided_slice", "unstack",
]  # fmt: skip
