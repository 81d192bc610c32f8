"""What `main` of a compiled function gets from a call, as LLVM text: parts of ``dg_try`` (`calls.version`).

Labels: ``misses``, the version does not hold; ``python``, Python shall do it; ``raised``, an error is set that the call
raises.
"""

from __future__ import annotations

from duograph.runtime.launch.words import KERNEL_ABI
from duograph.runtime.python.asm import Function, Label, Value, Variable
from duograph.runtime.python.cpython import (
    ARRAY_DATA,
    ARRAY_FLAGS,
    ARRAY_SHAPE,
    FLOAT_VALUE,
    OWNS_DATA,
    SIZE,
    TUPLE_ITEMS,
    TYPE,
)

from . import words as w


def values(
    f: Function, call: Value, first: Value, args: Value, keywords: Value, misses: Label, python: Label, raised: Label
) -> tuple[Variable, Variable, Variable]:
    """Code that puts the values of the parameters in a row; the tuple and the dict that it made for that (or null)."""
    n = f.get(args, SIZE)
    before = first.ne(None).to("i64")
    total = n + before
    wanted, rest = f.get(call, w.CALL.values), f.get(call, w.CALL.rest)
    positional, collects = f.get(call, w.CALL.positional), f.get(call, w.CALL.collects)
    values, several, others = f.variable("ptr", args + TUPLE_ITEMS), f.variable("ptr", 0), f.variable("ptr", 0)
    named = f.variable("i64", 0)
    with f.if_(keywords.ne(None)):
        named.set(f.api("PyDict_Size", keywords))
    direct, bound, copy, any_number = f.label("direct"), f.label("bound"), f.label("copy"), f.label("any_number")
    f.goto_if((before | rest | named.get()).eq(0), direct)
    room = f.row("ptr", wanted + 1)
    values.set(room)
    by_position, given_by_position = f.variable("i64", total), f.variable("i64", n)  # values before those by name
    with f.if_(rest.ne(0)):
        f.goto_if(positional.gt(total - 1), misses)
        f.goto_if(before.gt(positional), python)
        by_position.set(positional + 1)
        given_by_position.set(positional - before)
    with f.if_(rest.eq(0)):
        f.goto_if(total.gt(positional), misses)
    with f.if_(named.get().ne(0)):
        f.goto_if(f.get(call, w.CALL.positional_only).gt(by_position.get()), misses)
    first_named = by_position.get()
    with f.if_(collects.eq(0)):
        f.goto_if((first_named + named.get()).ne(wanted), misses)
        with f.times(named.get()) as i:
            _named(f, call, keywords, room, first_named + i, misses, raised)
    with f.if_(collects.ne(0)):
        f.goto_if(named.get().eq(0), misses)
        f.goto_if(first_named.gt(wanted - 1), misses)
        with f.times(wanted - 1 - first_named) as i:
            _named(f, call, keywords, room, first_named + i, misses, raised)
        others.set(_collected(f, call, keywords, first_named, wanted - 1, misses, python, raised))
        f.store(others.get(), room, (wanted - 1) * 8)
    f.goto_if(rest.ne(0), any_number)
    f.goto(copy)
    f.place(any_number)
    several.set(f.api("PyTuple_GetSlice", args, given_by_position.get(), n))
    with f.if_(several.get().eq(None)):
        f.drop(others.take())
        f.goto(python)
    f.store(several.get(), room, positional * 8)
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
    return values, several, others


def _named(f: Function, call: Value, keywords: Value, room: Value, place: Value, misses: Label, raised: Label) -> None:
    """Code that puts what is given by the name of the parameter at ``place`` there."""
    given = f.api("PyDict_GetItemWithError", keywords, f.load("ptr", f.get(call, w.CALL.names_at), place * 8))
    with f.if_(given.eq(None)):
        f.goto_if(f.api("PyErr_Occurred").ne(None), raised)  # keys may compare in Python
        f.goto(misses)
    f.store(given, room, place * 8)


