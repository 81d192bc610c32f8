"""Passes of users: `register` puts a function from graph to graph among those that compiled programs go through.

A registered pass belongs to the key of each version: versions that were compiled before it was registered, or after it
was taken away, are valid no more. It runs on programs that users compile and on their gradients, at levels O1 and O2;
eager mode, whose calls are fused by the same passes, is not concerned. What it raises, and what it gives that is no
valid graph, is an error of the pass, which the call raises (`ExtensionError`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from duograph.base.diagnostics import DuographError, InternalError
from duograph.base.failures import SHORTAGE, ExtensionError, is_from_outside
from duograph.base.fork import fork_safe_lock
from duograph.core.op import rules_version
from duograph.ir.node import Graph
from duograph.ir.verify import verify

from .manager import ApplyRules

__all__ = ["RegisteredPass", "register", "registered", "unregister", "with_registered"]

PLACES = ("simplify", "anchors", "overlap")
"""The passes of level O1, in their order."""

_lock = fork_safe_lock()
_registered: list[RegisteredPass] = []


@dataclass(frozen=True)
class RegisteredPass:
    """A pass of a user (`manager.Pass`)."""

    name: str
    function: Callable[[Graph], Graph]
    before: str | None

    def run(self, graph: Graph) -> Graph:
        """What the function makes of ``graph``.

        Raises:
            ExtensionError: it has failed, or has given something that cannot take the place of ``graph``.
        """
        try:
            made = self.function(graph)
        except SHORTAGE:
            raise
        except Exception as error:
            if is_from_outside(error):
                raise
            said = f"{type(error).__name__}: {error}"
            if isinstance(error, InternalError) and error.diagnostic is not None:  # of rules that are the user's
                said = error.diagnostic.message
            raise self._error(graph, said) from error
        if not isinstance(made, Graph):
            raise self._error(graph, f"it must give a graph, but gave a {type(made).__name__}")
        if made is not graph:
            self._check(graph, made)
        return made

    def _check(self, graph: Graph, made: Graph) -> None:
        if made.context is not graph.context:
            raise self._error(graph, "its graph is of another context: make nodes with graph.context.apply")
        if made.params != graph.params:
            raise self._error(graph, f"its graph must have the parameters {_types(graph)}, but has {_types(made)}")
        if made.output.type != graph.output.type:
            raise self._error(graph, f"its graph must give {graph.output.type}, but gives {made.output.type}")
        try:
            verify(made, "canonical", after=f"pass {self.name}")
        except DuographError as error:
            raise self._error(graph, str(error)) from error

    def _error(self, graph: Graph, why: str) -> ExtensionError:
        is_ours = isinstance(getattr(self.function, "__self__", None), ApplyRules)  # then the rules are to blame
        code = None if is_ours else getattr(self.function, "__code__", None)
        where = f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""
        return ExtensionError(f"the registered pass {self.name!r}{where} failed on @{graph.name}: {why}")


def _types(graph: Graph) -> str:
    return f"({', '.join(f'{param}: {param.type}' for param in graph.params)})"


def register(
    function: Callable[[Graph], Graph] | None = None, *, before: str | None = "simplify", name: str | None = None
) -> Any:
    """Puts a pass among those that compiled programs go through, at levels ``O1`` and ``O2``.

    Args:
        function (Callable): gets a graph and gives one with the same parameters and results; the same object if it
            changes nothing. Without it, ``register`` returns a decorator.
        before (str, optional): the pass that it runs before: ``"simplify"``, ``"anchors"`` or ``"overlap"``; ``None``:
            after all of them. Default: ``"simplify"``.
        name (str, optional): its name in dumps, reports and errors. Default: that of the function, or of the set of
            rules that ``function`` applies.

    Returns:
        The function.

    Raises:
        TypeError: ``function`` is not callable.
        ValueError: there is no pass ``before``, or one with this name is registered already.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> from duograph import passes
        >>> @passes.register(before="overlap")
        ... def look(graph):
        ...     print(f"{graph.name} has {len(graph.nodes)} nodes")
        ...     return graph
        >>> passes.unregister(look)
    """
    if function is None:
        return lambda found: register(found, before=before, name=name)
    if not callable(function):
        raise TypeError(f"For 'register', the pass must be callable, but got {type(function).__name__}.")
    if before is not None and before not in PLACES:
        raise ValueError(f"For 'register', 'before' must be one of {[*PLACES, None]}, but got {before!r}.")
    owner = getattr(function, "__self__", None)
    named = owner.name if isinstance(owner, ApplyRules) else getattr(function, "__name__", type(function).__name__)
    called = str(name or named)
    made = RegisteredPass(called, function, before)
    with _lock:
        if any(known.name == made.name for known in _registered):
            raise ValueError(f"For 'register', a pass with the name {made.name!r} is registered already.")
        _registered.append(made)
        rules_version[0] += 1
    return function


def unregister(function: Callable[[Graph], Graph]) -> None:
    """Takes a registered pass away again.

    Args:
        function (Callable): what was registered.

    Raises:
        ValueError: it is not registered.
    """
    with _lock:
        found = next((known for known in _registered if known.function == function), None)
        if found is None:
            raise ValueError("For 'unregister', the pass is not registered.")
        _registered.remove(found)
        rules_version[0] += 1


def registered() -> Sequence[RegisteredPass]:
    """The passes of users, in the order in which they were registered."""
    return tuple(_registered)


def with_registered(passes: Sequence[Any], added: Sequence[RegisteredPass]) -> tuple[Any, ...]:
    """``passes`` with the added ones where they are to run."""
    found: list[Any] = []
    for p in passes:
        found += [extra for extra in added if extra.before == p.name]
        found.append(p)
    return (*found, *[extra for extra in added if extra.before is None])
