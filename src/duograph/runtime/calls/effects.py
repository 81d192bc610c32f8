"""What a native call looks at and does besides running `main`, as LLVM text: storages, writes, results.

``dg_distinct`` and ``dg_shown`` tell whether tensors that will be written share memory with others, ``dg_after`` does
what follows when `main` has succeeded: writes, then the result.
"""

from __future__ import annotations

import sys

from duograph.runtime.launch.words import decref, incref, type_of
from duograph.runtime.python.asm import Function, Value, Words
from duograph.runtime.python.cpython import ARRAY_DATA, LIST_ITEMS, TUPLE_ITEMS

from . import words as w


def functions(words: Words, slots: dict[str, int]) -> list[Function]:
    """The functions of this module."""
    return [
        _distinct(words, slots), _shown(words), _tree(words), _finished(words), _stamp(words, slots),
        _after(words),
    ]  # fmt: skip


def drop(f: Function, value: Value) -> None:
    """`decref` of what may be null."""
    with f.if_(value.ne(None)):
        decref(f, value)


def hold(f: Function, value: Value) -> None:
    """`incref` without a call, for long rows of objects."""
    count = f.load("i64", value)
    if sys.version_info >= (3, 14):
        incref(f, value)
    elif sys.version_info >= (3, 12):  # the lower half counts; objects that live for ever have it full
        with f.if_(count.to("i32").ne(-1)):
            f.store((count + 1).to("i32"), value)
    else:
        f.store(count + 1, value)


def let_go(f: Function, value: Value) -> None:
    """`decref` of what somebody else holds, too, most of the time: without a call then."""
    last, done = f.label("last"), f.label("done")
    count = f.load("i64", value)
    if sys.version_info < (3, 12):
        f.goto_if(count.eq(1), last)
        f.store(count - 1, value)
        f.goto(done)
    f.place(last)
    decref(f, value)
    f.place(done)


# ---- tensors that are written ---------------------------------------------------------------------------------------


def _distinct(words: Words, slots: dict[str, int]) -> Function:
    """``i64 dg_distinct(ptr call, ptr registers)``: whether tensors share storages exactly as they did when the version
    was made, and their arrays are different objects. Remembers what it has found to be so."""
    f = Function("i64", "dg_distinct", "ptr call, ptr registers", words)
    call, registers = f.arg("call"), f.arg("registers")
    count, start = f.load("i64", call, 8 * w.SUBJECTS), f.load("ptr", call, 8 * w.SUBJECT_AT)
    marks = f.load("i64", call, 8 * w.MARKS)
    size = f.variable("i64", 64)
    bigger, sized = f.label("bigger"), f.label("sized")
    f.place(bigger)
    f.goto_if(size.get().gt(count * 4), sized)
    size.set(size.get() * 2)
    f.goto(bigger)
    f.place(sized)
    # as large as this call needs: threads may have small stacks
    keys = f.emit("ptr", f"alloca i64, i64 {size.get() * 2}, align 8")
    holders = f.emit("ptr", f"alloca ptr, i64 {marks + 1}, align 8")
    mask = size.get() - 1
    f.call("ptr", f.word("memset"), keys, ("i32", 0), size.get() * 16)
    f.call("ptr", f.word("memset"), holders, ("i32", 0), (marks + 1) * 8)
    fail = f.label("fail")

    def note(key: Value, mark: Value) -> None:
        """``mark`` becomes what is known of ``key``; it fails if that is something else."""
        place = f.variable("i64", (key.to("i64") >> 4) & mask)
        again, found, done = f.label("again"), f.label("found"), f.label("done")
        f.place(again)
        at = keys + place.get() * 16
        held = f.load("i64", at)
        f.goto_if(held.eq(key.to("i64")), found)
        with f.if_(held.eq(0)):
            f.store(key.to("i64"), at)
            f.store(mark, at, 8)
            f.goto(done)
        place.set((place.get() + 1) & mask)
        f.goto(again)
        f.place(found)
        f.goto_if(f.load("i64", at, 8).ne(mark), fail)
        f.place(done)

    with f.times(count) as i:
        subject = start + i * (8 * w.SUBJECT_WORDS)
        tensor = f.load("ptr", registers, f.load("i64", subject, 8 * w.S_REGISTER) * 8)
        array, storage = f.load("ptr", tensor, slots["data"]), f.load("ptr", tensor, slots["storage"])
        mark = f.load("i64", subject, 8 * w.S_MARK)
        with f.if_(mark.gt(-1)):
            # A tensor whose alias nobody has asked for shares with none: it stands for its storage itself.
            whose = f.variable("ptr", tensor)
            with f.if_(type_of(f, storage).eq(f.word("Alias"))):
                whose.set(storage)
            note(whose.get(), mark)
            holder = f.load("ptr", holders, mark * 8)
            with f.if_(holder.eq(None)):
                f.store(whose.get(), holders, mark * 8)
            f.goto_if(f.load("ptr", holders, mark * 8).ne(whose.get()), fail)
        note(array, i + (1 << 32))
    with f.times(count) as i:
        subject = start + i * (8 * w.SUBJECT_WORDS)
        tensor = f.load("ptr", registers, f.load("i64", subject, 8 * w.S_REGISTER) * 8)
        f.store(f.load("ptr", tensor, slots["data"]), subject, 8 * w.S_ARRAY)
        f.store(f.load("ptr", tensor, slots["storage"]), subject, 8 * w.S_STORAGE)
    f.ret(1)
    f.place(fail)
    f.ret(0)
    return f


