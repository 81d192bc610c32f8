"""What the context says that layers below it ask."""

from __future__ import annotations

from collections.abc import Callable

from .slot import Slot

__all__ = ["graph_mode"]

graph_mode: Slot[Callable[[], bool]] = Slot("base.modes.graph_mode", lambda: False)
"""Whether the mode is GRAPH_MODE: calling a Cell compiles it, and PIJit counts as absent."""
