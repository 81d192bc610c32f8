"""The verbs of attributes: reading, writing, deleting; descriptors, properties and ``__getattr__`` of the user.

What is found on an outside object is guarded, also that it is missing; what is written to one goes to the overlay.
"""

from __future__ import annotations

import functools
import operator
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.core.dim import Dim
from duograph.ops.scalar import Scalar, dim_size
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from . import sources
from .errors import Uncapturable
from .policy import function_kind, is_generated, is_interpreted, is_user_class, module_kind
from .sources import Pin
from .text import GraphText
from .world import MISSING, World

if TYPE_CHECKING:
    from .calls import Calls
    from .session import Session


class Attributes:
    """Verbs of attributes; a part of `Semantics`."""

    calls: Calls
    session: Session
    world: World

    def getattr(self, obj: Any, name: str, default: Any = MISSING) -> Any:
        """``obj.name``, or ``default``."""
        try:
            return self._getattr(obj, name)
        except AttributeError:
            if default is MISSING:
                raise
            return default

    def _getattr(self, obj: Any, name: str) -> Any:
        if isinstance(obj, Tensor):
            return self._tensor_attr(obj, name)
        if isinstance(obj, types.ModuleType):
            value = self._present_attr(obj, name)
            if module_kind(obj.__name__) == "user" and not isinstance(value, types.ModuleType):
                key = ("global", id(vars(obj)), name)
                if key in self.world.overlay:
                    return self.world.overlay[key][1]
                return self.session.external(value, sources.attr(self.session.source_of(obj), name))
            return value
        if isinstance(obj, super | types.MethodType | types.BuiltinMethodType):
            return getattr(obj, name)
        if isinstance(obj, Scalar):
            return self._scalar_attr(obj, name)
        if isinstance(obj, GraphText | str | bytes | int | float | complex | tuple | list | dict | set):
            if type(obj).__module__ == "builtins" or not is_user_class(type(obj)):
                return getattr(obj, name)
        if isinstance(obj, type):
            return self._class_attr(obj, name)
        return self._instance_attr(obj, name)

    @staticmethod
    def _scalar_attr(obj: Scalar, name: str) -> Any:
        kind = obj.type.python_type
        if not hasattr(kind, name):
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
        if name.startswith("__") and hasattr(obj, name):
            return kind if name == "__class__" else getattr(obj, name)
        raise Uncapturable(f"{name!r} of a number that is only known at run time")

    def _tensor_attr(self, obj: Tensor, name: str) -> Any:
        key = ("attr", id(obj), name)
        if key in self.world.overlay:
            return self._present(self.world.overlay[key][1], obj, name)
        if name == "shape" and obj.is_symbolic and any(not isinstance(d, int) for d in obj.shape):
            return tuple(d if isinstance(d, int) else dim_size(obj, axis=i) for i, d in enumerate(obj.shape))
        if name == "size" and obj.is_symbolic and isinstance(obj.size, Dim):
            return functools.reduce(operator.mul, self._tensor_attr(obj, "shape"))
        if name in ("grad", "data") and isinstance(obj, Parameter) and name == "grad":
            raise Uncapturable("the attribute `grad` of a Parameter")
        found = lookup(type(obj), name)
        if isinstance(found, types.FunctionType) and is_interpreted(found):
            return types.MethodType(found, obj)
        return getattr(obj, name)

    @staticmethod
    def _present(value: Any, obj: Any, name: str) -> Any:
        if value is MISSING:
            raise AttributeError(f"{type(obj).__name__!r} object has no attribute {name!r}")
        return value

    def _class_attr(self, cls: type, name: str) -> Any:
        key = ("attr", id(cls), name)
        if key in self.world.overlay:
            return self._present(self.world.overlay[key][1], cls, name)
        value = self._present_attr(cls, name)
        if is_user_class(cls) and not name.startswith("__") and not isinstance(value, property):
            if not callable(value):
                return self.session.external(value, sources.attr(self.session.source_of(cls), name))
            self._guard_code(value, sources.attr(self.session.source_of(cls), name))
        return value

    def _present_attr(self, obj: Any, name: str) -> Any:
        """An attribute of an outside object; that it is missing is an assumption too."""
        try:
            return getattr(obj, name)
        except AttributeError:
            if not self.world.is_tracked(obj) and not isinstance(obj, Tensor | np.ndarray | np.generic):
                self.session.guards.add(self.session.source_of(obj), "no attribute", name)
            raise

    def _guard_code(self, value: Any, source: sources.Source) -> None:
        """The user's functions and methods may be replaced on their class or instance."""
        if isinstance(value, types.MethodType):
            value, source = value.__func__, sources.attr(source, "__func__")
        if isinstance(value, types.FunctionType) and function_kind(value) == "user":
            self.session.guards.add(source, "is", Pin(value))

    def _instance_attr(self, obj: Any, name: str) -> Any:
        key = ("attr", id(obj), name)
        if key in self.world.overlay:
            return self._present(self.world.overlay[key][1], obj, name)
        cls = type(obj)
        found = lookup(cls, name)
        if isinstance(found, property):
            if is_interpreted(found.fget):
                return self.calls.call(found.fget, (obj,), {})
            value = getattr(obj, name)
            return value if self.world.is_tracked(obj) else self._outside_attr(obj, name, value)
        custom = lookup(cls, "__getattribute__")
        if is_interpreted(custom):
            return self.calls.call(custom, (obj, name), {})
        if found is None and not _has_attr(obj, name):
            hook = lookup(cls, "__getattr__")
            if is_interpreted(hook):
                if not self.world.is_tracked(obj):
                    self.session.guards.add(self.session.source_of(obj), "no own attribute", name)
                return self.calls.call(hook, (obj, name), {})
        if isinstance(found, functools.cached_property) and name not in vars(obj) and is_interpreted(found.func):
            made = self.calls.call(found.func, (obj,), {})
            if self.world.is_tracked(obj):
                vars(obj)[name] = made
            else:
                self.session.guards.add(self.session.source_of(obj), "no value", name)
                self._overlay_attr(obj, name, made)
            return made
        getter = user_method(found, "__get__")
        if getter is not None and (name not in getattr(obj, "__dict__", ()) or _is_data_descriptor(found)):
            return self.calls.call(getter, (found, obj, cls), {})
        value = self._present_attr(obj, name)
        if isinstance(obj, tuple) and name in getattr(cls, "_fields", ()):
            return value  # of a namedtuple: its items entered the program with it, or were made by it
        if (
            found is not None
            and isinstance(value, types.MethodType)
            and (value.__self__ is obj or value.__self__ is cls)
        ):
            self._guard_method(obj, cls, name, value)
            return value
        if self.world.is_tracked(obj) or isinstance(
            found, types.FunctionType | staticmethod | types.BuiltinFunctionType
        ):
            self._guard_method(obj, cls, name, value)
            return value
        if isinstance(obj, np.ndarray | np.generic):
            if self._is_inside(obj):
                return value
            raise Uncapturable("a NumPy array from outside the compiled function")
        return self._outside_attr(obj, name, value)

    def _guard_method(self, obj: Any, cls: type, name: str, value: Any) -> None:
        if not is_user_class(cls) or name.startswith("__"):
            return
        if not self.world.is_tracked(obj):
            self._guard_code(value, sources.attr(self.session.source_of(obj), name))
        elif name not in getattr(obj, "__dict__", ()):
            if isinstance(value, types.MethodType) and value.__self__ is obj:
                value = value.__func__
            self._guard_code(value, sources.attr(self.session.source_of(cls), name))

    def _outside_attr(self, obj: Any, name: str, value: Any) -> Any:
        if isinstance(value, types.BuiltinMethodType | types.MethodWrapperType):
            return value
        if isinstance(value, types.MethodType) and value.__func__.__name__ == name:
            return value
        return self.session.external(value, sources.attr(self.session.source_of(obj), name))

    def _is_inside(self, obj: Any) -> bool:
        return id(obj) not in self.session._object_sources

    def setattr(self, obj: Any, name: str, value: Any) -> None:
        """``obj.name = value``."""
        cls = type(obj)
        found = lookup(cls, name)
        if isinstance(found, property) and is_interpreted(found.fset):
            self.calls.call(found.fset, (obj, value), {})
            return
        setter = user_method(found, "__set__")
        if setter is not None:
            self.calls.call(setter, (found, obj, value), {})
            return
        hook = lookup(cls, "__setattr__")
        if is_interpreted(hook):
            self.calls.call(hook, (obj, name, value), {})
            return
        self.object_setattr(obj, name, value, setattr)

    def object_setattr(self, obj: Any, name: str, value: Any, store: Any = object.__setattr__) -> None:
        """Sets the attribute without asking the class for a ``__setattr__`` of the user.

        ``store`` does it to objects of the program (the ``__setattr__`` of a frozen dataclass refuses).
        """
        if self.world.is_tracked(obj):
            store(obj, name, value)
            return
        if isinstance(obj, types.ModuleType):
            self.world.overlay["global", id(vars(obj)), name] = (vars(obj), value)
            return
        if isinstance(obj, Tensor) and (obj.is_symbolic or (isinstance(obj, Parameter) and name == "data")):
            setattr(obj, name, value)
            return
        held = self._instance_attr(obj, name) if _has_attr(obj, name) and not isinstance(obj, type | Tensor) else None
        new_contents = isinstance(value, Tensor) and not isinstance(value, Parameter)
        if isinstance(held, Parameter) and new_contents and name in vars(obj).get("_params", ()):  # of a Cell
            if held.abstract == value.abstract:
                write(held, value)
            else:
                held.set_data(value)
            return
        if isinstance(obj, np.ndarray):
            raise Uncapturable("a write to a NumPy array from outside the compiled function")
        self._overlay_attr(obj, name, value)

    def _overlay_attr(self, obj: Any, name: str, value: Any) -> None:
        self.world.overlay["attr", id(obj), name] = (obj, value)
        self.session._keep.append(obj)

    def delattr(self, obj: Any, name: str) -> None:
        """``del obj.name``."""
        if self.world.is_tracked(obj):
            delattr(obj, name)
            return
        self.getattr(obj, name)
        self.world.overlay["attr", id(obj), name] = (obj, MISSING)


def lookup(cls: type, name: str) -> Any:
    """The class attribute ``name`` without binding it, or ``None``."""
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


def user_method(obj: Any, name: str) -> Any:
    """The special method of ``obj`` if it is user code that must be interpreted, else ``None``."""
    cls = type(obj)
    if cls.__module__ == "builtins" or isinstance(obj, Tensor | type):
        return None
    found = lookup(cls, name)
    if isinstance(found, types.FunctionType) and function_kind(found) == "user" and not is_generated(found):
        return found
    return None


def _is_data_descriptor(found: Any) -> bool:
    return hasattr(type(found), "__set__") or hasattr(type(found), "__delete__")


def _has_attr(obj: Any, name: str) -> bool:
    try:
        object.__getattribute__(obj, name)
    except AttributeError:
        return getattr(obj, name, MISSING) is not MISSING if not _has_user_getattr(obj) else False
    return True


def _has_user_getattr(obj: Any) -> bool:
    return is_interpreted(lookup(type(obj), "__getattr__"))