def _shown(words: Words) -> Function:
    """``i64 dg_shown(ptr call, ptr arrays, i64 which)``: whether no tensor that will be written reaches into the memory
    of subject ``which``, which is somebody else's."""
    f = Function("i64", "dg_shown", "ptr call, ptr arrays, i64 which", words)
    call, arrays, which = f.arg("call"), f.arg("arrays"), f.arg("which")
    start = f.load("ptr", call, 8 * w.SUBJECT_AT)
    begin = f.load("i64", f.load("ptr", arrays, which * 8), ARRAY_DATA)
    end = begin + f.load("i64", start + which * (8 * w.SUBJECT_WORDS), 8 * w.S_BYTES)
    with f.times(f.load("i64", call, 8 * w.SUBJECTS)) as i:
        subject = start + i * (8 * w.SUBJECT_WORDS)
        apart = f.label("apart")
        f.goto_if(f.load("i64", subject, 8 * w.S_DONATED).eq(0), apart)
        other = f.load("i64", f.load("ptr", arrays, i * 8), ARRAY_DATA)
        f.goto_if(other.gt(end - 1), apart)
        f.goto_if(begin.gt(other + f.load("i64", subject, 8 * w.S_BYTES) - 1), apart)
        f.ret(0)
        f.place(apart)
    f.ret(1)
    return f


def _stamp(words: Words, slots: dict[str, int]) -> Function:
    """``i64 dg_stamp(ptr call, ptr registers)``: storages that were written get a new version, all the same; 0 if there
    is no memory for it."""
    f = Function("i64", "dg_stamp", "ptr call, ptr registers", words)
    call, registers = f.arg("call"), f.arg("registers")
    failed = f.label("failed")
    clock = f.word("clock")
    stamp = incref(f, f.load("ptr", clock, slots["now"]))
    following = f.api("ptr", "PyLong_FromLongLong", f.api("i64", "PyLong_AsLongLong", stamp) + 1)
    f.goto_if(following.eq(None), failed)
    f.store(following, clock, slots["now"])
    decref(f, stamp)  # the reference that the clock had
    start, writes = f.load("ptr", call, 8 * w.SUBJECT_AT), f.load("ptr", call, 8 * w.WRITE_AT)
    with f.times(f.load("i64", call, 8 * w.WRITES)) as i:
        which = f.load("i64", writes, i * (8 * w.WRITE_WORDS))
        register = f.load("i64", start + which * (8 * w.SUBJECT_WORDS), 8 * w.S_REGISTER)
        alias = f.call("ptr", "dg_alias", f.load("ptr", registers, register * 8))
        f.goto_if(alias.eq(None), failed)
        before = f.load("ptr", alias, slots["version"])
        f.store(incref(f, stamp), alias, slots["version"])
        decref(f, before)
        decref(f, alias)
    decref(f, stamp)
    f.ret(1)
    f.place(failed)
    decref(f, stamp)
    f.ret(0)
    return f


