"""One compiled version of a function: its program, its optimised graph, and how a call runs it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from inspect import Parameter
from types import TracebackType
from typing import TYPE_CHECKING, Any

from duograph.autodiff.compiled import GraphFunction
from duograph.autodiff.unfold import can_unfold
from duograph.base.failures import SHORTAGE, Failure, internal_failure, is_from_outside
from duograph.base.fork import object_lock
from duograph.base.once import lazy
from duograph.core.op import rules_version, state
from duograph.frontend.budget import OutOfTime
from duograph.frontend.donation import donations, given_up, is_held_by_others
from duograph.frontend.execute import own_outputs, prepare_graph, run_graph, run_graph_owned, to_runtime
from duograph.frontend.guards.guard import UNREADABLE, Guard
from duograph.frontend.program import Program, Unfinished
from duograph.frontend.sources import Source
from duograph.ir.control import call_named, cond, make_tuple, scan, while_loop
from duograph.ir.memo import Memo
from duograph.ir.node import Const, Graph
from duograph.ir.printer import all_graphs
from duograph.passes.pipelines import TUPLES, canonicalise, compile_pipeline, optimise
from duograph.passes.simplify.tuples import items_of
from duograph.tensor.random import default_generator

from .compiled import executables_of
from .native_call import native_call
from .sizes import VaryingSizes

if TYPE_CHECKING:
    from duograph.runtime.calls.native import NativeCall

ATTRIBUTE = "_duograph_versions"
"""Where an instance keeps the versions of its methods."""

PATIENCE = 4  # attempts to compile that may fail for the same reason before the next ones wait
SPARE = 8  # versions that may be unused after the call they were made for, before the next ones wait
ABOUT_SIZES = ("tensor", "pattern", "equal")  # guards that may fail because sizes, or numbers, are other ones
LEVELS = {"": 1, "O0": 0, "O1": 1, "O2": 2}


class RunFailed(Exception):
    """The graph raised; ``__cause__`` is the error. Nothing outside has been changed yet, except by printing."""


class PassFailed(Exception):
    """A pass failed with ``error`` on the program called ``name``."""

    def __init__(self, name: str, error: Exception) -> None:
        super().__init__(name, error)
        self.name, self.error = name, error


class Entry:
    """A compiled version; valid while its guards hold."""

    def __init__(
        self, program: Program, names: tuple[str, ...], level: str, capture_ms: float, backend: str = ""
    ) -> None:
        self.program = program
        self.names = names  # of the parameters that were given: what the guards count positions in
        self.level = level
        self.backend = backend
        self.capture_ms = capture_ms
        self.runs = 0  # calls that Python led
        self.native: NativeCall | None = None
        self.why_not_native = ""
        self.plain_runs = 0  # calls that plain Python answered after all: the program raised
        self.failures: list[Failure] = []  # of its native calls
        self.rules = rules_version[0]
        started = time.perf_counter()
        self.graph: Graph = compile_pipeline(program.graph, LEVELS[level])
        if program.is_checked:
            self.graph = _without_spent_check(self.graph)
        self.has_loops = any(node.op in (while_loop, scan) for g in all_graphs(self.graph) for node in g.nodes)
        """Then the interpreter may take a thousand times as long as plain Python to repeat a call that failed."""
        self.passes_ms = (time.perf_counter() - started) * 1e3
        self.donate = donations(program)
        self.given_up = given_up(program, self.donate)
        self._function: GraphFunction | None = None

    @property
    def hits(self) -> int:
        """Calls that this version answered."""
        return self.runs + (self.native.hits if self.native is not None else 0)

    @property
    def compile_ms(self) -> float:
        """Time spent in passes and in making machine code of what they give, as far as that has happened."""
        return self.passes_ms + sum(x.compile_ms for x in executables_of(self.graph))

    def compile(self) -> None:
        """Makes the machine code, which else the first call does."""
        if self.backend != "interpreter":
            prepare_graph(self.graph, LEVELS[self.level], self.donate)

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

    def loses_to(self, other: Entry) -> str:
        """Why this version, for many sizes, is no substitute for the ``other``, for one; empty if it is."""
        if self.backend == "interpreter" or other.backend == "interpreter":
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

    def run(self, args: Sequence[Any]) -> Any:
        """Executes the program for these arguments."""
        self.runs += 1
        generator = default_generator()
        inputs = self.program.load_inputs(args)
        values = [*inputs, generator.initial_seed(), generator.offset]
        if self.program.token:
            values.append(None)
        if state.tapes:
            if self._function is None:
                # gradients are taken of the captured graph: occurrences are still apart there, as eager has them
                self._function = GraphFunction(self.program.graph, self._run_owned)
            try:
                outputs = self._function(values)
            except Exception as exc:
                raise _failed(exc) from exc
        else:
            kept = [j for j in self.given_up if is_held_by_others(values[j])]
            arrays = [to_runtime(v) for v in values]
            for j in kept:  # the code writes to what it is given
                arrays[j] = arrays[j].copy()
            try:
                made = run_graph(self.graph, arrays, LEVELS[self.level], self.backend, self.donate, not self.has_loops)
                outputs = own_outputs(made, arrays, self.donate)
            except Exception as exc:
                raise _failed(exc) from exc
        try:
            return self.program.finish(args, outputs, generator)
        except Unfinished as unfinished:
            raise RunFailed from unfinished.__cause__

    @lazy
    def _has_paths(self) -> bool:
        """Whether its gradient is one graph for several paths; recursive functions are another matter."""
        ops = {node.op for graph in all_graphs(self.program.graph) for node in graph.nodes}
        return call_named not in ops and not ops.isdisjoint((cond, while_loop, scan))

    def is_plain_for_tapes(self, args: Sequence[Any]) -> bool:
        """Whether plain Python runs the program for the tapes that record now.

        Where the path depends on data, so may the order of sums, and what a gradient reads. A call can be repeated when
        that turns out (`autodiff.unfold`); one that is part of another gradient, or of a gradient at any time, cannot.
        """
        if self.program.plain_for_gradients:
            return True
        if not self._has_paths:
            return False
        unfolds = can_unfold(self.program.graph)
        if unfolds and len(state.tapes) == 1 and not state.tapes[0].is_kept:
            return False
        inputs = self.program.load_inputs(args)
        watching = [tape for tape in state.tapes if any(tape.variable(x) is not None for x in inputs)]
        return len(watching) > 1 or any(tape.is_kept or not unfolds for tape in watching)

    def make_native(
        self, args: Sequence[Any], parameters: Sequence[Parameter], called: tuple[type, type]
    ) -> NativeCall | None:
        """What runs this version from now on without Python in between, if that is possible.

        Args:
            args: arguments for which this version is valid.
            parameters: of the function.
            called: the classes of compiled functions, and of those bound to an instance.
        """
        if self.native is not None and not self.native.is_retired:
            self.native.renew()
            return self.native
        if self.why_not_native:
            return None
        from duograph.runtime.python.cpython import Unsupported

        try:
            made = native_call(self, LEVELS[self.level], args, parameters, (*called, Entries, ATTRIBUTE))
        except Unsupported as reason:
            self.why_not_native = str(reason)
            return None
        except SHORTAGE:
            return None
        except Exception as error:  # noqa: BLE001 - the policy
            failure = internal_failure("native calls", self.program.name, error)
            self.failures.append(failure)
            self.why_not_native = failure.error
            return None
        if made is not None:
            if self.native is not None:
                self.runs += self.native.hits
            self.native = made
        return made

    def _run_owned(self, graph: Graph, values: Sequence[Any]) -> Any:
        level = LEVELS[self.level]
        if self.backend != "interpreter":
            graph = _optimised(graph, level)
        return run_graph_owned(graph, values, level, self.backend)


def put_first(entry: Entry, others: list[Entry]) -> list[Entry]:
    """The order in which versions are tried: the latest first, but what serves many sizes after one that was made for
    one, if that was the latest: its kernels know their extents."""
    if entry.patterns and others and not others[0].patterns:
        return [others[0], entry, *others[1:]]
    return [entry, *others]


def _failed(error: Exception) -> RunFailed:
    """What the program raised; what came from outside in the middle of it (a time limit) goes on as it is."""
    if is_from_outside(error):
        raise error
    return RunFailed()


def _without_spent_check(graph: Graph) -> Graph:
    """``graph`` without its last output (`Program.is_checked`), if that keeps nothing."""
    items = items_of(graph.output)
    if not isinstance(items[-1], Const):
        return graph
    output = graph.context.apply(make_tuple, tuple(items[:-1]), {})
    return TUPLES.run(graph.context.graph(graph.name, graph.params, output))


_OPTIMISED: Memo[tuple[Graph, int], Graph] = Memo("simplified forward and backward graphs")


def _optimised(graph: Graph, level: int) -> Graph:
    """A forward or backward graph, simplified once."""
    known = _OPTIMISED.of(graph.context)
    found = known.get((graph, level))
    if found is None:
        found = known[graph, level] = optimise(canonicalise(graph), level)
    return found


class Fallback:
    """Arguments for which the function runs as plain Python, and why."""

    def __init__(self, key: Any, reason: str, span: Any, rendered: str, error: Exception) -> None:
        self.key, self.reason, self.span, self.rendered = key, reason, span, rendered
        self.error = error.with_traceback(None)  # which would keep every frame of the capture
        error.__context__ = error.__cause__ = None  # and so would theirs
        self.hits = 0

    def __repr__(self) -> str:
        where = f" at {self.span}" if self.span is not None else ""
        return f"{self.reason}{where}"


class Entries:
    """Compiled versions that belong to one owner (a function, or an instance for methods).

    Copies and pickles of the owner start without versions: they are about other objects.

    Attributes:
        native: versions that native code tries before Python does (``runtime/calls/native.py``).
        failures: parts of this package that failed while a version was captured, checked, or run.
        doubt: what the attempt to compile that has just ended raised: plain Python will tell whose error it is.
        is_late: the latest attempt to capture for varying numbers and sizes has taken all the time there was.
        waited: calls with new arguments that plain Python has answered since the latest attempt to compile.
        unattempted: such calls, from the beginning.
    """

    __slots__ = ("__dict__", "__weakref__", "native")

    def __init__(self) -> None:
        self.native: tuple[NativeCall, ...] = ()
        self.lock = object_lock()
        self.compiled: list[Entry] = []
        self.fallbacks: list[Fallback] = []
        self.failures: list[Failure] = []
        self.doubt: tuple[Exception, TracebackType | None] | None = None
        self.is_late = False
        self.waited = 0
        self.unattempted = 0
        self.recompiles: list[str] = []
        self.varying: dict[Any, int] = {}
        self.sizes = VaryingSizes()

    def note_number(self, source: Source) -> None:
        """The number that is found there was another one; -1: it cannot be an input."""
        if self.varying.get(source, 0) >= 0:
            self.varying[source] = self.varying.get(source, 0) + 1

    def is_resting(self) -> bool:
        """Whether plain Python answers this call with new arguments without an attempt to compile.

        An attempt costs as much as many calls. Where they go on failing for one reason, or give versions that no
        later call uses (an argument is another object, a text or a size each time), each waits longer than the last.
        """
        latest = self.fallbacks[-1] if self.fallbacks else None
        failed = sum(latest is not None and (f.reason, f.span) == (latest.reason, latest.span) for f in self.fallbacks)
        unused = sum(entry.hits <= 1 for entry in self.compiled)
        if latest is not None and isinstance(latest.error, OutOfTime):
            failed += PATIENCE
        tired = min(max(failed - PATIENCE, unused - SPARE, 0), 20)
        resting = self.waited < 2**tired - 1
        self.waited = self.waited + 1 if resting else 0
        self.unattempted += resting
        return resting

    def __deepcopy__(self, memo: Any) -> Entries:
        return Entries()

    def __copy__(self) -> Entries:
        return Entries()

    def __reduce__(self) -> Any:
        return Entries, ()
