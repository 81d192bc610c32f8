"""The process forks while its threads call; parent and children go on."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np

import duograph as ms

from .found import check, found, guarded
from .workload import agree, program

PATIENCE = 100.0
"""Seconds by the clock after which a child, or a thread, is said to hang."""


def work(r: Any) -> None:
    """One round."""
    sys.setswitchinterval(float(r.choice([1e-6, 1e-4, 5e-3])))
    first = int(r.integers(0, 10_000))
    programs = [program(first + k) for k in range(5)]
    compiled = [ms.jit(p.function) for p in programs]
    stop = threading.Event()

    def caller(seed: int) -> None:
        mine = np.random.default_rng(seed)
        number = first + 5
        with guarded("a thread"):
            while not stop.is_set():
                k = int(mine.integers(len(programs)))
                args = programs[k].arguments(mine)
                agree(compiled[k](*args), programs[k].function(*args), f"{programs[k].name} differs in a thread")
                if mine.integers(6) == 0:  # one that is compiled now
                    number += 1
                    fresh = program(number)
                    args = fresh.arguments(mine)
                    agree(ms.jit(fresh.function)(*args), fresh.function(*args), f"{fresh.name} differs")

    workers = [threading.Thread(target=caller, args=(int(r.integers(1 << 30)),), daemon=True) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(6):
            time.sleep(float(r.uniform(0, 0.2)))
            seed = int(r.integers(1 << 30))
            child = os.fork()
            if child == 0:
                os._exit(0 if _in_child(programs, compiled, seed) else 1)
            _wait_for(child)
            k = int(r.integers(len(programs)))
            args = programs[k].arguments(r)
            agree(compiled[k](*args), programs[k].function(*args), f"{programs[k].name} differs in the parent")
    finally:
        stop.set()
    for worker in workers:
        worker.join(PATIENCE)
        check(not worker.is_alive(), "a thread of the parent hangs")


def _in_child(programs: list[Any], compiled: list[Any], seed: int) -> bool:
    r = np.random.default_rng(seed)
    fine = False
    with guarded("the child"):
        for k in range(len(programs)):
            args = programs[k].arguments(r)
            agree(compiled[k](*args), programs[k].function(*args), f"{programs[k].name} differs in the child")
        fresh = program(seed)
        args = fresh.arguments(r)
        agree(ms.jit(fresh.function)(*args), fresh.function(*args), f"{fresh.name} differs in the child")
        fine = True
    return fine


def _wait_for(child: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            check(status == 0, f"a child ended with {os.waitstatus_to_exitcode(status)}")
            return
        time.sleep(0.002)
    os.kill(child, signal.SIGABRT)  # faulthandler prints where it stands
    os.waitpid(child, 0)
    found("a child hangs")
