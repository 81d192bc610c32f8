"""From the values of a captured program, at the end of a path, to recipes and outputs of its graph."""

from __future__ import annotations

import enum
import inspect
import types
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from duograph.autodiff.grads import gradient_of
from duograph.autodiff.vmap import Batched
from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.core.dim import Dim, Symbol
from duograph.core.dtype import DType
from duograph.core.op import Op
from duograph.core.types import TensorType
from duograph.ir.node import Node
from duograph.ops.numpy_scalar import NumpyScalar
from duograph.ops.ranges import RunTimeView
from duograph.ops.scalar import Scalar
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from ..rules.errors import Uncapturable
from ..rules.exact import is_made_again
from ..rules.exceptions import members_of
from ..rules.facts import HEAP_TYPE, MISSING, has_slots, held_in, lookup, slots_of
from ..rules.opaque import is_file, is_opaque, maker_of
from ..rules.policy import is_user_class
from .journals import Journal
from .recipe import (
    Additions,
    Called,
    Chosen,
    Constant,
    Container,
    NewParameter,
    Output,
    Outside,
    Part,
    Raisable,
    Recipe,
    Slotted,
    Text,
    View,
)
from .remade import parts_of
from .restricted import Restricted
from .shadows import facts_of_container, new_blank
from .text import GraphText, UnreadText
from .world import CONTAINERS, is_own_dictionary

_CONSTANTS = bool | int | float | complex | str | bytes | type(None) | type(...) | DType | type | range | enum.Enum


