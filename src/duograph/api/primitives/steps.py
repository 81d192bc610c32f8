"""Primitive classes of optimiser steps: they write the variable and its slots in place.

A step is a function of the Primitive's attributes and of the operands, together in one namespace ``s``; it gives the
new values of the variable and of its slots, which the table names in this order. The same steps serve the sparse forms:
there the gradient holds only the rows ``indices`` of the variable (rows given twice are added up), and only these rows
are written.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from duograph.ops import scatter
from duograph.ops.arithmetic import abs_, div, maximum, minimum, sign, square
from duograph.ops.compare import greater
from duograph.ops.creation import constant_like, full
from duograph.ops.movement import broadcast_to, reshape
from duograph.ops.power import pow_
from duograph.ops.select import select
from duograph.ops.unary import exp, rsqrt, sqrt
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from ..functional.forms import contents
from ..promote import as_tensor, to_dtype
from .base import REQUIRED, TablePrimitive, declare

Values = tuple[Tensor, ...]
CLASSES: dict[str, type[TablePrimitive]] = {}
"""Class name to class."""


def _zero(x: Tensor) -> Tensor:
    return constant_like(x, 0)


# ---- momentum -------------------------------------------------------------------------------------------------------


def momentum(s: Any) -> Values:
    """``a = a * momentum + g``; ``v -= lr * a`` (Nesterov: ``lr * (g + momentum * a)``)."""
    grad = s.gradient if s.gradient_scale == 1.0 else s.gradient * s.gradient_scale
    accumulation = s.accumulation * s.momentum + grad
    step = grad + accumulation * s.momentum if s.use_nesterov else accumulation
    return s.variable - s.learning_rate * step, accumulation


def keras_momentum(s: Any) -> Values:
    """``a = a * momentum - lr * g``; ``var += a`` (Nesterov: ``a * momentum - lr * g``)."""
    step = s.lr * s.grad
    accum = s.accum * s.momentum - step
    return s.var + (accum * s.momentum - step if s.use_nesterov else accum), accum


def descent(s: Any) -> Values:
    """``var -= alpha * delta``."""
    return (s.var - s.alpha * s.delta,)


def sgd(s: Any) -> Values:
    """Gradient descent with momentum; where ``stat`` is positive the accumulation starts from the gradient."""
    grad = s.gradient + s.parameters * s.weight_decay if s.weight_decay > 0 else s.gradient
    fresh = greater(s.stat, _zero(s.stat))
    accum = select(fresh, grad, s.accum * s.momentum + grad * (1.0 - s.dampening))
    step = grad + accum * s.momentum if s.nesterov else accum
    stat = full(shape=tuple(s.stat.shape), value=0, dtype=s.stat.dtype)
    return s.parameters - s.learning_rate * step, accum, stat


# ---- steps scaled by past gradients ----------------------------------------------------------------------------------


def adagrad(s: Any) -> Values:
    """``accum += g**2``; ``var -= lr * g / sqrt(accum)``."""
    accum = s.accum + square(s.grad) if s.update_slots else s.accum
    return s.var - s.lr * (s.grad * rsqrt(accum)), accum


def adagrad_v2(s: Any) -> Values:
    """``accum += g**2``; ``var -= lr * g / (sqrt(accum) + epsilon)``."""
    accum = s.accum + square(s.grad) if s.update_slots else s.accum
    return s.var - s.lr * s.grad / (sqrt(accum) + s.epsilon), accum


def adagrad_da(s: Any) -> Values:
    """Dual averaging: ``var`` follows from the sums of all gradients and their squares."""
    total, squares = s.gradient_accumulator + s.grad, s.gradient_squared_accumulator + square(s.grad)
    limited = select(
        broadcast_to(greater(s.l1, _zero(s.l1)), shape=tuple(total.shape)),
        sign(total) * maximum(abs_(total) - s.l1 * s.global_step, _zero(total)),
        total,
    )
    return -s.lr * limited / (s.l2 * s.global_step * s.lr + sqrt(squares)), total, squares


def adadelta(s: Any) -> Values:
    """Steps in proportion to the root of past steps over the root of past gradients."""
    accum = s.rho * s.accum + (1 - s.rho) * square(s.grad)
    update = sqrt(s.accum_update + s.epsilon) * rsqrt(accum + s.epsilon) * s.grad
    return s.var - s.lr * update, accum, s.rho * s.accum_update + (1 - s.rho) * square(update)


def rmsprop(s: Any) -> Values:
    """One step of RMSProp."""
    squares = s.decay * s.mean_square + (1 - s.decay) * square(s.grad)
    moment = s.momentum * s.moment + s.learning_rate * s.grad / sqrt(squares + s.epsilon)
    return s.var - moment, squares, moment


def centered_rmsprop(s: Any) -> Values:
    """RMSProp with the variance in place of the mean square."""
    mean = s.decay * s.mean_gradient + (1 - s.decay) * s.grad
    squares = s.decay * s.mean_square + (1 - s.decay) * square(s.grad)
    moment = s.momentum * s.moment + s.lr * s.grad * rsqrt(squares - square(mean) + s.epsilon)
    return s.var - moment, mean, squares, moment


# ---- Adam and relatives ----------------------------------------------------------------------------------------------


def _moments(s: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
    return s.beta1 * s.m + (1 - s.beta1) * grad, s.beta2 * s.v + (1 - s.beta2) * square(grad)


def _rate(s: Any) -> Tensor:
    return s.lr * sqrt(1 - s.beta2_power) / (1 - s.beta1_power)


def adam(s: Any) -> Values:
    """One step of Adam, given the powers of its decay rates."""
    m, v = _moments(s, s.grad)
    top = s.beta1 * m + (1 - s.beta1) * s.grad if s.use_nesterov else m
    return s.var - _rate(s) * top / (sqrt(v) + s.epsilon), m, v


def adam_weight_decay(s: Any) -> Values:
    """Adam without bias correction, with decay of the variable."""
    m, v = _moments(s, s.grad)
    return s.var - s.lr * (m / (sqrt(v) + s.epsilon) + s.decay * s.var), m, v


def amsgrad(s: Any) -> Values:
    """Adam with the largest second moment so far."""
    m, v = _moments(s, s.grad)
    vhat = maximum(s.vhat, v)
    return s.var - _rate(s) * m / (sqrt(vhat) + s.epsilon), m, v, vhat


def adamax(s: Any) -> Values:
    """Adam with the infinity norm."""
    m = s.beta1 * s.m + (1 - s.beta1) * s.grad
    v = maximum(s.beta2 * s.v, abs_(s.grad))
    return s.var - s.lr / (1 - s.beta1_power) * (m / (v + s.epsilon)), m, v


def add_sign(s: Any) -> Values:
    """Larger steps where gradient and its running mean agree."""
    m = s.m * s.beta + s.grad * (1 - s.beta)
    return s.var - s.lr * ((s.alpha + s.sign_decay * sign(s.grad) * sign(m)) * s.grad), m


def power_sign(s: Any) -> Values:
    """`add_sign` with an exponential."""
    m = s.m * s.beta + s.grad * (1 - s.beta)
    return s.var - s.lr * (exp(s.logbase * s.sign_decay * sign(s.grad) * sign(m)) * s.grad), m


# ---- proximal steps --------------------------------------------------------------------------------------------------


def _shrunk(x: Tensor, rate: Tensor, s: Any) -> Tensor:
    """The point nearest to ``x`` under the penalties ``l1`` and ``l2``."""
    return sign(x) * maximum(abs_(x) - rate * s.l1, _zero(x)) / (1 + rate * s.l2)


def proximal_descent(s: Any) -> Values:
    """Gradient descent, then shrinking."""
    return (_shrunk(s.var - s.alpha * s.delta, s.alpha, s),)


def proximal_adagrad(s: Any) -> Values:
    """Adagrad, then shrinking."""
    accum = s.accum + square(s.grad)
    rate = s.lr * rsqrt(accum)
    return _shrunk(s.var - rate * s.grad, rate, s), accum


def ftrl(s: Any) -> Values:
    """Follow the regularised leader."""
    shrinkage = getattr(s, "l2_shrinkage", None)
    grad = s.grad if shrinkage is None else s.grad + 2 * shrinkage * s.var
    accum = s.accum + square(s.grad)
    old, new = (pow_(a, broadcast_to(-s.lr_power, shape=tuple(a.shape))) for a in (s.accum, accum))
    linear = s.linear + grad - (new - old) / s.lr * s.var
    moved = (sign(linear) * s.l1 - linear) / (new / s.lr + 2 * s.l2)
    return (
        select(greater(abs_(linear), broadcast_to(s.l1, shape=tuple(linear.shape))), moved, _zero(moved)),
        accum,
        linear,
    )


# ---- the classes -----------------------------------------------------------------------------------------------------

_FLAGS = {"use_locking", "use_nesterov", "update_slots", "nesterov", "gradient_scale", "weight_decay", "dampening"}
"""Attributes that are Python values for the steps; the others become tensors of the variable's dtype."""


