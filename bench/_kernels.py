"""Native kernels without anything around them: operands, results and scratch are there before the clock starts."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.lower.loop.builder import Builder
from duograph.lower.loop.types import BITS
from duograph.lower.lowering import Temporary
from duograph.lower.target import current_target
from duograph.runtime.kernels.kernels import kernel_address, load_kernels
from duograph.runtime.kernels.single import lower_op

_KERNEL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


def bound(name: str, arrays: Sequence[np.ndarray], attrs: dict[str, Any]) -> Callable[[], None]:
    """The kernel calls of an op on these arrays, with memory for its results."""
    types = [TensorType(dt.from_numpy(a.dtype), a.shape) for a in arrays]
    op = get_op(name)
    lowered = lower_op(op, types, op.complete_attrs(attrs))
    assert lowered is not None, f"{name} has no native kernel"
    load_kernels([call.function for call in lowered.calls])
    memory = {id(x): a for x, a in zip(lowered.ins, arrays, strict=True)}
    for out in lowered.outs:
        memory[id(out)] = _aligned(_count(out.size) * BITS[out.elem] // 8)
    calls = []
    for call in lowered.calls:
        for x in call.buffers:
            if isinstance(x, Temporary) and id(x) not in memory:
                memory[id(x)] = _aligned(_count(x.count) * BITS[x.elem] // 8)
        pointers = (ctypes.c_void_p * max(1, len(call.buffers)))(*[memory[id(x)].ctypes.data for x in call.buffers])
        words = (ctypes.c_int64 * max(1, len(call.dims)))(*[_count(d) for d in call.dims])
        calls.append((_KERNEL(kernel_address(call.function)), pointers, words))

    def run(_kept: Any = (memory, lowered)) -> None:
        for function, pointers, words in calls:
            assert function(ctypes.addressof(pointers), ctypes.addressof(words)) == 0

    return run


def _count(extent: Any) -> int:
    assert isinstance(extent, int), "sizes must be known"
    return extent


def _aligned(nbytes: int) -> np.ndarray:
    raw = np.zeros(nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + max(nbytes, 1)]


def multiply_adds(flops: float) -> Callable[[], None]:
    """So many float32 operations as nothing but independent fused multiply-adds, on all threads: the measured peak."""
    b = Builder("peak")
    out, start, rounds = b.buffer("out", "f32"), b.buffer("start", "f32"), b.dim("rounds")
    lanes, chains, chunks = current_target().lanes(4), 12, 16

    def chunk(lo: Any, hi: Any) -> None:
        x, y = b.load(start, 0, lanes), b.load(start, lanes, lanes)

        def one(i: Any) -> None:
            init = [b.load(start, k * lanes, lanes) for k in range(chains)]
            acc = b.for_(0, rounds, 1, lambda _, *acc: [b.fma(x, y, a) for a in acc], init)
            for k, value in enumerate(acc):
                b.store(out, (i * chains + k) * lanes, value)

        b.for_(lo, hi, 1, one)

    b.parallel(0, chunks, 1, chunk)
    function = b.finish()
    kernel = _KERNEL(kernel_address(function))
    first = np.full(chains * lanes, 0.5, np.float32)
    last = np.zeros(chunks * chains * lanes, np.float32)
    pointers = (ctypes.c_void_p * 2)(last.ctypes.data, first.ctypes.data)
    words = (ctypes.c_int64 * 1)(max(1, round(flops / (2 * chunks * chains * lanes))))

    def run(_kept: Any = (first, last)) -> None:
        kernel(ctypes.addressof(pointers), ctypes.addressof(words))

    return run
