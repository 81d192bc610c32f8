"""Methods of Tensor that read or replace some of the elements, by index, axis or condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import normalize_axis, numel
from duograph.ops import diagonals, movement
from duograph.ops import indexing as element_ops
from duograph.ops.arithmetic import div, maximum, minimum, sub
from duograph.ops.creation import constant_like, full
from duograph.ops.indexing import scatter_nd_update
from duograph.ops.select import select as choose_by
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from . import operators
from .functional import index as functional_index
from .functional import sorting
from .functional.forms import FOUR_AND_TWO, documented, public_functions
from .indexing import getitem, setitem
from .inplace_index import index_add_, index_copy_, index_fill_, index_put_, scatter_add_
from .promote import as_tensor, constant, promote, to_dtype


def select(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """``x.select(dim, index)``: the slice at ``index`` along ``dim``, a view; ``x.select(condition, y)``: a choice.

    Returns:
        Tensor; of the first form a view, whose rank is one less.

    Raises:
        TypeError: an argument has an unsupported type.
        IndexError: there is no such place.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).select(0, 1))
        [3 4]
    """
    first = args[0] if args else options.get("condition")
    if isinstance(first, Tensor) and first.dtype.is_bool:
        return where(self, *_bound("select", ("condition", "y"), args, options))
    if "axis" in options:
        options["dim"] = options.pop("axis")
    dim, index = _bound("select", ("dim", "index"), args, options)
    axis = normalize_axis(dim, self.ndim, "select")
    return getitem(self, (*[slice(None)] * axis, index))


def _bound(method: str, names: tuple[str, ...], args: tuple[Any, ...], options: dict[str, Any]) -> list[Any]:
    """The arguments ``names``, given by position or name.

    Raises:
        TypeError: one is missing, unknown, or given twice.
    """
    if len(args) > len(names):
        raise TypeError(f"{method}() takes {len(names)} positional arguments but {len(args)} were given")
    given = dict(zip(names, args, strict=False))
    for name, value in options.items():
        if name not in names:
            raise TypeError(f"{method}() got an unexpected keyword argument '{name}'")
        if name in given:
            raise TypeError(f"{method}() got multiple values for argument '{name}'")
        given[name] = value
    missing = [name for name in names if name not in given]
    if missing:
        raise TypeError(f"missing required argument: {missing[0]}")
    return [given[name] for name in names]


def diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, **options: Any) -> Tensor:
    """The diagonal of the matrices in two axes, as the last axis; a view.

    Returns:
        Tensor, of this dtype; its rank is one less.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).diagonal())
        [1 4]
    """
    axis1, axis2 = options.pop("dim1", axis1), options.pop("dim2", axis2)
    if options:
        raise TypeError(f"diagonal() got an unexpected keyword argument '{next(iter(options))}'")
    i, j = normalize_axis(axis1, self.ndim, "diagonal"), normalize_axis(axis2, self.ndim, "diagonal")
    return diagonals.diagonal(self, offset=offset, axis1=i, axis2=j)


def gather(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """``x.gather(dim, index)``: one element per index; ``x.gather(input_indices, axis)``: whole slices.

    Returns:
        Tensor, of this dtype.

    Raises:
        TypeError: an argument has an unsupported type.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).gather(1, Tensor([[1], [0]])))
        [[2]
         [3]]
    """
    if (args and isinstance(args[0], int)) or "dim" in options:
        dim, index = _bound("gather", ("dim", "index"), args, options)
        axis = normalize_axis(dim, self.ndim, "GatherD")
        return element_ops.gather_elements(self, to_dtype(index, dt.int64), axis=axis)
    batch_dims = options.pop("batch_dims", args[2] if len(args) > 2 else 0)
    indices, axis = _bound("gather", ("input_indices", "axis"), args if len(args) != 3 else args[:2], options)
    if batch_dims:
        return functional_index.gather(self, indices, axis, batch_dims)
    return element_ops.gather(self, as_tensor(indices), axis=normalize_axis(axis, self.ndim, "Gather"))


def where(self: Tensor, condition: Tensor, y: Any) -> Tensor:
    """``self`` where ``condition`` holds, ``y`` elsewhere.

    Returns:
        Tensor, of the shape all three broadcast to and the promoted dtype.

    Examples:
        >>> print(Tensor([1, 2]).where(Tensor([True, False]), 0))
        [1 0]
    """
    x, other = promote(self, y, "Select")
    return choose_by(to_dtype(condition, dt.bool_), x, other)


def take(self: Tensor, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Elements (slices along ``axis``) at ``indices``; ``mode`` for indices outside: clip, wrap or raise.

    Returns:
        Tensor, of this dtype.

    Examples:
        >>> print(Tensor([1, 2, 3]).take(Tensor([2, 0])))
        [3 1]
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(
            f"For 'Tensor.take', the argument 'mode' should be one of in ['raise', 'wrap', 'clip'], but got {mode}."
        )
    source = self if axis is not None else movement.reshape(self, shape=(numel(self.shape),))
    place = normalize_axis(axis or 0, source.ndim, "take")
    size = source.shape[place]
    index = to_dtype(as_tensor(indices), dt.int64)
    if mode == "clip":
        index = _limited(index, size - 1)
    elif mode == "wrap":
        index = operators.remainder(index, size)
    return element_ops.gather(source, index, axis=place)


def _limited(index: Tensor, last: Any) -> Tensor:
    return minimum(maximum(index, constant(0, dt.int64)), full(shape=(), value=last, dtype=dt.int64))


def index_add(self: Tensor, *args: Any, alpha: Any = 1, **options: Any) -> Tensor:
    """``x.index_add(dim, index, source, alpha=1)``, or ``x.index_add(indices, y, axis)``: slices added at indices.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_add(0, Tensor([1]), Tensor([[10, 10]])))
        [[ 1  2]
         [13 14]]
    """
    if (args and isinstance(args[0], Tensor)) or "indices" in options:
        names = ("indices", "y", "axis", "use_lock", "check_index_bound")
        switches = {name: True for name in names[max(len(args), 3) :] if name not in options}
        index, source, dim, *_ = _bound("index_add", names, args, {**options, **switches})
    else:
        if "axis" in options:
            options["dim"] = options.pop("axis")
        dim, index, source = _bound("index_add", ("dim", "index", "source"), args, options)
    return index_add_(self.copy(), dim, index, source, alpha=alpha)


def index_fill(self: Tensor, dim: Any = None, index: Any = None, value: Any = None, *, axis: Any = None) -> Tensor:
    """A copy whose slices ``index`` along ``dim`` are ``value``.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_fill(1, Tensor([0]), 7))
        [[7 2]
         [7 4]]
    """
    return index_fill_(self.copy(), dim if axis is None else axis, index, value)


def index_copy(self: Tensor, dim: int, index: Any, tensor: Tensor) -> Tensor:
    """A copy whose slices ``index`` along ``dim`` are those of ``tensor``.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).index_copy(0, Tensor([1]), Tensor([[8, 9]])))
        [[1 2]
         [8 9]]
    """
    return index_copy_(self.copy(), dim, index, tensor)


def index_put(self: Tensor, indices: Any, values: Tensor, accumulate: Any = False) -> Tensor:
    """A copy with ``x[indices] = values`` (or ``+=``) done.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([1, 2, 3]).index_put((Tensor([0]),), Tensor([10])))
        [10  2  3]
    """
    return index_put_(self.copy(), indices, values, accumulate)


def inplace_update(self: Tensor, v: Any, indices: Any) -> Tensor:
    """A copy whose rows ``indices`` are those of ``v``.

    Returns:
        Tensor, of this shape and dtype.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).inplace_update(Tensor([[8, 9]]), (1,)))
        [[1 2]
         [8 9]]
    """
    out = self.copy()
    setitem(out, indices if isinstance(indices, int) else list(indices), v[0] if isinstance(indices, int) else v)
    return out


def searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where ``v`` would have to be inserted to keep this (ascending) tensor in order; int32.

    Returns:
        Tensor of int32, of the shape of ``v``.

    Examples:
        >>> print(Tensor([1, 3, 5]).searchsorted(Tensor([2, 3])))
        [1 1]
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"For 'Tensor.searchsorted', the argument 'side' should be one of in ['left', 'right'], but got {side}."
        )
    return sorting.searchsorted(self, as_tensor(v), out_int32=True, side=side, sorter=sorter)


def itemset(self: Tensor, *args: Any) -> Tensor:
    """A copy with one element replaced: ``x.itemset(value)``, ``x.itemset(i, value)``, ``x.itemset((i, j), value)``.

    Returns:
        Tensor, of this shape and dtype.

    Raises:
        IndexError: the first argument is not a position, or there is no such element.
        TypeError: the value is not a number.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).itemset((0, 1), 9))
        [[1 9]
         [3 4]]
    """
    *index, value = args
    out = self.copy()
    if not index:
        if tuple(self.shape) not in ((), (1,)):
            raise IndexError(
                f"Only tensor which shape is (1,) support 1 arg that means omit index, but the tensor shape is "
                f"{tuple(self.shape)} and got 1 input."
            )
        write(out, movement.broadcast_to(constant(value, self.dtype), shape=tuple(self.shape)))
        return out
    where_ = tuple(index[0]) if isinstance(index[0], list | tuple) else tuple(index)
    if len(where_) == 1 and self.ndim > 1:
        setitem(out.reshape(-1), where_[0], value)
    else:
        setitem(out, where_, value)
    return out


def choose(self: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """Element ``choices[self[i]][i]`` for every place ``i``; ``mode`` for indices outside: clip, wrap or raise.

    Returns:
        Tensor, of the promoted dtype of ``choices``.

    Raises:
        TypeError: an argument has an unsupported type.

    Examples:
        >>> print(Tensor([0, 1]).choose([Tensor([1, 2]), Tensor([3, 4])]))
        [1 4]
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(
            f"For 'Tensor.choose', the argument 'mode' should be one of ['raise', 'wrap', 'clip'], but got {mode}."
        )
    rows = [as_tensor(c) for c in choices]
    index = to_dtype(self, dt.int64)
    if mode == "wrap":
        index = operators.remainder(index, len(rows))
    elif mode == "clip":
        index = index.clip(0, len(rows) - 1)
    out, index_shape = rows[0], tuple(index.shape)
    for k, row in enumerate(rows[1:], 1):
        x, y = promote(row, out, "choose")
        out = choose_by(operators.equal(index, k), x, y)
    return movement.broadcast_to(out, shape=index_shape) if not out.shape and index_shape else out


