"""Arguments of many calls: programs call kernels by the hundred, on memory at places of a few buffers that are known
once sizes are, and with sizes that often are the same.

To store pointers and sizes before each call takes most of such a program's code, and most of the time to compile it.
Instead loops over constant numbers make all of them when the program begins, behind its *prologue*, the arithmetic on
sizes that it starts with; a call then is three instructions.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from duograph.lower.loop.ir import Function, Instr

FEWEST_CALLS = 8
MOST_POINTERS = 1 << 14
"""128 KiB of the stack. Calls beyond store their pointers themselves."""

_NUMBER_BITS = 16

Early: TypeAlias = str
"""The name of a number that is known when the tables are made; empty: 0."""
Pointer: TypeAlias = tuple[int, int, Early]
"""A parameter, a constant number of bytes, and one that is known early."""


class CallTables:
    """Pointers and sizes that a function makes at its beginning.

    Attributes:
        early: where the numbers that the prologue has made, and the parameters that are numbers, stand in the text.
    """

    def __init__(self) -> None:
        self.early: dict[Early, int] = {}
        self._used: dict[Early, int] = {"": 0}
        self._entries: dict[str, list[Pointer]] = {"pointer": [], "size": []}
        self._places: dict[tuple[str, tuple[Pointer, ...]], int] = {}

    @staticmethod
    def is_worthwhile(function: Function) -> bool:
        """Functions that call themselves keep their frames small."""
        calls = sum(instr.op == "call" for instr in function.body.walk())
        return calls >= FEWEST_CALLS and not function.fixed_symbol and len(function.buffers) < 1 << _NUMBER_BITS

    @staticmethod
    def prologue(function: Function) -> list[Instr]:
        """What a function begins with, up to the last number before its first call or branch."""
        found = last = 0
        for found, instr in enumerate(function.body.instrs, 1):
            if instr.op == "call" or instr.regions:
                break
            if instr.op not in ("const", "address", "at", "view"):
                last = found
        return function.body.instrs[:last]

    def pointers(self, pointers: tuple[Pointer, ...]) -> int | None:
        """Where these pointers are one after the other; ``None`` if there is no room for them."""
        return self._place("pointer", pointers)

    def sizes(self, sizes: tuple[tuple[int, Early], ...]) -> int | None:
        """Where these sizes are one after the other; ``None`` if there is no room for them."""
        return self._place("size", tuple([(0, *size) for size in sizes]))

    def _place(self, kind: str, wanted: tuple[Pointer, ...]) -> int | None:
        entries = self._entries[kind]
        first = self._places.get((kind, wanted))
        if first is None and len(entries) + len(wanted) <= MOST_POINTERS:
            first = self._places[kind, wanted] = len(entries)
            entries += wanted
            for _, _, early in wanted:
                self._used.setdefault(early, len(self._used))
        return first

    def write(self, emitter: Any, place: int, before: str, following: str) -> None:
        """Puts the loops that make the tables at a line of an emitter, between two blocks, and what they read."""
        texts, label = [], before
        for kind, entries in self._entries.items():
            if entries:
                emitter.entry.append(f"  %{kind}s = alloca [{len(entries)} x i64], align 16")
                texts.append(f"  br label %{kind}_loop\n{self._loop(kind, entries, emitter.module, label)}")
                label = f"{kind}_done"
        emitter.lines[place] = "\n".join([*texts, f"  br label %{following}"])
        if len(self._used) > 1:
            emitter.entry.append(f"  %early = alloca [{len(self._used)} x i64], align 16\n  store i64 0, ptr %early")
        for name, k in self._used.items():
            if name:
                at = f"%early_{k}"
                store = f"  {at} = getelementptr i64, ptr %early, i64 {k}\n  store i64 {name}, ptr {at}"
                emitter.lines[self.early[name]] += f"\n{store}"

    def _loop(self, kind: str, entries: list[Pointer], module: Any, before: str) -> str:
        i = f"%{kind}"
        numbers = [(offset << _NUMBER_BITS | number) if kind == "pointer" else offset for number, offset, _ in entries]
        text = f"""\
{kind}_loop:
  {i} = phi i64 [ 0, %{before} ], [ {i}_next, %{kind}_loop ]
  {i}_word_at = getelementptr i64, ptr {module.constant(tuple(numbers))}, i64 {i}
  {i}_word = load i64, ptr {i}_word_at
"""
        if kind == "pointer":
            text += f"""\
  {i}_number = and i64 {i}_word, {(1 << _NUMBER_BITS) - 1}
  {i}_offset = ashr i64 {i}_word, {_NUMBER_BITS}
  {i}_base_at = getelementptr ptr, ptr %bufs, i64 {i}_number
  {i}_base = load i64, ptr {i}_base_at
  {i}_made = add i64 {i}_base, {i}_offset
"""
        made = f"{i}_made" if kind == "pointer" else f"{i}_word"
        if any(early for _, _, early in entries):
            words = module.constant(tuple([self._used[early] for _, _, early in entries]))
            text += f"""\
  {i}_early_at = getelementptr i64, ptr {words}, i64 {i}
  {i}_early_number = load i64, ptr {i}_early_at
  {i}_value_at = getelementptr i64, ptr %early, i64 {i}_early_number
  {i}_value = load i64, ptr {i}_value_at
  {i}_whole = add i64 {made}, {i}_value
"""
            made = f"{i}_whole"
        return f"""{text}\
  {i}_at = getelementptr i64, ptr %{kind}s, i64 {i}
  store i64 {made}, ptr {i}_at
  {i}_next = add i64 {i}, 1
  {i}_again = icmp slt i64 {i}_next, {len(entries)}
  br i1 {i}_again, label %{kind}_loop, label %{kind}_done
{kind}_done:"""
