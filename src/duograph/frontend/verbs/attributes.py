"""The verbs of attributes: reading, writing, deleting; descriptors, properties and ``__getattr__`` of the user.

What is found on an outside object is guarded, also that it is missing; what is written to one goes to the overlay.
"""

from __future__ import annotations

import functools
import operator
import pathlib
import sys
import types
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.core.dim import Dim
from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.scalar import Scalar, dim_size
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from ..rules import sources
from ..rules.errors import Uncapturable
from ..rules.exceptions import check_trace
from ..rules.facts import HEAP_TYPE, HELD, MISSING, is_plain_descriptor, lookup
from ..rules.opaque import is_opaque
from ..rules.policy import is_interpreted, is_user_class, module_kind
from ..rules.readers import own_attribute, reader_of
from ..rules.watch import watched
from ..values.factories import factory_of
from ..values.functions import CapturedFunction, check_function_attribute
from ..values.restricted import Restricted
from ..values.text import GraphText
from ..values.world import CONTAINERS, World
from .attribute_writes import OF_PARAMETERS, AttributeWrites
from .partials import bound_partial
from .special_methods import (
    PROPERTY_GETTERS,
    has_user_getattr,
    is_answered_by_code,
    is_data_descriptor,
    is_users_code,
    is_users_descriptor,
    special_method,
    user_method,
)

if TYPE_CHECKING:
    from ..session.session import Session
    from .caller import Caller


