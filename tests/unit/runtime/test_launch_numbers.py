"""Numbers as operands of native calls: another one each time takes the record of the first, with the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, product
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import ops
from duograph.runtime.kernels import single
from duograph.runtime.launch import launcher
from tests.unit.growth import growth
from tests.unit.runtime.engine import bits, f32, in_python, launching

FLOATS = (
    *(0.0, -0.0, 1 / 3, -2.5, 1e300, 1e-46, float("inf"), float("-inf"), float("nan"), 16777217.0, 5e-324),
    *(
        6e-8,
        2.0**-14,
        -(2.0**-14) * (1 - 2.0**-12),
        65503.999,
        65504.0,
        -65519.999,
        65520.0,
        66000.0,
    ),  # float16
    *(1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-11 + 2.0**-40, 2047.5, 2 - 2.0**-12),  # ties, and next to them
    *(1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-40, 3.4e38, 3.3962e38),  # so for bfloat16
    *(float(n) for n in np.random.default_rng(1).standard_normal(300) * np.logspace(-9, 9, 300)),
)
INTS = (
    *(0, 1, -1, 300, 2049, -4099, 65503, 65519, 65520, 2**24 + 1, 2**53 + 1, 2**31, -(2**31), 2**63 - 1, -(2**63)),
    2**64 + 5,
)
DTYPES = (
    *(ms.float16, ms.bfloat16, ms.float32, ms.float64, ms.int8, ms.int16, ms.int32, ms.int64),
    *(ms.uint8, ms.uint16, ms.uint32, ms.uint64, ms.bool_, ms.complex64, ms.complex128),
)  # fmt: skip


@pytest.fixture(autouse=True)
def engine() -> Iterator[launcher.Engine]:
    with launching() as found:
        yield found


def learns(fn: Callable[[Any], Any], *numbers: Any) -> None:
    """Two calls, after which there is a record of such calls."""
    for number in numbers:
        fn(number)


def is_native(fn: Callable[[Any], Any], number: Any) -> bool:
    before = launcher.statistics()["misses"]
    fn(number)
    return launcher.statistics()["misses"] == before


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("numbers", [FLOATS, INTS], ids=["floats", "ints"])
def test_bits_of_the_number(engine, dtype, numbers):
    """`where` hands the number on as it is stored."""
    x, mask = ms.Tensor([1, 0, 3], dtype), ms.Tensor([True, False, True])
    ways = [lambda n: ops.where(mask, x, n), lambda n: x == n]
    ways += [lambda n: x * n] if dtype is not ms.bool_ else []
    for fn in ways:
        learns(fn, numbers[0], numbers[1])
        for number in numbers:
            assert bits(fn(number)) == bits(in_python(engine, lambda n=number: fn(n))), number


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "x * n": lambda x, n: x * n,
    "n / x": lambda x, n: n / x,
    "x / n": lambda x, n: x / n,
    "x ** n": lambda x, n: x**n,
    "n ** x": lambda x, n: n**x,
    "x < n": lambda x, n: x < n,
    "x != n": lambda x, n: x != n,
    "ops.sub": lambda x, n: ops.sub(x, n),
    "ops.pow": lambda x, n: ops.pow(x, n),
    "x.pow": lambda x, n: x.pow(n),
    "clamp": lambda x, n: ops.clamp(x, 0, n),
    "clamp named": lambda x, n: ops.clamp(x, max=n),
    "x.clamp": lambda x, n: x.clamp(n, 2.0),
    "clip_by_value": lambda x, n: ops.clip_by_value(x, 0.25, n),
    "where": lambda x, n: ops.where(x > n, x, n),
    "x.where": lambda x, n: x.where(x > n, n),
    "masked_fill": lambda x, n: ops.masked_fill(x, x > 1, n),
    "lerp": lambda x, n: ops.lerp(x, x * x, n),
    "atan2": lambda x, n: ops.atan2(x, n),
    "one number twice": lambda x, n: ops.clamp(x, n, n),
    "leaky_relu": lambda x, n: ops.leaky_relu(x - 2, n),
    "elu": lambda x, n: ops.elu(x - 2, n),
    "celu": lambda x, n: ops.celu(x - 2, n + 3),
    "hardshrink": lambda x, n: ops.hardshrink(x, n),
    "softshrink": lambda x, n: ops.softshrink(x, n),
    "threshold": lambda x, n: ops.threshold(x, n, n),
    "hardtanh": lambda x, n: ops.hardtanh(x, -2.0, n),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_new_number_takes_the_record_of_the_first(engine, name):
    x = f32(5)

    def fn(number: Any) -> Any:
        return CALLS[name](x, number)

    learns(fn, 0.5, 0.5, 0.5)
    for number in (0.75, 0.25, 0.0, -1.5, 1 / 3):
        want = bits(in_python(engine, lambda n=number: fn(n)))
        assert is_native(fn, number)
        assert bits(fn(number)) == want


@pytest.mark.parametrize("name", CALLS)
def test_gradients_of_new_numbers(engine, name):
    x = f32(5)
    gradient = ms.grad(lambda x, n: (CALLS[name](x, n) * x).sum())
    for number in (0.5, 0.5, 0.5, 0.75, 0.25, 3.0, 1 / 3):
        assert bits(gradient(x, number)) == bits(in_python(engine, lambda n=number: gradient(x, n)))


@pytest.mark.parametrize(("first", "second"), list(product((0, 0.0, 1, 1.0), repeat=2)))
def test_which_number_is_which(engine, first, second):
    """Numbers that are equal, or occur in the function's code, are told apart when the record is made."""
    x = f32(6)

    def fn(low: Any, high: Any) -> Any:
        return ops.clamp(x, low, high)

    for _ in range(3):
        fn(first, second)
    other = type(first)(-1), type(second)(1)
    assert bits(fn(*other)) == bits(in_python(engine, lambda: fn(*other)))


