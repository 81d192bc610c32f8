"""Walking over the windows of a plane: which taps of a window lie inside, and vectors of them along a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Buffer, Value
from ..target import current_target

AXES = ("d", "h", "w")
UNROLLED = 8
"""Kernels up to this width along a row are unrolled."""
TAPS = 16
"""Kernels up to this many taps are unrolled in all axes."""


@dataclass(frozen=True)
class Form:
    """What a pooling kernel is specialised on: the taps of a row, if few; unit dilation; lanes.

    Attributes:
        lanes: outputs of a row that are computed together.
        width: taps along a row, or 0 if that is a run-time number.
        step: stride along a row, or 0.
        dilated: whether any dilation is not 1.
        rows: taps along the other two axes if they are few and all windows lie inside the image: no window is cut,
            everything is unrolled, no vector needs a mask.
        narrow: rows of outputs are shorter than a vector, and that is masked.
    """

    lanes: int
    width: int
    step: int
    dilated: bool
    rows: tuple[int, int] | None = None
    narrow: bool = False


def form_of(kernel: Any, stride: Any, dilation: Any, count: Any, size: Any, front: Any) -> Form:
    """The specialisation for these numbers; they are per spatial axis."""
    width, step, outputs = kernel[-1], stride[-1], count[-1]
    lanes = 16
    while isinstance(outputs, int) and outputs < lanes and lanes > 1:
        lanes = lanes // 2 if lanes > 4 else 1
    dilated = any(d != 1 for d in dilation)
    unrolled = isinstance(width, int) and width <= UNROLLED
    vector = (step == 1 or (step == 2 and width != 1)) and unrolled and not dilated and lanes > 1
    inside = all(
        isinstance(c, int) and isinstance(n, int) and f == 0 and (c - 1) * s + (k - 1) * d + 1 <= n
        for n, c, k, s, f, d in zip(size, count, kernel, stride, front, dilation, strict=True)
    )
    rows = tuple(([1, 1, *kernel])[-3:-1]) if inside and unrolled and prod(kernel) <= TAPS else None
    return Form(lanes, width if unrolled else 0, step if vector else 0, dilated, rows)  # type: ignore[arg-type]


def window_numbers(size: Any, count: Any, kernel: Any, stride: Any, front: Any, dilation: Any) -> list[Any]:
    """The dims that `Windows` declares, missing axes in front."""
    missing = 3 - len(size)
    numbers: list[Any] = []
    for values, fill in ((size, 1), (count, 1), (kernel, 1), (stride, 1), (front, 0), (dilation, 1)):
        numbers += [fill] * missing + list(values)
    return numbers


def narrowed(form: Form, outputs: Any) -> Form:
    """``form`` with one masked vector for rows of a few outputs, where that is possible."""
    if form.rows is None or not form.step or outputs not in (5, 6, 7) or not current_target().has_masks:
        return form
    return replace(form, lanes=8, narrow=True)


class Windows:
    """The dims of a pooling kernel, and loops over its windows."""

    def __init__(self, b: Builder, form: Form) -> None:
        self.b, self.form = b, form
        self.size, self.count, self.kernel, self.stride, self.front, self.dilation = (
            [b.dim(f"{name}_{axis}") for axis in AXES]
            for name in ("size", "count", "kernel", "stride", "front", "dilation")
        )
        if form.width:
            self.kernel[2] = form.width  # type: ignore[call-overload]
        if form.step:
            self.stride[2] = form.step  # type: ignore[call-overload]
        if form.rows:
            self.kernel[:2] = form.rows  # type: ignore[assignment]
        if not form.dilated:
            self.dilation = [1, 1, 1]  # type: ignore[list-item]
        self.plane = self.size[0] * self.size[1] * self.size[2]
        self.outputs = self.count[0] * self.count[1] * self.count[2]

    def inside(self, axis: int, base: Any) -> tuple[Any, Any]:
        """The range of taps of an axis that lie inside, for a window that starts at ``base``."""
        b, d = self.b, self.dilation[axis]
        if self.form.rows:
            return 0, self.kernel[axis]
        lo = b.ceil_div(b.max(b.sub(0, base), 0), d)
        hi = b.min(self.kernel[axis], b.ceil_div(b.max(b.sub(self.size[axis], base), 0), d))
        return lo, hi

    def rows(self, body: Callable[[Any, Any, Any, Any], None]) -> None:
        """``body(base_d, base_h, outputs so far, (ranges of d and h))`` for every row of outputs of a plane."""
        b = self.b

        def depth(z: Any) -> None:
            base_d = z * self.stride[0] - self.front[0]
            range_d = self.inside(0, base_d)

            def row(y: Any) -> None:
                base_h = y * self.stride[1] - self.front[1]
                body(base_d, base_h, (z * self.count[1] + y) * self.count[2], (range_d, self.inside(1, base_h)))

            b.for_(0, self.count[1], 1, row)

        b.for_(0, self.count[0], 1, depth)

    def vectors(
        self, full: Callable[[Any, Any], None], part: Callable[[Any, Any, Any], None], extra: Any = None
    ) -> None:
        """``full(x, base)`` where ``lanes`` windows lie inside, else ``part(x, base, number of windows)``.

        ``x`` is the first output, ``base`` the place of its first tap in the row. ``extra``: a further condition.
        """
        b, lanes, step = self.b, self.form.lanes, self.stride[2]
        last_tap = b.mul(b.sub(self.kernel[2], 1), self.dilation[2])
        reach = b.add(b.add(b.mul(lanes - 1, step), last_tap), 1)

        def vector(x: Any) -> None:
            # the last vector ends where the row ends, and computes again what the one before it has
            x = b.max(b.min(x, self.count[2] - lanes), 0)
            base = x * step - self.front[2]
            if self.form.rows:
                full(x, base)
                return
            fits = b.ge(base, 0) & b.le(base + reach, self.size[2]) & b.le(x + lanes, self.count[2])
            if extra is not None:
                fits = fits & extra
            b.if_(fits, lambda: full(x, base), lambda: part(x, base, self.count[2] - x))

        b.for_(0, self.count[2], lanes, vector)

    def lines(self, ranges: Any, body: Callable[..., Any], carried: list[Value]) -> list[Value]:
        """``body(kd, kh, *carried)`` for the rows of taps in ``ranges`` of both axes."""
        b, ((d0, d1), (h0, h1)) = self.b, ranges
        if self.form.rows:
            for kd, kh in product(range(d1), range(h1)):
                carried = list(body(kd, kh, *carried))
            return carried
        return list(b.for_(d0, d1, 1, lambda kd, *c: b.for_(h0, h1, 1, lambda kh, *c: body(kd, kh, *c), c), carried))

    def taps(self, body: Callable[..., Any], carried: list[Value]) -> list[Value]:
        """``body(kw, *carried)`` for the taps of a row: unrolled if their number is known."""
        if not self.form.width:
            return list(self.b.for_(0, self.kernel[2], 1, body, carried))
        for kw in range(self.form.width):
            carried = list(body(kw, *carried))
        return carried

    def loader(
        self, x: Buffer, start: Any, masks: Callable[[int, int], Value | None] = lambda first, lanes: None
    ) -> Callable[[Any], Value]:
        """A function from kw to the vector of taps of all lanes, all inside, of the row that starts at ``start``.

        ``masks(first, lanes)``: which of ``lanes`` elements from ``first`` on may be read.
        """
        b, form = self.b, self.form
        blocks: dict[int, Value] = {}

        def pairs(first: int) -> Value:
            if first not in blocks:
                blocks[first] = b.load(x, b.add(start, first), 2 * form.lanes, masks(first, 2 * form.lanes))
            return blocks[first]

        def load(kw: Any) -> Value:
            if form.step == 1:
                return b.load(x, b.add(start, kw), form.lanes, masks(kw, form.lanes))
            if form.step == 2:
                # an odd tap is the other half of what was loaded for the tap before it; so is the last one of an odd
                # number, of a block of its own, which ends with the last element that any window needs
                odd = kw % 2 or int(kw == form.width - 1)
                block = pairs(kw - odd)
                return b.shuffle(block, block, range(odd, 2 * form.lanes, 2))
            return b.load_strided(x, b.add(start, b.mul(kw, self.dilation[2])), self.stride[2], form.lanes)

        return load

    def masked(self, x: Buffer, start: Any, base: Any, kw: Any) -> tuple[Value, Value]:
        """(taps, which of them are inside the row) of all lanes; ``start + base`` is the first tap."""
        b, lanes = self.b, self.form.lanes
        first = b.add(base, b.mul(kw, self.dilation[2]))
        if lanes == 1:
            inside = b.ge(first, 0) & b.lt(first, self.size[2])
            return b.load(x, b.add(start, b.select(inside, first, 0))), inside
        near, end, step = (b.convert(b.value(v), "i32") for v in (first, self.size[2], self.stride[2]))
        places = b.lanes(lanes, "i32") * b.splat(step, lanes) + b.splat(near, lanes)
        inside = b.ge(places, 0) & b.lt(places, b.splat(end, lanes))
        if self.form.step == 1:
            return b.load(x, b.add(start, first), lanes, inside), inside
        if self.form.step == 2:
            block = b.lanes(2 * lanes, "i32") + b.splat(near, 2 * lanes)
            readable = b.ge(block, 0) & b.lt(block, b.splat(end, 2 * lanes))
            pairs = b.load(x, b.add(start, first), 2 * lanes, readable)
            return b.shuffle(pairs, pairs, range(0, 2 * lanes, 2)), inside
        return b.gather(x, b.convert(places, "i64") + b.splat(b.value(start), lanes), inside), inside
