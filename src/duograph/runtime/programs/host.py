"""Steps of native programs that run in Python: how they are called, and what they do there.

Code calls ``dg_host(bufs, dims)``, a ctypes callback that takes the GIL. ``dims`` begins with the numbers of run and
step; numbers, handles and symbolic sizes follow. ``bufs`` has the tensors, memory for results of known size, and
words for the other results: numbers, handles, and for tensors of a size that only the step knows address and extents.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

import numpy as np

from duograph.core.borders import symbols_in
from duograph.core.dim import Dim, Symbol, by_name, evaluate, symbols_of
from duograph.core.kernel import as_value, compute
from duograph.core.types import ScalarType, TensorType, TokenType, TupleType, Type
from duograph.ir.interpreter import Interpreter, resolved
from duograph.ir.node import Apply, Graph
from duograph.lower.loop.types import float_bits, float_of_bits
from duograph.runtime.kernels.status import HOST
from duograph.runtime.python.cpython import address_of

from .emit import Emitter, Scope, knows
from .frame import RUN, UnknownExtent
from .interrupts import provide
from .values import (
    CONTROL,
    NOTHING,
    Handle,
    Leaf,
    Memory,
    Number,
    Tree,
    is_handle,
    leaf_types,
    leaves_of,
    tree_of,
    word_type,
)

SYMBOL = "dg_host"
_ROW = ctypes.c_int64 * (1 << 20)  # longer than any row of words


@dataclass(eq=False)
class HostStep:
    """One node that runs in Python.

    Attributes:
        node: what is computed.
        reason: why it is not native.
        symbols: those whose values the code passes.
        known: for each tensor among the leaves of the result whether its size is known before.
    """

    node: Apply
    reason: str
    symbols: list[Symbol]
    known: list[bool]
    graph: Graph | None = None
    operand_types: list[Type] = field(default_factory=list)
    leaves: list[list[Any]] = field(default_factory=list)  # types of those of each operand
    first_symbol: int = 0  # among the numbers that the code passes
    gives_nothing: bool = False  # but the next token
    keeps: bool = False  # whether operands may live on in its result, or in the user's hands
    seen: dict[int, tuple[int, np.ndarray]] = field(default_factory=dict)
    """The latest array of each buffer whose size is known, and its address: most calls have the same ones."""

    def __post_init__(self) -> None:
        self.operand_types = [o.type for o in self.node.operands]
        self.leaves = [leaf_types(t) for t in self.operand_types]
        self.first_symbol = 2 + _words(self.operand_types)
        self.gives_nothing = isinstance(self.node.type, TokenType)
        self.keeps = "io" in self.node.op.effects or any(is_handle(t) for t in leaf_types(self.node.type))
        if self.node.op in CONTROL:
            context = self.node.context
            params = tuple([context.param(context.fresh_name("x"), t) for t in self.operand_types])
            made = context.apply(self.node.op, params, self.node.attrs)
            self.graph = context.graph(context.fresh_name("host"), params, made)

    @property
    def is_pure(self) -> bool:
        """Whether nothing shows that it has run but its result, an array or a number."""
        return self.graph is None and not (self.node.op.effects or self.keeps)

    def run(self, run: Any, bufs: Any, dims: Any) -> None:
        """Reads the operands, computes, and writes the results where the code expects them."""
        b, d = 0, 2
        env = {s: dims[self.first_symbol + i] for i, s in enumerate(self.symbols)} if self.symbols else {}
        args: list[Any] = []
        for type_, types in zip(self.operand_types, self.leaves, strict=True):
            leaves: list[Any] = []
            for t in types:
                if isinstance(t, TensorType):
                    leaves.append(self._array(b, bufs[b], t, env))
                    b += 1
                elif isinstance(t, TokenType):
                    leaves.append(None)
                else:
                    leaves.append(from_word(t, dims[d], run.objects))
                    d += 1
            args.append(tree_of(type_, leaves) if isinstance(type_, TupleType) else leaves[0])
        value = self._compute(run, args, env)
        if self.gives_nothing:
            return
        self._write(run, leaves_of(value) if isinstance(value, tuple) else [value], bufs, b, env)

    def _compute(self, run: Any, args: list[Any], env: dict[Symbol, int]) -> Any:
        node = self.node
        if self.keeps:  # longer than the memory keeps its contents
            args = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
        if self.graph is not None:
            return Interpreter().run(self.graph, args)
        if node.op.effects:
            return run.effect(node, args)
        return as_value(compute(node.op, args, resolved(node.attrs, env) if env else node.attrs), node.type)

    def _array(self, b: int, address: int, type: TensorType, env: dict[Symbol, int]) -> np.ndarray:
        """Buffer ``b``, which lies there."""
        if env:
            return _array(address, type, env)
        found = self.seen.get(b)
        if found is None or found[0] != address:
            found = self.seen[b] = address, _array(address, type, env)
        return found[1]

    def _write(self, run: Any, values: list[Any], bufs: Any, b: int, env: dict[Symbol, int]) -> None:
        types = leaf_types(self.node.type)
        n_known = sum(isinstance(t, TensorType) and k for t, k in zip(types, self.known, strict=True))
        words = _ROW.from_address(bufs[b + n_known])
        w = 0
        for type_, known, value in zip(types, self.known, values, strict=True):
            if isinstance(type_, TokenType):
                continue
            if not isinstance(type_, TensorType):
                words[w] = to_word(type_, value, run.objects)
                w += 1
            elif known:
                target = self._array(b, bufs[b], type_, env)
                b += 1
                if target.shape != value.shape:
                    raise OtherShape(f"{self.node.op.name} gives the shape {value.shape}, not {target.shape}")
                target[...] = value
            else:
                value = np.array(value, dtype=type_.dtype.numpy, order="C", copy=True)
                run.kept.append(value)
                words[w] = address_of(value)
                for i, size in enumerate(value.shape):
                    words[w + 1 + i] = size
                w += 1 + value.ndim


class OtherShape(ValueError):
    """A value has not the shape that its type says: a loop in Python has changed what it carries. The interpreter,
    which repeats the call, does not rely on shapes."""


def _words(types: Sequence[Type]) -> int:
    return sum(not isinstance(t, TensorType | TokenType) for type_ in types for t in leaf_types(type_))


def _array(address: int, type: TensorType, env: dict[Symbol, int]) -> np.ndarray:
    shape = tuple([evaluate(n, env) if isinstance(n, Dim) else n for n in type.shape])
    size = type.dtype.numpy.itemsize
    for n in shape:
        size *= n
    if size == 0:
        return np.empty(shape, type.dtype.numpy)
    memory: Any = (ctypes.c_uint8 * size).from_address(address)
    return np.ndarray(shape, type.dtype.numpy, memory)


def from_word(type: Type, word: int, objects: list[Any]) -> Any:
    """The Python value of a word."""
    if isinstance(type, ScalarType):
        if type.kind == "float":
            return float_of_bits(word)
        return bool(word) if type.kind == "bool" else word
    assert word & 1, "a native cell has come to Python"
    return objects[word >> 1]


def to_word(type: Type, value: Any, objects: list[Any]) -> int:
    """The word for a Python value; objects join the list of the run.

    Raises:
        OverflowError: an int that needs more than 64 bits.
    """
    if isinstance(type, ScalarType):
        if type.kind == "float":
            return float_bits(value)
        if not -(1 << 63) <= value < 1 << 63:
            raise OverflowError(f"an int of {value.bit_length()} bits does not fit into 64")
        return int(value)
    objects.append(value)
    return 2 * (len(objects) - 1) + 1


# ---- the callback ---------------------------------------------------------------------------------------------------

RUNS: dict[int, ref[Any]] = {}
"""Runs of programs with steps in Python, by number."""


def _host(bufs: int, dims: int) -> int:
    head = _ROW.from_address(dims)
    run = RUNS[head[0]]()
    assert run is not None, "whoever called the code holds it"
    try:
        run.host_steps[head[1]].run(run, _ROW.from_address(bufs), head)
    except BaseException as error:  # noqa: BLE001 - it goes on where the code was called from
        run.error = error
        return HOST
    return 0


_callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(_host)
provide(SYMBOL, ctypes.cast(_callback, ctypes.c_void_p).value or 0)


# ---- the call -------------------------------------------------------------------------------------------------------


def emit_host(e: Emitter, node: Apply, operands: list[Tree], scope: Scope, reason: str) -> Tree:
    """Writes the call of a step that runs in Python."""
    b = e.b
    types = leaf_types(node.type)
    known = [isinstance(t, TensorType) and knows(scope.symbols, t) for t in types]
    step = HostStep(node, reason, _symbols(node, scope), known)
    number = e.build.host_step(step)
    buffers, dims = [], [b.load(e.ctx, RUN), b.const(number)]
    for leaf in [leaf for tree in operands for leaf in leaves_of(tree)]:
        if isinstance(leaf, Memory):
            for symbol in sorted(symbols_in(leaf.type) - scope.symbols.keys(), key=by_name):
                raise UnknownExtent(symbol)
            buffers.append(e.buffer(leaf))
        elif isinstance(leaf, Number | Handle):
            dims.append(leaf.value)
    dims += [b.value(scope.symbols[s]) for s in step.symbols]
    results: list[Leaf] = []
    for k, (t, k_known) in enumerate(zip(types, known, strict=True)):
        if isinstance(t, TensorType) and k_known:
            memory = e.result(node, k, t, scope)
            buffers.append(e.buffer(memory))
            results.append(memory)
        else:
            results.append(NOTHING)
    n_words = sum(1 + (len(t.shape) if isinstance(t, TensorType) else 0) for t in types)
    words = b.alloca("i64", max(1, n_words), 16)
    if node.op.effects:
        b.leave()  # what has failed before must not be followed by effects
    b.call(SYMBOL, [*buffers, words], dims)
    b.leave()
    w = 0
    for k, t in enumerate(types):
        if isinstance(t, TokenType) or known[k]:
            continue
        if isinstance(t, TensorType):
            results[k] = Memory(t, None, address=b.load(words, w))
            for i, extent in enumerate(t.shape):
                if isinstance(extent, Symbol) and extent not in scope.symbols:
                    scope.symbols[extent] = b.load(words, w + 1 + i)
            w += 1 + len(t.shape)
        else:
            word = b.load(words, w)
            if isinstance(t, ScalarType):
                word = b.bitcast(word, word_type(t))
                results[k] = Number(t, word)
            else:
                results[k] = Handle(t, word)
            w += 1
    return tree_of(node.type, results)


def _symbols(node: Apply, scope: Scope) -> list[Symbol]:
    found: set[Symbol] = set()

    def visit(x: Any) -> None:
        if isinstance(x, Dim):
            found.update(symbols_of(x))
        elif isinstance(x, tuple | list):
            for item in x:
                visit(item)
        elif isinstance(x, TensorType):
            visit(x.shape)
        elif isinstance(x, TupleType):
            visit(x.items)

    visit([o.type for o in node.operands])
    visit(list(node.attrs.values()))
    visit(node.type)
    return sorted((s for s in found if s in scope.symbols), key=by_name)
