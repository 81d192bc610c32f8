"""Calls of code that is not interpreted: it runs as it is, where it is known to be free of effects on the outside."""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.autodiff.grads import gradient_of
from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.ops.scalar import Scalar, as_scalar
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..rules.exceptions import check_raised
from ..rules.facts import has_slots, lookup
from ..rules.opaque import is_advanced, is_iterator, is_opaque
from ..rules.policy import function_kind, how_to_compile, is_generated, is_user_class, module_kind
from ..rules.purity import is_constant, is_framework_rule, is_pure, is_pure_method, method_class
from ..rules.watch import watched
from ..values.functions import CapturedFunction
from ..values.grown import GrownList
from ..values.movable import PLAIN
from ..values.text import GraphText, contains_symbolic, refusal
from ..values.world import CONTAINERS, World
from .callbacks import Callback, handed
from .chosen import item_at, static_size
from .fields import check_generated_init
from .library import of_context
from .native_errors import run_native
from .order import find, sort_list
from .special_methods import user_method
from .substitutes import SUBSTITUTES
from .texts import check_template, text_method

if TYPE_CHECKING:
    from ..session.session import Session

MAX_NUMBERS = 64
"""Elements that `tolist` turns into run-time numbers."""
_CONTAINER_METHODS = (
    *(list, dict, set, frozenset, str, tuple, int, float, bool, bytes, complex),
    *(range, slice, type(None)),
)  # fmt: skip
_CHANGES_CONTAINERS = ("heapq", "_heapq", "bisect", "_bisect", "operator", "_operator")
_LOOKING = ("get", "sort", "index", "count", "remove")
"""Methods of containers that look into what they hold."""
_READS_OBJECTS = ("copy", "dataclasses", "json")
_SLOTS = types.MethodWrapperType | types.WrapperDescriptorType
_BOUND = types.BuiltinMethodType | types.MethodWrapperType | types.MethodType
_COMPARE_CLASSES = (int, float, bool, complex, str, bytes)
_ARRAY_CHANGES = {
    *("fill", "sort", "resize", "put", "partition", "setflags", "itemset", "byteswap", "setfield"),
    *("place", "copyto", "putmask", "fill_diagonal", "put_along_axis", "at"),
}


def check_pure(fn: Any) -> None:
    """Refuses what is not known to be pure: of this package what is no rule of graphs, of others nearly all."""
    if isinstance(fn, types.FunctionType):
        kind = function_kind(fn)
        pure = is_framework_rule(fn) if kind == "framework" else is_generated(fn) or is_pure(fn)
    elif isinstance(fn, type) and is_user_class(fn):
        pure = True  # its own code is interpreted; what is left is its class in C
    elif isinstance(fn, Callback | CapturedFunction):
        pure = True
    elif isinstance(fn, type | types.MethodType | types.BuiltinFunctionType):
        pure = is_framework_rule(fn) if module_kind(fn.__module__) == "framework" else is_pure(fn)
    elif isinstance(called := lookup(type(fn), "__call__"), types.FunctionType):
        check_pure(called)
        return
    else:
        pure = is_framework_rule(type(fn)) if module_kind(type(fn).__module__) == "framework" else is_pure(fn)
    if pure:
        return
    name = raw_getattr(fn, "__qualname__", type(fn).__name__)
    module = raw_getattr(fn, "__module__") or type(fn).__module__
    what = "making an object of class" if isinstance(fn, type) else "a call of"
    way = how_to_compile(module) if isinstance(fn, types.FunctionType | type) else ""
    raise Uncapturable(f"{what} {module}.{name}, which is not known to be free of effects{way}")


def _iterates(fn: Any) -> bool:
    """Whether a method of a container takes what its arguments give one by one."""
    return isinstance(fn.__self__, CONTAINERS) and fn.__name__ in ("extend", "extendleft", "update")


