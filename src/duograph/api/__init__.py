"""The operators as users call them: functions, Primitive classes, methods of `Tensor`; argument forms and promotion.

`functional` holds the functions in tables, `primitives` the classes, ``tensor_*.py`` the methods. `public_ops` shows
the former in ``duograph.ops``, `tensor_methods` attaches the latter to `Tensor`. Nothing is loaded before it is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from duograph import ops
from duograph.base.slot import Slot
from duograph.core.traits import Traits

__capture__ = Traits(rules=True, settled=True)

inner_names: Slot[Callable[[], dict[str, Any]]] = Slot("api.inner_names")
"""Gives functions of higher layers that ``duograph.ops`` shows under MindSpore's inner names (``add_ext``)."""


def _tables() -> ModuleType:
    from . import public_ops

    return public_ops


ops.public_tables.fill(_tables)
