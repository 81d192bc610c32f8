"""``parallel``: layers that are divided among ranks by hand, and MindSpore's names for dividing networks automatically.

There is no search for strategies: with one process networks stay whole, with several what would cut them is refused.
"""

from __future__ import annotations

from typing import Any

from duograph.context.settings import Kept
from duograph.distributed import world
from duograph.nn.cell import Cell
from duograph.nn.layer.divided import ColumnParallelDense, RowParallelDense, VocabParallelEmbedding
from duograph.nn.optim.shards import gathered_states
from duograph.nn.wrap.grad_reducer import broadcast_parameters

__all__ = [
    "AutoParallel", "ColumnParallelDense", "Layout", "Pipeline", "RowParallelDense", "Timeline",
    "VocabParallelEmbedding", "communication_report", "gathered_states", "get_algo_parameters",
    "parameter_broadcast", "reset_algo_parameters", "set_algo_parameters", "shard",
]  # fmt: skip

from .pipeline import Pipeline
from .timeline import Timeline, communication_report

_algorithm = Kept("search of strategies", "{who} context keyword {name!r} is not recognized!")


class Layout:
    """How the axes of a tensor are distributed over a device mesh.

    Args:
        device_matrix (tuple[int]): numbers of devices.
        alias_name (tuple[str]): names of its axes.
        rank_list (list[int]): the devices. Default ``None``: in order.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: different lengths.
    """

    def __init__(self, device_matrix: Any, alias_name: Any, rank_list: Any = None) -> None:
        if not isinstance(device_matrix, tuple):
            raise TypeError(f"device_matrix must be tuple type, but got:{type(device_matrix)}")
        if not isinstance(alias_name, tuple):
            raise TypeError(f"alias_name must be tuple type, but got:{type(alias_name)}")
        if len(device_matrix) != len(alias_name):
            raise ValueError("device_matrix length should be equal to alias_name length")
        self.device_matrix, self.alias_name, self.rank_list = device_matrix, alias_name, rank_list
        self.tensor_map: tuple[Any, ...] = ()

    def __call__(self, *tensor_map: Any) -> Layout:
        made = Layout(self.device_matrix, self.alias_name, self.rank_list)
        made.tensor_map = tensor_map
        return made


def _refuse(who: str, how: str) -> None:
    """Raises NotImplementedError on several processes."""
    if world.is_started() and world.current().size > 1:
        raise NotImplementedError(
            f"{who} is not supported on several processes: networks are not partitioned automatically. {how}"
        )


class AutoParallel(Cell):
    """A network that is distributed over devices; with one process it is the network itself.

    Args:
        network (Cell): the network.
        parallel_mode (str): ``"semi_auto"``, ``"sharding_propagation"`` or ``"recursive_programming"``.
    """

    def __init__(self, network: Any, parallel_mode: str = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        modes = ("semi_auto", "sharding_propagation", "recursive_programming")
        if parallel_mode not in modes:
            raise ValueError(f"For 'AutoParallel', the 'parallel_mode' must be in {list(modes)}.")
        _refuse("AutoParallel", "`parallel` has layers that are divided by hand.")
        self.network, self.parallel_mode = network, parallel_mode

    def construct(self, *args, **kwargs):
        return self.network(*args, **kwargs)


def shard(fn: Any, in_strategy: Any, out_strategy: Any = None, *args: Any, **kwargs: Any) -> Any:
    """``fn``: with one process there is one way to deal its arguments.

    Raises:
        TypeError: ``in_strategy`` is not a tuple.
        NotImplementedError: there are several processes.
    """
    _refuse("shard", "`parallel` has layers that are divided by hand.")
    if not isinstance(in_strategy, tuple):
        raise TypeError(f"For 'Shard', the 'in_strategy' should be a tuple, but got {type(in_strategy).__name__}.")
    return fn


def parameter_broadcast(net: Cell, layout: Any, cur_rank: int = 0, initial_rank: int = 0) -> None:
    """Gives all processes the parameters of process ``initial_rank``.

    Args:
        net (Cell): whose parameters they are.
        layout (dict): how they are cut; they are whole. Only ``None`` or an empty one.
        cur_rank (int): this process; 0 stands for any. Default ``0``.
        initial_rank (int): whose parameters all get. Default ``0``.

    Raises:
        ValueError: there is no such process, or this one has another number.
        NotImplementedError: a layout is given.
    """
    if layout:
        raise NotImplementedError(
            "parameter_broadcast of partitioned parameters is not supported: 'layout' must be None"
        )
    here = world.current()
    if cur_rank not in (0, here.rank) or not 0 <= initial_rank < here.size:
        raise ValueError(
            f"For 'parameter_broadcast', this is process {here.rank} of {here.size}, but got 'cur_rank' {cur_rank} and "
            f"'initial_rank' {initial_rank}."
        )
    broadcast_parameters(list(net.get_parameters()), root=initial_rank)


def set_algo_parameters(**kwargs: Any) -> None:
    """Sets parameters of the search for strategies.

    Raises:
        ValueError: unknown name.
    """
    _algorithm.set("Set", kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """A parameter of `set_algo_parameters`.

    Raises:
        ValueError: unknown name.
    """
    return _algorithm.get("Get", attr_key)


def reset_algo_parameters() -> None:
    """Sets the defaults of `set_algo_parameters` again."""
    _algorithm.reset()
