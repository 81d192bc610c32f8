"""Reading and writing parts of tensors: ``x[index]`` and ``x[index] = value``.

An index is parsed once into two stages:

* the *basic* stage (ints, slices, ``None``, ``...``, ``True``) is a strided slice followed by a reshape that drops and
  adds axes of size 1; both are views, so its result shares storage with ``x`` and writes go through;
* the *advanced* stage (integer and bool tensors, arrays, lists, run-time ints among them) gathers from that view, and
  copies. Its assignment computes the new contents of the view and writes them.

Meaning is NumPy's, with MindSpore's wording of errors. A list that contains lists, slices or tensors stands for a
tuple, as in MindSpore (and old NumPy).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from duograph.core import dtype as dt
from duograph.core.dim import Dim, UnknownSizeError, definitely_eq, definitely_le
from duograph.core.errors import draw_below, user_error
from duograph.core.op import state
from duograph.core.shapes import taken_at_most, taken_equal
from duograph.ops import movement
from duograph.ops.advanced_indexing import advanced_get, advanced_put
from duograph.ops.ranges import block_view, range_slice, range_update, range_view
from duograph.ops.scalar import Scalar, bound_of, tensor_item
from duograph.ops.search import nonzero
from duograph.ops.select import select
from duograph.ops.slices import dynamic_update, slice_axis, slice_update, strided_slice
from duograph.tensor import hooks
from duograph.tensor.eager import write
from duograph.tensor.tensor import SymbolicValueError, Tensor, array_from, wrap

from .promote import as_tensor, is_number, python_number, to_dtype

_ALL = (None, None, None)


class ParsedIndex(NamedTuple):
    """A parsed index.

    Attributes:
        slices: ``(start, stop, step)`` per axis of the tensor (integers are slices of length 1).
        dropped: the axes whose integer index removes them.
        added: positions of new axes in the result.
        starts: ints whose place is found at run time: ``(axis, number)``.
        ranges: slices with run-time bounds, to be done before all else: ``(axis, start, stop, step)``.
        spec, operands: set if there are advanced indices: what `advanced_get` takes; the other fields are unused then.
        inserted: axes of size 1 that the tensor gets before all else, for each ``True`` that is an advanced index.
    """

    slices: tuple[Any, ...] = ()
    dropped: tuple[int, ...] = ()
    added: tuple[int, ...] = ()
    starts: tuple[tuple[int, Any], ...] = ()
    ranges: tuple[tuple[int, Any, Any, int], ...] = ()
    spec: tuple[Any, ...] = ()
    operands: tuple[Tensor, ...] = ()
    inserted: tuple[int, ...] = ()

    def result_shape(self, sliced: tuple[Any, ...]) -> tuple[Any, ...]:
        """The shape of the result, given the shape after slicing."""
        shape = [n for axis, n in enumerate(sliced) if axis not in self.dropped]
        for position in self.added:
            shape.insert(position, 1)
        return tuple(shape)


# ---- reading and writing --------------------------------------------------------------------------------------------


def getitem(x: Tensor, index: Any) -> Tensor:
    """``x[index]``.

    Raises:
        IndexError: too many indices, an index out of range or of a wrong type.
    """
    if _is_mask_for_numpy(x, index):
        return wrap(np.ascontiguousarray(x.array()[index.array()]))
    plan = parse(x, index, "get")
    x = _with_axes(x, plan.inserted)
    for axis, start, stop, step in plan.ranges:
        x = range_view(x, start, stop, axis, step)
    if plan.spec:
        spec, operands = with_masks_as_indices(plan)
        return advanced_get(x, *operands, spec=spec)
    view = _sliced(x, plan.slices)
    if plan.starts:
        view = block_view(view, tuple(start for _, start in plan.starts), tuple(axis for axis, _ in plan.starts))
    shape = plan.result_shape(view.shape)
    return view if shape == tuple(view.shape) else movement.reshape(view, shape=shape)


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``; ``value`` is cast to the dtype of ``x`` and broadcast.

    Raises:
        IndexError: as for reading.
        ValueError: ``value`` does not broadcast to the part.
        TypeError: ``value`` is not a tensor, number, list or tuple.
    """
    try:
        _set(x, index, value)
    except (TypeError, ValueError) as error:
        if state.binder is None:
            stored = value.abstract if isinstance(value, Tensor) else type(value).__name__
            draw_below(error, f"{stored} is put into a part of {x.abstract}")
        raise


