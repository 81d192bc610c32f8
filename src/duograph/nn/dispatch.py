"""What calling a Cell means in graph mode.

`Cell.__call__` asks here at the outermost call of a Cell in dynamic state while the context says GRAPH_MODE. What
compiles and runs, `graph_mode`, is loaded at the first such call and installs itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import MethodType
from typing import Any

from duograph.base.carried import carried
from duograph.base.slot import Slot


class _Plain(threading.local):
    """Per thread: whether Cells run plainly although the mode is GRAPH_MODE."""

    def __init__(self) -> None:
        self.active = False


_plain = carried(_Plain())


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


class _Instead(threading.local):
    """Per thread: a Cell whose ``construct`` is cut (`jit.cuts`), and what runs in its place."""

    def __init__(self) -> None:
        self.cell: Any = None
        self.construct: Any = None


_instead = carried(_Instead())


@contextmanager
def constructing(cell: Any, construct: Callable[..., Any]) -> Iterator[None]:
    """Within the block, the next run of ``cell`` calls ``construct`` with the Cell in front instead of its own."""
    before = _instead.cell, _instead.construct
    _instead.cell, _instead.construct = cell, construct
    try:
        yield
    finally:
        _instead.cell, _instead.construct = before


def construct_of(cell: Any) -> Any:
    """What a dynamic run of ``cell`` calls."""
    if _instead.cell is not cell:
        return cell.construct
    construct, _instead.cell = _instead.construct, None  # a Cell that calls itself is not cut within
    return MethodType(construct, cell)


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
    return graph_mode_caller.value(cell, args, kwargs)


graph_mode_caller: Slot[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = Slot(
    "nn.dispatch.graph_mode_caller", _call_first
)
"""The meaning of a Cell call in graph mode."""


def graph_mode_call(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls ``cell`` as graph mode does."""
    return graph_mode_caller.value(cell, args, kwargs)


def _compile_first(cell: Any) -> Any:
    _load()
    return cell_compiler.value(cell)


cell_compiler: Slot[Callable[[Any], Any]] = Slot("nn.dispatch.cell_compiler", _compile_first)
"""What gives the compiled form of a Cell."""


def compiled_cell(cell: Any) -> Any:
    """What graph mode calls in the place of ``cell``."""
    return cell_compiler.value(cell)
