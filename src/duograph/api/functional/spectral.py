"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import normalize_axis
from duograph.ops.arithmetic import mul
from duograph.ops.creation import arange, constant_like
from duograph.ops.fft import fft as fft_op
from duograph.ops.fft import fft_n as fft_n_op
from duograph.ops.fft import ifft as ifft_op
from duograph.ops.fft import irfft as irfft_op
from duograph.ops.fft import rfft as rfft_op
from duograph.ops.movement import roll
from duograph.tensor.tensor import Tensor

from .forms import as_float, dtype_or, named, need_tensor

_ONE = {"fft": fft_op, "ifft": ifft_op, "rfft": rfft_op, "irfft": irfft_op}


def _one_axis(name: str, fn: Callable[..., Any]) -> Callable[..., Tensor]:
    def function(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
        need_tensor(name.upper(), input=input)
        return fn(as_float(input), n, dim, norm)

    return named(function, name, fn.__doc__ or "")


def _several_axes(name: str, default: Any, inverse: bool) -> Callable[..., Tensor]:
    def function(input: Tensor, s: Any = None, dim: Any = default, norm: str | None = None) -> Tensor:
        need_tensor(name.upper(), input=input)
        return fft_n_op(as_float(input), s, dim, norm, inverse=inverse)

    return named(function, name, f"The {'inverse ' if inverse else ''}transform over several axes.")


def _shifted(name: str, sign: int) -> Callable[..., Tensor]:
    def function(input: Tensor, dim: Any = None) -> Tensor:
        need_tensor(name, input=input)
        dims = range(input.ndim) if dim is None else dim if isinstance(dim, list | tuple) else (dim,)
        axes = tuple(normalize_axis(d, input.ndim, name) for d in dims)
        shifts = tuple(input.shape[a] // 2 if sign > 0 else -(input.shape[a] // 2) for a in axes)
        return roll(input, shifts=shifts, axes=axes)

    return named(function, name, "The spectrum with frequency 0 in the middle, or the inverse of that.")


def _frequencies(name: str, half: bool) -> Callable[..., Tensor]:
    def function(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
        out = dtype_or(dtype, dt.float32)
        if half:
            places = arange(start=0, step=1, size=n // 2 + 1, dtype=out)
        else:
            middle = arange(start=-(n // 2), step=1, size=n, dtype=out)
            places = roll(middle, shifts=(-(n // 2),), axes=(0,))
        return mul(places, constant_like(places, 1.0 / (n * d)))

    return named(function, name, "The frequencies of the places of a spectrum.")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _one_axis(name, fn) for name, fn in _ONE.items()},
    "fft2": _several_axes("fft2", (-2, -1), False), "ifft2": _several_axes("ifft2", (-2, -1), True),
    "fftn": _several_axes("fftn", None, False), "ifftn": _several_axes("ifftn", None, True),
    "fftshift": _shifted("fftshift", 1), "ifftshift": _shifted("ifftshift", -1),
    "fftfreq": _frequencies("fftfreq", False), "rfftfreq": _frequencies("rfftfreq", True),
}  # fmt: skip
