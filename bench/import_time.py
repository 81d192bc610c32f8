"""How long `import duograph` takes in a fresh interpreter, against NumPy and whatever peers are installed.

Measured inside the interpreter, without its own start. Bar: 0.4 s, goal: 0.15 s.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable

_CODE = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def _import_seconds(name: str) -> float:
    done = subprocess.run([sys.executable, "-c", _CODE.format(name)], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def cases() -> dict[str, Callable[[], float]]:
    """One case per package that is present."""
    present = [name for name in ("numpy", "torch", "jax", "mindspore") if importlib.util.find_spec(name)]
    return {f"import {name}": (lambda name=name: _import_seconds(name)) for name in ["duograph", *present]}
