"""Operators of shapes, of making tensors and of indices in ONNX's."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import numpy as np

from duograph.core.dim import Dim
from duograph.ir.node import Apply

from .registry import number, operator, type_of
from .schema import DTYPES
from .writer import NoForm, Writer, dtype_of

# ---- shapes ----------------------------------------------------------------------------------------------------------


@operator("reshape")
def _reshape(w: Writer, node: Apply, x: str, *, shape: Any) -> str:
    return w.reshape(x, shape)


@operator("transpose")
def _transpose(w: Writer, node: Apply, x: str, *, perm: Any) -> str:
    return w.op("Transpose", x, perm=list(perm))


@operator("broadcast_to")
def _broadcast_to(w: Writer, node: Apply, x: str, *, shape: Any) -> str:
    return w.op("Expand", x, w.shape(shape))


@operator("tile")
def _tile(w: Writer, node: Apply, x: str, *, multiples: Any) -> str:
    rank = len(node.operands[0].shape)
    if len(multiples) > rank:
        x = w.reshape(x, (*(1,) * (len(multiples) - rank), *node.operands[0].shape))
    return w.op("Tile", x, w.shape((*(1,) * (rank - len(multiples)), *multiples)))


@operator("flip")
def _flip(w: Writer, node: Apply, x: str, *, axes: Any) -> str:
    count = len(axes)
    far = -(2**62)
    return w.op("Slice", x, w.ints(*[-1] * count), w.ints(*[far] * count), w.ints(*axes), w.ints(*[-1] * count))


def _slice(w: Writer, x: str, axis: int, start: int, stop: int, step: int = 1) -> str:
    return w.op("Slice", x, w.ints(start), w.ints(stop), w.ints(axis), w.ints(step))


@operator("roll")
def _roll(w: Writer, node: Apply, x: str, *, shifts: Any, axes: Any) -> str:
    for shift, axis in zip(shifts, axes):
        size = node.operands[0].shape[axis]
        if not isinstance(size, int) or not isinstance(shift, int):
            raise NoForm("it shifts along an axis whose size is not known")
        if size and shift % size:
            cut = size - shift % size
            x = w.op("Concat", _slice(w, x, axis, cut, size), _slice(w, x, axis, 0, cut), axis=axis)
    return x


_END = 2**62


@operator("strided_slice")
def _strided_slice(w: Writer, node: Apply, x: str, *, slices: Any) -> str:
    parts = [(axis, *bounds) for axis, bounds in enumerate(slices) if bounds != (None, None, None)]
    if not parts:
        return x
    axes, starts, stops, steps = [], [], [], []
    for axis, start, stop, step in parts:
        step = 1 if step is None else step
        axes.append(axis)
        steps.append(step)
        starts.append((0 if step > 0 else _END) if start is None else start)
        stops.append((_END if step > 0 else -_END) if stop is None else stop)
    return w.op("Slice", x, w.shape(starts), w.shape(stops), w.ints(*axes), w.shape(steps))


def _block(w: Writer, start: str, length: Any, size: Any) -> tuple[str, str]:
    """Where ``size`` places that begin at ``start`` of ``length`` lie; a negative start counts from the end."""
    zero, one = w.constant(np.int64(0)), w.ints(1)
    start = w.op("Where", w.op("Less", start, zero), w.op("Add", start, w.size(length)), start)
    return w.op("Reshape", start, one), w.op("Reshape", w.op("Add", start, w.size(size)), one)


@operator("dynamic_slice")
def _dynamic_slice(w: Writer, node: Apply, x: str, *starts: str, axes: Any, sizes: Any) -> str:
    shape = node.operands[0].shape
    blocks = [_block(w, start, shape[axis], size) for axis, size, start in zip(axes, sizes, starts)]
    joined = [w.op("Concat", *names, axis=0) for names in zip(*blocks)]
    return w.op("Slice", x, *joined, w.ints(*axes))


@operator("dynamic_update")
def _dynamic_update(w: Writer, node: Apply, x: str, value: str, *starts: str, axes: Any) -> str:
    shape, part = node.operands[0].shape, node.operands[1].shape
    extents = [part[axis] if axis in axes else n for axis, n in enumerate(shape)]
    if list(part) != extents:
        value = w.op("Expand", value, w.shape(extents))

    def updated(x: str, left: list[tuple[int, str]]) -> str:
        (axis, start), *inner = left
        begin, end = _block(w, start, shape[axis], part[axis])
        along = w.ints(axis)
        middle = updated(w.op("Slice", x, begin, end, along), inner) if inner else value
        before, after = w.op("Slice", x, w.ints(0), begin, along), w.op("Slice", x, end, w.ints(_END), along)
        return w.op("Concat", before, middle, after, axis=axis)

    return updated(x, list(zip(axes, starts)))


@operator("range_slice")
def _range_slice(w: Writer, node: Apply, x: str, start: str, stop: str, *, axis: int, step: int) -> str:
    bounds = [w.op("Reshape", name, w.ints(1)) for name in (start, stop)]
    return w.op("Slice", x, *bounds, w.ints(axis), w.ints(step))


@operator("concat")
def _concat(w: Writer, node: Apply, *xs: str, axis: int) -> str:
    return w.op("Concat", *xs, axis=axis)


@operator("pad")
def _pad(w: Writer, node: Apply, x: str, *, padding: Any, mode: str, value: Any) -> str:
    kinds = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "edge": "edge"}
    if mode not in kinds:
        raise NoForm(f"padding of the mode {mode!r} has no ONNX form")
    pads = w.shape([*(front for front, _ in padding), *(back for _, back in padding)])
    given = (number(w, node, value),) if mode == "constant" else ()
    return w.op("Pad", x, pads, *given, mode=kinds[mode])


@operator("tril", "triu")
def _triangle(w: Writer, node: Apply, x: str, *, diagonal: int) -> str:
    return w.op("Trilu", x, w.constant(np.int64(diagonal)), upper=int(node.op.name == "triu"))


# ---- making ----------------------------------------------------------------------------------------------------------


@operator("full")
def _full(w: Writer, node: Apply, *, shape: Any, value: Any, dtype: Any) -> str:
    if isinstance(value, Dim):
        number = w.cast(w.size(value), dtype_of(node.type))
        return w.op("Expand", number, w.shape(shape)) if shape else number
    element = np.array(value).astype(dtype_of(node.type))
    if not shape:
        return w.constant(element)
    return w.op("ConstantOfShape", w.shape(shape), value=element.reshape(1))


@operator("arange")
def _arange(w: Writer, node: Apply, *, start: Any, step: Any, size: Any, dtype: Any) -> str:
    made = dtype_of(node.type)
    if made.kind not in "fiu":
        raise NoForm(f"a range of {made} has no ONNX form")
    steps = w.op("Range", w.constant(np.int64(0)), w.size(size), w.constant(np.int64(1)))
    scaled = w.op("Mul", w.cast(steps, made), w.constant(np.array(step, made)))
    return w.op("Add", scaled, w.constant(np.array(start, made)))


@operator("iota")
def _iota(w: Writer, node: Apply, *, shape: Any, axis: int, dtype: Any) -> str:
    steps = w.op("Range", w.constant(np.int64(0)), w.size(shape[axis]), w.constant(np.int64(1)))
    placed = w.reshape(w.cast(steps, dtype_of(node.type)), [n if i == axis else 1 for i, n in enumerate(shape)])
    return w.op("Expand", placed, w.shape(shape))


@operator("one_hot")
def _one_hot(w: Writer, node: Apply, x: str, *, depth: Any, dtype: Any) -> str:
    """By comparing: ``OneHot`` counts negative indices from the end."""
    wide = x if type_of(node) == np.int64 else w.cast(x, np.int64)
    column = w.op("Unsqueeze", wide, w.ints(-1))
    steps = w.op("Range", w.constant(np.int64(0)), w.size(depth), w.constant(np.int64(1)))
    return w.cast(w.op("Equal", column, steps), dtype_of(node.type))


# ---- by indices ------------------------------------------------------------------------------------------------------


@operator("gather")
def _gather(w: Writer, node: Apply, x: str, indices: str, *, axis: int) -> str:
    return w.op("Gather", x, _index(w, node, indices), axis=axis)


def _index(w: Writer, node: Apply, name: str) -> str:
    return name if type_of(node, 1) in (np.int32, np.int64) else w.cast(name, np.int64)


@operator("advanced_get")
def _advanced_get(w: Writer, node: Apply, x: str, *indices: str, spec: tuple[Any, ...]) -> str:
    """``x[:, i]``; ``x[i, j]`` takes the elements that indices of one shape name."""
    places = [axis for axis, entry in enumerate(spec) if entry == "index"]
    whole = all(entry == "index" or (isinstance(entry, tuple) and entry in _WHOLE) for entry in spec)
    if not whole or (len(places) > 1 and places != [*range(len(places))]):
        raise NoForm("an index of tensors besides numbers, new axes or parts, or of tensors behind slices")
    if len(indices) == 1:
        return w.op("Gather", x, _index(w, node, indices[0]), axis=places[0])
    found = [w.cast(index, np.int64) for index in indices]
    zeros = w.op("Mul", reduce(partial(w.op, "Add"), found), w.constant(np.int64(0)))  # of the shape that all have
    last = w.constant(np.array([-1]))
    return w.op(
        "GatherND", x, w.op("Concat", *(w.op("Unsqueeze", w.op("Add", i, zeros), last) for i in found), axis=-1)
    )


_WHOLE = ((None, None, None), (None, None, 1), (0, None, None), (0, None, 1))


@operator("gather_elements")
def _gather_elements(w: Writer, node: Apply, x: str, indices: str, *, axis: int, **how: Any) -> str:
    return w.op("GatherElements", x, _index(w, node, indices), axis=axis)


@operator("gather_nd")
def _gather_nd(w: Writer, node: Apply, x: str, indices: str) -> str:
    return w.op("GatherND", x, w.cast(indices, np.int64))


_SCATTERS = {"none": "none", "update": "none", "add": "add", "mul": "mul", "max": "max", "min": "min"}


@operator("scatter_elements")
def _scatter_elements(w: Writer, node: Apply, x: str, indices: str, updates: str, *, axis: int, reduction: str) -> str:
    if reduction not in _SCATTERS:
        raise NoForm(f"scattering by {reduction!r} has no ONNX form")
    return w.op("ScatterElements", x, _index(w, node, indices), updates, axis=axis, reduction=_SCATTERS[reduction])


@operator("scatter_nd_update")
def _scatter_nd_update(w: Writer, node: Apply, x: str, indices: str, updates: str, *, reduction: str) -> str:
    if reduction not in _SCATTERS:
        raise NoForm(f"scattering by {reduction!r} has no ONNX form")
    return w.op("ScatterND", x, w.cast(indices, np.int64), updates, reduction=_SCATTERS[reduction])


@operator("repeat_interleave")
def _repeat_interleave(w: Writer, node: Apply, x: str, *, repeats: Any, axis: int) -> str:
    if isinstance(repeats, tuple):
        return w.op("Gather", x, w.ints(*np.repeat(np.arange(len(repeats)), repeats)), axis=axis)
    whole = w.size(getattr(node.type, "shape", ())[axis])
    steps = w.op("Range", w.constant(np.int64(0)), whole, w.constant(np.int64(1)))
    return w.op("Gather", x, w.floor_div(steps, w.constant(np.int64(max(repeats, 1)))), axis=axis)


@operator("diagonal")
def _diagonal(w: Writer, node: Apply, x: str, *, offset: int, axis1: int, axis2: int) -> str:
    shape = node.operands[0].shape
    height, width = shape[axis1], shape[axis2]
    if not (isinstance(height, int) and isinstance(width, int)):
        raise NoForm("a diagonal of a matrix whose size is open")
    rest = [axis for axis in range(len(shape)) if axis not in (axis1, axis2)]
    flat = w.reshape(w.op("Transpose", x, perm=[*rest, axis1, axis2]), [*(shape[a] for a in rest), height * width])
    return w.op("Gather", flat, w.ints(*np.arange(height * width).reshape(height, width).diagonal(offset)), axis=-1)


@operator("nonzero")
def _nonzero(w: Writer, node: Apply, x: str) -> str:
    found = w.op("Transpose", w.op("NonZero", x), perm=[1, 0])
    wanted = dtype_of(node.type)
    return found if DTYPES[wanted.type] == DTYPES[np.int64] else w.cast(found, wanted)