def _namespace(p: Any, names: list[str], operands: tuple[Any, ...]) -> Any:
    """Operands and attributes by name, in the dtype of the variable."""
    if len(operands) != len(names):
        raise TypeError(f"{p.name} takes {len(names)} operands ({', '.join(names)}), but got {len(operands)}")
    dtype = operands[0].dtype
    values: dict[str, Any] = {
        name: value if name == "indices" else to_dtype(as_tensor(value, dtype), dtype)
        for name, value in zip(names, operands, strict=True)
    }
    for name, value in p.attrs.items():
        values[name] = value if name in _FLAGS else as_tensor(value, dtype)
    return SimpleNamespace(**values)


def _rows(s: Any, gradient: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient in the shape of the variable, and which of its elements are given."""
    zero = full(shape=tuple(like.shape), value=0, dtype=like.dtype)
    count = full(shape=tuple(gradient.shape[:1]), value=1, dtype=like.dtype)
    hits = scatter.index_add(full(shape=tuple(like.shape[:1]), value=0, dtype=like.dtype), s.indices, count, axis=0)
    given = reshape(greater(hits, _zero(hits)), shape=(like.shape[0], *(1,) * (like.ndim - 1)))
    return scatter.index_add(zero, s.indices, gradient, axis=0), broadcast_to(given, shape=tuple(like.shape))


def _row(
    name: str,
    step: Callable[[Any], Values],
    order: str,
    parameters: dict[str, Any] | None = None,
    slots: int = 1,
    written: tuple[int, ...] = (),
    results: int | None = None,
    every_row: bool = False,
) -> None:
    """Declares one class.

    Args:
        name: of the class.
        step: new values of what is written.
        order: names of the operands; one of them is ``indices`` for sparse gradients.
        parameters: of the constructor.
        slots: the first so many operands are written.
        written: places of the operands that are written, if they are others.
        results: how many of them the call gives (all); a single one not as a tuple.
        every_row: a sparse gradient counts as 0 in the rows that it does not hold.
    """
    names = order.split()
    places = written or tuple(range(slots))

    def forward(p: Any, *operands: Any) -> Any:
        s = _namespace(p, names, operands)
        given = None
        if "indices" in names:
            s.grad, given = _rows(s, s.grad, operands[0])
        targets = [operands[i] for i in places]
        for slot, new in zip(targets, step(s), strict=True):
            write(slot, to_dtype(new if given is None or every_row else select(given, new, slot), slot.dtype))
        shown = tuple(contents(slot) for slot in targets[:results])
        return shown[0] if len(shown) == 1 else shown

    forward.__doc__ = step.__doc__
    CLASSES[name] = declare(name, forward, parameters)


_LOCK = {"use_locking": False}
_NESTEROV = {"use_locking": False, "use_nesterov": False}
_row(
    "ApplyMomentum", momentum, "variable accumulation learning_rate gradient momentum",
    {"use_nesterov": False, "use_locking": False, "gradient_scale": 1.0}, slots=2, results=1,
)  # fmt: skip
_row("ApplyKerasMomentum", keras_momentum, "var accum lr grad momentum", _NESTEROV, slots=2)
_row("ApplyGradientDescent", descent, "var alpha delta")
_row("ApplyProximalGradientDescent", proximal_descent, "var alpha l1 l2 delta")
_row(
    "SGD", sgd, "parameters gradient learning_rate accum momentum stat",
    {"dampening": 0.0, "weight_decay": 0.0, "nesterov": False}, written=(0, 3, 5), results=1,
)  # fmt: skip
_row("ApplyAdagrad", adagrad, "var accum lr grad", {"update_slots": True}, slots=2)
_row("ApplyAdagradV2", adagrad_v2, "var accum lr grad", {"epsilon": REQUIRED, "update_slots": True}, slots=2)
_row(
    "ApplyAdagradDA", adagrad_da,
    "var gradient_accumulator gradient_squared_accumulator grad lr l1 l2 global_step", _LOCK, slots=3, results=1,
)  # fmt: skip
_row("ApplyAdadelta", adadelta, "var accum accum_update lr rho epsilon grad", slots=3)
_row(
    "ApplyRMSProp", rmsprop, "var mean_square moment learning_rate grad decay momentum epsilon", _LOCK, slots=3,
    results=1,
)  # fmt: skip
_row(
    "ApplyCenteredRMSProp", centered_rmsprop,
    "var mean_gradient mean_square moment grad lr decay momentum epsilon", _LOCK, slots=4, results=1,
)  # fmt: skip
_ADAM = "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad"
_row("Adam", adam, _ADAM, _NESTEROV, slots=3)
_row("FusedSparseAdam", adam, _ADAM + " indices", _NESTEROV, slots=3, every_row=True)
_row("FusedSparseLazyAdam", adam, _ADAM + " indices", _NESTEROV, slots=3)
_row("AdamWeightDecay", adam_weight_decay, "var m v lr beta1 beta2 epsilon decay grad", _LOCK, slots=3)
_AMSGRAD = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "use_locking": False}
_row("ApplyAdamWithAmsgrad", amsgrad, "var m v vhat beta1_power beta2_power lr grad", _AMSGRAD, slots=4)
_row(
    "ApplyAdamWithAmsgradV2", amsgrad, "var m v vhat beta1_power beta2_power lr beta1 beta2 epsilon grad", _LOCK,
    slots=4,
)  # fmt: skip
_row("ApplyAdaMax", adamax, "var m v beta1_power lr beta1 beta2 epsilon grad", slots=3)
_row("ApplyAddSign", add_sign, "var m lr alpha sign_decay beta grad", slots=2)
_row("ApplyPowerSign", power_sign, "var m lr logbase sign_decay beta grad", slots=2)
_row("ApplyFtrl", ftrl, "var accum linear grad lr l1 l2 lr_power", _LOCK, slots=3, results=1)
_row("ApplyProximalAdagrad", proximal_adagrad, "var accum lr l1 l2 grad", _LOCK, slots=2)

_FTRL = dict.fromkeys(("lr", "l1", "l2", "lr_power"), REQUIRED)
_row("SparseApplyAdagrad", adagrad, "var accum grad indices", {"lr": REQUIRED, "update_slots": True, **_LOCK}, slots=2)
_row(
    "SparseApplyAdagradV2", adagrad_v2, "var accum grad indices",
    {"lr": REQUIRED, "epsilon": REQUIRED, **_LOCK, "update_slots": True}, slots=2,
)  # fmt: skip
_row(
    "SparseApplyAdadelta", adadelta, "var accum accum_update lr rho grad indices", {"epsilon": REQUIRED, **_LOCK},
    slots=3,
)  # fmt: skip
_row(
    "SparseApplyRMSProp", rmsprop, "var mean_square moment learning_rate grad indices",
    {"decay": REQUIRED, "momentum": REQUIRED, "epsilon": REQUIRED, **_LOCK}, slots=3,
)  # fmt: skip
for _name in ("SparseApplyFtrl", "FusedSparseFtrl"):
    _row(_name, ftrl, "var accum linear grad indices", {**_FTRL, **_LOCK}, slots=3)
_row(
    "SparseApplyFtrlV2", ftrl, "var accum linear grad indices",
    {"lr": REQUIRED, "l1": REQUIRED, "l2": REQUIRED, "l2_shrinkage": REQUIRED, "lr_power": REQUIRED, **_LOCK}, slots=3,
)  # fmt: skip
for _name in ("SparseApplyProximalAdagrad", "FusedSparseProximalAdagrad"):
    _row(_name, proximal_adagrad, "var accum lr l1 l2 grad indices", _LOCK, slots=2)


# ---- steps that write no variable ------------------------------------------------------------------------------------


def _adam_step(p: Any, *operands: Any) -> Tensor:
    """What Adam would add to the variable; only the moments are written."""
    s = _namespace(p, _ADAM.split()[1:], operands)
    m, v = _moments(s, s.grad)
    write(operands[0], m)
    write(operands[1], v)
    top = s.beta1 * m + (1 - s.beta1) * s.grad if s.use_nesterov else m
    return -_rate(s) * top / (sqrt(v) + s.epsilon)


_LARS = "weight gradient weight_squares gradient_squares weight_decay learning_rate"


def _lars(p: Any, *operands: Any) -> Tensor:
    """The gradient scaled by the ratio of the norms of weight and gradient (given as sums of squares)."""
    s = _namespace(p, _LARS.split(), operands)
    size, slope = sqrt(s.weight_squares), sqrt(s.gradient_squares)
    rate = s.hyperpara * size / (slope + s.weight_decay * size + s.epsilon)
    if p.use_clip:
        rate = minimum(div(rate, s.learning_rate), constant_like(rate, 1))
    return rate * (s.gradient + s.weight_decay * s.weight)


CLASSES["AdamNoUpdateParam"] = declare("AdamNoUpdateParam", _adam_step, _NESTEROV)
CLASSES["LARSUpdate"] = declare("LARSUpdate", _lars, {"epsilon": 1e-5, "hyperpara": 0.001, "use_clip": False})
