"""Reading and writing elements by integer tensors: ``gather`` and relatives, and NumPy's full advanced indexing.

`advanced_get` and `advanced_put` take a ``spec`` with one entry per place of the index, Ellipsis already expanded:

    (start, stop, step)    a slice                    None       a new axis
    7                      an integer                 "index"    the next index operand (an integer tensor)

Its meaning is NumPy's: index tensors and integers broadcast against each other, and their axes come where the first of
them stands, or in front if a slice or new axis stands between them. Boolean masks are turned into indices before
(``nonzero``). Negative indices count from the end; indices outside raise. A `put` to one place twice: the last wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import primitive
from duograph.core.shapes import broadcast_shapes, numel, slice_length, taken_at_most, taken_equal

from .arithmetic import add, mul
from .compare import equal, less
from .creation import constant_like, full, iota, zeros_like
from .movement import broadcast_to, expand_dims, move_axis, reshape, transpose
from .rules import in_float32, require_kind, same_dtype, sum_to, tensor
from .select import select
from .slices import all_batched, concat

# ---- gather ---------------------------------------------------------------------------------------------------------


def check_range(indices: np.ndarray, size: int, text: str, error: type[Exception] = RuntimeError) -> None:
    """Raises ``error`` with ``text`` about the first index outside ``[-size, size)``."""
    outside = (indices < -size) | (indices >= size)
    if outside.any():
        raise error(text.format(index=int(indices[outside].flat[0]), size=size))


@primitive
class gather:
    """The slices of ``x`` along ``axis`` at ``indices``; the axis is replaced by the axes of ``indices``."""

    raises = True
    layout = "any"

    def infer(x, indices, *, axis):
        x = tensor("gather", x)
        indices = require_kind("gather", indices, "i", "input_indices")
        return x.with_shape((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))

    def reference(x, indices, *, axis):
        text = "For 'Gather', the 'input_indices' should be in the range [0, {size}), but got {index}"
        check_range(indices, x.shape[axis], text)
        return np.take(x, indices, axis)

    def bprop(ins, out, dout, *, axis):
        from .scatter import index_add

        x, indices = ins
        rows = reshape(dout, shape=(*x.shape[:axis], numel(indices.shape), *x.shape[axis + 1 :]))
        return (index_add(zeros_like(x), reshape(indices, shape=(numel(indices.shape),)), rows, axis=axis), None)

    def batch(in_axes, operands, *, axis):
        x, indices = operands
        if in_axes[1] is None:
            return gather(x, indices, axis=axis + 1), 0
        if in_axes[0] is None:
            return move_axis(gather(x, indices, axis=axis), axis, 0), 0
        size, n = x.shape[0], x.shape[axis + 1]
        rest = tuple(d for i, d in enumerate(x.shape[1:]) if i != axis)
        rows = reshape(move_axis(x, axis + 1, 1), shape=(size * n, *rest))
        wrapped = wrap_indices(indices, n)
        steps = (size, *(1,) * (len(indices.shape) - 1))
        offset = mul(iota(shape=steps, axis=0, dtype=indices.dtype), constant_like(indices, n))
        found = gather(rows, add(wrapped, offset), axis=0)
        k = len(indices.shape)
        kept = range(k, k + len(rest))
        return transpose(found, perm=(0, *kept[:axis], *range(1, k), *kept[axis:])), 0


def wrap_indices(indices: Any, size: Any) -> Any:
    """``indices`` with negative ones counted from the end."""
    shifted = add(indices, full(shape=(), value=size, dtype=indices.dtype))
    return select(less(indices, constant_like(indices, 0)), shifted, indices)


def along_axis(indices: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """The NumPy index that picks position ``indices`` along ``axis`` and its own position along the others."""
    grid: list[np.ndarray] = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    grid[axis] = indices
    return tuple(grid)


@primitive
class gather_elements:
    """``out[i][j] = x[indices[i][j]][j]`` for ``axis`` 0: one index per result element.

    ``labels_of``: the loss whose class labels the indices are, for the message about one that is out of range.
    """

    raises = True
    layout = "any"

    def infer(x, indices, *, axis, labels_of=""):
        x = tensor("gather_elements", x)
        indices = require_kind("gather_elements", indices, "i", "index")
        if len(indices.shape) != x.ndim:
            raise ValueError(
                f"For 'GatherD', the rank of 'x' and 'index' must be equal, but got {x.ndim} and {len(indices.shape)}."
            )
        for i, (n, k) in enumerate(zip(x.shape, indices.shape, strict=True)):
            if i != axis and not taken_at_most(k, n):
                raise ValueError(
                    f"For 'GatherD', the size of 'index' along axis {i} must not exceed that of 'x', but got "
                    f"{tuple(indices.shape)} and {tuple(x.shape)}."
                )
        return x.with_shape(indices.shape)

    def reference(x, indices, *, axis, labels_of=""):
        if x.ndim == 0:
            check_range(
                indices, 1, "For 'GatherD', the value of 'index' must be in [-{size}, {size}), but got: {index}"
            )
            return x.copy()
        text = "For 'GatherD', the value of 'index' must be in [-{size}, {size}), but got: {index}"
        if labels_of:
            got = ": {index}" if (indices >= x.shape[axis]).any() else " a negative one"
            text = f"For '{labels_of}', the labels must be numbers of classes in [0, {{size}}), but got{got}"
        check_range(indices, x.shape[axis], text)
        return x[along_axis(indices, axis)]

    def bprop(ins, out, dout, *, axis, labels_of):
        from .scatter import scatter_elements

        x, indices = ins
        return (scatter_elements(zeros_like(x), indices, dout, axis=axis, reduction="add"), None)

    def batch(in_axes, operands, *, axis, labels_of):
        x, indices = all_batched(in_axes, operands)
        return gather_elements(x, indices, axis=axis + 1, labels_of=labels_of), 0


@primitive
class gather_nd:
    """The slices of ``x`` that the rows (last axis) of ``indices`` name, one coordinate per leading axis of ``x``."""

    raises = True
    layout = "any"

    def infer(x, indices):
        x = tensor("gather_nd", x)
        indices = require_kind("gather_nd", indices, "i", "indices")
        if not indices.shape or not isinstance(indices.shape[-1], int) or indices.shape[-1] > x.ndim:
            raise ValueError(
                f"For 'GatherNd', the last dimension of 'indices' must be at most the rank of 'input_x' {x.ndim}, "
                f"but got indices of shape {tuple(indices.shape)}."
            )
        return x.with_shape((*indices.shape[:-1], *x.shape[indices.shape[-1] :]))

    def reference(x, indices):
        return x[np.newaxis][nd_index(indices, x.shape, "GatherNd")]

    def bprop(ins, out, dout):
        from .scatter import scatter_nd_update

        x, indices = ins
        return (scatter_nd_update(zeros_like(x), indices, dout, reduction="add"), None)

    def batch(in_axes, operands):
        x, indices = all_batched(in_axes, operands)
        return gather_nd(x, with_batch_coordinate(indices)), 0


def with_batch_coordinate(indices: Any) -> Any:
    """Rows of coordinates (last axis) with the position along the first axis put in front of each row."""
    number = iota(shape=(*indices.shape[:-1], 1), axis=0, dtype=indices.dtype)
    return concat(number, indices, axis=len(indices.shape) - 1)


def nd_index(indices: np.ndarray, shape: Any, op: str) -> tuple[np.ndarray, ...]:
    """The NumPy index for rows of coordinates, checked, into an array of ``shape`` with an axis of size 1 before it:
    rows without a coordinate name the whole array, once per row."""
    columns = tuple(indices[..., i] for i in range(indices.shape[-1]))
    for i, (column, size) in enumerate(zip(columns, shape, strict=False)):
        text = (
            f"For '{op}', indices[..., {i}] must be in [-{{size}}, {{size}}), shape {tuple(shape)}, but got {{index}}."
        )
        check_range(column, size, text)
    return (np.zeros(indices.shape[:-1], np.intp), *columns)


# ---- advanced indexing ----------------------------------------------------------------------------------------------


class _Layout:
    """What a spec does to the axes of ``x``.

    Attributes:
        index_axes: per ``"index"`` entry, the axis of ``x`` that it indexes.
        block: the broadcast shape of all index tensors.
        place: how many result axes come before the block.
        shape: the shape of the result.
    """

    def __init__(self, shape: Any, index_shapes: Any, spec: Any) -> None:
        pending, self.index_axes = list(index_shapes), []
        before: list[Any] = []
        places: list[int] = []
        axis, starts_at = 0, 0
        for position, entry in enumerate(spec):
            if entry is None:
                before.append(1)
                continue
            if axis >= len(shape):
                raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
            if isinstance(entry, tuple):
                before.append(slice_length(shape[axis], *entry))
            else:
                if not places:
                    starts_at = len(before)
                places.append(position)
                if entry == "index":
                    self.index_axes.append(axis)
                elif not taken_at_most(-entry if entry < 0 else entry + 1, shape[axis]):
                    raise IndexError(f"index {entry} is out of bounds for dimension with size {shape[axis]}")
            axis += 1
        if len(self.index_axes) != len(pending):
            raise TypeError(
                f"advanced indexing: the spec has {len(self.index_axes)} index places, got {len(pending)} tensors"
            )
        others = [*before, *shape[axis:]]
        try:
            self.block = broadcast_shapes(*pending) if pending else ()
        except ValueError:
            shown = " ".join(str(list(s)) for s in pending)
            raise IndexError(
                f"shape mismatch: indexing tensors could not be broadcast together with shapes {shown}"
            ) from None
        together = not places or places[-1] - places[0] + 1 == len(places)
        self.place = starts_at if together else 0
        self.shape = (*others[: self.place], *self.block, *others[self.place :])


def _numpy_index(x_shape: Any, indices: Any, spec: Any) -> tuple[Any, ...]:
    layout = _Layout(x_shape, [i.shape for i in indices], spec)
    empty = 0 in layout.block  # then no index is used, and NumPy looks at none
    for values, axis in zip(indices, layout.index_axes if not empty else (), strict=not empty):
        check_range(values, x_shape[axis], "index {index} is out of bounds for dimension with size {size}", IndexError)
    rest = iter(indices)
    return tuple(slice(*e) if isinstance(e, tuple) else next(rest) if e == "index" else e for e in spec)


@primitive
class advanced_get:
    """``x[...]`` with integer tensors among the indices (see the module); a copy."""

    raises = True
    layout = "any"

    def infer(x, *indices, spec):
        x = tensor("advanced_get", x)
        for i in indices:
            require_kind("advanced_get", i, "i", "indices")
        return x.with_shape(_Layout(x.shape, [i.shape for i in indices], spec).shape)

    def reference(x, *indices, spec):
        return np.array(x[_numpy_index(x.shape, indices, spec)], order="C")

    def bprop(ins, out, dout, *, spec):
        x, *indices = ins
        return (
            lambda: advanced_put(zeros_like(x), dout, *indices, spec=spec, reduction="add"),
            *[None] * len(indices),
        )

    def batch(in_axes, operands, *, spec):
        x, *indices = operands
        layout = _Layout(*_unbatched_shapes(in_axes, operands), spec)
        indices = _aligned_indices(in_axes[1:], indices, len(layout.block))
        if in_axes[0] is None:
            return move_axis(advanced_get(x, *indices, spec=spec), layout.place, 0), 0
        rows = iota(shape=(x.shape[0], *(1,) * len(layout.block)), axis=0, dtype=dt.int64)
        found = advanced_get(x, rows, *indices, spec=("index", *spec))
        return _block_back(found, layout, _is_front(spec)), 0


@primitive
class advanced_put:
    """``x`` after ``x[...] = value`` (``reduction="none"``), or ``+=`` at every index, repeated ones too (``add``)."""

    raises = True
    layout = "any"

    def infer(x, value, *indices, spec, reduction="none"):
        same_dtype("advanced_put", x, value)
        for i in indices:
            require_kind("advanced_put", i, "i", "indices")
        part = _Layout(x.shape, [i.shape for i in indices], spec).shape
        try:
            joined = broadcast_shapes(value.shape, part)
            # No extent of `part` may grow, be it 1 or not: the kernel reads one value per place that is written.
            fits = len(joined) == len(part) and all(taken_equal(a, b) for a, b in zip(joined, part, strict=True))
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(
                f"shape mismatch: value tensor of shape {list(value.shape)} cannot be broadcast to indexing result of "
                f"shape {list(part)}"
            )
        return x

    def reference(x, value, *indices, spec, reduction):
        index = _numpy_index(x.shape, indices, spec)
        if reduction == "add":
            return in_float32(_add_at)(np.array(x, order="C"), value, index=index)
        out = np.array(x, order="C")
        out[index] = value
        return out

    def bprop(ins, out, dout, *, spec, reduction):
        x, value, *indices = ins
        nothing = [None] * len(indices)
        if reduction == "add":
            return (dout, lambda: sum_to(advanced_get(dout, *indices, spec=spec), value.shape), *nothing)

        def of_value():
            # Of several writes to one place only the last one counts: number the writes, and see whose number stayed.
            found = advanced_get(dout, *indices, spec=spec)
            number = iota(shape=tuple(found.shape), axis=None, dtype=dt.int64)
            blank = full(shape=tuple(x.shape), value=-1, dtype=dt.int64)
            stayed = advanced_get(advanced_put(blank, number, *indices, spec=spec), *indices, spec=spec)
            return sum_to(select(equal(stayed, number), found, constant_like(found, 0)), value.shape)

        zero = constant_like(value, 0)
        return (lambda: advanced_put(dout, zero, *indices, spec=spec), of_value, *nothing)

    def batch(in_axes, operands, *, spec, reduction):
        layout = _Layout(*_unbatched_shapes((in_axes[0], *in_axes[2:]), (operands[0], *operands[2:])), spec)
        size = next(x.shape[0] for axis, x in zip(in_axes, operands, strict=True) if axis is not None)
        (x,) = all_batched(in_axes[:1], operands[:1]) if in_axes[0] == 0 else (_repeat(operands[0], size),)
        value = operands[1] if in_axes[1] == 0 else _repeat(operands[1], size)
        value = reshape(value, shape=(size, *(1,) * (len(layout.shape) - len(value.shape) + 1), *value.shape[1:]))
        value = broadcast_to(value, shape=(size, *layout.shape))
        indices = _aligned_indices(in_axes[2:], operands[2:], len(layout.block))
        rows = iota(shape=(size, *(1,) * len(layout.block)), axis=0, dtype=dt.int64)
        value = _block_front(value, layout, _is_front(spec))
        return advanced_put(x, value, rows, *indices, spec=("index", *spec), reduction=reduction), 0


def _add_at(out, value, *, index):
    np.add.at(out, index, value)
    return out


def _repeat(x: Any, size: Any) -> Any:
    return broadcast_to(expand_dims(x, 0), shape=(size, *x.shape))


def _unbatched_shapes(in_axes: Any, operands: Any) -> tuple[Any, list[Any]]:
    shapes = [tuple(x.shape[1:] if axis == 0 else x.shape) for axis, x in zip(in_axes, operands, strict=True)]
    return shapes[0], shapes[1:]


def _aligned_indices(in_axes: Any, indices: Any, rank: int) -> list[Any]:
    """Batched index tensors with ones between the batch axis and their own, so that they broadcast by batch."""
    return [
        reshape(i, shape=(i.shape[0], *(1,) * (rank - len(i.shape) + 1), *i.shape[1:])) if axis == 0 else i
        for axis, i in zip(in_axes, indices, strict=True)
    ]


def _is_front(spec: Any) -> bool:
    """Whether an index tensor in front of ``spec`` is next to all its index entries, so that the block stays there."""
    advanced = [i for i, e in enumerate(spec) if e is not None and not isinstance(e, tuple)]
    return not advanced or advanced == list(range(len(advanced)))


def _block_order(layout: _Layout) -> tuple[int, ...]:
    """Axes of (batch, block, others) in the order (batch, others before the block, block, others behind)."""
    k = len(layout.block)
    others = range(1 + k, 1 + len(layout.shape))
    return (0, *others[: layout.place], *range(1, 1 + k), *others[layout.place :])


def _block_back(found: Any, layout: _Layout, front: bool) -> Any:
    return found if front and layout.place == 0 else transpose(found, perm=_block_order(layout))


def _block_front(value: Any, layout: _Layout, front: bool) -> Any:
    if front and layout.place == 0:
        return value
    return transpose(value, perm=tuple(int(i) for i in np.argsort(_block_order(layout))))


__all__ = [
    "advanced_get", "advanced_put", "along_axis", "check_range", "gather", "gather_elements", "gather_nd",
    "nd_index", "with_batch_coordinate", "wrap_indices",
]  # fmt: skip
