"""Public names: where they live, who lends them, and modules that are imported by a path at which no file lies."""

from __future__ import annotations

import importlib
import importlib.util
import sys

import pytest

import duograph as ms
from duograph.base.public import Names, lend, open_paths
from tests.seeds.conftest import run_python


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, with what it shows of a third one; how it is called."""
    for name, text in {
        "__init__": "def __getattr__(name): return NAMES.get(name)",
        "low": "x, y = 1, 2",
        "high": "z = 3",
    }.items():
        path = tmp_path / "rooms" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    lend("rooms", {"rooms.high": "z last=z"})
    module = importlib.import_module("rooms")
    module.NAMES = Names("rooms", {"rooms.low": "x second=y"}, ("low",))
    yield module
    for name in [name for name in sys.modules if name.partition(".")[0] == "rooms"]:
        del sys.modules[name]


def test_names_are_loaded_when_they_are_asked_for(package):
    assert "rooms.low" not in sys.modules
    assert (package.x, package.second) == (1, 2)
    assert vars(package)["second"] == 2  # kept from then on
    assert package.low is sys.modules["rooms.low"]


def test_a_package_shows_what_higher_ones_lend_it(package):
    assert "rooms.high" not in sys.modules
    assert (package.z, package.last) == (3, 3)
    assert package.NAMES.all == ["x", "second", "z", "last"]
    assert {"x", "last", "low"} <= set(package.NAMES.listing())


def test_a_name_that_is_not_there_names_the_nearest(package):
    with pytest.raises(AttributeError, match=r"module 'rooms' has no attribute 'secnd'; the nearest name is 'second'"):
        package.secnd  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute '_secnd'$"):
        package._secnd  # noqa: B018


def test_two_paths_give_one_module(package):
    open_paths({"rooms.door": "rooms.low"})
    try:
        door = importlib.import_module("rooms.door")
        assert door is sys.modules["rooms.low"] is sys.modules["rooms.door"] is package.door
        assert door.__name__ == door.__spec__.name == "rooms.low"
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("rooms.window")
    finally:
        sys.meta_path.pop()


@pytest.mark.parametrize("name", ms.PATHS)
def test_every_public_path_can_be_imported_first(name):
    """``import duograph.hal`` in a process that has seen nothing of it, and ``duograph.hal`` as an attribute."""
    program = f"""
        import duograph.{name} as by_path
        import duograph
        import {ms.PATHS[name]} as room
        assert by_path is room is duograph.{name}, (by_path, room)
        from duograph.{name} import *
        assert by_path.__all__ and all(name in globals() for name in by_path.__all__)
    """
    done = run_python("-c", "\n".join(line.strip() for line in program.splitlines()))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("statement", "error", "text"),
    [
        (
            "from duograph.nn import Module",
            ImportError,
            "cannot import name 'Module' from 'duograph.nn'; networks",
        ),
        ("from duograph import compile", ImportError, "@jit"),
        ("from duograph.nn import functional as F", ImportError, "mint.nn.functional"),
        ("from duograph.ops import linear", ImportError, "ops.dense"),
        ("from duograph.dataset.text import JiebaTokenizer", ImportError, "not provided"),
        ("from mindspore.nn import Sequential", ImportError, "nn.SequentialCell"),
        ("import duograph.optim", ModuleNotFoundError, "No module named 'duograph.optim'; optimizers are in nn"),
        ("from duograph.optim import Adam", ModuleNotFoundError, "optimizers are in nn"),
        ("import duograph.utils.data", ModuleNotFoundError, "dataset.GeneratorDataset"),
        ("import mindspore.nn.functional", ModuleNotFoundError, "mint.nn.functional"),
        ("import duograph.no_such_thing", ModuleNotFoundError, "No module named 'duograph.no_such_thing'$"),
        ("from duograph.train import Zzzz", ImportError, "cannot import name 'Zzzz' from 'duograph.train'"),
    ],
)
def test_imports_of_what_is_not_there_say_what_to_write(statement, error, text):
    ms.install_as_mindspore()
    with pytest.raises(ImportError, match=text) as raised:
        exec(statement, {})
    assert type(raised.value) is error


def test_who_asks_what_is_there_is_told_as_ever():
    for name in ("duograph.optim", "duograph.nn.functional", "duograph.ops.nothing", "mindspore.optim"):
        ms.install_as_mindspore()
        assert importlib.util.find_spec(name) is None
    assert not hasattr(ms.nn, "Module") and "Module" not in dir(ms.nn) and "duograph.optim" not in sys.modules
    assert getattr(ms, "compile", None) is None
    import duograph.ops.operations  # noqa: F401 - a finder that comes after the one that says why has it


@pytest.mark.parametrize("name", ["", ".nn", ".ops", ".mint", ".mint.nn", ".train", ".context", ".numpy", ".common"])
def test_the_standard_library_is_no_part_of_what_dir_shows(name):
    shown = dir(importlib.import_module(f"duograph{name}"))
    assert not {"Any", "Callable", "annotations", "sys", "types", "import_module"} & set(shown)
    assert len(shown) > 10 and shown == sorted(shown)
