"""Elementwise ops and groups of them as loops over strided operands."""

from __future__ import annotations

from .loop.builder import Builder
from .lowering import Lowering
from .rule import Pointwise

LANES = {"f64": 8, "i64": 8, "u64": 8}


def lower_pointwise(c: Lowering, rule: Pointwise) -> None:
    """One elementwise op (first version: equal shapes only; helper H6 replaces this)."""
    (out,) = c.outs
    b = Builder(c.op.name)
    ins = [b.buffer(f"x{i}", x.elem) for i, x in enumerate(c.ins)]
    result = b.buffer("out", out.elem)
    n = b.dim("n")
    lanes = 16

    def row(i, lanes):
        xs = [b.load(x, i, lanes) for x in ins]
        b.store(result, i, rule.function(b, *xs, **c.attrs))

    b.parallel(0, n, 4096, lambda lo, hi: b.vector_loop(lo, hi, lanes, row))
    c.call(b.finish(), [*c.ins, out], [out.size])
