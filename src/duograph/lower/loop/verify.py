"""Checks loop IR: operands are defined where they are used, and instructions have the types their meaning asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ir import Block, Buffer, Function, Instr, Value
from .types import BOOL, FLOATS, I64, VType


class LoopIRError(TypeError):
    """A function of loop IR is malformed; the message shows the instruction."""


def verify(function: Function) -> Function:
    """``function``, if it is well-formed.

    Raises:
        LoopIRError: it is not.
    """
    defined: set[int] = set()
    defined.update(buf.id for buf in function.buffers)
    defined.update(dim.id for dim in function.dims)
    for dim in function.dims:
        if str(dim.type) not in ("i64", "f64"):
            raise LoopIRError(f"{function.name}: a dim is i64 or f64, not {dim.type}")
    _block(function, function.body, defined, parallel=False)
    return function


def _block(function: Function, block: Block, outside: set[int], parallel: bool) -> None:
    defined = {*outside, *[a.id for a in block.args]}
    for instr in block.instrs:
        problem = _instr(function, instr, defined, parallel)
        if problem:
            shown = f"{', '.join(map(repr, instr.results))} = {instr.op} {', '.join(map(repr, instr.operands))}"
            raise LoopIRError(f"{function.name}: {problem}: {shown} {instr.attrs}")
        defined.update(r.id for r in instr.results)
    for value in block.yields:
        if value.id not in defined and value.const is None:
            raise LoopIRError(f"{function.name}: yields {value!r}, which is not defined there")


def _instr(function: Function, instr: Instr, defined: set[int], parallel: bool) -> str:
    """What is wrong with ``instr``; empty if nothing is."""
    for x in instr.operands:
        if x.id not in defined and not (isinstance(x, Value) and x.const is not None):
            return f"{x!r} is not defined here"
    check = _CHECKS.get(instr.op)
    if check is None:
        return "no such instruction"
    problem = check(instr)
    if problem:
        return problem
    if instr.op == "parallel" and parallel:
        return "parallel regions do not nest"
    for region in instr.regions:
        _block(function, region, defined, parallel or instr.op == "parallel")
    return ""


# ---- one check per kind of instruction -------------------------------------------------------------------------------


def _types(instr: Instr) -> list[VType]:
    return [x.type for x in instr.operands if isinstance(x, Value)]


def _result(instr: Instr) -> VType:
    (result,) = instr.results
    assert isinstance(result, Value)
    return result.type


_HALF = ("f16", "bf16")


def _same(kinds: str, n: int) -> Callable[[Instr], str]:
    """``n`` operands and a result of one type; ``kinds``: i integers, f float32/float64, b bool."""

    def check(instr: Instr) -> str:
        types = [*_types(instr), _result(instr)]
        if len(types) != n + 1 or len(set(types)) != 1:
            return f"{n} operands and a result of one type are wanted"
        t = types[0]
        if t.elem in _HALF:
            return "half types are for memory: convert to f32 to compute"
        kind = "b" if t.is_bool else "f" if t.is_float else "i"
        return "" if kind in kinds else f"not for {t}"

    return check


def _cmp(instr: Instr) -> str:
    a, b = _types(instr)
    if a != b or a.elem in _HALF:
        return "operands of one type that can be computed with are wanted"
    return "" if _result(instr) == a.with_elem("bool") else "the result is bool of as many lanes"


def _select(instr: Instr) -> str:
    c, a, b = _types(instr)
    ok = c.is_bool and a == b == _result(instr) and c.lanes in (1, a.lanes)
    return "" if ok else "a bool (of as many lanes, or one) and two values of the type of the result are wanted"


def _bitcast(instr: Instr) -> str:
    (x,), r = _types(instr), _result(instr)
    return "" if x.bits * x.lanes == r.bits * r.lanes and not x.is_bool and not r.is_bool else "sizes differ"


def _convert(instr: Instr) -> str:
    (x,), r = _types(instr), _result(instr)
    return "" if x.lanes == r.lanes else "lanes differ"


def _splat(instr: Instr) -> str:
    (x,), r = _types(instr), _result(instr)
    return "" if x.lanes == 1 and r.elem == x.elem else "a scalar of the result's element type is wanted"


def _any(instr: Instr) -> str:
    (x,), r = _types(instr), _result(instr)
    return "" if x.is_bool and r == x.with_lanes(1) else "bools are wanted, and give one"


LIBM = frozenset({
    *("pow", "fmod", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "exp", "expm1", "log"),
    *("log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh"),
})  # fmt: skip
"""Functions of the C library that Python's floats and `math` use as they are."""


def _libm(instr: Instr) -> str:
    ok = all(str(t) == "f64" for t in (*_types(instr), _result(instr))) and instr.attrs["name"] in LIBM
    return "" if ok else "a function of the C library of f64 scalars is wanted"


def _extract(instr: Instr) -> str:
    (x,), r = _types(instr), _result(instr)
    return "" if r == x.with_lanes(1) and 0 <= instr.attrs["lane"] < x.lanes else "no such lane"


def _insert(instr: Instr) -> str:
    x, v = _types(instr)
    ok = v == x.with_lanes(1) and _result(instr) == x and 0 <= instr.attrs["lane"] < x.lanes
    return "" if ok else "no such lane, or another type"


def _shuffle(instr: Instr) -> str:
    (a, b), r, mask = _types(instr), _result(instr), instr.attrs["mask"]
    ok = a == b and r == a.with_lanes(len(mask)) and all(0 <= m < 2 * a.lanes for m in mask) and len(mask) > 1
    return "" if ok else "two vectors of one type and lane numbers below twice their lanes are wanted"


