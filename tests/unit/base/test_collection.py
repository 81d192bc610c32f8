"""The cycle collector while something is compiled, and weak sets."""

import gc
import threading
import weakref

import pytest

from duograph.base.collection import members, no_collection


@no_collection
def is_on(error=None):
    if error is not None:
        raise error
    return gc.isenabled()


def test_it_is_off_within_and_on_afterwards():
    assert not is_on()
    assert gc.isenabled()
    with pytest.raises(KeyboardInterrupt):
        is_on(KeyboardInterrupt())
    assert gc.isenabled()


def test_who_has_turned_it_off_keeps_it_off():
    gc.disable()
    try:
        assert not is_on()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_members_of_a_set_that_another_thread_adds_to():
    class Thing:
        """Something that there can be weak references to."""

    things = [Thing() for _ in range(200)]
    weak = weakref.WeakSet(things)

    def add():
        for _ in range(2000):
            things.append(Thing())
            weak.add(things[-1])

    thread = threading.Thread(target=add)
    thread.start()
    while thread.is_alive():
        assert set(things[:200]) <= set(members(weak))
    thread.join()
