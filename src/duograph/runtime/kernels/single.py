"""One op, natively: what eager mode, the MindIR interpreter and constant folding run (`core.kernel.compute`).

An op with its attributes and operand types is lowered once; the calls are remembered as addresses, buffer plans and
dims. Exactly the kernels that compiled programs call run here, which is why both lives of a program have the same bits.
Ops whose rule is `Host`, or that have none, run their NumPy reference; so does everything if a kernel notes a failure,
because the reference raises the error that the user is to see.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.base.events import stage
from duograph.base.failures import internal_failure
from duograph.core import dtype as dt
from duograph.core import kernel as core_kernel
from duograph.core.memory import ADDRESSABLE, readable
from duograph.core.op import Op, attrs_key
from duograph.core.shapes import numel
from duograph.core.types import TensorType, TupleType, Type, scalar_type
from duograph.lower.loop.types import float_bits
from duograph.lower.lowering import Lowering, Operand, Temporary, outputs_of
from duograph.lower.ops import lower_call
from duograph.lower.rule import Refused
from duograph.runtime.machine.threads import has_little_stack, with_stack
from duograph.runtime.python.cpython import address_of

from .kernels import calls_of, kernel_address

KERNEL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_REFERENCE = "reference"


class SingleOp:
    """An op lowered for operand types: calls with addresses, and what to allocate.

    Attributes:
        outs: element dtype and shape of each result.
        calls: per kernel call its address, callable, buffer sources ``(kind, number)`` with kind ``0`` input, ``1``
            output, ``2`` temporary, and the words of its dims (``None`` where a scalar operand goes).
        temps: bytes of each temporary.
        code: where the addresses point to.
    """

    __slots__ = ("_ready", "calls", "code", "is_tuple", "outs", "temps")

    def __init__(self, lowered: Lowering, is_tuple: bool) -> None:
        place: dict[int, tuple[int, int]] = {}
        for k, x in enumerate(lowered.ins):
            place[id(x)] = (0, k)
        for k, x in enumerate(lowered.outs):
            place[id(x)] = (1, k)
        self.outs: list[tuple[Any, Any]] = [(x.dtype.numpy, x.shape) for x in lowered.outs]
        self.is_tuple = is_tuple
        self.temps: list[int] = []
        self.code: list[Any] = []
        self.calls: list[tuple[Any, tuple[tuple[int, int], ...], tuple[Any, ...]]] = []
        for call in calls_of(lowered):
            sources = []
            for memory in call.buffers:
                if id(memory) not in place:
                    assert isinstance(memory, Temporary), f"{lowered.op.name}: unknown operand {memory}"
                    place[id(memory)] = (2, len(self.temps))
                    assert isinstance(memory.nbytes, int)
                    if memory.nbytes >= ADDRESSABLE:
                        raise MemoryError(f"out of memory: '{lowered.op.name}' needs {readable(memory.nbytes)}")
                    self.temps.append(max(64, memory.nbytes))
                sources.append(place[id(memory)])
            dims = tuple([_dim(d, place) for d in call.dims])
            self.calls.append((KERNEL(kernel_address(call.function, self.code)), tuple(sources), dims))
        # What `run` needs of a call: its buffer array's class, and its dims as words if they are known now.
        self._ready = [
            (
                ctypes.c_void_p * max(1, len(sources)),
                (ctypes.c_int64 * max(1, len(dims)))(*dims) if all(type(d) is int for d in dims) else None,
            )
            for _, sources, dims in self.calls
        ]

    def results(self) -> list[np.ndarray]:
        """Memory for the results."""
        return [np.empty(shape, dtype) for dtype, shape in self.outs]

    def run(self, arrays: Sequence[Any], outs: list[np.ndarray]) -> Any:
        """The result arrays, which are ``outs``, filled; ``None`` if a kernel noted a failure."""
        if has_little_stack():
            return with_stack(lambda: self.run(arrays, outs))
        temps = [np.empty(n, np.uint8) for n in self.temps]
        spaces = (arrays, outs, temps)
        for (function, sources, dims), (buffers, words) in zip(self.calls, self._ready, strict=True):
            bufs = buffers(*[address_of(spaces[k][i]) for k, i in sources])
            if words is None:
                words = (ctypes.c_int64 * len(dims))(
                    *[d if type(d) is int else _word(arrays[d[0]], d[1]) for d in dims]
                )
            if function(ctypes.addressof(bufs), ctypes.addressof(words)):
                return None
        return tuple(outs) if self.is_tuple else outs[0]


def _dim(dim: Any, place: dict[int, tuple[int, int]]) -> Any:
    if isinstance(dim, Operand):
        if dim.value is not None:
            return _word(dim.value, dim.elem)
        return place[id(dim)][1], dim.elem
    return _word(dim, "f64" if isinstance(dim, float) else "i64")


def _word(value: Any, elem: str) -> int:
    """A number as the 8 bytes that a kernel reads.

    Raises:
        Refused: it has more. ``ctypes`` would drop what is above.
    """
    if elem == "f64":
        return float_bits(value)
    if not -(1 << 63) <= value < 1 << 63:
        raise Refused(f"the number {value} does not fit into 64 bits")
    return int(value)


_singles: dict[Any, Any] = {}
_STORING = frozenset(("arange", "eye", "full", "linspace", "one_hot", "pad", "roll"))
"""Ops whose attributes are often new at each call (numbers, widths) and whose reference gives the bits of kernels, as
both only store and move numbers. What is new is not lowered: that takes ten times as long as a small result."""
_SMALL = 1 << 14
"""Elements of results for which that is so."""


def lower_op(op: Op, types: Sequence[Any], attrs: dict[str, Any], out: Type | None = None) -> Lowering | None:
    """The kernel calls of one op, with results of type ``out`` if that is known; ``None`` if it stays with NumPy."""
    ins = [Operand(t, k) for k, t in enumerate(types)]
    try:
        return lower_call(op, attrs, ins, outputs_of(out or op.result_type(tuple(types), attrs)))
    except Refused:
        return None


def single_op(op: Op, arrays: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """The `SingleOp` for these operands, or ``"reference"``."""
    key = _key(op, arrays, attrs)
    found = _singles.get(key)
    if found is None:
        with stage(f"kernel of {op.name}"):
            found = _prepare(op, arrays, attrs)
            core_kernel.first_native()
        if len(_singles) > 8192:  # shapes without end must not leak
            _singles.clear()
        _singles[key] = found
    return found


def _key(op: Op, arrays: Sequence[Any], attrs: dict[str, Any]) -> tuple[Any, ...]:
    return (op, attrs_key(attrs), *[(a.dtype, a.shape) if type(a) is np.ndarray else type(a) for a in arrays])


def _prepare(op: Op, arrays: Sequence[Any], attrs: dict[str, Any]) -> Any:
    types = _types(arrays)
    if types is None:
        return _REFERENCE
    out = op.result_type(tuple(types), attrs)  # may raise what the user is to see
    try:
        lowered = lower_op(op, types, attrs, out)
        return _REFERENCE if lowered is None else SingleOp(lowered, isinstance(out, TupleType))
    except Refused:
        return _REFERENCE
    except Exception as error:  # noqa: BLE001 - the policy
        internal_failure("a kernel", op.name, error)
        return _REFERENCE


def _types(arrays: Sequence[Any]) -> list[Any] | None:
    """The types of operands; ``None`` if one is neither an array nor a number."""
    types: list[Any] = []
    for a in arrays:
        if type(a) is np.ndarray:
            types.append(TensorType(dt.from_numpy(a.dtype), a.shape))
        elif isinstance(a, bool | int | float):
            types.append(scalar_type(a))
        else:
            return None
    return types


def run_op(op: Op, arrays: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """What computes an op in dynamic mode: `run_single`, but for what is small, new, and stored by the reference in
    less time than it is lowered in. The launcher lowers it, once it comes back."""
    if op.name in _STORING and _key(op, arrays, attrs) not in _singles:
        types = _types(arrays)
        out = None if types is None else op.result_type(tuple(types), attrs)
        if isinstance(out, TensorType) and numel(out.shape) <= _SMALL:
            if op.name != "linspace" or not out.dtype.is_integer:  # whose casts of floats are another matter
                core_kernel.first_native()
                return None
    return run_single(op, arrays, attrs)


def run_single(op: Op, arrays: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """Computes ``op``; ``None`` means that its reference has to."""
    if op.structured or op.effects:
        return None
    try:
        prepared = single_op(op, arrays, attrs)
    except MemoryError:  # no room for its code
        return None
    if prepared is _REFERENCE:
        return None
    outs = prepared.results()  # may be more than there is memory for, which is no failure of ours
    try:
        return prepared.run([np.ascontiguousarray(a) if type(a) is np.ndarray else a for a in arrays], outs)
    except MemoryError:  # nor for its temporaries
        raise
    except Refused:  # a number is too wide
        return None
    except Exception as error:  # noqa: BLE001 - the policy
        internal_failure("a kernel", op.name, error)
        return None
