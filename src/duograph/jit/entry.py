"""One compiled version of a function: its program, its optimised graph, and how a call runs it."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import Parameter
from math import inf, prod
from typing import TYPE_CHECKING, Any

from duograph.autodiff.compiled import GraphFunction
from duograph.autodiff.entries import Overwritten, Underivable
from duograph.autodiff.unfold import can_unfold, has_paths
from duograph.base.diagnostics import InternalError
from duograph.base.failures import SHORTAGE, ExtensionError, Failure, are_raised, internal_failure, is_from_outside
from duograph.base.fork import object_lock
from duograph.base.once import lazy
from duograph.core.dim import UnknownSizeError
from duograph.core.op import rules_version, state
from duograph.core.types import ScalarType, TensorType
from duograph.frontend.guards.guard import UNREADABLE, Guard
from duograph.frontend.programs.donation import donation_of
from duograph.frontend.programs.execute import executor, own_outputs, run_graph, run_graph_owned
from duograph.frontend.programs.program import Program, Unfinished
from duograph.frontend.programs.structural import differences, structural
from duograph.frontend.rules.sources import Source
from duograph.ir.control import call_named, make_tuple, scan, tuple_get, undef, while_loop
from duograph.ir.node import Const, Graph
from duograph.ir.printer import all_graphs
from duograph.passes.pipelines import TUPLES, compile_program, optimised
from duograph.passes.simplify.tuples import items_of
from duograph.tensor.random import default_generator
from duograph.tensor.tensor import Tensor

from .compiled import executables_of
from .policy import TAPED_RARELY, Comparison, is_quicker_op_by_op, work_for_tapes

if TYPE_CHECKING:
    from duograph.runtime.calls.native import NativeCall

LOOSE = (make_tuple, tuple_get, undef)  # of the graph only
ABOUT_SIZES = ("tensor", "pattern", "equal")  # guards that may fail because sizes, or numbers, are other ones
LEVELS = {"": 1, "O0": 0, "O1": 1, "O2": 2}


class RunFailed(Exception):
    """The graph raised; ``__cause__`` is the error. Nothing outside has been changed yet, except by printing."""


class PassFailed(Exception):
    """A pass failed with ``error`` on a program."""

    def __init__(self, program: Program, error: Exception) -> None:
        super().__init__(program.name, error)
        self.name, self.graph, self.error = program.name, program.graph, error


class Entry:
    """A compiled version; valid while its guards hold."""

    def __init__(
        self, program: Program, names: tuple[str, ...], level: str, capture_ms: float, backend: Any = ""
    ) -> None:
        self.names = names  # of the parameters that were given: what the guards count positions in
        self.level = level
        self.backend = backend
        self.capture_ms = capture_ms
        self.rules = rules_version[0]
        started = time.perf_counter()
        self.graph: Graph = compile_program(program.graph, LEVELS[level])
        if program.is_checked:
            self.graph = _without_spent_check(self.graph)
        self.has_loops = any(node.op in (while_loop, scan) for g in all_graphs(self.graph) for node in g.nodes)
        """Then the interpreter may take a thousand times as long as plain Python to repeat a call that failed."""
        self.passes_ms = (time.perf_counter() - started) * 1e3
        self._take(program)

    def _take(self, program: Program) -> None:
        self.program, self.guards = program, program.guards
        self._origin: weakref.ref[Entry] | None = None  # what it is a form of, for other objects
        self.runs = 0  # calls that Python led
        self.is_spare = False  # unused when that was looked at last
        self.native: NativeCall | None = None
        self.why_not_native = ""
        self.plain_runs = 0  # calls that plain Python answered after all: the program raised
        self.failures: list[Failure] = []  # of its native calls
        self.donation = donation_of(program)
        self.comparison = Comparison(0)  # with plain Python
        self.taped: dict[Any, NativeCall | None] = {}  # while tapes record, by what they watch; None: not possible
        self.taped_runs = 0
        self.gradients_ms = 0.0  # that graphs of gradients have taken to make
        self._refused_on_tapes = False
        self._lock = object_lock()

    def for_others(self, args: Sequence[Any] | None = None) -> Entry | None:
        """This version, with the same machine code, for other objects that hold the same; ``None``: there is none.

        Args:
            args: of a call that the result is valid for. ``None``: for all that may come (`structural`).
        """
        program = None if not self.is_native and args is None else structural(self.program, args)
        if program is None or not (args is None or (program.memory_matches(args) and program.sizes_match(args))):
            return None
        made = Entry.__new__(Entry)
        for name in ("names", "level", "backend", "capture_ms", "rules", "graph", "has_loops", "passes_ms"):
            setattr(made, name, getattr(self, name))
        made._take(program)
        made._origin = weakref.ref(self)
        return made

    def is_like_one_of(self, entries: Sequence[Entry]) -> bool:
        """Whether it is one of them, for others."""
        return self._origin is not None and self._origin() in entries

    @property
    def is_native(self) -> bool:
        """Whether the native engine runs it, as far as it can."""
        return self.backend != "interpreter" and not callable(self.backend)

    @property
    def hits(self) -> int:
        """Calls that this version answered."""
        native = (self.native, *self.taped.values())
        return self.runs + sum([call.hits for call in native if call is not None])

    @property
    def compile_ms(self) -> float:
        """Time spent in passes and in making machine code of what they give, as far as that has happened; graphs that
        tapes have made of it included."""
        return self.passes_ms + self.gradients_ms + sum(x.compile_ms for x in executables_of(self.graph))

    def compile(self) -> None:
        """Makes the machine code, which else the first call does."""
        executor(self.backend).prepare(self.graph, LEVELS[self.level], self.donation.inputs)

    def prepare(self, args: Sequence[Any]) -> None:
        """Makes the check that calls will need to find out that this version is not theirs."""
        try:
            self.program.guards.prepare(args)
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", self.program.name, error))

    def matches(self, args: Sequence[Any]) -> bool:
        """Whether this version is valid for ``args`` as things are now."""
        try:
            return (
                self.rules == rules_version[0]
                and self.program.guards.check(args)
                and self.program.memory_matches(args)
                and self.program.sizes_match(args)
            )
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", self.program.name, error))
            return False

    def miss(self, args: Sequence[Any]) -> tuple[Guard | None, str]:
        """The guard that makes this version invalid for ``args``, if it is one, and why it is in words; empty if it is
        valid."""
        program = self.program
        if self.rules != rules_version[0]:
            return None, "a rule of an operator was replaced, or a pass registered or taken away"
        try:
            guard, why = program.guards.first_miss(args)
            return guard, why or program.memory_miss(args) or program.sizes_miss(args)
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", program.name, error))
            return None, str(self.failures[-1])

    def verify(self, args: Sequence[Any]) -> None:
        """In tests and debug runs: is this version valid for the call that it was made for, also natively?

        One that is not serves no call ever. To be asked before the program runs, which may change what is guarded.
        """
        if not are_raised():
            return
        try:
            if (why := self.miss(args)[1]) != "":
                raise InternalError(f"a version is not valid for the call that made it: {why}", stage="guards")
            self.program.guards.native_form(args)
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", self.program.name, error))

    def renew(self, args: Sequence[Any]) -> bool:
        """Whether this version is valid although its native checks fail, which then are made anew.

        They know more than guards say: the dictionaries in which they find values. Guards hold as well where one was
        replaced by another that has the same values.
        """
        guards, program = self.program.guards, self.program
        try:
            if self.rules != rules_version[0] or not guards.check_one_by_one(args):
                return False
            if not (program.memory_matches(args) and program.sizes_match(args)):
                return False
        except UNREADABLE:
            return False
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", program.name, error))
            return False
        guards.renew()
        with self._lock:
            self.runs = self.hits
            self.native, self.taped = None, {}
        return self.matches(args)

    @property
    def patterns(self) -> dict[Source, Any]:
        """Shapes of the tensors whose sizes may vary."""
        return self.program.patterns

    def misses(self, args: Sequence[Any]) -> list[Guard] | None:
        """The guards that fail for ``args``; none if only sizes do not fit what was assumed of them. ``None``: more is
        different than guards say."""
        program = self.program
        try:
            failing = program.guards.misses(args, ABOUT_SIZES) if self.rules == rules_version[0] else None
            if failing is None or not program.memory_matches(args) or (not failing and program.sizes_match(args)):
                return None
            return failing
        except UNREADABLE:
            return None
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", program.name, error))
            return None

    def misses_of_others(self, args: Sequence[Any]) -> list[Guard]:
        """The guards that fail for what other objects than this version knows hold; none if more is different."""
        try:
            return differences(self.program, args, ABOUT_SIZES) if self.rules == rules_version[0] else []
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("a guard", self.program.name, error))
            return []

    def loses_to(self, other: Entry) -> str:
        """Why this version, for many sizes, is no substitute for the ``other``, for one; empty if it is."""
        if not (self.is_native and other.is_native):
            return ""
        self.compile()
        mine, theirs = executables_of(self.graph), executables_of(other.graph)
        if not theirs:
            return ""
        if not mine:
            return "it could not be made machine code"
        more = len(mine[0].build.host_steps) > len(theirs[0].build.host_steps)
        new = set(mine[0].notes) - set(theirs[0].notes)
        return min(new, default="more of it would run in Python") if more else ""

    def values_for(self, args: Sequence[Any]) -> list[Any]:
        """What the graph is given for these arguments, before effects and donations."""
        generator = default_generator()
        values = [*self.program.load_inputs(args), generator.initial_seed(), generator.offset]
        values += [None] if self.program.token else []
        return [v.array() if isinstance(v, Tensor) else v for v in values]

    def run(self, args: Sequence[Any]) -> Any:
        """Executes the program for these arguments."""
        self.runs += 1
        if state.observer is not None:
            state.observer.begins(self.names, args)
        generator = default_generator()
        inputs = self.program.load_inputs(args)
        values = [*inputs, generator.initial_seed(), generator.offset]
        if self.program.token:
            values.append(None)
        if state.tapes:
            self.taped_runs += 1
            try:
                outputs = self._function(values)
            except Exception as exc:
                raise _failed(exc) from exc
        else:
            donate, arrays = self.donation.inputs, self.donation.arrays(values)
            repeat = not (self.has_loops or self.plain_runs)  # plain Python, which answers then, takes less time
            try:
                made = run_graph(self.graph, arrays, LEVELS[self.level], self.backend, donate, repeat)
                outputs = own_outputs(made, arrays, donate)
            except Exception as exc:
                raise _failed(exc) from exc
        try:
            return self.program.finish(args, outputs, generator)
        except Unfinished as unfinished:
            raise RunFailed from unfinished.__cause__

    @lazy
    def _function(self) -> GraphFunction:
        """What tapes see. Gradients are taken of the captured graph: occurrences are still apart there, as eager has
        them."""
        return GraphFunction(self.program.graph, self._run_owned, self._native_graph)

    @lazy
    def _has_paths(self) -> tuple[bool, bool]:
        """Whether its gradient, and a gradient of that, is one graph for several paths; recursive functions are another
        matter."""
        graph = self.program.graph
        if any(node.op is call_named for g in all_graphs(graph) for node in g.nodes):
            return False, False
        return has_paths(graph), has_paths(graph, is_inner=True)

    @property
    def is_small(self) -> bool:
        """Whether tapes are served faster op by op, which gives the same: it has few ops, on little data."""
        return is_quicker_op_by_op(self.work)

    @lazy
    def work(self) -> float:
        """What a call saves tapes (`policy.work_for_tapes`)."""
        work = 0
        for node in self.program.graph.nodes:
            if node.op.structured and node.op not in LOOSE:
                return inf
            if not isinstance(node.type, ScalarType) and node.operands and node.op not in LOOSE:
                shape = node.type.shape if isinstance(node.type, TensorType) else ()
                extents = [n for n in shape if isinstance(n, int)]
                if len(extents) < len(shape):
                    return inf
                work += work_for_tapes(prod(extents))
        return work

    def is_plain_for_tapes(self, args: Sequence[Any]) -> bool:
        """Whether plain Python runs the program for the tapes that record now.

        Where the path depends on data, so may the order of sums, and what a gradient reads. A call can be repeated when
        that turns out (`autodiff.unfold`); one that is part of another gradient, or of a gradient at any time, cannot.
        """
        if self.program.plain_for_gradients:
            return True
        paths, inner_paths = self._has_paths
        if not inner_paths:
            return False
        unfolds = not paths or can_unfold(self.program.graph)
        if unfolds and len(state.tapes) == 1 and not state.tapes[0].is_kept:
            return False
        inputs = self.program.load_inputs(args)
        watching = [tape for tape in state.tapes if any(tape.variable(x) is not None for x in inputs)]
        return len(watching) > 1 or any(tape.is_kept or not unfolds for tape in watching)

    def make_native(
        self, args: Sequence[Any], parameters: Sequence[Parameter], called: tuple[type, type, type, str]
    ) -> NativeCall | None:
        """What runs this version from now on without Python in between, if that is possible.

        Args:
            args: arguments for which this version is valid.
            parameters: of the function.
            called: the classes of compiled functions, of those bound to an instance, and of `Entries`; where an
                instance keeps these.
        """
        if self.native is not None and not self.native.is_retired:
            self.native.renew()
            return self.native
        if self.why_not_native:
            return None
        from . import native_call as native

        try:
            made = native.native_call(self, LEVELS[self.level], args, parameters, called)
        except native.Unsupported as reason:
            self.why_not_native = str(reason)
            return None
        except SHORTAGE:
            return None
        except Exception as error:  # noqa: BLE001 - the policy
            failure = internal_failure("native calls", self.program.name, error)
            self.failures.append(failure)
            self.why_not_native = failure.error
            return None
        if made is None:
            return None
        with self._lock:
            self.native = self._newest(made, self.native)
            return self.native

    @property
    def may_be_taped(self) -> bool:
        """Whether `make_taped` is worth a call: rarely, where no native call was possible for what tapes watched."""
        return not self._refused_on_tapes or self.taped_runs % TAPED_RARELY == 0

    def make_taped(
        self, args: Sequence[Any], parameters: Sequence[Parameter], called: tuple[type, type, type, str]
    ) -> NativeCall | None:
        """`make_native` for the tapes that record now."""
        from .native_call import Unsupported, native_taped_call
        from .taped_call import Recorder, active_inputs

        inputs = self.program.load_inputs(args)
        active = active_inputs(inputs)
        found = self.taped.get(active)
        if found is not None and not found.is_retired:
            found.renew()
            return found
        if active in self.taped and found is None:
            return None
        level = LEVELS[self.level]
        try:
            with self._counting():
                recorder = Recorder(self.program, self._function, active, self._has_paths[1])
                graph = optimised(recorder.graph, level)
                told = recorder.begin, recorder.finish
                made = native_taped_call(self, graph, level, args, parameters, called, told)
        except (Unsupported, Underivable, UnknownSizeError, Overwritten):
            self.taped[active], self._refused_on_tapes = None, True
            return None
        except SHORTAGE:
            return None
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("native calls", self.program.name, error))
            self.taped[active] = None
            return None
        with self._lock:
            self._refused_on_tapes = False
            kept = self.taped[active] = self._newest(made, self.taped.get(active))
            return kept

    def _newest(self, made: NativeCall, found: NativeCall | None) -> NativeCall:
        """``made``, or what another thread has made meanwhile; calls that a retired one answered stay counted."""
        if found is None:
            return made
        if not found.is_retired:
            return found
        self.runs += found.hits
        return made

    def _native_graph(self, graph: Graph, inputs: Sequence[Any]) -> Any:
        """What runs a forward or backward graph, without Python in between if that is possible; ``None``: not now."""
        from .taped_call import Unsupported, graph_call

        function, level = self._function, LEVELS[self.level]
        plain = partial(function.run_on, graph)
        if not self.is_native:
            return plain
        try:
            with self._counting():
                return graph_call(
                    optimised(graph, level), level, inputs, plain, lambda: function.calls.pop(graph, None)
                )
        except Unsupported:
            return plain
        except SHORTAGE:
            return None
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("native calls", self.program.name, error))
            return plain

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """What tapes make of the graph takes time, too."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.gradients_ms += (time.perf_counter() - started) * 1e3

    def _run_owned(self, graph: Graph, values: Sequence[Any]) -> Any:
        level = LEVELS[self.level]
        if self.backend != "interpreter":
            graph = optimised(graph, level)
        return run_graph_owned(graph, values, level, self.backend)


def _failed(error: Exception) -> RunFailed:
    """What the program raised; what came from outside in the middle of it (a time limit) goes on as it is."""
    if is_from_outside(error) or isinstance(error, ExtensionError):
        raise error
    return RunFailed()


def _without_spent_check(graph: Graph) -> Graph:
    """``graph`` without its last output (`Program.is_checked`), if that keeps nothing."""
    items = items_of(graph.output)
    if not isinstance(items[-1], Const):
        return graph
    output = graph.context.apply(make_tuple, tuple(items[:-1]), {})
    return TUPLES.run(graph.context.graph(graph.name, graph.params, output))
