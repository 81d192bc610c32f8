"""Special functions: Bessel functions, incomplete gamma functions, zeta, and the counting of bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.op import Op
from duograph.ops import arithmetic, logical
from duograph.ops import special as ops
from duograph.ops.cast import cast
from duograph.ops.creation import constant_like
from duograph.tensor.tensor import Tensor

from ..promote import promote, promote_float
from .forms import as_float, binary_function, need_tensor, not_public, public_functions, unary_function

BESSEL = {f"bessel_{kind}": getattr(ops, f"bessel_{kind}") for kind in
          ("i0", "i0e", "i1", "i1e", "j0", "j1", "k0", "k0e", "k1", "k1e", "y0", "y1")}  # fmt: skip


@not_public
def title_of(name: str) -> str:
    """``BesselI0`` of ``bessel_i0``."""
    return "Bessel" + name.removeprefix("bessel_").capitalize()


def _two(op: Op, title: str) -> Callable[[Any, Any], Tensor]:
    def compute(x: Any, y: Any) -> Tensor:
        x, y = promote(x, y, title)
        return op(promote_float(x), promote_float(y))

    return compute


def population_count(input_x: Tensor) -> Tensor:
    """The number of ones in the binary form of every element, as uint8.

    Returns:
        Tensor of uint8, of the shape of ``input_x``.

    Examples:
        >>> print(ms.ops.population_count(Tensor([1, 3, 7], ms.int16)))
        [1 2 3]
    """
    need_tensor("PopulationCount", input_x=input_x)
    if not input_x.dtype.is_integer:
        raise TypeError(f"For 'PopulationCount', the input must be of integers, but got {input_x.dtype}.")
    x = cast(input_x, dtype=dt.as_dtype(f"uint{8 * input_x.dtype.itemsize}"))
    total = constant_like(x, 0)
    for bit in range(8 * x.dtype.itemsize):
        one = logical.bitwise_and(logical.bitwise_right_shift(x, constant_like(x, bit)), constant_like(x, 1))
        total = arithmetic.add(total, one)
    return cast(total, dtype=dt.uint8)


def _on_floats(op: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: op(as_float(x))


FUNCTIONS = public_functions(globals()) | {
    **{
        name: unary_function(name, _on_floats(op), title_of(name), "x", op.doc)
        for name, op in BESSEL.items()
    },
    "igamma": binary_function("igamma", _two(ops.igamma, "Igamma"), ("input", "other"), ops.igamma.doc),
    "igammac": binary_function("igammac", _two(ops.igammac, "Igammac"), ("input", "other"), ops.igammac.doc),
    "zeta": binary_function("zeta", _two(ops.zeta, "Zeta"), ("input", "other"), ops.zeta.doc),
}  # fmt: skip
