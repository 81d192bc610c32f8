"""Parts of complex numbers. On real tensors ``real`` is the tensor itself and ``imag`` zero."""

from __future__ import annotations

import numpy as np

from duograph.core.op import primitive

from .arithmetic import add, div, mul, neg
from .cast import cast
from .creation import zeros_like
from .elementwise import elementwise, elementwise_batch, unary
from .movement import sum_to


def _real_part(t):
    return t.with_dtype(t.dtype.to_real())


def _embed(x, re, im):
    """A cotangent of ``x`` with parts ``re`` and ``im``; its real part if ``x`` is real."""
    return complex_(re, im) if x.dtype.is_complex else re


real = unary(
    "real", lambda x: np.array(np.real(x)), lambda x, out, dout: _embed(x, dout, zeros_like(dout)), "Real part.",
    layout="any", result=_real_part,
)  # fmt: skip
imag = unary(
    "imag", lambda x: np.array(np.imag(x)), lambda x, out, dout: _embed(x, zeros_like(dout), dout), "Imaginary part.",
    layout="any", result=_real_part,
)  # fmt: skip


def _angle_gradient(x, out, dout):
    if not x.dtype.is_complex:
        return None
    re, im = real(x), imag(x)
    scale = div(dout, add(mul(re, re), mul(im, im)))
    return complex_(neg(mul(im, scale)), mul(re, scale))


angle = unary(
    "angle", np.angle, _angle_gradient, "The argument of a complex number, in radians.", kinds="fc", result=_real_part
)


@primitive
class complex_:
    """The complex number with real part ``x`` and imaginary part ``y`` (both float32 or both float64)."""

    layout = "any"
    batch = elementwise_batch("complex")

    def infer(x, y):
        t = elementwise("complex", "f")(x, y)
        return t.with_dtype(t.dtype.to_complex())

    def reference(x, y):
        x, y = np.broadcast_arrays(x, y)
        out = np.empty(x.shape, np.complex128 if x.dtype == np.float64 else np.complex64)
        out.real, out.imag = x, y
        return out

    def bprop(ins, out, dout):
        x, y = ins
        return (
            lambda: sum_to(in_precision_of(x, real(dout)), x.shape),
            lambda: sum_to(in_precision_of(y, imag(dout)), y.shape),
        )


def in_precision_of(x, part):
    """``part`` of a complex number in the dtype of ``x``: complex numbers of half types have float32 parts."""
    return part if part.dtype is x.dtype else cast(part, dtype=x.dtype)


def to_complex(x):
    """``x`` in the complex dtype of its precision."""
    return x if x.dtype.is_complex else cast(x, dtype=x.dtype.to_complex())
