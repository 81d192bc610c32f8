"""The native kernels of every op in the tables: machine code, the loop IR interpreter and NumPy's reference agree.

Machine code and interpreter agree to the bit (they run the same loop IR); with the reference exact ops agree to the
bit as well, and functions that are approximated within the bounds of `docs/maths.md`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.dim import evaluate
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.lower.loop.interpret import interpret
from duograph.lower.loop.types import NUMPY
from duograph.lower.loop.verify import verify
from duograph.lower.lowering import Lowering, Operand, Temporary
from tests.ops.opinfo import TABLE, OpInfo, Sample
from tests.ops.opinfo_nn import NN_TABLE

single = import_module("duograph.runtime.kernels.single")
pool = import_module("duograph.runtime.pool.pool")
kernels = import_module("duograph.runtime.kernels.kernels")

ROWS = [*TABLE, *NN_TABLE]
CASES = [(row, sample) for row in ROWS for sample in row.samples]
IDS = [f"{row.name}-{i}" for row in ROWS for i, _ in enumerate(row.samples)]
ULPS = {"float32": 8, "float64": 16, "float16": 2, "bfloat16": 2}


def interpreted(lowered: Lowering, arrays: Sequence[Any]) -> list[np.ndarray]:
    """What the kernel calls of ``lowered`` compute, by the loop IR interpreter."""
    memory: dict[int, np.ndarray] = {}
    for x, array in zip(lowered.ins, arrays, strict=True):
        if isinstance(array, np.ndarray):
            memory[id(x)] = np.ascontiguousarray(array).copy()
        else:
            memory[id(x)] = np.array([array], NUMPY[x.elem])
    for x in lowered.outs:
        memory[id(x)] = np.empty(x.shape, x.type.dtype.numpy)
    for call in lowered.calls:
        for m in call.buffers:
            if isinstance(m, Temporary) and id(m) not in memory:
                memory[id(m)] = np.zeros(max(1, int(m.count)), NUMPY[m.elem])
        verify(call.function)
        views = [memory[id(m)].reshape(-1).view(NUMPY[b.elem]) if memory[id(m)].size else np.empty(0, NUMPY[b.elem])
                 for m, b in zip(call.buffers, call.function.buffers, strict=True)]  # fmt: skip
        dims = [_number(d, lowered, arrays) for d in call.dims]
        assert interpret(call.function, views, dims, kernels._functions) == 0
    return [memory[id(x)] for x in lowered.outs]


def _number(dim: Any, lowered: Lowering, arrays: Sequence[Any]) -> Any:
    if isinstance(dim, Operand):
        return dim.value if dim.value is not None else arrays[lowered.ins.index(dim)]
    return dim if isinstance(dim, int | float) else evaluate(dim, {})


def variants(row: OpInfo, sample: Sample) -> list[list[Any]]:
    """The operands of a sample in each dtype that the row is about."""
    if not any(x.dtype == np.float64 for x in sample.operands):
        return [[x.copy() for x in sample.operands]]
    kinds: list[Any] = [np.float32, np.float64, dt.float16.numpy, dt.bfloat16.numpy]
    return [[x.astype(kind) if x.dtype == np.float64 else x.copy() for x in sample.operands] for kind in kinds]


def close(made: np.ndarray, wanted: np.ndarray, name: str, magnitude: float = 0.0) -> None:
    """Equal for exact dtypes; for floats within some ulp of the larger magnitudes (sums lose the small ones).
    ``magnitude``: of what was summed, if that cancels."""
    assert made.dtype == wanted.dtype and made.shape == wanted.shape
    if wanted.dtype.kind not in "fcV" or not wanted.size:
        np.testing.assert_array_equal(made, wanted)
        return
    key = {"complex64": "float32", "complex128": "float64"}.get(str(wanted.dtype), str(wanted.dtype))
    eps = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}[key]
    a, b = (x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in (made, wanted))
    scale = max(magnitude, float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)))
    np.testing.assert_allclose(a, b, rtol=ULPS[key] * eps, atol=ULPS[key] * eps * scale, err_msg=name)


@pytest.mark.parametrize(("row", "sample"), CASES, ids=IDS)
def test_machine_code_interpreter_and_reference_agree(row: OpInfo, sample: Sample) -> None:
    for arrays in variants(row, sample):
        types = [TensorType(dt.from_numpy(a.dtype), a.shape) for a in arrays]
        try:
            attrs = row.op.complete_attrs(sample.attrs)
            row.op.infer(*types, **attrs)
        except TypeError:
            continue  # the op does not take this dtype
        lowered = single.lower_op(row.op, types, attrs)
        if lowered is None:
            continue
        native = single.run_single(row.op, arrays, attrs)
        natives = list(native) if isinstance(native, tuple) else [native]
        for made, again in zip(natives, interpreted(lowered, arrays), strict=True):
            assert made.tobytes() == again.tobytes(), f"{row.name} of {arrays[0].dtype}: native is not interpreted"
        wanted = compute_reference(row.op, arrays, attrs)
        for made, want in zip(natives, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            close(made, np.asarray(want), f"{row.name} of {arrays[0].dtype}")


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_do_not_change_bits(threads: int) -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((257, 1031)).astype(np.float32)
    calls = [
        ("exp", [x], {}), ("reduce_sum", [x], {"axis": (0, 1), "keep_dims": False}), ("softmax", [x], {"axis": 1}),
        ("matmul", [x, x], {"transpose_a": True, "transpose_b": False}),
    ]  # fmt: skip
    before = pool.threads()
    try:
        for name, arrays, attrs in calls:
            pool.set_threads(1)
            one = single.run_single(get_op(name), arrays, attrs)
            pool.set_threads(threads)
            many = single.run_single(get_op(name), arrays, attrs)
            assert (one is None and many is None) or one.tobytes() == many.tobytes(), name
    finally:
        pool.set_threads(before)


@pytest.mark.parametrize("dtype", [d for d in dt.DTYPES if not d.name.startswith("float8")], ids=str)
def test_what_only_stores_numbers_has_the_bits_of_its_reference(dtype: dt.DType) -> None:
    """So either may run (`single.run_op`), whatever the number: one that the dtype does not have, too."""
    numbers = (0.0, -0.0, 1 / 3, -2.5, 65519.999, 6e-8, 1e39, 300.5, -(2.0**31), 2.0**64, float("nan"), 7, -300, 2**62)
    x = np.arange(6).reshape(2, 3).astype(dtype.numpy)
    for a in numbers:
        calls: list[tuple[str, list[Any], dict[str, Any]]] = [
            ("full", [], {"shape": (3,), "value": a, "dtype": dtype}),
            ("pad", [x], {"padding": ((0, 1), (2, 0)), "mode": "constant", "value": a}),
            ("roll", [x], {"shifts": (2,), "axes": (1,)}),
            ("eye", [], {"n": 2, "m": 3, "dtype": dtype}),
            ("one_hot", [np.array([1, 4, -1])], {"depth": 3, "dtype": dtype}),
        ]
        for b in numbers:
            if not (dtype.is_integer and np.isnan([a, b]).any()):
                calls.append(("arange", [], {"start": a, "step": b, "size": 5, "dtype": dtype}))
            calls += [("linspace", [], {"start": a, "stop": b, "steps": 5, "dtype": dtype})] * (not dtype.is_integer)
        for name, arrays, attrs in calls:
            assert name in single._STORING
            try:
                get_op(name).infer(*single._types(arrays), **get_op(name).complete_attrs(attrs))
            except (TypeError, OverflowError):
                continue  # no number of the dtype
            made = single.run_single(get_op(name), arrays, get_op(name).complete_attrs(attrs))
            if made is not None:
                wanted = compute_reference(get_op(name), arrays, get_op(name).complete_attrs(attrs))
                assert made.tobytes() == np.asarray(wanted).tobytes(), (name, attrs)
