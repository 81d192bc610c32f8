"""Checking gradients against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from duograph.base.tree import leaves
from duograph.tensor.tensor import Tensor

from .record import Recorded, is_tensor, ones_for


def numeric_gradients(fn: Callable[..., Any], arrays: Sequence[np.ndarray], eps: float = 1e-6) -> list[np.ndarray]:
    """Gradients of the sum of all outputs of ``fn`` by central differences, in float64."""

    def total(values: Sequence[np.ndarray]) -> float:
        out = fn(*[Tensor(v) for v in values])
        return float(sum(np.sum(x.array(), dtype=np.float64) for x in leaves(out) if is_tensor(x)))

    found = []
    for k, array in enumerate(arrays):
        grad = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            sides = []
            for step in (eps, -eps):
                moved = [a.copy() for a in arrays]
                moved[k][index] += step
                sides.append(total(moved))
            grad[index] = (sides[0] - sides[1]) / (2 * eps)
        found.append(grad)
    return found


def check_gradients(
    fn: Callable[..., Any], arrays: Sequence[Any], order: int = 1, eps: float = 1e-6, tolerance: float = 1e-5
) -> None:
    """Compares the gradients of ``fn`` with finite differences, up to ``order``.

    Args:
        fn: function of Tensors.
        arrays: where to check; taken as float64.
        order: how many times to differentiate.
        eps: the step of the differences.
        tolerance: relative and absolute.

    Raises:
        AssertionError: they differ.
    """
    points = [np.array(a, dtype=np.float64) for a in arrays]

    def gradients(*xs: Tensor) -> tuple[Any, ...]:
        done = Recorded(fn, xs, {}, range(len(xs)))
        return tuple(done.gradients(ones_for(done.out))[0])

    exact = gradients(*[Tensor(p) for p in points])
    for k, (mine, expected) in enumerate(zip(exact, numeric_gradients(fn, points, eps), strict=True)):
        np.testing.assert_allclose(mine.array(), expected, tolerance, tolerance, err_msg=f"gradient of input {k}")
    if order > 1:
        check_gradients(gradients, points, order - 1, eps, tolerance)