def _collected(
    f: Function, call: Value, keywords: Value, first: Value, last: Value, misses: Label, python: Label, raised: Label
) -> Value:
    """Code that makes a dict of ``keywords`` without those of the parameters from ``first`` on, before ``last``."""
    made, wrong, failed, ready = f.api("PyDict_Copy", keywords), f.label("wrong"), f.label("failed"), f.label("ready")
    f.goto_if(made.eq(None), python)
    with f.times(last - first) as i:
        name = f.load("ptr", f.get(call, w.CALL.names_at), (first + i) * 8)
        f.goto_if(f.api("PyDict_DelItem", made, name).ne(0), wrong)
    with f.times(f.get(call, w.CALL.reserved)) as i:
        name = f.load("ptr", f.get(call, w.CALL.reserved_at), i * 8)
        f.goto_if(f.api("PyDict_Contains", made, name).ne(0), wrong)
    f.goto_if(f.api("PyDict_Size", made).ne(0), ready)
    f.place(wrong)
    f.release(made)
    f.goto_if(f.api("PyErr_Occurred").ne(None), failed)
    f.goto(misses)
    f.place(failed)
    f.goto(raised)
    f.place(ready)
    return made


def read_numbers(f: Function, call: Value, registers: Value, python: Label) -> None:
    """Code that puts numbers and the state of the generator where `main` expects them."""
    dims = f.get(call, w.CALL.dims_at)
    overflow = f.space("i32", 1)
    with f.times(f.get(call, w.CALL.numbers)) as i:
        number = f.get(call, w.CALL.number_at) + i * w.NUMBER.n_bytes
        value = f.load("ptr", registers, f.get(number, w.NUMBER.register) * 8)
        kind, bits = f.get(number, w.NUMBER.kind), f.variable("i64", 0)
        with f.if_(kind.eq(w.INT)):
            f.goto_if(f.get(value, TYPE).ne(f.word("int")), python)
            bits.set(f.api("PyLong_AsLongLongAndOverflow", value, overflow))
            f.goto_if(f.load("i32", overflow).ne(0), python)
        with f.if_(kind.eq(w.BOOL)):
            bits.set(value.eq(f.word("True")).to("i64"))
        with f.if_(kind.eq(w.FLOAT)):
            f.goto_if(f.get(value, TYPE).ne(f.word("float")), python)
            bits.set(f.get(value, FLOAT_VALUE))
        with f.if_(kind.eq(w.NUMPY_INT)):
            bits.set(f.api("PyLong_AsLongLongAndOverflow", value, overflow))
            f.goto_if(f.load("i32", overflow).ne(0), python)
            with f.if_(bits.get().eq(-1)):
                f.goto_if(f.api("PyErr_Occurred").ne(None), python)
        with f.if_(kind.eq(w.NUMPY_FLOAT)):
            bits.set(f.api("PyFloat_AsDouble", value).to("i64"))
            f.goto_if(f.api("PyErr_Occurred").ne(None), python)
        f.store(bits.get(), dims, f.get(number, w.NUMBER.dim) * 8)
    generator = f.get(call, w.CALL.generator)
    with f.if_(generator.ne(None)):
        for name, place in (("'_seed'", w.CALL.seed), ("'offset'", w.CALL.offset)):
            value = f.api("PyDict_GetItemWithError", generator, f.word(name))
            f.goto_if(value.eq(None), python)
            f.goto_if(f.get(value, TYPE).ne(f.word("int")), python)
            state = f.api("PyLong_AsLongLongAndOverflow", value, overflow)
            f.goto_if(f.load("i32", overflow).ne(0), python)
            f.store(state, dims, f.get(call, place) * 8)


def read_sizes(f: Function, call: Value, arrays: Value, misses: Label) -> None:
    """Code that puts symbolic sizes where they are expected, and lets the sizer judge them."""
    fixed = f.label("fixed")
    sizer = f.get(call, w.CALL.sizer)
    f.goto_if(sizer.eq(None), fixed)
    dims, mine = f.get(call, w.CALL.dims_at), f.get(call, w.CALL.sizer_dims_at)
    with f.times(f.get(call, w.CALL.sizes)) as i:
        size = f.get(call, w.CALL.size_at) + i * w.SIZE.n_bytes
        array = f.load("ptr", arrays, f.get(size, w.SIZE.subject) * 8)
        extent = f.load("i64", f.get(array, ARRAY_SHAPE), f.get(size, w.SIZE.axis) * 8)
        f.store(extent, mine, i * 8)
        place = f.get(size, w.SIZE.dim)
        with f.if_(place.gt(-1)):
            f.store(extent, dims, place * 8)
    status = f.call_at(KERNEL_ABI, sizer, f.get(call, w.CALL.sizer_buffers_at), mine)
    f.goto_if(status.ne(0), misses)
    f.place(fixed)


