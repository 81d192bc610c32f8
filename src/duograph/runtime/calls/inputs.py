"""What `main` of a compiled function gets from a call, as LLVM text: parts of ``dg_try`` (`calls.version`).

Labels: ``misses``, the version does not hold; ``python``, Python shall do it; ``raised``, an error is set that the call
raises.
"""

from __future__ import annotations

from duograph.runtime.launch.words import type_of
from duograph.runtime.python.asm import Function, Value, Variable
from duograph.runtime.python.cpython import (
    ARRAY_DATA,
    ARRAY_FLAGS,
    ARRAY_SHAPE,
    FLOAT_VALUE,
    OWNS_DATA,
    SIZE,
    TUPLE_ITEMS,
)

from . import words as w


def values(
    f: Function, call: Value, first: Value, args: Value, keywords: Value, misses: str, python: str, raised: str
) -> tuple[Variable, Variable]:
    """Code that puts the values of the parameters in a row; what it made for that (or null)."""
    n = f.load("i64", args, SIZE)
    before = f.emit("i64", f"zext i1 {first.ne(None)} to i64")
    total = n + before
    wanted, rest = f.load("i64", call, 8 * w.VALUES), f.load("i64", call, 8 * w.REST)
    positional = f.load("i64", call, 8 * w.POSITIONAL)
    values, made = f.variable("ptr", args + TUPLE_ITEMS), f.variable("ptr", 0)
    bound, named = f.label("bound"), f.variable("i64", 0)
    with f.if_(keywords.ne(None)):
        named.set(f.api("i64", "PyDict_Size", keywords))
    direct = f.label("direct")
    f.goto_if((before | rest | named.get()).eq(0), direct)
    room = f.emit("ptr", f"alloca ptr, i64 {wanted + 1}, align 8")
    values.set(room)
    fixed = wanted - rest
    several = f.label("several")
    f.goto_if(rest.ne(0), several)
    f.goto_if((total + named.get()).ne(wanted), misses)
    f.goto_if(total.gt(positional), misses)
    with f.if_(named.get().ne(0)):
        f.goto_if(f.load("i64", call, 8 * w.POSITIONAL_ONLY).gt(total), misses)
        names = f.load("ptr", call, 8 * w.NAMES_AT)
        with f.times(named.get()) as i:
            given = f.api("ptr", "PyDict_GetItemWithError", keywords, f.load("ptr", names, (total + i) * 8))
            with f.if_(given.eq(None)):
                f.goto_if(f.api("ptr", "PyErr_Occurred").ne(None), raised)  # keys may compare in Python
                f.goto(misses)
            f.store(given, room, (total + i) * 8)
    given_by_position = f.variable("i64", n)
    copy = f.label("copy")
    f.goto(copy)
    f.place(several)
    f.goto_if(named.get().ne(0), misses)
    f.goto_if(fixed.gt(total - 1), misses)
    f.goto_if(before.gt(fixed), python)
    made.set(f.api("ptr", "PyTuple_GetSlice", args, fixed - before, n))
    f.goto_if(made.get().eq(None), python)
    f.store(made.get(), room, fixed * 8)
    given_by_position.set(fixed - before)
    f.place(copy)
    with f.if_(before.ne(0)):
        f.store(first, room)
    with f.times(given_by_position.get()) as i:
        f.store(f.load("ptr", args + i * 8, TUPLE_ITEMS), room, (before + i) * 8)
    f.goto(bound)
    f.place(direct)
    f.goto_if(n.ne(wanted), misses)
    f.goto_if(n.gt(positional), misses)
    f.place(bound)
    return values, made


def read_numbers(f: Function, call: Value, registers: Value, python: str) -> None:
    """Code that puts numbers and the state of the generator where `main` expects them."""
    dims = f.load("ptr", call, 8 * w.DIMS_AT)
    overflow = f.space("i32", 1)
    with f.times(f.load("i64", call, 8 * w.NUMBERS)) as i:
        number = f.load("ptr", call, 8 * w.NUMBER_AT) + i * (8 * w.NUMBER_WORDS)
        value = f.load("ptr", registers, f.load("i64", number, 8 * w.N_REGISTER) * 8)
        kind, bits = f.load("i64", number, 8 * w.N_KIND), f.variable("i64", 0)
        with f.if_(kind.eq(w.INT)):
            f.goto_if(type_of(f, value).ne(f.word("int")), python)
            bits.set(f.api("i64", "PyLong_AsLongLongAndOverflow", value, overflow))
            f.goto_if(f.load("i32", overflow).ne(0), python)
        with f.if_(kind.eq(w.BOOL)):
            bits.set(f.emit("i64", f"zext i1 {value.eq(f.word('True'))} to i64"))
        with f.if_(kind.eq(w.FLOAT)):
            f.goto_if(type_of(f, value).ne(f.word("float")), python)
            bits.set(f.load("i64", value, FLOAT_VALUE))
        f.store(bits.get(), dims, f.load("i64", number, 8 * w.N_DIM) * 8)
    generator = f.load("ptr", call, 8 * w.GENERATOR)
    with f.if_(generator.ne(None)):
        for name, place in (("'_seed'", w.SEED), ("'offset'", w.OFFSET)):
            value = f.api("ptr", "PyDict_GetItemWithError", generator, f.word(name))
            f.goto_if(value.eq(None), python)
            f.goto_if(type_of(f, value).ne(f.word("int")), python)
            state = f.api("i64", "PyLong_AsLongLongAndOverflow", value, overflow)
            f.goto_if(f.load("i32", overflow).ne(0), python)
            f.store(state, dims, f.load("i64", call, 8 * place) * 8)


