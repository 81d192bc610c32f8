"""Which rule records which control op. The rules are in ``control.py``, ``loops.py`` and ``recursion.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core.op import state

from .graph_vjp import taping
from .tape import Tape

Rule = Callable[[Tape, tuple[Any, ...], dict[str, Any]], Any]
"""``(tape, operands, attrs) -> result``: emits the op in a form that gives residuals, and records it."""

RULES: dict[str, Rule] = {}


def rule(name: str) -> Callable[[Rule], Rule]:
    """Registers how the control op ``name`` is recorded."""

    def register(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return register


def outer_tapes(tape: Tape) -> Any:
    """Within the block, the tapes around ``tape`` record: they see what it makes of a control op."""
    return taping([t for t in state.tapes if t is not tape])
