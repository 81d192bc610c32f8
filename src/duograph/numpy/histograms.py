"""Functions of ``numpy`` that count: histograms over one and several axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from duograph.api.functional import creation, joining
from duograph.api.functional.index import where
from duograph.api.functional.reduce import amax, amin
from duograph.api.functional.sorting import searchsorted
from duograph.api.promote import to_dtype
from duograph.core import dtype as dt
from duograph.ops import movement
from duograph.ops.segments import unsorted_segment_sum
from duograph.tensor.tensor import Tensor

from .elementwise import as_tensor


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Tensor:
    """The edges of ``bins`` equal bins from the smallest to the largest element, or over ``range``; or ``bins``, if it
    is edges. ``weights`` do not matter.

    Returns:
        Tensor, with one element more than there are bins.

    Raises:
        TypeError: ``bins`` is a text.
        ValueError: there is no bin, ``range`` is empty, or edges do not go up.

    Examples:
        >>> print(mnp.histogram_bin_edges([0.0, 1.0, 4.0], bins=4))
        [0. 1. 2. 3. 4.]
    """
    if isinstance(bins, str):
        raise TypeError(
            "For 'histogram_bin_edges', the 'bins' must be an int or edges: rules by name are not supported."
        )
    if not isinstance(bins, int):
        given: Any = as_tensor(bins)
        if given.ndim != 1 or bool((given[1:] < given[:-1]).any()):
            raise ValueError("For 'histogram_bin_edges', the 'bins' must be an int, or 1-D edges that go up.")
        return given
    if bins < 1:
        raise ValueError(f"For 'histogram_bin_edges', the 'bins' must be positive, but got {bins}.")
    t = _flat(a)
    if range is not None:
        low, high = range
        if high < low:
            raise ValueError(f"For 'histogram_bin_edges', the 'range' must go up, but got {range}.")
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        return creation.linspace(float(low), float(high), bins + 1)
    if not t.size:
        return creation.linspace(0.0, 1.0, bins + 1)
    values = to_dtype(t, dt.float32)
    first: Any = amin(values)
    last: Any = amax(values)
    spread = where(first == last, 0.5, 0.0)
    high = last + spread
    edges: Any = creation.linspace(first - spread, high, bins + 1)
    return joining.concat([edges[:-1], high.reshape(1)])  # rounded below the largest element, it would lie in no bin


def _flat(a: Any) -> Any:
    t = as_tensor(a)
    return movement.reshape(t, shape=(t.size,))


def _bins_of(values: Any, edges: Any) -> tuple[Any, Any]:
    """The bin of each value, and whether it is in one: the last one includes its right edge."""
    count = edges.shape[0] - 1
    kind = dt.float32 if values.dtype.is_floating or edges.dtype.is_floating else dt.int64
    t, e = to_dtype(values, kind), to_dtype(edges, kind)
    found: Any = searchsorted(e, t, right=True) - 1  # type: ignore[operator]
    inside = (t >= e[0]) & (t <= e[-1])  # type: ignore[index, operator]
    return found.clip(0, count - 1), inside


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, list[Tensor]]:
    """How many points, or which weight, lie in each bin of a grid.

    Args:
        sample (Union[Tensor, list, tuple]): points, of shape (N, D); or a list of D tensors of N coordinates.
        bins (Union[int, tuple, list]): number of bins, for all axes or for each; or the edges for each axis.
        range (tuple): lowest and highest edge for each axis; ``None``: the extremes.
        weights (Tensor): of the points; ``None``: 1.
        density (bool): whether the integral over all bins is 1.

    Returns:
        Tensor of float32, and a list of the edges for each axis.

    Raises:
        ValueError: ``bins`` or ``range`` has another length than there are axes.

    Examples:
        >>> counts, edges = mnp.histogramdd(mnp.array([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0]]), bins=2)
        >>> print(counts)
        [[1. 0.]
         [0. 2.]]
        >>> print(edges[0], edges[1])
        [0.  0.5 1. ] [0. 1. 2.]
    """
    if isinstance(sample, list | tuple) and isinstance(sample[0], Tensor | list | tuple):
        columns = [_flat(column) for column in sample]
    else:
        t: Any = as_tensor(sample)
        t = movement.reshape(t, shape=(t.size, 1)) if t.ndim == 1 else t
        columns = [t[:, i] for i in _range(t.shape[1])]
    counts: Sequence[Any] = [bins] * len(columns) if isinstance(bins, int) else list(bins)
    limits: Sequence[Any] = [None] * len(columns) if range is None else list(range)
    if len(counts) != len(columns) or len(limits) != len(columns):
        raise ValueError(f"For 'histogramdd', 'bins' and 'range' must have {len(columns)} items, as there are axes.")
    edges: list[Any] = [histogram_bin_edges(c, n, limit) for c, n, limit in zip(columns, counts, limits, strict=True)]
    sizes = [e.shape[0] - 1 for e in edges]
    place: Any = 0
    given = creation.ones_like(columns[0]) if weights is None else _flat(weights)
    weight: Any = to_dtype(given, dt.float32)
    for column, e, size in zip(columns, edges, sizes, strict=True):
        found, inside = _bins_of(column, e)
        place = place * size + found
        weight = weight * to_dtype(inside, dt.float32)
    total: Any = unsorted_segment_sum(weight, to_dtype(place, dt.int32), math.prod(sizes))
    total = movement.reshape(total, shape=tuple(sizes))
    if density:
        total = total / total.sum()
        for axis, e in enumerate(edges):
            widths = to_dtype(e[1:] - e[:-1], dt.float32)
            shape = tuple([n if i == axis else 1 for i, n in enumerate(sizes)])
            total = total / movement.reshape(widths, shape=shape)
    return total, edges


_range = range


def histogram(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    """How many elements, or which weight, lie in each bin (float32), and the edges; see `histogram_bin_edges`.

    Returns:
        tuple of two Tensors.

    Raises:
        ValueError: ``weights`` have another shape.

    Examples:
        >>> counts, edges = mnp.histogram([0.0, 1.0, 1.5, 4.0], bins=4)
        >>> print(counts, edges)
        [1. 2. 0. 1.] [0. 1. 2. 3. 4.]
    """
    if weights is not None and as_tensor(weights).shape != as_tensor(a).shape:
        raise ValueError("For 'histogram', the 'weights' must have the shape of 'a'.")
    counts = [bins] if isinstance(bins, int) else [as_tensor(bins)]
    total, (edges,) = histogramdd([_flat(a)], counts, None if range is None else [range], weights, density)
    return total, edges


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """`histogramdd` of the points (x, y): counts, and the edges of both axes. ``bins`` as there, or edges for both.

    Returns:
        tuple of three Tensors.

    Examples:
        >>> counts, rows, columns = mnp.histogram2d([0.0, 1.0, 1.0], [0.0, 2.0, 2.0], bins=2)
        >>> print(counts)
        [[1. 0.]
         [0. 2.]]
        >>> print(rows, columns)
        [0.  0.5 1. ] [0. 1. 2.]
    """
    if not isinstance(bins, int) and len(bins) not in (1, 2):
        bins = [bins, bins]
    total, (first, second) = histogramdd([_flat(x), _flat(y)], bins, range, weights, density)
    return total, first, second


FUNCTIONS = {f.__name__: f for f in (histogram_bin_edges, histogram, histogramdd, histogram2d)}
