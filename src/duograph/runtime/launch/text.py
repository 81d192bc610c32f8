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

from duograph.runtime.python.asm import Function, Value, Words
from duograph.runtime.python.cpython import ARRAY_DATA, DICT_VERSION, LIST_ITEMS, SIZE, TUPLE_ITEMS

from . import key as launch_key
from . import objects as launch_objects
from . import tape as launch_tape
from .words import (
    C_ADDRESS,
    C_BUFFER_AT,
    C_BUFFERS,
    C_DIMS,
    CALL_WORDS,
    COUNT,
    FRAME_WORDS,
    HASH,
    KEY_AT,
    KEYWORD,
    MOST_BUFFERS,
    MOST_KEY,
    MOST_TENSORS,
    MOST_VALUES,
    NUMBER_AT,
    NUMBERS,
    OUTPUT_WORDS,
    R_CONSTANT_AT,
    R_CONSTANTS,
    R_COPIES,
    R_FUSED,
    R_NUMBER_TYPES,
    R_OWNER,
    R_PYTHON,
    R_RELEASE,
    R_RESULT,
    R_RESULTS,
    R_STEP_AT,
    R_STEPS,
    R_TELL,
    R_WAIT,
    S_ATTRS,
    S_CALL_AT,
    S_CALLS,
    S_COPY,
    S_OP,
    S_OPERAND_AT,
    S_OUTPUT_AT,
    S_OUTPUTS,
    S_TEMPORARIES,
    S_VIEW,
    STACK_TEMPORARIES,
    TENSOR_AT,
    TENSORS,
    WEAK,
    decref,
    incref,
    type_of,
    words_offset,
)  # fmt: skip

DECLARATIONS = launch_objects.DECLARATIONS


def functions(words: Words, versions: bool) -> list[Function]:
    """Everything but the entries of single methods (`method_entry`); ``versions``: whether dictionaries have them."""
    parts = (launch_key, launch_objects, launch_tape)
    return [
        *[f for part in parts for f in part.functions(words)],
        _ready(words, versions), _run(words), _python(words), _enter(words), function_entry(words),
    ]  # fmt: skip


def _ready(words: Words, versions: bool) -> Function:
    """``ptr dg_ready()``: the tape that records, or the place of the word ``enabled`` if none does, ``several`` if
    several do; null if Python has to decide, or has raised an error, which is set then."""
    f = Function("ptr", "dg_ready", "", words, linkage="")
    python = f.label("python")
    f.goto_if(f.word("enabled", "i64").eq(0), python)
    number = f.api("i64", "PyThreadState_GetID", f.api("ptr", "PyThreadState_Get"))
    with f.if_(f.word("thread", "i64").ne(number)):
        answer = f.api("ptr", "PyObject_CallNoArgs", f.word("enter_thread"))
        f.goto_if(answer.eq(None), python)
        decref(f, answer)
        f.goto_if(f.word("thread", "i64").ne(number), python)
    state, known = f.word("state"), f.label("known")
    if versions:  # what the dictionary held at this version is known
        now = f.load("i64", state, DICT_VERSION)
        f.goto_if(now.eq(f.word("state_version", "i64")), known)
    f.goto_if(f.api("ptr", "PyDict_GetItem", state, f.word("'binder'")).ne(f.word("None")), python)
    found = f.api("ptr", "PyDict_GetItem", state, f.word("'tapes'"))
    f.goto_if(found.eq(None), python)
    f.goto_if(type_of(f, found).ne(f.word("list")), python)
    f.store(found, f.word_place("state_tapes"))
    if versions:
        f.store(now, f.word_place("state_version"))
    f.place(known)
    tapes = f.word("state_tapes")
    count = f.load("i64", tapes, SIZE)
    with f.if_(count.eq(0)):
        f.ret(f.word_place("enabled"))
    items = f.load("ptr", tapes, LIST_ITEMS)
    with f.times(count) as i:
        f.goto_if(type_of(f, f.load("ptr", items, i * 8)).ne(f.word("Tape")), python)
    with f.if_(count.eq(1)):
        f.ret(f.load("ptr", items))
    f.ret(f.word_place("several"))
    f.place(python)
    f.ret(0)
    return f


