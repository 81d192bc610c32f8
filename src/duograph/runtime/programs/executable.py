"""Executables: a graph as one native call.

    executable = compile_graph(graph)
    executable.run([np.ones(3, np.float32), 2.0])        # what `Interpreter().run(graph, values)` gives

`main` is a function of loop IR: inputs, outputs, arena and a context block are its buffers, numbers and symbolic sizes
its dims. It returns a status; if that is not 0 the interpreter repeats the call, which raises the error that the user
is to see. Effects that have happened (prints, calls of Python) are not repeated.
"""

from __future__ import annotations

import contextlib
import ctypes
import time
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from duograph.base.collection import members
from duograph.base.failures import SHORTAGE, Failure, about, collected, internal_failure, is_from_outside
from duograph.core.kernel import at_memory_shortage
from duograph.core.types import TensorType, TupleType, Type
from duograph.ir.interpreter import Interpreter
from duograph.ir.memo import Memo
from duograph.ir.node import Graph
from duograph.runtime.kernels.status import EXCUSED, HOST, MEANING, REPEATABLE, TOO_SMALL, NotRepeated
from duograph.runtime.python.cpython import address_of

from .build import Build
from .frame import NEEDED, UnknownExtent
from .host import OtherShape
from .interrupts import raise_interrupt
from .residuals import cells
from .run import Mismatch, Replay, Run, array_maker, input_kinds
from .values import bytes_of, leaf_types, tree_of

__all__ = ["NATIVE", "Executable", "Mismatch", "NativeExecutor", "compile_graph", "executable_of", "release_memory"]

_RELEASING = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_HOLDING = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_all: weakref.WeakSet[Executable] = weakref.WeakSet()


class Executable:
    """A compiled graph.

    Attributes:
        graph: what it computes.
        build: its memory plan, constants and functions.
        address: of ``i32 main(ptr bufs, ptr dims)``.
        notes: what does not run natively, and why; grows when calls are repeated by the interpreter.
        failures: parts of this package that failed while it was made, or run.
        compile_ms: time that it took to make it.
        releases: whether a call may take so long that it is worth releasing the GIL.
        borrowers: callers of the code itself, with their own run (`new_run`), that can be asked to `release` it.
    """

    def __init__(
        self, graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None, ticks: bool = False
    ) -> None:
        started = time.perf_counter()
        self.graph = graph
        self.level = level
        self.failures: list[Failure]
        with about(graph, level), collected() as self.failures:
            self.build = build = _build(graph, level, dict(donate or {}), ticks)
        self.address = build.address
        self.input_types: list[Type] = [t for p in graph.params for t in leaf_types(p.type)]
        self.inputs = input_kinds(self.input_types)
        self.n_tensors = sum(isinstance(t, TensorType) for t in self.input_types)
        self.n_outputs = sum(o.buffer >= 0 for o in build.outputs)
        self.notes: list[str] = list(
            dict.fromkeys(f"{s.node.op.name} runs in Python: {s.reason}" for s in build.host_steps)
        )
        self.repeats = 0
        self._single = not isinstance(graph.output.type, TupleType)
        self._flat_params = len(self.input_types) == len(graph.params)
        self.releases = _worth_releasing(build)
        self._main: Any = (_RELEASING if self.releases else _HOLDING)(self.address)
        self._idle: list[Run] = []
        self.borrowers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.makers = [array_maker(o.type) for o in build.outputs if o.buffer >= 0]
        self._constants = (ctypes.c_int64 * max(1, len(build.constants)))(*[address_of(c) for c in build.constants])
        self.compile_ms = (time.perf_counter() - started) * 1e3
        _all.add(self)

    # ---- running -------------------------------------------------------------------------------------------------

    def run(self, values: Sequence[Any], repeat: bool = True) -> Any:
        """The value of the graph's output.

        Args:
            values: one per parameter; arrays are never written to.
            repeat: whether the interpreter repeats a call that has noted a failure.

        Raises:
            NotRepeated: it does not.
            Exception: what the program raises, with notes as from the interpreter.
        """
        try:
            run = self._idle.pop()
        except IndexError:
            run = Run(self)
        try:
            try:
                return self._run(run, values, repeat)
            except MemoryError:
                if run.effects:
                    raise
                for release in at_memory_shortage:
                    release()
                return self._run(run, values, repeat)
        except Mismatch as mismatch:
            self._note(str(mismatch))
            return Interpreter().run(self.graph, [cells(v) for v in values])
        finally:
            run.reset()
            self._idle.append(run)

    def _run(self, run: Run, values: Sequence[Any], repeat: bool) -> Any:
        raise_interrupt()  # of a call of the same code that somebody else made
        outs = run.prepare(values)
        status = run.call()
        if status == TOO_SMALL:
            run.grow(run.ctx[NEEDED])
            status = run.call()
        if status:
            return self._repeat(run, values, status, repeat)
        leaves = [run.leaf(output, outs) for output in self.build.outputs]
        return leaves[0] if self._single else tree_of(self.graph.output.type, leaves)

    def _repeat(self, run: Run, values: Sequence[Any], status: int, repeat: bool) -> Any:
        """The interpreter's answer to the same call."""
        raise_interrupt()
        error = run.error if status == HOST else None
        if error is not None and (not isinstance(error, Exception) or is_from_outside(error)):
            raise error
        if not repeat and status in REPEATABLE:
            self._note(f"plain Python repeated a call: {MEANING[status]}")
            raise NotRepeated(MEANING[status], status in EXCUSED)
        self.repeats += 1
        self._note(f"the interpreter repeated a call: {MEANING.get(status, f'status {status}')}")
        result = Replay(run.effects).run(self.graph, [cells(v) for v in values])
        if status not in EXCUSED and not isinstance(error, OtherShape):  # the repetition was to raise
            cause = error if error is not None else AssertionError(MEANING.get(status, f"status {status}"))
            with about(self.graph, self.level, values), collected() as found:
                internal_failure("a kernel", f"@{self.graph.name}", cause)
            self.failures += found
        return result

    def _note(self, text: str) -> None:
        if text not in self.notes and len(self.notes) < 100:
            self.notes.append(text)

    # ---- what can be asked ---------------------------------------------------------------------------------------

    def memory_table(self) -> str:
        """The memory plan of `main`, as text."""
        return self.build.plan.table()

    def text(self) -> str:
        """The loop IR of `main` and of the functions that it calls."""
        return "\n".join(f"; {f.symbol}\n{f.text}" for f in self.build.functions)

    def free_memory(self) -> None:
        """Releases the memory kept for the next call."""
        with contextlib.suppress(IndexError):  # other threads take some, too
            while True:
                self._idle.pop().free()
        for borrower in members(self.borrowers):
            borrower.release()

    def new_run(self) -> Run:
        """Buffers, dims, context and arena of calls, for a caller that calls the code directly."""
        try:
            return self._idle.pop()
        except IndexError:  # nothing is asked first: other threads take some, too
            return Run(self)


