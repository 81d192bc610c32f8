"""Matrices of audio features."""

import numpy as np
import pytest
from scipy.fft import dct

from duograph.dataset import audio


@pytest.mark.parametrize("norm", list(audio.NormMode))
def test_the_cosine_transform_is_that_of_scipy(norm):
    x = np.random.default_rng(0).normal(size=(3, 8))
    wanted = dct(x, norm=None if norm is audio.NormMode.NONE else "ortho")[:, :5]
    np.testing.assert_allclose(x @ audio.create_dct(5, 8, norm), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("scale", list(audio.MelType))
def test_mel_filters_overlap_to_one(scale):
    filters = audio.melscale_fbanks(201, 0.0, 8000.0, 20, 16000, audio.NormType.NONE, scale)
    peaks = filters.argmax(axis=0)
    assert filters.shape == (201, 20) and filters.dtype == np.float32 and (np.diff(peaks) > 0).all()
    np.testing.assert_allclose(filters[peaks[0] + 1 : peaks[-1]].sum(axis=1), 1, atol=1e-5)


def test_slaney_filters_have_one_area():
    filters = audio.melscale_fbanks(4001, 0.0, 8000.0, 4, 16000, audio.NormType.SLANEY, audio.MelType.SLANEY)
    np.testing.assert_allclose(filters.sum(axis=0) * 2, 1, rtol=1e-3)


def test_the_scale_of_htk():
    peaks = audio.melscale_fbanks(8001, 0.0, 8000.0, 3, 16000).argmax(axis=0)
    mels = 2595 * np.log10(1 + peaks / 700)
    np.testing.assert_allclose(np.diff(mels), np.diff(mels)[0], rtol=1e-3)


def test_linear_filters():
    assert audio.linear_fbanks(5, 0.0, 8.0, 3, 16).tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_bad_settings():
    with pytest.raises(TypeError, match="n_mfcc with value 2.0 is not of type"):
        audio.create_dct(2.0, 3)
    with pytest.raises(ValueError, match="n_mels must be greater than 0"):
        audio.create_dct(2, 0)
    with pytest.raises(TypeError, match="norm with value none"):
        audio.create_dct(2, 3, "none")
    with pytest.raises(ValueError, match="f_min must be less than"):
        audio.linear_fbanks(3, 2.0, 1.0, 1, 16)
    with pytest.raises(AttributeError, match="transform of audio"):
        audio.Spectrogram
