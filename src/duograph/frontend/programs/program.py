"""A captured program: the graph, where its inputs come from, and what to make of its outputs on each path."""

from __future__ import annotations

import copy
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from duograph.base.diagnostics import InternalError
from duograph.base.failures import internal_failure, is_internal
from duograph.base.source import Span
from duograph.core.dim import evaluate
from duograph.core.kernel import compute_reference
from duograph.core.op import state
from duograph.ir.node import Graph
from duograph.tensor.alias import ViewLink
from duograph.tensor.eager import replace, write
from duograph.tensor.tensor import Tensor

from ..guards.guard import GuardSet
from ..rules.facts import MISSING
from ..rules.policy import is_interpreted
from ..rules.sources import Source
from ..values.recipe import Constant, Container, Outside, Recipe, Run
from ..values.world import attribute_now
from .memory import overlap
from .recording import Recorded


class RunPlainly(Exception):
    """The program is about to raise and has only printed yet: plain Python raises at the user's own line.

    The argument is the exception, if it is known.
    """


class Left(RunPlainly):
    """The call decides as no run that was recorded; its effects, but for printing, are still to come."""


class Unfinished(Exception):
    """What a path gives could not be put together (``__cause__`` says why), and nothing outside has changed yet."""


class Write(NamedTuple):
    """New contents of an outside tensor.

    Attributes:
        target: the tensor.
        output: number of the path's output that holds the contents.
        replaces: whether the tensor gets other memory (`Parameter.set_data`), so that others who share the memory that
            it has do not see the write. Where there are none, it is written all the same: nobody can tell.
        parts: what the program may write of it: views that it makes of tensors from outside; ``None``: all.
    """

    target: Recipe
    output: int
    replaces: bool = False
    parts: Sequence[tuple[Source, Sequence[ViewLink]]] | None = None


@dataclass(slots=True)
class Path:
    """One way through the program: what it returns or raises, and what it does to the outside world, in order."""

    kind: str  # return, raise, or leave: where runs that were not recorded would go
    value: Recipe
    first: int  # where this path's outputs begin among the graph's
    count: int
    tensors: list[Write] = field(default_factory=list)  # in order
    containers: list[tuple[Source, Container]] = field(default_factory=list)
    attributes: list[tuple[str, Any, str, Recipe | None]] = field(default_factory=list)
    offset: int | None = None  # output that holds the new counter of the random generator
    span: Span | None = None

    def recipes(self) -> list[Recipe]:
        """All that it makes, each behind those that it is made from."""
        found: dict[int, Recipe] = {}
        begun: set[int] = set()

        def visit(recipe: Recipe) -> None:
            if id(recipe) not in begun:
                begun.add(id(recipe))
                for used in recipe.uses():
                    visit(used)
                found[id(recipe)] = recipe

        made = [recipe for *_, recipe in self.attributes if recipe is not None]
        for recipe in (self.value, *[contents for _, contents in self.containers], *made):
            visit(recipe)
        return list(found.values())


