"""``mindspore.parallel`` for the one process that duograph runs in: networks stay whole."""

from __future__ import annotations

from typing import Any

from duograph.context.settings import Kept
from duograph.nn.cell import Cell

__all__ = ["AutoParallel", "Layout", "parameter_broadcast", "set_algo_parameters", "get_algo_parameters",
           "reset_algo_parameters", "shard"]  # fmt: skip

_algorithm = Kept("search of strategies", "{who} context keyword {name!r} is not recognized!")


class Layout:
    """How the axes of a tensor are distributed over a device mesh.

    Args:
        device_matrix (tuple[int]): numbers of devices.
        alias_name (tuple[str]): names of its axes.
        rank_list (list[int]): the devices. Default ``None``: in order.

    Raises:
        TypeError: wrong types.
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


class AutoParallel(Cell):
    """A network that is dealt to devices; to one device, so it is the network itself.

    Args:
        network (Cell): the network.
        parallel_mode (str): ``"semi_auto"``, ``"sharding_propagation"`` or ``"recursive_programming"``.
    """

    def __init__(self, network: Any, parallel_mode: str = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        modes = ("semi_auto", "sharding_propagation", "recursive_programming")
        if parallel_mode not in modes:
            raise ValueError(f"For 'AutoParallel', the 'parallel_mode' must be in {list(modes)}.")
        self.network, self.parallel_mode = network, parallel_mode

    def construct(self, *args, **kwargs):
        return self.network(*args, **kwargs)


def shard(fn: Any, in_strategy: Any, out_strategy: Any = None, *args: Any, **kwargs: Any) -> Any:
    """``fn``: with one device there is one way to deal its arguments."""
    if not isinstance(in_strategy, tuple):
        raise TypeError(f"For 'Shard', the 'in_strategy' should be a tuple, but got {type(in_strategy).__name__}.")
    return fn


def parameter_broadcast(net: Cell, layout: Any, cur_rank: int = 0, initial_rank: int = 0) -> None:
    """Parameters of one process need not be sent."""


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
