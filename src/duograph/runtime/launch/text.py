"""The eager launcher, as LLVM text: from a Python call to a kernel and back without running Python.

``dg_enter`` is what native methods call. It describes the arguments as a *key*: for each tensor its dtype and shape,
for each number, string, tuple ... its value. The key is looked up in a table of *records*: what a call with such
arguments comes to, as a list of steps, each an op with its kernels and where its operands come from. A call that the
table does not know goes to Python, which computes it and may add a record (``launcher.py``); so does everything
unusual: a graph is being built, a tensor that is not contiguous, several tapes, a failing kernel. Python then does the
same work from the start, because nothing has happened yet that could be seen.

What is raised by a Python function that native code calls is the answer of the call, and not a reason to do the work
again: it may be what a signal handler raised (Ctrl-C), which happens only once. So errors of steps of our own, which
have no memory most of the time, are cleared where they occur, and an error that is set stands for one of Python's.

While one tape records, the launcher reads and writes the marks of tensors and appends to the tape's log
(``autodiff/tape.py`` describes both).

A key, a record and a step are arrays of words; the constants below say what stands where.
"""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Module, Value
from duograph.runtime.python.cpython import ARRAY_DATA, DICT_VERSION, LIST_ITEMS, SIZE, TUPLE_ITEMS, TYPE

from . import key as launch_key
from . import objects as launch_objects
from . import tape as launch_tape
from .words import (
    FRAME,
    KERNEL,
    KERNEL_ABI,
    KEYWORD,
    MOST_BUFFERS,
    MOST_KEY,
    MOST_TENSORS,
    MOST_VALUES,
    NUMBER,
    OUTPUT,
    RECORD,
    STACK_TEMPORARIES,
    STEP,
)

MEMORY = launch_objects.MEMORY

STATE = (
    "enabled", "several", "thread", "state", "state_tapes", "detached", "table", "table_mask", "table_shift",
    "variables", "launches", "misses", "handler",
)  # fmt: skip
"""Words that Python and the code write while it runs."""


def functions(module: Module, versions: bool) -> list[Function]:
    """Everything but the entries of single methods (`method_entry`); ``versions``: whether dictionaries have them."""
    parts = (launch_key, launch_objects, launch_tape)
    return [
        *[f for part in parts for f in part.functions(module)],
        _ready(module, versions), _run(module), _python(module), _enter(module), function_entry(module),
    ]  # fmt: skip


def _ready(module: Module, versions: bool) -> Function:
    """``ptr dg_ready()``: the tape that records, or the place of the word ``enabled`` if none does, ``several`` if
    several do; null if Python has to decide, or has raised an error, which is set then."""
    f = Function("ptr", "dg_ready", "", module, linkage="")
    python = f.label("python")
    f.goto_if(f.word("enabled", "i64").eq(0), python)
    number = f.api("PyThreadState_GetID", f.api("PyThreadState_Get"))
    with f.if_(f.word("thread", "i64").ne(number)):
        answer = f.api("PyObject_CallNoArgs", f.word("enter_thread"))
        f.goto_if(answer.eq(None), python)
        f.release(answer)
        f.goto_if(f.word("thread", "i64").ne(number), python)
    state, known = f.word("state"), f.label("known")
    if versions:  # what the dictionary held at this version is known
        now = f.get(state, DICT_VERSION)
        f.goto_if(now.eq(f.word("state_version", "i64")), known)
    f.goto_if(f.api("PyDict_GetItem", state, f.word("'binder'")).ne(f.word("None")), python)
    found = f.api("PyDict_GetItem", state, f.word("'tapes'"))
    f.goto_if(found.eq(None), python)
    f.goto_if(f.get(found, TYPE).ne(f.word("list")), python)
    f.set_word("state_tapes", found)
    found = f.api("PyDict_GetItem", state, f.word("'detached'"))
    f.goto_if(found.eq(None), python)
    f.set_word("detached", found)
    if versions:
        f.set_word("state_version", now)
    f.place(known)
    tapes = f.word("state_tapes")
    count = f.get(tapes, SIZE)
    with f.if_(count.eq(0)):
        f.ret(f.word_place("enabled"))
    items = f.get(tapes, LIST_ITEMS)
    with f.times(count) as i:
        f.goto_if(f.get(f.load("ptr", items, i * 8), TYPE).ne(f.word("Tape")), python)
    with f.if_(count.eq(1)):
        f.ret(f.load("ptr", items))
    f.ret(f.word_place("several"))
    f.place(python)
    f.ret(0)
    return f


