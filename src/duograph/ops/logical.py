"""Logic on bool and bitwise operations on integers (and bool). Shifts by more than the width are defined."""

from __future__ import annotations

import numpy as np

from .elementwise import binary, unary

logical_and = binary("logical_and", np.logical_and, doc="``x and y``, elementwise on bool.", kinds="b")
logical_or = binary("logical_or", np.logical_or, doc="``x or y``, elementwise on bool.", kinds="b")
logical_xor = binary("logical_xor", np.logical_xor, doc="Exactly one of ``x`` and ``y``.", kinds="b")
logical_not = unary("logical_not", np.logical_not, doc="``not x``, elementwise on bool.", kinds="b", layout="any")

bitwise_and = binary("bitwise_and", np.bitwise_and, doc="``x & y``.", kinds="bi")
bitwise_or = binary("bitwise_or", np.bitwise_or, doc="``x | y``.", kinds="bi")
bitwise_xor = binary("bitwise_xor", np.bitwise_xor, doc="``x ^ y``.", kinds="bi")
bitwise_not = unary("bitwise_not", np.invert, doc="``~x``.", kinds="bi", layout="any")


def _shift(operation):
    """Narrow integers become 32 bits wide first."""

    def kernel(x, y):
        wide = x.astype(np.int32) if x.dtype.itemsize < 4 else x
        count = np.bitwise_and(y.astype(wide.dtype), wide.dtype.type(8 * wide.dtype.itemsize - 1))
        return operation(wide, count).astype(x.dtype)

    return kernel


bitwise_left_shift = binary(
    "bitwise_left_shift", _shift(np.left_shift), kinds="i",
    doc="``x << y``; as in C++ in 32 bits (or 64), with the count modulo this width.",
)  # fmt: skip
bitwise_right_shift = binary(
    "bitwise_right_shift", _shift(np.right_shift), kinds="i",
    doc="``x >> y``, arithmetic for signed types; the count as in `bitwise_left_shift`.",
)  # fmt: skip
