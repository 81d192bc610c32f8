"""The eager launcher, as LLVM text: from a Python call to a kernel and back without running Python.

``dg_enter`` is what native methods call. It describes the arguments as a *key*: for each tensor its dtype and shape,
for each number, string, tuple ... its value. The key is looked up in a table of *records*: what a call with such
arguments comes to, as a list of steps, each an op with its kernels and where its operands come from. A call that the
table does not know goes to Python, which computes it and may add a record (``launch.py``); so does everything unusual:
a graph is being built, a tensor that is not contiguous, several tapes, a failing kernel. Python then does the same
work from the start, because nothing has happened yet that could be seen.

While one tape records, the launcher reads and writes the marks of tensors and appends to the tape's log
(``autodiff/tape.py`` describes both).

A key, a record and a step are arrays of words; the constants below say what stands where.
"""

from __future__ import annotations

from .cpython import (
    ALIGNED, ARRAY_DATA, ARRAY_DTYPE, ARRAY_FLAGS, ARRAY_HANDLER, ARRAY_RANK, ARRAY_SHAPE, ARRAY_STRIDES, C_CONTIGUOUS, FLOAT_VALUE,
    LIST_ITEMS, OWNS_DATA, SIZE, SLICE_PARTS, TUPLE_ITEMS, TYPE, WRITEABLE,
)  # fmt: skip
from .textbuilder import Function, Value, Words

# Tags of the words of a key. The second byte of TENSOR, STRIDED, TUPLE and LIST is the rank or length.
TENSOR, FLOAT, INT, OBJECT, TUPLE, LIST, SLICE, WEAK_FLOAT, WEAK_INT, KEYWORD, STRIDED = range(1, 12)

MOST_TENSORS, MOST_NUMBERS, MOST_KEY, MOST_VALUES, MOST_BUFFERS = 8, 4, 96, 32, 32
STACK_TEMPORARIES = 2048

# The frame of a call: counts, operands, and the key. In words.
COUNT, TENSORS, NUMBERS, WEAK, HASH = 0, 1, 2, 3, 4
TENSOR_AT = 8
NUMBER_AT = TENSOR_AT + MOST_TENSORS
KEY_AT = NUMBER_AT + MOST_NUMBERS
FRAME_WORDS = KEY_AT + MOST_KEY

# A record. Values are numbered: tensors of the call, numbers of the call, constants, then the outputs of the steps.
(
    R_COUNT, R_KEY, R_PYTHON, R_OWNER, R_CONSTANTS, R_CONSTANT_AT, R_NUMBER_TYPES, R_STEPS, R_STEP_AT, R_RESULT,
    R_RESULTS, R_RELEASE, R_COPIES, RECORD_WORDS,
) = range(14)  # fmt: skip
# R_COPIES has a bit for each tensor of the call that kernels need in one piece and that is not.
# A step: an op. Operands and buffers are numbers of values; a buffer below zero is an offset into temporaries, -1 is the
# first byte. S_COPY: kernels need this view in one piece. S_RECORDED: 0 if the op has no gradient, 1 if tapes record it, 2 if only Python can tell them.
(
    S_VIEW, S_OP, S_ATTRS, S_RECORDED, S_OPERANDS, S_OPERAND_AT, S_OUTPUTS, S_OUTPUT_AT, S_CALLS, S_CALL_AT,
    S_TEMPORARIES, S_COPY, STEP_WORDS,
) = range(13)  # fmt: skip
C_ADDRESS, C_BUFFERS, C_BUFFER_AT, C_DIMS, CALL_WORDS = range(5)
O_DTYPE, O_RANK, O_BYTES, O_SHAPE, O_STRIDES, O_OFFSET, O_FLAGS, OUTPUT_WORDS = range(8)

PROBES = 8
"""Places of the table that are looked at for a key."""

CONSTANTS = 512
"""Places of the table of numbers as tensors: dtype, bits, type, tensor."""

DECLARATIONS = (
    f"@constants = internal global [{4 * CONSTANTS} x i64] zeroinitializer, align 64",
    "declare i64 @llvm.fshl.i64(i64, i64, i64)",
)

MULTIPLIER = 0x9E3779B97F4A7C15 - (1 << 64)


