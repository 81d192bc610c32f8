"""Activation functions that are primitives: the ends of their slopes, complex numbers, references, and every mode."""

from __future__ import annotations

import math

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from duograph.core.op import get_op

GATED = {
    "gelu": ops.gelu, "gelu_by_tanh": lambda x: ops.gelu(x, "tanh"), "silu": ops.silu, "fast_gelu": ops.fast_gelu,
    "mish": ops.mish,
}  # fmt: skip
INF = math.inf


@pytest.mark.parametrize("dtype", [ms.float64, ms.float32, ms.float16, ms.bfloat16])
@pytest.mark.parametrize("name", GATED)
def test_slopes_far_out(name, dtype):
    """0 on the left and 1 on the right, never infinity times 0."""
    far = Tensor([-INF, -6e4, -900.0, 900.0, 6e4, INF], dtype)
    slopes = ms.grad(lambda x: GATED[name](x).sum())(far)
    assert slopes.astype(ms.float64).asnumpy().tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("name", GATED)
def test_slopes_are_those_of_differences(name):
    x, h = np.linspace(-12, 12, 241), 1e-6
    slopes = ms.grad(lambda x: GATED[name](x).sum())(Tensor(x)).asnumpy()
    differences = (GATED[name](Tensor(x + h)).asnumpy() - GATED[name](Tensor(x - h)).asnumpy()) / (2 * h)
    np.testing.assert_allclose(slopes, differences, atol=3e-9)


@pytest.mark.parametrize("name", [*GATED, "tanhshrink", "sinc", "logit", "normal_cdf"])
def test_reference_and_machine_code(name):
    """The interpreter's NumPy function is as good as the native one, in float32 to the last bits; no warnings."""
    numbers = [np.linspace(-110, 30, 3001), np.linspace(-2, 2, 3001), np.linspace(-760, -400, 301)]
    edges = np.array([INF, -INF, math.nan, 0.0, -0.0, 1e38, -1e38])
    for dtype, units in ((np.float64, 4096), (np.float32, 3)):
        x = np.concatenate([*numbers, edges]).astype(dtype)
        native, reference = get_op(name)(Tensor(x)).asnumpy(), get_op(name).reference(x)
        np.testing.assert_array_equal(np.isnan(native), np.isnan(reference))
        info = np.finfo(dtype)
        np.testing.assert_allclose(native, reference, rtol=units * info.eps, atol=3 * info.smallest_subnormal)
        assert (np.signbit(native) == np.signbit(reference))[~np.isnan(native)].all()


def test_sinc_next_to_integers():
    """Exactly 0 at them, and with the sign and the digits of the distance beside them."""
    n = np.arange(1, 200, dtype=np.float32)
    assert ops.sinc(Tensor(n)).asnumpy().tolist() == [0.0] * 199
    beside = np.nextafter(n, np.float32(INF))
    distance = beside.astype(np.float64) - n
    want = np.where(n % 2 == 0, 1, -1) * distance / beside  # sin(pi d) is pi d to the last bit
    np.testing.assert_allclose(ops.sinc(Tensor(beside)).asnumpy(), want, rtol=2e-7)


def test_slope_of_sinc_near_zero():
    """``-pi**2 x / 3``, where the difference of cosine and ``sinc`` would have no digits."""
    x = Tensor([1e-6, -1e-4, 1e-3], ms.float32)
    slope, curvature = ms.grad(lambda x: ops.sinc(x).sum()), ms.grad(lambda x: slope(x).sum())
    np.testing.assert_allclose(slope(x).asnumpy(), -(math.pi**2) / 3 * x.asnumpy(), rtol=1e-5)
    np.testing.assert_allclose(curvature(Tensor(0.0)).asnumpy(), -(math.pi**2) / 3, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slope_of_sinc_far_out(dtype):
    """Next to half integers the cosine is nearly 0: it must not come from a rounded ``pi * x``."""
    x = np.array([100.5, -1000.5, 3000.25, INF, -INF, 3e38], dtype)
    f = [100.5, -1000.5]
    want = [-1 / (math.pi * v * abs(v)) for v in f] + [
        (math.sqrt(0.5) - math.sqrt(0.5) / (math.pi * 3000.25)) / 3000.25
    ]
    slope = ms.grad(lambda x: ops.sinc(x).sum())(Tensor(x)).asnumpy()
    np.testing.assert_allclose(slope[:3], want, rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(slope[3:], [0, 0, 1 / 3e38], rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["silu", "tanhshrink", "sinc", "logit"])
def test_complex_numbers(name):
    z = np.array([0.3 + 0.4j, -0.2 + 0.1j, 0.7 - 0.5j])
    want = {
        "silu": z / (1 + np.exp(-z)), "tanhshrink": z - np.tanh(z), "sinc": np.sinc(z), "logit": np.log(z / (1 - z)),
    }  # fmt: skip
    np.testing.assert_allclose(getattr(ops, name)(Tensor(z)).asnumpy(), want[name], rtol=1e-13)


@pytest.mark.parametrize("name", [*GATED, "tanhshrink", "sinc", "logit"])
@pytest.mark.parametrize("shape", [(), (0, 3), (7,), (5, 33)])
def test_every_mode(name, shape):
    """Value, slope and curvature of the compiled function have the bits of eager mode, also of a transposed operand."""
    f = GATED.get(name) or getattr(ops, name)

    def slope(x):
        return ms.grad(lambda x: f(x).sum())(x)

    def all_of_them(x):
        return f(x), slope(x), ms.grad(lambda x: slope(x).sum())(x)

    for dtype in (np.float64, np.float32, np.float16):
        x = Tensor(np.random.default_rng(3).uniform(-9, 9, shape).astype(dtype).T)
        eager = all_of_them(x)
        for mode in ({}, {"jit_level": "O0"}, {"backend": "interpreter"}):
            for a, b in zip(eager, ms.jit(all_of_them, **mode)(x), strict=True):
                np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
