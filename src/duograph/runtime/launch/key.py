"""The key of a native call and the table of records, as LLVM text: ``dg_push``, ``dg_key`` and ``dg_find``."""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Label, Module, Value
from duograph.runtime.python.cpython import (
    ALIGNED,
    ARRAY_DTYPE,
    ARRAY_FLAGS,
    ARRAY_RANK,
    ARRAY_SHAPE,
    ARRAY_STRIDES,
    C_CONTIGUOUS,
    FLOAT_VALUE,
    LIST_ITEMS,
    SIZE,
    SLICE_PARTS,
    TUPLE_ITEMS,
    TYPE,
)

from .words import (
    FLOAT,
    FRAME,
    INT,
    LIST,
    MOST_KEY,
    MOST_NUMBERS,
    MOST_TENSORS,
    OBJECT,
    PROBES,
    RECORD,
    SLICE,
    STRIDED,
    TENSOR,
    TUPLE,
    WEAK_FLOAT,
    WEAK_INT,
    mixed,
)


def functions(module: Module) -> list[Function]:
    """The functions of this module."""
    return [_push(module), _key(module), _find(module)]


def _push(module: Module) -> Function:
    """``void dg_push(ptr frame, i64 word)``; whoever calls it has made sure that there is room."""
    f = Function("void", "dg_push", "ptr frame, i64 word", module)
    frame, word = f.arg("frame"), f.arg("word")
    count = f.get(frame, FRAME.count)
    f.store(word, frame, count * 8 + FRAME.key)
    f.set(frame, FRAME.count, count + 1)
    f.set(frame, FRAME.hash, mixed(f, f.get(frame, FRAME.hash), word))
    f.ret()
    return f


def _key(module: Module) -> Function:
    """``i64 dg_key(ptr frame, ptr object, i64 depth)``: adds an argument to the key; 0 if keys know no such thing."""
    f = Function("i64", "dg_key", "ptr frame, ptr object, i64 depth", module)
    frame, value, depth = f.arg("frame"), f.arg("object"), f.arg("depth")
    refuse, tensor = f.label("refuse"), f.label("tensor")

    def push(word: Value | int) -> None:
        f.call("void", "dg_push", frame, word)

    kind = f.get(value, TYPE)
    f.goto_if(kind.eq(f.word("Tensor")), tensor)
    f.goto_if(kind.eq(f.word("Parameter")), tensor)
    f.goto_if(f.get(frame, FRAME.count).gt(MOST_KEY - 8), refuse)
    is_weak = f.get(frame, FRAME.weak).gt(depth)  # in a list it is an element (`launcher._numbers_in`)
    with f.if_(kind.eq(f.word("float"))):
        with f.if_(is_weak):
            _take_number(f, frame, value, WEAK_FLOAT, refuse)
        push(FLOAT)
        push(f.get(value, FLOAT_VALUE))
        f.ret(1)
    with f.if_(kind.eq(f.word("int"))):
        with f.if_(is_weak):
            _take_number(f, frame, value, WEAK_INT, refuse)
        overflow = f.space("i32", 1)
        number = f.api("PyLong_AsLongLongAndOverflow", value, overflow)
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
            size = f.get(value, SIZE)
            f.goto_if(size.gt(MOST_KEY), refuse)
            push((size << 8) | tag)
            start = value + TUPLE_ITEMS if items is None else f.load("ptr", value, items)
            with f.times(size) as i:
                f.goto_if(f.call("i64", "dg_key", frame, f.load("ptr", start, i * 8), depth + 1).eq(0), refuse)
            f.ret(1)
    with f.if_(kind.eq(f.word("slice"))):
        push(SLICE)
        for k in range(3):
            part = f.load("ptr", value, SLICE_PARTS + 8 * k)
            f.goto_if(f.call("i64", "dg_key", frame, part, depth + 1).eq(0), refuse)
        f.ret(1)
    f.goto(refuse)
    f.place(by_identity)
    push(OBJECT)
    push(value.to("i64"))
    f.ret(1)

    f.place(tensor)
    data = f.get(value, f.slot("data"))
    f.goto_if(data.eq(None), refuse)
    f.goto_if(f.get(data, TYPE).ne(f.word("ndarray")), refuse)
    count = f.get(frame, FRAME.tensors)
    f.goto_if(count.eq(MOST_TENSORS), refuse)
    f.store(value, frame, count * 8 + FRAME.tensor)
    f.set(frame, FRAME.tensors, count + 1)
    rank = f.get(data, ARRAY_RANK).to("i64")
    f.goto_if((f.get(frame, FRAME.count) + rank * 2).gt(MOST_KEY - 4), refuse)
    plain, strided = f.const("i32", C_CONTIGUOUS | ALIGNED), f.label("strided")
    f.goto_if((f.get(data, ARRAY_FLAGS) & plain).ne(plain), strided)
    push((rank << 8) | TENSOR)
    push(f.get(data, ARRAY_DTYPE).to("i64"))
    with f.times(rank) as i:
        push(f.load("i64", f.get(data, ARRAY_SHAPE), i * 8))
    f.ret(1)
    f.place(strided)
    aligned = (f.get(data, ARRAY_FLAGS) & ALIGNED).to("i64")
    push((rank << 8) | (aligned << 16) | STRIDED)
    push(f.get(data, ARRAY_DTYPE).to("i64"))
    for field in (ARRAY_SHAPE, ARRAY_STRIDES):
        with f.times(rank) as i:
            push(f.load("i64", f.load("ptr", data, field), i * 8))
    f.ret(1)
    f.place(refuse)
    f.ret(0)
    return f


def _take_number(f: Function, frame: Value, value: Value, tag: int, refuse: Label) -> None:
    """A number that only stands for a tensor of its value: the key has its class."""
    count = f.get(frame, FRAME.numbers)
    f.goto_if(count.eq(MOST_NUMBERS), refuse)
    f.store(value, frame, count * 8 + FRAME.number)
    f.set(frame, FRAME.numbers, count + 1)
    f.call("void", "dg_push", frame, tag)
    f.ret(1)


def _find(module: Module) -> Function:
    """``ptr dg_find(ptr frame)``: the record of the frame's key; null if there is none."""
    f = Function("ptr", "dg_find", "ptr frame", module)
    frame = f.arg("frame")
    hashed, count = f.get(frame, FRAME.hash), f.get(frame, FRAME.count)
    start = f.emit("i64", f"lshr i64 {hashed}, {f.word('table_shift', 'i64')}")
    table, mask = f.word("table"), f.word("table_mask", "i64")
    with f.times(PROBES) as probe:
        place = table + ((start + probe) & mask) * 16
        record = f.load("ptr", place, 8)
        next_ = f.label("next")
        f.goto_if(f.load("i64", place).ne(hashed), next_)
        f.goto_if(record.eq(None), next_)
        f.goto_if(f.get(record, RECORD.count).ne(count), next_)
        key = f.get(record, RECORD.key)
        with f.times(count) as i:
            f.goto_if(f.load("i64", key, i * 8).ne(f.load("i64", frame, i * 8 + FRAME.key)), next_)
        f.ret(record)
        f.place(next_)
    f.ret(0)
    return f
