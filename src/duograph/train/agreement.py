"""What processes that train together agree on: how they begin, metrics, when to stop, who writes files.

Everything here does nothing unless training is data-parallel over several processes (`context.parallel`).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from duograph.context.parallel import data_parallel_size, get_auto_parallel_context
from duograph.distributed import world
from duograph.nn.cell import Cell
from duograph.nn.cell_state import named_values
from duograph.nn.optim.shards import StateElsewhere, gathered_states, keeper_of
from duograph.nn.wrap.grad_reducer import broadcast_parameters
from duograph.ops.collective import run

from .metrics import Metric

__all__ = ["all_objects", "begin", "mean", "merge_metrics", "what_to_save", "writes"]


def all_objects(obj: Any, what: str) -> list[Any]:
    """The objects of all processes, in order; ``what`` they are is compared first, as operators are."""
    return run(world.WORLD, lambda g: g.all_gather_object(obj, what))


def begin(network: Cell, batches: int) -> None:
    """Gives all processes the parameters of rank 0.

    Raises:
        ValueError: they have different numbers of batches, and would wait for each other in vain.
    """
    if data_parallel_size() == 1:
        return
    sizes = all_objects(batches, "numbers of batches (Model.train)")
    if len(set(sizes)) > 1:
        told = ", ".join(f"rank {rank} has {n}" for rank, n in enumerate(sizes))
        raise ValueError(
            f"For 'Model.train', all processes must have equally many batches, but {told}: num_shards and shard_id of "
            "a data set deal its rows equally."
        )
    if get_auto_parallel_context("parameter_broadcast"):
        broadcast_parameters([p for p in network.get_parameters() if keeper_of(p) is None])


def mean(value: float | None) -> float | None:
    """The mean of a number over all processes, in the order of the ranks."""
    if value is None or data_parallel_size() == 1:
        return value
    values = all_objects(value, "what is watched (a callback of Model.train)")
    return float(sum(values) / len(values))


def writes(path: str) -> bool:
    """Whether this process writes the file: the first of those that have the same path for it."""
    if data_parallel_size() == 1:
        return True
    paths = all_objects((world.current().hosts[world.current().rank], path), "paths of a checkpoint")
    return paths.index(paths[world.current().rank]) == world.current().rank


def what_to_save(network: Any, alone: bool = False) -> Any:
    """``network`` for `save_checkpoint`, with the states that other ranks keep (``enable_parallel_optimizer``).

    All processes call it, and get the same; ``alone``: one of them calls it, and gets what it has.
    """
    pairs = named_values(network)
    if all(keeper_of(value) is None for _, value in pairs):
        return network
    if not alone:
        return gathered_states(network)
    return [{"name": name, "data": value} for name, value in pairs if not isinstance(value, StateElsewhere)]


def merge_metrics(metrics: Mapping[str, Metric]) -> None:
    """Gives each metric what all processes have seen.

    Raises:
        NotImplementedError: a metric of the user has no ``merge``.
        ValueError: processes have different metrics.
    """
    if data_parallel_size() == 1 or not metrics:
        return
    found = all_objects([(name, vars(metric)) for name, metric in sorted(metrics.items())], "metrics (Model.eval)")
    names = [[name for name, _ in states] for states in found]
    if any(n != names[0] for n in names):
        raise ValueError(f"all processes must have the same metrics, but they have {names}")
    for k, (_, metric) in enumerate(sorted(metrics.items())):
        merge(metric, [states[k][1] for states in found])


def merge(metric: Metric, states: Sequence[Mapping[str, Any]]) -> None:
    """Gives ``metric`` what several of its kind have seen, whose attributes are ``states``.

    The metrics of this package keep sums, lists of what they have seen, and flags: what differs from a metric that has
    seen nothing is added up. One of the user says itself what to do (``merge(states)``).
    """
    own = getattr(metric, "merge", None)
    if own is not None:
        own(states)
        return
    if not type(metric).__module__.startswith("duograph."):
        raise NotImplementedError(
            f"the metric {type(metric).__name__} is defined by the user, so duograph does not know how to merge what "
            "several processes have seen: give it a method merge(states), which takes the attributes of all of them"
        )
    blank = copy.copy(metric)
    blank.clear()
    for name, before in vars(blank).items():
        values = [state[name] for state in states]
        if any(not _same(value, before) for value in values):
            setattr(metric, name, _sum(values, name, metric))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    return type(a) is type(b) and a == b


def _sum(values: Sequence[Any], name: str, metric: Metric) -> Any:
    seen = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in seen):
        return any(seen)
    if all(isinstance(value, list) for value in seen):
        return [item for value in seen for item in value]
    if all(isinstance(value, int | float | np.number | np.ndarray) for value in seen):
        shapes = {np.shape(value) for value in seen} - {()}
        if len(shapes) <= 1:
            return sum(seen[1:], seen[0])
    raise NotImplementedError(
        f"{type(metric).__name__}.{name} of several processes cannot be added up; evaluate on one process"
    )
