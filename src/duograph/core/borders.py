"""Types at the borders of sub-graphs: what the caller of a graph knows about the sizes of its results.

Graphs are closed, and so are the names of their sizes: what a branch or a loop body calls ``hits0`` is a size of *its*
run. A result whose extents do not follow from the operands gets new names outside; they stand for whatever the value
turns out to have. Two results that have one size inside have one outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import isinf
from typing import Any

from .dim import Dim, Symbol, bounds, fresh_symbol, substitute, symbols_of
from .types import StackType, TensorType, TupleType, Type


def symbols_in(value: Any) -> set[Symbol]:
    """The sizes that a type, an extent, or an attribute mentions. What lies on a stack has names of its own."""
    if isinstance(value, Dim):
        return set(symbols_of(value))
    if isinstance(value, TensorType):
        return {s for extent in value.shape if isinstance(extent, Dim) for s in symbols_of(extent)}
    if isinstance(value, TupleType):
        return set(_symbols_in_items(value))
    found: set[Symbol] = set()
    if isinstance(value, tuple):
        for part in value:
            if type(part) is not int:
                found |= symbols_in(part)
    return found


@lru_cache(1024)
def _symbols_in_items(type: TupleType) -> frozenset[Symbol]:
    """Asked of the results of each branch and loop by whoever reads one of them: there may be hundreds."""
    return frozenset(symbols_in(type.items))


def renamed(value: Any, names: Mapping[Symbol, Any]) -> Any:
    """A type, an extent, or an attribute with sizes called something else."""
    if isinstance(value, Dim):
        return substitute(value, names)
    if isinstance(value, TensorType):
        return value.with_shape(renamed(value.shape, names))
    if isinstance(value, TupleType):
        return TupleType(renamed(value.items, names))
    if isinstance(value, StackType):
        return StackType(renamed(value.item, names))
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple([renamed(v, names) for v in value])
    return value


def opened(type: Type, inner: Iterable[Symbol], prefix: str = "") -> Type:
    """``type``, of a tensor, with a new name for each extent that mentions one of the sizes ``inner``. ``prefix``: what
    names begin with that are to be the same each time."""
    hidden = set(inner)
    if not isinstance(type, TensorType) or not hidden & symbols_in(type):
        return type
    names: dict[Any, Symbol] = {}
    shape = tuple([_new_name((d,), names, prefix) if symbols_in(d) & hidden else d for d in type.shape])
    return type.with_shape(shape)


def meeting(alternatives: tuple[Type, ...], operands: tuple[Type, ...]) -> Type | None:
    """The type of a result that has one of the ``alternatives``, for who knows the ``operands``; ``None`` if there is
    none: they must agree in all but sizes."""
    first = alternatives[0]
    same = all(t == first for t in alternatives[1:])
    if same and not symbols_in(first):
        return first
    return _meeting(alternatives, symbols_in(operands), {})


def _meeting(alternatives: tuple[Any, ...], known: set[Symbol], names: dict[Any, Symbol]) -> Any:
    first, *others = alternatives
    if isinstance(first, TupleType):
        if any(not isinstance(t, TupleType) or len(t.items) != len(first.items) for t in others):
            return None
        items = [_meeting(column, known, names) for column in zip(*[t.items for t in alternatives], strict=True)]
        return None if None in items else TupleType(tuple(items))
    if not isinstance(first, TensorType):
        return first if all(t == first for t in others) else None
    if any(not isinstance(t, TensorType) or t.dtype is not first.dtype or t.ndim != first.ndim for t in others):
        return None
    shape: list[Any] = []
    for extents in zip(*[t.shape for t in alternatives], strict=True):
        if all(d == extents[0] for d in extents) and symbols_in(extents[0]) <= known:
            shape.append(extents[0])
        elif any(isinstance(d, Dim) for d in extents):
            shape.append(_new_name(extents, names))
        else:
            return None
    return first.with_shape(tuple(shape))


def _new_name(extents: tuple[Any, ...], names: dict[Any, Symbol], prefix: str = "") -> Symbol:
    found = names.get(extents)
    if found is None:
        least = max(0, min(bounds(d)[0] for d in extents))
        most = max(bounds(d)[1] for d in extents)
        limit = None if isinf(most) else int(most)
        fixed = f"{prefix}_{len(names)}"
        found = names[extents] = Symbol(fixed, int(least), limit) if prefix else fresh_symbol("late", int(least), limit)
    return found


def stands_for(declared: Any, made: Any, known: set[Symbol], names: dict[Symbol, Any]) -> bool:
    """Whether a value of the type ``made`` may be said to have the type ``declared``: extents are equal, or have a name
    in ``declared`` that is not among the ``known`` ones. ``names`` tells what each of these names is in ``made``."""
    if isinstance(declared, tuple) and isinstance(made, tuple):
        return len(declared) == len(made) and all(
            stands_for(d, m, known, names) for d, m in zip(declared, made, strict=True)
        )
    if isinstance(declared, TensorType) and isinstance(made, TensorType):
        return declared.dtype is made.dtype and stands_for(declared.shape, made.shape, known, names)
    if isinstance(declared, TupleType) and isinstance(made, TupleType):
        return stands_for(declared.items, made.items, known, names)
    if isinstance(declared, Symbol) and declared not in known and isinstance(made, int | Dim):
        return bool(names.setdefault(declared, made) == made)
    return bool(declared == made)


def differ_in_sizes(a: Any, b: Any) -> bool:
    """Whether two types are the same but for sizes, some of which nobody knows yet."""
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        return differ_in_sizes(a.items, b.items)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(differ_in_sizes, a, b))
    if isinstance(a, StackType) and isinstance(b, StackType):
        return differ_in_sizes(a.item, b.item)
    if isinstance(a, TensorType) and isinstance(b, TensorType) and a.dtype is b.dtype and a.ndim == b.ndim:
        return all(m == n or isinstance(m, Dim) or isinstance(n, Dim) for m, n in zip(a.shape, b.shape, strict=True))
    return bool(a == b)
