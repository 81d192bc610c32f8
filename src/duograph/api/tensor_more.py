"""Methods of Tensor whose signature or meaning differs from the function of the same name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.autodiff import hooks as gradient_hooks
from duograph.core import dtype as dt
from duograph.core.shapes import normalize_axis, numel
from duograph.ops import diagonals, movement, slices
from duograph.ops import indexing as element_ops
from duograph.ops import random as draws
from duograph.ops.arithmetic import maximum, minimum
from duograph.ops.creation import full
from duograph.ops.rules import sum_to
from duograph.ops.select import select as choose_by
from duograph.tensor import hooks
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from . import operators
from .functional import activation, linalg, products, sorting
from .functional import array as arrays
from .functional import index as functional_index
from .functional import reduce as reductions
from .functional.forms import on_cpu
from .indexing import getitem, setitem
from .inplace import copy_, index_add_, index_copy_, index_fill_, index_put_, with_diagonal
from .promote import as_tensor, constant, is_number, promote, python_number, to_dtype
from .tensor_shape import shape_of

# ---- parts ----------------------------------------------------------------------------------------------------------


def select(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """``x.select(dim, index)``: the slice at ``index`` along ``dim``, a view; ``x.select(condition, y)``: a choice."""
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
    """The diagonal of the matrices in two axes, as the last axis; a view."""
    axis1, axis2 = options.pop("dim1", axis1), options.pop("dim2", axis2)
    if options:
        raise TypeError(f"diagonal() got an unexpected keyword argument '{next(iter(options))}'")
    i, j = normalize_axis(axis1, self.ndim, "diagonal"), normalize_axis(axis2, self.ndim, "diagonal")
    return diagonals.diagonal(self, offset=offset, axis1=i, axis2=j)


def gather(self: Tensor, *args: Any, **options: Any) -> Tensor:
    """``x.gather(dim, index)``: one element per index; ``x.gather(input_indices, axis)``: whole slices."""
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
    """``self`` where ``condition`` holds, ``y`` elsewhere."""
    x, other = promote(self, y, "Select")
    return choose_by(to_dtype(condition, dt.bool_), x, other)


def take(self: Tensor, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Elements (slices along ``axis``) at ``indices``; ``mode`` for indices outside: clip, wrap or raise."""
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
    """``x.index_add(dim, index, source, alpha=1)``, or ``x.index_add(indices, y, axis)``: slices added at indices."""
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
    """A copy whose slices ``index`` along ``dim`` are ``value``."""
    return index_fill_(self.copy(), dim if axis is None else axis, index, value)


def index_copy(self: Tensor, dim: int, index: Any, tensor: Tensor) -> Tensor:
    """A copy whose slices ``index`` along ``dim`` are those of ``tensor``."""
    return index_copy_(self.copy(), dim, index, tensor)


def index_put(self: Tensor, indices: Any, values: Tensor, accumulate: Any = False) -> Tensor:
    """A copy with ``x[indices] = values`` (or ``+=``) done."""
    return index_put_(self.copy(), indices, values, accumulate)


def inplace_update(self: Tensor, v: Any, indices: Any) -> Tensor:
    """A copy whose rows ``indices`` are those of ``v``."""
    out = self.copy()
    setitem(out, indices if isinstance(indices, int) else list(indices), v[0] if isinstance(indices, int) else v)
    return out


def searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Tensor | None = None) -> Tensor:
    """Where ``v`` would have to be inserted to keep this (ascending) tensor in order; int32."""
    if side not in ("left", "right"):
        raise ValueError(
            f"For 'Tensor.searchsorted', the argument 'side' should be one of in ['left', 'right'], but got {side}."
        )
    return sorting.searchsorted(self, as_tensor(v), out_int32=True, side=side, sorter=sorter)


def reverse(self: Tensor, axis: Any) -> Tensor:
    """The elements in reverse order along the axes."""
    axes = axis if isinstance(axis, list | tuple) else (axis,)
    return movement.flip(self, axes=tuple(normalize_axis(a, self.ndim, "ReverseV2") for a in axes))


def flip(self: Tensor, dims: Any, *more: Any) -> Tensor:
    """The elements in reverse order along ``dims``: ``x.flip(0, 1)``, ``x.flip((0, 1))`` or ``x.flip(dims=(0, 1))``."""
    return reverse(self, shape_of((dims, *more), "flip"))