# ---- results --------------------------------------------------------------------------------------------------------


def _tree(words: Words) -> Function:
    """``ptr dg_tree(ptr cursor, ptr leaves, ptr registers)``: the value described at the address in ``cursor``, which
    moves on; null if it fails."""
    f = Function("ptr", "dg_tree", "ptr cursor, ptr leaves, ptr registers", words)
    cursor, leaves, registers = f.arg("cursor"), f.arg("leaves"), f.arg("registers")
    at = f.load("ptr", cursor)
    f.store(at + 16, cursor)
    kind, which = f.load("i64", at), f.load("i64", at, 8)
    for tag, table in ((w.TREE_LEAF, leaves), (w.TREE_REGISTER, registers)):
        with f.if_(kind.eq(tag)):
            f.ret(incref(f, f.load("ptr", table, which * 8)))
    with f.if_(kind.eq(w.TREE_CONSTANT)):
        f.ret(incref(f, which.to("ptr")))
    made = f.variable("ptr")
    parts = f.variable("ptr")
    with f.if_(kind.eq(w.TREE_TUPLE)):
        made.set(f.api("ptr", "PyTuple_New", which))
    with f.if_(kind.eq(w.TREE_LIST)):
        made.set(f.api("ptr", "PyList_New", which))
    with f.if_(made.get().eq(None)):
        f.ret(0)
    parts.set(made.get() + TUPLE_ITEMS)
    with f.if_(kind.eq(w.TREE_LIST)):
        parts.set(f.load("ptr", made.get(), LIST_ITEMS))
    with f.times(which) as i:
        part = f.call("ptr", "dg_tree", cursor, leaves, registers)
        with f.if_(part.eq(None)):
            decref(f, made.get())
            f.ret(0)
        f.store(part, parts.get(), i * 8)
    f.ret(made.get())
    return f


def _finished(words: Words) -> Function:
    """``ptr dg_finished(ptr finish, ptr values, i64 n, ptr leaves, i64 count)``: what the Python function ``finish``
    makes of a list of the call's values and one of the leaves."""
    f = Function("ptr", "dg_finished", "ptr finish, ptr values, i64 n, ptr leaves, i64 count", words)
    lists = f.space("ptr", 2)
    f.store(0, lists, type="ptr")
    f.store(0, lists, 8, type="ptr")
    result, failed = f.variable("ptr", 0), f.label("failed")
    for place, (start, count) in enumerate(((f.arg("values"), f.arg("n")), (f.arg("leaves"), f.arg("count")))):
        made = f.api("ptr", "PyList_New", count)
        f.goto_if(made.eq(None), failed)
        f.store(made, lists, 8 * place)
        with f.times(count) as i:
            item = f.variable("ptr", f.load("ptr", start, i * 8))
            with f.if_(item.get().eq(None)):
                item.set(f.word("None"))
            f.store(incref(f, item.get()), f.load("ptr", made, LIST_ITEMS), i * 8)
    result.set(
        f.api(
            "ptr",
            "PyObject_CallFunctionObjArgs",
            f.arg("finish"),
            f.load("ptr", lists),
            f.load("ptr", lists, 8),
            ("ptr", "null"),
        )
    )
    f.place(failed)
    drop(f, f.load("ptr", lists))
    drop(f, f.load("ptr", lists, 8))
    f.ret(result.get())
    return f


