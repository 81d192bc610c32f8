"""Convolution and its two gradients (`duograph.lower.conv` says what they mean and how they work)."""

from __future__ import annotations

from collections.abc import Callable

from ..conv.complex_numbers import in_real_numbers
from ..conv.correlation import lower_conv, lower_input_grad
from ..conv.weight_grad import lower_weight_grad
from ..lowering import Lowering
from ..rule import kernel


def _register(name: str, lower: Callable[[Lowering], None]) -> None:
    def rule(c: Lowering) -> None:
        if c.outs[0].is_complex:
            in_real_numbers(c, lower)
        else:
            lower(c)

    kernel(name, sinks=True)(rule)


_register("conv", lower_conv)
_register("conv_input_grad", lower_input_grad)
_register("conv_weight_grad", lower_weight_grad)
