"""The properties of `test_primitives` for the table of neural-network and linear-algebra primitives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from duograph.core.op import NO_RULE
from duograph.core.types import TupleType
from duograph.tensor.tensor import wrap
from tests.ops import test_primitives as properties
from tests.ops.opinfo import OpInfo, Sample
from tests.ops.opinfo_nn import DECOMPOSITIONS, NN_TABLE

CASES = [pytest.param(row, s, id=f"{row.name}-{i}") for row in NN_TABLE for i, s in enumerate(row.samples)]
LAPACK = {row.name for row in DECOMPOSITIONS}


def where(condition: Any) -> Any:
    return pytest.mark.parametrize(("row", "sample"), [c for c in CASES if condition(*c.values)])


@where(lambda row, sample: row.name not in LAPACK)
def test_type_of_result(row: OpInfo, sample: Sample) -> None:
    properties.test_type_of_result(row, sample)


@where(lambda row, sample: row.name in LAPACK)
def test_type_of_decomposition(row: OpInfo, sample: Sample) -> None:
    for dtype in (np.float32, np.float64):
        operands = properties.tensors(sample, np.dtype(dtype))
        promised = row.op.result_type(tuple(t.abstract for t in operands), row.op.complete_attrs(sample.attrs))
        got = properties.outputs(row.op(*operands, **sample.attrs))
        assert [t.abstract for t in got] == list(promised.items if isinstance(promised, TupleType) else (promised,))
    with pytest.raises(TypeError):
        row.op(*properties.tensors(sample, np.dtype(np.float16)), **sample.attrs)


@where(lambda row, sample: row.reference is not None)
def test_value(row: OpInfo, sample: Sample) -> None:
    want = np.asarray(row.reference(*sample.operands, **sample.attrs))
    for dtype, rtol in ((np.float64, row.rtol), (np.float32, 2e-4)):
        got = properties.first(row.op(*properties.tensors(sample, np.dtype(dtype)), **sample.attrs)).array()
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol)


@where(lambda row, sample: row.gradient)
def test_gradient(row: OpInfo, sample: Sample) -> None:
    properties.test_gradient(row, sample)


@where(lambda row, sample: row.second)
def test_second_gradient(row: OpInfo, sample: Sample) -> None:
    properties.test_second_gradient(row, sample)


@where(lambda row, sample: True)
def test_graph_has_the_same_bits(row: OpInfo, sample: Sample) -> None:
    properties.test_graph_has_the_same_bits(row, sample)


@where(lambda row, sample: row.batch and not any(0 in a.shape for a in sample.operands))
def test_batch(row: OpInfo, sample: Sample) -> None:
    assert row.op.batch is not NO_RULE
    n = len(sample.operands)
    for choice in range(1, 2**n):
        flags = tuple(bool(choice >> i & 1) for i in range(n))
        stacked = [np.stack([a, a]) if flag else a for a, flag in zip(sample.operands, flags, strict=True)]
        for a in stacked:
            if a.dtype == np.float64 and row.name not in LAPACK:
                a *= np.linspace(0.9, 1.0, a.size).reshape(a.shape)
        in_axes = tuple(0 if flag else None for flag in flags)
        got, _ = row.op.batch(in_axes, tuple(wrap(a) for a in stacked), **row.op.complete_attrs(sample.attrs))
        for b in range(2):
            each = [wrap(np.array(a[b]) if flag else a) for a, flag in zip(stacked, flags, strict=True)]
            want = properties.outputs(row.op(*each, **sample.attrs))
            for g, w in zip(properties.outputs(got), want, strict=True):
                np.testing.assert_allclose(g.array()[b], w.array(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["matmul", "conv", "softmax", "avg_pool", "reduce_mean"])
def test_bits_do_not_depend_on_layout(name: str) -> None:
    """A strided operand gives the bits of its contiguous copy."""
    row = next(r for r in NN_TABLE if r.name == name)
    sample = row.samples[0]
    plain = [a.astype(np.float32) for a in sample.operands]
    strided = []
    for a in plain:
        room = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), np.float32)
        room[..., ::2] = a
        strided.append(room[..., ::2])
    want = row.op(*[wrap(a) for a in plain], **sample.attrs).array()
    assert row.op(*[wrap(a) for a in strided], **sample.attrs).array().tobytes() == want.tobytes()


def test_transposed_product_has_the_bits_of_the_product_of_the_transposed() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((65, 33)).astype(np.float32), rng.standard_normal((17, 65)).astype(np.float32)
    matmul = next(r for r in NN_TABLE if r.name == "matmul").op
    want = matmul(wrap(np.ascontiguousarray(x.T)), wrap(np.ascontiguousarray(w.T))).array()
    assert matmul(wrap(x), wrap(w), transpose_a=True, transpose_b=True).array().tobytes() == want.tobytes()
