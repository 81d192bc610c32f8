"""Runs loop IR on NumPy arrays: the meaning of every instruction, slowly, with every access checked.

The oracle of the code generator: `scripts/fuzz` and the tests run the same function here and as machine code and
compare bits. Chunks of parallel regions run last first, so that a kernel which depends on their order shows it.

    interpret(function, [x, out], [x.size])      # writes to `out`; gives the status
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..target import current_target
from .ir import Block, Buffer, Function, Instr, Value
from .types import NUMPY, VType


def _libm(name: str, *xs: float) -> float:
    function = getattr(ctypes.CDLL(None), name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * len(xs)
    return float(function(*xs))


class OutOfBounds(IndexError):
    """A kernel touched memory outside its buffer."""


class _Memory:
    """Bytes seen as elements."""

    def __init__(self, raw: np.ndarray, offset: int, elem: str) -> None:
        self.raw, self.offset, self.dtype = raw, offset, NUMPY[elem]

    def at(self, index: int, count: int = 1) -> np.ndarray:
        size = self.dtype.itemsize
        start = self.offset + int(index) * size
        if start < 0 or start + count * size > self.raw.size:
            raise OutOfBounds(f"elements {index} to {int(index) + count} of a buffer of {self.raw.size} bytes")
        return self.raw[start : start + count * size].view(self.dtype)


def interpret(
    function: Function,
    arrays: Sequence[np.ndarray],
    dims: Sequence[Any] = (),
    functions: Mapping[str, Function] | None = None,
) -> int:
    """Runs ``function``.

    Args:
        function: verified loop IR.
        arrays: one contiguous array per buffer; written to in place.
        dims: one number per dim.
        functions: what it may call, by symbol.

    Returns:
        The status: 0, or the largest failure code that was noted.

    Raises:
        OutOfBounds: an access outside a buffer.
    """
    memories = []
    for array, buf in zip(arrays, function.buffers, strict=True):
        raw = array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
        assert np.shares_memory(raw, array) or not array.size, "arrays must be contiguous"
        memories.append(_Memory(raw, 0, buf.elem))
    return _Frame(functions or {}).function(function, memories, dims)


class _Frame:
    def __init__(self, functions: Mapping[str, Function]) -> None:
        self.functions = functions
        self.values: dict[int, Any] = {}
        self.status = 0

    def function(self, function: Function, memories: Sequence[_Memory], dims: Sequence[Any]) -> int:
        for buf, memory in zip(function.buffers, memories, strict=True):
            self.values[buf.id] = memory
        for value, number in zip(function.dims, dims, strict=True):
            self.values[value.id] = np.array([number], value.type.numpy)
        if function.linked:
            self.functions = {**self.functions, **function.linked}
        with np.errstate(all="ignore"):
            self.block(function.body)
        return self.status

    def get(self, x: Value | Buffer) -> Any:
        if isinstance(x, Value) and x.const is not None:
            lanes = x.const if isinstance(x.const, tuple) else [x.const] * x.type.lanes
            return np.array(lanes, x.type.numpy)
        return self.values[x.id]

    def block(self, block: Block) -> None:
        for instr in block.instrs:
            if instr.op != "const":
                self.run(instr)

    def run(self, instr: Instr) -> None:
        special = getattr(self, f"do_{instr.op}", None)
        if special is not None:
            special(instr)
            return
        (result,) = instr.results
        assert isinstance(result, Value)
        made = _compute(instr, [self.get(x) for x in instr.operands], result.type)
        self.values[result.id] = np.asarray(made).astype(result.type.numpy, copy=False).reshape(result.type.lanes)

    # ---- memory --------------------------------------------------------------------------------------------------

    def do_load(self, instr: Instr) -> None:
        memory, index, *mask = [self.get(x) for x in instr.operands]
        self.values[instr.results[0].id] = self.loaded(memory, _lane_indices(index, instr.results[0]), mask)

    def do_gather(self, instr: Instr) -> None:
        memory, indices, *mask = [self.get(x) for x in instr.operands]
        self.values[instr.results[0].id] = self.loaded(memory, indices, mask)

    def loaded(self, memory: _Memory, indices: np.ndarray, mask: list[Any]) -> np.ndarray:
        out = np.zeros(len(indices), memory.dtype)
        wanted = mask[0] if mask else np.ones(len(indices), bool)
        for lane, (index, on) in enumerate(zip(indices, wanted, strict=True)):
            if on:
                out[lane] = memory.at(index)[0]
        return out

    def do_store(self, instr: Instr) -> None:
        memory, index, value, *mask = [self.get(x) for x in instr.operands]
        self.stored(memory, _lane_indices(index, instr.operands[2]), value, mask)

    def do_scatter(self, instr: Instr) -> None:
        memory, indices, value, *mask = [self.get(x) for x in instr.operands]
        self.stored(memory, indices, value, mask)

    def stored(self, memory: _Memory, indices: np.ndarray, value: np.ndarray, mask: list[Any]) -> None:
        wanted = mask[0] if mask else np.ones(len(indices), bool)
        for index, lane, on in zip(indices, value, wanted, strict=True):
            if on:
                memory.at(index)[0] = lane

    def do_prefetch(self, instr: Instr) -> None:
        """No meaning; any address is allowed."""

    def do_atomic_add(self, instr: Instr) -> None:
        memory, index, value = [self.get(x) for x in instr.operands]
        cell = memory.at(index[0])
        self.values[instr.results[0].id] = cell.copy()
        cell += value

    def do_alloca(self, instr: Instr) -> None:
        elem, count = instr.attrs["elem"], instr.attrs["count"]
        raw = np.full(count * NUMPY[elem].itemsize, 0xCB, np.uint8)
        self.values[instr.results[0].id] = _Memory(raw, 0, elem)

    def do_alloc(self, instr: Instr) -> None:
        (nbytes,) = [self.get(x) for x in instr.operands]
        raw = np.full(int(nbytes[0]), 0xCB, np.uint8)
        self.values[instr.results[0].id] = _Memory(raw, 0, instr.attrs["elem"])

    def do_view(self, instr: Instr) -> None:
        memory, offset = [self.get(x) for x in instr.operands]
        made = _Memory(memory.raw, memory.offset + int(offset[0]), instr.attrs["elem"])
        self.values[instr.results[0].id] = made

    def do_free(self, instr: Instr) -> None:
        memory = self.get(instr.operands[0])
        memory.raw = memory.raw[:0]

    def do_is_null(self, instr: Instr) -> None:
        self.values[instr.results[0].id] = np.zeros(1, bool)

    def do_same_memory(self, instr: Instr) -> None:
        a, b = [self.get(x) for x in instr.operands]
        starts = {m.raw.__array_interface__["data"][0] + m.offset for m in (a, b)}
        self.values[instr.results[0].id] = np.array([len(starts) == 1])

    def do_copy(self, instr: Instr) -> None:
        dst, at, src, start, count = [self.get(x) for x in instr.operands]
        n = int(count[0])
        if n:
            dst.at(at[0], n)[:] = src.at(start[0], n)

    # ---- control -------------------------------------------------------------------------------------------------

    def region(self, block: Block, args: Sequence[Any]) -> list[Any]:
        for arg, value in zip(block.args, args, strict=True):
            self.values[arg.id] = value
        self.block(block)
        return [self.get(v) for v in block.yields]

    def finish(self, instr: Instr, values: Sequence[Any]) -> None:
        for result, value in zip(instr.results, values, strict=True):
            self.values[result.id] = value

    def do_for(self, instr: Instr) -> None:
        lo, hi, step, *carried = [self.get(x) for x in instr.operands]
        for i in range(int(lo[0]), int(hi[0]), int(step[0])):
            carried = self.region(instr.regions[0], [np.array([i], np.int64), *carried])
        self.finish(instr, carried)

    def do_while(self, instr: Instr) -> None:
        carried = [self.get(x) for x in instr.operands]
        test, body = instr.regions
        while self.region(test, carried)[0][0]:
            carried = self.region(body, carried)
        self.finish(instr, carried)

    def do_if(self, instr: Instr) -> None:
        cond = self.get(instr.operands[0])[0]
        self.finish(instr, self.region(instr.regions[0 if cond else 1], []))

    def do_parallel(self, instr: Instr) -> None:
        lo, hi, grain = [int(self.get(x)[0]) for x in instr.operands]
        starts = range(lo, hi, max(1, grain))
        for begin in reversed(starts):
            ends = min(hi, begin + max(1, grain))
            self.region(instr.regions[0], [np.array([begin], np.int64), np.array([ends], np.int64)])

    def do_fail(self, instr: Instr) -> None:
        if self.get(instr.operands[0])[0]:
            self.status = max(self.status, instr.attrs["code"])

    def do_call(self, instr: Instr) -> None:
        n = instr.attrs["n_buffers"]
        operands = [self.get(x) for x in instr.operands]
        callee = self.functions[instr.attrs["function"]]
        status = _Frame(self.functions).function(callee, operands[:n], [d[0] for d in operands[n:]])
        self.status = max(self.status, status)


def _lane_indices(index: np.ndarray, like: Any) -> np.ndarray:
    return index[0] + np.arange(like.type.lanes)  # type: ignore[no-any-return]


# ---- arithmetic ------------------------------------------------------------------------------------------------------


def _compute(instr: Instr, xs: list[Any], type: VType) -> Any:
    op = instr.op
    if op in _UFUNCS:
        return _UFUNCS[op](*xs)
    if op in ("div", "rem"):
        return _quotient(op, *xs)
    if op in ("shl", "shr"):
        return (np.left_shift if op == "shl" else np.right_shift)(*xs)
    match op:
        case "not":
            return np.logical_not(*xs) if type.is_bool else np.invert(*xs)
        case "popcount" | "clz" | "ctz":
            return [_bit_count(op, int(v), type) for v in xs[0]]
        case "fma":
            return fused_multiply_add(*xs) if current_target().has_fma else xs[0] * xs[1] + xs[2]
        case "cmp":
            return _COMPARE[instr.attrs["pred"]](*xs)
        case "select":
            return np.where(*xs)
        case "convert":
            return xs[0] != 0 if type.is_bool else xs[0].astype(type.numpy)
        case "bitcast":
            return xs[0].view(type.numpy)
        case "splat":
            return np.repeat(xs[0], type.lanes)
        case "lanes":
            return np.arange(type.lanes)
        case "any":
            return np.array([xs[0].any()])
        case "libm":
            return np.array([_libm(instr.attrs["name"], *[float(x[0]) for x in xs])])
        case "extract":
            return xs[0][instr.attrs["lane"]]
        case "insert":
            made = xs[0].copy()
            made[instr.attrs["lane"]] = xs[1][0]
            return made
        case "shuffle":
            return np.concatenate(xs)[list(instr.attrs["mask"])]
    raise NotImplementedError(op)


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
    "rint": np.rint, "copysign": np.copysign,
}  # fmt: skip
_COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal
}  # fmt: skip


def _quotient(op: str, a: np.ndarray, b: np.ndarray) -> Any:
    if a.dtype.kind == "f":
        return a / b if op == "div" else np.fmod(a, b)
    if not b.all():
        raise ZeroDivisionError("integer division by zero traps in machine code")
    if op == "rem":
        return np.fmod(a, b)
    quotient = np.floor_divide(a, b)
    return quotient + ((quotient < 0) & (quotient * b != a)).astype(a.dtype)


def _bit_count(op: str, value: int, type: VType) -> int:
    bits = value & ((1 << type.bits) - 1)
    if op == "popcount":
        return bits.bit_count()
    if op == "clz":
        return type.bits - bits.bit_length()
    return (bits & -bits).bit_length() - 1 if bits else type.bits


def fused_multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """``a * b + c`` rounded once, lane by lane.

    float32: the product is exact in float64; the sum is rounded to odd there, after which rounding to float32 is right
    (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). float64: exact fractions.
    """
    if a.dtype == np.float32:
        p, q = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
        s = p + q
        back = s - p
        error = (p - (s - back)) + (q - back)
        inexact = np.isfinite(s) & (error != 0) & ((s.view(np.int64) & 1) == 0)
        odd = np.nextafter(s, np.where(error > 0, np.inf, -np.inf))
        return np.where(inexact, odd, s).astype(np.float32)
    out = a * b + c
    for i, (x, y, z) in enumerate(zip(a.tolist(), b.tolist(), c.tolist(), strict=True)):
        if np.isfinite([x, y, z]).all() and x and y:
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            if exact:
                out[i] = _rounded(exact)
    return out


def _rounded(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
