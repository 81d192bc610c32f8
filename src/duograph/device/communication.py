"""Distributed communication, for the one process that duograph runs in: rank 0 of a group of one.

Programs written for many devices run unchanged on one; whatever needs a second process is an error that says so.
"""

from __future__ import annotations

__all__ = [
    "GlobalComm", "create_group", "destroy_group", "get_group_rank_from_world_rank", "get_group_size", "get_local_rank",
    "get_local_rank_size", "get_process_group_ranks", "get_rank", "get_world_rank_from_group_rank", "init", "release",
]  # fmt: skip


class GlobalComm:
    """The communication library in use and the name of the group of all processes."""

    BACKEND = "mccl"
    WORLD_COMM_GROUP = "mccl_world_group"
    INITED = False


_groups: dict[str, list[int]] = {GlobalComm.WORLD_COMM_GROUP: [0]}


def init(backend_name: str | None = None) -> None:
    """Starts communication: a group of this process alone.

    Args:
        backend_name (str): ``"mccl"``, the only one on a CPU. Default: None, the same.

    Raises:
        TypeError: ``backend_name`` is not a string.
        RuntimeError: it is a library for devices that are not here.
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(f"For 'init', the argument 'backend_name' must be a string, but got {type(backend_name)}")
    if backend_name not in (None, "mccl"):
        raise RuntimeError(f"For 'init', the backend {backend_name!r} needs devices that this machine does not have.")
    GlobalComm.INITED = True


def release() -> None:
    """Ends communication and forgets the groups."""
    GlobalComm.INITED = False
    for name in [name for name in _groups if name != GlobalComm.WORLD_COMM_GROUP]:
        del _groups[name]


def create_group(group: str, rank_ids: list[int]) -> None:
    """Makes a group of processes; process 0 is the only one there is.

    Raises:
        ValueError: ``rank_ids`` names other processes.
        TypeError: wrong types.
    """
    if not isinstance(group, str) or not isinstance(rank_ids, list):
        raise TypeError("For 'create_group', 'group' must be a string and 'rank_ids' a list of ints.")
    if rank_ids != [0]:
        raise ValueError(f"For 'create_group', there is one process, of rank 0, but 'rank_ids' is {rank_ids}.")
    _groups[group] = rank_ids


def destroy_group(group: str) -> None:
    """Forgets a group that `create_group` made."""
    if group == GlobalComm.WORLD_COMM_GROUP:
        raise ValueError("For 'destroy_group', the world group cannot be destroyed.")
    _ranks(group)
    del _groups[group]


def get_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The rank of this process in the group: 0."""
    return _ranks(group)[0]


def get_local_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The rank of this process on its machine: 0."""
    return _ranks(group)[0]


def get_group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The number of processes in the group: 1."""
    return len(_ranks(group))


def get_local_rank_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The number of processes of the group on this machine: 1."""
    return len(_ranks(group))


def get_process_group_ranks(group: str = GlobalComm.WORLD_COMM_GROUP) -> list[int]:
    """The world ranks of the processes in the group."""
    return list(_ranks(group))


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The world rank of a process of the group."""
    return _ranks(group)[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The rank in the group of a process of the world."""
    return _ranks(group).index(world_rank_id)


def _ranks(group: str) -> list[int]:
    if group not in _groups:
        raise ValueError(f"there is no group {group!r}; there are {', '.join(map(repr, _groups))}")
    return _groups[group]
