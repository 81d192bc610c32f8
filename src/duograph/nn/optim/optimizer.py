"""`Optimizer`: parameters with rates, weight decay and states; subclasses say how one parameter moves.

A step is a pure function of parameters, states and gradients, followed by in-place writes: it never looks at values,
so the same code runs eagerly and inside a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from duograph.api import tensor_methods as _tensor_methods  # noqa: F401  (operators of Tensor)
from duograph.core import dtype as dt
from duograph.nn.cell import Cell
from duograph.nn.layer.container import CellList
from duograph.nn.settings import Setting, keep
from duograph.ops.arithmetic import add, mul, sub
from duograph.ops.cast import cast, stop_gradient
from duograph.ops.creation import constant_like
from duograph.ops.movement import reshape
from duograph.ops.norm import reduce_mean
from duograph.tensor.eager import write
from duograph.tensor.give import give
from duograph.tensor.parameter import Parameter, ParameterTuple
from duograph.tensor.tensor import Tensor

from .compiled_steps import CompiledSteps
from .inner_names import InnerNames
from .rates import Member, _ConvertToCell, learning_rate_of, members_of, weight_decay_of
from .shards import shards_of, states_of


def assign(param: Parameter, value: Tensor, mine: bool = False) -> None:
    """Writes ``value``, cast to the dtype of ``param``.

    ``mine``: one variable of the caller holds ``value``, and only reads it from now on.
    """
    if value.dtype is not param.dtype:
        write(param, cast(value, dtype=param.dtype))
    else:
        give(param, value, 1 + mine)


def store(params: Sequence[Any], values: Sequence[Any]) -> None:
    """Writes what an update rule gives; ``None``: that state stays as it is."""
    for i, param in enumerate(params):
        if values[i] is not None:
            assign(param, values[i], mine=True)  # held by ``values`` only: its memory changes hands


def scalar(name: str, value: Any, dtype: dt.DType = dt.float32) -> Parameter:
    """A number that changes from step to step."""
    return Parameter(Tensor(value, dtype), name=name)


def centralized(grad: Tensor) -> Tensor:
    """A gradient of at least two dimensions minus its mean over all axes but the first."""
    if len(grad.shape) < 2:
        return grad
    return sub(grad, reduce_mean(grad, axis=tuple(range(1, len(grad.shape))), keep_dims=True))


def check_shapes(parameters: Iterable[Parameter], gradients: Iterable[Tensor], owner: Cell) -> None:
    """Raises before anything is written, unless each gradient is a tensor of the shape of its parameter."""
    for p, g in zip(parameters, gradients, strict=True):
        if not isinstance(g, Tensor):
            raise TypeError(
                f"For '{owner.cls_name}', the gradient of the parameter {p.name} must be a Tensor, but got "
                f"{type(g).__name__}."
            )
        if tuple(p.shape) != tuple(g.shape):
            raise ValueError(
                f"For '{owner.cls_name}', the shape of a gradient must be that of its parameter {p.name}: "
                f"{tuple(p.shape)}, but got {tuple(g.shape)}."
            )


class Optimizer(InnerNames, CompiledSteps, Cell):
    """Base class of optimizers.

    Args:
        learning_rate (Union[float, int, Tensor, Iterable, LearningRateSchedule]): constant, one per step, or a
            schedule.
        parameters (Union[list[Parameter], list[dict]]): Parameters, or groups: dictionaries with ``params`` and any of
            ``lr``, ``weight_decay``, ``grad_centralization``; one more may hold ``order_params``.
        weight_decay (Union[float, int, Cell]): added to gradients of parameters whose names contain neither ``beta``
            nor ``gamma``. Default ``0.0``.
        loss_scale (float): what the loss was multiplied by. Default ``1.0``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> class Signed(nn.Optimizer):
        ...     def move(self, i, param, grad, lr, decay, shared):
        ...         ops.assign_sub(param, lr * grad.sign())
        >>> weight = ms.Parameter(Tensor([1.0, 2.0]), name="weight")
        >>> moved = Signed(0.5, [weight])((Tensor([3.0, -4.0]),))
        >>> print(weight.value())
        [0.5 2.5]
    """

    decoupled_weight_decay = False
    """Whether `move` applies weight decay itself."""

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: float = 1.0) -> None:
        super().__init__(auto_prefix=False)
        members, self.is_group = members_of(parameters)
        owner = self.cls_name
        if isinstance(loss_scale, int) and not isinstance(loss_scale, bool):
            loss_scale = float(loss_scale)
        if not isinstance(loss_scale, float):
            raise TypeError(
                f"For '{owner}', the type of 'loss_scale' should be 'float', but got '{type(loss_scale).__name__}'."
            )
        if loss_scale <= 0:
            raise ValueError(
                f"For '{owner}', the 'loss_scale' must be float and must > 0, but got '{loss_scale}' with type 'float'."
            )
        self.loss_scale = loss_scale
        self.global_step = Parameter(Tensor([0], dt.int32), name="global_step")
        default = learning_rate_of(learning_rate, "learning_rate", owner)
        self.is_group_lr = any(m.lr is not None for m in members)
        if not self.is_group_lr:
            self.learning_rate = default
        self.parameters = ParameterTuple([m.param for m in members])
        self.shards = shards_of(self.parameters, owner)
        self.param_length = len(members)
        self._set_rates(members, default, owner)
        self._set_decay(members, weight_decay, owner)
        self.grad_centralization = any(m.centralize for m in members)
        self.group_grad_centralization = tuple(m.centralize for m in members)

    # -- settings --------------------------------------------------------------------------------------------------

    def _take_settings(self, given: dict[str, Any], settings: dict[str, Setting]) -> None:
        """The constructor of subclasses with rows of settings (`with_settings`)."""
        decay, scale = given.get("weight_decay", 0.0), given.get("loss_scale", 1.0)
        Optimizer.__init__(self, given["learning_rate"], given["params"], decay, scale)
        keep(self, given, settings)
        self._settings_taken(given)

    def _set_rates(self, members: list[Member], default: Any, owner: str) -> None:
        self.dynamic_lr = not isinstance(default, Parameter)
        if not self.is_group_lr:
            return
        made: dict[int, Any] = {}
        for m in members:
            if m.group not in made:
                name = f"learning_rate_group_{m.group}"
                made[m.group] = default if m.lr is None else learning_rate_of(m.lr, name, owner)
        self.dynamic_lr = self.dynamic_lr or any(not isinstance(rate, Parameter) for rate in made.values())
        rates = [made[m.group] for m in members]
        self._different_rates = tuple({id(rate): rate for rate in made.values()}.values())
        places = {id(rate): place for place, rate in enumerate(self._different_rates)}
        self._places_of_rates = tuple(places[id(rate)] for rate in rates)
        if self.dynamic_lr:
            cells = [rate if isinstance(rate, Cell) else _ConvertToCell(rate) for rate in self._different_rates]
            self.learning_rate = CellList([cells[place] for place in self._places_of_rates], auto_prefix=False)
        else:
            self.learning_rate = ParameterTuple(rates)

    def _set_decay(self, members: list[Member], default: Any, owner: str) -> None:
        given = weight_decay_of(default, owner)
        decays = [given if m.weight_decay is None else weight_decay_of(m.weight_decay, owner) for m in members]
        self._decays = tuple(decays)
        self.dynamic_decay_flags = tuple(isinstance(d, Cell) for d in decays)
        self.dynamic_weight_decay = any(self.dynamic_decay_flags)
        self.exec_weight_decay = any(isinstance(d, Cell) or d > 0 for d in decays)
        if self.is_group:  # a group says itself what decays; without groups the names do
            self.decay_flags = tuple(isinstance(d, Cell) or d > 0 for d in decays)
        else:
            self.decay_flags = tuple("beta" not in m.param.name and "gamma" not in m.param.name for m in members)
        values = [d if isinstance(d, Cell) else Tensor(d * self.loss_scale, dt.float32) for d in decays]
        self.weight_decay = tuple(values) if self.is_group else values[0]

    # -- a step ----------------------------------------------------------------------------------------------------

    def construct(self, gradients: Any) -> Any:
        return self.step(gradients)

    def step(self, gradients: Any) -> tuple[bool, ...]:
        """Moves every parameter once; gives ``True`` for each."""
        if isinstance(gradients, Tensor) or not isinstance(gradients, Iterable):
            raise TypeError(
                f"For '{self.cls_name}', the gradients must be a tuple or list of Tensor, but got {type(gradients)}."
            )
        gradients = tuple(gradients)
        if len(gradients) != self.param_length:
            raise RuntimeError(
                f"For '{self.cls_name}', there must be one gradient per parameter: {self.param_length}, but got "
                f"{len(gradients)}."
            )
        check_shapes(self.parameters, gradients, self)
        rates = self.rates()
        decays = self._current_decays()
        assign(self.global_step, add(self.global_step, constant_like(self.global_step, 1)))
        shared = self.before_step()
        for i, (param, grad) in enumerate(zip(self.parameters, gradients, strict=True)):
            if self.shards is not None and not self.shards.moves(i):
                continue
            grad = stop_gradient(grad)
            if self.loss_scale != 1.0:
                grad = mul(grad, constant_like(grad, 1.0 / self.loss_scale))
            if not self.decoupled_weight_decay and decays[i] is not None:
                grad = grad + param * decays[i]
            if self.group_grad_centralization[i]:
                grad = centralized(grad)
            self.move(i, param, grad, rates[i], decays[i], shared)
        if self.shards is not None:
            self.shards.exchange(self.parameters, assign)
        return (True,) * self.param_length

    def before_step(self) -> Any:
        """Work that all parameters share; the result is given to `move`."""
        return None

    def move(self, i: int, param: Parameter, grad: Tensor, lr: Tensor, decay: Any, shared: Any) -> None:
        """Moves parameter ``i``; ``decay`` is ``None`` where no weight decay applies."""
        raise NotImplementedError

    # -- what MindSpore programs call ---------------------------------------------------------------------------------

    def rates(self) -> tuple[Tensor, ...]:
        """The present rate of every parameter, as 0-d tensors."""
        if not self.is_group_lr:
            rate = self._rate_now(self.learning_rate)
            return (rate,) * self.param_length
        now = [self._rate_now(rate) for rate in self._different_rates]
        return tuple([now[place] for place in self._places_of_rates])

    def _rate_now(self, rate: Any) -> Tensor:
        return rate.value() if isinstance(rate, Parameter) else reshape(rate(self.global_step), shape=())

    def get_lr(self) -> Any:
        """The rate of the present step; a tuple, one per parameter, if groups have their own."""
        if self.is_group_lr:
            return self.rates()
        return self.learning_rate if isinstance(self.learning_rate, Parameter) else self._rate_now(self.learning_rate)

    def get_lr_parameter(self, param: Any) -> Any:
        """The Parameter or schedule that holds the rate of a parameter (or of each of a list).

        Raises:
            TypeError: the argument is not a Parameter, or not the optimizer's.
        """
        many = isinstance(param, list | tuple)
        found = []
        for p in param if many else [param]:
            if not isinstance(p, Parameter):
                raise TypeError(
                    f"For 'get_lr_parameter', the 'param' must be Parameter or iterable, but got {type(p)}."
                )
            index = next((i for i, own in enumerate(self.parameters) if own is p), None)
            if index is None:
                raise ValueError(f"For 'get_lr_parameter', the parameter {p.name} is not in the optimizer.")
            place = self._places_of_rates[index] if self.is_group_lr else None
            found.append(self.learning_rate if place is None else self._different_rates[place])
        return found if many else found[0]

    def _current_decays(self) -> tuple[Any, ...]:
        values = [d(self.global_step) if isinstance(d, Cell) else d for d in self._decays]
        return tuple(
            value if flag and (isinstance(value, Tensor) or value > 0) else None
            for flag, value in zip(self.decay_flags, values, strict=True)
        )

    def get_weight_decay(self) -> Any:
        """The weight decay of the present step, times the loss scale; a tuple, one per parameter, with groups."""
        values = tuple(self._scaled_decay(d) for d in self._decays)
        return values if self.is_group else values[0]

    def _scaled_decay(self, decay: Any) -> Tensor:
        if not isinstance(decay, Cell):
            return Tensor(decay * self.loss_scale, dt.float32)
        now = decay(self.global_step)
        return now if self.loss_scale == 1.0 else now * self.loss_scale

    def decay_weight(self, gradients: Any) -> tuple[Tensor, ...]:
        """Gradients, before `scale_grad`, with weight decay added: it is multiplied with the loss scale as they are."""
        decays = self._current_decays()
        parts = zip(gradients, self.parameters, decays, strict=True)
        return tuple(g if d is None else g + p * (d * self.loss_scale) for g, p, d in parts)

    def scale_grad(self, gradients: Any) -> tuple[Tensor, ...]:
        """Gradients divided by the loss scale."""
        if self.loss_scale == 1.0:
            return tuple(gradients)
        return tuple(mul(g, constant_like(g, 1.0 / self.loss_scale)) for g in gradients)

    def gradients_centralization(self, gradients: Any) -> tuple[Tensor, ...]:
        """Gradients of the groups that ask for it, centralized."""
        flags = self.group_grad_centralization
        return tuple(centralized(g) if flag else g for g, flag in zip(gradients, flags, strict=True))

    def flatten_gradients(self, gradients: Any) -> Any:
        """The gradients themselves: parameters are not flattened into one."""
        return gradients

    @property
    def target(self) -> str:
        """Where parameters are updated."""
        return "CPU"

    @target.setter
    def target(self, value: str) -> None:
        if value not in ("CPU", "Ascend", "GPU"):
            raise ValueError(f"For 'Optimizer', the 'target' must be one of ['CPU', 'Ascend', 'GPU'], but got {value}.")

    @property
    def unique(self) -> bool:
        """Whether sparse gradients have their indices made unique."""
        return True

    @unique.setter
    def unique(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise TypeError(f"For 'Optimizer', the 'unique' must be bool, but got {type(value)}.")

    def states(self, prefix: str, init: Any = "zeros") -> ParameterTuple:
        """One state per parameter, named ``prefix.name``."""
        names = [p.name for p in self.parameters]
        for i, name in enumerate(names):
            if name in names[:i]:
                raise ValueError(
                    f"The value {self.parameters[i]} , its name '{prefix}.{name}' already exists. "
                    "Please set a unique name for the parameter."
                )
        return self.kept([f"{prefix}.{name}" for name in names], lambda p: p.clone(init))

    def kept(self, names: Sequence[str], make: Callable[[Parameter], Parameter]) -> ParameterTuple:
        """One state per parameter, by ``make(parameter)``; stand-ins where other ranks keep them (`shards`)."""
        return states_of(self.parameters, names, make, self.shards)
