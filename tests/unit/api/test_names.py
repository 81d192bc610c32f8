"""How functions, classes and methods become public: families show what is written in them, lists name what there is."""

from __future__ import annotations

import importlib
import inspect
import types
from collections import Counter
from pkgutil import iter_modules

import pytest

from duograph import mint, ops
from duograph.api import functional, native, primitives, public_ops, tensor_methods
from duograph.api.functional.forms import not_public, public_functions
from duograph.api.primitives import functions as class_functions


def test_a_family_shows_what_is_written_in_it():
    family = types.ModuleType("family")
    source = (
        "import math\nfrom math import sin\ndef f(): pass\ndef _g(): pass\n@not_public\ndef h(): pass\nclass C: pass"
    )
    family.not_public = not_public
    exec(source, vars(family))
    assert public_functions(vars(family)) == {"f": family.f, "C": family.C}


@pytest.mark.parametrize("family", public_ops.FAMILIES)
def test_every_family_is_shown(family):
    """Whoever writes a function into a family has nothing else to list."""
    module = importlib.import_module(f"duograph.api.functional.{family}")
    shown = public_ops.functions()
    assert module.FUNCTIONS and module.FUNCTIONS.keys() - {"complex"} <= shown.keys()
    assert all(getattr(ops, name) is shown[name] for name in module.FUNCTIONS.keys() & shown.keys())


@pytest.mark.parametrize(("folder", "table"), [(functional, "FUNCTIONS"), (primitives, "CLASSES")])
def test_nothing_is_said_twice(folder, table):
    """A name that two files define would be what the later one says."""
    modules = [importlib.import_module(f"{folder.__name__}.{part.name}") for part in iter_modules(folder.__path__)]
    count = Counter(name for module in modules for name in vars(module).get(table, ()))
    assert len(count) > 200 and not [name for name, times in count.items() if times > 1]


def test_lists_of_names_name_what_there_is():
    functions = public_ops.functions()
    assert not set(native.FUNCTIONS) - functions.keys()
    assert not set(native.NUMBERS_ARE_WEAK) - set(native.FUNCTIONS)
    written = {name for module in tensor_methods.WRITTEN for name in module.METHODS}
    assert not set(native.METHODS) - written
    assert not set(mint.SAME) - functions.keys()
    assert all(getattr(mint, name) is functions[name] for name in mint.SAME)


def test_methods_that_are_functions_are_not_written_twice():
    """A method of both tables would be the written one; the list would lie."""
    written = {name: module.METHODS[name] for module in tensor_methods.WRITTEN for name in module.METHODS}
    both = [name for name in tensor_methods.DELEGATED if name in written]
    assert not both


@pytest.mark.parametrize("name", [*class_functions._OPS, *class_functions._NAMES.split()])
def test_a_class_without_parameters_is_its_function(name):
    """The function is named by the class, or the table says which one it is."""
    assert inspect.signature(getattr(ops, name)).parameters.keys() == set()
    assert class_functions._function_of(name) in class_functions._FUNCTIONS.values()
