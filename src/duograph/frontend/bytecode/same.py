"""Whether two code objects do the same: the instructions that are executed, whatever is decided, are equal.

Where blocks lie, what was copied, which way round a condition jumps makes no difference. Two places are the same if
their instructions are equal and lead to places that are the same: a bisimulation of the two graphs of instructions.
"""

from __future__ import annotations

import heapq
import inspect
import types
from dataclasses import dataclass
from typing import Any

from .instructions import Instruction, decode

_IGNORED = inspect.CO_NESTED | 0x1000000 | 0x4000000  # postponed annotations; 3.13: has a docstring


@dataclass(slots=True, frozen=True)
class Difference:
    """What is not the same, and in which line if that is known."""

    text: str
    line: int | None = None


def difference(a: types.CodeType, b: types.CodeType) -> Difference | None:
    """The first difference between two code objects; None if they do the same."""
    for what in ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_name"):
        if getattr(a, what) != getattr(b, what):
            return Difference(f"{what} of {a.co_name} is {getattr(a, what)!r}, not {getattr(b, what)!r}")
    if (a.co_flags ^ b.co_flags) & ~_IGNORED:
        return Difference(f"{a.co_name} has other flags")
    count = a.co_argcount + a.co_kwonlyargcount + bool(a.co_flags & 4) + bool(a.co_flags & 8)
    if a.co_varnames[:count] != b.co_varnames[:count]:
        return Difference(f"parameters of {a.co_name}")
    if set(a.co_cellvars) != set(b.co_cellvars) or set(a.co_freevars) != set(b.co_freevars):
        return Difference(f"shared variables of {a.co_name}")
    return None if _is_equal_text(a, b) else _bodies(a, b)


def _is_equal_text(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether not even the layout differs, as is the rule for code that has places: then nothing need be decoded."""
    tables = a.co_code == b.co_code and a.co_exceptiontable == b.co_exceptiontable and a.co_names == b.co_names
    names = a.co_varnames == b.co_varnames and a.co_cellvars == b.co_cellvars and a.co_freevars == b.co_freevars
    return tables and names and _equal(a.co_consts, b.co_consts)


def _bodies(a: types.CodeType, b: types.CodeType) -> Difference | None:
    ours, others = decode(a), decode(b)
    seen: set[tuple[int, int]] = set()
    work = [(0, 0)]
    while work:
        pair = heapq.heappop(work)  # in the order of the code: a difference is the first one
        if pair in seen:
            continue
        seen.add(pair)
        x, y = ours[pair[0]], others[pair[1]]
        if x.op != y.op or len(x.next) != len(y.next) or not (_equal(x.arg, y.arg) or _names_class(x, y, ours)):
            made = f"{x.op} {x.arg!r} in line {x.position[0]} of {a.co_name}"
            return Difference(f"{made} became {y.op} {y.arg!r}", x.position[0])
        for successors in zip(x.next, y.next, strict=True):
            heapq.heappush(work, successors)
        if x.handler is not None or y.handler is not None:
            if x.handler is None or y.handler is None or x.handler[1:] != y.handler[1:]:
                made = f"{x.op} {x.arg!r} in line {x.position[0]} of {a.co_name}"
                return Difference(f"{made} has another exception handler", x.position[0])
            heapq.heappush(work, (x.handler[0], y.handler[0]))
    return None


def _names_class(x: Instruction, y: Instruction, made: list[Instruction]) -> bool:
    """Whether these are the full names of a class, which begin with where it is defined: so does that of a function."""
    if x.op != "LOAD_CONST" or type(x.arg) is not str or type(y.arg) is not str:
        return False
    after = made[x.next[0]]
    is_name = after.op == "STORE_NAME" and after.arg == "__qualname__"
    return is_name and x.arg.rpartition(".")[2] == y.arg.rpartition(".")[2]


def _equal(x: Any, y: Any) -> bool:
    if isinstance(x, types.CodeType) and isinstance(y, types.CodeType):
        return difference(x, y) is None
    if type(x) is not type(y):
        return False
    if isinstance(x, tuple):
        return len(x) == len(y) and all(_equal(i, j) for i, j in zip(x, y, strict=True))
    if isinstance(x, frozenset):
        return {(type(i), repr(i)) for i in x} == {(type(i), repr(i)) for i in y}
    if isinstance(x, float | complex):
        return repr(x) == repr(y)
    return bool(x == y)