def _scatter_nd(
    name: str, reduction: str, combine: Callable[[Tensor, Tensor], Tensor] | None = None
) -> Callable[..., Tensor]:
    def method(self: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        values = to_dtype(updates, self.dtype)
        values = values if combine is None else combine(constant_like(values, int(reduction == "mul")), values)
        return scatter_nd_update(self, to_dtype(indices, dt.int64), values, reduction=reduction)

    method.__doc__ = documented(
        f"A copy with ``updates`` combined ({name}) into the slices that rows of ``indices`` name.",
        "Tensor, of this shape and dtype.",
        f"Tensor([8.0, 4.0]).scatter_{name}(Tensor([[1]]), Tensor([2.0]))", f"[8. {FOUR_AND_TWO[name]}.]",
    )  # fmt: skip
    return method


_scatter_nd_add = _scatter_nd("add", "add")


def scatter_add(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """``x.scatter_add(dim, index, src)``: an index per element; ``x.scatter_add(indices, updates)``: in rows.

    Returns:
        Tensor, of this shape and dtype.

    Raises:
        TypeError: an argument has an unsupported type.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).scatter_add(1, Tensor([[1], [0]]), Tensor([[8], [9]])))
        [[ 1 10]
         [12  4]]
    """
    if "dim" in options or "axis" in options or isinstance(args[0] if args else None, int):
        given = dict(zip(("dim", "index", "src"), args, strict=False)) | options
        return scatter_add_(
            self.copy(), given["dim"] if "dim" in given else given["axis"], given["index"], given["src"]
        )
    return _scatter_nd_add(self, *args, **options)


METHODS: dict[str, Any] = public_functions(globals()) | {
    **{f"scatter_{how}": _scatter_nd(how, how) for how in ("mul", "max", "min")},
    "scatter_sub": _scatter_nd("sub", "add", sub), "scatter_div": _scatter_nd("div", "mul", div),
}  # fmt: skip
