"""How long a fresh interpreter takes for `import duograph`, against NumPy and whatever peers are installed.

The bare start of the interpreter is subtracted, round by round. Bar: 0.4 s, goal: 0.15 s.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable


def _seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def _import_seconds(name: str) -> float:
    return max(_seconds(f"import {name}") - _seconds("pass"), 0.0)


def cases() -> dict[str, Callable[[], float]]:
    """One case per package that is present."""
    present = [name for name in ("numpy", "torch", "jax", "mindspore") if importlib.util.find_spec(name)]
    return {f"import {name}": (lambda name=name: _import_seconds(name)) for name in ["duograph", *present]}
