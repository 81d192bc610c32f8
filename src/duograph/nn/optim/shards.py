"""Optimizer states dealt over ranks: stage 1 of ZeRO (Rajbhandari et al. 2020, https://arxiv.org/abs/1910.02054).

In data-parallel training all ranks have the same gradients, and would take the same step with the same states. With
``set_auto_parallel_context(enable_parallel_optimizer=True)`` each parameter belongs to one rank, which alone keeps its
states and moves it; then all ranks gather the parameters. A parameter moves as a whole, by the code that moves it on
one process: so the bits are those of training without shards, and optimizers that look at whole parameters (`nn.Lamb`)
are none the wiser.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from duograph.api.collective import all_gather
from duograph.context.parallel import bucket_bytes, data_parallel_size, get_auto_parallel_context
from duograph.distributed import world
from duograph.nn.cell_state import named_values
from duograph.nn.wrap.grad_reducer import buckets_of, joined, taken_apart
from duograph.ops.collective import run
from duograph.ops.creation import full
from duograph.ops.slices import concat, slice_axis
from duograph.tensor.parameter import Parameter, ParameterTuple
from duograph.tensor.tensor import Tensor

__all__ = ["Shards", "StateElsewhere", "gathered_states", "keeper_of", "shards_of", "states_of"]


class StateElsewhere(Parameter):
    """Stands for the state of a parameter that another rank moves; it has no elements."""

    __slots__ = ()


def keeper_of(parameter: Any) -> int | None:
    """The rank that alone keeps this state; ``None``: all ranks have it."""
    return parameter.__dict__.get("_keeper") if isinstance(parameter, Parameter) else None


def gathered_states(save_obj: Any) -> list[dict[str, Any]]:
    """What `save_checkpoint` saves of an object, with the states that other ranks keep. All ranks call it.

    Args:
        save_obj (Union[Cell, dict, list]): an optimizer, a network with one, or a list of Parameters.

    Returns:
        For each value ``{"name": ..., "data": ...}``; the same on all ranks.

    Examples:
        >>> optimizer = nn.Momentum(nn.Dense(2, 1).trainable_params(), 0.1, 0.9)
        >>> [entry["name"] for entry in ms.parallel.gathered_states(optimizer.moments)]
        ['moments.weight', 'moments.bias']
    """
    found = []
    for name, value in named_values(save_obj):
        keeper = keeper_of(value)
        if keeper is not None:
            mine = None if isinstance(value, StateElsewhere) else value.asnumpy()
            array = run(world.WORLD, functools.partial(_told, mine, keeper))
            value = Tensor(array, value.dtype)
        found.append({"name": name, "data": value})
    return found


def _told(array: Any, keeper: int, group: Any) -> Any:
    return group.broadcast_object(array, keeper)


class Shards:
    """Which rank keeps the states of which parameter.

    Attributes:
        owners: a rank for each parameter; ``None``: all ranks move it (``Parameter(parallel_optimizer=False)``).
    """

    def __init__(
        self, parameters: Sequence[Parameter], rank: int, size: int, owners: Sequence[int | None] = ()
    ) -> None:
        self.rank, self.size = rank, size
        self.owners = _dealt(parameters, size, owners)

    def moves(self, i: int) -> bool:
        """Whether this rank moves parameter ``i``."""
        return self.owners[i] in (None, self.rank)

    def exchange(self, parameters: Sequence[Parameter], assign: Callable[[Parameter, Tensor], None]) -> None:
        """Gives all ranks what each has moved: ``assign(parameter, value)`` for those of others."""
        for given in self._gatherings(parameters):
            sizes = [sum(math.prod(p.shape) for p in some) for some in given]
            width = max(sizes)
            if not width:
                continue
            whole = all_gather(_filled_up(given[self.rank], width, next(p.dtype for some in given for p in some)))
            for rank, some in enumerate(given):
                if some and rank != self.rank:
                    part = slice_axis(whole, 0, rank * width, rank * width + sizes[rank])
                    for parameter, value in zip(some, taken_apart(part, some), strict=True):
                        assign(parameter, value)

    def _gatherings(self, parameters: Sequence[Parameter]) -> Iterator[list[list[Parameter]]]:
        """For each gathering what each rank gives: parameters of one dtype, at most a bucket."""
        for dtype in dict.fromkeys(p.dtype for p in parameters):
            dealt = []
            for rank in range(self.size):
                own = [
                    p for p, owner in zip(parameters, self.owners, strict=True) if owner == rank and p.dtype is dtype
                ]
                dealt.append([[own[k] for k in bucket] for bucket in buckets_of(own, bucket_bytes())])
            for k in range(max(map(len, dealt))):
                yield [buckets[k] if k < len(buckets) else [] for buckets in dealt]


def shards_of(parameters: Sequence[Parameter], owner: str, before: Shards | None = None) -> Shards | None:
    """How the context says that states are dealt (``before``: how those of the first parameters were); ``None``: each
    rank keeps all.

    Raises:
        RuntimeError: they are to be dealt, but there are several ranks that do not train data-parallel.
    """
    if before is not None:
        return Shards(parameters, before.rank, before.size, before.owners)
    if not get_auto_parallel_context("enable_parallel_optimizer"):
        return None
    size = data_parallel_size()
    if size == 1 and world.is_started() and world.current().size > 1:
        raise RuntimeError(
            f"For '{owner}', enable_parallel_optimizer deals states over the processes of data-parallel training: "
            "set_auto_parallel_context(parallel_mode='data_parallel') comes first."
        )
    return Shards(parameters, world.current().rank, size) if size > 1 else None


def states_of(
    parameters: Sequence[Parameter],
    names: Sequence[str],
    make: Callable[[Parameter], Parameter],
    shards: Shards | None,
    first: int = 0,
) -> ParameterTuple:
    """A state for each parameter from number ``first`` on, by ``make(parameter)``; a stand-in where another rank keeps
    it."""
    states = []
    for i in range(first, len(parameters)):
        owner = None if shards is None or shards.moves(i) else shards.owners[i]
        if owner is None:
            state = make(parameters[i])
            state.name = names[i]  # type: ignore[assignment]
        else:
            state = StateElsewhere(Tensor(np.zeros(0), parameters[i].dtype), name=names[i])
        if shards is not None:
            state.__dict__["_keeper"] = shards.owners[i]
        states.append(state)
    return ParameterTuple(states)


def _dealt(parameters: Sequence[Parameter], size: int, known: Sequence[int | None]) -> list[int | None]:
    """An owner for each parameter (of the first ones it is ``known``): the largest goes first, to whoever has least;
    all ranks deal alike."""
    owners: list[int | None] = [*known, *[None] * (len(parameters) - len(known))]
    nbytes = [math.prod(p.shape) * p.dtype.itemsize for p in parameters]
    held = [sum(n for n, owner in zip(nbytes, known, strict=False) if owner == rank) for rank in range(size)]
    for i in sorted(range(len(known), len(parameters)), key=lambda i: -nbytes[i]):
        if parameters[i].parallel_optimizer:
            owners[i] = owner = held.index(min(held))
            held[owner] += nbytes[i]
    return owners


def _filled_up(some: Sequence[Parameter], width: int, dtype: Any) -> Any:
    """Parameters laid end to end, and zeros behind them up to ``width`` elements."""
    own = [joined(some)] if some else []
    left = width - sum(x.shape[0] for x in own)
    parts = [*own, full(shape=(left,), value=0, dtype=dtype)] if left else own
    return parts[0] if len(parts) == 1 else concat(*parts, axis=0)
