"""``input_signature``, and dimensions of varying size.

A pattern is a shape with ``None`` for every dimension whose size varies; one compiled version serves all tensors that
fit it. Patterns come from ``input_signature`` and ``Cell.set_inputs`` (placeholders ``Tensor(shape=[None, 4])``), and
with ``dynamic=1`` from the second size that a dimension is seen to have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.frontend import sources
from duograph.frontend.guards.guard import Guard
from duograph.frontend.sources import Source
from duograph.tensor.tensor import Tensor

Pattern = tuple[int | None, ...]


def pattern_of(example: Tensor) -> Pattern | None:
    """The pattern that a tensor or placeholder stands for; ``None`` if its rank is open."""
    extents = tuple(example._data.shape)
    if extents == (-2,):
        return None
    return tuple(None if n == -1 else n for n in extents)


def check_signature(signature: Sequence[Any], values: Sequence[Any]) -> None:
    """Whether the arguments fit ``input_signature``.

    Raises:
        ValueError: the number of arguments, a dtype or a shape differs.
    """
    if len(signature) != len(values):
        raise ValueError(f"The input number ({len(values)}) is not equal to the signature's ({len(signature)}).")
    for i, (want, value) in enumerate(zip(signature, values, strict=True)):
        if not isinstance(want, Tensor):
            continue
        pattern = pattern_of(want)
        fits = isinstance(value, Tensor) and value.dtype is want.dtype
        if fits and pattern is not None:
            extents = value.shape
            fits = len(pattern) == len(extents) and all(w in (None, n) for w, n in zip(pattern, extents, strict=True))
        if not fits:
            given = f"{value.dtype} {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            wanted = "of any rank" if pattern is None else str(pattern)
            raise ValueError(f"Argument {i} is {given}, but the signature says {want.dtype} {wanted}.")


def patterns_from(signature: Sequence[Any], names: Sequence[str], first: int) -> dict[Source, Pattern]:
    """Patterns of the arguments whose signature leaves dimensions open."""
    found: dict[Source, Pattern] = {}
    for i, want in enumerate(signature):
        if isinstance(want, Tensor) and i + first < len(names):
            pattern = pattern_of(want)
            if pattern is not None and None in pattern:
                found[sources.arg(i + first, names[i + first])] = pattern
    return found


def widened(guard: Guard, value: Any, known: Pattern | None) -> Pattern | None:
    """The pattern that fits both what a failed guard expected and ``value``; ``None`` if more than a shape differs."""
    if guard.check not in ("tensor", "pattern") or not issubclass(type(value), Tensor) or value.is_symbolic:
        return None
    kind, dtype, shape = guard.expected[:3]
    data = value._data
    if type(value) is not kind or data.dtype != dtype or len(data.shape) != len(shape):
        return None
    base = known or tuple(shape)
    return tuple(b if b == n else None for b, n in zip(base, data.shape, strict=True))
