"""Telling gradient tapes about native calls, as LLVM text: ``dg_mark``, ``dg_record``, and ``dg_tell`` through Python.

``autodiff/tape.py`` says what marks are, and what stands in a tape's log.
"""

from __future__ import annotations

from duograph.autodiff.tape import SHORT_MARK_BITS
from duograph.runtime.python.asm import Function, Module, Value
from duograph.runtime.python.cpython import TUPLE_ITEMS, TYPE

from .words import STEP


def functions(module: Module) -> list[Function]:
    """The functions of this module."""
    return [_mark(module), _record(module), _tell(module)]


def version_of(f: Function, tensor: Value) -> Value:
    """The version of a tensor's storage, an int object; borrowed."""
    storage = f.get(tensor, f.slot("storage"))
    version = f.variable("ptr", f.word("0"))
    with f.if_(f.get(storage, TYPE).eq(f.word("Alias"))):
        version.set(f.get(storage, f.slot("version")))
    return version.get()


def int_of(f: Function, number: Value) -> Value:
    """The value of an int object that is not large."""
    return f.api("PyLong_AsLongLong", number)


def _mark(module: Module) -> Function:
    """``i64 dg_mark(ptr tape, ptr tensor, ptr variable)``: stores the tensor's variable, a new reference, or null if
    the tape does not watch it; 0 if the mark cannot tell."""
    f = Function("i64", "dg_mark", "ptr tape, ptr tensor, ptr variable", module)
    tape, tensor, variable = f.arg("tape"), f.arg("tensor"), f.arg("variable")
    none, token = f.word("None"), f.get(tape, f.slot("token"))
    up, other, long_mark, next_base, unsure = (f.label(x) for x in ("up", "other", "long_mark", "next_base", "unsure"))
    f.store(None, variable, type="ptr")
    base, mark = f.variable("ptr", tensor), f.variable("ptr", none)
    f.place(up)
    mark.set(f.get(base.get(), f.slot("mark")))
    f.place(other)
    f.goto_if(mark.get().eq(none), next_base)
    f.goto_if(f.get(mark.get(), TYPE).ne(f.word("int")), long_mark)
    f.goto_if((int_of(f, mark.get()) >> SHORT_MARK_BITS).ne(int_of(f, token)), next_base)
    f.goto_if(base.get().ne(tensor), unsure)
    f.goto_if(version_of(f, tensor).ne(f.word("0")), unsure)
    f.store(f.hold(mark.get()), variable)
    f.ret(1)
    f.place(long_mark)
    with f.if_(f.load("ptr", mark.get(), TUPLE_ITEMS).eq(token)):
        f.goto_if(base.get().ne(tensor), unsure)
        f.goto_if(f.load("ptr", mark.get(), TUPLE_ITEMS + 8).ne(version_of(f, tensor)), unsure)
        found = f.load("ptr", mark.get(), TUPLE_ITEMS + 16)
        f.goto_if(found.eq(none), unsure)
        f.store(f.hold(found), variable)
        f.ret(1)
    mark.set(f.load("ptr", mark.get(), TUPLE_ITEMS + 24))  # of another tape, which may be gone
    f.goto(other)
    f.place(next_base)  # a view of what the tape watches has a variable all the same
    view = f.get(base.get(), f.slot("view"))
    with f.if_(view.eq(none)):
        f.ret(1)
    base.set(f.load("ptr", view, TUPLE_ITEMS))
    f.goto(up)
    f.place(unsure)
    f.ret(0)
    return f


