"""Every op of the table of ops: native launching gives the bits, gradients and views that Python gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from duograph.autodiff.backward import backpropagate
from duograph.autodiff.tape import Tape, taping
from duograph.core import dtype as dt
from duograph.core.op import NOT_DIFFERENTIABLE
from duograph.ops.creation import ones_like
from duograph.runtime.launch import launcher
from duograph.tensor.tensor import Tensor, wrap
from tests.ops import opinfo
from tests.ops import opinfo_nn as nn
from tests.ops.opinfo import OpInfo, Sample
from tests.unit.runtime.engine import bits, in_python, launching

TABLES = [
    *opinfo.TABLE,
    *[row for table in (nn.CONVOLUTIONS, nn.POOLING, nn.RESIZING, nn.NORMALISATION, nn.PRODUCTS) for row in table],
]
CASES = [pytest.param(row, s, id=f"{row.name}-{i}") for row in TABLES for i, s in enumerate(row.samples)]
DTYPES = [dt.float32, dt.float64, dt.bfloat16]


@pytest.fixture(scope="module", autouse=True)
def engine() -> Iterator[launcher.Engine]:
    with launching() as found:
        yield found


def operands_of(sample: Sample, dtype: dt.DType, strided: bool) -> list[Tensor]:
    """Fresh operands, those of float64 in ``dtype``; as every other element of larger arrays if ``strided``."""
    made = []
    for a in sample.operands:
        array = np.array(a, dtype.numpy if a.dtype == np.float64 else a.dtype)
        if strided and array.ndim:
            wide = np.zeros((*array.shape[:-1], array.shape[-1] * 2), array.dtype)
            wide[..., ::2] = array
            array = wide[..., ::2]
        made.append(wrap(array))
    return made


def results(row: OpInfo, sample: Sample, operands: list[Tensor], gradients: bool) -> Any:
    """What a call gives, and the gradients of its results with respect to the operands."""
    if not gradients:
        return bits(row.op(*operands, **sample.attrs))
    with taping([tape := Tape()]):
        watched = [tape.watch(x) if x.dtype.is_floating else None for x in operands]
        out = row.op(*operands, **sample.attrs)
    outs = [x for x in (out if isinstance(out, tuple) else (out,)) if x.dtype.is_floating]
    return bits(out), bits(backpropagate(tape, [(tape.variable(x), ones_like(x)) for x in outs], watched))


@pytest.mark.parametrize("strided", [False, True], ids=["plain", "strided"])
@pytest.mark.parametrize(("row", "sample"), CASES)
def test_same_bits(engine: launcher.Engine, row: OpInfo, sample: Sample, strided: bool) -> None:
    for dtype in DTYPES:
        operands = operands_of(sample, dtype, strided)
        gradients = row.gradient and row.op.bprop is not NOT_DIFFERENTIABLE
        try:
            want = in_python(engine, lambda: results(row, sample, operands, gradients))
        except TypeError:
            continue  # not for this dtype
        for _ in range(4):
            assert results(row, sample, operands, gradients) == want
        if row.op.view:
            first = row.op(*operands, **sample.attrs)
            twin = in_python(engine, lambda: row.op(*operands, **sample.attrs))
            parts = zip(*[x if isinstance(x, tuple) else (x,) for x in (first, twin)], strict=True)
            assert all(a.array().strides == b.array().strides for a, b in parts)
