"""What can stop a capture.

    CaptureError                 (base.diagnostics) source that cannot be captured
      Uncapturable               ... carries the reason; the driver adds the user's span
    BaseException
      Restart                    an assumption was wrong: capture again with one more entry in the log

`Restart` is the only way back: no state is rolled back, the whole capture runs again and remembers what it learned
(the design of TorchDynamo's speculation log).
"""

from __future__ import annotations

from typing import Any

from duograph.base.diagnostics import CaptureError
from duograph.core.dim import UnknownSizeError
from duograph.tensor.tensor import SymbolicValueError


class Uncapturable(CaptureError):
    """This construct cannot become part of a graph.

    Args:
        reason: one sentence, for the user.
        span: where in the user's source; the driver fills it in on the way out if it is missing.

    Attributes:
        premises: what the program had read until then (`premises.Premise`).
        needed: where the texts are found whose contents it needs, of those that a capture does not know.
        sizes: the symbols whose numbers would help: the end of a loop that can only be unrolled depends on them.
    """

    premises: tuple[Any, ...] = ()
    needed: frozenset[Any] = frozenset()
    sizes: frozenset[Any] = frozenset()

    def __init__(self, reason: str, span: Any = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span
        self.trail: list[tuple[int, Any, Any]] = []
        """The statements it came up in, the innermost first: number of the frame, source of its function, node."""


class BetterApart(Uncapturable):
    """What is a step of a graph, but costs less as a statement of plain Python between two graphs."""


class TooManyPaths(BetterApart):
    """Tensor-dependent decisions whose paths do not join: each of them doubles what is captured behind it."""


class WholeOnly(Uncapturable):
    """What plain Python answers only where it has run all of the function: what a segment gives may be a copy."""


class NotYet(Uncapturable):
    """What Python's own run of this call makes ready for capture at the next one."""


class Restart(BaseException):
    """Run the capture again; `log` of the session has a new entry."""


class Undecidable(Restart):
    """Code that must have one path, as the test of a loop in the graph, takes a tensor-dependent decision."""


INTERNAL = (Uncapturable, SymbolicValueError, UnknownSizeError)
"""Exceptions that are ours, not the user program's."""
