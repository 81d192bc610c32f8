"""Functions of the standard library that look into objects, by what they are made of: each read is guarded."""

from __future__ import annotations

import builtins
import copy
import copyreg
import dataclasses
import enum
import functools
import importlib
import inspect
import os
import random
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from duograph.core.dtype import DType
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..rules import sources
from ..rules.errors import Uncapturable
from ..rules.policy import is_interpreted, is_user_class, module_kind
from ..rules.sources import Pin, Source
from ..rules.watch import watched
from ..values.closures import is_annotated
from ..values.functions import CapturedFunction
from ..values.text import GraphText
from .fields import INIT_VAR
from .native_errors import run_native
from .substitutes import substitute


@substitute(builtins.vars)
def _vars(calls: Any, *objects: Any) -> Any:
    if len(objects) != 1:
        raise Uncapturable("the built-in function vars()")
    return calls.semantics.getattr(objects[0], "__dict__")


# -- dataclasses -------------------------------------------------------------------------------------------------------


def _fields_of(calls: Any, obj: Any) -> dict[str, Any] | None:
    """The fields of a dataclass, or of an object of one whose class is guarded; ``None`` of anything else."""
    cls = obj if isinstance(obj, type) else calls.call(type, (obj,), {})
    found = watched(cls, "__dataclass_fields__")
    return found if isinstance(found, dict) else None


def _values(calls: Any, obj: Any) -> list[tuple[str, Any]]:
    names = [f.name for f in dataclasses.fields(type(obj))]
    return [(name, calls.semantics.getattr(obj, name)) for name in names]


@substitute(dataclasses.fields)
def _fields(calls: Any, class_or_instance: Any) -> Any:
    is_known = _fields_of(calls, class_or_instance) is not None and not isinstance(class_or_instance, type)
    return calls.call_native(dataclasses.fields, (type(class_or_instance) if is_known else class_or_instance,), {})


@substitute(dataclasses.is_dataclass)
def _is_dataclass(calls: Any, obj: Any) -> bool:
    return _fields_of(calls, obj) is not None


@substitute(dataclasses.replace)
def _replace(calls: Any, obj: Any, /, **changes: Any) -> Any:
    fields = None if isinstance(obj, type) else _fields_of(calls, obj)
    given = () if fields is None else [f.name for f in dataclasses.fields(obj) if f.init]
    of_init = () if fields is None else [n for n, f in fields.items() if f._field_type is INIT_VAR]
    if fields is None or of_init or any(name in fields and name not in given for name in changes):
        return calls.call_native(dataclasses.replace, (obj,), changes)
    kept = {name: calls.semantics.getattr(obj, name) for name in given if name not in changes}
    return calls.call(type(obj), (), changes | kept)


@substitute(dataclasses.asdict)
def _asdict(calls: Any, obj: Any, *, dict_factory: Any = dict) -> Any:
    if dict_factory is not dict or isinstance(obj, type) or _fields_of(calls, obj) is None:
        return calls.call_native(dataclasses.asdict, (obj,), {"dict_factory": dict_factory})
    return _converted(calls, obj, lambda pairs: calls.world.track(dict(pairs)))


@substitute(dataclasses.astuple)
def _astuple(calls: Any, obj: Any, *, tuple_factory: Any = tuple) -> Any:
    if tuple_factory is not tuple or isinstance(obj, type) or _fields_of(calls, obj) is None:
        return calls.call_native(dataclasses.astuple, (obj,), {"tuple_factory": tuple_factory})
    return _converted(calls, obj, lambda pairs: tuple(value for _, value in pairs))


def _converted(calls: Any, value: Any, made_of: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    """``value`` with what it holds of dataclasses made into what ``made_of`` makes of their fields, the rest copied."""
    if not isinstance(value, type) and _fields_of(calls, value) is not None:
        return made_of([(name, _converted(calls, held, made_of)) for name, held in _values(calls, value)])
    if type(value) is list:
        return calls.world.track([_converted(calls, v, made_of) for v in calls.semantics.iterate(value)])
    if type(value) is tuple:
        return tuple([_converted(calls, v, made_of) for v in value])
    if type(value) is dict:
        keys = [_converted(calls, k, made_of) for k in calls.semantics.iterate(value)]
        return calls.world.track({k: _converted(calls, calls.semantics.getitem(value, k), made_of) for k in keys})
    if isinstance(value, tuple | list | dict):
        raise Uncapturable(f"a copy of a {type(value).__name__} by the functions of dataclasses")
    return calls.call(copy.deepcopy, (value,), {})


# -- copy --------------------------------------------------------------------------------------------------------------

_COPIED_BY = (
    *("__copy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__new__"),
    *("__getattr__", "__getattribute__"),
)


@substitute(copy.copy)
def _copy(calls: Any, value: Any) -> Any:
    """An object from outside with nothing but attributes: another one, with what it has now. Lists and dictionaries by
    their own methods, which take numbers that vary."""
    if type(value) in (list, dict):
        return calls.call(calls.semantics.getattr(value, "copy"), (), {})
    if not _has_only_attributes(calls, value):
        return calls.call_native(copy.copy, (value,), {})
    return _made_with(calls, value, calls.call(type(value).__new__, (type(value),), {}), lambda held: held)


@substitute(copy.deepcopy)
def _deepcopy(calls: Any, value: Any, memo: Any = None) -> Any:
    """What holds such an object, or a number that varies: copied here, each object once, the rest as `copy` does it."""
    if memo is not None or not _reaches_object(calls, value, _DEPTH):
        return calls.call_native(copy.deepcopy, (value,) if memo is None else (value, memo), {})
    return _copied_deep(calls, value, {})


_DEPTH = 4
_ATOMS = (*(int, float, complex, bool, str, bytes, type(None), type, range, DType, Scalar, GraphText), enum.Enum)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, CapturedFunction)


