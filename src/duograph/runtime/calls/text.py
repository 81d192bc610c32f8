"""Calls of compiled functions without Python in between, as LLVM text.

``dg_call`` is what calling a compiled function runs (its class's ``tp_call``): it finds the versions that belong to the
function or, for a method, to the instance, and tries each (`calls.version`), unless Python has said where the next
calls go (`calls.instead`). Whatever is not foreseen goes to the function's own ``__call__`` in Python, which does the
same. What a Python function raises that is called here is what
the call raises: it may come from a signal handler (Ctrl-C), and a repeated call would not raise it again.
"""

from __future__ import annotations

from duograph.runtime.python.asm import Function, Memory, Module, Value
from duograph.runtime.python.cpython import ARRAY_DATA, DICT_VERSION, SIZE, TUPLE_ITEMS, TYPE

from . import effects as call_effects
from . import words as w
from .instead import dg_instead
from .version import dg_try

IMPORTS = {
    "dg_array": "new (ptr)", "dg_tensor": "new (steal)", "dg_ready": "ptr ()", "dg_alias": "new (ptr)",
    "dg_view": "new (ptr, ptr, ptr, ptr, i64)", "dg_check": "i64 (ptr, ptr, ptr, ptr, ptr)",
}  # fmt: skip
"""Functions of the launcher and the guard machine."""
MEMORY = {name: Memory("i64", length=None) for name in ("dg_quiet", "dg_detached", "dg_watched")}
"""What ``dg_ready`` gives if no tape records; the number 0 if gradients are taken, as ``dg_ready`` found it; whether
somebody may look at the lines of functions."""
STATE = ("config_found", "config_version")
TP_CALL = "new (ptr, ptr, ptr)"


def functions(module: Module, versions: bool) -> list[Function]:
    """All functions.

    Args:
        module: where they belong.
        versions: whether dictionaries have versions.
    """
    return [
        *call_effects.functions(module), dg_try(module), _config(module, versions), _serve(module),
        dg_instead(module), _store(module), _call(module), _bound(module), _get(module), _direct(module),
    ]  # fmt: skip


def _config(module: Module, versions: bool) -> Function:
    """``ptr dg_config()``: the configuration in force, borrowed; null if it is one of a `with` block."""
    f = Function("ptr", "dg_config", "", module)
    override = f.space("ptr", 1)
    failed = f.label("failed")
    told = f.api("PyContextVar_Get", f.word("override"), None, override)
    f.goto_if(told.ne(0), failed)
    value = f.take(override)
    f.goto_if(value.eq(None), failed)
    f.release(value)
    with f.if_(value.ne(f.word("None"))):
        f.ret(0)
    home = f.word("config_module")
    if versions:
        now = f.get(home, DICT_VERSION)
        with f.if_(now.eq(f.word("config_version", "i64"))):
            f.ret(f.word("config_found"))
        f.set_word("config_version", now)
    found = f.api("PyDict_GetItemWithError", home, f.word("'_process'"))
    f.goto_if(found.eq(None), failed)
    f.set_word("config_found", found)
    f.ret(found)
    f.place(failed)
    f.api("PyErr_Clear")
    f.ret(0)
    return f


