"""ASGD, Rprop and the wrapper LARS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.nn import checks
from duograph.nn.cell import Cell
from duograph.ops.arithmetic import maximum, minimum, sign
from duograph.ops.compare import equal, greater, less
from duograph.ops.creation import constant_like
from duograph.ops.norm import global_norm
from duograph.ops.select import select
from duograph.tensor.parameter import Parameter, ParameterTuple
from duograph.tensor.tensor import Tensor

from .adaptive import float_at_least
from .optimizer import Optimizer, assign


class ASGD(Optimizer):
    """Averaged stochastic gradient descent.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): Default ``0.1``.
        lambd (float): decay term. Default ``1e-4``.
        alpha (float): power of the decay of the rate. Default ``0.75``.
        t0 (float): step at which averaging starts. Default ``1e6``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.ASGD([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            checks.real(value, name, self.cls_name)
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0
        self.mu = ParameterTuple([Parameter(Tensor(1.0, dt.float32), name=f"mu_{p.name}") for p in self.parameters])
        self.eta = ParameterTuple([Parameter(Tensor(0.0, dt.float32), name=f"eta_{p.name}") for p in self.parameters])
        self.ax = self.states("ax_")

    def before_step(self):
        return self.global_step.astype(dt.float32).reshape(())

    def move(self, i, param, grad, lr, decay, shared):
        step = shared
        first = equal(step, constant_like(step, 1))
        eta = select(first, lr * constant_like(lr, 1), self.eta[i])
        moved = param * (1.0 - eta * self.lambd) - grad * eta
        mu = self.mu[i]
        whole = equal(mu, constant_like(mu, 1))
        assign(self.ax[i], select(whole, moved, self.ax[i] + (moved - self.ax[i]) * mu))
        assign(param, moved)
        assign(self.eta[i], lr / (step * lr * self.lambd + 1.0) ** self.alpha)
        late = step - self.t0
        assign(mu, 1.0 / maximum(late, constant_like(late, 1)))


class Rprop(Optimizer):
    """Resilient backpropagation: step sizes of their own, changed by the signs of the gradients.

    Args:
        params (Union[list[Parameter], list[dict]]): see `Optimizer`.
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): first step size. Default ``0.1``.
        etas (tuple[float, float]): factors for changed and for equal signs. Default ``(0.5, 1.2)``.
        step_sizes (tuple[float, float]): least and greatest step size. Default ``(1e-6, 50.)``.
        weight_decay (Union[float, int, Cell]): Default ``0.0``.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> optimizer = nn.Rprop([weight])
        >>> _ = optimizer((Tensor([0.5, 0.5]),))
        >>> print(weight.shape)
        (2,)
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(value, tuple):
                raise TypeError(f"For 'Rprop', the type of '{name}' should be tuple, but got {type(value).__name__}.")
            if len(value) != 2:
                raise ValueError(f"For 'Rprop', the length of '{name}' must be 2, but got {len(value)}.")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For 'Rprop', the minimal step size must not exceed the maximal, but got {step_sizes}.")
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"For 'Rprop', the etas must satisfy 0 < etas[0] < 1 < etas[1], but got {etas}.")
        self.etaminus, self.etaplus = etas
        self.step_size_min, self.step_size_max = step_sizes
        self.prev = self.states("prev")
        self.step_size = self.states("step_size")

    def before_step(self):
        step = self.global_step.reshape(())
        return equal(step, constant_like(step, 1))

    def move(self, i, param, grad, lr, decay, shared):
        size = select(shared, self.step_size[i] * 0.0 + lr, self.step_size[i])
        turn = grad * self.prev[i]
        zero = constant_like(turn, 0)
        factor = select(
            greater(turn, zero),
            constant_like(turn, self.etaplus),
            select(less(turn, zero), constant_like(turn, self.etaminus), constant_like(turn, 1)),
        )
        size = size * factor
        size = minimum(maximum(size, constant_like(size, self.step_size_min)), constant_like(size, self.step_size_max))
        grad = select(less(turn, zero), constant_like(grad, 0), grad)
        assign(self.step_size[i], size)
        assign(self.prev[i], grad)
        assign(param, param - sign(grad) * size)


class LARS(Cell):
    """Layer-wise adaptive rates around another optimizer.

    Args:
        optimizer (Optimizer): the optimizer.
        epsilon (float): Default ``1e-05``.
        coefficient (float): trust coefficient. Default ``0.001``.
        use_clip (bool): whether the local rate is limited to 1. Default ``False``.
        lars_filter (Function): which parameters take part; default: those that are no bias or LayerNorm.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: float = 1e-05,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Parameter], bool] = lambda x: "LayerNorm" not in x.name and "bias" not in x.name,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"For 'LARS', the 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}.")
        self.epsilon = float_at_least(epsilon, "epsilon", self.cls_name)
        self.coefficient = float_at_least(coefficient, "coefficient", self.cls_name)
        self.use_clip = checks.boolean(use_clip, "use_clip", self.cls_name)
        self.opt = optimizer
        self.lars_flag = tuple(bool(lars_filter(p)) for p in optimizer.parameters)
        self.decays = optimizer._decays
        optimizer._decays = (0.0,) * optimizer.param_length  # the decay is part of the local rate

    @property
    def parameters(self) -> ParameterTuple:
        """The parameters of the optimizer."""
        return self.opt.parameters

    @property
    def global_step(self) -> Parameter:
        """The step counter of the optimizer."""
        return self.opt.global_step

    def get_lr(self) -> Any:
        """The rate of the optimizer."""
        return self.opt.get_lr()

    def construct(self, gradients):
        return self.opt(self.localized(gradients))

    def localized(self, gradients: Any) -> tuple[Tensor, ...]:
        """Gradients with the rates of their layers multiplied in."""
        rates = self.opt.rates()
        out = []
        for i, (param, grad) in enumerate(zip(self.opt.parameters, gradients, strict=True)):
            decay = self.decays[i] if self.opt.decay_flags[i] else 0.0
            out.append(self._localized(param, grad, decay, rates[i]) if self.lars_flag[i] else grad + param * decay)
        return tuple(out)

    def _localized(self, param: Parameter, grad: Tensor, decay: float, lr: Tensor) -> Tensor:
        size, slope = global_norm([param]), global_norm([grad])
        local = size * self.coefficient / (slope + size * decay + self.epsilon)
        if self.use_clip:
            local = minimum(local / lr, constant_like(local, 1))
        zero = constant_like(size, 0)
        local = select(greater(size, zero) & greater(slope, zero), local, constant_like(local, 1))
        return (grad + param * decay) * local
