"""Making arrays, tensors, aliases and constants natively, as LLVM text: ``dg_tensor``, ``dg_array`` and others."""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Label, Memory, Module, Value
from duograph.runtime.python.cpython import (
    ALIGNED,
    ARRAY_DATA,
    ARRAY_FLAGS,
    ARRAY_HANDLER,
    C_CONTIGUOUS,
    FLOAT_VALUE,
    OWNS_DATA,
    TUPLE_ITEMS,
    TYPE,
    WRITEABLE,
)

from .words import (
    BY_PYTHON,
    CONSTANT,
    CONSTANTS,
    NUMBER,
    OUTPUT,
    TO_BFLOAT16,
    TO_FLOAT16,
    TO_FLOAT32,
    TO_FLOAT64,
    mixed,
)

_HALF_LEAST, _HALF_LARGEST, _INFINITY = 0x3F10000000000000, 0x40EFFC0000000000, 0x7FF0000000000000
"""Bits of doubles: the least and the largest normal number of float16; infinity."""

MEMORY = {"constants": Memory("i64", CONSTANT.n_words * CONSTANTS, 64)}


def functions(module: Module) -> list[Function]:
    """The functions of this module."""
    return [
        _tensor(module), _array(module), _view_array(module), _alias(module), _link(module), _view(module),
        _number(module),
    ]  # fmt: skip


def _tensor(module: Module) -> Function:
    """``new dg_tensor(steal array)``: a new Tensor that owns ``array``; null if it fails."""
    f = Function("new", "dg_tensor", "steal array", module, linkage="")
    made = f.api("PyType_GenericAlloc", f.word("Tensor"), 0)
    with f.if_(made.eq(None)):
        f.release(f.arg("array"))
        f.ret(0)
    none = f.word("None")
    f.set(made, f.slot("data"), f.arg("array"))
    f.set(made, f.slot("mark"), f.hold(none))
    f.set(made, f.slot("storage"), f.hold(f.get(f.word("clock"), f.slot("now"))))
    f.set(made, f.slot("view"), f.hold(none))
    f.ret(made)
    return f


def _array(module: Module) -> Function:
    """``new dg_array(ptr output)``: a new array of our memory, as an output of a step says; null if it fails."""
    f = Function("new", "dg_array", "ptr output", module, linkage="")
    output = f.arg("output")
    data = f.call("ptr", "dg_alloc", f.get(output, OUTPUT.bytes))
    with f.if_(data.eq(None)):
        f.ret(0)
    made = f.api(
        "PyArray_NewFromDescr",
        f.word("ndarray"),
        f.hold(f.get(output, OUTPUT.dtype)),
        f.get(output, OUTPUT.rank).to("i32"),
        f.get(output, OUTPUT.shape),
        None,
        data,
        C_CONTIGUOUS | ALIGNED | WRITEABLE,
        None,
    )
    with f.if_(made.eq(None)):
        f.call("void", "dg_free", data)
        f.ret(0)
    f.set(made, ARRAY_HANDLER, f.hold(f.word("handler")))
    f.set(made, ARRAY_FLAGS, f.get(made, ARRAY_FLAGS) | OWNS_DATA)
    f.ret(made)
    return f


def _view_array(module: Module) -> Function:
    """``new dg_view_array(ptr base, ptr output)``: an array that shows part of ``base``; null if it fails."""
    f = Function("new", "dg_view_array", "ptr base, ptr output", module)
    base, output = f.arg("base"), f.arg("output")
    writeable = f.get(base, ARRAY_FLAGS) & f.get(output, OUTPUT.flags).to("i32")
    made = f.api(
        "PyArray_NewFromDescr",
        f.word("ndarray"),
        f.hold(f.get(output, OUTPUT.dtype)),
        f.get(output, OUTPUT.rank).to("i32"),
        f.get(output, OUTPUT.shape),
        f.get(output, OUTPUT.strides),
        f.get(base, ARRAY_DATA) + f.get(output, OUTPUT.offset),
        writeable,
        None,
    )
    with f.if_(made.eq(None)):
        f.ret(0)
    with f.if_(f.api("PyArray_SetBaseObject", made, f.hold(base)).ne(0)):
        f.release(made)
        f.ret(0)
    f.ret(made)
    return f


