"""What is told of the end of an object: finalizers run where the last reference goes, in the middle of a program."""

from __future__ import annotations

import types
import weakref
from collections import deque
from typing import Any

from duograph.core.dtype import DType
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import Tensor

from .errors import Uncapturable
from .policy import check_look
from .watch import watched

CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(...), DType, range, slice)
_SILENT = frozenset({bool, int, float, complex, str, bytes, type(None), Tensor, Parameter})


def check_dropped(value: Any, depth: int = 3) -> None:
    """Refuses to let go of an outside object where somebody is told of its end: that is in the middle of the program.

    Args:
        value: what an attribute, or a container, does not hold any more.
        depth: how far to look into what it holds itself.
    """
    check_look(type(value))
    if isinstance(value, (*CONSTANTS, Tensor, types.FunctionType, types.ModuleType, type)):
        return
    if watched(type(value), "__del__") is not None or any(r.__callback__ for r in weakref.getweakrefs(value)):
        raise Uncapturable(f"an object of class {type(value).__qualname__!r} that tells when it is dropped")
    if depth:
        held = (
            value if isinstance(value, list | tuple | deque) else dict.values(value) if isinstance(value, dict) else ()
        )
        for v in (*held, *getattr(value, "__dict__", {}).values()):
            check_dropped(v, depth - 1)


def is_dropped_silently(value: Any) -> bool:
    """Whether `check_dropped` lets ``value`` go."""
    if type(value) in _SILENT:
        return True
    try:
        check_dropped(value)
    except Uncapturable:
        return False
    return True
