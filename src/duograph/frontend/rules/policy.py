"""Whose code is it? What the frontend interprets, what it runs as it is, and what it refuses.

* *user code* is interpreted statement by statement; so is what it calls of installed packages, wherever they lie, but
  for those with machine code that are not written against this one (SciPy): their functions end there;
* *framework code* (this package) runs as it is with symbolic tensors, except the methods of Cells, which are
  interpreted like the user's: what they read is guarded, and what they change is tracked and repeated;
* of *other code* (these, NumPy, and the standard library), functions that are known to be pure run as they are on
  constants (`purity`);
* everything else (I/O, clocks, random numbers of other libraries, extension modules) cannot become part of a graph.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import importlib.machinery
import os
import reprlib
import sys
import sysconfig
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from duograph.base.config import config
from duograph.base.lookup import raw_getattr
from duograph.base.source import PACKAGE_DIR, is_internal_file
from duograph.base.weak import WeakTable
from duograph.core.traits import said_of, traits_of

from .errors import Uncapturable
from .purity import NAMES
from .readers import only_reads

_PATHS = tuple(os.path.realpath(p) + os.sep for p in {sysconfig.get_path(n) for n in ("stdlib", "platstdlib")} if p)
_INSTALLED = tuple(f"{os.sep}{folder}{os.sep}" for folder in ("site-packages", "dist-packages"))
_MACHINE_CODE = tuple(importlib.machinery.EXTENSION_SUFFIXES)
_WITH_RULES = {name.split(".")[0] for name in (*NAMES, "numpy")}
"""What `purity` has tables of."""


def module_kind(name: str | None) -> str:
    """``framework``, ``user``, or ``other``: the standard library, packages with machine code, extension modules."""
    if not name:
        return "other"
    top = name.split(".")[0]
    if top == "duograph":
        return _kind_of_ours(name)
    if switched := _switched(name):
        return switched
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if module is not None and file is None and name != "__main__" and top in sys.builtin_module_names:
        return "other"
    if file is None:
        return "user" if name == "__main__" or module is None or _is_made_by_exec(module) else "other"
    return _kind_in(_place(file), name)


def _is_made_by_exec(module: Any) -> bool:
    """Whether a module without a file holds what `exec` was given: Python puts its built-in functions there."""
    origin = raw_getattr(raw_getattr(module, "__spec__"), "origin")
    return "__builtins__" in raw_getattr(module, "__dict__", ()) and origin != "frozen"


@functools.lru_cache(4096)
def _place(file: str) -> str:
    """The kind of what stands in a file: `module_kind`'s, or ``installed``, where the package decides."""
    if is_internal_file(file):
        return _kind_of_ours(f"duograph.{file[len(PACKAGE_DIR) :].removesuffix('.py').replace(os.sep, '.')}")
    if file.startswith("<"):
        return "other" if file.startswith("<frozen") else "user"
    path = os.path.realpath(file)
    if path.endswith(_MACHINE_CODE):
        return "other"
    if any(part in path for part in _INSTALLED):
        return "installed"
    return "other" if path.startswith(_PATHS) else "user"


def _kind_in(place: str, module: str) -> str:
    """The kind of a module in a place."""
    if place != "installed":
        return place
    top = module.split(".", maxsplit=1)[0]
    if top in _WITH_RULES or (not _is_written_against_us(top) and _has_machine_code(top)):
        return "other"
    return "user"


@functools.lru_cache(4096)
def _kind_of_ours(name: str) -> str:
    """``user`` for a module of this package that is a program (`Traits.program`)."""
    return "user" if traits_of(name).program else "framework"


def _switched(name: str) -> str:
    """The kind that ``MS_JIT_MODULES`` or ``MS_JIT_IGNORE_MODULES`` gives to a module; the longer name counts."""
    settings = config()
    if not settings.jit_modules and not settings.jit_ignore_modules:
        return ""
    wanted = _longest(settings.jit_modules, name)
    ignored = _longest(settings.jit_ignore_modules, name)
    return "" if not wanted and not ignored else "user" if wanted >= ignored else "other"