def _set(x: Tensor, index: Any, value: Any) -> None:
    value = _as_value(x, value)
    if _is_mask_for_numpy(x, index) and _fits_mask(x.array(), index.array(), value):
        x.array()[index.array()] = value.array()
        write(x, x)
        return
    plan = parse(x, index, "set")
    x = _with_axes(x, plan.inserted)
    if plan.spec or plan.starts or plan.ranges:
        write(x, _updated(x, plan, value))
    else:
        view = _sliced(x, plan.slices)
        shape = plan.result_shape(view.shape)
        write(view, movement.reshape(fitted(value, shape), shape=tuple(view.shape)))


def _is_mask_for_numpy(x: Tensor, index: Any) -> bool:
    """Whether nobody but NumPy has a part in ``x[index]``, where ``index`` is a mask of the first axes: no capture, no
    gradient, nobody who looks on. As operators that is a search and a gather, of a size that varies."""
    if type(index) is not Tensor or state.binder is not None or state.tapes or state.observer is not None:
        return False
    array, mask = x._data, index._data
    return (
        type(array) is type(mask) is np.ndarray
        and mask.dtype.kind == "b"
        and array.shape[: mask.ndim] == mask.shape != ()
    )  # fmt: skip


def _fits_mask(array: np.ndarray, mask: np.ndarray, value: Tensor) -> bool:
    """Whether NumPy can put ``value`` where ``mask`` holds: a single element, or one for each place."""
    new = value._data
    return (
        type(new) is np.ndarray
        and array.flags.writeable
        and (not new.shape or new.shape == (np.count_nonzero(mask), *array.shape[mask.ndim :]))
        and not np.may_share_memory(array, new)
        and not np.may_share_memory(array, mask)
    )


def _as_value(x: Tensor, value: Any) -> Tensor:
    value = python_number(value)
    if is_number(value):
        if isinstance(value, complex) and not x.dtype.is_complex:
            raise TypeError(f"a complex number cannot be stored in a tensor of {x.dtype}")
        return as_tensor(value, x.dtype)
    if not isinstance(value, Tensor | np.ndarray | list | tuple):
        raise TypeError(
            "The types of value for assignment only support 'Tensor', 'number', 'list' and 'tuple', "
            f"but got {type(value).__name__}."
        )
    return to_dtype(as_tensor(value), x.dtype)


def fitted(value: Tensor, shape: tuple[Any, ...]) -> Tensor:
    """``value`` broadcast to ``shape``; leading axes of size 1 too many are dropped.

    Raises:
        ValueError: it does not broadcast.
    """
    extra = len(value.shape) - len(shape)
    if extra > 0 and all(definitely_eq(n, 1) for n in value.shape[:extra]):
        value = movement.reshape(value, shape=tuple(value.shape[extra:]))
    if tuple(value.shape) == tuple(shape):
        return value
    if len(value.shape) > len(shape) or any(
        definitely_eq(a, 1) is False and definitely_eq(a, b) is False
        for a, b in zip(reversed(value.shape), reversed(shape), strict=False)
    ):
        raise ValueError(
            "For 'BroadcastTo', in order to broadcast, each dimension pair must be equal or input dimension is 1 or "
            f"target dimension is -1. But got x_shape: ({', '.join(map(str, value.shape))}), "
            f"target shape: ({', '.join(map(str, shape))})."
        )
    if len(value.shape) == len(shape) and all(_same(a, b) for a, b in zip(value.shape, shape, strict=True)):
        return value
    return movement.broadcast_to(value, shape=tuple(shape))


