"""Graph breaks: a function with something that cannot be captured runs as compiled segments around it.

`frontend.split` rewrites the function; here its parts are made, kept and run. Segments are `JitFunction`s, so that each
has its own guards and versions, and what cannot be captured inside one cuts that segment in turn. Such a cut of a cut
is made part of the outer one at its next call: a function with ten foreign lines ends as one skeleton.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import types
import weakref
from collections import ChainMap, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from duograph.autodiff.grads import Gradient, OfOperation, gradient_of
from duograph.base.failures import Failure, internal_failure
from duograph.base.fork import object_lock
from duograph.core.op import state
from duograph.core.shapes import numel
from duograph.core.types import TensorType
from duograph.frontend.rules.errors import TooManyPaths, Uncapturable
from duograph.frontend.rules.policy import function_kind, is_interpreted, is_library, is_user_class, module_kind
from duograph.frontend.source.load import FunctionSource
from duograph.frontend.split.build import as_definition, build_function, fold_trace, keep_source, note_part, with_folds
from duograph.frontend.split.foreign import Kinds, widened
from duograph.frontend.split.hoist import Place, apart_place, value_place
from duograph.frontend.split.plan import (
    CLOCK,
    COMPILED,
    FOLD,
    SEGMENT,
    Break,
    Segment,
    border_before,
    exits_of,
    place_of,
    plan_cuts,
)
from duograph.ir.node import Apply, Graph, Node
from duograph.ir.printer import all_graphs

from .account import Account, Meter, Watch
from .bound import BoundJit
from .policy import DEEPEST, MOST_CUTS, MOST_FORMS, CallKinds, Forms, changes, computes_too_little, saves_too_little

if TYPE_CHECKING:
    from .entries import Fallback
    from .part import Compiled

_IS_LAZY = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_WHOLE: Place = ("gradient", 0, 0, 0, 0)
"""The place of the only break of a function that `grad` has made."""


class Cut:
    """The cut form of one function.

    Args:
        function: whose.
        cause: why the function as a whole runs as plain Python; counts calls.
        make: makes the compiled form of a segment.
        part_of: the cut that ``function`` is a segment of, and which; ``None``: it is none.
    """

    def __init__(
        self,
        function: Compiled,
        cause: Fallback,
        make: Callable[..., Compiled],
        part_of: tuple[Cut, Segment] | None,
    ) -> None:
        self.function, self.cause, self.make = function, cause, make
        self.causes = [cause]  # of all kinds of calls that were refused as a whole
        self.kinds = CallKinds()
        self.outer = part_of[0] if part_of is not None else None
        self.depth: int = self.outer.depth + 1 if self.outer is not None else 0
        self.places: frozenset[Place] = frozenset()
        self.breaks: dict[Place, Break] = {}
        self.segments: dict[Any, Compiled] = {}
        self.failures: list[Failure] = []
        self.called = CompiledForm(make, self)
        self.current: tuple[Compiled, ...] = ()
        self.seen = self.unseen = 0  # calls in which plain statements were counted, and in which they were not
        self._skeleton: types.FunctionType | None = None
        self._quick: types.FunctionType | None = None
        self._is_stale = False
        self._is_doubtful = False  # all that it is of use for is what some variables hold, if that can be compiled
        self.account = Account()
        self._lock = object_lock()

    @property
    def skeleton(self) -> types.FunctionType | None:
        """What runs instead of the function; ``None`` if cutting it is no use."""
        if self._is_stale:
            with self._lock:
                if self._is_stale:
                    self._rebuild()
        if self._is_doubtful and self.called.is_idle:
            self.retire()
        made, fn = self._skeleton, self.function._python
        if made is not None and fn is not None:
            if made.__defaults__ is not fn.__defaults__ or made.__kwdefaults__ is not fn.__kwdefaults__:
                made.__defaults__, made.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
        return made

    @property
    def is_of_use(self) -> bool:
        """Whether there was a `skeleton` when that was asked last."""
        return self._skeleton is not None or self._is_stale

    @property
    def is_small(self) -> bool:
        """Whether what is compiled of it saves tapes less than the cuts cost. Then the whole runs op by op."""
        return self.kinds.is_small(lambda: saves_too_little(list(self.works()), self.count()))

    def works(self) -> Iterator[float]:
        """What calls of all that it is cut into save tapes."""
        for part in (*self.current, *self.called.forms):
            yield from part.works()

    def count(self) -> int:
        """Of how many cuts it consists: itself, and those of what it is cut into and calls."""
        parts = (*self.current, *self.called.forms)
        return 1 + sum(part.cut.count() for part in parts if part.cut is not None and part.cut.skeleton is not None)

    def is_in_use(self) -> bool:
        """Whether anything compiled has answered a call in it, segments or what the skeleton calls, since the last time
        that this was asked."""
        return self.kinds.is_in_use(self.answered) or self.called.has_gradients

    @property
    def quick(self) -> types.FunctionType | None:
        """The skeleton without counts and times of plain statements, if there is one."""
        made, fn = self._quick, self.function._python
        if made is not None and fn is not None:
            made.__defaults__, made.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
        return made

    def covers(self, names: tuple[str, ...], values: Sequence[Any]) -> bool:
        """Whether calls of this kind were refused as a whole: parameters are given, and flags are set, as in one."""
        return self.kinds.are_all(len(self.causes)) or any(
            cause.key[0] == names and all(p.holds(values) for p in cause.premises if p.is_flag) for cause in self.causes
        )

    @property
    def reasons(self) -> list[Break]:
        """One break for each reason and place of the text: a statement and a part of it may both be cut out for one."""
        found: dict[Any, Break] = {}
        for made in sorted(self.breaks.values(), key=lambda b: b.spent[1], reverse=True):
            found.setdefault((made.reason, str(made.span)), made)
        kept = set(map(id, found.values()))
        return [made for made in self.breaks.values() if id(made) in kept]

    def settle(self) -> None:
        """Plain statements ran as often, and as long, in calls in which they were not counted as in the others."""
        seen, unseen = self.seen, self.unseen
        self.seen, self.unseen = seen + unseen, 0
        if seen and unseen:
            for found in self.breaks.values():
                found.spent[0] += round(found.spent[0] * unseen / seen)
                found.spent[1] *= 1 + unseen / seen

    def passed(self, calls: int) -> None:
        """This many calls have gone to `quick` natively."""
        self.cause.hits += calls
        self.unseen += calls

    @property
    def answered(self) -> int:
        """Calls that anything compiled in it has answered."""
        return sum(part.answered for part in (*self.current, *self.called.forms))

    def retire(self) -> None:
        """Plain Python runs again, until there is another place to cut at."""
        with self._lock:
            if not self._is_stale:
                self._skeleton = self._quick = None

    def note(self, places: dict[Place, Break | None], known: frozenset[Place] | None = None) -> bool:
        """Cuts at these statements, too.

        Args:
            places: the statements. ``None``: the statement computes too little.
            known: where the function was cut when its capture began, if that is not now: another thread may have been
                told the same meanwhile.

        Returns:
            Whether the cut form is another than that of ``known``.
        """
        if known is not None and not places.keys() - known:
            return False
        if len(self.places) >= MOST_CUTS:
            return False
        new = places.keys() - self.places
        if not new:
            return known is not None
        with self._lock:
            self.places |= new
            self.breaks.update({p: b for p, b in places.items() if b is not None})
            self._is_stale = True
        if self.outer is not None:
            self.outer.note(places)
        return True

    def halves(self, segment: Segment) -> dict[Place, Break | None]:
        """For a segment that is no use as a whole: two of half the length, until one statement is left; then its
        operands; then nothing."""
        run = segment.run
        if len(run) > 1:
            return {border_before(run[len(run) // 2]): None}
        apart = apart_place(run[0])
        has_operands = isinstance(getattr(run[0], "value", None), ast.expr) and apart not in self.places
        return {apart if has_operands else place_of(run[0]): None}

    def _rebuild(self) -> None:
        try:
            self._build()
        except Exception as error:  # noqa: BLE001 - the policy; plain Python runs
            self.failures.append(
                internal_failure("cutting", fn.__qualname__ if (fn := self.function._python) else "", error)
            )
            self._skeleton, self._is_stale = None, False

    def _build(self) -> None:
        fn = self.function._python
        assert fn is not None
        if gradient_of(fn) is not None:
            self._skeleton, self._is_stale = _through(self.called, fn, self.breaks[_WHOLE].spent), False
            return
        source, places = as_definition(self.function.load(fn)), self.places
        plan = plan_cuts(source, places, lambda name: kind_of(name, fn), self.breaks.keys())
        part = self.function.part_of
        is_same = part is not None and any(segment.places == part[1].places for segment in plan.segments)
        if part is not None and (is_same or self.depth > DEEPEST):
            self._skeleton, self._is_stale = None, False  # what is cut out of it is all of it
            part[0].note(dict.fromkeys(part[1].places))
            return
        self.current = tuple([self._segment(segment, source, fn) for segment in plan.segments])
        given_up = [
            s for s, f in zip(plan.segments, self.current, strict=True) if f.is_no_use
        ]  # a cut has not changed it
        further = {place for segment in given_up for place in self.halves(segment)}
        if not further <= places and len(places) < MOST_CUTS:
            self.places |= further
            self._build()
            return
        held: dict[str, Any] = {s.name: f for s, f in zip(plan.segments, self.current, strict=True)}
        counts = {name: self.breaks[place].spent for name, place in plan.counted.items()}
        variables = {COMPILED: self.called, FOLD: fold_trace, **held}
        uncounted = plan_cuts(source, places, lambda name: kind_of(name, fn)) if counts else plan
        made = quick = build_function(with_folds(uncounted.skeleton), source, fn, variables, fn.__qualname__)
        if counts:
            watch = Watch(self.called)
            variables |= {COMPILED: watch, CLOCK: watch.clock, **counts}
            made = build_function(with_folds(plan.skeleton), source, fn, variables, fn.__qualname__)
        if part is not None:
            note_part(made)
            note_part(quick)
        uses = bool(held) or any(name == "self" or is_compilable(variable_of(fn, name)) for name in plan.called)
        self._is_doubtful = not uses
        self._skeleton, self._quick = (made, quick) if uses or plan.calls_variables else (None, None)
        changes[0] += 1
        self._is_stale = self.places is not places  # last: others read the skeleton without the lock

    def _segment(self, segment: Segment, source: FunctionSource, fn: types.FunctionType) -> Compiled:
        found = self.segments.get(segment.key)
        if found is None:
            first, last = segment.node.lineno, segment.node.end_lineno
            made = build_function(segment.node, source, fn, {}, f"{fn.__qualname__}[{first}:{last}]")
            keep_source(made, segment.node, source)
            found = self.segments[segment.key] = self.make(made, self, segment)
        return found


def _through(called: CompiledForm, fn: types.FunctionType, spent: list[Any]) -> Any:
    """The cut form of a gradient: that of the compiled form of what it is the gradient of."""

    def gradient(*args: Any, **kwargs: Any) -> Any:
        spent[0] += 1
        return called(fn)(*args, **kwargs)

    return gradient


def measured(skeleton: types.FunctionType, meter: Meter) -> types.FunctionType:
    """A skeleton whose parts run behind ``meter``."""

    def behind(name: str, value: Any) -> Any:
        if isinstance(value, (CompiledForm, Watch)):
            return meter.called(value.form if isinstance(value, Watch) else value)
        return meter.clock if name == CLOCK else meter.segment(value) if name.startswith(SEGMENT) else value

    is_through = skeleton.__globals__ is globals()  # else the cells are the program's, but for those with a dot
    cells = [
        types.CellType(behind(name, cell.cell_contents)) if name[0] == "." or is_through else cell
        for name, cell in zip(skeleton.__code__.co_freevars, skeleton.__closure__ or (), strict=True)
    ]
    made = types.FunctionType(skeleton.__code__, skeleton.__globals__, skeleton.__name__, None, tuple(cells))
    made.__defaults__, made.__kwdefaults__ = skeleton.__defaults__, skeleton.__kwdefaults__
    made.__qualname__, made.__module__ = skeleton.__qualname__, skeleton.__module__
    return made


def statements_at(error: Uncapturable, function: Compiled) -> dict[Place, Break | None]:
    """The statements of ``function`` to run as plain Python because of ``error``; none if there are no such."""
    fn = function._python
    if fn is None:
        return {}
    if gradient_of(fn) is not None:
        return {_WHOLE: Break(error.reason, error.span)}
    source = function.load(fn)
    if isinstance(error, TooManyPaths):
        body = source.node.body if isinstance(source.node, ast.FunctionDef) else []
        run = function.part_of[1].run if function.part_of is not None else body
        return {border_before(run[len(run) // 2]): None} if len(run) > 1 else {}
    if source.names.is_generator or isinstance(source.node, ast.AsyncFunctionDef):
        return {
            place_of(node) if isinstance(node, ast.stmt) else value_place(node): Break(what, source.span(node))
            for node, what in exits_of(source)
        }
    if not error.trail and function.part_of is not None:
        return function.part_of[0].halves(function.part_of[1])
    frames = [frame for frame, code, _ in error.trail if code is source]
    trail = [node for frame, _, node in error.trail if frames and frame == frames[-1]]
    if not trail:
        return {}
    found = Break(error.reason, error.span or source.span(trail[0]))
    depth = next((i for i, node in enumerate(trail) if isinstance(node, ast.stmt)), len(trail))
    if not depth:
        return {place_of(trail[0]): found}
    kinds = Kinds(lambda name: kind_of(name, fn), source.names.own, COMPILED)
    places: dict[Place, Break | None] = {value_place(widened(trail[:depth], kinds)): found}
    for path in _calls_alike(trail, source, kinds):
        places.setdefault(value_place(widened(path, kinds)), Break(error.reason, source.span(path[0])))
    return places


def _calls_alike(trail: list[ast.AST], source: FunctionSource, kinds: Kinds) -> Iterator[list[Any]]:
    """Further calls of the foreign function, or method, that the first node of a ``trail`` calls, in statements of the
    body that are run as well: each with what is around it, as far as its statement. So the breaks of a function that
    logs step by step are found at once."""
    body, node = source.node.body, trail[0]
    if not isinstance(node, ast.Call) or not kinds.is_foreign_call(node) or not isinstance(body, list):
        return
    callee = ast.dump(node.func)
    at = next((i for i, statement in enumerate(body) if statement in trail), len(body))
    for statement in body[at + 1 :]:
        if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.Return):
            for path in _paths(statement, []):
                if isinstance(path[0], ast.Call) and ast.dump(path[0].func) == callee:
                    yield path[:-1]


def _paths(node: ast.AST, around: list[Any]) -> Iterator[list[Any]]:
    path = [node, *around]
    yield path
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield from _paths(child, path)


def is_light(graph: Graph, guards: int, decide: Callable[..., bool] = computes_too_little) -> bool:
    """Whether a graph computes so little that its call costs more than Python's; ``guards`` is their number. Or what
    else ``decide`` finds of that."""
    parts = list(all_graphs(graph))
    types = [n.type for part in parts for n in part.nodes if isinstance(n.type, TensorType) and not _is_number(n)]
    largest = max([n for t in types if isinstance(n := numel(t.shape), int)], default=0)
    return decide(len(types), len(parts) == 1, largest, guards)


def _is_number(node: Node) -> bool:
    """Whether a node is a number of the program's text as a tensor, which costs nothing in either way."""
    return isinstance(node, Apply) and node.op.name == "full" and node.attrs["shape"] == ()


