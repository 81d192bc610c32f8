"""From a graph to the functions of its executable: `main` and what it calls."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from duograph.base.collection import no_collection
from duograph.base.config import config
from duograph.base.events import emit
from duograph.core.borders import symbols_in
from duograph.core.dim import Symbol
from duograph.core.types import StackType, TensorType, TokenType, Type
from duograph.ir.control import call, call_named, cond, custom_vjp
from duograph.ir.node import Apply, Const, Graph, Node, finds_sizes, told_sizes
from duograph.ir.printer import all_graphs
from duograph.ir.walk import recursive_graphs
from duograph.lower.contract import contracted
from duograph.lower.loop.ir import Buffer, Function, Value
from duograph.lower.loop.types import element_of
from duograph.runtime.kernels import kernels
from duograph.runtime.kernels.status import TOO_SMALL
from duograph.runtime.machine.llvm import Linked

from .arena import ArenaPlan
from .emit import Emitter, knows
from .frame import CONSTANTS, NEEDED, RESULTS
from .functions import Callee, ProgramEmitter, arguments, callee_of, deliver, places_for, write_function
from .host import HostStep
from .in_place import written_directly
from .steps import STACK_OPS, Step, steps_of
from .values import (
    CONTROL,
    NOTHING,
    Handle,
    Leaf,
    Memory,
    Number,
    bytes_of,
    leaf_types,
    leaves_of,
)

TICK = "dg_tick"
"""Symbol of the function that reads the clock (`profile`)."""

_HOST_STACKS = ("residual_add", "cotangent_pop")


@dataclass(eq=False)
class Output:
    """One leaf of the result: where `main` puts it.

    Attributes:
        buffer: number among the output buffers; -1 for what goes into words or into the memory of an input.
        word: first of its words in the context block; -1 if it has none.
    """

    type: Type
    buffer: int = -1
    word: int = -1
    donated: int = -1  # number of the input whose memory it takes


class Tick(NamedTuple):
    """A time stamp.

    Attributes:
        name: of the kernel, or of what Python does, that has just been called.
        step: which it belongs to; ``None``: it is the look before the first call.
        symbol: of the kernel.
    """

    name: str
    step: Step | None
    symbol: str = ""


@dataclass
class Build:
    """What comes of compiling one graph.

    Attributes:
        constants: arrays that the code reads, by number.
        objects: Python objects that are constants of the graph; handles count from here.
        host_steps: what runs in Python.
        symbols: symbolic dimensions of the inputs, in the order of the dims of `main`, with leaf and axis.
        plan: memory of `main`.
        in_python: control operators that run in Python, since code would need a size that only they know.
    """

    graph: Graph
    level: int
    donate: dict[int, int] = field(default_factory=dict)
    ticks: list[Tick] | None = None  # what is called, if the clock is to be read after each call
    in_python: set[Node] = field(default_factory=set)
    debug: bool = field(default_factory=lambda: config().debug)
    constants: list[np.ndarray] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)
    host_steps: list[HostStep] = field(default_factory=list)
    symbols: dict[Symbol, tuple[int, int]] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    n_words: int = 0
    plan: ArenaPlan = field(default_factory=lambda: ArenaPlan([]))
    functions: list[Function] = field(default_factory=list)
    address: int = 0
    code: tuple[Linked, ...] = ()  # where it is, and what it calls
    native_stacks: bool = True
    _kernels: dict[str, Function] = field(default_factory=dict)
    _symbols: dict[int, str] = field(default_factory=dict)
    _seen: list[Function] = field(default_factory=list)  # their numbers in `_symbols` must stay theirs
    _constants: dict[Node, int] = field(default_factory=dict)
    _steps: dict[Graph, list[Step]] = field(default_factory=dict)
    _callees: dict[Graph, Callee] = field(default_factory=dict)
    _unwritten: list[Callee] = field(default_factory=list)
    _shared: set[Graph] = field(default_factory=set)
    _own_sizes: dict[Graph, frozenset[Symbol]] = field(default_factory=dict)

    @no_collection
    def __post_init__(self) -> None:
        graphs = self._reachable()
        callers: dict[Graph, int] = {}
        for g in graphs:
            for node in g.nodes:
                if node.op is call:
                    callers[node.attrs["graph"]] = callers.get(node.attrs["graph"], 0) + 1
        self._shared = {g for g, n in callers.items() if n > 1 or g in recursive_graphs(self.graph)}
        self.native_stacks = self._stacks_are_native(graphs)
        self._write()
        self._load()

    def _reachable(self) -> list[Graph]:
        """All graphs that may run, those called by name included."""
        found: dict[Graph, None] = {}
        work = [self.graph]
        while work:
            for g in all_graphs(work.pop()):
                if g not in found:
                    found[g] = None
                    for node in g.nodes:
                        if node.op is call_named and node.attrs["name"] in node.context.functions:
                            work.append(node.context.functions[node.attrs["name"]])
        return list(found)

    def _stacks_are_native(self, graphs: list[Graph]) -> bool:
        """Whether all operations on stacks are native: those of derivatives of higher order are not. Where items tell
        sizes that the program finds, no control operator may run in Python, which knows no cells."""
        entry = _found_symbols(self.graph)
        late, is_hosted = False, bool(self.in_python)
        for g in graphs:
            for node in g.nodes:
                if node.op.name in _HOST_STACKS:
                    return False
                if node.op in CONTROL and self._may_be_hosted(node, entry):
                    is_hosted = True
                    if any(isinstance(t, StackType) for o in (node, *node.operands) for t in leaf_types(o.type)):
                        return False
                if node.op.name in STACK_OPS:
                    made = () if node.op.name == "stack_rows" else (node.type,)
                    types = (*made, *[o.type for o in node.operands])
                    stacks = [leaf for t in types for leaf in leaf_types(t) if isinstance(leaf, StackType)]
                    for items in (types, *[(stack.item,) for stack in stacks]):
                        leaves = [leaf for item in items for leaf in leaf_types(item)]
                        told = {size for leaf in leaves for size in told_sizes(leaf)}
                        late |= not all(knows(entry, leaf) for leaf in leaves)
                        if not all(knows({**entry, **dict.fromkeys(told)}, leaf) for leaf in leaves):
                            return False
        return not (late and is_hosted)

    def _may_be_hosted(self, node: Apply, entry: dict[Any, Any]) -> bool:
        """Whether a control operator may run in Python, as its results have sizes that the program finds."""
        if node in self.in_python or knows(entry, node.type):
            return node in self.in_python
        if node.op not in (cond, call, custom_vjp) or node.attrs.get("graph") in self._shared:
            return True
        extents = [n for t in leaf_types(node.type) if isinstance(t, TensorType) for n in t.shape]
        return not knows({**entry, **dict.fromkeys(n for n in extents if isinstance(n, Symbol))}, node.type)

    # ---- what emitters ask ---------------------------------------------------------------------------------------

    def steps_of(self, graph: Graph) -> list[Step]:
        """The steps of a graph at this build's level."""
        found = self._steps.get(graph)
        if found is None:
            found = self._steps[graph] = steps_of(graph, self.level)
        return found

    def own_sizes(self, graph: Graph) -> frozenset[Symbol]:
        """Names of sizes that ``graph`` itself finds."""
        found = self._own_sizes.get(graph)
        if found is None:
            finders = [node for node in graph.nodes if finds_sizes(node)]
            known = symbols_in(tuple([p.type for p in graph.params])) | self.symbols.keys()
            found = frozenset(symbols_in(tuple([n.type for n in finders])) - known)
            self._own_sizes[graph] = found
        return found

    def kernel(self, function: Function) -> str:
        """The symbol under which ``function`` can be called."""
        symbol = self._symbols.get(id(function))
        if symbol is None:
            used = contracted(function) if self.level >= 2 else function
            symbol = self._symbols[id(function)] = used.symbol
            self._kernels.setdefault(symbol, used)
            self._seen.append(function)
        return symbol

    def tick(self, e: Emitter, name: str, step: Step | None = None, symbol: str = "") -> None:
        """Writes a time stamp, if there are to be any."""
        if self.ticks is not None:
            e.b.call(TICK, [], [len(self.ticks)])
            self.ticks.append(Tick(name, step, symbol))

    def constant(self, e: Emitter, node: Const) -> Memory:
        """A constant array, as memory."""
        number = self._constants.get(node)
        if number is None:
            number = self._constants[node] = len(self.constants)
            self.constants.append(np.ascontiguousarray(node.value))
        table = e.b.at(e.b.load(e.ctx, CONSTANTS), "i64")
        assert isinstance(node.type, TensorType)
        return Memory(node.type, None, address=e.b.load(table, number))

    def object_handle(self, value: Any) -> int:
        """The handle of an object that is known now."""
        if value is None and self.native_stacks:
            return 0
        for k, known in enumerate(self.objects):
            if known is value:
                return 2 * k + 1
        self.objects.append(value)
        return 2 * (len(self.objects) - 1) + 1

    def host_step(self, step: HostStep) -> int:
        """The number of a step that runs in Python."""
        self.host_steps.append(step)
        return len(self.host_steps) - 1

    def is_function(self, graph: Graph) -> bool:
        """Whether calls of ``graph`` stay calls."""
        return graph in self._shared

    def callee(self, graph: Graph) -> Callee:
        """``graph`` as a function; it is written later."""
        found = self._callees.get(graph)
        if found is None:
            found = self._callees[graph] = callee_of(graph, f"function {len(self._callees)}")
            if found.is_closed:
                self._unwritten.append(found)
        return found

    # ---- main ----------------------------------------------------------------------------------------------------

    def _write(self) -> None:
        e = ProgramEmitter(self, self.graph.name)
        b = e.b
        inputs: dict[int, Memory] = {}
        for k, t in enumerate([t for p in self.graph.params for t in leaf_types(p.type)]):
            if isinstance(t, TensorType):
                inputs[k] = Memory(t, e.block(f"input {k}", bytes_of(t), "input", b.buffer(f"x{k}", _elem(t))))
        self.symbols = _found_symbols(self.graph)
        outputs, late = self._place_outputs(e, inputs)
        arena = b.buffer("memory", "u8")
        e.ctx = b.buffer("ctx", "i64")
        capacity = b.dim("capacity")
        args = arguments(b, self.graph.params, inputs.values())
        e.entry_symbols = {s: b.dim(s.name) for s in self.symbols}
        self.tick(e, "start")
        places = {**{p: inputs[j] for p, j in self.early.items()}, **places_for(self.graph, outputs)}
        results = leaves_of(e.graph(self.graph, args, e.entry_symbols, places))
        self._deliver(e, results, outputs)
        self._deliver_late(e, results, late)

        def reserve(total: Any) -> Value:
            if not isinstance(total, int):
                b.store(e.ctx, NEEDED, total)
                b.fail(b.gt(total, capacity), TOO_SMALL)
                b.leave()
            return b.address(arena)

        main = e.finish(reserve)
        self.plan = e.plan
        written = [main]
        while self._unwritten:
            callee = self._unwritten.pop()
            written.append(write_function(self, callee))
            written[-1].fixed_symbol = callee.symbol
        self.functions = _named(written)

    def _place_outputs(self, e: ProgramEmitter, inputs: dict[int, Memory]) -> tuple[dict[int, Memory], ...]:
        """Decides where each leaf of the result goes; the memory of those that are written there by who makes them, and
        the inputs that donations are copied to at the very end."""
        outputs: dict[int, Memory] = {}
        late: dict[int, Memory] = {}
        n_buffers = 0
        types = leaf_types(self.graph.output.type)
        self.donate = {k: j for k, j in self.donate.items() if j in inputs and types[k] == inputs[j].type}
        direct = written_directly(self.graph, self.steps_of(self.graph), self.donate) if self.donate else {}
        self.early = {place: self.donate[k] for k, found in direct.items() for place in found}
        for k, t in enumerate(types):
            out = Output(t)
            if k in self.donate:
                out.donated = self.donate[k]
                (outputs if k in direct else late)[k] = inputs[out.donated]
            elif isinstance(t, TensorType) and knows(self.symbols, t):
                out.buffer, n_buffers = n_buffers, n_buffers + 1
                outputs[k] = Memory(t, e.block(f"output {k}", bytes_of(t), "output", e.b.buffer(f"out{k}", _elem(t))))
            elif not isinstance(t, TokenType):
                out.word = RESULTS + self.n_words
                self.n_words += 1 + (len(t.shape) if isinstance(t, TensorType) else 0)
            self.outputs.append(out)
        return outputs, late

    def _deliver(self, e: ProgramEmitter, results: list[Leaf], outputs: dict[int, Memory]) -> None:
        symbols = e.symbols
        words: Buffer = e.ctx
        for k, (leaf, out) in enumerate(zip(results, self.outputs, strict=True)):
            if isinstance(leaf, Memory) and out.buffer < 0 and out.donated < 0:
                e.b.store(words, out.word, e.address(leaf))
                for i, extent in enumerate(leaf.type.shape):
                    e.b.store(words, out.word + 1 + i, e.b.value(e.dim(extent, symbols)))
                results[k] = NOTHING
            elif isinstance(leaf, Number | Handle):
                e.b.store(words, out.word, e.b.bitcast(leaf.value, "i64"))
                results[k] = NOTHING
        deliver(e, results, outputs, words, 0)

    def _deliver_late(self, e: ProgramEmitter, results: list[Leaf], late: dict[int, Memory]) -> None:
        """Writes over inputs, now that nothing can fail any more; what lies in an input itself is saved before."""
        if not late:
            return
        e.b.leave()
        for k, target in late.items():
            leaf = results[k]
            assert isinstance(leaf, Memory)
            if any(x.kind == "input" and x is not target.block for x in leaf.blocks):
                results[k] = e.tensor("saved", leaf.type)
                e.copy(results[k], leaf)  # type: ignore[arg-type]
        deliver(e, results, late, e.ctx, 0)

    def _load(self) -> None:
        emit("executable", graph=self.graph, level=self.level)  # its functions follow as an event of `load_kernels`
        self.code = kernels.load_kernels([*self._kernels.values(), *self.functions])
        self.address = kernels.kernel_address(self.functions[0])


def _named(functions: list[Function]) -> list[Function]:
    """Gives functions that call each other their final symbols: a hash over the text of them all."""
    if len(functions) == 1:
        return functions
    digest = hashlib.sha256("\n".join(f.text for f in functions).encode()).hexdigest()[:24]
    final = {f.fixed_symbol: f"p_{k}_{digest}" for k, f in enumerate(functions) if f.fixed_symbol}
    for function in functions:
        for instr in function.body.walk():
            if instr.op == "call":
                instr.attrs["function"] = final.get(instr.attrs["function"], instr.attrs["function"])
        function.fixed_symbol = final.get(function.fixed_symbol, "")
        function._text = None
    return functions


def _found_symbols(graph: Graph) -> dict[Symbol, tuple[int, int]]:
    """The symbols that the shapes of the inputs give, with leaf and axis."""
    return callee_of(graph, "").symbols


def _elem(type: TensorType) -> str:
    return element_of(type.dtype.numpy)
