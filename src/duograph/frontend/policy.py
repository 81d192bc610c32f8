"""Whose code is it? What the frontend interprets, what it runs as it is, and what it refuses.

* *user code* is interpreted statement by statement;
* *framework code* (this package) runs as it is with symbolic tensors, except the methods of Cells, which are
  interpreted like the user's: what they read is guarded, and what they change is tracked and repeated;
* *pure code* of the standard library and NumPy runs as it is on constants;
* everything else (I/O, clocks, random numbers of other libraries, extension modules) cannot become part of a graph.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import sysconfig
import types
import weakref
from typing import Any

from duograph.base.config import config
from duograph.base.source import is_internal_file, source_of_code

_PATHS = tuple(
    os.path.realpath(p) + os.sep
    for p in {sysconfig.get_path(n) for n in ("stdlib", "platstdlib", "purelib", "platlib")}
    if p
)

PURE_MODULES = {
    *("math", "cmath", "operator", "_operator", "functools", "_functools", "itertools", "builtins", "numbers", "re"),
    *("collections", "_collections", "collections.abc", "_collections_abc", "enum", "dataclasses", "typing"),
    *("typing_extensions", "copy", "copyreg", "string", "fractions", "decimal", "_decimal", "abc", "_abc", "types"),
    *("inspect", "textwrap", "contextlib", "statistics", "bisect", "_bisect", "heapq", "_heapq", "array", "struct"),
    *("_struct", "keyword", "reprlib", "json", "json.encoder", "json.decoder"),
    *("hashlib", "base64", "binascii", "posixpath", "ntpath", "genericpath", "ml_dtypes"),
}
IMPURE_NUMPY = ("numpy.random", "numpy.lib._npyio", "numpy.lib.npyio", "numpy.ctypeslib", "numpy.testing")


def module_kind(name: str | None) -> str:
    """``framework``, ``pure``, ``numpy``, ``other`` (library code that is not known to be pure) or ``user``."""
    if not name:
        return "pure"
    top = name.split(".")[0]
    if top == "duograph":
        return "framework"
    if top in _listed("jit_modules"):
        return "user"
    if top in _listed("jit_ignore_modules"):
        return "other"
    if name in PURE_MODULES:
        return "pure"
    if top == "numpy":
        return "other" if name.startswith(IMPURE_NUMPY) else "numpy"
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is not None and file is None and name != "__main__" and top in sys.builtin_module_names:
        return "other"
    if file is None:
        return "user" if name == "__main__" or module is None else "other"
    return file_kind(file)


def file_kind(file: str) -> str:
    """Like `module_kind`, for the file of a code object."""
    if is_internal_file(file):
        return "framework"
    if file.startswith("<"):
        return "other" if file.startswith("<frozen") else "user"
    path = os.path.realpath(file)
    if any(part in path for part in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")):
        return "other"
    return "other" if path.startswith(_PATHS) else "user"


def _listed(field: str) -> tuple[str, ...]:
    value = getattr(config(), field, None) or ()
    return tuple(value.split(",")) if isinstance(value, str) else tuple(value)


def function_kind(fn: types.FunctionType) -> str:
    """Kind of a Python function. Code without a file of its own (``exec``, generated methods) goes by its module."""
    kind = file_kind(fn.__code__.co_filename)
    if kind == "other":
        by_module = module_kind(fn.__module__)
        return by_module if by_module in ("pure", "numpy", "user") else "other"
    if kind == "user" and fn.__code__.co_filename.startswith("<"):
        if fn.__module__ in (None, "builtins"):  # made by exec in a bare namespace
            return "user"
        by_module = module_kind(fn.__module__)
        return by_module if by_module != "other" else "user"
    return kind


_user_classes: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


def is_user_class(cls: type) -> bool:
    """Whether instances of ``cls`` may run user code in their special methods."""
    found = _user_classes.get(cls)
    if found is None:
        found = _user_classes[cls] = _is_user_class(cls)
    return found


def _is_user_class(cls: type) -> bool:
    return any(
        not getattr(c, "__module__", "builtins").startswith("builtins") and module_kind(c.__module__) == "user"
        for c in cls.__mro__
    )


_GENERATED = {
    f"__{n}__" for n in ("init", "eq", "repr", "hash", "lt", "le", "gt", "ge", "setattr", "delattr", "replace", "new")
}


def is_generated(fn: types.FunctionType) -> bool:
    """Whether ``fn`` is a method that ``dataclasses`` or ``namedtuple`` wrote: it has no source, and no effects."""
    code = fn.__code__
    if code.co_filename.startswith("<") and fn.__name__ in _GENERATED:
        return source_of_code(code) is None
    return fn.__name__ in _GENERATED and code.co_filename == dataclasses.__file__


_SETTINGS = {"set_train", "set_grad", "add_flags", "add_flags_recursive", "to_float", "phase", "recompute"}
_METHODS = ("duograph.nn.optim.", "duograph.experimental.optim.", "duograph.nn.loss", "duograph.nn.layer.")


def is_interpreted(fn: Any) -> bool:
    """Whether a call of this Python function is interpreted."""
    if not isinstance(fn, types.FunctionType) or is_generated(fn):
        return False
    kind = function_kind(fn)
    if kind == "framework":
        name = fn.__name__
        if name in _SETTINGS or name == "cells_and_names":
            return fn.__module__.startswith("duograph.nn.")
        is_method = "." in fn.__qualname__ and not name.startswith("__")
        return name == "construct" or (is_method and fn.__module__.startswith(_METHODS))
    return kind == "user"