def mixed(f: Function, hashed: Value, word: Value) -> Value:
    """The hash after one more word."""
    turned = f.emit("i64", f"call i64 @llvm.fshl.i64(i64 {hashed}, i64 {hashed}, i64 5)")
    return (turned ^ word) * MULTIPLIER


def functions(words: Words) -> list[Function]:
    """Everything but the entries of single methods (`entry`)."""
    return [
        _push(words), _key(words), _ready(words), _tensor(words), _array(words), _view_array(words), _alias(words),
        _number(words), _find(words), _mark(words), _record(words), _run(words), _python(words), _enter(words),
    ]  # fmt: skip


def incref(f: Function, value: Value) -> Value:
    f.api("void", "Py_IncRef", value)
    return value


def decref(f: Function, value: Value) -> None:
    f.api("void", "Py_DecRef", value)


def type_of(f: Function, value: Value) -> Value:
    return f.load("ptr", value, TYPE)


# ---- the key --------------------------------------------------------------------------------------------------------


def _push(words: Words) -> Function:
    """``void dg_push(ptr frame, i64 word)``; whoever calls it has made sure that there is room."""
    f = Function("void", "dg_push", "ptr frame, i64 word", words)
    frame, word = f.arg("frame"), f.arg("word")
    count = f.load("i64", frame)
    f.store(word, frame, (count + KEY_AT) * 8)
    f.store(count + 1, frame)
    f.store(mixed(f, f.load("i64", frame, 8 * HASH), word), frame, 8 * HASH)
    f.ret()
    return f


def _key(words: Words) -> Function:
    """``i64 dg_key(ptr frame, ptr object, i64 depth)``: adds an argument to the key; 0 if keys know no such thing."""
    f = Function("i64", "dg_key", "ptr frame, ptr object, i64 depth", words)
    frame, value, depth = f.arg("frame"), f.arg("object"), f.arg("depth")
    refuse, tensor = f.label("refuse"), f.label("tensor")

    def push(word: Value | int) -> None:
        f.call("void", "dg_push", frame, word)

    kind = type_of(f, value)
    f.goto_if(kind.eq(f.word("Tensor")), tensor)
    f.goto_if(kind.eq(f.word("Parameter")), tensor)
    f.goto_if(f.load("i64", frame).gt(MOST_KEY - 8), refuse)
    with f.if_(kind.eq(f.word("float"))):
        with f.if_(f.load("i64", frame, 8 * WEAK).ne(0)):
            _take_number(f, frame, value, WEAK_FLOAT, refuse)
        push(FLOAT)
        push(f.load("i64", value, FLOAT_VALUE))
        f.ret(1)
    with f.if_(kind.eq(f.word("int"))):
        with f.if_(f.load("i64", frame, 8 * WEAK).ne(0)):
            _take_number(f, frame, value, WEAK_INT, refuse)
        overflow = f.space("i32", 1)
        number = f.api("i64", "PyLong_AsLongLongAndOverflow", value, overflow)
        f.goto_if(f.load("i32", overflow).ne(0), refuse)
        push(INT)
        push(number)
        f.ret(1)
    by_identity = f.label("identity")
    for name in ("None", "True", "False", "Ellipsis"):
        f.goto_if(value.eq(f.word(name)), by_identity)
    for name in ("str", "Op", "Float", "Int", "Bool", "BFloat", "UInt", "Complex"):
        f.goto_if(kind.eq(f.word(name)), by_identity)
    f.goto_if(depth.gt(2), refuse)
    for name, tag, items in (("tuple", TUPLE, None), ("list", LIST, LIST_ITEMS)):
        with f.if_(kind.eq(f.word(name))):
            size = f.load("i64", value, SIZE)
            f.goto_if(size.gt(MOST_KEY), refuse)
            push((size << 8) | tag)
            start = value + TUPLE_ITEMS if items is None else f.load("ptr", value, items)
            with f.times(size) as i:
                f.goto_if(f.call("i64", "dg_key", frame, f.load("ptr", start, i * 8), depth + 1).eq(0), refuse)
            f.ret(1)
    with f.if_(kind.eq(f.word("slice"))):
        push(SLICE)
        for i in range(3):
            part = f.load("ptr", value, SLICE_PARTS + 8 * i)
            f.goto_if(f.call("i64", "dg_key", frame, part, depth + 1).eq(0), refuse)
        f.ret(1)
    f.goto(refuse)
    f.place(by_identity)
    push(OBJECT)
    push(value.to("i64"))
    f.ret(1)

    f.place(tensor)
    data = f.load("ptr", value, words_offset("data"))
    f.goto_if(data.eq(None), refuse)
    f.goto_if(type_of(f, data).ne(f.word("ndarray")), refuse)
    count = f.load("i64", frame, 8 * TENSORS)
    f.goto_if(count.eq(MOST_TENSORS), refuse)
    f.store(value, frame, (count + TENSOR_AT) * 8)
    f.store(count + 1, frame, 8 * TENSORS)
    rank = f.load("i32", data, ARRAY_RANK).to("i64")
    f.goto_if((f.load("i64", frame) + rank * 2).gt(MOST_KEY - 4), refuse)
    plain, strided = f.const("i32", C_CONTIGUOUS | ALIGNED), f.label("strided")
    f.goto_if((f.load("i32", data, ARRAY_FLAGS) & plain).ne(plain), strided)
    push((rank << 8) | TENSOR)
    push(f.load("i64", data, ARRAY_DTYPE))
    with f.times(rank) as i:
        push(f.load("i64", f.load("ptr", data, ARRAY_SHAPE), i * 8))
    f.ret(1)
    f.place(strided)
    push((rank << 8) | STRIDED)
    push(f.load("i64", data, ARRAY_DTYPE))
    for field in (ARRAY_SHAPE, ARRAY_STRIDES):
        with f.times(rank) as i:
            push(f.load("i64", f.load("ptr", data, field), i * 8))
    f.ret(1)
    f.place(refuse)
    f.ret(0)
    return f


