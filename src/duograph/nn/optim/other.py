"""ASGD, Rprop and the wrapper LARS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from duograph.api import update_rules as rules
from duograph.api.functional.index import where
from duograph.core import dtype as dt
from duograph.nn.cell import Cell
from duograph.nn.kinds import Flag, Real
from duograph.nn.settings import Kind, Setting, keep, option, with_settings
from duograph.ops.norm import global_norm
from duograph.tensor.parameter import Parameter, ParameterTuple
from duograph.tensor.tensor import Tensor

from .kinds import Decay, NotNegative, Params, Rate
from .optimizer import Optimizer, scalar, store


@with_settings
class ASGD(Optimizer):
    """Averaged stochastic gradient descent.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.ASGD([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.94999 1.94998]
    """

    params: Params
    learning_rate: Rate = 0.1
    lambd: Real = option("decay term", default=1e-4)
    alpha: Real = option("power of the decay of the rate", default=0.75)
    t0: Real = option("step at which averaging starts", default=1e6)
    weight_decay: Decay = 0.0

    def _settings_taken(self, given):
        names = [p.name for p in self.parameters]
        self.mu = self.kept([f"mu_{name}" for name in names], lambda p: scalar("mu", 1.0))
        self.eta = self.kept([f"eta_{name}" for name in names], lambda p: scalar("eta", 0.0))
        self.ax = self.states("ax_")

    def before_step(self):
        return self.global_step.astype(dt.float32).reshape(())

    def move(self, i, param, grad, lr, decay, shared):
        step, mu, eta = shared, self.mu[i], self.eta[i]
        slots = param, self.ax[i]
        rate = where(step == 1, lr, eta)
        new = rules.asgd(grad, *slots, rate=rate, share=mu, lambd=self.lambd, copy=True)
        following = lr / (step * lr * self.lambd + 1.0) ** self.alpha
        store((*slots, eta, mu), (*new, following, 1.0 / rules.maximum(step - self.t0, 1)))


def _pair(value: Any, name: str, owner: str) -> tuple[Any, Any]:
    if not isinstance(value, tuple):
        raise TypeError(f"For 'Rprop', the type of '{name}' should be tuple, but got {type(value).__name__}.")
    if len(value) != 2:
        raise ValueError(f"For 'Rprop', the length of '{name}' must be 2, but got {len(value)}.")
    return value


_Pair = Annotated[tuple[float, float], Kind("tuple[float, float]", _pair, kept=False)]


@with_settings
class Rprop(Optimizer):
    """Resilient backpropagation: each element has its own step size, adapted by the signs of its gradients.

    Examples:
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> _ = nn.Rprop([weight])((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [0.9 1.9]
    """

    params: Params
    learning_rate: Rate = option("first step size", default=0.1)
    etas: _Pair = option("factors for changed and for equal signs", default=(0.5, 1.2))
    step_sizes: _Pair = option("least and greatest step size", default=(1e-6, 50.0))
    weight_decay: Decay = 0.0

    def _settings_taken(self, given):
        etas, sizes = given["etas"], given["step_sizes"]
        if sizes[0] > sizes[1]:
            raise ValueError(f"For 'Rprop', the minimal step size must not exceed the maximal, but got {sizes}.")
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"For 'Rprop', the etas must satisfy 0 < etas[0] < 1 < etas[1], but got {etas}.")
        self.etaminus, self.etaplus = etas
        self.step_size_min, self.step_size_max = sizes
        self.prev, self.step_size = self.states("prev"), self.states("step_size")

    def before_step(self):
        return self.global_step.reshape(()) == 1

    def move(self, i, param, grad, lr, decay, shared):
        slots = param, self.prev[i], self.step_size[i]
        etas, sizes = (self.etaminus, self.etaplus), (self.step_size_min, self.step_size_max)
        store(slots, rules.rprop(grad, *slots, lr=lr, first=shared, etas=etas, sizes=sizes))


def _optimizer(value: Any, name: str, owner: str) -> Optimizer:
    if not isinstance(value, Optimizer):
        raise TypeError(f"For 'LARS', the 'optimizer' must be an Optimizer, but got {type(value).__name__}.")
    return value


def _is_weight(param: Parameter) -> bool:
    return "LayerNorm" not in param.name and "bias" not in param.name


_Inner = Annotated[Optimizer, Kind("Optimizer", _optimizer, kept=False)]
_Filter = Annotated[Callable[[Parameter], bool], Kind("Function", kept=False)]


@with_settings
class LARS(Cell):
    """Layer-wise adaptive rates around another optimizer.

    Examples:
        >>> weight = ms.Parameter(Tensor([3.0, 4.0]), name="weight")
        >>> _ = nn.LARS(nn.Momentum([weight], 0.1, 0.9), coefficient=0.02)((Tensor([0.5, 0.5]),))
        >>> print(weight.value())
        [2.992929 3.992929]
    """

    optimizer: _Inner = option("the optimizer")
    epsilon: NotNegative = 1e-05
    coefficient: NotNegative = option("trust coefficient", default=0.001)
    use_clip: Flag = option("whether the local rate is limited to 1", default=False)
    lars_filter: _Filter = option(
        "which parameters take part; default: those that do not belong to a bias or LayerNorm", default=_is_weight
    )

    def _take_settings(self, given: dict[str, Any], settings: dict[str, Setting]) -> None:
        Cell.__init__(self, auto_prefix=False)
        keep(self, given, settings)
        optimizer = self.opt = given["optimizer"]
        self.lars_flag = tuple(bool(given["lars_filter"](p)) for p in optimizer.parameters)
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
        rate = rules.lars_rate(
            size, slope, lr, coefficient=self.coefficient, decay=decay, eps=self.epsilon, clip=self.use_clip
        )
        return (grad + param * decay) * where((size > 0) & (slope > 0), rate, 1)