def _after(words: Words) -> Function:
    """``ptr dg_after(ptr call, ptr values, ptr registers, ptr arrays, ptr outputs, ptr tensors)``: what follows when
    `main` has succeeded: writes, then the result; null with an error set."""
    f = Function("ptr", "dg_after", "ptr call, ptr values, ptr registers, ptr arrays, ptr outputs, ptr tensors", words)
    call, registers, arrays = f.arg("call"), f.arg("registers"), f.arg("arrays")
    context = f.load("ptr", call, 8 * w.CONTEXT_AT)
    count = f.load("i64", call, 8 * w.LEAVES)
    leaves = f.emit("ptr", f"alloca ptr, i64 {count + 1}, align 8")
    numbers = f.variable("i64", 0)  # of leaves that are there, for the clean-up
    result, done = f.variable("ptr", 0), f.label("done")
    with f.times(count) as i:
        leaf = f.load("ptr", call, 8 * w.LEAF_AT) + i * (8 * w.LEAF_WORDS)
        kind, place = f.load("i64", leaf), f.load("i64", leaf, 8)
        value = f.variable("ptr", 0)
        known = f.label("known")
        f.goto_if(kind.eq(w.LEAF_NONE), known)
        with f.if_(kind.eq(w.LEAF_TENSOR)):
            value.set(incref(f, f.load("ptr", f.arg("tensors"), place * 8)))
            f.goto(known)
        bits = f.load("i64", context, place * 8)
        with f.if_(kind.eq(w.LEAF_INT)):
            value.set(f.api("ptr", "PyLong_FromLongLong", bits))
        with f.if_(kind.eq(w.LEAF_BOOL)):
            truth = f.emit("ptr", f"select i1 {bits.ne(0)}, ptr {f.word('True')}, ptr {f.word('False')}")
            value.set(incref(f, truth))
        with f.if_(kind.eq(w.LEAF_FLOAT)):
            number = f.emit("double", f"bitcast i64 {bits} to double")
            value.set(f.api("ptr", "PyFloat_FromDouble", number))
        f.goto_if(value.get().eq(None), done)
        f.place(known)
        f.store(value.get(), leaves, i * 8)
        numbers.set(i + 1)
    f.store(0, call, 8 * w.BUSY)

    writes = f.load("i64", call, 8 * w.WRITES)
    start = f.load("ptr", call, 8 * w.SUBJECT_AT)
    with f.times(writes) as i:
        write = f.load("ptr", call, 8 * w.WRITE_AT) + i * (8 * w.WRITE_WORDS)
        which, output = f.load("i64", write), f.load("i64", write, 8)
        with f.if_(output.gt(-1)):
            nbytes = f.load("i64", start + which * (8 * w.SUBJECT_WORDS), 8 * w.S_BYTES)
            target = f.load("ptr", f.load("ptr", arrays, which * 8), ARRAY_DATA)
            source = f.load("ptr", f.load("ptr", f.arg("outputs"), output * 8), ARRAY_DATA)
            f.call("ptr", f.word("memcpy"), target, source, nbytes)
    with f.if_(writes.ne(0)):
        f.goto_if(f.call("i64", "dg_stamp", call, registers).eq(0), done)
    draws = f.load("i64", call, 8 * w.DRAWS)
    with f.if_(draws.gt(-1)):
        generator = f.load("ptr", call, 8 * w.GENERATOR)
        told = f.api("i32", "PyDict_SetItem", generator, f.word("'offset'"), f.load("ptr", leaves, draws * 8))
        f.goto_if(told.ne(0), done)
    f.store(f.load("i64", call, 8 * w.HITS) + 1, call, 8 * w.HITS)
    finish = f.load("ptr", call, 8 * w.FINISH)
    with f.if_(finish.ne(None)):
        n = f.load("i64", call, 8 * w.VALUES)
        result.set(f.call("ptr", "dg_finished", finish, f.arg("values"), n, leaves, count))
        f.goto(done)
    cursor = f.space("ptr", 1)
    f.store(f.load("ptr", call, 8 * w.RESULT_AT), cursor)
    result.set(f.call("ptr", "dg_tree", cursor, leaves, registers))
    f.place(done)
    with f.times(numbers.get()) as i:
        drop(f, f.load("ptr", leaves, i * 8))
    f.ret(result.get())
    return f