class NativeCalls:
    """Runs native code. A part of `Calls`, which says what the attributes are."""

    session: Session
    semantics: Any
    world: World
    _rules: dict[int, Any]
    call: Callable[..., Any]

    def call_native(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs code that is not interpreted, if it is known to be free of effects on the outside world."""
        if id(fn) in self._rules and gradient_of(fn) is None:  # it may ask whether an argument is a string
            for value in (*args, *kwargs.values()):
                if type(value) is GraphText:
                    raise refusal(f"{fn.__name__} of", value)
        if id(fn) in self._rules and PLAIN.issuperset(map(type, args)):
            if not kwargs or PLAIN.issuperset(map(type, kwargs.values())):
                return self.semantics._fresh(run_native(self.session, fn, *args, **kwargs))
        if args and type(args[0]) is GrownList and id(fn) in self._rules and fn.__name__ in ("stack", "cat", "concat"):
            return run_native(self.session, args[0].joined, fn.__name__, *args[1:], **kwargs)
        if type(fn) is types.BuiltinMethodType and type(fn.__self__) is ContextVar:
            return of_context(self, fn, args, kwargs)
        check_template(fn)
        if len(args) == 1 and is_iterator(args[0]) and type(raw_getattr(fn, "__self__")) is str:
            args = (self.call(list, args, {}),)  # `join`, which makes a list of it before it looks at one
        text = text_method(self, fn, args, kwargs)
        if text is not None:
            return text
        self._check_native(fn, args, kwargs)
        if type(fn) is types.BuiltinMethodType and (name := fn.__name__) in _LOOKING:
            owner = fn.__self__
            if name == "get" and type(owner) is dict and args and type(args[0]) is Scalar and len(args) < 3:
                return item_at(self.semantics, owner, args[0], args[1] if len(args) > 1 else None)
            if name == "sort" and type(owner) is list and not args and kwargs.keys() <= {"key", "reverse"}:
                return sort_list(self, owner, kwargs.get("key"), kwargs.get("reverse", False))
            if isinstance(owner, list | tuple) and type(owner) in (list, tuple) and len(args) == 1:
                if any(is_user_class(type(v)) for v in (*owner, args[0])):
                    return find(self, name, owner, args[0])
        if isinstance(fn, types.BuiltinMethodType) and _iterates(fn):
            is_extended = fn.__name__ == "extend" and isinstance(fn.__self__, list)
            args = tuple(self._elements(a, len(args) == 1, is_extended) for a in args)
        for value in (*args, *kwargs.values()):
            if is_advanced(value):
                self.semantics.change_opaque(value)
            self.semantics._refuse_foreign(value)
        if raw_getattr(fn, "__module__") in _READS_OBJECTS:
            for value in (*args, *kwargs.values()):
                self._check_known(value)
                if raw_getattr(fn, "__module__", "") == "dataclasses":
                    watched(value if isinstance(value, type) else type(value), "__dataclass_fields__")
                if isinstance(value, Tensor) and fn is copy.copy:
                    raise Uncapturable("a shallow copy of a tensor")
        if fn is dataclasses.replace and args:
            check_generated_init(type(args[0]))
        args, kwargs = handed(self, fn, args, kwargs)
        return self.semantics._fresh(run_native(self.session, fn, *args, **kwargs))

    def _elements(self, value: Any, is_alone: bool, makes_room: bool) -> Any:
        """``value`` for a method of a container that takes what it gives one by one, while it is being changed.

        ``makes_room``: the method asks first how many there will be.
        """
        if user_method(value, "__iter__") is None:
            return value
        if user_method(value, "keys") is not None or not is_alone:  # asked for its iterator when its turn comes
            raise Uncapturable(f"a {type(value).__name__} that a container takes for a mapping, or after another one")
        made = self.semantics.iterate(value)
        if makes_room:
            self.semantics.ask_length(value)
        self.semantics.note_made(made)
        return made

    def _check_known(self, value: Any) -> None:
        """Native code that looks into objects must not look into outside ones: nothing would be guarded."""
        if id(value) in self.session.without_dictionary:
            raise Uncapturable(f"native code that reads attributes set on a {type(value).__name__!r} object")
        if isinstance(value, tuple | list | set | frozenset):
            for v in value:
                self._check_known(v)
        elif isinstance(value, dict):
            for v in value.values():
                self._check_known(v)
        elif (raw_hasattr(value, "__dict__") or has_slots(type(value))) and not isinstance(
            value, Tensor | type | types.FunctionType | types.ModuleType
        ):
            if not self.world.is_tracked(value):
                raise Uncapturable(f"native code that reads an outside object of class {type(value).__name__!r}")
            self._check_known(vars(value))

    def _item(self, x: Tensor, *index: Any) -> Any:
        """``x.item(*index)`` as a run-time number."""
        if index:
            where = index if len(index) > 1 else tuple(index[0]) if isinstance(index[0], list) else index[0]
            x = self.semantics.getitem(x if isinstance(where, tuple) else x.reshape((-1,)), where)  # type: ignore[attr-defined]
        dtype = x.dtype
        kind = "bool" if dtype.is_bool else "int" if dtype.is_integer else "float" if dtype.is_floating else None
        if kind is None:
            raise Uncapturable("item() of a complex tensor")
        return SUBSTITUTES[int if kind == "int" else float](self, x) if kind != "bool" else as_scalar(x, "bool")

    def _tolist(self, x: Tensor) -> Any:
        """``x.tolist()``: run-time numbers in lists."""
        size = static_size(x)
        if size is None or size > MAX_NUMBERS:
            raise Uncapturable(f"tolist() of a tensor of {size or 'an unknown number of'} elements")
        if x.ndim == 0:
            return self._item(x)
        return self.world.track([self._tolist(x[i]) for i in range(x.shape[0])])  # type: ignore[index]

    def _check_native(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        owner = raw_getattr(fn, "__self__") if not isinstance(fn, type) else None
        if owner is not None and not isinstance(owner, types.ModuleType | type):
            if isinstance(owner, types.GeneratorType) and fn.__name__ == "throw" and args:
                check_raised(args[0])
            self._check_receiver(fn, owner, args)
            return
        check_pure(fn)
        module = raw_getattr(fn, "__module__") or type(fn).__module__
        if module in _CHANGES_CONTAINERS:
            for value in args:
                self.session.note_changed(value)
        if module.startswith("numpy"):
            self._check_numpy(fn, (*args, *kwargs.values()))
            if isinstance(kwargs.get("out"), np.ndarray):
                self.semantics.change_opaque(kwargs["out"])
        elif raw_getattr(fn, "__objclass__") is not None and args:  # ``list.append(values, 3)``
            self._check_receiver(fn, args[0], args[1:])

    def _check_numpy(self, fn: Any, values: tuple[Any, ...]) -> None:
        for v in values:
            if isinstance(v, Tensor | Scalar) or contains_symbolic(v):
                raise Uncapturable(f"NumPy's {getattr(fn, '__name__', fn)} of a tensor")
            if isinstance(v, np.ndarray) and not self.semantics._is_inside(v):
                raise Uncapturable("a NumPy array from outside the compiled function")
            if isinstance(v, np.ndarray) and raw_getattr(fn, "__name__", "") in _ARRAY_CHANGES:
                self.semantics.change_opaque(v)

    def _check_receiver(self, fn: Any, owner: Any, args: tuple[Any, ...]) -> None:
        """Methods of built-in objects: containers are tracked or shadowed, other outside objects may not change."""
        name = raw_getattr(fn, "__name__", "")
        if isinstance(owner, Tensor | Scalar):
            return
        if any(isinstance(a, Scalar | GraphText) for a in args) and isinstance(fn, _SLOTS):
            if fn.__objclass__ in _COMPARE_CLASSES:  # which says `NotImplemented` to what is not a number, or no text
                raise Uncapturable(f"{fn.__qualname__}, called by its name, of a value that is only known at run time")
        if not self.session.is_made_inside(fn) and not isinstance(raw_getattr(fn, "__func__"), types.FunctionType):
            if isinstance(fn, _BOUND) and not is_constant(owner):  # machine code: nobody has seen the owner come in
                raise Uncapturable(f"the method {name!r} of an object from outside, bound outside")
        if isinstance(owner, CONTAINERS):
            self.world.find(owner)
            self.session.note_call(owner, name)
            return
        if is_opaque(owner) and (not isinstance(owner, np.ndarray) or name in _ARRAY_CHANGES):
            self.semantics.change_opaque(owner)
        if isinstance(owner, BaseException) and name == "add_note":
            self.world.opaque.change(owner)
        kind = type(owner)
        if isinstance(fn, types.MethodType):
            check_pure(fn.__func__)
        elif module_kind(kind.__module__) != "framework" and not is_pure_method(method_class(fn), name):
            raise Uncapturable(
                f"a call of {kind.__module__}.{kind.__qualname__}.{name}, which is not known to be free of effects"
            )
        if isinstance(owner, _CONTAINER_METHODS) or module_kind(kind.__module__) == "framework":
            return
        if self.world.is_tracked(owner) or self.semantics._is_inside(owner) or is_constant(owner):
            if isinstance(owner, np.ndarray | np.generic):
                self._check_numpy(fn, args)
            return
        raise Uncapturable(f"the method {name!r} of an object of class {type(owner).__name__!r} from outside")
