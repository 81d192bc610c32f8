"""Fourier transforms of every kind of length, along any axes, against NumPy in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16

import duograph.ops.fft  # noqa: F401
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.runtime.kernels.single import run_single

RNG = np.random.default_rng(4)
LENGTHS = [*range(1, 20), 25, 31, 32, 37, 49, 60, 64, 77, 97, 100, 128, 210, 243, 1000, 1009, 1024, 2 * 37, 30 * 41]


def numbers(shape, dtype):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else x.astype(dtype)


def compare(name, x, **attrs):
    op = get_op(name)
    got, want = run_single(op, [x], attrs), compute_reference(op, [x], attrs)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    rtol = 2e-7 if got.dtype == np.complex64 else 2e-14
    size = max(1.0, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * size)


@pytest.mark.parametrize("n", LENGTHS)
def test_lengths(n):
    for lines in (1, 8, 11):
        x = numbers((lines, n), "c16")
        for inverse in (False, True):
            compare("fft", x, axes=(1,), inverse=inverse, norm="backward")
        compare("rfft", numbers((lines, n), "f8"), axis=1, norm="backward")


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_axes_and_norms(dtype, norm):
    x = numbers((4, 6, 37), dtype)
    for axes in [(0,), (1,), (2,), (0, 1), (2, 0), (0, 1, 2), ()]:
        for inverse in (False, True):
            compare("fft", x, axes=axes, inverse=inverse, norm=norm)
    for axis in range(3):
        for real in [np.float32, bfloat16] if dtype == "c8" else [np.float64]:
            compare("rfft", numbers((4, 6, 37), real), axis=axis, norm=norm)


def test_a_line_does_not_depend_on_its_neighbours():
    x = numbers((19, 360), "c16")
    together = run_single(get_op("fft"), [x], {"axes": (1,), "inverse": False, "norm": "backward"})
    for k in (0, 7, 17):
        alone = run_single(get_op("fft"), [x[k]], {"axes": (0,), "inverse": False, "norm": "backward"})
        assert alone.tobytes() == together[k].tobytes()


def test_empty_axes_are_refused():
    for shape, axis in [((3, 0), 1), ((0, 3), 0)]:
        with pytest.raises(ValueError, match="no points"):
            run_single(get_op("fft"), [numbers(shape, "c16")], {"axes": (axis,), "inverse": False, "norm": "backward"})
    compare("fft", numbers((0, 3), "c16"), axes=(1,), inverse=False, norm="backward")
