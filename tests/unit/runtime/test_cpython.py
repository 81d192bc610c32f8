"""The layout of CPython and NumPy objects is checked before native code relies on it; if it differs, Python works."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Iterator

import numpy as np
import pytest

import duograph as ms
from duograph.api import native
from duograph.base.config import configure
from duograph.runtime.launch import launcher
from duograph.runtime.python import cpython
from duograph.runtime.python.cpython import Layout, Unsupported, layout
from duograph.runtime.python.structs import Field
from duograph.tensor.tensor import Tensor
from tests.unit.runtime.engine import launching

FIELDS = {name: value for name, value in vars(cpython).items() if isinstance(value, Field)}
VERSIONS = {"DICT_VERSION", "TYPE_VERSION"}
"""Fields that native code does without if they are not where they should be."""


@pytest.fixture
def off() -> Iterator[None]:
    """Native launching is off, and nothing is known of the interpreter."""
    launcher.deactivate()
    layout.cache_clear()
    yield
    launcher.deactivate()
    layout.cache_clear()


def test_this_interpreter_is_known() -> None:
    cpython._check(Layout())


@pytest.mark.parametrize("name", sorted(FIELDS.keys() - VERSIONS))
def test_each_field_is_checked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object that had grown by a word would be noticed, whichever field it moved."""
    field = FIELDS[name]
    monkeypatch.setattr(cpython, name, Field(field.name, field.type, field + 8))
    with pytest.raises(Unsupported):
        cpython._check(Layout())


@pytest.mark.parametrize("name", sorted(VERSIONS))
def test_versions_that_are_elsewhere_are_not_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    field = FIELDS[name]
    monkeypatch.setattr(cpython, name, Field(field.name, field.type, field + 8))
    assert not Layout().has_versions


@pytest.mark.parametrize("name", sorted(cpython.FUNCTION_FIELDS))
def test_fields_of_functions_are_checked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cpython.FUNCTION_FIELDS, name, cpython.FUNCTION_FIELDS[name] + 8)
    with pytest.raises(Unsupported, match="of a function"):
        cpython._check(Layout())


@pytest.mark.parametrize("slot", ["CALL", "GET"])
def test_slots_of_classes_are_checked(slot: str) -> None:
    class Called:
        def __call__(self) -> None: ...

        def __get__(self, subject: object, owner: object) -> None: ...

    number, offset = getattr(cpython, slot)
    assert cpython.slot_of(Called, (number, offset))
    with pytest.raises(Unsupported, match=f"slot {number} of Called"):
        cpython.slot_of(Called, (number, offset + 8))


@pytest.mark.skipif(not (3, 12) <= sys.version_info < (3, 14), reason="no such objects, or none that are counted here")
def test_objects_that_live_for_ever_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpython, "IMMORTAL", 1 << 30)
    with pytest.raises(Unsupported, match="lives for ever"):
        cpython._check(Layout())


def test_numpys_table_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpython, "_ARRAY_TYPE_ENTRY", 3)
    with pytest.raises(Unsupported, match="NumPy's table"):
        cpython._check(Layout())


def test_slots_are_looked_up_and_tried() -> None:
    class Two:
        __slots__ = ("first", "second")

    two, value = Two(), object()
    two.second = value
    found = ctypes.c_size_t.from_address(id(two) + layout().slot(Two, "second")).value
    assert found == id(value)
    assert layout().slot(Tensor, "_data") != layout().slot(Tensor, "_view")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        pytest.param(lambda m: m.setattr(cpython, "ARRAY_FLAGS", 200), "array", id="another NumPy"),
        pytest.param(lambda m: m.setattr(cpython, "HEAD", 32), "build", id="another object header"),
        pytest.param(
            lambda m: m.setattr(sysconfig, "get_config_var", lambda name: 1), "free-threaded", id="free-threaded"
        ),
    ],
)
def test_unknown_interpreters_are_refused(spoil: object, why: str, monkeypatch: pytest.MonkeyPatch, off: None) -> None:
    """Then Python does what it did before."""
    spoil(monkeypatch)  # type: ignore[operator]
    assert not native.start()
    assert why in (launcher.refusal() or "")
    x = Tensor([1.0, 2.0])
    assert str(x + x) == "[2. 4.]"
    assert str(ms.grad(lambda x: (x * x).sum())(x)) == "[2. 4.]"
    assert launcher.statistics()["launches"] == 0


def test_the_option_forbids_it(off: None) -> None:
    with configure(native_launch=False):
        assert not native.start()
        assert launcher.refusal() is None
    assert str(Tensor([1.0]) + 1) == "[2.]"


def test_a_function_that_is_missing_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="no function"):
        cpython.function_address("PyTuple_NoSuchThing")


def test_native_methods_look_like_methods() -> None:
    with launching():
        add = ms.Tensor.__add__
        assert add.__name__ == "__add__"
        assert "x + y" in (add.__doc__ or "")
        assert add(Tensor([1.0]), 1).asnumpy() == 2
        assert Tensor([1.0]).__add__(2).asnumpy() == 3
        with pytest.raises(TypeError):
            add(np.ones(1), 1)
