"""The gradient of maximum pooling with windows that do not overlap: every element asks its window.

The places that windows chose are spread to the elements of the window by shuffles and compared with the elements' own
places; where they agree stands the value, zero elsewhere. One vector of windows makes all rows of elements below
it, and nothing is written twice, so results go to the sink.

This is right if every place lies in its window. Elements that were chosen are counted; if they are fewer than the
windows (places made by hand), the planes are scattered one by one after all, or, where the sink's work cannot be
repeated, a failure is noted and the ops run one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

from ..conv.parts import below, built_once, compute_elem, size_of, zeros
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..loop.types import BOOL, VType
from ..lowering import Sink
from ..target import current_target
from .planes import OUT_OF_RANGE, put_in_order

OUT_OF_MEMORY = 2
MOST = 8
"""Vectors of elements per vector of windows, at most."""


@dataclass(frozen=True)
class Cells:
    """A plane cut into cells, one per window; per axis (d, h, w).

    Attributes:
        stride: extents of a cell.
        cut: whether the last cell is cut by the border.
        rest: whether there are elements behind the last cell.
    """

    stride: tuple[int, int, int]
    cut: tuple[bool, ...]
    rest: tuple[bool, ...]


def cells_of(windows: Any, size: Any, count: Any) -> Cells | None:
    """The cells of ``windows`` (kernel, stride, front: a number per axis); ``None`` if they overlap, or are unknown."""
    if not windows:
        return None
    missing = 3 - len(size)
    kernel, stride, front = ((*[fill] * missing, *v) for v, fill in zip(windows, (1, 1, 0), strict=True))
    size, count = [*[1] * missing, *size], [*[1] * missing, *count]
    if not all(isinstance(n, int) and n > 0 for n in (*size, *count)):
        return None
    for k, s, f, n, c in zip(kernel, stride, front, size, count, strict=True):
        if f or k > s or not (c - 1) * s < n < (c + 1) * s:
            return None
    if stride[0] * stride[1] * (stride[2] // gcd(16, stride[2])) > MOST:
        return None
    ends = [c * s for c, s in zip(count, stride, strict=True)]
    return Cells(
        stride,
        tuple([end > n for end, n in zip(ends, size, strict=True)]),
        tuple([end < n for end, n in zip(ends, size, strict=True)]),
    )


@built_once
def max_pool_grad_function(elem: str, index: str, cells: Cells, sink: Sink) -> Function:
    """Buffers: x, indices, those of the sink. Dims: planes, grain, size and count (d, h, w), those of the sink."""
    return _MaxPoolGrad(elem, index, cells, sink).build()


@dataclass
class _Row:
    """A row of elements below a row of windows: what the sink knows of it, whether it exists, its number in a cell."""

    goal: Any
    exists: Value | None
    number: int


class _MaxPoolGrad:
    def __init__(self, elem: str, index: str, cells: Cells, sink: Sink) -> None:
        self.b = b = Builder("max_pool_grad")
        self.x, self.indices = b.buffer("x", elem), b.buffer("indices", index)
        self.planes, self.grain = b.dim("planes"), b.dim("grain")
        self.size, self.count = ([b.dim(f"{name}_{axis}") for axis in "dhw"] for name in ("size", "count"))
        self.elem, self.cells, self.sink = compute_elem(elem), cells, sink
        sink.declare(b)
        self.has_masks = current_target().has_masks
        self.lanes = 16 if self.has_masks and size_of(self.elem) < 8 else 8
        self.windows = self.lanes // gcd(self.lanes, cells.stride[2])  # of a block: whole vectors of elements
        self.vectors = self.windows * cells.stride[2] // self.lanes
        self.plane = self.size[0] * self.size[1] * self.size[2]
        self.outputs = self.count[0] * self.count[1] * self.count[2]

    def build(self) -> Function:
        self.b.parallel(0, self.planes, self.grain, self.chunk)
        return self.b.finish()

    def chunk(self, begin: Any, end: Any) -> None:
        b, (depth, height, width) = self.b, self.cells.stride
        self.whole = b.min(b.div(self.count[2], self.windows), b.div(self.size[2], self.windows * width))
        self.whole = self.whole * self.windows
        self.left = self.size[2] - self.whole * width
        # the places of a cell's rows, relative to that of its first element
        within = [
            b.const([i * self.lanes + k for k in range(self.lanes)], self.type("i32")) for i in range(self.vectors)
        ]
        lines = [b.mul(b.add(b.mul(kd, self.size[1]), kh), self.size[2]) for kd in range(depth) for kh in range(height)]
        self.places = [[w + b.splat(b.convert(b.value(at), "i32"), self.lanes) for w in within] for at in lines]
        if self.sink.can_mask:
            self.here = below(b, self.count[2] - self.whole, self.windows)
            self.inside = [below(b, self.left - i * self.lanes, self.lanes) for i in range(self.vectors)]
        none = [b.const(0, self.type("i32")), b.const(0, VType("i64", self.windows)), b.const(0)]
        chosen, high, more = b.for_(begin, end, 1, self.one_plane, none)
        number = b.convert(b.fold_lanes(chosen, lambda x, y: x + y), "i64") + more
        wrong = b.ne(number, (end - begin) * self.outputs) | b.any(b.ne(b.shr(high, 31), 0))
        if type(self.sink) is Sink:
            b.if_(wrong, lambda: self.one_by_one(begin, end))
        else:
            b.fail(wrong, OUT_OF_RANGE)

    def type(self, elem: str) -> VType:
        return VType(elem, self.lanes)

    def one_plane(self, p: Any, *state: Value) -> tuple[Value, ...]:
        b, cells = self.b, self.cells

        def windows(oz: Any, oy: Any, *state: Any) -> list[Value]:
            rows = [
                self.described(p, b.mul(oz, cells.stride[0]), kd, b.mul(oy, cells.stride[1]), kh)
                for kd in range(cells.stride[0])
                for kh in range(cells.stride[1])
            ]
            first = b.add(b.mul(b.mul(oz, cells.stride[0]), self.size[1]), b.mul(oy, cells.stride[1])) * self.size[2]
            start = ((p * self.count[0] + oz) * self.count[1] + oy) * self.count[2]
            return self.row_of_windows(rows, first, start, list(state))

        def depth(oz: Any, *state: Value) -> Any:
            return b.for_(0, self.count[1], 1, lambda oy, *state: windows(oz, oy, *state), state)

        state = b.for_(0, self.count[0], 1, depth, state)
        self.empty_rows(p)
        return state

    def described(self, p: Any, z: Any, kd: int, y: Any, kh: int) -> _Row:
        b, exists = self.b, None
        at = [b.add(z, kd), b.add(y, kh)]
        for axis, (place, tap) in enumerate(zip(at, (kd, kh), strict=True)):
            if self.cells.cut[axis] and tap:
                here = b.lt(place, self.size[axis])
                exists = here if exists is None else exists & here
        row = (p * self.size[0] + at[0]) * self.size[1] + at[1]
        return _Row(self.sink.row(b, row), exists, kd * self.cells.stride[1] + kh)

    def row_of_windows(self, rows: list[_Row], first: Any, start: Any, state: list[Value]) -> list[Value]:
        """All elements below a row of windows, which is at ``start``; the first element has place ``first``."""
        b, step = self.b, self.cells.stride[2]
        state = list(
            b.for_(0, self.whole, self.windows, lambda o, *s: self.block(rows, first, start, o, list(s), False), state)
        )

        def rest() -> list[Value]:
            if self.has_masks or self.cells.cut[2] or self.cells.rest[2]:
                return last()
            # the last windows once more, with those before them
            o = self.count[2] - self.windows
            again = lambda: self.block(rows, first, start, o, state, False, self.whole * step)  # noqa: E731
            return list(b.if_(b.ge(o, 0), again, last))

        def last() -> list[Value]:
            if self.sink.can_mask:
                return self.block(rows, first, start, self.whole, state, True)
            lo = self.whole * step
            one = lambda u, n: [self.single(rows, first, start, u, n)]  # noqa: E731
            return [*state[:2], *b.for_(lo, self.size[2], 1, one, [state[2]])]

        return list(b.if_(b.gt(self.left, 0), rest, lambda: state))

    def block(
        self, rows: list[_Row], first: Any, start: Any, o: Any, state: list[Value], is_last: bool, new: Any = None
    ) -> list[Value]:
        """Elements of windows ``o`` and so on; ``new``: the first column that has not been counted yet."""
        b, lanes, step = self.b, self.lanes, self.cells.stride[2]
        mask = self.here if is_last else None
        found, high, more = state
        place = b.load(self.indices, start + o, self.windows, mask)
        if self.indices.elem == "i64":
            high = high | place
        place = b.convert(place, "i32") - b.splat(b.convert(first + o * step, "i32"), self.windows)
        value = b.convert(b.load(self.x, start + o, self.windows, mask), self.elem)
        value = zeros(b, self.elem, self.windows) + value
        for i in range(self.vectors):
            window = [(i * lanes + lane) // step for lane in range(lanes)]
            places, values = self.spread(place, window), self.spread(value, window)
            inside = self.inside[i] if is_last else None
            taken: Any = None
            for row in rows:
                here = b.eq(places, self.places[row.number][i])
                if inside is not None:
                    here = here & inside
                if row.exists is not None:
                    here = here & b.splat(row.exists, lanes)
                taken = here if taken is None else taken | here
                result = b.convert(b.select(here, values, zeros(b, self.elem, lanes)), self.x.elem)
                self.store(row, o * step + i * lanes, result, inside)
            if new is not None:
                column = b.lanes(lanes, "i32") + b.splat(b.convert(o * step + i * lanes, "i32"), lanes)
                taken = taken & b.ge(column, b.splat(b.convert(new, "i32"), lanes))
            found = b.select(taken, found + 1, found)
        return [found, high, more]

    def single(self, rows: list[_Row], first: Any, start: Any, u: Any, more: Value) -> Value:
        """The elements of column ``u``; how many of them were chosen is added to ``more``."""
        b = self.b
        o = b.min(b.div(u, self.cells.stride[2]), self.count[2] - 1)
        place = b.convert(b.load(self.indices, start + o), "i64") - (first + u)
        value = b.convert(b.load(self.x, start + o), self.elem)
        value = zeros(b, self.elem, 1) + value
        in_cell = b.lt(u, self.count[2] * self.cells.stride[2])
        for row in rows:
            line = row.number // self.cells.stride[1] * self.size[1] + row.number % self.cells.stride[1]
            here = b.eq(place, line * self.size[2]) & in_cell
            if row.exists is not None:
                here = here & row.exists
            more = more + b.select(here, b.const(1), b.const(0))
            result = b.convert(b.select(here, value, zeros(b, self.elem, 1)), self.x.elem)
            self.store(row, u, result, None)
        return more

    def store(self, row: _Row, column: Any, value: Value, mask: Value | None) -> None:
        b = self.b

        def put() -> None:
            self.sink.store_row(b, row.goal, column, value, mask)

        if row.exists is None:
            put()
        else:
            b.if_(row.exists, put)

    def spread(self, x: Value, lanes: list[int]) -> Value:
        return self.b.splat(x, len(lanes)) if x.type.lanes == 1 else self.b.shuffle(x, x, lanes)

    # ---- elements that have no window ------------------------------------------------------------------------------

    def empty_rows(self, p: Any) -> None:
        b, (depth, height, _) = self.b, self.size
        ends = [b.min(n * s, size) for n, s, size in zip(self.count, self.cells.stride, self.size, strict=True)]

        def empty(z: Any, y: Any) -> None:
            row = self.sink.row(b, (p * depth + z) * height + y)

            def some(x: Any, lanes: int) -> None:
                self.sink.store_row(b, row, x, b.const(0, VType(self.x.elem, lanes)))

            b.vector_loop(0, self.size[2], self.lanes, some)

        if self.cells.rest[1]:
            b.for_(0, ends[0], 1, lambda z: b.for_(ends[1], height, 1, lambda y: empty(z, y)) and None)
        if self.cells.rest[0]:
            b.for_(ends[0], depth, 1, lambda z: b.for_(0, height, 1, lambda y: empty(z, y)) and None)

    def one_by_one(self, begin: Any, end: Any) -> None:
        b, numbers = self.b, (self.plane, self.outputs, self.size[2])

        def planes(total: Buffer) -> None:
            b.for_(begin, end, 1, lambda p: scatter_plane(b, self.x, self.indices, total, self.sink, p, *numbers))

        with_scratch(b, self.plane, self.elem, planes)


# ---- places of any kind --------------------------------------------------------------------------------------------


@built_once
def scatter_sink_function(elem: str, index: str, sink: Sink) -> Function:
    """Values added at any places, a plane at a time in memory of the thread, then to the sink.

    Buffers: x, indices, those of the sink. Dims: planes, grain, elements of a plane of the result, and of the indices,
    length of a row, those of the sink.
    """
    b = Builder("scatter_planes")
    x, indices = b.buffer("x", elem), b.buffer("indices", index)
    planes, grain, size, count, width = (b.dim(name) for name in ("planes", "grain", "size", "count", "width"))
    sink.declare(b)

    def chunk(begin: Any, end: Any) -> None:
        def all_planes(total: Buffer) -> None:
            b.for_(begin, end, 1, lambda p: scatter_plane(b, x, indices, total, sink, p, size, count, width))

        with_scratch(b, size, compute_elem(elem), all_planes)

    b.parallel(0, planes, grain, chunk)
    return b.finish()


def with_scratch(b: Builder, count: Any, elem: str, body: Any) -> None:
    """``body(memory)`` with memory for ``count`` elements."""
    total = b.alloc(count * size_of(elem), elem)

    def work() -> None:
        body(total)
        b.free(total)

    b.if_(b.is_null(total), lambda: b.fail(b.const(True, BOOL), OUT_OF_MEMORY), work)


def scatter_plane(
    b: Builder, x: Buffer, indices: Buffer, total: Buffer, sink: Sink, p: Any, size: Any, count: Any, width: Any
) -> None:
    """Plane ``p`` in ``total``, then to the sink row by row."""
    put_in_order(b, x, indices, total, 1, p * count, b.const(0), size, count, add=True)
    rows = b.div(size, b.max(width, 1))

    def stored(r: Any) -> None:
        goal = sink.row(b, p * rows + r)

        def some(column: Any, lanes: int) -> None:
            value = b.load(total, r * width + column, lanes)
            sink.store_row(b, goal, column, b.convert(value, x.elem))

        b.vector_loop(0, width, 8 if size_of(total.elem) == 8 else 16, some)

    b.for_(0, rows, 1, stored)
