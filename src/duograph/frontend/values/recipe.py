"""Recipes: how to make the Python values that a compiled program returns or writes, from the outputs of its graph.

A `Collector` walks a value of the captured program at the end of a path. Tensors and run-time numbers become graph
outputs; everything else is described. `Recipe.build` runs after the graph, once per call: fresh containers are new
objects, outside containers and tensors are the caller's own objects, views are views of the tensor they were made
from, and one object that occurs twice is one object again.
"""

from __future__ import annotations

import enum
import inspect
import types
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from duograph.autodiff.grads import gradient_of
from duograph.autodiff.vmap import Batched
from duograph.base.lookup import raw_getattr, raw_hasattr
from duograph.core.dim import Dim, Symbol, symbols_of
from duograph.core.dtype import DType
from duograph.core.op import Op
from duograph.core.types import TensorType
from duograph.ir.interpreter import bind_dims, resolved
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
from ..rules.sources import Source
from .journals import Journal, carry_out
from .remade import parts_of
from .restricted import Restricted
from .shadows import facts_of_container, new_blank
from .text import GraphText, UnreadText
from .world import CONTAINERS, is_own_dictionary, new_tuple, refill_dict, set_contents


class Run:
    """One run of a compiled program: arguments, the graph's outputs as Python values, sizes of varying dimensions."""

    __slots__ = ("args", "memo", "outputs", "sizes")

    def __init__(self, args: Sequence[Any], outputs: Sequence[Any], sizes: dict[Any, int] | None = None) -> None:
        self.args, self.outputs, self.sizes = args, outputs, sizes
        self.memo: dict[int, Any] = {}


class Recipe:
    """Makes one value; the same recipe gives the same object within a run."""

    __slots__ = ()

    def build(self, run: Run) -> Any:
        found = run.memo.get(id(self), run)
        if found is run:
            found = run.memo[id(self)] = self.make(run)
        return found

    def make(self, run: Run) -> Any:
        raise AssertionError

    def uses(self) -> Sequence[Recipe]:
        """What it is made from."""
        return ()


@dataclass(eq=False, slots=True)
class Constant(Recipe):
    value: Any

    def make(self, run: Run) -> Any:
        return self.value


@dataclass(eq=False, slots=True)
class Outside(Recipe):
    """An object of the outside world, reached by its source."""

    source: Source

    def make(self, run: Run) -> Any:
        return self.source.load(run.args)


@dataclass(eq=False, slots=True)
class Output(Recipe):
    """The ``index``-th output of the graph."""

    index: int

    def make(self, run: Run) -> Any:
        return run.outputs[self.index]


@dataclass(eq=False, slots=True)
class Chosen(Recipe):
    """One of several tensors from outside, by its number, or a new one."""

    number: Recipe
    value: Recipe
    numbers: tuple[int, ...]
    options: list[Recipe]

    def uses(self) -> Sequence[Recipe]:
        return self.number, self.value, *self.options

    def make(self, run: Run) -> Any:
        found = dict(zip(self.numbers, self.options, strict=True)).get(self.number.build(run), self.value)
        return found.build(run)


@dataclass(eq=False, slots=True)
class NewParameter(Recipe):
    """A Parameter made by the program (a Cell created inside a compiled function)."""

    value: Recipe
    template: Parameter

    def uses(self) -> Sequence[Recipe]:
        return (self.value,)

    def make(self, run: Run) -> Any:
        return Parameter(self.value.build(run), name=self.template.name, requires_grad=self.template.requires_grad)


@dataclass(eq=False, slots=True)
class View(Recipe):
    """A view of another tensor of this run."""

    parent: Recipe
    op: Op
    attrs: dict[str, Any]
    type: TensorType | None = None  # of the parent, if it names sizes that the program found

    @property
    def symbols(self) -> frozenset[Symbol]:
        """The sizes that the view depends on."""
        return _symbols(tuple(self.attrs.values()))

    def uses(self) -> Sequence[Recipe]:
        return (self.parent,)

    def make(self, run: Run) -> Any:
        parent = self.parent.build(run)
        sizes = dict(run.sizes or {})
        if self.type is not None:
            bind_dims(self.type, parent, sizes)
        attrs = resolved(self.attrs, sizes) if sizes else self.attrs
        return self.op(parent, **attrs)


@dataclass(eq=False, slots=True)
class Part(Recipe):
    """A view of another tensor of this run, with bounds that the run has found (`ops.ranges.RunTimeView`)."""

    parent: Recipe
    bounds: list[Recipe]
    attrs: dict[str, Any]

    def uses(self) -> Sequence[Recipe]:
        return (self.parent, *self.bounds)

    def make(self, run: Run) -> Any:
        return self.of(self.parent.build(run), [b.build(run) for b in self.bounds])

    def of(self, parent: Tensor, bounds: Sequence[Any]) -> Tensor:
        """The part of ``parent`` between these bounds."""
        index = [slice(None)] * parent.ndim
        if "axis" in self.attrs:
            start, stop = bounds
            index[self.attrs["axis"]] = slice(start, stop, self.attrs["step"])
        else:
            for axis, size, start in zip(self.attrs["axes"], self.attrs["sizes"], bounds, strict=True):
                begin = start % parent.shape[axis]
                index[axis] = slice(begin, begin + size)
        return parent[tuple(index)]  # type: ignore[no-any-return]


