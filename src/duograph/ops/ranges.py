"""Slices whose bounds are only known at run time: their length is a fresh symbolic dimension.

In dynamic mode such bounds are plain ints and the slice is a view. To keep that meaning under capture, `RunTimeView`
plays the op of the view's link: it holds the bounds, which a link's attributes cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.dim import fresh_symbol
from duograph.core.op import Op, primitive, state
from duograph.tensor.alias import ViewLink
from duograph.tensor.tensor import Tensor, wrap_view

from .creation import zeros_like
from .movement import sum_to
from .rules import same_dtype, tensor
from .slices import dynamic_slice, dynamic_update


def _index(start, stop, axis, step):
    return (*[slice(None)] * axis, slice(start, stop, step))


@primitive
class range_slice:
    """``x[start:stop:step]`` along ``axis`` for int scalars ``start`` and ``stop``, with Python's meaning; a copy."""

    layout = "any"
    data_dependent = True

    def infer(x, start, stop, *, axis, step=1):
        x = tensor("range_slice", x)
        size = x.shape[axis]
        length = fresh_symbol("len", 0, size if isinstance(size, int) else None)
        return x.with_shape((*x.shape[:axis], length, *x.shape[axis + 1 :]))

    def size_from(x, start, stop, *, axis, step=1):
        return x.shape[axis], start, stop, step

    def reference(x, start, stop, *, axis, step):
        return np.array(x[_index(start, stop, axis, step)], order="C")

    def bprop(ins, out, dout, *, axis, step):
        x, start, stop = ins
        return (lambda: range_update(zeros_like(x), dout, start, stop, axis=axis, step=step), None, None)


@primitive
class range_update:
    """``base`` with ``base[start:stop:step] = value`` done along ``axis``; ``value`` broadcasts."""

    layout = "any"

    def infer(base, value, start, stop, *, axis, step=1):
        same_dtype("range_update", base, value)
        return base

    def reference(base, value, start, stop, *, axis, step):
        out = np.array(base, order="C")
        out[_index(start, stop, axis, step)] = value
        return out

    def bprop(ins, out, dout, *, axis, step):
        _, value, start, stop = ins
        return (
            lambda: range_update(dout, zeros_like(value), start, stop, axis=axis, step=step),
            lambda: sum_to(range_slice(dout, start, stop, axis=axis, step=step), value.shape),
            None,
            None,
        )


class RunTimeView:
    """A slicing op together with its run-time bounds: what a `ViewLink` needs of an op, for one particular view."""

    view = True

    def __init__(self, op: Op, update: Op, bounds: tuple[Any, ...]) -> None:
        self.name, self.bprop = op.name, op.bprop
        self._op, self._update, self.bounds = op, update, bounds

    def __call__(self, x: Any, **attrs: Any) -> Any:
        return self._op(x, *self.bounds, **attrs)

    def write_view(self, base: Any, value: Any, **attrs: Any) -> Any:
        """``base`` with the part that the view shows replaced by ``value``."""
        attrs.pop("sizes", None)  # the update takes them from the value
        return self._update(base, value, *self.bounds, **attrs)

    def reference(self, x: np.ndarray, **attrs: Any) -> np.ndarray:
        """A part of ``x`` with the strides of the view."""
        if "axis" in attrs:
            return x[_index(None, None, attrs["axis"], attrs["step"])]
        sizes = dict(zip(attrs["axes"], attrs["sizes"], strict=True))
        return x[tuple(slice(0, sizes.get(axis)) for axis in range(x.ndim))]

    def strides(self, shape: Any, strides: Any, **attrs: Any) -> list[Any]:
        """See `Op`."""
        return [n * attrs["step"] if axis == attrs.get("axis") else n for axis, n in enumerate(strides)]


def _view(x: Tensor, op: Any, update: Any, bounds: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
    view = wrap_view(op(x, *bounds, **attrs)._data, ViewLink(x, RunTimeView(op, update, bounds), attrs))  # type: ignore[arg-type]
    binder: Any = state.binder
    binder.note_memory(view)
    return view


def range_view(x: Tensor, start: Any, stop: Any, axis: int, step: int) -> Tensor:
    """``x[start:stop:step]`` along ``axis``, as a view."""
    return _view(x, range_slice, range_update, (start, stop), {"axis": axis, "step": step})


def block_view(x: Tensor, starts: tuple[Any, ...], axes: tuple[int, ...]) -> Tensor:
    """The elements at ``starts`` along ``axes`` (which stay, with size 1), as a view."""
    return _view(x, dynamic_slice, dynamic_update, starts, {"axes": axes, "sizes": (1,) * len(axes)})
