"""Code objects of several versions of CPython as one small set of instructions.

What only serves the interpreter (caches, ``RESUME``, ``NOP``, jumps) is gone: an instruction knows its successors and
its exception handler. Superinstructions are taken apart, and operands are values and names in place of indexes. What a
version has of its own is a row of a table; a version without tables is refused.
"""

from __future__ import annotations

import opcode
import sys
import types
from dataclasses import dataclass
from typing import Any

from ..rules.errors import Uncapturable

Position = tuple[int | None, int | None, int | None, int | None]
"""Line, last line, column, last column; each may be unknown."""
IMPLIED = "implied"
"""Argument of a ``RETURN_VALUE`` that no statement stands for."""
NOWHERE: Position = (None, None, None, None)
VERSIONS = ((3, 11), (3, 12), (3, 13))


@dataclass(slots=True, eq=False)
class Instruction:
    """``next``: what may follow, by index; of a branch, where it goes if the value is true, and if it is false; of
    ``FOR_ITER``, the body and what is done when the iterator has ended. ``handler``: index of the first instruction of
    the exception handler, depth of the stack there, and whether it is told the place."""

    op: str
    arg: Any
    position: Position
    next: tuple[int, ...] = ()
    handler: tuple[int, int, bool] | None = None
    continues: bool = False  # it is a branch that goes to a ``continue`` statement
    is_first: bool = False  # of a statement that is no code but a line: ``while True``, ``try``


@dataclass(slots=True, eq=False)
class _Raw:
    offset: int
    op: str
    arg: int
    position: Position
    after: int  # offset of the instruction that follows


_NOTHING = {
    "CACHE", "NOP", "RESUME", "PRECALL", "TO_BOOL", "END_FOR", "COPY_FREE_VARS", "RETURN_GENERATOR", "JUMP_FORWARD",
    "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "KW_NAMES", "END_SEND",
}  # fmt: skip
"""Not instructions of the program: where it goes on is what they say, or the next one."""
_JUMPS = {"JUMP_FORWARD": 1, "JUMP_BACKWARD": -1, "JUMP_BACKWARD_NO_INTERRUPT": -1}
_BRANCHES = {
    "IF_TRUE": (True, False), "IF_FALSE": (False, False), "IF_NONE": (True, True), "IF_NOT_NONE": (False, True),
}  # fmt: skip
"""Whether it jumps if the value is true, and whether what is asked is ``value is None``."""
_NEXT = -1
"""The target of a branch that goes on within what is made of the same instruction."""
_COMPARE_SHIFT: dict[tuple[int, ...], int] = {(3, 11): 0, (3, 12): 4, (3, 13): 5}
"""Bits of the argument of ``COMPARE_OP`` that do not say which comparison it is."""
_LEAVE = {"RETURN_VALUE", "RERAISE", "RAISE_VARARGS"}
_FAST = {"LOAD_FAST", "STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR", "LOAD_FAST_CHECK"}
_CELLS = {"LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLOSURE", "MAKE_CELL", "LOAD_CLASSDEREF"}
_NAMES = {
    "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME", "IMPORT_FROM", "LOAD_METHOD",
    "LOAD_NAME", "STORE_NAME", "DELETE_NAME",
}  # fmt: skip
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
_DIRECTED = ("POP_JUMP_FORWARD_", "POP_JUMP_BACKWARD_")
_SHORT = {"LOAD_FAST_CHECK": "LOAD_FAST", "LOAD_FROM_DICT_OR_DEREF": "LOAD_CLASSDEREF"} | {
    name: f"POP_JUMP_{name.partition('WARD_')[2]}" for name in opcode.opmap if name.startswith(_DIRECTED)
}
"""Names of variants, and what they are variants of."""


NAMED = tuple(
    f"{verb}_{what}"
    for verb in ("LOAD", "STORE", "DELETE")
    for what in ("NAME", "ATTR", "GLOBAL", "FAST", "DEREF", "METHOD", "CLOSURE", "CLASSDEREF")
)
"""Instructions whose argument is a name."""