def _same(a: Any, b: Any) -> bool:
    """Whether two extents agree, as far as is known: lengths that depend on data get a new name at every use."""
    return definitely_eq(a, b) is True or (isinstance(a, Dim) and isinstance(b, Dim))


def _sliced(x: Tensor, slices: tuple[Any, ...]) -> Tensor:
    return strided_slice(x, slices=slices) if any(s != _ALL for s in slices) else x


def _updated(x: Tensor, plan: ParsedIndex, value: Tensor) -> Tensor:
    """The contents of ``x`` with the assignment done."""
    if plan.ranges and not plan.spec and not plan.starts:
        part = _sliced(x, plan.slices)
        new = _range_set(part, plan.ranges, _aligned(value, plan, len(x.shape)))
        return new if part is x else slice_update(x, new, slices=plan.slices)
    if plan.ranges:
        (axis, start, stop, step), *rest = plan.ranges
        part = range_slice(x, start, stop, axis=axis, step=step)
        new = _updated(part, plan._replace(ranges=tuple(rest)), value)
        return range_update(x, new, start, stop, axis=axis, step=step)
    return _advanced_set(x, plan, value) if plan.spec else _dynamic_set(x, plan, value)


def _range_set(x: Tensor, ranges: tuple[Any, ...], value: Tensor) -> Tensor:
    """``x`` with ``value`` (of the rank of ``x``, broadcasting) in the part that all ``ranges`` name."""
    (axis, start, stop, step), *rest = ranges
    if rest:
        value = _range_set(range_slice(x, start, stop, axis=axis, step=step), tuple(rest), value)
    return range_update(x, value, start, stop, axis=axis, step=step)


def _aligned(value: Tensor, plan: ParsedIndex, ndim: int) -> Tensor:
    """``value`` with one axis per axis of the tensor: 1 where an integer stands, none where an axis is added."""
    rank = ndim - len(plan.dropped) + len(plan.added)
    shape = (1,) * (rank - len(value.shape)) + tuple(value.shape)
    extra = len(shape) - rank
    if any(definitely_eq(n, 1) is not True for n in (*shape[:extra], *(shape[extra + i] for i in plan.added))):
        raise ValueError(f"could not broadcast a value of shape {tuple(value.shape)} to an index of rank {rank}")
    kept = [n for i, n in enumerate(shape[extra:]) if i not in plan.added]
    for axis in plan.dropped:
        kept.insert(axis, 1)
    return movement.reshape(value, shape=tuple(kept))


def _dynamic_set(x: Tensor, plan: ParsedIndex, value: Tensor) -> Tensor:
    """The new contents of ``x`` where run-time ints stand in the index."""
    part = _sliced(x, plan.slices)
    axes = tuple(axis for axis, _ in plan.starts)
    block = tuple(1 if axis in axes else n for axis, n in enumerate(part.shape))
    value = movement.reshape(fitted(value, plan.result_shape(block)), shape=block)
    new = dynamic_update(part, value, *[start for _, start in plan.starts], axes=axes)
    return new if part is x else slice_update(x, new, slices=plan.slices)


# ---- advanced indices -----------------------------------------------------------------------------------------------


def with_masks_as_indices(plan: ParsedIndex) -> tuple[tuple[Any, ...], tuple[Tensor, ...]]:
    """Spec and operands for `advanced_get`: every bool mask becomes the integer indices of its true elements."""
    spec: list[Any] = []
    operands: list[Tensor] = []
    remaining = iter(plan.operands)
    for entry in plan.spec:
        if entry != "index":
            spec.append(entry)
            continue
        tensor = next(remaining)
        columns = mask_indices(tensor) if tensor.dtype.is_bool else (tensor,)
        spec += ["index"] * len(columns)
        operands += columns
    return tuple(spec), tuple(operands)