def _run(words: Words) -> Function:
    """``ptr dg_run(ptr record, ptr frame, ptr tape)``: the result of a call; null if Python has to compute it,
    or has raised an error, which is set then."""
    f = Function("ptr", "dg_run", "ptr record, ptr frame, ptr tape", words)
    record, frame, tape = f.arg("record"), f.arg("frame"), f.arg("tape")
    values, arrays, variables = (f.space("ptr", MOST_VALUES) for _ in range(3))
    buffers = f.space("ptr", MOST_BUFFERS)
    stack = f.space("i8", STACK_TEMPORARIES, align=64)
    count = f.variable("i64", 0)  # of values that are there
    result = f.variable("ptr", 0)
    heap = f.variable("ptr", 0)
    taped = tape.ne(f.word_place("enabled"))
    tell = f.variable("i64", tape.eq(f.word_place("several")).to("i64") | f.load("i64", record, 8 * R_TELL))
    done, failed, raised = f.label("done"), f.label("failed"), f.label("raised")
    owner = incref(f, f.load("ptr", record, 8 * R_OWNER))

    def add(value: Value, copy: Value | None = None) -> Value:
        """The next value (whose reference is taken). Its array is held, so that nothing can take it away; kernels get
        a contiguous copy if ``copy`` is not 0."""
        n = count.get()
        array = f.load("ptr", value, words_offset("data"))
        held, taken = f.variable("ptr"), f.label("taken")
        if copy is not None:
            with f.if_(copy.ne(0)):
                held.set(f.api("ptr", "PyArray_NewCopy", array, ("i32", 0)))
                f.goto_if(held.get().ne(None), taken)
                decref(f, value)
                f.goto(failed)
        held.set(incref(f, array))
        f.place(taken)
        f.store(value, values, n * 8)
        f.store(held.get(), arrays, n * 8)
        f.store(0, variables, n * 8, type="ptr")
        count.set(n + 1)
        return n

    tensors, numbers = f.load("i64", frame, 8 * TENSORS), f.load("i64", frame, 8 * NUMBERS)
    copies = f.load("i64", record, 8 * R_COPIES)
    with f.times(tensors) as i:
        n = add(incref(f, f.load("ptr", frame, (i + TENSOR_AT) * 8)), (copies >> i) & 1)
        marked = f.label("marked")
        f.goto_if(tell.get().ne(0), marked)
        with f.if_(taped):
            place = variables + n * 8
            with f.if_(f.call("i64", "dg_mark", tape, f.load("ptr", values, n * 8), place).eq(0)):
                tell.set(1)  # Python finds out
        f.place(marked)
    with f.times(numbers) as i:
        dtype = f.load("ptr", f.load("ptr", record, 8 * R_NUMBER_TYPES), i * 8)
        made = f.call("ptr", "dg_number", f.load("ptr", frame, (i + NUMBER_AT) * 8), dtype)
        f.goto_if(made.eq(None), raised)
        add(made)
    with f.times(f.load("i64", record, 8 * R_CONSTANTS)) as i:
        add(incref(f, f.load("ptr", f.load("ptr", record, 8 * R_CONSTANT_AT), i * 8)))
    first_output = count.get()

    steps = f.load("i64", record, 8 * R_STEPS)
    with f.times(steps) as s:
        step = f.load("ptr", f.load("ptr", record, 8 * R_STEP_AT), s * 8)
        operand_at = f.load("ptr", step, 8 * S_OPERAND_AT)
        output_at = f.load("ptr", step, 8 * S_OUTPUT_AT)
        is_view = f.load("i64", step, 8 * S_VIEW)
        next_step = f.label("next_step")
        with f.if_(is_view.ne(0)):
            index = f.load("i64", operand_at) * 8
            parent = f.load("ptr", values, index)
            shown = f.call("ptr", "dg_view_array", f.load("ptr", parent, words_offset("data")), output_at)
            f.goto_if(shown.eq(None), failed)
            made = f.call("ptr", "dg_tensor", shown)
            f.goto_if(made.eq(None), failed)
            add(made, f.load("i64", step, 8 * S_COPY))
            alias = f.call("ptr", "dg_alias", parent)
            f.goto_if(alias.eq(None), failed)
            before = f.load("ptr", made, words_offset("storage"))
            f.store(alias, made, words_offset("storage"))
            decref(f, before)
            link = f.api("ptr", "PyType_GenericAlloc", f.word("ViewLink"), 3)
            f.goto_if(link.eq(None), failed)
            for k, part in enumerate((parent, f.load("ptr", step, 8 * S_OP), f.load("ptr", step, 8 * S_ATTRS))):
                f.store(incref(f, part), link, TUPLE_ITEMS + 8 * k)
            f.store(link, made, words_offset("view"))  # it held None
            decref(f, f.word("None"))
            f.goto(next_step)
        with f.times(f.load("i64", step, 8 * S_OUTPUTS)) as i:
            array = f.call("ptr", "dg_array", output_at + i * (8 * OUTPUT_WORDS))
            f.goto_if(array.eq(None), failed)
            made = f.call("ptr", "dg_tensor", array)
            f.goto_if(made.eq(None), failed)
            add(made)
        temporaries = f.variable("ptr", stack)
        wanted = f.load("i64", step, 8 * S_TEMPORARIES)
        with f.if_(wanted.gt(STACK_TEMPORARIES)):
            heap.set(f.call("ptr", "dg_alloc", wanted))
            f.goto_if(heap.get().eq(None), failed)
            temporaries.set(heap.get())
        status = f.variable("i32", 0)
        saved = f.variable("ptr", 0)
        release = f.load("i64", record, 8 * R_RELEASE).ne(0)
        with f.if_(release):
            saved.set(f.api("ptr", "PyEval_SaveThread"))
        with f.times(f.load("i64", step, 8 * S_CALLS)) as c:
            call = f.load("ptr", step, 8 * S_CALL_AT) + c * (8 * CALL_WORDS)
            buffer_at = f.load("ptr", call, 8 * C_BUFFER_AT)
            with f.times(f.load("i64", call, 8 * C_BUFFERS)) as b:
                source = f.load("i64", buffer_at, b * 8)
                temporary, stored = f.label("temporary"), f.label("stored")
                f.goto_if(f.const("i64", 0).gt(source), temporary)
                data = f.load("ptr", f.load("ptr", arrays, source * 8), ARRAY_DATA)
                f.store(data, buffers, b * 8)
                f.goto(stored)
                f.place(temporary)
                f.store(temporaries.get() + (f.const("i64", -1) - source), buffers, b * 8)
                f.place(stored)
            noted = f.call("i32", f.load("ptr", call, 8 * C_ADDRESS), buffers, f.load("ptr", call, 8 * C_DIMS))
            status.set(status.get() | noted)
        with f.if_(release):
            f.api("void", "PyEval_RestoreThread", saved.get())
        with f.if_(heap.get().ne(None)):
            f.call("void", "dg_free", heap.get())
            heap.set(0)
        f.goto_if(status.get().ne(0), failed)
        f.place(next_step)

    with f.if_(taped):
        output = f.variable("i64", first_output)
        with f.times(steps) as s:
            step = f.load("ptr", f.load("ptr", record, 8 * R_STEP_AT), s * 8)
            recorded = f.label("recorded")
            with f.if_(tell.get().ne(0)):
                f.goto_if(f.call("i64", "dg_tell", step, values, output.get()).eq(0), raised)
                f.goto(recorded)
            told = f.call("i64", "dg_record", tape, step, values, variables, output.get())
            f.goto_if(told.eq(0), failed)
            f.place(recorded)
            output.set(output.get() + f.load("i64", step, 8 * S_OUTPUTS))

    results, which = f.load("i64", record, 8 * R_RESULTS), f.load("ptr", record, 8 * R_RESULT)
    with f.if_(results.eq(0)):
        result.set(incref(f, f.load("ptr", values, which.to("i64") * 8)))
        f.goto(done)
    several = f.api("ptr", "PyTuple_New", results - 1)
    f.goto_if(several.eq(None), failed)
    with f.times(results - 1) as i:
        number, entry = f.load("i64", which, i * 8), f.variable("ptr", f.word("None"))
        with f.if_(number.gt(-1)):
            entry.set(f.load("ptr", values, number * 8))
        f.store(incref(f, entry.get()), several, i * 8 + TUPLE_ITEMS)
    result.set(several)
    f.goto(done)

    f.place(failed)
    f.api("void", "PyErr_Clear")
    f.place(raised)
    f.place(done)
    with f.times(count.get()) as i:
        decref(f, f.load("ptr", arrays, i * 8))
        decref(f, f.load("ptr", values, i * 8))
        variable = f.load("ptr", variables, i * 8)
        with f.if_(variable.ne(None)):
            decref(f, variable)
    decref(f, owner)
    f.ret(result.get())
    return f


