"""``python -m duograph doctor``: versions, processor, cache and settings, and whether everything works here.

`variables_page` is the page of all environment variables (``docs/environment.md``).
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import duograph as ms
from duograph.base.config import OF_RANKS, VARIABLES, Config, config
from duograph.base.cores import available_cores
from duograph.base.failures import failure_report
from duograph.core.traits import Traits
from duograph.lower.target import current_target
from duograph.runtime.machine import diskcache

from .layout import KNOWN
from .run import flushed

__capture__ = Traits(program=True)  # the functions that it tests are compiled as a user's are

__all__ = ["doctor", "variables_page"]

LIBRARIES = ("numpy", "llvmlite", "ml_dtypes", "rich", "protobuf")
"""What the package needs."""

LARGE = 150_000
"""Files in one folder from which on file systems get slow."""


def told(variables: bool) -> int:
    """`doctor`; 1 as well if nobody reads all of it (``doctor | head``)."""
    try:
        status = doctor(variables)
    except BrokenPipeError:
        status = 1
    return status if flushed(sys.stdout) else 1


def doctor(variables: bool = False) -> int:
    """Prints all of it; returns the exit status: 1 if a test fails.

    Args:
        variables (bool): only the page of environment variables. Default ``False``.
    """
    if variables:
        print(variables_page(), end="")
        return 0
    for title, lines in {"Versions": _versions, "Machine": _machine, "Cache": _cache, "Settings": _settings}.items():
        print(title)
        for name, value in lines():
            print(f"  {name:<26} {value}")
    print("Self-test")
    advice = []
    for name, test in TESTS.items():
        try:
            found = test()
        except Exception as error:  # noqa: BLE001  (listed: `tests/house/test_failures.py`)
            found = f"{type(error).__name__}: {error}"
        print(f"  {name:<26} {found or 'works'}")
        if found:
            advice.append(f"{name}: {ADVICE[name]}")
    print("\n".join(["Advice", *[f"  {line}" for line in advice]]) if advice else "Everything works.")
    return 1 if advice else 0


def _versions() -> Iterator[tuple[str, str]]:
    yield "duograph", f"{ms.__version__}, in {Path(ms.__file__).parent}"
    yield "Python", f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"
    for name in LIBRARIES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "missing"
    yield "MindSpore's names", f"of 2.10, {len(KNOWN)} modules"


def _machine() -> Iterator[tuple[str, str]]:
    target = current_target()
    yield "system", platform.platform()
    yield "processor", f"{_processor()}, compiled for as {target.name} ({target.vector_bits} bits)"
    yield "cores", f"{available_cores()} of {os.cpu_count()}"
    yield "threads of a kernel", str(config().num_threads or available_cores())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _cache() -> Iterator[tuple[str, str]]:
    folder = diskcache.folder()
    if folder is None:
        yield "folder", "none: MS_COMPILER_CACHE_ENABLE=0, or there is no home"
        return
    yield "folder", folder
    files = list(_sizes(folder))
    size = sum(files) / (1 << 20)
    yield "contents", f"{len(files)} files, {size:.0f} of {config().cache_size} MiB (DUOGRAPH_CACHE_SIZE)"
    if len(files) > LARGE:
        yield "note", "so many files are slow to list; remove the folder, or lower DUOGRAPH_CACHE_SIZE"


def _sizes(folder: str) -> Iterator[int]:
    """The sizes of the files in a folder; other processes may remove some meanwhile."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                if entry.is_file():
                    yield entry.stat().st_size


def _settings() -> Iterator[tuple[str, str]]:
    usual = Config()
    for variable in VARIABLES:
        value = getattr(config(), variable.field)
        is_changed = value != getattr(usual, variable.field)
        yield variable.environment, f"{_shown(value)}{'  (changed)' if is_changed else ''}"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)


# ---- the tests -------------------------------------------------------------------------------------------------------


def _same_bits() -> str:
    """Values and gradients have the same bytes, eager and compiled."""
    x = ms.Tensor(np.linspace(-3, 3, 64, dtype=np.float32).reshape(8, 8))

    def f(v: Any) -> Any:
        return ((v @ v).tanh() * 2 + v.exp()).sum()

    compiled = ms.jit(f)
    values = {run(x).asnumpy().tobytes() for run in (f, compiled)}
    gradients = {ms.grad(run)(x).asnumpy().tobytes() for run in (f, compiled)}
    told = compiled.explain()
    if config().jit and (told.fallbacks or not told.versions):
        return f"nothing was compiled: {told}"
    return "" if len(values) == len(gradients) == 1 else "eager and compiled results differ"


def _right_numbers() -> str:
    """A product is that of NumPy."""
    a, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 2), np.float32)
    right = np.array_equal((ms.Tensor(a) @ ms.Tensor(b)).asnumpy(), a @ b)
    return "" if right else "a matrix product is wrong"


def _no_failures() -> str:
    """No part of the package has been replaced by its reference meanwhile."""
    return failure_report()


def _writes_cache() -> str:
    """The cache folder can be written."""
    folder = diskcache.folder()
    if folder is None:
        return ""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        return ""


TESTS: dict[str, Callable[[], str]] = {
    "machine code": _right_numbers,
    "same bits in all modes": _same_bits,
    "cache can be written": _writes_cache,
    "no internal failures": _no_failures,
}
"""Name of a test: what returns an empty text, or what is wrong."""

ADVICE = {
    "machine code": "try DUOGRAPH_TARGET=baseline; DUOGRAPH_KERNELS=reference computes with NumPy. Please report it.",
    "same bits in all modes": "this is a fault of duograph: please report it with this page.",
    "cache can be written": "set DUOGRAPH_CACHE_DIR to a folder of your own; without it each process compiles anew.",
    "no internal failures": "results are right all the same, but slow: please report it with this page.",
}

# ---- the page --------------------------------------------------------------------------------------------------------

_HEAD = """\
# Environment variables

All of them; `python -m duograph doctor` shows their values here, and `duograph.base.config.VARIABLES` is where they are
declared. (This page is printed by `python -m duograph doctor --variables`.) A value that cannot be read is an error of
one line at the start, a name that begins with `DUOGRAPH_` and is none of these a line that says so.
Variables that are set while a program runs count for what is compiled from then on.

| variable | default | meaning |
| --- | --- | --- |
"""


def variables_page() -> str:
    """The page of all environment variables, in Markdown."""
    usual = Config()
    rows = [(v.environment, _shown(getattr(usual, v.field)), v.meaning.replace("|", "\\|")) for v in VARIABLES]
    rows += [(name, "", text) for name, text in OF_RANKS.items()]
    return _HEAD + "".join([f"| `{n}` | {f'`{default}`' if default else ''} | {text} |\n" for n, default, text in rows])
