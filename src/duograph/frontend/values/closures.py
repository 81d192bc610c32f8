"""Functions that are defined inside and leave the program: each run makes them of the code that Python has compiled.

The code object is the one among the constants of the function around that was made of the same lines. The cells hold
what the variables hold at the end of the path; functions that share a variable share its cell.
"""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass, field
from typing import Any

from ..rules.errors import Uncapturable
from ..rules.facts import MISSING
from ..rules.sources import pinned
from .collector import Collector
from .functions import CapturedFunction
from .recipe import Outside, Recipe, Run
from .world import Conflict, Frame


@dataclass(eq=False, slots=True)
class _Cell(Recipe):
    """The cell of a variable; its contents come when all that may refer to it is there."""

    contents: Recipe | None = None
    is_filled: object = field(default_factory=object)  # key of what a run remembers

    def make(self, run: Run) -> Any:
        return types.CellType()

    def fill(self, run: Run) -> None:
        """Once in a run: functions that are called meanwhile may write to it."""
        if self.contents is not None and run.memo.setdefault(id(self.is_filled), self) is self:
            run.memo[id(self.is_filled)] = None
            self.build(run).cell_contents = self.contents.build(run)


@dataclass(eq=False, slots=True)
class _Closure(Recipe):
    """A function of Python."""

    code: types.CodeType
    globals: Recipe
    defaults: list[Recipe]
    named: dict[str, Recipe]
    cells: list[Recipe] = field(default_factory=list)

    def make(self, run: Run) -> Any:
        cells = tuple([cell.build(run) for cell in self.cells])
        made = types.FunctionType(self.code, self.globals.build(run), self.code.co_name, None, cells)
        run.memo[id(self)] = made
        made.__defaults__ = tuple([r.build(run) for r in self.defaults]) or None
        made.__kwdefaults__ = {name: r.build(run) for name, r in self.named.items()} or None
        for cell in self.cells:
            if isinstance(cell, _Cell):
                cell.fill(run)
        return made


def _recipe(fn: CapturedFunction, collector: Collector) -> Recipe:
    """How a run makes ``fn``.

    Raises:
        Uncapturable: it is shown, has attributes or annotations, or its code cannot be told from another.
    """
    what = f"the function {fn.__qualname__!r} defined inside leaves the compiled function"
    node, code = fn.source.node, _code_of(fn)
    own = {"__name__", "__qualname__", "__module__", "__doc__"}
    is_plain = fn.__qualname__ == code.co_qualname and fn.__name__ == code.co_name if code is not None else False
    has_attributes = vars(fn).keys() - own or any(owner is fn for owner, _ in collector.session.world.overlay.values())
    if code is None or collector.values_only or has_attributes or not is_plain or is_annotated(node):
        raise Uncapturable(what)
    parameters = fn.signature.parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given = [p.default for p in positional if p.default is not p.empty]
    named = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is not p.empty}
    made = _Closure(code, Outside(pinned(fn.frame.globals)), [], {})
    collector._memo[id(fn)] = (fn, made)
    made.cells = [_cell(collector, name, fn.frame, what) for name in code.co_freevars]
    made.defaults = [collector.recipe(v) for v in given]
    made.named = {name: collector.recipe(v) for name, v in named.items()}
    return made


def _cell(collector: Collector, name: str, frame: Frame, what: str) -> Recipe:
    """The cell of the variable ``name`` that a function defined in ``frame`` reads."""
    at: Frame | None = frame
    while at is not None:
        if name in at.code.names.own:
            return _own_cell(collector, name, at, what)
        if name in at.cells:
            cell = at.cells[name]
            return Outside(collector.session.source_of(cell))
        at = at.parent
    raise Uncapturable(what)


def _own_cell(collector: Collector, name: str, frame: Frame, what: str) -> Recipe:
    cells = collector.cells
    known = cells.get((id(frame), name))
    if known is None:
        known = cells[id(frame), name] = _Cell()
        value = frame.locals.get(name, MISSING)
        if isinstance(value, Conflict):
            raise Uncapturable(what)
        if value is not MISSING:
            known.contents = collector.recipe(value)
    return known


def is_annotated(node: Any) -> bool:
    if isinstance(node, ast.Lambda):
        return False
    a = node.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
    return node.returns is not None or any(one.annotation for one in every) or bool(getattr(node, "type_params", ()))


def _code_of(fn: Any) -> types.CodeType | None:
    """The code object of a function; ``None`` if it is not known which it is."""
    if isinstance(fn, types.FunctionType):
        return fn.__code__
    if not isinstance(fn, CapturedFunction):
        return None
    frame: Frame | None = fn.frame
    while frame is not None and isinstance(frame.function, type):  # of a comprehension
        frame = frame.parent
    around = None if frame is None else _code_of(frame.function)
    if around is None:
        return None
    node = fn.source.node
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    line = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())]])
    found = [code for code in _codes_in(around) if code.co_name == name and code.co_firstlineno == line]
    if len(found) > 1:
        found = [code for code in found if _is_within(code, node)]
    return found[0] if len(found) == 1 else None


def _is_within(code: types.CodeType, node: Any) -> bool:
    """Whether a code object was made of the text of ``node``, by the places of its instructions."""
    places = [(line, col) for line, _, col, end in code.co_positions() if col is not None and end and col < end]
    begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return bool(places) and all(begin <= place < end for place in places)


def _codes_in(code: types.CodeType) -> list[types.CodeType]:
    """The code objects among the constants of a function, and in its comprehensions."""
    found = []
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            found.append(one)
            if one.co_name.startswith("<") and one.co_name != "<lambda>":
                found += _codes_in(one)
    return found


CapturedFunction.make_python_object = _recipe  # type: ignore[method-assign, assignment]
