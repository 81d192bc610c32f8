"""Primitive classes of optimiser steps: they write the variable and its slots in place.

A row names the update rule (`update_rules`), what it is given as settings, the operands, and which of them are written.
The settings are a function of the Primitive's attributes and of the operands, together in one namespace ``s``. The same
rules serve the sparse forms: there the gradient holds only the rows ``indices`` of the variable (rows given twice are
added up), and only these rows are written.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from duograph.ops import indexing
from duograph.ops.compare import greater
from duograph.ops.creation import constant_like, full
from duograph.ops.movement import broadcast_to, reshape
from duograph.ops.select import select
from duograph.ops.unary import sqrt
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

from .. import update_rules as rules
from ..functional.forms import contents
from ..promote import as_tensor, to_dtype
from .base import REQUIRED, TablePrimitive, declare

CLASSES: dict[str, type[TablePrimitive]] = {}
"""Class name to class."""

_FLAGS = {"use_locking", "use_nesterov", "update_slots", "nesterov", "gradient_scale", "weight_decay", "dampening"}
"""Attributes that are Python values for the rules; the others become tensors of the variable's dtype."""


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
    hits = indexing.index_add(full(shape=tuple(like.shape[:1]), value=0, dtype=like.dtype), s.indices, count, axis=0)
    given = reshape(greater(hits, constant_like(hits, 0)), shape=(like.shape[0], *(1,) * (like.ndim - 1)))
    return indexing.index_add(zero, s.indices, gradient, axis=0), broadcast_to(given, shape=tuple(like.shape))


def _row(
    name: str,
    rule: Callable[..., rules.Values],
    settings: Callable[[Any], dict[str, Any]],
    order: str,
    parameters: dict[str, Any] | None = None,
    written: tuple[int, ...] = (0, 1),
    results: int | None = None,
    every_row: bool = False,
    gradient: Callable[[Any], Tensor] = lambda s: s.grad,
) -> None:
    """Declares one class.

    Args:
        name: of the class.
        rule: of `update_rules`.
        settings: what the rule is given by name.
        order: names of the operands; one of them is ``indices`` for sparse gradients.
        parameters: of the constructor.
        written: places of the operands that are written: the variable and its states, in the order of the rule.
        results: how many of them the call gives (all); a single one not as a tuple.
        every_row: a sparse gradient counts as 0 in the rows that it does not hold.
        gradient: what the rule is given as the gradient.
    """
    names = order.split()

    def forward(p: Any, *operands: Any) -> Any:
        s = _namespace(p, names, operands)
        given = None
        if "indices" in names:
            s.grad, given = _rows(s, s.grad, operands[0])
        new_values = rule(gradient(s), *[getattr(s, names[i]) for i in written], **settings(s))
        targets = [operands[i] for i in written]
        for slot, new in zip(targets, new_values, strict=False):  # a rule may have more states than are kept here
            if new is not None:
                write(slot, to_dtype(new if given is None or every_row else select(given, new, slot), slot.dtype))
        shown = tuple(contents(slot) for slot in targets[:results])
        return shown[0] if len(shown) == 1 else shown

    forward.__doc__ = rule.__doc__
    CLASSES[name] = declare(name, forward, parameters, operands=tuple(names))


_LOCK = {"use_locking": False}
_NESTEROV = {"use_locking": False, "use_nesterov": False}

# ---- descent and momentum -------------------------------------------------------------------------------------------


def _scaled(s: Any) -> Tensor:
    return s.gradient if s.gradient_scale == 1.0 else s.gradient * s.gradient_scale


def _decayed(s: Any) -> Tensor:
    return s.gradient + s.parameters * s.weight_decay if s.weight_decay > 0 else s.gradient


