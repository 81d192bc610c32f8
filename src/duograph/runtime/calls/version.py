"""One call of one version of a compiled function, as LLVM text: ``dg_try``.

A version holds if its guards do (`guards.text`); it is run by `main` of its executable; its results are wrapped and its
writes take effect (`calls.effects`). Up to the moment when `main` has succeeded nothing has happened that could be
seen.

Answers of ``dg_try``: 0, the version does not hold; 1, served (the result is null if an error is set); 2, Python shall
do it.
"""

from __future__ import annotations

from collections.abc import Callable

from duograph.runtime.kernels.status import MEMORY, TOO_SMALL
from duograph.runtime.launch.words import KERNEL_ABI, OUTPUT
from duograph.runtime.programs.frame import CELLS, FRAMES
from duograph.runtime.programs.heap import HEADER, KEPT
from duograph.runtime.python.asm import Function, Label, Module, Value, Variable
from duograph.runtime.python.cpython import ARRAY_DATA, LIST_ITEMS
from duograph.runtime.python.rooms import room

from . import words as w
from .inputs import copy_strided, read_numbers, read_sizes, read_tensors, values
from .references import hold, let_go


def dg_try(module: Module) -> Function:
    """``i64 dg_try(ptr version, ptr config, ptr first, ptr args, ptr keywords, ptr result)``."""
    f = Function("i64", "dg_try", "ptr version, ptr config, ptr first, ptr args, ptr keywords, ptr result", module)
    version = f.arg("version")
    labels = ("misses", "python", "repeated", "leave", "raised")
    misses, python, repeated, leave, raised = (f.label(name) for name in labels)
    answer = f.variable("i64", 0)
    call = f.get(f.get(version, f.slot("block")), ARRAY_DATA)
    with f.if_(f.get(call, w.CALL.config).ne(f.arg("config"))):
        f.ret(0)
    rules = f.load("ptr", f.get(f.word("rules"), LIST_ITEMS))
    with f.if_(f.get(call, w.CALL.rules).ne(rules)):
        f.ret(0)
    with f.if_(f.get(call, w.CALL.busy).ne(0)):
        f.ret(2)
    with f.if_(f.get(call, w.CALL.hits).eq(f.get(call, w.CALL.until))):
        f.ret(0)
    not_bound, not_python, not_caught = f.label("not_bound"), f.label("not_python"), f.label("not_caught")
    given, several, others = values(
        f, call, f.arg("first"), f.arg("args"), f.arg("keywords"), not_bound, not_python, not_caught
    )
    deferred = f.space("ptr", 3)
    for k in range(3):
        f.store(None, deferred, 8 * k, type="ptr")
    with f.if_(f.get(call, w.CALL.busy).ne(0)):  # memory was asked for, which may have let another thread in
        f.drop(several.take())
        f.drop(others.take())
        f.ret(2)
    f.set(call, w.CALL.busy, 1)
    mine = f.variable("i64", 1)  # until `dg_after` has given the memory up: then it may be another thread's
    held = f.hold(version)

    count, n_late = f.get(call, w.CALL.outputs), f.get(call, w.CALL.late)
    release = f.get(call, w.CALL.release)
    told = f.get(call, w.CALL.begin).ne(None) | f.get(call, w.CALL.ended).ne(None)
    keeps = release | told.to("i64")  # others may run before `main` has ended
    n_registers, n_subjects = f.get(call, w.CALL.registers), f.get(call, w.CALL.subjects)
    there, n_owned, holding = f.variable("i64", 0), f.space("i64", 1), f.variable("i64", 0)
    # Whether views that the call gives stop gradients: when `main` has run, the launcher may know of another thread.
    detached = f.load("ptr", f.memory("dg_detached").pointer).ne(f.word("0")).to("i64")
    begun = f.variable("ptr", 0)  # what Python wants to know again when the call is finished
    done = f.variable("ptr", 0)  # what steps in Python have done, which is not undone
    f.store(0, n_owned)
    n_copies = f.variable("i64", 0)
    outputs, heap = room(f, (count + n_late) * 2 + n_registers * 2 + n_subjects + f.get(call, w.CALL.strided))
    tensors = outputs + (count + n_late) * 8
    registers = tensors + (count + n_late) * 8
    owned = registers + n_registers * 8
    arrays = owned + n_registers * 8
    copies = arrays + n_subjects * 8
    f.goto_if(outputs.eq(None), python)
    program = f.get(call, w.CALL.program)
    with f.if_(f.get(call, w.CALL.missed).ne(0)):  # so it may again, which costs no outputs then
        holds = f.call("i64", "dg_check", program, given.get(), registers, owned, n_owned)
        f.goto_if(holds.eq(0), misses)
        f.goto_if(holds.ne(1), raised)
        _release_all(f, owned, n_owned)
    sized, early = f.get(call, w.CALL.sizer).ne(None), f.label("early")
    f.goto_if(sized, early)  # their size is known later
    _make_outputs(f, call, outputs, tensors, there, python)
    f.place(early)
    holds = f.call("i64", "dg_check", program, given.get(), registers, owned, n_owned)
    f.set(call, w.CALL.missed, holds.eq(0).to("i64"))
    f.goto_if(holds.eq(0), misses)
    f.goto_if(holds.ne(1), raised)
    read_tensors(f, call, registers, arrays, python)
    read_numbers(f, call, registers, python)
    _hold_all(f, call, registers, arrays, keeps)
    holding.set(1)
    copy_strided(f, call, arrays, copies, n_copies, python)
    read_sizes(f, call, arrays, misses)
    _begin(f, call, registers, begun, misses, raised)
    ready = f.label("ready")
    f.goto_if(there.get().eq(count), ready)
    _make_outputs(f, call, outputs, tensors, there, python)
    f.place(ready)
    status = _run(f, call, lambda status: _make_late(f, call, outputs, tensors, there, status), deferred, raised)
    with f.if_(f.get(call, w.CALL.ended).ne(None)):
        done.set(f.api("PyObject_CallNoArgs", f.get(call, w.CALL.ended)))
        f.goto_if(done.get().eq(None), raised)
    f.goto_if(status.ne(0), repeated)
    result = f.call("new", "dg_after", call, given.get(), registers, arrays, outputs, tensors, begun.get(), detached)
    mine.set(0)
    with f.if_(result.eq(f.word("again"))):
        f.release(result)
        f.set(call, w.CALL.hits, f.get(call, w.CALL.hits) - 1)
        f.goto(repeated)
    f.store(result, f.arg("result"))
    answer.set(1)
    f.goto(leave)
    f.place(raised)
    f.store(0, f.arg("result"), type="ptr")
    answer.set(1)
    f.goto(leave)
    f.place(repeated)
    f.goto_if(done.get().eq(None), python)
    told = f.api("PyObject_CallOneArg", f.get(call, w.CALL.failed), done.get())
    f.goto_if(told.eq(None), raised)
    f.release(told)
    f.place(python)
    f.api("PyErr_Clear")
    answer.set(2)
    f.place(misses)
    f.place(leave)
    with f.if_(mine.get().ne(0)):
        f.set(call, w.CALL.busy, 0)
    with f.if_(holding.get().ne(0)):
        _let_go_all(f, call, registers, arrays, keeps, n_subjects)
    with f.times(there.get()) as i:
        f.release(f.take(tensors, i * 8))
    _release_all(f, owned, n_owned)
    with f.times(n_copies.get()) as i:
        f.release(f.take(copies, i * 8))
    f.drop(begun.take())
    f.drop(done.take())
    f.drop(several.take())
    f.drop(others.take())
    f.api("PyMem_RawFree", heap.get())
    f.release(held)
    with f.if_(f.load("ptr", deferred).ne(None)):
        with f.if_(answer.get().eq(1)):
            f.drop(f.take(f.arg("result")))
        f.store(0, f.arg("result"), type="ptr")
        f.api("PyErr_Restore", *(f.take(deferred, 8 * k) for k in range(3)))
        answer.set(1)
    f.ret(answer.get())
    f.place(not_bound)
    f.ret(0)
    f.place(not_caught)
    f.store(0, f.arg("result"), type="ptr")
    f.ret(1)
    f.place(not_python)
    f.api("PyErr_Clear")
    f.ret(2)
    return f


