"""Telling gradient tapes about native calls, as LLVM text: ``dg_mark``, ``dg_record``, and ``dg_tell`` through Python.

``autodiff/tape.py`` says what marks are, and what stands in a tape's log.
"""

from __future__ import annotations

from duograph.autodiff.tape import SHORT_MARK_BITS
from duograph.runtime.python.asm import Function, Value, Words
from duograph.runtime.python.cpython import TUPLE_ITEMS

from .words import (
    S_ATTRS,
    S_OP,
    S_OPERAND_AT,
    S_OPERANDS,
    S_OUTPUTS,
    S_RECORDED,
    decref,
    incref,
    type_of,
    words_offset,
)


def functions(words: Words) -> list[Function]:
    """The functions of this module."""
    return [_mark(words), _record(words), _tell(words)]


def version_of(f: Function, tensor: Value) -> Value:
    """The version of a tensor's storage, an int object; borrowed."""
    storage = f.load("ptr", tensor, words_offset("storage"))
    version = f.variable("ptr", f.word("0"))
    with f.if_(type_of(f, storage).eq(f.word("Alias"))):
        version.set(f.load("ptr", storage, words_offset("version")))
    return version.get()


def int_of(f: Function, number: Value) -> Value:
    """The value of an int object that is not large."""
    return f.api("i64", "PyLong_AsLongLong", number)


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
    long_mark = f.label("long_mark")
    f.goto_if(type_of(f, mark).ne(f.word("int")), long_mark)
    f.goto_if((int_of(f, mark) >> SHORT_MARK_BITS).ne(int_of(f, f.load("ptr", tape, words_offset("token")))), unsure)
    f.goto_if(version_of(f, tensor).ne(f.word("0")), unsure)
    f.store(incref(f, mark), variable)
    f.ret(1)
    f.place(long_mark)
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
    with f.if_(f.load("i64", step, 8 * S_RECORDED).eq(0)):
        f.ret(1)
    watched = f.variable("i64", 0)
    with f.times(operands) as i, f.if_(f.load("ptr", variables, f.load("i64", operand_at, i * 8) * 8).ne(None)):
        watched.set(watched.get() | (f.const("i64", 1) << i))
    with f.if_(watched.get().eq(0)):
        f.ret(1)
    none = f.word("None")
    out = f.load("ptr", values, f.arg("output") * 8)
    version = version_of(f, out)
    token = f.load("ptr", tape, words_offset("token"))
    number = f.bump("variables") & ((1 << SHORT_MARK_BITS) - 1)
    variable = f.api("ptr", "PyLong_FromLongLong", (int_of(f, token) << SHORT_MARK_BITS) | number)
    f.goto_if(variable.eq(None), failed)
    f.store(variable, variables, f.arg("output") * 8)  # owned by the run from now on
    mark, marked = f.variable("ptr", variable), f.label("marked")
    incref(f, variable)
    f.goto_if(version.eq(f.word("0")), marked)
    mark.set(f.api("ptr", "PyTuple_New", 4))  # a view of what was written before
    decref(f, variable)
    f.goto_if(mark.get().eq(None), failed)
    for k, part in enumerate((token, version, variable, none)):
        f.store(incref(f, part), mark.get(), TUPLE_ITEMS + 8 * k)
    f.place(marked)
    f.store(mark.get(), out, words_offset("mark"))  # it held None
    decref(f, none)
    which = f.api("ptr", "PyLong_FromLongLong", watched.get())
    f.goto_if(which.eq(None), failed)
    item = f.api("ptr", "PyTuple_New", operands * 3 + 6)
    f.goto_if(item.eq(None), failed)
    f.store(which, item, TUPLE_ITEMS + 40)
    head = (f.load("ptr", step, 8 * S_OP), f.load("ptr", step, 8 * S_ATTRS), out, variable, version)
    for k, part in enumerate(head):
        f.store(incref(f, part), item, TUPLE_ITEMS + 8 * k)
    with f.times(operands) as i:
        index = f.load("i64", operand_at, i * 8) * 8
        operand, held = f.load("ptr", values, index), f.variable("ptr", none)
        known = f.load("ptr", variables, index)
        with f.if_(known.ne(None)):
            held.set(known)
        place = item + (i * 24 + (TUPLE_ITEMS + 48))
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


def _tell(words: Words) -> Function:
    """``i64 dg_tell(ptr step, ptr values, i64 output)``: has Python tell all tapes of a step that has run; 0 if that
    failed, with an error set if Python has raised one. For several tapes, several outputs, and operands whose marks do
    not say enough."""
    f = Function("i64", "dg_tell", "ptr step, ptr values, i64 output", words)
    step, values, output = f.arg("step"), f.arg("values"), f.arg("output")
    with f.if_(f.load("i64", step, 8 * S_RECORDED).eq(0)):
        f.ret(1)
    operands, operand_at = f.load("i64", step, 8 * S_OPERANDS), f.load("ptr", step, 8 * S_OPERAND_AT)
    ins = f.api("ptr", "PyTuple_New", operands)
    with f.if_(ins.eq(None)):
        f.api("void", "PyErr_Clear")
        f.ret(0)
    with f.times(operands) as i:
        operand = f.load("ptr", values, f.load("i64", operand_at, i * 8) * 8)
        f.store(incref(f, operand), ins, i * 8 + TUPLE_ITEMS)
    outputs = f.load("i64", step, 8 * S_OUTPUTS)
    out, ready = f.variable("ptr"), f.label("ready")
    with f.if_(outputs.eq(1)):
        out.set(incref(f, f.load("ptr", values, output * 8)))
        f.goto(ready)
    out.set(f.api("ptr", "PyTuple_New", outputs))
    with f.if_(out.get().eq(None)):
        f.api("void", "PyErr_Clear")
        decref(f, ins)
        f.ret(0)
    with f.times(outputs) as i:
        f.store(incref(f, f.load("ptr", values, (output + i) * 8)), out.get(), i * 8 + TUPLE_ITEMS)
    f.place(ready)
    op, attrs = f.load("ptr", step, 8 * S_OP), f.load("ptr", step, 8 * S_ATTRS)
    answer = f.api("ptr", "PyObject_CallFunctionObjArgs", f.word("tell"), op, ins, attrs, out.get(), ("ptr", "null"))
    decref(f, ins)
    decref(f, out.get())
    with f.if_(answer.eq(None)):
        f.ret(0)
    decref(f, answer)
    f.ret(1)
    return f
