"""Convolution of complex numbers as a real one with twice the channels.

A channel becomes two, real and imaginary parts; a weight w becomes ``[[re, -im], [im, re]]``, and for the adjoint in
the input ``[[re, im], [-im, re]]``, the transpose of which is what w itself stands for. The gradient in the weight
gives all four products of parts, of which two and two are put together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from ..loop.builder import Builder
from ..loop.ir import Function
from ..lowering import Extent, Lowering, Temporary, product
from .images import grain_of
from .parts import built_once, split


@dataclass(eq=False)
class Real(Temporary):
    """Scratch memory that a lowering takes for an operand."""

    shape: tuple[Extent, ...] = ()
    is_complex = False


def in_real_numbers(c: Lowering, lower: Callable[[Lowering], None]) -> None:
    """Lowers a convolution of complex numbers through ``lower``, which does it for real ones."""
    x, y = c.ins
    (out,) = c.outs
    weights = c.op.name == "conv_weight_grad"
    sign = 0 if weights else -1 if c.op.name == "conv" else 1
    ins = [_parts(c, x), _parts(c, y) if weights else _embedded(c, y, sign)]
    result = _real(c, out.elem, _doubled(out.shape, 2 if weights else 1))
    inner = Lowering(c.op, c.attrs, ins, [result])  # type: ignore[arg-type,list-item]
    lower(inner)
    c.calls += inner.calls
    if weights:
        taps = prod(out.shape[2:])
        c.call(_products_function(out.elem), [result, out], [out.shape[0], out.shape[1], taps, grain_of(4 * taps)])
    else:
        planes, size = out.shape[0] * out.shape[1], product(out.shape[2:])
        c.call(_turn_function(out.elem, True), [result, out], [planes, size, grain_of(2 * size)])


def _doubled(shape: tuple[Extent, ...], axes: int) -> tuple[Extent, ...]:
    """The shape of parts: twice as long along the channels (of weights: along both axes of channels)."""
    if axes == 2:
        return (2 * shape[0], 2 * shape[1], *shape[2:])
    return (shape[0], 2 * shape[1], *shape[2:])


def _real(c: Lowering, elem: str, shape: tuple[Extent, ...]) -> Real:
    return Real(elem, product(shape), shape)


def _parts(c: Lowering, x: Any) -> Real:
    """``x`` with real and imaginary parts as channels."""
    out = _real(c, x.elem, _doubled(x.shape, 1))
    size = product(x.shape[2:])
    c.call(_turn_function(x.elem, False), [x, out], [x.shape[0] * x.shape[1], size, grain_of(2 * size)])
    return out


def _embedded(c: Lowering, w: Any, sign: int) -> Real:
    """The real weight that stands for ``w``."""
    out = _real(c, w.elem, _doubled(w.shape, 2))
    taps = prod(w.shape[2:])
    c.call(_embed_function(w.elem, sign), [w, out], [w.shape[0], w.shape[1], taps, grain_of(4 * taps)])
    return out


@built_once
def _turn_function(elem: str, back: bool) -> Function:
    """(planes, size) pairs into (planes, 2, size), or back."""
    b = Builder("conv_complex_parts")
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    planes, size, grain = b.dim("planes"), b.dim("size"), b.dim("grain")

    def plane(p: Any) -> None:
        start = p * size * 2

        def one(i: Any) -> None:
            for part in range(2):
                pair, alone = start + i * 2 + part, start + size * part + i
                b.store(out, pair if back else alone, b.load(x, alone if back else pair))

        b.for_(0, size, 1, one)

    b.parallel_for(0, planes, grain, plane)
    return b.finish()


@built_once
def _embed_function(elem: str, sign: int) -> Function:
    """Pairs (outputs, channels, taps) into (outputs, 2, channels, 2, taps); ``sign`` is that of the upper right."""
    b = Builder("conv_complex_weight")
    w, out = b.buffer("w", elem), b.buffer("out", elem)
    outputs, channels, taps, grain = (b.dim(name) for name in ("outputs", "channels", "taps", "grain"))

    def block(item: Any) -> None:
        o, c = split(b, item, channels)

        def tap(t: Any) -> None:
            at = (item * taps + t) * 2
            re, im = b.load(w, at), b.load(w, at + 1)
            for p in range(2):
                for q in range(2):
                    value = re if p == q else im if (p < q) == (sign > 0) else -im
                    b.store(out, (((o * 2 + p) * channels + c) * 2 + q) * taps + t, value)

        b.for_(0, taps, 1, tap)

    b.parallel_for(0, outputs * channels, grain, block)
    return b.finish()


@built_once
def _products_function(elem: str) -> Function:
    """All products of parts (outputs, 2, channels, 2, taps) into complex sums (outputs, channels, taps)."""
    b = Builder("conv_complex_weight_grad")
    x, out = b.buffer("x", elem), b.buffer("out", elem)
    outputs, channels, taps, grain = (b.dim(name) for name in ("outputs", "channels", "taps", "grain"))

    def block(item: Any) -> None:
        o, c = split(b, item, channels)

        def tap(t: Any) -> None:
            (rr, ri), (ir, ii) = (
                [b.load(x, (((o * 2 + p) * channels + c) * 2 + q) * taps + t) for q in range(2)] for p in range(2)
            )
            at = (item * taps + t) * 2
            b.store(out, at, rr - ii)
            b.store(out, at + 1, ri + ir)

        b.for_(0, taps, 1, tap)

    b.parallel_for(0, outputs * channels, grain, block)
    return b.finish()