def _take_number(f: Function, frame: Value, value: Value, tag: int, refuse: str) -> None:
    """A number that only stands for a tensor of its value: the key has its class."""
    count = f.load("i64", frame, 8 * NUMBERS)
    f.goto_if(count.eq(MOST_NUMBERS), refuse)
    f.store(value, frame, (count + NUMBER_AT) * 8)
    f.store(count + 1, frame, 8 * NUMBERS)
    f.call("void", "dg_push", frame, tag)
    f.ret(1)


_OFFSETS: dict[str, int] = {}


def words_offset(name: str) -> int:
    """Offset of a slot of our own classes: ``data``, ``mark``, ``storage``, ``view``, ``now``, ``log`` ..."""
    return _OFFSETS[name]


def set_offsets(offsets: dict[str, int]) -> None:
    """Offsets of slots are part of the text: another layout is another text."""
    _OFFSETS.update(offsets)


# ---- the state of the thread ----------------------------------------------------------------------------------------


def _ready(words: Words) -> Function:
    """``ptr dg_ready()``: the tape that records, the word block if none does, null if Python has to decide."""
    f = Function("ptr", "dg_ready", "", words)
    python = f.label("python")
    f.goto_if(f.word("enabled", "i64").eq(0), python)
    number = f.api("i64", "PyThreadState_GetID", f.api("ptr", "PyThreadState_Get"))
    with f.if_(f.word("thread", "i64").ne(number)):
        answer = f.api("ptr", "PyObject_CallNoArgs", f.word("enter_thread"))
        with f.if_(answer.eq(None)):
            f.api("void", "PyErr_Clear")
            f.goto(python)
        decref(f, answer)
        f.goto_if(f.word("thread", "i64").ne(number), python)
    state = f.word("state")
    f.goto_if(f.api("ptr", "PyDict_GetItem", state, f.word("'binder'")).ne(f.word("None")), python)
    tapes = f.api("ptr", "PyDict_GetItem", state, f.word("'tapes'"))
    f.goto_if(tapes.eq(None), python)
    f.goto_if(type_of(f, tapes).ne(f.word("list")), python)
    count = f.load("i64", tapes, SIZE)
    with f.if_(count.eq(0)):
        f.ret(f.word_place("enabled"))
    f.goto_if(count.ne(1), python)
    tape = f.load("ptr", f.load("ptr", tapes, LIST_ITEMS))
    f.goto_if(type_of(f, tape).ne(f.word("Tape")), python)
    f.ret(tape)
    f.place(python)
    f.ret(0)
    return f


