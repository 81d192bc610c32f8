"""Graphs as loop IR: straight-line code. Control flow is in ``control.py``, stacks in ``stacks.py``, numbers in
``scalars.py``; `functions.ProgramEmitter` puts them together.

An `Emitter` writes one function; bodies and branches are written in place, with memory of the same arena. Who computes
a value may be told where to put it (`Scope.places`): outputs of the program and of branches, the next value of a loop
carry. What is not told gets a block of its own, or the block of an operand that dies there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from duograph.core.assumptions import assumptions
from duograph.core.borders import symbols_in
from duograph.core.dim import Dim, Symbol, symbols_of
from duograph.core.dtype import uint8
from duograph.core.types import ScalarType, TensorType, TokenType, Type
from duograph.ir.control import make_tuple, tuple_get
from duograph.ir.node import Apply, Const, Graph, Node
from duograph.lower.loop.ir import Function, Value
from duograph.lower.lowering import Lowering, Operand, Temporary
from duograph.runtime.kernels import kernels
from duograph.runtime.kernels.status import ASSERTION

from .frame import CELLS, Frame, UnknownExtent
from .heap import alloc_function, cut_function
from .steps import Step, numbers_of
from .values import (
    ALIASES,
    CONTROL,
    NOTHING,
    Handle,
    Leaf,
    Memory,
    Number,
    Place,
    Tree,
    blocks_of,
    bytes_of,
    is_handle,
    leaf_types,
    leaves_of,
    tree_of,
    word_type,
)

UNTYPED = TensorType(uint8, ())
"""What scratch memory is said to hold."""


class Scope:
    """One graph being written: the values of its nodes and of the symbols of its types.

    Attributes:
        places: memory that has been set aside for leaves of nodes.
        last: the step after which a value is dead.
        alive: the values that are not.
    """

    def __init__(
        self, graph: Graph, args: Sequence[Tree], symbols: dict[Any, Any], places: dict[Place, Memory]
    ) -> None:
        self.graph = graph
        self.values: dict[Node, Tree] = dict(zip(graph.params, args, strict=True))
        self.symbols = dict(symbols)
        self.places = places
        self.last: dict[Node, int] = {}
        self.alive: dict[Node, Tree] = {}


class Program(Protocol):
    """What emitters ask of the program that they write functions of (`build.Build`)."""

    debug: bool
    native_stacks: bool
    symbols: dict[Symbol, tuple[int, int]]
    in_python: set[Node]

    def steps_of(self, graph: Graph) -> list[Step]: ...

    def own_sizes(self, graph: Graph) -> frozenset[Symbol]: ...

    def kernel(self, function: Function) -> str: ...

    def tick(self, e: Emitter, name: str, step: Step | None = None, symbol: str = "") -> None: ...

    def constant(self, e: Emitter, node: Const) -> Memory: ...

    def object_handle(self, value: Any) -> int: ...

    def host_step(self, step: Any) -> int: ...

    def is_function(self, graph: Graph) -> bool: ...

    def callee(self, graph: Graph) -> Any: ...


class Emitter(Frame):
    """Writes graphs into one function."""

    def __init__(self, build: Program, name: str) -> None:
        super().__init__(name, build.debug)
        self.build = build
        self.allocations = 0
        self.overwrites_inputs = False  # a donated input has been written directly
        self.symbols: dict[Any, Any] = {}  # at the end of the graph that was written last
        self.depth: Any = 0

    # ---- graphs --------------------------------------------------------------------------------------------------

    def graph(
        self, graph: Graph, args: Sequence[Tree], symbols: dict[Any, Any], places: dict[Place, Memory] | None = None
    ) -> Tree:
        """Writes the code of ``graph``; the value of its output."""
        own = self.build.own_sizes(graph)
        if not own.isdisjoint(symbols):  # the same names outside are other sizes
            symbols = {s: value for s, value in symbols.items() if s not in own}
        scope = Scope(graph, args, symbols, places or {})
        held = blocks_of(tuple(args))
        for block in held:  # the caller still has them
            block.refs += 1
        steps = self.build.steps_of(graph)
        for i, step in enumerate(steps):
            for node in step.operands:
                scope.last[node] = i
        scope.last.pop(graph.output, None)
        for i, step in enumerate(steps):
            self.time += 1
            self._step(step, scope, i)
            for node in step.operands:
                if scope.last.get(node) == i and isinstance(node, Apply):
                    self._release(scope.alive.pop(node))
        for tree in scope.alive.values():
            self._release(tree)
        for block in held:
            block.refs -= 1
        self.symbols = scope.symbols
        return self.value(graph.output, scope)

    def _step(self, step: Step, scope: Scope, i: int) -> None:
        self._check_sizes(step, scope)
        if step.lowering is not None:
            made = self._lowered(step, scope, i)
        else:
            (only,) = step.nodes
            made = {only: self._node(only, step, scope)}
        for node, tree in made.items():
            scope.values[node] = scope.alive[node] = tree
            for block in blocks_of(tree):
                block.refs += 1

    def _check_sizes(self, step: Step, scope: Scope) -> None:
        """What shape rules assume of sizes that depend on data is checked before kernels rely on it; what they assume
        of the sizes of inputs is checked by the caller."""
        late = scope.symbols.keys() - self.build.symbols.keys()
        work, seen = list[Node](step.nodes) if late else [], set[Node]()
        with assumptions() as pairs:
            while work:  # all that is fused, down to what has been computed
                node = work.pop()
                if isinstance(node, Apply) and node not in seen and node not in scope.values:
                    seen.add(node)
                    work += node.operands
                    if not node.op.structured:
                        node.op.infer(*[o.type for o in node.operands], **node.attrs)
        checked = False
        for pair in pairs:
            used = set[Symbol]().union(*[symbols_of(x) for x in pair if isinstance(x, Dim)])
            if used <= scope.symbols.keys() and not used.isdisjoint(late):
                one, two = (self.b.value(self.dim(x, scope.symbols)) for x in pair)
                self.b.fail(self.b.ne(one, two), ASSERTION)
                checked = True
        if checked:
            self.b.leave()

    def _release(self, tree: Tree) -> None:
        for block in blocks_of(tree):
            block.refs -= 1

    def value(self, node: Node, scope: Scope) -> Tree:
        """The value of a node that has been written, or of a constant."""
        if node in scope.values:
            return scope.values[node]
        assert isinstance(node, Const), f"{node!r} is free in @{scope.graph.name}"
        if isinstance(node.value, np.ndarray):
            return self.build.constant(self, node)
        if isinstance(node.type, ScalarType):
            return Number(node.type, self.b.const(node.value, word_type(node.type)))
        return Handle(node.type, self.b.const(self.build.object_handle(node.value)))

    def _node(self, node: Apply, step: Step, scope: Scope) -> Tree:
        """The value of a node that is no kernel."""
        operands = [self.value(o, scope) for o in node.operands] if node.op is not make_tuple else []
        if node.op is make_tuple:
            return tuple([self.value(o, scope) for o in node.operands])
        if node.op is tuple_get:
            (source,) = operands
            assert isinstance(source, tuple)
            return source[node.attrs["index"]]
        if node.op.data_dependent:
            found = self.finding_size(node, operands, scope)
            if found is not None:
                self.build.tick(self, node.op.name, step)
                return found
        if step.reason:
            made = self.host(node, operands, scope, step.reason)
            self.build.tick(self, f"{node.op.name} (Python)", step)
            return made
        if node.op in CONTROL:
            if node in self.build.in_python:
                return self.host(node, operands, scope, "a size in it is only known there")
            try:
                return self.control(node, operands, scope)
            except UnknownExtent as error:
                error.nodes.append(node)
                raise
        if node.op.name in ALIASES:
            (source, *_) = operands
            assert isinstance(source, Memory) and isinstance(node.type, TensorType)
            return source.retyped(node.type)
        if node.op.name == "undef":
            return self.undefined(node.type, scope)
        if node.op.name == "anchor":
            return operands[0]
        if node.op.name == "relabel":
            return self.relabelled(node, operands, scope)
        stacked = self.stack_step(node, operands, scope)
        if stacked is not None:
            return stacked
        return self.scalar(node, operands, scope)

    def scalar(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree:
        raise NotImplementedError

    def control(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree:
        raise NotImplementedError

    def stack_step(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
        raise NotImplementedError

    def finding_size(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree | None:
        raise NotImplementedError

    def host(self, node: Apply, operands: list[Tree], scope: Scope, reason: str) -> Tree:
        raise NotImplementedError

    def relabelled(self, node: Apply, operands: list[Tree], scope: Scope) -> Tree:
        """A tensor whose sizes get other names."""
        (source,) = operands
        if isinstance(source, Handle):  # a cell holds its sizes itself
            return Handle(node.type, source.value)
        assert isinstance(source, Memory) and isinstance(node.type, TensorType)
        for new, old in zip(node.type.shape, source.type.shape, strict=True):
            if isinstance(new, Symbol) and new not in scope.symbols:
                scope.symbols[new] = self.b.value(self.dim(old, scope.symbols))
            elif new != old:  # another name for one size
                one, two = (self.b.value(self.dim(x, scope.symbols)) for x in (new, old))
                self.b.fail(self.b.ne(one, two), ASSERTION)
                self.b.leave()
        return source.retyped(node.type)

    def undefined(self, type: Type, scope: Scope) -> Tree:
        """Values that nobody reads. A size that only they have is 0."""
        own = self.build.own_sizes(scope.graph)
        leaves: list[Leaf] = []
        for t in leaf_types(type):
            if isinstance(t, TensorType):
                for size in symbols_in(t):
                    if size not in scope.symbols and size not in own:
                        scope.symbols[size] = self.b.const(0)
                leaves.append(self.new("undef", t, scope))
            elif isinstance(t, ScalarType):
                leaves.append(Number(t, self.b.const(0, word_type(t))))
            elif isinstance(t, TokenType):
                leaves.append(NOTHING)
            else:
                leaves.append(Handle(t, self.b.const(self.build.object_handle(None))))
        return tree_of(type, leaves)

    # ---- kernels -------------------------------------------------------------------------------------------------

    def result(self, node: Node, leaf: int, type: TensorType, scope: Scope) -> Memory:
        """Memory for a result: what was set aside for it, or new."""
        place = scope.places.get((node, leaf))
        if place is not None:
            return place.retyped(type)
        name = node.op.name if isinstance(node, Apply) else "value"
        return self.new(name, type, scope)

    def new(self, name: str, type: TensorType, scope: Scope) -> Memory:
        """Memory for a tensor: of the arena, or of the region if its size is not known when the program starts."""
        if knows(self.entry_symbols, type):
            return self.tensor(name, type)
        return Memory(type, None, address=self.region(CELLS, self.dim(bytes_of(type), scope.symbols)))

    # ---- regions -------------------------------------------------------------------------------------------------

    def region(self, region: int, nbytes: Any) -> Value:
        """Memory that is allocated when the program comes here; its address."""
        self.allocations += 1
        self.b.call(self.build.kernel(alloc_function()), [self.ctx], [region, nbytes])
        self.b.leave()
        return self.b.load(self.ctx, region + 2)

    def mark(self, result: Type) -> Any:
        """The state of the region before something whose results are of type ``result``."""
        if any(is_handle(t) for t in leaf_types(result)):
            return None
        return self.b.load(self.ctx, CELLS), self.b.load(self.ctx, CELLS + 1), self.allocations

    def cut(self, mark: Any) -> None:
        """Releases what has been allocated since."""
        if mark is not None and mark[2] != self.allocations:
            self.b.call(self.build.kernel(cut_function()), [self.ctx], [CELLS, mark[0], mark[1]])

    def _lowered(self, step: Step, scope: Scope, i: int) -> dict[Node, Tree]:
        """Calls the kernels of a step."""
        c = step.lowering
        assert c is not None
        where: dict[int, Leaf] = {}
        for operand, node in zip(c.ins, step.inputs, strict=True):
            (where[id(operand)],) = leaves_of(self.value(node, scope))
        outs: dict[int, Memory] = {}
        for operand, (node, leaf) in zip(c.outs, step.outputs, strict=True):
            assert isinstance(operand.type, TensorType)
            memory = None
            if (node, leaf) not in scope.places:
                memory = self._dying(c, operand, step, scope, i, where, outs)
            where[id(operand)] = outs[id(operand)] = memory or self.result(node, leaf, operand.type, scope)
        given = [scope.places[place] for place in step.outputs if place in scope.places]
        if not self.overwrites_inputs and any(block.kind == "input" for memory in given for block in memory.blocks):
            self.overwrites_inputs = True
            self._check_places(scope, i)
            self.b.leave()  # what has failed is repeated with the inputs as they were; no later step fails
        temporaries: dict[int, Memory] = {}
        for call in kernels.calls_of(c):
            buffers = []
            for wanted in call.buffers:
                if isinstance(wanted, Temporary):
                    if id(wanted) not in temporaries:
                        temporaries[id(wanted)] = self._temporary(wanted, scope)
                    buffers.append(self.buffer(temporaries[id(wanted)], wanted.elem))
                else:
                    found = where[id(wanted)]
                    assert isinstance(found, Memory)
                    buffers.append(self.buffer(found, wanted.elem))
            dims = [self._number(d, where, scope) for d in call.dims]
            self.b.call(self.build.kernel(call.function), buffers, dims, is_safe=not kernels.may_fail(call.function))
            self.build.tick(self, f"{call.function.name} {_sizes(call.dims)}", step, call.function.symbol)
        return self._results(step, outs, c)

    def _check_places(self, scope: Scope, i: int) -> None:
        """From step ``i`` on inputs are written: that places are inside is checked now, where they are known."""
        for step in self.build.steps_of(scope.graph)[i:]:
            c = step.lowering
            if c is None:
                continue
            for call in c.checks or ():
                where: dict[int, Leaf] = {}
                for node in numbers_of(step):
                    if node in scope.values or isinstance(node, Const):
                        (number,) = leaves_of(self.value(node, scope))
                        where |= {id(x): number for x, n in zip(c.ins, step.inputs, strict=True) if n is node}
                if all(id(d) in where or d.value is not None for d in call.dims if isinstance(d, Operand)):
                    dims = [self._number(d, where, scope) for d in call.dims]
                    self.b.call(self.build.kernel(call.function), [], dims)

    def _temporary(self, temporary: Temporary, scope: Scope) -> Memory:
        nbytes = temporary.nbytes
        if not symbols_of(nbytes) <= self.entry_symbols.keys():
            return Memory(UNTYPED, None, address=self.region(CELLS, self.dim(nbytes, scope.symbols)))
        return Memory(UNTYPED, self.block("scratch", nbytes))

    def _results(self, step: Step, outs: dict[int, Memory], c: Lowering) -> dict[Node, Tree]:
        leaves: dict[Node, list[Leaf]] = {}
        for operand, (node, _) in zip(c.outs, step.outputs, strict=True):
            leaves.setdefault(node, []).append(outs[id(operand)])
        return {node: tree_of(node.type, found) for node, found in leaves.items()}

    def _number(self, dim: Any, where: dict[int, Leaf], scope: Scope) -> Any:
        if isinstance(dim, Operand):
            if dim.value is not None:
                return self.b.const(dim.value if dim.elem == "f64" else int(dim.value), dim.elem)
            found = where[id(dim)]
            assert isinstance(found, Number)
            return found.value
        if isinstance(dim, float):
            return self.b.const(dim, "f64")
        return self.dim(dim, scope.symbols)

    def _dying(
        self, c: Lowering, out: Operand, step: Step, scope: Scope, i: int, where: dict[int, Leaf], outs: Any
    ) -> Memory | None:
        """The memory of an operand that nobody needs afterwards and whose kernel says that it may be overwritten."""
        for operand, node in zip(c.ins, step.inputs, strict=True):
            memory = where[id(operand)]
            if (
                scope.last.get(node) != i
                or not isinstance(memory, Memory)
                or memory.block is None
                or memory.block.kind != "arena"
                or memory.block.refs != 1
                or memory.offset
                or memory.block.nbytes != bytes_of(out.type)  # type: ignore[arg-type]
                or any(m.block is memory.block for m in outs.values())
                or not all(may_overwrite(c, o, out) for o, n in zip(c.ins, step.inputs, strict=True) if n is node)
            ):
                continue
            assert isinstance(out.type, TensorType)
            return memory.retyped(out.type)
        return None


def _sizes(dims: Sequence[Any]) -> str:
    return " ".join(str(d) for d in dims if not isinstance(d, Operand))


def may_overwrite(c: Lowering, operand: Operand, out: Operand) -> bool:
    """Whether the kernels of ``c`` allow that ``out`` is the memory of ``operand``."""
    used = [call for call in c.calls if operand in call.buffers]
    writes = [call for call in c.calls if out in call.buffers]
    if len(used) != 1 or not writes or writes[0] is not used[0]:
        return False
    (call,) = used
    target = call.buffers.index(out)
    return all((k, target) in call.inplace for k, x in enumerate(call.buffers) if x is operand)


def knows(symbols: dict[Any, Any], type: Type) -> bool:
    """Whether the sizes of values of ``type`` can be computed from ``symbols``."""
    for leaf in leaf_types(type):
        if isinstance(leaf, TensorType):
            for extent in leaf.shape:
                if isinstance(extent, Dim) and any(s not in symbols for s in symbols_of(extent)):
                    return False
    return True


__all__ = ["Emitter", "Scope", "knows", "may_overwrite"]
