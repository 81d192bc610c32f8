"""Elementwise arithmetic: ``add``, ``sub``, ``mul``, ``div``, ``pow`` and relatives. NumPy broadcasting, one dtype.

The public functions (``duograph.api``) promote mixed dtypes and Python numbers before they come here.
"""

from __future__ import annotations

import numpy as np

from duograph.core.op import NOT_DIFFERENTIABLE, primitive

from .rules import elementwise, in_float32, sum_to, unary


@primitive
class add:
    """``x + y``."""

    layout = "any"
    infer = elementwise("add")
    reference = in_float32(np.add)

    def bprop(ins, out, dout):
        x, y = ins
        return (lambda: sum_to(dout, x.shape), lambda: sum_to(dout, y.shape))


@primitive
class sub:
    """``x - y``."""

    layout = "any"
    infer = elementwise("sub")
    reference = in_float32(np.subtract)

    def bprop(ins, out, dout):
        x, y = ins
        return (lambda: sum_to(dout, x.shape), lambda: sum_to(neg(dout), y.shape))


@primitive
class mul:
    """``x * y``."""

    layout = "any"
    infer = elementwise("mul")
    reference = in_float32(np.multiply)

    def bprop(ins, out, dout):
        x, y = ins
        return (lambda: sum_to(mul(y, dout), x.shape), lambda: sum_to(mul(x, dout), y.shape))


@primitive
class div:
    """``x / y`` for floating and complex dtypes."""

    layout = "any"
    infer = elementwise("div")
    reference = in_float32(np.true_divide)

    def bprop(ins, out, dout):
        x, y = ins
        dx = div(dout, y)
        return (lambda: sum_to(dx, x.shape), lambda: sum_to(neg(mul(dx, out)), y.shape))


neg = unary("neg", np.negative, lambda x, out, dout: neg(dout), "``-x``.", layout="any")
