"""Functions of executables: graphs that are called more than once, or call themselves.

``i32 f(ctx, words, tensors..., results...; depth, numbers and handles..., symbols...)``: non-tensor results go
into ``words``. Each call has a frame of the region ``FRAMES``. Recursion ends with failure 6 where the stack of the
thread might; the interpreter, which needs no stack, then takes over.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from duograph.base.limits import soft_limit
from duograph.core.dim import Symbol
from duograph.core.types import ScalarType, TensorType, TokenType, Type
from duograph.ir.node import Apply, Graph, Param
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.ir import Function, Instr, Value
from duograph.lower.loop.types import I64, element_of
from duograph.runtime.kernels.status import RECURSION

from .control import ControlEmitter
from .emit import Program, Scope, knows
from .found import emit as emit_found
from .frame import FRAMES
from .heap import cut_function
from .host import emit_host
from .scalars import emit as emit_scalar
from .stacks import StackEmitter
from .values import (
    NOTHING,
    Handle,
    Leaf,
    Memory,
    Number,
    Place,
    Tree,
    bytes_of,
    leaf_types,
    leaves_of,
    output_places,
    tree_of,
    word_type,
)

MAX_DEPTH = 10_000
"""Native calls within calls."""


def stack_bytes() -> int:
    """How much of a thread's stack native calls may take: three eighths of what threads are given."""
    sizes = [8 << 20]
    if threading.stack_size():
        sizes.append(threading.stack_size())
    limit = soft_limit("RLIMIT_STACK")
    if limit is None:
        limit = 1 << 20
    sizes.append(limit if limit > 0 else 2 << 20)  # what threads get where there is no limit
    return min(sizes) * 3 // 8


@dataclass(eq=False)
class Callee:
    """A graph that is a function.

    Attributes:
        symbols: those of its parameters' types, with the leaf and the axis where each is found.
    """

    graph: Graph
    symbol: str
    symbols: dict[Symbol, tuple[int, int]]

    @property
    def param_types(self) -> list[Type]:
        return [t for p in self.graph.params for t in leaf_types(p.type)]

    @property
    def is_closed(self) -> bool:
        """Whether the sizes of the results follow from those of the parameters."""
        return knows(self.symbols, self.graph.output.type) and all(
            knows(self.symbols, p.type) for p in self.graph.params
        )


def callee_of(graph: Graph, symbol: str) -> Callee:
    """How ``graph`` is called."""
    symbols: dict[Symbol, tuple[int, int]] = {}
    types = [t for p in graph.params for t in leaf_types(p.type)]
    for k, t in enumerate(types):
        if isinstance(t, TensorType):
            for axis, extent in enumerate(t.shape):
                if isinstance(extent, Symbol):
                    symbols.setdefault(extent, (k, axis))
    return Callee(graph, symbol, symbols)


