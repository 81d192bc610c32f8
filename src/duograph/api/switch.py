"""The native engine is loaded with the first op that is computed: ``import duograph`` is faster without it."""

from __future__ import annotations

from typing import Any

import numpy as np

from duograph.base.config import config
from duograph.core import kernel
from duograph.core.op import Op

from .native import start


def first_kernel(op: Op, arrays: list[Any], attrs: dict[str, Any]) -> Any:
    """Stands in the place of `kernel.native` until then; gives way to the engine, or to nothing."""
    if config().kernels != "native":
        kernel.native.fill(None)
        return None
    from duograph.runtime.kernels.single import run_op

    kernel.native.fill(run_op)
    return run_op(op, arrays, attrs)


def placed(array: np.ndarray) -> np.ndarray:
    """A copy of an array that lives long, in memory that suits kernels; the array itself where there is none."""
    if kernel.native.value is None:
        return array
    from duograph.runtime.launch import allocator

    return allocator.copy_of(array) if start() else array


kernel.native.fill(first_kernel)
kernel.placed.fill(placed)
