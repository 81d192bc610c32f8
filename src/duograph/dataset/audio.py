"""The settings of ``mindspore.dataset.audio``, and the matrices that its features are made with.

Its transforms are not provided (`base/not_here.py`); programs that compute features themselves need these names only.
"""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np

from duograph.base.public import saying_why

__all__ = [
    "BorderType", "DensityFunction", "FadeShape", "GainType", "Interpolation", "MelType", "Modulation", "NormMode",
    "NormType", "ResampleMethod", "ScaleType", "WindowType", "create_dct", "linear_fbanks", "melscale_fbanks",
]  # fmt: skip


class BorderType(StrEnum):
    """How a signal goes on beyond its ends."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(StrEnum):
    """Distribution of the noise of dithering: triangular, rectangular, Gaussian."""

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(StrEnum):
    """Curve of a fade."""

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(StrEnum):
    """What a gain is given in."""

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(StrEnum):
    """How values between samples are found."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(StrEnum):
    """The formula of the mel scale."""

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(StrEnum):
    """Shape of a modulation."""

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(StrEnum):
    """Norm of the rows of a cosine transform."""

    ORTHO = "ortho"
    NONE = "none"


class NormType(StrEnum):
    """Whether mel filters have the same area."""

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(StrEnum):
    """Filter of a resampling."""

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(StrEnum):
    """What a spectrogram holds."""

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(StrEnum):
    """Window function."""

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> np.ndarray:
    """The matrix of a discrete cosine transform (DCT-II), to be multiplied from the right.

    Args:
        n_mfcc (int): number of coefficients.
        n_mels (int): number of mel filters.
        norm (NormMode): ``NormMode.ORTHO`` for orthonormal rows. Default: ``NormMode.NONE``.

    Returns:
        numpy.ndarray, of float32 and shape (n_mels, n_mfcc).

    Raises:
        TypeError: a number is not an int, or ``norm`` no NormMode.
        ValueError: a number is not positive.

    Examples:
        >>> from duograph.dataset import audio
        >>> print(audio.create_dct(2, 2).round(3).tolist())
        [[2.0, 1.4140000343322754], [2.0, -1.4140000343322754]]
    """
    _need_positive(n_mfcc=n_mfcc, n_mels=n_mels)
    _need_member(NormMode, norm=norm)
    angles = np.outer(np.arange(n_mels) + 0.5, np.arange(n_mfcc)) * (math.pi / n_mels)
    waves = np.cos(angles) * (2.0 if norm is NormMode.NONE else math.sqrt(2.0 / n_mels))
    if norm is NormMode.ORTHO:
        waves[:, 0] *= math.sqrt(0.5)
    return waves.astype(np.float32)


def linear_fbanks(n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int) -> np.ndarray:
    """Triangular filters, evenly spaced in frequency.

    Args:
        n_freqs (int): number of frequencies between 0 and half of ``sample_rate``.
        f_min (float): where the first filter begins, in Hz.
        f_max (float): where the last filter ends, in Hz.
        n_filter (int): number of filters.
        sample_rate (int): samples for each second.

    Returns:
        numpy.ndarray, of float32 and shape (n_freqs, n_filter).

    Raises:
        TypeError: a count is not an int.
        ValueError: a count is not positive, or ``f_min`` is above ``f_max``.

    Examples:
        >>> from duograph.dataset import audio
        >>> print(audio.linear_fbanks(3, 0.0, 8.0, 1, 16).tolist())
        [[0.0], [1.0], [0.0]]
    """
    _need_positive(n_freqs=n_freqs, n_filter=n_filter, sample_rate=sample_rate)
    _need_range(f_min, f_max)
    return _triangles(np.linspace(f_min, f_max, n_filter + 2), n_freqs, sample_rate).astype(np.float32)


def melscale_fbanks(
    n_freqs: int, f_min: float, f_max: float, n_mels: int, sample_rate: int, norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> np.ndarray:  # fmt: skip
    """Triangular filters, evenly spaced on the mel scale.

    Args:
        n_freqs (int): number of frequencies between 0 and half of ``sample_rate``.
        f_min (float): where the first filter begins, in Hz.
        f_max (float): where the last filter ends, in Hz.
        n_mels (int): number of filters.
        sample_rate (int): samples for each second.
        norm (NormType): ``NormType.SLANEY`` gives all filters the same area. Default: ``NormType.NONE``.
        mel_type (MelType): the formula of the scale. Default: ``MelType.HTK``.

    Returns:
        numpy.ndarray, of float32 and shape (n_freqs, n_mels).

    Raises:
        TypeError: a count is not an int, ``norm`` no NormType or ``mel_type`` no MelType.
        ValueError: a count is not positive, or ``f_min`` is above ``f_max``.

    Examples:
        >>> from duograph.dataset import audio
        >>> print(audio.melscale_fbanks(4, 0.0, 8000.0, 2, 16000).shape)
        (4, 2)
    """
    _need_positive(n_freqs=n_freqs, n_mels=n_mels, sample_rate=sample_rate)
    _need_range(f_min, f_max)
    _need_member(NormType, norm=norm)
    _need_member(MelType, mel_type=mel_type)
    low, high = (_mel(float(f), mel_type) for f in (f_min, f_max))
    corners = _hertz(np.linspace(low, high, n_mels + 2), mel_type)
    filters = _triangles(corners, n_freqs, sample_rate)
    if norm is NormType.SLANEY:
        filters *= 2.0 / (corners[2:] - corners[:-2])
    return filters.astype(np.float32)


_STEP, _KNEE, _GROWTH = 200.0 / 3, 1000.0, math.log(6.4) / 27
"""Slaney's scale: linear in steps of ``_STEP`` Hz up to ``_KNEE``, then by a constant factor."""


def _mel(f: float, scale: MelType) -> float:
    if scale is MelType.HTK:
        return 2595.0 * math.log10(1.0 + f / 700.0)
    return f / _STEP if f < _KNEE else _KNEE / _STEP + math.log(f / _KNEE) / _GROWTH


def _hertz(mels: np.ndarray, scale: MelType) -> np.ndarray:
    if scale is MelType.HTK:
        return 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    knee = _KNEE / _STEP
    return np.where(mels < knee, mels * _STEP, _KNEE * np.exp(_GROWTH * (np.maximum(mels, knee) - knee)))


def _triangles(corners: np.ndarray, n_freqs: int, sample_rate: int) -> np.ndarray:
    """Filter i rises from corner i to corner i + 1 and falls to corner i + 2."""
    widths = np.diff(corners)
    places = np.linspace(0, sample_rate // 2, n_freqs)[:, None]
    rising, falling = (places - corners[:-2]) / widths[:-1], (corners[2:] - places) / widths[1:]
    return np.maximum(0.0, np.minimum(rising, falling))


def _need_positive(**counts: object) -> None:
    for name, value in counts.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{name} with value {value} is not of type {int}, but got {type(value)}.")
        if value <= 0:
            raise ValueError(f"{name} must be greater than 0, but got {value}.")


def _need_member(kind: type[StrEnum], **settings: object) -> None:
    for name, value in settings.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name} with value {value} is not of type {kind}, but got {type(value)}.")


def _need_range(f_min: float, f_max: float) -> None:
    if f_min > f_max:
        raise ValueError(f"f_min must be less than or equal to f_max, but got f_min {f_min} and f_max {f_max}.")


__getattr__ = saying_why(__name__)
