"""Values taken from and put to flat positions of their plane."""

from __future__ import annotations

from typing import Any

from ..conv.parts import built_once
from ..kernels.accumulate import plus
from ..loop.builder import Builder
from ..loop.ir import Buffer, Function
from ..loop.types import BOOL, VType

OUT_OF_RANGE = 1
UNROLLED = 4


@built_once
def gather_function(elem: str, index: str, parts: int) -> Function:
    """Buffers: x, indices, out. Dims: planes, grain, elements of a plane of x, and of the indices.

    Negative indices count from the end. ``parts`` is 2 for complex numbers.
    """
    b = Builder("gather_planes")
    x, indices, out = b.buffer("x", elem), b.buffer("indices", index), b.buffer("out", elem)
    planes, grain, size, count = (b.dim(name) for name in ("planes", "grain", "size", "count"))

    def plane(p: Any) -> None:
        source, goal = p * size, p * count

        def one(i: Any) -> None:
            place = b.convert(b.load(indices, goal + i), "i64")
            place = b.select(b.lt(place, 0), place + size, place)
            wrong = b.lt(place, 0) | b.ge(place, size)
            b.fail(wrong, OUT_OF_RANGE)

            def move() -> None:
                for part in range(parts):
                    value = b.load(x, (source + place) * parts + part)
                    b.store(out, (goal + i) * parts + part, value)

            b.if_(b.not_(wrong), move)

        b.for_(0, count, 1, one)

    b.parallel_for(0, planes, grain, plane)
    return b.finish()


@built_once
def scatter_function(elem: str, index: str, parts: int, add: bool) -> Function:
    """Buffers: x, indices, total. Dims: planes, grain, elements of a plane of the result, and of the indices.

    Zeros, plus every value added (or put, if not ``add``) at its place, in order.
    """
    b = Builder("scatter_planes" if add else "max_unpool")
    x, indices, total = b.buffer("x", elem), b.buffer("indices", index), b.buffer("total", elem)
    planes, grain, size, count = (b.dim(name) for name in ("planes", "grain", "size", "count"))

    def plane(p: Any) -> None:
        put_in_order(b, x, indices, total, parts, p * count, p * size, size, count, add)

    b.parallel_for(0, planes, grain, plane)
    return b.finish()


def put_in_order(
    b: Builder, x: Buffer, indices: Buffer, total: Buffer, parts: int, source: Any, goal: Any, size: Any, count: Any,
    add: bool,
) -> None:  # fmt: skip
    """One plane: ``size`` zeros from ``goal`` on, and then ``count`` values from ``source`` on, one after the other."""

    def plane() -> None:
        nothing = b.const(0, VType(total.elem))
        b.vector_loop(
            goal * parts, (goal + size) * parts, 16, lambda i, lanes: b.store(total, i, b.splat(nothing, lanes))
        )

        def one(i: Any, wrong: Any) -> Any:
            """Puts one value. A wrong index goes to the first place: what comes of it is not used."""
            place = b.convert(b.load(indices, source + i), "i64")
            outside = b.ge(b.bitcast(place, "u64"), b.bitcast(size, "u64"))  # a negative one is huge
            place = b.add(goal, b.select(outside, 0, place))
            for part in range(parts):
                at = place * parts + part
                value = b.convert(b.load(x, (source + i) * parts + part), total.elem)
                b.store(total, at, plus(b.load(total, at), value) if add else value)
            return wrong | outside

        def several(i: Any, wrong: Any) -> Any:
            for k in range(UNROLLED):
                wrong = one(i + k, wrong)
            return wrong

        whole = b.sub(count, b.rem(count, UNROLLED))
        (wrong,) = b.for_(0, whole, UNROLLED, several, [b.const(False, BOOL)])
        (wrong,) = b.for_(whole, count, 1, one, [wrong])
        b.fail(wrong, OUT_OF_RANGE)

    b.if_(b.gt(size, 0), plane, lambda: b.fail(b.gt(count, 0), OUT_OF_RANGE))
