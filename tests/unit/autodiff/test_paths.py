"""Gradients through code whose path depends on data, of any order, inside and outside: the bits of plain Python.

Sums of gradients are added in the order of the program. A graph knows the order where each value is one variable to the
tapes around it, as it is to a tape that sees the program run. Where a path makes two names of one value, or a value is
saved twice on its way to a gradient of a gradient, no graph for all paths knows it: plain Python answers.
"""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops

SMOOTH = {
    "tanh": ops.tanh, "sigmoid": ops.sigmoid, "gelu": ops.gelu, "silu": ops.silu, "softplus": ops.softplus,
    "erf": ops.erf, "exp": ops.exp, "rsqrt": ops.rsqrt, "tan": ops.tan, "reciprocal": lambda x: 1 / (x * x + 2),
}  # fmt: skip


def arguments(dtype, count=6):
    return [Tensor(np.random.default_rng(s).random(5).astype(dtype)) for s in range(count)]


def nth(f, order):
    for _ in range(order):
        f = ms.grad(f)
    return f


def bits(x):
    return x.asnumpy().tobytes()


def assert_same(f, order, xs, *, is_compiled=None):
    """``is_compiled``: whether the gradient is expected to become one graph."""
    plain, whole, around = nth(f, order), ms.jit(nth(f, order)), nth(ms.jit(f), order)
    for x in xs:
        expected = bits(plain(x))
        assert bits(whole(x)) == expected, "compiled as a whole"
        assert bits(around(x)) == expected, "of the compiled function"
    if is_compiled is not None:
        assert not whole.explain().fallbacks == is_compiled
    assert not whole.explain().failures


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SMOOTH)
def test_third_derivative_in_a_branch(name, dtype):
    """A residual that is a result of the branch is saved as that. Saved once more, it was another variable."""

    def f(x):
        if x.sum() < 100:
            return SMOOTH[name](x)
        return x

    assert_same(f, 3, arguments(dtype), is_compiled=True)


def loop(x):
    i = 0
    while x.sum() < 1000 and i < 2:
        x = ops.tanh(x) + x
        i += 1
    return x


def carried_residual(x):
    """What an iteration saves is what it gives, which the code after the loop uses more than once."""
    i = 0
    while x.sum() < 1000 and i < 4:
        x = ops.tanh(x)
        i += 1
    return x * x * ops.sin(x)


def two_carries(x):
    i, y = 0, x * 2
    while x.sum() < 1000 and i < 4:
        x, y = ops.tanh(y) * y, ops.tanh(x)
        i += 1
    return x * y


def two_names_in_a_loop(x):
    i, y = 0, x * 1
    while x.sum() < 1000 and i < 3:
        x = y = ops.tanh(x * y) + x * y * x + y
        i += 1
    return x * y * x + y


def two_names_in_a_branch(x):
    y, z = x * 2, x * 3
    if x.sum() < 1000:
        y = z = ops.sin(x)
    return y * z * y + z + y * y


def a_branch_that_hands_on(x):
    x = x * 1.1
    y = x * 2
    if x.sum() < 1000:
        y = x
    return y * x * y + y * y * y + x * x


def nested_branches(x):
    if x.sum() < 10:
        y = ops.sigmoid(x)
        if x.sum() < 2.5:
            y = y * ops.tanh(y)
        return y * x
    return x


def recursion(x, n):
    if n <= 0:
        return x
    y = ops.tanh(x)
    return recursion(y * y, n - 1) * y


def recursive(x):
    return recursion(x, (x * 0 + 2)[0])


PROGRAMS = [loop, carried_residual, two_carries, two_names_in_a_loop, two_names_in_a_branch, a_branch_that_hands_on,
            nested_branches, recursive]  # fmt: skip


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("f", PROGRAMS)
def test_orders_of_sums(f, order):
    assert_same(f, order, arguments(np.float32))


@pytest.mark.parametrize(
    ("f", "order", "is_compiled"),
    [
        (loop, 1, True), (loop, 2, True), (loop, 3, False), (carried_residual, 1, True), (carried_residual, 2, False),
        (two_carries, 1, True), (nested_branches, 1, True), (two_names_in_a_branch, 1, False), (recursive, 1, True),
    ],
)  # fmt: skip
def test_what_is_left_to_plain_python(f, order, is_compiled):
    """No more than must be."""
    assert_same(f, order, arguments(np.float32, 2), is_compiled=is_compiled)