# ---- making objects -------------------------------------------------------------------------------------------------


def _tensor(words: Words) -> Function:
    """``ptr dg_tensor(ptr array)``: a new Tensor that owns ``array`` (whose reference it takes); null if it fails."""
    f = Function("ptr", "dg_tensor", "ptr array", words, linkage="")
    made = f.api("ptr", "PyType_GenericAlloc", f.word("Tensor"), 0)
    with f.if_(made.eq(None)):
        decref(f, f.arg("array"))
        f.ret(0)
    none = f.word("None")
    f.store(f.arg("array"), made, words_offset("data"))
    f.store(incref(f, none), made, words_offset("mark"))
    f.store(incref(f, f.load("ptr", f.word("clock"), words_offset("now"))), made, words_offset("storage"))
    f.store(incref(f, none), made, words_offset("view"))
    f.ret(made)
    return f


def _array(words: Words) -> Function:
    """``ptr dg_array(ptr output)``: a new array of our memory, as an output of a step describes it; null if it fails."""
    f = Function("ptr", "dg_array", "ptr output", words, linkage="")
    output = f.arg("output")
    data = f.call("ptr", "dg_alloc", f.load("i64", output, 8 * O_BYTES))
    with f.if_(data.eq(None)):
        f.ret(0)
    made = f.api(
        "ptr",
        "PyArray_NewFromDescr",
        f.word("ndarray"),
        incref(f, f.load("ptr", output, 8 * O_DTYPE)),
        f.load("i64", output, 8 * O_RANK).to("i32"),
        f.load("ptr", output, 8 * O_SHAPE),
        ("ptr", "null"),
        data,
        ("i32", C_CONTIGUOUS | ALIGNED | WRITEABLE),
        ("ptr", "null"),
    )
    with f.if_(made.eq(None)):
        f.call("void", "dg_free", data)
        f.ret(0)
    f.store(incref(f, f.word("handler")), made, ARRAY_HANDLER)
    f.store(f.load("i32", made, ARRAY_FLAGS) | OWNS_DATA, made, ARRAY_FLAGS)
    f.ret(made)
    return f


def _view_array(words: Words) -> Function:
    """``ptr dg_view_array(ptr base, ptr output)``: an array that shows part of ``base``; null if it fails."""
    f = Function("ptr", "dg_view_array", "ptr base, ptr output", words)
    base, output = f.arg("base"), f.arg("output")
    writeable = f.load("i32", base, ARRAY_FLAGS) & f.load("i64", output, 8 * O_FLAGS).to("i32")
    made = f.api(
        "ptr",
        "PyArray_NewFromDescr",
        f.word("ndarray"),
        incref(f, f.load("ptr", output, 8 * O_DTYPE)),
        f.load("i64", output, 8 * O_RANK).to("i32"),
        f.load("ptr", output, 8 * O_SHAPE),
        f.load("ptr", output, 8 * O_STRIDES),
        f.load("ptr", base, ARRAY_DATA) + f.load("i64", output, 8 * O_OFFSET),
        writeable,
        ("ptr", "null"),
    )
    with f.if_(made.eq(None)):
        f.ret(0)
    with f.if_(f.api("i32", "PyArray_SetBaseObject", made, incref(f, base)).ne(0)):
        decref(f, made)
        f.ret(0)
    f.ret(made)
    return f


