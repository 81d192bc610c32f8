"""What a native call looks at and does besides running `main`, as LLVM text: storages, writes, results.

``dg_distinct`` and ``dg_shown`` tell whether tensors that will be written share memory with others, ``dg_after`` does
what follows when `main` has succeeded: writes, then the result.
"""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Module, Value
from duograph.runtime.python.cpython import (
    ARRAY_DATA,
    ARRAY_RANK,
    ARRAY_SHAPE,
    ARRAY_STRIDES,
    LIST_ITEMS,
    TUPLE_ITEMS,
    TYPE,
)
from duograph.runtime.python.rooms import room

from . import words as w
from .views import dg_shown_by


def functions(module: Module) -> list[Function]:
    """The functions of this module."""
    return [
        _distinct(module), _shown(module), dg_shown_by(module), _tree(module), _finished(module), _stamp(module),
        _after(module),
    ]  # fmt: skip


# ---- tensors that are written ---------------------------------------------------------------------------------------


def _distinct(module: Module) -> Function:
    """``i64 dg_distinct(ptr call, ptr registers)``: whether tensors share storages exactly as they did when the version
    was made, and their arrays are different objects. Remembers what it has found to be so."""
    f = Function("i64", "dg_distinct", "ptr call, ptr registers", module)
    call, registers = f.arg("call"), f.arg("registers")
    count, start = f.get(call, w.CALL.subjects), f.get(call, w.CALL.subject_at)
    marks = f.get(call, w.CALL.marks)
    size = f.variable("i64", 64)
    bigger, sized = f.label("bigger"), f.label("sized")
    f.place(bigger)
    f.goto_if(size.get().gt(count * 4), sized)
    size.set(size.get() * 2)
    f.goto(bigger)
    f.place(sized)
    fail, none = f.label("fail"), f.label("none")
    words = size.get() * 2 + marks
    keys, heap = room(f, words)
    f.goto_if(keys.eq(None), none)
    holders = keys + size.get() * 16
    mask = size.get() - 1
    f.api("memset", keys, 0, words * 8)

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
        subject, bare = start + i * w.SUBJECT.n_bytes, f.label("bare")
        f.goto_if(f.get(subject, w.SUBJECT.bare).ne(0), bare)
        tensor = f.load("ptr", registers, f.get(subject, w.SUBJECT.register) * 8)
        array, storage = f.get(tensor, f.slot("data")), f.get(tensor, f.slot("storage"))
        mark = f.get(subject, w.SUBJECT.mark)
        with f.if_(mark.gt(-1)):
            # A tensor whose alias nobody has asked for shares with none: it stands for its storage itself.
            whose = f.variable("ptr", tensor)
            with f.if_(f.get(storage, TYPE).eq(f.word("Alias"))):
                whose.set(storage)
            note(whose.get(), mark)
            holder = f.load("ptr", holders, mark * 8)
            with f.if_(holder.eq(None)):
                f.store(whose.get(), holders, mark * 8)
            f.goto_if(f.load("ptr", holders, mark * 8).ne(whose.get()), fail)
        note(array, i + (1 << 32))
        f.place(bare)
    with f.times(count) as i:
        subject, bare = start + i * w.SUBJECT.n_bytes, f.label("bare")
        f.goto_if(f.get(subject, w.SUBJECT.bare).ne(0), bare)
        tensor = f.load("ptr", registers, f.get(subject, w.SUBJECT.register) * 8)
        f.set(subject, w.SUBJECT.array, f.get(tensor, f.slot("data")))
        f.set(subject, w.SUBJECT.storage, f.get(tensor, f.slot("storage")))
        f.place(bare)
    f.api("PyMem_RawFree", heap.get())
    f.ret(1)
    f.place(fail)
    f.api("PyMem_RawFree", heap.get())
    f.place(none)
    f.ret(0)
    return f