@dataclass(eq=False, slots=True)
class Container(Recipe):
    """A new list, tuple, dict or set, or any object with ``__dict__``; filled after creation, so cycles are fine."""

    kind: type
    items: list[Recipe] = field(default_factory=list)
    keys: list[Any] | None = None
    blank: Callable[[], Any] | None = None
    factory: Recipe | None = None  # of a defaultdict
    names: tuple[str, ...] = ()
    attributes: list[Recipe] = field(default_factory=list)  # of those names, of an object that has items, too
    is_own_dictionary: bool = False  # its items are its attributes

    def uses(self) -> Sequence[Recipe]:
        return (*self.items, *self.attributes, *([self.factory] if self.factory is not None else ()))

    def make(self, run: Run) -> Any:
        if issubclass(self.kind, tuple):
            values = [r.build(run) for r in self.items]
            return new_tuple(self.kind, values)
        if self.kind is frozenset:
            return frozenset(r.build(run) for r in self.items)
        assert self.blank is not None
        made = run.memo[id(self)] = self.blank()
        if self.factory is not None:
            made.default_factory = self.factory.build(run)
        self.fill(made, self.values(run))
        if self.is_own_dictionary:
            made.__dict__ = made
        elif self.names:
            vars(made).update(zip(self.names, [r.build(run) for r in self.attributes], strict=True))
        return made

    def values(self, run: Run) -> list[Any]:
        """What `fill` puts in."""
        return [r.build(run) for r in self.items]

    def fill(self, target: Any, values: list[Any]) -> None:
        """Makes ``target`` hold exactly these values."""
        if isinstance(target, list):
            list.__setitem__(target, slice(None), values)
        elif isinstance(target, dict):
            refill_dict(target, dict(zip(self.keys or (), values, strict=True)))
        elif isinstance(target, set | deque):
            set_contents(target, values)
        else:
            vars(target).update(zip(self.keys or (), values, strict=True))


@dataclass(eq=False, slots=True)
class Slotted(Container):
    """A new object that holds values in slots: those first, then its dictionary."""

    members: tuple[types.MemberDescriptorType, ...] = ()

    def fill(self, target: Any, values: list[Any]) -> None:
        for member, value in zip(self.members, values, strict=False):
            member.__set__(target, value)
        if self.keys:
            vars(target).update(zip(self.keys, values[len(self.members) :], strict=True))


@dataclass(eq=False, slots=True)
class Additions(Container):
    """What is done to an outside container that is not read (`journals`), in order."""

    def fill(self, target: Any, values: list[Any]) -> None:
        carry_out(values, self.kind, target)


@dataclass(eq=False, slots=True)
class Raisable(Container):
    """A new exception: its arguments, cause and context, then its ``members``, then its dictionary."""

    members: tuple[str, ...] = ()
    suppresses: bool = False

    def fill(self, target: Any, values: list[Any]) -> None:
        target.args, target.__cause__, target.__context__ = values[:3]
        target.__suppress_context__ = self.suppresses
        for name, value in zip(self.members, values[3:], strict=False):
            object.__setattr__(target, name, value)
        vars(target).update(zip(self.keys or (), values[3 + len(self.members) :], strict=True))


@dataclass(eq=False, slots=True)
class Text(Recipe):
    """A string with run-time values in it."""

    parts: list[Any]

    def uses(self) -> Sequence[Recipe]:
        return [p[1] for p in self.parts if not isinstance(p, str)]

    def make(self, run: Run) -> Any:
        return "".join(p if isinstance(p, str) else p[0](p[1].build(run)) for p in self.parts)


@dataclass(eq=False, slots=True)
class Called(Recipe):
    """``function(*arguments)`` evaluated after the run (bound methods, partials, closures that are returned)."""

    function: Callable[..., Any]
    items: list[Recipe]

    def uses(self) -> Sequence[Recipe]:
        return self.items

    def make(self, run: Run) -> Any:
        return self.function(*[r.build(run) for r in self.items])


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
        inside = _symbols(tuple(attrs.values())) - {symbol for symbol, _, _ in self.session.symbols}
        if not inside:
            return View(self.recipe(parent), op, attrs)
        if not inside <= {d for d in parent.shape if isinstance(d, Symbol)}:
            raise Uncapturable("a view whose shape depends on tensor values leaves the compiled function")
        return View(self.recipe(parent), op, attrs, TensorType(parent.dtype, tuple(parent.shape)))


def _check_made_again(value: Any) -> None:
    if not is_made_again(value):
        raise Uncapturable("a set whose order depends on how it was made leaves the program")


def _symbols(value: Any) -> frozenset[Symbol]:
    if isinstance(value, tuple):
        return frozenset().union(*map(_symbols, value))
    return symbols_of(value) if isinstance(value, Dim) else frozenset()


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
