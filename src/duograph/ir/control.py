"""The structured control operators of MindIR, and tuples.

    call(*args; graph)                          graph(*args)
    call_named(*args; name, type)               context.functions[name](*args), for graphs that call themselves
    custom_vjp(*args; forward, backward)        forward(*args), with a gradient of its own
    cond(pred, *args; then, orelse)             then(*args) if pred else orelse(*args); pred is a bool scalar
    while_loop(*carry, *invariants; cond, body, n_carry)
                                                while cond(*carry, *invariants): carry = body(*carry, *invariants)
    scan(n, *carry, *invariants; body, n_carry) for i in range(n): carry = body(i, *carry, *invariants)
    make_tuple(*items), tuple_get(t; index)
    sized(x, *tells)                            x, and the sizes of the others are kept
    anchor(x, *values)                          x, once the others, which might raise, have been computed
    undef(; type)                               a slot that is never read on this path (the untaken side of a union)

``while_loop`` and ``scan`` give the tuple of final carries. All graphs are closed: whatever a branch or body needs
from outside is an operand, with exactly the type of its parameter. Loop types are stable but for sizes that have a name
of their own in the carry. Sizes of results that do not follow from the operands get new names (``core/borders.py``).
The interpreter and the compiler execute these; their gradient rules are in ``autodiff/control.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.borders import differ_in_sizes, meeting, opened, stands_for, symbols_in
from duograph.core.dim import Symbol, UnknownSizeError
from duograph.core.op import primitive
from duograph.core.types import BOOL, INT, ScalarType, TensorType, TupleType, Type


def _check_args(what: str, graph: Any, args: tuple[Type, ...]) -> None:
    expected = tuple(p.type for p in graph.params)
    if expected != args:
        raise _mismatch(
            expected,
            args,
            f"{what} @{graph.name} takes ({', '.join(map(str, expected))}), got ({', '.join(map(str, args))})",
        )


def _mismatch(a: Any, b: Any, message: str) -> TypeError:
    """The error for types that differ: a capture goes on in plain Python if it is about names of sizes only."""
    return (UnknownSizeError if differ_in_sizes(a, b) else TypeError)(message)


def _result(type: Type, args: tuple[Type, ...]) -> Type:
    """The type of a result outside of the graph that gives it."""
    found = meeting((type,), args)
    assert found is not None
    return found


@primitive
class call:
    """``graph(*args)``."""

    structured = True
    of_graphs = True

    def infer(*args, graph):
        _check_args("call", graph, args)
        return _result(graph.output.type, args)


@primitive
class call_named:
    """The function ``name`` of the context's function table, applied to ``args``; how graphs are recursive.

    Graphs are immutable, so none can contain itself: it names itself instead. The type of the result is an attribute.
    """

    structured = True
    raises = True

    def infer(*args, name, type):
        return _result(type, args)


@primitive
class custom_vjp:
    """``forward(*args)``, whose gradient is ``backward(*args, *outputs, *cotangents)``.

    ``backward`` gives a tuple with one gradient for each operand whose index is in ``wanted``; it gets a cotangent for
    each output (``differentiable``: the indices of outputs that have cotangents).
    """

    structured = True
    of_graphs = True

    def infer(*args, forward, backward, wanted, differentiable):
        _check_args("custom_vjp", forward, args)
        return _result(forward.output.type, args)


@primitive
class cond:
    """``then(*args)`` if ``pred`` else ``orelse(*args)``; only the taken graph is executed."""

    structured = True
    of_graphs = True

    def infer(pred, *args, then, orelse):
        if pred != BOOL:
            raise TypeError(f"cond: the predicate must be a bool scalar, got {pred}")
        _check_args("cond", then, args)
        _check_args("cond", orelse, args)
        sides = _given(then, args), _given(orelse, args)
        found = meeting(sides, args)
        if found is None:
            raise _mismatch(*sides, f"cond: branches give {sides[0]} and {sides[1]}")
        return found


def _given(graph: Any, args: tuple[Type, ...]) -> Type:
    """The type of what a branch gives. What it leaves undefined has no sizes, even where its type names one that the
    branch finds: the other branch has found that one too, and only there it is the size of this result."""
    output = graph.output
    if getattr(output, "op", None) is not make_tuple:
        return output.type  # type: ignore[no-any-return]
    known = symbols_in(args)
    items = [opened(o.type, symbols_in(o.type) - known, "unread") if _is_unread(o) else o.type for o in output.operands]
    return TupleType(tuple(items))


def _is_unread(node: Any) -> bool:
    while (op := getattr(node, "op", None)) is sized or op is anchor:
        node = node.operands[0]
    return op is undef


def _carried(what: str, carry: tuple[Type, ...], operands: tuple[Type, ...], body: Any) -> Type:
    """The type of the final carry. A size with a name of its own in the carry may change in each iteration."""
    result, given = TupleType(carry), body.output.type
    if given == result:
        return _result(result, operands)
    names: dict[Symbol, Any] = {}
    fits = stands_for(result, given, set(), names)
    changed = {size for size, after in names.items() if after != size}
    if not fits or changed & (symbols_in(operands[len(carry) :]) | _in_expressions(carry)):
        raise _mismatch(given, result, f"{what}: the body gives {given}, the carry is {result}")
    found = meeting((result, given), operands)
    assert found is not None
    return found


def _in_expressions(types: tuple[Type, ...]) -> set[Symbol]:
    """The sizes that extents of ``types`` are computed from."""
    shapes = [t.shape for t in types if isinstance(t, TensorType)]
    return symbols_in(tuple([d for shape in shapes for d in shape if not isinstance(d, Symbol)]))


@primitive
class while_loop:
    """``while cond(*carry, *invariants): carry = body(*carry, *invariants)``; gives the final carry.

    It may have no end, which is an effect like an exception: a program that runs on and on is none that goes on.
    """

    structured = True
    of_graphs = True
    raises = True

    def infer(*operands, cond, body, n_carry):
        _check_args("while_loop", cond, operands)
        _check_args("while_loop", body, operands)
        if cond.output.type != BOOL:
            raise TypeError(f"while_loop: the condition must give a bool scalar, got {cond.output.type}")
        return _carried("while_loop", operands[:n_carry], operands, body)


@primitive
class scan:
    """``for i in range(n): carry = body(i, *carry, *invariants)``; gives the final carry."""

    structured = True
    of_graphs = True

    def infer(n, *operands, body, n_carry):
        if n != INT:
            raise TypeError(f"scan: the trip count must be an int scalar, got {n}")
        _check_args("scan", body, (INT, *operands))
        return _carried("scan", operands[:n_carry], operands, body)


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
class anchor:
    """``x`` itself, once all ``values`` have been computed: they might raise, or have no end, and nobody else may read
    them. All results of an operation are one value."""

    layout = "any"

    def infer(x, *values):
        return x

    def reference(x, *values):
        return x

    def bprop(ins, out, dout):
        return (dout, *[None] * (len(ins) - 1))

    def batch(in_axes, operands):
        return anchor(*operands), in_axes[0]


@primitive
class sized:
    """``x``, in a graph whose attributes mention sizes that only the values ``tells`` find."""

    layout = "any"

    def infer(x, *tells):
        return x

    def reference(x, *tells):
        return x

    def bprop(ins, out, dout):
        return (dout, *[None] * (len(ins) - 1))


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
