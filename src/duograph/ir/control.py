"""The structured control operators of MindIR, and tuples.

    call(*args; graph)                          graph(*args)
    call_named(*args; name, type)               context.functions[name](*args), for graphs that call themselves
    custom_vjp(*args; forward, backward)        forward(*args), with a gradient of its own
    cond(pred, *args; then, orelse)             then(*args) if pred else orelse(*args); pred is a bool scalar
    while_loop(*carry, *invariants; cond, body, n_carry)
                                                while cond(*carry, *invariants): carry = body(*carry, *invariants)
    scan(n, *carry, *invariants; body, n_carry) for i in range(n): carry = body(i, *carry, *invariants)
    make_tuple(*items), tuple_get(t; index)
    undef(; type)                               a slot that is never read on this path (the untaken side of a union)

``while_loop`` and ``scan`` give the tuple of final carries. All graphs are closed: whatever a branch or body needs
from outside is an operand. Loop types are stable: body results have exactly the types of the carries (a frontend
widens dimensions before it builds the loop). The interpreter and the compiler execute these; their gradient rules are
in ``autodiff/control.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.op import primitive
from duograph.core.types import BOOL, INT, ScalarType, TensorType, TupleType, Type


def _check_args(what: str, graph: Any, args: tuple[Type, ...]) -> None:
    expected = tuple(p.type for p in graph.params)
    if expected != args:
        raise TypeError(
            f"{what} @{graph.name} takes ({', '.join(map(str, expected))}), got ({', '.join(map(str, args))})"
        )


@primitive
class call:
    """``graph(*args)``."""

    structured = True

    def infer(*args, graph):
        _check_args("call", graph, args)
        return graph.output.type


@primitive
class call_named:
    """The function ``name`` of the context's function table, applied to ``args``; how graphs are recursive.

    Graphs are immutable, so none can contain itself: it names itself instead. The type of the result is an attribute.
    """

    structured = True

    def infer(*args, name, type):
        return type


@primitive
class custom_vjp:
    """``forward(*args)``, whose gradient is ``backward(*args, *outputs, *cotangents)``.

    ``backward`` gives a tuple with one gradient for each operand whose index is in ``wanted``; it gets a cotangent for
    each output (``differentiable``: the indices of outputs that have cotangents).
    """

    structured = True

    def infer(*args, forward, backward, wanted, differentiable):
        _check_args("custom_vjp", forward, args)
        return forward.output.type


@primitive
class cond:
    """``then(*args)`` if ``pred`` else ``orelse(*args)``; only the taken graph is executed."""

    structured = True

    def infer(pred, *args, then, orelse):
        if pred != BOOL:
            raise TypeError(f"cond: the predicate must be a bool scalar, got {pred}")
        _check_args("cond", then, args)
        _check_args("cond", orelse, args)
        if then.output.type != orelse.output.type:
            raise TypeError(f"cond: branches give {then.output.type} and {orelse.output.type}")
        return then.output.type


def _check_carry(what: str, carry: tuple[Type, ...], body: Any) -> TupleType:
    result = TupleType(carry)
    if body.output.type != result:
        raise TypeError(f"{what}: the body gives {body.output.type}, the carry is {result}")
    return result


@primitive
class while_loop:
    """``while cond(*carry, *invariants): carry = body(*carry, *invariants)``; gives the final carry."""

    structured = True

    def infer(*operands, cond, body, n_carry):
        _check_args("while_loop", cond, operands)
        _check_args("while_loop", body, operands)
        if cond.output.type != BOOL:
            raise TypeError(f"while_loop: the condition must give a bool scalar, got {cond.output.type}")
        return _check_carry("while_loop", operands[:n_carry], body)


@primitive
class scan:
    """``for i in range(n): carry = body(i, *carry, *invariants)``; gives the final carry."""

    structured = True

    def infer(n, *operands, body, n_carry):
        if n != INT:
            raise TypeError(f"scan: the trip count must be an int scalar, got {n}")
        _check_args("scan", body, (INT, *operands))
        return _check_carry("scan", operands[:n_carry], body)


@primitive
class make_tuple:
    """Several values as one."""

    structured = True
    layout = "any"

    def infer(*items):
        return TupleType(tuple(items))

    def reference(*items):
        return tuple(items)


@primitive
class tuple_get:
    """The ``index``-th value of a tuple."""

    structured = True
    layout = "any"

    def infer(t, *, index):
        if not isinstance(t, TupleType) or not 0 <= index < len(t.items):
            raise TypeError(f"tuple_get: no item {index} in {t}")
        return t.items[index]

    def reference(t, *, index):
        return t[index]


@primitive
class undef:
    """A value of the given type that no path reads."""

    def infer(*, type):
        return type

    def reference(*, type):
        return zero_of(type)


def zero_of(type: Type) -> Any:
    """Some value of ``type``: zeros, empty tuples of them, or ``None`` for opaque ones."""
    if isinstance(type, TensorType):
        shape = tuple(d if isinstance(d, int) else 0 for d in type.shape)
        return np.zeros(shape, type.dtype.numpy)
    if isinstance(type, ScalarType):
        return type.python_type()
    if isinstance(type, TupleType):
        return tuple(zero_of(t) for t in type.items)
    return None


CONTROL_OPS = (call, call_named, custom_vjp, cond, while_loop, scan)
