"""Changes of dtype, of bits, and identities."""

from __future__ import annotations

import functools
from typing import Any

from duograph.core.dtype import DType

from ..loop.builder import Builder
from ..loop.ir import Function, Value
from ..loop.types import VType, element_of
from ..lowering import Lowering
from ..math.conversions import to_half, to_integer
from ..rule import Complex, kernel, pointwise


@pointwise("cast", raw_half=True)
def cast(b: Builder, x: Any, *, dtype: DType) -> Any:
    elem = element_of(dtype.numpy)
    if dtype.is_complex:
        re = _converted(b, x.re if isinstance(x, Complex) else x, elem)
        im = _converted(b, x.im, elem) if isinstance(x, Complex) else b.const(0.0, re)
        return Complex(re, im)
    if isinstance(x, Complex):
        if dtype.is_bool:
            return b.convert(x.re, "bool") | b.convert(x.im, "bool")
        x = x.re
    return _converted(b, x, elem)


def _converted(b: Builder, x: Value, elem: str) -> Value:
    if x.type.elem == elem:
        return x
    if x.type.is_float and VType(elem).is_integer:
        return to_integer(b, b.convert(x, "f32") if x.type.bits == 16 else x, elem)
    if x.type.elem == "f64" and elem == "f16":
        return to_half(b, x)
    return b.convert(x, elem)


for _name in ("identity", "stop_gradient"):
    pointwise(_name, raw_half=True)(lambda b, x: x)
pointwise("spread", raw_half=True)(lambda b, x, *, group: x)
pointwise("assigned", raw_half=True)(lambda b, value, before: value)


@functools.cache
def _copy(source: str, goal: str) -> Function:
    b = Builder("bitcast")
    x, out, nbytes = b.buffer("x", source), b.buffer("out", goal), b.dim("nbytes")
    b.copy(b.view(out, 0, "u8"), 0, b.view(x, 0, "u8"), 0, nbytes)
    out.written = True
    return b.finish()


@kernel("bitcast")
def bitcast(c: Lowering) -> None:
    """A copy of memory."""
    (x,), (out,) = c.ins, c.outs
    c.call(_copy(x.elem, out.elem), [x, out], [x.size * x.dtype.itemsize])
