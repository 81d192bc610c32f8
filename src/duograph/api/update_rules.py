"""Update rules of optimizers, each written once, as a function of tensors.

A rule takes the gradient, the variable and its states, then the settings by name (numbers, or tensors where they change
from step to step). It gives the new variable and the new states, in the order in which it takes them; ``None`` for a
state that stays or is not there. It reads no other values and writes nothing. `nn.optim`, `experimental.optim` and the
Primitives (`primitives.steps`) are rows over these rules: names, defaults, checks, and which states are kept.

* Dtypes promote as in ``x * y``: with a float16 variable and a float32 rate, the step is computed in float32.
* The order of floating-point operations is part of a rule. Where MindSpore's kernels of one rule differ in it, so do
  our surfaces, and a setting of the rule says which order is meant (``by_gap``, ``rate_last``, ``inverse`` ...).
"""

from __future__ import annotations

import math
from typing import Any

from duograph.ops.arithmetic import abs_, sign, square
from duograph.ops.arithmetic import maximum as maximum_op
from duograph.ops.arithmetic import minimum as minimum_op
from duograph.ops.creation import constant_like, zeros_like
from duograph.ops.norm import global_norm
from duograph.ops.unary import exp, expm1, rsqrt, sqrt
from duograph.tensor.tensor import Tensor

from .functional.index import where
from .promote import promote

Values = tuple[Any, ...]
"""The new variable and the new states; ``None``: as it was."""


def maximum(x: Tensor, y: Any) -> Tensor:
    """The larger of both, promoted."""
    return maximum_op(*promote(x, y, "Maximum"))


def minimum(x: Tensor, y: Any) -> Tensor:
    """The smaller of both, promoted."""
    return minimum_op(*promote(x, y, "Minimum"))


# ---- parts that rules share -----------------------------------------------------------------------------------------


def running(mean: Tensor, new: Tensor, keep: Any) -> Tensor:
    """A running mean: ``keep`` of the old one, the rest of the new value."""
    return mean * keep + new * (1 - keep)


def approach(mean: Tensor, new: Tensor, keep: Any) -> Tensor:
    """`running` in the order of MindSpore's ``nn.Adam``: moved towards the new value by a share of the gap."""
    return mean + (new - mean) * (1 - keep)


def over_root(x: Tensor, y: Tensor, inverse: bool) -> Tensor:
    """``x / sqrt(y)``; ``inverse``: as ``x * rsqrt(y)``."""
    return x * rsqrt(y) if inverse else x / sqrt(y)


def plus_decay(step: Tensor, var: Tensor, decay: Any) -> Tensor:
    """``step`` plus weight decay; ``None``: there is none."""
    return step if decay is None else step + var * decay


def left_of_one(beta: float, t: Tensor) -> Tensor:
    """``1 - beta**t``, accurate also where the power is nearly 1."""
    return -expm1(t * math.log(beta)) if beta > 0.0 else constant_like(t, 1.0)


def corrected(lr: Any, left1: Any, left2: Any) -> Tensor:
    """Adam's rate with both corrections of its biased means."""
    return lr * sqrt(left2) / left1


def shrunk(x: Tensor, rate: Any, l1: Any, l2: Any) -> Tensor:
    """The point nearest to ``x`` under the penalties ``l1`` (``None``: there is none) and ``l2``."""
    if l1 is not None:
        x = sign(x) * maximum(abs_(x) - rate * l1, 0)
    return x / (rate * l2 + 1)


# ---- descent and momentum -------------------------------------------------------------------------------------------


def descent(grad: Tensor, var: Tensor, *, lr: Any) -> Values:
    """``var -= lr * grad``."""
    return (var - grad * lr,)


def momentum(
    grad: Tensor, var: Tensor, accum: Tensor, fresh: Tensor | None = None, *,
    lr: Any, mu: Any, dampening: float = 0.0, nesterov: bool = False, rate_in_parts: bool = False,
) -> Values:  # fmt: skip
    """``accum = mu * accum + (1 - dampening) * grad``; ``var -= lr * accum`` (Nesterov: ``lr * (grad + mu * accum)``).

    Where ``fresh`` is positive, ``accum`` starts from the gradient. ``rate_in_parts``: ``lr`` times each part of the
    Nesterov step, as MindSpore's ``nn.Momentum``.
    """
    later = accum * mu + (grad * (1 - dampening) if dampening else grad)
    if fresh is not None:
        later, fresh = where(fresh > 0, grad, later), zeros_like(fresh)
    if nesterov and rate_in_parts:
        return var - (grad * lr + later * mu * lr), later, fresh
    return var - (grad + later * mu if nesterov else later) * lr, later, fresh


def keras_momentum(grad: Tensor, var: Tensor, accum: Tensor, *, lr: Any, mu: Any, nesterov: bool) -> Values:
    """``accum = mu * accum - lr * grad``; ``var += accum`` (Nesterov: ``mu * accum - lr * grad``)."""
    step = grad * lr
    accum = accum * mu - step
    return var + (accum * mu - step if nesterov else accum), accum


