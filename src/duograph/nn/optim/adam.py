"""Adam and its relatives."""

from __future__ import annotations

from typing import Annotated, Any

from duograph.api import update_rules as rules
from duograph.base.absent import keyword_instead
from duograph.core import dtype as dt
from duograph.nn.kinds import Flag
from duograph.nn.settings import Fixed, Kind, absent, option, with_settings
from duograph.ops.unary import sqrt
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .kinds import Decay, Epsilon, Locking, Params, Rate, Scale, Share
from .optimizer import Optimizer, assign, scalar, store


def advance(power: Parameter, beta: float) -> Tensor:
    """Multiplies ``power`` by ``beta`` in place; returns 1 minus the new value."""
    value = power * beta
    assign(power, value, mine=True)
    return 1.0 - value


def _old_keywords(kwargs: Any, name: str, owner: str) -> Any:
    if unknown := [key for key in kwargs if key not in ("use_lazy", "use_offload")]:
        hint = keyword_instead(unknown[0], Adam._settings) or "."  # type: ignore[attr-defined]
        raise ValueError(f"For 'Adam', the keyword arguments {unknown} are not recognized{hint}")
    return kwargs


_OldKeywords = Annotated[
    Any, Kind("", _old_keywords, "``use_lazy`` and ``use_offload``, without effect", kept=False, collects=True)
]


@with_settings
class Adam(Optimizer):
    """Adaptive moment estimation.

    Examples:
        >>> from duograph import nn
        >>> net = nn.Dense(2, 1)
        >>> optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    """

    params: Params
    learning_rate: Rate = 1e-3
    beta1: Share = 0.9
    beta2: Share = 0.999
    eps: Epsilon = 1e-8
    use_locking: Locking = False
    use_nesterov: Flag = False
    weight_decay: Decay = 0.0
    loss_scale: Scale = 1.0
    use_amsgrad: Flag = False
    kwargs: _OldKeywords = None

    def _settings_taken(self, given):
        self.beta1_power, self.beta2_power = scalar("beta1_power", 1.0), scalar("beta2_power", 1.0)
        self.moment1, self.moment2 = self.states("moment1"), self.states("moment2")
        if self.use_amsgrad:
            self.vhat = self.states("vhat")

    def before_step(self):
        left1 = advance(self.beta1_power, self.beta1)
        left2 = advance(self.beta2_power, self.beta2)
        return sqrt(left2) / left1

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.moment1[i], self.moment2[i], self.vhat[i] if self.use_amsgrad else None
        new = rules.adam(
            grad, *slots, rate=lr * shared, beta1=self.beta1, beta2=self.beta2, eps=self.eps,
            nesterov=self.use_nesterov, by_gap=True,
        )  # fmt: skip
        store(slots, new)


@with_settings
class LazyAdam(Adam):
    """Adam for sparse gradients; with the dense gradients of duograph it is `Adam`.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.LazyAdam([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.999 1.999]
    """

    use_amsgrad: Fixed = False
    kwargs: Fixed = absent


@with_settings
class AdamOffload(LazyAdam):
    """Adam whose states are kept in host memory: here they always are.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.AdamOffload([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.999 1.999]
    """


@with_settings
class AdamWeightDecay(Optimizer):
    """Adam without bias correction and with decoupled weight decay.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.AdamWeightDecay([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.9968379 1.996838 ]
    """

    params: Params
    learning_rate: Rate = 1e-3
    beta1: Share = 0.9
    beta2: Share = 0.999
    eps: Epsilon = 1e-6
    weight_decay: Decay = 0.0

    decoupled_weight_decay = True

    def _settings_taken(self, given):
        self.moments1, self.moments2 = self.states("adam_m"), self.states("adam_v")

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.moments1[i], self.moments2[i]
        store(slots, rules.adam_weight_decay(
            grad, *slots, lr=lr, beta1=self.beta1, beta2=self.beta2, eps=self.eps, decay=decay
        ))  # fmt: skip


@with_settings
class AdaMax(Optimizer):
    """Adam with the infinity norm.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.AdaMax([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.999 1.999]
    """

    params: Params
    learning_rate: Rate = 0.001
    beta1: Share = 0.9
    beta2: Share = 0.999
    eps: Epsilon = 1e-08
    weight_decay: Decay = 0.0
    loss_scale: Scale = 1.0

    def _settings_taken(self, given):
        self.beta1_power = scalar("beta1_power", 1.0)
        self.moment1, self.moment2 = self.states("moment1"), self.states("moment2")

    def before_step(self):
        return advance(self.beta1_power, self.beta1)

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.moment1[i], self.moment2[i]
        store(slots, rules.adamax(
            grad, *slots, rate=lr / shared, beta1=self.beta1, beta2=self.beta2, eps=self.eps
        ))  # fmt: skip


@with_settings
class Lamb(Optimizer):
    """Layer-wise adaptive moments: each parameter moves by a step scaled to its own norm.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.Lamb([weight], 0.1)((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.8418861 1.8418862]
    """

    params: Params
    learning_rate: Rate = option("the rate")
    beta1: Share = 0.9
    beta2: Share = 0.999
    eps: Epsilon = 1e-6
    weight_decay: Decay = 0.0

    decoupled_weight_decay = True

    def _settings_taken(self, given):
        self.moments1, self.moments2 = self.states("lamb_m"), self.states("lamb_v")

    def before_step(self):
        step = self.global_step.astype(dt.float32).reshape(())
        return 1.0 - self.beta1**step, 1.0 - self.beta2**step

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.moments1[i], self.moments2[i]
        store(slots, rules.lamb(
            grad, *slots, lr=lr, beta1=self.beta1, beta2=self.beta2, eps=self.eps, left=shared, decay=decay
        ))  # fmt: skip
