"""Every row of `opinfo.TABLE`: value, dtype, first and second gradients, graph, batching, empty operands."""

from __future__ import annotations

import numpy as np
import pytest

import duograph.tensor.eager  # noqa: F401 (installs the eager binder)
from duograph.autodiff.backward import backpropagate
from duograph.autodiff.tape import Tape, taping
from duograph.core import dtype as dt
from duograph.core.dim import Symbol
from duograph.core.op import NO_RULE, NOT_DIFFERENTIABLE, all_ops, binding, state
from duograph.core.types import TensorType, TupleType
from duograph.ir.builder import Builder
from duograph.ir.interpreter import Interpreter
from duograph.ops.arithmetic import add, mul
from duograph.ops.creation import ones_like
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.movement import reduce_sum
from duograph.tensor.tensor import Tensor, wrap
from tests.ops.opinfo import TABLE, OpInfo, Sample

CASES = [pytest.param(row, s, id=f"{row.name}-{i}") for row in TABLE for i, s in enumerate(row.samples)]


def tensors(sample: Sample, dtype: np.dtype | None = None) -> list[Tensor]:
    """The operands as tensors; those of float64 in ``dtype``."""
    return [
        wrap(np.array(a, dtype if dtype is not None and a.dtype == np.float64 else a.dtype)) for a in sample.operands
    ]


def first(out):
    return out[0] if isinstance(out, tuple) else out


def outputs(out):
    return out if isinstance(out, tuple) else (out,)


@pytest.mark.parametrize(("row", "sample"), CASES)
def test_type_of_result(row: OpInfo, sample: Sample) -> None:
    """What `infer` promises is what `reference` gives, in every floating dtype, and the array is usable."""
    float_dtypes = [dt.float64, dt.float32, dt.float16, dt.bfloat16]
    for dtype in (
        float_dtypes if any(a.dtype == np.float64 for a in sample.operands) and row.name != "complex" else [None]
    ):
        operands = tensors(sample, dtype and dtype.numpy)
        promised = row.op.result_type(tuple(t.abstract for t in operands), row.op.complete_attrs(sample.attrs))
        items = promised.items if isinstance(promised, TupleType) else (promised,)
        got = outputs(row.op(*operands, **sample.attrs))
        assert len(items) == len(got)
        if not row.op.view:  # what is no view has memory of its own
            assert not any(np.may_share_memory(v.array(), t.array()) for v in got for t in operands)
        for item, value in zip(items, got, strict=True):
            assert isinstance(item, TensorType)
            assert value.dtype is item.dtype
            if all(isinstance(n, int) for n in item.shape):
                assert value.shape == tuple(item.shape)
            else:
                assert len(value.shape) == len(item.shape)


@pytest.mark.parametrize(("row", "sample"), CASES)
def test_accepted_dtypes(row: OpInfo, sample: Sample) -> None:
    """What `infer` accepts, `reference` computes, with the dtype that was promised."""
    if not differentiable(row, sample):
        return
    for dtype in dt.number_type[:14] + (dt.bool_,):
        scaled = [
            np.nan_to_num(np.abs(a * 3) if not dtype.is_signed else a * 3, posinf=9, neginf=9) for a in sample.operands
        ]
        arrays = [s.astype(dtype.numpy) if a.dtype == np.float64 else a for s, a in zip(scaled, sample.operands)]
        operands = [wrap(np.array(a)) for a in arrays]
        try:
            promised = row.op.result_type(tuple(t.abstract for t in operands), row.op.complete_attrs(sample.attrs))
        except (TypeError, RuntimeError):
            continue
        items = promised.items if isinstance(promised, TupleType) else (promised,)
        got = outputs(row.op(*operands, **sample.attrs))
        assert [g.dtype for g in got] == [item.dtype for item in items]


