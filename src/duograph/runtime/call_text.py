"""Calls of compiled functions without Python in between, as LLVM text.

``dg_call`` is what calling a compiled function runs (its class's ``tp_call``): it finds the versions that belong to the
function or, for a method, to the instance, and tries each. A version holds if its guards do (`guard_text`); it is run
by `main` of its executable; its results are wrapped and its writes take effect. Whatever is not foreseen goes to the
function's own ``__call__`` in Python, which does the same: up to the moment when `main` has succeeded nothing has
happened that could be seen. What a Python function raises that is called here is what the call raises: it may come from
a signal handler (Ctrl-C), and a repeated call would not raise it again.

Answers of ``dg_try``: 0, the version does not hold; 1, served (the result is null if an error is set); 2, Python shall
do it.
"""

from __future__ import annotations

from . import call_effects
from . import call_words as w
from .call_effects import drop, hold, let_go
from .cpython import (
    ARRAY_DATA,
    ARRAY_FLAGS,
    ARRAY_SHAPE,
    DICT_VERSION,
    FLOAT_VALUE,
    LIST_ITEMS,
    OWNS_DATA,
    SIZE,
    TUPLE_ITEMS,
)  # fmt: skip
from .executable_frame import CELLS, FRAMES
from .launch_words import OUTPUT_WORDS, decref, incref, type_of
from .regions import HEADER, KEPT
from .status import TOO_SMALL
from .textbuilder import Function, Value, Variable, Words

LOWER = (
    "declare ptr @dg_array(ptr)", "declare ptr @dg_tensor(ptr)", "declare ptr @dg_ready()",
    "declare ptr @dg_alias(ptr)", "declare i64 @dg_check(ptr, ptr, ptr, ptr, ptr)", "@dg_quiet = external global i64",
)  # fmt: skip
"""Functions of the launcher and the guard machine; ``dg_quiet`` is what ``dg_ready`` gives if no tape records."""


def functions(words: Words, slots: dict[str, int], versions: bool) -> list[Function]:
    """All functions.

    Args:
        words: the block of words that they share with Python.
        slots: offsets of the slots of our classes.
        versions: whether dictionaries have versions.
    """
    return [
        *call_effects.functions(words, slots), _try(words, slots), _config(words, versions), _serve(words, slots),
        _store(words, slots), _call(words, slots), _bound(words, slots), _get(words, slots),
    ]  # fmt: skip


# ---- one version ----------------------------------------------------------------------------------------------------


