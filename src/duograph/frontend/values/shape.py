"""The structure of Python values around their tensors and numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from duograph.core.op import value_key
from duograph.ops.scalar import Scalar
from duograph.tensor.tensor import Tensor, type_of

from .text import GraphText
from .world import new_tuple


class Shape:
    """The structure of a value whose tensors and numbers are taken out: equal shapes can share slots."""

    __slots__ = ("key", "rebuild", "types", "values")

    def __init__(self, key: Any, types: list[Any], values: list[Any], rebuild: Callable[[list[Any]], Any]) -> None:
        self.key, self.types, self.values, self.rebuild = key, types, values, rebuild

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and other.key == self.key and other.types == self.types

    __hash__ = None  # type: ignore[assignment]


def shape_of(value: Any) -> Shape:
    """Takes the tensors and run-time numbers out of a returned value."""
    values: list[Any] = []

    def visit(v: Any) -> tuple[Any, Callable[[list[Any]], Any]]:
        if isinstance(v, Tensor | Scalar):
            values.append(v)
            index = len(values) - 1
            return ("slot", type(v).__name__), lambda got: got[index]
        if isinstance(v, tuple) or type(v) is list:
            parts = [visit(x) for x in v]
            make = list if type(v) is list else partial(new_tuple, type(v))
            return (type(v), tuple(k for k, _ in parts)), lambda got: make([f(got) for _, f in parts])
        if type(v) is dict:
            named = {k: visit(x) for k, x in v.items()}
            key = (dict, tuple((k, kk) for k, (kk, _) in named.items()))
            return key, lambda got: {k: f(got) for k, (_, f) in named.items()}
        if type(v) in (bool, int, float, str, bytes, type(None)):
            return (type(v), value_key(v)), lambda got: v
        if isinstance(v, GraphText):
            pieces = [p if isinstance(p, str) else (p[0], visit(p[1])[1]) for p in v.parts]
            return ("text", id(v)), lambda got: GraphText(
                [p if isinstance(p, str) else (p[0], p[1](got)) for p in pieces]
            )
        return ("object", id(v)), lambda got: v

    key, rebuild = visit(value)
    return Shape(key, [type_of(v) for v in values], values, rebuild)
