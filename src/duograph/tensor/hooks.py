"""Where Python asks a tensor for its value: truth, ``int(x)``, ``len``, ``asnumpy`` ...

The dunder methods of `Tensor` call the functions of this module through the module, so that the frontend can replace
them while it captures: a truth value becomes a branch of the graph, ``int(x)`` a run-time `Scalar`. The defaults
here are the eager ones, and refuse while a graph is being built (also for concrete tensors: those from outside are
live inputs of the graph, their present value must not be baked in).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from duograph.base.slot import Slot
from duograph.core.errors import user_error
from duograph.core.op import state

from .tensor import SymbolicValueError, Tensor


def _truth(tensor: Tensor) -> bool:
    array = value_of(tensor, "its truth value")
    return bool(_single(array))


def as_python_number(tensor: Tensor, kind: str) -> Any:
    """``int(tensor)``, ``float(tensor)``, ...; ``kind`` is ``bool``, ``int``, ``float``, ``complex`` or ``index``."""
    array = value_of(tensor, f"{kind}()")
    if array.size != 1:
        way = "x.mean(), x.sum() or x[i] give one element, and x.tolist() all of them"
        said = "Only one element tensors can be converted to Python scalars"
        raise user_error(ValueError, "DG0420", said, f"{kind}({tensor.abstract})", help=way)
    number = array.reshape(()).item() if array.dtype.kind in "biufc" else float(array.reshape(()))
    if kind == "index":
        if array.dtype.kind not in "biu":
            raise TypeError("Only integer tensors of a single element can be converted to an index.")
        return int(number)
    return {"bool": bool, "int": int, "float": float, "complex": complex}[kind](number)


value_reads = [0]
"""How often Python got to see the value of a tensor; the native launcher looks whether that happened."""


def _needs_value(tensor: Tensor, what: str) -> np.ndarray:
    value_reads[0] += 1
    data = tensor._data
    if state.binder is not None:
        known = getattr(state.binder, "known_value", None)  # of `vmap` in dynamic mode: what is not mapped has a value
        data = known(tensor) if known is not None else None
    if type(data) is not np.ndarray:
        raise SymbolicValueError(
            f"{what} needs the value of a tensor, which is not known while its graph is being built"
        )
    return data


def _single(array: np.ndarray) -> Any:
    if array.size != 1:
        raise not_single(array.size, f"Tensor{list(array.shape)}")
    return array.reshape(())[()]


def not_single(count: int, operand: str) -> ValueError:
    """The error for a tensor of ``count`` elements that is asked for its truth or its number."""
    message = f"The tensor should have only one element, but got {count}, more than one element is ambiguous."
    way = "x.any(), x.all(), or x[i] give one element" if count else "x.size says whether there are elements"
    return user_error(ValueError, "DG0420", message, operand, help=way)


def _identity(tensor: Tensor) -> int:
    return object.__hash__(tensor)


truth_of: Slot[Callable[[Tensor], bool]] = Slot("tensor.hooks.truth_of", _truth)
reader: Slot[Callable[[Tensor, str], np.ndarray]] = Slot("tensor.hooks.reader", _needs_value)
hasher: Slot[Callable[[Tensor], int]] = Slot("tensor.hooks.hasher", _identity)


def truth(tensor: Tensor) -> bool:
    """``bool(tensor)``."""
    return truth_of.value(tensor)


def identity_of(tensor: Tensor) -> int:
    """The hash of ``tensor``, which says which object it is."""
    return hasher.value(tensor)


def value_of(tensor: Tensor, what: str) -> np.ndarray:
    """The array of ``tensor``, for ``what`` (shown in the message if it is not known)."""
    return reader.value(tensor, what)


def changes_handle(tensor: Tensor, what: str) -> None:
    """To be called before ``tensor`` becomes a handle on other memory.

    No graph can do that: such a program is left to Python, as if it asked for the value.
    """
    if state.binder is not None:
        value_of(tensor, what)
