"""Methods of Tensor that reduce axes, with the several signatures that MindSpore's overloads accept.

``axis`` and ``dim``, ``keepdims``, ``keep_dims`` and ``keepdim`` are taken as one argument each.
"""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import normalize_axes, normalize_axis, numel
from duograph.ops import cumulative, movement, reduce
from duograph.ops.arithmetic import add, maximum, minimum, sub, trunc_div
from duograph.ops.creation import constant_like
from duograph.ops.indexing import gather_elements
from duograph.ops.movement import reshape, sum_to
from duograph.ops.norm import reduce_mean
from duograph.ops.select import select
from duograph.tensor.tensor import Tensor

from .functional import reduce as reductions
from .functional.forms import documented
from .promote import as_tensor, promote_float, to_dtype
from .tensor_shape import shape_of

_KEEP = ("keepdims", "keep_dims", "keepdim")
_AXIS = ("axis", "dim")


def _merge(method: str, axis: Any, keepdims: Any, options: dict[str, Any]) -> tuple[Any, bool]:
    """``axis`` and ``keepdims`` under whichever of their names they were given.

    Raises:
        TypeError: an unknown keyword.
    """
    for name in [*_AXIS, *_KEEP]:
        if name in options:
            if name in _AXIS:
                if axis is not None:
                    raise TypeError(f"{method}() got multiple values for argument 'axis'")
                axis = options.pop(name)
            else:
                keepdims = options.pop(name)
    if options:
        raise TypeError(f"{method}() got an unexpected keyword argument '{next(iter(options))}'")
    if not isinstance(keepdims, bool):
        raise TypeError(f"For '{method}', the 'keepdims' must be bool, but got {keepdims!r}.")
    return axis, keepdims


def _axes(x: Tensor, axis: Any, method: str) -> tuple[int, ...]:
    if isinstance(axis, list | tuple):
        named = [normalize_axis(a, x.ndim, method) for a in axis]
        for a in named:
            if named.count(a) > 1:
                raise RuntimeError(f"dim={a} appears multiple times in the list of dims")
    elif axis is not None and (isinstance(axis, bool) or not hasattr(axis, "__index__")):
        raise TypeError(f"For '{method}', the 'axis' must be int, tuple or list, but got {type(axis).__name__}.")
    return normalize_axes(axis, x.ndim, method)


def sum(
    self: Tensor, axis: Any = None, dtype: Any = None, keepdims: Any = False, initial: Any = None, **options: Any
) -> Tensor:
    """Sum over ``axis`` (default: all). Bool and integers are summed as int64.

    Args:
        axis: axis, or tuple of axes.
        dtype: dtype to sum in, and of the result.
        keepdims: whether the axes stay, with size 1.
        initial: a number added to the sum.
        options: ``keepdim`` and ``dim``, as PyTorch calls them.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).sum(0))
        [4 6]
    """
    if isinstance(dtype, bool):
        dtype, keepdims = None, dtype
    axis, keepdims = _merge("sum", axis, keepdims, options)
    wanted = dt.as_dtype(dtype) if dtype is not None else _sum_dtype(self.dtype)
    out = movement.reduce_sum(to_dtype(self, wanted), axis=_axes(self, axis, "SumExt"), keep_dims=keepdims)
    return out if initial is None else add(out, as_tensor(initial, out.dtype))


def _sum_dtype(dtype: dt.DType) -> dt.DType:
    return dt.int64 if dtype.is_bool or dtype.is_integer else dtype


def mean(self: Tensor, axis: Any = None, keepdims: Any = False, *, dtype: Any = None, **options: Any) -> Tensor:
    """Mean over ``axis`` (default: all); of integers truncated, as in MindSpore.

    Returns:
        Tensor, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([[1.0, 3.0], [5.0, 7.0]]).mean(0))
        [3. 5.]
    """
    axis, keepdims = _merge("mean", axis, keepdims, options)
    x = self if dtype is None else to_dtype(self, dt.as_dtype(dtype))
    axes = _axes(x, axis, "MeanExt")
    if x.dtype.is_floating or x.dtype.is_complex:
        return reduce_mean(x, axis=axes, keep_dims=keepdims)
    count = numel(x.shape[a] for a in axes)
    total = movement.reduce_sum(to_dtype(x, dt.int64), axis=axes, keep_dims=keepdims)
    return to_dtype(trunc_div(total, constant_like(total, count)), x.dtype)


def prod(self: Tensor, axis: Any = None, keepdims: Any = False, dtype: Any = None, **options: Any) -> Tensor:
    """Product over ``axis`` (default: all). Bool and integers are multiplied as int64.

    Returns:
        Tensor, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([2, 3]).prod())
        6
    """
    axis, keepdims = _merge("prod", axis, keepdims, options)
    wanted = dt.as_dtype(dtype) if dtype is not None else _sum_dtype(self.dtype)
    return reduce.reduce_prod(to_dtype(self, wanted), axis=_axes(self, axis, "ProdExt"), keep_dims=keepdims)


