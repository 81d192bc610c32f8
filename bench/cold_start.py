"""From the start of a process to the first loss of the MLP step: cold, and with what the first process left on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
_STEP = {
    "duograph": "from bench._mindspore_steps import cases; cases('duograph', 'MLP')['jit']()",
    "mindspore": "from bench._mindspore_steps import cases; cases('mindspore', 'MLP')['jit']()",
    "torch": "from bench._torch_steps import cases; cases('MLP')['compile']()",
    "jax": "from bench._jax_steps import cases; cases('MLP')['jit']()",
}


def _run(package: str, cache: str) -> float:
    """Seconds of one process."""
    places = {
        "DUOGRAPH_CACHE_DIR": cache, "TORCHINDUCTOR_CACHE_DIR": cache, "JAX_COMPILATION_CACHE_DIR": cache,
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", _STEP[package]], cwd=ROOT, env={**os.environ, **places}, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - start


def _cases(package: str) -> dict[str, Callable[[], float]]:
    warm = tempfile.mkdtemp(prefix="bench-warm-")

    def cold() -> float:
        with tempfile.TemporaryDirectory(prefix="bench-cold-") as cache:
            return _run(package, cache)

    how = "compile" if package == "torch" else "jit"
    return {
        f"process to first MLP loss, no cache: {how}": cold,
        f"process to first MLP loss, warm cache: {how}": lambda: _run(package, warm),
    }


def cases() -> dict[str, Callable[[], float]]:
    """An empty cache, and the cache of an earlier process."""
    return _cases("duograph")


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same for PyTorch (torch.compile), JAX or MindSpore."""
    return _cases(package)