@pytest.mark.parametrize(("row", "sample"), [c for c in CASES if c.values[0].gradient])
def test_dtype_of_gradient(row: OpInfo, sample: Sample) -> None:
    for dtype in (dt.float32, dt.bfloat16):
        operands = tensors(sample, dtype.numpy)
        weights = np.ones(first(row.op(*operands, **sample.attrs)).shape, dtype.numpy)
        for g, i in zip(gradients(row, sample, operands, weights), differentiable(row, sample), strict=True):
            assert g.dtype in (dtype, dt.float64)  # float64: the zeros that the test puts where nothing flows
            assert g.shape == operands[i].shape


@pytest.mark.parametrize(("row", "sample"), [c for c in CASES if c.values[0].reference is not None])
def test_value(row: OpInfo, sample: Sample) -> None:
    """float64 against NumPy or SciPy; the narrower types against float64 rounded."""
    with np.errstate(all="ignore"):
        want = np.asarray(row.reference(*sample.operands, **sample.attrs))
        got = first(row.op(*tensors(sample), **sample.attrs)).array()
    np.testing.assert_allclose(got.astype(want.dtype), want, rtol=row.rtol, atol=1e-14)
    if "i" in row.dtypes:
        whole = Sample(tuple(np.trunc(a * 3).astype(np.int32) for a in sample.operands), sample.attrs)
        want = row.reference(*whole.operands, **whole.attrs)
        got = first(row.op(*tensors(whole), **whole.attrs)).array()
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, want)
    if got.dtype == np.float64 and row.gradient:
        exact = [np.array(a.astype(np.float32), a.dtype) if a.dtype == np.float64 else a for a in sample.operands]
        with np.errstate(all="ignore"):
            want = np.asarray(row.reference(*exact, **sample.attrs))
        got = first(row.op(*tensors(sample, np.float32), **sample.attrs)).array()
        np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-6)


def differentiable(row: OpInfo, sample: Sample) -> list[int]:
    return [i for i, a in enumerate(sample.operands) if a.dtype == np.float64]


def gradients(row: OpInfo, sample: Sample, operands: list[Tensor], weights: np.ndarray) -> list[Tensor]:
    """Gradients of ``sum(op(...) * weights)`` with respect to the float operands."""
    wanted = differentiable(row, sample)
    with taping([*state.tapes, tape := Tape()]):
        variables = [tape.watch(operands[i]) for i in wanted]
        out = first(row.op(*operands, **sample.attrs))
        seed = tape.variable(out)
    found = backpropagate(tape, [(seed, wrap(weights))], variables)
    return [g if g is not None else wrap(np.zeros(operands[i].shape)) for i, g in zip(wanted, found, strict=True)]


def differences(f, arrays: list[np.ndarray], step: float) -> list[np.ndarray]:
    """Central differences of the scalar ``f`` in every element of every array."""
    slopes = []
    for k, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for place in np.ndindex(array.shape):
            sides = []
            for sign in (1, -1):
                moved = [np.array(a) for a in arrays]
                moved[k][place] += sign * step
                sides.append(f(moved))
            slope[place] = (sides[0] - sides[1]) / (2 * step)
        slopes.append(slope)
    return slopes


GRADIENTS = [c for c in CASES if c.values[0].gradient]


@pytest.mark.parametrize(("row", "sample"), GRADIENTS)
def test_gradient(row: OpInfo, sample: Sample) -> None:
    wanted = differentiable(row, sample)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 1.5, first(row.op(*tensors(sample), **sample.attrs)).shape)

    def operands_with(arrays: list[np.ndarray]) -> list[Tensor]:
        ops = tensors(sample)
        for i, a in zip(wanted, arrays, strict=True):
            ops[i] = wrap(np.array(a))
        return ops

    def value(arrays: list[np.ndarray]) -> float:
        return float(np.sum(first(row.op(*operands_with(arrays), **sample.attrs)).array() * weights))

    base = [sample.operands[i] for i in wanted]
    got = [g.array() for g in gradients(row, sample, operands_with(base), weights)]
    for g, want in zip(got, differences(value, base, 1e-6), strict=True):
        np.testing.assert_allclose(g, want, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("row", "sample"), [c for c in GRADIENTS if c.values[0].second])
