"""Functions with a gradient of their own: ``Cell.bprop``, and identities that only change the gradient.

The forward part runs unrecorded; its gradient is what the user's function gives. In a graph this is the op
``custom_vjp``: it hands the outputs through, and its backward graph is the user's function, captured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from duograph.base.diagnostics import CaptureError
from duograph.base.failures import SHORTAGE, is_from_outside
from duograph.base.tree import flatten, leaves, unflatten
from duograph.core.dim import UnknownSizeError
from duograph.core.op import no_recording, state
from duograph.ir.control import custom_vjp
from duograph.ops.cast import cast, identity
from duograph.tensor.tensor import SymbolicValueError, Tensor

from .backward import Gradient, inner_scope, plus
from .entries import Saved
from .hooks import call_on_gradients, call_user
from .separate import writable
from .vmap import BatchBinder

Pull = Callable[[Sequence[Any]], Sequence[Any]]
"""Cotangents of the outputs -> gradients of the inputs (``None``: nothing flows)."""


def custom_call(fn: Any, bprop: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
    """``fn(*args, **kwargs)``, whose gradient is ``bprop(*args, out, dout)``.

    Args:
        fn: the function; what it does is not differentiated, also not with respect to Parameters it uses.
        bprop: gives one gradient per positional argument.
        args: positional arguments.
        kwargs: keyword arguments; constants for the gradient.

    Returns:
        What ``fn`` returns.

    Raises:
        RuntimeError: when the gradient is computed, if ``bprop`` gives too few gradients or one of a wrong shape.
    """
    if not state.tapes and state.binder is None:
        return call_user(fn, args, kwargs or {})
    flat, spec = flatten(args)
    places = [i for i, x in enumerate(flat) if isinstance(x, Tensor)]
    with no_recording():
        out = call_user(fn, args, kwargs or {})
    out_flat, out_spec = flatten(out)
    out_places = [i for i, x in enumerate(out_flat) if isinstance(x, Tensor)]

    def pull(inputs: Sequence[Any], outputs: Sequence[Any], douts: Sequence[Any]) -> Sequence[Any]:
        given, made, cotangents = list(flat), list(out_flat), [None] * len(out_flat)
        for i, x in zip(places, inputs, strict=True):
            given[i] = x
        for i, x, d in zip(out_places, outputs, douts, strict=True):
            made[i], cotangents[i] = x, d
        result = call_on_gradients(
            bprop, (*unflatten(spec, given), unflatten(out_spec, made), unflatten(out_spec, cotangents))
        )
        return _gradients_of(result, args, inputs)

    inputs = [flat[i] for i in places]
    outputs = identity_with(inputs, [out_flat[i] for i in out_places], pull)
    for i, x in zip(out_places, outputs, strict=True):
        out_flat[i] = x
    return unflatten(out_spec, out_flat)


def _gradients_of(result: Any, args: tuple[Any, ...], inputs: Sequence[Any]) -> list[Any]:
    """One gradient per tensor in ``args`` out of what a user's ``bprop`` returned."""
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict) and isinstance(result[0], tuple):
        result = result[0]  # gradients of Parameters are given as a dict; MindSpore does not use them either
    parts = tuple(result) if isinstance(result, tuple | list) else (result,)
    if len(parts) < len(args):
        raise RuntimeError(f"Grad size should lager than forward inputs, but got {len(parts)} vs {len(args)}")
    found: list[Any] = []
    for arg, part in zip(args, parts, strict=False):
        own = [x for x in leaves(arg) if isinstance(x, Tensor)]
        if isinstance(arg, Tensor):
            found.append(part)
        elif own:
            given = leaves(part)
            found += given if len(given) == len(own) else [None] * len(own)
    return [fitted(g, x) for g, x in zip(found, inputs, strict=True)]


def fitted(grad: Any, x: Any) -> Any:
    if not isinstance(grad, Tensor):
        return None
    if tuple(grad.shape) != tuple(x.shape):
        raise RuntimeError(
            "For grad interface or custom function, grad tensor should be broadcast to expected shape, but got "
            f"{tuple(grad.shape)} vs {tuple(x.shape)}"
        )
    return grad if grad.dtype == x.dtype else cast(grad, dtype=x.dtype)


