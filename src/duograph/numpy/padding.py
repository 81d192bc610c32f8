"""``numpy.pad`` with all modes of NumPy.

Modes that repeat elements (``edge``, ``reflect``, ``symmetric``, ``wrap``) are a gather at positions that NumPy finds
for the indices of the axis; those of statistics and ramps compute one border per side. Axes are padded one after the
other, so that corners come from borders, as NumPy does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.api.functional import padding, reduce, sorting
from duograph.api.functional.forms import as_float
from duograph.api.promote import to_dtype
from duograph.ops import movement
from duograph.ops.arithmetic import add, mul, sub
from duograph.ops.creation import constant_like
from duograph.ops.indexing import gather
from duograph.ops.slices import concat, slice_axis
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor

_REPEATING = ("edge", "reflect", "symmetric", "wrap")


def _maximum(x: Tensor, axis: int) -> Tensor:
    return reduce.amax(x, axis, True)


def _minimum(x: Tensor, axis: int) -> Tensor:
    return reduce.amin(x, axis, True)


def _mean(x: Tensor, axis: int) -> Tensor:
    return reduce.mean(as_float(x), axis, True)


def _median(x: Tensor, axis: int) -> Tensor:
    """The middle element, or the mean of the two in the middle."""
    values, _ = sorting.sort(x, axis)
    n = x.shape[axis]
    both = slice_axis(as_float(values), axis, (n - 1) // 2, n // 2 + 1)
    return reduce.mean(both, axis, True)


_STATISTICS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "maximum": _maximum, "minimum": _minimum, "mean": _mean, "median": _median,
}  # fmt: skip
_OPTIONS = {
    "constant": ("constant_values",), "linear_ramp": ("end_values",), "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",), **dict.fromkeys(_STATISTICS, ("stat_length",)),
}  # fmt: skip


def _pairs(value: Any, rank: int, name: str) -> list[tuple[Any, Any]]:
    """One (before, after) pair per axis of a number, a pair, or pairs.

    Raises:
        ValueError: other numbers of pairs than axes.
    """
    spread = np.asarray(value, dtype=object)
    try:
        return [(before, after) for before, after in np.broadcast_to(spread, (rank, 2))]
    except ValueError:
        raise ValueError(f"For 'pad', the '{name}' must fit {rank} axes, but got {value}.") from None


def pad(arr: Any, pad_width: Any, mode: Any = "constant", stat_length: Any = None, constant_values: Any = 0,
        end_values: Any = 0, reflect_type: str = "even", **kwargs: Any) -> Tensor:  # fmt: skip
    """With elements more on both sides of every axis.

    Args:
        arr (Union[list, tuple, Tensor]): what is padded.
        pad_width (Union[int, tuple, list]): elements more before and after: one for all axes, one pair, or pairs.
        mode (str): ``constant``, ``edge``, ``empty`` (zeros), ``linear_ramp``, ``maximum``, ``mean``, ``median``,
            ``minimum``, ``reflect``, ``symmetric``, ``wrap``. Default ``"constant"``.
        stat_length (Union[int, tuple]): of how many elements at the border the statistic is. Default ``None``: all.
        constant_values (Union[int, float, tuple]): the value of ``constant``. Default 0.
        end_values (Union[int, float, tuple]): where ``linear_ramp`` ends. Default 0.
        reflect_type (str): ``"even"``, or ``"odd"``: twice the border less the reflected. Default ``"even"``.
        kwargs: none.

    Returns:
        Tensor.

    Raises:
        ValueError: an unknown mode or option, or a negative width.

    Examples:
        >>> print(mnp.pad([1, 2, 3], (1, 2)), mnp.pad([1, 2, 3], 2, mode="reflect"))
        [0 1 2 3 0 0] [3 2 1 2 3 2 1]
    """
    t = as_tensor(arr)
    if not isinstance(mode, str) or (mode not in ("empty", *_OPTIONS, *_REPEATING)):
        known = sorted({"empty", *_OPTIONS, *_REPEATING})
        raise ValueError(f"For 'pad', the 'mode' must be in {known}, but got {mode}.")
    if kwargs:
        raise ValueError(f"For 'pad', the mode '{mode}' takes {_OPTIONS.get(mode, ())}, but got {sorted(kwargs)}.")
    if reflect_type not in ("even", "odd"):
        raise ValueError(f"For 'pad', the 'reflect_type' must be 'even' or 'odd', but got {reflect_type}.")
    widths = [(int(b), int(a)) for b, a in _pairs(pad_width, t.ndim, "pad_width")]
    if any(n < 0 for pair in widths for n in pair):
        raise ValueError(f"For 'pad', the 'pad_width' must not be negative, but got {pad_width}.")
    if not widths:
        return t
    values = _pairs(end_values if mode == "linear_ramp" else constant_values, t.ndim, "values")
    lengths = _pairs(stat_length, t.ndim, "stat_length")
    if mode in ("empty", "constant") and (mode == "empty" or all(pair == values[0] for pair in values)):
        before, after = (0, 0) if mode == "empty" else values[0]
        if before == after:
            return padding.pad_pairs(t, widths, "constant", before)
    for axis, (width, value, length) in enumerate(zip(widths, values, lengths, strict=True)):
        if width == (0, 0):
            continue
        if mode in _REPEATING:
            t = _repeated(t, axis, width, mode, reflect_type)
        elif mode in _STATISTICS:
            t = _with_borders(t, axis, width, _statistics(t, axis, length, mode))
        elif mode == "linear_ramp":
            t = _ramped(t, axis, width, value)
        else:
            t = _with_borders(t, axis, width, [constant_like(t, v) for v in value])
    return t


def _with_borders(t: Tensor, axis: int, width: tuple[int, int], borders: Any) -> Tensor:
    """``t`` between the two borders, repeated along ``axis`` as often as the widths say."""
    sides = [
        movement.broadcast_to(border, shape=tuple(n if i == axis else m for i, m in enumerate(t.shape)))
        for border, n in zip(borders, width, strict=True)
    ]
    return concat(sides[0], t, sides[1], axis=axis)


def _as(value: Tensor, like: Tensor) -> Tensor:
    """``value`` in the dtype of ``like``; integers without what is behind the point."""
    return to_dtype(value, like.dtype)


def _statistics(t: Tensor, axis: int, lengths: tuple[Any, Any], mode: str) -> list[Tensor]:
    n, borders = t.shape[axis], []
    for side, length in enumerate(lengths):
        size = n if length is None else min(int(length), n)
        if size < 1:
            raise ValueError(f"For 'pad', the 'stat_length' must be positive, but got {length}.")
        part = slice_axis(t, axis, *((0, size) if side == 0 else (n - size, n)))
        borders.append(_as(_STATISTICS[mode](part, axis), t))
    return borders


def _ramped(t: Tensor, axis: int, width: tuple[int, int], ends: tuple[Any, Any]) -> Tensor:
    sides = []
    n = t.shape[axis]
    for side, (count, end) in enumerate(zip(width, ends, strict=True)):
        edge = as_float(slice_axis(t, axis, *((0, 1) if side == 0 else (n - 1, n))))
        steps = np.arange(count, dtype=np.float64) / max(count, 1)  # from the end towards the edge, without the edge
        share = as_tensor((steps if side == 0 else steps[::-1]).astype(edge.dtype.numpy))
        share = movement.reshape(share, shape=tuple(count if i == axis else 1 for i in range(t.ndim)))
        gap = sub(edge, constant_like(edge, end))
        sides.append(_as(add(constant_like(edge, end), mul(gap, share)), t))
    return concat(sides[0], t, sides[1], axis=axis)


def _repeated(t: Tensor, axis: int, width: tuple[int, int], mode: Any, kind: str) -> Tensor:
    n = t.shape[axis]
    if n == 0:
        raise ValueError(f"For 'pad', an empty axis cannot be padded with mode '{mode}'.")
    if kind == "even" or mode not in ("reflect", "symmetric") or n == 1:
        return _at(t, axis, np.pad(np.arange(n), width, mode=mode))
    return _odd(t, axis, width, mode)


def _at(t: Tensor, axis: int, places: Any) -> Tensor:
    return gather(t, as_tensor(np.asarray(places, np.int64)), axis=axis)


def _odd(t: Tensor, axis: int, width: tuple[int, int], mode: str) -> Tensor:
    """Point reflections at both borders: ``f(i + 2 p) = f(i) + 2 (last - first)``, where ``p`` is the period."""
    n = t.shape[axis]
    places = np.arange(-width[0], n + width[1])
    period = n - 1 if mode == "reflect" else n
    turns, rest = np.divmod(places, 2 * period)
    beyond = rest > n - 1
    mirrored = 2 * (n - 1) - rest if mode == "reflect" else 2 * n - 1 - rest
    base = _at(t, axis, np.where(beyond, mirrored, rest))
    first, last = slice_axis(t, axis, 0, 1), slice_axis(t, axis, n - 1, n)

    def along(values: Any) -> Tensor:
        row = to_dtype(as_tensor(np.asarray(values)), t.dtype)
        return movement.reshape(row, shape=tuple(len(places) if i == axis else 1 for i in range(t.ndim)))

    drift = mul(sub(last, first), along(2 * turns))
    turned = add(mul(base, along(np.where(beyond, -1, 1))), mul(last, along(np.where(beyond, 2, 0))))
    return add(turned, drift)
