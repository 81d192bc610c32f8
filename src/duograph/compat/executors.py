"""The two executor objects of ``mindspore.common.api`` that programs reach for, as far as they mean something here."""

from __future__ import annotations

import threading
from typing import Any

from duograph.autodiff.api import no_grad
from duograph.core.op import state

__all__ = ["_cell_graph_executor", "_no_grad", "_pynative_executor"]

_no_grad = no_grad


class _PynativeExecutor:
    """Dynamic mode: every operator is done when its call returns."""

    def __init__(self) -> None:
        self._blocks = threading.local()

    def sync(self) -> None:
        """Waits for operators that were launched; there are none."""

    def grad_flag(self) -> bool:
        """Whether gradients are being recorded."""
        return bool(state.tapes)

    requires_grad = grad_flag

    def enable_grad(self) -> bool:
        """Whether gradients can be recorded: not within `no_grad`, nor after ``set_enable_grad(False)``."""
        return not state.detached

    def set_enable_grad(self, flag: bool) -> None:
        """Begins, or ends, a part of this thread's program that is a constant for gradients, as `no_grad` does.

        Args:
            flag (bool): ``False`` begins it, ``True`` ends the one that ``False`` has begun, if there is one.
        """
        block = self._blocks.__dict__.pop("open", None)
        if flag and block is not None:
            block.__exit__()
        elif not flag:
            self._blocks.open = block or no_grad().__enter__()


class _CellGraphExecutor:
    """Graph mode: compiles a Cell without running it."""

    def compile(self, obj: Any, *args: Any, phase: str = "predict", **kwargs: Any) -> tuple[str, bool]:
        """Compiles ``obj`` for these arguments.

        Args:
            obj (Cell): what to compile.
            phase (str): ``"train"`` sets the training flag first. Default: "predict".

        Returns:
            tuple, a name for the result, and whether something was compiled.
        """
        if "train" in phase:
            obj.set_train()
        obj.compile(*args)
        return f"{type(obj).__name__}.{phase}", True


_pynative_executor = _PynativeExecutor()
_cell_graph_executor = _CellGraphExecutor()
