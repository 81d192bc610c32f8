"""Reductions, positions of extremes, means, softmax: programs of `lower.reduce`."""

from __future__ import annotations

from collections.abc import Sequence

from duograph.core.types import TensorType

from ..fold import Fold
from ..layout import contiguous_strides
from ..lowering import Lowering
from ..program import Leaf, Program, Reduction
from ..reduce import lower_reduction
from ..rule import kernel

KINDS = {
    "reduce_sum": "sum",
    "reduce_prod": "prod",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_all": "all",
    "reduce_any": "any",
    "reduce_mean": "mean",
    "argmax": "argmax",
    "argmin": "argmin",
}
"""What kind of fold a reducing op is."""


def fold_of(op: str, x: TensorType, axis: Sequence[int]) -> Fold:
    """The fold of a reducing op on operands of type ``x``; half types accumulate in float32."""
    leaf = Fold("sum", _accumulator(x), pairs=x.dtype.is_complex)
    size = [x.shape[a] for a in axis]
    small = all(isinstance(n, int) and n < 1 << 31 for n in size)
    return Fold(KINDS[op], leaf.elem, leaf.pairs, "i32" if small else "i64")


def _accumulator(x: TensorType) -> str:
    from ..loop.types import element_of

    elem = element_of(x.dtype.numpy)
    return "f32" if elem in ("f16", "bf16") else elem


def _reduce(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    axis = c.attrs["axis"]
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    axes = axes if x.shape else ()
    program = Program([Leaf(x, contiguous_strides(x.shape))])
    assert isinstance(x.type, TensorType) and isinstance(out.type, TensorType)
    program.results = list(program.add_step(Reduction(fold_of(c.op.name, x.type, axes), (0,), out.type)))
    c.calls += lower_reduction(c.op.name, program, x.shape, axes, [out])


for _name in KINDS:
    kernel(_name)(_reduce)