class CompiledForm:
    """What a skeleton calls in the place of what the program calls: its compiled form, if it has one.

    Functions and methods of the user, Cells, and gradients of these.
    """

    unbound = NameError  # what a skeleton catches to see whether variables are bound

    def __init__(self, make: Callable[..., Any], cut: Cut) -> None:
        self.make = make
        self._function, self._python, self._cut = cut.function, cut.function._python, cut
        self._known: OrderedDict[types.FunctionType, Any] = OrderedDict()
        self._gradients: weakref.WeakKeyDictionary[types.FunctionType, tuple[Any, Any]] = weakref.WeakKeyDictionary()
        self._worth = Forms()
        self._was_asked = self._has_met = False  # for anything, and for what may have a compiled form

    def __call__(self, fn: Any) -> Any:
        kind = type(fn)
        self._was_asked = True
        callee = fn.__func__ if kind is types.MethodType or kind is BoundJit else fn
        if (callee is self._function or callee is self._python) and (skeleton := self._of_recursion()) is not None:
            return skeleton if callee is fn else types.MethodType(skeleton, fn.__self__)
        if kind is types.FunctionType:
            found = self._form(fn)
            if found is None and (gradient := gradient_of(fn)) is not None:
                return self._gradient(fn, gradient)
        elif kind is types.MethodType and type(fn.__func__) is types.FunctionType:
            found = self._form(fn.__func__)
            if found is not None:
                return types.MethodType(found, fn.__self__)
        elif is_plain_cell(kind) and "construct" not in vars(fn):
            found = self._form(kind.construct)
            if found is not None:
                return partial(fn.call_instead, found)
        else:
            return fn
        return found if found is not None else fn

    @property
    def forms(self) -> tuple[Compiled, ...]:
        """The compiled forms."""
        return tuple(self._known.values())

    @property
    def is_idle(self) -> bool:
        """Whether it was asked, and for nothing yet that may have a compiled form."""
        return self._was_asked and not self._has_met

    @property
    def has_gradients(self) -> bool:
        """Whether it has made gradients of compiled forms."""
        return bool(self._gradients)

    def _of_recursion(self) -> Any:
        """What the function calls where it calls itself: its skeleton, so that Python's stack holds one frame for each
        level as it does without us, and is not full at a fifth of the depth."""
        function = self._function
        try:
            if not function.may_be_passed_by() or (self._cut.is_small and state.tapes):
                return None
            return self._cut.quick if self._cut.skeleton is not None else None
        except RecursionError:
            raise RecursionError("maximum recursion depth exceeded") from None  # as the call of the function would

    def _gradient(self, fn: types.FunctionType, gradient: Gradient | OfOperation) -> Any:
        """``fn``, which is the gradient of something, as that of its compiled form."""
        inner = self(gradient.fn)
        if inner is gradient.fn:
            return fn
        if isinstance(inner, partial):  # a Cell's is another each time
            return gradient.of(inner)
        known = self._gradients.get(fn)
        if known is None or known[0] is not inner:
            known = self._gradients[fn] = (inner, gradient.of(inner))
        return known[1]

    def _form(self, fn: types.FunctionType) -> Any:
        found = self._known.get(fn)
        if found is not None:
            return None if found.is_no_use else found
        if not self._worth.is_worth(fn, lambda: self._may_be_compiled(fn)):
            return None
        made = self._known[fn] = self.make(fn)
        if len(self._known) > MOST_FORMS:
            self._known.popitem(last=False)
        return made

    def _may_be_compiled(self, fn: types.FunctionType) -> bool:
        found = is_interpreted(fn) and not is_library(fn) and not fn.__code__.co_flags & _IS_LAZY
        self._has_met = self._has_met or found
        return found

    def code_to_compile(self, fn: Any) -> types.CodeType | None:
        """The code that gets a compiled form where ``fn`` is called more than once."""
        if type(fn) is types.FunctionType and (gradient := gradient_of(fn)) is not None:
            return self.code_to_compile(gradient.fn)
        if type(fn) is types.MethodType:
            fn = fn.__func__
        elif is_plain_cell(type(fn)):
            fn = type(fn).construct
        return fn.__code__ if type(fn) is types.FunctionType and self._may_be_compiled(fn) else None

    @staticmethod
    def method(bound: Any) -> tuple[Any, tuple[Any, ...]]:
        """A method as its function and its object: guards know both again, but a bound method is another each time."""
        return (bound.__func__, (bound.__self__,)) if type(bound) is types.MethodType else (bound, ())


