"""Special functions of one, two and three operands: Bessel functions, incomplete gamma and beta, Hurwitz zeta.

Half types compute in float32, every kernel in float64 inside. Orders of Bessel functions other than 0 and 1 are not
needed: their derivatives are expressed in these two.
"""

from __future__ import annotations

from typing import Any

from duograph.core.op import primitive
from duograph.core.shapes import broadcast_shapes

from . import bessel_kernels as bessel
from . import gamma_kernels as gamma
from .arithmetic import add, div, mul, neg, sign, sub
from .compare import equal
from .creation import constant_like
from .elementwise import binary, elementwise_batch, unary
from .movement import sum_to
from .power import xlogy
from .rules import in_float32, require_kind, same_dtype
from .select import select
from .unary import exp, lgamma


def _over(f: Any, x: Any, at_zero: float) -> Any:
    """``f / x``, and its limit at 0."""
    zero = equal(x, constant_like(x, 0))
    safe = select(zero, constant_like(x, 1), x)
    return select(zero, constant_like(x, at_zero), div(f, safe))


def _bessel(name: str, kernel: Any, slope: Any, doc: str) -> Any:
    """Declares one function; ``slope(x, out)`` is its derivative."""
    return unary(name, kernel, lambda x, out, dout: mul(dout, slope(x, out)), doc, kinds="f")


bessel_i0 = _bessel("bessel_i0", bessel.i0, lambda x, out: bessel_i1(x), "Modified Bessel function of order 0.")
bessel_i1: Any = _bessel(
    "bessel_i1", bessel.i1, lambda x, out: sub(bessel_i0(x), _over(out, x, 0.5)), "Modified Bessel function, order 1."
)
bessel_i0e = _bessel(
    "bessel_i0e", bessel.i0e, lambda x, out: sub(bessel_i1e(x), mul(sign(x), out)), "``exp(-|x|) bessel_i0(x)``."
)
bessel_i1e: Any = _bessel(
    "bessel_i1e", bessel.i1e,
    lambda x, out: sub(sub(bessel_i0e(x), mul(sign(x), out)), _over(out, x, 0.5)), "``exp(-|x|) bessel_i1(x)``.",
)  # fmt: skip
bessel_j0 = _bessel("bessel_j0", bessel.j0, lambda x, out: neg(bessel_j1(x)), "Bessel function of order 0.")
bessel_j1: Any = _bessel(
    "bessel_j1", bessel.j1, lambda x, out: sub(bessel_j0(x), _over(out, x, 0.5)), "Bessel function of order 1."
)
bessel_y0 = _bessel("bessel_y0", bessel.y0, lambda x, out: neg(bessel_y1(x)), "Neumann function of order 0.")
bessel_y1: Any = _bessel(
    "bessel_y1", bessel.y1, lambda x, out: sub(bessel_y0(x), div(out, x)), "Neumann function of order 1."
)
bessel_k0 = _bessel("bessel_k0", bessel.k0, lambda x, out: neg(bessel_k1(x)), "Modified, second kind.")
bessel_k1: Any = _bessel(
    "bessel_k1", bessel.k1, lambda x, out: neg(add(bessel_k0(x), div(out, x))), "Second kind, order 1."
)
bessel_k0e = _bessel("bessel_k0e", bessel.k0e, lambda x, out: sub(out, bessel_k1e(x)), "``exp(x) bessel_k0(x)``.")
bessel_k1e: Any = _bessel(
    "bessel_k1e", bessel.k1e,
    lambda x, out: sub(sub(out, bessel_k0e(x)), div(out, x)), "``exp(x) bessel_k1(x)``.",
)  # fmt: skip

# ---- incomplete gamma and beta functions, zeta -----------------------------------------------------------------------


def _gamma_density(a: Any, x: Any) -> Any:
    """``x**(a-1) exp(-x) / gamma(a)``."""
    return exp(sub(sub(xlogy(sub(a, constant_like(a, 1)), x), x), lgamma(a)))


igamma_grad_a = binary(
    "igamma_grad_a", gamma.igamma_grad_a, doc="The derivative of `igamma` in its first operand.", kinds="f",
    layout="contiguous",
)  # fmt: skip
igamma = binary(
    "igamma", gamma.igamma,
    lambda a, x, out, dout: (lambda: mul(dout, igamma_grad_a(a, x)), lambda: mul(dout, _gamma_density(a, x))),
    "The regularised lower incomplete gamma function.", kinds="f", layout="contiguous",
)  # fmt: skip
igammac = binary(
    "igammac", gamma.igammac,
    lambda a, x, out, dout: (
        lambda: neg(mul(dout, igamma_grad_a(a, x))), lambda: neg(mul(dout, _gamma_density(a, x)))
    ),
    "The regularised upper incomplete gamma function.", kinds="f", layout="contiguous",
)  # fmt: skip
zeta: Any = binary(
    "zeta", gamma.zeta,
    lambda s, q, out, dout: (None, lambda: neg(mul(dout, mul(s, zeta(add(s, constant_like(s, 1)), q))))),
    "The Hurwitz zeta function ``sum over n >= 0 of (q + n)**-s``.", kinds="f", layout="contiguous",
)  # fmt: skip


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    """``x**(a-1) (1-x)**(b-1) / beta(a, b)``."""
    one = constant_like(x, 1)
    log_beta = sub(add(lgamma(a), lgamma(b)), lgamma(add(a, b)))
    powers = add(xlogy(sub(a, constant_like(a, 1)), x), xlogy(sub(b, constant_like(b, 1)), sub(one, x)))
    return exp(sub(powers, log_beta))


@primitive
class betainc:
    """The regularised incomplete beta function of three tensors of one shape; differentiable in ``x`` alone."""

    batch = elementwise_batch("betainc")

    def infer(a, b, x):
        same_dtype("betainc", a, b, x)
        x = require_kind("betainc", x, "f", "x")
        shape = broadcast_shapes(broadcast_shapes(a.shape, b.shape, op="Betainc"), x.shape, op="Betainc")
        return x.with_shape(shape)

    @in_float32
    def reference(a, b, x):
        return gamma.betainc(a, b, x)

    def bprop(ins, out, dout):
        return None, None, lambda: sum_to(mul(dout, _beta_density(*ins)), ins[2].shape)