def _make_outputs(f: Function, call: Value, outputs: Value, tensors: Value, there: Variable, python: Label) -> None:
    """Code that makes the outputs, as arrays and tensors."""
    first = f.get(call, w.CALL.buffers_at) + f.get(call, w.CALL.first_output) * 8
    with f.times(f.get(call, w.CALL.outputs)) as i:
        array = f.call("new", "dg_array", f.get(call, w.CALL.output_at) + i * OUTPUT.n_bytes)
        f.goto_if(array.eq(None), python)
        tensor = f.call("new", "dg_tensor", array)
        f.goto_if(tensor.eq(None), python)
        f.store(array, outputs, i * 8)
        f.store(tensor, tensors, i * 8)
        f.store(f.get(array, ARRAY_DATA), first, i * 8)
        there.set(i + 1)


def _make_late(f: Function, call: Value, outputs: Value, tensors: Value, there: Variable, status: Variable) -> None:
    """Code that makes the outputs whose sizes `main` has found: copies of what it has put into its regions."""
    context = f.get(call, w.CALL.context_at)
    with f.times(f.get(call, w.CALL.late)) as i:
        row = f.get(call, w.CALL.late_at) + i * w.LATE.n_bytes
        word = context + f.get(row, w.LATE.word) * 8
        nbytes, skip = f.variable("i64", f.get(row, w.LATE.itemsize)), f.label("skip")
        f.goto_if(status.get().ne(0), skip)
        with f.times(f.get(row, w.LATE.rank)) as axis:
            nbytes.set(nbytes.get() * f.load("i64", word + 8, axis * 8))
        f.set(row, w.LATE.bytes, nbytes.get())
        f.set(row, w.LATE.shape, word + 8)
        status.set(MEMORY)
        array = f.call("new", "dg_array", row)
        f.goto_if(array.eq(None), skip)
        f.api("memcpy", f.get(array, ARRAY_DATA), f.load("ptr", word), nbytes.get())
        tensor = f.call("new", "dg_tensor", array)
        f.goto_if(tensor.eq(None), skip)
        f.store(array, outputs, there.get() * 8)
        f.store(tensor, tensors, there.get() * 8)
        there.set(there.get() + 1)
        status.set(0)
        f.place(skip)