class ProgramEmitter(ControlEmitter, StackEmitter):
    """The whole emitter: control flow, stacks, steps in Python, calls."""

    def host(self, node: Apply, operands: list[Tree], scope: Scope, reason: str) -> Tree:
        return emit_host(self, node, operands, scope, reason)

    def finding_size(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
        return emit_found(self, node, operands, scope)

    def scalar(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree:
        return emit_scalar(self, node, operands, scope)

    def call_function(self, node: Apply, graph: Graph, operands: list[Tree], scope: Scope) -> Tree:
        b, callee = self.b, self.build.callee(graph)
        if not callee.is_closed:
            return self.host(node, operands, scope, f"the sizes in @{graph.name} are only known afterwards")
        leaves = [leaf for tree in operands for leaf in leaves_of(tree)]
        types = leaf_types(node.type)
        words = b.alloca("i64", max(1, len(types)), 16)
        tensors = [self.buffer(x) for x in leaves if isinstance(x, Memory)]
        results: list[Leaf] = []
        for k, t in enumerate(types):
            results.append(self.result(node, k, t, scope) if isinstance(t, TensorType) else NOTHING)
        outs = [self.buffer(x) for x in results if isinstance(x, Memory)]
        dims = [b.add(self.depth, 1), *[x.value for x in leaves if isinstance(x, Number | Handle)]]
        for leaf, axis in callee.symbols.values():
            memory = leaves[leaf]
            assert isinstance(memory, Memory)
            dims.append(self.dim(memory.type.shape[axis], scope.symbols))
        b.call(callee.symbol, [self.ctx, words, *tensors, *outs], dims)
        self.allocations += 1  # what it allocates belongs to this iteration
        b.leave()
        for k, t in enumerate(types):
            if isinstance(t, ScalarType):
                results[k] = Number(t, b.bitcast(b.load(words, k), word_type(t)))
            elif not isinstance(t, TensorType | TokenType):
                results[k] = Handle(t, b.load(words, k))
        return tree_of(node.type, results)


def write_function(build: Program, callee: Callee) -> Function:
    """The code of a graph that is a function."""
    e = ProgramEmitter(build, callee.graph.name)
    b = e.b
    e.ctx = b.buffer("ctx", "i64")
    words = b.buffer("words", "i64")
    inputs = [
        Memory(t, e.block(f"argument {k}", bytes_of(t), "input", b.buffer(f"x{k}", _elem(t))))
        for k, t in enumerate(callee.param_types)
        if isinstance(t, TensorType)
    ]
    types = leaf_types(callee.graph.output.type)
    outputs = {
        k: Memory(t, e.block(f"result {k}", bytes_of(t), "output", b.buffer(f"out{k}", _elem(t))))
        for k, t in enumerate(types)
        if isinstance(t, TensorType)
    }
    e.depth = b.dim("depth")
    args = arguments(b, callee.graph.params, inputs)
    e.entry_symbols = {s: b.dim(s.name) for s in callee.symbols}
    chunk, used = Value(b._id(), I64, b), Value(b._id(), I64, b)
    limit = Value(b._id(), I64, b)
    b.fail(b.gt(e.depth, limit), RECURSION)
    b.leave()
    e.look(False)  # functions that call themselves may run for ever without a loop
    mark = e.mark(callee.graph.output.type)
    results = leaves_of(e.graph(callee.graph, args, e.entry_symbols, places_for(callee.graph, outputs)))
    deliver(e, results, outputs, words, 0)
    e.cut(mark)
    b.call(build.kernel(cut_function()), [e.ctx], [FRAMES, chunk, used])

    def reserve(total: Any) -> Value:
        for word, value in ((FRAMES, chunk), (FRAMES + 1, used)):
            b._block.instrs.append(Instr("load", (e.ctx, b.const(word)), {}, (value,)))
        return e.region(FRAMES, total)

    function = e.finish(reserve, always=True)
    limit.const = max(10, min(MAX_DEPTH, stack_bytes() // _frame_bytes(function)))
    return function


def arguments(b: Builder, params: Sequence[Param], tensors: Iterable[Leaf]) -> list[Tree]:
    """What the parameters of a graph are in its function: ``tensors`` one after the other, dims for all else."""
    memories = iter(tensors)
    args: list[Tree] = []
    k = 0
    for p in params:
        leaves: list[Leaf] = []
        for t in leaf_types(p.type):
            if isinstance(t, TensorType):
                leaves.append(next(memories))
            elif isinstance(t, ScalarType):
                leaves.append(Number(t, b.dim(f"n{k}", word_type(t))))
            else:
                leaves.append(NOTHING if isinstance(t, TokenType) else Handle(t, b.dim(f"h{k}")))
            k += 1
        args.append(tree_of(p.type, leaves))
    return args


def _frame_bytes(function: Function) -> int:
    """More than a call of ``function`` takes of the stack: what it reserves, arguments, spilt values."""
    total, values, slots = 256, 0, 0
    for instr in function.body.walk():
        values += len(instr.results)
        if instr.op == "alloca":
            total += 8 * instr.attrs["count"] + instr.attrs["align"]
        elif instr.op == "call":
            slots = max(slots, len(instr.operands))
    return total + 8 * slots + 2 * values


def places_for(graph: Graph, outputs: dict[int, Memory]) -> dict[Place, Memory]:
    """Which step writes into the memory of which output."""
    places: dict[Place, Memory] = {}
    for k, producer in enumerate(output_places(graph)):
        if producer is not None and k in outputs:
            places.setdefault(producer, outputs[k])
    return places


def deliver(e: ProgramEmitter, results: list[Leaf], outputs: dict[int, Memory], words: Any, first: int) -> None:
    """Puts results where the caller expects them: tensors in their memory, the rest in ``words``."""
    e.time += 1
    for k, leaf in enumerate(results):
        if isinstance(leaf, Memory):
            if k in outputs and not leaf.is_at(outputs[k]):
                e.copy(outputs[k], leaf)
        elif isinstance(leaf, Number | Handle):
            e.b.store(words, first + k, e.b.bitcast(leaf.value, "i64"))


def _elem(type: TensorType) -> str:
    return element_of(type.dtype.numpy)
