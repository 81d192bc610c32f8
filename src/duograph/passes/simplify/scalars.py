"""Exact simplifications of Python numbers that are known at run time only."""

from __future__ import annotations

from duograph.core import dtype as dt
from duograph.core.types import BOOL
from duograph.ops.scalar import scalar_tensor, scalar_unary, tensor_item
from duograph.rewrite.pattern import attr, number
from duograph.rewrite.rule import RuleSet, rule

_KINDS = ("bool", "int", "float")


@rule(lambda x=number(), kind=attr(*_KINDS): scalar_unary(x, fn=kind))
def convert_to_itself(x, kind):
    """int(x) -> x for an int, float(x) -> x for a float, bool(x) -> x for a bool"""
    return x if x.type.kind == kind else None


@rule(lambda x=number("bool"): scalar_unary(scalar_unary(x, fn="not"), fn="not"))
def double_not(x):
    """not not x -> x for a bool"""
    return x


@rule(lambda x=number("int", "float"): scalar_unary(scalar_unary(x, fn="neg"), fn="neg"))
def double_negation(x):
    """-(-x) -> x"""
    return x


@rule(lambda x=number("bool"), kind=attr(*_KINDS): tensor_item(scalar_tensor(x, dtype=dt.bool_), kind=kind))
def item_of_bool_tensor(x, kind):
    """bool(tensor of a bool x) -> x"""
    return x if x.type == BOOL and kind == "bool" else None


@rule(lambda x=number("float"): tensor_item(scalar_tensor(x, dtype=dt.float64), kind="float"))
def item_of_float_tensor(x):
    """float(float64 tensor of x) -> x"""
    return x


RULES = RuleSet.of_module("scalars", globals())
