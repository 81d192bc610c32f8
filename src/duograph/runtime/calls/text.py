"""Calls of compiled functions without Python in between, as LLVM text.

``dg_call`` is what calling a compiled function runs (its class's ``tp_call``): it finds the versions that belong to the
function or, for a method, to the instance, and tries each (`calls.version`). Whatever is not foreseen goes to the
function's own ``__call__`` in Python, which does the same. What a Python function raises that is called here is what
the call raises: it may come from a signal handler (Ctrl-C), and a repeated call would not raise it again.
"""

from __future__ import annotations

from duograph.runtime.launch.words import decref, incref, type_of
from duograph.runtime.python.asm import Function, Value, Words
from duograph.runtime.python.cpython import DICT_VERSION, SIZE, TUPLE_ITEMS

from . import effects as call_effects
from .version import dg_try

LOWER = (
    "declare ptr @dg_array(ptr)", "declare ptr @dg_tensor(ptr)", "declare ptr @dg_ready()",
    "declare ptr @dg_alias(ptr)", "declare i64 @dg_check(ptr, ptr, ptr, ptr, ptr)", "@dg_quiet = external global i64",
)  # fmt: skip
"""Functions of the launcher and the guard machine; ``dg_quiet`` is what ``dg_ready`` gives if no tape records."""


def functions(words: Words, slots: dict[str, int], versions: bool) -> list[Function]:
    """All functions.

    Args:
        words: the block of words that they share with Python.
        slots: offsets of the slots of our classes.
        versions: whether dictionaries have versions.
    """
    return [
        *call_effects.functions(words, slots), dg_try(words, slots), _config(words, versions), _serve(words, slots),
        _store(words, slots), _call(words), _bound(words, slots), _get(words, slots),
    ]  # fmt: skip


def _config(words: Words, versions: bool) -> Function:
    """``ptr dg_config()``: the configuration in force, borrowed; null if it is one of a `with` block."""
    f = Function("ptr", "dg_config", "", words)
    override = f.space("ptr", 1)
    failed = f.label("failed")
    told = f.api("i32", "PyContextVar_Get", f.word("override"), ("ptr", "null"), override)
    f.goto_if(told.ne(0), failed)
    value = f.load("ptr", override)
    f.goto_if(value.eq(None), failed)
    decref(f, value)
    with f.if_(value.ne(f.word("None"))):
        f.ret(0)
    module = f.word("config_module")
    if versions:
        now = f.load("i64", module, DICT_VERSION)
        with f.if_(now.eq(f.word("config_version", "i64"))):
            f.ret(f.word("config_found"))
        f.store(now, f.word_place("config_version"))
    found = f.api("ptr", "PyDict_GetItemWithError", module, f.word("'_process'"))
    f.goto_if(found.eq(None), failed)
    f.store(found, f.word_place("config_found"))
    f.ret(found)
    f.place(failed)
    f.api("void", "PyErr_Clear")
    f.ret(0)
    return f


def _serve(words: Words, slots: dict[str, int]) -> Function:
    """``i64 dg_serve(ptr function, ptr subject, ptr first, ptr args, ptr keywords, ptr result)``: whether a version of
    the function, or of the instance ``subject`` if it is a method, has answered the call.

    ``dg_ready`` runs Python when another thread was here last, which may let others run: they may replace the versions.
    So nothing is borrowed before, and what is borrowed after it is held before anything can run again.
    """
    f = Function("i64", "dg_serve", "ptr function, ptr subject, ptr first, ptr args, ptr keywords, ptr result", words)
    no = f.label("no")
    f.goto_if(f.call("ptr", "dg_ready").ne(_quiet_place(f)), no)
    config = f.call("ptr", "dg_config")
    f.goto_if(config.eq(None), no)
    store = f.call("ptr", "dg_store", f.arg("function"), f.arg("subject"))
    f.goto_if(store.eq(None), no)
    versions = f.load("ptr", store, slots["native"])
    f.goto_if(versions.eq(None), no)
    f.goto_if(type_of(f, versions).ne(f.word("tuple")), no)
    incref(f, versions)
    answer, done = f.variable("i64", 0), f.label("done")
    with f.times(f.load("i64", versions, SIZE)) as i:
        version = f.load("ptr", versions + i * 8, TUPLE_ITEMS)
        answer.set(
            f.call("i64", "dg_try", version, config, f.arg("first"), f.arg("args"), f.arg("keywords"), f.arg("result"))
        )
        f.goto_if(answer.get().ne(0), done)
    f.place(done)
    decref(f, versions)
    f.ret(f.emit("i64", f"zext i1 {answer.get().eq(1)} to i64"))
    f.place(no)
    f.ret(0)
    return f


