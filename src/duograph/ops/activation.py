"""Activation functions: the primitives of `smooth_activation` with their options, and composites over elementwise ops.

Branches are chosen with ``select`` on operands that were made safe first, so that the branch not taken adds no NaN to
a gradient.
"""

from __future__ import annotations

from typing import Any

from duograph.core.launchable import launchable
from duograph.core.shapes import normalize_axis

from . import smooth_activation as smooth
from .arithmetic import abs_, add, div, maximum, minimum, mul, neg, sub
from .cast import stop_gradient
from .compare import greater, greater_equal, less, less_equal
from .creation import constant_like, one_hot
from .movement import move_axis, reshape
from .norm import scaled, shifted, softmax
from .reduce import argmax
from .scalar import Scalar
from .select import select
from .slices import slice_axis
from .unary import expm1, relu, sigmoid, tanh


def softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself where ``beta * x`` is above ``threshold``."""
    is_plain = not isinstance(beta, Scalar) and beta == 1
    return _softplus(x, threshold) if is_plain else _scaled_softplus(x, beta, threshold)


def _plain_softplus(x: Any, threshold: float) -> Any:
    soft = smooth.softplus(x)
    return select(greater(x, constant_like(x, threshold)), x, soft)


def _softplus_of_scaled(x: Any, beta: float, threshold: float) -> Any:
    inner = scaled(x, beta)
    soft = div(smooth.softplus(inner), constant_like(x, beta))
    return select(greater(inner, constant_like(x, threshold)), x, soft)


# What looks at its numbers stands before what does not: that is native for new ones, too.
_softplus = launchable(_plain_softplus, weak_numbers=True)
_scaled_softplus = launchable(_softplus_of_scaled, weak_numbers=True)


def logsigmoid(x: Any) -> Any:
    """``log(sigmoid(x))`` without overflow."""
    return neg(smooth.softplus(neg(x)))


def relu6(x: Any) -> Any:
    """``min(max(x, 0), 6)``; the slope at 6 is 1."""
    six = constant_like(x, 6)
    return select(greater(x, six), six, relu(x))


def leaky_relu(x: Any, alpha: float = 0.2) -> Any:
    """``x`` above 0, ``alpha * x`` below."""
    return select(greater(x, constant_like(x, 0)), x, scaled(x, alpha))


def elu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` above 0, ``alpha * (exp(x) - 1)`` below."""
    zero = constant_like(x, 0)
    positive = greater(x, zero)
    return select(positive, x, scaled(expm1(select(positive, zero, x)), alpha))


def celu(x: Any, alpha: float = 1.0) -> Any:
    """``x`` above 0, ``alpha * (exp(x / alpha) - 1)`` below."""
    zero = constant_like(x, 0)
    positive = greater(x, zero)
    below = div(select(positive, zero, x), constant_like(x, alpha))
    return select(positive, x, scaled(expm1(below), alpha))


_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def selu(x: Any) -> Any:
    """The self-normalising ``scale * elu(x, alpha)`` with its two constants."""
    zero = constant_like(x, 0)
    positive = greater(x, zero)
    below = scaled(expm1(select(positive, zero, x)), _SELU_ALPHA * _SELU_SCALE)
    return select(positive, scaled(x, _SELU_SCALE), below)