@dataclass(slots=True)
class Program:
    """Everything a compiled entry needs."""

    name: str
    graph: Graph
    inputs: list[Source]
    random: bool
    token: bool
    paths: list[Path]
    guards: GuardSet
    aliases: list[tuple[Source, Any]]
    """Outside tensors that take part in in-place writes, with a mark: equal marks share memory."""

    symbols: list[tuple[Any, Source, int]] = field(default_factory=list)
    assumptions: list[tuple[Any, Any]] = field(default_factory=list)
    patterns: dict[Source, tuple[Any, ...]] = field(default_factory=dict)  # what it was captured for
    is_checked: bool = (
        False  # the last output of the graph is nobody's: it keeps what might raise (`primitives.anchor`)
    )
    catches: bool = False  # what raises in it may be caught in it
    plain_for_gradients: bool = False  # under a tape, Python runs it: see `capture`
    grows_lists: bool = False  # by numbers of elements that a run finds, without their gradients
    movable: dict[int, Any] = field(default_factory=dict)
    """Objects, by id, in whose place others may be that hold the same (`structural`)."""
    target: Any = None  # what was captured: whoever has the program has it, too
    recorded: Recorded | None = None  # the runs whose decisions it takes; ``None``: it has all paths
    unrecorded: str = ""  # why it has, although runs were to be recorded
    standalone: bool = False  # there is no Python function that could run instead (a program read from a file)

    def sizes_match(self, args: Sequence[Any]) -> bool:
        """Whether the sizes of varying dimensions fulfil what shape rules assumed of them."""
        return not self.sizes_miss(args)

    def sizes_miss(self, args: Sequence[Any]) -> str:
        """Why the sizes of varying dimensions do not fulfil what shape rules assumed of them; empty if they do."""
        found: dict[Any, tuple[int, Source, int]] = {}
        for symbol, source, axis in self.symbols:
            size = source.load(args).shape[axis]
            if size < symbol.lo:
                return f"{_size(source, axis)} is {size}, was at least {symbol.lo}"
            first, other, place = found.setdefault(symbol, (size, source, axis))
            if first != size:
                return f"{_size(source, axis)} is {size}, {_size(other, place)} is {first}: they were equal"
        env = {symbol: size for symbol, (size, _, _) in found.items()}
        for a, b in self.assumptions:
            try:
                one, two = evaluate(a, env), evaluate(b, env)
            except KeyError:  # a size that is only known inside the program
                continue
            except ZeroDivisionError:
                return f"a size that is a quotient does not exist: {a}, or {b}"
            if one != two:
                return f"{a} is {one}, {b} is {two}: they were equal"
        return ""

    @property
    def has_effects(self) -> bool:
        return self.token

    def memory_matches(self, args: Sequence[Any]) -> bool:
        """Whether the tensors that take part in in-place writes share memory exactly as they did at capture."""
        return not self.memory_miss(args)

    def memory_miss(self, args: Sequence[Any]) -> str:
        """Why inputs do not share memory as they did at capture, where some is written in place; empty if they do."""
        seen: dict[Any, tuple[Any, Source]] = {}
        marks: dict[Any, tuple[Any, Source]] = {}
        for source, mark in self.aliases:
            alias = source.load(args)._alias
            of_memory, of_mark = seen.setdefault(alias, (mark, source)), marks.setdefault(mark, (alias, source))
            if of_memory[0] != mark:
                return f"{of_memory[1]} and {source} share memory now"
            if of_mark[0] is not alias:
                return f"{of_mark[1]} and {source} shared memory"
        if not self.aliases:
            return ""
        arrays = [source.base.load(args) for source in self.inputs if source.kind == "array"]
        shown = [(source.load(args)._data, mark) for source, mark in self.aliases if source.kind != "array"]
        overlaps = overlap([*shown, *[(array, None) for array in arrays]], self.written)
        return "memory that is written is shared through NumPy arrays" if overlaps else ""

    @property
    def relations(self) -> list[str]:
        """What is assumed of inputs together, in words: their memory and their sizes."""
        told, written = [], self.written if self.aliases else set()
        groups: dict[Any, list[str]] = {}
        for source, mark in self.aliases:
            groups.setdefault(mark, []).append(str(source))
        told += [f"{' and '.join(names)} share memory" for names in groups.values() if len(names) > 1]
        changed = [names[0] for mark, names in groups.items() if mark in written]
        if len(groups) > 1 and changed:
            told.append(f"{', '.join(changed)}: written, and no memory of other inputs")
        sizes: dict[Any, list[str]] = {}
        for symbol, source, axis in self.symbols:
            sizes.setdefault(symbol, []).append(_size(source, axis))
        told += [f"{' == '.join(places)} >= {symbol.lo}" for symbol, places in sizes.items()]
        return [*told, *[f"{a} == {b}" for a, b in self.assumptions]]

    @property
    def written(self) -> set[Any]:
        """The marks of memory that some path writes."""
        marks = dict(self.aliases)
        targets = [w.target for path in self.paths for w in path.tensors]
        found = {marks.get(t.source) if isinstance(t, Outside) else None for t in targets}
        return found if None not in found else set(marks.values())

    def load_inputs(self, args: Sequence[Any]) -> list[Any]:
        """Tensors and numbers in the order of the graph's parameters, without token and random state; NumPy arrays as
        copies, which nobody writes to."""
        return [Tensor(s.base.load(args)) if s.kind == "array" else s.load(args) for s in self.inputs]

    def finish(self, args: Sequence[Any], outputs: Sequence[Any], generator: Any) -> Any:
        """Applies the effects of the path that was taken, and gives its result or raises its exception.

        Args:
            args: the arguments of this call.
            outputs: the graph's outputs as Tensors and numbers.
            generator: the random generator whose counter the program advances.

        Raises:
            RunPlainly: plain Python is to raise.
            Left: this run is none of those that were recorded.
            Unfinished: a part of this package failed; plain Python can answer.
        """
        path = self.paths[0]
        if len(self.paths) > 1:
            path = self.paths[outputs[0]]
        if path.kind == "leave":
            raise Left(None)
        if path.kind == "raise" and not self.standalone:
            raise RunPlainly(path.value.value if isinstance(path.value, Constant) else None)
        mine = outputs[path.first : path.first + path.count]
        run = self.run_of(args, mine)
        try:
            targets = [(w.target.build(run), mine[w.output], w.replaces, _parts(w, args)) for w in path.tensors]
        except Exception as error:
            raise self.unfinished(error, self.standalone) from error
        if path.offset is not None:
            generator.offset = mine[path.offset]
        for target, value, replaces, parts in targets:
            if replaces and (value.is_symbolic or value.array() is not target.array()):
                replace(target, value)
            else:
                write(target, value, parts)
        return self.conclude(path, run, self.standalone or bool(targets) or path.offset is not None)

    def run_of(self, args: Sequence[Any], outputs: Sequence[Any]) -> Run:
        """What recipes are built from."""
        sizes = {symbol: source.load(args).shape[axis] for symbol, source, axis in self.symbols}
        return Run(args, outputs, sizes or None)

    def conclude(self, path: Path, run: Run, is_final: bool = True) -> Any:
        """What is left to do when tensors have been written: the result or exception, containers and attributes.

        Args:
            path: the path that was taken.
            run: what its recipes are built from.
            is_final: nobody can answer the call in another way: tensors have been written, or native code asks.
        """
        try:
            result = path.value.build(run)
            # A source says where a thing was when the call began: all are followed before anything is written.
            filled = [(contents, source.load(run.args), contents.values(run)) for source, contents in path.containers]
            values = [MISSING if recipe is None else recipe.build(run) for _, _, _, recipe in path.attributes]
            owners = [x.build(run) if isinstance(x, Outside) else x for _, x, _, _ in path.attributes]
        except Exception as error:
            raise self.unfinished(error, is_final) from error
        for contents, target, items in filled:
            contents.fill(target, items)
        for (kind, _, name, _), owner, value in zip(path.attributes, owners, values, strict=True):
            set_outside(kind, owner, name, value)
        if path.kind == "raise":
            raise _fresh_exception(result, path.span)
        return result

    def unfinished(self, error: Exception, is_final: bool) -> Exception:
        """What to raise where results could not be made, which is no error of the program."""
        if not is_final and is_internal(error):
            return Unfinished()
        failure = internal_failure("a compiled version", f"the results of {self.name}", error)
        return InternalError(str(failure), stage="a compiled version")


