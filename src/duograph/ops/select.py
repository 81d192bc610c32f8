"""Choosing between values by a condition."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import broadcast_shapes
from duograph.core.types import TensorType

from .creation import constant_like
from .elementwise import elementwise_batch
from .movement import sum_to
from .rules import require_kind, same_dtype


@primitive
class select:
    """``x`` where ``condition`` (bool) holds, ``y`` elsewhere; all three broadcast."""

    layout = "any"
    batch = elementwise_batch("select")

    def infer(condition, x, y):
        condition = require_kind("select", condition, "b", "condition")
        dtype = same_dtype("select", x, y)
        return TensorType(dtype, broadcast_shapes(condition.shape, x.shape, y.shape, op="Select"))

    def reference(condition, x, y):
        return np.where(condition, x, y)

    def bprop(ins, out, dout):
        condition, x, y = ins
        zero = constant_like(dout, 0)
        return (
            None,
            lambda: sum_to(select(condition, dout, zero), x.shape),
            lambda: sum_to(select(condition, zero, dout), y.shape),
        )


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """``x`` with ``value`` (a 0-d tensor of the same dtype, or a Python number) where ``mask`` holds."""
    return select(mask, constant_like(x, value) if isinstance(value, bool | int | float | complex) else value, x)
