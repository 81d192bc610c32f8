"""Contraction: products that feed one sum become fused multiply-adds. A relaxation, for ``jit_level="O2"`` alone.

The fused form rounds once where ``a * b + c`` rounds twice: results may differ from O1 (and from eager) in the last
bit, mostly towards the exact value. O0 and O1 never contract (design, section 6).
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from .loop.ir import Block, Buffer, Function, Instr, Value
from .loop.parser import parse_function


@lru_cache(maxsize=1024)
def _contracted(text: str, name: str) -> Function:
    made = parse_function(text, name)
    uses: Counter[int] = Counter()
    for block in _blocks(made.body):
        for instr in block.instrs:
            uses.update(x.id for x in instr.operands)
        uses.update(v.id for v in block.yields)
    for block in _blocks(made.body):
        _contract(block, uses)
    return made


def contracted(function: Function) -> Function:
    """``function`` with float products fused into the sum that is their only use; functions that call others as is."""
    return function if function.callees else _contracted(function.text, function.name)


def _blocks(block: Block) -> list[Block]:
    return [block, *[b for instr in block.walk() for b in instr.regions]]


def _contract(block: Block, uses: Counter[int]) -> None:
    """Rewrites sums of one block whose product stands in the same block."""
    products: dict[int, Instr] = {}
    kept: list[Instr] = []
    for instr in block.instrs:
        if instr.op in ("add", "sub") and instr.results[0].type.is_float:  # type: ignore[union-attr]
            left, right = instr.operands
            for side, other, first in ((left, right, True), (right, left, False)):
                product = products.get(side.id)
                if product is not None and uses[side.id] == 1:
                    kept.remove(product)
                    kept += _fused(instr, product, other, first)
                    break
            else:
                kept.append(instr)
            continue
        if instr.op == "mul" and instr.results[0].type.is_float:  # type: ignore[union-attr]
            products[instr.results[0].id] = instr
        kept.append(instr)
    block.instrs = kept


def _fused(sum_: Instr, product: Instr, other: Value | Buffer, product_first: bool) -> list[Instr]:
    """``a*b + c``, ``a*b - c`` or ``c - a*b`` as one instruction, with a negation where it is a difference."""
    a, b = product.operands
    assert isinstance(a, Value) and isinstance(other, Value)
    before: list[Instr] = []

    def negated(x: Value) -> Value:
        made = Value(x.builder._id(), x.type, x.builder)
        before.append(Instr("neg", (x,), {}, (made,)))
        return made

    c = other
    if sum_.op == "sub":
        if product_first:
            c = negated(other)
        else:
            a = negated(a)
    return [*before, Instr("fma", (a, b, c), {}, sum_.results)]
