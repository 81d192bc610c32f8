"""The caching allocator: what a dead result leaves serves the next one, up to a cap; nothing is lost."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph.base.config import configure
from duograph.runtime.launch import allocator, launcher
from tests.unit.runtime.engine import f32, launching


@pytest.fixture(autouse=True)
def engine() -> Iterator[launcher.Engine]:
    with launching() as found:
        gc.collect()
        gc.disable()  # it would free what is counted, at any moment
        allocator.empty_cache()
        yield found
        allocator.empty_cache()
        gc.enable()


def figures() -> dict[str, int]:
    return allocator.memory_stats()


def result(n: int) -> ms.Tensor:
    """A result of ``n`` floats in memory of ours."""
    x = f32(n)
    for _ in range(3):
        out = x + x
    return out


def test_memory_is_used_again() -> None:
    out = result(1000)
    address, before = out.data_ptr(), figures()
    del out
    assert figures()["cached"] > before["cached"]
    assert figures()["allocated"] == before["allocated"] - 4096
    x = f32(1000)
    assert address in [(x * x).data_ptr() for _ in range(3)]
    assert figures()["reuses"] > before["reuses"]


def test_empty_cache_gives_everything_back() -> None:
    out = result(100_000)
    del out
    assert figures()["cached"] > 0
    ms.runtime.empty_cache()
    assert figures()["cached"] == 0
    assert figures()["reserved"] == figures()["allocated"]


def test_the_cap_holds(engine: launcher.Engine) -> None:
    engine.set("cap", 1 << 20)
    try:
        for n in (10_000, 50_000, 100_000, 300_000, 20_000):
            out = result(n)
            del out
            assert figures()["cached"] <= 1 << 20
    finally:
        engine.set("cap", 1 << 30)


def test_the_cap_is_configurable() -> None:
    launcher.deactivate()
    with configure(memory_cache=0), launching():
        out = result(1000)
        del out
        assert figures()["cached"] == 0
    launcher.deactivate()


def test_peaks() -> None:
    ms.runtime.reset_peak_memory_stats()
    start = ms.runtime.max_memory_allocated()
    out = result(1 << 18)
    assert ms.runtime.max_memory_allocated() >= start + (1 << 20)
    del out
    assert ms.runtime.memory_allocated() <= start
    assert ms.runtime.max_memory_allocated() >= start + (1 << 20)
    ms.runtime.reset_max_memory_allocated()
    assert ms.runtime.max_memory_allocated() == ms.runtime.memory_allocated()
    assert ms.runtime.max_memory_reserved() >= ms.runtime.memory_reserved()
    assert ms.runtime.memory_stats()["total_allocated_memory"] == ms.runtime.memory_allocated()
    assert "total allocated memory" in ms.runtime.memory_summary()


@pytest.mark.parametrize("n", [1, 15, 16, 17, 63, 64, 65, 1000, 4097, 1 << 20])
def test_blocks_are_large_enough_and_aligned(engine: launcher.Engine, n: int) -> None:
    """Blocks of neighbouring sizes do not touch each other: each is filled, then all are looked at."""
    allocate = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_int64)(engine.address("dg_alloc"))
    free = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(engine.address("dg_free"))
    before = figures()["allocated"]
    blocks = [allocate(n) for _ in range(5)]
    assert len(set(blocks)) == 5
    for value, block in enumerate(blocks):
        assert block % 64 == 0
        ctypes.memset(block, value, n)
    for value, block in enumerate(blocks):
        assert ctypes.string_at(block, n) == bytes([value]) * n
    assert n * 5 <= figures()["allocated"] - before <= max(5 * n * 1.25, 5 * 64)
    for block in blocks:
        free(block)
    assert figures()["allocated"] == before


def test_arrays_of_our_memory_can_grow() -> None:
    """NumPy calls the handler to change the size of an array."""
    array = result(10).asnumpy().copy()
    ours = result(10)
    view: Any = ours._data
    kept = view.tolist()
    view.resize(5000, refcheck=False)
    assert view[:10].tolist() == kept
    assert view[10:].sum() == 0
    assert array.shape == (10,)


@pytest.mark.parametrize("native", [True, False])
def test_gigantic_requests(native: bool, engine: launcher.Engine) -> None:
    engine.set("enabled", int(native))
    x = ms.Tensor(np.ones((1, 3_000_000), np.float32))
    y = x.reshape(3_000_000, 1)
    before = figures()["allocated"]
    for _ in range(4):
        with pytest.raises(MemoryError) as error:
            x + y
        assert "shape (3000000, 3000000) and dtype float32 takes 32.74 TiB" in str(error.value)
        with pytest.raises(MemoryError, match="smaller pieces"):
            ms.ops.zeros((1 << 40, 1 << 30))
    assert figures()["allocated"] == before
    assert (x + 1).sum().asnumpy() == 6_000_000  # nothing was lost
