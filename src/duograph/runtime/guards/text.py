"""The guard machine as LLVM text: ``dg_check`` walks the words of a program, ``dg_guards`` is its Python function.

``dg_check`` gives 1 if the guards hold, 0 if one does not, and -1 with the error set if that is the caller's: errors of
reading a value say that it is not there any more, but a Ctrl-C, or what a signal handler raised (``judge``), says
nothing about it. The function of a ``python`` instruction has judged for itself: whatever it raises goes on.

If Python may run, every register that is loaded from somewhere owns a reference, which the caller finds in ``owned``
and releases. Otherwise references are borrowed: nothing can change before the caller lets Python run.

In a table that ``compare`` goes through, an entry fails or is the first of a group of checks, which ends in ``settle``.
(What the group was about was read before; if it changes meanwhile, the next call looks again.)
"""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Module, Value
from duograph.runtime.python.cpython import ARRAY_DATA
from duograph.runtime.python.rooms import room

from .operations import OPERATIONS, GuardCode
from .words import INSTRUCTION, PROGRAM

__all__ = ["functions"]


def functions(module: Module, versions: bool, class_versions: bool) -> list[Function]:
    """Both functions.

    Args:
        module: where they belong.
        versions: whether dictionaries have versions; else everything is looked up every time.
        class_versions: whether classes have.
    """
    return [_check(module, versions, class_versions), _guards(module)]


def _check(module: Module, versions: bool, class_versions: bool) -> Function:
    """``i64 dg_check(ptr program, ptr args, ptr registers, ptr owned, ptr count)``."""
    params = "ptr program, ptr args, ptr registers, ptr owned, ptr count"
    f = Function("i64", "dg_check", params, module, linkage="")
    program, registers = f.arg("program"), f.arg("registers")
    position, found = f.space("i64", 1), f.space("ptr", 1)
    owning = f.get(program, PROGRAM.runs_python).ne(0)
    with f.times(f.get(program, PROGRAM.args)) as i:
        f.store(f.load("ptr", f.arg("args"), i * 8), registers, i * 8)
    loop, following, fail = f.label("loop", "ptr"), f.label("next"), f.label("fail")
    taken, got, note = f.label("taken", "ptr"), f.label("got", "new"), f.label("note", "new")
    parts = {name: f.label(name) for name in OPERATIONS}

    (pc,) = f.place(loop, program + PROGRAM.n_bytes)
    number = f.get(pc, INSTRUCTION.operation)
    target, first, second = (f.get(pc, x) for x in (INSTRUCTION.target, INSTRUCTION.first, INSTRUCTION.second))
    m = GuardCode(
        f, versions, class_versions, pc, (target, first, second), registers + target * 8, registers + first * 8,
        position, found, {t: f.label("entry", "ptr") for t in ("i64", "i32")}, loop, following, fail, taken, got,
    )  # fmt: skip
    f.switch(number, list(parts.values()), fail)
    for name, part in OPERATIONS.items():
        f.place(parts[name])
        part(m)

    (borrowed,) = f.place(taken)
    f.store(borrowed, m.target)
    f.goto_unless(owning, following)
    f.goto(note, f.hold(borrowed))
    (fresh,) = f.place(got)
    f.store(fresh, m.target)
    f.goto_if(fresh.eq(None), fail)
    (reference,) = f.place(note, fresh)
    count = f.load("i64", f.arg("count"))
    f.store(reference, f.arg("owned"), count * 8)
    f.store(count + 1, f.arg("count"))
    f.place(following)
    f.goto(loop, pc + INSTRUCTION.n_bytes)
    f.place(fail)
    _judge(f, number.eq(list(OPERATIONS).index("python")))
    return f


def _judge(f: Function, has_judged: Value) -> None:
    """Code that answers 0, or -1 if an error is set that the caller raises."""
    no, raised, clear = f.label("no"), f.label("raised"), f.label("clear")
    f.goto_if(f.api("PyErr_Occurred").eq(None), no)
    f.goto_if(f.api("PyErr_ExceptionMatches", f.word("Exception")).eq(0), raised)
    f.goto_if(has_judged, raised)
    error = f.space("ptr", 3)  # type, value, traceback
    places = error, error + 8, error + 16
    f.api("PyErr_Fetch", *places)
    f.api("PyErr_NormalizeException", *places)
    value, trace = f.load("ptr", places[1]), f.load("ptr", places[2])
    f.goto_if(trace.eq(None), clear)
    f.api("PyException_SetTraceback", value, trace)
    verdict = f.api("PyObject_CallOneArg", f.word("judge"), value)
    with f.if_(verdict.eq(None)):  # interrupted
        for place in places:
            f.release(f.take(place))
        f.goto(raised)
    f.release(verdict)
    f.goto_if(verdict.ne(f.word("True")), clear)
    f.api("PyErr_Restore", *map(f.take, places))
    f.goto(raised)
    f.place(clear)
    for place in places[:2]:
        f.release(f.take(place))
    f.drop(f.take(places[2]))
    f.place(no)
    f.ret(0)
    f.place(raised)
    f.ret(-1)


def _guards(module: Module) -> Function:
    """``new dg_guards(ptr self, ptr args, i64 nargs, ptr keywords)``: releases what ``dg_check`` owns."""
    f = Function("new", "dg_guards", "ptr self, ptr args, i64 nargs, ptr keywords", module, linkage="")
    program = f.get(f.arg("self"), ARRAY_DATA)
    registers = f.get(program, PROGRAM.registers)
    count, answer, finish = f.space("i64", 1), f.variable("i64", 0), f.label("finish")
    f.store(0, count)
    rows, heap = room(f, registers * 2)
    owned = rows + registers * 8
    f.goto_if(rows.eq(None), finish)
    f.goto_if(f.arg("nargs").ne(f.get(program, PROGRAM.args)), finish)
    answer.set(f.call("i64", "dg_check", program, f.arg("args"), rows, owned, count))
    with f.times(f.load("i64", count)) as i:
        f.release(f.take(owned, i * 8))
    f.place(finish)
    f.api("PyMem_RawFree", heap.get())
    with f.if_(answer.get().lt(0)):
        f.ret(None)
    f.ret(f.hold(f.select(answer.get().ne(0), f.word("True"), f.word("False"))))
    return f