def _run(module: Module) -> Function:
    """``new dg_run(ptr record, ptr frame, ptr tape)``: the result of a call; null if Python has to compute it,
    or has raised an error, which is set then."""
    f = Function("new", "dg_run", "ptr record, ptr frame, ptr tape", module)
    record, frame, tape = f.arg("record"), f.arg("frame"), f.arg("tape")
    values, arrays, variables = (f.space("ptr", MOST_VALUES) for _ in range(3))
    buffers = f.space("ptr", MOST_BUFFERS)
    stack = f.space("i8", STACK_TEMPORARIES, align=64)
    count = f.variable("i64", 0)  # of values that are there
    result = f.variable("ptr", 0)
    heap = f.variable("ptr", 0)
    taped = tape.ne(f.word_place("enabled"))
    tell = f.variable("i64", tape.eq(f.word_place("several")).to("i64") | f.get(record, RECORD.tell))
    done, failed, raised = f.label("done"), f.label("failed"), f.label("raised")
    owner = f.hold(f.get(record, RECORD.owner))

    def add(value: Value, copy: Value | None = None) -> Value:
        """The next value (whose reference is taken). Its array is held, so that nothing can take it away; kernels get
        a contiguous copy if ``copy`` is not 0."""
        n = count.get()
        array = f.get(value, f.slot("data"))
        held, taken = f.variable("ptr"), f.label("taken")
        if copy is not None:
            with f.if_(copy.ne(0)):
                held.set(f.api("PyArray_NewCopy", array, 0))
                f.goto_if(held.get().ne(None), taken)
                f.release(value)
                f.goto(failed)
        held.set(f.hold(array))
        f.place(taken)
        f.store(value, values, n * 8)
        f.store(held.get(), arrays, n * 8)
        f.store(0, variables, n * 8, type="ptr")
        count.set(n + 1)
        return n

    tensors, numbers = f.get(frame, FRAME.tensors), f.get(frame, FRAME.numbers)
    copies = f.get(record, RECORD.copies)
    with f.times(tensors) as i:
        n = add(f.hold(f.load("ptr", frame, i * 8 + FRAME.tensor)), (copies >> i) & 1)
        marked = f.label("marked")
        f.goto_if(tell.get().ne(0), marked)
        with f.if_(taped):
            place = variables + n * 8
            with f.if_(f.call("i64", "dg_mark", tape, f.load("ptr", values, n * 8), place).eq(0)):
                tell.set(1)  # Python finds out
        f.place(marked)
    with f.times(numbers) as i:
        kind = f.get(record, RECORD.number_at) + i * NUMBER.n_bytes
        made = f.call("new", "dg_number", f.load("ptr", frame, i * 8 + FRAME.number), kind)
        f.goto_if(made.eq(None), raised)
        add(made)
    with f.times(f.get(record, RECORD.constants)) as i:
        add(f.hold(f.load("ptr", f.get(record, RECORD.constant_at), i * 8)))
    first_output = count.get()

    steps = f.get(record, RECORD.steps)
    with f.times(steps) as s:
        step = f.load("ptr", f.get(record, RECORD.step_at), s * 8)
        operand_at = f.get(step, STEP.operand_at)
        output_at = f.get(step, STEP.output_at)
        is_view = f.get(step, STEP.view)
        next_step = f.label("next_step")
        with f.if_(is_view.ne(0)):
            index = f.load("i64", operand_at) * 8
            parent = f.load("ptr", values, index)
            detached = f.word("detached").ne(f.word("0")).to("i64")
            made = f.call("new", "dg_view", parent, output_at, f.get(step, STEP.op), f.get(step, STEP.attrs), detached)
            f.goto_if(made.eq(None), failed)
            add(made, f.get(step, STEP.copy))
            f.goto(next_step)
        with f.times(f.get(step, STEP.outputs)) as i:
            array = f.call("new", "dg_array", output_at + i * OUTPUT.n_bytes)
            f.goto_if(array.eq(None), failed)
            made = f.call("new", "dg_tensor", array)
            f.goto_if(made.eq(None), failed)
            add(made)
        temporaries = f.variable("ptr", stack)
        wanted = f.get(step, STEP.temporaries)
        with f.if_(wanted.gt(STACK_TEMPORARIES)):
            heap.set(f.call("ptr", "dg_alloc", wanted))
            f.goto_if(heap.get().eq(None), failed)
            temporaries.set(heap.get())
        status = f.variable("i32", 0)
        saved = f.variable("ptr", 0)
        release = f.get(record, RECORD.release).ne(0)
        with f.if_(release):
            saved.set(f.api("PyEval_SaveThread"))
        with f.times(f.get(step, STEP.calls)) as c:
            call = f.get(step, STEP.call_at) + c * KERNEL.n_bytes
            buffer_at = f.get(call, KERNEL.buffer_at)
            with f.times(f.get(call, KERNEL.buffers)) as b:
                source = f.load("i64", buffer_at, b * 8)
                temporary, stored = f.label("temporary"), f.label("stored")
                f.goto_if(f.const("i64", 0).gt(source), temporary)
                data = f.get(f.load("ptr", arrays, source * 8), ARRAY_DATA)
                f.store(data, buffers, b * 8)
                f.goto(stored)
                f.place(temporary)
                f.store(temporaries.get() + (f.const("i64", -1) - source), buffers, b * 8)
                f.place(stored)
            noted = f.call_at(KERNEL_ABI, f.get(call, KERNEL.address), buffers, f.get(call, KERNEL.dims))
            status.set(status.get() | noted)
        with f.if_(release):
            f.api("PyEval_RestoreThread", saved.get())
        with f.if_(heap.get().ne(None)):
            f.call("void", "dg_free", heap.get())
            heap.set(0)
        f.goto_if(status.get().ne(0), failed)
        f.place(next_step)

    with f.if_(taped):
        output = f.variable("i64", first_output)
        with f.times(steps) as s:
            step = f.load("ptr", f.get(record, RECORD.step_at), s * 8)
            recorded = f.label("recorded")
            with f.if_(tell.get().ne(0)):
                f.goto_if(f.call("i64", "dg_tell", step, values, output.get()).eq(0), raised)
                f.goto(recorded)
            told = f.call("i64", "dg_record", tape, step, values, variables, output.get())
            f.goto_if(told.eq(0), failed)
            f.place(recorded)
            output.set(output.get() + f.get(step, STEP.outputs))

    results, which = f.get(record, RECORD.results), f.get(record, RECORD.result)
    with f.if_(results.eq(0)):
        result.set(f.hold(f.load("ptr", values, which.to("i64") * 8)))
        f.goto(done)
    several = f.api("PyTuple_New", results - 1)
    f.goto_if(several.eq(None), failed)
    with f.times(results - 1) as i:
        number, entry = f.load("i64", which, i * 8), f.variable("ptr", f.word("None"))
        with f.if_(number.gt(-1)):
            entry.set(f.load("ptr", values, number * 8))
        f.store(f.hold(entry.get()), several, i * 8 + TUPLE_ITEMS)
    result.set(several)
    f.goto(done)

    f.place(failed)
    f.api("PyErr_Clear")
    f.place(raised)
    f.place(done)
    with f.times(count.get()) as i:
        f.release(f.take(arrays, i * 8))
        f.release(f.take(values, i * 8))
        f.drop(f.take(variables, i * 8))
    f.release(owner)
    f.ret(result.take())
    return f