def _alias(module: Module) -> Function:
    """``new dg_alias(ptr tensor)``: a reference to its alias, made now if need be; null if it fails."""
    f = Function("new", "dg_alias", "ptr tensor", module, linkage="")
    tensor = f.arg("tensor")
    storage = f.get(tensor, f.slot("storage"))
    with f.if_(f.get(storage, TYPE).eq(f.word("Alias"))):
        f.ret(f.hold(storage))
    made = f.api("PyType_GenericAlloc", f.word("Alias"), 0)
    with f.if_(made.eq(None)):
        f.ret(0)
    writes = f.api("PyList_New", 0)
    with f.if_(writes.eq(None)):
        f.release(made)
        f.ret(0)
    f.set(made, f.slot("version"), f.hold(f.word("0")))
    f.set(made, f.slot("writes"), writes)
    f.set(made, f.slot("serial"), f.hold(storage))
    now = f.get(tensor, f.slot("storage"))
    with f.if_(now.ne(storage)):  # making it collected garbage, and that gave the tensor its alias
        f.release(made)
        f.ret(f.call("new", "dg_alias", tensor))
    f.replace(tensor, f.slot("storage"), made)
    f.ret(f.hold(made))
    return f


def _link(module: Module) -> Function:
    """``i64 dg_link(ptr view, ptr parent, ptr op, ptr attrs)``: makes ``view`` a view of ``parent``, whose memory it
    shows; 0 if that fails."""
    f = Function("i64", "dg_link", "ptr view, ptr parent, ptr op, ptr attrs", module)
    view, parts = f.arg("view"), [f.arg(name) for name in ("parent", "op", "attrs")]
    alias = f.call("new", "dg_alias", parts[0])
    with f.if_(alias.eq(None)):
        f.ret(0)
    f.replace(view, f.slot("storage"), alias)
    link = f.api("PyType_GenericAlloc", f.word("ViewLink"), 3)
    with f.if_(link.eq(None)):
        f.ret(0)
    for k, part in enumerate(parts):
        f.store(f.hold(part), link, TUPLE_ITEMS + 8 * k)
    f.replace(view, f.slot("view"), link)
    f.ret(1)
    return f


def _view(module: Module) -> Function:
    """``new dg_view(ptr parent, ptr output, ptr op, ptr attrs, i64 detached)``: the tensor ``op(parent, **attrs)``, a
    view; null if it fails. ``detached``: gradients do not pass, so it is a view of that view, which stops them."""
    f = Function("new", "dg_view", "ptr parent, ptr output, ptr op, ptr attrs, i64 detached", module, linkage="")
    shown = f.call("new", "dg_view_array", f.get(f.arg("parent"), f.slot("data")), f.arg("output"))
    with f.if_(shown.eq(None)):
        f.ret(0)
    made = f.call("new", "dg_tensor", shown)
    with f.if_(made.eq(None)):
        f.ret(0)
    parts = f.arg("parent"), f.arg("op"), f.arg("attrs")
    linked, done = f.variable("i64", 0), f.label("done")
    with f.if_(f.arg("detached").eq(0)):
        linked.set(f.call("i64", "dg_link", made, *parts))
        f.goto(done)
    inner = f.call("new", "dg_tensor", f.hold(f.get(made, f.slot("data"))))
    f.goto_if(inner.eq(None), done)
    linked.set(f.call("i64", "dg_link", inner, *parts))
    with f.if_(linked.get().ne(0)):
        linked.set(f.call("i64", "dg_link", made, inner, f.word("stop"), f.word("{}")))
    f.release(inner)
    f.place(done)
    with f.if_(linked.get().eq(0)):
        f.release(made)
        f.ret(0)
    f.ret(made)
    return f


