"""One op as kernel calls: the same for eager ops and for nodes of graphs, which is why they have the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.base.failures import internal_failure
from duograph.core.op import Op
from duograph.core.types import ScalarType, TensorType

from .lowering import Lowering, Operand, numpy_only
from .pointwise import lower_pointwise
from .rule import Host, Kernel, Pointwise, Refused, rule_of

__all__ = ["lower_call"]


def lower_call(op: Op, attrs: dict[str, Any], ins: Sequence[Operand], outs: Sequence[Operand]) -> Lowering:
    """The kernel calls of ``op`` for operands and results of known types.

    Raises:
        Refused: its reference computes it, for the reason that this says: it has effects or no rule, its rule is
            `Host` or refuses these operands, or fails (which is an internal failure).
    """
    if op.effects:
        raise Refused("it has effects")
    rule = rule_of(op)
    if isinstance(rule, Host):
        raise Refused(rule.reason)
    if not isinstance(rule, Pointwise | Kernel):
        raise Refused("no rule")
    if op.data_dependent:
        raise Refused("its size depends on data")
    if not all(isinstance(o.type, TensorType) for o in outs):
        raise Refused("a result is not a tensor")
    reason = numpy_only([o.type for o in (*ins, *outs)])
    if reason:
        raise Refused(reason)
    for operand in ins:
        if not isinstance(operand.type, TensorType | ScalarType):
            raise Refused(f"an operand is a {operand.type}")
    c = Lowering(op, attrs, list(ins), list(outs))
    try:
        if isinstance(rule, Pointwise):
            lower_pointwise(c, rule)
        else:
            rule.function(c)
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001 - the policy
        failure = internal_failure("a kernel rule", op.name, error)
        raise Refused(f"its rule failed: {failure.error}") from None
    return c
