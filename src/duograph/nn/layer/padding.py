"""Padding layers."""

from __future__ import annotations

from typing import Any

from duograph.nn.cell import Cell
from duograph.ops.movement import flip
from duograph.ops.slices import concat, pad, slice_axis
from duograph.tensor.tensor import Tensor


def padded(x: Tensor, widths: tuple[tuple[int, int], ...], mode: str, value: Any = 0) -> Tensor:
    """``x`` padded by (front, back) per axis; negative widths crop. ``symmetric`` repeats the edge when it mirrors."""
    for axis, (front, back) in enumerate(widths):
        if front < 0 or back < 0:
            x = slice_axis(x, axis, max(-front, 0), x.shape[axis] - max(-back, 0))
    widths = tuple((max(front, 0), max(back, 0)) for front, back in widths)
    if mode != "symmetric":
        return pad(x, padding=widths, mode=mode, value=value)
    for axis, (front, back) in enumerate(widths):
        x = _mirrored(x, axis, front, back)
    return x


def _mirrored(x: Tensor, axis: int, front: int, back: int) -> Tensor:
    n = x.shape[axis]
    if max(front, back) > n:
        raise ValueError(f"For 'Pad', the paddings must not exceed the extent {n} in mode 'SYMMETRIC'.")
    parts = [x]
    if front:
        parts.insert(0, flip(slice_axis(x, axis, 0, front), axes=(axis,)))
    if back:
        parts.append(flip(slice_axis(x, axis, n - back, n), axes=(axis,)))
    return concat(*parts, axis=axis) if len(parts) > 1 else x


class Pad(Cell):
    """Pads every axis.

    Args:
        paddings (tuple): (front, back) per axis.
        mode (str): ``"CONSTANT"``, ``"REFLECT"`` or ``"SYMMETRIC"``. Default ``"CONSTANT"``.

    Examples:
        >>> print(nn.Pad(((0, 0), (1, 1)))(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 4)
    """

    def __init__(self, paddings: Any, mode: str = "CONSTANT") -> None:
        super().__init__()
        if not isinstance(paddings, tuple):
            raise TypeError(
                f"For '{self.cls_name}', the type of 'paddings' must be tuple, but got {type(paddings).__name__}."
            )
        for pair in paddings:
            if len(pair) != 2:
                raise ValueError(
                    f"For '{self.cls_name}', the dimension of 'paddings' must be (n, 2), but got {paddings}."
                )
        if len(paddings) > 4:
            raise ValueError(
                f"For '{self.cls_name}', only 'paddings' up to 4 dims is supported, but got {len(paddings)}."
            )
        if mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
            raise ValueError(
                f"For '{self.cls_name}', the 'mode' must be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', but got {mode}."
            )
        self.paddings = tuple(tuple(pair) for pair in paddings)
        self.mode = mode

    def construct(self, x):
        return padded(x, self.paddings, self.mode.lower())


class _SpatialPad(Cell):
    """Pads the trailing ``rank`` axes by widths given from the last axis on: (left, right, top, bottom, ...)."""

    rank = 1
    mode = "constant"
    least_dims = 1

    def _set_padding(self, padding: Any) -> None:
        owner = self.cls_name
        if isinstance(padding, bool) or not isinstance(padding, int | tuple | list):
            raise TypeError(
                f"For '{owner}', the type of parameter 'padding' should be in [int, tuple], but got {padding}."
            )
        items = (padding,) * (2 * self.rank) if isinstance(padding, int) else tuple(padding)
        if len(items) % 2 or len(items) > 2 * self.rank or any(not isinstance(p, int) for p in items):
            raise ValueError(
                f"For '{owner}', the length of parameter 'padding' with tuple type must equal to {2 * self.rank}, "
                f"but got {padding}."
            )
        self.padding = items

    def _widths(self, ndim: int) -> tuple[tuple[int, int], ...]:
        pairs = [(self.padding[i], self.padding[i + 1]) for i in range(0, len(self.padding), 2)]
        return ((0, 0),) * (ndim - len(pairs)) + tuple(reversed(pairs))


class _ConstantPad(_SpatialPad):
    def __init__(self, padding: Any, value: Any) -> None:
        super().__init__()
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(
                f"For '{self.cls_name}', the type of parameter 'value' should be in [float, int], but got "
                f"{type(value)}."
            )
        self._set_padding(padding)
        self.value = value

    def construct(self, x):
        return padded(x, self._widths(len(x.shape)), "constant", self.value)


class ConstantPad1d(_ConstantPad):
    """Pads the last axis by (left, right) with ``value``.

    Examples:
        >>> print(nn.ConstantPad1d(1, 0.5)(ops.ones((1, 2, 4))).shape)
        (1, 2, 6)
    """

    rank = 1


class ConstantPad2d(_ConstantPad):
    """Pads the last two axes by (left, right, top, bottom) with ``value``.

    Examples:
        >>> print(nn.ConstantPad2d(1, 0.5)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 6, 6)
    """

    rank = 2


class ConstantPad3d(_ConstantPad):
    """Pads the last three axes by (left, right, top, bottom, front, back) with ``value``.

    Examples:
        >>> print(nn.ConstantPad3d(1, 0.5)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 6, 6, 6)
    """

    rank = 3


class ZeroPad2d(_ConstantPad):
    """Pads the last two axes by (left, right, top, bottom) with zeros.

    Examples:
        >>> print(nn.ZeroPad2d(1)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 6, 6)
    """

    rank = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


class _EdgePad(_SpatialPad):
    def __init__(self, padding: Any) -> None:
        super().__init__()
        self._set_padding(padding)
        if any(p < 0 for p in self.padding):
            raise ValueError(f"For '{self.cls_name}', the 'padding' must not be negative, but got {padding}.")

    def construct(self, x):
        return padded(x, self._widths(len(x.shape)), self.mode)


class ReflectionPad1d(_EdgePad):
    """Pads the last axis by reflection at its ends.

    Examples:
        >>> print(nn.ReflectionPad1d(1)(ops.ones((1, 2, 4))).shape)
        (1, 2, 6)
    """

    rank, mode = 1, "reflect"


class ReflectionPad2d(_EdgePad):
    """Pads the last two axes by reflection at their ends.

    Examples:
        >>> print(nn.ReflectionPad2d(1)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 6, 6)
    """

    rank, mode = 2, "reflect"


class ReflectionPad3d(_EdgePad):
    """Pads the last three axes by reflection at their ends.

    Examples:
        >>> print(nn.ReflectionPad3d(1)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 6, 6, 6)
    """

    rank, mode = 3, "reflect"


class ReplicationPad1d(_EdgePad):
    """Pads the last axis by repeating its ends.

    Examples:
        >>> print(nn.ReplicationPad1d(1)(ops.ones((1, 2, 4))).shape)
        (1, 2, 6)
    """

    rank, mode = 1, "replicate"


class ReplicationPad2d(_EdgePad):
    """Pads the last two axes by repeating their ends.

    Examples:
        >>> print(nn.ReplicationPad2d(1)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 6, 6)
    """

    rank, mode = 2, "replicate"


class ReplicationPad3d(_EdgePad):
    """Pads the last three axes by repeating their ends.

    Examples:
        >>> print(nn.ReplicationPad3d(1)(ops.ones((1, 2, 4, 4, 4))).shape)
        (1, 2, 6, 6, 6)
    """

    rank, mode = 3, "replicate"