def _alias(words: Words) -> Function:
    """``ptr dg_alias(ptr tensor)``: a reference to its alias, made now if need be; null if it fails."""
    f = Function("ptr", "dg_alias", "ptr tensor", words)
    tensor = f.arg("tensor")
    storage = f.load("ptr", tensor, words_offset("storage"))
    with f.if_(type_of(f, storage).eq(f.word("Alias"))):
        f.ret(incref(f, storage))
    made = f.api("ptr", "PyType_GenericAlloc", f.word("Alias"), 0)
    with f.if_(made.eq(None)):
        f.ret(0)
    writes = f.api("ptr", "PyList_New", 0)
    with f.if_(writes.eq(None)):
        decref(f, made)
        f.ret(0)
    f.store(incref(f, f.word("0")), made, words_offset("version"))
    f.store(writes, made, words_offset("writes"))
    f.store(incref(f, storage), made, words_offset("serial"))
    now = f.load("ptr", tensor, words_offset("storage"))
    with f.if_(now.ne(storage)):  # making it collected garbage, and that gave the tensor its alias
        decref(f, made)
        f.ret(f.call("ptr", "dg_alias", tensor))
    f.store(made, tensor, words_offset("storage"))
    decref(f, storage)
    f.ret(incref(f, made))
    return f


def _number(words: Words) -> Function:
    """``ptr dg_number(ptr number, ptr dtype)``: a reference to the 0-d tensor of a number; null if it fails."""
    f = Function("ptr", "dg_number", "ptr number, ptr dtype", words)
    number, dtype = f.arg("number"), f.arg("dtype")
    make, known = f.label("make"), f.label("known")
    kind = type_of(f, number)
    bits = f.variable("i64")
    with f.if_(kind.eq(f.word("float"))):
        bits.set(f.load("i64", number, FLOAT_VALUE))
        f.goto(known)
    overflow = f.space("i32", 1)
    bits.set(f.api("i64", "PyLong_AsLongLongAndOverflow", number, overflow))
    f.goto_if(f.load("i32", overflow).ne(0), make)
    f.place(known)
    hashed = mixed(f, mixed(f, kind.to("i64"), dtype.to("i64")), bits.get()) >> 55
    place = f.emit("ptr", f"getelementptr i8, ptr @constants, i64 {hashed * 32}")
    other = f.label("other")
    f.goto_if(f.load("ptr", place).ne(dtype), other)
    f.goto_if(f.load("i64", place, 8).ne(bits.get()), other)
    f.goto_if(f.load("ptr", place, 16).ne(kind), other)
    f.ret(incref(f, f.load("ptr", place, 24)))
    f.place(other)
    made = _constant(f, number, dtype)
    before = f.load("ptr", place, 24)
    f.store(dtype, place)  # dtypes and classes of numbers live for ever
    f.store(bits.get(), place, 8)
    f.store(kind, place, 16)
    f.store(incref(f, made), place, 24)
    with f.if_(before.ne(None)):
        decref(f, before)
    f.ret(made)
    f.place(make)
    f.ret(_constant(f, number, dtype))
    return f


def _constant(f: Function, number: Value, dtype: Value) -> Value:
    """What Python makes of a number, checked to be a plain tensor."""
    made = f.api("ptr", "PyObject_CallFunctionObjArgs", f.word("constant"), number, dtype, ("ptr", "null"))
    with f.if_(made.eq(None)):
        f.ret(0)
    with f.if_(type_of(f, made).ne(f.word("Tensor"))):
        decref(f, made)
        f.ret(0)
    return made


# ---- tapes ----------------------------------------------------------------------------------------------------------


def version_of(f: Function, tensor: Value) -> Value:
    """The version of a tensor's storage, an int object; borrowed."""
    storage = f.load("ptr", tensor, words_offset("storage"))
    version = f.variable("ptr", f.word("0"))
    with f.if_(type_of(f, storage).eq(f.word("Alias"))):
        version.set(f.load("ptr", storage, words_offset("version")))
    return version.get()


