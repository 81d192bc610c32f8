"""The meaning of a control op while a tape records (`Tape.bind_structured`)."""

from __future__ import annotations

from typing import Any

from duograph.core.op import Op

from . import control, loops, recursion  # their rules register themselves
from .structured import RULES, outer_tapes
from .tape import Tape


def bind_structured(tape: Tape, op: Op, operands: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Applies ``op`` for ``tape``, the innermost one; the tapes around it see what its rule emits."""
    function = RULES.get(op.name)
    if function is None or all(tape.variable(x) is None for x in operands):
        with outer_tapes(tape):
            return op(*operands, **attrs)
    return function(tape, operands, attrs)


__all__ = ["bind_structured", "control", "loops", "recursion"]
