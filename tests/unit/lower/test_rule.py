"""Rules are found without loading all of them."""

from __future__ import annotations

from duograph.core.op import all_ops
from duograph.lower.rule import load_rules, ops_without_rule
from duograph.lower.rules import FAMILIES, NO_FAMILY
from tests.unit.runtime.processes import python


def own_ops() -> set[str]:
    """The package's primitives; tests declare some, too."""
    load_rules()
    return {name for name, op in all_ops().items() if op.infer.__module__.startswith("duograph.")}


def test_every_op_has_one_family():
    with_rule = [name for names in FAMILIES.values() for name in names.split()]
    assert len(set(with_rule)) == len(with_rule)
    assert set(with_rule) == own_ops() - set(NO_FAMILY.split())


def test_ops_without_family_have_no_rule():
    assert own_ops() & set(ops_without_rule()) == own_ops() & set(NO_FAMILY.split())


def test_each_module_has_the_rules_that_the_table_says():
    program = """
        import importlib
        import duograph
        from duograph.core.op import get_op
        from duograph.lower import rule
        rule.load_rules = lambda: print("all rules were loaded")
        from duograph.lower.rules import FAMILIES
        for family, names in FAMILIES.items():
            for name in names.split():
                if rule.is_declared(name) and rule.rule_of(get_op(name)) is None:
                    print(f"{family} has no rule for {name}")
    """
    assert python(program) == ""


def test_a_small_program_loads_few_of_them():
    program = """
        import sys
        import duograph as ms
        print(float((ms.Tensor([1.0, 2.0]) * 3.0).sum()))
        print(any(m.startswith("duograph.lower.rules.pool") for m in sys.modules))
    """
    assert python(program).split() == ["9.0", "False"]
