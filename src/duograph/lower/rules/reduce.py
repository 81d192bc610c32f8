"""Reductions, positions of extremes, means, softmax: programs of `lower.reduce`."""

from __future__ import annotations

from collections.abc import Sequence

from duograph.core import dtype as dt
from duograph.core.op import get_op
from duograph.core.types import TensorType

from ..fold import Fold
from ..layout import contiguous_strides
from ..loop.types import element_of
from ..lowering import Lowering
from ..program import Leaf, Program, Reduction, Step
from ..reduce import lower_reduction
from ..rule import Pointwise, kernel, rule_of

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
    elem = element_of(x.dtype.numpy)
    size = [x.shape[a] for a in axis]
    small = all(isinstance(n, int) and n < 1 << 31 for n in size)
    accumulator = "f32" if elem in ("f16", "bf16") else elem
    return Fold(KINDS[op], accumulator, x.dtype.is_complex, "i32" if small else "i64")


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


def normalise(program: Program, name: str, x: int, type: TensorType, axes: Sequence[int]) -> int:
    """Adds ``softmax`` or ``log_softmax`` of value ``x``; the number of the result. Half types are rounded once."""
    single = dt.float32 if type.dtype in (dt.float16, dt.bfloat16) else type.dtype
    wide = type.with_dtype(single)

    def step(op: str, args: tuple[int, ...], types: tuple[TensorType, ...], out: TensorType, **attrs: object) -> int:
        rule = rule_of(get_op(op))
        assert isinstance(rule, Pointwise)
        return program.add_step(Step(get_op(op), rule, attrs, args, types, out))[0]

    def reduced(op: str, arg: int) -> int:
        return program.add_step(Reduction(fold_of(op, wide, axes), (arg,), wide))[0]

    if single is not type.dtype:
        x = step("cast", (x,), (type,), wide, dtype=single)
    shifted = step("sub", (x, reduced("reduce_max", x)), (wide, wide), wide)
    power = step("exp", (shifted,), (wide,), wide)
    total = reduced("reduce_sum", power)
    if name == "softmax":
        out = step("div", (power, total), (wide, wide), wide)
    else:
        out = step("sub", (shifted, step("log", (total,), (wide,), wide)), (wide, wide), wide)
    return out if single is type.dtype else step("cast", (out,), (wide,), type, dtype=type.dtype)


def _normalise(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    program = Program([Leaf(x, contiguous_strides(x.shape))])
    assert isinstance(x.type, TensorType)
    axes = (c.attrs["axis"],) if x.shape else ()
    program.results = [normalise(program, c.op.name, 0, x.type, axes)]
    c.calls += lower_reduction(c.op.name, program, x.shape, axes, [out])


for _name in ("softmax", "log_softmax"):
    kernel(_name)(_normalise)