def test_second_gradient(row: OpInfo, sample: Sample) -> None:
    """Differentiates ``sum of gradients * direction`` by a tape around the tape, and by differences of gradients."""
    wanted = differentiable(row, sample)
    rng = np.random.default_rng(2)
    weights = rng.uniform(0.5, 1.5, first(row.op(*tensors(sample), **sample.attrs)).shape)
    directions = [rng.uniform(0.5, 1.5, sample.operands[i].shape) for i in wanted]

    def along(operands: list[Tensor]) -> Tensor:
        total = wrap(np.zeros(()))
        for g, d in zip(gradients(row, sample, operands, weights), directions, strict=True):
            total = add(total, reduce_sum(mul(g, wrap(d)), axis=tuple(range(d.ndim))))
        return total

    def operands_with(arrays: list[np.ndarray]) -> list[Tensor]:
        ops = tensors(sample)
        for i, a in zip(wanted, arrays, strict=True):
            ops[i] = wrap(np.array(a))
        return ops

    base = [sample.operands[i] for i in wanted]
    operands = operands_with(base)
    with taping([tape := Tape()]):
        variables = [tape.watch(operands[i]) for i in wanted]
        total = along(operands)
        seed = tape.variable(total)
    found = backpropagate(tape, [(seed, wrap(np.ones(())))], variables) if seed is not None else [None] * len(wanted)
    want = differences(lambda arrays: float(along(operands_with(arrays)).array()), base, 1e-5)
    for g, w in zip(found, want, strict=True):
        np.testing.assert_allclose(np.zeros(w.shape) if g is None else g.array(), w, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("row", "sample"), CASES)
def test_graph_has_the_same_bits(row: OpInfo, sample: Sample) -> None:
    """The op and its gradient as a MindIR graph, run by the interpreter, against eager."""
    wanted = differentiable(row, sample) if row.gradient else []
    operands = tensors(sample)
    want = outputs(row.op(*operands, **sample.attrs))
    builder = Builder()
    params = [builder.param(f"x{i}", t.abstract) for i, t in enumerate(operands)]
    with binding(GraphBinder(builder)):
        inputs = [wrap(p) for p in params]
        with taping([tape := Tape()]):
            variables = [tape.watch(inputs[i]) for i in wanted]
            outs = outputs(row.op(*inputs, **sample.attrs))
            seed = tape.variable(outs[0]) if wanted else None
        found = backpropagate(tape, [(seed, ones_like(outs[0]))], variables) if wanted else []
        results = [*outs, *[g for g in found if g is not None]]
    graph = builder.graph("f", params, [r._data for r in results])
    got = Interpreter().run(graph, [t.array() for t in operands])
    eager = gradients(row, sample, operands, np.ones(want[0].shape)) if wanted else []
    grads = [g.array() for g, f in zip(eager, found, strict=True) if f is not None]
    assert len(got) == len(want) + len(grads)
    for g, w in zip(got, [*[w.array() for w in want], *grads], strict=True):
        assert np.asarray(g).dtype == w.dtype
        np.testing.assert_array_equal(g, w)


NEEDS_SIZES = {"gather_nd", "scatter_nd_update"}
"""Ops with an operand that must have a known extent: the number of coordinates."""