def variables_of(fn: types.FunctionType) -> Mapping[str, Any]:
    """The closure and global variables of a function that have a value now."""
    cells = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
    return ChainMap({name: cell.cell_contents for name, cell in cells if cell != types.CellType()}, fn.__globals__)


def variable_of(fn: types.FunctionType, name: str) -> Any:
    """What a closure or global variable of a function is now; ``None`` if it has no value."""
    return variables_of(fn).get(name)


def is_compilable(value: Any) -> bool:
    """Whether a variable holds something that may have a compiled form."""
    return type(value) is types.FunctionType or is_plain_cell(type(value))


def is_plain_cell(kind: type) -> bool:
    """Whether objects of this class are Cells whose call comes to their ``construct`` in the way of all Cells."""
    if type(kind) is not type:  # code of a metaclass would run
        return False
    base = next((c for c in kind.__mro__ if "call_instead" in vars(c)), None)
    if base is None or type(kind.construct) is not types.FunctionType:  # type: ignore[attr-defined]
        return False
    return kind.__call__ is base.__call__ and kind.run is base.run  # type: ignore[attr-defined]


def kind_of(name: str, fn: types.FunctionType) -> str:
    """What a global name of ``fn`` stands for (`split.foreign.Kinds`)."""
    value = fn.__globals__.get(name, fn)
    if value is fn:
        return "foreign" if hasattr(builtins, name) else ""
    made_by = type(value)
    if made_by is types.ModuleType:
        kind = module_kind(value.__name__)
    elif made_by is types.FunctionType:
        kind = function_kind(value)
    elif made_by in (types.BuiltinFunctionType, type):
        kind = "user" if made_by is type and is_user_class(value) else module_kind(value.__module__)
    elif type(made_by) is not type:  # code of a metaclass would run
        return ""
    else:
        return "foreign" if module_kind(made_by.__module__) == "other" and not is_user_class(made_by) else ""
    return {"framework": "module", "other": "foreign"}.get(kind, "")
