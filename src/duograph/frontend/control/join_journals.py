"""The join of what two paths do to a container that is only written (`values.journals`): what is done on one path alone
is done after the run if that path was taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from duograph.core.dtype import DType
from duograph.ops.creation import full
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..values.journals import OUTSIDE
from ..values.recipe import operations
from ..values.text import GraphText, UnreadText
from .paths import NoJoin

Build = Callable[[list[Any]], Any]

_CONSTANTS = (str, int, float, bool, type(None), DType)


class Absent:
    """What stands for ``value`` on the path that has no such value: nobody reads it."""

    __slots__ = ("value",)

    def __init__(self, value: Tensor | Scalar) -> None:
        self.value = value

    def stand_in(self) -> Any:
        """A value of the same type, made where the other path is."""
        if isinstance(self.value, Scalar):
            return self.value.type.python_type(0)
        return full(shape=tuple(self.value.shape), value=0, dtype=self.value.dtype)


def join_journals(joiner: Any, journal: Any, x: list[Any], y: list[Any]) -> list[Build]:
    """How to build the joined journal of two paths: what both have, then the rest of either.

    Args:
        joiner: of the decision.
        journal: what is tracked.
        x: what it holds on one path.
        y: what it holds on the other.

    Raises:
        NoJoin: what is put in on one path only cannot be an output of the decision, or it matters which object it is.
    """
    builds: list[Build] = []
    one, two = operations(x), operations(y)
    shared = 0
    for (verb, p), (other, q) in zip(one, two, strict=False):
        mark = joiner.mark()
        try:
            both = [joiner.value(a, b) for a, b in zip(p, q, strict=True)] if verb == other else None
        except NoJoin:
            both = None
        if both is None:
            joiner.undo(mark)
            break
        builds += [constant(verb), *both]
        shared += 1
    told = joiner.binder.session.originals[id(journal)][0] is OUTSIDE
    for side, rest in enumerate((one[shared:], two[shared:])):
        if rest:
            flag = joiner.output(not side, bool(side))
            for verb, operands in rest:
                builds += [constant("when"), flag, constant(verb), _Side(joiner, side, told).values(operands)]
    return builds


def constant(value: Any) -> Build:
    return lambda _: value


class _Side:
    """Builds what only the path on one ``side`` has.

    Attributes:
        told: it is told to the world, as it is now: nobody can ask which object it is.
    """

    def __init__(self, joiner: Any, side: int, told: bool) -> None:
        self.joiner, self.side, self.told = joiner, side, told

    def values(self, values: Sequence[Any]) -> Build:
        builds = [self.value(v) for v in values]
        return lambda results: tuple([build(results) for build in builds])

    def value(self, value: Any) -> Build:
        if type(value) in _CONSTANTS:
            return constant(value)
        if isinstance(value, Scalar):
            return self._output(value) if hasattr(value.node, "op") else constant(value)  # an input has no path
        if type(value) is tuple:
            return self.values(value)
        if self.told:
            return self._told(value)
        raise NoJoin(f"a {type(value).__name__} that is put into a container on one path only")

    def _output(self, value: Any) -> Build:
        other = Absent(value)
        return self.joiner.output(*((other, value) if self.side else (value, other)))  # type: ignore[no-any-return]

    def _told(self, value: Any) -> Build:
        if type(value) is Tensor and all(type(n) is int for n in value.shape):
            return self._output(value)
        if isinstance(value, GraphText):
            parts = [p if isinstance(p, str) else (p[0], self.value(p[1])) for p in value.parts]
            return lambda results: GraphText([p if isinstance(p, str) else (p[0], p[1](results)) for p in parts])
        if isinstance(value, UnreadText) or hasattr(value, "make_python_object"):
            return constant(value)
        if type(value) is list:
            items = self.values(value)
            return lambda results: list(items(results))
        if type(value) is dict:
            named = {k: self.value(v) for k, v in value.items()}
            return lambda results: {k: build(results) for k, build in named.items()}
        raise NoJoin(f"a step that is told of a {type(value).__name__} on one path only")