@pytest.mark.parametrize(("row", "sample"), [c for c in CASES if c.values[0].name not in NEEDS_SIZES])
def test_graph_of_symbolic_shapes(row: OpInfo, sample: Sample) -> None:
    """The same with dimensions that are only known at run time; gradients have the type of what they belong to."""
    wanted = differentiable(row, sample) if row.gradient else []
    operands = tensors(sample)
    symbols: dict[int, Symbol] = {}
    builder = Builder()
    params = []
    for i, t in enumerate(operands):
        shape = tuple(symbols.setdefault(n, Symbol(f"n{n}")) if n > 1 else n for n in t.shape)
        params.append(builder.param(f"x{i}", t.abstract.with_shape(shape)))
    with binding(GraphBinder(builder)):
        inputs = [wrap(p) for p in params]
        with taping([tape := Tape()]):
            variables = [tape.watch(inputs[i]) for i in wanted]
            outs = outputs(row.op(*inputs, **sample.attrs))
            seed = tape.variable(outs[0]) if wanted else None
        found = backpropagate(tape, [(seed, ones_like(outs[0]))], variables) if wanted else []
    for g, i in zip(found, wanted, strict=True):
        assert g is None or g.shape == inputs[i].shape
    flowing = [g for g in found if g is not None]
    graph = builder.graph("f", params, [r._data for r in (*outs, *flowing)])
    got = Interpreter().run(graph, [t.array() for t in operands])
    want = outputs(row.op(*operands, **sample.attrs))
    eager = gradients(row, sample, operands, np.ones(want[0].shape)) if wanted else []
    want = (*want, *[g for g, f in zip(eager, found, strict=True) if f is not None])
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(g, w.array())


def _batched(row: OpInfo, sample: Sample, flags: tuple[bool, ...]) -> None:
    size = 2
    stacked = []
    for a, flag in zip(sample.operands, flags, strict=True):
        if not flag:
            stacked.append(np.array(a))
        elif a.dtype == np.float64:
            stacked.append(np.stack([a, a * 0.9]))
        else:
            stacked.append(np.stack([a, np.flip(a, 0) if a.ndim else a]))
    in_axes = tuple(0 if flag else None for flag in flags)
    got, out_axes = row.op.batch(in_axes, tuple(wrap(a) for a in stacked), **row.op.complete_attrs(sample.attrs))
    axes = out_axes if isinstance(out_axes, tuple) else (out_axes,)
    assert all(axis == 0 for axis in axes)
    for b in range(size):
        each = [wrap(np.array(a[b]) if flag else a) for a, flag in zip(stacked, flags, strict=True)]
        want = outputs(row.op(*each, **sample.attrs))
        for g, w in zip(outputs(got), want, strict=True):
            np.testing.assert_array_equal(g.array()[b], w.array())


BATCHED = [c for c in CASES if c.values[0].batch]


@pytest.mark.parametrize(("row", "sample"), BATCHED)
def test_batch(row: OpInfo, sample: Sample) -> None:
    """The batch rule on stacked operands is the op on each; for every choice of operands that carry the batch."""
    n = len(sample.operands)
    for choice in range(1, 2**n):
        flags = tuple(bool(choice >> i & 1) for i in range(n))
        if row.op.batch is not NO_RULE:
            _batched(row, sample, flags)


def test_batch_rules_exist() -> None:
    """Rows that claim to have a batch rule have one."""
    missing = sorted({row.name for row in TABLE if row.batch and row.op.batch is NO_RULE})
    assert not missing


def test_not_differentiable_ops_are_meant_so() -> None:
    """The primitives of this table without a gradient rule, by name: integers, bools, positions and sources."""
    without = {row.name for row in TABLE if row.op.bprop is NOT_DIFFERENTIABLE}
    assert without == {
        "argmax", "argmin", "bincount", "bitcast", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or",
        "bitwise_right_shift", "bitwise_xor", "equal", "greater", "greater_equal", "histogram", "isfinite", "isinf",
        "isnan", "less", "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "nextafter",
        "nonzero", "not_equal", "one_hot", "reduce_all", "reduce_any", "searchsorted", "signbit", "stop_gradient",
    }  # fmt: skip


def test_every_op_has_a_doc_and_a_meaning() -> None:
    for name, op in all_ops().items():
        assert op.doc.strip(), f"{name} has no docstring"
