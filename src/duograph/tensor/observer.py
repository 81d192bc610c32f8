"""What is notified of every operator of a thread: who looks for NaN (`numerics`), or at the clock (`profiling`).

While there is an observer, native calls of operators are off (`core.launchable.pause`), so that each comes by here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from types import FrameType
from typing import Any, Protocol

from duograph.base.lookup import raw_getattr
from duograph.base.source import is_internal_file
from duograph.core.op import Op

__all__ = ["Observer", "frames_from", "is_layer", "layer_of", "layer_path"]


class Observer(Protocol):
    """What a thread tells of its operators while this is `core.op.state.observer`.

    Attributes:
        runs_plainly: whether compiled functions run as plain Python, and graphs op by op.
        steps: whether it leads calls of compiled functions itself, under debuggers too.
    """

    runs_plainly: bool
    steps: bool

    def bind(self, run: Callable[..., Any], op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """The result of an operator in dynamic mode, which ``run(op, operands, attrs)`` computes."""

    def begins(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """A version of a compiled function is about to run, for arguments of these names."""

    def executor(self, executor: Any) -> Any:
        """What runs graphs in the place of ``executor``, unless all runs plainly."""

    def here(self) -> Any:
        """Where the operator is called that a tape is recording: what `parts` and `pulled` get as ``origin``."""

    def parts(self, parts: Iterable[Any], gradient_of: str, origin: Any) -> list[Any]:
        """What the gradient rule of an operator gives, which computes while it is iterated over."""

    def pulled(
        self, pull: Callable[..., Sequence[Any]], given: Sequence[Any], gradient_of: str, origin: Any
    ) -> list[Any]:
        """`parts` for what is no single operator: ``pull(*given)``."""


def frames_from(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those that it was called from."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def layer_of(frames: Sequence[FrameType]) -> str:
    """The layers that are being called, by their names in each other: ``Net.block.fc (Dense)``."""
    cells: list[Any] = []
    for frame in reversed(frames):
        if frame.f_code.co_name == "_compute" and is_internal_file(frame.f_code.co_filename):
            cell = frame.f_locals.get("self")
            if is_layer(cell):
                cells.append(cell)
    return layer_path(cells)


def is_layer(value: Any) -> bool:
    """Whether an object is a Cell; nothing of its own is asked."""
    return "_cells" in raw_getattr(value, "__dict__", ())


def layer_path(cells: Sequence[Any]) -> str:
    """Cells, each called by the one before, by their names in each other."""
    of_user = [i for i, cell in enumerate(cells) if type(cell).__module__.partition(".")[0] != "duograph"]
    cells = cells[of_user[0] if of_user else 0 :]  # without a training step, a network with its loss
    if not cells:
        return ""
    path = last = type(cells[0]).__name__
    for outer, inner in pairwise(cells):
        known, last = _name_in(outer, inner), type(inner).__name__
        path = f"{path}.{known}" if known else last
    return path if path == last else f"{path} ({last})"


def _name_in(outer: Any, inner: Any) -> str:
    """The name of a Cell among those that another one consists of; empty: it is none of them."""
    work, seen = [("", outer)], {id(outer)}
    for prefix, cell in work:
        parts = raw_getattr(cell, "__dict__", {}).get("_cells", {})
        for name, part in parts.items():
            if part is inner:
                return f"{prefix}{name}"
        for name, part in parts.items():
            if is_layer(part) and id(part) not in seen:
                seen.add(id(part))
                work.append((f"{prefix}{name}.", part))
    return ""
