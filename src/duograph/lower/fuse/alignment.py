"""How values lie in the loops of a group: for each loop the dimension of the value that it walks, or ``None``.

A value that is broadcast, transposed, or reshaped by dimensions of size 1 is the same memory with another alignment, so
views cost nothing inside of a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from duograph.ir.node import Apply
from duograph.lower.layout import contiguous_strides, is_one
from duograph.lower.lowering import Extent

Alignment: TypeAlias = "tuple[int | None, ...]"

VIEWS = frozenset({"broadcast_to", "transpose", "reshape", "identity", "stop_gradient", "assigned"})


def full_alignment(shape: Sequence[Extent]) -> Alignment:
    """A value of the shape of the loops."""
    return tuple([None if is_one(n) else d for d, n in enumerate(shape)])


def broadcast_alignment(shape: Sequence[Extent], operand: Sequence[Extent], of: Alignment) -> Alignment:
    """The alignment of an operand that is broadcast to a value of ``shape`` aligned like ``of``."""
    shift = len(shape) - len(operand)
    return tuple([None if k is None or k < shift or is_one(operand[k - shift]) else k - shift for k in of])


def matched(space: Sequence[Extent], among: Sequence[int], shape: Sequence[Extent]) -> Alignment | None:
    """The alignment of a contiguous value whose elements are the loops ``among``; ``None`` if they are not."""
    loops = [d for d in among if not is_one(space[d])]
    own = [k for k, n in enumerate(shape) if not is_one(n)]
    if len(loops) != len(own) or any(space[d] != shape[k] for d, k in zip(loops, own, strict=True)):
        return None
    places = dict(zip(loops, own, strict=True))
    return tuple([places.get(d) for d in range(len(space))])


def through_view(view: Apply, of: Alignment) -> Alignment | None:
    """The alignment of the operand of a view that is aligned like ``of``; ``None`` if only memory can say that."""
    name, shape, source = view.op.name, view.shape, view.operands[0].shape
    if name == "broadcast_to":
        return broadcast_alignment(shape, source, of)
    if name == "transpose":
        perm = view.attrs["perm"]
        moved = tuple([None if k is None else perm[k] for k in of])
        return moved if _keeps_last(source, moved) else None
    if name == "reshape":
        places = matched(shape, range(len(shape)), source)
        return None if places is None else tuple([None if k is None else places[k] for k in of])
    return of


def _keeps_last(shape: Sequence[Extent], alignment: Alignment) -> bool:
    """Whether the last loop walks over neighbours or not at all; gathering is slower than a copy made in tiles."""
    last = next((k for k in reversed(range(len(shape))) if not is_one(shape[k])), None)
    walked = [k for k in alignment if k is not None]
    return not walked or walked[-1] == last


def strides_in(shape: Sequence[Extent], alignment: Alignment) -> tuple[Extent, ...]:
    """Strides of a contiguous value of ``shape`` in the loops."""
    own = contiguous_strides(shape)
    return tuple([0 if k is None else own[k] for k in alignment])
