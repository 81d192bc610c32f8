"""Padding layers."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.nn.settings import Fixed, Kind, option, with_settings
from duograph.ops.movement import flip
from duograph.ops.slices import concat, pad, slice_axis
from duograph.tensor.tensor import Tensor

from .ranks import by_rank


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


def _pairs(value: Any, name: str, owner: str) -> tuple[Any, ...]:
    if not isinstance(value, tuple):
        raise TypeError(f"For '{owner}', the type of '{name}' must be tuple, but got {type(value).__name__}.")
    for pair in value:
        if len(pair) != 2:
            raise ValueError(f"For '{owner}', the dimension of '{name}' must be (n, 2), but got {value}.")
    if len(value) > 4:
        raise ValueError(f"For '{owner}', only '{name}' up to 4 dims is supported, but got {len(value)}.")
    return tuple(tuple(pair) for pair in value)


def _filling(value: Any, name: str, owner: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(
            f"For '{owner}', the type of parameter '{name}' should be in [float, int], but got {type(value)}."
        )
    return value


_MODES = ("CONSTANT", "REFLECT", "SYMMETRIC")
_mode = checks.that(checks.same, lambda x: x in _MODES, "be 'CONSTANT', 'REFLECT' or 'SYMMETRIC', but got {}")
Pairs = Annotated[Any, Kind("tuple", _pairs)]
Mode = Annotated[str, Kind("str", _mode, '``"CONSTANT"``, ``"REFLECT"`` or ``"SYMMETRIC"``')]
Widths = Annotated[Any, Kind("Union[int, tuple[int]]", text="how far at each side", kept=False)]
Filling = Annotated[float, Kind("Union[int, float]", _filling)]


@with_settings
class Pad(Cell):
    """Pads every axis.

    Examples:
        >>> print(nn.Pad(((0, 0), (1, 1)))(Tensor([[-1.0, 0.5], [2.0, -3.0]])).shape)
        (2, 4)
    """

    paddings: Pairs = option("(front, back) per axis")
    mode: Mode = "CONSTANT"

    def construct(self, x):
        return padded(x, self.paddings, self.mode.lower())


@with_settings
class _SpatialPad(Cell):
    """Pads the trailing ``rank`` axes by widths given from the last axis on: (left, right, top, bottom, ...)."""

    padding: Widths

    rank = 1
    mode = "constant"

    def _settings_taken(self, given):
        owner, padding = self.cls_name, given["padding"]
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


@with_settings
class _ConstantPad(_SpatialPad):
    value: Filling

    def construct(self, x):
        return padded(x, self._widths(len(x.shape)), "constant", self.value)


class _EdgePad(_SpatialPad):
    def _settings_taken(self, given):
        super()._settings_taken(given)
        if any(p < 0 for p in self.padding):
            raise ValueError(f"For '{self.cls_name}', the 'padding' must not be negative, but got {given['padding']}.")

    def construct(self, x):
        return padded(x, self._widths(len(x.shape)), self.mode)


def _two_more(n: int) -> int:
    return n + 2


ConstantPad1d, ConstantPad2d, ConstantPad3d = by_rank(
    _ConstantPad, "ConstantPad", "Pads {axes} by {sides} with ``value``.", "1, 0.5", _two_more
)
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = by_rank(
    _EdgePad, "ReflectionPad", "Pads {axes} by reflection at the ends.", "1", _two_more, mode="reflect"
)
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = by_rank(
    _EdgePad, "ReplicationPad", "Pads {axes} by repeating the ends.", "1", _two_more, mode="replicate"
)


@with_settings
class ZeroPad2d(_ConstantPad):
    """Pads the last two axes by (left, right, top, bottom) with zeros.

    Examples:
        >>> print(nn.ZeroPad2d(1)(ops.ones((1, 2, 4, 4))).shape)
        (1, 2, 6, 6)
    """

    value: Fixed = 0

    rank = 2