_row(
    "ApplyMomentum", rules.momentum,
    lambda s: {"lr": s.learning_rate, "mu": s.momentum, "nesterov": s.use_nesterov},
    "variable accumulation learning_rate gradient momentum",
    {"use_nesterov": False, "use_locking": False, "gradient_scale": 1.0}, results=1, gradient=_scaled,
)  # fmt: skip
_row(
    "ApplyKerasMomentum", rules.keras_momentum,
    lambda s: {"lr": s.lr, "mu": s.momentum, "nesterov": s.use_nesterov}, "var accum lr grad momentum", _NESTEROV,
)  # fmt: skip
_row(
    "ApplyGradientDescent", rules.descent, lambda s: {"lr": s.alpha}, "var alpha delta", written=(0,),
    gradient=lambda s: s.delta,
)  # fmt: skip
_row(
    "ApplyProximalGradientDescent", rules.proximal_descent, lambda s: {"lr": s.alpha, "l1": s.l1, "l2": s.l2},
    "var alpha l1 l2 delta", written=(0,), gradient=lambda s: s.delta,
)  # fmt: skip
_row(
    "SGD", rules.momentum,
    lambda s: {"lr": s.learning_rate, "mu": s.momentum, "dampening": s.dampening, "nesterov": s.nesterov},
    "parameters gradient learning_rate accum momentum stat",
    {"dampening": 0.0, "weight_decay": 0.0, "nesterov": False}, written=(0, 3, 5), results=1, gradient=_decayed,
)  # fmt: skip
_row(
    "ApplyAddSign", rules.add_sign, lambda s: {"lr": s.lr, "beta": s.beta, "alpha": s.alpha, "decay": s.sign_decay},
    "var m lr alpha sign_decay beta grad",
)  # fmt: skip
_row(
    "ApplyPowerSign", rules.power_sign,
    lambda s: {"lr": s.lr, "beta": s.beta, "base": s.logbase, "decay": s.sign_decay},
    "var m lr logbase sign_decay beta grad",
)  # fmt: skip

# ---- steps scaled by past gradients ----------------------------------------------------------------------------------


def _adagrad(s: Any) -> dict[str, Any]:
    return {"lr": s.lr, "update": s.update_slots, "inverse": True}


def _adagrad_v2(s: Any) -> dict[str, Any]:
    return {"lr": s.lr, "eps": s.epsilon, "update": s.update_slots}


def _adadelta(s: Any) -> dict[str, Any]:
    return {"lr": s.lr, "rho": s.rho, "eps": s.epsilon, "inverse": True}


def _rmsprop(s: Any) -> dict[str, Any]:
    return {"lr": s.learning_rate, "keep": s.decay, "mu": s.momentum, "eps": s.epsilon}


def _proximal_adagrad(s: Any) -> dict[str, Any]:
    return {"lr": s.lr, "l1": s.l1, "l2": s.l2, "inverse": True}


def _ftrl(s: Any) -> dict[str, Any]:
    return {"lr": s.lr, "l1": s.l1, "l2": s.l2, "power": s.lr_power}


_REQUIRED_LR = {"lr": REQUIRED, "update_slots": True}
_row("ApplyAdagrad", rules.adagrad, _adagrad, "var accum lr grad", {"update_slots": True})
_row("SparseApplyAdagrad", rules.adagrad, _adagrad, "var accum grad indices", {**_REQUIRED_LR, **_LOCK})
_V2 = {"epsilon": REQUIRED, "update_slots": True}
_row("ApplyAdagradV2", rules.adagrad, _adagrad_v2, "var accum lr grad", _V2)
_row(
    "SparseApplyAdagradV2", rules.adagrad, _adagrad_v2, "var accum grad indices",
    {"lr": REQUIRED, "epsilon": REQUIRED, **_LOCK, "update_slots": True},
)  # fmt: skip
_row(
    "ApplyAdagradDA", rules.adagrad_da, lambda s: {"lr": s.lr, "l1": s.l1, "l2": s.l2, "t": s.global_step},
    "var gradient_accumulator gradient_squared_accumulator grad lr l1 l2 global_step", _LOCK, (0, 1, 2), results=1,
)  # fmt: skip
_row("ApplyAdadelta", rules.adadelta, _adadelta, "var accum accum_update lr rho epsilon grad", None, (0, 1, 2))
_row(
    "SparseApplyAdadelta", rules.adadelta, _adadelta, "var accum accum_update lr rho grad indices",
    {"epsilon": REQUIRED, **_LOCK}, (0, 1, 2),
)  # fmt: skip
_row(
    "ApplyRMSProp", rules.rmsprop, _rmsprop, "var mean_square moment learning_rate grad decay momentum epsilon", _LOCK,
    (0, 1, 2), results=1,
)  # fmt: skip
_row(
    "SparseApplyRMSProp", rules.rmsprop, _rmsprop, "var mean_square moment learning_rate grad indices",
    {"decay": REQUIRED, "momentum": REQUIRED, "epsilon": REQUIRED, **_LOCK}, (0, 1, 2),
)  # fmt: skip
_row(
    "ApplyCenteredRMSProp", rules.rmsprop,
    lambda s: {"lr": s.lr, "keep": s.decay, "mu": s.momentum, "eps": s.epsilon, "inverse": True},
    "var mean_gradient mean_square moment grad lr decay momentum epsilon", _LOCK, (0, 2, 3, 1), results=1,
)  # fmt: skip
_row("ApplyProximalAdagrad", rules.proximal_adagrad, _proximal_adagrad, "var accum lr l1 l2 grad", _LOCK)
for _name in ("SparseApplyProximalAdagrad", "FusedSparseProximalAdagrad"):
    _row(_name, rules.proximal_adagrad, _proximal_adagrad, "var accum lr l1 l2 grad indices", _LOCK)

