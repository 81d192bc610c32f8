"""Sharing of memory between tensors: which tensors alias, how a view sees its base, and when contents changed.

Every tensor belongs to one `Alias`: all tensors that show parts of the same storage share it. Exactly one of them is
the *root* (it shows the whole storage); every other one has a `ViewLink` to the tensor it was made from. A write
through any of them gives the alias a new version stamp. Gradient tapes compare stamps to find out that a value they
saved has been overwritten; graph capture uses the links to turn in-place writes into pure dataflow: a write through a
view becomes ``write_view`` ops up to the root, and other views re-derive themselves from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from duograph.core.op import NOT_DIFFERENTIABLE, Op, get_op


class _Clock:
    """Hands out stamps. ``now`` is the next one: what is made at this moment is older than all stamps to come."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 1


CLOCK = _Clock()
"""Native code reads ``now``, too (`launch.objects`): a new tensor holds it until its `Alias` is asked for."""


def fresh_stamp() -> int:
    """A version number that was never used before in this process."""
    CLOCK.now = (stamp := CLOCK.now) + 1  # no call in between, hence no change of thread
    return stamp


class Alias:
    """Identity of a storage. ``version`` changes with every in-place write (0: never written); ``serial`` is the time
    of creation, so that a capture can tell storages made during it from those of the outside world.

    Most tensors are never written, viewed or saved: their alias is made when it is first asked for (`Tensor._alias`).
    """

    __slots__ = ("__weakref__", "serial", "version", "writes")

    def __init__(self, serial: int | None = None) -> None:
        self.version = 0
        # (version, array that was written; None: all of it). If the last one is not of this version, all was written.
        self.writes: list[tuple[int, Any]] = []
        self.serial = CLOCK.now if serial is None else serial


class ViewLink(NamedTuple):
    """How a view was made: ``op(parent, **attrs)``."""

    parent: Any  # the Tensor
    op: Op
    attrs: dict[str, Any]


AnyTensor = TypeVar("AnyTensor")


def root_of(tensor: AnyTensor) -> AnyTensor:
    """The tensor that shows the whole storage which ``tensor`` is a view of."""
    root: Any = tensor
    while root._view is not None:
        root = root._view.parent
    return root  # type: ignore[no-any-return]


def written(target: Any, value: Any) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    """What a write of ``value`` through ``target`` makes of the storage, as values of which gradients are taken.

    Returns:
        The root, or the first view whose op knows no write; what it holds now; and the views on the way that
        are constants for gradients (`stop_gradient`), which what is written is not, each with what it holds.
    """
    view, new, held, apart = target, value, value, []
    while view._view is not None and view._view.op.write_view is not None:
        parent, op, attrs = view._view
        if op.bprop is NOT_DIFFERENTIABLE:
            apart.append((view, held))
        if is_apart(parent):  # what is not written of a constant is none where that was made from
            new, held = op.write_view(_recorded(parent), new, **attrs), op.write_view(parent, held, **attrs)
        else:
            new = held = op.write_view(parent, new, **attrs)
        view = parent
    return view, new, apart


def _recorded(tensor: Any) -> Any:
    """The part of the storage that ``tensor`` shows, viewed anew without the `stop_gradient` on the way.

    A view that was made where no gradients are taken is no variable; a handle on an argument is one of its own.
    """
    if tensor._view is None or tensor._view.op is get_op("identity"):
        return tensor
    parent, op, attrs = tensor._view
    return _recorded(parent) if op.bprop is NOT_DIFFERENTIABLE else op(_recorded(parent), **attrs)


def is_apart(tensor: Any) -> bool:
    """Whether ``tensor`` shows memory of others, but is a value of its own for gradients (`stop_gradient`)."""
    while tensor._view is not None:
        if tensor._view.op.bprop is NOT_DIFFERENTIABLE:
            return True
        tensor = tensor._view.parent
    return False
