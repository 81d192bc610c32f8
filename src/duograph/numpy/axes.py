"""Functions of ``numpy`` over axes: parts along one, functions along them, comparisons and texts of whole tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.api.functional import joining
from duograph.api.functional.forms import as_float, axis_of, documented, in_dtype
from duograph.ops import movement
from duograph.tensor.tensor import Tensor

from .elementwise import BINARY, as_tensor
from .functions import array_equal
from .ranges import linspace
from .shapes import split


def _split_along(name: str, axis: int, least: int) -> Callable[..., Any]:
    def function(x: Any, indices_or_sections: Any) -> Any:
        t = as_tensor(x)
        if t.ndim < least:
            raise ValueError(f"For '{name}', the 'x' must have at least {least} dimensions, but got {t.ndim}.")
        return split(t, indices_or_sections, axis)

    function.__name__ = function.__qualname__ = name
    cube = (2,) * 3
    function.__doc__ = documented(
        f"`split` along the axis {axis}.", "tuple or list of Tensors.",
        f"[part.shape for part in mnp.{name}(mnp.ones({cube}), 2)]",
        str([tuple(1 if i == axis else 2 for i in range(3))] * 2),
    )  # fmt: skip
    return function


def rollaxis(x: Any, axis: int, start: int = 0) -> Tensor:
    """The axis ``axis`` moved to before the one that is at ``start``.

    Returns:
        Tensor, of the dtype of ``x``.

    Raises:
        ValueError: ``axis`` or ``start`` is out of range.

    Examples:
        >>> print(mnp.rollaxis(mnp.ones((2, 3, 4)), 2).shape)
        (4, 2, 3)
    """
    t = as_tensor(x)
    if not -t.ndim <= axis < t.ndim or not -t.ndim <= start <= t.ndim:
        raise ValueError(f"For 'rollaxis', 'axis' {axis} or 'start' {start} is out of range for {t.ndim} dimensions.")
    axis, start = axis % t.ndim, start + t.ndim if start < 0 else start
    return movement.move_axis(t, axis, start - 1 if axis < start else start)


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Tensor:
    """What ``func1d`` gives for each slice along ``axis``; its axes stand where the axis was.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.apply_along_axis(lambda row: row.max() - row.min(), 1, mnp.array([[1, 5, 2], [7, 3, 4]])))
        [4 4]
    """
    t: Any = as_tensor(arr)
    axis = operator.index(axis)
    if not -t.ndim <= axis < t.ndim:
        raise ValueError(f"For 'apply_along_axis', the 'axis' {axis} is out of range for {t.ndim} dimensions.")
    axis %= t.ndim
    last: Any = movement.move_axis(t, axis, t.ndim - 1)
    shape = last.shape[:-1]
    rows = last.reshape(-1, last.shape[-1])
    made = [as_tensor(func1d(rows[i], *args, **kwargs)) for i in range(rows.shape[0])]
    out = movement.reshape(joining.stack(made), shape=(*shape, *made[0].shape))
    for k in range(made[0].ndim):
        out = movement.move_axis(out, len(shape) + k, axis + k)
    return out


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    """``func(a, axis)`` for one axis after the other; what loses the axis gets it back, with an extent of 1.

    Returns:
        Tensor, with as many axes as ``a``.

    Examples:
        >>> print(mnp.apply_over_axes(mnp.sum, mnp.ones((2, 3, 4)), [0, 2]))
        [[[8.]
          [8.]
          [8.]]]
    """
    out: Any = as_tensor(a)
    rank = out.ndim
    for axis in [axes] if isinstance(axes, int) else axes:
        made: Any = func(out, axis)
        if made.ndim == rank - 1:
            made = made.expand_dims(axis)
        if made.ndim != rank:
            raise ValueError("For 'apply_over_axes', the function must give as many dimensions, or one less.")
        out = made
    return out  # type: ignore[no-any-return]


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether both have the same elements, once they are broadcast against each other.

    Args:
        a1 (Union[Tensor, list, tuple, number]): the first operand.
        a2 (Union[Tensor, list, tuple, number]): the second operand.

    Returns:
        Tensor of bool.

    Examples:
        >>> print(mnp.array_equiv([1, 2], [[1, 2], [1, 2]]), mnp.array_equiv([1, 2], [1, 3]))
        True False
    """
    x, y = as_tensor(a1), as_tensor(a2)
    try:
        shape = np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    except ValueError:
        return as_tensor(False)
    return array_equal(movement.broadcast_to(x, shape=shape), movement.broadcast_to(y, shape=shape))


def array_str(a: Any) -> str:
    """The elements as text.

    Args:
        a (Union[Tensor, list, tuple, number]): the operand.

    Returns:
        str.

    Examples:
        >>> print(repr(mnp.array_str([1, 2])))
        '[1 2]'
    """
    return str(as_tensor(a).asnumpy())


def divmod(x1: Any, x2: Any, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """The quotients rounded down, and the remainders.

    Returns:
        tuple of two Tensors.

    Examples:
        >>> quotient, rest = mnp.divmod([7, -7], 3)
        >>> print(quotient, rest)
        [ 2 -3] [1 2]
    """
    return BINARY["floor_divide"](x1, x2, dtype), BINARY["remainder"](x1, x2, dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Tensor:
    """``num`` numbers from ``start`` to ``stop`` of which each is the same multiple of the one before.

    Returns:
        Tensor.

    Raises:
        ValueError: an end is the number 0, or the ends are numbers of different signs.

    Examples:
        >>> print(mnp.geomspace(1, 1000, 4))
        [   1.   10.  100. 1000.]
    """
    if not isinstance(start, int | float) or not isinstance(stop, int | float):
        first, last = (as_float(as_tensor(end)) for end in (start, stop))
        exponents: Any = linspace(0.0, 1.0, num, endpoint)
        exponents = exponents.reshape(-1, *(1,) * max(first.ndim, last.ndim))
        out = in_dtype(first * (last / first) ** exponents, dtype)  # type: ignore[operator]
        return movement.move_axis(out, 0, axis_of(axis, out, "geomspace"))
    if start * stop <= 0:
        raise ValueError("For 'geomspace', 'start' and 'stop' must have the same sign, and none may be 0.")
    return in_dtype(as_tensor(np.geomspace(start, stop, num, endpoint).astype(np.float32)), dtype)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        rollaxis, apply_along_axis, apply_over_axes, array_equiv, array_str, divmod, geomspace,
        _split_along("hsplit", 1, 2), _split_along("vsplit", 0, 2), _split_along("dsplit", 2, 3),
    )
}  # fmt: skip
