"""Several threads call the same and different functions for the first time, with shapes that nobody has seen."""

from __future__ import annotations

import sys
import threading
from typing import Any

import duograph as ms

from .found import found, guarded
from .workload import Program, agree, program

MOST = 6


def work(r: Any) -> None:
    """One round."""
    sys.setswitchinterval(float(r.choice([1e-6, 1e-4, 5e-3])))
    first = int(r.integers(0, 10_000))
    programs = [program(first + k) for k in range(int(r.integers(1, 6)))]
    compiled = [ms.jit(p.function) for p in programs]
    answers: list[tuple[Program, Any, Any]] = []
    count = int(r.integers(2, MOST + 1))
    calls = int(r.integers(10, 60))
    together = threading.Barrier(count)
    eagerly = bool(r.integers(2))

    def caller(seed: int) -> None:
        import numpy as np

        mine = np.random.default_rng(seed)
        with guarded("a thread"):
            together.wait()
            for _ in range(calls):
                k = int(mine.integers(len(programs)))
                args = programs[k].arguments(mine)
                got = compiled[k](*args)
                if eagerly:
                    agree(got, programs[k].function(*args), f"{programs[k].name} differs in a thread")
                else:
                    answers.append((programs[k], args, got))
                if mine.integers(8) == 0:
                    str(compiled[k].explain())
                    compiled[k].stats  # noqa: B018

    workers = [threading.Thread(target=caller, args=(int(r.integers(1 << 30)),)) for _ in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for of, args, got in answers:
        agree(got, of.function(*args), f"{of.name} differs")
    for p, c in zip(programs, compiled, strict=True):
        for version in c._own.compiled:
            reason = version.why_not_native
            if "Error" in reason:
                found(f"{p.name}: {reason}")
