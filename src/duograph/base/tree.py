"""Nested containers as a list of leaves and a description of the nesting.

`flatten(value)` gives the leaves, from left to right, and a `TreeSpec`; `unflatten(spec, leaves)` puts them back into
containers of the same types. Containers are `tuple`, `list`, `dict`, `OrderedDict`, `defaultdict`, named tuples,
dataclass instances, and what `register_container` adds. Everything else is a leaf: also None, subclasses of the builtin
containers, and whatever a predicate given as `is_leaf=` accepts.

Invariants
    * `unflatten(*reversed(flatten(x)))` equals `x`, with the same container types and the same order of keys.
    * A `TreeSpec` holds no leaf. It is hashable, and equal to another exactly if the nestings are equal (keys and their
      order included), so it can be part of a cache key.
    * Leaves keep their identity; they are never copied or compared.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .once import lazy

__all__ = [
    "LEAF",
    "TreeSpec",
    "flatten",
    "leaves",
    "map_tree",
    "register_container",
    "unflatten",
]

Predicate = Callable[[Any], bool]


@dataclass(frozen=True)
class TreeSpec:
    """The nesting of containers around leaves.

    Attributes:
        kind: the container's type; None for a leaf.
        data: what else the container needs: keys of a dict, field names, the default factory.
        children: one spec per item.
    """

    kind: type | None
    data: Hashable = None
    children: tuple[TreeSpec, ...] = ()

    @lazy
    def num_leaves(self) -> int:
        """How many leaves `unflatten` takes."""
        return 1 if self.kind is None else sum(child.num_leaves for child in self.children)

    @lazy
    def _hash(self) -> int:
        return hash((self.kind, self.data, self.children))

    def __hash__(self) -> int:
        return self._hash

    def is_leaf(self) -> bool:
        """Whether the value is no container."""
        return self.kind is None

    def __repr__(self) -> str:
        return f"TreeSpec({self})"

    def __str__(self) -> str:
        if self.kind is None:
            return "*"
        inner = [str(child) for child in self.children]
        if self.kind is tuple:
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        if self.kind is list:
            return f"[{', '.join(inner)}]"
        labels = _container(self.kind).labels(self.data, len(inner))
        items = ", ".join(f"{label}: {text}" for label, text in zip(labels, inner, strict=True))
        return f"{{{items}}}" if self.kind is dict else f"{self.kind.__name__}({items})"


LEAF = TreeSpec(None)
"""The spec of every leaf."""


# Containers ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Container:
    """How one kind of container comes apart and together.

    Attributes:
        split: value -> (items, data)
        join: (type, data, items) -> value
        step: (data, i) -> the text that leads from the container to item i: `[0]`, `['key']`, `.field`
    """

    split: Callable[[Any], tuple[Sequence[Any], Hashable]]
    join: Callable[[type, Any, list[Any]], Any]
    step: Callable[[Any, int], str]

    def labels(self, data: Any, count: int) -> list[str]:
        return [self.step(data, i).strip("[].") for i in range(count)]


def _index_step(data: object, i: int) -> str:
    return f"[{i}]"


def _key_step(data: Sequence[object], i: int) -> str:
    return f"[{data[i]!r}]"


def _field_step(data: Sequence[str], i: int) -> str:
    return f".{data[i]}"


def _join_dataclass(kind: type, names: Sequence[str], items: list[Any]) -> Any:
    value: Any = object.__new__(kind)  # neither __init__ nor __post_init__: the fields are complete already
    for name, item in zip(names, items, strict=True):
        object.__setattr__(value, name, item)
    return value


def _split_dataclass(value: Any) -> tuple[list[Any], tuple[str, ...]]:
    names = tuple(field.name for field in dataclasses.fields(value) if hasattr(value, field.name))
    return [getattr(value, name) for name in names], names


_containers: dict[type, _Container] = {
    tuple: _Container(lambda v: (v, None), lambda kind, data, items: tuple(items), _index_step),
    list: _Container(lambda v: (v, None), lambda kind, data, items: items, _index_step),
    dict: _Container(
        lambda v: (list(v.values()), tuple(v)),
        lambda kind, data, items: dict(zip(data, items, strict=True)),
        _key_step,
    ),
    OrderedDict: _Container(
        lambda v: (list(v.values()), tuple(v)),
        lambda kind, data, items: OrderedDict(zip(data, items, strict=True)),
        _key_step,
    ),
    defaultdict: _Container(
        lambda v: (list(v.values()), (v.default_factory, *v)),
        lambda kind, data, items: defaultdict(data[0], zip(data[1:], items, strict=True)),
        lambda data, i: f"[{data[i + 1]!r}]",
    ),
}
_named_tuple = _Container(
    lambda v: (v, v._fields),
    lambda kind, data, items: kind._make(items),  # type: ignore[attr-defined]
    _field_step,
)
_dataclass = _Container(_split_dataclass, _join_dataclass, _field_step)

_kinds: dict[type, _Container | None] = {}  # a cache: what a type turned out to be


def _container(kind: type) -> _Container:
    found = _lookup(kind)
    if found is None:
        raise TypeError(f"{kind.__name__} is not a registered container")
    return found


def _lookup(kind: type) -> _Container | None:
    try:
        return _kinds[kind]
    except KeyError:
        pass
    found: _Container | None
    if kind in _containers:
        found = _containers[kind]
    elif issubclass(kind, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_make"):
        found = _named_tuple
    elif dataclasses.is_dataclass(kind):
        found = _dataclass
    else:
        found = None
    _kinds[kind] = found
    return found


def register_container(
    kind: type,
    split: Callable[[Any], tuple[Sequence[Any], Hashable]],
    join: Callable[[Hashable, list[Any]], Any],
) -> None:
    """Make instances of exactly `kind` containers.

    Args:
        kind: the type.
        split: value -> (items, data), `data` hashable.
        join: (data, items) -> value.
    """
    _containers[kind] = _Container(split, lambda _kind, data, items: join(data, items), _index_step)
    _kinds.clear()


# Flatten and unflatten -----------------------------------------------------------------------------------------------


def flatten(tree: Any, is_leaf: Predicate | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a nested value, left to right, and its nesting.

    Args:
        tree: any value.
        is_leaf: values it accepts are leaves, whatever they are.

    Raises:
        ValueError: the value contains itself, or nests too deep.
    """
    found: list[Any] = []
    try:
        spec = _flatten(tree, found, is_leaf)
    except RecursionError:
        raise ValueError("a nested value contains itself, or nests too deep") from None
    return found, spec


