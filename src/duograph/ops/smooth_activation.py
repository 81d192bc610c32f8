"""Smooth activation functions, as primitives: ``softplus``, ``tanhshrink``, and those that are ``x`` times a function
which rises from 0 to 1.

As a product of two ops these would round the factor, which far below 0 is subnormal and has few digits; and they would
be NaN at minus infinity, where the limit is 0. ``x - tanh(x)`` would cancel near 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import special_kernels as special
from .arithmetic import add, maximum, minimum, mul, square, sub
from .creation import constant_like
from .elementwise import unary
from .norm import scaled
from .unary import exp, sigmoid, tanh


def _one(x: Any) -> Any:
    return constant_like(x, 1)


def _within(x: Any, reach: float) -> Any:
    """``x`` limited to where slopes are not yet those of 0 and of ``x``: so none is infinity times 0."""
    return minimum(maximum(x, constant_like(x, -reach)), constant_like(x, reach))


def _normal_density(x: Any) -> Any:
    return scaled(exp(scaled(square(x), -0.5)), 1 / math.sqrt(2 * math.pi))


softplus = unary(
    "softplus",
    lambda x: np.maximum(x, x.dtype.type(0)) + np.log1p(np.exp(-np.abs(x))),
    lambda x, out, dout: mul(dout, sigmoid(x)),
    "``log(1 + exp(x))`` without overflow.",
    kinds="f",
)
tanhshrink = unary(
    "tanhshrink",
    special.tanhshrink,
    lambda x, out, dout: mul(dout, square(tanh(x))),
    "``x - tanh(x)``, accurate near 0.",
    kinds="f",
)
normal_cdf = unary(
    "normal_cdf",
    special.normal_cdf,
    lambda x, out, dout: mul(dout, _normal_density(x)),
    "Distribution function of the normal distribution, exact also where it is small.",
    kinds="f",
)


def _gelu_slope(x: Any) -> Any:
    near = _within(x, 40)
    return add(normal_cdf(x), mul(near, _normal_density(near)))


def _gelu_by_tanh_slope(x: Any) -> Any:
    """``s + x s (1 - s) u'`` with ``s = sigmoid(u)``, ``u = 2 sqrt(2 / pi) (x + 0.044715 x**3)``."""
    near = _within(x, 30)
    slope = 2 * math.sqrt(2 / math.pi)
    one, z = constant_like(x, slope), square(near)
    s = sigmoid(mul(near, add(scaled(z, 0.044715 * slope), one)))
    inner = add(scaled(z, 3 * 0.044715 * slope), one)
    return add(s, mul(mul(near, inner), mul(s, sub(_one(s), s))))


def _silu_slope(x: Any, out: Any, rate: float = 1.0) -> Any:
    """Of ``out = x * sigmoid(rate * x)``."""
    inside, product = (x, out) if rate == 1 else (scaled(x, rate), scaled(out, rate))
    s = sigmoid(inside)
    near = minimum(product, constant_like(x, 1e3))
    return add(s, mul(near, sub(_one(s), s)))


def _mish_slope(x: Any) -> Any:
    near = _within(x, 800)
    t = tanh(softplus(near))
    return add(t, mul(mul(near, sigmoid(near)), sub(_one(t), square(t))))


gelu = unary("gelu", special.gelu, lambda x, out, dout: mul(dout, _gelu_slope(x)), "``x * normal_cdf(x)``.", kinds="f")
gelu_by_tanh = unary(
    "gelu_by_tanh", special.gelu_by_tanh, lambda x, out, dout: mul(dout, _gelu_by_tanh_slope(x)),
    "``x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``.", kinds="f",
)  # fmt: skip
silu = unary(
    "silu", special.silu, lambda x, out, dout: mul(dout, _silu_slope(x, out)), "``x * sigmoid(x)``.", kinds="f"
)
fast_gelu = unary(
    "fast_gelu", special.fast_gelu, lambda x, out, dout: mul(dout, _silu_slope(x, out, 1.702)),
    "``x * sigmoid(1.702 * x)``.", kinds="f",
)  # fmt: skip
mish = unary(
    "mish", special.mish, lambda x, out, dout: mul(dout, _mish_slope(x)), "``x * tanh(softplus(x))``.", kinds="f"
)
