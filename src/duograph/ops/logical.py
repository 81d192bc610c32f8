"""Logic on bool and bitwise operations on integers (and bool). Shifts by more than the width are defined."""

from __future__ import annotations

import numpy as np

from .rules import binary, unary

logical_and = binary("logical_and", np.logical_and, doc="``x and y``, elementwise on bool.", kinds="b")
logical_or = binary("logical_or", np.logical_or, doc="``x or y``, elementwise on bool.", kinds="b")
logical_xor = binary("logical_xor", np.logical_xor, doc="Exactly one of ``x`` and ``y``.", kinds="b")
logical_not = unary("logical_not", np.logical_not, doc="``not x``, elementwise on bool.", kinds="b", layout="any")

bitwise_and = binary("bitwise_and", np.bitwise_and, doc="``x & y``.", kinds="bi")
bitwise_or = binary("bitwise_or", np.bitwise_or, doc="``x | y``.", kinds="bi")
bitwise_xor = binary("bitwise_xor", np.bitwise_xor, doc="``x ^ y``.", kinds="bi")
bitwise_not = unary("bitwise_not", np.invert, doc="``~x``.", kinds="bi", layout="any")

bitwise_left_shift = binary(
    "bitwise_left_shift", lambda x, y: np.left_shift(x, _masked(x, y)), kinds="i",
    doc="``x << y``; the count is taken modulo the width of the type, as processors and MindSpore do.",
)  # fmt: skip
bitwise_right_shift = binary(
    "bitwise_right_shift", lambda x, y: np.right_shift(x, _masked(x, y)), kinds="i",
    doc="``x >> y`` (arithmetic for signed types); the count is taken modulo the width of the type.",
)  # fmt: skip


def _masked(x, count):
    return np.bitwise_and(count, count.dtype.type(8 * x.dtype.itemsize - 1))
