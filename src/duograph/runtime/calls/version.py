"""One call of one version of a compiled function, as LLVM text: ``dg_try``.

A version holds if its guards do (`guards.text`); it is run by `main` of its executable; its results are wrapped and its
writes take effect (`calls.effects`). Up to the moment when `main` has succeeded nothing has happened that could be
seen.

Answers of ``dg_try``: 0, the version does not hold; 1, served (the result is null if an error is set); 2, Python shall
do it.
"""

from __future__ import annotations

from duograph.runtime.kernels.status import TOO_SMALL
from duograph.runtime.launch.words import OUTPUT_WORDS, decref, incref
from duograph.runtime.programs.frame import CELLS, FRAMES
from duograph.runtime.programs.heap import HEADER, KEPT
from duograph.runtime.python.asm import Function, Value, Variable, Words
from duograph.runtime.python.cpython import ARRAY_DATA, LIST_ITEMS

from . import words as w
from .effects import drop, hold, let_go
from .inputs import read_numbers, read_sizes, read_tensors, values


def dg_try(words: Words, slots: dict[str, int]) -> Function:
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
    given, made = values(f, call, f.arg("first"), f.arg("args"), f.arg("keywords"), not_bound, not_python, not_caught)
    late = f.space("ptr", 3)
    for k in range(3):
        f.store(0, late, 8 * k, type="ptr")
    with f.if_(f.load("i64", call, 8 * w.BUSY).ne(0)):  # memory was asked for, which may have let another thread in
        drop(f, made.get())
        f.ret(2)
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
    holds = f.call("i64", "dg_check", program, given.get(), registers, owned, n_owned)
    f.goto_if(holds.eq(0), misses)
    f.goto_if(holds.ne(1), raised)
    read_tensors(f, call, registers, arrays, slots, python)
    read_numbers(f, call, registers, python)
    _hold_all(f, call, registers, arrays)
    holding.set(1)
    read_sizes(f, call, arrays, python)
    ready = f.label("ready")
    f.goto_if(there.get().eq(count), ready)
    _make_outputs(f, call, outputs, tensors, there, python)
    f.place(ready)
    status = _run(f, call, late, raised)
    f.goto_if(status.ne(0), python)
    result = f.call("ptr", "dg_after", call, given.get(), registers, arrays, outputs, tensors)
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
        _let_go_all(f, call, registers, arrays, release, n_subjects)
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


def _hold_all(f: Function, call: Value, registers: Value, arrays: Value) -> None:
    """Code that holds what is used later: without the GIL, or when an object is made and that collects garbage, others
    may drop it."""
    held_at = f.load("ptr", call, 8 * w.HELD_AT)
    with f.times(f.load("i64", call, 8 * w.HELD)) as i:
        hold(f, f.load("ptr", registers, f.load("i64", held_at, i * 8) * 8))
    with f.if_(f.load("i64", call, 8 * w.RELEASE).ne(0)), f.times(f.load("i64", call, 8 * w.SUBJECTS)) as i:
        hold(f, f.load("ptr", arrays, i * 8))


def _let_go_all(f: Function, call: Value, registers: Value, arrays: Value, release: Value, subjects: Value) -> None:
    """Code that gives up what `_hold_all` holds."""
    held_at = f.load("ptr", call, 8 * w.HELD_AT)
    with f.times(f.load("i64", call, 8 * w.HELD)) as i:
        let_go(f, f.load("ptr", registers, f.load("i64", held_at, i * 8) * 8))
    with f.if_(release.ne(0)), f.times(subjects) as i:
        let_go(f, f.load("ptr", arrays, i * 8))


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
