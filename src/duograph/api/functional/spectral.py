"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from duograph.core import dtype as dt
from duograph.core.shapes import normalize_axis
from duograph.ops.arithmetic import conj, mul
from duograph.ops.complex import imag, real, to_complex
from duograph.ops.creation import arange, constant_like
from duograph.ops.creation import full as full_op
from duograph.ops.fft import fft as fft_op
from duograph.ops.fft import fft_n as fft_n_op
from duograph.ops.fft import ifft as ifft_op
from duograph.ops.fft import irfft as irfft_op
from duograph.ops.fft import rfft as rfft_op
from duograph.ops.movement import expand_dims, move_axis, reshape, roll
from duograph.ops.slices import pad, stack
from duograph.ops.windows import sliding_window
from duograph.tensor.tensor import Tensor

from .forms import as_float, documented, dtype_or, named, need_tensor, not_public, public_functions
from .padding import pad as pad_function

_ONE = {"fft": fft_op, "ifft": ifft_op, "rfft": rfft_op, "irfft": irfft_op}


def _one_axis(name: str, fn: Callable[..., Any]) -> Callable[..., Tensor]:
    def function(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
        need_tensor(name.upper(), input=input)
        return fn(as_float(input), n, dim, norm)

    extent = {"rfft": 2, "irfft": 4}.get(name, 3)
    returns = f"Tensor, {'real' if name == 'irfft' else 'complex'}."
    return named(
        function, name, documented(fn.__doc__ or "", returns, f"ops.{name}(ops.ones(3)).shape", f"({extent},)")
    )


def _several_axes(name: str, default: Any, inverse: bool) -> Callable[..., Tensor]:
    def function(input: Tensor, s: Any = None, dim: Any = default, norm: str | None = None) -> Tensor:
        need_tensor(name.upper(), input=input)
        return fft_n_op(as_float(input), s, dim, norm, inverse=inverse)

    doc = f"The {'inverse ' if inverse else ''}transform over several axes."
    returns = "Tensor, complex; of extents ``s`` along ``dim``."
    return named(function, name, documented(doc, returns, f"ops.{name}(ops.ones((2, 3))).shape", "(2, 3)"))


def _shifted(name: str, sign: int) -> Callable[..., Tensor]:
    def function(input: Tensor, dim: Any = None) -> Tensor:
        need_tensor(name, input=input)
        dims = range(input.ndim) if dim is None else dim if isinstance(dim, list | tuple) else (dim,)
        axes = tuple(normalize_axis(d, input.ndim, name) for d in dims)
        shifts = tuple(input.shape[a] // 2 if sign > 0 else -(input.shape[a] // 2) for a in axes)
        return roll(input, shifts=shifts, axes=axes)

    doc = "The spectrum with frequency 0 in the middle." if sign > 0 else "The inverse of `fftshift`."
    printed = "[2 0 1]" if sign > 0 else "[1 2 0]"
    returns = "Tensor, of the shape and dtype of ``input``."
    return named(function, name, documented(doc, returns, f"ops.{name}(Tensor([0, 1, 2]))", printed))


def _frequencies(name: str, half: bool) -> Callable[..., Tensor]:
    def function(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
        out = dtype_or(dtype, dt.float32)
        if half:
            places = arange(start=0, step=1, size=n // 2 + 1, dtype=out)
        else:
            middle = arange(start=-(n // 2), step=1, size=n, dtype=out)
            places = roll(middle, shifts=(-(n // 2),), axes=(0,))
        return mul(places, constant_like(places, 1.0 / (n * d)))

    doc = f"The frequencies of the places of a spectrum, as `{name.removesuffix('freq')}` gives it."
    printed = "[0.   0.25 0.5 ]" if half else "[ 0.    0.25 -0.5  -0.25]"
    return named(function, name, documented(doc, "Tensor, of ``dtype`` (float32).", f"ops.{name}(4)", printed))


def _axes(x: Tensor, s: Any, dim: Any, title: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of a transform, and the sizes that they get."""
    if dim is None:
        dim = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = tuple(normalize_axis(a, x.ndim, title) for a in dim)
    sizes = tuple(x.shape[a] for a in axes) if s is None else tuple(s)
    if len(axes) != len(sizes) or not axes:
        raise ValueError(f"For '{title}', 's' and 'dim' must have as many entries, but got {s} and {dim}.")
    return axes, sizes


def _swapped(norm: str | None) -> str:
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm or "ortho")


def _rfft_n(x: Tensor, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None) -> Tensor:
    """The half spectrum over several axes; the last one is halved."""
    half = rfft_op(as_float(x), sizes[-1], axes[-1], norm)
    return fft_n_op(half, sizes[:-1], axes[:-1], norm) if len(axes) > 1 else half


def _irfft_n(x: Tensor, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None) -> Tensor:
    part = fft_n_op(x, sizes[:-1], axes[:-1], norm, inverse=True) if len(axes) > 1 else x
    return irfft_op(part, sizes[-1], axes[-1], norm)


def _real_transform(name: str, default: Any) -> Callable[..., Tensor]:
    """``rfftn``, ``irfftn``, ``hfftn``, ``ihfftn`` or their forms for two axes.

    Hermitian transforms are real ones of the conjugate, with the scaling of the other direction.
    """
    hermitian = "hfft" in name
    to_real = name.startswith(("irfft", "hfft"))

    def function(input: Tensor, s: Any = None, dim: Any = default, norm: str | None = None) -> Tensor:
        need_tensor(name.upper(), input=input)
        axes, sizes = _axes(input, s, dim, name)
        if s is None and to_real:
            sizes = (*sizes[:-1], 2 * (sizes[-1] - 1))
        scale = _swapped(norm) if hermitian else norm
        if to_real:
            return _irfft_n(conj(to_complex(as_float(input))) if hermitian else as_float(input), axes, sizes, scale)
        out = _rfft_n(input, axes, sizes, scale)
        return conj(out) if hermitian else out

    doc = f"As NumPy's {name.replace('2', 'n')} over the axes ``dim``."
    returns = f"Tensor, {'real' if to_real else 'complex'}."
    printed = "(2, 4)" if to_real else "(2, 2)"
    return named(function, name, documented(doc, returns, f"ops.{name}(ops.ones((2, 3))).shape", printed))


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The real spectrum of a signal that is Hermitian, given by its first half.

    Returns:
        Tensor, real; of extent ``n`` along ``dim``.

    Examples:
        >>> print(ops.hfft(Tensor([1.0, 0.0])))
        [1. 1.]
    """
    need_tensor("HFFT", input=input)
    return _HERMITIAN["hfftn"](input, None if n is None else (n,), (dim,), norm)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`: the first half of a Hermitian signal.

    Returns:
        Tensor, complex; of extent ``n // 2 + 1`` along ``dim``.

    Examples:
        >>> print(ops.ihfft(Tensor([1.0, 1.0, 1.0])).shape)
        (2,)
    """
    need_tensor("IHFFT", input=input)
    return _HERMITIAN["ihfftn"](input, None if n is None else (n,), (dim,), norm)


@not_public
def frames_spectrum(
    x: Tensor, window: Tensor, n_fft: int, hop_length: int, normalized: bool, onesided: bool, return_complex: bool
) -> Tensor:
    """The spectra (..., N, T) of the frames of ``x`` that start every ``hop_length``, each times ``window``."""
    frames = sliding_window(x, axis=x.ndim - 1, size=n_fft, step=hop_length)
    width = window.shape[0]
    before = (n_fft - width) // 2
    full = pad(window, padding=((before, n_fft - width - before),)) if width < n_fft else window
    if full.dtype.is_complex != frames.dtype.is_complex:
        frames, full = (to_complex(t) for t in (frames, full))
    weighted = mul(frames, full)
    norm = "ortho" if normalized else "backward"
    spectrum = rfft_op(weighted, None, -1, norm) if onesided else fft_op(weighted, None, -1, norm)
    out = move_axis(spectrum, spectrum.ndim - 1, spectrum.ndim - 2)
    return out if return_complex else view_as_real(out)


def stft(
    x: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Tensor | None = None,
    center: bool = True, pad_mode: str = "REFLECT", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:  # fmt: skip
    """The spectra of overlapping frames of the last axis.

    Args:
        x: signals (L,) or (B, L).
        n_fft: length of a frame.
        hop_length: distance of frames, a quarter of ``n_fft`` by default.
        win_length: length of the window, ``n_fft`` by default.
        window: weights, ones by default.
        center: pad so that frames are centred on their places.
        pad_mode: how, as `pad`.
        normalized: divide by the root of ``n_fft``.
        onesided: only the first half of the spectra; default for real signals.
        return_complex: complex (..., N, T), else real (..., N, T, 2); default for complex signals.

    Returns:
        The spectra.

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.stft(ops.ones((2, 100)), 64).shape)
        (2, 33, 7, 2)
    """
    need_tensor("STFT", x=x)
    hop = n_fft // 4 if hop_length is None else hop_length
    weights = full_op(shape=(win_length or n_fft,), value=1, dtype=x.dtype) if window is None else window
    complex_input = x.dtype.is_complex or weights.dtype.is_complex
    if center:
        single = x.ndim == 1
        wide = expand_dims(x, 0) if single else x
        wide = pad_function(wide, (n_fft // 2, n_fft // 2), pad_mode.lower())
        x = reshape(wide, shape=tuple(wide.shape[1:])) if single else wide
    return frames_spectrum(
        x, weights, n_fft, hop, normalized, not complex_input if onesided is None else onesided,
        complex_input if return_complex is None else return_complex,
    )  # fmt: skip


def view_as_real(input: Tensor) -> Tensor:
    """Complex numbers as pairs of reals, along a new last axis.

    Args:
        input: complex tensor.

    Returns:
        (..., 2).

    Supported Platforms:
        ``CPU``

    Examples:
        >>> print(ops.view_as_real(Tensor([2 + 1j])))
        [[2. 1.]]
    """
    need_tensor("ViewAsReal", input=input)
    return stack(real(input), imag(input), axis=input.ndim)


_HERMITIAN = {name: _real_transform(name, None) for name in ("hfftn", "ihfftn")}


FUNCTIONS = public_functions(globals()) | {
    **{name: _one_axis(name, fn) for name, fn in _ONE.items()},
    "fft2": _several_axes("fft2", (-2, -1), False),
    "ifft2": _several_axes("ifft2", (-2, -1), True),
    "fftn": _several_axes("fftn", None, False),
    "ifftn": _several_axes("ifftn", None, True),
    "fftshift": _shifted("fftshift", 1),
    "ifftshift": _shifted("ifftshift", -1),
    **{name: _real_transform(name, None) for name in ("rfftn", "irfftn")},
    **_HERMITIAN,
    **{name: _real_transform(name, (-2, -1)) for name in ("rfft2", "irfft2", "hfft2", "ihfft2")},
    "fftfreq": _frequencies("fftfreq", False),
    "rfftfreq": _frequencies("rfftfreq", True),
}  # fmt: skip