def _has_only_attributes(calls: Any, value: Any) -> bool:
    cls = calls.call(type, (value,), {})
    if not is_user_class(cls) or isinstance(value, (Tensor, *_ATOMS)) or calls.session.is_made_inside(value):
        return False
    if any(watched(cls, n) is not getattr(object, n, None) for n in _COPIED_BY):
        return False
    return cls not in copyreg.dispatch_table and not any("__slots__" in vars(base) for base in cls.__mro__)


def _made_with(calls: Any, value: Any, made: Any, of: Callable[[Any], Any]) -> Any:
    """``made`` with the attributes of ``value``."""
    held = calls.semantics.getattr(value, "__dict__")
    for name in list(calls.semantics.iterate(held)):
        if hasattr(type(watched(type(value), name)), "__set__"):
            raise Uncapturable(f"a copy of an object whose class looks after {name!r}")
        calls.semantics.object_setattr(made, name, of(calls.semantics.getitem(held, name)))
    return made


def _reaches_object(calls: Any, value: Any, depth: int) -> bool:
    if type(value) in (list, tuple, dict):
        parts = value.values() if type(value) is dict else value
        return depth > 0 and any(_reaches_object(calls, v, depth - 1) for v in parts)
    return isinstance(value, (Scalar, GraphText)) or _has_only_attributes(calls, value)


def _copied_deep(calls: Any, value: Any, memo: dict[int, tuple[Any, Any]]) -> Any:
    if id(value) in memo:
        return memo[id(value)][1]
    if isinstance(value, (*_ATOMS, *_FUNCTIONS)):
        return value
    if type(value) is tuple:
        items = tuple([_copied_deep(calls, v, memo) for v in value])
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    if type(value) is list:
        made = calls.world.track([])
        memo[id(value)] = value, made
        for item in list(calls.semantics.iterate(value)):
            made.append(_copied_deep(calls, item, memo))
    elif type(value) is dict:
        made = calls.world.track({})
        memo[id(value)] = value, made
        for key in list(calls.semantics.iterate(value)):
            if not isinstance(key, _ATOMS):
                raise Uncapturable(f"a deep copy of a dictionary with a key of class {type(key).__qualname__}")
            made[key] = _copied_deep(calls, calls.semantics.getitem(value, key), memo)
    elif type(value) is Tensor:
        made = calls.call_native(copy.deepcopy, (value,), {})
        memo[id(value)] = value, made
    elif _has_only_attributes(calls, value) and watched(type(value), "__deepcopy__") is None:
        made = calls.call(type(value).__new__, (type(value),), {})
        memo[id(value)] = value, made
        _made_with(calls, value, made, lambda held: _copied_deep(calls, held, memo))
    else:
        raise Uncapturable(f"a deep copy of an object of class {type(value).__qualname__} in one from outside")
    return made


# -- functools ---------------------------------------------------------------------------------------------------------


def is_single_dispatch(fn: types.FunctionType) -> bool:
    """Whether ``fn`` was made by ``functools.singledispatch``."""
    return fn.__code__ is _dispatching.__code__ and isinstance(vars(fn).get("registry"), types.MappingProxyType)


_dispatching: Any = functools.singledispatch(lambda value: value)