class Collector:
    """Turns values at the end of one path into recipes, and gathers the nodes that must be graph outputs.

    ``values_only``: what is built is only looked at (printed), so every tensor is its value at this point, outside
    containers are described by their present contents, and nothing is an alias.
    """

    def __init__(self, session: Any, values_only: bool = False) -> None:
        self.session = session
        self.values_only = values_only
        self.binder = session.binder
        self.nodes: list[Node] = []
        self._index: dict[Node, int] = {}
        self.leaving: set[Any] = set()  # storages of which tensors leave the program
        self._owners: dict[Node, Any] = {}  # whose memory an output becomes
        self._memo: dict[int, tuple[Any, Recipe]] = {}
        self.cells: dict[tuple[int, str], Any] = {}  # of variables that functions which leave share (`closures`)

    def output(self, node: Node) -> int:
        index = self._index.get(node)
        if index is None:
            index = self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return index

    def own_output(self, node: Node) -> int:
        """An output that is used for one thing only, even if ``node`` is another one, too."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _held(self, tensor: Tensor) -> Output:
        """The output that becomes ``tensor``: tensors made one by one from equal constants have one node, but each
        becomes an object with memory of its own."""
        node = self.binder.node_of(tensor)
        if self._owners.setdefault(node, tensor._alias) is tensor._alias:
            return Output(self.output(node))
        return Output(self.own_output(node))

    def recipe(self, value: Any) -> Recipe:
        known = self._memo.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        made = self._recipe(value)
        self._memo[id(value)] = (value, made)
        return made

    def _recipe(self, value: Any) -> Recipe:
        if isinstance(value, Tensor):
            self.session.choices.check_leaving(value)
            return self._tensor(value)
        if isinstance(value, Scalar):
            return Output(self.output(value.node))
        if isinstance(value, NumpyScalar):
            if (
                self.values_only or value.source is None
            ):  # what is shown is built while the graph runs: nothing is looked for outside
                return Called(value.numpy_type, [self.recipe(value.number)])
            return Outside(value.source)
        if isinstance(value, _CONSTANTS):
            return Constant(value)
        if isinstance(value, UnreadText):
            return value.refuse() if self.values_only else Outside(value.source)
        if isinstance(value, GraphText):
            pieces = [p if isinstance(p, str) else (p[0], self.recipe(p[1])) for p in value.parts]
            return Text(pieces) if value.found is None else self.recipe(value.found)
        if isinstance(value, Node):
            return Output(self.output(value))
        if isinstance(value, Dim):
            raise Uncapturable("a size that is only known at run time leaves the compiled function")
        original = self.session.originals.get(id(value))
        if original is not None and not self.values_only:
            return Outside(original[1])
        outside = self.session.tuples.get(id(value))
        if outside is not None and not self.values_only:
            return Outside(outside[1])
        if isinstance(value, tuple):
            if type(value) is not tuple and raw_getattr(value, "__dict__"):
                raise Uncapturable(f"a tuple of class {type(value).__qualname__!r} that holds attributes")
            items = [self.recipe(v) for v in value]
            if all(isinstance(r, Constant) for r in items):
                return Constant(value)
            return Container(type(value), items)
        if isinstance(value, frozenset):
            _check_made_again(value)
            return Container(frozenset, [self.recipe(v) for v in value])
        if isinstance(value, BaseException) and self.session.is_made_inside(value):
            return self._exception(value)
        if (type(value) is slice or self.session.is_made_inside(value)) and (parts := parts_of(value)) is not None:
            items = [self.recipe(v) for v in parts[1]]
            is_constant = isinstance(value, slice) and all(isinstance(r, Constant) for r in items)
            return Constant(value) if is_constant else Called(parts[0], items)
        if isinstance(value, Restricted):
            made: Recipe = value.make_python_object(self)
            return made
        if (self.session.world.is_tracked(value) and not is_file(value)) or type(value) in CONTAINERS:
            return self.contents(value)
        if type(value) is types.FunctionType and self.session.is_made_inside(value):
            gradient = gradient_of(value)
            if gradient is not None:
                make, values = gradient.parts
                return Called(make, [self.recipe(v) for v in values])
            if value.__code__.co_flags & inspect.CO_NESTED:  # it may hold what only this capture can call
                raise Uncapturable(f"the function {value.__qualname__}, made inside, leaves the compiled function")
        if hasattr(type(value), "captured_target") and self.session.is_made_inside(value):
            raise Uncapturable("a compiled function that is made inside leaves the compiled function")
        if raw_hasattr(value, "make_python_object"):
            return value.make_python_object(self)
        if isinstance(value, dict | list):
            return self.contents(value)
        if is_opaque(value) and self.session.is_made_inside(value):
            return Called(maker_of(value), [])
        kind = type(value)
        is_bare = is_user_class(kind) and not raw_hasattr(value, "__dict__") and self.session.is_made_inside(value)
        if is_bare or id(value) in self.session.without_dictionary:
            return self._slotted(value)
        if self.values_only:
            self.session.note_identity(value)  # it is shown
        elif type(value) in (types.MethodType, np.ndarray) and (source := self.session.source_at(value)) is not None:
            return Outside(source)
        if isinstance(value, partial) and _holds_symbolic((value.func, value.args, value.keywords), set()):
            raise Uncapturable("a partial object that holds what the program has made")  # and was taken for another's
        if self.session.is_made_inside(value) and _holds_symbolic(value, set()):  # by code that is not interpreted
            if not raw_hasattr(kind, "construct"):
                raise Uncapturable(f"an object of class {kind.__qualname__!r}, made inside, leaves the program")
            return self.contents(value)
        return Constant(value)

    def contents(self, value: Any) -> Container:
        """A recipe that can make, or refill, a container or instance."""
        if isinstance(value, Journal):
            return Additions(type(self.session.originals[id(value)][0]), [self.recipe(v) for v in value])
        if isinstance(value, dict):
            if any(map(self._is_new, value)):
                raise Uncapturable("a dictionary with a key that is made at each call leaves the program")
            blank = _blank(value)
            made = Container(type(value), keys=list(value), blank=blank)
            if isinstance(value, defaultdict):
                made.factory = self.recipe(value.default_factory)
            items = list(value.values())
        elif isinstance(value, list | set | deque):
            if self.values_only:
                self.session.check_order(value)
            if isinstance(value, set) and id(value) not in self.session.originals:
                _check_made_again(value)
            made = Container(type(value), blank=_blank(value))
            items = list(value)
        else:
            cls = type(value)
            if not raw_hasattr(value, "__dict__") or has_slots(cls):
                raise Uncapturable(f"an object of class {cls.__qualname__!r}, which has slots, leaves the program")
            if not _is_made_blank(cls):
                raise Uncapturable(f"an object of class {cls.__qualname__!r}, whose __new__ takes arguments, leaves it")
            made = Container(cls, keys=list(vars(value)), blank=partial(_new, cls))
            items = list(vars(value).values())
        is_described = self.values_only or id(value) not in self.session.originals  # else by where it is found
        if is_described:
            self._memo[id(value)] = (value, made)
        made.items = [self.recipe(v) for v in items]
        if is_own_dictionary(value):
            made.is_own_dictionary = True
        elif is_described and isinstance(value, CONTAINERS) and raw_hasattr(value, "__dict__"):
            held = self._attributes(value)
            made.names, made.attributes = tuple(held), [self.recipe(v) for v in held.values()]
        return made

    def _attributes(self, value: Any) -> dict[str, Any]:
        """What an object that the program has made holds in its dictionary, and what the program has set on it."""
        written = {name: v for (_, _, name), (owner, v) in self.session.world.overlay.items() if owner is value}
        held = {**raw_getattr(value, "__dict__", {}), **written}
        if any(v is MISSING for v in held.values()):
            raise Uncapturable(f"an object of class {type(value).__qualname__!r}, of which an attribute was deleted")
        return held

    def _slotted(self, value: Any) -> Slotted:
        """A recipe that makes an object with slots, which hold what it was made with, and what the program has set."""
        cls: Any = type(value)
        if not _is_made_blank(cls):
            raise Uncapturable(f"an object of class {cls.__qualname__!r}, whose __new__ takes arguments, leaves it")
        own = self._attributes(value)
        held = {}
        for member in slots_of(cls):
            name = member.__name__
            is_written = name in own and lookup(cls, name) is member
            held[member] = own.pop(name) if is_written else held_in(value, member)
        filled = {member: v for member, v in held.items() if v is not MISSING}
        made = Slotted(cls, keys=list(own), blank=partial(_new, cls), members=tuple(filled))
        self._memo[id(value)] = (value, made)
        made.items = [self.recipe(v) for v in (*filled.values(), *own.values())]
        return made

    def _is_new(self, key: Any) -> bool:
        """Whether a key of a dictionary is, or holds, what each run has to make anew."""
        if isinstance(key, tuple | frozenset):
            return any(map(self._is_new, key))
        if isinstance(key, Tensor):
            return key.is_symbolic
        if isinstance(key, Scalar | Restricted) or id(key) in self.session.without_dictionary:
            return True
        return self.session.world.is_tracked(key) and id(key) not in self.session.originals

    def _exception(self, value: BaseException) -> Raisable:
        """A recipe that makes an exception anew, in each call."""
        members = members_of(value)
        if self.values_only:
            causes: tuple[Any, Any] = (None, None)
        elif value.__traceback__ is None:
            causes = (value.__cause__, value.__context__)
        else:
            raise Uncapturable(f"an exception of class {type(value).__qualname__} that was raised leaves the program")
        if any(owner is value for owner, _ in self.session.world.overlay.values()):
            raise Uncapturable(f"an attribute set on an exception of class {type(value).__qualname__}, which leaves")
        own = vars(value)
        made = Raisable(type(value), keys=list(own), blank=partial(BaseException.__new__, type(value)))
        made.members, made.suppresses = members, value.__suppress_context__
        self._memo[id(value)] = (value, made)
        held = [value.args, *causes, *[getattr(value, name) for name in members]]
        made.items = [self.recipe(v) for v in (*held, *own.values())]
        return made

    def _tensor(self, value: Tensor) -> Recipe:
        chosen = None if self.values_only else self.session.choices.chosen(value)
        if chosen is None:
            return self._itself(value)
        number, options = chosen
        made = Chosen(self.recipe(number), self._itself(value), (), [])
        for k, option in options.items():
            with suppress(Uncapturable):  # a view of a size that only the branch knows: a copy is given
                made.options.append(self.recipe(option))
                made.numbers = *made.numbers, k
        return made

    def _itself(self, value: Tensor) -> Recipe:
        if self.values_only:
            value_now = Output(self.output(self.binder.node_of(value)))
            return NewParameter(value_now, value) if isinstance(value, Parameter) else value_now
        self.leaving.add(value._alias)
        if isinstance(value._data, Batched):
            raise Uncapturable("a tensor of a vmap that is kept outside of it")
        patterned = self.session.patterned.get(id(value))
        if patterned is not None:
            return Outside(patterned[1])
        if self.session.is_outside(value):
            return Outside(self.session.tensor_source(value))
        if self.binder.is_outdated(value):
            raise Uncapturable("a view of memory that set_data has taken from its Parameter leaves the program")
        if is_user_class(type(value)):
            raise Uncapturable(f"an object of class {type(value).__qualname__}, which derives from Tensor")
        if value._view is not None:
            self.session.given_views.append(value)
        if value._view is None:
            base: Recipe = self._held(value)
        elif isinstance(value._view.op, RunTimeView):
            parent, op, attrs = value._view
            base = Part(self.recipe(parent), [self.recipe(b) for b in op.bounds], attrs)
        else:
            base = self._view(value._view.parent, value._view.op, value._view.attrs)
        return NewParameter(base, value) if isinstance(value, Parameter) else base

    def _view(self, parent: Tensor, op: Op, attrs: dict[str, Any]) -> View:
        made = View(self.recipe(parent), op, attrs)
        inside = made.symbols - {symbol for symbol, _, _ in self.session.symbols}
        if not inside:
            return made
        if not inside <= {d for d in parent.shape if isinstance(d, Symbol)}:
            raise Uncapturable("a view whose shape depends on tensor values leaves the compiled function")
        made.type = TensorType(parent.dtype, tuple(parent.shape))
        return made


def _check_made_again(value: Any) -> None:
    if not is_made_again(value):
        raise Uncapturable("a set whose order depends on how it was made leaves the program")


def _holds_symbolic(value: Any, seen: set[int]) -> bool:
    """Whether an object holds, anywhere in it, what only a run gives."""
    if isinstance(value, Tensor):
        return value.is_symbolic
    if isinstance(value, Scalar | Node):
        return True
    if id(value) in seen:
        return False
    seen.add(id(value))
    if isinstance(value, dict):
        held: Any = value.values()
    elif isinstance(value, list | tuple | set | deque):
        held = value
    else:
        found = raw_getattr(value, "__dict__") if type(value).__flags__ & HEAP_TYPE else None
        held = found.values() if isinstance(found, dict) else ()
    return any(_holds_symbolic(x, seen) for x in held)


def _is_made_blank(cls: Any) -> bool:
    """Whether ``cls.__new__(cls)`` gives a blank object and has no effect."""
    return isinstance(cls.__new__, types.BuiltinFunctionType)


def _new(cls: Any) -> Any:
    """An instance without ``__init__``."""
    return cls.__new__(cls)


def _blank(value: Any) -> Callable[[], Any]:
    return type(value) if type(value) in (list, dict, set) else partial(new_blank, *facts_of_container(value))
