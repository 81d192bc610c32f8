"""Exact simplifications of ops that move elements or change their type."""

from __future__ import annotations

import itertools
import math
from typing import Any

from duograph.core import dtype as dt
from duograph.ops.cast import assigned, cast, identity, stop_gradient
from duograph.ops.movement import broadcast_to, flip, reshape, transpose
from duograph.ops.slices import dynamic_slice, strided_slice
from duograph.rewrite.pattern import attr, number
from duograph.rewrite.rule import RuleSet, rule

_PERMUTATIONS = ((), (0,), (0, 1), (1, 0))
_SHAPES = ((), (1,), (3,), (2, 3), (3, 2), (6,), (1, 3), (0,), (2, 2, 3))
_DTYPES = (dt.bool_, dt.int8, dt.int32, dt.int64, dt.uint8, dt.float16, dt.bfloat16, dt.float32, dt.float64)


@rule(lambda x, shape=attr(*_SHAPES): reshape(x, shape=shape))
def reshape_to_itself(x, shape):
    """reshape(x, shape of x) -> x"""
    return x if tuple(x.shape) == tuple(shape) else None


@rule(lambda x, a=attr(*_SHAPES), b=attr(*_SHAPES): reshape(reshape(x, shape=a), shape=b))
def reshape_of_reshape(x, b):
    """reshape(reshape(x, a), b) -> reshape(x, b)"""
    return reshape(x, shape=b)


@rule(lambda x, p=attr(*_PERMUTATIONS): transpose(x, perm=p))
def transpose_of_nothing(x, p):
    """transpose(x, 0, 1, 2 ...) -> x"""
    return x if tuple(a % x.type.ndim for a in p) == tuple(range(x.type.ndim)) else None


@rule(lambda x, p=attr(*_PERMUTATIONS), q=attr(*_PERMUTATIONS): transpose(transpose(x, perm=p), perm=q))
def transpose_of_transpose(x, p, q):
    """transpose(transpose(x, p), q) -> transpose(x, p[q])"""
    return transpose(x, perm=tuple(p[i] % x.type.ndim for i in q))


_ALL = (None, None, None)
_SLICES = ((), ((1, 2, 1),), (_ALL, (0, 1, 1)), ((1, None, None), (-1, None, None)), ((0, 0, 1),))
MOST_OF_IT = 4
"""A slice with no more than one of so many elements is taken before what is sliced is moved."""


@rule(
    lambda x, p=attr(*_PERMUTATIONS), slices=attr(*_SLICES): strided_slice(transpose(x, perm=p), slices=slices),
)  # fmt: skip
def small_slice_of_transpose(x, p, slices):
    """strided_slice(transpose(x, p), s) -> transpose(strided_slice(x, s[p^-1]), p) for a small part of x"""
    after = [_ALL] * len(p)
    for axis, part in zip(p, slices, strict=False):
        after[axis % len(p)] = part
    part = strided_slice(x, slices=tuple(after))
    return transpose(part, perm=p) if _is_small(part, x) else None


@rule(
    lambda x, i=number("int"), p=attr(*_PERMUTATIONS), axes=attr((0,), (1,)), sizes=attr((1,), (2,)): dynamic_slice(
        transpose(x, perm=p), i, axes=axes, sizes=sizes
    )
)
def small_block_of_transpose(x, i, p, axes, sizes):
    """dynamic_slice(transpose(x, p), i, a) -> transpose(dynamic_slice(x, i, p[a]), p) for a small part of x"""
    part = dynamic_slice(x, i, axes=tuple(p[a] % len(p) for a in axes), sizes=sizes)
    return transpose(part, perm=p) if _is_small(part, x) else None


