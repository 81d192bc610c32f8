"""What runs graphs: `Interpreter` op by op in Python, `runtime.programs.executable.NativeExecutor` as machine code.

`frontend.programs.execute.executor` chooses; compiled functions, exported programs and gradients come by there. The
values of a graph are the same whoever runs it; how long that takes, and what can be left out on request, is not.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .memo import Memo
from .node import Graph

__all__ = ["TIMED", "Executor", "ObservedExecutor", "Timed"]


class Timed(list[Any]):
    """What a profile has recorded of the calls of a graph: its events, in order. The profile holds it."""

    __slots__ = ("__weakref__",)


TIMED: Memo[Graph, weakref.ref[Timed]] = Memo("events of the latest profile")
"""Of graphs whose calls were profiled."""


class Executor(Protocol):
    """Runs graphs."""

    def prepare(self, graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> None:
        """Does now what the first `run` with these arguments would have to do before it begins."""

    def run(
        self,
        graph: Graph,
        values: Sequence[Any],
        level: int = 1,
        donate: Mapping[int, int] | None = None,
        repeat: bool = True,
    ) -> Any:
        """The value of the output of ``graph``.

        Args:
            graph: any closed graph.
            values: arrays, numbers and objects, one per parameter; only donated arrays may be written to.
            level: of optimisation in the code generator; 0: op by op.
            donate: numbers of outputs that may be written into the memory of inputs, with the numbers of these.
            repeat: whether the interpreter repeats what machine code notes a failure on; else `NotRepeated` is raised.
        """


class ObservedExecutor:
    """Runs graphs for an observer: its ``run`` does it, and gets the executor that would have run them."""

    def __init__(self, observer: Any, inner: Executor) -> None:
        self._observer, self._inner = observer, inner

    def prepare(self, graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> None:
        self._inner.prepare(graph, level, donate)

    def run(
        self,
        graph: Graph,
        values: Sequence[Any],
        level: int = 1,
        donate: Mapping[int, int] | None = None,
        repeat: bool = True,
    ) -> Any:
        return self._observer.run(self._inner, graph, values, level, donate, repeat)
