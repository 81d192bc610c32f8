"""Philox4x32-10 as loop IR: random words as a function of key and counter (`duograph.ops.philox` defines it)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..loop.builder import Builder
from ..loop.ir import Buffer, Value

_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
LANES = 8
_LOW = 0xFFFFFFFF


@dataclass(frozen=True)
class Draw:
    """The key and the fixed part of the counter."""

    key: tuple[Value, Value]
    offset: tuple[Value, Value]

    @staticmethod
    def dims(b: Builder) -> Draw:
        """Declares ``seed`` and ``offset``."""
        seed, offset = (b.convert(b.dim(name), "u64") for name in ("seed", "offset"))
        return Draw((seed & _LOW, seed >> 32), (offset & _LOW, offset >> 32))


def blocks(b: Builder, draw: Draw, number: Value, lane: Value | None = None) -> list[Value]:
    """The four words of the blocks ``number`` (``u64``), in ``u64``."""
    lanes = number.type.lanes
    c0 = number & _LOW
    c1 = number >> 32 if lane is None else b.splat(lane, lanes)
    c2, c3 = (b.splat(x, lanes) for x in draw.offset)
    k0, k1 = draw.key
    for _ in range(10):
        # the operands of the products are masked where they are used, so that a 32-bit multiplier is enough
        p0, p1 = (c0 & _LOW) * _M0, (c2 & _LOW) * _M1
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & _LOW, (p0 >> 32) ^ c3 ^ k1, p0 & _LOW
        k0, k1 = (k0 + _W0) & _LOW, (k1 + _W1) & _LOW
    return [c0, c1, c2, c3]


def interleave(b: Builder, x: Value, y: Value) -> Value:
    """Lanes ``x0 y0 x1 y1 ...``."""
    n = x.type.lanes
    return b.shuffle(x, y, [k // 2 + (k % 2) * n for k in range(2 * n)])


def words32(b: Builder, words: list[Value]) -> Value:
    """The words of neighbouring blocks in order, as ``u32``."""
    w = [b.convert(x, "u32") for x in words]
    return interleave(b, interleave(b, w[0], w[2]), interleave(b, w[1], w[3]))


def words64(b: Builder, words: list[Value]) -> Value:
    """Words of 64 bits of neighbouring blocks in order, two of each; the low half comes first."""
    return interleave(b, words[0] | (words[1] << 32), words[2] | (words[3] << 32))


def generate(
    b: Builder, out: Buffer, n: Value, draw: Draw, per_block: int, make: Callable[[list[Value]], Value]
) -> None:
    """Fills ``out`` with ``n`` elements; ``make`` turns words of `LANES` blocks into ``LANES * per_block`` of them."""
    group = LANES * per_block

    def chunk(lo: Value, hi: Value) -> None:
        rest = b.alloca(out.elem, group)

        def one(g: Value) -> None:
            first = b.convert(g * LANES, "u64")
            value = make(blocks(b, draw, b.convert(b.lanes(LANES), "u64") + first))
            at = g * group

            def part() -> None:
                b.store(rest, 0, value)
                b.for_(0, n - at, 1, lambda i: b.store(out, at + i, b.load(rest, i)))

            b.if_(b.le(at + group, n), lambda: b.store(out, at, value), part)

        b.for_(lo, hi, 1, one)

    b.parallel(0, b.ceil_div(n, group), 128, chunk)


def units(b: Builder, draw: Draw, element: Value, attempt: Value) -> list[Value]:
    """Four numbers in (0, 1) for an attempt of a rejection method."""
    words = blocks(b, draw, b.convert(element, "u64"), b.convert(attempt + 1, "u64"))
    return [(b.convert(b.convert(w, "i64"), "f64") + 0.5) * 2.0**-32 for w in words]