def mask_indices(mask: Tensor) -> tuple[Tensor, ...]:
    """One index tensor per axis of ``mask``: the places of its true elements."""
    places = nonzero(mask)
    rows = places.shape[0]
    return tuple(movement.reshape(slice_axis(places, 1, i, i + 1), shape=(rows,)) for i in range(len(mask.shape)))


def _advanced_set(x: Tensor, plan: ParsedIndex, value: Tensor) -> Tensor:
    """The new contents of ``x``."""
    chosen = _masked_everywhere(x, plan, value)
    if chosen is not None:
        return chosen
    spec, operands = with_masks_as_indices(plan)
    return advanced_put(x, value, *operands, spec=spec)


def _masked_everywhere(x: Tensor, plan: ParsedIndex, value: Tensor) -> Tensor | None:
    """``x[.., mask, ..] = value`` by selection, if ``value`` does not vary along the masked places: no shape depends on
    data then, which matters under capture. Otherwise ``None``."""
    if len(plan.operands) != 1 or not plan.operands[0].dtype.is_bool:
        return None
    (mask,) = plan.operands
    at = plan.spec.index("index")
    if any(entry != _ALL for i, entry in enumerate(plan.spec) if i != at):
        return None
    rank, after = len(mask.shape), len(plan.spec) - at - 1
    varies = len(value.shape) > after and definitely_eq(value.shape[len(value.shape) - after - 1], 1) is not True
    if varies or len(value.shape) > after + 1 + at:
        return None
    check_mask(x, mask, at)
    mask = movement.reshape(mask, shape=(*mask.shape, *(1,) * after))
    if len(value.shape) > after:
        cut = len(value.shape) - after
        value = movement.reshape(value, shape=(*value.shape[: cut - 1], *(1,) * rank, *value.shape[cut:]))
    return select(mask, fitted(value, tuple(x.shape)) if value.shape else value, x)


def check_mask(x: Tensor, mask: Tensor, first: int) -> None:
    for i, (n, size) in enumerate(zip(mask.shape, x.shape[first:], strict=False)):
        if not taken_equal(n, size):
            raise ValueError(
                f"The shape of index {tuple(mask.shape)} does not match the shape of the indexed data {tuple(x.shape)} "
                f"at dim index {first + i}"
            )


# ---- parsing --------------------------------------------------------------------------------------------------------


def parse(x: Tensor, index: Any, what: str) -> ParsedIndex:
    """The plan of an index of ``x``; ``what`` is ``get`` or ``set`` (their error texts differ)."""
    try:
        return _parsed(x, index, what)
    except (IndexError, TypeError, ValueError) as error:
        if state.binder is None:
            draw_below(error, f"an index of {x.abstract}", code="DG0405")
        raise


def _parsed(x: Tensor, index: Any, what: str) -> ParsedIndex:
    items = [_normal(item) for item in _items(index)]
    ndim = len(x.shape)
    if not ndim and len(items) == 1 and isinstance(items[0], int) and not isinstance(items[0], bool):
        raise TypeError(f"Cannot {'iterate over' if what == 'get' else 'assign to'} a scalar tensor.")
    used = sum(_consumed(item) for item in items)
    if used > ndim:
        message = f"too many indices for tensor of dimension{ndim}"
        raise user_error(IndexError, "DG0416", message, f"{used} indices of {x.abstract}")
    ellipses = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("An index can only have a single ellipsis('...')")
    whole = [slice(None)] * (ndim - used)
    at = ellipses[0] if ellipses else len(items)
    items = [*items[:at], *whole, *items[at + 1 :]]
    if _has_advanced_true(items):
        axes = [sum(item is True or _consumed(item) for item in items[:i]) for i, t in enumerate(items) if t is True]
        first = wrap(np.zeros(1, np.int64))
        plan = _advanced_plan(_with_axes(x, axes), [first if item is True else item for item in items])
        return plan._replace(inserted=tuple(axes))
    if any(isinstance(item, Tensor) for item in items):
        return _advanced_plan(x, items)
    return _basic_plan(x, items, what)


