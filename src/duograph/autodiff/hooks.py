"""Hooks on tensors, and the one place where user code is called.

A hook on a tensor runs when the gradient of that tensor is complete, wherever in the program it was registered. A tape
keeps hooks by variable; hooks of tensors that live longer than a tape (Parameters, inputs) stay with the tensor and
are taken over when a tape starts watching it. Hooks of values and of Cells on their way back, which are identities with
a gradient of their own, are in ``backward_hooks.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.base.slot import Slot
from duograph.core.op import state
from duograph.tensor.tensor import SymbolicValueError, Tensor

from .separate import writable

Hook = Callable[[Any], Any]

user_caller: Slot[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = Slot(
    "autodiff.hooks.user_caller", lambda fn, args, kwargs: fn(*args, **kwargs)
)
"""How a function that the user wrote is called."""


def call_user(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a function that the user wrote; a capture frontend interprets it instead (`user_caller`)."""
    return user_caller.value(fn, args, kwargs)


def call_on_gradients(fn: Any, args: tuple[Any, ...]) -> Any:
    """Calls a user's function on gradients (a hook, a ``bprop``): what it raises is the user's, not a rule's."""
    quiet, state.quiet = state.quiet, 0
    try:
        return call_user(fn, args, {})
    finally:
        state.quiet = quiet


# ---- hooks of tensors -----------------------------------------------------------------------------------------------


class TensorHooks:
    """The hooks of one tensor, in order of registration."""

    def __init__(self) -> None:
        self.hooks: dict[int, Hook] = {}
        self._next = 0

    def add(self, hook: Hook) -> HookHandle:
        self._next += 1
        self.hooks[self._next] = hook
        return HookHandle(self.hooks, self._next)

    def run(self, gradient: Any) -> Any:
        """The gradient after all hooks; one that returns None leaves it as it is."""
        gradient = writable(gradient)
        for hook in list(self.hooks.values()):
            new = call_on_gradients(hook, (gradient,))
            gradient = gradient if new is None else new
        return gradient


REGISTERED = {"has_tensor_hooks": False}
"""Whether a tensor that is not a value of a graph ever had a hook: until then compiled code need not ask each. (A plain
dictionary, which guards read natively in every Python.)"""


def _is_captured() -> bool:
    return getattr(state.binder, "strict_versions", False)


class HookHandle:
    """Takes a hook away again."""

    def __init__(self, table: dict[int, Hook], key: int) -> None:
        self._table, self._key = table, key
        self._tapes = state.tapes
        self._is_inside = state.binder is not None

    def remove(self) -> None:
        """Takes the hook away; calling it twice is harmless."""
        if _is_captured() and (state.tapes != self._tapes or not self._is_inside):  # elsewhere it stays
            raise SymbolicValueError("a hook on a tensor inside compiled code that is taken away elsewhere")
        self._table.pop(self._key, None)


def register_tensor_hook(tensor: Tensor, hook: Hook) -> HookHandle:
    """Calls ``hook(gradient)`` when the gradient of ``tensor`` is complete; its result, if not None, replaces it.

    Args:
        tensor: any tensor; uses before and after the registration count.
        hook: function of the gradient.

    Returns:
        A handle with ``remove()``.

    Raises:
        TypeError: ``hook`` is not callable.
    """
    if not callable(hook):
        raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
    if state.binder is not None and not state.tapes:
        # the gradient will be taken outside of this graph, where uses before the registration cannot be told apart
        raise SymbolicValueError("a hook on a tensor inside compiled code whose gradient is taken outside")
    if state.binder is not None:
        if _is_captured() and not tensor.is_symbolic:
            raise SymbolicValueError("a hook on a tensor from outside compiled code")  # it stays there
        state.binder.note_hooked()  # type: ignore[attr-defined]
    REGISTERED["has_tensor_hooks"] |= not tensor.is_symbolic
    hooks = tensor.__dict__.get("_gradient_hooks")
    if hooks is None:
        hooks = tensor.__dict__["_gradient_hooks"] = TensorHooks()
    handle: HookHandle = hooks.add(hook)
    for tape in state.tapes:
        tape.add_hook(tensor, hooks.run)
    return handle
