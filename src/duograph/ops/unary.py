"""Elementwise functions of one operand: exponentials, trigonometry, rounding, special functions, tests of floats.

Half types compute in float32. Functions of floats refuse integers (the public functions cast first).
"""

from __future__ import annotations

import math

import numpy as np

from duograph.core import dtype as dt
from duograph.core.op import Op, primitive

from . import special_kernels as special
from .arithmetic import abs_, add, adjoint, div, mul, neg, square, sub
from .compare import equal, greater, less
from .creation import constant_like
from .elementwise import elementwise_batch, unary
from .rules import in_float32, require_kind
from .select import select


def _one(x):
    return constant_like(x, 1)


def _scaled(dout, value):
    return mul(dout, constant_like(dout, value))


# ---- exponentials and logarithms ------------------------------------------------------------------------------------

exp = unary("exp", np.exp, lambda x, out, dout: mul(dout, adjoint(out)), "``e**x``.", kinds="fc")
expm1 = unary(
    "expm1", np.expm1, lambda x, out, dout: mul(dout, adjoint(exp(x))), "``e**x - 1``, accurate near 0.",
    kinds="fc",
)  # fmt: skip
exp2 = unary("exp2", np.exp2, lambda x, out, dout: _scaled(mul(dout, out), math.log(2.0)), "``2**x``.", kinds="f")
log = unary("log", np.log, lambda x, out, dout: div(dout, adjoint(x)), "Natural logarithm.", kinds="fc")
log1p = unary(
    "log1p", np.log1p, lambda x, out, dout: div(dout, adjoint(add(x, _one(x)))), "``log(1 + x)``, accurate near 0.",
    kinds="fc",
)  # fmt: skip
log2 = unary("log2", np.log2, lambda x, out, dout: _scaled(div(dout, x), 1 / math.log(2.0)), "Base 2.", kinds="f")
log10 = unary("log10", np.log10, lambda x, out, dout: _scaled(div(dout, x), 1 / math.log(10.0)), "Base 10.", kinds="f")
sqrt = unary("sqrt", np.sqrt, lambda x, out, dout: div(_scaled(dout, 0.5), adjoint(out)), "Square root.", kinds="fc")
rsqrt = unary(
    "rsqrt", lambda x: np.true_divide(x.dtype.type(1), np.sqrt(x)),
    lambda x, out, dout: mul(_scaled(dout, -0.5), adjoint(mul(out, mul(out, out)))), "``1 / sqrt(x)``.", kinds="fc",
)  # fmt: skip


def _sigmoid(x):
    one = x.dtype.type(1)
    return one / (one + np.exp(-x))  # where exp overflows, the quotient is 0, as it must be


sigmoid = unary(
    "sigmoid", _sigmoid,
    lambda x, out, dout: mul(dout, adjoint(mul(out, sub(_one(out), out)))), "``1 / (1 + exp(-x))``.", kinds="fc",
)  # fmt: skip

# ---- trigonometric and hyperbolic -----------------------------------------------------------------------------------

sin = unary("sin", np.sin, lambda x, out, dout: mul(dout, adjoint(cos(x))), "Sine.", kinds="fc")
cos: Op = unary("cos", np.cos, lambda x, out, dout: neg(mul(dout, adjoint(sin(x)))), "Cosine.", kinds="fc")
tan = unary(
    "tan", np.tan, lambda x, out, dout: mul(dout, adjoint(add(_one(out), mul(out, out)))), "Tangent.", kinds="fc"
)
asin = unary(
    "asin", np.arcsin, lambda x, out, dout: mul(dout, adjoint(rsqrt(sub(_one(x), mul(x, x))))), "Inverse sine.",
    kinds="fc",
)  # fmt: skip
acos = unary(
    "acos", np.arccos, lambda x, out, dout: neg(mul(dout, adjoint(rsqrt(sub(_one(x), mul(x, x)))))),
    "Inverse cosine.", kinds="fc",
)  # fmt: skip
atan = unary(
    "atan", np.arctan, lambda x, out, dout: div(dout, adjoint(add(_one(x), mul(x, x)))), "Inverse tangent.", kinds="fc"
)


_SINC_SLOPE = [(-1) ** k * math.pi ** (2 * k) * 2 * k / math.factorial(2 * k + 1) for k in range(9, 0, -1)]


def _sinc_slope(x, out, dout):
    """``(cos(pi x) - sinc(x)) / x``; near 0, where that cancels, its power series.

    ``cos(pi x)`` is ``sin(pi (1/2 - |r|))``, and minus that for odd ``x - r``, where ``r`` is the distance to a whole
    number; infinities count as one.
    """
    near = less(square(x), constant_like(x, 0.0625))
    z = square(select(near, x, constant_like(x, 0)))
    series = constant_like(x, _SINC_SLOPE[0])
    for coefficient in _SINC_SLOPE[1:]:
        series = add(mul(series, z), constant_like(x, coefficient))
    safe = select(near, _one(x), x)
    infinite = isinf(x)
    turns = round_(select(infinite, constant_like(x, 0), x))
    r = select(infinite, constant_like(x, 0), sub(x, turns))
    cosine = sin(_scaled(sub(constant_like(x, 0.5), abs_(r)), math.pi))
    half = _scaled(turns, 0.5)
    cosine = select(equal(round_(half), half), cosine, neg(cosine))
    away = div(sub(cosine, out), safe)
    return mul(dout, select(near, mul(x, series), away))


sinc = unary("sinc", special.sinc, _sinc_slope, "``sin(pi x) / (pi x)``, 1 at 0.", kinds="f")
sinh = unary("sinh", np.sinh, lambda x, out, dout: mul(dout, adjoint(cosh(x))), "Hyperbolic sine.", kinds="fc")
cosh: Op = unary("cosh", np.cosh, lambda x, out, dout: mul(dout, adjoint(sinh(x))), "Hyperbolic cosine.", kinds="fc")
tanh = unary(
    "tanh", np.tanh, lambda x, out, dout: mul(dout, adjoint(sub(_one(out), mul(out, out)))), "Hyperbolic tangent.",
    kinds="fc",
)  # fmt: skip
asinh = unary(
    "asinh", np.arcsinh, lambda x, out, dout: mul(dout, adjoint(rsqrt(add(_one(x), mul(x, x))))),
    "Inverse hyperbolic sine.", kinds="fc",
)  # fmt: skip
acosh = unary(
    "acosh", np.arccosh,
    lambda x, out, dout: mul(dout, adjoint(mul(rsqrt(sub(x, _one(x))), rsqrt(add(x, _one(x)))))),
    "Inverse hyperbolic cosine.", kinds="fc",
)  # fmt: skip
atanh = unary(
    "atanh", np.arctanh, lambda x, out, dout: div(dout, adjoint(sub(_one(x), mul(x, x)))),
    "Inverse hyperbolic tangent.", kinds="fc",
)  # fmt: skip

# ---- special functions ----------------------------------------------------------------------------------------------


def _gauss(x, dout, factor):
    """``factor * exp(-x*x) * dout``: the derivative of the error functions."""
    return mul(_scaled(dout, factor), exp(neg(square(x))))


erf = unary(
    "erf", special.erf, lambda x, out, dout: _gauss(x, dout, 2 / math.sqrt(math.pi)), "Error function.", kinds="f"
)
erfc = unary(
    "erfc", special.erfc, lambda x, out, dout: _gauss(x, dout, -2 / math.sqrt(math.pi)), "``1 - erf(x)``.", kinds="f"
)
erfinv = unary(
    "erfinv", special.erfinv, lambda x, out, dout: mul(_scaled(dout, math.sqrt(math.pi) / 2), exp(square(out))),
    "Inverse of the error function; infinite at -1 and 1, NaN beyond.", kinds="f",
)  # fmt: skip
logit = unary(
    "logit", special.logit, lambda x, out, dout: add(div(dout, x), div(dout, sub(_one(x), x))),
    "``log(x / (1 - x))``, accurate near its zero at 1/2, too.", kinds="f",
)  # fmt: skip
lgamma = unary(
    "lgamma", special.lgamma, lambda x, out, dout: mul(dout, digamma(x)), "Logarithm of the absolute gamma function.",
    kinds="f",
)  # fmt: skip
digamma: Op = unary(
    "digamma",
    special.digamma,
    lambda x, out, dout: mul(dout, polygamma(x, n=1)),
    "Derivative of ``lgamma``.",
    kinds="f",
)


@primitive
class polygamma:
    """Derivative of order ``n`` (at least 1) of ``digamma``."""

    batch = elementwise_batch("polygamma")

    def infer(x, *, n):
        if not 1 <= n <= 500:
            raise ValueError(f"For 'Polygamma', the order must be in range of [0, 500], but got {n}.")
        return require_kind("polygamma", x, "f")

    reference = in_float32(lambda x, *, n: special.polygamma(x, n))

    def bprop(ins, out, dout, *, n):
        return (mul(dout, polygamma(ins[0], n=n + 1)),)


# ---- rounding -------------------------------------------------------------------------------------------------------


def _no_slope(x, out, dout):
    return None


floor = unary("floor", np.floor, _no_slope, "Rounded down.", layout="any", kinds="f")
ceil = unary("ceil", np.ceil, _no_slope, "Rounded up.", layout="any", kinds="f")
trunc = unary(
    "trunc",
    lambda x: np.trunc(x) if x.dtype.kind == "f" else x.copy(),
    _no_slope,
    "Rounded towards zero.",
    layout="any",
    kinds="if",
)
round_ = unary("round", np.rint, _no_slope, "Rounded to the nearest integer, halves to even.", layout="any", kinds="f")
relu = unary(
    "relu", lambda x: np.maximum(x, x.dtype.type(0)),
    lambda x, out, dout: select(greater(out, constant_like(out, 0)), dout, constant_like(dout, 0)),
    "``max(x, 0)``; NaN stays NaN. The gradient at 0 is 0.", layout="any", kinds="if",
)  # fmt: skip


# ---- tests of floats ------------------------------------------------------------------------------------------------


def _to_bool(t):
    return t.with_dtype(dt.bool_)


isnan = unary("isnan", np.isnan, doc="Whether NaN.", layout="any", result=_to_bool)
isinf = unary("isinf", np.isinf, doc="Whether infinite.", layout="any", result=_to_bool)
isfinite = unary("isfinite", np.isfinite, doc="Whether neither infinite nor NaN.", layout="any", result=_to_bool)
signbit = unary(
    "signbit", np.signbit, doc="Whether the sign is minus, -0.0 too.", layout="any", result=_to_bool, kinds="if"
)