def _has_advanced_true(items: list[Any]) -> bool:
    """Whether ``True`` is more than a new axis. NumPy counts it among the advanced indices, as an index of one element
    into an axis of its own: it broadcasts with the others, and decides where their axes come."""
    if not any(item is True for item in items):
        return False
    places = [i for i, item in enumerate(items) if not (item is None or isinstance(item, slice))]
    is_apart = len(places) != places[-1] - places[0] + 1
    return is_apart or sum(item is True for item in items) > 1 or any(isinstance(i, Tensor | Scalar) for i in items)


def _with_axes(x: Tensor, axes: Sequence[int]) -> Tensor:
    """A view of ``x`` with new axes of size 1, at these places of the result."""
    if not axes:
        return x
    shape = list(x.shape)
    for axis in axes:
        shape.insert(axis, 1)
    return movement.reshape(x, shape=tuple(shape))


def _basic_plan(x: Tensor, items: list[Any], what: str) -> ParsedIndex:
    slices: list[Any] = []
    dropped: list[int] = []
    added: list[int] = []
    starts: list[tuple[int, Any]] = []
    ranges: list[tuple[int, Any, Any, int]] = []
    for item in items:
        axis = len(slices)
        if item is None or isinstance(item, bool):
            added.append(axis - len(dropped) + len(added))
        elif isinstance(item, slice):
            slices.append(_bounds(item, axis, ranges))
        elif isinstance(item, Scalar):
            slices.append(_ALL)
            dropped.append(axis)
            starts.append((axis, item))
        else:
            single = _single(item, x.shape[axis], axis, what)
            slices.append(single or _ALL)
            dropped.append(axis)
            if single is None:
                starts.append((axis, item))
    return ParsedIndex(tuple(slices), tuple(dropped), tuple(added), tuple(starts), tuple(ranges))


def _single(item: Any, size: Any, axis: int, what: str) -> tuple[Any, Any, Any] | None:
    """The slice of length 1 for an integer index; ``None``: the program itself finds out whether it is inside."""
    try:
        is_inside = taken_at_most(-item, size) if definitely_le(item, -1) else taken_at_most(item + 1, size)
    except UnknownSizeError:
        return None
    if not is_inside:
        if what == "get":
            message = f"index {item} is out of bounds for dimension with size {size}"
            raise user_error(IndexError, "DG0414", message, f"{item} is not in [-{size}, {size})")
        message = f"Index {item} is out of bounds for axis {axis} with size {size}"
        raise user_error(IndexError, "DG0414", message, f"{item} is not in [-{size}, {size})")
    first = item + size if definitely_le(item, -1) else item
    return (first, first + 1, 1)


def _advanced_plan(x: Tensor, items: list[Any]) -> ParsedIndex:
    spec: list[Any] = []
    operands: list[Tensor] = []
    ranges: list[tuple[int, Any, Any, int]] = []
    axis = 0
    for item in items:
        if item is None or isinstance(item, bool):
            spec.append(None)
            continue
        if isinstance(item, slice):
            spec.append(_bounds(item, axis, ranges))
        elif isinstance(item, Tensor | Scalar):
            tensor = item if isinstance(item, Tensor) else as_tensor(item, dt.int64)
            if tensor.dtype.is_bool:
                if not tensor.shape:
                    raise IndexError("A 0-d bool tensor is not an index; use x[None] or `where`.")
                check_mask(x, tensor, axis)
            spec.append("index")
            operands.append(tensor)
        else:
            _single(item, x.shape[axis], axis, "get")
            spec.append(item)
        axis += _consumed(item)
    return ParsedIndex(spec=tuple(spec), operands=tuple(operands), ranges=tuple(ranges))


