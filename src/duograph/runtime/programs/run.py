"""One call of an executable: checking inputs, memory, calling the code, results.

A `Run` is kept from call to call; calls that go on at the same time (threads, calls within calls) have one each.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from duograph.autodiff.entries import Residual
from duograph.core.dim import evaluate
from duograph.core.kernel import as_value
from duograph.core.types import INT, ObjectType, ScalarType, StackType, TensorType, TokenType, TupleType, Type
from duograph.distributed.places import here
from duograph.ir.interpreter import Interpreter
from duograph.ir.node import Apply, Graph
from duograph.runtime.launch import launcher, records
from duograph.runtime.machine.threads import has_little_stack, with_stack
from duograph.runtime.python import cpython
from duograph.runtime.python.cpython import address_of

from . import heap
from .build import Output
from .frame import CELLS, CONSTANTS, FRAMES, ITERATIONS, RUN
from .host import RUNS, from_word, to_word
from .residuals import Cells, NativeStack, cells

if TYPE_CHECKING:
    from .executable import Executable

__all__ = ["Mismatch", "Replay", "Run"]

_numbers = itertools.count(1)
_POISON = 0xDB


_DIRECT = cpython.is_known()


def array_maker(type: Type) -> Callable[[dict[Any, int]], Any]:
    """A function that makes arrays of ``type``, without contents: over memory of the allocator where that runs."""
    assert isinstance(type, TensorType)
    shape: Any = type.shape
    dtype = type.dtype.numpy
    if any(not isinstance(n, int) for n in shape):
        return lambda sizes: _empty([n if isinstance(n, int) else evaluate(n, sizes) for n in shape], dtype)
    engine = launcher.engine()
    if engine is None:
        return lambda _: _empty(shape, dtype)
    words = records.Words()
    place = words.array(records.output_words(words, _empty(shape, dtype)))
    make = _array_function(engine.address("dg_array"))

    def function(_: dict[Any, int], words: records.Words = words) -> Any:
        return make(place)

    return function


def _empty(shape: Any, dtype: np.dtype) -> np.ndarray:
    """An array without contents; a number of bytes that is no int64 is a lack of memory as any other."""
    try:
        return np.empty(shape, dtype)
    except ValueError as error:
        if any(n < 0 for n in shape):
            raise
        raise MemoryError(str(error)) from None


TENSOR, WORD, NOTHING = range(3)
_ARRAY = ctypes.c_int64 * 7
_FLAGS = (cpython.ARRAY_FLAGS - cpython.HEAD) // 8
_DENSE = cpython.C_CONTIGUOUS | cpython.ALIGNED


def input_kinds(types: Sequence[Type]) -> list[tuple[Type, int, Any, Any]]:
    """For each input its type, how it is passed, and for tensors dtype and shape (with which no symbol is equal)."""
    kinds: list[tuple[Type, int, Any, Any]] = []
    for t in types:
        if isinstance(t, TensorType):
            kinds.append((t, TENSOR, t.dtype.numpy, t.shape))
        else:
            kinds.append((t, NOTHING if isinstance(t, TokenType) else WORD, None, None))
    return kinds


_array_function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)


class Mismatch(TypeError):
    """A value is not of the type of its parameter."""


class Run:
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
        self.ctx[ITERATIONS] = 1  # short calls ask nothing
        self.ctx[CONSTANTS] = ctypes.addressof(executable._constants)
        self.bufs[len(self.bufs) - 1] = ctypes.addressof(self.ctx)
        self.pointers = (ctypes.addressof(self.bufs), ctypes.addressof(self.dims))
        self.objects: list[Any] = list(build.objects)
        self.kept: list[Any] = []
        self.effects: list[tuple[bool, Any]] = []
        self.around: Callable[[Callable[[], Any]], Any] | None = None  # runs effects that are not to be replayed
        self.error: BaseException | None = None
        self.cells: Cells | None = None  # owner of the residuals that this call gives
        self.inputs: list[Any] = []
        self.sizes: dict[Any, int] = {}
        self.memory: Any = None
        self.zones = build.plan.red_zones()
        self.grow(build.plan.size)
        if self.host_steps:
            RUNS[self.number] = weakref.ref(self)

    def grow(self, nbytes: int) -> None:
        """An arena of at least ``nbytes``."""
        memory = np.empty(nbytes + 64, np.uint8)
        if self.zones:
            memory.fill(_POISON)
        bufs, place = self.bufs, len(self.bufs) - 2
        at = -(-address_of(memory) // 64) * 64
        # No call from here on: an interrupt must not leave the address of memory that is gone.
        bufs[place], self.dims[0], self.memory = at, nbytes, memory

    def prepare(self, values: Sequence[Any]) -> list[Any]:
        """Checks the inputs, notes their addresses, and allocates the outputs."""
        executable = self.executable
        bufs, dims = self.bufs, self.dims
        leaves = values if executable._flat_params else _flat(executable.graph, values)
        if len(leaves) != len(executable.input_types):
            raise Mismatch(f"{len(executable.input_types)} inputs are wanted, got {len(leaves)}")
        self.inputs = inputs = list(leaves)
        b, d = 0, 1
        for k, (type_, kind, dtype, shape) in enumerate(executable.inputs):
            value = leaves[k]
            if kind == TENSOR:
                if _DIRECT and type(value) is np.ndarray and value.dtype == dtype and value.shape == shape:
                    fields = _ARRAY.from_address(id(value) + cpython.HEAD)
                    if fields[_FLAGS] & _DENSE == _DENSE:
                        bufs[b] = fields[0]
                        b += 1
                        continue
                assert isinstance(type_, TensorType)
                self._check(type_, value)
                if not value.flags.c_contiguous or not value.flags.aligned:
                    inputs[k] = value = np.array(value, order="C")
                bufs[b] = address_of(value)
                b += 1
            elif kind == WORD:
                dims[d] = self._word(type_, value)
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
        outs = [make(self.sizes) for make in executable.makers]
        for made in outs:
            bufs[b] = address_of(made)
            b += 1
        return outs

    def _word(self, type_: Type, value: Any) -> int:
        if type(value) is int and type_ == INT and -(1 << 63) <= value < 1 << 63:
            return value
        if isinstance(type_, ScalarType) and type(value) is not type_.python_type:
            raise Mismatch(f"a {type_} is wanted, got a {type(value).__name__}")
        if not self.executable.build.native_stacks:
            value = cells(value)
        elif isinstance(value, NativeStack):
            return value.address
        elif isinstance(type_, StackType) or isinstance(value, Residual):
            raise Mismatch("residuals were saved by the interpreter")
        try:
            return to_word(type_, value, self.objects)
        except OverflowError:
            raise Mismatch("an int does not fit into 64 bits") from None

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
                self.bufs[place[k]] = address_of(array)

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

    def call(self) -> int:
        """Calls the code."""
        if has_little_stack():
            return with_stack(self.call)
        status = self.executable._main(*self.pointers)
        if self.zones:
            self._check_zones()
        return int(status)

    def _check_zones(self) -> None:
        start = self.bufs[len(self.bufs) - 2] - address_of(self.memory)
        for offset, length in self.zones:
            if (self.memory[start + offset : start + offset + length] != _POISON).any():
                raise SystemError(
                    f"native code of @{self.executable.graph.name} has written behind the block at {offset}"
                )

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
                ctypes.memmove(address_of(made), word, made.nbytes)
            return made
        if isinstance(output.type, ScalarType) or word & 1 or not self.executable.build.native_stacks:
            return from_word(output.type, word, self.objects)
        if word == 0 and isinstance(output.type, ObjectType):
            return None
        if self.cells is None:
            keep = [x.owner for x in self.inputs if isinstance(x, NativeStack)]
            self.cells = Cells(self.ctx, CELLS, keep)
        return NativeStack(self.cells, word, output.type, self.objects)

    def effect(self, node: Apply, args: list[Any]) -> Any:
        """Runs user code, once."""
        if self.around is not None:
            return self.around(lambda: as_value(node.op.reference(*args, **node.attrs), node.type))
        before, here.at = here.at, node
        try:
            value = as_value(node.op.reference(*args, **node.attrs), node.type)
        except Exception as error:
            self.effects.append((False, error))
            raise
        finally:
            here.at = before
        self.effects.append((True, value))
        return value

    def reset(self) -> None:
        """Forgets what belonged to one call."""
        ctx = self.ctx
        if ctx[CELLS]:
            heap.reset(ctx, CELLS)
        if ctx[FRAMES]:
            heap.reset(ctx, FRAMES)
        self.let_go()
        self.inputs = []
        self.cells = None

    def let_go(self) -> None:
        """Forgets what steps in Python have left."""
        if self.error is not None or self.effects or self.kept:
            self.error, self.effects, self.kept = None, [], []
        del self.objects[len(self.executable.build.objects) :]

    def free(self) -> None:
        """Releases all memory; the object is of no use afterwards."""
        heap.give_back(self.ctx, CELLS)
        heap.give_back(self.ctx, FRAMES)
        self.memory = None

    def __del__(self, is_ending: Any = sys.is_finalizing) -> None:
        if getattr(self, "ctx", None) is not None and not is_ending():  # what releases is gone at the very end
            RUNS.pop(self.number, None)
            heap.give_back(self.ctx, CELLS)
            heap.give_back(self.ctx, FRAMES)


class Replay(Interpreter):
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
    if len(values) != len(graph.params):
        raise Mismatch(f"{len(graph.params)} inputs are wanted, got {len(values)}")
    leaves: list[Any] = []
    for p, value in zip(graph.params, values, strict=True):
        _flatten(p.type, value, leaves)
    return leaves


def _flatten(type: Type, value: Any, leaves: list[Any]) -> None:
    """Appends the leaves of ``value``."""
    if not isinstance(type, TupleType):
        leaves.append(value)
        return
    if not isinstance(value, tuple) or len(value) != len(type.items):
        raise Mismatch(f"a {type} is wanted, got {_shown(value)}")
    for t, v in zip(type.items, value, strict=True):
        _flatten(t, v, leaves)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    return f"a {type(value).__name__}"
