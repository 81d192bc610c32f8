"""``communication``: starting communication, ranks and groups. What ranks do together is in `comm_func`.

A process that nothing has started together with others is rank 0 of a group of one, and programs for many run unchanged
(``distributed/world.py``).
"""

from __future__ import annotations

from typing import Any

from duograph.core.traits import Traits
from duograph.distributed import world

from . import comm_func

__all__ = [
    "HCCL_WORLD_COMM_GROUP", "MCCL_WORLD_COMM_GROUP", "NCCL_WORLD_COMM_GROUP", "GlobalComm", "comm_func",
    "create_group", "destroy_group", "get_comm_name", "get_group_rank_from_world_rank",
    "get_group_size", "get_local_rank", "get_local_rank_size", "get_process_group_ranks", "get_rank",
    "get_world_rank_from_group_rank", "init", "release",
]  # fmt: skip

__capture__ = Traits(
    readers=(
        "get_rank", "get_local_rank", "get_group_size", "get_local_rank_size", "get_process_group_ranks",
        "get_world_rank_from_group_rank", "get_group_rank_from_world_rank",
    )
)  # fmt: skip

__path__: list[str] = []  # `import duograph.communication.comm_func` is possible
BACKENDS = ("mccl", "mpi")


HCCL_WORLD_COMM_GROUP = NCCL_WORLD_COMM_GROUP = MCCL_WORLD_COMM_GROUP = world.WORLD
"""The group of all processes, under the names that it has with each library."""


class _Comm(type):
    @property
    def INITED(cls) -> bool:
        """Whether `init` was called."""
        return world.is_started()


class GlobalComm(metaclass=_Comm):
    """The communication library in use and the name of the group of all processes."""

    BACKEND = "mccl"
    WORLD_COMM_GROUP = world.WORLD


def init(backend_name: str | None = None) -> None:
    """Starts communication among the processes that were started together; one process alone is a group of one.

    Args:
        backend_name (str): ``"mccl"`` or ``"mpi"``: MPI. Default: None, the same.

    Raises:
        TypeError: ``backend_name`` is not a string.
        RuntimeError: it is a library for devices that are not here; there are several processes, and no MPI.
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"For 'init', the argument 'backend_name' must be a string, but got {type(backend_name)}")
    if backend_name not in (None, *BACKENDS):
        raise RuntimeError(f"For 'init', the backend {backend_name!r} needs devices that this machine does not have.")
    world.init()


def release() -> None:
    """Ends communication and forgets the groups. All processes call this."""
    world.release()


def create_group(group: str, rank_ids: list[int], options: Any = None) -> None:
    """Makes a group of processes. All of them call this; others may, and cannot use the group.

    Args:
        group (str): its name.
        rank_ids (list[int]): ranks of the world, in the order of the group.
        options (GroupOptions): of devices that are not here. Default: None, the only one.

    Raises:
        ValueError: ``rank_ids`` are no different ranks of the world; there is a group of this name.
        TypeError: an argument has the wrong type.
    """
    if not isinstance(group, str) or not isinstance(rank_ids, list):
        raise TypeError("For 'create_group', 'group' must be a string and 'rank_ids' a list of ints.")
    if options is not None:
        raise ValueError("For 'create_group', the 'options' must be None: they are for devices that are not here.")
    if any(isinstance(rank, bool) or not isinstance(rank, int) for rank in rank_ids):
        raise TypeError("For 'create_group', the elements of 'rank_ids' must be ints.")
    world.current().create_group(group, rank_ids)


def destroy_group(group: str) -> None:
    """Forgets a group that `create_group` made."""
    world.current().destroy_group(group)


def get_comm_name(group: str = GlobalComm.WORLD_COMM_GROUP) -> str:
    """The name of the communicator of a group: its own."""
    world.group(group)
    return group


def get_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The rank of this process in the group."""
    return world.group(group).rank


def get_group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The number of processes in the group."""
    return len(world.current().ranks_of(group))


def get_local_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The rank of this process among those of the group on its machine."""
    found = world.group(group)
    return _local(group).index(found.ranks[found.rank])


def get_local_rank_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The number of processes of the group on this machine."""
    return len(_local(group))


def _local(group: str) -> list[int]:
    here = world.current().local_ranks
    return [rank for rank in world.current().ranks_of(group) if rank in here]


def get_process_group_ranks(group: str = GlobalComm.WORLD_COMM_GROUP) -> list[int]:
    """The world ranks of the processes in the group."""
    return list(world.current().ranks_of(group))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The world rank of a process of the group.

    Raises:
        ValueError: the group has no such rank.
    """
    ranks = world.current().ranks_of(group)
    if not 0 <= group_rank_id < len(ranks):
        raise ValueError(f"the group {group!r} has {len(ranks)} ranks, but got rank {group_rank_id}")
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The rank in the group of a process of the world.

    Raises:
        ValueError: it is not in the group.
    """
    ranks = world.current().ranks_of(group)
    if world_rank_id not in ranks:
        raise ValueError(f"rank {world_rank_id} is not in the group {group!r}, which has the ranks {list(ranks)}")
    return ranks.index(world_rank_id)