def _values(
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


def _read_numbers(f: Function, call: Value, registers: Value, python: str) -> None:
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


def _read_sizes(f: Function, call: Value, arrays: Value, python: str) -> None:
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


def _make_outputs(f: Function, call: Value, outputs: Value, tensors: Value, there: Variable, python: str) -> None:
    """Code that makes the outputs, as arrays and tensors."""
    first = f.load("ptr", call, 8 * w.BUFFERS_AT) + f.load("i64", call, 8 * w.FIRST_OUTPUT) * 8
    with f.times(f.load("i64", call, 8 * w.OUTPUTS)) as i:
        array = f.call("ptr", "dg_array", f.load("ptr", call, 8 * w.OUTPUT_AT) + i * (8 * OUTPUT_WORDS))
        f.goto_if(array.eq(None), python)
        tensor = f.call("ptr", "dg_tensor", array)
        f.goto_if(tensor.eq(None), python)
        f.store(array, outputs, i * 8)
        f.store(tensor, tensors, i * 8)
        f.store(f.load("ptr", array, ARRAY_DATA), first, i * 8)
        there.set(i + 1)


def _read_tensors(
    f: Function, call: Value, registers: Value, arrays: Value, slots: dict[str, int], python: str
) -> None:
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


def _hold_all(f: Function, call: Value, registers: Value, arrays: Value) -> None:
    """Code that holds what is used later: without the GIL, or when an object is made and that collects garbage, others
    may drop it."""
    held_at = f.load("ptr", call, 8 * w.HELD_AT)
    with f.times(f.load("i64", call, 8 * w.HELD)) as i:
        hold(f, f.load("ptr", registers, f.load("i64", held_at, i * 8) * 8))
    with f.if_(f.load("i64", call, 8 * w.RELEASE).ne(0)), f.times(f.load("i64", call, 8 * w.SUBJECTS)) as i:
        hold(f, f.load("ptr", arrays, i * 8))


def _run(f: Function, call: Value, late: Value, raised: str) -> Value:
    """Code that runs `main`; its status. What is raised afterwards, when the call can only be finished, stands in the
    three words of ``late``."""
    status, grown = f.variable("i32"), f.variable("i64", 0)
    main = f.load("ptr", call, 8 * w.MAIN)
    buffers, dims = f.load("ptr", call, 8 * w.BUFFERS_AT), f.load("ptr", call, 8 * w.DIMS_AT)
    again, quick, done = f.label("again"), f.label("quick"), f.label("done")
    f.place(again)
    f.goto_if(f.load("i64", call, 8 * w.RELEASE).eq(0), quick)
    saved = f.api("ptr", "PyEval_SaveThread")
    status.set(f.call("i32", main, buffers, dims))
    f.api("void", "PyEval_RestoreThread", saved)
    f.goto(done)
    f.place(quick)
    status.set(f.call("i32", main, buffers, dims))
    f.place(done)
    enough = f.label("enough")
    f.goto_if(status.get().ne(TOO_SMALL), enough)
    f.goto_if(grown.get().ne(0), enough)
    grown.set(1)
    answer = f.api("ptr", "PyObject_CallNoArgs", f.load("ptr", call, 8 * w.GROW))
    with f.if_(answer.eq(None)):  # Python can make room in other places
        f.goto_if(f.api("i32", "PyErr_ExceptionMatches", f.word("MemoryError")).eq(0), raised)
        f.api("void", "PyErr_Clear")
        f.goto(enough)
    decref(f, answer)
    f.goto(again)
    f.place(enough)
    context = f.load("ptr", call, 8 * w.CONTEXT_AT)
    for region in (CELLS, FRAMES):  # `regions.reset`; what is more than one chunk of moderate size is for Python
        chunk = f.load("ptr", context, 8 * region)
        clean, python = f.label("clean"), f.label("python")
        f.goto_if(chunk.eq(None), clean)
        f.goto_if(f.load("i64", chunk).ne(0), python)
        f.goto_if(f.load("i64", chunk, 8).gt(KEPT), python)
        f.store(HEADER, context, 8 * (region + 1))
        f.goto(clean)
        f.place(python)
        answer = f.api("ptr", "PyObject_CallNoArgs", f.load("ptr", call, 8 * w.RESET))
        with f.if_(answer.eq(None)):
            for k in range(3):
                drop(f, f.load("ptr", late, 8 * k))
            f.api("void", "PyErr_Fetch", late, late + 8, late + 16)
        drop(f, answer)
        f.place(clean)
    return status.get()


def _try(words: Words, slots: dict[str, int]) -> Function:
    """``i64 dg_try(ptr version, ptr config, ptr first, ptr args, ptr keywords, ptr result)``."""
    f = Function("i64", "dg_try", "ptr version, ptr config, ptr first, ptr args, ptr keywords, ptr result", words)
    version = f.arg("version")
    misses, python, leave, raised = (f.label(name) for name in ("misses", "python", "leave", "raised"))
    answer = f.variable("i64", 0)
    call = f.load("ptr", f.load("ptr", version, slots["block"]), ARRAY_DATA)
    with f.if_(f.load("ptr", call, 8 * w.CONFIG).ne(f.arg("config"))):
        f.ret(0)
    rules = f.load("ptr", f.load("ptr", f.word("rules"), LIST_ITEMS))
    with f.if_(f.load("ptr", call, 8 * w.RULES).ne(rules)):
        f.ret(0)
    with f.if_(f.load("i64", call, 8 * w.BUSY).ne(0)):
        f.ret(2)
    not_bound, not_python, not_caught = f.label("not_bound"), f.label("not_python"), f.label("not_caught")
    values, made = _values(f, call, f.arg("first"), f.arg("args"), f.arg("keywords"), not_bound, not_python, not_caught)
    late = f.space("ptr", 3)
    for k in range(3):
        f.store(0, late, 8 * k, type="ptr")
    f.store(1, call, 8 * w.BUSY)
    incref(f, version)

    count = f.load("i64", call, 8 * w.OUTPUTS)
    outputs, tensors = (f.emit("ptr", f"alloca ptr, i64 {count + 1}, align 8") for _ in range(2))
    release = f.load("i64", call, 8 * w.RELEASE)
    n_registers, n_subjects = f.load("i64", call, 8 * w.REGISTERS), f.load("i64", call, 8 * w.SUBJECTS)
    registers, owned = (f.emit("ptr", f"alloca ptr, i64 {n_registers + 1}, align 8") for _ in range(2))
    arrays = f.emit("ptr", f"alloca ptr, i64 {n_subjects + 1}, align 8")
    there, n_owned, holding = f.variable("i64", 0), f.space("i64", 1), f.variable("i64", 0)
    f.store(0, n_owned)
    sized, early = f.load("ptr", call, 8 * w.SIZER).ne(None), f.label("early")
    f.goto_if(sized, early)  # their size is known later
    _make_outputs(f, call, outputs, tensors, there, python)
    f.place(early)
    program = f.load("ptr", call, 8 * w.PROGRAM)
    holds = f.call("i64", "dg_check", program, values.get(), registers, owned, n_owned)
    f.goto_if(holds.eq(0), misses)
    f.goto_if(holds.ne(1), raised)
    _read_tensors(f, call, registers, arrays, slots, python)
    _read_numbers(f, call, registers, python)
    _hold_all(f, call, registers, arrays)
    holding.set(1)
    _read_sizes(f, call, arrays, python)
    ready = f.label("ready")
    f.goto_if(there.get().eq(count), ready)
    _make_outputs(f, call, outputs, tensors, there, python)
    f.place(ready)
    status = _run(f, call, late, raised)
    f.goto_if(status.ne(0), python)
    result = f.call("ptr", "dg_after", call, values.get(), registers, arrays, outputs, tensors)
    with f.if_(result.eq(f.word("again"))):
        decref(f, result)
        f.store(f.load("i64", call, 8 * w.HITS) - 1, call, 8 * w.HITS)
        f.goto(python)
    f.store(result, f.arg("result"))
    answer.set(1)
    f.goto(leave)
    f.place(raised)
    f.store(0, f.arg("result"), type="ptr")
    answer.set(1)
    f.goto(leave)
    f.place(python)
    f.api("void", "PyErr_Clear")
    answer.set(2)
    f.place(misses)
    f.place(leave)
    f.store(0, call, 8 * w.BUSY)
    with f.if_(holding.get().ne(0)):
        held_at = f.load("ptr", call, 8 * w.HELD_AT)
        with f.times(f.load("i64", call, 8 * w.HELD)) as i:
            let_go(f, f.load("ptr", registers, f.load("i64", held_at, i * 8) * 8))
        with f.if_(release.ne(0)), f.times(n_subjects) as i:
            let_go(f, f.load("ptr", arrays, i * 8))
    with f.times(there.get()) as i:
        decref(f, f.load("ptr", tensors, i * 8))
    with f.times(f.load("i64", n_owned)) as i:
        decref(f, f.load("ptr", owned, i * 8))
    drop(f, made.get())
    decref(f, version)
    with f.if_(f.load("ptr", late).ne(None)):
        with f.if_(answer.get().eq(1)):
            drop(f, f.load("ptr", f.arg("result")))
        f.store(0, f.arg("result"), type="ptr")
        f.api("void", "PyErr_Restore", *(f.load("ptr", late, 8 * k) for k in range(3)))
        answer.set(1)
    f.ret(answer.get())
    f.place(not_bound)
    f.ret(0)
    f.place(not_caught)
    f.store(0, f.arg("result"), type="ptr")
    f.ret(1)
    f.place(not_python)
    f.api("void", "PyErr_Clear")
    f.ret(2)
    return f


# ---- which version --------------------------------------------------------------------------------------------------


def _config(words: Words, versions: bool) -> Function:
    """``ptr dg_config()``: the configuration in force, borrowed; null if it is one of a `with` block."""
    f = Function("ptr", "dg_config", "", words)
    override = f.space("ptr", 1)
    failed = f.label("failed")
    told = f.api("i32", "PyContextVar_Get", f.word("override"), ("ptr", "null"), override)
    f.goto_if(told.ne(0), failed)
    value = f.load("ptr", override)
    f.goto_if(value.eq(None), failed)
    decref(f, value)
    with f.if_(value.ne(f.word("None"))):
        f.ret(0)
    module = f.word("config_module")
    if versions:
        now = f.load("i64", module, DICT_VERSION)
        with f.if_(now.eq(f.word("config_version", "i64"))):
            f.ret(f.word("config_found"))
        f.store(now, f.word_place("config_version"))
    found = f.api("ptr", "PyDict_GetItemWithError", module, f.word("'_process'"))
    f.goto_if(found.eq(None), failed)
    f.store(found, f.word_place("config_found"))
    f.ret(found)
    f.place(failed)
    f.api("void", "PyErr_Clear")
    f.ret(0)
    return f


def _serve(words: Words, slots: dict[str, int]) -> Function:
    """``i64 dg_serve(ptr store, ptr first, ptr args, ptr keywords, ptr result)``: whether a version of ``store`` has
    answered the call."""
    f = Function("i64", "dg_serve", "ptr store, ptr first, ptr args, ptr keywords, ptr result", words)
    no = f.label("no")
    f.goto_if(f.arg("store").eq(None), no)
    versions = f.load("ptr", f.arg("store"), slots["native"])
    f.goto_if(versions.eq(None), no)
    f.goto_if(type_of(f, versions).ne(f.word("tuple")), no)
    f.goto_if(f.call("ptr", "dg_ready").ne(_quiet_place(f)), no)
    config = f.call("ptr", "dg_config")
    f.goto_if(config.eq(None), no)
    incref(f, versions)
    answer, done = f.variable("i64", 0), f.label("done")
    with f.times(f.load("i64", versions, SIZE)) as i:
        version = f.load("ptr", versions + i * 8, TUPLE_ITEMS)
        answer.set(
            f.call("i64", "dg_try", version, config, f.arg("first"), f.arg("args"), f.arg("keywords"), f.arg("result"))
        )
        f.goto_if(answer.get().ne(0), done)
    f.place(done)
    decref(f, versions)
    f.ret(f.emit("i64", f"zext i1 {answer.get().eq(1)} to i64"))
    f.place(no)
    f.ret(0)
    return f


def _quiet_place(f: Function) -> Value:
    return Value(f, "ptr", "@dg_quiet")


def _store(words: Words, slots: dict[str, int]) -> Function:
    """``ptr dg_store(ptr function, ptr first)``: the versions of a function, or of the instance that is the first
    argument of a method; null if there are none, or Python has raised an error, which is set then."""
    f = Function("ptr", "dg_store", "ptr function, ptr first", words)
    no = f.label("no")
    key = f.load("ptr", f.arg("function"), slots["method"])
    f.goto_if(key.eq(None), no)
    with f.if_(key.eq(f.word("None"))):
        f.ret(f.load("ptr", f.arg("function"), slots["own"]))
    f.goto_if(f.arg("first").eq(None), no)
    place = f.api("ptr", "_PyObject_GetDictPtr", f.arg("first"))
    f.goto_if(place.eq(None), no)
    found = f.variable("ptr", f.load("ptr", place))
    for name in (f.word("'versions'"), key):
        f.goto_if(found.get().eq(None), no)
        f.goto_if(type_of(f, found.get()).ne(f.word("dict")), no)
        found.set(f.api("ptr", "PyDict_GetItemWithError", found.get(), name))
    f.goto_if(found.get().eq(None), no)
    f.goto_if(type_of(f, found.get()).ne(f.word("Entries")), no)
    f.ret(found.get())
    f.place(no)
    f.ret(0)
    return f


def _call(words: Words, slots: dict[str, int]) -> Function:
    """``tp_call`` of compiled functions."""
    f = Function("ptr", "dg_call", "ptr self, ptr args, ptr keywords", words, linkage="")
    first = f.variable("ptr", 0)
    with f.if_(f.load("i64", f.arg("args"), SIZE).ne(0)):
        first.set(f.load("ptr", f.arg("args"), TUPLE_ITEMS))
    store = f.call("ptr", "dg_store", f.arg("self"), first.get())
    _answer(f, store, f.const("ptr", 0), "plain_call")
    return f


def _bound(words: Words, slots: dict[str, int]) -> Function:
    """``tp_call`` of methods that are bound to their instance."""
    f = Function("ptr", "dg_bound", "ptr self, ptr args, ptr keywords", words, linkage="")
    python, ready = f.label("python"), f.label("ready")
    function, subject = (f.load("ptr", f.arg("self"), slots[name]) for name in ("function", "subject"))
    f.goto_if(function.eq(None), python)
    f.goto_if(subject.eq(None), python)
    f.goto_if(type_of(f, function).eq(f.word("JitFunction")), ready)
    f.place(python)
    f.ret(f.call("ptr", f.word("plain_bound"), f.arg("self"), f.arg("args"), f.arg("keywords")))
    f.place(ready)
    store = f.call("ptr", "dg_store", function, subject)
    _answer(f, store, subject, "plain_bound")
    return f


def _get(words: Words, slots: dict[str, int]) -> Function:
    """``tp_descr_get`` of compiled functions: a method bound to its instance."""
    f = Function("ptr", "dg_get", "ptr self, ptr subject, ptr owner", words, linkage="")
    this = f.label("this")
    f.goto_if(f.arg("subject").eq(None), this)
    f.goto_if(f.arg("subject").eq(f.word("None")), this)
    made = f.api("ptr", "PyType_GenericAlloc", f.word("BoundJit"), 0)
    with f.if_(made.eq(None)):
        f.ret(0)
    f.store(incref(f, f.arg("self")), made, slots["function"])
    f.store(incref(f, f.arg("subject")), made, slots["subject"])
    f.ret(made)
    f.place(this)
    f.ret(incref(f, f.arg("self")))
    return f


def _answer(f: Function, store: Value, first: Value, plain: str) -> None:
    result = f.space("ptr", 1)
    served = f.call("i64", "dg_serve", store, first, f.arg("args"), f.arg("keywords"), result)
    with f.if_(served.ne(0)):
        f.ret(f.load("ptr", result))
    with f.if_(f.api("ptr", "PyErr_Occurred").ne(None)):  # while the versions were looked for
        f.ret(0)
    f.ret(f.call("ptr", f.word(plain), f.arg("self"), f.arg("args"), f.arg("keywords")))