class Attributes(AttributeWrites):
    """Verbs of attributes; a part of `Semantics`."""

    calls: Caller
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
        if name in ("__dict__", "__globals__"):
            self.check_namespace(obj, name)
        if isinstance(obj, CapturedFunction):
            check_function_attribute(obj, name)
            if name == "__class__":
                return types.FunctionType
        if name == "default_factory" and isinstance(obj, defaultdict):
            return factory_of(obj)
        if isinstance(obj, Tensor):
            return self._tensor_attr(obj, name)
        if isinstance(obj, GraphText):
            return obj.attribute(name)
        if isinstance(obj, types.ModuleType):
            return self._module_attr(obj, name)
        if isinstance(obj, super):
            return self._super_attr(obj, name)
        if isinstance(obj, types.MethodType) and not name.startswith("__"):
            return self._getattr(obj.__func__, name)
        if isinstance(obj, _METHODS):
            return getattr(obj, name)
        if isinstance(obj, Scalar | NumpyScalar):
            return self._scalar_attr(obj, name)
        if isinstance(obj, _VALUES) and not is_user_class(type(obj)):
            return getattr(obj, name)
        if isinstance(obj, type):
            return self._class_attr(obj, name)
        if name in HELD.get(type(obj), ()) and self._is_inside(obj):
            return getattr(obj, name)  # values of the program, which are held as they are
        return self._instance_attr(obj, name)

    def check_namespace(self, obj: Any, name: str) -> None:
        """The dictionary of an outside object may be read as long as the program does not write to the object."""
        if name == "__globals__" or isinstance(obj, CONTAINERS):
            raise Uncapturable(f"the attribute {name!r} of a {type(obj).__name__} object")
        if self.world.is_tracked(obj):
            return
        self.session.read_whole.add(id(obj))
        if any(kind == "attr" and owner == id(obj) for kind, owner, _ in self.world.overlay):
            raise Uncapturable("the dictionary of an object from outside that the program has written to")

    def _super_attr(self, obj: Any, name: str) -> Any:
        """``super().name``: what the classes behind this one define."""
        if obj.__self_class__ is None:  # ``super(Class)``, bound to nothing yet
            return getattr(obj, name)
        order = obj.__self_class__.__mro__
        behind = order[order.index(obj.__thisclass__) + 1 :]
        self._check_classes(behind, name)
        for cls in behind:
            watched(cls, name)
            if name in vars(cls):
                break
        else:
            return getattr(obj, name)
        found = vars(cls)[name]
        of_class = obj.__self__ is obj.__self_class__
        if is_plain_descriptor(found):
            return getattr(obj, name)
        if isinstance(found, property) and type(found) is property:
            return found if of_class else self.calls.call(found.fget, (obj.__self__,), {})
        getter = user_method(found, "__get__")
        if getter is not None:
            return self.calls.call(getter, (found, None if of_class else obj.__self__, obj.__self_class__), {})
        if hasattr(type(found), "__get__"):
            raise Uncapturable(f"super().{name}, which is a {type(found).__name__}")
        return self._class_attr(cls, name)

    def _module_attr(self, module: types.ModuleType, name: str) -> Any:
        """An attribute of a module, which anyone may set; modules of this package are read when they are asked."""
        namespace = vars(module)
        key = ("global", id(namespace), name)
        if key in self.world.overlay:
            return self._present(self.world.overlay[key][1], module, name)
        if name not in namespace and not hasattr(types.ModuleType, name):
            hook = namespace.get("__getattr__")
            if is_interpreted(hook):
                self.session.guards.add(sources.pinned(namespace), "no item", name)
                hook = self.session.external(hook, sources.global_(namespace, "__getattr__"))
                return self.calls.call(hook, (name,), {})
        if is_users_descriptor(watched(type(module), name)):
            raise Uncapturable(f"the attribute {name!r} that module {module.__name__!r} computes")
        value = self._present_attr(module, name)
        if name not in namespace:
            if module_kind(module.__name__) == "framework":
                self.session.guards.add(sources.pinned(namespace), "no item", name)
                return value
            raise Uncapturable(f"the attribute {name!r} that module {module.__name__!r} computes")
        if isinstance(value, dict) and module is sys:
            raise Uncapturable(f"sys.{name}")
        if is_interpreted(namespace.get("__getattr__")):
            self.session.guards.add(self.session.source_of(module), "own value", name)
        return self.session.external(value, sources.attr(self.session.source_of(module), name))

    @staticmethod
    def _scalar_attr(obj: Scalar | NumpyScalar, name: str) -> Any:
        if isinstance(obj, NumpyScalar):
            raise Uncapturable(f"{name!r} of a number of NumPy's that is only known at run time")
        kind = obj.type.python_type
        if not hasattr(kind, name):
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}", name=name, obj=obj)
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
        if name == "grad" and isinstance(obj, Parameter):
            raise Uncapturable("the attribute `grad` of a Parameter")
        found = watched(type(obj), name)
        if id(obj) in (choices := self.session.choices).made:
            choices.check_attribute(obj, found, name)
        known = lookup(Parameter if isinstance(obj, Parameter) else Tensor, name)
        if is_user_class(type(obj)) and (found is None or found is not known):
            if self.session.is_outside(obj):
                return self._instance_attr(obj, name)
            self.session.check_attribute_of(obj)
            if type(found) is property and is_interpreted(found.fget):
                return self.calls.call(found.fget, (obj,), {})
        if isinstance(found, types.FunctionType) and is_interpreted(found):
            return types.MethodType(found, obj)
        if found is None and (origin := self.session.binder.origin_of(obj)) is not obj:
            return self._tensor_attr(origin, name)
        if found is None:
            self.session.check_attribute_of(obj)
        if not self.session.is_outside(obj) or callable(found):
            return getattr(obj, name)
        source = sources.attr(self.session.tensor_source(obj), name)
        if name in raw_getattr(obj, "__dict__", ()) or name in OF_PARAMETERS:
            return self.session.external(getattr(obj, name), source)
        if lookup(type(obj), name, MISSING) is MISSING:  # a Parameter answers for flags that nobody has set
            self.session.guards.add(self.session.tensor_source(obj), "no own attribute", name)
        return getattr(obj, name)

    def _present(self, value: Any, obj: Any, name: str) -> Any:
        if value is MISSING:
            classes = (*(obj.__mro__[1:] if isinstance(obj, type) else ()), *type(obj).__mro__)
            self._check_classes(classes, name)
            if any(name in vars(cls) for cls in classes) or is_interpreted(lookup(type(obj), "__getattr__")):
                raise Uncapturable("an attribute that the program has deleted, which the class has, too, or computes")
            whose = f"{type(obj).__name__!r} object"
            if isinstance(obj, type | types.ModuleType):
                whose = f"{'type object' if isinstance(obj, type) else 'module'} {obj.__name__!r}"
            raise AttributeError(f"{whose} has no attribute {name!r}", name=name, obj=obj)
        return value

    def _check_classes(self, classes: Sequence[type], name: str) -> None:
        """What the program has set on a class is not looked for where instances and derived classes are read."""
        if self.session.changes_classes and any(("attr", id(cls), name) in self.world.overlay for cls in classes):
            raise Uncapturable("an attribute that the program has set on a class, read through another object")

    def _class_attr(self, cls: type, name: str) -> Any:
        if (held := self.world.overlay.get(("attr", id(cls), name))) is not None:
            return self._present(held[1], cls, name)
        self._check_classes(cls.__mro__, name)
        if name == "__dict__":
            raise Uncapturable("the dictionary of a class")
        found = lookup(cls, name)
        of_class = watched(type(cls), name)
        if type(of_class) is property and is_interpreted(of_class.fget):
            return self.calls.call(of_class.fget, (cls,), {})
        if is_users_descriptor(of_class) or (found is None and user_method(cls, "__getattr__")):
            raise Uncapturable(f"the attribute {name!r} that the class of class {cls.__qualname__!r} computes")
        if is_users_descriptor(found) and type(found) is not property:
            watched(cls, name)
            if (getter := user_method(found, "__get__")) is None:
                raise Uncapturable(f"{cls.__qualname__}.{name}, which is a {type(found).__name__}")
            return self.calls.call(getter, (found, None, cls), {})
        value = self._present_attr(cls, name)
        if isinstance(value, property):
            watched(cls, name)
            return value
        if not cls.__flags__ & HEAP_TYPE:
            return value
        source = sources.attr(self.session.source_of(cls), name)
        if name in _FACTS or not callable(value):
            return self.session.external(value, source)
        watched(cls, name)
        return value

    def _present_attr(self, obj: Any, name: str) -> Any:
        """An attribute of an outside object; that it is missing is an assumption too."""
        lacks = self.world.read_cell(obj) if type(obj) is types.CellType else AttributeError
        try:
            return getattr(obj, name) if reader_of(type(obj)) is None else object.__getattribute__(obj, name)
        except lacks:
            is_made = self.world.is_tracked(obj) or id(obj) in self.session.without_dictionary
            is_made = is_made or (isinstance(obj, BaseException) and self._is_inside(obj))
            if not is_made and not isinstance(obj, Tensor | np.ndarray | np.generic):
                self.session.guards.add(self.session.source_of(obj), "no attribute", name)
            raise

    def _instance_attr(self, obj: Any, name: str) -> Any:
        reader = reader_of(type(obj))
        if reader is None:
            return self.found_attr(obj, name)
        watched(type(obj), "__getattribute__")
        try:
            return self.calls.call(reader, (obj, name), {})
        except AttributeError:
            if (hook := special_method(type(obj), "__getattr__")) is None:
                raise
        if not is_interpreted(hook):
            raise Uncapturable("an attribute of a class with a __getattribute__ that leaves it to a native __getattr__")
        return self.calls.call(hook, (obj, name), {})

    def found_attr(self, obj: Any, name: str) -> Any:
        """What is found on the object or its class; an own ``__getattribute__`` is not asked."""
        key = ("attr", id(obj), name)
        if key in self.world.overlay:
            return self._present(self.world.overlay[key][1], obj, name)
        cls = type(obj)
        if isinstance(obj, Restricted) and lookup(cls, name) is None:
            obj.refuse()
        check_trace(obj, name)
        self._check_classes(cls.__mro__, name)
        found = lookup(cls, name)
        if found is None or hasattr(type(found), "__get__") or isinstance(found, types.BuiltinFunctionType):
            watched(cls, name)
        if isinstance(found, property | types.DynamicClassAttribute) and user_method(found, "__get__") is None:
            if lookup(type(found), "__get__") not in PROPERTY_GETTERS:
                raise Uncapturable(f"the attribute {name!r}, which is a {type(found).__qualname__}")
            if is_users_code(found.fget):
                return self._or_hook(obj, found.fget, (obj,))
            value = getattr(obj, name)
            if self.world.is_tracked(obj) or type(obj) in _PATHS:
                return value
            return self._outside_attr(obj, name, value)
        watched(cls, "__getattribute__")
        if found is None and not _has_attr(obj, name):
            hook = special_method(cls, "__getattr__")
            if is_interpreted(hook):
                if not self.world.is_tracked(obj):
                    self.session.guards.add(self.session.source_of(obj), "no own attribute", name)
                return self.calls.call(hook, (obj, name), {})
        if isinstance(found, functools.cached_property) and name not in vars(obj) and is_users_code(found.func):
            self._check_own(obj)
            made = self.calls.call(found.func, (obj,), {})
            if self.world.is_tracked(obj):
                vars(obj)[name] = made
            else:
                self.session.guards.add(self.session.source_of(obj), "no value", name)
                self._overlay_attr(obj, name, made)
            return made
        getter = user_method(found, "__get__")
        if getter is not None and (name not in raw_getattr(obj, "__dict__", ()) or is_data_descriptor(found)):
            return self._or_hook(obj, getter, (found, obj, cls))
        if type(found) is classmethod and is_users_descriptor(found):
            raise Uncapturable(f"the attribute {name!r}, a class method that wraps a {type(found.__func__).__name__}")
        if type(found) is functools.partialmethod and name not in raw_getattr(obj, "__dict__", ()):
            return bound_partial(self.session, found, obj)
        is_made = self.world.is_tracked(obj) or id(obj) in self.session.without_dictionary
        if _is_data_of_class(obj, found, name):
            if not is_made and raw_hasattr(
                obj, "__dict__"
            ):  # where the class gets a property later, a guard that asked the object would run it
                self.session.guards.add(self.session.source_of(obj), "no value", name)
            return self._class_attr(cls, name)
        value = self._present_attr(obj, name)
        if id(obj) in self.session.without_dictionary:
            return value
        if isinstance(obj, tuple) and name in getattr(cls, "_fields", ()):
            return value  # of a namedtuple: its items entered the program with it, or were made by it
        if (
            found is not None
            and isinstance(value, types.MethodType)
            and (value.__self__ is obj or value.__self__ is cls)
        ):
            return self._guard_method(obj, cls, name, value)
        if self.world.is_tracked(obj) or isinstance(
            found, types.FunctionType | staticmethod | types.BuiltinFunctionType
        ):
            return self._guard_method(obj, cls, name, value)
        if isinstance(obj, np.ndarray | np.generic):
            if self._is_inside(obj):
                return value
            if type(obj) is np.ndarray and name in _FACTS_OF_ARRAYS:
                tensor = self.session.of_array(obj)
                return value if name == "dtype" else self._tensor_attr(tensor, name)
            raise Uncapturable("a NumPy array from outside the compiled function")
        if name in raw_getattr(obj, "__dict__", ()) and is_answered_by_code(cls, found):
            self.session.guards.add(self.session.source_of(obj), "own value", name)  # a guard runs no code of the user
        return self._outside_attr(obj, name, value)

    def _or_hook(self, obj: Any, getter: Any, args: tuple[Any, ...]) -> Any:
        """``getter(*args)``; where it says that there is no such attribute, Python asks ``__getattr__``."""
        try:
            return self.calls.call(getter, args, {})
        except AttributeError:
            if watched(type(obj), "__getattr__") is not None:
                raise Uncapturable("an attribute that its getter misses, of a class with __getattr__") from None
            raise

    def _guard_method(self, obj: Any, cls: type, name: str, value: Any) -> Any:
        """``value``, which ``obj`` has under the name of a method: its own, or that of its class, which is watched."""
        own = raw_getattr(obj, "__dict__")
        if not is_user_class(cls) or self.world.is_tracked(obj) or not isinstance(own, dict):
            return value
        if name in own:
            return self.session.external(value, own_attribute(self.session.source_of(obj), obj, name))
        self.session.guards.add(self.session.source_of(obj), "no value", name)
        return value

    def _outside_attr(self, obj: Any, name: str, value: Any) -> Any:
        if isinstance(value, (*_METHODS, types.MethodWrapperType)) and name not in raw_getattr(obj, "__dict__", ()):
            if value.__self__ is obj or value.__self__ is type(obj):  # a method of its class
                return value
        if (isinstance(obj, BaseException) or is_opaque(obj)) and self._is_inside(obj):
            return value
        return self.session.external(value, own_attribute(self.session.source_of(obj), obj, name))

    def _is_inside(self, obj: Any) -> bool:
        return id(obj) not in self.session._object_sources


_METHODS = (types.MethodType, types.BuiltinMethodType)
_PATHS = (pathlib.PosixPath, pathlib.WindowsPath, pathlib.PurePosixPath, pathlib.PureWindowsPath)
"""Classes of objects that never change, but whose properties give a new object each time."""
_VALUES = (GraphText, str, bytes, int, float, complex, tuple, list, dict, set)
_FACTS_OF_ARRAYS = ("shape", "dtype", "ndim", "size", "itemsize", "nbytes")
_FACTS = ("__name__", "__qualname__", "__module__", "__doc__", "__bases__", "__mro__", "__annotations__")


def _is_data_of_class(obj: Any, found: Any, name: str) -> bool:
    """Whether ``obj.name`` is ``found``, which its class holds as it is: it lives outside, and may change."""
    if found is None or hasattr(type(found), "__get__") or not is_user_class(type(obj)):
        return False
    return name not in raw_getattr(obj, "__dict__", ())


def _has_attr(obj: Any, name: str) -> bool:
    try:
        object.__getattribute__(obj, name)
    except AttributeError:
        return getattr(obj, name, MISSING) is not MISSING if not has_user_getattr(obj) else False
    return True
