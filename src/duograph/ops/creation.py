"""Tensors from nothing: ``full`` and what is built on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.core.op import NOT_DIFFERENTIABLE, primitive
from duograph.core.types import TensorType


@primitive
class full:
    """A tensor of ``shape`` and ``dtype`` with every element ``value`` (a Python number)."""

    layout = "any"

    def infer(*, shape, value, dtype):
        return TensorType(dtype, shape)

    def reference(*, shape, value, dtype):
        return np.full(shape, value, dtype.numpy)


def zeros_like(x: Any) -> Any:
    """Zeros of the shape and dtype of ``x``; no gradient flows through it."""
    return full(shape=tuple(x.shape), value=0, dtype=x.dtype)


def ones_like(x: Any) -> Any:
    """Ones of the shape and dtype of ``x``; no gradient flows through it."""
    return full(shape=tuple(x.shape), value=1, dtype=x.dtype)


def constant_like(x: Any, value: Any) -> Any:
    """A 0-d constant of the dtype of ``x``; broadcasts in elementwise ops."""
    return full(shape=(), value=value, dtype=x.dtype)