def gelu(x: Any, approximate: str = "none") -> Any:
    """``x`` times the normal distribution function of ``x``; ``"tanh"`` approximates it.

    Raises:
        ValueError: ``approximate`` is neither ``"none"`` nor ``"tanh"``.
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"For 'gelu', the 'approximate' should be either 'none' or 'tanh', but got {approximate}.")
    return smooth.gelu(x) if approximate == "none" else smooth.gelu_by_tanh(x)


def fast_gelu(x: Any) -> Any:
    """``x * sigmoid(1.702 * x)``."""
    return smooth.fast_gelu(x)


def silu(x: Any) -> Any:
    """``x * sigmoid(x)``."""
    return mul(x, sigmoid(x)) if x.dtype.is_complex else smooth.silu(x)


def mish(x: Any) -> Any:
    """``x * tanh(softplus(x))``."""
    return smooth.mish(x)


def hardsigmoid(x: Any) -> Any:
    """``(x + 3) / 6`` limited to the interval from 0 to 1; flat at its ends."""
    zero, one = constant_like(x, 0), constant_like(x, 1)
    line = div(shifted(x, 3), constant_like(x, 6))
    return select(less_equal(line, zero), zero, select(greater_equal(line, one), one, line))


def hardswish(x: Any) -> Any:
    """``x * hardsigmoid(x)``, with the slopes of the inner part at -3 and 3."""
    zero, three = constant_like(x, 0), constant_like(x, 3)
    below, above = less(x, neg(three)), greater(x, three)
    near = select(below, zero, select(above, zero, x))
    inner = div(mul(near, add(near, three)), constant_like(x, 6))
    return select(below, zero, select(above, x, inner))


def hardtanh(x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """``x`` limited to the interval from ``min_val`` to ``max_val``; at its ends the slope is one half."""
    return minimum(maximum(x, constant_like(x, min_val)), constant_like(x, max_val))


def hardshrink(x: Any, lambd: float = 0.5) -> Any:
    """0 in the interval from ``-lambd`` to ``lambd``, ``x`` outside."""
    inside = less_equal(abs_(x), constant_like(x, lambd))
    return select(inside, constant_like(x, 0), x)


def softshrink(x: Any, lambd: float = 0.5) -> Any:
    """``x`` moved towards 0 by ``lambd``, 0 where it would cross."""
    step = constant_like(x, lambd)
    low = select(less(x, neg(step)), add(x, step), mul(x, constant_like(x, 0)))
    return select(greater(x, step), sub(x, step), low)


def tanhshrink(x: Any) -> Any:
    """``x - tanh(x)``."""
    return sub(x, tanh(x)) if x.dtype.is_complex else smooth.tanhshrink(x)


def softsign(x: Any) -> Any:
    """``x / (1 + |x|)``."""
    return div(x, shifted(abs_(x), 1))


def prelu(x: Any, weight: Any) -> Any:
    """``x`` above 0, ``weight * x`` below; ``weight`` holds one number, or one per channel (axis 1).

    Raises:
        ValueError: ``weight`` fits neither.
    """
    channels = x.shape[1] if len(x.shape) > 1 else 1
    if len(weight.shape) != 1 or weight.shape[0] not in (1, channels):
        raise ValueError(
            f"For 'PReLU', the weight must hold 1 number or {channels}, the channels of the input, "
            f"but got shape {tuple(weight.shape)}."
        )
    if len(x.shape) > 1:
        weight = reshape(weight, shape=(1, weight.shape[0], *(1,) * (len(x.shape) - 2)))
    return select(greater(x, constant_like(x, 0)), x, mul(weight, x))


def threshold(x: Any, limit: float, value: float) -> Any:
    """``x`` where it is above ``limit``, ``value`` elsewhere."""
    return select(greater(x, constant_like(x, limit)), x, constant_like(x, value))


def glu(x: Any, axis: int = -1) -> Any:
    """The first half along ``axis`` times the sigmoid of the second half.

    Raises:
        ValueError: the extent is odd.
    """
    axis = normalize_axis(axis, len(x.shape), "GLU")
    size = x.shape[axis]
    if isinstance(size, int) and size % 2:
        raise ValueError(f"For 'GLU', the size of axis {axis} must be even, but got {size}.")
    half = size // 2
    return mul(slice_axis(x, axis, 0, half), sigmoid(slice_axis(x, axis, half, size)))


def softmin(x: Any, axis: int = -1) -> Any:
    """Softmax of ``-x``."""
    return softmax(neg(x), axis=normalize_axis(axis, len(x.shape), "Softmax"))


def rrelu(x: Any, slope: Any) -> Any:
    """``x`` where it is at least 0, ``slope * x`` below; ``slope`` was drawn at random and broadcasts to ``x``."""
    return select(less(x, constant_like(x, 0)), mul(x, slope), x)


def gumbel_softmax(logits: Any, noise: Any, tau: float = 1.0, hard: bool = False, axis: int = -1) -> Any:
    """Softmax of ``(logits + noise) / tau``, where ``noise`` was drawn from the Gumbel distribution.

    With ``hard`` the result is one-hot, and its gradient that of the soft result.
    """
    axis = normalize_axis(axis, len(logits.shape), "GumbelSoftmax")
    soft = softmax(div(add(logits, noise), constant_like(logits, tau)), axis=axis)
    if not hard:
        return soft
    chosen = one_hot(argmax(soft, axis=axis), depth=soft.shape[axis], dtype=soft.dtype)
    chosen = move_axis(chosen, len(soft.shape) - 1, axis)
    return add(sub(chosen, stop_gradient(soft)), soft)