@rule(lambda x, s=attr(*_SLICES), t=attr(*_SLICES): strided_slice(strided_slice(x, slices=s), slices=t))
def slice_of_slice(x, s, t):
    """strided_slice(strided_slice(x, s), t) -> strided_slice(x, t of s) where the sizes that both cut are known"""
    chained = []
    for size, first, second in itertools.zip_longest(x.shape, s, t, fillvalue=_ALL):
        if first == _ALL or second == _ALL:
            chained.append(second if first == _ALL else first)
        elif not all(k is None or isinstance(k, int) for k in (*first, *second)) or not isinstance(size, int):
            return None
        else:
            kept = range(size)[slice(*first)][slice(*second)]
            chained.append((kept.start, kept.stop if kept.stop >= 0 else None, kept.step) if kept else (0, 0, 1))
    return strided_slice(x, slices=tuple(chained))


@rule(
    lambda x, i=number("int"), s=attr(*_SLICES), axes=attr((0,), (1,)), sizes=attr((1,), (2,)): dynamic_slice(
        strided_slice(x, slices=s), i, axes=axes, sizes=sizes
    )
)
def small_block_of_slice(x, i, s, axes, sizes):
    """dynamic_slice(strided_slice(x, s), i, a) -> strided_slice(dynamic_slice(x, i, a), s) if s has all of axis a"""
    if any(a < len(s) and s[a] != _ALL for a in axes):
        return None
    part = dynamic_slice(x, i, axes=axes, sizes=sizes)
    return strided_slice(part, slices=s) if _is_small(part, x) else None


def _is_small(part: Any, x: Any) -> bool:
    sizes = [x.shape, part.shape]
    if not all(isinstance(n, int) for shape in sizes for n in shape):
        return False
    whole, few = (math.prod(shape) for shape in sizes)
    return few * MOST_OF_IT <= whole


@rule(lambda x, shape=attr(*_SHAPES): broadcast_to(x, shape=shape))
def broadcast_to_itself(x, shape):
    """broadcast_to(x, shape of x) -> x"""
    return x if tuple(x.shape) == tuple(shape) else None


@rule(lambda x, a=attr(*_SHAPES), b=attr(*_SHAPES): broadcast_to(broadcast_to(x, shape=a), shape=b))
def broadcast_of_broadcast(x, b):
    """broadcast_to(broadcast_to(x, a), b) -> broadcast_to(x, b)"""
    return broadcast_to(x, shape=b)


@rule(lambda x, a=attr((), (0,), (0, 1)): flip(flip(x, axes=a), axes=a))
def double_flip(x):
    """flip(flip(x)) -> x"""
    return x


@rule(lambda x, d=attr(*_DTYPES): cast(x, dtype=d))
def cast_to_itself(x, d):
    """cast(x, dtype of x) -> x"""
    return x if x.dtype is d else None


@rule(lambda x, wide=attr(*_DTYPES), d=attr(*_DTYPES): cast(cast(x, dtype=wide), dtype=d))
def cast_through_wider(x, wide, d):
    """cast(cast(x, wide), d) -> cast(x, d) if every x is exact in `wide`, which is of the same kind"""
    return cast(x, dtype=d) if _widens(x.dtype, wide) else None


def _widens(narrow: dt.DType, wide: dt.DType) -> bool:
    """Whether ``wide`` is of the same kind and holds every value of ``narrow``."""
    if narrow is wide:
        return True
    if narrow.is_floating and wide.is_floating:
        return wide is dt.float64 or (wide is dt.float32 and narrow.itemsize == 2)
    if narrow.is_integer and wide.is_integer:
        return wide.itemsize > narrow.itemsize and (wide.is_signed or not narrow.is_signed)
    return False


@rule(lambda x: identity(x))  # noqa: PLW0108  (names the capture)
def no_identity(x):
    """identity(x) -> x: values have no handles in a graph"""
    return x


@rule(lambda x: stop_gradient(x))  # noqa: PLW0108
def no_stop_gradient(x):
    """stop_gradient(x) -> x once gradients are expanded"""
    return x


@rule(lambda value, before: assigned(value, before))  # noqa: PLW0108
def no_assigned(value, before):
    """assigned(value, before) -> value once gradients are expanded"""
    return value


MARKS = RuleSet("marks", [no_identity, no_stop_gradient, no_assigned])
"""What only aliasing and gradients look at; canonical graphs do not have it."""

RULES = RuleSet("movement", [r for r in RuleSet.of_module("movement", globals()) if r not in set(MARKS)])
