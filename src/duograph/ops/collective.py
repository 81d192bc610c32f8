"""Collective operators: what all ranks of a group compute together (`docs/distributed.md`).

Each takes the *token* of its program first, and gives the next one: a program's collectives have one order, that of the
program, which no rewrite changes (`ir.verify`). In dynamic mode there is nothing to order: `NOW` is the token. So an
operator is called through `ordered`, which finds the token of the program around it, and there is one declaration for
both lives: type, meaning, gradient and batching.

``group`` is a name, ``size`` that of the group when the program was written down; ``op`` is ``"sum"``,
``"prod"``, ``"max"``, ``"min"``, or ``"avg"``, the sum divided by the number of ranks. The sum over ranks has the order
of the ranks (``distributed/reduce.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from duograph.core.op import primitive, state
from duograph.core.types import TOKEN, TensorType, TupleType
from duograph.distributed import world
from duograph.distributed.group import Group
from duograph.distributed.journal import once
from duograph.tensor.tensor import SymbolicValueError

from .arithmetic import mul
from .cast import cast
from .compare import equal
from .creation import constant_like
from .elementwise import elementwise_batch
from .movement import move_axis
from .slices import slice_axis

__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "call_of", "exchange", "ordered", "receive",
           "reduce_scatter", "reduce_to", "send"]  # fmt: skip

KINDS = ("sum", "prod", "max", "min", "avg")


class _Now:
    """The token of dynamic mode: what is called, happens."""

    type = TOKEN

    def __repr__(self) -> str:
        return "now"


NOW = _Now()


class _InOrder:
    """The order of dynamic mode."""

    def token(self) -> Any:
        return NOW

    def advance(self, token: Any) -> None:
        """The next call is the next effect anyway."""


IN_ORDER = _InOrder()


def ordered(operator: Any, /, *operands: Any, **attrs: Any) -> Any:
    """Calls a collective operator where the program is.

    Raises:
        SymbolicValueError: in a graph that may run later, never, or often; plain Python does better then.
    """
    order = IN_ORDER if state.binder is None else getattr(state.binder, "order", None)
    if order is None:
        raise SymbolicValueError(
            f"{operator.name} in the gradient of a branch or loop, whose place in the order is not known"
        )
    token, out = operator(order.token(), *operands, **attrs)
    order.advance(token)
    return out


def _same_type(name: str) -> Any:
    def infer(token, x, **attrs):
        if x.dtype.is_complex and attrs.get("op") in ("max", "min"):
            raise TypeError(f"For '{name}', complex numbers have no order, but 'op' is {attrs['op']!r}.")
        _check_average(name, x, attrs.get("op"))
        return TupleType((TOKEN, x))

    return infer


Call: TypeAlias = "tuple[tuple[Any, ...], str, Callable[[Group], Any]]"
"""What the journal knows a collective by, its group, and what it does with arrays."""


def call_of(name: str, x: Any, *, group: str, is_spent: bool = False, **how: Any) -> Call:
    """One of the collectives that may also run while the program goes on (`ops/deferred.py`). ``is_spent``: nobody
    needs ``x`` any more."""
    if name == "all_gather":
        shape = (x.shape[0] * how["size"], *x.shape[1:])
        return _call(name, x, group, lambda g: g.all_gather(x).reshape(shape))
    op = how["op"]
    if name == "all_reduce":
        return _call(name, x, group, lambda g: g.all_reduce(x, op, is_spent), op)
    return _call(name, x, group, lambda g: g.reduce_scatter(x, op), op)


def _call(name: str, x: Any, group: str, does: Callable[[Group], Any], *what: Any) -> Call:
    return (name, group, x.dtype, x.shape, what), group, does


def _given(key: tuple[Any, ...], group: str, does: Callable[[Group], Any]) -> tuple[None, Any]:
    """What a collective gives, once."""
    return None, once(key, lambda: run(group, does))


def receive_array(like: Any, group: str, source: int, tag: int) -> Any:
    """A message as an array, after those of the same sender and tag that were asked for before."""
    found = world.current()
    known = found.group(group)
    return found.mail(group, source, tag).run(lambda: known.receive(like, source, tag)[0])


def run(group: str, call: Any) -> Any:
    """``call(group)``, after all asynchronous calls that were asked for before."""
    found = world.current()
    return found.worker.run(lambda: call(found.group(group)))


def _only_sum(name: str, op: str) -> None:
    if op not in ("sum", "avg"):
        raise TypeError(f"For '{name}', there is a gradient where 'op' is 'sum' or 'avg', but it is {op!r}.")


def _check_average(name: str, x: Any, op: Any) -> None:
    if op == "avg" and not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(f"For '{name}', there is no mean ('avg') of {x.dtype}.")


def _in_front(axes: Any, values: Any) -> Any:
    """The batched operand with the batch behind the first axis, which is the one that ranks share."""
    return move_axis(values[1], 0, 1)


@primitive
class all_reduce:
    """The operands of all ranks, reduced in the order of the ranks.

    If ``shared``, all ranks go on to compute the same with the result, which counts once: its cotangent, which they all
    have, is that of each operand.
    """

    effects = ("ranks",)

    def infer(token, x, *, group, op, shared=False):
        return _same_type("all_reduce")(token, x, op=op)

    def reference(token, x, *, group, op, shared):
        return _given(*call_of("all_reduce", x, group=group, op=op))

    def bprop(ins, out, dout, *, group, op, shared):
        def gradient():
            if shared and op == "sum":
                return dout[1]
            if op == "prod":
                _only_sum("all_reduce", op)
            whole = ordered(all_reduce, dout[1], group=group, op="avg" if op == "avg" else "sum")
            return whole if op in ("sum", "avg") else mul(whole, cast(equal(ins[1], out[1]), dtype=whole.dtype))

        return (None, gradient)

    def batch(axes, values, *, group, op, shared):
        return all_reduce(*values, group=group, op=op, shared=shared), (None, 0)


@primitive
class spread:
    """``x``, which all ranks have, for different things that they do with it: its cotangent is the sum of theirs."""

    layout = "any"
    batch = elementwise_batch("spread")

    def infer(x, *, group):
        return x

    def reference(x, *, group):
        return x.copy()

    def bprop(ins, out, dout, *, group):
        return (lambda: ordered(all_reduce, dout, group=group, op="sum"),)


@primitive
class reduce_to:
    """The operands of all ranks, reduced in the order of the ranks, on rank ``root``; elsewhere the rank's own operand,
    or zeros if not ``kept``."""

    effects = ("ranks",)

    def infer(token, x, *, group, op, root, kept=True):
        return _same_type("reduce")(token, x, op=op)

    def reference(token, x, *, group, op, root, kept):
        def call(g):
            out = g.reduce(x, op, root)
            return out if kept or g.rank == root else np.zeros_like(out)

        return _given(*_call("reduce", x, group, call, op, root, kept))

    def bprop(ins, out, dout, *, group, op, root, kept):
        def gradient():
            if op != "sum" or kept:
                raise TypeError(
                    "For 'reduce', there is no gradient: ranks other than the first keep their own operand."
                )
            return ordered(broadcast, dout[1], group=group, root=root)

        return (None, gradient)

    def batch(axes, values, *, group, op, root, kept):
        return reduce_to(*values, group=group, op=op, root=root, kept=kept), (None, 0)


@primitive
class broadcast:
    """The operand of rank ``root``."""

    effects = ("ranks",)

    def infer(token, x, *, group, root):
        return TupleType((TOKEN, x))

    def reference(token, x, *, group, root):
        return _given(*_call("broadcast", x, group, lambda g: g.broadcast(x, root), root))

    def bprop(ins, out, dout, *, group, root):
        return (None, lambda: ordered(reduce_to, dout[1], group=group, op="sum", root=root, kept=False))

    def batch(axes, values, *, group, root):
        return broadcast(*values, group=group, root=root), (None, 0)


@primitive
class all_gather:
    """The operands of all ranks, one after the other along the first axis.

    If ``shared_by``, the number of this rank, is not negative, all ranks go on to compute the same with the result.
    """

    effects = ("ranks",)

    def infer(token, x, *, group, size, shared_by=-1):
        if not x.shape:
            raise ValueError("For 'all_gather', the input must have at least 1 dimension, but got shape ().")
        return TupleType((TOKEN, TensorType(x.dtype, (x.shape[0] * size, *x.shape[1:]))))

    def reference(token, x, *, group, size, shared_by):
        return _given(*call_of("all_gather", x, group=group, size=size))

    def bprop(ins, out, dout, *, group, size, shared_by):
        def gradient():
            if shared_by < 0:
                return ordered(reduce_scatter, dout[1], group=group, op="sum", size=size)
            each = ins[1].shape[0]
            return slice_axis(dout[1], 0, shared_by * each, (shared_by + 1) * each)

        return (None, gradient)

    def batch(axes, values, *, group, size, shared_by):
        front = _in_front(axes, values)
        token, out = all_gather(values[0], front, group=group, size=size, shared_by=shared_by)
        return (token, move_axis(out, 1, 0)), (None, 0)


@primitive
class reduce_scatter:
    """This rank's part, along the first axis, of the operands of all ranks, reduced in the order of the ranks."""

    effects = ("ranks",)

    def infer(token, x, *, group, op, size):
        _check_parts("reduce_scatter", x, size)
        _check_average("reduce_scatter", x, op)
        return TupleType((TOKEN, TensorType(x.dtype, (x.shape[0] // size, *x.shape[1:]))))

    def reference(token, x, *, group, op, size):
        return _given(*call_of("reduce_scatter", x, group=group, op=op))

    def bprop(ins, out, dout, *, group, op, size):
        def gradient():
            _only_sum("reduce_scatter", op)
            whole = ordered(all_gather, dout[1], group=group, size=size)
            return whole if op == "sum" else mul(whole, constant_like(whole, 1.0 / size))

        return (None, gradient)

    def batch(axes, values, *, group, op, size):
        token, out = reduce_scatter(values[0], _in_front(axes, values), group=group, op=op, size=size)
        return (token, move_axis(out, 1, 0)), (None, 0)


@primitive
class all_to_all:
    """Part ``r`` along the first axis goes to rank ``r``; the parts that come stand in the order of the ranks."""

    effects = ("ranks",)

    def infer(token, x, *, group, size):
        _check_parts("all_to_all", x, size)
        return TupleType((TOKEN, x))

    def reference(token, x, *, group, size):
        return _given(*_call("all_to_all", x, group, lambda g: g.all_to_all(x)))

    def bprop(ins, out, dout, *, group, size):
        return (None, lambda: ordered(all_to_all, dout[1], group=group, size=size))

    def batch(axes, values, *, group, size):
        token, out = all_to_all(values[0], _in_front(axes, values), group=group, size=size)
        return (token, move_axis(out, 1, 0)), (None, 0)


@primitive
class exchange:
    """The first axis in pieces: the next ``ins[r]`` rows go to rank ``r``; ``outs[r]`` rows come from it, in the order
    of the ranks."""

    effects = ("ranks",)

    def infer(token, x, *, group, ins, outs):
        if not x.shape or (isinstance(x.shape[0], int) and x.shape[0] != sum(ins)):
            raise ValueError(f"For 'all_to_all', the first dimension of {tuple(x.shape)} must be the sum of {ins}.")
        return TupleType((TOKEN, TensorType(x.dtype, (sum(outs), *x.shape[1:]))))

    def reference(token, x, *, group, ins, outs):
        def call(g):
            parts = [np.ascontiguousarray(part) for part in np.split(x, np.cumsum(ins)[:-1])]
            return np.concatenate(g.all_to_all_parts(parts, [np.empty((n, *x.shape[1:]), x.dtype) for n in outs]))

        return _given(*_call("exchange", x, group, call, ins, outs))

    def bprop(ins_, out, dout, *, group, ins, outs):
        return (None, lambda: ordered(exchange, dout[1], group=group, ins=outs, outs=ins))

    def batch(axes, values, *, group, ins, outs):
        token, out = exchange(values[0], _in_front(axes, values), group=group, ins=ins, outs=outs)
        return (token, move_axis(out, 1, 0)), (None, 0)


@primitive
class send:
    """A message for rank ``to``: the operand, which is also the result."""

    effects = ("ranks",)

    def infer(token, x, *, group, to, tag):
        return TupleType((TOKEN, x))

    def reference(token, x, *, group, to, tag):
        def call():
            world.group(group).send(x, to, tag)  # nobody waits for it, and it waits for nobody
            return x.copy()

        return None, once(("send", group, x.dtype, x.shape, to, tag), call)

    def batch(axes, values, *, group, to, tag):
        return send(*values, group=group, to=to, tag=tag), (None, 0)


@primitive
class receive:
    """A message of rank ``source``, of the shape and dtype of ``like``."""

    effects = ("ranks",)

    def infer(token, like, *, group, source, tag):
        return TupleType((TOKEN, like))

    def reference(token, like, *, group, source, tag):
        key = "receive", group, like.dtype, like.shape, source, tag
        return None, once(key, lambda: receive_array(like, group, source, tag))

    def batch(axes, values, *, group, source, tag):
        return receive(*values, group=group, source=source, tag=tag), (None, 0)


def _check_parts(name: str, x: Any, size: int) -> None:
    if not x.shape:
        raise ValueError(f"For '{name}', the input must have at least 1 dimension, but got shape ().")
    if isinstance(x.shape[0], int) and x.shape[0] % size:
        raise ValueError(
            f"For '{name}', the first dimension of the input must be a multiple of the number of ranks, {size}, "
            f"but got shape {tuple(x.shape)}."
        )
