"""The verbs that write attributes: setting and deleting.

A write to an object of the program is done; one to an outside object goes to the overlay and is replayed after the run.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.tensor.eager import write
from duograph.tensor.parameter import Parameter, as_contents
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..rules.facts import MISSING, lookup
from ..rules.policy import is_generated, is_interpreted
from ..rules.sources import Pin
from ..rules.watch import watched
from ..values.functions import CapturedFunction, check_function_attribute
from ..values.settable import check_settable
from ..values.world import CONTAINERS, World, is_own_dictionary
from .special_methods import is_users_code, is_users_descriptor, special_method, user_method

if TYPE_CHECKING:
    from ..session.session import Session
    from .caller import Caller

OF_PARAMETERS = ("name", "requires_grad", "layerwise_parallel", "parallel_optimizer", "init_mode", "key")
"""Attributes that every Parameter has."""
_HELD_BY_VALUE = (str, bytes, int, float, complex, tuple, *CONTAINERS)


def _is_own(obj: Any, name: str, found: Any) -> bool:
    """Whether an attribute that is there is the object's own, in its dictionary or in a slot."""
    return name in raw_getattr(obj, "__dict__", ()) or hasattr(type(found), "__delete__")


class AttributeWrites:
    """Verbs that write attributes; a part of `Attributes`, which reads them."""

    calls: Caller
    session: Session
    world: World
    _is_inside: Callable[[Any], bool]
    _instance_attr: Callable[[Any, str], Any]
    getattr: Callable[..., Any]

    def setattr(self, obj: Any, name: str, value: Any) -> None:
        """``obj.name = value``."""
        cls = type(obj)
        found = watched(cls, name)
        hook = special_method(cls, "__setattr__")
        if is_interpreted(hook):
            self.calls.call(hook, (obj, name, value), {})
            return
        if isinstance(hook, types.FunctionType) and is_generated(hook):
            if not self.world.is_tracked(obj) or is_users_descriptor(found):
                raise Uncapturable(f"an attribute that is set on a frozen object of class {cls.__qualname__!r}")
            setattr(obj, name, value)
            return
        self.object_setattr(obj, name, value, setattr)

    def object_setattr(self, obj: Any, name: str, value: Any, store: Any = object.__setattr__) -> None:
        """Sets the attribute without asking the class for a ``__setattr__`` of the user.

        ``store`` does it to objects of the program.
        """
        found = watched(type(obj), name)
        if (setter := user_method(found, "__set__")) is not None:
            self.calls.call(setter, (found, obj, value), {})
            return
        if isinstance(found, property) and is_users_code(found.fset):
            self.calls.call(found.fset, (obj, value), {})
            return
        if isinstance(obj, CapturedFunction):
            check_function_attribute(obj, name)
        if name == "__dict__" and value is obj and type(vars(obj)) is dict and not vars(obj) and self._is_inside(obj):
            self.world.opaque.change(obj)  # for good: no other path is without it
            obj.__dict__ = obj
            return
        self._check_own(obj)
        self.session.check_attribute_of(obj)
        if self.world.is_tracked(obj) and id(obj) not in self.session.without_dictionary:
            store(obj, name, value)
            return
        if isinstance(obj, types.ModuleType):
            check_settable(obj, name, value)
            self.world.overwrite("global", vars(obj), name, value)
            return
        if isinstance(obj, Tensor) and not self.session.is_outside(obj):
            if found is None or name in OF_PARAMETERS:
                raise Uncapturable(f"the attribute {name!r} that is set on a tensor of the program's own")
        if isinstance(obj, Tensor) and (obj.is_symbolic or (isinstance(obj, Parameter) and name == "data")):
            setattr(obj, name, value)
            return
        held = self._param_of_cell(obj, name)
        value = as_contents(held, value)
        if held is not None and isinstance(value, Tensor) and not isinstance(value, Parameter):
            if held.abstract == value.abstract:
                write(held, value)
            else:
                held.set_data(value)
            return
        if isinstance(obj, np.ndarray):
            raise Uncapturable("a write to a NumPy array from outside the compiled function")
        check_settable(obj, name, value)
        self._overlay_attr(obj, name, value)

    def _param_of_cell(self, obj: Any, name: str) -> Any:
        params = None if isinstance(obj, type | Tensor) else raw_getattr(obj, "__dict__", {}).get("_params")
        is_one = isinstance(params, dict) and isinstance(params.get(name), Parameter)
        return self._instance_attr(obj, name) if is_one else None

    def _check_own(self, obj: Any) -> None:
        """Refuses to set or delete attributes of what is copied without them, or guarded by its value."""
        if isinstance(obj, dict) and (lookup(type(obj), "__setattr__") is dict.__setitem__ or is_own_dictionary(obj)):
            self.session.note_changed(obj)  # a dictionary whose attributes are its items
        elif isinstance(obj, CONTAINERS) and raw_hasattr(obj, "__dict__") and id(obj) not in self.session.originals:
            self.session.without_dictionary[id(obj)] = obj  # its contents are tracked, these are not
        elif isinstance(obj, _HELD_BY_VALUE):
            raise Uncapturable(f"an attribute that is set on an object of class {type(obj).__qualname__!r}, or deleted")

    def _overlay_attr(self, obj: Any, name: str, value: Any) -> None:
        if id(obj) in self.session.read_whole:
            raise Uncapturable("a write to an object from outside whose dictionary the program has read")
        if isinstance(obj, type) and name.startswith("__"):
            raise Uncapturable("a special method that is set on a class")
        if isinstance(obj, Tensor):  # guards of tensors are about facts: another one of the same would pass
            self.session.guards.add(self.session.tensor_source(obj), "is", Pin(obj))
        self.session.changes_classes |= isinstance(obj, type)
        self.world.overwrite("attr", obj, name, value)
        self.session._keep.append(obj)

    def delattr(self, obj: Any, name: str) -> None:
        """``del obj.name``."""
        method = user_method(obj, "__delattr__")
        if method is not None:
            self.calls.call(method, (obj, name), {})
            return
        found = watched(cls := type(obj), name)
        deleter = found.fdel if isinstance(found, property) else None
        if is_interpreted(deleter):
            self.calls.call(deleter, (obj,), {})
            return
        deleter = user_method(found, "__delete__")
        if deleter is not None:
            self.calls.call(deleter, (found, obj), {})
            return
        if is_users_descriptor(found):
            raise Uncapturable(f"the attribute {name!r} of a {cls.__name__} object, which may not be deleted")
        self._check_own(obj)
        self.session.check_attribute_of(obj)
        if self.world.is_tracked(obj) and id(obj) not in self.session.without_dictionary:
            delattr(obj, name)
            return
        if isinstance(found, types.MemberDescriptorType):
            raise Uncapturable(f"the attribute {name!r} of a {cls.__name__} object, which has no dictionary for it")
        try:
            self.getattr(obj, name)
        except AttributeError as exc:  # where something is deleted, Python does not say by its ``name`` what is missing
            if lookup(cls, "__getattr__") is not None:  # which has words of its own
                raise Uncapturable(f"the missing attribute {name!r} of a {cls.__name__} object is deleted") from exc
            raise AttributeError(*exc.args) from None
        hook = lookup(cls, "__delattr__")
        if isinstance(hook, types.FunctionType) and is_generated(hook):
            raise Uncapturable(f"the attribute {name!r} of a {cls.__name__} object, which may not be deleted")
        if ("attr", id(obj), name) not in self.world.overlay and not _is_own(obj, name, found):
            raise Uncapturable(f"the deleted attribute {name!r}, which the class has")
        self._overlay_attr(obj, name, MISSING)