def signed(grad: Tensor, var: Tensor, m: Tensor, *, lr: Any, beta: Any, weight: Any) -> Values:
    """Larger steps where gradient and running mean agree: ``weight`` of the product of their signs scales the step."""
    m = running(m, grad, beta)
    return var - lr * (weight(sign(grad), sign(m)) * grad), m


def add_sign(grad: Tensor, var: Tensor, m: Tensor, *, lr: Any, beta: Any, alpha: Any, decay: Any) -> Values:
    """`signed`, by a sum."""
    return signed(grad, var, m, lr=lr, beta=beta, weight=lambda a, b: alpha + decay * a * b)


def power_sign(grad: Tensor, var: Tensor, m: Tensor, *, lr: Any, beta: Any, base: Any, decay: Any) -> Values:
    """`signed`, by a power."""
    return signed(grad, var, m, lr=lr, beta=beta, weight=lambda a, b: exp(base * decay * a * b))


def asgd(grad: Tensor, var: Tensor, mean: Tensor, *, rate: Any, share: Any, lambd: Any, copy: bool = False) -> Values:
    """Descent with decay; ``mean`` averages the variable. ``copy``: takes it over where ``share`` is 1."""
    new = var * (1 - rate * lambd) - grad * rate
    later = mean + (new - mean) * share
    return new, where(share == 1, new, later) if copy else later


def rprop(
    grad: Tensor, var: Tensor, last: Tensor, size: Tensor, *, lr: Any, first: Tensor, etas: Any, sizes: Any
) -> Values:
    """Only signs count: the step sizes shrink where the sign of the gradient has changed, and grow where it has not."""
    shrink, grow = etas
    turn = grad * last
    against = turn < 0
    size = where(first, zeros_like(grad) + lr, size)
    size = size * where(turn > 0, grow, where(against, shrink, constant_like(turn, 1)))
    size = minimum(maximum(size, sizes[0]), sizes[1])
    grad = where(against, 0, grad)
    return var - sign(grad) * size, grad, size


# ---- steps scaled by past gradients ---------------------------------------------------------------------------------


def adagrad(
    grad: Tensor, var: Tensor, accum: Tensor, *, lr: Any, eps: Any = None, update: bool = True, inverse: bool = False
) -> Values:
    """``accum += grad**2``; ``var -= lr * grad / (sqrt(accum) + eps)``."""
    new = accum + square(grad) if update else accum
    if inverse:
        step = grad * rsqrt(new) * lr
    else:
        step = grad * lr / (sqrt(new) if eps is None else sqrt(new) + eps)
    return var - step, new if update else None


def adagrad_da(
    grad: Tensor, var: Tensor, total: Tensor, squares: Tensor, *, lr: Any, l1: Any, l2: Any, t: Any
) -> Values:
    """Dual averaging: ``var`` follows from the sums of all gradients and of their squares."""
    total, squares = total + grad, squares + square(grad)
    limited = where(l1 > 0, sign(total) * maximum(abs_(total) - l1 * t, 0), total)
    return -lr * limited / (l2 * t * lr + sqrt(squares)), total, squares


def adadelta(
    grad: Tensor, var: Tensor, accum: Tensor, steps: Tensor, *, lr: Any, rho: Any, eps: Any, inverse: bool = False
) -> Values:
    """Steps in proportion to the root of past steps over the root of past gradients."""
    accum = running(accum, square(grad), rho)
    step = over_root(sqrt(steps + eps), accum + eps, inverse) * grad
    return var - step * lr, accum, running(steps, square(step), rho)


def rmsprop(
    grad: Tensor, var: Tensor, squares: Tensor, moment: Tensor, mean: Tensor | None = None, *,
    lr: Any, keep: Any, mu: Any, eps: Any, inverse: bool = False, rate_last: bool = False,
) -> Values:  # fmt: skip
    """Steps divided by the root of the running mean of squares; with ``mean``, of the variance.

    ``rate_last``: as PyTorch, ``eps`` stands outside the root, the rate outside the momentum.
    """
    spread = squares = running(squares, square(grad), keep)
    if mean is not None:
        mean = running(mean, grad, keep)
        spread = squares - square(mean)
    if not rate_last:
        moment = moment * mu + over_root(grad * lr, spread + eps, inverse)
        return var - moment, squares, moment, mean
    step = grad / (sqrt(spread) + eps)
    if mu > 0:
        step = moment * mu + step
    return var - step * lr, squares, step if mu > 0 else None, mean


def proximal_descent(grad: Tensor, var: Tensor, *, lr: Any, l1: Any, l2: Any) -> Values:
    """Descent, then shrinking."""
    return (shrunk(var - grad * lr, lr, l1, l2),)


def proximal_adagrad(
    grad: Tensor, var: Tensor, accum: Tensor, *, lr: Any, l1: Any, l2: Any, inverse: bool = False
) -> Values:
    """Adagrad, then shrinking."""
    accum = accum + square(grad)
    rate = over_root(lr, accum, inverse)
    return shrunk(var - grad * rate, rate, l1, l2), accum