def test_numbers_that_are_not_stored_natively(engine):
    """Ints above 64 bits, bool, complex and NumPy's numbers are as in Python, after calls that were native."""
    x = ms.Tensor([1, 2], ms.int64)
    learns(lambda n: x * n, 2, 3, 4)
    for number in (2**64 + 3, -(2**70), True, 2j, np.float32(0.5), np.int8(3)):
        assert bits(x * number) == bits(in_python(engine, lambda n=number: x * n))


def test_new_numbers_of_what_fills_are_not_lowered():
    x, before = f32(4), len(single._singles)
    for i in range(50):
        number = 0.1 + i
        assert ops.full_like(x, number).asnumpy().tolist() == [float(np.float32(number))] * 4
        assert x.fill_(number).asnumpy().tolist() == [float(np.float32(number))] * 4
    assert len(single._singles) - before < 5
    for _ in range(3):
        assert ops.full_like(x, 7.25).asnumpy().tolist() == [7.25] * 4


def lowered() -> int:
    """How many calls of ops that only store numbers have kernels."""
    return sum(key[0].name in single._STORING for key in single._singles)


STORING: dict[str, tuple[Callable[[Any], Any], Callable[[int], Any]]] = {
    "arange": (lambda n: ops.arange(n, n + 5), lambda i: i),
    "arange of floats": (lambda n: ops.arange(n, n + 1, 0.3), lambda i: i / 7),
    "eye": (lambda n: ops.eye(4, n), lambda i: i + 1),
    "full": (lambda n: ops.full((3, 5), n, dtype=ms.float32), lambda i: i / 3),
    "linspace": (lambda n: ops.linspace(-0.1, n, 7), lambda i: i / 3),
    "one_hot": (lambda n: ops.one_hot(ms.Tensor([0, 3, 1]), n, ms.Tensor(2.0), ms.Tensor(0.5)), lambda i: i + 1),
    "pad": (lambda n: ops.pad(f32(2, 3), (1, 2), value=n), lambda i: i / 3),
    "pad by": (lambda n: ops.pad(f32(2, 3), (n, 1), mode="constant"), lambda i: i),
    "roll": (lambda n: ops.roll(f32(7), n, 0), lambda i: i),
}