def as_written(name: str, private: str) -> str:
    """A name of a class or its methods without the ``private`` prefix that the compiler gives to private ones."""
    return name[len(private) :] if private and name.startswith(f"{private}__") and name[-2:] != "__" else name


def decode(code: types.CodeType, with_heads: bool = False) -> list[Instruction]:
    """The instructions of ``code``; the first one is where it begins. `Uncapturable` if this version is not known.

    Args:
        code: of a function.
        with_heads: whether a loop that begins with a ``NOP``, as statements do that are no code (``try``), keeps it.
    """
    version = sys.version_info[:2]
    if version not in VERSIONS:
        raise Uncapturable(f"bytecode of Python {version[0]}.{version[1]}, for which there is no table")
    return _Decoder(code, version, with_heads).decode()


class _Decoder:
    def __init__(self, code: types.CodeType, version: tuple[int, ...], with_heads: bool) -> None:
        self.code = code
        self.version = version
        self.raw = _raw(code)
        self.at = {r.offset: i for i, r in enumerate(self.raw)}
        self.heads: dict[int, int] = {}  # where loops begin, and which jump leads back there
        if with_heads:
            back = [r for r in self.raw if "JUMP_BACKWARD" in r.op and r.op != "JUMP_BACKWARD_NO_INTERRUPT"]
            self.heads = {r.after - 2 * r.arg: r.offset for r in back}
        self.made: list[Instruction] = []
        self.first: list[int] = []  # per raw instruction: where what is made of it begins
        self.goes: list[int | None] = []  # per raw instruction: the offset where those go on that only go on
        self.targets: list[tuple[Instruction, list[int]]] = []  # instructions whose successors are offsets
        locals_ = code.co_varnames
        self.fast = locals_ + tuple(c for c in code.co_cellvars if c not in locals_) + code.co_freevars
        self.shared = {*code.co_cellvars, *code.co_freevars}

    def decode(self) -> list[Instruction]:
        keywords: tuple[str, ...] = ()
        is_begun = False
        for i, r in enumerate(self.raw):
            self.first.append(len(self.made))
            self.goes.append(None)
            if r.op == "RESUME":
                is_begun = True
            if r.op == "KW_NAMES":
                keywords = self.code.co_consts[r.arg]
            elif r.op == "LOAD_LOCALS" and self.raw[i + 1].op == "LOAD_FROM_DICT_OR_DEREF":
                continue  # one instruction with the next
            elif r.op == "MAKE_CELL" and not is_begun:  # of a variable of the function: its name tells
                continue
            elif r.op in _JUMPS:
                self.goes[i] = target = r.after + 2 * _JUMPS[r.op] * r.arg
                if target <= r.offset and self.first[self.at[target]] == len(self.made):
                    self.targets.append((self._emit("SPIN", None, r), [target]))  # ``while True: pass``
            elif r.op == "POP_TOP" and i and self.raw[i - 1].op in ("RETURN_GENERATOR", "END_FOR"):
                if self.raw[i - 1].op == "END_FOR" and self.version < (3, 13):
                    self._emit("POP_TOP", None, r)
            elif r.op == "GET_YIELD_FROM_ITER":
                self._yield_from(i)
            elif r.op == "NOP" and r.offset in self.heads:
                if r.after not in self.heads:  # else ``while True``, to whose ``NOP`` a ``continue`` leads
                    self._emit("NOP", None, r)
            elif r.op not in _NOTHING:
                keywords = self._lower(i, r, keywords)
        self.first.append(len(self.made))
        self._link()
        self._handlers()
        _ask_positively(self.made)
        return _reachable(self.made, self._resolve(0))

    def _emit(self, op: str, arg: Any, r: _Raw) -> Instruction:
        made = Instruction(op, arg, r.position)
        self.made.append(made)
        return made

    def _lower(self, i: int, r: _Raw, keywords: tuple[str, ...]) -> tuple[str, ...]:
        """Appends what stands for one instruction; the keywords that are still to come to a call."""
        op, arg, code = r.op, r.arg, self.code
        op = _SHORT.get(op, op)
        if op in _PAIRS:
            a, b = _PAIRS[op]
            self._fast(a, self.fast[arg >> 4], r)
            self._fast(b, self.fast[arg & 15], r)
        elif op in _FAST:
            self._fast(op, self.fast[arg], r)
        elif op in _CELLS:
            self._emit("LOAD_CLOSURE" if op == "LOAD_CLOSURE" else op, self.fast[arg], r)
        elif op in ("LOAD_CONST", "RETURN_CONST"):
            self._emit("LOAD_CONST", code.co_consts[arg], r)
            if op == "RETURN_CONST":
                self._emit("RETURN_VALUE", None, r)
        elif op == "LOAD_GLOBAL":
            self._global(code.co_names[arg >> 1], arg & 1, r)
        elif op == "LOAD_ATTR" and self.version >= (3, 12):
            self._emit("LOAD_METHOD" if arg & 1 else "LOAD_ATTR", code.co_names[arg >> 1], r)
        elif op == "LOAD_ATTR":
            self._emit("LOAD_ATTR", code.co_names[arg], r)
        elif op == "LOAD_SUPER_ATTR":
            self._emit(op, (code.co_names[arg >> 2], bool(arg & 1), bool(arg & 2)), r)
        elif op in _NAMES:
            self._emit(op, code.co_names[arg], r)
        elif op.startswith("POP_JUMP_"):
            self._branch(r, _BRANCHES[op[len("POP_JUMP_") :]], "BACKWARD" in r.op)
        elif op.startswith("JUMP_IF_"):
            self._emit("COPY", 1, r)
            self._branch(r, (op == "JUMP_IF_TRUE_OR_POP", False), False)
            self.targets[-1] = (self.made[-1], [_NEXT if o == r.after else o for o in self.targets[-1][1]])
            self._emit("POP_TOP", None, r)
        elif op == "FOR_ITER":
            made = self._emit(op, None, r)
            self.targets.append((made, [r.after, self._behind_loop(r.after + 2 * arg)]))
        elif op == "COMPARE_OP":
            shift = _COMPARE_SHIFT[self.version[:2]]
            self._emit(op, opcode.cmp_op[arg >> shift], r)
        elif op == "CALL":
            self._emit(op, (arg, keywords), r)
            keywords = ()
        elif op == "CALL_KW":
            names = self.made.pop().arg
            self._emit("CALL", (arg, names), r)
        elif op == "FORMAT_VALUE":
            self._emit(op, (arg & 3, bool(arg & 4)), r)
        elif op == "YIELD_VALUE":
            self._emit(op, None, r)
        elif op == "LIST_TO_TUPLE" or (op == "CALL_INTRINSIC_1" and arg == 6):
            self._emit("LIST_TO_TUPLE", None, r)
        elif op == "CALL_INTRINSIC_1" and arg == 5:
            self._emit("UNARY_POSITIVE", None, r)
        else:
            self._emit(op, arg if r.op in _HAS_ARG else None, r)
        return keywords

    def _fast(self, op: str, name: str, r: _Raw) -> None:
        op = _SHORT.get(op, op)
        if name in self.shared and op == "LOAD_FAST":  # 3.13: the cell itself
            op = "LOAD_CLOSURE"
        self._emit(op, name, r)

    def _global(self, name: str, with_null: int, r: _Raw) -> None:
        if with_null and self.version < (3, 13):
            self._emit("PUSH_NULL", None, r)
        self._emit("LOAD_GLOBAL", name, r)
        if with_null and self.version >= (3, 13):
            self._emit("PUSH_NULL", None, r)

    def _branch(self, r: _Raw, kind: tuple[bool, bool], is_back: bool) -> None:
        jumps_if, asks_none = kind
        if asks_none:
            self._emit("LOAD_CONST", None, r)
            self._emit("IS_OP", 0, r)
        made = self._emit("BRANCH", None, r)
        target = r.after + (-2 if is_back else 2) * r.arg
        self.targets.append((made, [target, r.after] if jumps_if else [r.after, target]))

    def _behind_loop(self, offset: int) -> int:
        """Where a loop goes on whose iterator has ended: that it is popped is part of ``FOR_ITER``."""
        i = self.at[offset]
        if self.raw[i].op == "END_FOR":
            i += 2 if self.version >= (3, 13) else 1
        return self.raw[i].offset

    def _yield_from(self, i: int) -> None:
        """``yield from``: one instruction for the loop that CPython makes of it."""
        wanted = ["GET_YIELD_FROM_ITER", "LOAD_CONST", "SEND", "YIELD_VALUE", "RESUME"]
        found = self.raw[i : i + 5]
        if [r.op for r in found] != wanted:
            raise Uncapturable("a yield from that is compiled in an unknown way")
        send = found[2]
        self._emit("YIELD_FROM", None, self.raw[i])
        self.goes[i] = send.after + 2 * send.arg
        self.made[-1].next = (-1,)
        self.targets.append((self.made[-1], [send.after + 2 * send.arg]))

    # -- successors ----------------------------------------------------------------------------------------------

    def _resolve(self, i: int) -> int:
        """The index of the first instruction that is executed from the raw instruction ``i`` on."""
        seen = set()
        while self.first[i] == self.first[i + 1]:
            if i in seen:
                raise Uncapturable("a loop that does nothing")
            seen.add(i)
            goes = self.goes[i]
            i = i + 1 if goes is None else self.at[goes]
            if i >= len(self.raw):
                raise Uncapturable("code that runs past its end")
        return self.first[i]

    def _link(self) -> None:
        known = {id(made) for made, _ in self.targets}
        for i in range(len(self.raw)):
            for k in range(self.first[i], self.first[i + 1]):
                made = self.made[k]
                if made.op in _LEAVE:
                    made.next = ()
                elif k + 1 < self.first[i + 1]:
                    if id(made) not in known:
                        made.next = (k + 1,)
                elif id(made) not in known:
                    made.next = (self._resolve(i + 1),)
            if self.raw[i].op == "NOP" and i + 1 < len(self.raw):
                self.made[self._resolve(i + 1)].is_first = True
        place = {id(made): k for k, made in enumerate(self.made)}
        for made, offsets in self.targets:
            here = place[id(made)]
            made.next = tuple(here + 1 if o == _NEXT else self._resolve(self.at[o]) for o in offsets)
            made.continues = made.op == "BRANCH" and any(self._is_continue(o, made) for o in offsets)

    def _is_continue(self, offset: int, branch: Instruction) -> bool:
        """Whether there is the jump of a ``continue`` statement, which has its place; other jumps have their test's."""
        if offset == _NEXT or self.goes[self.at[offset]] is None:
            return False
        position = self.raw[self.at[offset]].position
        line, end, column, end_column = position
        if line != end or column is None or end_column is None or position == branch.position:
            return False
        return end_column - column == len("continue")

    def _handlers(self) -> None:
        around: dict[int, tuple[int, int, bool]] = {}  # by offset
        for start, end, target, depth, lasti in _exception_table(self.code):
            first = self.at[target]
            if self.raw[first].op == "CALL_INTRINSIC_1" and self.raw[first].arg == 3:
                continue  # StopIteration in a generator becomes RuntimeError: in every generator
            if self.raw[first].op == "CLEANUP_THROW":
                continue  # part of ``yield from``
            handler = self._resolve(first)
            for offset in range(start, end, 2):
                around[offset] = (handler, depth, lasti)
                i = self.at.get(offset)
                if i is not None and not (i and self._is_asked_before(i)):
                    self._guard(i, (handler, depth, lasti))
                if i is not None and self._is_asked_before(i + 1):
                    self._guard(i + 1, (handler, depth, lasti))

        for i, r in enumerate(self.raw):
            if r.op in ("STORE_FAST_LOAD_FAST", "LOAD_FAST_LOAD_FAST"):  # the second may be of the next statement
                self.made[self.first[i] + 1].handler = self.made[self._resolve(i + 1)].handler
        for head, jump in self.heads.items():  # the ``NOP`` of ``try`` is in no table: what leads back to it is
            if self.raw[self.at[head]].op == "NOP" and jump in around:
                self._guard(self.at[head], around[jump])

    def _guard(self, i: int, handler: tuple[int, int, bool]) -> None:
        for k in range(self.first[i], self.first[i + 1]):
            self.made[k].handler = handler

    def _is_asked_before(self, i: int) -> bool:
        """Whether it is a branch on what the instruction before it has asked: that may raise, the branch may not, and
        so the tables of 3.13 need not have it."""
        return self.version >= (3, 13) and i < len(self.raw) and self.raw[i].op.startswith("POP_JUMP_")


