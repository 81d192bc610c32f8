"""Primitive classes of special functions, windows and Fourier transforms."""

from __future__ import annotations

from typing import Any

from duograph.core import dtype as dt
from duograph.ops import special as ops
from duograph.ops.complex import real
from duograph.ops.fft import fft_n, irfft, rfft
from duograph.tensor.tensor import Tensor

from ..functional import creation, special, spectral
from .base import REQUIRED, Table, from_function

_PLAIN = {
    "Igamma": ("igamma", ops.igamma), "Igammac": ("igammac", ops.igammac), "Zeta": ("zeta", ops.zeta),
    "PopulationCount": ("population_count", None),
}  # fmt: skip

CLASSES = Table({
    **{special.title_of(n): from_function(special.title_of(n), special.FUNCTIONS[n], op) for n, op in
       special.BESSEL.items()},
    **{name: from_function(name, special.FUNCTIONS[function], op) for name, (function, op) in _PLAIN.items()},
    "Betainc": from_function("Betainc", ops.betainc, ops.betainc),
})  # fmt: skip
_row = CLASSES.row
"""Class name to class."""


_PERIODIC = {"periodic": True, "dtype": dt.float32}
for _name, _function in (("BartlettWindow", "bartlett_window"), ("BlackmanWindow", "blackman_window")):
    _make = creation.FUNCTIONS[_function]
    _row(_name, lambda p, n, make=_make: make(n, p.periodic, dtype=p.dtype), _PERIODIC)
_row(
    "HammingWindow", lambda p, n: creation.hamming_window(n, p.periodic, p.alpha, p.beta, dtype=p.dtype),
    {"periodic": True, "alpha": 0.54, "beta": 0.46, "dtype": dt.float32},
)  # fmt: skip


def _fft_with_size(p: Any, x: Tensor) -> Tensor:
    """A transform over the last ``signal_ndim`` axes: complex, to a (half) spectrum, or back from it."""
    rank = x.ndim
    axes = tuple(range(rank - p.signal_ndim, rank))
    if not p.real:
        return fft_n(x, None, axes, p.norm, inverse=p.inverse)
    if not p.inverse:
        if not p.onesided:
            return fft_n(x, None, axes, p.norm)
        half = rfft(x, None, -1, p.norm)
        return fft_n(half, None, axes[:-1], p.norm) if axes[:-1] else half
    sizes = tuple(p.signal_sizes)
    part = fft_n(x, None, axes[:-1], p.norm, inverse=True) if axes[:-1] else x
    if p.onesided:
        return irfft(part, sizes[-1] if sizes else None, -1, p.norm)

    return real(fft_n(part, None, axes[-1:], p.norm, inverse=True))


_row(
    "FFTWithSize", _fft_with_size,
    {
        "signal_ndim": REQUIRED, "inverse": REQUIRED, "real": REQUIRED, "norm": "backward", "onesided": True,
        "signal_sizes": (),
    },
)  # fmt: skip


def _stft(p: Any, x: Tensor, window: Tensor) -> Tensor:
    """The spectra of the frames of ``x``, weighted by a window of ``win_length``."""
    if window.shape[0] != p.win_length:
        raise ValueError(
            f"For 'STFT', the 'win_length' must be the length {window.shape[0]} of the window, but got {p.win_length}."
        )
    return spectral.frames_spectrum(x, window, p.n_fft, p.hop_length, p.normalized, p.onesided, p.return_complex)


_row(
    "STFT",
    _stft,
    dict.fromkeys(("n_fft", "hop_length", "win_length", "normalized", "onesided", "return_complex"), REQUIRED),
)