def ftrl(
    grad: Tensor, var: Tensor, accum: Tensor, linear: Tensor, *, lr: Any, l1: Any, l2: Any, power: Any,
    shrinkage: Any = None,
) -> Values:  # fmt: skip
    """Follow the regularised leader."""
    new = accum + square(grad)
    old_root, new_root = accum**-power, new**-power
    if shrinkage is not None:
        grad = grad + 2 * shrinkage * var
    linear = linear + grad - var * ((new_root - old_root) / lr)
    moved = (sign(linear) * l1 - linear) / (new_root / lr + 2 * l2)
    return where(abs_(linear) > l1, moved, 0), new, linear


# ---- Adam and relatives ---------------------------------------------------------------------------------------------


def moments(grad: Tensor, m: Tensor, v: Tensor, beta1: Any, beta2: Any) -> tuple[Tensor, Tensor]:
    """The running means of gradient and squared gradient."""
    return running(m, grad, beta1), running(v, square(grad), beta2)


def adam(
    grad: Tensor, var: Tensor | None, m: Tensor, v: Tensor, top: Tensor | None = None, *,
    rate: Any, beta1: Any, beta2: Any, eps: Any, nesterov: bool = False, by_gap: bool = False, root: Any = None,
) -> Values:  # fmt: skip
    """Adaptive moment estimation. Without ``var``: what would be subtracted from it.

    ``top`` (AMSGrad): the largest ``v`` so far, which then takes its place. ``rate`` has the corrections of the biased
    means in it, as in MindSpore's kernels; with ``root`` the square root of ``v`` is corrected by it, before ``eps`` is
    added, as in the paper. ``by_gap``: see `approach`.
    """
    mean = approach if by_gap else running
    m, v = mean(m, grad, beta1), mean(v, square(grad), beta2)
    spread = v
    if top is not None:
        spread = top = maximum(top, v)
    size = sqrt(spread) if root is None else sqrt(spread) / root
    step = (running(m, grad, beta1) if nesterov else m) * rate / (size + eps)
    return step if var is None else var - step, m, v, top


def adam_weight_decay(
    grad: Tensor, var: Tensor, m: Tensor, v: Tensor, *, lr: Any, beta1: Any, beta2: Any, eps: Any, decay: Any
) -> Values:
    """Adam without bias correction, with decay of the variable."""
    m, v = moments(grad, m, v, beta1, beta2)
    return var - plus_decay(m / (sqrt(v) + eps), var, decay) * lr, m, v


def adamax(
    grad: Tensor, var: Tensor, m: Tensor, v: Tensor, *, rate: Any, beta1: Any, beta2: Any, eps: Any,
    eps_in_norm: bool = False, rate_last: bool = False,
) -> Values:  # fmt: skip
    """Adam with the infinity norm. ``eps`` is added to it, or (``eps_in_norm``) to what it is the maximum of."""
    m = running(m, grad, beta1)
    if eps_in_norm:
        size = v = maximum(v * beta2, abs_(grad) + eps)
    else:
        v = maximum(v * beta2, abs_(grad))
        size = v + eps
    return var - (m / size * rate if rate_last else m * rate / size), m, v


def lamb(
    grad: Tensor, var: Tensor, m: Tensor, v: Tensor, *,
    lr: Any, beta1: Any, beta2: Any, eps: Any, left: tuple[Any, Any], decay: Any,
) -> Values:  # fmt: skip
    """Adam whose step has the norm of the variable, times ``lr``; ``left`` corrects the biased means."""
    m, v = moments(grad, m, v, beta1, beta2)
    step = plus_decay((m / left[0]) / (sqrt(v / left[1]) + eps), var, decay)
    norm, length = global_norm([var]), global_norm([step])
    both = (norm > 0) & (length > 0)
    trust = where(both, norm / where(both, length, 1), 1)
    return var - step * (lr * trust), m, v


def nadam(
    grad: Tensor, var: Tensor, m: Tensor, v: Tensor, *,
    beta1: Any, beta2: Any, eps: Any, rates: tuple[Any, Any], left2: Any,
) -> Values:  # fmt: skip
    """Adam with Nesterov momentum; ``rates`` of the gradient and of its mean."""
    m, v = moments(grad, m, v, beta1, beta2)
    root = sqrt(v / left2) + eps
    return var - grad * rates[0] / root - m * rates[1] / root, m, v


def radam(
    grad: Tensor, var: Tensor, m: Tensor, v: Tensor, *,
    rate: Any, beta1: Any, beta2: Any, eps: Any, root: Any, certain: Tensor, gain: Any,
) -> Values:  # fmt: skip
    """Adam whose early steps, of uncertain variance, are not divided by the root of the mean."""
    m, v = moments(grad, m, v, beta1, beta2)
    plain = m * rate
    return var - where(certain, plain * gain * root / (sqrt(v) + eps), plain), m, v


def lars_rate(size: Tensor, slope: Tensor, lr: Any, *, coefficient: Any, decay: Any, eps: Any, clip: bool) -> Tensor:
    """The rate of a layer from the norms of its weights and of their gradient."""
    rate = size * coefficient / (slope + size * decay + eps)
    return minimum(rate / lr, 1) if clip else rate
