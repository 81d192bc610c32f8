"""One compiled version of a function: its program, its optimised graph, and how a call runs it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from inspect import Parameter
from math import prod
from types import TracebackType
from typing import TYPE_CHECKING, Any

from duograph.autodiff.compiled import GraphFunction
from duograph.autodiff.tape import Overwritten, Underivable
from duograph.autodiff.unfold import can_unfold
from duograph.base.failures import SHORTAGE, Failure, internal_failure, is_from_outside
from duograph.base.fork import object_lock
from duograph.base.once import lazy
from duograph.core.op import rules_version, state
from duograph.core.types import ScalarType, TensorType
from duograph.frontend.budget import OutOfTime
from duograph.frontend.donation import donation_of
from duograph.frontend.execute import executor, own_outputs, run_graph, run_graph_owned
from duograph.frontend.program import Program, Unfinished
from duograph.ir.control import call_named, cond, make_tuple, scan, tuple_get, undef, while_loop
from duograph.ir.node import Const, Graph
from duograph.ir.printer import all_graphs
from duograph.passes.pipelines import TUPLES, compile_pipeline, optimised
from duograph.passes.simplify.tuples import items_of
from duograph.tensor.random import default_generator

from .compiled import executables_of

if TYPE_CHECKING:
    from duograph.runtime.calls.native import NativeCall

ATTRIBUTE = "_duograph_versions"
"""Where an instance keeps the versions of its methods."""

PATIENCE = 4  # attempts to compile that may fail for the same reason before the next ones wait
SPARE = 8  # versions that may be unused after the call they were made for, before the next ones wait
OFTEN = 8  # calls before each of which the premises of a fallback are looked at
RARELY = 32  # of how many later ones, before one
STALE = 256  # misses after which a version that is unused, and was so before them, is dropped
FEWEST = 5  # ops that are worth a call of their own on a tape, which costs as much as recording four or five
LOOSE = (make_tuple, tuple_get, undef)  # of the graph only
LARGE = 1 << 13  # elements of results that take as long as an op more
LEVELS = {"": 1, "O0": 0, "O1": 1, "O2": 2}


class RunFailed(Exception):
    """The graph raised; ``__cause__`` is the error. Nothing outside has been changed yet, except by printing."""


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
        self.is_spare = False  # unused when that was looked at last
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
        self.donation = donation_of(program)
        self.taped: dict[Any, NativeCall | None] = {}  # while tapes record, by what they watch; None: not possible
        self.taped_runs = 0
        self._lock = object_lock()

    @property
    def hits(self) -> int:
        """Calls that this version answered."""
        native = (self.native, *self.taped.values())
        return self.runs + sum([call.hits for call in native if call is not None])

    @property
    def compile_ms(self) -> float:
        """Time spent in passes and in making machine code of what they give, as far as that has happened."""
        return self.passes_ms + sum(x.compile_ms for x in executables_of(self.graph))

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

    def run(self, args: Sequence[Any]) -> Any:
        """Executes the program for these arguments."""
        self.runs += 1
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
            try:
                made = run_graph(self.graph, arrays, LEVELS[self.level], self.backend, donate, not self.has_loops)
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
    def _has_paths(self) -> bool:
        """Whether its gradient is one graph for several paths; recursive functions are another matter."""
        ops = {node.op for graph in all_graphs(self.program.graph) for node in graph.nodes}
        return call_named not in ops and not ops.isdisjoint((cond, while_loop, scan))

    @lazy
    def is_small(self) -> bool:
        """Whether tapes are served faster op by op, which gives the same: it has few ops, on little data."""
        work = 0
        for node in self.program.graph.nodes:
            if node.op.structured and node.op not in LOOSE:
                return False
            if not isinstance(node.type, ScalarType) and node.operands and node.op not in LOOSE:
                shape = node.type.shape if isinstance(node.type, TensorType) else ()
                sizes = [n for n in shape if isinstance(n, int)]
                if len(sizes) < len(shape):
                    return False
                work += 1 + prod(sizes) // LARGE
        return work < FEWEST

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
        from .native_call import Unsupported, native_call

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
        if made is None:
            return None
        with self._lock:
            self.native = self._newest(made, self.native)
            return self.native

    def make_taped(
        self, args: Sequence[Any], parameters: Sequence[Parameter], called: tuple[type, type]
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
            recorder = Recorder(self.program, self._function, active, self._has_paths)
            graph = optimised(recorder.graph, level)
            classes, told = (*called, Entries, ATTRIBUTE), (recorder.begin, recorder.finish)
            made = native_taped_call(self, graph, level, args, parameters, classes, told)
        except (Unsupported, Underivable, Overwritten):
            self.taped[active] = None
            return None
        except SHORTAGE:
            return None
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("native calls", self.program.name, error))
            self.taped[active] = None
            return None
        with self._lock:
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
        if self.backend == "interpreter":
            return plain
        try:
            return graph_call(optimised(graph, level), level, inputs, plain, lambda: function.calls.pop(graph, None))
        except Unsupported:
            return plain
        except SHORTAGE:
            return None
        except Exception as error:  # noqa: BLE001 - the policy
            self.failures.append(internal_failure("native calls", self.program.name, error))
            return plain

    def _run_owned(self, graph: Graph, values: Sequence[Any]) -> Any:
        level = LEVELS[self.level]
        if self.backend != "interpreter":
            graph = optimised(graph, level)
        return run_graph_owned(graph, values, level, self.backend)


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


class Fallback:
    """Arguments for which the function runs as plain Python, and why."""

    def __init__(self, key: Any, reason: str, span: Any, rendered: str, error: Exception) -> None:
        self.key, self.reason, self.span, self.rendered = key, reason, span, rendered
        self.premises: tuple[Any, ...] = getattr(error, "premises", ())
        self.is_over = False  # what led to it was another at the latest look
        self.looks = 0
        self.error = error.with_traceback(None)  # which would keep every frame of the capture
        error.__context__ = error.__cause__ = None  # and so would theirs
        self.hits = 0

    def holds(self, args: Sequence[Any]) -> bool:
        """Whether what the capture had read is still so, as far as that is looked at: often at first, then rarely."""
        self.looks += 1
        if self.looks <= OFTEN or self.looks % RARELY == 0:
            self.is_over = not all(premise.holds(args) for premise in self.premises)
        return not self.is_over

    def __repr__(self) -> str:
        where = f" at {self.span}" if self.span is not None else ""
        return f"{self.reason}{where}"


class Entries:
    """Compiled versions that belong to one owner (a function, or an instance for methods).

    Copies and pickles of the owner start without versions: they are about other objects.

    Attributes:
        native: versions that native code tries before Python does (``runtime/calls/native.py``).
        taped: those that it tries while tapes record.
        is_small: tapes are served op by op (`Entry.is_small`), whichever version is valid.
        failures: parts of this package that failed while a version was captured, checked, or run.
        doubt: what the attempt to compile that has just ended raised: plain Python will tell whose error it is.
        is_late: the latest attempt to capture for varying numbers and sizes has taken all the time there was.
        misses: calls for which no version held.
        dropped: versions that were never used again, and are gone.
        waited: calls with new arguments that plain Python has answered since the latest attempt to compile.
        unattempted: such calls, from the beginning.
    """

    __slots__ = ("__dict__", "__weakref__", "native", "taped")

    def __init__(self) -> None:
        self.native: tuple[NativeCall, ...] = ()
        self.taped: tuple[NativeCall, ...] = ()
        self.lock = object_lock()
        self.compiled: list[Entry] = []
        self.fallbacks: list[Fallback] = []
        self.failures: list[Failure] = []
        self.doubt: tuple[Exception, TracebackType | None] | None = None
        self.is_late = False
        self.misses = 0
        self.dropped = 0
        self.is_small = False
        self.waited = 0
        self.unattempted = 0
        self.recompiles: list[str] = []
        self.varying: dict[Any, int] = {}
        self.patterns: dict[Any, tuple[int | None, ...]] = {}  # shapes of arguments, None: the size varies

    def is_resting(self) -> bool:
        """Whether plain Python answers this call with new arguments without an attempt to compile.

        An attempt costs as much as many calls. Where they go on failing for one reason, or give versions that no
        later call uses (an argument is another object, a text or a size each time), each waits longer than the last.
        """
        latest = self.fallbacks[-1] if self.fallbacks else None
        failed = sum(latest is not None and (f.reason, f.span) == (latest.reason, latest.span) for f in self.fallbacks)
        unused = self.dropped + sum(entry.hits <= 1 for entry in self.compiled)
        if latest is not None and isinstance(latest.error, OutOfTime):
            failed += PATIENCE
        tired = min(max(failed - PATIENCE, unused - SPARE, 0), 20)
        resting = self.waited < 2**tired - 1
        self.waited = self.waited + 1 if resting else 0
        self.unattempted += resting
        return resting

    def note_miss(self) -> None:
        """No version holds for a call. Each costs such a call a check, so those that nobody uses go at length."""
        self.misses += 1
        if self.misses % STALE:
            return
        for entry in tuple(self.compiled):
            if entry.hits <= 1 and entry.is_spare:
                self.drop(entry)
                self.dropped += 1
            entry.is_spare = entry.hits <= 1

    def drop(self, entry: Entry) -> None:
        """Takes a version out."""
        self.compiled = [e for e in self.compiled if e is not entry]
        self.native = tuple([n for n in self.native if n is not entry.native])
        self.taped = tuple([n for n in self.taped if n not in entry.taped.values()])

    def __deepcopy__(self, memo: Any) -> Entries:
        return Entries()

    def __copy__(self) -> Entries:
        return Entries()

    def __reduce__(self) -> Any:
        return Entries, ()
