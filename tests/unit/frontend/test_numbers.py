"""Python numbers and strings as arguments: constants first, inputs of the program when they vary."""

import math

import pytest

import duograph as ms
from duograph import Tensor, ops
from tests.unit.frontend.cases import Cases, name_of, tensor

case = Cases()
P = tensor([1.0, 2.0])
N = tensor([-1.0, -2.0])


@case(*[(P, 3), (P, 4), (N, 0), (N, -2), (P, 2**40), (P, True), (P, 2.5), (P, 1.0)])
def number_arg(x, n):
    if n > 3:
        x = x * n
    y = n // 2 if n else 7
    return x + n, y, n % 3, -n, n**2, str(n), f"{n:>5}", isinstance(n, int), type(n), bool(n), n == 3


@case(*[(P, n) for n in (1, 2, 3, 4, 5)])
def number_shape(x, n):
    return ops.ones((n, 2)) * x, [x] * n, list(range(n)), x.reshape(-1, 1).expand((2, n)), {n: x}


@case(*[(P, n) for n in (1, 2, 3, 0)])
def number_div_error(x, n):
    return x * (10 // n), 10 / n


@case(*[(P, n) for n in ("a", "b", "c", "a")])
def string_arg(x, n):
    return x, n + "!", n == "b", n.upper()


@case(*[(P, n) for n in (0.1, 0.2, 0.3, float("nan"), float("inf"), -0.0, 0.0)])
def float_arg(x, n):
    return x * n, n + 1, max(n, 0.15), n if n > 0 else -n, round(n, 1) if n == n and n < 1e9 else None, n * 3 == 0.3


@pytest.mark.parametrize("case", case, ids=name_of)
def test_compiled_is_plain(case):
    case.check()


def test_tests_of_floats_are_native():
    def told(x):
        v = float(x.sum())
        if math.isnan(v):
            return "nan"
        return math.isinf(v), math.isfinite(v), math.fabs(v)

    compiled = ms.jit(told)
    for value in (1.5, float("nan"), float("inf"), -float("inf"), -0.0, 1e-45) * 2:
        x = Tensor([value, 0.0], ms.float32)
        assert repr(compiled(x)) == repr(told(x))
    (version,) = compiled.explain().versions
    assert version["in_python"] == [] and version["native_calls"] > 0
