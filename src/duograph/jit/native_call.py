"""Compiled versions as native calls: what of a `Program` native code can do by itself (`runtime/calls/native.py`).

That is: bind the arguments, check the guards, pass tensors and numbers, run the code, write new contents of outside
tensors, advance the random generator, and put tensors, numbers, constants, tuples, lists and dicts together to a
result. Any other result or effect is made by `Program.conclude`, called from native code. What cannot be done at all is
`Unsupported`; such versions are run by `Entry.run`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

from duograph.base.diagnostics import InternalError
from duograph.core.types import ScalarType, TensorType, TokenType
from duograph.frontend.guards.native import Translator
from duograph.frontend.programs.conclusion import conclusion
from duograph.frontend.programs.printing import Printed, PrintTarget
from duograph.frontend.programs.program import Path, Program, RunPlainly
from duograph.frontend.rules.sources import Source
from duograph.frontend.values.recipe import Constant, Container, Output, Outside, Recipe, View
from duograph.ir.node import Graph
from duograph.runtime.calls import words as w
from duograph.runtime.calls.instead import Instead
from duograph.runtime.calls.native import AGAIN, NativeCall, call_machine
from duograph.runtime.calls.plan import CallPlan, Classes, PathPlan, Subject
from duograph.runtime.calls.views import Views, known_by
from duograph.runtime.programs.executable import Executable, compiled_graph, executable_of, has_failed
from duograph.runtime.python.cpython import Unsupported
from duograph.tensor.random import default_generator

if TYPE_CHECKING:
    from .entry import Entry

__all__ = ["Unsupported", "instead", "native_call", "native_taped_call"]


Told = tuple[Callable[[list[Any]], Any], Callable[..., Any]]


def binding_of(
    names: Sequence[str], parameters: Sequence[inspect.Parameter]
) -> tuple[int, int, bool, list[str] | None]:
    """How values for ``names`` may be given: how many by position, how many only so, whether ``*args`` come behind
    these; if ``**kwargs`` come last, the names of the parameters that may be given by name.

    Raises:
        Unsupported: native code cannot tell which value goes where.
    """
    kinds = {p.name: p.kind for p in parameters}
    given = [kinds[n] for n in names]
    rest = inspect.Parameter.VAR_POSITIONAL in given
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    by_position = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    positional = 0
    while positional < min(len(names), len(by_position)) and names[positional] == by_position[positional]:
        positional += 1
    only = sum(k is inspect.Parameter.POSITIONAL_ONLY for k in given)
    if only > positional or (rest and positional < given.index(inspect.Parameter.VAR_POSITIONAL)):
        raise Unsupported("arguments that are left out in between")
    return positional, only, rest, by_name if inspect.Parameter.VAR_KEYWORD in given else None


def instead(classes: tuple[type, type, type, str]) -> Instead | None:
    """What calls of a compiled function may go to natively, if that is possible; ``classes``: see `native_call`."""
    try:
        call_machine(Classes(*classes))
    except Unsupported:
        return None
    return Instead()


def native_call(
    entry: Entry,
    level: int,
    args: Sequence[Any],
    parameters: Sequence[inspect.Parameter],
    classes: tuple[type, type, type, str],
) -> NativeCall | None:
    """The native call of a version; ``None`` if it was not compiled yet (it ran only for gradients).

    Args:
        entry: the version; its guards hold for ``args``.
        level: of its executable.
        args: the values of the parameters.
        parameters: of the function.
        classes: what `runtime.calls.native.Classes` takes.

    Raises:
        Unsupported: it has none.
    """

    if not entry.is_native:
        raise Unsupported("the interpreter runs it")
    executable = compiled_graph(entry.graph, level, entry.donation.inputs)
    if executable is None:
        if has_failed(entry.graph, level):
            raise Unsupported("it could not be made machine code")
        return None
    return _made(entry, executable, args, parameters, classes)


def native_taped_call(
    entry: Entry,
    graph: Graph,
    level: int,
    args: Sequence[Any],
    parameters: Sequence[inspect.Parameter],
    classes: tuple[type, type, type, str],
    told: Told,
) -> NativeCall:
    """The native call of a version while tapes record.

    Args:
        entry: the version; its guards hold for ``args``.
        graph: the simplified form of the forward graph that runs.
        level: see `native_call`; this and the next three.
        args: the values of the parameters.
        parameters: of the function.
        classes: what `runtime.calls.native.Classes` takes.
        told: ``begin`` and ``finish`` of the `CallPlan`: they tell the tapes.

    Raises:
        Unsupported: it has none.
    """

    if not entry.is_native or entry.program.token:
        raise Unsupported("it does not run natively")
    executable = executable_of(graph, level)
    if executable is None:
        raise Unsupported("it could not be made machine code")
    return _made(entry, executable, args, parameters, classes, told)


def _made(
    entry: Entry,
    executable: Executable,
    args: Sequence[Any],
    parameters: Sequence[inspect.Parameter],
    classes: tuple[type, type, type, str],
    told: Told | None = None,
) -> NativeCall:
    positional, only, rest, reserved = binding_of(entry.names, parameters)
    steps = executable.build.host_steps
    prints = [step for step in steps if type(step.node.attrs.get("target")) is PrintTarget]
    if not all(step.is_pure or step in prints for step in steps) or not executable._flat_params:
        raise Unsupported("part of it runs in Python")
    if executable.build.debug:
        raise Unsupported("its memory is watched (debug mode)")
    call_machine(Classes(*classes))
    translator = entry.program.guards.translated(args)
    plan = CallPlan(translator.program, executable, entry.names, rest, positional, only, reserved=reserved)
    plan.effects = Printed() if prints else None
    planner = _Planner(entry.program, executable, translator, plan)
    if told is None:
        planner.plan_all()
    else:
        planner.plan_recorded(told)
    if not plan.guards.function()(*args) and entry.matches(args):
        raise InternalError("the check of a native call fails although the version is valid", stage="native calls")
    return NativeCall(plan)


def _finisher(program: Program) -> Callable[[Sequence[Any], Sequence[Any]], Any]:
    """`Program.finish` for a program of several paths."""
    generator = default_generator()

    def finish(args: Sequence[Any], outputs: Sequence[Any]) -> Any:
        try:
            return program.finish(args, outputs, generator)
        except RunPlainly:
            return AGAIN

    return finish


class _Planner:
    """Fills a `CallPlan`."""

    def __init__(self, program: Program, executable: Executable, translator: Translator, plan: CallPlan) -> None:
        self.program, self.executable, self.translator, self.plan = program, executable, translator, plan
        self.marks = dict(program.aliases)
        self.written = program.written if self.marks else set[Any]()
        self.subjects: dict[Source, int] = {}
        self.facts: dict[Source, tuple[Any, tuple[int | None, ...]]] = {}  # dtype and shape; None: varies
        self.views: dict[int, int] = {}  # id(recipe) -> number of the leaf, of the present path
        tensors = [guard for guard in program.guards.guards if guard.check in ("tensor", "pattern")]
        self.strided = {guard.source for guard in tensors if not guard.expected[3]}
        for guard in tensors:
            self.facts[guard.source] = guard.expected[1:3]

    def plan_all(self) -> None:
        self._inputs()
        for source in self.marks:
            self._subject(source)
        program = self.program
        if len(program.paths) == 1 and program.paths[0].kind == "return":
            self.plan.paths = [self._path(program.paths[0])]
            return
        try:
            is_told = len(program.paths) > 1 and self.executable.build.outputs[0].word >= 0  # which path is taken
            varies = program.symbols and any(path.tensors for path in program.paths)
            if is_told and not program.standalone and not varies:
                self.plan.paths = [self._path(path) for path in program.paths]
                return
        except Unsupported:  # Python does what follows
            for subject in self.plan.subjects:
                subject.is_written = subject.is_donated = subject.is_alone = False
        self.plan.paths = [PathPlan(finish=_finisher(program))]

    def plan_recorded(self, told: Told) -> None:
        """What a call does while tapes record: Python does all but run the graph."""
        self._inputs()
        for source in self.marks:
            self._subject(source)
        plan = self.plan
        plan.inputs = [self.translator.register(source) for source in self.program.inputs]
        plan.begin = told[0]
        plan.paths = [PathPlan(finish=told[1])]
        if plan.generator is not None:
            plan.dims = list(plan.generator[1:])

    def _refuse(self, reason: str) -> NoReturn:

        raise Unsupported(reason)

    # ---- what goes in --------------------------------------------------------------------------------------------

    def _inputs(self) -> None:
        buffer, dim = 0, 1
        sources = self.program.inputs
        types = self.executable.input_types
        for source, type in zip(sources, types[: len(sources)], strict=True):
            if isinstance(type, TensorType):
                subject = self.plan.subjects[self._subject(source)]
                if subject.buffer >= 0:
                    self._refuse("one tensor is two inputs")
                subject.buffer, buffer = buffer, buffer + 1
            elif isinstance(type, ScalarType):
                register = self.translator.register(source)
                self.plan.numbers.append((register, type.python_type, dim, source.kind == "number"))
                dim += 1
            else:
                self._refuse(f"an input is a {type}")
        rest = self.executable.graph.params[len(sources) :]
        used = {o for node in self.executable.graph.nodes for o in node.operands}
        used.update(getattr(self.executable.graph.output, "operands", ()))
        for param in rest[2:]:
            if not isinstance(param.type, TokenType):
                self._refuse(f"an input is a {param.type}")
        if not used.isdisjoint(rest[:2]):
            self.plan.generator = (default_generator(), dim, dim + 1)
        if self.executable.build.symbols or self.program.assumptions:
            self.plan.vary([self.subjects.get(source, -1) for source in sources], dim + 2, self.program.assumptions)

    def _subject(self, source: Source) -> int:
        """The number of the tensor among the subjects; a new one if it is none yet."""

        found = self.subjects.get(source)
        if found is None:
            facts = self.facts.get(source)
            if facts is None:
                self._refuse("a tensor of which nothing is known")
            dtype, shape = facts
            varies = None in shape or source in self.strided
            nbytes = -dtype.itemsize if varies else dtype.itemsize * prod([n for n in shape if n is not None])
            found = self.subjects[source] = len(self.plan.subjects)
            subject = Subject(self.translator.register(source), nbytes=nbytes, is_bare=source.kind == "array")
            subject.is_strided = source in self.strided
            if not subject.is_bare:
                subject.mark = self.marks.get(source, -1)
                subject.is_changed = subject.mark in self.written
            self.plan.subjects.append(subject)
        return found

    # ---- what comes out ------------------------------------------------------------------------------------------

    def _path(self, path: Path) -> PathPlan:
        plan, outputs = self.plan, self.executable.build.outputs
        made, written = PathPlan(is_plain=path.kind != "return"), set[int]()
        if made.is_plain:
            return made
        for recipe, index, replaces, _ in path.tensors:
            if not isinstance(recipe, Outside):
                self._refuse("it writes to a view")
            number = self._subject(recipe.source)
            subject, output = plan.subjects[number], outputs[path.first + index]
            type = output.type
            if not isinstance(type, TensorType) or (type.dtype.numpy, type.shape) != self.facts[recipe.source]:
                self._refuse("what it writes has another type")
            if number in written:  # `set_data` takes memory from a Parameter, which nobody else sees: it is alone
                if not replaces:
                    self._refuse("it writes twice to one tensor")
                made.writes = [write for write in made.writes if write[0] != number]
            written.add(number)
            subject.is_written = True
            subject.is_donated = subject.is_donated or output.donated >= 0
            subject.is_alone = subject.is_alone or replaces
            made.writes.append((number, path.first + index))
        if path.offset is not None:
            if plan.generator is None:
                self._refuse("it sets the state of the generator")
            made.draws = path.first + path.offset
        self.views = {}
        for recipe in path.recipes():
            if isinstance(recipe, View):
                self._view(path, recipe, made)
        if path.containers or path.attributes or not self._tree(path, path.value, made, set()):
            made.result, made.finish = [], conclusion(self.program, path, self.views)
        return made

    def _tree(self, path: Path, recipe: Recipe, made: PathPlan, seen: set[int]) -> bool:
        """Describes a result; whether native code can make it."""
        words = made.result
        match recipe:
            case Output():
                words.append((w.TREE_LEAF, path.first + recipe.index))
            case Constant():
                self.plan.kept.append(recipe.value)
                words.append((w.TREE_CONSTANT, id(recipe.value)))
            case Outside():
                register = self.translator.registers.get(recipe.source)
                if register is None:
                    return False
                self.plan.held.append(register)
                words.append((w.TREE_REGISTER, register))
            case Container(kind=kind, keys=None) if kind in (tuple, list) and id(recipe) not in seen:
                seen.add(id(recipe))
                words.append((w.TREE_TUPLE if kind is tuple else w.TREE_LIST, len(recipe.items)))
                return all(self._tree(path, item, made, seen) for item in recipe.items)
            case Container(kind=kind, keys=list(keys), factory=None) if kind is dict and id(recipe) not in seen:
                if any(type(key) not in (str, int) for key in keys):  # others run Python, or are equal to others
                    return False
                seen.add(id(recipe))
                self.plan.kept += keys
                words.append((w.TREE_DICT, len(keys)))
                for key, item in zip(keys, recipe.items, strict=True):
                    words.append((w.TREE_CONSTANT, id(key)))
                    if not self._tree(path, item, made, seen):
                        return False
                return True
            case View() if id(recipe) in self.views:
                words.append((w.TREE_LEAF, self.views[id(recipe)]))
            case _:
                return False
        return True

    def _view(self, path: Path, recipe: View, made: PathPlan) -> None:
        """Lets native code make a view, if that depends on nothing but its parent."""
        parent, outputs, found = recipe.parent, self.executable.build.outputs, None
        match parent:
            case Output(index) if outputs[path.first + index].donated < 0:
                found = True, path.first + index
            case Outside(source) if source in self.translator.registers:
                found = False, self.translator.registers[source]
                self.plan.held.append(found[1])
            case View() if id(parent) in self.views:
                found = True, self.views[id(parent)]
        type = None if not recipe.symbols else self._type(path, parent) if recipe.type is None else recipe.type
        if found is not None and (not recipe.symbols or (type and recipe.symbols <= known_by(type).keys())):
            self.views[id(recipe)] = len(outputs) + len(self.plan.dims) + len(made.shown)
            made.shown.append((Views(recipe.op, recipe.attrs, type), *found))

    def _type(self, path: Path, recipe: Recipe) -> TensorType | None:
        """What a result is, with the symbols of its sizes."""
        made: Any = None
        match recipe:
            case Output(index):
                made = self.executable.build.outputs[path.first + index].type
            case Outside(source) if source in self.facts:
                symbols = {axis: symbol for symbol, of, axis in self.program.symbols if of == source}
                dtype, shape = self.facts[source]
                made = TensorType(dtype, tuple([symbols.get(i, 0) if n is None else n for i, n in enumerate(shape)]))
            case View(op=op, attrs=attrs) if (parent := self._type(path, recipe.parent)) is not None:
                made = op.result_type((parent,), attrs)
        return made if isinstance(made, TensorType) else None