def _longest(listed: tuple[str, ...], name: str) -> int:
    """The length of the longest of the listed names that is ``name``, or a package around it."""
    return max((len(n) for n in listed if f"{name}.".startswith(f"{n}.")), default=0)


def _of_package(holds: Callable[[Any], bool]) -> Callable[[str], bool]:
    """A question about a package: whether something holds for one of its modules that are loaded."""
    known: dict[str, tuple[int, bool]] = {}

    def asked(top: str) -> bool:
        count, found = known.get(top, (0, False))
        if not found and count != len(sys.modules):
            modules = [m for name, m in list(sys.modules.items()) if f"{name}.".startswith(f"{top}.")]
            known[top] = len(sys.modules), (found := any(map(holds, modules)))
        return found

    return asked


def _is_ours(value: Any) -> bool:
    """Whether a variable of a module holds a module, function or class of this package."""
    if not issubclass(type(value), types.ModuleType | types.FunctionType | type):
        return False
    name = raw_getattr(value, "__name__" if issubclass(type(value), types.ModuleType) else "__module__")
    return type(name) is str and name.split(".")[0] in ("duograph", "mindspore")


_has_machine_code = _of_package(lambda module: str(raw_getattr(module, "__file__", "")).endswith(_MACHINE_CODE))
_is_written_against_us = _of_package(
    lambda module: any(map(_is_ours, list(raw_getattr(module, "__dict__", {}).values())))
)


def is_library(fn: types.FunctionType) -> bool:
    """Whether a function is of an installed package that is not written against this one.

    It is interpreted where a program that is captured calls it, and is not compiled by itself: most of what such
    packages do (files, tables, progress bars) would be looked at in vain.
    """
    name = _home(fn)
    if _switched(name) or _requested.get(fn.__code__):
        return False
    is_installed = _place(fn.__code__.co_filename) == "installed"
    return is_installed and not _is_written_against_us(name.split(".", maxsplit=1)[0])


def how_to_compile(module: str) -> str:
    """What to set so that functions of a module are interpreted, as part of a reason; empty where nobody would."""
    if _switched(module) == "other":
        return ": MS_JIT_IGNORE_MODULES names it"
    top = module.split(".", maxsplit=1)[0]
    is_installed = _place(str(raw_getattr(sys.modules.get(module), "__file__", "<"))) == "installed"
    return f" (MS_JIT_MODULES={top} has it compiled)" if is_installed and top not in _WITH_RULES else ""


_requested: WeakTable[types.CodeType, bool] = WeakTable()


def request(fn: types.FunctionType) -> None:
    """Somebody wants this function compiled: it is interpreted wherever it lies, also where compiled code calls it."""
    _requested[fn.__code__] = True


def _home(fn: types.FunctionType) -> str:
    """The module that a function is written in; ``__module__`` is that of what it wraps, perhaps."""
    name = fn.__globals__.get("__name__")
    return name if isinstance(name, str) else str(fn.__module__ or "")


_ORDERINGS = {id(fn.__code__) for made in vars(functools)["_convert"].values() for _, fn in made}
"""What `functools.total_ordering` gives classes of users: it calls their methods. By identity: code that ``replace``
has given a list among its constants has no hash."""


def function_kind(fn: types.FunctionType) -> str:
    """Kind of a Python function. Code without a file of its own (``exec``, generated methods) goes by its module."""
    kind = _place(fn.__code__.co_filename)
    if kind == "framework":
        return kind
    if id(fn.__code__) in _ORDERINGS:
        return "user"
    home = _home(fn)
    kind = _switched(home) or _kind_in(kind, home)
    if kind == "other":
        by_module = module_kind(fn.__module__)
        return "user" if by_module == "user" or _requested.get(fn.__code__) else "other"
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
    for c in cls.__mro__:
        module = getattr(c, "__module__", "builtins")
        if module == "builtins":
            if _flags(c) & _HEAP_TYPE and vars(builtins).get(c.__name__) is not c:
                return True
        elif module_kind(module) == "user" or (module == "types" and "__dataclass_fields__" in vars(c)):
            return True  # the latter: 3.11 leaves it at that in `make_dataclass`
    return False


