"""Squares of vectors are transposed in registers, whatever the side and the size of elements."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.lower.lanes import transposed
from duograph.lower.loop import Builder
from duograph.lower.loop.ir import Function
from duograph.lower.loop.types import NUMPY
from tests.unit.lower.test_loop_ir import both


def square(elem: str, side: int) -> Function:
    """``out = x.T`` of one square."""
    b = Builder("square")
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    for i, line in enumerate(transposed(b, [b.load(x, i * side, side) for i in range(side)])):
        b.store(out, i * side, line)
    return b.finish()


@pytest.mark.parametrize("elem", ["u8", "u16", "f32", "u32", "f64", "u64"])
@pytest.mark.parametrize("side", [2, 4, 8, 16])
def test_squares_are_transposed(elem: str, side: int) -> None:
    x = np.arange(side * side).astype(NUMPY[elem])
    status, (_, out) = both(square(elem, side), [x, np.zeros_like(x)])
    assert status == 0
    np.testing.assert_array_equal(out.reshape(side, side), x.reshape(side, side).T)
