"""Functions of ``numpy`` that lay out numbers: `linspace`, `logspace`, `meshgrid`."""

from __future__ import annotations

from typing import Any

from duograph.api import tensor_shape as shaped
from duograph.api.functional import creation, joining
from duograph.api.functional.forms import as_float, axis_of, in_dtype
from duograph.ops import movement
from duograph.ops.arithmetic import add, div, mul, sub
from duograph.ops.creation import constant_like
from duograph.ops.power import pow_
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor


def _number_or_tensor(x: Any) -> Any:
    return as_float(as_tensor(x)) if isinstance(x, list | tuple | Tensor) else x


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    """``num`` evenly spaced numbers, with or without the last; of tensors, along the new axis ``axis``.

    Returns:
        Tensor; with ``retstep`` also the step.

    Raises:
        ValueError: no numbers are asked for without the last.

    Examples:
        >>> print(mnp.linspace(0, 1, 5), mnp.linspace(0, 1, 4, endpoint=False))
        [0.   0.25 0.5  0.75 1.  ] [0.   0.25 0.5  0.75]
    """
    if not endpoint and num < 1:
        raise ValueError(f"For 'linspace', the 'num' must be positive without the endpoint, but got {num}.")
    first, last = _number_or_tensor(start), _number_or_tensor(stop)
    gaps = num - 1 if endpoint else num
    end = last if endpoint else _shifted(first, last, (num - 1) / num)
    out = creation.linspace(first, end, num)
    if out.ndim > 1:
        out = movement.move_axis(out, out.ndim - 1, axis_of(axis, out, "linspace"))
    out = in_dtype(out, dtype)
    if not retstep:
        return out
    low, high = as_float(as_tensor(first)), as_float(as_tensor(last))
    gap = sub(high, low)
    return out, div(gap, constant_like(gap, gaps)) if gaps > 0 else float("nan")


def _shifted(first: Any, last: Any, part: float) -> Any:
    """What lies ``part`` of the way from ``first`` to ``last``."""
    if not isinstance(first, Tensor) and not isinstance(last, Tensor):
        return first + (last - first) * part
    low, high = as_float(as_tensor(first)), as_float(as_tensor(last))
    gap = sub(high, low)
    return add(low, mul(gap, constant_like(gap, part)))


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None, axis: int = 0
) -> Tensor:
    """``base`` to evenly spaced powers; of tensors, along the new axis ``axis``.

    Returns:
        Tensor.

    Examples:
        >>> print(mnp.logspace(0, 3, 4), mnp.logspace(0, 3, 4, base=2.0))
        [   1.   10.  100. 1000.] [1. 2. 4. 8.]
    """
    powers = linspace(start, stop, num, endpoint, axis=axis)
    return in_dtype(pow_(constant_like(powers, base), powers), dtype)


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> list[Tensor]:
    """Coordinate grids; with ``sparse`` each only along its own axis.

    Returns:
        list of Tensors, one for each vector.

    Raises:
        ValueError: an ``indexing`` that is neither ``'xy'`` nor ``'ij'``.

    Examples:
        >>> x, y = mnp.meshgrid([1, 2, 3], [10, 20])
        >>> print(x)
        [[1 2 3]
         [1 2 3]]
        >>> print(y)
        [[10 10 10]
         [20 20 20]]
    """
    parts = [shaped.ravel(as_tensor(x)) for x in xi]
    if not sparse:
        return list(joining.meshgrid(*parts, indexing=indexing))
    if indexing not in ("xy", "ij"):
        raise ValueError(f"For 'meshgrid', the 'indexing' must be 'xy' or 'ij', but got {indexing}.")
    places = list(range(len(parts)))
    if indexing == "xy" and len(parts) > 1:
        places[:2] = 1, 0
    return [
        movement.reshape(t, shape=tuple(t.shape[0] if i == place else 1 for i in range(len(parts))))
        for t, place in zip(parts, places, strict=True)
    ]
