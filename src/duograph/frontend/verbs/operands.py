"""What code that is not interpreted may be handed: nothing that it would read, or call, without anybody noticing.

Functions that only move objects around (`append`, `zip`) get everything. Others may look into their operands: an
object from outside must then be one that never changes (`purity.is_constant`), and an object of the user must not have
special methods, which would run as they are instead of being interpreted.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import operator
import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.autodiff.grads import gradient_of
from duograph.base.lookup import FUNCTIONS, raw_getattr, raw_hasattr
from duograph.core.dim import Dim
from duograph.core.dtype import DType
from duograph.core.traits import traits_of
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..rules import sources
from ..rules.errors import Uncapturable
from ..rules.facts import lookup
from ..rules.policy import function_kind, is_compiled, is_generated, is_odd_method, is_user_class, module_kind
from ..rules.purity import is_constant
from ..rules.sources import Pin
from ..values.movable import PLAIN
from ..values.text import GraphText
from ..values.world import CONTAINERS

if TYPE_CHECKING:
    from ..session.session import Session

_ITEMS = (operator.getitem, operator.setitem, operator.delitem)
_WITHOUT_ORDER = (
    *(operator.ior, operator.iand, operator.isub, operator.ixor, operator.eq, operator.ne, operator.le, operator.lt),
    *(operator.ge, operator.gt),
)
"""Operators for which it does not matter in which order a set gives its elements."""
_MOVES = frozenset({
    *(isinstance, issubclass, callable, type, enumerate, zip, map, filter, list, tuple, iter, next, super, object),
    *(property, staticmethod, classmethod, operator.is_, operator.is_not),
})  # fmt: skip
_GOES_THROUGH = frozenset({
    *(reversed, itertools.chain, itertools.islice, itertools.zip_longest, itertools.pairwise, itertools.cycle),
    *(itertools.product, itertools.permutations, itertools.combinations, itertools.combinations_with_replacement),
})  # fmt: skip
"""They pass on what their operands hold, and ask nothing of it."""
_ITERATION = frozenset(
    {"__iter__", "__next__", "__reversed__", "__len__", "__length_hint__", "__getitem__", "__index__"}
)
_MOVING_METHODS = frozenset({
    *("append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem", "clear", "copy", "items"),
    *("keys", "values", "rotate", "reverse", "get", "setdefault", "update", "move_to_end", "__init__", "__new__"),
})  # fmt: skip
_DICTIONARIES = (dict, collections.OrderedDict)
_ITEM_METHODS = ("__setitem__", "__getitem__", "__delitem__", "__contains__", "__len__")
"""Of dictionaries: they ask keys, and nothing of what derived classes define."""
_BY_ITEMS = ("__init__", "update", "setdefault", "pop", "popitem", "copy")
"""Methods of OrderedDict that call those of a derived class."""
_UNSEEN = frozenset({
    *("__init__", "__new__", "__init_subclass__", "__call__", "__enter__", "__exit__", "__get__", "__set__"),
    *("__delete__", "__set_name__", "__post_init__", "__setattr__", "__delattr__", "__getattr__", "__getattribute__"),
    *("__class_getitem__", "__del__", "__aenter__", "__aexit__", "__subclasshook__", "__prepare__", "__getnewargs__"),
})  # fmt: skip
"""Special methods that native code does not call on an object that it is handed."""


_HOLDERS = (list, tuple, dict, set, frozenset, str, bytes, range, collections.deque, types.GeneratorType, Tensor)
_TEXT = "text"
MOST_DIGITS = sys.int_info.str_digits_check_threshold
"""No limit of Python on the digits of a text of a number is below."""
_BITS_OF_ANY_LIMIT = MOST_DIGITS * 3
_PLAIN_OWNERS = PLAIN | {types.ModuleType}
_ARRAYS = (np.ndarray, np.generic)
_SCALAR_BASES = (int, float, complex, enum.Enum, BaseException)
_ABSTRACT = ("abc", "typing", "collections.abc", "_collections_abc", "contextlib")
"""Modules of classes without contents of their own."""
_COPYING = frozenset({"__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"})


def are_plain(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether `check_operands` has nothing to refuse, and `uses_numpy` is a question of ``fn`` alone."""
    owner = getattr(fn, "__self__", None) if type(fn) in FUNCTIONS else raw_getattr(fn, "__self__")
    if type(owner) in _PLAIN_OWNERS and PLAIN.issuperset(map(type, args)):
        return not kwargs or PLAIN.issuperset(map(type, kwargs.values()))
    return False


