"""Adam and its relatives."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.ops.arithmetic import abs_, maximum
from duograph.ops.compare import greater
from duograph.ops.creation import constant_like
from duograph.ops.norm import global_norm
from duograph.ops.select import select
from duograph.ops.unary import sqrt
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .optimizer import Optimizer, assign


def check_betas(beta1: Any, beta2: Any, eps: Any, owner: str) -> None:
    """Raises unless both are floats between 0 and 1 and ``eps`` is positive."""
    for name, value in (("beta1", beta1), ("beta2", beta2)):
        if not isinstance(value, float):
            raise TypeError(
                f"For '{owner}', the type of '{name}' should be 'float', but got type '{type(value).__name__}'."
            )
        if not 0.0 < value < 1.0:
            raise ValueError(
                f"For '{owner}', the '{name}' must be in range of (0.0, 1.0), but got {value} with type 'float'."
            )
    if not isinstance(eps, float):
        raise TypeError(f"For '{owner}', the type of 'eps' should be 'float', but got type '{type(eps).__name__}'.")
    if eps <= 0:
        raise ValueError(f"For '{owner}', the 'eps' must be float and must > 0, but got '{eps}' with type 'float'.")


def advance(power: Parameter, beta: float) -> Tensor:
    """Multiplies ``power`` by ``beta`` in place; returns 1 minus the new value."""
    value = power * beta
    assign(power, value, mine=True)
    return 1.0 - value


class Adam(Optimizer):
    """Adaptive moment estimation.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``1e-3``.
        beta1 (float): Default ``0.9``.
        beta2 (float): Default ``0.999``.
        eps (float): Default ``1e-8``.
        use_locking (bool): kept for old programs. Default ``False``.
        use_nesterov (bool): Default ``False``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.
        loss_scale (float): Default ``1.0``.
        use_amsgrad (bool): Default ``False``.
        kwargs: ``use_lazy`` and ``use_offload``, without effect.

    Raises:
        TypeError: wrong types.
        ValueError: values out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> from duograph import nn
        >>> net = nn.Dense(2, 1)
        >>> optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = self.cls_name
        if unknown := [key for key in kwargs if key not in ("use_lazy", "use_offload")]:
            raise ValueError(f"For 'Adam', the keyword arguments {unknown} are not recognized.")
        check_betas(beta1, beta2, eps, owner)
        checks.boolean(use_locking, "use_locking", owner)
        self.use_nesterov = checks.boolean(use_nesterov, "use_nesterov", owner)
        self.use_amsgrad = checks.boolean(use_amsgrad, "use_amsgrad", owner)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = Parameter(Tensor(1.0, dt.float32), name="beta1_power")
        self.beta2_power = Parameter(Tensor(1.0, dt.float32), name="beta2_power")
        self.moment1 = self.states("moment1")
        self.moment2 = self.states("moment2")
        if use_amsgrad:
            self.vhat = self.states("vhat")

    def before_step(self):
        left1 = advance(self.beta1_power, self.beta1)
        left2 = advance(self.beta2_power, self.beta2)
        return sqrt(left2) / left1

    def move(self, i, param, grad, lr, decay, shared):
        m = self.moment1[i] + (grad - self.moment1[i]) * (1.0 - self.beta1)
        v = self.moment2[i] + (grad * grad - self.moment2[i]) * (1.0 - self.beta2)
        assign(self.moment1[i], m, mine=True)
        assign(self.moment2[i], v, mine=True)
        if self.use_amsgrad:
            v = maximum(self.vhat[i], v)
            assign(self.vhat[i], v)
        if self.use_nesterov:
            m = m * self.beta1 + grad * (1.0 - self.beta1)
        assign(param, param - m * (lr * shared) / (sqrt(v) + self.eps))


class LazyAdam(Adam):
    """Adam for sparse gradients; with the dense gradients of duograph it is `Adam`.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.LazyAdam([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdamOffload(LazyAdam):
    """Adam whose states are kept in host memory: here they always are.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.AdamOffload([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """


class AdamWeightDecay(Optimizer):
    """Adam without bias correction and with decoupled weight decay.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``1e-3``.
        beta1 (float): Default ``0.9``.
        beta2 (float): Default ``0.999``.
        eps (float): Default ``1e-6``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.AdamWeightDecay([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    decoupled_weight_decay = True

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1 = self.states("adam_m")
        self.moments2 = self.states("adam_v")

    def move(self, i, param, grad, lr, decay, shared):
        m = self.moments1[i] * self.beta1 + grad * (1.0 - self.beta1)
        v = self.moments2[i] * self.beta2 + grad * grad * (1.0 - self.beta2)
        assign(self.moments1[i], m, mine=True)
        assign(self.moments2[i], v, mine=True)
        update = m / (sqrt(v) + self.eps)
        if decay is not None:
            update = update + param * decay
        assign(param, param - update * lr)


class AdaMax(Optimizer):
    """Adam with the infinity norm.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``0.001``.
        beta1 (float): Default ``0.9``.
        beta2 (float): Default ``0.999``.
        eps (float): Default ``1e-08``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.
        loss_scale (float): Default ``1.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.AdaMax([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-08,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = Parameter(Tensor(1.0, dt.float32), name="beta1_power")
        self.moment1 = self.states("moment1")
        self.moment2 = self.states("moment2")

    def before_step(self):
        return advance(self.beta1_power, self.beta1)

    def move(self, i, param, grad, lr, decay, shared):
        m = self.moment1[i] * self.beta1 + grad * (1.0 - self.beta1)
        v = maximum(self.moment2[i] * self.beta2, abs_(grad))
        assign(self.moment1[i], m, mine=True)
        assign(self.moment2[i], v, mine=True)
        assign(param, param - m * (lr / shared) / (v + self.eps))


class Lamb(Optimizer):
    """Layer-wise adaptive moments: each parameter moves by a step scaled to its own norm.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): the rate.
        beta1 (float): Default ``0.9``.
        beta2 (float): Default ``0.999``.
        eps (float): Default ``1e-6``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.Lamb([weight], 0.1)
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    decoupled_weight_decay = True

    def __init__(
        self,
        params: Any,
        learning_rate: Any,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        check_betas(beta1, beta2, eps, self.cls_name)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.moments1 = self.states("lamb_m")
        self.moments2 = self.states("lamb_v")

    def before_step(self):
        step = self.global_step.astype(dt.float32).reshape(())
        return 1.0 - self.beta1**step, 1.0 - self.beta2**step

    def move(self, i, param, grad, lr, decay, shared):
        left1, left2 = shared
        m = self.moments1[i] * self.beta1 + grad * (1.0 - self.beta1)
        v = self.moments2[i] * self.beta2 + grad * grad * (1.0 - self.beta2)
        assign(self.moments1[i], m, mine=True)
        assign(self.moments2[i], v, mine=True)
        update = (m / left1) / (sqrt(v / left2) + self.eps)
        if decay is not None:
            update = update + param * decay
        norm, length = global_norm([param]), global_norm([update])
        zero = constant_like(norm, 0)
        positive = greater(norm, zero) & greater(length, zero)
        trust = select(positive, norm / select(positive, length, constant_like(norm, 1)), constant_like(norm, 1))
        assign(param, param - update * (lr * trust))
