"""Pooling kernels, float32: ratios are to a copy that reads and writes as many bytes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial

import numpy as np

from bench._workloads import best_of

# batch, channels, height and width, kernel, stride, padding
SHAPES = [(32, 6, 28, 2, 2, 0), (32, 16, 10, 2, 2, 0), (8, 64, 112, 3, 2, 1), (8, 64, 56, 3, 1, 1)]


def _operands(shape: tuple[int, ...]) -> tuple[str, np.ndarray, int]:
    """Title, input, extent of the result."""
    n, c, hw, k, s, p = shape
    x = np.random.default_rng(0).standard_normal((n, c, hw, hw), dtype=np.float32)
    return f"{n}x{c}x{hw}x{hw} k{k} stride {s}", x, (hw + 2 * p - k) // s + 1


def cases() -> dict[str, Callable[[], float]]:
    """Copy, pooling and gradient of each shape."""
    from bench._kernels import bound  # needs duograph, which a peer's interpreter lacks
    from duograph.core.op import get_op
    from duograph.runtime.kernels.single import run_single

    found = {}
    for shape in SHAPES:
        n, c, hw, k, s, p = shape
        title, x, size = _operands(shape)
        dout = np.ones((n, c, size, size), np.float32)
        how = {"kernel": (k, k), "stride": (s, s), "padding": ((p, p), (p, p))}
        _, places = run_single(get_op("max_pool"), [x], {**how, "dilation": (1, 1), "ceil_mode": False})
        back = {"size": (hw, hw), "windows": ((k, k), (s, s), (p, p))}
        source = np.zeros((x.nbytes + 3 * dout.nbytes) // 2, np.uint8)
        target = np.zeros_like(source)
        found[f"{title}: copy"] = best_of(partial(np.copyto, target, source))
        found[f"{title}: max"] = best_of(bound("max_pool", [x], {**how, "dilation": (1, 1)}))
        found[f"{title}: max grad"] = best_of(bound("scatter_planes", [dout, places], back))
        found[f"{title}: average"] = best_of(bound("avg_pool", [x], how))
        found[f"{title}: average grad"] = best_of(bound("avg_pool_grad", [dout], {**how, "input_size": (hw, hw)}))
    return found


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same of torch."""
    if package != "torch":
        return {}
    torch = importlib.import_module(package)
    aten = torch.ops.aten
    found: dict[str, Callable[[], float]] = {}
    for shape in SHAPES:
        *_, k, s, p = shape
        title, array, size = _operands(shape)
        x = torch.from_numpy(array)
        how = ([k, k], [s, s], [p, p])
        dout = torch.ones((*x.shape[:2], size, size))
        places = aten.max_pool2d_with_indices(x, *how)[1]
        calls = {
            "max": partial(aten.max_pool2d_with_indices, x, *how),
            "max grad": partial(aten.max_pool2d_with_indices_backward, dout, x, *how, [1, 1], False, places),
            "average": partial(aten.avg_pool2d, x, *how),
            "average grad": partial(aten.avg_pool2d_backward, dout, x, *how, False, True, None),
        }
        found |= {f"{title}: {name}": best_of(call) for name, call in calls.items()}
    return found
