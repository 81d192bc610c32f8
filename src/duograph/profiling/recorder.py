"""`profile`: the observer of operators and compiled functions that takes time stamps."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ContextDecorator, ExitStack
from typing import Any, Self

from duograph.base.events import Event as Told
from duograph.base.events import listen
from duograph.base.source import CalledSpan, Span, is_internal_file
from duograph.core.launchable import pause, resume
from duograph.core.op import Op, state
from duograph.ir.executor import TIMED, ObservedExecutor, Timed
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Apply, Graph
from duograph.runtime.programs.build import Tick
from duograph.runtime.programs.executable import Executable, executable_of
from duograph.runtime.programs.profile import measurable, measured
from duograph.runtime.programs.steps import traffic_of
from duograph.runtime.programs.work import arithmetic_of, flops_of, flops_of_nodes
from duograph.tensor.observer import frames_from, is_layer, layer_of
from duograph.tensor.tensor import Tensor

from .events import Event, Place, Row, rows_by
from .memory import Memory
from .report import memory_table, summary, table
from .trace import write_trace

__all__ = ["mark", "profile"]

MOST_EVENTS = 500_000
"""Events that are kept; a program that has more is told of in the summary."""


class profile(ContextDecorator):
    """Records where the time and the memory of what runs within the block go.

    Every operator of dynamic mode is an event, and so is every kernel of a compiled function: whole steps stay one
    native call, which takes a time stamp after each kernel. Results are the same, to the bit. Operators of dynamic
    mode are run one by one from Python (their time is that of their kernels; the way there costs 20 to 60 microseconds
    more than without a profile), a kernel of native code and its event cost about five microseconds more, and the
    first call of each compiled function within a block compiles a copy that takes time stamps.

    Args:
        memory (bool): whether arrays are followed from their making to their end. Default: ``True``.

    Returns:
        A context manager, which is also a decorator. It records the thread that enters it; what runs after the block
        is not recorded, nor what a profile within the block records, and entering it again goes on.

    Raises:
        TypeError: ``memory`` is not a bool.
        RuntimeError: it is entered while numbers are checked (`check_numerics`), which runs operators one by one.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> import duograph as ms
        >>> from duograph import ops
        >>> with ms.profile() as p:
        ...     y = ops.relu(ms.Tensor([-1.0, 2.0])) + 1
        >>> [event.name for event in p.events if event.kind == "operator"]
        ['relu', 'add']
        >>> sorted(row.key for row in p.operators)
        ['add', 'relu']
    """

    def __init__(self, *, memory: bool = True) -> None:
        if not isinstance(memory, bool):
            raise TypeError(f"For 'profile', 'memory' must be a bool, but got {type(memory).__name__}.")
        self.events: list[Event] = []
        self.seconds = 0.0
        self.memory = Memory() if memory else None
        self.left_out = 0
        self._recorders: list[tuple[_Recorder, ExitStack, float]] = []
        self._timed: list[Timed] = []

    def __enter__(self) -> Self:
        if state.observer is not None and state.observer.runs_plainly:
            raise RuntimeError(
                "numbers are checked (check_numerics) here, which is not profiled: leave out one of both"
            )
        recorder, listening = _Recorder(self, state.observer), ExitStack()
        listening.enter_context(listen(recorder.hear))
        pause()
        self._recorders.append((recorder, listening, time.perf_counter()))
        state.observer = recorder
        return self

    def __exit__(self, *_: object) -> None:
        recorder, listening, begun = self._recorders.pop()
        recorder.has_ended = True
        _leave()
        resume()
        listening.close()
        self.seconds += time.perf_counter() - begun

    def start(self) -> Self:
        """Begins to record, as ``with`` does."""
        return self.__enter__()

    def stop(self) -> None:
        """Ends recording, as the end of ``with`` does.

        Raises:
            RuntimeError: it does not record.
        """
        if not self._recorders:
            raise RuntimeError("the profile does not record: call 'start' first")
        self.__exit__()

    def mark(self, name: str, begin: int | None = None) -> None:
        """Notes a moment of the program under a name, or what lasted from ``begin`` (of `time.perf_counter_ns`)."""
        now = time.perf_counter_ns()
        self.keep(Event("mark", name, now if begin is None else begin, 0 if begin is None else now - begin))

    def keep(self, event: Event, timed: Timed | None = None) -> None:
        if len(self.events) >= MOST_EVENTS:
            self.left_out += 1
            return
        self.events.append(event)
        if timed is not None:
            timed.append(event)

    def timed(self, graph: Graph) -> Timed:
        """Where events of calls of ``graph`` go, for `explain` of its function."""
        known = TIMED.of(graph.context)
        found = known[graph]() if graph in known else None
        if found is None or not any(found is one for one in self._timed):
            found = Timed()
            self._timed.append(found)
            known[graph] = weakref.ref(found)
        return found

    # -- what was recorded -------------------------------------------------------------------------------------

    def _computing(self) -> list[Event]:
        return [event for event in self.events if event.kind in ("operator", "kernel")]

    @property
    def lines(self) -> list[Row]:
        """Sums by line of the program, the longest first; the key is a `Place` without layer, or None: no line."""
        return rows_by(
            self._computing(), lambda e: list(dict.fromkeys(p._replace(layer="") for p in e.places)) or [None]
        )

    @property
    def operators(self) -> list[Row]:
        """Sums by operator, the longest first. The time of a kernel is divided equally among what it computes."""
        return rows_by(self._computing(), lambda e: list(dict.fromkeys(e.operators)) or [e.name])

    @property
    def kernels(self) -> list[Row]:
        """Sums by kernel of compiled functions, the longest first."""
        return rows_by([event for event in self.events if event.kind == "kernel"], lambda e: [e.name])

    @property
    def layers(self) -> list[Row]:
        """Sums by layer, the longest first; the key is empty for what no layer computes."""
        return rows_by(self._computing(), lambda e: list(dict.fromkeys(p.layer for p in e.places)) or [""])

    def table(self, by: str = "line", limit: int = 20) -> str:
        """One of the sums as text.

        Args:
            by (str): ``line``, ``operator``, ``kernel``, ``layer`` or ``memory``. Default: ``"line"``.
            limit (int): how many rows. Default: ``20``.

        Returns:
            str, the table.

        Raises:
            ValueError: there is no such table, or memory was not followed.
        """
        rows = {"line": "lines", "operator": "operators", "kernel": "kernels", "layer": "layers"}
        if by in rows:
            return table(by, getattr(self, rows[by]), self.seconds, limit)
        if by != "memory":
            raise ValueError(f"For 'table', 'by' must be one of {[*rows, 'memory']}, but got {by!r}.")
        if self.memory is None:
            raise ValueError("memory was not followed: profile(memory=True)")
        return memory_table(self.memory, limit)

    @property
    def summary(self) -> str:
        """Where the time of the block went, in a sentence."""
        return summary(self.events, self.seconds, self.left_out)

    def __str__(self) -> str:
        parts = [self.summary, self.table("line"), self.table("operator", 10)]
        if self.kernels:
            parts.append(self.table("kernel", 10))
        if self.memory is not None:
            parts.append(self.table("memory", 10))
        return "\n\n".join(parts)

    def save(self, path: str) -> None:
        """Writes the events as a file for ``chrome://tracing`` or https://ui.perfetto.dev.

        Args:
            path (str): the file, a JSON of trace events.
        """
        write_trace(path, self.events)


def mark(name: str, begin: int | None = None) -> None:
    """`profile.mark` of the profile that records this thread, if there is one."""
    _leave()
    if isinstance(state.observer, _Recorder):
        state.observer.kept.mark(name, begin)


class _Recorder:
    """Makes events of what a thread does while it is `state.observer` (`tensor.observer.Observer`)."""

    runs_plainly = steps = False

    def __init__(self, kept: profile, before: Any) -> None:
        self.kept, self.before, self._thread = kept, before, threading.get_ident()
        self.has_ended = False  # `_leave` may come later, where another thread, or not the innermost profile, has ended
        self._executables: dict[Any, Executable | None] = {}
        self._rules: list[tuple[str, Place | None]] = []  # gradient rules that run: of which operator, called where
        self._compiling = 0  # nanoseconds
        self._layers: dict[tuple[int, ...], tuple[list[Any], str]] = {}
        self._known: dict[Tick, _Described] = {}

    # -- dynamic mode ------------------------------------------------------------------------------------------

    def bind(self, run: Callable[..., Any], op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if self.has_ended:
            _leave()
            return run(op, operands, attrs)
        place = self.here()
        gradient_of = self._rules[-1][0] if self._rules else ""
        compiling, begin = self._compiling, time.perf_counter_ns()
        out = run(op, operands, attrs)
        took = time.perf_counter_ns() - begin - (self._compiling - compiling)
        made = 0 if op.view else self._made(out, place)
        outs = out if isinstance(out, tuple) else (out,)
        moved = None if op.view else sum([_nbytes(x) for x in (*operands, *outs)])
        flops = 0 if op.view else flops_of(op, attrs, operands, outs)
        places = () if place is None else (place,)
        event = Event("operator", op.name, begin, took, places, (op.name,), moved, made, gradient_of, flops=flops)
        self.kept.keep(event)
        return out

    def _made(self, value: Any, place: Place | None) -> int:
        return 0 if self.kept.memory is None else self.kept.memory.watch(value, place)

    def here(self) -> Place | None:
        """The user's line that runs; within a gradient rule, where the operator was called that it is the rule of."""
        if self._rules and self._rules[-1][1] is not None:
            return self._rules[-1][1]
        cells: list[Any] = []
        line: tuple[str, int] | None = None
        for frame in frames_from(sys._getframe(1)):
            code = frame.f_code
            if is_internal_file(code.co_filename):
                if code.co_name == "_compute" and is_layer(cell := frame.f_locals.get("self")):
                    cells.append(cell)
            elif line is None and not code.co_filename.startswith("<frozen "):
                line = code.co_filename, frame.f_lineno
        if line is None:
            return None
        key = tuple(map(id, cells))
        found = self._layers.get(key)
        if found is None:  # the cells are kept: nothing else gets their addresses
            found = self._layers[key] = cells, layer_of(list(frames_from(sys._getframe(1)))) if cells else ""
        return Place(*line, found[1])

    def parts(self, parts: Iterable[Any], gradient_of: str, origin: Any) -> list[Any]:
        return self._within(gradient_of, origin, lambda: list(parts))

    def pulled(
        self, pull: Callable[..., Sequence[Any]], given: Sequence[Any], gradient_of: str, origin: Any
    ) -> list[Any]:
        return self._within(gradient_of, origin, lambda: list(pull(*given)))

    def _within(self, gradient_of: str, origin: Any, run: Callable[[], list[Any]]) -> list[Any]:
        self._rules.append((gradient_of, origin if isinstance(origin, Place) else None))
        try:
            return run()
        finally:
            self._rules.pop()

    # -- compiled functions ------------------------------------------------------------------------------------

    def begins(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """What runs is told by its kernels."""

    def executor(self, native: Any) -> Any:
        return native if isinstance(native, Interpreter) else ObservedExecutor(self, native)

    def run(
        self,
        native: Any,
        graph: Graph,
        values: Sequence[Any],
        level: int,
        donate: Mapping[int, int] | None,
        repeat: bool,
    ) -> Any:
        """The value of the graph's output, from an executable that takes time stamps."""
        if self.has_ended:
            _leave()
            return native.run(graph, values, level, donate, repeat)
        key = graph, level, tuple(donate.items()) if donate else ()
        if key not in self._executables:
            self._executables[key] = self._measurable(graph, level, donate)
        executable = self._executables[key]
        if executable is None:
            return native.run(graph, values, level, donate, repeat)
        here = self.here()
        begin = time.perf_counter_ns()
        result, calls = measured(executable, values, repeat)
        took = time.perf_counter_ns() - begin
        memory = self.kept.memory
        if memory is not None and isinstance(executable.build.plan.size, int):
            memory.use(graph.name, executable.build.plan.size)
        made = self._made(result, here)
        places = () if here is None else (here,)
        timed = self.kept.timed(graph)
        self.kept.keep(Event("call", graph.name, begin, took, places, made=made), timed)
        for call in calls:
            known = self._known.get(call.tick)
            if known is None:
                known = self._known[call.tick] = _described(call.tick)
            took = call.end - call.begin
            at, inside, moved, flops = known
            event = Event(
                "kernel", call.tick.name, call.begin, took, at, inside, moved, symbol=call.tick.symbol, flops=flops
            )
            self.kept.keep(event, timed)
        return result

    def _measurable(self, graph: Graph, level: int, donate: Mapping[int, int] | None) -> Executable | None:
        """``None``: it cannot be compiled."""
        if executable_of(graph, level, donate) is None:
            return None
        begin = time.perf_counter_ns()
        made = measurable(graph, level, donate)
        self._keep_stage(f"compile {graph.name} with time stamps", begin)
        return made

    def hear(self, told: Told) -> None:
        """Notes a stage of the compiler."""
        if told.kind == "end" and told.duration is not None and threading.get_ident() == self._thread:
            duration = int(told.duration * 1e9)
            if len(told.path) == 1:
                self._compiling += duration
            self.kept.keep(Event("stage", " / ".join(told.path), int(told.time * 1e9) - duration, duration))

    def _keep_stage(self, name: str, begin: int) -> None:
        took = time.perf_counter_ns() - begin
        self._compiling += took
        self.kept.keep(Event("stage", name, begin, took))


def _leave() -> None:
    """Profiles that have ended record this thread no more."""
    while isinstance(state.observer, _Recorder) and state.observer.has_ended:
        state.observer = state.observer.before


_Described = tuple[tuple[Place, ...], tuple[str, ...], int | None, int | None]


def _described(tick: Tick) -> _Described:
    """Places, operators, bytes and floating-point operations of a kernel."""
    step = tick.step
    assert step is not None  # only the look before the first call belongs to none
    nodes: Sequence[Apply] = tuple(dict.fromkeys(step.inside or step.nodes))
    places = dict.fromkeys(_place(span) for node in nodes for span in node.context.origins.get(node, ()))
    if step.lowering is None:
        moved, flops = None, None
    elif (work := arithmetic_of(step.lowering)) is not None and work.symbol == tick.symbol:
        moved, flops = traffic_of(step.lowering), flops_of_nodes(nodes)
    else:  # it arranges operands or results of another
        moved, flops = 0, 0
    return tuple(places), tuple([node.op.name for node in nodes]), moved, flops


def _place(span: Span) -> Place:
    """The user's line, and the layer."""
    return Place(span.users.file, span.users.line, span.layer if isinstance(span, CalledSpan) else "")


def _nbytes(value: Any) -> int:
    return value.nbytes if isinstance(value, Tensor) else 0
