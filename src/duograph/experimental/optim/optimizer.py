"""`Optimizer`: groups of parameters, each a dictionary of settings whose ``lr`` is a Parameter.

A step never looks at values, so the same code runs eagerly and inside a graph; rates are Parameters, so a scheduler
changes them without making a graph anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, ClassVar

from duograph.api import tensor_methods as _tensor_methods  # noqa: F401  (operators of Tensor)
from duograph.core import dtype as dt
from duograph.nn.cell import Cell
from duograph.nn.optim.compiled_steps import CompiledSteps
from duograph.nn.optim.optimizer import assign, check_shapes
from duograph.nn.optim.shards import Shards, shards_of, states_of
from duograph.nn.settings import Setting
from duograph.ops.arithmetic import add
from duograph.ops.cast import stop_gradient
from duograph.ops.creation import constant_like
from duograph.tensor.parameter import Parameter, ParameterTuple
from duograph.tensor.tensor import Tensor


class Optimizer(CompiledSteps, Cell):
    """Base class of optimizers whose settings live in ``param_groups``.

    Args:
        params (Union[list[Parameter], list[dict]]): Parameters, or groups: dictionaries with ``params`` and any of the
            settings in ``defaults``.
        defaults (dict): the settings of groups that do not give their own.

    Raises:
        ValueError: no parameters, one in two groups, or a rate below 0.
        TypeError: an argument has the wrong type.

    Supported Platforms:
        ``CPU``
    """

    counter = ""
    """Name of the Parameter that counts steps, which `count_steps` makes; none if empty."""
    _settings: ClassVar[dict[str, Setting]] = {}
    """What `with_settings` found in the class."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        items = _items_of(params)
        defaults = {**defaults, "weight_decay": _decay(defaults.get("weight_decay", 0.0))}
        self.defaults = defaults
        self.state: Any = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self.parameters = ParameterTuple(())
        self.shards: Shards | None = None
        self.lrs: list[Parameter] = []
        self.group_start_id = [0]
        for group in items if isinstance(items[0], dict) else [{"params": items}]:
            Optimizer.add_param_group(self, group)

    def _take_settings(self, given: dict[str, Any], settings: dict[str, Setting]) -> None:
        """The constructor of subclasses with rows of settings (`with_settings`)."""
        Optimizer.__init__(self, given["params"], {name: given[name] for name in settings if name != "params"})
        self._settings_taken(given)

    def count_steps(self) -> None:
        """Makes the Parameter that counts steps."""
        setattr(self, self.counter, Parameter(Tensor(0, dt.int32), name=self.counter))

    def __repr__(self) -> str:
        text = self.cls_name + " ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            for key in sorted(k for k in group if k != "params"):
                value = group[key]
                if isinstance(value, Parameter):
                    value = f"{value.asnumpy()!s}"
                text += f"    {key}: {value}\n"
        return text + ")"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group of parameters, with the defaults for the settings it does not give.

        Args:
            param_group (dict): ``params`` and settings.
        """
        group = self._checked(param_group)
        number = len(self.param_groups)
        rate = _rate(group["lr"], self.cls_name)
        group["lr"] = Parameter(Tensor(rate, dt.float32), name=f"learning_rate_group_{number}")
        group["weight_decay"] = _decay(group.get("weight_decay", 0.0))
        self.check_group(group)
        self.param_groups.append(group)
        first = len(self.parameters)
        self.parameters = ParameterTuple((*self.parameters, *group["params"]))
        self.shards = shards_of(self.parameters, self.cls_name, self.shards)
        self.lrs.append(group["lr"])
        self.group_start_id.append(len(self.parameters))
        if number and hasattr(self, "_state_kinds"):
            self._extend_states(first)

    def _checked(self, param_group: Any) -> dict[str, Any]:
        if not isinstance(param_group, dict):
            raise TypeError("Param group must be a dict.")
        params = param_group["params"]
        if isinstance(params, Parameter):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "Optimizer parameters need to be organized in ordered collections, but the ordering of tensors in "
                "sets will change between runs. Please use a list instead."
            )
        params = list(params)
        for p in params:
            if not isinstance(p, Parameter):
                raise TypeError(f"Optimizer can only optimize Parameters, but one of the params is {type(p)}")
        known = {id(p) for p in self.parameters}
        if len({id(p) for p in params} | known) < len(params) + len(known):
            raise ValueError("some parameters appear in more than one parameter group.")
        group = {"params": params, **{k: v for k, v in param_group.items() if k != "params"}}
        for key, value in self.defaults.items():
            group.setdefault(key, value)
        return group

    def check_group(self, group: dict[str, Any]) -> None:
        """Raises if a setting of the group is wrong."""
        for name, setting in self._settings.items():
            if setting.kind.check is not None:
                group[name] = setting.kind.check(group[name], name, self.cls_name)

    # -- states ------------------------------------------------------------------------------------------------------

    def states(self, prefix: str, init: Any = "zeros") -> ParameterTuple:
        """One state per parameter, named ``prefix.name``; groups that come later get theirs too."""
        kinds = self.__dict__.setdefault("_state_kinds", {})
        kinds[prefix] = init
        return self._states_from(0, prefix, init)

    def _states_from(self, first: int, prefix: str, init: Any) -> ParameterTuple:
        """The states of the parameters from number ``first`` on."""
        names = [f"{prefix}.{p.name}" for p in self.parameters]
        return states_of(self.parameters, names, lambda p: p.clone(init), self.shards, first)

    def _extend_states(self, first: int) -> None:
        for prefix, init in self._state_kinds.items():
            setattr(self, prefix, ParameterTuple((*getattr(self, prefix), *self._states_from(first, prefix, init))))

    # -- a step ------------------------------------------------------------------------------------------------------

    def construct(self, gradients):
        return self.step(gradients, self.param_groups)

    def step(self, gradients: Any, groups: Any) -> bool:
        """Moves every parameter once."""
        if isinstance(gradients, Tensor) or not isinstance(gradients, Iterable):
            raise TypeError(
                f"For '{self.cls_name}', the gradients must be a tuple or list of Tensor, but got {type(gradients)}."
            )
        gradients = tuple(gradients)
        if len(gradients) != len(self.parameters):
            raise ValueError(
                f"For '{self.cls_name}', there must be one gradient per parameter: {len(self.parameters)}, but got "
                f"{len(gradients)}."
            )
        check_shapes(self.parameters, gradients, self)
        t = None
        if self.counter:
            counter = getattr(self, self.counter)
            assign(counter, add(counter, constant_like(counter, 1)))
            t = counter.astype(dt.float32)
        for number, group in enumerate(groups):
            lr = rate_of(group)
            shared = self.before_group(number, group, lr, t)
            for i in range(self.group_start_id[number], self.group_start_id[number + 1]):
                if self.shards is not None and not self.shards.moves(i):
                    continue
                grad = stop_gradient(gradients[i])
                if group.get("maximize", False):
                    grad = -grad
                self.move(i, self.parameters[i], grad, group, lr, shared)
        if self.shards is not None:
            self.shards.exchange(self.parameters, assign)
        return True

    def before_group(self, number: int, group: dict[str, Any], lr: Tensor, t: Any) -> Any:
        """Work that the parameters of a group share; ``t`` is the number of the step (float32, from 1)."""
        return t

    def move(self, i: int, param: Parameter, grad: Tensor, group: dict[str, Any], lr: Tensor, shared: Any) -> None:
        """Moves parameter ``i``."""
        raise NotImplementedError


def decayed(grad: Tensor, param: Parameter, group: dict[str, Any]) -> Tensor:
    """The gradient plus ``weight_decay`` times the parameter."""
    decay = group["weight_decay"]
    return grad + param * decay if isinstance(decay, Tensor) or decay else grad


def _items_of(params: Any) -> list[Any]:
    if params is None:
        raise ValueError("For 'Optimizer', the argument params can not be None.")
    if not isinstance(params, Iterable) or isinstance(params, Tensor | str):
        raise TypeError(f"For 'Optimizer', the argument params must be Iterable type, but got {type(params)}.")
    items = list(params)
    if not items:
        raise ValueError("For 'Optimizer', the argument params must not be empty.")
    return items


def rate_of(group: dict[str, Any]) -> Tensor:
    """The present rate of a group, which may be a number that the user has set."""
    lr = group["lr"]
    return lr.value() if isinstance(lr, Parameter) else Tensor(lr, dt.float32)


def _rate(rate: Any, owner: str) -> Any:
    if isinstance(rate, bool) or not isinstance(rate, int | float | Tensor):
        raise TypeError(
            f"For '{owner}', the type of 'lr' should be one of '['float', 'int', 'Tensor']', "
            f"but got type '{type(rate).__name__}'."
        )
    if isinstance(rate, Tensor):
        if rate.size > 1:
            raise ValueError(
                f"The tensor should have only one element, but got {rate.size}, more than one element is ambiguous."
            )
        return rate
    if rate < 0.0:
        raise ValueError(f"Invalid learning rate: {rate}")
    return float(rate)


def _decay(decay: Any) -> Any:
    if isinstance(decay, bool) or not isinstance(decay, int | float):
        raise TypeError(f"For 'Optimizer', the argument 'Weight_decay' must be int or float.but got {type(decay)}")
    return float(decay)