_HAS_ARG = {name for name, number in opcode.opmap.items() if number >= getattr(opcode, "HAVE_ARGUMENT", 90)} - {
    "CHECK_EXC_MATCH",
}
_NUMBERS = opcode.opname
_CACHES: Any = getattr(opcode, "_inline_cache_entries")  # noqa: B009 - it has no public name


def _caches(op: int, name: str) -> int:
    return _CACHES.get(name, 0) if isinstance(_CACHES, dict) else _CACHES[op]


def _raw(code: types.CodeType) -> list[_Raw]:
    text = code.co_code
    positions: list[Position] = [*code.co_positions()]
    positions += [NOWHERE] * (len(text) // 2 - len(positions))
    found = []
    extended = 0
    begins: int | None = None
    i = 0
    while i < len(text):
        op, arg = text[i], text[i + 1] | extended
        name = _NUMBERS[op]
        if name == "EXTENDED_ARG":
            extended = arg << 8
            begins = i if begins is None else begins
            i += 2
            continue
        after = i + 2 + 2 * _caches(op, name)
        found.append(_Raw(i if begins is None else begins, name, arg, positions[i // 2], after))
        extended, begins = 0, None
        i = after
    return found


def _exception_table(code: types.CodeType) -> list[tuple[int, int, int, int, bool]]:
    """Start, end and target as offsets, depth, and whether the place is told: CPython's exception_handling_notes."""
    table = iter(code.co_exceptiontable)
    found = []

    def number(first: int) -> int:
        value = first & 63
        while first & 64:
            first = next(table)
            value = value << 6 | first & 63
        return value

    for first in table:
        start = number(first) * 2
        length, target, depth = (number(next(table)) for _ in range(3))
        found.append((start, start + length * 2, target * 2, depth >> 1, bool(depth & 1)))
    return found


def _ask_positively(made: list[Instruction]) -> None:
    """A branch on ``is not`` or ``not in`` is one on ``is`` or ``in`` with its sides exchanged."""
    before: dict[int, int] = {}
    for one in made:
        for n in one.next:
            before[n] = before.get(n, 0) + 1
    for one in made:
        if one.op in ("IS_OP", "CONTAINS_OP") and one.arg == 1:
            branch = made[one.next[0]]
            if branch.op == "BRANCH" and before[one.next[0]] == 1:
                one.arg = 0
                branch.next = branch.next[::-1]


def _reachable(made: list[Instruction], entry: int) -> list[Instruction]:
    """Those that can be reached from ``entry``, which becomes the first; the others stay in order."""
    seen: set[int] = set()
    work = [entry]
    while work:
        i = work.pop()
        if i in seen:
            continue
        seen.add(i)
        work.extend(made[i].next)
        handler = made[i].handler
        if handler is not None:
            work.append(handler[0])
    order = [entry, *sorted(seen - {entry})]
    new = {old: k for k, old in enumerate(order)}
    kept = [made[i] for i in order]
    for one in kept:
        one.next = tuple(new[n] for n in one.next)
        if one.handler is not None:
            one.handler = (new[one.handler[0]], *one.handler[1:])
    return kept
