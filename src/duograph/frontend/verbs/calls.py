"""The verb *call*: which code runs, and whether it is interpreted, executed as it is, or refused."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import operator
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.lookup import raw_hasattr
from duograph.core.called import note_user_code
from duograph.core.op import Op
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..control.recursion import Recursion
from ..rules import sources
from ..rules.errors import Uncapturable
from ..rules.facts import cell_facts, has_slots, lookup
from ..rules.policy import check_look, function_kind, is_generated, is_interpreted, is_user_class, module_kind
from ..rules.purity import is_reader
from ..rules.sources import Pin
from ..rules.watch import watched
from ..values import closures  # noqa: F401 - which says how functions leave
from ..values.functions import CapturedFunction, bind, signature_of
from ..values.text import formatted
from ..values.world import Frame
from . import addresses, builtins, clocks, deferred, numbers  # noqa: F401 - which register substitutes
from .cached import CACHED, call_cached, is_cached_method
from .chosen import item_at
from .contexts import enter_factory, is_context_factory
from .fields import check_fields, runs_code, set_fields
from .getters import call_getter
from .library import ask, dispatched, is_single_dispatch
from .native_calls import NativeCalls, check_pure
from .native_errors import check_error, run_native
from .partials import flattened, parts_of
from .raw_attributes import object_getattr
from .special_methods import is_users_descriptor, special_method, user_method
from .substitutes import SUBSTITUTES

if TYPE_CHECKING:
    from ..session.session import Session

MAX_DEPTH = 180


def _is_cell(obj: Any) -> bool:
    return raw_hasattr(obj, "construct") and raw_hasattr(obj, "_has_hooks")


def _kind_of_cached(fn: Any) -> str:
    made = fn.__wrapped__
    return function_kind(made) if isinstance(made, types.FunctionType) else "other"


class Calls(NativeCalls):
    """Calls of one session. ``run_body`` executes an interpreted function's body in a frame; set by the driver."""

    def __init__(self, session: Session, semantics: Any, run_body: Callable[[Any, Frame], Any], load: Any) -> None:
        self.session, self.semantics = session, semantics
        self.world = session.world
        self.run_body = run_body
        self.load = load
        self.depth = 0
        self.caches: dict[Any, Any] = {}
        self.recursion = Recursion(self)
        self._rules: dict[int, Any] = {}  # functions of this package that are known to be pure, by id
        semantics.calls = self

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``fn(*args, **kwargs)``."""
        try:
            substitute = SUBSTITUTES.get(fn) if not is_user_class(type(fn)) else None  # whose ``__hash__`` is theirs
        except TypeError:
            substitute = None
        if substitute is not None:
            try:
                return substitute(self, *args, **kwargs)
            except Exception as exc:
                check_error(self.session, exc, fn, args, kwargs)
                if isinstance(exc, TypeError) and exc.__traceback__ is not None and exc.__traceback__.tb_next is None:
                    raise Uncapturable(f"a call of {fn.__qualname__} with arguments it does not take") from exc
                raise
        if isinstance(fn, CapturedFunction):
            return self._call_captured(fn, args, kwargs)
        if isinstance(fn, types.FunctionType):
            return self._call_function(fn, args, kwargs)
        if isinstance(fn, types.MethodType):
            self._guard_method(fn)
            if isinstance(fn.__func__, CACHED) and is_cached_method(fn):
                self.session.source_of(fn.__func__)  # it lives outside, as its class does
                return self.call(fn.__func__, (fn.__self__, *args), kwargs)
            if isinstance(fn.__func__, types.FunctionType | CapturedFunction) or is_interpreted(fn.__func__):
                return self.call(fn.__func__, (fn.__self__, *args), kwargs)
            return self.call_native(fn, args, kwargs)
        if isinstance(fn, type):
            return self._call_class(fn, args, kwargs)
        if isinstance(fn, Op):
            return run_native(self.session, fn, *args, **kwargs)
        if isinstance(fn, functools.partial):
            function, held, named = parts_of(self.session, fn)
            return self.call(function, (*held, *args), {**named, **kwargs})
        if type(fn) in (operator.attrgetter, operator.methodcaller, operator.itemgetter):
            return call_getter(self, fn, args, kwargs)
        if type(fn) is types.MethodWrapperType and fn.__name__ == "__call__" and isinstance(fn.__self__, type):
            return self._make(fn.__self__, args, kwargs)
        if type(fn) is types.MethodWrapperType and fn.__objclass__ is object and len(args) > 0:
            if fn.__name__ == "__setattr__" and len(args) == 2 and not kwargs:
                return self.semantics.object_setattr(fn.__self__, *args)
            if fn.__name__ == "__getattribute__" and len(args) == 1 and not kwargs:
                return object_getattr(self, fn.__self__, *args)
            if fn.__name__ == "__delattr__" and is_users_descriptor(watched(type(fn.__self__), args[0])):
                raise Uncapturable("object.__delattr__ of what the class deletes")
        if isinstance(fn, CACHED) and _kind_of_cached(fn) != "framework":
            return call_cached(self, fn, args, kwargs)
        if hasattr(type(fn), "captured_target"):  # compiled functions are part of the program that calls them
            return self.call(fn.captured_target(), args, kwargs)
        method = user_method(fn, "__call__")
        if method is not None:
            return self.call(method, (fn, *args), kwargs)
        if _is_cell(fn):
            self._guard_cell(fn)
        return self.call_native(fn, args, kwargs)

    def _call_reader(self, fn: Any, args: tuple[Any, ...]) -> Any:
        """What a function says of the outside, by a guard that asks it again."""
        value = ask(self.session, fn, self.session.source_of(fn), args)
        if not _is_hashable((args, value)) or not isinstance(value, bool | int | float | str | type(None)):
            raise Uncapturable(f"a call of {fn.__module__}.{fn.__qualname__}, which gives an object from outside")
        self.session.guards.add(self.session.source_of(fn), "gives", (args, value))
        return value

    def _guard_method(self, method: types.MethodType) -> None:
        """A method of an outside object stays the one that its class has now."""
        owner, fn = method.__self__, method.__func__
        if self.world.is_tracked(owner) or isinstance(owner, type | Tensor) or not is_interpreted(fn):
            return
        if lookup(type(owner), fn.__name__) is fn:
            source = sources.attr(self.session.source_of(type(owner)), fn.__name__)
            self.session.guards.add(source, "is", Pin(fn))

    def _guard_cell(self, cell: Any) -> None:
        """A Cell's call is framework code; what it looks at besides ``construct`` is guarded here."""
        watched(type(cell), "construct")
        if self.world.is_tracked(cell):
            return
        session = self.session
        source = session.source_of(cell)
        session.guards.add(source, "cell", cell_facts(cell))

    # -- interpreted -------------------------------------------------------------------------------------------

    def _call_captured(self, fn: CapturedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = bind(fn.signature, fn.__qualname__, args, kwargs)
        frame = Frame(fn.__qualname__, fn.source, fn.frame.globals, fn.frame)
        return self._enter(fn.source, frame, values, fn)

    def _call_function(self, fn: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if fn.__name__ == "__call__" and args and _is_cell(args[0]) and function_kind(fn) == "framework":
            self._guard_cell(args[0])  # by ``super().__call__``
        if id(fn) in self._rules:
            return self.call_native(fn, args, kwargs)
        if "registry" in fn.__dict__ and is_single_dispatch(fn):
            return dispatched(self, fn, args, kwargs)
        if is_context_factory(fn):
            return enter_factory(self, fn, args, kwargs)
        if not is_interpreted(fn):
            if is_reader(fn) and not kwargs:
                return self._call_reader(fn, args)
            check_pure(fn)
            if fn is getattr(Tensor, "item", None):
                return self._item(*args) if not kwargs else self.call_native(fn, args, kwargs)
            if fn is getattr(Tensor, "tolist", None):
                return self._tolist(args[0]) if len(args) == 1 and not kwargs else self.call_native(fn, args, kwargs)
            if function_kind(fn) == "framework":
                self._rules[id(fn)] = fn
            return self.call_native(fn, args, kwargs)
        code = fn.__code__
        if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise Uncapturable(f"{fn.__qualname__} is asynchronous")
        if module_kind(fn.__module__) != "framework":
            self.session.guards.add(sources.attr(self.session.source_of(fn), "__code__"), "is", Pin(code))
            self.guard_defaults(fn)
        source = self.load(fn)
        values = bind(self.signature(fn), fn.__qualname__, args, kwargs)
        frame = Frame(fn.__qualname__, source, fn.__globals__, None)
        frame.cells = dict(zip(code.co_freevars, fn.__closure__ or (), strict=True))
        if "__class__" in frame.cells:
            frame.special["__class__"] = frame.cells["__class__"].cell_contents
        return self._enter(source, frame, values, fn)

    def guard_defaults(self, fn: types.FunctionType) -> None:
        """Which parameters have default values; what these are, their own guards say (`_signature`)."""
        if len(fn.__defaults__ or ()) > fn.__code__.co_argcount:
            raise Uncapturable(f"{fn.__qualname__}, which has more default values than parameters")
        base = self.session.source_of(fn)
        for name, held in (("__defaults__", fn.__defaults__), ("__kwdefaults__", fn.__kwdefaults__)):
            source = sources.attr(base, name)
            if held is None:
                self.session.guards.add(source, "is", Pin(None))
            elif isinstance(held, tuple):
                self.session.guards.add(source, "len", len(held))
            else:
                self.session.guards.add(source, "keys", list(held))

    def signature(self, fn: types.FunctionType) -> inspect.Signature:
        """The signature with default values as values of the program (they live outside and may change)."""
        signature = signature_of(fn)
        if not fn.__defaults__ and not fn.__kwdefaults__:
            return signature
        session = self.session
        base = session.source_of(fn)
        found = dict(signature.parameters)
        positional = [p for p in found.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        for i, (p, value) in enumerate(
            zip(positional[len(positional) - len(fn.__defaults__ or ()) :], fn.__defaults__ or (), strict=True)
        ):
            source = sources.item(sources.attr(base, "__defaults__"), i)
            found[p.name] = p.replace(default=session.external(value, source))
        named = fn.__kwdefaults__ or {}
        for name, value in named.items():
            if name not in found:
                continue
            source = sources.item(sources.attr(base, "__kwdefaults__"), name)
            found[name] = found[name].replace(default=session.external(value, source))
        return signature.replace(parameters=list(found.values()))

    def _enter(self, source: Any, frame: Frame, values: dict[str, Any], fn: Any) -> Any:
        frame.function = fn
        for name, value in values.items():
            if isinstance(value, dict) and type(value) is dict and not self.world.is_tracked(value):
                self.world.track(value)
            frame.locals[name] = value
            self.session.note_variable(name, value, frame)
        if self.depth > MAX_DEPTH:
            raise RecursionError("maximum recursion depth exceeded")
        if self.recursion.applies(fn, values):
            return self.recursion.call(fn, source, frame, values)
        self.depth += 1
        self.recursion.push(fn)
        self.world.push(frame)
        span, called = self.session.span, self.session.called
        self.session.called = called.into(source.file, span, next(iter(values.values()), None))
        try:
            return self.run_body(source, frame)
        except Exception as exc:
            self.session.own_error = exc
            note_user_code(exc)
            raise
        finally:
            self.session.span, self.session.called = span, called
            self.world.pop(frame)
            self.recursion.pop()
            self.depth -= 1

    # -- classes -----------------------------------------------------------------------------------------------

    def _call_class(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        check_look(cls)
        meta = special_method(type(cls), "__call__")
        if is_interpreted(meta):
            return self.call(meta, (cls, *args), kwargs)
        return self._make(cls, args, kwargs)

    def _make(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``type.__call__``."""
        new, init = watched(cls, "__new__"), special_method(cls, "__init__")
        if is_interpreted(special_method(cls, "__del__")):
            raise Uncapturable(f"an object of class {cls.__qualname__}, whose __del__ runs when it is dropped")
        if issubclass(cls, Tensor) and is_user_class(cls):  # in a graph, a tensor is of class Tensor or Parameter
            raise Uncapturable(f"an object of class {cls.__qualname__}, which derives from Tensor")
        if isinstance(cls, enum.EnumMeta):
            return self._member(cls, args, kwargs)
        if isinstance(new, staticmethod):
            new = new.__func__
        if not isinstance(new, types.FunctionType | types.BuiltinFunctionType):
            raise Uncapturable(f"{cls.__qualname__}.__new__, which is a {type(new).__name__} instead of a function")
        if issubclass(cls, BaseException) and not is_interpreted(init) and not is_interpreted(new):
            return self._exception(cls, args, kwargs)
        if dataclasses.is_dataclass(cls) and isinstance(init, types.FunctionType) and is_generated(init):
            if isinstance(new, types.BuiltinFunctionType) and runs_code(cls, init):
                obj = self._track_instance(new(cls))
                set_fields(self, init, obj, bind(self.signature(init), init.__qualname__, (obj, *args), kwargs))
                return obj
            check_fields(cls)
        if not is_interpreted(new) and not is_interpreted(init):
            if cls is functools.partial and args and type(args[0]) is functools.partial:
                args, kwargs = flattened(self.session, args, kwargs)
            if (args or kwargs) and any(is_interpreted(watched(cls, n)) for n in ("__setitem__", "update", "append")):
                raise Uncapturable(f"making an object of class {cls.__qualname__}, whose methods native code may call")
            return self._track_instance(self.call_native(cls, args, kwargs))
        if isinstance(new, types.FunctionType) and is_interpreted(new):
            obj = self.call(new, (cls, *args), kwargs)
            if not isinstance(obj, cls):
                return obj
        else:
            obj = object.__new__(cls) if new is object.__new__ else new(cls, *_known(args, new), **kwargs)
        if self.session.is_made_inside(obj):  # else ``__new__`` has given one that it has found outside
            self._track_instance(obj)
        if is_interpreted(init):
            if self.call(init, (obj, *args), kwargs) is not None:
                raise TypeError("__init__() should return None")
        else:
            init(obj, *args, **kwargs)
        return obj

    def _member(self, kind: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``Colour(1)``: a member that is there (its ``__init__`` has run), or nothing that is captured."""
        known = vars(kind).get("_value2member_map_", {})
        if len(args) == 1 and type(args[0]) is Scalar and known and not kwargs and not issubclass(kind, enum.Flag):
            if lookup(kind, "_missing_") is vars(enum.Enum)["_missing_"]:
                try:
                    return item_at(self.semantics, known, args[0])
                except KeyError:
                    raise ValueError(formatted(args[0], "", "r") + f" is not a valid {kind.__qualname__}") from None
        if (
            kwargs
            or len(args) != 1
            or not isinstance(args[0], str | int | kind)
            or (not isinstance(args[0], kind) and args[0] not in known)
        ):
            raise Uncapturable(f"a call of the enumeration {kind.__qualname__}")
        return args[0] if isinstance(args[0], kind) else known[args[0]]

    def _track_instance(self, obj: Any) -> Any:
        if isinstance(obj, Tensor | types.FunctionType | type | super | np.generic | np.ndarray):
            return self.semantics._fresh(obj)
        if not raw_hasattr(obj, "__dict__") or has_slots(type(obj)):
            if is_user_class(type(obj)) and not isinstance(obj, tuple):
                self.session.without_dictionary[id(obj)] = obj
            return self.semantics._fresh(obj)
        return self.world.track(obj)

    def _exception(self, cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return cls(*args, **kwargs)

    # -- as it is ----------------------------------------------------------------------------------------------


def _is_hashable(args: Any) -> bool:
    try:
        hash(args)
    except TypeError:
        return False
    return True


def _known(args: tuple[Any, ...], new: Any) -> tuple[Any, ...]:
    return args if new is not object.__new__ else ()
