"""Gradients that users get are tensors of their own.

Gradient rules pass on what they got where they can: the gradients of both operands of an addition are one tensor, that
of a sum is a broadcast view, that of the identity is the cotangent that the user gave. Within a backward pass nobody
writes, so nobody can tell. A user may write to what he gets, and must then neither change another tensor nor meet one
that cannot be written. Compiled code gives separate tensors anyway; here, and in captured programs, the few gradients
that share memory are copied. The copy is an op like any other: tapes around the backward pass record it, in all modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.core.op import state
from duograph.ops.cast import cast
from duograph.tensor.alias import root_of
from duograph.tensor.tensor import Tensor


def writable(gradient: Any) -> Any:
    """``gradient`` as something that can be written: a copy, if it is a broadcast view."""
    return copied(gradient) if isinstance(gradient, Tensor) and _is_broadcast(gradient) else gradient


def separate(gradients: Sequence[Any], held: Sequence[Tensor]) -> list[Any]:
    """``gradients``, none of which shares memory with another one or with a tensor in ``held``."""
    roots = set()
    for x in held:
        while x._view is not None:
            x = x._view.parent
        roots.add(id(x))
    for gradient in gradients:
        if gradient is not None and (gradient._view is not None or id(gradient) in roots):
            break
        roots.add(id(gradient))
    else:  # as a rule
        return list(gradients)
    return _separated(gradients, held)


def _separated(gradients: Sequence[Any], held: Sequence[Any]) -> list[Any]:
    sharing: dict[int, list[Tensor]] = {}  # by root, which is kept alive by those that share it
    for x in held:
        sharing.setdefault(id(root_of(x)), []).append(x)
    found: list[Any] = []
    for gradient in gradients:
        if gradient is None:
            found.append(gradient)
            continue
        others = sharing.get(id(root_of(gradient)), ())
        if _is_broadcast(gradient) or any(_overlap(gradient, x) for x in others):
            gradient = copied(gradient)
        sharing.setdefault(id(root_of(gradient)), []).append(gradient)
        found.append(gradient)
    return found


def copied(x: Tensor) -> Tensor:
    """The value of ``x`` in memory of its own; gradients flow through."""
    return cast(x, dtype=x.dtype)


def _is_broadcast(x: Tensor) -> bool:
    while x._view is not None:
        if x._view.op.write_view is None:
            return True
        x = x._view.parent
    return False


def _overlap(a: Tensor, b: Tensor) -> bool:
    """Whether a write to one tensor of a storage may show in another. In graphs a copy costs nothing."""
    return state.binder is not None or np.may_share_memory(a.array(), b.array())
