"""Steps of optimizers in dynamic mode: after the first few, a step is one native call.

A step is a dozen operators per parameter, each of which reads and writes all of it; compiled, it passes over each
parameter and its states once. The results are the same to the bit. Only steps that are this package's own code are
compiled: a user's optimizer or schedule runs line by line, as everything does in dynamic mode.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from duograph.base.config import config
from duograph.core.op import state
from duograph.nn import dispatch

PLAIN_STEPS = 2
"""Steps before the first that is compiled: a program that takes only one does not wait for a compiler."""


class CompiledSteps:
    """Mixed into optimizers, before `Cell`."""

    _plain_steps = 0

    def _compute(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        plain = super()._compute  # type: ignore[misc]
        if state.binder is not None or state.tapes or kwargs or len(args) != 1 or dispatch.runs_plainly():
            return plain(args, kwargs)
        if self._plain_steps < PLAIN_STEPS:
            self.__dict__["_plain_steps"] = self._plain_steps + 1
            return plain(args, kwargs)
        if config().kernels != "native" or not _is_ours(self):
            return plain(args, kwargs)
        return _compiled(type(self).construct)(self, *args)  # type: ignore[attr-defined]


def _is_ours(optimizer: Any) -> bool:
    """Whether a step runs no code but this package's."""
    if "construct" in vars(optimizer):
        return False
    cells = [c for _, c in optimizer.cells_and_names()] if optimizer._cells else [optimizer]
    return all(type(c).__module__.startswith("duograph.") for c in cells)


@functools.cache
def _compiled(construct: Callable[..., Any]) -> Callable[..., Any]:
    """The compiled form of a method; its versions live with the optimizers."""
    from duograph.jit import jit

    return jit(construct)
