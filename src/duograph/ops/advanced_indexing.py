"""NumPy's full advanced indexing: ``x[...]`` with integer tensors among the indices, read and written.

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
from duograph.core.errors import user_error
from duograph.core.op import primitive
from duograph.core.shapes import broadcast_shapes, slice_length, taken_at_most, taken_equal

from .compare import equal
from .creation import constant_like, full, iota, zeros_like
from .movement import broadcast_to, expand_dims, move_axis, reshape, sum_to, transpose
from .rules import in_float32, require_kind, same_dtype, tensor
from .select import select
from .slices import all_batched


def check_range(indices: np.ndarray, size: int, text: str, error: type[Exception] = RuntimeError) -> None:
    """Raises ``error`` with ``text`` about the first index outside ``[-size, size)``."""
    outside = (indices < -size) | (indices >= size)
    if outside.any():
        raise error(text.format(index=int(indices[outside].flat[0]), size=size))


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
                    message = f"index {entry} is out of bounds for dimension with size {shape[axis]}"
                    raise user_error(IndexError, "DG0414", message, f"axis {axis} of {tuple(shape)}")
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


__all__ = ["advanced_get", "advanced_put", "check_range"]
