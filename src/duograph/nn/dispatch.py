"""What calling a Cell means in graph mode.

`Cell.__call__` asks here at the outermost call of a Cell in dynamic state while the context says GRAPH_MODE. What
compiles and runs, `graph_mode`, is loaded at the first such call and installs itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
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


def run_plainly(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `Cell.__call__` does in dynamic mode, all of it `plainly`."""
    before, _plain.active = _plain.active, True
    try:
        return cell.run(args, kwargs)
    finally:
        _plain.active = before


def _load() -> None:
    """Loads the compiler, which installs itself here; programs that stay dynamic never pay for it."""
    import_module("duograph.nn.graph_mode")


def _call_first(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    _load()
    return _graph_mode_call[0](cell, args, kwargs)


_graph_mode_call: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = [_call_first]


def graph_mode_call(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls ``cell`` as graph mode does."""
    return _graph_mode_call[0](cell, args, kwargs)


def install_graph_mode_call(function: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Makes ``function(cell, args, kwargs)`` the meaning of a Cell call in graph mode."""
    _graph_mode_call[0] = function


def _compile_first(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    _load()
    _compile_cell[0](cell, args, kwargs)


_compile_cell: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], None]] = [_compile_first]


def compile_cell(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Compiles ``cell`` for these arguments ahead of its first call."""
    _compile_cell[0](cell, args, kwargs)


def install_compile_cell(function: Callable[[Any, tuple[Any, ...], dict[str, Any]], None]) -> None:
    """Makes ``function(cell, args, kwargs)`` the meaning of `Cell.compile`."""
    _compile_cell[0] = function
