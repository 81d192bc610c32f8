"""Parts of complex numbers."""

from __future__ import annotations

from ..rule import Complex, pointwise

pointwise("complex")(lambda b, x, y: Complex(x, y))
pointwise("conj")(lambda b, x: Complex(x.re, -x.im) if isinstance(x, Complex) else x)
pointwise("real")(lambda b, x: x.re if isinstance(x, Complex) else x)
pointwise("imag")(lambda b, x: x.im if isinstance(x, Complex) else b.const(0, x))
