"""Comparing native kernels of one op with its reference, to the bit."""

from __future__ import annotations

import ctypes
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

import duograph.ops
from duograph.core.dim import Dim, evaluate
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.lower.loop.types import NUMPY
from duograph.lower.lowering import Lowering, Operand, Temporary
from duograph.runtime.kernels.kernels import kernel_address
from duograph.runtime.kernels.single import KERNEL, run_single
from duograph.runtime.pool import pool

for _module in pkgutil.iter_modules(duograph.ops.__path__):  # tests call operators by name: all must be declared
    importlib.import_module(f"duograph.ops.{_module.name}")

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [
    np.dtype(t)
    for t in (bool, "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", BFLOAT16, "f4", "f8", "c8", "c16")
]  # fmt: skip


def sample(shape: Any, dtype: Any, seed: int = 0) -> np.ndarray:
    """Numbers of every kind that ``dtype`` has, repeated ones among them."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = max(info.min, -60), min(info.max, 60)
        return np.asarray(rng.integers(low, high + 1, shape)).astype(dtype)
    if dtype.kind == "c":
        return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return np.asarray(rng.integers(-40, 40, shape) / 8).astype(dtype)


def bits(value: Any) -> tuple[Any, ...]:
    """What two results must have in common; all NaN count as one."""
    array = np.asarray(value)
    data = array
    if array.dtype.kind in "fcV" or array.dtype == BFLOAT16:
        with np.errstate(invalid="ignore"):  # signalling NaN
            wide = array.astype(np.complex128) if array.dtype.kind == "c" else array.astype(np.float64)
        parts = np.ascontiguousarray(wide).reshape(-1).view(np.float64)
        data = np.where(np.isnan(parts), np.float64("nan"), parts).view(np.uint64)
    return array.dtype, array.shape, data.tobytes()


def check(name: str, *arrays: Any, close: bool = False, **attrs: Any) -> Any:
    """Runs the op natively and by its reference; asserts that the results are the same; the result.

    ``close``: up to rounding, where the bits of NumPy's own kernels depend on the machine (products of complex
    numbers, which it fuses where it can).
    """
    op = get_op(name)
    attrs = op.complete_attrs(attrs)
    want = compute_reference(op, list(arrays), attrs)
    if name == "full":  # is lowered when it is asked for the second time
        run_single(op, list(arrays), attrs)
    got = run_single(op, list(arrays), attrs)
    assert got is not None, f"{name} was not computed natively"
    if close:
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(got, want, rtol=1e-4 if got.dtype == np.complex64 else 1e-12)
        return got
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(name, g, w, attrs)
    else:
        same(name, got, want, attrs)
    return got


def same(name: str, got: Any, want: Any, attrs: Any) -> None:
    """Asserts equal bits, and shows where they differ."""
    if bits(got) == bits(want):
        return
    want = np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{name} {attrs}"
    raise AssertionError(f"{name} {attrs}: got\n{got}\nwant\n{want}")


def check_threads(threads: int, compute: Callable[[], Sequence[np.ndarray]]) -> None:
    """Asserts that ``compute()`` gives the same bits on ``threads`` threads as on three."""
    try:
        pool.set_threads(3)
        want = [bits(result) for result in compute()]
        pool.set_threads(threads)
        assert [bits(result) for result in compute()] == want
    finally:
        pool.set_threads(0)


def run_lowered(lowered: Lowering, arrays: Sequence[Any], outs: Sequence[np.ndarray], sizes: Any = ()) -> None:
    """Runs the kernels of ``lowered`` on contiguous arrays; ``sizes`` are the values of symbolic dimensions."""
    memory: dict[int, Any] = {}
    memory.update((id(x), a) for x, a in zip([*lowered.ins, *lowered.outs], [*arrays, *outs], strict=True))

    def number(d: Any) -> int:
        d = memory[id(d)] if isinstance(d, Operand) else d
        d = evaluate(d, sizes) if isinstance(d, Dim) else d
        return int(np.float64(d).view(np.int64)) if isinstance(d, float) else int(d)

    for call in lowered.calls:
        for m in call.buffers:
            if isinstance(m, Temporary) and id(m) not in memory:
                memory[id(m)] = np.empty(number(m.count) + 64, NUMPY[m.elem])
        bufs = (ctypes.c_void_p * 16)(*[memory[id(m)].ctypes.data for m in call.buffers])
        words = np.array([*[number(d) for d in call.dims], 0], np.int64)
        status = KERNEL(kernel_address(call.function))(ctypes.addressof(bufs), words.ctypes.data)
        assert status == 0, f"{call.function.name} gave status {status}"