def _worth_releasing(build: Build) -> bool:
    """Whether a call may take longer than handing over the GIL costs: loops, calls of Python, or much data."""
    if build.host_steps or len(build.functions) > 1:
        return True
    if any(i.op in ("for", "while") for i in build.functions[0].body.walk()):
        return True
    types = [t for p in build.graph.params for t in leaf_types(p.type)] + leaf_types(build.graph.output.type)
    sizes = [b.nbytes for b in build.plan.blocks] + [bytes_of(t) for t in types if isinstance(t, TensorType)]
    return any(not isinstance(n, int) for n in sizes) or sum(n for n in sizes if isinstance(n, int)) > 1 << 16


EXECUTABLES: Memo[tuple[Graph, int, tuple[tuple[int, int], ...]], Executable] = Memo("executables")
"""Of graphs, by level and donated inputs."""
FAILURES: Memo[tuple[Graph, int], Failure] = Memo("graphs that could not be compiled")


def compile_graph(graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> Executable:
    """The executable of ``graph``, compiled at the first call; kept with the graph's context.

    Args:
        graph: any closed graph.
        level: 0 runs op by op, 1 fuses.
        donate: numbers of outputs that may be written into the memory of inputs (`programs.in_place`): such an output
            *is* the array that was passed, unless it had to be copied to be contiguous, or the interpreter ran.
    """
    known = EXECUTABLES.of(graph.context)
    key = _key(graph, level, donate)
    found = known.get(key)
    if found is None:
        found = known[key] = Executable(graph, level, donate)
    return found


def _build(graph: Graph, level: int, donate: dict[int, int], ticks: bool) -> Build:
    """What comes of compiling ``graph``; what needs a size that only it knows runs in Python."""
    in_python: set[Any] = set()
    while True:
        try:
            return Build(graph, level, dict(donate), [] if ticks else None, in_python)
        except UnknownExtent as error:
            node = next((n for n in error.nodes if n not in in_python), None)
            if node is None:
                raise
            in_python.add(node)


def _key(graph: Graph, level: int, donate: Mapping[int, int] | None) -> Any:
    return graph, level, tuple(donate.items()) if donate else ()


def compiled_graph(graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> Executable | None:
    """The executable of ``graph`` if it was compiled before."""
    return EXECUTABLES.of(graph.context).get(_key(graph, level, donate))


def has_failed(graph: Graph, level: int = 1) -> bool:
    """Whether ``graph`` could not be compiled."""
    return (graph, level) in FAILURES.of(graph.context)


def failures_of(graph: Graph) -> list[Failure]:
    """What failed while graphs of the same context (``graph``, its derivatives) were compiled and run."""
    found = [f for x in tuple(EXECUTABLES.of(graph.context).values()) for f in x.failures]
    return [*found, *tuple(FAILURES.of(graph.context).values())]


def executable_of(graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> Executable | None:
    """The executable of ``graph``, compiled now if need be; ``None`` if none can be made.

    That is a failure of the code generator, and is remembered, or a shortage of memory or stack: then the next call
    tries again.
    """
    failures = FAILURES.of(graph.context)
    if (graph, level) in failures:
        return None
    try:
        return compile_graph(graph, level, donate)
    except SHORTAGE:  # perhaps the program's own; the interpreter says where
        return None
    except Exception as error:  # noqa: BLE001 - the policy
        with about(graph, level):
            failures[graph, level] = internal_failure("the code generator", f"@{graph.name}", error)
        return None


class NativeExecutor:
    """Runs graphs by their executables (`ir.executor.Executor`); those that have none by the interpreter."""

    def prepare(self, graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> None:
        """Compiles the graph."""
        executable_of(graph, level, donate)

    def run(
        self,
        graph: Graph,
        values: Sequence[Any],
        level: int = 1,
        donate: Mapping[int, int] | None = None,
        repeat: bool = True,
    ) -> Any:
        """The value of the graph's output; see `Executable.run`."""
        executable = executable_of(graph, level, donate)
        if executable is None:
            return Interpreter().run(graph, [cells(v) for v in values])
        return executable.run(values, repeat)


NATIVE = NativeExecutor()


def release_memory() -> None:
    """Frees arenas and regions that executables keep for their next call."""
    for executable in members(_all):
        executable.free_memory()


at_memory_shortage.add(release_memory)
