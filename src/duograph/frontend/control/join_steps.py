"""The join of what two paths have deferred (`values.journals`): steps of one path are done if it is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core.dtype import DType
from duograph.ops.creation import full
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor

from ..values.journals import operations
from ..values.steps import OnPath
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


def join_steps(joiner: Any, x: list[Any], y: list[Any]) -> list[Build]:
    """How to build the joined journal of two paths: the steps that both have, then those of either.

    Args:
        joiner: of the decision.
        x: the journal of the world on one path.
        y: that on the other.

    Raises:
        NoJoin: a step is told what cannot be an output of the decision.
    """
    builds: list[Build] = []
    one, two = operations(x), operations(y)
    shared = 0
    for (_, p), (_, q) in zip(one, two, strict=False):
        mark = joiner.mark()
        try:
            step, args = (joiner.value(a, b) for a, b in zip(p, q, strict=True))
        except NoJoin:
            joiner.undo(mark)
            break
        builds += _perform(step, args)
        shared += 1
    for side, rest in enumerate((one[shared:], two[shared:])):
        if rest:
            is_taken = joiner.output(not side, bool(side))
            for _, (step, args) in rest:
                builds += _on_path(joiner, side, is_taken, step, args)
    return builds


def _perform(step: Build, args: Build) -> list[Build]:
    return [lambda _: "perform", step, args]


def _on_path(joiner: Any, side: int, is_taken: Build, step: Any, args: tuple[Any, ...]) -> list[Build]:
    steps = joiner.binder.session.steps
    made = steps.setdefault(OnPath(step), OnPath(step))
    told = [_of_side(joiner, side, value) for value in args]
    return _perform(lambda _: made, lambda results: (is_taken(results), *[build(results) for build in told]))


def _of_side(joiner: Any, side: int, value: Any) -> Build:
    """How to build what only the path on one ``side`` has."""
    if type(value) in _CONSTANTS or isinstance(value, UnreadText):
        return lambda _: value
    if isinstance(value, Scalar) or (type(value) is Tensor and all(type(n) is int for n in value.shape)):
        other = Absent(value)
        pair = (other, value) if side else (value, other)
        return joiner.output(*pair)  # type: ignore[no-any-return]
    if isinstance(value, GraphText):
        parts = [p if isinstance(p, str) else (p[0], _of_side(joiner, side, p[1])) for p in value.parts]
        return lambda results: GraphText([p if isinstance(p, str) else (p[0], p[1](results)) for p in parts])
    if type(value) in (tuple, list):
        items = [_of_side(joiner, side, v) for v in value]
        return lambda results: type(value)([build(results) for build in items])
    if type(value) is dict:
        named = {k: _of_side(joiner, side, v) for k, v in value.items()}
        return lambda results: {k: build(results) for k, build in named.items()}
    raise NoJoin(f"a step that is told of a {type(value).__name__} on one path only")