def _shown(module: Module) -> Function:
    """``i64 dg_shown(ptr call, ptr arrays, i64 which)``: whether subject ``which``, whose memory is somebody else's,
    shares none that is written with another one, but for tensors of one storage, which the program knows."""
    f = Function("i64", "dg_shown", "ptr call, ptr arrays, i64 which", module)
    call, arrays, which = f.arg("call"), f.arg("arrays"), f.arg("which")
    start = f.get(call, w.CALL.subject_at)

    def extent(subject: Value, array: Value) -> tuple[Value, Value]:
        size, at = f.get(subject, w.SUBJECT.bytes), f.get(array, ARRAY_DATA).to("i64")
        low, high = f.variable("i64", at), f.variable("i64", at + size)
        with f.if_(size.lt(0)):  # of an element, negated: how many there are varies, or how far apart they are
            high.set(at - size)
            shape, strides = f.get(array, ARRAY_SHAPE), f.get(array, ARRAY_STRIDES)
            with f.times(f.get(array, ARRAY_RANK).to("i64")) as axis:
                reach = (f.load("i64", shape, axis * 8) - 1) * f.load("i64", strides, axis * 8)
                with f.if_(reach.lt(0)):
                    low.set(low.get() + reach)
                with f.if_(reach.gt(0)):
                    high.set(high.get() + reach)
        return low.get(), high.get()

    mine = start + which * w.SUBJECT.n_bytes
    mark, written = f.get(mine, w.SUBJECT.mark), f.get(mine, w.SUBJECT.written)
    begin, end = extent(mine, f.load("ptr", arrays, which * 8))
    with f.times(f.get(call, w.CALL.subjects)) as i:
        subject = start + i * w.SUBJECT.n_bytes
        apart = f.label("apart")
        f.goto_if(i.eq(which), apart)
        f.goto_if((f.get(subject, w.SUBJECT.written) | written).eq(0), apart)
        f.goto_if(f.get(subject, w.SUBJECT.mark).eq(mark) & mark.gt(-1), apart)
        from_, to = extent(subject, f.load("ptr", arrays, i * 8))
        f.goto_if(from_.gt(end - 1), apart)
        f.goto_if(begin.gt(to - 1), apart)
        f.ret(0)
        f.place(apart)
    f.ret(1)
    return f


def _stamp(module: Module) -> Function:
    """``i64 dg_stamp(ptr call, ptr registers, ptr path)``: storages that a path writes get a new version, all the same;
    0 if there is no memory for it."""
    f = Function("i64", "dg_stamp", "ptr call, ptr registers, ptr path", module)
    call, registers, path = f.arg("call"), f.arg("registers"), f.arg("path")
    failed = f.label("failed")
    clock = f.word("clock")
    stamp = f.hold(f.get(clock, f.slot("now")))
    following = f.api("PyLong_FromLongLong", f.api("PyLong_AsLongLong", stamp) + 1)
    f.goto_if(following.eq(None), failed)
    f.replace(clock, f.slot("now"), following)
    start, writes = f.get(call, w.CALL.subject_at), f.get(path, w.PATH.write_at)
    with f.times(f.get(path, w.PATH.writes)) as i:
        which = f.load("i64", writes, i * w.WRITE.n_bytes)
        register = f.get(start + which * w.SUBJECT.n_bytes, w.SUBJECT.register)
        alias = f.call("new", "dg_alias", f.load("ptr", registers, register * 8))
        f.goto_if(alias.eq(None), failed)
        f.replace(alias, f.slot("version"), f.hold(stamp))
        f.release(alias)
    f.release(stamp)
    f.ret(1)
    f.place(failed)
    f.release(stamp)
    f.ret(0)
    return f


# ---- results --------------------------------------------------------------------------------------------------------


