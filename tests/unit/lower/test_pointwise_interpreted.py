"""Elementwise rules write correct loop IR, and the interpreter of loop IR computes the bits of the machine code."""

from __future__ import annotations

import numpy as np
import pytest

import duograph  # noqa: F401  (declares the ops)
from duograph.core import dtype as dt
from duograph.core.op import all_ops, get_op
from duograph.core.types import TensorType
from duograph.lower.loop.interpret import interpret
from duograph.lower.loop.verify import verify
from duograph.lower.rule import Pointwise, rule_of
from duograph.runtime.kernels.single import lower_op, run_single
from tests.unit.lower.kernel_checks import bits
from tests.unit.lower.test_pointwise import numbers

NAMES = sorted(name for name, op in all_ops().items() if isinstance(rule_of(op), Pointwise))
DTYPES = [dt.bool_, dt.int8, dt.uint64, dt.float16, dt.float32, dt.float64, dt.complex64]


@pytest.mark.parametrize("name", NAMES)
def test_interpreter_and_machine_code_agree(name):
    op = get_op(name)
    for dtype in DTYPES:
        x = numbers(dtype)[:37]
        arrays = [x, x[::-1].copy(), x][: len(op.operand_names)]
        if name == "select":
            arrays = [x != 0, x, x[::-1].copy()]
        attrs = {"cast": {"dtype": dt.int16}, "polygamma": {"n": 2}}.get(name, {})
        types = [TensorType(dt.from_numpy(a.dtype), a.shape) for a in arrays]
        try:
            lowering = lower_op(op, types, attrs)
        except TypeError:
            continue  # not declared for this dtype
        assert lowering is not None
        (call,) = lowering.calls
        want = run_single(op, arrays, attrs)
        got = np.zeros_like(want)
        memory = {id(o): a for o, a in zip([*lowering.ins, *lowering.outs], [*arrays, got], strict=True)}
        with np.errstate(all="ignore"):
            interpret(verify(call.function), [_parts(memory[id(b)]) for b in call.buffers], list(call.dims))
        assert bits(got) == bits(want), (name, dtype, arrays)


def _parts(array: np.ndarray) -> np.ndarray:
    """Complex numbers as the pairs of floats that they are in memory."""
    return array.view(array.real.dtype) if array.dtype.kind == "c" else array
