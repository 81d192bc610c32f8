"""What modules say of their functions: the nearest word counts, and only this package's word."""

from __future__ import annotations

import importlib
import sys
import types

import pytest

from duograph.core.traits import NOTHING, Traits, said_of, traits_of
from duograph.frontend.rules.policy import is_interpreted
from duograph.frontend.rules.purity import is_framework_rule, is_reader


def test_the_nearest_word_counts():
    importlib.import_module("duograph.nn.cell")
    nn = sys.modules["duograph.nn"].__capture__
    assert said_of("duograph.nn") == (nn, "")
    assert said_of("duograph.nn.layer.conv") == (nn, "layer.conv")
    assert traits_of("duograph.nn.cell_tree") is not nn and traits_of("duograph.nn.cell_tree").layers


def test_nothing_is_said_by_others(monkeypatch):
    """A program cannot make rules of its functions, and odd names of modules ask nothing."""
    module = types.ModuleType("their")
    module.__capture__ = Traits(rules=True)
    monkeypatch.setitem(sys.modules, "their", module)
    assert traits_of("their") is traits_of("duographs.nn") is traits_of("duograph.hal") is NOTHING
    assert traits_of(None) is traits_of("") is traits_of(3) is NOTHING


def test_rules():
    assert Traits(rules=True).is_rule("Cell.cls_name")
    assert not Traits(rules=True, not_rules=("Cell",)).is_rule("Cell.cls_name")
    some = Traits(rules=("cls_name",))
    assert some.is_rule("Cell.cls_name") and not some.is_rule("Cell.set_train")


# Function, whether it is a rule of graphs, reads a switch, is interpreted.
KNOWN = [
    ("duograph.api.operators:add", True, False, False),
    ("duograph.mint.functions:add", True, False, False),
    ("duograph.numpy.functions:pad", True, False, False),
    ("duograph.train.amp:all_finite", True, False, False),
    ("duograph.train.amp:auto_mixed_precision", False, False, False),
    ("duograph.common.initializer:initializer", True, False, False),
    ("duograph.common.generator:get_seed", False, True, False),
    ("duograph.common.generator:set_seed", False, False, False),
    ("duograph.context:get_context", False, True, False),
    ("duograph.context:set_context", False, False, False),
    ("duograph.context.parallel:get_auto_parallel_context", False, True, False),
    ("duograph.device.hal:synchronize", False, False, False),
    ("duograph.nn.cell_tree:CellTree.parameters_and_names", False, False, True),
    ("duograph.nn.cell_settings:CellSettings.in_use", True, False, False),
    ("duograph.nn.cell_settings:CellSettings.set_train", False, False, True),
    ("duograph.nn.layer.basic:Dense.construct", True, False, True),
    ("duograph.nn.loss.loss:LossBase.get_loss", True, False, True),
    ("duograph.nn.optim.optimizer:Optimizer.get_lr", True, False, True),
    ("duograph.nn.dynamic_lr:exponential_decay_lr", True, False, False),
    ("duograph.experimental.optim.optimizer:Optimizer.add_param_group", True, False, True),
    ("duograph.train.callback.base:Callback.step_end", False, False, False),
]


@pytest.mark.parametrize(("name", "rule", "reader", "interpreted"), KNOWN, ids=[row[0] for row in KNOWN])
def test_what_capture_knows_of_functions_above_it(name, rule, reader, interpreted):
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    assert (is_framework_rule(found), is_reader(found), is_interpreted(found)) == (rule, reader, interpreted)