def _size(source: Source, axis: int) -> str:
    return str(source.base) if source.kind == "extent" else f"{source}.shape[{axis}]"


def _parts(written: Write, args: Sequence[Any]) -> list[np.ndarray] | None:
    """The memory of `Write.parts`."""
    if written.parts is None or not state.tapes:  # nobody will ask what was written
        return None
    found = []
    for source, links in written.parts:
        array = source.load(args).array()
        for link in links:
            array = compute_reference(link.op, [array], link.attrs)
        found.append(array)
    return found


def set_outside(kind: str, owner: Any, name: str, value: Any) -> None:
    """Sets an attribute, a global or a closure variable; `MISSING`: deletes it."""
    if kind == "attr":
        if value is not MISSING:
            _hook(owner, "__setattr__")(owner, name, value)
        elif attribute_now(owner, name) is not MISSING:  # else the program had set it itself before it deleted it
            _hook(owner, "__delattr__")(owner, name)
    elif kind == "global":
        if value is MISSING:
            owner.pop(name, None)
        else:
            owner[name] = value
    elif value is not MISSING:
        owner.cell_contents = value
    elif owner != types.CellType():
        del owner.cell_contents


_ROOT = __name__.partition(".")[0]
_OURS: set[Any] = set()
"""Functions of this package, those of Cells, that are known not to be interpreted: to ask takes some microseconds."""


def _hook(owner: Any, name: str) -> Any:
    """The ``__setattr__`` or ``__delattr__`` that writes: those of the user are part of the program, and have run."""
    found = getattr(type(owner), name)
    if found is object.__setattr__ or (type(found) is types.FunctionType and found in _OURS):
        return found
    if not is_interpreted(found):
        if type(found) is types.FunctionType and str(found.__module__).startswith(f"{_ROOT}."):
            _OURS.add(found)
        return found
    for cls in type(owner).__mro__:
        found = vars(cls).get(name)
        if found is not None and not is_interpreted(found):
            return found
    return getattr(object, name)


def _fresh_exception(exc: BaseException, span: Span | None) -> BaseException:
    made = copy.copy(exc)
    made.__traceback__ = None
    made.__cause__, made.__suppress_context__ = exc.__cause__, exc.__suppress_context__
    if span is not None and not getattr(made, "__notes__", None):
        made.add_note(f"raised in compiled code, at {span}")
    return made