def _tree(module: Module) -> Function:
    """``new dg_tree(ptr cursor, ptr leaves, ptr registers)``: the value described at the address in ``cursor``, which
    moves on; null if it fails."""
    f = Function("new", "dg_tree", "ptr cursor, ptr leaves, ptr registers", module)
    cursor, leaves, registers = f.arg("cursor"), f.arg("leaves"), f.arg("registers")
    at = f.load("ptr", cursor)
    f.store(at + 16, cursor)
    kind, which = f.load("i64", at), f.load("i64", at, 8)
    for tag, table in ((w.TREE_LEAF, leaves), (w.TREE_REGISTER, registers)):
        with f.if_(kind.eq(tag)):
            f.ret(f.hold(f.load("ptr", table, which * 8)))
    with f.if_(kind.eq(w.TREE_CONSTANT)):
        f.ret(f.hold(which.to("ptr")))
    made = f.variable("ptr")
    parts = f.variable("ptr")
    with f.if_(kind.eq(w.TREE_DICT)):
        made.set(f.api("PyDict_New"))
        failed = f.label("failed")
        with f.if_(made.get().eq(None)):
            f.ret(0)
        with f.times(which):
            key = f.call("new", "dg_tree", cursor, leaves, registers)
            f.goto_if(key.eq(None), failed)
            value = f.call("new", "dg_tree", cursor, leaves, registers)
            with f.if_(value.eq(None)):
                f.release(key)
                f.goto(failed)
            status = f.api("PyDict_SetItem", made.get(), key, value)
            f.release(key)
            f.release(value)
            f.goto_if(status.ne(0), failed)
        f.ret(made.take())
        f.place(failed)
        f.release(made.take())
        f.ret(0)
    with f.if_(kind.eq(w.TREE_TUPLE)):
        made.set(f.api("PyTuple_New", which))
    with f.if_(kind.eq(w.TREE_LIST)):
        made.set(f.api("PyList_New", which))
    with f.if_(made.get().eq(None)):
        f.ret(0)
    parts.set(made.get() + TUPLE_ITEMS)
    with f.if_(kind.eq(w.TREE_LIST)):
        parts.set(f.get(made.get(), LIST_ITEMS))
    with f.times(which) as i:
        part = f.call("new", "dg_tree", cursor, leaves, registers)
        with f.if_(part.eq(None)):
            f.release(made.take())
            f.ret(0)
        f.store(part, parts.get(), i * 8)
    f.ret(made.take())
    return f


def _finished(module: Module) -> Function:
    """``new dg_finished(ptr finish, ptr values, i64 n, ptr leaves, i64 count, ptr begun)``: what the Python function
    ``finish`` makes of a list of the call's values and one of the leaves; and of ``begun``, if that is not null."""
    f = Function("new", "dg_finished", "ptr finish, ptr values, i64 n, ptr leaves, i64 count, ptr begun", module)
    lists = f.space("ptr", 2)
    f.store(None, lists, type="ptr")
    f.store(0, lists, 8, type="ptr")
    result, failed = f.variable("ptr", 0), f.label("failed")
    for place, (start, count) in enumerate(((f.arg("values"), f.arg("n")), (f.arg("leaves"), f.arg("count")))):
        made = f.api("PyList_New", count)
        f.goto_if(made.eq(None), failed)
        f.store(made, lists, 8 * place)
        with f.times(count) as i:
            item = f.variable("ptr", f.load("ptr", start, i * 8))
            with f.if_(item.get().eq(None)):
                item.set(f.word("None"))
            f.store(f.hold(item.get()), f.get(made, LIST_ITEMS), i * 8)
    given = f.load("ptr", lists), f.load("ptr", lists, 8), f.arg("begun")
    result.set(f.api("PyObject_CallFunctionObjArgs", f.arg("finish"), *given, None))
    f.place(failed)
    f.drop(f.take(lists))
    f.drop(f.take(lists, 8))
    f.ret(result.take())
    return f


