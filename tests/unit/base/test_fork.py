"""Locks and forks."""

import os
import threading
import time

import pytest

from duograph.base.fork import fork_safe_lock

LOWER = fork_safe_lock()
UPPER = fork_safe_lock()
counts = {"upper": 0, "lower": 0}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_finds_locks_free_and_data_whole():
    """The other thread takes the upper lock, then the lower; both counts change as one."""
    going = True

    def work():
        while going:
            with UPPER, LOWER:
                counts["upper"] += 1
                time.sleep(0.0005)
                counts["lower"] += 1

    worker = threading.Thread(target=work)
    worker.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                free = UPPER.acquire(timeout=5) and LOWER.acquire(timeout=5)
                os._exit(0 if free and counts["upper"] == counts["lower"] else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        going = False
        worker.join()
    assert counts["upper"] > 0
