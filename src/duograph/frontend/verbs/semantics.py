"""The verbs of Python on values of the captured program: getattr, setattr, getitem, operators, truth, iteration.

The driver (`frontend/ast`) sequences these verbs; they alone know what is tracked and what needs a guard.
Values are ordinary Python values, so most verbs are Python's own operation, after asking three questions: does the
operation read something from outside (guard), does it change something outside (overlay), would it run user code
behind our back (then that code is interpreted)?
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import operator
import os
import types
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.scalar import Scalar, as_scalar
from duograph.tensor.tensor import Tensor

from ..control.paths import Outcome
from ..rules import sources
from ..rules.errors import Uncapturable, WholeOnly
from ..rules.exact import may_be_one_object
from ..rules.facts import has_slots, lookup
from ..rules.opaque import is_iterator, is_opaque
from ..rules.policy import is_generated, is_interpreted, is_user_class, module_kind
from ..rules.purity import is_constant
from ..values.factories import factory_of
from ..values.grown import GrownList
from ..values.movable import PLAIN
from ..values.restricted import Restricted
from ..values.text import GraphText, Percent, contains_symbolic, rendered
from ..values.world import CONTAINERS, Conflict
from .attributes import Attributes
from .chosen import are_equal, is_among, is_index, is_sequence, item_at, part, position, static_size
from .dispatch import comparisons_in_turn, operands_in_turn
from .native_errors import run_native
from .operands import check_holder, check_key, check_operand, check_text
from .special_methods import user_method
from .texts import percent

if TYPE_CHECKING:
    from ..session.session import Session
    from .caller import Caller

IN_PLACE = {
    operator.iadd: "__iadd__", operator.isub: "__isub__", operator.imul: "__imul__", operator.itruediv: "__itruediv__",
    operator.ifloordiv: "__ifloordiv__", operator.imod: "__imod__", operator.ipow: "__ipow__",
    operator.imatmul: "__imatmul__", operator.iand: "__iand__", operator.ior: "__ior__", operator.ixor: "__ixor__",
    operator.ilshift: "__ilshift__", operator.irshift: "__irshift__",
}  # fmt: skip
PLAIN_OF = {
    operator.iadd: operator.add, operator.isub: operator.sub, operator.imul: operator.mul,
    operator.itruediv: operator.truediv, operator.ifloordiv: operator.floordiv, operator.imod: operator.mod,
    operator.ipow: operator.pow, operator.imatmul: operator.matmul, operator.iand: operator.and_,
    operator.ior: operator.or_, operator.ixor: operator.xor, operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift,
}  # fmt: skip
DUNDER = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "truediv",
    operator.floordiv: "floordiv", operator.mod: "mod", operator.pow: "pow", operator.matmul: "matmul",
    operator.and_: "and", operator.or_: "or", operator.xor: "xor", operator.lshift: "lshift",
    operator.rshift: "rshift",
}  # fmt: skip
_ENVIRONMENT = vars(os)["_Environ"]
_ORDERS = (operator.lt, operator.le, operator.gt, operator.ge)
COMPARE_DUNDER = {
    operator.eq: ("__eq__", "__eq__"), operator.ne: ("__ne__", "__ne__"), operator.lt: ("__lt__", "__gt__"),
    operator.le: ("__le__", "__ge__"), operator.gt: ("__gt__", "__lt__"), operator.ge: ("__ge__", "__le__"),
}  # fmt: skip


_GIVES = {
    "__bool__": ("bool",), "__len__": ("int",), "__str__": ("str",), "__repr__": ("str",), "__format__": ("str",),
    "__index__": ("int",), "__int__": ("int",), "__float__": ("float",),
}  # fmt: skip
"""What Python takes from these methods; an error, a warning or a conversion is left to itself."""


class Semantics(Attributes):
    """Verbs over one session. ``calls`` runs functions; it is set by the driver."""

    calls: Caller

    def __init__(self, session: Session) -> None:
        self.session = session
        self.world = session.world

    # -- items -------------------------------------------------------------------------------------------------

    def getitem(self, obj: Any, key: Any) -> Any:
        """``obj[key]``."""
        self._refuse_foreign(key)
        if isinstance(obj, Tensor):
            return run_native(self.session, operator.getitem, obj, key)
        if isinstance(obj, GrownList):
            return self._of_grown(obj, key)
        method = user_method(obj, "__getitem__")
        if method is not None:
            return self.calls.call(method, (obj, key), {})
        if type(obj) is _ENVIRONMENT:
            return self.calls.call(type(obj).__getitem__, (obj, key), {})
        if isinstance(obj, type):
            made = lookup(obj, "__class_getitem__")
            made = made.__func__ if isinstance(made, classmethod) else made
            if is_interpreted(made):
                return self.calls.call(made, (obj, key), {})
            return self.calls.call_native(operator.getitem, (obj, key), {})
        if isinstance(obj, dict):
            check_key(self.session, key)
        if isinstance(obj, dict) and type(obj) is not dict and not contains_symbolic(key) and key not in obj:
            method = user_method(obj, "__missing__")
            if method is not None:
                return self.calls.call(method, (obj, key), {})
            if isinstance(obj, defaultdict) and lookup(type(obj), "__missing__") is defaultdict.__missing__:
                return self._made_default(obj, key)
        if (isinstance(key, Tensor | Scalar) and is_sequence(obj)) or (isinstance(obj, dict) and type(key) is Scalar):
            return item_at(self, obj, key)
        if is_sequence(obj) and (method := user_method(key, "__index__")) is not None and not isinstance(key, int):
            key = self.special("__index__", method, key)
        if isinstance(key, slice) and is_sequence(obj) and contains_symbolic((key.start, key.stop, key.step)):
            key = slice(*[self.known(x) for x in (key.start, key.stop, key.step)])
        if isinstance(key, slice) and is_sequence(obj) and contains_symbolic((key.start, key.stop, key.step)):
            return part(self, obj, key)
        if isinstance(obj, np.ndarray) and not self._is_inside(obj):
            if type(obj) is np.ndarray and obj.ndim == 1 and obj.dtype.kind in "fi":
                if type(key) is int or (isinstance(key, Scalar) and key.kind == "int"):
                    return self._element(obj, key)
            raise Uncapturable("a NumPy array from outside the compiled function")
        self._check_lookup(obj)
        is_cell = "_cells" in raw_getattr(obj, "__dict__", ())
        if is_cell:
            check_holder(self.session, obj)
        value = run_native(self.session, operator.getitem, obj, key)
        if isinstance(obj, list | tuple | dict | str | range | bytes) or self.world.is_tracked(obj):
            if isinstance(value, CONTAINERS) and not isinstance(key, slice):
                self.world.find(value)
            return self._fresh(value)
        if not is_cell:
            self.refuse_unknown(obj)
        slices = any(isinstance(k, slice) for k in (key if isinstance(key, tuple) else (key,)))
        if slices and module_kind(type(obj).__module__) == "framework":
            self.session.parts[id(value)] = value
            return self._fresh(value)  # some layers of a `CellList`, a grid of `numpy.mgrid`: a new one
        if self._is_inside(obj) or isinstance(obj, np.ndarray):
            return self._fresh(value)
        return self.session.external(value, sources.item(self.session.source_of(obj), _plain_key(key)))

    def _element(self, array: np.ndarray, index: Any) -> Any:
        """A number in a NumPy array from outside, as the call finds it."""
        if type(index) is int:
            array[index]  # which may raise
        element = self.session.of_array(array)[index]  # type: ignore[index]
        kind = "float" if array.dtype.kind == "f" else "int"
        return NumpyScalar(as_scalar(element, kind), array.dtype.type, element.dtype, None)

    def _made_default(self, obj: Any, key: Any) -> Any:
        """What a defaultdict gives for a key that is missing: its factory may be the user's."""
        factory = factory_of(obj)
        if factory is None:
            raise KeyError(key)
        made = self.calls.call(factory, (), {})
        self.setitem(obj, key, made)
        return made

    def _check_lookup(self, obj: Any) -> None:
        """Refuses items of an outside object of a library: that one is missing could not be guarded."""
        kind = type(obj)
        if isinstance(obj, (*CONTAINERS, tuple, str, bytes, range, np.ndarray, np.generic)) or is_constant(obj):
            return
        if self.world.is_tracked(obj) or self._is_inside(obj) or module_kind(kind.__module__) == "framework":
            return
        raise Uncapturable(f"an item of an object of class {kind.__module__}.{kind.__qualname__} from outside")

    def known(self, index: Any) -> Any:
        """An integer that is only known at run time as the run that is recorded has it; else as it is."""
        if not isinstance(index, Tensor | Scalar) or self.session.regions.recording is None or not is_index(index):
            return index
        found = self.session.regions.known(as_scalar(index, "int"))
        return index if found is None else int(found)

    def _fresh(self, value: Any) -> Any:
        """Results of native operations: new containers and instances are tracked from now on."""
        kind = type(value)
        if kind in PLAIN or self.world.is_tracked(value) or isinstance(value, enum.Enum):  # its class keeps a member
            return value
        if isinstance(value, CONTAINERS):
            self.world.track(value)
            self._all_fresh(dict.values(value) if isinstance(value, dict) else value)
        elif kind is tuple:
            self._all_fresh(value)
        elif (
            (is_user_class(kind) or kind is types.SimpleNamespace)
            and _is_plain_instance(value)
            and self._is_inside(value)
        ):
            self.world.track(value)
            self._all_fresh(vars(value).values())  # a copy may have been made with all that it holds
        else:
            self.note_made(value)
        return value

    def _all_fresh(self, values: Collection[Any]) -> None:
        if not PLAIN.issuperset(map(type, values)):
            for value in values:
                self._fresh(value)

    def note_made(self, value: Any) -> None:
        """``value`` is the result of a call: if it is an iterator or the like, it may be new."""
        if is_opaque(value) and self._is_inside(value):
            self.world.opaque.made(value)

    def change_opaque(self, obj: Any) -> None:
        """``obj``, whose changes are not tracked, is about to change."""
        if is_opaque(obj):
            if not self._is_inside(obj):
                raise Uncapturable(f"a change of a {type(obj).__name__} object from outside the compiled function")
            self.world.opaque.change(obj)

    def setitem(self, obj: Any, key: Any, value: Any) -> None:
        """``obj[key] = value``."""
        method = user_method(obj, "__setitem__")
        if method is not None and not isinstance(obj, Tensor):
            self.calls.call(method, (obj, key, value), {})
            return
        self._check_mutable(obj)
        if isinstance(obj, list) and isinstance(key, Tensor | Scalar):
            key = position(self, obj, key)
        if isinstance(key, slice) and isinstance(obj, list):  # takes what `value` gives
            self.change_opaque(value)
        run_native(self.session, operator.setitem, obj, key, value)

    def delitem(self, obj: Any, key: Any) -> None:
        """``del obj[key]``."""
        method = user_method(obj, "__delitem__")
        if method is not None:
            self.calls.call(method, (obj, key), {})
            return
        self._check_mutable(obj)
        run_native(self.session, operator.delitem, obj, key)

    def _check_mutable(self, obj: Any) -> None:
        if isinstance(obj, Tensor):
            return
        if isinstance(obj, CONTAINERS):
            self.world.find(obj)
            self.session.note_changed(obj)
            return
        if isinstance(obj, np.ndarray):
            self._refuse_foreign(obj)
        if is_opaque(obj):
            self.change_opaque(obj)
        elif not self.world.is_tracked(obj) and not self._is_inside(obj):
            raise Uncapturable(f"a write into an object of class {type(obj).__name__!r} from outside")

    # -- operators ---------------------------------------------------------------------------------------------

    def binary(self, op: Any, a: Any, b: Any) -> Any:
        """``a op b``."""
        if type(a) is str and op is operator.mod:
            a, b = percent(self.calls, a, b)
        if isinstance(a, str) and op is operator.mod and contains_symbolic(b):
            return rendered(Percent(a), b)
        if isinstance(a, str | bytes) and op is operator.mod:
            check_text(self.session, b)
        name = DUNDER[op]
        for obj, other, method_name in operands_in_turn(a, b, f"__{name}__", f"__r{name}__"):
            method = user_method(obj, method_name)
            if method is not None:
                result = self.calls.call(method, (obj, other), {})
                if result is not NotImplemented:
                    return result
        self._refuse_foreign(a, b)
        return self._fresh(run_native(self.session, op, a, b))

    def in_place(self, op: Any, a: Any, b: Any) -> Any:
        """The value of ``a`` after ``a op= b``."""
        method = user_method(a, IN_PLACE[op])
        if method is not None:
            result = self.calls.call(method, (a, b), {})
            if result is not NotImplemented:
                return result
        if isinstance(a, CONTAINERS) and op in (operator.iadd, operator.imul, operator.ior, operator.iand,
                                                      operator.isub, operator.ixor):  # fmt: skip
            self._check_mutable(a)
            self.session.note_call(a, IN_PLACE[op])
            self.change_opaque(b)
            return run_native(self.session, op, a, b)
        if isinstance(a, Tensor):
            return run_native(self.session, op, a, b)
        if is_opaque(a):
            self._refuse_foreign(a, b)
            self.change_opaque(a)
            return run_native(self.session, op, a, b)
        return self.binary(PLAIN_OF[op], a, b)

    def compare(self, op: Any, a: Any, b: Any) -> Any:
        """``a op b`` for ``== != < <= > >=``."""
        left, right = COMPARE_DUNDER[op]
        for obj, other, name in comparisons_in_turn(a, b, left, right):
            result = self._compare_by(name, obj, other)
            if result is not NotImplemented:
                return result
        if op in (operator.eq, operator.ne) and type(a) is type(b) and has_generated(type(a), "__eq__"):
            return self._compare_fields(op, a, b)
        if op in _ORDERS and type(a) is type(b) and has_generated(type(a), left):
            return self._order_fields(op, a, b)
        if op in (operator.eq, operator.ne) and (same := are_equal(a, b)) is not None:
            return same if op is operator.eq else same == False  # noqa: E712
        self._refuse_foreign(a, b)
        return run_native(self.session, op, a, b)

    def _compare_by(self, name: str, obj: Any, other: Any) -> Any:
        """What the user's comparison ``name`` of ``obj`` says; ``object.__ne__`` asks the ``__eq__`` of its class."""
        method = user_method(obj, name)
        if method is not None:
            return self.calls.call(method, (obj, other), {})
        if name != "__ne__" or lookup(type(obj), name) is not object.__ne__:
            return NotImplemented
        method = user_method(obj, "__eq__")
        result = NotImplemented if method is None else self.calls.call(method, (obj, other), {})
        if result is NotImplemented:
            return result
        same = self.truth(result)
        return same == False if isinstance(same, Scalar) else not same  # type: ignore[comparison-overlap]  # noqa: E712

    def _compare_fields(self, op: Any, a: Any, b: Any) -> bool:
        """The ``==`` that ``dataclass`` writes, reading the fields as the program sees them."""
        names = [f.name for f in dataclasses.fields(a) if f.compare]
        pairs = [(self.getattr(a, n), self.getattr(b, n)) for n in names]
        self.session.note_identity(pairs)
        same = all(x is y or self.as_bool(self.compare(operator.eq, x, y)) for x, y in pairs)
        return same if op is operator.eq else not same

    def _order_fields(self, op: Any, a: Any, b: Any) -> Any:
        """The ``<`` that ``dataclass(order=True)`` writes: of the tuples of fields, as the program sees them."""
        names = [f.name for f in dataclasses.fields(a) if f.compare]
        for x, y in [(self.getattr(a, n), self.getattr(b, n)) for n in names]:
            if x is not y and not self.as_bool(self.compare(operator.eq, x, y)):
                return self.compare(op, x, y)
        return op in (operator.le, operator.ge)

    def _refuse_foreign(self, *values: Any) -> None:
        for v in values:
            if type(v) not in PLAIN and isinstance(v, np.ndarray) and not self._is_inside(v):
                raise Uncapturable("a NumPy array from outside the compiled function")

    def refuse_unknown(self, obj: Any) -> None:
        """Refuses to look into an object of a library whose changes nobody watches (``os.environ``)."""
        check_operand(self.session, obj)

    def same_object(self, a: Any, b: Any) -> Any:
        """``a is b``. Which numbers that are only known at run time are one object, nobody knows, but for bools."""
        for one in (a, b):
            if isinstance(one, Restricted):
                one.refuse()
        if isinstance(a, NumpyScalar | np.generic) and isinstance(b, NumpyScalar | np.generic) and a is not b:
            raise Uncapturable("whether two numbers of NumPy's are the same object")
        if a is not b and isinstance(a, GraphText | str) and isinstance(b, GraphText | str):
            if isinstance(a, GraphText) or isinstance(b, GraphText):
                raise Uncapturable("whether two texts are the same object, one of which is only known at run time")
        if may_be_one_object(a, b) or (id(a) in self.session.tuples and id(b) in self.session.tuples):
            raise WholeOnly("whether two equal constants, or tuples from outside, are the same object")
        if id(a) in self.session.originals and id(b) in self.session.originals and a is not b:
            self.session.guard_different(a, b)
        self.session.guard_different_tensors(a, b)
        if type(a) not in PLAIN and type(b) not in PLAIN:
            self.session.note_identity((a, b), 1, is_asked=True)
        if a is b or not (isinstance(a, Scalar) or isinstance(b, Scalar)):
            return self.session.choices.same(a, b)
        kinds = [v.kind if isinstance(v, Scalar) else type(v).__name__ for v in (a, b)]
        if kinds[0] != kinds[1]:
            return False
        if kinds[0] == "bool":
            return a == b
        if isinstance(a, Scalar) and isinstance(b, Scalar) and a.node is b.node:
            return True
        raise WholeOnly("whether numbers that are only known at run time are the same object")

    def contains(self, container: Any, value: Any) -> Any:
        """``value in container``."""
        method = user_method(container, "__contains__")
        if method is not None:
            return self.as_bool(self.calls.call(method, (container, value), {}))
        if type(container) is _ENVIRONMENT:
            return self.calls.call(type(container).__contains__, (container, value), {})
        if isinstance(container, list | tuple) and any(is_user_class(type(v)) for v in (*container, value)):
            self.session.note_identity((*container, value), 1)
            return any(v is value or self.as_bool(self.compare(operator.eq, v, value)) for v in container)
        if is_iterator(container):
            self.change_opaque(container)
        if (found := is_among(container, value)) is not None:
            return found
        return run_native(self.session, operator.contains, container, value)

    def unary(self, op: Any, a: Any) -> Any:
        """``-a``, ``+a``, ``~a``."""
        name = {operator.neg: "__neg__", operator.pos: "__pos__", operator.invert: "__invert__"}[op]
        method = user_method(a, name)
        return self.calls.call(method, (a,), {}) if method is not None else run_native(self.session, op, a)

    def _of_grown(self, obj: GrownList, key: Any) -> Any:
        """An element of a list that a loop makes longer: in loops the last one, afterwards any."""
        if type(key) is int and key == -1:
            regions = self.session.regions
            return regions.run(lambda: Outcome("value", obj.latest(regions.decide))).value
        is_index = type(key) is int or (isinstance(key, Scalar) and key.kind == "int")
        if self.session.regions.loops or not is_index:
            obj.refuse()
        return obj.reader()(key)

    def truth(self, value: Any) -> Any:
        """Truth of a value: a bool, or a bool Scalar that the program computes."""
        if isinstance(value, bool):
            return value
        if isinstance(value, Scalar | NumpyScalar):
            return as_scalar(value.number if isinstance(value, NumpyScalar) else value, "bool")
        if isinstance(value, Tensor):
            size = static_size(value)
            if size is not None and size != 1:
                raise ValueError(
                    f"The tensor should have only one element, but got {size}, more than one element is ambiguous."
                )
            return as_scalar(value, "bool")
        if isinstance(value, Conflict):
            raise Uncapturable(value.why)
        if isinstance(value, GrownList):
            return self.truth(value.length())
        for name in ("__bool__", "__len__"):
            method = user_method(value, name)
            if method is not None:
                return self.truth(self.special(name, method, value))
        check_holder(self.session, value)
        return bool(value)

    def special(self, name: str, method: Any, *args: Any) -> Any:
        """What the user's special method gives, if it is what Python takes from it."""
        value = self.calls.call(method, args, {})
        if name == "__len__" and isinstance(value, Scalar):
            if value.kind == "int" and self.as_bool(value >= 0):  # type: ignore[operator]
                return value
        elif isinstance(value, Scalar):
            if value.kind in _GIVES[name]:
                return value
        elif isinstance(value, GraphText):
            if "str" in _GIVES[name]:
                return value
        elif type(value).__name__ in _GIVES[name] and not (name == "__len__" and value < 0):
            return value
        raise Uncapturable(f"{name} that gives what Python does not take")

    def as_bool(self, value: Any) -> bool:
        """Truth as a Python bool on the path being captured."""
        result = self.truth(value)
        return self.session.regions.decide(result) if isinstance(result, Scalar) else result

    def iterate(self, obj: Any) -> Iterator[Any]:
        """An iterator over ``obj``."""
        if isinstance(obj, Tensor):
            if obj.ndim == 0:
                raise TypeError("iteration over a 0-d tensor")
            n = obj.shape[0]
            if not isinstance(n, int):
                raise Uncapturable("iteration over a dimension whose size is only known at run time")
            return (obj[i] for i in range(n))  # type: ignore[index]
        method = user_method(obj, "__iter__")
        if method is not None:
            return self._user_iterator(self.calls.call(method, (obj,), {}))
        if user_method(obj, "__next__") is not None:
            return self._user_iterator(obj)
        if user_method(obj, "__getitem__") is not None and not isinstance(obj, list | tuple | dict):
            return self._sequence_iterator(obj)
        if is_iterator(obj):
            self.change_opaque(obj)
        check_holder(self.session, obj)
        self.session.check_order(obj)
        return iter(obj)

    def listed(self, obj: Any) -> list[Any]:
        """``list(obj)``, which asks an object of the user how many elements to make room for."""
        it = self.iterate(obj)
        self.ask_length(obj)
        return list(it)

    def rest_of(self, it: Iterator[Any]) -> list[Any]:
        """The list of ``*rest``: an iterator of the user that `iterate` gave is asked for its iterator again."""
        return self.listed(it.iterator) if isinstance(it, _UserIterator) else list(it)

    def ask_length(self, obj: Any) -> None:
        """What a list does before it takes the elements of an object of the user."""
        method = user_method(obj, "__len__")
        if method is not None:
            with contextlib.suppress(TypeError):
                self.special("__len__", method, obj)
        elif user_method(obj, "__length_hint__") is not None:
            raise Uncapturable("the elements of an object with a __length_hint__")

    def _user_iterator(self, it: Any) -> Iterator[Any]:
        step = user_method(it, "__next__")
        if step is not None:
            return _UserIterator(self.calls, step, it)
        if not is_iterator(it):
            raise TypeError(f"iter() returned non-iterator of type '{type(it).__name__}'")
        self.change_opaque(it)
        return it  # type: ignore[no-any-return]

    def _sequence_iterator(self, obj: Any) -> Iterator[Any]:
        index = 0
        while True:
            try:
                value = self.getitem(obj, index)
            except (IndexError, StopIteration):
                return
            yield value
            index += 1


class _UserIterator:
    """An object of the user that has ``__next__``, for native code to iterate over."""

    def __init__(self, calls: Any, step: Any, it: Any) -> None:
        self._calls, self._step, self.iterator = calls, step, it

    def __iter__(self) -> _UserIterator:
        return self

    def __next__(self) -> Any:
        return self._calls.call(self._step, (self.iterator,), {})


def _is_plain_instance(value: Any) -> bool:
    """Whether what an object holds is in its ``__dict__``."""
    if isinstance(value, type | types.FunctionType | types.ModuleType | Tensor) or has_slots(type(value)):
        return False
    return raw_hasattr(value, "__dict__")


def has_generated(cls: type, name: str) -> bool:
    found = lookup(cls, name)
    return dataclasses.is_dataclass(cls) and isinstance(found, types.FunctionType) and is_generated(found)


def _plain_key(key: Any) -> Any:
    if isinstance(key, Tensor | Scalar | slice):
        raise Uncapturable("an index into an outside object that is only known at run time")
    return key