def _after(module: Module) -> Function:
    """``new dg_after(ptr call, ptr values, ptr registers, ptr arrays, ptr outputs, ptr tensors, ptr begun, i64
    detached)``: what follows when `main` has succeeded: writes, then the result; null with an error set. From then on,
    the memory of the call is not ours."""
    parameters = "ptr call, ptr values, ptr registers, ptr arrays, ptr outputs, ptr tensors, ptr begun, i64 detached"
    f = Function("new", "dg_after", parameters, module)
    call, registers, arrays = f.arg("call"), f.arg("registers"), f.arg("arrays")
    context = f.get(call, w.CALL.context_at)
    count = f.get(call, w.CALL.leaves)
    numbers = f.variable("i64", 0)  # of leaves that are there, for the clean-up
    result, done, failed = f.variable("ptr", 0), f.label("done"), f.label("failed")
    short = f.label("short")
    leaves, heap = room(f, count + f.get(call, w.CALL.shown))
    f.goto_if(leaves.eq(None), short)
    with f.times(count) as i:
        leaf = f.get(call, w.CALL.leaf_at) + i * w.LEAF.n_bytes
        kind, place = f.load("i64", leaf), f.load("i64", leaf, 8)
        value = f.variable("ptr", 0)
        known = f.label("known")
        f.goto_if(kind.eq(w.LEAF_NONE), known)
        with f.if_(kind.eq(w.LEAF_TENSOR)):
            value.set(f.hold(f.load("ptr", f.arg("tensors"), place * 8)))
            f.goto(known)
        with f.if_(kind.eq(w.LEAF_DIM)):
            value.set(f.api("PyLong_FromLongLong", f.load("i64", f.get(call, w.CALL.dims_at), place * 8)))
            f.goto_if(value.get().eq(None), failed)
            f.goto(known)
        bits = f.load("i64", context, place * 8)
        with f.if_(kind.eq(w.LEAF_INT)):
            value.set(f.api("PyLong_FromLongLong", bits))
        with f.if_(kind.eq(w.LEAF_BOOL)):
            truth = f.emit("ptr", f"select i1 {bits.ne(0)}, ptr {f.word('True')}, ptr {f.word('False')}")
            value.set(f.hold(truth))
        with f.if_(kind.eq(w.LEAF_FLOAT)):
            number = f.emit("double", f"bitcast i64 {bits} to double")
            value.set(f.api("PyFloat_FromDouble", number))
        f.goto_if(value.get().eq(None), failed)
        f.place(known)
        f.store(value.get(), leaves, i * 8)
        numbers.set(i + 1)
    chosen = f.variable("ptr", f.get(call, w.CALL.path_at))
    choice = f.get(call, w.CALL.choice)
    with f.if_(choice.gt(-1)):
        chosen.set(chosen.get() + f.load("i64", context, choice * 8) * w.PATH.n_bytes)
    path = chosen.get()
    f.set(call, w.CALL.busy, 0)

    with f.if_(f.get(path, w.PATH.python).ne(0)):
        f.set(call, w.CALL.hits, f.get(call, w.CALL.hits) + 1)
        result.set(f.hold(f.word("again")))
        f.goto(done)
    writes = f.get(path, w.PATH.writes)
    start = f.get(call, w.CALL.subject_at)
    with f.times(writes) as i:
        write = f.get(path, w.PATH.write_at) + i * w.WRITE.n_bytes
        which, output = f.load("i64", write), f.load("i64", write, 8)
        with f.if_(output.gt(-1)):
            nbytes = f.get(start + which * w.SUBJECT.n_bytes, w.SUBJECT.bytes)
            target = f.get(f.load("ptr", arrays, which * 8), ARRAY_DATA)
            source = f.get(f.load("ptr", f.arg("outputs"), output * 8), ARRAY_DATA)
            f.api("memcpy", target, source, nbytes)
    with f.if_(writes.ne(0)):
        f.goto_if(f.call("i64", "dg_stamp", call, registers, path).eq(0), done)
    draws = f.get(path, w.PATH.draws)
    with f.if_(draws.gt(-1)):
        generator = f.get(call, w.CALL.generator)
        told = f.api("PyDict_SetItem", generator, f.word("'offset'"), f.load("ptr", leaves, draws * 8))
        f.goto_if(told.ne(0), done)
    f.set(call, w.CALL.hits, f.get(call, w.CALL.hits) + 1)
    with f.times(f.get(path, w.PATH.shown)) as i:
        shown = f.get(path, w.PATH.shown_at) + i * w.SHOWN.n_bytes
        parents = f.select(f.get(shown, w.SHOWN.leaf).ne(0), leaves, registers)
        parent = f.load("ptr", parents, f.get(shown, w.SHOWN.parent) * 8)
        view = f.call("new", "dg_shown_by", parent, f.get(shown, w.SHOWN.views), f.arg("detached"))
        f.goto_if(view.eq(None), done)
        f.store(view, leaves, numbers.get() * 8)
        numbers.set(numbers.get() + 1)
    finish = f.get(path, w.PATH.finish)
    with f.if_(finish.ne(None)):
        n = f.get(call, w.CALL.values)
        result.set(f.call("new", "dg_finished", finish, f.arg("values"), n, leaves, numbers.get(), f.arg("begun")))
        f.goto(done)
    cursor = f.space("ptr", 1)
    f.store(f.get(path, w.PATH.result_at), cursor)
    result.set(f.call("new", "dg_tree", cursor, leaves, registers))
    f.goto(done)
    f.place(short)
    f.api("PyErr_NoMemory")
    f.place(failed)
    f.set(call, w.CALL.busy, 0)
    f.place(done)
    with f.times(numbers.get()) as i:
        f.drop(f.take(leaves, i * 8))
    f.api("PyMem_RawFree", heap.get())
    f.ret(result.take())
    return f
