"""The first call of compiled training steps in a new process, phase by phase: cold, and from the disk cache.

Times are those of the process's clock for its own work (all threads), so that a busy machine changes them little;
"wall" is what one waits for. Imports, and the eager operations that make the network, are not counted.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = ("MLP", "LeNet", "GPT, 2 layers", "LSTM")
PHASES = ("wall", "all", "capture", "passes", "lowering", "LLVM", "linking")

_PROGRAM = """
import importlib, json, sys, time
import duograph as ms
from bench._mindspore_steps import step
from duograph.runtime.machine import code

executables = importlib.import_module("duograph.runtime.programs.executable")
spent = {}

def timed(owner, name, phase):
    function = getattr(owner, name)
    def wrapper(*args, **kwargs):
        start = time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            spent[phase] = spent.get(phase, 0.0) + time.process_time() - start
    setattr(owner, name, wrapper)

timed(executables, "Build", "lowering")
timed(code.machine, "compile_texts", "LLVM")
timed(code.machine, "link", "linking")
plain, batch, _ = step(ms, sys.argv[1])
spent.clear()
function = ms.jit(plain)
wall, start = time.perf_counter(), time.process_time()
timed(type(function), "_capture", "capture")
timed(type(function), "_compile", "passes")
function(*batch).asnumpy()
spent |= {"all": time.process_time() - start, "wall": time.perf_counter() - wall}
spent["passes"] -= spent["capture"]
for phase in ("LLVM", "linking"):
    spent[phase] = spent.get(phase, 0.0)
    spent["lowering"] -= spent[phase]
print(json.dumps(spent))
"""


def _first_call(name: str, cache: str) -> dict[str, float]:
    """Seconds of each phase in one process."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, name], cwd=ROOT, check=True, capture_output=True, text=True,
        env={**os.environ, "DUOGRAPH_CACHE_DIR": cache, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def cases() -> dict[str, Callable[[], float]]:
    """One process per network, temperature and round; its phases are the cases of a group."""
    found: dict[str, Callable[[], float]] = {}
    for name in NAMES:
        for temperature in ("cold", "warm"):
            latest: dict[str, float] = {}
            cache = tempfile.mkdtemp(prefix="bench-compile-")

            def run(name=name, temperature=temperature, cache=cache, latest=latest) -> float:
                with tempfile.TemporaryDirectory(prefix="bench-cold-") as empty:
                    latest.update(_first_call(name, cache if temperature == "warm" else empty))
                return latest["wall"]

            found[f"{name}, {temperature}: wall"] = run
            for phase in PHASES[1:]:
                found[f"{name}, {temperature}: {phase}"] = lambda phase=phase, latest=latest: latest[phase]
    return found