def _quiet_place(f: Function) -> Value:
    return Value(f, "ptr", "@dg_quiet")


def _store(words: Words, slots: dict[str, int]) -> Function:
    """``ptr dg_store(ptr function, ptr first)``: the versions of a function, or of the instance that is the first
    argument of a method; null if there are none, or Python has raised an error, which is set then."""
    f = Function("ptr", "dg_store", "ptr function, ptr first", words)
    no = f.label("no")
    key = f.load("ptr", f.arg("function"), slots["method"])
    f.goto_if(key.eq(None), no)
    with f.if_(key.eq(f.word("None"))):
        f.ret(f.load("ptr", f.arg("function"), slots["own"]))
    f.goto_if(f.arg("first").eq(None), no)
    place = f.api("ptr", "_PyObject_GetDictPtr", f.arg("first"))
    f.goto_if(place.eq(None), no)
    found = f.variable("ptr", f.load("ptr", place))
    for name in (f.word("'versions'"), key):
        f.goto_if(found.get().eq(None), no)
        f.goto_if(type_of(f, found.get()).ne(f.word("dict")), no)
        found.set(f.api("ptr", "PyDict_GetItemWithError", found.get(), name))
    f.goto_if(found.get().eq(None), no)
    f.goto_if(type_of(f, found.get()).ne(f.word("Entries")), no)
    f.ret(found.get())
    f.place(no)
    f.ret(0)
    return f


def _call(words: Words) -> Function:
    """``tp_call`` of compiled functions."""
    f = Function("ptr", "dg_call", "ptr self, ptr args, ptr keywords", words, linkage="")
    first = f.variable("ptr", 0)
    with f.if_(f.load("i64", f.arg("args"), SIZE).ne(0)):
        first.set(f.load("ptr", f.arg("args"), TUPLE_ITEMS))
    _answer(f, f.arg("self"), first.get(), f.const("ptr", 0), "plain_call")
    return f


def _bound(words: Words, slots: dict[str, int]) -> Function:
    """``tp_call`` of methods that are bound to their instance."""
    f = Function("ptr", "dg_bound", "ptr self, ptr args, ptr keywords", words, linkage="")
    python, ready = f.label("python"), f.label("ready")
    function, subject = (f.load("ptr", f.arg("self"), slots[name]) for name in ("function", "subject"))
    f.goto_if(function.eq(None), python)
    f.goto_if(subject.eq(None), python)
    f.goto_if(type_of(f, function).eq(f.word("JitFunction")), ready)
    f.place(python)
    f.ret(f.call("ptr", f.word("plain_bound"), f.arg("self"), f.arg("args"), f.arg("keywords")))
    f.place(ready)
    _answer(f, function, subject, subject, "plain_bound")
    return f


def _get(words: Words, slots: dict[str, int]) -> Function:
    """``tp_descr_get`` of compiled functions: a method bound to its instance."""
    f = Function("ptr", "dg_get", "ptr self, ptr subject, ptr owner", words, linkage="")
    this = f.label("this")
    f.goto_if(f.arg("subject").eq(None), this)
    f.goto_if(f.arg("subject").eq(f.word("None")), this)
    made = f.api("ptr", "PyType_GenericAlloc", f.word("BoundJit"), 0)
    with f.if_(made.eq(None)):
        f.ret(0)
    f.store(incref(f, f.arg("self")), made, slots["function"])
    f.store(incref(f, f.arg("subject")), made, slots["subject"])
    f.ret(made)
    f.place(this)
    f.ret(incref(f, f.arg("self")))
    return f


def _answer(f: Function, function: Value, subject: Value, first: Value, plain: str) -> None:
    result = f.space("ptr", 1)
    served = f.call("i64", "dg_serve", function, subject, first, f.arg("args"), f.arg("keywords"), result)
    with f.if_(served.ne(0)):
        f.ret(f.load("ptr", result))
    with f.if_(f.api("ptr", "PyErr_Occurred").ne(None)):  # while the versions were looked for
        f.ret(0)
    f.ret(f.call("ptr", f.word(plain), f.arg("self"), f.arg("args"), f.arg("keywords")))