def check_operands(session: Session, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuses to run ``fn`` natively on these operands.

    Raises:
        Uncapturable: it would read what nothing guards.
    """
    owner = raw_getattr(fn, "__self__")
    if fn in _ITEMS if callable(fn) and _is_hashable(fn) else False:
        _check_item(session, args)
        return
    if isinstance(owner, dict | set) and args:
        check_key(session, args[0])
    if fn is operator.contains and isinstance(args[0], dict | set | frozenset):
        check_key(session, args[1])
        return
    if (
        isinstance(owner, collections.OrderedDict)
        and fn.__name__ in _BY_ITEMS
        and (args or kwargs or fn.__name__[0] != "_")
    ):
        _check(session, owner, _ITEM_METHODS)
    if isinstance(owner, list | collections.deque) and fn.__name__ in ("pop", "insert", "rotate") and args:
        check_key(session, args[0])
    look: Any = _looks(fn)
    if look and raw_getattr(fn, "__module__") in ("copy", "dataclasses"):
        look = _COPYING
    elif _only_goes_through(fn):
        look = _ITERATION
    elif _asks_keys(fn, args):
        for key in _keys_of(args):
            check_key(session, key)
        look = _ITERATION
    for value in args:
        _check(session, value, look)
        if fn not in _WITHOUT_ORDER:
            session.check_order(value, is_handed_on=True)
    for value in kwargs.values():
        _check(session, value, look)
    if look and isinstance(fn, types.BuiltinMethodType | types.MethodWrapperType):
        _check(session, owner, look)


def check_operand(session: Session, value: Any) -> None:
    """Refuses code that looks into ``value`` natively (`check_operands`)."""
    session.note_identity(value)
    _check(session, value, True)


def uses_numpy(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether ``fn(*args)`` computes with NumPy."""
    for value in (*args, raw_getattr(fn, "__self__")):
        if isinstance(value, _ARRAYS):
            return True
    return is_of_numpy(fn)


def is_of_numpy(fn: Any) -> bool:
    """Whether ``fn`` is NumPy's, by its name."""
    module = getattr(fn, "__module__", "") if type(fn) in FUNCTIONS else raw_getattr(fn, "__module__", "")
    return str(module).startswith("numpy") or isinstance(fn, np.ufunc)


def check_key(session: Session, key: Any) -> None:
    """Refuses to hash and compare ``key`` natively if the user has something to say about that."""
    if not isinstance(key, str | int | float | Tensor | Scalar | GraphText | type(None)):
        session.note_identity(key)
        _check(session, key, True)


def check_elements(session: Session, value: Any) -> None:
    """Refuses a structure with arrays and the like from outside."""
    _check(session, value, False)


def check_holder(session: Session, value: Any) -> None:
    """Refuses code that asks ``value`` natively for its length, its truth or its elements, but not these."""
    if id(value) in session.parts:
        return
    own = raw_getattr(value, "__dict__")
    if isinstance(own, dict) and isinstance(own.get("_cells"), dict) and not session.world.is_tracked(value):
        children = tuple(own["_cells"].values())  # of a Cell, which says what it holds without being interpreted
        for child in [c for c in children if c is not None]:
            session.source_of(child)  # others may stand for those, too, that the program does not look at
        session.guards.add(sources.attr(session.source_of(value), "_cells"), "values", Pin(children))
    elif not isinstance(value, _HOLDERS):
        if is_user_class(type(value)):
            _check_bases(session, value)
        else:
            _check(session, value, True)


def check_text(session: Session, value: Any) -> None:
    """Refuses to make a text of ``value`` that depends on more than it."""
    session.note_identity(value)
    _check(session, value, _TEXT)


def _is_hashable(fn: Any) -> bool:
    return type(fn).__hash__ is not None


def only_moves(fn: Any) -> bool:
    """Whether ``fn`` hands its operands on, or keeps them, and neither looks into them nor calls them."""
    if isinstance(fn, types.BuiltinFunctionType | type) and _is_hashable(fn) and fn in _MOVES:
        return True
    if isinstance(fn, type) and dataclasses.is_dataclass(fn):
        init = lookup(fn, "__init__")
        return isinstance(init, types.FunctionType) and is_generated(init)
    owner, name = raw_getattr(fn, "__self__"), raw_getattr(fn, "__name__", "")
    if type(fn) is types.MethodWrapperType and fn.__objclass__ in _DICTIONARIES and name in _ITEM_METHODS:
        return name != "__getitem__" or not hasattr(type(owner), "__missing__")
    return isinstance(owner, CONTAINERS) and name in _MOVING_METHODS


def _only_goes_through(fn: Any) -> bool:
    return type(fn) is type and fn in _GOES_THROUGH


def _asks_keys(fn: Any, args: tuple[Any, ...]) -> bool:
    """Whether ``fn`` asks dictionaries, its first operand among them, for their keys, and passes on what these hold."""
    if not args or type(args[0]) is not dict:
        return False
    return fn is dict or (type(fn) is types.BuiltinFunctionType and fn in _OF_KEYS)


def _keys_of(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The keys of dictionaries, and what is none."""
    return tuple([key for value in args for key in (value if type(value) is dict else (value,))])


def _looks(fn: Any) -> Any:
    """Whether ``fn`` may look into its operands (or call their methods)."""
    if only_moves(fn):
        return False
    owner = raw_getattr(fn, "__self__")
    name = raw_getattr(fn, "__name__", "")
    if isinstance(owner, str) and name in ("format", "format_map"):
        return _TEXT
    if not isinstance(fn, types.FunctionType | types.BuiltinFunctionType | types.MethodType | type):
        fn = lookup(type(fn), "__call__") or fn  # a Cell of the user is called by code of this package
    if type(fn) is types.FunctionType:  # whose `__module__` may be that of the function it is a gradient of
        return function_kind(fn) != "framework"
    return module_kind(raw_getattr(fn, "__module__") or type(fn).__module__) != "framework"


_PLAIN_HOLDERS = (list, tuple, dict)
_JOINING_OPERATORS = frozenset({operator.add, operator.iadd, operator.mul, operator.imul})
_MOVING_OPERATORS = _JOINING_OPERATORS | {operator.getitem, operator.setitem, operator.delitem}
"""Of `_PLAIN_HOLDERS`: they pass on what is there, and release it, as `_MOVING_METHODS` do."""
_OF_KEYS = frozenset({operator.contains, operator.or_, operator.ior})
"""See `_asks_keys`."""


def note_operands(session: Session, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Tells the session whose identity matters to ``fn``, which is not interpreted."""
    if only_moves(fn) or _only_goes_through(fn) or fn is functools.partial:
        return
    if raw_hasattr(fn, "construct") or gradient_of(fn) is not None:  # they call what is interpreted
        return
    if type(fn) is types.FunctionType and fn.__name__ in traits_of(fn.__module__).by_facts:
        return
    if fn is operator.getitem and "_cells" in getattr(args[0], "__dict__", ()):
        args = args[1:]  # it gives what is there (see `check_holder`)
    elif type(fn) is types.BuiltinFunctionType and fn in _MOVING_OPERATORS and type(args[0]) in _PLAIN_HOLDERS:
        if fn not in _JOINING_OPERATORS:
            args = args[1:2]  # of dictionaries the key is asked
        elif type(args[1]) in (list, tuple, int):
            return
    elif _asks_keys(fn, args):
        args, kwargs = _keys_of(args), {}
    session.note_identity((*args, *kwargs.values(), raw_getattr(fn, "__self__")))


def guard_weights(session: Session, fn: Any) -> None:
    """For which weights the gradient ``fn`` is taken, if the user may change that."""
    gradient = gradient_of(fn)
    weights = None if gradient is None else gradient.weights
    if type(weights) is list and not session.world.is_tracked(weights):
        at = sources.pinned(weights)
        session.guards.add(at, "len", len(weights))
        for i, weight in enumerate(weights):
            session.guards.add(sources.item(at, i), "is", Pin(weight))


def _check_item(session: Session, args: tuple[Any, ...]) -> None:
    check_key(session, args[1])
    if len(args) > 2 and is_user_class(type(args[2])):
        if isinstance(args[1], slice) or not isinstance(args[0], (*CONTAINERS, Tensor)):  # its items, or its number
            _check(session, args[2], True)


def _check(session: Session, value: Any, look: Any) -> None:
    kind = type(value)
    if look is _TEXT and isinstance(value, int) and value.bit_length() > _BITS_OF_ANY_LIMIT:
        raise Uncapturable("the string of an integer that may have more digits than sys.get_int_max_str_digits()")
    if kind in (str, int, float, bool, type(None)) or isinstance(value, Tensor | Scalar | GraphText | DType | Dim):
        return
    if kind in (list, tuple, set, frozenset, collections.deque):
        if look is not _TEXT and PLAIN.issuperset(map(type, value)):  # lists of millions of numbers, too
            return
        for v in value:
            _check(session, v, look)
    elif kind in (dict, collections.OrderedDict, collections.defaultdict, collections.Counter):
        for k, v in value.items():
            _check(session, k, look)
            _check(session, v, look)
    elif kind is slice:
        _check(session, (value.start, value.stop, value.step), look)
    elif look is _TEXT and isinstance(value, np.ndarray | np.generic):
        raise Uncapturable("the text of a value of NumPy's, which depends on its print options")
    elif isinstance(value, np.ndarray):
        if not session.is_made_inside(value):
            raise Uncapturable("a NumPy array from outside the compiled function")
    elif look is _TEXT and isinstance(value, BaseException):
        if any(isinstance(a, Scalar | GraphText | Tensor) for a in value.args):
            raise Uncapturable("the text of an exception with values that are only known at run time")
        for a in value.args:
            _check(session, a, look)
        if is_user_class(kind):
            _check_object(session, value, kind, look)
    elif kind is functools.partial and look is not _TEXT:
        return  # its other special methods are those of `object`; who calls it is `callbacks`' concern
    elif is_user_class(kind) or (kind is types.SimpleNamespace and not look):
        if look:
            _check_object(session, value, kind, look)
    elif is_constant(value) or session.world.is_tracked(value) or session.is_made_inside(value):
        return
    elif module_kind(kind.__module__) != "framework":
        raise Uncapturable(f"an object of class {kind.__module__}.{kind.__qualname__} from outside")


def _check_bases(session: Session, value: Any) -> None:
    """Refuses an outside object whose class has its contents from a library: nobody watches what they are."""
    if session.world.is_tracked(value) or isinstance(value, (*_HOLDERS, *_SCALAR_BASES, type)):
        return
    if session.is_made_inside(value):
        return
    for base in type(value).__mro__:
        if base is object or base.__module__ in _ABSTRACT or is_user_class(base):
            continue
        if module_kind(base.__module__) == "other":
            raise Uncapturable(f"native code that reads an outside object of a class derived from {base.__qualname__}")


def _check_object(session: Session, value: Any, kind: type, look: Any) -> None:
    """``look``: the special methods that matter, or True for all."""
    session.check_outside(value)
    if look is True:
        _check_bases(session, value)
    generated = False
    if (
        look is _TEXT
        and not session.world.is_tracked(value)
        and not isinstance(value, BaseException | type)
        and (not raw_hasattr(value, "construct"))
    ):
        raise Uncapturable(f"the text of an outside object of class {kind.__name__!r}")
    for base in kind.__mro__:
        for name, method in vars(base).items():
            if not name.startswith("__") or name in _UNSEEN or name == "__wrapped__":
                continue
            if look is not True and look is not _TEXT and name not in look:
                continue
            if not isinstance(method, types.FunctionType):
                runs = callable(method) or hasattr(type(method), "__get__")
                if runs and (is_compiled(method) or is_odd_method(kind, name, method)):
                    raise Uncapturable(f"native code that may call {kind.__qualname__}.{name}")
                continue
            if is_generated(method) or (dataclasses.is_dataclass(base) and method.__code__.co_filename == "<string>"):
                generated = True
            elif function_kind(method) == "user":
                raise Uncapturable(f"native code that may call {kind.__qualname__}.{name}")
    if generated and dataclasses.is_dataclass(value):
        if not session.world.is_tracked(value):
            raise Uncapturable(f"native code that reads an outside object of class {kind.__name__!r}")
        for v in vars(value).values():
            _check(session, v, True)