def _captured(pull: Pull, *values: Sequence[Any]) -> Sequence[Any]:
    """``pull(*values)`` while the forward part is captured, when nobody has asked for a gradient yet.

    Raises:
        SymbolicValueError: the user's function raises, or gives what does not fit. Python says so when the gradient is
            computed, if it ever is: no graph of the forward part can.
    """
    try:
        return pull(*values)
    except (CaptureError, SymbolicValueError, UnknownSizeError, *SHORTAGE):
        raise
    except Exception as error:
        if is_from_outside(error):
            raise
        raise SymbolicValueError(f"a custom gradient that raises {type(error).__name__}") from error


def identity_with(
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    pull: Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Any],
    has_zeros: bool = True,
    is_pure: bool = False,
) -> list[Any]:
    """``outputs``, computed unrecorded from ``inputs``, with ``pull(inputs, outputs, douts)`` as their gradient.

    Unless it ``has_zeros``, what has no cotangent is ``None`` in ``douts``. ``is_pure``: ``pull`` reads nothing
    else, so that what it gives does not depend on when it is called.
    """
    if isinstance(state.binder, BatchBinder):
        if state.tapes or state.binder.outer_tapes or state.binder.outer is not None:
            raise SymbolicValueError(
                "vmap cannot batch a gradient that is a function of the user (`Cell.bprop`): "
                "give the Cell the whole batch"
            )
        return list(outputs)  # nobody asks for a gradient
    if state.binder is not None:
        if not has_zeros:
            raise SymbolicValueError("which outputs have no cotangent, inside compiled code")
        return _emit(inputs, outputs, pull, is_pure)
    with no_recording():
        outs = tuple([identity(o) for o in outputs])  # a function may return its argument: that is another variable
    for tape in state.tapes:
        saved = Saved((*inputs, *outs))
        tape.record_custom("custom", tuple(inputs), outs, partial(_pulled, pull, saved), raw=not has_zeros, saved=saved)
    return list(outs)


def _pulled(
    pull: Any, saved: Saved, douts: Sequence[Any], accs: Sequence[Gradient], _groups: Any = None
) -> Sequence[Gradient]:
    values = saved.checked("a function with its own gradient")
    given = [d if d is None else writable(d) for d in douts]
    grads = pull(values[: len(accs)], values[len(accs) :], given)
    return [plus(a, g) for a, g in zip(accs, grads, strict=True)]


def _emit(inputs: Sequence[Any], outputs: Sequence[Any], pull: Any, is_pure: bool) -> list[Any]:
    """The op ``custom_vjp`` on inputs and outputs: hands the outputs through."""
    binder: Any = state.binder
    builder = binder.builder
    n, m = len(inputs), len(outputs)
    nodes = [binder.node_of(x) for x in (*inputs, *outputs)]

    def params(count: int, offset: int) -> list[Any]:
        return [builder.inner_param("p", nodes[offset + i].type) for i in range(count)]

    saved, douts = params(n + m, 0), params(m, n)
    outs = params(m, n)  # what the op gives: a gradient flows through these, and not through the outputs it is given

    def pulled() -> tuple[tuple[int, ...], list[Any]]:
        grads = _captured(pull, *([binder.wrap(p) for p in group] for group in (saved[:n], outs, douts)))
        wanted = tuple(i for i, g in enumerate(grads) if g is not None)
        return wanted, [binder.node_of(grads[i]) for i in wanted]

    first_tag = builder.next_tag
    with inner_scope(binder) as scope:
        wanted, results = pulled()

    def is_as_before() -> bool:
        tag, builder.next_tag = builder.next_tag, first_tag  # the same ops are the same nodes
        try:
            with inner_scope(binder):
                return pulled() == (wanted, results)
        finally:
            builder.next_tag = tag

    own = (*saved, *outs, *douts)
    _, captures = scope.close("bprop", own, results)
    through = [builder.inner_param("unused", c.type) for c in captures]
    closed, again = scope.close("bprop", own, results, captures)
    assert again == captures
    # the backward graph gets operands (saved values, captures), then outputs, then cotangents
    backward = builder.context.graph(closed.name, (*saved, *closed.params[len(own) :], *outs, *douts), closed.output)
    with inner_scope(binder) as scope:
        pass
    forward, _ = scope.close("through", (*saved, *through), saved[n:])
    given = custom_vjp(
        *[binder.wrap(x) for x in (*nodes, *captures)],
        forward=forward,
        backward=backward,
        wanted=wanted,
        differentiable=tuple(range(m)),
    )
    binder.note_own_gradient((*inputs, *given), is_as_before, is_pure)
    return list(given)