def _record(module: Module) -> Function:
    """``i64 dg_record(ptr tape, ptr step, ptr values, ptr variables, i64 output)``: records a step that has run, if it
    concerns the tape, and marks its output; 0 if that failed."""
    f = Function("i64", "dg_record", "ptr tape, ptr step, ptr values, ptr variables, i64 output", module)
    tape, step, values, variables = f.arg("tape"), f.arg("step"), f.arg("values"), f.arg("variables")
    failed = f.label("failed")
    operands, operand_at = f.get(step, STEP.operands), f.get(step, STEP.operand_at)
    with f.if_(f.get(step, STEP.recorded).eq(0)):
        f.ret(1)
    watched = f.variable("i64", 0)
    with f.times(operands) as i, f.if_(f.load("ptr", variables, f.load("i64", operand_at, i * 8) * 8).ne(None)):
        watched.set(watched.get() | (f.const("i64", 1) << i))
    with f.if_(watched.get().eq(0)):
        f.ret(1)
    none = f.word("None")
    out = f.load("ptr", values, f.arg("output") * 8)
    version = version_of(f, out)
    token = f.get(tape, f.slot("token"))
    number = f.bump("variables") & ((1 << SHORT_MARK_BITS) - 1)
    variable = f.api("PyLong_FromLongLong", (int_of(f, token) << SHORT_MARK_BITS) | number)
    f.goto_if(variable.eq(None), failed)
    f.store(variable, variables, f.arg("output") * 8)  # owned by the run from now on
    mark, marked = f.variable("ptr", f.hold(variable)), f.label("marked")
    f.goto_if(version.eq(f.word("0")), marked)
    f.release(mark.take())
    mark.set(f.api("PyTuple_New", 4))  # a view of what was written before
    f.goto_if(mark.get().eq(None), failed)
    for k, part in enumerate((token, version, variable, none)):
        f.store(f.hold(part), mark.get(), TUPLE_ITEMS + 8 * k)
    f.place(marked)
    f.replace(out, f.slot("mark"), mark.take())
    which = f.api("PyLong_FromLongLong", watched.get())
    f.goto_if(which.eq(None), failed)
    item = f.api("PyTuple_New", operands * 3 + 6)
    f.goto_if(item.eq(None), failed)
    f.store(which, item, TUPLE_ITEMS + 40)
    head = (f.get(step, STEP.op), f.get(step, STEP.attrs), out, variable, version)
    for k, part in enumerate(head):
        f.store(f.hold(part), item, TUPLE_ITEMS + 8 * k)
    with f.times(operands) as i:
        index = f.load("i64", operand_at, i * 8) * 8
        operand, held = f.load("ptr", values, index), f.variable("ptr", none)
        known = f.load("ptr", variables, index)
        with f.if_(known.ne(None)):
            held.set(known)
        place = item + (i * 24 + (TUPLE_ITEMS + 48))
        f.store(f.hold(operand), place)
        f.store(f.hold(held.get()), place, 8)
        f.store(f.hold(version_of(f, operand)), place, 16)
    log = f.get(tape, f.slot("log"))
    status = f.api("PyList_Append", log, item)
    f.release(item)
    f.goto_if(status.ne(0), failed)
    f.ret(1)
    f.place(failed)
    f.ret(0)
    return f


def _tell(module: Module) -> Function:
    """``i64 dg_tell(ptr step, ptr values, i64 output)``: has Python tell all tapes of a step that has run; 0 if that
    failed, with an error set if Python has raised one. For several tapes, several outputs, and operands whose marks do
    not say enough."""
    f = Function("i64", "dg_tell", "ptr step, ptr values, i64 output", module)
    step, values, output = f.arg("step"), f.arg("values"), f.arg("output")
    with f.if_(f.get(step, STEP.recorded).eq(0)):
        f.ret(1)
    operands, operand_at = f.get(step, STEP.operands), f.get(step, STEP.operand_at)
    ins = f.api("PyTuple_New", operands)
    with f.if_(ins.eq(None)):
        f.api("PyErr_Clear")
        f.ret(0)
    with f.times(operands) as i:
        operand = f.load("ptr", values, f.load("i64", operand_at, i * 8) * 8)
        f.store(f.hold(operand), ins, i * 8 + TUPLE_ITEMS)
    outputs = f.get(step, STEP.outputs)
    out, ready = f.variable("ptr"), f.label("ready")
    with f.if_(outputs.eq(1)):
        out.set(f.hold(f.load("ptr", values, output * 8)))
        f.goto(ready)
    out.set(f.api("PyTuple_New", outputs))
    with f.if_(out.get().eq(None)):
        f.api("PyErr_Clear")
        f.release(ins)
        f.ret(0)
    with f.times(outputs) as i:
        f.store(f.hold(f.load("ptr", values, (output + i) * 8)), out.get(), i * 8 + TUPLE_ITEMS)
    f.place(ready)
    op, attrs = f.get(step, STEP.op), f.get(step, STEP.attrs)
    answer = f.api("PyObject_CallFunctionObjArgs", f.word("tell"), op, ins, attrs, out.get(), None)
    f.release(ins)
    f.release(out.take())
    with f.if_(answer.eq(None)):
        f.ret(0)
    f.release(answer)
    f.ret(1)
    return f
