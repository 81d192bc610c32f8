"""The order of a reduction: ``((x0 + x1) + x2) + ...`` by rank, element by element; a mean is that, divided.

It is a function of the number of ranks alone: not of time, of the size of the message, of the machine the ranks are on,
or of the algorithm that MPI would choose. Half types are reduced in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["OPERATIONS", "reduced"]

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "avg": np.add,
}  # fmt: skip
OPERATIONS = tuple(_FUNCTIONS)


def _is_half(dtype: np.dtype) -> bool:
    """float16, bfloat16 and the types of 8 bits, whose numbers float32 holds."""
    return dtype.itemsize <= 2 and dtype.kind not in "biu?"


def reduced(parts: Sequence[np.ndarray], op: str, out: np.ndarray | None = None) -> np.ndarray:
    """The parts of all ranks, in the order of the ranks, reduced.

    Args:
        parts: arrays of one shape and dtype.
        op: one of `OPERATIONS`.
        out: where the result goes; may be the first part. Default: a new array.
    """
    function, first = _FUNCTIONS[op], parts[0]
    with np.errstate(all="ignore"):
        if _is_half(first.dtype) and len(parts) > 1:
            wide = first.astype(np.float32)
            for part in parts[1:]:
                function(wide, part.astype(np.float32), out=wide)
            if op == "avg":
                wide /= len(parts)
            rounded = wide.astype(first.dtype)
            if out is None:
                return rounded
            out[...] = rounded
            return out
        if out is None:
            out = first.copy()
        elif out is not first:
            out[...] = first
        for part in parts[1:]:
            function(out, part, out=out)
        if op == "avg":
            out /= len(parts)
    return out
