"""What a process has one of."""

import threading
import time

import pytest

from duograph.base.once import once


def test_threads_that_ask_at_once_get_one_thing():
    made = []

    @once
    def thing(name):
        time.sleep(0.05)
        made.append(name)
        return object()

    found = []
    threads = [threading.Thread(target=lambda: found.append(thing("a"))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert made == ["a"]
    assert len({id(x) for x in found}) == 1
    assert thing("b") is not found[0]


def test_after_an_error_the_next_call_tries_again():
    attempts = []

    @once
    def thing():
        attempts.append(1)
        if len(attempts) == 1:
            raise KeyboardInterrupt
        return 5

    with pytest.raises(KeyboardInterrupt):
        thing()
    assert (thing(), thing(), len(attempts)) == (5, 5, 2)
