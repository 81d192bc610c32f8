"""Backends of users: ``jit(backend=function)``.

The function gets an optimised graph and the values of its first call, and gives what runs it: a function of the values,
arrays and numbers, one per parameter, that returns a sequence of results. The graph of a program takes, behind the
inputs of the user's function, the seed and the offset of the random generator. Gradients come as graphs of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from duograph.base.failures import SHORTAGE, ExtensionError, is_from_outside
from duograph.core.types import ScalarType, TensorType, TupleType, Type
from duograph.ir.memo import Memo
from duograph.ir.node import Graph

__all__ = ["UserBackend"]

Compiled = Callable[..., Sequence[Any]]
_COMPILED: Memo[tuple[Graph, Any], Compiled] = Memo("graphs compiled by backends of users")


class UserBackend:
    """Runs graphs by what a backend has made of them (`ir.executor.Executor`).

    Args:
        backend: what the user gave.
    """

    def __init__(self, backend: Callable[[Graph, Sequence[Any]], Compiled]) -> None:
        self._backend = backend
        self._name = getattr(backend, "__name__", type(backend).__name__)

    def prepare(self, graph: Graph, level: int = 1, donate: Mapping[int, int] | None = None) -> None:
        """A backend is asked at the first call: it gets the values."""

    def run(
        self,
        graph: Graph,
        values: Sequence[Any],
        level: int = 1,
        donate: Mapping[int, int] | None = None,
        repeat: bool = True,
    ) -> Any:
        """The value of the graph's output.

        Raises:
            ExtensionError: the backend has failed, or what it made has, or has given other values than the graph says.
        """
        given = [_read_only(v) for v in values]
        known = _COMPILED.of(graph.context)
        compiled = known.get((graph, self._backend))
        if compiled is None:
            compiled = self._called(graph, "failed on", self._backend, graph, tuple(given))
            if not callable(compiled):
                raise self._error(graph, "failed on", f"it must give a function, but gave a {type(compiled).__name__}")
            known[graph, self._backend] = compiled
        found = self._called(graph, "made a function that failed on", compiled, *given)
        wanted = graph.output.type
        if not isinstance(wanted, TupleType):
            return self._checked(graph, wanted, found, 0)
        if not isinstance(found, tuple | list) or len(found) != len(wanted.items):
            got = f"{len(found)}" if isinstance(found, tuple | list) else f"a {type(found).__name__}"
            raise self._error(graph, "made a function for", f"it must give {len(wanted.items)} results, but gave {got}")
        return tuple([self._checked(graph, t, v, i) for i, (t, v) in enumerate(zip(wanted.items, found, strict=True))])

    def _called(self, graph: Graph, what: str, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        except SHORTAGE:
            raise
        except Exception as error:
            if is_from_outside(error):
                raise
            raise self._error(graph, what, f"{type(error).__name__}: {error}") from error

    def _checked(self, graph: Graph, type_: Type, value: Any, index: int) -> Any:
        if isinstance(type_, TensorType):
            array = np.asarray(value)
            fits = len(array.shape) == len(type_.shape) and all(
                not isinstance(n, int) or n == size for n, size in zip(type_.shape, array.shape, strict=True)
            )
            if array.dtype != type_.dtype.numpy or not fits:
                got = f"{array.dtype}{list(array.shape)}"
                raise self._error(graph, "made a function for", f"result {index} must be {type_}, but is {got}")
            return array
        if isinstance(type_, ScalarType):
            value = value.item() if isinstance(value, np.generic | np.ndarray) else value
            if str(type_) != type(value).__name__:
                raise self._error(graph, "made a function for", f"result {index} must be {type_}, but is {value!r}")
        return value

    def _error(self, graph: Graph, what: str, why: str) -> ExtensionError:
        return ExtensionError(f"the backend {self._name!r} {what} @{graph.name}: {why}")


def _read_only(value: Any) -> Any:
    """An input as backends get it: it is the user's, and may be a constant."""
    if isinstance(value, np.ndarray):
        value = value.view()
        value.flags.writeable = False
    return value