@pytest.mark.parametrize("name", STORING)
def test_new_numbers_of_what_stores_are_not_lowered(engine, name):
    """Calls that come once are computed by the reference; those that come back by kernels, with the same bits."""
    fn, number = STORING[name]
    single._singles.clear()  # which happens at any time
    before = lowered()
    first = [bits(fn(number(i))) for i in range(40)]
    assert lowered() == before
    assert [[bits(fn(number(i))) for i in range(40)] for _ in range(3)] == [first] * 3
    assert lowered() > before


def test_records_of_many_numbers_are_made_late(engine):
    """The first ones of a function when they come back, further ones when they have come often."""
    x = f32(3)
    for _ in range(2):
        for i in range(launcher.FEW_RECORDS + 10):
            ops.roll(x, i, 0)
    before = launcher.statistics()["records"]
    for _ in range(launcher.OFTEN - 3):
        for i in range(launcher.FEW_RECORDS + 10):
            ops.roll(x, i, 0)
    assert launcher.statistics()["records"] == before
    for _ in range(3):
        for i in range(launcher.FEW_RECORDS + 10):
            ops.roll(x, i, 0)
    assert launcher.statistics()["records"] == before + 10


@pytest.mark.parametrize("function", [ops.subtract, ms.Tensor.subtract, ms.mint.sub, ms.mint.add])
def test_a_factor_of_one_is_no_factor(function):
    """It makes no int64 of bools, after calls with other factors that were native."""
    x, y = ms.Tensor([3, 4], ms.int32), ms.Tensor([True, False])
    for alpha in (2, 3, 4, 5):
        assert function(x, y, alpha=alpha).dtype == ms.int64
    assert function(x, y, alpha=1).dtype == ms.int32


BEHIND: dict[str, Callable[[Any, Any], Any]] = {
    "softplus": lambda x, n: ops.softplus(x, n),
    "softplus of 1": lambda x, n: ops.softplus(x, 1, n),
    "addcmul": lambda x, n: ops.addcmul(x, x, x + 1, value=n),
    "addcdiv": lambda x, n: ops.addcdiv(x, x, x + 1, value=n),
}


@pytest.mark.parametrize("name", BEHIND)
def test_what_looks_at_a_number_has_what_does_not_behind_it(engine, name):
    """One miss for each new number, of the function itself, and bits and gradients of Python."""
    x = f32(5)
    gradient = ms.grad(lambda x, n: (BEHIND[name](x, n) * x).sum())
    for number in (0.5, 0.5, 0.5, 0.5, 0.75, 1.0, 1, 1 / 3, 2, 3, 4, 5):
        assert bits(BEHIND[name](x, number)) == bits(in_python(engine, lambda n=number: BEHIND[name](x, n)))
        assert bits(gradient(x, number)) == bits(in_python(engine, lambda n=number: gradient(x, n)))
    before = launcher.statistics()["misses"]
    for number in (0.7, 0.8, 0.9):
        BEHIND[name](x, number)
    assert launcher.statistics()["misses"] == before + 3


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_numbers_of_activations_in_every_dtype(engine, dtype):
    """What a dtype does not have is what it is in Python, a number of it or an error, after calls that were native."""
    x = ms.Tensor([1, 0, 3], dtype)

    def outcome(fn: Callable[..., Any]) -> Any:
        try:
            return bits(fn())
        except Exception as error:  # noqa: BLE001 - the same one is expected
            return type(error), str(error).splitlines()[0]

    for fn in (lambda n: ops.hardtanh(x, 0, n), lambda n: ops.threshold(x, 1, n), lambda n: ops.leaky_relu(x, n)):
        for number in (2, 3, 4, 5, 0.5, 0.25, 1.5, 300, -70000, 2**40, 2**70, 1e39, float("nan")):
            wanted = outcome(lambda fn=fn, n=number: in_python(engine, lambda: fn(n)))
            assert outcome(lambda fn=fn, n=number: fn(n)) == wanted, number


def with_new_numbers() -> Callable[[], object]:
    x, numbers = f32(4), count(1)

    def work() -> None:
        for _ in range(20_000):
            number = float(next(numbers))
            _ = x * number, x / number, ops.clamp(x, 0, number)

    return work


def test_new_numbers_leave_nothing():
    assert growth(with_new_numbers) < 1000