def _memory(shape: str) -> Callable[[Instr], str]:
    """Operands as letters: b buffer, i scalar i64, v vector of i64, x value of the buffer's element, m mask or not."""

    def check(instr: Instr) -> str:
        operands = list(instr.operands)
        letters = shape.rstrip("m")
        if len(operands) == len(letters) + 1 and shape.endswith("m"):
            mask = operands.pop()
            lanes = _lanes(instr)
            if not isinstance(mask, Value) or mask.type != VType("bool", lanes):
                return f"the mask must be bool of {lanes} lanes"
        if len(operands) != len(letters):
            return "wrong number of operands"
        elem = ""
        for letter, x in zip(letters, operands, strict=True):
            if letter == "b":
                if not isinstance(x, Buffer):
                    return "a buffer is wanted"
                elem = elem or x.elem
            elif not isinstance(x, Value):
                return "a value is wanted"
            elif letter == "i" and x.type != I64:
                return "an index is an i64"
            elif letter == "v" and x.type.elem != "i64":
                return "indices are i64"
            elif letter == "x" and x.type.elem != elem:
                return f"the buffer holds {elem}"
        if instr.results and isinstance(instr.results[0], Value) and instr.op not in ("is_null", "same_memory"):
            return "" if instr.results[0].type.elem == elem else f"the buffer holds {elem}"
        return ""

    return check


def _lanes(instr: Instr) -> int:
    if instr.results and isinstance(instr.results[0], Value):
        return instr.results[0].type.lanes
    return next(x.type.lanes for x in reversed(instr.operands[:-1]) if isinstance(x, Value))


def _anything(_: Instr) -> str:
    return ""


def _for(instr: Instr) -> str:
    lo, hi, step, *init = _types(instr)
    (region,) = instr.regions
    if not lo == hi == step == I64 or [a.type for a in region.args] != [I64, *init]:
        return "bounds are i64 and the region takes the index and what is carried"
    return "" if [v.type for v in region.yields] == init == _results(instr) else "what is carried changes its type"


def _while(instr: Instr) -> str:
    init = _types(instr)
    test, body = instr.regions
    if [v.type for v in test.yields] != [BOOL]:
        return "the first region yields one bool"
    same = [a.type for a in test.args] == [a.type for a in body.args] == [v.type for v in body.yields]
    return "" if same and [a.type for a in body.args] == init == _results(instr) else "what is carried changes its type"


def _if(instr: Instr) -> str:
    yes, no = instr.regions
    if _types(instr) != [BOOL]:
        return "the condition is one bool"
    same = [v.type for v in yes.yields] == [v.type for v in no.yields] == _results(instr)
    return "" if same else "the regions yield different types"


def _results(instr: Instr) -> list[VType]:
    return [r.type for r in instr.results if isinstance(r, Value)]


def _parallel(instr: Instr) -> str:
    (region,) = instr.regions
    ok = _types(instr) == [I64] * 3 and [a.type for a in region.args] == [I64, I64] and not region.yields
    return "" if ok else "bounds and grain are i64, the region takes begin and end and yields nothing"


def _fail(instr: Instr) -> str:
    ok = _types(instr) == [BOOL] and 1 <= instr.attrs["code"] <= 255
    return "" if ok else "one bool and a code from 1 to 255 are wanted"


def _call(instr: Instr) -> str:
    n = instr.attrs["n_buffers"]
    buffers, dims = instr.operands[:n], instr.operands[n:]
    ok = all(isinstance(x, Buffer) for x in buffers) and all(
        isinstance(x, Value) and str(x.type) in ("i64", "f64") for x in dims
    )
    return "" if ok else "buffers first, then dims of type i64 or f64"


_CHECKS: dict[str, Callable[[Any], str]] = {
    "const": _anything, "lanes": _anything,
    **dict.fromkeys(("add", "sub", "mul", "div", "rem"), _same("if", 2)),
    **dict.fromkeys(("min", "max", "shl", "shr"), _same("i", 2)),
    **dict.fromkeys(("and", "or", "xor"), _same("ib", 2)),
    **dict.fromkeys(("sqrt", "floor", "ceil", "trunc", "rint"), _same("f", 1)),
    **dict.fromkeys(("neg", "abs"), _same("if", 1)),
    **dict.fromkeys(("popcount", "clz", "ctz"), _same("i", 1)),
    "not": _same("ib", 1), "copysign": _same("f", 2), "fma": _same("f", 3),
    "cmp": _cmp, "select": _select, "convert": _convert, "bitcast": _bitcast,
    "any": _any, "libm": _libm, "splat": _splat, "extract": _extract, "insert": _insert, "shuffle": _shuffle,
    "load": _memory("bim"), "store": _memory("bixm"), "gather": _memory("bvm"), "scatter": _memory("bvxm"),
    "prefetch": _memory("bi"), "atomic_add": _memory("bix"), "copy": _memory("bibii"),
    "alloca": _anything, "view": _memory("bi"), "alloc": _anything, "free": _memory("b"), "is_null": _memory("b"),
    "same_memory": _memory("bb"),
    "for": _for, "while": _while, "if": _if, "parallel": _parallel, "fail": _fail, "call": _call,
    "address": _anything, "at": _anything, "leave": _anything, "cycles": _anything,
}  # fmt: skip
INSTRUCTIONS = frozenset(_CHECKS)
"""Names of all instructions."""

assert set(_HALF) < set(FLOATS)
