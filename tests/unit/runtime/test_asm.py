"""Native text is checked while it is written: each kind of mistake is an error before anything runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest

from duograph.lower.target import current_target
from duograph.runtime.calls import text as call_text
from duograph.runtime.guards import text as guard_text
from duograph.runtime.launch import allocator_text
from duograph.runtime.launch import text as launch_text
from duograph.runtime.machine.llvm import TextError, compile_text
from duograph.runtime.python import asm, cpython
from duograph.runtime.python.asm import Function, Memory, Module
from duograph.runtime.python.structs import Field, Struct

PAIR = Struct("pair", left="ptr", count="i64")


def module(**more: object) -> Module:
    memory = {"bins": Memory("ptr", 4, 64), "count": Memory("i32")}
    return Module("words", objects={"None": None}, state=["calls"], memory=memory, **more)  # type: ignore[arg-type]


def function(m: Module, result: str = "new", params: str = "ptr a, i64 n") -> Function:
    f = Function(result, "f", params, m, linkage="")
    f.word("None")
    f.bump("calls")
    f.memory("bins").at(8).set(None)
    f.memory("count").change("add", 1, "monotonic")
    return f


def test_a_module_runs() -> None:
    """The example of the module's first lines: two references in a tuple, and a counted call."""
    m = Module("dg_words", objects={"None": None}, state=["calls"])
    f = Function("new", "dg_pair", "ptr a, ptr b", m, linkage="")
    made = f.api("PyTuple_New", 3)
    with f.if_(made.eq(None)):
        f.ret(None)
    for k, part in enumerate((f.arg("a"), f.arg("b"), f.word("None"))):
        f.store(f.hold(part), made, cpython.TUPLE_ITEMS + 8 * k)
    f.bump("calls")
    f.ret(made)
    loaded = m.load([f], ["dg_pair"])
    call = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)(loaded.address("dg_pair"))
    assert call("a", [1]) == ("a", [1], None)
    assert loaded.get("calls") == 1
    with pytest.raises(KeyError):
        loaded.set("cals", 1)


