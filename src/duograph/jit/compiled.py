"""What has become of a graph in the native engine. The engine is not loaded to find out that it was never used."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from duograph.base.failures import Failure
from duograph.ir.node import Graph

if TYPE_CHECKING:
    from duograph.runtime.programs.executable import Executable

__all__ = ["executables_of", "failures_in", "refusals_of"]


def _is_loaded() -> bool:
    return "duograph.runtime.programs.executable" in sys.modules


def executables_of(graph: Graph) -> Sequence[Executable]:
    """The executables of a graph: one for each level and choice of donated inputs."""
    if not _is_loaded():
        return ()
    from duograph.runtime.programs.executable import EXECUTABLES

    return [x for x in tuple(EXECUTABLES.of(graph.context).values()) if x.graph is graph]


def refusals_of(graph: Graph) -> Sequence[Failure]:
    """Why a graph could not be compiled."""
    if not _is_loaded():
        return ()
    from duograph.runtime.programs.executable import FAILURES

    return [failure for (failed, _), failure in tuple(FAILURES.of(graph.context).items()) if failed is graph]


def failures_in(graph: Graph) -> Sequence[Failure]:
    """What failed while a graph and its derivatives were made machine code, and run."""
    if not _is_loaded():
        return ()
    from duograph.runtime.programs.executable import failures_of

    return failures_of(graph)
