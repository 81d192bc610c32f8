"""Reductions, positions of extremes, means, softmax: programs of `lower.reduce.reduction`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from duograph.core import dtype as dt
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.lower.reduce.reduction import lower_reduction

from ..fold import Fold
from ..layout import contiguous_strides
from ..loop.builder import Builder
from ..loop.ir import Value
from ..loop.types import element_of
from ..lowering import Lowering
from ..program import ElementStep, Leaf, Program, Reduction
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


def normalise(program: Program, name: str, x: int, type: TensorType, axes: Sequence[int], attrs: dict[str, Any]) -> int:
    """Adds ``softmax``, ``log_softmax`` or ``standardize`` of value ``x``; the number of the result. Half types are
    rounded once."""
    single = dt.float32 if type.dtype in (dt.float16, dt.bfloat16) else type.dtype
    wide = type.with_dtype(single)

    def step(op: str, *args: int, source: TensorType = wide, to: TensorType = wide, **attrs: Any) -> int:
        rule = rule_of(get_op(op))
        assert isinstance(rule, Pointwise)
        return program.add_step(ElementStep(get_op(op), rule, attrs, args, (source,) * len(args), to))[0]

    def reduced(op: str, arg: int) -> int:
        return program.add_step(Reduction(fold_of(op, wide, axes), (arg,), wide))[0]

    if single is not type.dtype:
        x = step("cast", x, source=type, dtype=single)
    if name == "standardize":
        centred = step("sub", x, reduced("reduce_mean", x))
        variance = reduced("reduce_mean", step("mul", centred, centred))
        epsilon = {"epsilon": attrs["epsilon"]}
        (scale,) = program.add_step(ElementStep(get_op("rsqrt"), _RSQRT_SHIFTED, epsilon, (variance,), (wide,), wide))
        out = step("mul", centred, scale)
    else:
        shifted = step("sub", x, reduced("reduce_max", x))
        power = step("exp", shifted)
        total = reduced("reduce_sum", power)
        out = step("div", power, total) if name == "softmax" else step("sub", shifted, step("log", total))
    return out if single is type.dtype else step("cast", out, to=type, dtype=type.dtype)


def _rsqrt_shifted(b: Builder, x: Value, *, epsilon: float) -> Any:
    """``rsqrt(x + epsilon)``, the number rounded to the type of ``x``."""
    rule = rule_of(get_op("rsqrt"))
    assert isinstance(rule, Pointwise)
    return rule.function(b, b.add(x, b.const(float(x.type.numpy.type(epsilon)), x)))


_RSQRT_SHIFTED = Pointwise(_rsqrt_shifted)


def _normalise(c: Lowering) -> None:
    (x,), (out,) = c.ins, c.outs
    program = Program([Leaf(x, contiguous_strides(x.shape))])
    assert isinstance(x.type, TensorType)
    axis = c.attrs["axis"]
    axes = ((axis,) if isinstance(axis, int) else tuple(axis)) if x.shape else ()
    program.results = [normalise(program, c.op.name, 0, x.type, axes, c.attrs)]
    c.calls += lower_reduction(c.op.name, program, x.shape, axes, [out])


for _name in ("softmax", "log_softmax", "standardize"):
    kernel(_name)(_normalise)
