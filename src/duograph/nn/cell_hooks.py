"""Hooks of a Cell: functions called around ``construct`` and when gradients pass its borders."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any
from weakref import ref

from duograph.autodiff.hooks import call_user

from . import _OF_CELLS as __capture__  # noqa: F401 (read by capture)

_serials = count()


class HookHandle:
    """Returned by the ``register_..._hook`` methods; `remove` takes the hook away again."""

    def __init__(self, *tables: OrderedDict[int, Any]) -> None:
        self.id = next(_serials)
        self._tables = [ref(table) for table in tables]

    def remove(self) -> None:
        """Takes the hook away; calling it twice is harmless."""
        for table in self._tables:
            found = table()
            if found is not None:
                found.pop(self.id, None)

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class HookTable(OrderedDict[int, Any]):
    """Hooks by serial number, in calling order (a class of its own because handles hold weak references to it)."""

    def __deepcopy__(self, memo: dict[int, Any]) -> HookTable:
        return HookTable(self)


class CellHooks:
    """Hook registration; mixed into `Cell`. Each table maps a serial number to ``(hook, with_kwargs, always)``."""

    _forward_pre_hooks: HookTable
    _forward_hooks: HookTable
    _backward_pre_hooks: HookTable
    _backward_hooks: HookTable
    _state_hooks: dict[str, HookTable]

    def _init_hooks(self) -> None:
        for name in ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"):
            self.__dict__[name] = HookTable()

    def _has_hooks(self) -> bool:
        own = self.__dict__
        return bool(
            own["_forward_pre_hooks"] or own["_forward_hooks"] or own["_backward_pre_hooks"] or own["_backward_hooks"]
        )

    def register_forward_pre_hook(
        self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Calls ``hook_fn(cell, args)`` before ``construct``; what it returns, if not None, replaces the arguments.

        Args:
            hook_fn (function): the hook; with ``with_kwargs`` it is called as ``hook_fn(cell, args, kwargs)`` and
                returns None or a pair of new arguments.
            prepend (bool): before the hooks registered earlier. Default ``False``.
            with_kwargs (bool): Default ``False``.

        Returns:
            A handle with ``remove()``.

        Raises:
            TypeError: ``hook_fn`` cannot be called.
        """
        return _register(self._forward_pre_hooks, hook_fn, prepend, with_kwargs)

    def register_forward_hook(
        self,
        hook_fn: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Calls ``hook_fn(cell, args, output)`` after ``construct``; what it returns, if not None, is the output.

        Args:
            hook_fn (function): the hook; with ``with_kwargs``: ``hook_fn(cell, args, kwargs, output)``.
            prepend (bool): before the hooks registered earlier. Default ``False``.
            with_kwargs (bool): Default ``False``.
            always_call (bool): also when ``construct`` raised. Default ``False``.

        Returns:
            A handle with ``remove()``.
        """
        return _register(self._forward_hooks, hook_fn, prepend, with_kwargs, always_call)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Calls ``hook_fn(cell, grad_output)`` when the gradient of the output arrives; None keeps it.

        Args:
            hook_fn (function): the hook.

        Returns:
            A handle with ``remove()``.
        """
        return _register(self._backward_pre_hooks, hook_fn)

    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Calls ``hook_fn(cell, grad_input, grad_output)`` once the gradients of the inputs are known.

        Args:
            hook_fn (function): the hook; returns None or new gradients of the inputs.

        Returns:
            A handle with ``remove()``.
        """
        return _register(self._backward_hooks, hook_fn)

    # -- state dict hooks ----------------------------------------------------------------------------------------

    def _register_state_hook(self, kind: str, hook: Any) -> HookHandle:
        handle = HookHandle(self._state_hooks[kind])
        self._state_hooks[kind][handle.id] = hook
        return handle

    def register_state_dict_pre_hook(self, hook: Any) -> HookHandle:
        """Calls ``hook(cell, prefix, keep_vars)`` before `state_dict` collects."""
        return self._register_state_hook("state_dict_pre", hook)

    def register_state_dict_post_hook(self, hook: Any) -> HookHandle:
        """Calls ``hook(cell, state_dict, prefix, local_metadata)`` after `state_dict` has collected."""
        return self._register_state_hook("state_dict", hook)

    def register_load_state_dict_pre_hook(self, hook: Any) -> HookHandle:
        """Calls ``hook(cell, state_dict, prefix, metadata, strict, missing, unexpected, errors)`` before loading."""
        return self._register_state_hook("load_state_dict_pre", hook)

    def register_load_state_dict_post_hook(self, hook: Any) -> HookHandle:
        """Calls ``hook(cell, incompatible_keys)`` after loading."""
        return self._register_state_hook("load_state_dict", hook)

    # -- running -------------------------------------------------------------------------------------------------

    def _run_pre_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for hook, with_kwargs, _ in list(self._forward_pre_hooks.values()):
            if with_kwargs:
                changed = call_user(hook, (self, args, kwargs), {})
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(
                            "forward pre-hook with kwargs must return None or a tuple of (new_args, new_kwargs), "
                            f"but got {changed}."
                        )
                    args, kwargs = changed
            else:
                changed = call_user(hook, (self, args), {})
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _run_forward_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        for hook, with_kwargs, _ in list(self._forward_hooks.values()):
            given = (self, args, kwargs, output) if with_kwargs else (self, args, output)
            changed = call_user(hook, given, {})
            if changed is not None:
                output = changed
        return output

    def _run_hooks_after_error(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for hook, with_kwargs, always in list(self._forward_hooks.values()):
            if always:
                call_user(hook, (self, args, kwargs, None) if with_kwargs else (self, args, None), {})


def _register(
    table: HookTable, hook: Callable[..., Any], prepend: bool = False, with_kwargs: bool = False, always: bool = False
) -> HookHandle:
    if not callable(hook):
        raise TypeError(f"Expected a callable hook function, but got {type(hook).__name__}.")
    handle = HookHandle(table)
    table[handle.id] = (hook, with_kwargs, always)
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle
