"""The top of the package: every listed name is there, loading is lazy, functions stand in front of packages."""

from __future__ import annotations

import importlib
import types

import pytest

import duograph as ms
from tests.seeds.conftest import run_python


@pytest.mark.parametrize("name", sorted(set(ms.__all__)))
def test_every_name_is_there(name):
    assert getattr(ms, name) is getattr(ms, name)
    assert name in dir(ms)


def test_functions_in_front_of_packages():
    for name in ("jit", "tensor"):
        importlib.import_module(f"duograph.{name}")
        assert isinstance(getattr(ms, name), types.FunctionType)
        assert isinstance(importlib.import_module(f"duograph.{name}"), types.ModuleType)
    from duograph.jit.function import JitFunction

    assert isinstance(ms.jit(lambda x: x), JitFunction)


def test_heavy_packages_are_loaded_when_used():
    code = (
        "import sys, duograph as ms\n"
        "print([n for n in ('duograph.train', 'duograph.nn', 'llvmlite', 'rich', 'google.protobuf', 'scipy')"
        " if n in sys.modules])\nms.nn.Cell; print('duograph.nn' in sys.modules)"
    )
    assert run_python("-c", code).stdout == "[]\nTrue\n"


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'Tensr'; the nearest name is 'Tensor'"):
        ms.Tensr
    with pytest.raises(ImportError, match="Tensr"):
        exec("from duograph import Tensr")