def _serve(module: Module) -> Function:
    """``i64 dg_serve(ptr function, ptr subject, ptr first, ptr args, ptr keywords, ptr result)``: whether a version of
    the function, or of the instance ``subject`` if it is a method, has answered the call. While tapes record, those
    that tell them are tried.

    ``dg_ready`` runs Python when another thread was here last, which may let others run: they may replace the versions.
    So nothing is borrowed before, and what is borrowed after it is held before anything can run again.
    """
    f = Function("i64", "dg_serve", "ptr function, ptr subject, ptr first, ptr args, ptr keywords, ptr result", module)
    no = f.label("no")
    f.goto_if(f.load("i64", f.memory("dg_watched").pointer).ne(0), no)
    ready = f.call("ptr", "dg_ready")
    f.goto_if(ready.eq(None), no)
    recording = f.variable("i64", ready.ne(_quiet_place(f)).to("i64"))
    config = f.call("ptr", "dg_config")
    f.goto_if(config.eq(None), no)
    store = f.call("ptr", "dg_store", f.arg("function"), f.arg("subject"))
    f.goto_if(store.eq(None), no)
    versions = f.variable("ptr", f.get(store, f.slot("native")))
    with f.if_(recording.get().ne(0)):
        versions.set(f.get(store, f.slot("taped")))
    f.goto_if(versions.get().eq(None), no)
    f.goto_if(f.get(versions.get(), TYPE).ne(f.word("tuple")), no)
    held = f.hold(versions.get())
    answer, done = f.variable("i64", 0), f.label("done")
    count, place, guess = f.get(held, SIZE), f.variable("i64", -1), f.variable("i64", -1)
    with f.if_(count.gt(w.FEW)):
        guess.set(_follower(f, held, count))
    with f.if_(guess.get().below(count)):
        place.set(guess.get())
        answer.set(_tried(f, held, place.get(), config))
        f.goto_if(answer.get().ne(0), done)
    with f.times(count) as i, f.if_(i.ne(guess.get())):
        place.set(i)
        answer.set(_tried(f, held, i, config))
        f.goto_if(answer.get().ne(0), done)
    f.place(done)
    with f.if_(count.gt(w.FEW)), f.if_(answer.get().eq(1)):
        _note_follower(f, held, count, place.get())
    f.release(held)
    f.ret(answer.get().eq(1).to("i64"))
    f.place(no)
    f.ret(0)
    return f


def _tried(f: Function, versions: Value, place: Value, config: Value) -> Value:
    version = f.load("ptr", versions + place * 8, TUPLE_ITEMS)
    return f.call("i64", "dg_try", version, config, f.arg("first"), f.arg("args"), f.arg("keywords"), f.arg("result"))


def _block(f: Function, versions: Value, place: Value | int) -> Value:
    """The words of one of the ``versions``, a tuple."""
    version = f.load("ptr", versions + (place * 8), TUPLE_ITEMS)
    return f.get(f.get(version, f.slot("block")), ARRAY_DATA)


def _follower(f: Function, versions: Value, count: Value) -> Value:
    """Place of the version that is likely to hold: programs mostly go through their kinds of calls in turn, and a
    branch predictor with the history of one call knows the next. Past the end: not known.

    The places are hints: the tuple may be another one than the one that they were noted for.
    """
    found = f.variable("i64", f.get(_block(f, versions, 0), w.CALL.latest))
    with f.if_(found.get().below(count)):
        found.set(f.get(_block(f, versions, found.get()), w.CALL.follower))
    return found.get()


def _note_follower(f: Function, versions: Value, count: Value, place: Value) -> None:
    first = _block(f, versions, 0)
    latest = f.get(first, w.CALL.latest)
    with f.if_(latest.below(count)):
        f.set(_block(f, versions, latest), w.CALL.follower, place)
    f.set(first, w.CALL.latest, place)


def _quiet_place(f: Function) -> Value:
    return f.memory("dg_quiet").pointer


def _store(module: Module) -> Function:
    """``ptr dg_store(ptr function, ptr first)``: the versions of a function, or of the instance that is the first
    argument of a method; null if there are none, or Python has raised an error, which is set then."""
    f = Function("ptr", "dg_store", "ptr function, ptr first", module)
    no = f.label("no")
    key = f.get(f.arg("function"), f.slot("method"))
    f.goto_if(key.eq(None), no)
    with f.if_(key.eq(f.word("None"))):
        f.ret(f.get(f.arg("function"), f.slot("own")))
    f.goto_if(f.arg("first").eq(None), no)
    place = f.api("_PyObject_GetDictPtr", f.arg("first"))
    f.goto_if(place.eq(None), no)
    found = f.variable("ptr", f.load("ptr", place))
    for name in (f.word("'versions'"), key):
        f.goto_if(found.get().eq(None), no)
        f.goto_if(f.get(found.get(), TYPE).ne(f.word("dict")), no)
        found.set(f.api("PyDict_GetItemWithError", found.get(), name))
    f.goto_if(found.get().eq(None), no)
    f.goto_if(f.get(found.get(), TYPE).ne(f.word("Entries")), no)
    f.ret(found.get())
    f.place(no)
    f.ret(0)
    return f