MISTAKES: dict[str, tuple[Callable[[Function], object], str]] = {
    "a word that nobody fills": (lambda f: f.word("Tensr"), "words has no word 'Tensr'"),
    "a C function that does not exist": (lambda f: f.api("PyTuple_Nw", 1), "no C function PyTuple_Nw"),
    "too few arguments": (lambda f: f.api("PyTuple_New"), "0 arguments for the 1 of PyTuple_New"),
    "a pointer for a number": (lambda f: f.api("PyTuple_New", f.arg("a")), "ptr where PyTuple_New wants i64"),
    "a number for a pointer": (lambda f: f.api("PyList_Append", f.arg("a"), 3), "i64 where PyList_Append wants ptr"),
    "a field of another type": (lambda f: f.set(f.arg("a"), PAIR.count, f.arg("a")), "ptr where pair.count wants i64"),
    "arithmetic on addresses": (lambda f: f.arg("a") - 1, "sub of ptr"),
    "a sum of two types": (lambda f: f.arg("n") + f.arg("n").to("i32"), "add of i64 and i32"),
    "a comparison of two types": (lambda f: f.arg("n").eq(f.arg("a")), "i64 compared with ptr"),
    "a load from a number": (lambda f: f.load("i64", f.arg("n")), "i64 as an address"),
    "memory that nobody declares": (lambda f: f.memory("bin"), "words has no memory 'bin'"),
    "a value of another type in memory": (lambda f: f.memory("bins").set(f.arg("n")), "i64 where @bins wants ptr"),
    "an atomic change by another type": (
        lambda f: f.memory("count").change("add", f.arg("n"), "seq_cst"), "i64 where @count wants i32",
    ),
    "a slot that nobody has": (lambda f: f.slot("data"), "words knows no slot 'data'"),
    "a release of what is borrowed": (lambda f: f.release(f.arg("a")), "the borrowed %a where Py_DecRef wants steal"),
    "a result that is borrowed": (lambda f: f.ret(f.arg("a")), "has only borrowed"),
    "a result of another type": (lambda f: f.ret(f.arg("n")), "i64 where its result wants ptr"),
    "values that a label does not take": (lambda f: f.goto(f.label("l", "ptr")), "0 values for 1"),
    "a call by address that does not fit": (
        lambda f: f.call_at("i32 (ptr, ptr)", f.arg("a"), f.arg("a")), "1 arguments for the 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found_where_it_is_made(name: str) -> None:
    make, message = MISTAKES[name]
    f = function(module())
    with pytest.raises(TextError, match=message.replace("(", r"\(")):
        make(f)


WHOLE: dict[str, tuple[Callable[[Function], object], str]] = {
    "a reference that is forgotten": (lambda f: f.api("PyList_New", 0), r"f does nothing with the references %v\d+ "),
    "a function that nobody defines": (lambda f: f.call("ptr", "dg_nothing"), "f calls dg_nothing, which nobody"),
    "an imported function of another type": (lambda f: f.call("ptr", "dg_given", 1), "i64 where dg_given wants ptr"),
    "another result than that of the callee": (lambda f: f.call("i64", "dg_given", None), "gives ptr, and not i64"),
    "a call of itself with too much": (lambda f: f.release(f.call("new", "f", None, 1, 2)), "3 arguments for the 2"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_mistake_is_found_when_the_module_is_whole(name: str) -> None:
    make, message = WHOLE[name]
    m = module(imports={"dg_given": "ptr (ptr)"})
    f = function(m)
    make(f)
    f.ret(None)
    with pytest.raises(TextError, match=message):
        m.text([f])


def test_words_that_nobody_uses_are_found() -> None:
    m = Module("words", objects={"None": None, "int": int})
    f = Function("ptr", "f", "", m)
    f.ret(f.word("None"))
    with pytest.raises(TextError, match="words: nobody uses int"):
        m.text([f])


def test_memory_is_shared_by_threads_with_orders() -> None:
    """A lock is taken once, and given back."""
    m = Module("dg_words", memory={"lock": Memory("i32", align=128)})
    take, leave = Function("i32", "dg_take", "", m, linkage=""), Function("void", "dg_leave", "", m, linkage="")
    take.ret(take.memory("lock").replace(0, 1, "acquire").to("i32"))
    leave.memory("lock").set(0, "release")
    leave.ret()
    assert "@lock = internal global i32 zeroinitializer, align 128" in m.text([take, leave])
    loaded = m.load([take, leave], ["dg_take", "dg_leave"])
    call = ctypes.CFUNCTYPE(ctypes.c_int32)
    taken = [call(loaded.address("dg_take"))() for _ in range(2)]
    ctypes.CFUNCTYPE(None)(loaded.address("dg_leave"))()
    assert (taken, call(loaded.address("dg_take"))()) == ([1, 0], 1)


def test_a_field_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="pair has no field rihgt"):
        _ = PAIR.rihgt
    assert (PAIR.count.word, PAIR.n_words, int(PAIR.count)) == (1, 2, 8)


def test_stolen_references_are_the_callee_s() -> None:
    """What a callee takes need not be released, and has to be ours."""
    m = module(imports={"dg_take": "void (steal)"})
    f = function(m)
    f.call("void", "dg_take", f.api("PyList_New", 0))
    f.ret(None)
    m.text([f])
    m = module(imports={"dg_take": "void (steal)"})
    f = function(m)
    f.call("void", "dg_take", f.arg("a"))
    f.ret(None)
    with pytest.raises(TextError, match="the borrowed %a where dg_take wants steal"):
        m.text([f])


SLOTS = {
    name: Field(name, "ptr", 16)
    for name in (
        "data", "mark", "storage", "view", "now", "version", "writes", "serial", "log", "token", "function", "unknown",
        "weak_numbers", "own", "of", "method", "native", "taped", "subject", "block",
        "instead", "way", "callee",
    )
}  # fmt: skip


@pytest.mark.parametrize("versions", [True, False])
@pytest.mark.parametrize("name", ["launch", "calls", "guards"])
def test_llvm_takes_every_text(name: str, versions: bool) -> None:
    """With and without versions of dictionaries, whichever this Python has; the verifier looks at it, too."""
    words = Words()
    if name == "launch":
        m = Module("words", slots=SLOTS, memory={**allocator_text.MEMORY, **launch_text.MEMORY})
        m.index = words
        functions = [*allocator_text.functions(m), *launch_text.functions(m, versions)]
    elif name == "calls":
        m = Module("words", slots=SLOTS, imports=call_text.IMPORTS, memory=call_text.MEMORY)
        m.index = words
        functions = call_text.functions(m, versions)
    else:
        m = Module("words", slots=SLOTS)
        m.index = words
        functions = guard_text.functions(m, versions, versions)
    assert compile_text(m.text(functions), current_target())


class Words(dict[str, int]):
    """Words as they are asked for: the real ones are objects of the engine."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def test_variadic_functions_are_called_as_such() -> None:
    """What follows the named parameters has the types of the values; a plain number is i64."""
    f = function(module())
    f.api("syscall", 202, f.arg("a"), f.const("i32", 1), 2, None)
    assert "call i64 (i64, ...) @c_syscall(i64 202, ptr %a, i32 1, i64 2, ptr null)" in f.text()
    f.release(f.api("PyObject_CallFunctionObjArgs", f.arg("a"), f.arg("a"), None))
    f.ret(None)
    assert "call ptr (ptr, ...) @c_PyObject_CallFunctionObjArgs(ptr %a, ptr %a, ptr null)" in f.text()
    assert asm.Signature.parse("new (ptr, ...)").is_variadic