def is_builtin_class(cls: Any) -> bool:
    """Whether ``cls`` is a class like ``list``. (``__module__`` is ``builtins`` in a bare namespace of `exec`, too.)"""
    return isinstance(cls, type) and cls.__module__ == "builtins" and not is_user_class(cls)


_flags = type.__dict__["__flags__"].__get__  # as they are: what a metaclass does about attributes must not run
_order = type.__dict__["__mro__"].__get__
_members = type.__dict__["__dict__"].__get__
_dictionary_offset = type.__dict__["__dictoffset__"].__get__
_LOOKS = ("__getattribute__", "__class__", "__dict__")
_NATIVE = (types.WrapperDescriptorType, types.GetSetDescriptorType)


def look_of(kind: type) -> str:
    """What the user has defined that runs, or misleads, whenever code of ours looks at an object of class ``kind``.

    ``isinstance(x, C)`` asks ``x.__class__``, ``getattr`` and ``hasattr`` ask ``__getattribute__``. So this is asked
    first, and looks at nothing but what the classes hold (those of an object, and those of its class, which are
    asked for ``__mro__`` and the like).

    Returns:
        The name of what is defined; empty if there is none, as a rule.
    """
    if not _flags(kind) & _HEAP_TYPE:
        return "__getattribute__" if kind in weakref.ProxyTypes else ""  # another object answers, as long as it lives
    for base in _order(kind):
        if not _flags(base) & _HEAP_TYPE:
            continue
        held = _members(base)
        for name in _LOOKS:
            if name in held and type(held[name]) not in _NATIVE:
                return name
        if "__getattr__" in held and not _dictionary_offset(kind):  # it is asked for a missing __dict__, and others
            return "__getattr__"
    meta = type(kind)
    return "" if meta is type else look_of(meta) or _look_at_classes(meta)


