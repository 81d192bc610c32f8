"""Shape arithmetic on extents, which are `int` or `Dim`; written once, used by eager inference and by graphs.

Nothing here looks at data. Where two extents must be equal for the program to make sense and nobody knows whether they
are, they are taken to be equal and the callback `assume(a, b)`, if given, makes that a guard. What is known to be wrong
raises MindSpore's exception with MindSpore's wording; `op` is the name the message shows.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from .assumptions import Assume, listener
from .dim import Dim, Extent, ceil_div, definitely_eq, definitely_le, dim_max, dim_min, exact_quotient
from .errors import user_error

Shape: TypeAlias = "tuple[Extent, ...]"

LARGEST_WINDOW = 1 << 31
"""Strides, dilations, paddings and sizes of windows are less."""


def show_shape(shape: Iterable[Extent]) -> str:
    """`[2, N]`, as messages show shapes."""
    return f"[{', '.join(map(str, shape))}]"


def numel(shape: Iterable[Extent]) -> Any:
    """The number of elements: an int, of symbolic extents a `Dim`."""
    total: Extent = 1
    for extent in shape:
        total = total * extent
    return total


# ---- broadcasting ---------------------------------------------------------------------------------------------------


def broadcast_shapes(
    *shapes: Sequence[Extent],
    op: str = "BroadcastTo",
    names: Sequence[str] = ("input", "other"),
    assume: Assume = None,
) -> Shape:
    """The shape all `shapes` broadcast to, by NumPy's rule.

    A `Dim` against an int other than 1 is that int; of two Dims the one that cannot be 1 wins, else the first.

    Raises:
        ValueError: two extents differ and neither can be 1.
    """
    result: Shape = ()
    for i, shape in enumerate(shapes):
        if i == 0 or result == tuple(shape):
            result = tuple(shape)
            continue
        rank = max(len(result), len(shape))
        left = (1,) * (rank - len(result)) + result
        right = (1,) * (rank - len(shape)) + tuple(shape)
        merged = [_broadcast_extent(a, b, assume) for a, b in zip(left, right, strict=True)]
        if None in merged:
            x, y = names if len(names) == len(shapes) == 2 else ("input1", f"input{i + 1}")
            axis = merged[::-1].index(None)
            at_x, at_y = f"{x}.shape[{len(result) - axis}]", f"{y}.shape[{len(shape) - axis}]"
            raise user_error(
                ValueError,
                "DG0410",
                f"For '{op}', {x}.shape and {y}.shape need to broadcast. The value of {at_x} or {at_y} must be 1 or -1 "
                f"when they are not the same, but got "
                f"{x}.shape = {show_shape(result)} and {y}.shape = {show_shape(shape)}",
                f"{op}({show_shape(result)}, {show_shape(shape)})",
                help=f"counted from the last axis, sizes must be equal or 1; those of axis -{axis + 1} are "
                f"{left[-1 - axis]} and {right[-1 - axis]}",
            )
        result = tuple(extent for extent in merged if extent is not None)
    return result


def taken_equal(a: Extent, b: Extent) -> bool:
    """Whether two extents are equal; if it is unknown they are taken to be, and the listener is called."""
    equal = definitely_eq(a, b)
    if equal is None and listener.assume is not None:
        listener.assume(a, b)
    return equal is not False


def taken_equal_shapes(a: Sequence[Extent], b: Sequence[Extent]) -> bool:
    """`taken_equal` of all extents of shapes of one rank; False if the ranks differ."""
    return len(a) == len(b) and all(taken_equal(m, n) for m, n in zip(a, b, strict=True))


def taken_at_most(a: Extent, b: Extent) -> bool:
    """Whether ``a <= b``; if it is unknown it is taken to be so, and the listener is called."""
    known = definitely_le(a, b)
    if known is None and listener.assume is not None:
        listener.assume(dim_min(a, b), a)
    return known is not False


def _broadcast_extent(a: Extent, b: Extent, assume: Assume) -> Extent | None:
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if not isinstance(a, Dim) and not isinstance(b, Dim):
        return None
    a_not_one, b_not_one = definitely_eq(a, 1) is False, definitely_eq(b, 1) is False
    equal = definitely_eq(a, b)
    if equal is False and a_not_one and b_not_one:
        return None
    take_b = b_not_one and not a_not_one if isinstance(b, Dim) else isinstance(a, Dim)
    assume = assume or listener.assume_broadcast
    if assume is not None and equal is not True:
        assume(a, b)
    return b if take_b else a


# ---- axes and reductions --------------------------------------------------------------------------------------------


def existing_axis(axis: int, ndim: int, op: str) -> int:
    """`axis` counted from the front, for operators that take a part of it: a 0-d tensor has none.

    Raises:
        TypeError: not an integer.
        ValueError: out of range, or a 0-d tensor.
    """
    if not ndim:
        raise ValueError(f"For '{op}', the input must have at least 1 dimension, but got shape ().")
    return normalize_axis(axis, ndim, op)


def normalize_axis(axis: int, ndim: int, op: str = "axis") -> int:
    """`axis` counted from the front; a 0-d tensor accepts 0 and -1, as if it had one axis.

    Raises:
        TypeError: not an integer.
        ValueError: out of range.
    """
    if isinstance(axis, bool):
        raise TypeError(f"For '{op}', the 'axis' must be int, but got 'bool'.")
    try:
        value = operator.index(axis)
    except TypeError:
        raise TypeError(f"For '{op}', the 'axis' must be int, but got '{type(axis).__name__}'.") from None
    rank = max(ndim, 1)
    if not -rank <= value < rank:
        message = f"For primitive[{op}], the axis must be in [{-rank},{rank}), but got {value}."
        raise user_error(ValueError, "DG0411", message, f"{op}: axis {value} of {ndim}")
    return value + rank if value < 0 else value


def normalize_axes(axes: int | Iterable[int] | None, ndim: int, op: str = "axis") -> tuple[int, ...]:
    """The axes, counted from the front, in ascending order; None and `()` mean all of them.

    Raises:
        ValueError: out of range, or the same axis twice.
    """
    if axes is None:
        return tuple(range(ndim))
    given = tuple(axes) if isinstance(axes, Iterable) else (axes,)
    if not given:
        return tuple(range(ndim))
    found = sorted(normalize_axis(axis, ndim, op) for axis in given)
    if len(set(found)) != len(found):
        raise ValueError(f"For '{op}', the axes must be unique, but got {given}.")
    return tuple(found) if ndim else ()


def normalize_permutation(perm: Iterable[int], ndim: int, op: str = "Transpose") -> tuple[int, ...]:
    """A permutation of all axes, counted from the front.

    Raises:
        ValueError: wrong length, out of range, or an axis twice.
    """
    given = tuple(perm)
    if len(given) != ndim:
        raise ValueError(f"For '{op}', size of perm should equal to rank of x, but got {len(given)} and {ndim}!")
    found = tuple(normalize_axis(axis, ndim, op) for axis in given)
    for axis in found:
        if found.count(axis) > 1:
            raise ValueError(f"For '{op}' perms should all be unique dim, but {axis} is not unique!")
    return found


def reduced_shape(shape: Sequence[Extent], axes: int | Iterable[int] | None, keep_dims: bool = False) -> Shape:
    """The shape after reducing `axes`: they vanish, or become 1 with `keep_dims`."""
    gone = set(normalize_axes(axes, len(shape)))
    return tuple(1 if i in gone else d for i, d in enumerate(shape) if keep_dims or i not in gone)


# ---- windows --------------------------------------------------------------------------------------------------------


def conv_output_size(
    size: Extent,
    kernel: Extent,
    stride: int = 1,
    pad: tuple[Extent, Extent] = (0, 0),
    dilation: int = 1,
    ceil_mode: bool = False,
) -> Extent:
    """How often a window of `kernel` taps fits along one axis; `pad` is what is added in front and behind.

    With `ceil_mode` a last window that sticks out is counted, if it starts inside the input or its front padding.

    Raises:
        ValueError: no windows are that large, or that far apart.
    """
    _check_window(stride, dilation, kernel, *pad)
    return window_count(size, kernel, stride, pad, dilation, ceil_mode)


def window_count(
    size: Extent, kernel: Extent, stride: int, pad: tuple[Extent, Extent], dilation: int, ceil_mode: bool
) -> Extent:
    """`conv_output_size` of windows that have been checked."""
    span = size + pad[0] + pad[1] - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return span // stride + 1
    count = ceil_div(span, stride) + 1
    return dim_min(count, ceil_div(size + pad[0], stride))


def same_padding(size: Extent, kernel: int, stride: int = 1, dilation: int = 1) -> tuple[Extent, Extent]:
    """Front and back padding of `pad_mode="same"`: `ceil(size / stride)` windows; the odd element goes behind."""
    _check_window(stride, dilation, kernel)
    total = dim_max((ceil_div(size, stride) - 1) * stride + dilation * (kernel - 1) + 1 - size, 0)
    return total // 2, total - total // 2


def _check_window(stride: int, dilation: int, *sizes: Extent) -> None:
    """Kernels compute places of windows in 64 bits, as products of two of these."""
    for name, value in (("stride", stride), ("dilation", dilation)):
        if not 0 < value < LARGEST_WINDOW:
            raise ValueError(f"The {name} of a window must be in [1, {LARGEST_WINDOW}), but got {value}.")
    for size in sizes:
        if isinstance(size, int) and abs(size) >= LARGEST_WINDOW:
            raise ValueError(f"The size and padding of a window must be less than {LARGEST_WINDOW}, but got {size}.")


# ---- slices ---------------------------------------------------------------------------------------------------------


def slice_range(
    extent: Extent, start: Extent | None, stop: Extent | None, step: int | None = None
) -> tuple[Extent, Extent]:
    """First index and number of elements of `range(extent)[start:stop:step]`.

    Raises:
        ValueError: `step` is 0, or the sign of a symbolic bound is not known.
    """
    step = 1 if step is None else operator.index(step)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    lowest, highest = (0, extent) if step > 0 else (-1, extent - 1)
    first = _clamp(start, extent, lowest, highest) if start is not None else (0 if step > 0 else highest)
    last = _clamp(stop, extent, lowest, highest) if stop is not None else (highest if step > 0 else lowest)
    distance = last - first if step > 0 else first - last
    return first, ceil_div(dim_max(distance, 0), abs(step))


def slice_length(extent: Extent, start: Extent | None, stop: Extent | None, step: int | None = None) -> Extent:
    """The number of elements of `range(extent)[start:stop:step]`."""
    return slice_range(extent, start, stop, step)[1]


def _clamp(index: Extent, extent: Extent, lowest: Extent, highest: Extent) -> Extent:
    if definitely_le(0, index):
        return dim_min(index, highest)
    if definitely_le(index, -1):
        return dim_max(index + extent, lowest)
    raise ValueError(f"the sign of the slice bound {index} is not known")


# ---- reshape --------------------------------------------------------------------------------------------------------


def _reshape_error(shape: Sequence[Extent], target: Sequence[Extent], total: Extent) -> ValueError:
    message = f"proposed_shape '[const vector]{{{show_shape(target)[1:-1]}}}' is invalid for input of size {total}"
    known = numel(d for d in target if d != -1)
    if -1 in target:
        help = f"{total} elements cannot be divided into groups of {known}"
    else:
        help = f"there are {total} elements, and a tensor of the wanted shape has {known}; -1 stands for what remains"
    operands = f"reshape({show_shape(shape)}, {show_shape(target)})"
    return user_error(ValueError, "DG0413", message, operands, help=help)


def infer_reshape(shape: Sequence[Extent], new_shape: Sequence[Extent], assume: Assume = None) -> Shape:
    """`new_shape` with its -1, if there is one, replaced by what makes the number of elements the same.

    Raises:
        ValueError: two -1, an extent below -1, or the sizes cannot agree.
    """
    target = tuple(new_shape)
    total = numel(shape)
    holes = [i for i, d in enumerate(target) if d == -1]
    if len(holes) > 1:
        raise ValueError("only one dimension can be inferred")
    if any(definitely_le(d, -1) for i, d in enumerate(target) if i not in holes):
        raise _reshape_error(shape, target, total)
    known = numel(d for i, d in enumerate(target) if i not in holes)
    if not holes:
        equal = definitely_eq(known, total)
        if equal is False:
            raise _reshape_error(shape, target, total)
        assume = assume or listener.assume
        if equal is None and assume is not None:
            assume(known, total)
        return target
    if known == 0 and total == 0:
        return tuple(0 if d == -1 else d for d in target)
    if known == 0 or definitely_eq(total % known, 0) is False:
        raise _reshape_error(shape, target, total)
    assume = assume or listener.assume
    missing = None
    if isinstance(known, Dim):
        if assume is not None and definitely_eq(known, 0) is None:
            assume(dim_min(known, 1), 1)  # of nothing, any number of rows can be made: NumPy makes none
        missing = exact_quotient(total, known)
    if missing is None:
        missing = total // known
        if assume is not None and definitely_eq(missing * known, total) is not True:
            assume(missing * known, total)
    return (*target[: holes[0]], missing, *target[holes[0] + 1 :])