def _python(module: Module) -> Function:
    """``new dg_python(ptr callable, ptr key, ptr first, ptr args, i64 n, ptr names)``: calls Python; ``key`` and
    ``first``, if not null, come before the arguments."""
    f = Function("new", "dg_python", "ptr callable, ptr key, ptr first, ptr args, i64 n, ptr names", module)
    names = f.arg("names")
    total = f.variable("i64", f.arg("n"))
    with f.if_(names.ne(None)):
        total.set(total.get() + f.get(names, SIZE))
    room = f.row("ptr", total.get() + 3)
    extra = f.variable("i64", 1)  # the first place is scratch for the callee (PY_VECTORCALL_ARGUMENTS_OFFSET)
    for name in ("key", "first"):
        with f.if_(f.arg(name).ne(None)):
            f.store(f.arg(name), room, extra.get() * 8)
            extra.set(extra.get() + 1)
    start = room + extra.get() * 8
    with f.times(total.get()) as i:
        f.store(f.load("ptr", f.arg("args"), i * 8), start, i * 8)
    positional = f.arg("n") + extra.get() - 1
    flagged = positional | -(1 << 63)
    f.ret(f.api("PyObject_Vectorcall", f.arg("callable"), room + 8, flagged, names))
    return f


def _enter(module: Module) -> Function:
    """``new dg_enter(ptr cell, ptr first, ptr args, i64 n, ptr names)``: a call of a native function. The cell is a
    `launcher.NativeEntry`: the Python function, what to call for an unknown key, and whether numbers are weak."""
    f = Function("new", "dg_enter", "ptr cell, ptr first, ptr args, i64 n, ptr names", module)
    cell, first, args, n, names = (f.arg(name) for name in ("cell", "first", "args", "n", "names"))
    python = f.label("python")
    tape = f.call("ptr", "dg_ready")
    f.goto_if(tape.eq(None), python)
    f.goto_if(n.gt(MOST_TENSORS * 2), python)
    frame = f.space("i64", FRAME.n_words)
    for field in (FRAME.count, FRAME.tensors, FRAME.numbers, FRAME.hash):
        f.set(frame, field, 0)
    weak = f.get(cell, f.slot("weak_numbers")).eq(f.word("True"))
    f.set(frame, FRAME.weak, weak.to("i64"))
    f.call("void", "dg_push", frame, cell.to("i64"))
    with f.if_(first.ne(None)):
        f.goto_if(f.call("i64", "dg_key", frame, first, 0).eq(0), python)
    with f.times(n) as i:
        f.goto_if(f.call("i64", "dg_key", frame, f.load("ptr", args, i * 8), 0).eq(0), python)
    with f.if_(names.ne(None)), f.times(f.get(names, SIZE)) as i:
        f.goto_if(f.get(frame, FRAME.count).gt(MOST_KEY - 8), python)
        f.call("void", "dg_push", frame, KEYWORD)
        f.call("void", "dg_push", frame, f.load("ptr", names + i * 8, TUPLE_ITEMS).to("i64"))
        f.goto_if(f.call("i64", "dg_key", frame, f.load("ptr", args, (n + i) * 8), 0).eq(0), python)
    record = f.call("ptr", "dg_find", frame)
    with f.if_(record.eq(None)):
        f.bump("misses")
        size = f.get(frame, FRAME.count) * 8 + (FRAME.key - FRAME.hash)
        key = f.api("PyBytes_FromStringAndSize", frame + int(FRAME.hash), size)
        with f.if_(key.eq(None)):
            f.api("PyErr_Clear")
            f.goto(python)
        answer = f.call("new", "dg_python", f.get(cell, f.slot("unknown")), key, first, args, n, names)
        f.release(key)
        f.ret(answer)
    f.goto_if(f.get(record, RECORD.python).ne(0), python)
    chosen = f.variable("ptr", record)
    with f.if_(tape.eq(f.word_place("enabled"))):
        fused, wait = f.get(record, RECORD.fused), f.get(record, RECORD.wait)
        with f.if_(fused.ne(None)):
            chosen.set(fused)
        with f.if_(wait.ne(0)):
            f.set(record, RECORD.wait, wait - 1)
            with f.if_(wait.eq(1)):
                answer = f.api("PyObject_CallOneArg", f.word("fuse"), f.get(record, RECORD.owner))
                f.goto_if(answer.eq(None), python)
                f.release(answer)
                f.goto(python)  # the record may be gone
    result = f.call("new", "dg_run", chosen.get(), frame, tape)
    f.goto_if(result.eq(None), python)
    f.bump("launches")
    f.ret(result)
    f.place(python)
    with f.if_(f.api("PyErr_Occurred").ne(None)):
        f.ret(0)
    f.ret(f.call("new", "dg_python", f.get(cell, f.slot("function")), None, first, args, n, names))
    return f


def method_entry(module: Module, name: str, number: int) -> Function:
    """The native method number ``number``, whose cell stands in a word; the first argument is what it is called on."""
    f = Function("new", name, "ptr self, ptr args, i64 n, ptr names", module, linkage="")
    cell = f.word(f"cell{number}")
    f.ret(f.call("new", "dg_enter", cell, f.arg("self"), f.arg("args"), f.arg("n"), f.arg("names")))
    return f


def function_entry(module: Module) -> Function:
    """All native functions: their ``self`` is the cell."""
    f = Function("new", "dg_function", "ptr self, ptr args, i64 n, ptr names", module, linkage="")
    f.ret(f.call("new", "dg_enter", f.arg("self"), None, f.arg("args"), f.arg("n"), f.arg("names")))
    return f
