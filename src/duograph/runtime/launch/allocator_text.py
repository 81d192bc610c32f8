"""The caching allocator of eager results, as LLVM text. `allocator.py` says what it is for and switches it.

A block is 64 bytes of header and then the memory: the number of its bin, its size, the next free block of the bin. A
bin holds blocks of one size: four sizes per power of two, so at most a quarter of a block is unused. Freed blocks wait
in their bins; when they would exceed the cap, all of them go back to the system. Callers hold the GIL.
"""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Memory, Module, Value

HEADER = 64
BIN, BYTES, NEXT = 0, 8, 16  # fields of the header
BINS = 256
LARGEST = 1 << 46
"""More than any machine has; sums of sizes cannot overflow below it."""

STATE = (
    "cap", "cached", "reuses", "reserved", "reserved_peak", "allocated", "allocated_peak", "allocations",
)  # fmt: skip
MEMORY = {"bins": Memory("ptr", BINS, 64)}


def functions(module: Module) -> list[Function]:
    """``dg_alloc``, ``dg_free``, ``dg_empty`` and the four entries of a NumPy memory handler."""
    return [_alloc(module), _free(module), _empty(module), *_handler(module)]


def _bin_place(f: Function, number: Value) -> Value:
    return f.memory("bins").at(number * 8).pointer


def _alloc(module: Module) -> Function:
    """``ptr dg_alloc(i64 size)``: 64-byte aligned memory, null if there is none."""
    f = Function("ptr", "dg_alloc", "i64 size", module, linkage="")
    size = f.arg("size")
    with f.if_(size.above(LARGEST)):
        f.ret(0)
    last = f.select(size.above(HEADER), size - 1, HEADER - 1)
    power = f.const("i64", 63) - f.api("llvm.ctlz.i64", last, f.const("i1", 1))
    quarter = (last >> (power - 2)) & 3
    number = (power - 5) * 4 + quarter
    amount = (quarter + 5) << (power - 2)
    place = _bin_place(f, number)
    block = f.variable("ptr", f.load("ptr", place))
    cached, fresh, done = f.label(), f.label(), f.label()
    f.goto_if(block.get().eq(None), fresh)
    f.place(cached)
    f.store(f.load("ptr", block.get(), NEXT), place)
    f.bump("cached", f.const("i64", 0) - amount)
    f.bump("reuses")
    f.goto(done)
    f.place(fresh)
    total = (amount + (HEADER + 63)) & -64
    block.set(f.api("aligned_alloc", 64, total))
    with f.if_(block.get().eq(None)):
        f.call("void", "dg_empty")
        block.set(f.api("aligned_alloc", 64, total))
        with f.if_(block.get().eq(None)):
            f.ret(0)
    f.store(number, block.get(), BIN)
    f.store(amount, block.get(), BYTES)
    _raise_peak(f, "reserved", f.bump("reserved", amount) + amount)
    f.place(done)
    f.bump("allocations")
    _raise_peak(f, "allocated", f.bump("allocated", amount) + amount)
    f.ret(block.get() + HEADER)
    return f


def _raise_peak(f: Function, name: str, now: Value) -> None:
    with f.if_(now.gt(f.word(f"{name}_peak", "i64"))):
        f.store(now, f.word_place(f"{name}_peak"))


def _free(module: Module) -> Function:
    """``void dg_free(ptr data)``."""
    f = Function("void", "dg_free", "ptr data", module, linkage="")
    with f.if_(f.arg("data").eq(None)):
        f.ret()
    block = f.arg("data") + -HEADER
    amount = f.load("i64", block, BYTES)
    f.bump("allocated", f.const("i64", 0) - amount)
    cap = f.word("cap", "i64")
    with f.if_(amount.gt(cap)):
        f.bump("reserved", f.const("i64", 0) - amount)
        f.api("free", block)
        f.ret()
    with f.if_((f.word("cached", "i64") + amount).gt(cap)):
        f.call("void", "dg_empty")
    place = _bin_place(f, f.load("i64", block, BIN))
    f.store(f.load("ptr", place), block, NEXT)
    f.store(block, place)
    f.bump("cached", amount)
    f.ret()
    return f


def _empty(module: Module) -> Function:
    """``void dg_empty()``: all free blocks go back to the system."""
    f = Function("void", "dg_empty", "", module, linkage="")
    with f.times(BINS) as number:
        place = _bin_place(f, number)
        again, after = f.label(), f.label()
        f.place(again)
        block = f.load("ptr", place)
        f.goto_if(block.eq(None), after)
        f.store(f.load("ptr", block, NEXT), place)
        f.bump("reserved", f.const("i64", 0) - f.load("i64", block, BYTES))
        f.api("free", block)
        f.goto(again)
        f.place(after)
    f.set_word("cached", 0)
    f.ret()
    return f


def _handler(module: Module) -> list[Function]:
    """The allocator as NumPy calls it (NEP 49): for arrays that native code made, mostly only ``free``."""
    malloc = Function("ptr", "dg_handler_malloc", "ptr context, i64 size", module, linkage="")
    malloc.ret(malloc.call("ptr", "dg_alloc", malloc.arg("size")))

    calloc = Function("ptr", "dg_handler_calloc", "ptr context, i64 count, i64 size", module, linkage="")
    with (
        calloc.if_(calloc.arg("size").above(0)),
        calloc.if_(calloc.arg("count").above(calloc.emit("i64", f"udiv i64 {LARGEST}, {calloc.arg('size')}"))),
    ):
        calloc.ret(0)
    total = calloc.arg("count") * calloc.arg("size")
    data = calloc.call("ptr", "dg_alloc", total)
    with calloc.if_(data.ne(None)):
        calloc.api("memset", data, 0, total)
    calloc.ret(data)

    realloc = Function("ptr", "dg_handler_realloc", "ptr context, ptr data, i64 size", module, linkage="")
    old, size = realloc.arg("data"), realloc.arg("size")
    new = realloc.call("ptr", "dg_alloc", size)
    with realloc.if_(new.eq(None)):
        realloc.ret(0)
    with realloc.if_(old.ne(None)):
        before = realloc.load("i64", old, BYTES - HEADER)
        kept = realloc.select(before.above(size), size, before)
        realloc.api("memcpy", new, old, kept)
        realloc.call("void", "dg_free", old)
    realloc.ret(new)

    free = Function("void", "dg_handler_free", "ptr context, ptr data, i64 size", module, linkage="")
    free.call("void", "dg_free", free.arg("data"))
    free.ret()
    return [malloc, calloc, realloc, free]