def test_what_a_gradient_needs_of_a_path_that_leads_nowhere():
    """Where data decide whether something flows in, one branch computes all that follows, also what is dropped."""

    def f(x):
        i = 0
        while x.sum() < 1000 and i < 2:
            x = ops.sinc(x) * x + ops.norm(x)
            i += 1
        return x

    assert_same(f, 3, arguments(np.float32, 2))


class Halved(nn.Cell):
    def construct(self, x):
        if x.sum() > 1:
            x = x * 0.5
        return x + x * x


def test_a_value_handed_on_and_used_besides():
    """The order of the sum is only known once the gradient is taken: then the call is repeated, op by op."""
    compiled = ms.jit(Halved())

    def around(part):
        def loss(x):
            y = ops.sin(x)
            return part(y) * y * y + y * part(y)

        return loss

    for x in (*arguments(np.float32), *[Tensor(-x.asnumpy()) for x in arguments(np.float32)]):
        for order in (1, 2):
            assert bits(nth(around(compiled), order)(x)) == bits(nth(around(Halved()), order)(x))


INTEGERS = {
    "a power of indices": lambda x: 2 ** x.sort(0)[1],
    "the largest of integers": lambda x: x.astype(ms.int16).max(),
    "in a branch": lambda x: 2 ** x.sort(0)[1] if x.sum() > 0 else x.sort(0)[1],
}


@pytest.mark.parametrize("name", INTEGERS)
def test_rules_that_refuse_integers(name):
    """Gradients pass through integers (MindSpore's rule); some rules refuse them, but only if something flows."""
    integers = INTEGERS[name]

    def f(x):
        return x * x, integers(x)

    for x in (Tensor([3.0, 1.0, 2.0]), Tensor([-3.0, 1.0, -2.0])):
        results = []
        for part in (f, ms.jit(f)):
            taken = ms.grad(part, has_aux=True)
            for call in (taken, ms.jit(lambda x, taken=taken: taken(x)), ms.jit(taken, jit_level="O0")):
                gradient, (value,) = call(x)
                results.append((bits(gradient), bits(value)))
                results[-1] += tuple(bits(g) for g in [ms.grad(lambda x, call=call: call(x)[0])(x)])
            try:
                results.append(bits(ms.grad(part)(x)))
            except TypeError as error:
                results.append(str(error))
        assert results[:4] == results[4:] and len(set(results[:3])) == 1


def nowhere(x):
    y = x * 2
    if ops.ones(3)[Tensor(7)] > 0:
        y = x
    return y * x


def as_many_as_come(x):
    y = x * 2
    if ops.ones(x.shape).sum() > 3:
        y = x
    return y * x


@pytest.mark.parametrize("f", [nowhere, as_many_as_come])
def test_decisions_that_no_value_goes_into(f):
    """They are no constants, but for that, if sizes do or the way to them raises."""
    part, found = ms.jit(f), []
    for gradient in (ms.grad(f), ms.grad(part), ms.jit(ms.grad(f))):
        for n in (2, 3, 4, 5):
            try:
                found.append(bits(gradient(Tensor(np.arange(n, dtype=np.float32)))))
            except IndexError as error:
                found.append(str(error))
    assert found[:4] == found[4:8] == found[8:]
    assert not part.explain().failures


def left_in_a_loop(x):
    for n in range(4):
        x = x * x
        if x.sum() * n > 3:
            return (x * x).sum()
    return x.sum()


def recursive_on_bools(x):
    return recursion_of_squares(x, x.sum() * 0)


def recursion_of_squares(x, n):
    return x if n <= 0 else recursion_of_squares(x * x, n - 1)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("f", [left_in_a_loop, recursive_on_bools])
def test_gradients_of_bools(f, order):
    """They are bools, as those of eager mode, which no backward graph adds up."""
    plain = nth(f, order) if order == 1 else ms.grad(lambda x: ms.grad(f)(x).sum())
    part = ms.jit(f)
    around = ms.grad(part) if order == 1 else ms.grad(lambda x: ms.grad(part)(x).sum())
    for x in (Tensor([True, True]), Tensor([True, False, True])):
        expected = plain(x)
        for gradient in (around, ms.jit(plain)):
            assert (gradient(x).dtype, bits(gradient(x))) == (expected.dtype, bits(expected))