def _bounds(item: slice, axis: int, ranges: list[tuple[int, Any, Any, int]]) -> tuple[Any, Any, Any]:
    """A slice as plain ``(start, stop, step)``; one with run-time bounds is added to ``ranges`` and all is left."""
    start, stop, step = (_bound(b) for b in (item.start, item.stop, item.step))
    if isinstance(step, Scalar):
        raise SymbolicValueError("a slice whose step is only known at run time cannot be captured")
    if step == 0:
        raise ValueError("For 'StridedSlice', 'strides' cannot contain 0")
    if isinstance(start, Scalar) or isinstance(stop, Scalar):
        step = 1 if step is None else step
        first, last = (0, sys.maxsize) if step > 0 else (sys.maxsize, -sys.maxsize)
        ranges.append((axis, first if start is None else start, last if stop is None else stop, step))
        return _ALL
    return start, stop, None if step == 1 else step


def _bound(value: Any) -> Any:
    value = bound_of(value)
    if value is None or isinstance(value, Dim) or (isinstance(value, Scalar) and value.kind in ("int", "bool")):
        return value
    if isinstance(value, Tensor):
        return tensor_item(value, kind="int") if state.binder is not None else hooks.as_python_number(value, "index")
    if isinstance(value, int | np.integer):
        return int(value)
    raise RuntimeError("Slice index type must be int, tensor or none.")


def _items(index: Any) -> list[Any]:
    if isinstance(index, tuple):
        return list(index)
    if isinstance(index, list) and any(_is_structure(i) for i in index):
        return index
    return [index]


def _is_structure(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice | list | tuple | Tensor | np.ndarray)


def _normal(item: Any) -> Any:
    """One entry of an index as int, Dim, Scalar, bool, slice, None, Ellipsis or index Tensor."""
    if item is False:
        raise IndexError("When tensor is indexed by a bool object, the value only support 'True'.")
    if item is None or item is Ellipsis or isinstance(item, int | Dim | slice):
        return item
    if isinstance(item, Scalar):
        if item.kind == "float":
            raise _wrong_type(item)
        return item if item.kind == "int" else as_tensor(item, dt.bool_)
    if isinstance(item, np.generic) and item.dtype.kind in "biu":
        return item.item()
    if isinstance(item, Tensor):
        return _index_tensor(item)
    if isinstance(item, list | tuple | range | np.ndarray):
        return _index_tensor(_sequence(item))
    raise _wrong_type(item)


def _wrong_type(item: Any) -> IndexError:
    if isinstance(item, str | dict | set | bytes):
        message = (
            f"Unsupported Python object type received: {type(item)}. Supported types for tensor indexing are: list, "
            "int, float, tuple, slice, ellipsis, None, array"
        )
    else:
        message = (
            "Only support integers, slices(`:`), ellipsis(`...`), None, bool, tensor, int, list and tuple as index, "
            f"but got {item} with type {type(item)}"
        )
    way = "round it: x[int(i)]" if isinstance(item, float) else None
    return user_error(IndexError, "DG0404", message, f"an index that is a {type(item).__name__}", help=way)


def _sequence(item: Any) -> Tensor:
    if isinstance(item, np.ndarray):
        return wrap(array_from(item))
    if len(item) == 0:
        return wrap(np.zeros((0,), np.int64))
    try:
        return as_tensor(list(item))
    except TypeError:
        raise _wrong_type(item) from None


def _index_tensor(t: Tensor) -> Tensor:
    if t.dtype.is_bool:
        return t
    if not t.dtype.is_integer:
        raise IndexError(f"The tensor index must be int or bool type, but got {t.dtype}.")
    return to_dtype(t, dt.int64)


def _consumed(item: Any) -> int:
    """How many axes of the tensor an entry of the index stands for."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Tensor) and item.dtype.is_bool:
        return len(item.shape)
    return 1
