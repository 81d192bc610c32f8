"""Elementwise ops, natively and by reference: every dtype, and the values where definitions differ.

Exact ops must have the bits of the reference; functions may differ by what `test_math_ulp` allows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.kernel import compute_reference
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.runtime.kernels.single import run_single
from tests.unit.lower.kernel_checks import check

DTYPES = [d for d in dt.DTYPES if not d.name.startswith("float8")]

ARITHMETIC = "add sub mul div neg square reciprocal"
QUOTIENTS = "floor_div trunc_div mod fmod"
EXTREMES = "maximum minimum relu sign abs copysign nextafter"
ROUNDING = "floor ceil trunc round"
COMPARISONS = "equal not_equal less less_equal greater greater_equal"
LOGIC = "logical_and logical_or logical_xor logical_not"
BITS = "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift"
TESTS = "isinf isnan isfinite signbit"
PARTS = "real imag conj complex"
EXACT = f"{ARITHMETIC} {QUOTIENTS} {EXTREMES} {ROUNDING} {COMPARISONS} {LOGIC} {BITS} {TESTS} {PARTS}".split()

ROUNDED = {
    "mul": "NumPy multiplies complex numbers with a fused multiply-add in some places of an array and not in others",
    "square": "as mul",
    "abs": "NumPy's `hypot` is not correctly rounded",
    "sign": "a quotient by abs",
}
"""Exact ops whose complex results are compared with a tolerance, and why."""


def numbers(dtype: dt.DType, seed: int = 0) -> np.ndarray:
    """Values of ``dtype`` with all special ones: limits, signed zeros, subnormal numbers, infinities, NaN."""
    rng = np.random.default_rng(seed)
    if dtype.is_bool:
        return np.array([False, True] * 8)
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        special = [
            0,
            1,
            2,
            3,
            5,
            7,
            31,
            32,
            33,
            63,
            64,
            65,
            -1,
            -2,
            -3,
            -7,
            info.max,
            info.max - 1,
            info.min,
            info.min + 1,
        ]
        inside = [v for v in special if info.min <= v <= info.max]
        return np.concatenate(
            [
                np.array(inside, dtype.numpy),
                rng.integers(info.min, info.max, 12, dtype=dtype.numpy, endpoint=True),
                rng.integers(max(info.min, -20), 20, 12).astype(dtype.numpy),
            ]
        )
    real = np.float64 if dtype in (dt.float64, dt.complex128) else np.float32
    info = np.finfo(real)
    special = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, 3, -3, np.inf, -np.inf, np.nan, info.max, -info.max]
    special += [info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
    if dtype.is_complex:
        re, im = np.meshgrid(np.array(special[:16], real), np.array(special[:16], real))
        both = np.empty(re.size, dtype.numpy)
        both.real, both.imag = re.reshape(-1), im.reshape(-1)
        return both
    # the limits of integer and half types, and what lies half-way between two numbers of a half type
    special += [127.5, 128, -129, 255.9, 256, 32768, 65504, 65519.9, 65520, 1e-5, 5.5, -7.25, 1e20]
    special += [2.0**31, 2.0**31 - 129, -(2.0**31), -(2.0**31) - 1, 2.0**32, 2.0**63, -(2.0**63), 2.0**64]
    special += [1 + 2.0**-8, 1 + 2.0**-9, 1 + 3 * 2.0**-9, 1 + 2.0**-11 + 2.0**-40, 2.0**-24, 2.0**-25 * 1.0001]
    random = np.concatenate([rng.standard_normal(20), rng.standard_normal(20) * 1e4])
    with np.errstate(all="ignore"):
        return np.concatenate([np.array(special), random]).astype(real).astype(dtype.numpy)


def pairs(dtype: dt.DType) -> tuple[np.ndarray, np.ndarray]:
    """Each number with each; of complex numbers a selection."""
    values = numbers(dtype)
    x, y = (a.reshape(-1) for a in np.meshgrid(values, values))
    chosen = np.random.default_rng(1).permutation(x.size)[:3000] if dtype.is_complex else slice(None)
    return np.ascontiguousarray(x[chosen]), np.ascontiguousarray(y[chosen])


def operands(name: str, dtype: dt.DType) -> tuple[np.ndarray, ...]:
    return pairs(dtype) if len(get_op(name).operand_names) == 2 else (numbers(dtype),)


def accepts(name: str, dtype: dt.DType, count: int, **attrs: Any) -> bool:
    """Whether the op is declared for ``dtype``."""
    try:
        get_op(name).infer(*[TensorType(dtype, (2,))] * count, **attrs)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("name", EXACT)
def test_exact_ops_have_the_bits_of_the_reference(name):
    count, tried = len(get_op(name).operand_names), 0
    for dtype in DTYPES:
        if not accepts(name, dtype, count) or (name == "conj" and dtype.is_bool):  # NumPy's conj of bool is an int8
            continue
        tried += 1
        if dtype.is_complex and name in ROUNDED:
            _close_complex(name, operands(name, dtype))
        else:
            check(name, *operands(name, dtype))
    assert tried


def _close_complex(name: str, arrays: tuple[np.ndarray, ...]) -> None:
    op = get_op(name)
    finite = np.logical_and.reduce([np.abs(a) < 1e4 for a in arrays])
    arrays = tuple([a[finite] for a in arrays])
    got, want = run_single(op, list(arrays), {}), compute_reference(op, list(arrays), {})
    assert got.dtype == np.asarray(want).dtype
    scale = np.maximum(np.abs(want), np.finfo(got.dtype).tiny)
    assert (np.abs(got - want) <= 4 * np.finfo(got.dtype).eps * scale).all()


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_casts_between_all_dtypes(source):
    for goal in DTYPES:
        check("cast", numbers(source), dtype=goal)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_select_identity_and_bits(dtype):
    x, y = pairs(dtype)
    condition = np.arange(x.size) % 3 == 0
    check("select", condition, x, y)
    check("select", condition[:1], x, y[:1])
    for name in ("identity", "stop_gradient"):
        check(name, x)
    check("assigned", x, y)
    same_size = [d for d in DTYPES if d.itemsize == dtype.itemsize and not d.is_bool]
    for goal in same_size:
        got = run_single(get_op("bitcast"), [x], {"dtype": goal})
        assert got.dtype == goal.numpy
        assert got.tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.is_integer or d.is_bool], ids=str)
def test_integer_powers(dtype):
    x, y = pairs(dtype)
    check("pow", x, y)


def test_neighbours_in_memory_do_not_matter():
    """A number has the same result in a vector, in the rest of a row, and alone."""
    x = numbers(dt.float32)[:45]
    for name in ("exp", "sin", "tanh", "lgamma", "fmod"):
        op = get_op(name)
        count = len(op.operand_names)
        whole = run_single(op, [x, x[::-1].copy()][:count], {})
        for i in range(x.size):
            one = run_single(op, [x[i : i + 1], x[::-1][i : i + 1].copy()][:count], {})
            assert one.tobytes() == whole[i : i + 1].tobytes() or (np.isnan(one[0]) and np.isnan(whole[i])), (
                name,
                x[i],
            )


@pytest.mark.parametrize("name", "exp log tanh erf sigmoid sqrt pow lgamma sin softplus".split())
@pytest.mark.parametrize("half", [dt.float16, dt.bfloat16], ids=str)
def test_half_types_compute_in_float32_and_round_once(name, half):
    count = len(get_op(name).operand_names)
    arrays = [numbers(half), numbers(half, seed=1)][:count]
    got = run_single(get_op(name), arrays, {})
    wide = run_single(get_op(name), [a.astype(np.float32) for a in arrays], {})
    with np.errstate(all="ignore"):
        want = wide.astype(half.numpy)
    assert got.dtype == half.numpy
    same = (got.view(np.uint16) == want.view(np.uint16)) | (np.isnan(wide) & np.isnan(got.astype(np.float32)))
    assert same.all(), arrays[0][~same]


COMPLEX = (
    "exp expm1 log log1p sqrt rsqrt sigmoid sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh reciprocal"
).split()


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128], ids=str)
def test_complex_functions(name, dtype):
    rng = np.random.default_rng(3)
    z = (rng.standard_normal(500) + 1j * rng.standard_normal(500)) * np.exp(rng.uniform(-3, 3, 500))
    z = z.astype(dtype.numpy)
    got = run_single(get_op(name), [z], {})
    want = compute_reference(get_op(name), [z.astype(np.clongdouble)], {})
    # the reference of sigmoid has poles, near which it is ill-conditioned
    allowed = 40 if name == "sigmoid" else 4
    assert (np.abs(got - want) <= allowed * np.finfo(dtype.numpy).eps * np.abs(want)).all()


@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128], ids=str)
def test_complex_powers_angles_and_lengths(dtype):
    rng = np.random.default_rng(4)
    z = ((rng.standard_normal(300) + 1j * rng.standard_normal(300)) * 2).astype(dtype.numpy)
    eps = np.finfo(dtype.numpy).eps
    for w in (rng.standard_normal(300) + 1j * rng.standard_normal(300), rng.integers(-5, 6, 300).astype(complex)):
        w = w.astype(dtype.numpy)
        got = run_single(get_op("pow"), [z, w], {})
        want = np.power(z.astype(np.clongdouble), w.astype(np.clongdouble))
        assert (np.abs(got - want) <= 60 * eps * np.abs(want)).all()
    for name, exact in (("angle", np.angle), ("abs", np.abs)):
        want = exact(z.astype(np.clongdouble))
        assert (np.abs(run_single(get_op(name), [z], {}) - want) <= 2 * eps * np.abs(want)).all()


BESSEL = [f"bessel_{kind}{order}" for kind in "ijky" for order in (0, 1)]
BESSEL += [f"bessel_{kind}{order}e" for kind in "ik" for order in (0, 1)]


@pytest.mark.parametrize("name", [*BESSEL, "polygamma", "zeta", "igamma", "igammac", "igamma_grad_a", "betainc"])
@pytest.mark.parametrize("real", [np.float32, np.float64], ids=lambda t: t.__name__)
def test_functions_that_are_series(name, real):
    """The same methods as the reference in another order of operations: special values alike, a few ulps apart."""
    rng = np.random.default_rng(5)
    op = get_op(name)
    attrs = {"n": 3} if name == "polygamma" else {}
    count = len(op.operand_names)
    special = np.array([0.0, -0.0, 1, -1, 0.5, 2, 25, 30, 100, np.inf, -np.inf, np.nan])
    grid = np.meshgrid(*[special] * count)
    arrays = [
        np.concatenate([rng.uniform(0, 1 if (name, k) == ("betainc", 2) else 40, 500), g.reshape(-1)]).astype(real)
        for k, g in enumerate(grid)
    ]
    if name == "zeta":
        arrays[0] = arrays[0] + real(1)
    got, want = run_single(op, arrays, attrs), compute_reference(op, arrays, attrs)
    assert got.dtype == real
    assert np.array_equal(np.isnan(got), np.isnan(want))
    with np.errstate(all="ignore"):
        error = np.abs(got - want) / np.maximum(np.abs(want), 1e-3)
    scaled = np.where((got == want) | np.isnan(want), 0, error) / np.finfo(real).eps
    assert scaled.max() <= (1.01 if real is np.float32 else 2000)


def test_roots_of_complex_infinities():
    """As C99 has them, annex G.6.4.2."""
    inf, nan = float("inf"), float("nan")
    cases = {
        complex(1, inf): complex(inf, inf), complex(nan, -inf): complex(inf, -inf), complex(inf, 1): complex(inf, 0),
        complex(-inf, 1): complex(0, inf), complex(-inf, -1): complex(0, -inf), complex(-0.0, -0.0): complex(0, -0.0),
    }  # fmt: skip
    got = run_single(get_op("sqrt"), [np.array(list(cases))], {})
    for z, root, want in zip(cases, got, cases.values(), strict=True):
        assert (str(root.real), str(root.imag)) == (str(want.real), str(want.imag)), z


def test_powers_of_small_whole_numbers_are_exact():
    x, y = (a.reshape(-1) for a in np.meshgrid(np.arange(1.0, 50), np.arange(9.0)))
    fits = x**y < 2**53
    got = run_single(get_op("pow"), [x[fits], y[fits]], {})
    assert got.tolist() == [float(int(a) ** int(k)) for a, k in zip(x[fits], y[fits], strict=True)]


@pytest.mark.parametrize("real", [np.float32, np.float64], ids=lambda t: t.__name__)
def test_squares_roots_and_reciprocals_are_rounded_once(real):
    """Beside other exponents or not."""
    x = np.abs(numbers(dt.float32 if real is np.float32 else dt.float64))
    with np.errstate(all="ignore"):
        for exponent, want in ((2, x * x), (0.5, np.sqrt(x)), (-1, 1 / x)):
            y = np.full_like(x, exponent)
            assert np.array_equal(run_single(get_op("pow"), [x, y], {}), want, equal_nan=True)
            y[::3] = 0.3
            mixed = run_single(get_op("pow"), [x, y], {})
            assert np.array_equal(
                np.delete(mixed, slice(0, None, 3)), np.delete(want, slice(0, None, 3)), equal_nan=True
            )


def test_order_is_kept():
    """Functions that rise do so also across the borders of their branches."""
    borders = {"erf": 1.0, "tanh": 0.625, "asin": 0.5, "atan": 0.41421356, "log": 0.70710678, "expm1": 0.34657359}
    for name, border in borders.items():
        for real in (np.float32, np.float64):
            x = border * (1 + np.arange(-200, 200) * 4 * np.finfo(real).eps)
            y = run_single(get_op(name), [x.astype(real)], {})
            steps = np.array([b - a for a, b in pairwise(y)])
            assert (steps >= -np.spacing(np.abs(y[1:]))).all(), name
