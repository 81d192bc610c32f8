"""Making arrays, tensors, aliases and constants natively, as LLVM text: ``dg_tensor``, ``dg_array`` and others."""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Value, Words
from duograph.runtime.python.cpython import (
    ALIGNED,
    ARRAY_DATA,
    ARRAY_FLAGS,
    ARRAY_HANDLER,
    C_CONTIGUOUS,
    FLOAT_VALUE,
    OWNS_DATA,
    WRITEABLE,
)

from .words import (
    CONSTANTS,
    O_BYTES,
    O_DTYPE,
    O_FLAGS,
    O_OFFSET,
    O_RANK,
    O_SHAPE,
    O_STRIDES,
    decref,
    incref,
    mixed,
    type_of,
    words_offset,
)  # fmt: skip

DECLARATIONS = (
    f"@constants = internal global [{4 * CONSTANTS} x i64] zeroinitializer, align 64",
    "declare i64 @llvm.fshl.i64(i64, i64, i64)",
)


def functions(words: Words) -> list[Function]:
    """The functions of this module."""
    return [_tensor(words), _array(words), _view_array(words), _alias(words), _number(words)]


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
    """``ptr dg_array(ptr output)``: a new array of our memory, as an output of a step says; null if it fails."""
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
    f = Function("ptr", "dg_alias", "ptr tensor", words, linkage="")
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
    """``ptr dg_number(ptr number, ptr dtype)``: a reference to the 0-d tensor of a number; null if it is
    no plain tensor, or Python has raised an error, which is set then."""
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
