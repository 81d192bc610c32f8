"""Pointers for many calls: programs call kernels by the hundred, on memory at fixed places of a few buffers.

To store the pointers before each call takes most of such a program's code, and most of the time to compile it. Instead
a loop over constant numbers makes all of them when the program begins; a call then is two instructions.
"""

from __future__ import annotations

from typing import Any

from duograph.lower.loop.ir import Function

FEWEST_CALLS = 8
MOST_POINTERS = 1 << 14
"""128 KiB of the stack. Calls beyond store their pointers themselves."""

_NUMBER_BITS = 16


class PointerTable:
    """Pointers that a function makes at its beginning, each a parameter and a number of bytes."""

    def __init__(self) -> None:
        self.pointers: list[tuple[int, int]] = []
        self.places: dict[tuple[tuple[int, int], ...], int] = {}

    @staticmethod
    def is_worthwhile(function: Function) -> bool:
        """Functions that call themselves keep their frames small."""
        calls = sum(instr.op == "call" for instr in function.body.walk())
        return calls >= FEWEST_CALLS and not function.fixed_symbol and len(function.buffers) < 1 << _NUMBER_BITS

    def place(self, pointers: tuple[tuple[int, int], ...]) -> int | None:
        """Where these pointers are one after the other; ``None`` if there is no room for them."""
        first = self.places.get(pointers)
        if first is None and len(self.pointers) + len(pointers) <= MOST_POINTERS:
            first = self.places[pointers] = len(self.pointers)
            self.pointers += pointers
        return first

    def text(self, module: Any, following: str) -> str:
        """LLVM text that makes `%pointers` and goes on at a label."""
        if not self.pointers:
            return f"  br label %{following}"
        count = len(self.pointers)
        words = module.constant(tuple([offset << _NUMBER_BITS | number for number, offset in self.pointers]))
        return f"""\
  %pointers = alloca [{count} x ptr], align 16
  br label %pointing
pointing:
  %pointer = phi i64 [ 0, %entry ], [ %next_pointer, %pointing ]
  %pointer_word_at = getelementptr i64, ptr {words}, i64 %pointer
  %pointer_word = load i64, ptr %pointer_word_at
  %pointer_number = and i64 %pointer_word, {(1 << _NUMBER_BITS) - 1}
  %pointer_offset = ashr i64 %pointer_word, {_NUMBER_BITS}
  %pointer_base_at = getelementptr ptr, ptr %bufs, i64 %pointer_number
  %pointer_base = load ptr, ptr %pointer_base_at
  %pointer_made = getelementptr i8, ptr %pointer_base, i64 %pointer_offset
  %pointer_at = getelementptr ptr, ptr %pointers, i64 %pointer
  store ptr %pointer_made, ptr %pointer_at
  %next_pointer = add i64 %pointer, 1
  %pointing_again = icmp slt i64 %next_pointer, {count}
  br i1 %pointing_again, label %pointing, label %{following}"""
