"""Native eager launching, switched on for a test and off again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import duograph as ms
from duograph.api import native
from duograph.core import kernel
from duograph.runtime.kernels.single import run_op
from duograph.runtime.launch import launcher


@contextmanager
def launching() -> Iterator[launcher.Engine]:
    """Within the block native kernels run, and calls of the API are native."""
    before = kernel.native.value
    was_on = launcher._engine is not None
    kernel.native.fill(run_op)
    assert native.start(), launcher.refusal()
    engine = launcher._engine
    assert engine is not None
    engine.clear()
    try:
        yield engine
    finally:
        kernel.native.fill(before)
        engine.set("enabled", 1)  # whatever a test has said
        if not was_on:
            launcher.deactivate()


def in_python(engine: launcher.Engine, fn: Callable[[], Any]) -> Any:
    """What ``fn`` gives without native launching, with the same kernels."""
    engine.set("enabled", 0)
    try:
        return fn()
    finally:
        engine.set("enabled", 1)


def launches(fn: Callable[[], Any], times: int = 4) -> int:
    """How many native launches the last of some calls of ``fn`` makes."""
    for _ in range(times - 1):
        fn()
    before = launcher.statistics()["launches"]
    fn()
    return launcher.statistics()["launches"] - before


def bits(value: Any) -> Any:
    """All that can be seen of a result: dtypes, shapes and bytes."""
    if isinstance(value, ms.Tensor):
        return value.dtype, value.shape, value.asnumpy().tobytes()
    return tuple(bits(v) for v in value) if isinstance(value, tuple | list) else value


def f32(*shape: int, seed: int = 0) -> ms.Tensor:
    """A tensor of random numbers."""
    return ms.Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))
