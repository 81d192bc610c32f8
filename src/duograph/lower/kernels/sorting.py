"""Stable sorting along an axis: keys whose unsigned order is the order of the values, and radix passes over them.

A key has the bits of its value turned so that unsigned comparison sorts: the sign bit flipped, negative floats
inverted, -0 made 0, NaN made the largest; for the other direction all of them are inverted. Keys of up to 32 bits are
packed with their position into one ``u64``, so that equal keys are told apart by position; wider keys carry it beside
them.

Rows are independent. A row of up to `FEW` elements is sorted by insertion; a longer one by passes over its bytes from
the lowest to the highest (LSD radix sort), which are stable; bytes that are the same in all keys cost no pass.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, TypeAlias

from ..loop.builder import Builder
from ..loop.ir import Buffer, Function, Value
from ..loop.types import BITS, FLOATS, SIGNED, VType
from .walk import at_least_one

FEW = 32
Record: TypeAlias = "list[Value]"
"""One packed value, or a key and a position."""

_INFINITY = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}


def key_of(b: Builder, bits: Value, elem: str, descending: bool) -> Value:
    """The key of a value of type ``elem``, given its bits as an unsigned number."""
    width = BITS[elem]
    top, ones = 1 << (width - 1), (1 << width) - 1
    if elem not in FLOATS:
        key = bits ^ top if elem in SIGNED else bits
        return ~key if descending else key
    magnitude = bits & (ones >> 1)
    zero, nan = b.eq(magnitude, 0), b.gt(magnitude, _INFINITY[elem])
    negative = b.ne(bits & top, 0) & ~zero
    key = b.select(nan, b.const(ones, magnitude), b.select(negative, ~bits, magnitude | top))
    return ~key if descending else key


class Records:
    """Memory for the records of a row: two areas of ``n``, between which the passes move them."""

    def __init__(self, b: Builder, elem: str, memory: Buffer, n: Value) -> None:
        self.b, self.packed = b, BITS[elem] <= 32
        self.memory, self.n = memory, n

    @staticmethod
    def size(packed: bool) -> int:
        """Bytes per element of a row, both areas."""
        return 16 if packed else 32

    def make(self, key: Value, position: Value) -> Record:
        b = self.b
        if not self.packed:
            return [b.convert(key, "u64"), b.convert(position, "u64")]
        return [(b.convert(key, "u64") << 32) | b.convert(position, "u64")]

    def load(self, at: Value) -> Record:
        b = self.b
        first = b.load(self.memory, at)
        return [first] if self.packed else [first, b.load(self.memory, at + self.n * 2)]

    def store(self, at: Value, record: Record) -> None:
        b = self.b
        b.store(self.memory, at, record[0])
        if not self.packed:
            b.store(self.memory, at + self.n * 2, record[1])

    def before(self, x: Record, y: Record) -> Value:
        """Whether ``x`` comes before ``y``, which was met earlier."""
        return self.b.lt(x[0], y[0])

    def position(self, record: Record) -> Value:
        x = record[-1]
        return self.b.convert(x & 0xFFFFFFFF if self.packed else x, "i64")


def insertion_sort(b: Builder, records: Records, n: Value) -> None:
    """The first area, in place."""

    def insert(i: Value) -> None:
        record = records.load(i)

        def goes_on(j: Value) -> Value:
            # no short circuit: index 0 is loaded once more than needed, which is harmless
            earlier = records.load(b.max(j - 1, 0))
            return b.gt(j, 0) & records.before(record, earlier)

        def shift(j: Value) -> Value:
            records.store(j, records.load(j - 1))
            return j - 1

        (j,) = b.while_([i], goes_on, shift)
        records.store(j, record)

    b.for_(1, n, 1, insert)


def radix_sort(b: Builder, records: Records, n: Value, counts: Buffer, width: int) -> Value:
    """Passes over the bytes of the keys; gives where the sorted area begins (0 or ``n``).

    ``counts`` holds 256 counters per byte, already filled.
    """
    base = 32 if records.packed else 0

    def digit(record: Record, byte: int) -> Value:
        return b.convert((record[0] >> (base + 8 * byte)) & 0xFF, "i64")

    area: Any = b.const(0)
    for byte in range(width // 8):
        table = 256 * byte

        def sort_by(byte: int = byte, table: int = table, area: Value = area) -> Value:
            def place(d: Value, total: Value) -> Value:
                count = b.load(counts, d + table)
                b.store(counts, d + table, total)
                return total + count

            other = n - area
            b.for_(0, 256, 1, place, [other])

            def move(i: Value) -> None:
                record = records.load(area + i)
                slot = digit(record, byte) + table
                to = b.load(counts, slot)
                b.store(counts, slot, to + 1)
                records.store(to, record)

            b.for_(0, n, 1, move)
            return other

        same = b.eq(b.load(counts, digit(records.load(area), byte) + table), n)
        keep = partial(b.value, area)
        area = b.if_(same, keep, sort_by)[0]
    return area


def sort_row(b: Builder, records: Records, n: Value, counts: Buffer, width: int, key: Any) -> Value:
    """Sorts a row whose keys ``key(i)`` gives; where the sorted records begin."""

    def few() -> Value:
        b.for_(0, n, 1, lambda i: records.store(i, records.make(key(i), i)))
        insertion_sort(b, records, n)
        return b.const(0)

    def many() -> Value:
        zero = b.const(0, VType("i64", 8))
        b.for_(0, 32 * width, 8, lambda i: b.store(counts, i, zero))

        def load(i: Value) -> None:
            k = key(i)
            records.store(i, records.make(k, i))
            wide = b.convert(k, "i64")
            for byte in range(width // 8):
                slot = ((wide >> (8 * byte)) & 0xFF) + 256 * byte
                b.store(counts, slot, b.load(counts, slot) + 1)

        b.for_(0, n, 1, load)
        return radix_sort(b, records, n, counts, width)

    return b.if_(b.le(n, FEW), few, many)[0]


@cache
def sort_kernel(elem: str, index: str, descending: bool, with_values: bool = True) -> Function:
    """The first ``k`` of every sorted row, their values (if wanted) and where they came from.

    Rows are (outer, n, inner), along the middle axis.
    """
    width = BITS[elem]
    raw = f"u{width}"
    b = Builder(f"sort_{elem}")
    x = b.buffer("x", raw)
    values = b.buffer("values", raw) if with_values else None
    places = b.buffer("places", index)
    outer, n, inner, k = (b.dim(name) for name in ("outer", "n", "inner", "k"))
    many = at_least_one(b, inner)

    def chunk(lo: Value, hi: Value) -> None:
        memory = b.alloc(n * Records.size(width <= 32), "u64")
        missing = b.is_null(memory)
        b.fail(missing, 2)
        counts = b.alloca("i64", 32 * width)
        records = Records(b, elem, memory, n)

        def row(r: Value) -> None:
            o, column = b.div(r, many), b.rem(r, many)
            first, target = o * n * inner + column, o * k * inner + column
            area = sort_row(
                b, records, n, counts, width, lambda i: key_of(b, b.load(x, first + i * inner), elem, descending)
            )

            def store(j: Value) -> None:
                position = records.position(records.load(area + j))
                to = target + j * inner
                if values is not None:
                    b.store(values, to, b.load(x, first + position * inner))
                b.store(places, to, b.convert(position, index))

            b.for_(0, k, 1, store)

        b.if_(~missing, lambda: b.for_(lo, hi, 1, row))
        b.free(memory)

    # an empty row has no records to look at
    rows = b.select(b.gt(n, 0), outer * inner, 0)
    b.parallel(0, rows, b.max(b.const(256) / at_least_one(b, n), 1), chunk)
    return b.finish()


@cache
def select_kernel(elem: str, index: str, descending: bool, k: int, contiguous: bool) -> Function:
    """The first ``k`` of every sorted row without sorting it: the best so far are kept in order.

    An element is looked at closely only if its key is below the last of them; positions only grow, so equal keys lose.
    """
    width = BITS[elem]
    raw = f"u{width}"
    b = Builder(f"select_{elem}_{k}")
    x, values, places = b.buffer("x", raw), b.buffer("values", raw), b.buffer("places", index)
    outer, n, inner = (b.dim(name) for name in ("outer", "n", "inner"))
    many = at_least_one(b, inner)
    lanes = 512 // width if width >= 32 else 16

    def chunk(lo: Value, hi: Value) -> None:
        keys, where = b.alloca(raw, k), b.alloca("i64", k)

        def put(key: Value, i: Value, filled: Value) -> None:
            """Inserts into the ``filled`` best; what falls off the end is forgotten."""

            def goes_on(j: Value) -> Value:
                return b.gt(j, 0) & b.lt(key, b.load(keys, b.max(j - 1, 0)))

            def shift(j: Value) -> Value:
                b.store(keys, j, b.load(keys, j - 1))
                b.store(where, j, b.load(where, j - 1))
                return j - 1

            (j,) = b.while_([filled], goes_on, shift)
            b.store(keys, j, key)
            b.store(where, j, i)

        def row(r: Value) -> None:
            o, column = b.div(r, many), b.rem(r, many)
            first, target = o * n * inner + column, o * k * inner + column

            def key_at(i: Value, lanes: int = 1) -> Value:
                at = first + i if contiguous else first + i * inner
                return key_of(b, b.load(x, at, lanes), elem, descending)

            b.for_(0, k, 1, lambda i: put(key_at(i), i, i))

            def single(i: Value) -> None:
                key = key_at(i)
                b.if_(b.lt(key, b.load(keys, k - 1)), lambda: put(key, i, b.const(k - 1)))

            if contiguous:

                def some(i: Value) -> None:
                    below = b.lt(key_at(i, lanes), b.load(keys, k - 1))
                    b.if_(b.any(below), lambda: b.for_(i, i + lanes, 1, single))

                whole = n - b.rem(n - k, lanes)
                b.for_(k, whole, lanes, some)
                b.for_(whole, n, 1, single)
            else:
                b.for_(k, n, 1, single)

            def store(j: Value) -> None:
                position = b.load(where, j)
                at = position if contiguous else position * inner
                b.store(values, target + j * inner, b.load(x, first + at))
                b.store(places, target + j * inner, b.convert(position, index))

            b.for_(0, k, 1, store)

        b.for_(lo, hi, 1, row)

    b.parallel(0, outer * inner, b.max(b.const(4096) / at_least_one(b, n), 1), chunk)
    return b.finish()


def precedes(b: Builder, x: Value, y: Value) -> Value:
    """Whether ``x`` sorts before ``y``; NaN comes last."""
    if x.type.is_float:
        return b.lt(x, y) | (b.isnan(y) & ~b.isnan(x))
    return b.lt(x, y)


__all__ = ["Records", "key_of", "precedes", "select_kernel", "sort_kernel"]