def _hold_all(f: Function, call: Value, registers: Value, arrays: Value, keeps: Value) -> None:
    """Code that holds what is used later: without the GIL, or when an object is made and that collects garbage, others
    may drop it."""
    held_at = f.get(call, w.CALL.held_at)
    with f.times(f.get(call, w.CALL.held)) as i:
        hold(f, f.load("ptr", registers, f.load("i64", held_at, i * 8) * 8))
    with f.if_(keeps.ne(0)), f.times(f.get(call, w.CALL.subjects)) as i:
        hold(f, f.load("ptr", arrays, i * 8))


def _let_go_all(f: Function, call: Value, registers: Value, arrays: Value, keeps: Value, subjects: Value) -> None:
    """Code that gives up what `_hold_all` holds."""
    held_at = f.get(call, w.CALL.held_at)
    with f.times(f.get(call, w.CALL.held)) as i:
        let_go(f, registers + f.load("i64", held_at, i * 8) * 8)
    with f.if_(keeps.ne(0)), f.times(subjects) as i:
        let_go(f, arrays + i * 8)


def _release_all(f: Function, owned: Value, n_owned: Value) -> None:
    """Code that releases what guards have taken references to."""
    with f.times(f.load("i64", n_owned)) as i:
        f.release(f.take(owned, i * 8))
    f.store(0, n_owned)


def _begin(f: Function, call: Value, registers: Value, begun: Variable, misses: Label, raised: Label) -> None:
    """Code that tells Python of the inputs, if it is to be told, and keeps what that gives. The version does not hold
    if that is ``AGAIN``."""
    begin = f.get(call, w.CALL.begin)
    with f.if_(begin.ne(None)):
        count = f.get(call, w.CALL.inputs)
        told = f.api("PyList_New", count)
        f.goto_if(told.eq(None), raised)
        with f.times(count) as i:
            register = f.load("i64", f.get(call, w.CALL.input_at), i * 8)
            f.store(f.hold(f.load("ptr", registers, register * 8)), f.get(told, LIST_ITEMS), i * 8)
        begun.set(f.api("PyObject_CallOneArg", begin, told))
        f.release(told)
        f.goto_if(begun.get().eq(None), raised)
        with f.if_(begun.get().eq(f.word("again"))):
            f.goto(misses)


def _run(f: Function, call: Value, then: Callable[[Variable], None], deferred: Value, raised: Label) -> Value:
    """Code that runs `main`; its status. ``then`` writes what is done with what lies in its regions, before they are
    released. What is raised afterwards, when the call can only be finished, stands in the three words of
    ``deferred``."""
    status, grown = f.variable("i32"), f.variable("i64", 0)
    main = f.get(call, w.CALL.main)
    buffers, dims = f.get(call, w.CALL.buffers_at), f.get(call, w.CALL.dims_at)
    again, quick, done = f.label("again"), f.label("quick"), f.label("done")
    f.place(again)
    f.goto_if(f.get(call, w.CALL.release).eq(0), quick)
    saved = f.api("PyEval_SaveThread")
    status.set(f.call_at(KERNEL_ABI, main, buffers, dims))
    f.api("PyEval_RestoreThread", saved)
    f.goto(done)
    f.place(quick)
    status.set(f.call_at(KERNEL_ABI, main, buffers, dims))
    f.place(done)
    enough = f.label("enough")
    f.goto_if(status.get().ne(TOO_SMALL), enough)
    f.goto_if(grown.get().ne(0), enough)
    grown.set(1)
    answer = f.api("PyObject_CallNoArgs", f.get(call, w.CALL.grow))
    with f.if_(answer.eq(None)):  # Python can make room in other places
        f.goto_if(f.api("PyErr_ExceptionMatches", f.word("MemoryError")).eq(0), raised)
        f.api("PyErr_Clear")
        f.goto(enough)
    f.release(answer)
    f.goto(again)
    f.place(enough)
    then(status)
    context = f.get(call, w.CALL.context_at)
    for region in (CELLS, FRAMES):  # `regions.reset`; what is more than one chunk of moderate size is for Python
        chunk = f.load("ptr", context, 8 * region)
        clean, python = f.label("clean"), f.label("python")
        f.goto_if(chunk.eq(None), clean)
        f.goto_if(f.load("i64", chunk).ne(0), python)
        f.goto_if(f.load("i64", chunk, 8).gt(KEPT), python)
        f.store(HEADER, context, 8 * (region + 1))
        f.goto(clean)
        f.place(python)
        answer = f.api("PyObject_CallNoArgs", f.get(call, w.CALL.reset))
        with f.if_(answer.eq(None)):
            for k in range(3):
                f.drop(f.take(deferred, 8 * k))
            f.api("PyErr_Fetch", deferred, deferred + 8, deferred + 16)
        f.drop(answer)
        f.place(clean)
    return status.get()