def _mark(words: Words) -> Function:
    """``i64 dg_mark(ptr tape, ptr tensor, ptr variable)``: stores the tensor's variable, a new reference, or null if
    the tape does not watch it; 0 if the mark cannot tell."""
    f = Function("i64", "dg_mark", "ptr tape, ptr tensor, ptr variable", words)
    tape, tensor, variable = f.arg("tape"), f.arg("tensor"), f.arg("variable")
    none, marked, unsure = f.word("None"), f.label("marked"), f.label("unsure")
    f.store(0, variable, type="ptr")
    mark = f.load("ptr", tensor, words_offset("mark"))
    f.goto_if(mark.ne(none), marked)
    # No tape ever saw this tensor. A view of one that a tape did see has a variable all the same.
    base = f.variable("ptr", tensor)
    up = f.label("up")
    f.place(up)
    view = f.load("ptr", base.get(), words_offset("view"))
    with f.if_(view.eq(none)):
        f.ret(1)
    base.set(f.load("ptr", view, TUPLE_ITEMS))
    f.goto_if(f.load("ptr", base.get(), words_offset("mark")).ne(none), unsure)
    f.goto(up)
    f.place(marked)
    f.goto_if(f.load("ptr", mark, TUPLE_ITEMS).ne(f.load("ptr", tape, words_offset("token"))), unsure)
    f.goto_if(f.load("ptr", mark, TUPLE_ITEMS + 8).ne(version_of(f, tensor)), unsure)
    found = f.load("ptr", mark, TUPLE_ITEMS + 16)
    f.goto_if(found.eq(none), unsure)
    f.store(incref(f, found), variable)
    f.ret(1)
    f.place(unsure)
    f.ret(0)
    return f


def _record(words: Words) -> Function:
    """``i64 dg_record(ptr tape, ptr step, ptr values, ptr variables, i64 output)``: records a step that has run, if it
    concerns the tape, and marks its output; 0 if that failed."""
    f = Function("i64", "dg_record", "ptr tape, ptr step, ptr values, ptr variables, i64 output", words)
    tape, step, values, variables = f.arg("tape"), f.arg("step"), f.arg("values"), f.arg("variables")
    failed = f.label("failed")
    operands, operand_at = f.load("i64", step, 8 * S_OPERANDS), f.load("ptr", step, 8 * S_OPERAND_AT)
    recorded = f.load("i64", step, 8 * S_RECORDED)
    with f.if_(recorded.eq(0)):
        f.ret(1)
    watched = f.variable("i64", 0)
    with f.times(operands) as i:
        with f.if_(f.load("ptr", variables, f.load("i64", operand_at, i * 8) * 8).ne(None)):
            watched.set(1)
    with f.if_(watched.get().eq(0)):
        f.ret(1)
    f.goto_if(recorded.ne(1), failed)
    none = f.word("None")
    out = f.load("ptr", values, f.arg("output") * 8)
    version = version_of(f, out)
    variable = f.api("ptr", "PyLong_FromLongLong", f.bump("variables"))
    f.goto_if(variable.eq(None), failed)
    f.store(variable, variables, f.arg("output") * 8)  # owned by the run from now on
    mark = f.api("ptr", "PyTuple_New", 4)
    f.goto_if(mark.eq(None), failed)
    token = f.load("ptr", tape, words_offset("token"))
    for i, part in enumerate((token, version, variable, none)):
        f.store(incref(f, part), mark, TUPLE_ITEMS + 8 * i)
    f.store(mark, out, words_offset("mark"))  # it held None
    decref(f, none)
    item = f.api("ptr", "PyTuple_New", operands * 3 + 5)
    f.goto_if(item.eq(None), failed)
    head = (f.load("ptr", step, 8 * S_OP), f.load("ptr", step, 8 * S_ATTRS), out, variable, version)
    for i, part in enumerate(head):
        f.store(incref(f, part), item, TUPLE_ITEMS + 8 * i)
    with f.times(operands) as i:
        index = f.load("i64", operand_at, i * 8) * 8
        operand, held = f.load("ptr", values, index), f.variable("ptr", none)
        known = f.load("ptr", variables, index)
        with f.if_(known.ne(None)):
            held.set(known)
        place = item + (i * 24 + (TUPLE_ITEMS + 40))
        f.store(incref(f, operand), place)
        f.store(incref(f, held.get()), place, 8)
        f.store(incref(f, version_of(f, operand)), place, 16)
    log = f.load("ptr", tape, words_offset("log"))
    status = f.api("i32", "PyList_Append", log, item)
    decref(f, item)
    f.goto_if(status.ne(0), failed)
    f.ret(1)
    f.place(failed)
    f.ret(0)
    return f


# ---- running a record -----------------------------------------------------------------------------------------------


