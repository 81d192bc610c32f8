"""Discrete Fourier transforms, through NumPy's FFT; single precision is transformed in double precision and rounded.

Two primitives: `fft_` transforms complex tensors over some axes in either direction, `rfft_` real ones over one axis to
the half spectrum, with `irfft_` back. Their gradients are one another, scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from duograph.core.op import primitive
from duograph.core.shapes import normalize_axis
from duograph.core.types import TensorType

from .arithmetic import conj
from .complex import in_precision_of, real, to_complex
from .movement import roll
from .rules import batch_with, require_kind
from .slices import concat, pad, slice_axis

NORMS = ("backward", "ortho", "forward")


def _opposite(norm: str) -> str:
    return {"backward": "forward", "forward": "backward"}.get(norm, norm)


def _check_points(op: str, x: TensorType, axes: Sequence[int]) -> None:
    if any(x.shape[a] == 0 for a in axes):
        raise ValueError(f"For '{op}', an axis of {axes} of the shape {x.shape} has no points to transform.")


def _any_unknown(x: Any, axes: Sequence[int]) -> bool:
    """Whether an axis may turn out to have no points."""
    return any(not isinstance(x.shape[a], int) for a in axes)


@primitive
class fft_:
    """The transform of complex ``x`` over ``axes``, or its inverse."""

    def raises(x, *, axes, inverse, norm):
        return _any_unknown(x, axes)

    batch = batch_with("fft", lambda size, rank, axes, **rest: {"axes": tuple(a + 1 for a in axes), **rest})

    def infer(x, *, axes, inverse=False, norm="backward"):
        x = require_kind("fft", x, "c")
        _check_points("fft", x, axes)
        return x

    def reference(x, *, axes, inverse, norm):
        wide = x.astype(np.complex128)
        return (np.fft.ifftn if inverse else np.fft.fftn)(wide, axes=axes, norm=norm).astype(x.dtype)

    def bprop(ins, out, dout, *, axes, inverse, norm):
        return (fft_(dout, axes=axes, inverse=not inverse, norm=_opposite(norm)),)


@primitive
class rfft_:
    """The first half of the spectrum of real ``x`` along ``axis``."""

    def raises(x, *, axis, norm):
        return _any_unknown(x, (axis,))

    batch = batch_with("rfft", lambda size, rank, axis, **rest: {"axis": axis + 1, **rest})

    def infer(x, *, axis, norm="backward"):
        x = require_kind("rfft", x, "f")
        _check_points("rfft", x, (axis,))
        shape = (*x.shape[:axis], x.shape[axis] // 2 + 1, *x.shape[axis + 1 :])
        return TensorType(x.dtype.to_complex(), shape)

    def reference(x, *, axis, norm):
        result = np.complex128 if x.dtype == np.float64 else np.complex64
        return np.fft.rfft(x.astype(np.float64), axis=axis, norm=norm).astype(result)

    def bprop(ins, out, dout, *, axis, norm):
        # The other half of the spectrum does not exist, so its cotangent is zero.
        n = ins[0].shape[axis]
        missing = n - dout.shape[axis]
        padding = tuple((0, missing if i == axis else 0) for i in range(len(dout.shape)))
        whole = real(fft_(pad(dout, padding=padding), axes=(axis,), inverse=True, norm=_opposite(norm)))
        return (in_precision_of(ins[0], whole),)


def fft_n(
    x: Any,
    sizes: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    inverse: bool = False,
) -> Any:
    """The transform of ``x`` over ``axes`` (default: all, or as many as ``sizes`` at the end), resized to ``sizes``.

    Raises:
        ValueError: unknown ``norm``, wrong axes or sizes.
    """
    norm = norm or "backward"
    if norm not in NORMS:
        raise ValueError(f"For 'fft', the 'norm' must be in {list(NORMS)}, but got {norm}.")
    rank = len(x.shape)
    if axes is None:
        axes = tuple(range(rank)) if sizes is None else tuple(range(rank - len(sizes), rank))
    axes = tuple(normalize_axis(a, rank, "fft") for a in axes)
    if sizes is not None:
        for axis, size in zip(axes, sizes, strict=True):
            x = resized(x, axis, size)
    return fft_(to_complex(x), axes=axes, inverse=inverse, norm=norm)


def resized(x: Any, axis: int, size: int) -> Any:
    """``x`` cut, or padded with zeros at the end, to ``size`` along ``axis``."""
    if size < 1:
        raise ValueError(f"For 'fft', the sizes must be positive, but got {size}.")
    have = x.shape[axis]
    if size == have:
        return x
    if size < have:
        return slice_axis(x, axis, 0, size)
    return pad(x, padding=tuple((0, size - have if i == axis else 0) for i in range(len(x.shape))))


def fft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The transform along one axis, cut or padded to ``n``."""
    return fft_n(x, None if n is None else (n,), (axis,), norm)


def ifft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The inverse of `fft`."""
    return fft_n(x, None if n is None else (n,), (axis,), norm, inverse=True)


def fft2(x: Any, sizes: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    """The transform over two axes."""
    return fft_n(x, sizes, axes, norm)


def ifft2(x: Any, sizes: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: str | None = None) -> Any:
    """The inverse of `fft2`."""
    return fft_n(x, sizes, axes, norm, inverse=True)


def rfft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The first half of the spectrum of real ``x`` along ``axis``."""
    axis = normalize_axis(axis, len(x.shape), "rfft")
    return rfft_(x if n is None else resized(x, axis, n), axis=axis, norm=norm or "backward")


def irfft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Any:
    """The real signal of ``n`` (default: even) places whose spectrum begins with ``x``."""
    axis = normalize_axis(axis, len(x.shape), "irfft")
    n = 2 * (x.shape[axis] - 1) if n is None else n
    half = resized(to_complex(x), axis, n // 2 + 1)
    # NumPy ignores the imaginary part where a real signal has none; taking the real part at the end does the same.
    mirrored = slice_axis(half, axis, (n - 1) // 2, 0, -1) if n > 2 else None
    full = half if mirrored is None else concat(half, conj(mirrored), axis=axis)
    return real(fft_n(full, (n,), (axis,), norm, inverse=True))


def fftshift(x: Any, axes: int | Sequence[int] | None = None, inverse: bool = False) -> Any:
    """The zero frequency moved to the middle of ``axes`` (default: all); ``inverse`` moves it back."""
    rank = len(x.shape)
    given = range(rank) if axes is None else (axes,) if isinstance(axes, int) else axes
    axes = tuple(normalize_axis(a, rank, "fftshift") for a in given)
    shifts = tuple(-(x.shape[a] // 2) if inverse else x.shape[a] // 2 for a in axes)
    return roll(x, shifts=shifts, axes=axes)