def var(
    self: Tensor, axis: Any = None, ddof: Any = 0, keepdims: Any = False, *, correction: Any = None, **options: Any
) -> Tensor:
    """Variance over ``axis`` (default: all), divided by the number of elements minus ``ddof``.

    Returns:
        Tensor, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([1.0, 3.0]).var())
        1.0
    """
    return _spread("var", self, axis, correction if correction is not None else ddof, keepdims, options)


def _spread(name: str, x: Tensor, axis: Any, ddof: Any, keepdims: Any, options: dict[str, Any]) -> Tensor:
    axis, keepdims = _merge(name, axis, keepdims, options)
    x = promote_float(x)
    return reductions.spread(x, _axes(x, axis, "var"), ddof, keepdims, name == "std")[0]


def std(
    self: Tensor, axis: Any = None, ddof: Any = 0, keepdims: Any = False, *, correction: Any = None, **options: Any
) -> Tensor:
    """Standard deviation, the square root of `var`.

    Returns:
        Tensor, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([1.0, 3.0]).std())
        1.0
    """
    return _spread("std", self, axis, correction if correction is not None else ddof, keepdims, options)


def all(self: Tensor, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
    """Whether all elements over ``axis`` (default: all) are true.

    Returns:
        Tensor of bool, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([True, False]).all())
        False
    """
    axis, keepdims = _merge("all", axis, keepdims, options)
    return reduce.reduce_all(to_dtype(self, dt.bool_), axis=_axes(self, axis, "ReduceAll"), keep_dims=keepdims)


def any(self: Tensor, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
    """Whether any element over ``axis`` (default: all) is true.

    Returns:
        Tensor of bool, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([True, False]).any())
        True
    """
    axis, keepdims = _merge("any", axis, keepdims, options)
    return reduce.reduce_any(to_dtype(self, dt.bool_), axis=_axes(self, axis, "ReduceAny"), keep_dims=keepdims)


def _extreme(name: str, reduction: Any, find: Any, combine: Any) -> Any:
    def extreme(
        self: Tensor, *args: Any, initial: Any = None, where: Any = True, return_indices: bool = False, **options: Any
    ) -> Any:
        if args and isinstance(args[0], Tensor):
            if len(args) > 1 or options or initial is not None or where is not True or return_indices:
                raise TypeError(f"For '{name}', another tensor is compared with this one: it is the only argument.")
            return combine(*_both(self, args[0]))
        torch_style = len(args) > 0 and args[0] is not None and not _numpy_style(options, args)
        pair = return_indices or "dim" in options or torch_style
        axis, keepdims = _merge(name, args[0] if args else None, args[1] if len(args) > 1 else False, options)
        x = _filled(self, where, initial, name)
        if axis is None or isinstance(axis, list | tuple):
            out = reduction(x, axis=_axes(x, axis, name), keep_dims=keepdims)
        else:
            place = normalize_axis(axis, x.ndim, f"{name.title()}Dim")
            if pair and initial is not None:  # the place is that of the first element which is not beyond it
                x = combine(x, as_tensor(initial, x.dtype))
            out, index = _with_index(x, place, keepdims, find)
            if pair:
                return out, index
        return out if initial is None else combine(out, as_tensor(initial, out.dtype))

    extreme.__name__ = name
    extreme.__doc__ = documented(
        f"The {name}imum over all elements, or along an axis.\n\n``x.{name}(dim)`` and ``x.{name}(dim=0)`` give "
        f"values and indices; ``x.{name}(axis=0)`` and ``x.{name}()`` the values only.",
        "Tensor, or two, of this shape without the axis.",
        f"Tensor([2, 3, 1]).{name}()", "3" if name == "max" else "1",
        f"*Tensor([2, 3, 1]).{name}(0)", "3 1" if name == "max" else "1 2",
    )  # fmt: skip
    return extreme


def _numpy_style(options: dict[str, Any], args: tuple[Any, ...]) -> bool:
    return "keepdims" in options or isinstance(args[0], tuple | list)


def _both(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    common = dt.promote_types(x.dtype, y.dtype)
    return to_dtype(x, common), to_dtype(y, common)


def _filled(x: Tensor, where: Any, initial: Any, name: str) -> Tensor:
    if where is True:
        return x
    if initial is None:
        raise ValueError(f"For '{name}', the 'initial' must be given where 'where' is.")
    return select(as_tensor(where, dt.bool_), x, as_tensor(initial, x.dtype))


def _with_index(x: Tensor, axis: int, keepdims: bool, find: Any) -> tuple[Tensor, Tensor]:
    """Values and positions along one axis; the gradient goes to the position."""
    if not x.shape:
        return x, constant_like(to_dtype(x, dt.int64), 0)
    index = find(x, axis=axis, keep_dims=True)
    values = gather_elements(x, index, axis=axis)
    if not keepdims:
        shape = tuple(n for i, n in enumerate(x.shape) if i != axis)
        values, index = reshape(values, shape=shape), reshape(index, shape=shape)
    return values, to_dtype(index, dt.int64)


max = _extreme("max", reduce.reduce_max, reduce.argmax, maximum)
min = _extreme("min", reduce.reduce_min, reduce.argmin, minimum)


def amax(self: Tensor, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
    """The maximum over ``axis``; equal elements share the gradient, ``initial`` takes part, ``where`` masks out.

    Returns:
        Tensor, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([2, 3, 1]).amax())
        3
    """
    initial, where = options.pop("initial", None), options.pop("where", True)
    axis, keepdims = _merge("amax", axis, keepdims, options)
    x = _filled(self, where, initial, "amax")
    out = reduce.reduce_max(x, axis=_axes(self, axis, "ReduceMax"), keep_dims=keepdims)
    return out if initial is None else maximum(out, as_tensor(initial, out.dtype))


def amin(self: Tensor, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
    """The minimum over ``axis``; equal elements share the gradient, ``initial`` takes part, ``where`` masks out.

    Returns:
        Tensor, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([2, 3, 1]).amin())
        1
    """
    initial, where = options.pop("initial", None), options.pop("where", True)
    axis, keepdims = _merge("amin", axis, keepdims, options)
    x = _filled(self, where, initial, "amin")
    out = reduce.reduce_min(x, axis=_axes(self, axis, "ReduceMin"), keep_dims=keepdims)
    return out if initial is None else minimum(out, as_tensor(initial, out.dtype))


def _position(name: str, find: Any, dtype: dt.DType) -> Any:
    def position(self: Tensor, axis: Any = None, keepdims: Any = False, **options: Any) -> Tensor:
        axis, keepdims = _merge(name, axis, keepdims, options)
        if axis is None or not self.shape:
            flat = reshape(self, shape=(numel(self.shape),))
            return to_dtype(find(flat, axis=0, keep_dims=False), dtype)
        place = normalize_axis(axis, self.ndim, "Argmax" if name == "argmax" else "Argmin")
        return to_dtype(find(self, axis=place, keep_dims=keepdims), dtype)

    position.__name__ = name
    position.__doc__ = documented(
        f"The position of the {name[3:]}imum along ``axis`` (default: in the flattened tensor).",
        f"Tensor of {dtype.name}, of this shape without ``axis``.",
        f"Tensor([2, 3, 1]).{name}()", "1" if name == "argmax" else "2",
    )  # fmt: skip
    return position


argmax = _position("argmax", reduce.argmax, dt.int64)
argmin = _position("argmin", reduce.argmin, dt.int32)


def ptp(self: Tensor, axis: Any = None, keepdims: Any = False) -> Tensor:
    """The maximum minus the minimum over ``axis``.

    Returns:
        Tensor, of this shape without ``axis``.

    Examples:
        >>> print(Tensor([2, 5, 1]).ptp())
        4
    """
    return sub(amax(self, axis, keepdims), amin(self, axis, keepdims))


def cumsum(self: Tensor, axis: int | None = None, dtype: Any = None, dim: int | None = None) -> Tensor:
    """The running sum along ``axis`` (or ``dim``); without one, of the flattened tensor.

    Returns:
        Tensor, of this shape; without an axis in one dimension.

    Examples:
        >>> print(Tensor([1, 2, 3]).cumsum())
        [1 3 6]
    """
    axis = dim if axis is None else axis
    x = self if dtype is None else to_dtype(self, dtype)
    if x.dtype.is_bool:
        x = to_dtype(x, dt.int32)
    if axis is None:
        x, axis = reshape(x, shape=(numel(x.shape),)), 0
    return cumulative.cumsum(x, axis=normalize_axis(axis, x.ndim, "CumSum"))


def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed over the axes that broadcasting from ``size`` would have added.

    Returns:
        Tensor, of shape ``size``.

    Examples:
        >>> print(Tensor([[1, 2], [3, 4]]).sum_to_size(1, 2))
        [[4 6]]
    """
    shape = shape_of(size, "sum_to_size")
    if len(shape) > self.ndim:
        raise ValueError(f"For sum_to_size, size {shape} is not expandable to the tensor size {tuple(self.shape)}.")
    return sum_to(self, shape)


def argmax_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Value and index of the maximum along ``axis``; without one, of all elements, and 0 as MindSpore gives.

    Returns:
        Two Tensors, of this shape without ``axis``.

    Examples:
        >>> print(*Tensor([2, 3, 1]).argmax_with_value())
        3 1
    """
    return reductions.max(self, axis, keep_dims)


def argmin_with_value(self: Tensor, axis: int | None = 0, keep_dims: bool = False) -> tuple[Tensor, Tensor]:
    """Value and index of the minimum along ``axis``; without one, of all elements, and 0 as MindSpore gives.

    Returns:
        Two Tensors, of this shape without ``axis``.

    Examples:
        >>> print(*Tensor([2, 3, 1]).argmin_with_value())
        1 2
    """
    return reductions.min(self, axis, keep_dims)


METHODS: dict[str, Any] = {
    "sum": sum, "mean": mean, "prod": prod, "var": var, "std": std, "all": all, "any": any, "max": max, "min": min,
    "amax": amax, "amin": amin, "argmax": argmax, "argmin": argmin, "ptp": ptp, "cumsum": cumsum,
    "argmax_with_value": argmax_with_value, "argmin_with_value": argmin_with_value, "sum_to_size": sum_to_size,
}  # fmt: skip