def _call(module: Module) -> Function:
    """``tp_call`` of compiled functions."""
    f = Function("new", "dg_call", "ptr self, ptr args, ptr keywords", module, linkage="")
    first = f.variable("ptr", 0)
    with f.if_(f.get(f.arg("args"), SIZE).ne(0)):
        first.set(f.load("ptr", f.arg("args"), TUPLE_ITEMS))
    subject = f.get(f.arg("self"), f.slot("of"))
    given = f.select(subject.eq(f.word("None")), f.const("ptr", 0), subject)
    _answer(f, f.arg("self"), first.get(), given, f.const("ptr", 0), "plain_call")
    return f


def _bound(module: Module) -> Function:
    """``tp_call`` of methods that are bound to their instance."""
    f = Function("new", "dg_bound", "ptr self, ptr args, ptr keywords", module, linkage="")
    python, ready = f.label("python"), f.label("ready")
    function, subject = (f.load("ptr", f.arg("self"), f.slot(name)) for name in ("function", "subject"))
    f.goto_if(function.eq(None), python)
    f.goto_if(subject.eq(None), python)
    f.goto_if(f.get(function, TYPE).eq(f.word("JitFunction")), ready)
    f.place(python)
    f.ret(f.call_at(TP_CALL, f.word("plain_bound"), f.arg("self"), f.arg("args"), f.arg("keywords")))
    f.place(ready)
    _answer(f, function, subject, subject, subject, "plain_bound")
    return f


def _direct(module: Module) -> Function:
    """``tp_call`` of a single version (`NativeCall`), which knows itself what to do where it does not hold."""
    f = Function("new", "dg_direct", "ptr self, ptr args, ptr keywords", module, linkage="")
    python = f.label("python")
    f.goto_if(f.call("ptr", "dg_ready").ne(_quiet_place(f)), python)
    config = f.call("ptr", "dg_config")
    f.goto_if(config.eq(None), python)
    result = f.space("ptr", 1)
    answer = f.call("i64", "dg_try", f.arg("self"), config, f.const("ptr", 0), f.arg("args"), f.arg("keywords"), result)
    with f.if_(answer.eq(1)):
        f.ret(f.take(result))
    f.place(python)
    with f.if_(f.api("PyErr_Occurred").ne(None)):
        f.ret(0)
    f.ret(f.call_at(TP_CALL, f.word("plain_direct"), f.arg("self"), f.arg("args"), f.arg("keywords")))
    return f


def _get(module: Module) -> Function:
    """``tp_descr_get`` of compiled functions: a method bound to its instance."""
    f = Function("new", "dg_get", "ptr self, ptr subject, ptr owner", module, linkage="")
    this = f.label("this")
    f.goto_if(f.arg("subject").eq(None), this)
    f.goto_if(f.arg("subject").eq(f.word("None")), this)
    made = f.api("PyType_GenericAlloc", f.word("BoundJit"), 0)
    with f.if_(made.eq(None)):
        f.ret(0)
    f.set(made, f.slot("function"), f.hold(f.arg("self")))
    f.set(made, f.slot("subject"), f.hold(f.arg("subject")))
    f.ret(made)
    f.place(this)
    f.ret(f.hold(f.arg("self")))
    return f


def _answer(f: Function, function: Value, subject: Value, first: Value, bound: Value, plain: str) -> None:
    result = f.space("ptr", 1)
    gone = f.call("i64", "dg_instead", function, bound, f.arg("args"), f.arg("keywords"), result)
    with f.if_(gone.eq(1)):
        f.ret(f.take(result))
    python = f.label("python")
    f.goto_if(gone.ne(0), python)
    served = f.call("i64", "dg_serve", function, subject, first, f.arg("args"), f.arg("keywords"), result)
    with f.if_(served.ne(0)):
        f.ret(f.take(result))
    f.place(python)
    with f.if_(f.api("PyErr_Occurred").ne(None)):  # while the versions were looked for
        f.ret(0)
    f.ret(f.call_at(TP_CALL, f.word(plain), f.arg("self"), f.arg("args"), f.arg("keywords")))