def _python(words: Words) -> Function:
    """``ptr dg_python(ptr callable, ptr key, ptr first, ptr args, i64 n, ptr names)``: calls Python; ``key`` and
    ``first``, if not null, come before the arguments."""
    f = Function("ptr", "dg_python", "ptr callable, ptr key, ptr first, ptr args, i64 n, ptr names", words)
    names = f.arg("names")
    total = f.variable("i64", f.arg("n"))
    with f.if_(names.ne(None)):
        total.set(total.get() + f.load("i64", names, SIZE))
    room = f.emit("ptr", f"alloca ptr, i64 {total.get() + 3}, align 8")
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
    f.ret(f.api("ptr", "PyObject_Vectorcall", f.arg("callable"), room + 8, flagged, names))
    return f


def _enter(words: Words) -> Function:
    """``ptr dg_enter(ptr cell, ptr first, ptr args, i64 n, ptr names)``: a call of a native function. The cell is an
    object (`launch.Cell`): the Python function, what to call for an unknown key, and whether numbers are weak."""
    f = Function("ptr", "dg_enter", "ptr cell, ptr first, ptr args, i64 n, ptr names", words)
    cell, first, args, n, names = (f.arg(name) for name in ("cell", "first", "args", "n", "names"))
    python = f.label("python")
    tape = f.call("ptr", "dg_ready")
    f.goto_if(tape.eq(None), python)
    f.goto_if(n.gt(MOST_TENSORS * 2), python)
    frame = f.space("i64", FRAME_WORDS)
    for place in (COUNT, TENSORS, NUMBERS, HASH):
        f.store(0, frame, 8 * place)
    weak = f.load("ptr", cell, words_offset("weak_numbers")).eq(f.word("True"))
    f.store(weak.to("i64"), frame, 8 * WEAK)
    f.call("void", "dg_push", frame, cell.to("i64"))
    with f.if_(first.ne(None)):
        f.goto_if(f.call("i64", "dg_key", frame, first, 0).eq(0), python)
    with f.times(n) as i:
        f.goto_if(f.call("i64", "dg_key", frame, f.load("ptr", args, i * 8), 0).eq(0), python)
    with f.if_(names.ne(None)), f.times(f.load("i64", names, SIZE)) as i:
        f.goto_if(f.load("i64", frame).gt(MOST_KEY - 8), python)
        f.call("void", "dg_push", frame, KEYWORD)
        f.call("void", "dg_push", frame, f.load("ptr", names + i * 8, TUPLE_ITEMS).to("i64"))
        f.goto_if(f.call("i64", "dg_key", frame, f.load("ptr", args, (n + i) * 8), 0).eq(0), python)
    record = f.call("ptr", "dg_find", frame)
    with f.if_(record.eq(None)):
        f.bump("misses")
        size = (f.load("i64", frame) + (KEY_AT - HASH)) * 8
        key = f.api("ptr", "PyBytes_FromStringAndSize", frame + 8 * HASH, size)
        with f.if_(key.eq(None)):
            f.api("void", "PyErr_Clear")
            f.goto(python)
        answer = f.call("ptr", "dg_python", f.load("ptr", cell, words_offset("unknown")), key, first, args, n, names)
        decref(f, key)
        f.ret(answer)
    f.goto_if(f.load("i64", record, 8 * R_PYTHON).ne(0), python)
    chosen = f.variable("ptr", record)
    with f.if_(tape.eq(f.word_place("enabled"))):
        fused, wait = f.load("ptr", record, 8 * R_FUSED), f.load("i64", record, 8 * R_WAIT)
        with f.if_(fused.ne(None)):
            chosen.set(fused)
        with f.if_(wait.ne(0)):
            f.store(wait - 1, record, 8 * R_WAIT)
            with f.if_(wait.eq(1)):
                answer = f.api("ptr", "PyObject_CallOneArg", f.word("fuse"), f.load("ptr", record, 8 * R_OWNER))
                f.goto_if(answer.eq(None), python)
                decref(f, answer)
                f.goto(python)  # the record may be gone
    result = f.call("ptr", "dg_run", chosen.get(), frame, tape)
    f.goto_if(result.eq(None), python)
    f.bump("launches")
    f.ret(result)
    f.place(python)
    with f.if_(f.api("ptr", "PyErr_Occurred").ne(None)):
        f.ret(0)
    f.ret(
        f.call(
            "ptr", "dg_python", f.load("ptr", cell, words_offset("function")), ("ptr", "null"), first, args, n, names
        )
    )
    return f


def method_entry(words: Words, name: str, number: int) -> Function:
    """The native method number ``number``, whose cell stands in a word; the first argument is what it is called on."""
    f = Function("ptr", name, "ptr self, ptr args, i64 n, ptr names", words, linkage="")
    cell = f.word(f"cell{number}")
    f.ret(f.call("ptr", "dg_enter", cell, f.arg("self"), f.arg("args"), f.arg("n"), f.arg("names")))
    return f


def function_entry(words: Words) -> Function:
    """All native functions: their ``self`` is the cell."""
    f = Function("ptr", "dg_function", "ptr self, ptr args, i64 n, ptr names", words, linkage="")
    f.ret(f.call("ptr", "dg_enter", f.arg("self"), ("ptr", "null"), f.arg("args"), f.arg("n"), f.arg("names")))
    return f
