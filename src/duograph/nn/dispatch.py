"""What calling a Cell means in graph mode.

`Cell.__call__` asks here at the outermost call of a Cell in dynamic state while the context says GRAPH_MODE. The jit
installs the function that compiles and runs; until then a Cell just runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Plain(threading.local):
    """Per thread: whether Cells run plainly although the mode is GRAPH_MODE."""

    def __init__(self) -> None:
        self.active = False


_plain = _Plain()


def runs_plainly() -> bool:
    """Whether we are inside a graph-mode call already (or something that must not compile)."""
    return _plain.active


@contextmanager
def plainly() -> Iterator[None]:
    """Within the block, calls of Cells run in dynamic mode whatever the context says."""
    before = _plain.active
    _plain.active = True
    try:
        yield
    finally:
        _plain.active = before


def _run(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    with plainly():
        return cell.run(args, kwargs)


_graph_mode_call: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = [_run]


def graph_mode_call(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls ``cell`` as graph mode does."""
    return _graph_mode_call[0](cell, args, kwargs)


def install_graph_mode_call(function: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Makes ``function(cell, args, kwargs)`` the meaning of a Cell call in graph mode."""
    _graph_mode_call[0] = function


def _no_compile(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    return None


_compile_cell: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], None]] = [_no_compile]


def compile_cell(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Compiles ``cell`` for these arguments ahead of its first call."""
    _compile_cell[0](cell, args, kwargs)


def install_compile_cell(function: Callable[[Any, tuple[Any, ...], dict[str, Any]], None]) -> None:
    """Makes ``function(cell, args, kwargs)`` the meaning of `Cell.compile`."""
    _compile_cell[0] = function
