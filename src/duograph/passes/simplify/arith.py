"""Exact algebra on tensors.

Every law holds for all values, bit for bit: signs of zeros, infinities, NaN. ``x + 0.0`` is *not* ``x`` (it turns -0.0
into 0.0), but ``x + -0.0`` and ``x - 0.0`` are. Complex products are left alone (``inf * (1+0j)`` has a NaN in it).
"""

from __future__ import annotations

from typing import Any

from duograph.core.shapes import broadcast_shapes
from duograph.ops.arithmetic import abs_, add, div, maximum, minimum, mul, neg, sub
from duograph.ops.logical import bitwise_and, bitwise_not, bitwise_or, logical_and, logical_not, logical_or
from duograph.ops.movement import broadcast_to
from duograph.ops.select import select
from duograph.ops.unary import ceil, floor, relu, round_, trunc
from duograph.rewrite.pattern import filled
from duograph.rewrite.rule import RuleSet, rule


def spread(x: Any, *others: Any) -> Any:
    """``x`` in the shape that it has together with ``others``; ``None`` if that is not known for certain."""
    shape = tuple(x.shape)
    if all(tuple(o.shape) in ((), shape) for o in others):
        return x
    if not all(isinstance(n, int) for o in (x, *others) for n in o.shape):
        return None
    target = tuple(broadcast_shapes(shape, *[tuple(o.shape) for o in others]))
    return x if target == shape else broadcast_to(x, shape=target)


def _is_inexact(x: Any) -> bool:
    return x.dtype.is_floating or x.dtype.is_complex


@rule(lambda x, one=filled(1): mul(x, one))
def mul_one(x, one):
    """x * 1 -> x"""
    return None if x.dtype.is_complex else spread(x, one)


@rule(lambda x, one=filled(1): mul(one, x))
def one_mul(x, one):
    """1 * x -> x"""
    return None if x.dtype.is_complex else spread(x, one)


@rule(lambda x, one=filled(1): div(x, one))
def div_one(x, one):
    """x / 1 -> x"""
    return None if x.dtype.is_complex else spread(x, one)


@rule(lambda x, zero=filled(0): sub(x, zero))
def sub_zero(x, zero):
    """x - (+0) -> x"""
    return spread(x, zero)


@rule(lambda x, zero=filled(-0.0): add(x, zero))
def add_minus_zero(x, zero):
    """x + (-0.0) -> x"""
    return None if x.dtype.is_complex else spread(x, zero)


@rule(lambda x, zero=filled(-0.0): add(zero, x))
def minus_zero_add(x, zero):
    """(-0.0) + x -> x"""
    return None if x.dtype.is_complex else spread(x, zero)


@rule(lambda x, zero=filled(0): add(x, zero))
def add_zero(x, zero):
    """x + 0 -> x for integers and bool"""
    return None if _is_inexact(x) else spread(x, zero)


@rule(lambda x, zero=filled(0): add(zero, x))
def zero_add(x, zero):
    """0 + x -> x for integers and bool"""
    return None if _is_inexact(x) else spread(x, zero)


@rule(lambda x, zero=filled(0): mul(x, zero))
def mul_zero(x, zero):
    """x * 0 -> 0 for integers and bool"""
    return None if _is_inexact(x) else spread(zero, x)


@rule(lambda x: neg(neg(x)))
def double_negation(x):
    """-(-x) -> x"""
    return x


@rule(lambda x, y: add(x, neg(y)))
def add_negation(x, y):
    """x + (-y) -> x - y for integers"""
    return None if _is_inexact(x) else sub(x, y)


@rule(lambda x, y: sub(x, neg(y)))
def sub_negation(x, y):
    """x - (-y) -> x + y for integers"""
    return None if _is_inexact(x) else add(x, y)


@rule(lambda x: logical_not(logical_not(x)))
def double_not(x):
    """not not x -> x"""
    return x


@rule(lambda x: bitwise_not(bitwise_not(x)))
def double_inversion(x):
    """~~x -> x"""
    return x


@rule(lambda x: logical_and(x, x))
def and_itself(x):
    """x and x -> x"""
    return x


@rule(lambda x: logical_or(x, x))
def or_itself(x):
    """x or x -> x"""
    return x


@rule(lambda x: bitwise_and(x, x))
def bitwise_and_itself(x):
    """x & x -> x"""
    return x


@rule(lambda x: bitwise_or(x, x))
def bitwise_or_itself(x):
    """x | x -> x"""
    return x


@rule(lambda x: maximum(x, x))
def maximum_itself(x):
    """max(x, x) -> x"""
    return x


@rule(lambda x: minimum(x, x))
def minimum_itself(x):
    """min(x, x) -> x"""
    return x


@rule(lambda x: abs_(abs_(x)))
def double_abs(x):
    """||x|| -> |x| for real x (the NaN of a complex one may have a sign)"""
    return None if x.dtype.is_complex else abs_(x)


@rule(lambda x: relu(relu(x)))
def double_relu(x):
    """relu(relu(x)) -> relu(x)"""
    return relu(x)


@rule(lambda x: floor(floor(x)))
def double_floor(x):
    """floor(floor(x)) -> floor(x)"""
    return floor(x)


@rule(lambda x: ceil(ceil(x)))
def double_ceil(x):
    """ceil(ceil(x)) -> ceil(x)"""
    return ceil(x)


@rule(lambda x: trunc(trunc(x)))
def double_trunc(x):
    """trunc(trunc(x)) -> trunc(x)"""
    return trunc(x)


@rule(lambda x: round_(round_(x)))
def double_round(x):
    """round(round(x)) -> round(x)"""
    return round_(x)


@rule(lambda c, x: select(c, x, x))
def select_same(c, x):
    """select(c, x, x) -> x"""
    return spread(x, c)


@rule(lambda x, y, c=filled(1): select(c, x, y))
def select_true(c, x, y):
    """select(true, x, y) -> x"""
    return spread(x, c, y)


@rule(lambda x, y, c=filled(0): select(c, x, y))
def select_false(c, x, y):
    """select(false, x, y) -> y"""
    return spread(y, c, x)


@rule(lambda c, x, y: select(logical_not(c), x, y))
def select_not(c, x, y):
    """select(not c, x, y) -> select(c, y, x)"""
    return select(c, y, x)


RULES = RuleSet.of_module("arith", globals())
