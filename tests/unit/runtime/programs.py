"""MindIR programs for the tests of executables, and running them both ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.debug.opt import declare_ops
from duograph.ir.interpreter import Interpreter
from duograph.ir.parser import parse
from duograph.runtime.programs.executable import Executable

declare_ops()


def compiled(text: str, level: int = 1, donate: dict[int, int] | None = None) -> Executable:
    """The executable of a program."""
    return Executable(parse(text), level, donate)


def both(text: str, *values: Any) -> Any:
    """The result of the executable at both levels, which must be the interpreter's to the bit."""
    graph = parse(text)
    expected = Interpreter().run(graph, list(values))
    for level in (0, 1):
        executable = Executable(graph, level)
        assert same(executable.run(list(values)), expected), f"level {level}"
        assert not executable.repeats, executable.notes
    return expected


def same(a: Any, b: Any) -> bool:
    """Equal types, shapes and bits."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return type(a) is type(b) and (a == b or (a != a and b != b))


def f32(*shape: int, seed: int = 0) -> np.ndarray:
    """Random float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
