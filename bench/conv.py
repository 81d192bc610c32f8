"""Convolution kernels, float32: ratios are to the same number of operations as nothing but multiply-adds.

The first line of a group is that peak, measured in the same rounds: ``x 1.12`` is 1 / 1.12 = 89 % of it. 3x3 kernels
without stride and with 16 channels or more are computed by Winograd's algorithm, which gets by with 4/9 of the
multiplications: ``x 0.55`` is 81 % of the peak in what is really multiplied, and 1.8 times the peak in effect.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

import numpy as np

from bench._workloads import best_of

# batch, channels, height and width, outputs, kernel, padding, stride, groups
SHAPES = [
    (16, 64, 32, 64, 3, 1, 1, 1),
    (8, 128, 16, 128, 3, 1, 1, 1),
    (8, 256, 14, 256, 3, 1, 1, 1),
    (32, 1, 28, 6, 5, 2, 1, 1),
    (32, 6, 14, 16, 5, 0, 1, 1),
    (8, 64, 56, 128, 3, 1, 2, 1),
    (8, 64, 56, 64, 1, 0, 1, 1),
    (8, 128, 28, 128, 3, 1, 1, 128),
]


def _arrays(shape: tuple[int, ...]) -> tuple[str, float, list[np.ndarray]]:
    """Title, operations of one pass, (x, w, dout)."""
    n, c, hw, o, k, p, s, g = shape
    out = (hw + 2 * p - k) // s + 1
    rng = np.random.default_rng(0)
    arrays = [
        rng.standard_normal(size, dtype=np.float32) for size in ((n, c, hw, hw), (o, c // g, k, k), (n, o, out, out))
    ]
    title = f"{n}x{c}x{hw}x{hw} k{k} -> {o}" + (f" stride {s}" if s > 1 else "") + (" depthwise" if g > 1 else "")
    return title, 2.0 * n * o * out * out * (c // g) * k * k, arrays


def cases() -> dict[str, Callable[[], float]]:
    """Peak and the three passes of each shape."""
    from bench._kernels import bound, multiply_adds  # needs duograph, which a peer's interpreter lacks

    found = {}
    for shape in SHAPES:
        _, _, hw, _, k, p, s, g = shape
        title, flops, (x, w, dout) = _arrays(shape)
        how = {"stride": (s, s), "padding": ((p, p), (p, p)), "dilation": (1, 1), "groups": g}
        found[f"{title}: peak"] = best_of(multiply_adds(flops))
        found[f"{title}: forward"] = best_of(bound("conv", [x, w], how))
        dx = bound("conv_input_grad", [dout, w], {**how, "input_size": (hw, hw)})
        found[f"{title}: input grad"] = best_of(dx)
        dw = bound("conv_weight_grad", [x, dout], {**how, "kernel_size": (k, k)})
        found[f"{title}: weight grad"] = best_of(dw)
    return found


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same passes of torch."""
    if package != "torch":
        return {}
    torch = importlib.import_module(package)
    found = {}
    for shape in SHAPES:
        *_, p, s, g = shape
        title, _, arrays = _arrays(shape)
        x, w, dout = (torch.from_numpy(a) for a in arrays)

        def backward(mask: list[bool], x=x, w=w, dout=dout, p=p, s=s, g=g):  # type: ignore[no-untyped-def]
            how = ((s, s), (p, p), (1, 1), False, (0, 0), g)
            return torch.ops.aten.convolution_backward(dout, x, w, None, *how, mask)

        found[f"{title}: forward"] = best_of(
            lambda x=x, w=w, p=p, s=s, g=g: torch.conv2d(x, w, None, s, p, 1, g)  # type: ignore[misc]
        )
        found[f"{title}: input grad"] = best_of(lambda f=backward: f([True, False, False]))  # type: ignore[misc]
        found[f"{title}: weight grad"] = best_of(lambda f=backward: f([False, True, False]))  # type: ignore[misc]
    return found
