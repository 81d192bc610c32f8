"""Products of matrices, float32: ratios are to the same number of operations as nothing but multiply-adds.

The first line of a group is that peak, measured in the same rounds: ``x 1.12`` is 1 / 1.12 = 89 % of it. Ours includes
0.3 us of calling through ctypes. Peers: torch, numpy, each with its own threads in a process of its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bench._workloads import best_of

# rows, columns, depth, A transposed, B transposed, stack
SHAPES = [
    (64, 512, 784, 0, 1, ()),
    (64, 512, 512, 0, 0, ()),
    (64, 10, 512, 0, 1, ()),
    (128, 128, 128, 0, 0, ()),
    (256, 768, 768, 0, 0, ()),
    (512, 512, 512, 0, 0, ()),
    (1024, 1024, 1024, 0, 0, ()),
    (784, 512, 64, 1, 0, ()),
    (512, 512, 64, 1, 0, ()),
    (768, 768, 256, 1, 0, ()),
    (64, 784, 512, 0, 1, ()),
    (256, 768, 768, 0, 1, ()),
    (64, 64, 64, 0, 0, (32,)),
    (64, 64, 64, 0, 1, (32,)),
    (64, 64, 64, 0, 0, ()),
    (37, 29, 53, 0, 0, ()),
    (1, 1024, 1024, 0, 0, ()),
    (1, 1024, 1024, 0, 1, ()),
]

Shape = tuple[int, int, int, int, int, tuple[int, ...]]


def _case(shape: Shape) -> tuple[str, float, int, list[np.ndarray]]:
    """Title, operations, how often to repeat, operands as stored."""
    m, n, k, ta, tb, stack = shape
    rng = np.random.default_rng(0)
    sizes = ((*stack, k, m) if ta else (*stack, m, k)), ((*stack, n, k) if tb else (*stack, k, n))
    flops = 2.0 * m * n * k * int(np.prod(stack))
    left, right = "A^T" if ta else "A", "B^T" if tb else "B"
    title = f"{left} {right} {m}x{n}x{k}" + (f" of {stack[0]}" if stack else "")
    return title, flops, max(5, min(100, int(2e8 / flops))), [_aligned(rng, size) for size in sizes]


def _aligned(rng: Any, size: tuple[int, ...]) -> np.ndarray:
    """Random numbers where an allocator would put them: at a multiple of 64 bytes."""
    count = int(np.prod(size))
    raw = np.empty(count + 16, np.float32)
    start = -raw.ctypes.data % 64 // 4
    raw[start : start + count] = rng.standard_normal(count, dtype=np.float32)
    return raw[start : start + count].reshape(size)


def cases() -> dict[str, Callable[[], float]]:
    """Peak and the product of each shape."""
    from bench._kernels import bound, multiply_adds  # needs duograph, which a peer's interpreter lacks

    found = {}
    for shape in SHAPES:
        title, flops, repeats, arrays = _case(shape)
        attrs = {"transpose_a": bool(shape[3]), "transpose_b": bool(shape[4])}
        found[f"{title}: peak"] = best_of(multiply_adds(flops), repeats)
        found[f"{title}: duograph"] = best_of(bound("matmul", arrays, attrs), repeats)
    return found


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same products of torch and numpy."""
    if package not in ("torch", "numpy"):
        return {}
    peer = importlib.import_module(package)
    found = {}
    for shape in SHAPES:
        title, _, repeats, arrays = _case(shape)
        x, w = (peer.from_numpy(a) for a in arrays) if package == "torch" else arrays
        x, w = x.swapaxes(-1, -2) if shape[3] else x, w.swapaxes(-1, -2) if shape[4] else w
        out = peer.matmul(x, w)
        found[f"{title}: matmul"] = best_of(lambda x=x, w=w, out=out: peer.matmul(x, w, out=out), repeats)  # type: ignore[misc]
    return found