_VALUES = (int, float, complex, str, bytes, tuple, list, dict, set, frozenset, deque)
_HELD = (
    *("__len__", "__iter__", "__eq__", "__ne__", "__hash__", "__bool__", "__contains__", "items", "keys", "values"),
    *("__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
)


def use_of(kind: type) -> str:
    """`look_of` for numbers, strings and containers, which our code does more with: guards compare, shadows copy."""
    name = look_of(kind)
    if name or not _flags(kind) & _HEAP_TYPE:
        return name
    return _first_of(kind, _HELD)


def _first_of(kind: type, names: tuple[str, ...]) -> str:
    """The first of these methods that the user has written for ``kind``."""
    for base in _order(kind):
        held = _members(base) if _flags(base) & _HEAP_TYPE else {}
        for name in names:
            found = held.get(name)
            if isinstance(found, types.FunctionType):
                is_written = not found.__code__.co_qualname.startswith("__create_fn__.")  # else by a dataclass
                if is_written and function_kind(found) == "user" and not is_generated(found):
                    return name
            elif is_compiled(found):
                return name
    return ""


def check_keys(keys: Iterable[Any]) -> None:
    """Refuses keys of an outside dictionary whose own ``__hash__`` would run when they are put into its shadow."""
    for kind in {type(key) for key in keys}:
        name = look_of(kind) or _first_of(kind, ("__hash__", "__eq__"))
        if name:
            raise Uncapturable(f"a key of class {type.__repr__(kind)}, whose {name} runs when capture looks at it")


def _look_at_classes(meta: type) -> str:
    """What of the user's runs when a class of metaclass ``meta`` is looked at, or kept in a table."""
    return _first_of(meta, ("__getattr__", "__hash__"))


def check_look(kind: type, value: Any = None) -> None:
    """Refuses objects of class ``kind`` if capture cannot look at them without running code of the user (`look_of`).

    To be called before anything else is asked about an object. With the object as ``value``, one whose own
    ``__getattribute__`` does nothing but read is let through (`only_reads`).
    """
    name = use_of(kind) if issubclass(kind, _VALUES) else look_of(kind)
    if name and not (name == "__getattribute__" and type(value) is kind and only_reads(value)):
        raise Uncapturable(f"an object of class {type.__repr__(kind)}, whose {name} runs when capture looks at it")


_HEAP_TYPE = 1 << 9
_PLAIN_METHODS = (
    types.FunctionType, types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    types.GetSetDescriptorType, types.MemberDescriptorType, type,
)  # fmt: skip
"""What special methods are as a rule: functions, which are interpreted, and those of classes in C."""


def is_odd_method(kind: type, name: str, found: Any) -> bool:
    """Whether ``found``, a special method of ``kind``, is something of the user's that is not a function.

    Python calls it like any other, and raises where it cannot be called; nothing here interprets it. (What ``ms.jit``
    has made is called as its function is.)
    """
    if found is None or type(found) in _PLAIN_METHODS or is_compiled(found):
        return False
    owner = next((base for base in _order(kind) if _members(base).get(name) is found), object)
    return bool(_flags(owner) & _HEAP_TYPE) and is_user_class(owner)


_GENERATED = {
    f"__{n}__" for n in ("init", "eq", "repr", "hash", "lt", "le", "gt", "ge", "setattr", "delattr", "replace", "new")
}


def is_generated(fn: types.FunctionType) -> bool:
    """Whether ``fn`` is a method that ``dataclasses`` or ``namedtuple`` wrote: it has no effects.

    They `exec` text, as users do, whose text need not be kept either; what tells is what stands around the method.
    """
    code = fn.__code__
    if fn.__name__ not in _GENERATED:
        return False
    if code.co_filename == "<string>":
        is_of_tuple = code.co_name == "<lambda>" and _home(fn).startswith("namedtuple_")
        return is_of_tuple or code.co_qualname.startswith("__create_fn__.")
    if code.co_filename == reprlib.__file__:  # 3.13: around the generated ``__repr__``, and perhaps one of the user's
        held = [cell.cell_contents for cell in fn.__closure__ or ()]
        return any(isinstance(f, types.FunctionType) and f is not fn and is_generated(f) for f in held)
    return code.co_filename == dataclasses.__file__


_SETTINGS = {"set_train", "set_grad", "add_flags", "add_flags_recursive", "to_float", "phase", "recompute"}
_WALKS = {
    *("cells", "cells_and_names", "name_cells", "parameters_and_names", "get_parameters", "trainable_params"),
    *("untrainable_params", "parameters_dict", "get_flags", "named_buffers", "buffers", "get_sub_cell", "get_buffer"),
}


def is_compiled(fn: Any) -> bool:
    """Whether ``fn`` is what ``ms.jit`` has made: a program that is being captured calls the function that it is of."""
    return hasattr(type(fn), "captured_target")


def is_interpreted(fn: Any) -> bool:
    """Whether a call of this Python function, or of its compiled form, is interpreted."""
    if not isinstance(fn, types.FunctionType):
        return is_compiled(fn)
    if is_generated(fn):
        return False
    kind = function_kind(fn)
    if kind == "framework":
        name, (traits, inside) = fn.__name__, said_of(fn.__module__)
        if name in _SETTINGS or name in _WALKS:
            return traits.settings
        is_method = "." in fn.__qualname__ and not name.startswith("__")
        return name == "construct" or name in traits.captured or (is_method and traits.interprets(inside))
    return kind == "user"
