"""Elementary and special functions; the algorithms are in `lower.math`."""

from __future__ import annotations

from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Value
from ..math import (
    activation,
    bessel,
    complex_functions,
    error_functions,
    exponential,
    gamma,
    incomplete,
    inverse,
    logarithm,
    normal_distribution,
    trigonometric,
    zeta,
)
from ..math.hypotenuse import hypot
from ..math.integers import power as integer_power
from ..math.power import pow_ as float_power
from ..rule import Complex, pointwise

_FUNCTIONS: dict[str, Any] = {
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "log": logarithm.log,
    "log1p": logarithm.log1p,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "xlogy": logarithm.xlogy,
    "sigmoid": exponential.sigmoid,
    "softplus": exponential.softplus,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": trigonometric.tan,
    "asin": inverse.asin,
    "acos": inverse.acos,
    "atan": inverse.atan,
    "atan2": inverse.atan2,
    "sinh": exponential.sinh,
    "cosh": exponential.cosh,
    "tanh": exponential.tanh,
    "asinh": logarithm.asinh,
    "acosh": logarithm.acosh,
    "atanh": logarithm.atanh,
    "hypot": hypot,
    "erf": error_functions.erf,
    "erfc": error_functions.erfc,
    "erfinv": error_functions.erfinv,
    "normal_cdf": normal_distribution.normal_cdf,
    "gelu": normal_distribution.gelu,
    "gelu_by_tanh": activation.gelu_by_tanh,
    "fast_gelu": activation.fast_gelu,
    "silu": activation.silu,
    "mish": activation.mish,
    "tanhshrink": activation.tanhshrink,
    "sinc": trigonometric.sinc,
    "logit": logarithm.logit,
    "lgamma": gamma.lgamma,
    "digamma": gamma.digamma,
}
_IN_F64 = {
    "asinh", "acosh", "atanh", "sinh", "cosh", "tan", "erfc", "erfinv", "lgamma", "digamma", "hypot",
    "normal_cdf", "gelu",
}  # fmt: skip
_COMPLEX: dict[str, Any] = {
    name: getattr(complex_functions, name)
    for name in (
        "exp", "expm1", "log", "log1p", "sigmoid", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
        "asinh", "acosh", "atanh",
    )
}  # fmt: skip


def _either(real: Any, of_complex: Any) -> Any:
    """A function of real and of complex numbers."""
    return lambda b, x: of_complex(b, x) if isinstance(x, Complex) else real(b, x)


for _name, _function in _FUNCTIONS.items():
    if _name in _COMPLEX:
        _function = _either(_function, _COMPLEX[_name])
    pointwise(_name, wide=_name in _IN_F64)(_function)


@pointwise("sqrt")
def sqrt(b: Builder, x: Any) -> Any:
    return complex_functions.sqrt(b, x) if isinstance(x, Complex) else b.sqrt(x)


@pointwise("rsqrt")
def rsqrt(b: Builder, x: Any) -> Any:
    return complex_functions.rsqrt(b, x) if isinstance(x, Complex) else b.const(1.0, x) / b.sqrt(x)


@pointwise("pow", wide=True)
def pow_(b: Builder, x: Any, y: Any) -> Any:
    if isinstance(x, Complex):
        return complex_functions.pow_(b, x, y)
    return float_power(b, x, y) if x.type.is_float else integer_power(b, x, y)


@pointwise("angle")
def angle(b: Builder, x: Any) -> Value:
    return inverse.atan2(b, x.im, x.re) if isinstance(x, Complex) else inverse.atan2(b, b.const(0.0, x), x)


# ---- special functions of two and three numbers, and Bessel functions -----------------------------------------------

for _name, _function in {
    "igamma": incomplete.igamma,
    "igammac": incomplete.igammac,
    "igamma_grad_a": incomplete.igamma_grad_a,
    "betainc": incomplete.betainc,
    "zeta": zeta.zeta,
    "polygamma": zeta.polygamma,
    **{f"bessel_{kind}{order}": getattr(bessel, kind)(order) for kind in "jy" for order in (0, 1)},
    **{f"bessel_{kind}{order}": getattr(bessel, kind)(order, False) for kind in "ik" for order in (0, 1)},
    **{f"bessel_{kind}{order}e": getattr(bessel, kind)(order, True) for kind in "ik" for order in (0, 1)},
}.items():
    pointwise(_name, wide=True)(_function)
