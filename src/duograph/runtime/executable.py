"""Executables: a graph as one native call.

    executable = compile_graph(graph)
    executable.run([np.ones(3, np.float32), 2.0])        # what `Interpreter().run(graph, values)` gives

`main` is a function of loop IR: inputs, outputs, arena and a context block are its buffers, numbers and symbolic sizes its
dims. It returns a status; if that is not 0 the interpreter repeats the call, which raises the error that the user is to
see. Effects that have happened (prints, calls of Python) are not repeated.
"""

from __future__ import annotations

import ctypes
import itertools
import logging
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from duograph.base.config import config
from duograph.core.dim import evaluate
from duograph.core.types import ScalarType, TensorType, TokenType, TupleType, Type
from duograph.ir.interpreter import Interpreter, as_value
from duograph.ir.node import Apply, Graph

from . import regions
from .executable_build import Build, Output
from .executable_frame import CELLS, CONSTANTS, FRAMES, NEEDED, RUN
from .executable_host import RUNS, from_word, to_word
from .executable_values import leaf_types, tree_of
from .status import HOST, MEANING, TOO_SMALL

__all__ = ["Executable", "Mismatch", "compile_graph", "release_memory", "run_compiled"]

logger = logging.getLogger("duograph")
_RELEASING = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_HOLDING = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_numbers = itertools.count(1)
_all: weakref.WeakSet[Executable] = weakref.WeakSet()


class Mismatch(TypeError):
    """A value is not of the type of its parameter."""


