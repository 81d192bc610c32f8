"""Places that a lower floor leaves open for a higher one."""

from __future__ import annotations

import pytest

from duograph.base.slot import SLOTS, Listeners, Slot


@pytest.fixture(autouse=True)
def only_here(monkeypatch):
    monkeypatch.setattr("duograph.base.slot.SLOTS", {})


def test_a_slot_has_the_value_that_was_filled_in_last():
    slot: Slot[str] = Slot("test.slot", "what the lower floor does")
    assert slot.value == "what the lower floor does"
    slot.fill("what the higher one does")
    assert slot.value == "what the higher one does"


def test_what_nobody_has_filled_says_so():
    slot: Slot[str] = Slot("test.slot")
    with pytest.raises(AttributeError, match=r"nobody has filled the slot test\.slot"):
        _ = slot.value
    slot.fill("")
    assert slot.value == ""


def test_listeners_are_called_in_order_and_once():
    told = []
    listeners = Listeners("test.listeners")
    first, second = lambda: told.append(1), lambda: told.append(2)
    for function in (first, second, first):
        listeners.add(function)
    listeners.tell()
    assert told == [1, 2]
    listeners.remove(first)
    listeners.tell()
    assert told == [1, 2, 2]


def test_a_listener_may_leave_while_it_is_called():
    told = []
    listeners = Listeners("test.listeners")

    def once():
        told.append("once")
        listeners.remove(once)

    listeners.add(once)
    listeners.add(lambda: told.append("always"))
    listeners.tell()
    listeners.tell()
    assert told == ["once", "always", "always"]


def test_two_of_one_name_are_refused():
    Slot("test.slot")
    with pytest.raises(ValueError, match="declared twice"):
        Listeners("test.slot")


def test_those_of_the_package_are_listed():
    assert "core.op.eager_binder" in SLOTS
