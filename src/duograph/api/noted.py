"""Values that networks note while they run (`primitives/summaries.py`), until somebody takes them.

A compiled function writes to this dictionary as it does to one of the user's: after the operations before, in order.
"""

from __future__ import annotations

from typing import Any

from duograph.core.traits import Traits

__capture__ = Traits(program=True)

VALUES: dict[tuple[str, str], Any] = {}
"""(kind, name) -> the value that was noted last."""


def keep(kind: str, name: str, value: Any) -> None:
    """Notes a value."""
    VALUES[kind, name] = value


def take() -> dict[tuple[str, str], Any]:
    """What was noted since the last time."""
    found = dict(VALUES)
    VALUES.clear()
    return found
