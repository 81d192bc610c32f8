"""Identities whose gradient is the user's: `HookBackward`, `InsertGradientOf`, and the backward hooks of Cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from duograph.base.tree import flatten, unflatten
from duograph.core.op import state
from duograph.tensor.tensor import SymbolicValueError, Tensor

from .custom import identity_with
from .hooks import call_on_gradients


def gradient_hook(values: Sequence[Tensor], hook: Callable[[Sequence[Any]], Sequence[Any]]) -> list[Any]:
    """``values`` themselves; on the way back ``hook`` turns their cotangents into the gradients."""
    if not state.tapes and state.binder is None:
        return list(values)
    return identity_with(values, values, lambda inputs, outputs, douts: hook(douts))


def _replaced(new: Any, old: Sequence[Any]) -> Sequence[Any]:
    """What a hook gave instead of ``old``: nothing, one gradient, or one for each."""
    if new is None:
        return old
    parts = list(new) if isinstance(new, tuple | list) else [new]
    if len(parts) != len(old):
        raise RuntimeError(f"The hook gave {len(parts)} gradients for {len(old)} values.")
    return [o if n is None else n for n, o in zip(parts, old, strict=True)]


class HookBackward:
    """Calls ``hook_fn`` with the gradients of its inputs, as a tuple; otherwise the identity.

    Args:
        hook_fn (function): gets a tuple of gradients; returns None, or new ones.
        cell_id (str): accepted and not used.

    Raises:
        TypeError: ``hook_fn`` is not a function.

    Returns:
        Any, the operands, unchanged.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> seen = []
        >>> hook = ops.HookBackward(seen.append)
        >>> print(ms.grad(lambda x: hook(x) * 3)(Tensor(2.0)), seen)
        3.0 [(Tensor(shape=[], dtype=Float32, value= 3),)]
    """

    def __init__(self, hook_fn: Callable[..., Any], cell_id: str = "") -> None:
        if not callable(hook_fn):
            raise TypeError(
                f"For 'HookBackward', the type of 'hook_fn' must be python function, but got {type(hook_fn)}."
            )
        self.hook_fn, self.cell_id = hook_fn, cell_id

    def __call__(self, *inputs: Any) -> Any:
        outs = gradient_hook(inputs, lambda douts: _replaced(call_on_gradients(self.hook_fn, (tuple(douts),)), douts))
        return outs[0] if len(outs) == 1 else tuple(outs)


class InsertGradientOf:
    """The identity; its gradient is ``f`` of the gradient that arrives.

    Args:
        f (function): gets the gradient; returns the one to go on with, or None to keep it.

    Raises:
        TypeError: ``f`` is not a function.

    Returns:
        Any, the operands, unchanged.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> limited = ops.InsertGradientOf(lambda gradient: gradient.clip(-1.0, 1.0))
        >>> print(ms.grad(lambda x: limited(x) * 3)(Tensor(2.0)))
        1.0
    """

    def __init__(self, f: Callable[[Any], Any]) -> None:
        if not callable(f):
            raise TypeError(f"For 'InsertGradientOf', the 'f' must be a function, but got {type(f).__name__}.")
        self.f = f

    def __call__(self, x: Any) -> Any:
        return gradient_hook([x], lambda douts: _replaced(call_on_gradients(self.f, (douts[0],)), douts))[0]


def cell_backward_hooks(
    cell: Any,
    compute: Callable[..., Any],
    args: tuple[Any, ...],
    pre_hooks: Sequence[Callable[..., Any]],
    hooks: Sequence[Callable[..., Any]],
) -> Any:
    """``compute(*args)`` between two identities that run the backward hooks of ``cell``.

    Args:
        cell: passed to every hook.
        compute: the Cell's computation.
        args: its arguments, in any nesting.
        pre_hooks: ``hook(cell, grad_output)``, run when the gradients of the outputs arrive.
        hooks: ``hook(cell, grad_input, grad_output)``, run when those of the inputs are known.

    Returns:
        What ``compute`` returns.

    Raises:
        SymbolicValueError: a graph is being built; such hooks run in dynamic mode.
    """
    if state.binder is not None:
        raise SymbolicValueError("backward hooks of a Cell inside compiled code")
    arrived: list[tuple[Any, ...]] = [()]

    def on_inputs(douts: Sequence[Any]) -> Sequence[Any]:
        for hook in hooks:
            douts = _replaced(call_on_gradients(hook, (cell, tuple(douts), arrived[0])), douts)
        return douts

    def on_outputs(douts: Sequence[Any]) -> Sequence[Any]:
        for hook in pre_hooks:
            douts = _replaced(call_on_gradients(hook, (cell, tuple(douts))), douts)
        arrived[0] = tuple(douts)
        return douts

    out = compute(*_through(args, on_inputs)) if hooks else compute(*args)
    return _through(out, on_outputs)


def _through(value: Any, hook: Callable[[Sequence[Any]], Sequence[Any]]) -> Any:
    flat, spec = flatten(value)
    places = [i for i, x in enumerate(flat) if isinstance(x, Tensor)]
    if not places:
        return value
    for i, x in zip(places, gradient_hook([flat[i] for i in places], hook), strict=True):
        flat[i] = x
    return unflatten(spec, flat)