def _number(module: Module) -> Function:
    """``new dg_number(ptr number, ptr wanted)``: a reference to the 0-d tensor of a number, as a `words.NUMBER` wants
    it; null if it is no plain tensor, an int that the dtype does not have, or there is no memory, or Python has raised
    an error, which is set then."""
    f = Function("new", "dg_number", "ptr number, ptr wanted", module)
    number, wanted = f.arg("number"), f.arg("wanted")
    dtype, how = f.get(wanted, NUMBER.dtype), f.get(wanted, NUMBER.how)
    known = f.label("known")
    kind = f.get(number, TYPE)
    bits = f.variable("i64")
    with f.if_(kind.eq(f.word("float"))):
        bits.set(f.get(number, FLOAT_VALUE))
        f.goto(known)
    overflow = f.space("i32", 1)
    bits.set(f.api("PyLong_AsLongLongAndOverflow", number, overflow))
    with f.if_(
        f.load("i32", overflow).ne(0)
        | bits.get().gt(f.get(wanted, NUMBER.high))
        | bits.get().lt(f.get(wanted, NUMBER.low))
    ):
        f.ret(0)
    f.place(known)
    hashed = mixed(f, mixed(f, kind.to("i64"), dtype.to("i64")), bits.get()) >> 55
    place = f.memory("constants").at(hashed * CONSTANT.n_bytes).pointer
    other = f.label("other")
    f.goto_if(f.get(place, CONSTANT.dtype).ne(dtype), other)
    f.goto_if(f.get(place, CONSTANT.bits).ne(bits.get()), other)
    f.goto_if(f.get(place, CONSTANT.kind).ne(kind), other)
    f.ret(f.hold(f.get(place, CONSTANT.tensor)))
    f.place(other)
    filled, python = f.label("filled", "new"), f.label("python")
    f.goto_if(how.eq(BY_PYTHON), python)
    stored = _bits(f, bits.get(), kind.eq(f.word("float")), how, python)
    array = f.call("new", "dg_array", f.get(wanted, NUMBER.output))
    with f.if_(array.eq(None)):
        f.ret(0)
    f.store(stored, f.get(array, ARRAY_DATA))
    f.goto(filled, f.call("new", "dg_tensor", array))
    f.place(python)
    f.goto(filled, _constant(f, number, dtype))
    f.place(filled)
    made = filled.values[0]
    with f.if_(made.eq(None)):
        f.ret(0)
    before = f.take(place, CONSTANT.tensor)
    f.set(place, CONSTANT.dtype, dtype)  # dtypes and classes of numbers live for ever
    f.set(place, CONSTANT.bits, bits.get())
    f.set(place, CONSTANT.kind, kind)
    f.set(place, CONSTANT.tensor, f.hold(made))
    f.drop(before)
    f.ret(made)
    return f


def _bits(f: Function, bits: Value, is_float: Value, how: Value, python: Label) -> Value:
    """The word that begins with a number's bits in memory, rounded from the double that it is, or comes to.

    ``bits`` are those of a float, or the int. To ``python`` goes what is rare: NaN, and subnormals, in short types.
    """
    of_int = f.emit("i64", f"bitcast double {f.emit('double', f'sitofp i64 {bits} to double')} to i64")
    word = f.select(is_float, bits, of_int)
    double = f.emit("double", f"bitcast i64 {word} to double")
    single = f.emit("i32", f"bitcast float {f.emit('float', f'fptrunc double {double} to float')} to i32").to("i64")
    magnitude = word & ((1 << 63) - 1)
    is_zero = magnitude.eq(0)
    is_rare = (magnitude - _HALF_LEAST).below(_HALF_LARGEST - _HALF_LEAST).eq(0) & is_zero.eq(0) & how.eq(TO_FLOAT16)
    f.goto_if(is_rare | (magnitude.above(_INFINITY) & how.eq(TO_BFLOAT16)), python)
    rounded = (magnitude + ((1 << 41) - 1) + ((magnitude >> 42) & 1)) >> 42
    half = f.select(is_zero, f.const("i64", 0), rounded - ((1023 - 15) << 10)) | ((word >> 48) & 0x8000)
    brain = (single + 0x7FFF + ((single >> 16) & 1)) >> 16
    found = bits
    for way, stored in ((TO_FLOAT64, word), (TO_FLOAT32, single), (TO_BFLOAT16, brain), (TO_FLOAT16, half)):
        found = f.select(how.eq(way), stored, found)
    return found


def _constant(f: Function, number: Value, dtype: Value) -> Value:
    """What Python makes of a number, checked to be a plain tensor."""
    made = f.api("PyObject_CallFunctionObjArgs", f.word("constant"), number, dtype, None)
    with f.if_(made.eq(None)):
        f.ret(0)
    with f.if_(f.get(made, TYPE).ne(f.word("Tensor"))):
        f.release(made)
        f.ret(0)
    return made
