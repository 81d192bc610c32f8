"""Collectives and messages of Python objects: pickled, and run as plain Python between compiled segments."""

from __future__ import annotations

from typing import Any

from duograph.api import collective as api
from duograph.api.collective import group_of, group_size, rank_in
from duograph.ops.collective import run

__all__ = [
    "all_gather_object", "broadcast_object_list", "entries", "gather_object", "recv_object_list",
    "scatter_object_list", "send_object_list",
]  # fmt: skip


def entries(who: str, values: Any, name: str, group: str) -> Any:
    """A list with one entry per process."""
    size = group_size(group)
    if not isinstance(values, list | tuple) or len(values) != size:
        what = "one entry, that of the one process" if size == 1 else f"{size} entries, one per process of the group"
        raise ValueError(f"For '{who}', the '{name}' must be a list with {what}.")
    return values


def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """The objects of all processes, put into ``object_list``."""
    name = group_of("all_gather_object", group)
    entries("all_gather_object", object_list, "object_list", name)
    object_list[:] = run(name, lambda g: g.all_gather_object(obj))


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """The objects of all processes, put into ``object_gather_list`` of process ``dst``."""
    name = group_of("gather_object", group)
    root = rank_in("gather_object", name, dst, "dst")
    target: Any = object_gather_list
    if api.group_rank(name) == root:
        if target is None:
            raise TypeError("For 'gather_object', the 'object_gather_list' of the process 'dst' must be a list.")
        entries("gather_object", target, "object_gather_list", name)
    found = run(name, lambda g: g.gather_object(obj, root))
    if found is not None:
        target[:] = found


def broadcast_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> None:
    """The objects of process ``src`` for all."""
    name = group_of("broadcast_object_list", group)
    root = rank_in("broadcast_object_list", name, src, "src")
    if not isinstance(object_list, list) or not object_list:
        raise TypeError("For 'broadcast_object_list', the 'object_list' must be a list of objects.")
    object_list[:] = run(name, lambda g: g.broadcast_object(object_list, root))


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any], src: int = 0,
    group: str | None = None,
) -> None:  # fmt: skip
    """One object of process ``src`` for every process, put into the first place of the output list."""
    who = "scatter_object_list"
    name = group_of(who, group)
    root = rank_in(who, name, src, "src")
    objects = None
    if api.group_rank(name) == root:
        objects = entries(who, scatter_object_input_list, "scatter_object_input_list", name)
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise TypeError(f"For '{who}', the 'scatter_object_output_list' must be a list with a place.")
    scatter_object_output_list[0] = run(name, lambda g: g.scatter_object(objects, root))


def send_object_list(object_list: list[Any], dst: int, group: str | None = None, device: Any = None) -> None:
    """Objects for process ``dst``, which calls `recv_object_list`."""
    who = "send_object_list"
    name = group_of(who, group)
    to = rank_in(who, name, dst, "dst")
    if not isinstance(object_list, list):
        raise TypeError(f"For '{who}', the 'object_list' must be a list, but got {type(object_list).__name__}.")
    run(name, lambda g: g.send_object(object_list, to))


def recv_object_list(object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None) -> int:
    """Puts the objects that process ``src`` has sent into the list; gives 0.

    Raises:
        ValueError: it has sent another number of objects.
    """
    who = "recv_object_list"
    name = group_of(who, group)
    source = rank_in(who, name, src, "src")
    if not isinstance(object_list, list):
        raise TypeError(f"For '{who}', the 'object_list' must be a list, but got {type(object_list).__name__}.")
    found = run(name, lambda g: g.receive_object(source))
    if len(found) != len(object_list):
        raise ValueError(
            f"For '{who}', rank {src} has sent {len(found)} objects, but there is room for {len(object_list)}."
        )
    object_list[:] = found
    return 0
