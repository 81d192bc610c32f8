"""Processes that are killed while they save, and disks that are full: what was saved before stays whole."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import duograph as ms
from duograph import Parameter, Tensor
from tests.children import start

from .found import check, found
from .workload import agree, program

SAVER = """
import sys
import numpy as np
import duograph as ms
from duograph import Parameter, Tensor
from tests.stress.files import saved
print("ready", flush=True)
for number in range(1, 10**6):
    saved(sys.argv[1], sys.argv[2], float(number))
"""
ELEMENTS = 300_000


def saved(folder: str, kind: str, value: float) -> str:
    """Saves a parameter of equal elements; the path."""
    path = os.path.join(folder, f"state.{kind}")
    parameter = Parameter(Tensor(np.full(ELEMENTS, value, np.float32)), name="w")
    ms.save_checkpoint([{"name": "w", "data": parameter}], path, format=kind)
    return path


def _loaded(path: str, kind: str) -> np.ndarray:
    return ms.load_checkpoint(path, format=kind)["w"].asnumpy()


def killed(r: Any) -> None:
    """One round of kill -9."""
    for _ in range(2):
        kind = str(r.choice(["ckpt", "safetensors"]))
        with tempfile.TemporaryDirectory() as folder:
            path = saved(folder, kind, 0.0)
            process = start([sys.executable, "-c", SAVER, folder, kind], stdout=subprocess.PIPE)
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(float(r.uniform(0.0, 0.3)))
            process.kill()
            process.wait()
            values = np.unique(_loaded(path, kind))
            check(values.size == 1, f"{kind}: a mixture of {values.size} saves after kill -9")
            saved(folder, kind, 5.0)
            check(bool((_loaded(path, kind) == 5.0).all()), f"{kind}: the save after kill -9 did not take")
            left = sorted(p.name for p in Path(folder).iterdir() if p.name != f"state.{kind}")
            check(not left, f"{kind}: left behind after kill -9 and one more save: {left}")


def full(r: Any) -> None:
    """One round of a disk that takes no more."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for kind in ("ckpt", "safetensors"):
        with tempfile.TemporaryDirectory() as folder:
            path = saved(folder, kind, 1.0)
            soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(r.integers(0, ELEMENTS)), hard))
            try:
                with contextlib.suppress(OSError, RuntimeError):
                    saved(folder, kind, 2.0)
                    found(f"{kind}: saved to a disk that is full")
                p = program(int(r.integers(10_000)))  # the cache on disk is full, too
                args = p.arguments(r)
                agree(ms.jit(p.function)(*args), p.function(*args), f"{p.name} differs while the disk is full")
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            check(bool((_loaded(path, kind) == 1.0).all()), f"{kind}: the older file has gone with the full disk")
            left = sorted(p.name for p in Path(folder).iterdir() if p.name != f"state.{kind}")
            check(not left, f"{kind}: left behind by a full disk: {left}")
            saved(folder, kind, 3.0)
            check(bool((_loaded(path, kind) == 3.0).all()), f"{kind}: the save after a full disk did not take")
