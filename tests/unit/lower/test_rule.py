"""Rules are found without loading all of them."""

from __future__ import annotations

import pkgutil

from duograph import ops
from duograph.core.op import all_ops
from duograph.lower import rules
from duograph.lower.rules import FAMILIES
from tests.unit.runtime.processes import python


def test_the_table_names_files_that_are_there():
    files = {module.name for module in pkgutil.iter_modules(ops.__path__)}
    assert set(FAMILIES) <= files
    modules = {module.name for module in pkgutil.iter_modules(rules.__path__)}
    assert {name for names in FAMILIES.values() for name in names.split()} == modules


def test_ops_know_the_file_that_declares_them():
    """Whether a class there, or a row of a family that another module makes."""
    assert {all_ops()[name].module for name in ("matmul", "conv")} == {"duograph.ops.linalg", "duograph.ops.conv"}
    assert {all_ops()[name].module for name in ("exp", "relu")} == {"duograph.ops.unary"}


def test_every_rule_is_found_by_the_file_of_its_op():
    program = """
        import importlib, pkgutil
        from duograph import ops
        from duograph.core.op import NO_RULE, all_ops
        from duograph.lower import rule
        for module in pkgutil.iter_modules(ops.__path__):
            importlib.import_module(f"duograph.ops.{module.name}")
        everything, rule.load_rules = rule.load_rules, lambda: print("all rules were loaded")
        found = {name for name, op in all_ops().items() if rule.rule_of(op) is not None}
        everything()
        print(*sorted({name for name, op in all_ops().items() if op.lower is not NO_RULE} ^ found))
    """
    assert python(program).strip() == ""


def test_an_op_of_another_package_is_found_by_loading_everything():
    program = """
        from duograph.core.op import primitive
        from duograph.lower import rule

        @rule.pointwise("same")
        def same_rule(b, x):
            return x

        @primitive
        class same:
            def infer(x):
                return x

        everything, rule.load_rules = rule.load_rules, lambda: (print("all rules are loaded"), everything())
        print(same.module, rule.rule_of(same).function is same_rule)
    """
    assert python(program).splitlines() == ["all rules are loaded", "__main__ True"]


def test_a_small_program_loads_few_of_them():
    program = """
        import sys
        import duograph as ms
        print(float((ms.Tensor([1.0, 2.0]) * 3.0).sum()), float(ms.ops.relu(ms.Tensor(2.0))))
        print(*[f"duograph.lower.rules.{part}" in sys.modules for part in ("pool", "pointwise_math")])
    """
    assert python(program).split() == ["9.0", "2.0", "False", "False"]