def _flatten(tree: Any, found: list[Any], is_leaf: Predicate | None) -> TreeSpec:
    container = _lookup(type(tree))
    if container is None or (is_leaf is not None and is_leaf(tree)):
        found.append(tree)
        return LEAF
    items, data = container.split(tree)
    return TreeSpec(type(tree), data, tuple([_flatten(item, found, is_leaf) for item in items]))


def unflatten(spec: TreeSpec, leaves: Iterable[Any]) -> Any:
    """A nested value of the nesting `spec` with these leaves.

    Raises:
        ValueError: the number of leaves is not `spec.num_leaves`.
    """
    given = list(leaves)
    if len(given) != spec.num_leaves:
        raise ValueError(f"{spec} takes {spec.num_leaves} leaves, not {len(given)}")
    return _unflatten(spec, iter(given))


def _unflatten(spec: TreeSpec, rest: Iterator[Any]) -> Any:
    if spec.kind is None:
        return next(rest)
    items = [_unflatten(child, rest) for child in spec.children]
    return _container(spec.kind).join(spec.kind, spec.data, items)


def leaves(tree: Any, is_leaf: Predicate | None = None) -> list[Any]:
    """The leaves alone."""
    return [tree] if _lookup(type(tree)) is None else flatten(tree, is_leaf)[0]


def map_tree(function: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Predicate | None = None) -> Any:
    """`function` applied to the leaves of one or several values of the same nesting.

    Raises:
        ValueError: the nestings differ.
    """
    if not rest and _lookup(type(tree)) is None:
        return function(tree)
    first, spec = flatten(tree, is_leaf)
    columns = [first]
    for other in rest:
        other_leaves, other_spec = flatten(other, is_leaf)
        if other_spec != spec:
            raise ValueError(f"nestings differ: {spec} and {other_spec}")
        columns.append(other_leaves)
    return unflatten(spec, [function(*row) for row in zip(*columns, strict=True)])
