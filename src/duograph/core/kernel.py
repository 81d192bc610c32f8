"""Running the kernel of an op: what eager mode, the interpreter and constant folding all do.

Kernels whose bits could depend on memory layout get C-contiguous inputs, so that the result is a function of values,
shape and dtype alone (design, section 6, rule 3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.base.fork import fork_safe_lock
from duograph.base.slot import Listeners, Slot

from .op import Op
from .types import TensorType, TupleType, Type

native: Slot[Callable[[Op, list[Any], dict[str, Any]], Any] | None] = Slot("core.kernel.native", None)
"""The native engine's way to compute an op: its result, or ``None`` if the reference has to run (no native rule, or a
failure that the reference explains). ``None`` stands here where there is no engine."""

at_first_native = Listeners("core.kernel.at_first_native")
"""What to do once a native kernel is about to run: the launcher starts. What has been done is taken out."""

_first = fork_safe_lock()


def first_native() -> None:
    """Does what is to be done before the first native kernel runs; other threads wait until it is done."""
    while at_first_native.functions:
        with _first:
            if at_first_native.functions and not _busy:
                _busy.append(True)
                try:
                    for function in at_first_native:
                        function()
                        at_first_native.remove(function)
                finally:
                    _busy.clear()
            else:  # it runs an op itself
                return


_busy: list[bool] = []

at_memory_shortage = Listeners("core.kernel.at_memory_shortage")
"""What gives memory back to the system; called before a request is refused."""


placed: Slot[Callable[[np.ndarray], np.ndarray]] = Slot("core.kernel.placed", lambda array: array)
"""The native engine's way to copy an array that lives long to memory that begins at a cache line."""


def compute(op: Op, arrays: list[Any], attrs: dict[str, Any]) -> Any:
    """Computes ``op``, natively where it can be; results are ndarrays, scalars or tuples of them."""
    run = native.value
    if run is not None:
        out = run(op, arrays, attrs)
        if out is not None:
            return out
    return compute_reference(op, arrays, attrs)


def compute_reference(op: Op, arrays: list[Any], attrs: dict[str, Any]) -> Any:
    """Runs the NumPy reference of ``op``."""
    if op.layout == "contiguous":
        arrays = [contiguous(a) for a in arrays]
    with np.errstate(all="ignore"):
        return op.reference(*arrays, **attrs)


def contiguous(value: Any) -> Any:
    """An array in C order; anything else as it is."""
    if type(value) is not np.ndarray or value.flags.c_contiguous:
        return value
    return np.ascontiguousarray(value)


def as_value(result: Any, type: Type) -> Any:
    """What a kernel returned as a value of ``type``: NumPy scalars become 0-d arrays, as `Tensor` holds them."""
    if isinstance(type, TensorType):
        return result if isinstance(result, np.ndarray) else np.asarray(result)
    if isinstance(type, TupleType):
        return tuple([as_value(r, t) for r, t in zip(result, type.items, strict=True)])
    return result