def _find(words: Words) -> Function:
    """``ptr dg_find(ptr frame)``: the record of the frame's key; null if there is none."""
    f = Function("ptr", "dg_find", "ptr frame", words)
    frame = f.arg("frame")
    hashed, count = f.load("i64", frame, 8 * HASH), f.load("i64", frame)
    start = f.emit("i64", f"lshr i64 {hashed}, {f.word('table_shift', 'i64')}")
    table, mask = f.word("table"), f.word("table_mask", "i64")
    with f.times(PROBES) as probe:
        place = table + ((start + probe) & mask) * 16
        record = f.load("ptr", place, 8)
        next_ = f.label("next")
        f.goto_if(f.load("i64", place).ne(hashed), next_)
        f.goto_if(record.eq(None), next_)
        f.goto_if(f.load("i64", record, 8 * R_COUNT).ne(count), next_)
        key = f.load("ptr", record, 8 * R_KEY)
        with f.times(count) as i:
            f.goto_if(f.load("i64", key, i * 8).ne(f.load("i64", frame, (i + KEY_AT) * 8)), next_)
        f.ret(record)
        f.place(next_)
    f.ret(0)
    return f


def _run(words: Words) -> Function:
    """``ptr dg_run(ptr record, ptr frame, ptr tape)``: the result of a call; null if Python has to compute it."""
    f = Function("ptr", "dg_run", "ptr record, ptr frame, ptr tape", words)
    record, frame, tape = f.arg("record"), f.arg("frame"), f.arg("tape")
    values, arrays, variables = (f.space("ptr", MOST_VALUES) for _ in range(3))
    buffers = f.space("ptr", MOST_BUFFERS)
    stack = f.space("i8", STACK_TEMPORARIES, align=64)
    count = f.variable("i64", 0)  # of values that are there
    result = f.variable("ptr", 0)
    heap = f.variable("ptr", 0)
    taped = tape.ne(f.word_place("enabled"))
    done, failed = f.label("done"), f.label("failed")
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
        with f.if_(taped):
            place = variables + n * 8
            f.goto_if(f.call("i64", "dg_mark", tape, f.load("ptr", values, n * 8), place).eq(0), failed)
    with f.times(numbers) as i:
        dtype = f.load("ptr", f.load("ptr", record, 8 * R_NUMBER_TYPES), i * 8)
        made = f.call("ptr", "dg_number", f.load("ptr", frame, (i + NUMBER_AT) * 8), dtype)
        f.goto_if(made.eq(None), failed)
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
            for i, part in enumerate((parent, f.load("ptr", step, 8 * S_OP), f.load("ptr", step, 8 * S_ATTRS))):
                f.store(incref(f, part), link, TUPLE_ITEMS + 8 * i)
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
            told = f.call("i64", "dg_record", tape, step, values, variables, output.get())
            f.goto_if(told.eq(0), failed)
            output.set(output.get() + f.load("i64", step, 8 * S_OUTPUTS))

    results, which = f.load("i64", record, 8 * R_RESULTS), f.load("ptr", record, 8 * R_RESULT)
    with f.if_(results.eq(0)):
        result.set(incref(f, f.load("ptr", values, which.to("i64") * 8)))
        f.goto(done)
    several = f.api("ptr", "PyTuple_New", results - 1)
    f.goto_if(several.eq(None), failed)
    with f.times(results - 1) as i:
        part = f.load("ptr", values, f.load("i64", which, i * 8) * 8)
        f.store(incref(f, part), several, i * 8 + TUPLE_ITEMS)
    result.set(several)
    f.goto(done)

    f.place(failed)
    f.api("void", "PyErr_Clear")
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


# ---- entering -------------------------------------------------------------------------------------------------------


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
        f.goto_if(key.eq(None), python)
        answer = f.call("ptr", "dg_python", f.load("ptr", cell, words_offset("unknown")), key, first, args, n, names)
        decref(f, key)
        f.ret(answer)
    f.goto_if(f.load("i64", record, 8 * R_PYTHON).ne(0), python)
    result = f.call("ptr", "dg_run", record, frame, tape)
    f.goto_if(result.eq(None), python)
    f.bump("launches")
    f.ret(result)
    f.place(python)
    f.api("void", "PyErr_Clear")
    f.ret(f.call("ptr", "dg_python", f.load("ptr", cell, words_offset("function")), ("ptr", "null"), first, args, n, names))
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