_FTRL = dict.fromkeys(("lr", "l1", "l2", "lr_power"), REQUIRED)
_row("ApplyFtrl", rules.ftrl, _ftrl, "var accum linear grad lr l1 l2 lr_power", _LOCK, (0, 1, 2), results=1)
for _name in ("SparseApplyFtrl", "FusedSparseFtrl"):
    _row(_name, rules.ftrl, _ftrl, "var accum linear grad indices", {**_FTRL, **_LOCK}, (0, 1, 2))
_row(
    "SparseApplyFtrlV2", rules.ftrl, lambda s: {**_ftrl(s), "shrinkage": s.l2_shrinkage},
    "var accum linear grad indices",
    {"lr": REQUIRED, "l1": REQUIRED, "l2": REQUIRED, "l2_shrinkage": REQUIRED, "lr_power": REQUIRED, **_LOCK},
    (0, 1, 2),
)  # fmt: skip

# ---- Adam and relatives ---------------------------------------------------------------------------------------------


def _amsgrad(s: Any) -> dict[str, Any]:
    rate = rules.corrected(s.lr, 1 - s.beta1_power, 1 - s.beta2_power)
    return {"rate": rate, "beta1": s.beta1, "beta2": s.beta2, "eps": s.epsilon}


def _adam(s: Any) -> dict[str, Any]:
    return {**_amsgrad(s), "nesterov": s.use_nesterov}


_ADAM = "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad"
_row("Adam", rules.adam, _adam, _ADAM, _NESTEROV, (0, 1, 2))
_row("FusedSparseAdam", rules.adam, _adam, _ADAM + " indices", _NESTEROV, (0, 1, 2), every_row=True)
_row("FusedSparseLazyAdam", rules.adam, _adam, _ADAM + " indices", _NESTEROV, (0, 1, 2))
_row(
    "ApplyAdamWithAmsgrad", rules.adam, _amsgrad, "var m v vhat beta1_power beta2_power lr grad",
    {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "use_locking": False}, (0, 1, 2, 3),
)  # fmt: skip
_row(
    "ApplyAdamWithAmsgradV2", rules.adam, _amsgrad,
    "var m v vhat beta1_power beta2_power lr beta1 beta2 epsilon grad", _LOCK, (0, 1, 2, 3),
)  # fmt: skip
_row(
    "AdamWeightDecay", rules.adam_weight_decay,
    lambda s: {"lr": s.lr, "beta1": s.beta1, "beta2": s.beta2, "eps": s.epsilon, "decay": s.decay},
    "var m v lr beta1 beta2 epsilon decay grad", _LOCK, (0, 1, 2),
)  # fmt: skip
_row(
    "ApplyAdaMax", rules.adamax,
    lambda s: {"rate": s.lr / (1 - s.beta1_power), "beta1": s.beta1, "beta2": s.beta2, "eps": s.epsilon,
               "rate_last": True},
    "var m v beta1_power lr beta1 beta2 epsilon grad", None, (0, 1, 2),
)  # fmt: skip

# ---- steps that write no variable ------------------------------------------------------------------------------------


def _adam_step(p: Any, *operands: Any) -> Tensor:
    """What Adam would add to the variable; only the moments are written."""
    s = _namespace(p, _ADAM.split()[1:], operands)
    settings = _adam(s)
    step, m, v, _ = rules.adam(s.grad, None, s.m, s.v, **{**settings, "rate": -settings["rate"]})
    write(operands[0], m)
    write(operands[1], v)
    return step


_LARS = "weight gradient weight_squares gradient_squares weight_decay learning_rate"


def _lars(p: Any, *operands: Any) -> Tensor:
    """The gradient scaled by the ratio of the norms of weight and gradient (given as sums of squares)."""
    s = _namespace(p, _LARS.split(), operands)
    size, slope = sqrt(s.weight_squares), sqrt(s.gradient_squares)
    settings = {"coefficient": s.hyperpara, "decay": s.weight_decay, "eps": s.epsilon, "clip": p.use_clip}
    return rules.lars_rate(size, slope, s.learning_rate, **settings) * (s.gradient + s.weight_decay * s.weight)


CLASSES["AdamNoUpdateParam"] = declare("AdamNoUpdateParam", _adam_step, _NESTEROV)
CLASSES["LARSUpdate"] = declare("LARSUpdate", _lars, {"epsilon": 1e-5, "hyperpara": 0.001, "use_clip": False})
