"""Code in an installed package: what somebody asks to compile is compiled wherever it lies."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

import pytest

import duograph as ms
from duograph import Tensor

from .counts import STEADY, Counts, after

PACKAGE = """
import duograph as ms
from duograph import nn, ops


def plain(x):
    return ops.tanh(x * 3) - x.mean()


@ms.jit
def decorated(x):
    return ops.tanh(x) * 2 + x.mean()


@ms.jit
def calls_what_is_decorated(x):
    return decorated(x) + x.sum() * 2


@ms.jit
def calls_what_is_not(x):
    return plain(x) + x.sum() * 2


@ms.jit
def defines_a_function(x):
    def scaled(y):
        return y * x.mean()

    return scaled(ops.tanh(x)) + 1


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)

    @ms.jit
    def construct(self, x):
        return ops.relu(self.dense(x)) + x.mean()
"""
X = Tensor([[1.0, 2.0, 3.0]])
DECORATED = {
    "decorated": STEADY,
    "calls_what_is_decorated": STEADY,
    "defines_a_function": STEADY,
    "calls_what_is_not": Counts(versions=1, segments=1, breaks=1, fallbacks=1),  # nobody asked for `plain`
}


@pytest.fixture
def installed(tmp_path, monkeypatch) -> ModuleType:
    """The package, as ``pip install`` leaves it."""
    folder = tmp_path / "site-packages"
    (folder / "mymodels").mkdir(parents=True)
    (folder / "mymodels" / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "mymodels", raising=False)
    module = importlib.import_module("mymodels")
    monkeypatch.setitem(sys.modules, "mymodels", module)
    return module


@pytest.mark.parametrize("name", DECORATED)
def test_what_the_package_decorates(installed, name):
    assert after(getattr(installed, name), [(X,)] * 8) == DECORATED[name]


def test_a_method_that_the_package_decorates(installed):
    net = installed.Net()
    for _ in range(8):
        net(X)
    told = type(net).construct.explain()
    assert (len(told.versions), len(told.breaks), len(told.fallbacks)) == (1, 0, 0)


def test_what_the_user_compiles(installed):
    assert after(ms.jit(installed.plain), [(X,)] * 8) == STEADY
    assert after(ms.jit(lambda x: installed.plain(x) + 1), [(X,)] * 8) == STEADY  # asked for once, known from then on