class Executable:
    """A compiled graph.

    Attributes:
        graph: what it computes.
        build: its memory plan, constants and functions.
        address: of ``i32 main(ptr bufs, ptr dims)``.
        notes: what does not run natively, and why; grows when calls are repeated by the interpreter.
    """

    def __init__(self, graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> None:
        self.graph = graph
        self.level = level
        self.build = build = Build(graph, level, dict(donate or {}))
        self.address = build.address
        self.input_types: list[Type] = [t for p in graph.params for t in leaf_types(p.type)]
        self.n_tensors = sum(isinstance(t, TensorType) for t in self.input_types)
        self.n_outputs = sum(o.buffer >= 0 for o in build.outputs)
        self.notes: list[str] = list(dict.fromkeys(f"{s.node.op.name} runs in Python: {s.reason}" for s in build.host_steps))
        self.repeats = 0
        self._single = not isinstance(graph.output.type, TupleType)
        self._flat_params = len(self.input_types) == len(graph.params)
        main = (_RELEASING if _worth_releasing(build) else _HOLDING)(self.address)
        self._main: Any = main
        self._idle: list[_Run] = []
        self._constants = (ctypes.c_int64 * max(1, len(build.constants)))(*[c.ctypes.data for c in build.constants])
        _all.add(self)

    # ---- running -------------------------------------------------------------------------------------------------

    def run(self, values: Sequence[Any]) -> Any:
        """The value of the graph's output.

        Args:
            values: one per parameter; arrays are never written to.

        Raises:
            Exception: what the program raises, with notes as from the interpreter.
        """
        try:
            run = self._idle.pop()
        except IndexError:
            run = _Run(self)
        try:
            return self._run(run, values)
        except Mismatch as mismatch:
            self._note(str(mismatch))
            return Interpreter().run(self.graph, list(values))
        finally:
            run.reset()
            self._idle.append(run)

    def _run(self, run: _Run, values: Sequence[Any]) -> Any:
        outs = run.prepare(values)
        status = run.call()
        if status == TOO_SMALL:
            run.grow(run.ctx[NEEDED])
            status = run.call()
        if status:
            return self._repeat(run, values, status)
        leaves = [run.leaf(output, outs) for output in self.build.outputs]
        return leaves[0] if self._single else tree_of(self.graph.output.type, leaves)

    def _repeat(self, run: _Run, values: Sequence[Any], status: int) -> Any:
        """The interpreter's answer to the same call."""
        error = run.error
        if status == HOST and error is not None and not isinstance(error, Exception):
            raise error
        self.repeats += 1
        self._note(f"the interpreter repeated a call: {MEANING.get(status, f'status {status}')}")
        return _Replay(run.effects).run(self.graph, list(values))

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
        """Gives back the memory kept for the next call."""
        while self._idle:
            self._idle.pop().free()


class _Run:
    """What one call needs besides inputs and outputs; kept from call to call, one per call that is going on."""

    def __init__(self, executable: Executable) -> None:
        build = executable.build
        self.executable = executable
        self.number = next(_numbers)
        self.host_steps = build.host_steps
        n_dims = 1 + len(executable.input_types) + len(build.symbols)
        self.bufs = (ctypes.c_int64 * (executable.n_tensors + executable.n_outputs + 2))()
        self.dims = (ctypes.c_int64 * n_dims)()
        self.ctx = (ctypes.c_int64 * (32 + build.n_words))()
        self.ctx[RUN] = self.number
        self.ctx[CONSTANTS] = ctypes.addressof(executable._constants)
        self.bufs[len(self.bufs) - 1] = ctypes.addressof(self.ctx)
        self.pointers = (ctypes.addressof(self.bufs), ctypes.addressof(self.dims))
        self.objects: list[Any] = list(build.objects)
        self.kept: list[Any] = []
        self.effects: list[tuple[bool, Any]] = []
        self.error: BaseException | None = None
        self.inputs: list[Any] = []
        self.sizes: dict[Any, int] = {}
        self.memory: Any = None
        self.zones = build.plan.red_zones()
        self.grow(build.plan.size)

    def grow(self, nbytes: int) -> None:
        """An arena of at least ``nbytes``."""
        self.memory = np.empty(nbytes + 64, np.uint8)
        at = -(-self.memory.ctypes.data // 64) * 64
        self.bufs[len(self.bufs) - 2] = at
        self.dims[0] = nbytes
        if self.zones:
            self.memory.fill(_POISON)

    def prepare(self, values: Sequence[Any]) -> list[Any]:
        """Checks the inputs, notes their addresses, and allocates the outputs."""
        executable = self.executable
        bufs, dims = self.bufs, self.dims
        leaves = values if executable._flat_params else _flat(executable.graph, values)
        if len(leaves) != len(executable.input_types):
            raise Mismatch(f"{len(executable.input_types)} inputs are wanted, got {len(leaves)}")
        self.inputs = inputs = list(leaves)
        b, d = 0, 1
        for k, (type_, value) in enumerate(zip(executable.input_types, leaves, strict=True)):
            if isinstance(type_, TensorType):
                self._check(type_, value)
                if not value.flags.c_contiguous or not value.flags.aligned:
                    inputs[k] = value = np.array(value, order="C")
                bufs[b] = value.ctypes.data
                b += 1
            elif isinstance(type_, TokenType):
                continue
            else:
                if isinstance(type_, ScalarType) and type(value) is not type_.python_type:
                    raise Mismatch(f"a {type_} is wanted, got a {type(value).__name__}")
                try:
                    dims[d] = to_word(type_, value, self.objects)
                except OverflowError:
                    raise Mismatch("an int does not fit into 64 bits") from None
                d += 1
        if executable.build.donate:
            self._guard_donated()
        symbols = executable.build.symbols
        if symbols:
            self.sizes = {s: leaves[k].shape[axis] for s, (k, axis) in symbols.items()}
            for size in self.sizes.values():
                dims[d] = size
                d += 1
            self._check_sizes(leaves)
        outs = []
        for output in executable.build.outputs:
            if output.buffer >= 0:
                made = self._empty(output.type)
                outs.append(made)
                bufs[b] = made.ctypes.data
                b += 1
        return outs

    def _guard_donated(self) -> None:
        """Inputs that will be written to must be writeable and nobody else's memory; others are passed as copies."""
        tensors = [
            (self.bufs[b], k)
            for b, k in enumerate(k for k, t in enumerate(self.executable.input_types) if isinstance(t, TensorType))
        ]
        place = {k: b for b, (_, k) in enumerate(tensors)}
        tensors.sort()
        overlap = any(after < start + self.inputs[k].nbytes for (start, k), (after, _) in itertools.pairwise(tensors))
        for k in self.executable.build.donate.values():
            array = self.inputs[k]
            if overlap or not array.flags.writeable:
                self.inputs[k] = array = np.array(array, order="C")
                self.bufs[place[k]] = array.ctypes.data

    def _check(self, type: TensorType, value: Any) -> None:
        if not isinstance(value, np.ndarray) or value.dtype != type.dtype.numpy or value.ndim != len(type.shape):
            raise Mismatch(f"a {type} is wanted, got {_shown(value)}")
        if value.shape != type.shape:
            for size, extent in zip(value.shape, type.shape, strict=True):
                if isinstance(extent, int) and size != extent:
                    raise Mismatch(f"a {type} is wanted, got {_shown(value)}")

    def _check_sizes(self, leaves: Sequence[Any]) -> None:
        for type_, value in zip(self.executable.input_types, leaves, strict=True):
            if isinstance(type_, TensorType):
                for size, extent in zip(value.shape, type_.shape, strict=True):
                    if not isinstance(extent, int) and evaluate(extent, self.sizes) != size:
                        raise Mismatch(f"a {type_} is wanted, got {_shown(value)}")

    def _empty(self, type: Type) -> Any:
        assert isinstance(type, TensorType)
        shape = tuple([n if isinstance(n, int) else evaluate(n, self.sizes) for n in type.shape])
        return np.empty(shape, type.dtype.numpy)

    def call(self) -> int:
        """Calls the code."""
        if not self.host_steps:
            status = self.executable._main(*self.pointers)
        else:
            RUNS[self.number] = self
            try:
                status = self.executable._main(*self.pointers)
            finally:
                del RUNS[self.number]
        if self.zones:
            self._check_zones()
        return int(status)

    def _check_zones(self) -> None:
        start = self.bufs[len(self.bufs) - 2] - self.memory.ctypes.data
        for offset, length in self.zones:
            if (self.memory[start + offset : start + offset + length] != _POISON).any():
                raise SystemError(f"native code of @{self.executable.graph.name} has written behind the block at {offset}")

    def leaf(self, output: Output, outs: list[Any]) -> Any:
        """One leaf of the result, after a call."""
        if output.buffer >= 0:
            return outs[output.buffer]
        if output.donated >= 0:
            return self.inputs[output.donated]
        if output.word < 0:
            return None
        word = self.ctx[output.word]
        if isinstance(output.type, TensorType):
            rank = len(output.type.shape)
            shape = tuple(self.ctx[output.word + 1 : output.word + 1 + rank])
            made = np.empty(shape, output.type.dtype.numpy)
            if made.nbytes:
                ctypes.memmove(made.ctypes.data, word, made.nbytes)
            return made
        return from_word(output.type, word, self.objects)

    def effect(self, node: Apply, args: list[Any]) -> Any:
        """Runs user code, once."""
        try:
            value = as_value(node.op.reference(*args, **node.attrs), node.type)
        except Exception as error:
            self.effects.append((False, error))
            raise
        self.effects.append((True, value))
        return value

    def reset(self) -> None:
        """Forgets what belonged to one call."""
        ctx = self.ctx
        if ctx[CELLS]:
            regions.reset(ctx, CELLS)
        if ctx[FRAMES]:
            regions.reset(ctx, FRAMES)
        if self.error is not None or self.effects or self.kept:
            self.error, self.effects, self.kept = None, [], []
        self.inputs = []
        del self.objects[len(self.executable.build.objects) :]

    def free(self) -> None:
        """Gives back all memory; the object is of no use afterwards."""
        regions.give_back(self.ctx, CELLS)
        regions.give_back(self.ctx, FRAMES)
        self.memory = None

    def __del__(self) -> None:
        if getattr(self, "ctx", None) is not None and regions is not None:
            regions.give_back(self.ctx, CELLS)
            regions.give_back(self.ctx, FRAMES)


_POISON = 0xDB


class _Replay(Interpreter):
    """Runs a graph of which some effects have happened already: they are not repeated."""

    def __init__(self, effects: Sequence[tuple[bool, Any]]) -> None:
        self.effects = list(effects)

    def run_node(self, node: Apply, operands: list[Any]) -> Any:
        if node.op.effects and self.effects:
            fine, value = self.effects.pop(0)
            if not fine:
                raise value
            return value
        return super().run_node(node, operands)


def _flat(graph: Graph, values: Sequence[Any]) -> list[Any]:
    leaves: list[Any] = []

    def visit(type: Type, value: Any) -> None:
        if isinstance(type, TupleType):
            if not isinstance(value, tuple) or len(value) != len(type.items):
                raise Mismatch(f"a {type} is wanted, got {_shown(value)}")
            for t, v in zip(type.items, value, strict=True):
                visit(t, v)
        else:
            leaves.append(value)

    if len(values) != len(graph.params):
        raise Mismatch(f"{len(graph.params)} inputs are wanted, got {len(values)}")
    for p, value in zip(graph.params, values, strict=True):
        visit(p.type, value)
    return leaves


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    return f"a {type(value).__name__}"


def _worth_releasing(build: Build) -> bool:
    """Whether a call may take longer than handing over the GIL costs: loops, calls of Python, or much data."""
    if build.host_steps or len(build.functions) > 1:
        return True
    if any(i.op in ("for", "while") for i in build.functions[0].body.walk()):
        return True
    sizes = [b.nbytes for b in build.plan.blocks]
    return any(not isinstance(n, int) for n in sizes) or sum(n for n in sizes if isinstance(n, int)) > 1 << 16


def compile_graph(graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> Executable:
    """The executable of ``graph``, compiled at the first call; kept with the graph's context.

    Args:
        graph: any closed graph.
        level: 0 runs op by op, 1 fuses.
        donate: numbers of outputs that may be written into the memory of inputs (`runtime/donation.py`): such an output
            *is* the array that was passed, unless it had to be copied to be contiguous, or the interpreter ran.
    """
    known: dict[Any, Executable] = graph.context.__dict__.setdefault("executables", {})
    key = (graph, level, tuple(donate.items()) if donate else ())
    found = known.get(key)
    if found is None:
        found = known[key] = Executable(graph, level, donate)
    return found


def run_compiled(graph: Graph, values: Sequence[Any], level: int = 1, donate: Mapping[int, int] | None = None) -> Any:
    """The value of ``graph`` by its executable; by the interpreter if none can be made, which is a fault of ours."""
    context = graph.context.__dict__
    failures = context.setdefault("executable_failures", {})
    if (graph, level) not in failures:
        try:
            executable = compile_graph(graph, level, donate)
        except Exception as error:
            if config().debug:
                raise
            logger.warning("@%s cannot be made machine code: %s: %s", graph.name, type(error).__name__, error)
            failures[graph, level] = error
        else:
            return executable.run(values)
    return Interpreter().run(graph, list(values))


def release_memory() -> None:
    """Frees arenas and regions that executables keep for their next call."""
    for executable in list(_all):
        executable.free_memory()