def dispatched(calls: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function that ``functools.singledispatch`` has made, by the class of its first argument."""
    if not args:
        raise Uncapturable(f"{fn.__qualname__}, called without an argument")
    cls, session = calls.call(type, (args[0],), {}), calls.session
    chosen = fn.dispatch(cls)
    session.guards.add(session.source_of(fn.dispatch), "gives", ((cls,), chosen))
    return calls.call(session.external(chosen, session.source_of(chosen)), args, kwargs)


# -- inspect ----------------------------------------------------------------------------------------------------------


@substitute(inspect.signature)
def _signature(calls: Any, fn: Any) -> inspect.Signature:
    if type(fn) is types.MethodType:
        bound = list(_signature(calls, fn.__func__).parameters.values())
        if not bound or bound[0].kind not in (bound[0].POSITIONAL_ONLY, bound[0].POSITIONAL_OR_KEYWORD):
            raise Uncapturable("the signature of a method that names no object")
        return inspect.Signature(bound[1:])
    if isinstance(fn, CapturedFunction):
        if vars(fn).keys() & _SHOWN or is_annotated(fn.source.node):
            raise Uncapturable("the signature of a function with annotations, or of what wraps one")
        return fn.signature
    if type(fn) is not types.FunctionType or not is_interpreted(fn) or vars(fn) or fn.__annotations__:
        raise Uncapturable("the signature of more than a plain function")
    source = calls.session.source_of(fn)
    calls.session.guards.add(sources.attr(source, "__code__"), "is", Pin(fn.__code__))
    for name in _SHOWN:
        calls.session.guards.add(source, "no value", name)
    calls.session.guards.add(sources.attr(source, "__annotations__"), "len", 0)
    calls.guard_defaults(fn)
    return calls.signature(fn)  # type: ignore[no-any-return]


_SHOWN = {"__wrapped__", "__signature__", "__text_signature__"}


# -- the process -------------------------------------------------------------------------------------------------------


_SIMPLE = frozenset({bool, int, float, str, bytes, type(None)})


def of_context(calls: Any, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``variable.get()`` of a `ContextVar`, by a guard that asks it again."""
    if fn.__name__ != "get" or kwargs or not _SIMPLE.issuperset(map(type, args)):
        raise Uncapturable(f"ContextVar.{fn.__name__}")
    value = ask(calls.session, fn, sources.pinned(fn), args)
    if type(value) not in _SIMPLE:
        raise Uncapturable("a context variable that holds an object")
    calls.session.guards.add(sources.pinned(fn), "gives", (args, value))
    return value


def ask(session: Any, fn: Any, source: Source, args: tuple[Any, ...]) -> Any:
    """What a function that only reads says; that it raises is an assumption."""
    try:
        return fn(*args)
    except Exception as error:
        session.guards.add(source, "raises", (args, Pin(type(error))))
        raise


@substitute(os.getenv)
def _getenv(calls: Any, key: Any, default: Any = None) -> Any:
    if type(key) is not str:
        raise Uncapturable("os.getenv of something else than a text")
    found = os.getenv(key)
    calls.session.guards.add(calls.session.source_of(os.getenv), "gives", ((key,), found))
    return default if found is None else found


@substitute(Mapping.get)
def _get(calls: Any, mapping: Any, key: Any, default: Any = None) -> Any:
    if mapping is os.environ:
        return _getenv(calls, key, default)
    return calls.call_native(Mapping.get, (mapping, key, default), {})


@substitute(os.environ.__class__.__getitem__)
def _getitem(calls: Any, environ: Any, key: Any) -> Any:
    if environ is not os.environ:
        raise Uncapturable("an item of os.environb")
    found = _getenv(calls, key)
    if found is None:
        raise KeyError(key)
    return found


@substitute(Mapping.__contains__)
def _contains(calls: Any, mapping: Any, key: Any) -> Any:
    if mapping is os.environ:
        return _getenv(calls, key) is not None
    return calls.call_native(Mapping.__contains__, (mapping, key), {})


def _generator(make: Any) -> Any:
    def seeded(calls: Any, *seed: Any) -> Any:
        if len(seed) != 1 or type(seed[0]) not in (int, str, bytes, float):
            raise Uncapturable("a random generator without a seed, which the system gives")
        return run_native(calls.session, make, *seed)

    return seeded


for _make in (random.Random, np.random.RandomState, np.random.default_rng):
    substitute(_make)(_generator(_make))


@substitute(types.MappingProxyType)
def _view(calls: Any, mapping: Any) -> Any:
    if type(mapping) not in (dict, OrderedDict):
        raise Uncapturable(f"a mappingproxy of a {type(mapping).__name__}")
    calls.session.check_read(mapping)
    return types.MappingProxyType(mapping)


# -- modules -----------------------------------------------------------------------------------------------------------


def imported(session: Any, name: str) -> types.ModuleType:
    """The module of that full name, which is taken to be the one that is loaded."""
    if name not in sys.modules and module_kind(name) == "user":
        raise Uncapturable(f"the first import of {name!r}, which runs its code")
    importlib.import_module(name)
    session.guards.add(sources.item(sources.pinned(sys.modules), name), "is", Pin(sys.modules[name]))
    return sys.modules[name]


@substitute(importlib.import_module)
def _import_module(calls: Any, name: Any, package: Any = None) -> types.ModuleType:
    if type(name) is not str or name.startswith(".") or package is not None:
        raise Uncapturable("the import of a module that is not named in full")
    return imported(calls.session, name)


@substitute(builtins.__import__)
def _import(calls: Any, name: Any) -> types.ModuleType:
    if type(name) is not str or "." in name:
        raise Uncapturable("the built-in function __import__() of more than a name")
    return imported(calls.session, name)
