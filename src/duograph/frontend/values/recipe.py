"""Recipes: how to make the Python values that a compiled program returns or writes, from the outputs of its graph.

`Recipe.build` runs after the graph, once per call: fresh containers are new objects, outside containers and tensors are
the caller's own objects, views are views of the tensor they were made from, and one object that occurs twice is one
object again. (`collector` makes them.)
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from duograph.core.dim import Dim, Symbol, symbols_of
from duograph.core.op import Op
from duograph.core.types import TensorType
from duograph.ir.interpreter import bind_dims, resolved
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from ..rules.sources import Source
from .world import new_tuple, refill_dict, set_contents


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


OPERANDS = {
    "append": 1, "extend": 1, "appendleft": 1, "insert": 2, "add": 1, "discard": 1, "__setitem__": 2, "perform": 2,
    "when": 3,
}  # fmt: skip
"""The verbs of journals, with their numbers of operands. ``extend``: by a list that a loop of the graph makes longer
(`grown`). ``when``: a flag, a verb, and the operands of that, which is done if the flag is set
(`control.join_journals`)."""


def operations(held: Sequence[Any]) -> list[tuple[str, Sequence[Any]]]:
    """The verbs of a journal, each with its operands."""
    found = []
    at = 0
    while at < len(held):
        n = OPERANDS[held[at]]
        found.append((held[at], held[at + 1 : at + 1 + n]))
        at += 1 + n
    return found


def carry_out(held: Sequence[Any], kind: type, target: Any) -> None:
    """Does to ``target``, of class ``kind``, what a journal holds."""
    for verb, operands in operations(held):
        is_done: Any = True
        while verb == "when":
            flag, verb, operands = operands
            is_done = is_done and flag
        if is_done:
            getattr(kind, verb)(target, *operands)


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


def _symbols(value: Any) -> frozenset[Symbol]:
    if isinstance(value, tuple):
        return frozenset().union(*map(_symbols, value))
    return symbols_of(value) if isinstance(value, Dim) else frozenset()
