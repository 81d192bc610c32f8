"""When stepping stops by itself: the first NaN, a value out of a range, a value that eager mode does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.ir.interpreter import Interpreter, Step
from duograph.ir.node import Apply, Graph
from duograph.passes.pipelines import BEFORE

from .run import Condition, shown

__all__ = ["Differs", "condition_of"]

When = str | tuple[float, float] | Callable[[str, Any], Any] | None


def condition_of(when: When) -> Condition | None:
    """What ``step(when=...)`` stops at.

    Raises:
        ValueError: it is none of the known ones.
    """
    if when is None:
        return None
    if when == "nan":
        return _first(lambda x: not np.isfinite(x).all(), "a NaN or an infinity, and the operands have none")
    if when == "differs":
        return Differs()
    if isinstance(when, tuple) and len(when) == 2 and all(isinstance(x, int | float) for x in when):
        low, high = when
        return _first(
            lambda x: not ((x >= low) & (x <= high)).all(), f"out of [{low}, {high}], and the operands are not"
        )
    if callable(when):
        asked = when
        return lambda step, value, operands: "as asked for" if asked(step.node.op.name, shown(value)) else ""
    raise ValueError(f"For 'step', 'when' must be 'nan', 'differs', (low, high), a function or None, but got {when!r}.")


def _first(is_bad: Callable[[np.ndarray], Any], why: str) -> Condition:
    def bad(value: Any) -> bool:
        if isinstance(value, tuple):
            return any(map(bad, value))
        if not isinstance(value, np.ndarray) or value.dtype.kind in "bOSU":
            return False
        with np.errstate(all="ignore"):
            return bool(is_bad(value if value.dtype.kind in "biufc" else value.astype(np.float32)))

    return lambda step, value, operands: why if bad(value) and not any(map(bad, operands)) else ""


class Differs:
    """Stops at a value that the same expression has not in the graph as it was captured, run op by op."""

    def __init__(self) -> None:
        self._known: dict[Any, set[bytes]] | None = None
        self.why_not = ""

    def begins(self, graph: Graph, values: Sequence[Any]) -> None:
        """A run of ``graph`` begins."""
        before = BEFORE.of(graph.context).get(graph)
        self._known, self.why_not = None, ""
        if before is None or len(before.params) != len(graph.params):
            self.why_not = "the graph before its passes is not known"
        elif any(node.op.effects for node in before.nodes):
            self.why_not = "the call has effects, which would happen twice"
        else:
            recorder = _Recorder()
            recorder.run(before, values)
            self._known = recorder.found

    def __call__(self, step: Step, value: Any, operands: Sequence[Any]) -> str:
        if self._known is None or not isinstance(value, np.ndarray) or not step.node.operands:
            return ""
        found = self._known.get(_key(step.node, value))
        return "eager mode has another value here" if found and value.tobytes() not in found else ""


class _Recorder(Interpreter):
    """Keeps what every expression has given."""

    def __init__(self) -> None:
        self.found: dict[Any, set[bytes]] = {}

    def run_node(self, node: Apply, operands: list[Any]) -> Any:
        value = super().run_node(node, operands)
        if isinstance(value, np.ndarray):
            self.found.setdefault(_key(node, value), set()).add(value.tobytes())
        return value


def _key(node: Apply, value: np.ndarray) -> Any:
    return node.context.origins.get(node), node.op.name, value.dtype, value.shape