def resize(self: Tensor, *new_shape: Any) -> Tensor:
    """The elements in row-major order in a new shape: cut off, or followed by zeros."""
    shape = shape_of(new_shape, "resize")
    flat = movement.reshape(self, shape=(numel(self.shape),))
    have, want = numel(self.shape), numel(shape)
    if want > have:
        flat = slices.concat(flat, full(shape=(want - have,), value=0, dtype=self.dtype), axis=0)
    return movement.reshape(slices.slice_axis(flat, 0, 0, want), shape=shape)


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed over the axes that broadcasting from ``size`` would have added."""
    shape = shape_of(size, "sum_to_size")
    if len(shape) > self.ndim:
        raise ValueError(f"For sum_to_size, size {shape} is not expandable to the tensor size {tuple(self.shape)}.")
    return sum_to(self, shape)


# ---- new values -----------------------------------------------------------------------------------------------------


def fill(self: Tensor, value: Any) -> Tensor:
    """A new tensor of this shape and dtype, every element ``value`` (``None``: 0)."""
    value = python_number(0 if value is None else value)
    if isinstance(value, Tensor):
        return movement.broadcast_to(to_dtype(value, self.dtype), shape=tuple(self.shape))
    if not is_number(value):
        raise TypeError(f"For 'Tensor.fill', the argument 'value' must be a number, but got {value!r}.")
    return movement.broadcast_to(constant(value, self.dtype), shape=tuple(self.shape)).copy()


def fill_diagonal(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """A copy with the main diagonal filled."""
    return with_diagonal(self, fill_value, wrap)


def _new(value: Any) -> Callable[..., Tensor]:
    def method(self: Tensor, *size: Any, dtype: Any = None, device: Any = None) -> Tensor:
        on_cpu("new_tensor", device)
        wanted = self.dtype if dtype is None else dt.as_dtype(dtype)
        return full(shape=shape_of(size, "new"), value=value, dtype=wanted)

    method.__doc__ = f"A tensor of shape ``size`` filled with {value}, of this dtype unless ``dtype`` says otherwise."
    return method


def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of shape ``size`` filled with ``fill_value``, of this dtype unless ``dtype`` says otherwise."""
    on_cpu("new_full", device)
    wanted = self.dtype if dtype is None else dt.as_dtype(dtype)
    return movement.broadcast_to(constant(fill_value, wanted), shape=shape_of((size,), "new_full")).copy()


def itemset(self: Tensor, *args: Any) -> Tensor:
    """A copy with one element replaced: ``x.itemset(value)``, ``x.itemset(i, value)``, ``x.itemset((i, j), value)``."""
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


def assign_value(self: Tensor, value: Tensor) -> Tensor:
    """The contents become those of ``value``."""
    return copy_(self, value)


def set_(self: Tensor, source: Tensor) -> Tensor:
    """Makes this tensor another handle on the storage of ``source``."""
    hooks.changes_handle(self, "set_()")
    self._share(source)
    return self


def argmax_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Value and index of the maximum along ``axis``; without one, of all elements, and 0 as MindSpore gives."""
    return reductions.max(self, axis, keep_dims)


def argmin_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Value and index of the minimum along ``axis``; without one, of all elements, and 0 as MindSpore gives."""
    return reductions.min(self, axis, keep_dims)


# ---- functions whose arguments differ as methods ---------------------------------------------------------------------


def softmax(self: Tensor, axis: int = -1, dtype: Any = None) -> Tensor:
    """``exp(self)`` divided by its sum along ``axis``."""
    return activation.softmax(self, axis, dtype=dtype)


def addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """``beta * self + alpha * outer(vec1, vec2)``."""
    return products.addr(self, vec1, vec2, beta=beta, alpha=alpha)


def qr(self: Tensor, some: Any = True) -> tuple[Tensor, Tensor]:
    """Orthogonal and triangular factor; ``some=False`` for the complete one. A mode as `ops.qr` takes it works, too."""
    return linalg.qr(self, some if isinstance(some, str) else "reduced" if some else "complete")


def reverse_sequence(self: Tensor, seq_lengths: Tensor, seq_dim: int = 0, batch_dim: int = 0) -> Tensor:
    """The first ``seq_lengths[i]`` places along ``seq_dim`` reversed, for every ``i`` along ``batch_dim``."""
    return arrays.reverse_sequence(self, seq_lengths, seq_dim, batch_dim)


def bernoulli(self: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability that the element is, else 0."""
    return to_dtype(draws.bernoulli(self, tuple(self.shape), generator), self.dtype)


# ---- gradients ------------------------------------------------------------------------------------------------------


def register_hook(self: Tensor, hook: Callable[[Any], Any]) -> gradient_hooks.HookHandle:
    """Calls ``hook(gradient)`` when the gradient of this tensor is computed; what it returns replaces the gradient.

    Args:
        hook: function of the gradient; ``None`` as result keeps it.

    Returns:
        A handle with ``remove()``.

    Raises:
        TypeError: ``hook`` is not callable.
    """
    if not callable(hook):
        raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
    return gradient_hooks.register_tensor_hook(self, hook)


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """The tensor itself: gradients are asked for with ``grad``, and flow to whatever that names.

    Raises:
        TypeError: ``requires_grad`` is no bool.
    """
    if not isinstance(requires_grad, bool):
        raise TypeError(f"For 'requires_grad_', the 'requires_grad' must be a bool, but got {requires_grad!r}.")
    return self


METHODS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        select, diagonal, gather, where, take, index_add, index_fill, index_copy, index_put, inplace_update,
        searchsorted, reverse, flip, resize, sum_to_size, fill, fill_diagonal, new_full, itemset,
        assign_value, set_, argmax_with_value, argmin_with_value, softmax, addr, qr, reverse_sequence, bernoulli,
        register_hook, requires_grad_,
    )
} | {"new_zeros": _new(0), "new_ones": _new(1), "new_empty": _new(0)}  # fmt: skip
