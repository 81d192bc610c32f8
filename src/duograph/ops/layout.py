"""How a tensor lies in the memory of its storage, and what that decides: whether a reshape is a view or a copy.

    x.T.reshape(-1)      # a copy, but a view if one of the two extents is 1

Eager mode asks NumPy. Under capture the same question is asked of extents that may be symbols: strides are expressions,
NumPy's rule walks over them, and where a comparison has no answer for all sizes, the one that holds for *typical* sizes
is taken, and noted as a pair of extents that has to be equal. Whether tensors share memory rarely matters (one of them
is written to, both leave the program), so the pairs become assumptions only where it does
(`GraphBinder.note_sharing`).

Invariant: for sizes that fulfil the noted pairs the answer is NumPy's.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from duograph.core.assumptions import Layout, listener
from duograph.core.dim import (
    Dim,
    Extent,
    Symbol,
    UnknownSizeError,
    by_name,
    definitely_eq,
    definitely_lt,
    dim_max,
    dim_min,
    evaluate,
    symbols_of,
)  # fmt: skip
from duograph.core.op import Op, binding, no_recording
from duograph.core.shapes import numel
from duograph.tensor.tensor import Tensor

Pairs = list[tuple[Any, Any]]
"""Extents that have to be equal for an answer to hold; or a `Layout` that has to be as it is, and ``None``."""

_PRIMES = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)


class Comparison:
    """Comparisons of extents, each answered for all sizes or, with a note, for typical ones.

    Attributes:
        noted: what has been assumed.
    """

    def __init__(self, *extents: Extent) -> None:
        symbols = sorted({s for x in extents if isinstance(x, Dim) for s in symbols_of(x)}, key=by_name)
        self._sizes = {s: _typical(s, k) for k, s in enumerate(symbols)}
        self.noted: Pairs = []

    def equal(self, a: Extent, b: Extent) -> bool:
        """Whether ``a == b``."""
        known = definitely_eq(a, b)
        if known is None:
            known = self._value(a) == self._value(b)
            difference = a - b
            self._note((a, b) if known else (dim_min(difference * difference, 1), 1))
        return known

    def less(self, a: Extent, b: Extent) -> bool:
        """Whether ``a < b``."""
        known = definitely_lt(a, b)
        if known is None:
            known = self._value(a) < self._value(b)
            self._note((dim_min(a + 1, b), a + 1) if known else (dim_max(a, b), a))
        return known

    def _value(self, x: Extent) -> int:
        return evaluate(x, self._sizes)

    def _note(self, pair: tuple[Extent, Extent]) -> None:
        if pair not in self.noted:
            self.noted.append(pair)


def _typical(symbol: Symbol, k: int) -> int:
    """An ordinary size, which 0 and 1 are not; symbols have different ones, as far as their ranges allow."""
    return int(min(max(_PRIMES[k % len(_PRIMES)], symbol.lo), symbol.hi))


def strides_of(tensor: Tensor) -> tuple[Extent, ...]:
    """Elements to step along each axis. Of axes with a single element they are not always NumPy's."""
    if type(tensor._data) is np.ndarray:
        data = tensor._data
        return tuple(n // data.dtype.itemsize for n in data.strides)
    if tensor._view is None:
        return contiguous_strides(tensor.shape)
    parent, op, attrs = tensor._view
    inner = strides_of(parent)
    if op.strides is not None:
        return tuple(op.strides(parent.shape, inner, **attrs))
    found, _ = _reshaped(parent.shape, inner, tensor.shape)
    return contiguous_strides(tensor.shape) if found is None else found


def contiguous_strides(shape: Sequence[Extent]) -> tuple[Extent, ...]:
    """The strides of a tensor whose elements lie one after the other."""
    strides: list[Extent] = []
    step: Extent = 1
    for extent in reversed(shape):
        strides.append(step)
        step = step * extent
    return tuple(reversed(strides))


def lies_contiguously(tensor: Tensor) -> tuple[bool, Pairs]:
    """Whether the elements of ``tensor`` lie one after the other in memory, and what that assumes of sizes."""
    noted = layout_of(tensor)
    if noted and noted[0][0].tensor is tensor:
        return False, []
    strides = strides_of(tensor)
    ask = Comparison(*tensor.shape, *strides)
    return _is_contiguous(ask, tensor.shape, strides), [*ask.noted, *noted]


def layout_of(tensor: Tensor) -> Pairs:
    """What is assumed by who asks for the strides of ``tensor``: those of the tensor from outside that it shows, if
    that is not contiguous."""
    while tensor._view is not None and type(tensor._data) is not np.ndarray:
        tensor = tensor._view.parent
    if type(tensor._data) is np.ndarray:
        return [] if tensor._data.flags.c_contiguous else [(Layout(tensor), None)]
    return [(Layout(tensor), None)] if listener.is_strided is not None and listener.is_strided(tensor) else []


def shares_memory(op: Op, base: Tensor, shape: Sequence[Extent]) -> tuple[bool, Pairs]:
    """Whether ``op``, which makes views, gives one of ``base`` rather than a copy, and what that assumes of sizes.

    Args:
        op: an op whose `Op.view` is set.
        base: its first operand.
        shape: the shape of the result.
    """
    if op.strides is not None:
        return True, []
    found, noted = _reshaped(base.shape, strides_of(base), shape)
    return found is not None, [*noted, *layout_of(base)]


def assume(pairs: Pairs) -> None:
    """Tells listeners (a capture) that an answer mattered, which holds where these are equal.

    Raises:
        UnknownSizeError: the program itself finds one of the sizes out.
    """
    if listener.assume is None or listener.assume_layout is None:
        return
    try:
        for a, b in pairs:
            if isinstance(a, Layout):
                listener.assume_layout(a.tensor)
            else:
                listener.assume(a, b)
    except UnknownSizeError:
        raise UnknownSizeError(
            "whether tensors share memory depends on a size that is only known at run time"
        ) from None


def _is_contiguous(ask: Comparison, shape: Sequence[Extent], strides: Sequence[Extent]) -> bool:
    expected: Extent = 1
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if not ask.equal(stride, expected) and not ask.equal(extent, 1):
            return ask.equal(numel(shape), 0)
        expected = expected * extent
    return True


def _reshaped(
    shape: Sequence[Extent], strides: Sequence[Extent], target: Sequence[Extent]
) -> tuple[tuple[Extent, ...] | None, Pairs]:
    """The strides of a view of ``target`` shape on what has ``shape`` and ``strides``, or None if it has to be a copy;
    and what that assumes of sizes. NumPy's rule: `_attempt_nocopy_reshape` of `shape.c`."""
    ask = Comparison(*shape, *strides, *target)
    ranks_agree = len(shape) == len(target)
    if ranks_agree and all(definitely_eq(a, b) for a, b in zip(shape, target, strict=True)):
        return tuple(strides), []
    contiguous = Comparison(*shape, *strides, *target)
    if _is_contiguous(contiguous, shape, strides):
        return contiguous_strides(target), contiguous.noted
    ask.noted += contiguous.noted
    differ = ranks_agree and any(definitely_eq(a, b) is False for a, b in zip(shape, target, strict=True))
    if ranks_agree and not differ and all(ask.equal(a, b) for a, b in zip(shape, target, strict=True)):
        return tuple(strides), ask.noted
    old = [(n, step) for n, step in zip(shape, strides, strict=True) if not ask.equal(n, 1)]
    made: list[Extent] = []
    rest = list(target)
    while old and rest:
        n_old, n_new = old[0][0], rest[0]
        from_old, to_new = 1, 1
        while (to_new, from_old) != (len(rest), len(old)) and not ask.equal(n_new, n_old):
            if to_new < len(rest) and (from_old == len(old) or ask.less(n_new, n_old)):
                n_new, to_new = n_new * rest[to_new], to_new + 1
            else:
                n_old, from_old = n_old * old[from_old][0], from_old + 1
        for (_, step), (n, inner) in pairwise(old[:from_old]):
            if not ask.equal(step, n * inner):
                return None, ask.noted
        step = old[from_old - 1][1]
        group: list[Extent] = []
        for extent in reversed(rest[:to_new]):
            group.append(step)
            step = step * extent
        made += reversed(group)
        old, rest = old[from_old:], rest[to_new:]
    return (*made, *([made[-1] if made else 1] * len(rest))), ask.noted


def stand_in(tensor: Tensor) -> np.ndarray:
    """An array of one byte that has the strides of ``tensor``, whose sizes are known (nothing is allocated or read)."""
    if type(tensor._data) is np.ndarray:
        data = tensor._data
        return np.lib.stride_tricks.as_strided(np.empty(1, data.dtype), data.shape, data.strides)
    if tensor._view is None:
        if 0 in tensor.shape:
            return np.empty(tensor.shape, np.int8)
        strides: Any = contiguous_strides(tensor.shape)
        return np.lib.stride_tricks.as_strided(np.empty(1, np.int8), tensor.shape, strides)
    parent, op, attrs = tensor._view
    with binding(None), no_recording():
        return np.asarray(op.reference(stand_in(parent), **attrs))


__all__ = [
    "Pairs",
    "assume",
    "contiguous_strides",
    "layout_of",
    "lies_contiguously",
    "shares_memory",
    "stand_in",
    "strides_of",
]