def copy_strided(f: Function, call: Value, arrays: Value, copies: Value, n_copies: Variable, python: Label) -> None:
    """Code that gives `main` contiguous copies of tensors that are not contiguous, for as long as the call."""
    subjects, buffers = f.get(call, w.CALL.subject_at), f.get(call, w.CALL.buffers_at)
    with f.times(f.get(call, w.CALL.strided)) as i:
        which = f.load("i64", f.get(call, w.CALL.strided_at), i * 8)
        buffer = f.get(subjects + which * w.SUBJECT.n_bytes, w.SUBJECT.buffer)
        with f.if_(buffer.gt(-1)):
            copy = f.api("PyArray_NewCopy", f.load("ptr", arrays, which * 8), 0)
            f.goto_if(copy.eq(None), python)
            f.store(f.get(copy, ARRAY_DATA), buffers, buffer * 8)
            f.store(copy, copies, n_copies.get() * 8)
            n_copies.set(n_copies.get() + 1)


def read_tensors(f: Function, call: Value, registers: Value, arrays: Value, python: Label) -> None:
    """Code that puts the addresses of tensors where `main` expects them, and makes sure that it may write."""
    count, start = f.get(call, w.CALL.subjects), f.get(call, w.CALL.subject_at)
    buffers = f.get(call, w.CALL.buffers_at)
    exclusive = f.get(call, w.CALL.exclusive)
    changed, shown = f.variable("i64", 0), f.variable("i64", 0)
    with f.times(count) as i:
        subject = start + i * w.SUBJECT.n_bytes
        tensor = f.load("ptr", registers, f.get(subject, w.SUBJECT.register) * 8)
        bare, holder = f.get(subject, w.SUBJECT.bare), f.variable("ptr", tensor)
        with f.if_(bare.eq(0)):
            holder.set(f.get(tensor, f.slot("data")))
        array = holder.get()
        f.store(array, arrays, i * 8)
        flags = f.get(array, ARRAY_FLAGS).to("i64")
        needed = f.get(subject, w.SUBJECT.flags)
        f.goto_if((flags & needed).ne(needed), python)
        with f.if_(f.get(subject, w.SUBJECT.alone).ne(0)):
            f.goto_if(f.load("i32", array).ne(1), python)  # its reference count: the tensor has it, and nobody else
        buffer = f.get(subject, w.SUBJECT.buffer)
        with f.if_(buffer.gt(-1)):
            f.store(f.get(array, ARRAY_DATA), buffers, buffer * 8)
        with f.if_(exclusive.ne(0) & bare.ne(0)):
            shown.set(shown.get() + 1)
        with f.if_(exclusive.ne(0) & bare.eq(0)):
            with f.if_(array.ne(f.get(subject, w.SUBJECT.array))):
                changed.set(1)
            storage = f.get(tensor, f.slot("storage"))
            with f.if_(storage.ne(f.get(subject, w.SUBJECT.storage))):
                changed.set(1)
            with f.if_((flags & OWNS_DATA).eq(0)):
                shown.set(shown.get() + 1)
    with f.if_(changed.get().ne(0)):
        f.goto_if(f.call("i64", "dg_distinct", call, registers).eq(0), python)
    with f.if_(shown.get().ne(0)):
        f.goto_if(shown.get().gt(w.MOST_SHOWN), python)
        with f.times(count) as i:
            flags = f.get(f.load("ptr", arrays, i * 8), ARRAY_FLAGS).to("i64")
            with f.if_((flags & OWNS_DATA).eq(0) | f.get(start + i * w.SUBJECT.n_bytes, w.SUBJECT.bare).ne(0)):
                f.goto_if(f.call("i64", "dg_shown", call, arrays, i).eq(0), python)
    with f.times(f.get(call, w.CALL.writes)) as i:
        which = f.load("i64", f.get(call, w.CALL.write_at), i * w.WRITE.n_bytes)
        register = f.get(start + which * w.SUBJECT.n_bytes, w.SUBJECT.register)
        view = f.get(f.load("ptr", registers, register * 8), f.slot("view"))
        f.goto_if(view.ne(f.word("None")), python)
