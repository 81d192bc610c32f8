"""Several diagonals of matrices at once: reading them as rows, and writing rows onto them.

``lower`` and ``upper`` name the diagonals (0 is the main one, positive ones lie above); as rows they stand in falling
order, all as long as the longest. ``align`` says on which side shorter ones stand: ``"RIGHT_LEFT"`` puts those above
the main diagonal to the right and those below it to the left. With ``lower == upper`` there is no axis of diagonals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import broadcast_shapes
from duograph.core.types import TensorType

from .arithmetic import mul, sub
from .creation import constant_like, full, zeros_like
from .movement import reduce_sum
from .rules import same_dtype, tensor

ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def longest(rows: int, columns: int, lower: int, upper: int) -> int:
    """The length of the longest of the diagonals."""
    return min(rows + min(upper, 0), columns - max(lower, 0))


def _places(rows: int, columns: int, lower: int, upper: int, align: str) -> Iterator[tuple[int, slice, Any, Any]]:
    """Per diagonal its row in the packed form, where it stands in that row, and its row and column indices."""
    width = longest(rows, columns, lower, upper)
    above, below = (side == "LEFT" for side in align.split("_"))
    for place, d in enumerate(range(upper, lower - 1, -1)):
        size = min(rows + min(d, 0), columns - max(d, 0))
        start = 0 if (d >= 0 and above) or (d <= 0 and below) else width - size
        step = np.arange(size)
        yield place, slice(start, start + size), step + max(-d, 0), step + max(d, 0)


def _check(op: str, shape: Any, lower: int, upper: int, align: str) -> None:
    if align not in ALIGNMENTS:
        raise ValueError(f"For '{op}', the 'align' must be in {list(ALIGNMENTS)}, but got {align}.")
    if len(shape) < 2:
        raise ValueError(f"For '{op}', the input must have at least 2 dimensions, but got shape {tuple(shape)}.")
    if lower > upper or not -shape[-2] < lower or not upper < shape[-1]:
        raise ValueError(
            f"For '{op}', the diagonals must be in (-{shape[-2]}, {shape[-1]}) and ordered, but got {lower}, {upper}."
        )


def _packed(shape: Any, lower: int, upper: int) -> tuple[Any, ...]:
    width = longest(shape[-2], shape[-1], lower, upper)
    return (*shape[:-2], width) if lower == upper else (*shape[:-2], upper - lower + 1, width)


@primitive
class diagonals_of:
    """The diagonals ``lowest`` to ``highest`` of ``x`` as rows, filled up with the scalar ``padding``."""

    layout = "any"

    def infer(x, padding, *, lowest, highest, alignment):
        same_dtype("matrix_diag_part", x, padding)
        x = tensor("matrix_diag_part", x)
        _check("matrix_diag_part", x.shape, lowest, highest, alignment)
        return x.with_shape(_packed(x.shape, lowest, highest))

    def reference(x, padding, *, lowest, highest, alignment):
        *lead, rows, columns = x.shape
        out = np.empty((*lead, highest - lowest + 1, longest(rows, columns, lowest, highest)), x.dtype)
        out[...] = padding
        for place, span, i, j in _places(rows, columns, lowest, highest, alignment):
            out[..., place, span] = x[..., i, j]
        return out.reshape(_packed(x.shape, lowest, highest))

    def bprop(ins, out, dout, *, lowest, highest, alignment):
        x, padding = ins
        how = {"lowest": lowest, "highest": highest, "alignment": alignment}

        def of_padding():
            filled = diagonals_of(full(shape=tuple(x.shape), value=1, dtype=x.dtype), constant_like(padding, 0), **how)
            free = mul(dout, sub(constant_like(dout, 1), filled))
            return reduce_sum(free, axis=tuple(range(len(dout.shape))), keep_dims=False)

        return lambda: with_diagonals(zeros_like(x), dout, **how), of_padding


@primitive
class with_diagonals:
    """``x`` with its diagonals ``lowest`` to ``highest`` replaced by the rows of ``diagonal``."""

    layout = "any"

    def infer(x, diagonal, *, lowest, highest, alignment):
        same_dtype("matrix_set_diag", x, diagonal)
        x = tensor("matrix_set_diag", x)
        _check("matrix_set_diag", x.shape, lowest, highest, alignment)
        want = _packed(x.shape, lowest, highest)
        if broadcast_shapes(diagonal.shape, want, op="MatrixSetDiagV3") != want or len(diagonal.shape) != len(want):
            raise ValueError(
                f"For 'matrix_set_diag', the shape of 'diagonal' must be {want}, but got {tuple(diagonal.shape)}."
            )
        return TensorType(x.dtype, x.shape)

    def reference(x, diagonal, *, lowest, highest, alignment):
        *lead, rows, columns = x.shape
        out = np.array(x, order="C")
        packed = diagonal.reshape(*lead, highest - lowest + 1, -1)
        for place, span, i, j in _places(rows, columns, lowest, highest, alignment):
            out[..., i, j] = packed[..., place, span]
        return out

    def bprop(ins, out, dout, *, lowest, highest, alignment):
        how = {"lowest": lowest, "highest": highest, "alignment": alignment}
        return (
            lambda: with_diagonals(dout, zeros_like(ins[1]), **how),
            lambda: diagonals_of(dout, full(shape=(), value=0, dtype=dout.dtype), **how),
        )
