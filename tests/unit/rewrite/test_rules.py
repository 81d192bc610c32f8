"""Every rule is tried by machine; and the machine is tried on rules that are false."""

from __future__ import annotations

import pytest

from duograph.base.diagnostics import InternalError
from duograph.core import dtype as dt
from duograph.core.types import TensorType
from duograph.ir.node import Context
from duograph.ops.arithmetic import add, mul, neg, sub
from duograph.passes.pipelines import RULE_SETS
from duograph.rewrite.driver import rewrite
from duograph.rewrite.pattern import filled
from duograph.rewrite.rule import RuleSet, rule
from duograph.rewrite.selfcheck import check_rule

RULES = [(rules.name, r) for rules in RULE_SETS for r in rules]


@pytest.mark.parametrize("the_rule", [r for _, r in RULES], ids=[f"{name}-{r.name}" for name, r in RULES])
def test_rule_holds_bit_by_bit(the_rule):
    report = check_rule(the_rule)
    assert not report.counterexamples, str(report.counterexamples[0])
    assert report.applied > 0, "the rule never applied: nothing was checked"


@rule(lambda x, zero=filled(0): add(x, zero))
def add_positive_zero(x, zero):
    """x + 0.0 -> x: false for -0.0"""
    return x if tuple(x.shape) == tuple(zero.shape) else None


@rule(lambda x, y: neg(sub(x, y)))
def negated_difference(x, y):
    """-(x - y) -> y - x: false where both are equal"""
    return sub(y, x)


@rule(lambda x, y, z: add(add(x, y), z))
def associate(x, y, z):
    """(x + y) + z -> x + (y + z): false in floating point"""
    return add(x, add(y, z))


@rule(lambda x, one=filled(1): mul(x, one))
def mul_one_any_shape(x, one):
    """x * 1 -> x: false where the 1 has more dimensions"""
    return x


@pytest.mark.parametrize("the_rule", [add_positive_zero, negated_difference, associate, mul_one_any_shape])
def test_false_rule_is_caught(the_rule):
    assert check_rule(the_rule).counterexamples


def test_a_rule_states_its_law():
    with pytest.raises(ValueError, match="has no docstring, which states its law"):

        @rule(lambda x: neg(x))
        def lawless(x):
            return x


def test_rules_that_do_not_end_are_named():
    @rule(lambda x, y: add(x, y))
    def swap(x, y):
        """x + y -> y + x"""
        return add(y, x)

    context = Context()
    x, y = (context.param(n, TensorType(dt.float32, (2,))) for n in "xy")
    graph = context.graph("g", (x, y), context.apply(add, (x, y), {}))
    with pytest.raises(InternalError, match="swap"):
        rewrite(graph, RuleSet("silly", [swap]), fuel=50)


def test_nothing_to_do_gives_the_same_graph():
    context = Context()
    x = context.param("x", TensorType(dt.float32, (2,)))
    graph = context.graph("g", (x,), context.apply(add, (x, x), {}))
    assert all(rewrite(graph, rules) is graph for rules in RULE_SETS)