def read_sizes(f: Function, call: Value, arrays: Value, python: str) -> None:
    """Code that puts symbolic sizes where they are expected, and lets the sizer judge them."""
    fixed = f.label("fixed")
    sizer = f.load("ptr", call, 8 * w.SIZER)
    f.goto_if(sizer.eq(None), fixed)
    dims, mine = f.load("ptr", call, 8 * w.DIMS_AT), f.load("ptr", call, 8 * w.SIZER_DIMS_AT)
    with f.times(f.load("i64", call, 8 * w.SIZES)) as i:
        size = f.load("ptr", call, 8 * w.SIZE_AT) + i * (8 * w.SIZE_WORDS)
        array = f.load("ptr", arrays, f.load("i64", size, 8 * w.Z_SUBJECT) * 8)
        extent = f.load("i64", f.load("ptr", array, ARRAY_SHAPE), f.load("i64", size, 8 * w.Z_AXIS) * 8)
        f.store(extent, mine, i * 8)
        place = f.load("i64", size, 8 * w.Z_DIM)
        with f.if_(place.gt(-1)):
            f.store(extent, dims, place * 8)
    status = f.call("i32", sizer, f.load("ptr", call, 8 * w.SIZER_BUFFERS_AT), mine)
    f.goto_if(status.ne(0), python)
    f.place(fixed)


def read_tensors(f: Function, call: Value, registers: Value, arrays: Value, slots: dict[str, int], python: str) -> None:
    """Code that puts the addresses of tensors where `main` expects them, and makes sure that it may write."""
    count, start = f.load("i64", call, 8 * w.SUBJECTS), f.load("ptr", call, 8 * w.SUBJECT_AT)
    buffers = f.load("ptr", call, 8 * w.BUFFERS_AT)
    exclusive = f.load("i64", call, 8 * w.EXCLUSIVE)
    changed, shown = f.variable("i64", 0), f.variable("i64", 0)
    with f.times(count) as i:
        subject = start + i * (8 * w.SUBJECT_WORDS)
        tensor = f.load("ptr", registers, f.load("i64", subject, 8 * w.S_REGISTER) * 8)
        array = f.load("ptr", tensor, slots["data"])
        f.store(array, arrays, i * 8)
        flags = f.load("i32", array, ARRAY_FLAGS).to("i64")
        needed = f.load("i64", subject, 8 * w.S_FLAGS)
        f.goto_if((flags & needed).ne(needed), python)
        with f.if_(f.load("i64", subject, 8 * w.S_ALONE).ne(0)):
            f.goto_if(f.load("i32", array).ne(1), python)  # its reference count: the tensor has it, and nobody else
        buffer = f.load("i64", subject, 8 * w.S_BUFFER)
        with f.if_(buffer.gt(-1)):
            f.store(f.load("ptr", array, ARRAY_DATA), buffers, buffer * 8)
        with f.if_(exclusive.ne(0)):
            with f.if_(array.ne(f.load("ptr", subject, 8 * w.S_ARRAY))):
                changed.set(1)
            storage = f.load("ptr", tensor, slots["storage"])
            with f.if_(storage.ne(f.load("ptr", subject, 8 * w.S_STORAGE))):
                changed.set(1)
            with f.if_((flags & OWNS_DATA).eq(0)):
                shown.set(shown.get() + 1)
    with f.if_(changed.get().ne(0)):
        f.goto_if(f.call("i64", "dg_distinct", call, registers).eq(0), python)
    with f.if_(shown.get().ne(0)):
        f.goto_if(shown.get().gt(w.MOST_SHOWN), python)
        with f.times(count) as i:
            flags = f.load("i32", f.load("ptr", arrays, i * 8), ARRAY_FLAGS).to("i64")
            with f.if_((flags & OWNS_DATA).eq(0)):
                f.goto_if(f.call("i64", "dg_shown", call, arrays, i).eq(0), python)
    with f.times(f.load("i64", call, 8 * w.WRITES)) as i:
        which = f.load("i64", f.load("ptr", call, 8 * w.WRITE_AT), i * (8 * w.WRITE_WORDS))
        register = f.load("i64", start + which * (8 * w.SUBJECT_WORDS), 8 * w.S_REGISTER)
        view = f.load("ptr", f.load("ptr", registers, register * 8), slots["view"])
        f.goto_if(view.ne(f.word("None")), python)
