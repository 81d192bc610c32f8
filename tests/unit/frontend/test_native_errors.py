"""What cannot work with run-time numbers and sizes raises: a refusal with a reason, never an error of the program."""

import collections
import math
import statistics

import pytest

import duograph as ms
from duograph import Tensor, ops

X = Tensor([1.0, 2.0, 0.0, 3.0])
M = Tensor([True, False, True, True])


def handled(x):
    try:
        return ops.ones((int(x.sum()),))
    except TypeError:  # "every element of the shape must be an int, but got Scalar"
        return x


def handled_in_a_generator(x):
    def rows(n):
        try:
            yield ops.ones((n,))
        except TypeError:
            yield x

    return list(rows(int(x.sum())))


def printed_before(x):
    print("comparing")
    return int(x.sum()) < None


REFUSED = [
    (lambda x, m: ops.ones((int(x.sum()),)), "ones of values only known at run time"),
    (lambda x, m: x.expand((int(x.sum()), 4)), "expand of values only known at run time"),
    (lambda x, m: ops.topk(x, int(m.sum()))[0], "the value of this int is only known"),
    (lambda x, m: ops.split(ops.masked_select(x, m), 1), "the size hits"),
    (lambda x, m: ops.masked_select(x, m).numel(), "a size that is only known at run time leaves"),
    (lambda x, m: len(range(int(x.sum()))), "a range with bounds only known at run time"),
    (lambda x, m: {6.0: "six"}[int(x.sum())], "a key of a dict that is only known"),
    (lambda x, m: {int(x.sum()): x}, "the value of this int is only known"),
    (lambda x, m: {int(x.sum())}, "the value of this int is only known"),
    (lambda x, m: collections.Counter([int(x.sum())]), "the value of this int is only known"),
    (lambda x, m: math.gcd(int(x.sum()), 4), "the value of this int is only known"),
    (lambda x, m: int(x.sum()).bit_length(), "'bit_length' of a number that is only known"),
    (lambda x, m: int(x.sum()) < None, "lt of values only known at run time (TypeError: "),
    (lambda x, m: x[: int(m.sum())] @ ops.ones((7, 3)), "matmul of values only known at run time"),
    (lambda x, m: statistics.mean(float(v) for v in x.unbind()), "mean of values only known at run time (TypeError: "),
    (lambda x, m: handled(x), "ones of values only known at run time"),
    (lambda x, m: handled_in_a_generator(x), "ones of values only known at run time"),
]


def seen(fn):
    try:
        return str(fn(X, M))
    except Exception as error:  # noqa: BLE001 - what a program raises is part of what is seen
        return type(error), str(error)


@pytest.mark.parametrize("program, reason", REFUSED)
def test_a_refusal_has_a_reason_and_plain_python_answers(program, reason):
    compiled = ms.jit(program)
    for _ in range(2):
        assert seen(compiled) == seen(program)
    (fallback,) = compiled.explain().fallbacks
    assert fallback.reason.startswith(reason) and compiled.stats["versions"] == 0


def test_what_is_printed_before_a_refusal_is_printed_once(capsys):
    compiled = ms.jit(lambda x, m: printed_before(x))
    for _ in range(4):
        assert seen(compiled)[0] is TypeError
    assert capsys.readouterr().out == "comparing\n" * 4


def own_error_below_native_code(x):
    def loss(y):
        raise ValueError("mine")

    try:
        return ms.grad(loss)(x[: int(x.sum())])
    except ValueError as error:
        return f"{error} of {int(x.sum())}"


def attributes_of_a_number(x):
    n = int(x.sum())
    return hasattr(n, "node"), getattr(n, "kind", None), n.__class__, n.__add__(1), hasattr(n, "shape")


def missing_attribute(x):
    return int(x.sum()).shape


def size_in_a_test(x):
    found = ops.masked_select(x, x > 0)
    return found + 1 if found.size else x


def size_of_two_dimensions(x):
    found = ops.nonzero(x.reshape(2, 2))
    return found.size * x


def view_of_varying_shape(x):
    found = ops.masked_select(x, x > 0)
    column = found.reshape(-1, 1)
    column += 1
    return found, column


def texts_joined(x):
    named = {f"n{i}": float(v) for i, v in enumerate(x.unbind())}
    return " | ".join(f"{k}={v:.2e}" for k, v in named.items()), ",".join(map(str, x.tolist())), "".join(iter("ab"))


def joined_after_an_error(x):
    def parts():
        yield f"{float(x.sum()):.1f}"
        raise ValueError("mine")

    try:
        return " ".join(parts())
    except ValueError as error:
        return str(error)


CAPTURED = [
    texts_joined, joined_after_an_error,
    own_error_below_native_code, attributes_of_a_number, missing_attribute, size_in_a_test, size_of_two_dimensions,
    view_of_varying_shape,
]  # fmt: skip


@pytest.mark.parametrize("program", CAPTURED)
def test_what_is_known_of_numbers_and_sizes_is_captured(program):
    compiled = ms.jit(program)
    for x in (X, -X, X):
        assert [seen(lambda *_: compiled(x))] == [seen(lambda *_: program(x))]
    assert not compiled.explain().fallbacks
