"""``hypot``."""

from __future__ import annotations

from ..loop.builder import Builder
from ..loop.ir import Value


def hypot(b: Builder, x: Value, y: Value) -> Value:
    """``sqrt(x*x + y*y)``; infinite if one operand is, even beside NaN. float32 in float64, float64 scaled."""
    inf = float("inf")
    infinite = b.eq(b.abs(x), inf) | b.eq(b.abs(y), inf)
    if x.type.elem == "f32":
        wide_x, wide_y = b.convert(x, "f64"), b.convert(y, "f64")
        value = b.convert(b.sqrt(b.fma(wide_x, wide_x, wide_y * wide_y)), "f32")
        return b.select(infinite, b.const(inf, x), value)
    ax, ay = b.abs(x), b.abs(y)
    high, low = b.select(b.gt(ax, ay), ax, ay), b.select(b.gt(ax, ay), ay, ax)
    huge, tiny = b.gt(high, 2.0**500), b.lt(high, 2.0**-500)
    scale = b.select(huge, b.const(2.0**-600, x), b.select(tiny, b.const(2.0**600, x), b.const(1.0, x)))
    back = b.select(huge, b.const(2.0**600, x), b.select(tiny, b.const(2.0**-600, x), b.const(1.0, x)))
    high, low = high * scale, low * scale
    value = b.sqrt(b.fma(high, high, low * low)) * back
    value = b.select(b.isnan(x) | b.isnan(y), x + y, value)
    return b.select(infinite, b.const(inf, x), value)
