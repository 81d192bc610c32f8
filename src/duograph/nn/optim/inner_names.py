"""Attributes of MindSpore's `Optimizer` that optimizers of programs use in their `construct`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.api.functional.structure import HyperMap, Map, assign_add
from duograph.core import dtype as dt
from duograph.tensor.parameter import ParameterTuple
from duograph.tensor.tensor import Tensor

__all__ = ["InnerNames"]


def _until_assigned(compute: Callable[[Any], Any]) -> property:
    """A property that an optimizer of a program may give a value of its own."""
    own, nothing = f"_own_{compute.__name__}", object()

    def get(self: Any) -> Any:
        found = getattr(self, own, nothing)
        return compute(self) if found is nothing else found

    return property(get, lambda self, value: setattr(self, own, value), doc=compute.__doc__)


class InnerNames:
    """What MindSpore's own optimizers are written with; a program's optimizer often begins as a copy of one."""

    parameters: ParameterTuple
    loss_scale: float
    is_group: bool
    param_length: int
    dynamic_lr: bool
    dynamic_weight_decay: bool
    group_grad_centralization: tuple[bool, ...]

    map_, map_reverse = Map(), Map(None, True)
    hyper_map, hyper_map_reverse = HyperMap(), HyperMap(None, True)
    assignadd = staticmethod(assign_add)
    use_parallel = False
    enable_tuple_broaden = True

    @property
    def _parameters(self) -> ParameterTuple:
        return self.parameters

    @_until_assigned
    def global_step_increase_tensor(self) -> Tensor:
        """What a step adds to ``global_step``."""
        return Tensor([1], dt.int32)

    @_until_assigned
    def need_scale(self) -> bool:
        """Whether gradients come with a loss scale."""
        return self.loss_scale != 1.0

    @_until_assigned
    def reciprocal_scale(self) -> Tensor:
        """What gradients are multiplied with to take the loss scale out."""
        return Tensor(1.0 / self.loss_scale, dt.float32)

    @_until_assigned
    def optim_filter(self) -> tuple[bool, ...]:
        """Which parameters this process moves: all."""
        return (True,) * self.param_length

    @_until_assigned
    def is_group_params_ordered(self) -> bool:
        """Whether parameters come in groups, which are always in the order of the parameters."""
        return self.is_group

    @_until_assigned
    def ps_parameters(self) -> tuple[bool, ...]:
        """Which parameters a parameter server keeps: none."""
        return (False,) * self.param_length

    @_until_assigned
    def cache_enable(self) -> tuple[bool, ...]:
        """Which parameters are cached on a device: none."""
        return (False,) * self.param_length

    @_until_assigned
    def grad_centralization_flags(self) -> tuple[bool, ...]:
        """Which gradients are centralized."""
        return self.group_grad_centralization

    def _is_dynamic_lr_or_weight_decay(self) -> bool:
        return self.dynamic_lr or self.dynamic_weight_decay

    def _grad_sparse_indices_deduplicate(self, gradients: Any) -> Any:
        return gradients

    def broadcast_params(self, optim_result: Any) -> Any:
        """Nothing has to be sent to other processes: each moves all parameters."""
        return optim_result
