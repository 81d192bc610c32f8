"""A gradient that needs what was overwritten raises, in compiled code exactly where eager does.

Eager's rules read what they need on the path that was taken; whether a compiled call's one backward graph needs a
tensor says something else: it serves all paths, and does without what leads nowhere. So a call becomes the ops of its
program on the tape when something that it has read or given is about to be overwritten (``autodiff/unfold.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, ops
from duograph.ir.control import anchor, sized


def product(x, y):
    return x * y


def branch(x, y):
    if x.sum() > 0:
        return x * y
    return x + y


def other_branch(x, y):
    z = x * 2 if x.sum() > 0 else x * y
    return z + 1


def loop(x, y):
    i = 0
    while x.sum() < 100 and i < 3:
        x = x * y
        i += 1
    return x


def dropped(x, y):
    """What flows into ``floor`` leads nowhere, but a rule has read ``y`` for it."""
    return (ops.floor(x) * y).sum() + x.sum()


def exponential(x, y):
    return ops.exp(x * 1)


def writes(x, y):
    z = x * y
    y.add_(1)
    return z


def writes_first(x, y):
    y.add_(1)
    return x * y


def writes_sometimes(x, y):
    z = x * y
    if x.sum() > 0:
        y.add_(1)
    return z


def writes_a_view(x, y):
    z = x * y[:3]
    y[0] = 5.0
    return z


def writes_the_rest(x, y):
    y[1:][None].add_(1)
    return x * 2


def writes_nothing(x, y):
    y[3:].add_(1)
    y[-1:][1:] = 2.0
    return x * y


PARTS = [
    product,
    branch,
    other_branch,
    loop,
    dropped,
    exponential,
    writes,
    writes_first,
    writes_sometimes,
    writes_a_view,
    writes_the_rest,
    writes_nothing,
]


def nothing(f, x, y):
    return f(x, y).sum()


def operand(f, x, y):
    z = f(x, y)
    y.add_(1)
    return z.sum()


def result(f, x, y):
    z = f(x, y)
    doubled = z * 1
    z.mul_(2)
    return doubled.sum()


def view(f, x, y):
    v = y[:]
    z = f(x, y)
    v[0] = 7.0
    return z.sum()


def another_part(f, x, y):
    whole = ops.concat([y, y])
    z = f(x, whole[:3])
    whole[4] = 7.0
    return z.sum()


def same_part(f, x, y):
    whole = ops.concat([y, y])
    z = f(x, whole[:3])
    whole[1] = 7.0
    return z.sum()


def computed(f, x, y):
    t = x * 1
    z = f(t, y)
    t.add_(1)
    return z.sum()


def twice(f, x, y):
    return (f(x, y) * f(x, y)).sum()


def used_before_and_after(f, x, y):
    t = y * x
    z = f(x, t)
    return (t * z).sum()


def read_in_part_before(f, x, y):
    t = y * 1
    z = ops.exp(t[:1]) * t[0]
    return z.sum() + f(x, t).sum()


def seen_in_part_before(f, x, y):
    t = ops.concat([y, y])
    z = ops.exp(t[:4])
    return z.sum() + f(x, t[3:]).sum()


USES = [
    nothing,
    operand,
    result,
    view,
    another_part,
    same_part,
    computed,
    twice,
    used_before_and_after,
    read_in_part_before,
    seen_in_part_before,
]


def gradient(f):
    return lambda x, y: ms.grad(f, (0, 1))(x, y)


def gradient_of_one(f):
    return lambda x, y: (ms.grad(f, 0)(x, y),)


def compiled_gradient(f):
    return lambda x, y: ms.jit(ms.grad(f, (0, 1)))(x, y)


def second(f):
    return lambda x, y: ms.grad(lambda a, b: (ms.grad(f)(a, b) * a).sum(), (0, 1))(x, y)


def write_between(f):
    def of(x, y):
        _, pull = ms.vjp(f, x, y)
        y.add_(1)
        return pull(Tensor(1.0))

    return of


def write_in_the_outer_gradient(f):
    def outer(x, y):
        inner = ms.grad(f)(x, y)
        y.mul_(2)
        return (inner * x).sum()

    return lambda x, y: ms.grad(outer, (0, 1))(x, y)


def parameter(f):
    def of(x, y):
        p = Parameter(y, name="p")
        gx, gp = ms.grad(lambda x: f(x, p), 0, weights=p)(x)
        return gx, gp, p

    return of


WAYS = [gradient, gradient_of_one, compiled_gradient, second, write_between, write_in_the_outer_gradient, parameter]


def outcome(call: Callable[..., Any], sign: float) -> Any:
    """Gradients or error, and what became of the arguments."""
    x, y = Tensor(np.array([1, 2, 3], np.float32) * sign), Tensor([2.0, 3.0, 4.0])
    try:
        shown: Any = [t.asnumpy().tolist() for t in call(x, y)]
    except RuntimeError as error:
        shown = str(error)
    return shown, x.asnumpy().tolist(), y.asnumpy().tolist()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("part", PARTS)
def test_compiled_code_raises_where_eager_does(part, way):
    for use in USES:
        plain, compiled = part, ms.jit(part)
        for sign in (1.0, -1.0, 1.0):
            expected = outcome(way(lambda x, y, f=plain, use=use: use(f, x, y)), sign)
            found = outcome(way(lambda x, y, f=compiled, use=use: use(f, x, y)), sign)
            assert found == expected, f"{use.__name__}, {sign}"


def test_the_call_stays_compiled_where_nothing_is_overwritten():
    """Only the calls whose operands are written become single ops."""
    compiled = ms.jit(product)
    for _ in range(3):
        assert outcome(gradient(lambda x, y: another_part(compiled, x, y)), 1.0)[0] == [[2, 3, 4], [1, 2, 3]]
    (version,) = compiled.explain().versions
    assert version["hits"] == 3 and not version["plain_runs"]


def test_a_call_that_draws_random_numbers_is_repeated_with_the_same():
    """The graph that repeats the call has the state of the generator among its operands."""

    def noisy(x, y):
        return x * y * ops.rand(3)

    seen = []
    for f in (noisy, ms.jit(noisy)):
        ms.set_seed(5)

        def loss(x, y, f=f):
            t = x * 1
            z = f(t, y)
            whole = ops.concat([z, z])
            z.mul_(2)  # a result that no rule reads
            return whole.sum() + ops.rand(3).sum()

        seen.append(outcome(gradient(loss), 1.0))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("first_of", [sized, anchor], ids=["sized", "anchor"])
def test_values_that_only_come_first_are_no_operands_of_gradients(first_of):
    def fn(x):
        y = first_of(Tensor([2.0, 3.0]), x * 3)
        z = y**2.5
        y[0] = 7.0
        return z.sum() + x.sum()

    assert ms.grad(fn)(Tensor([1.0, 4.0])).asnumpy().tolist() == [1.0, 1.0]


def test_what_was_read_of_a_parameter_that_is_written_again_and_again():
    weight, x = Parameter(Tensor([1.0, 2.0, 3.0])), Tensor([0.5, -1.0, 2.0])

    @ms.jit
    def square(x):
        return x * x

    def f(x):
        total = 0.0
        for k in range(4):
            total = total + (x * weight).sum() + (x[:2] * weight[1:]).sum() + square(x * weight[0]).sum()
            ops.assign(weight, weight * 2 + k)
        return total

    w, wanted = weight.asnumpy().copy(), np.zeros(3, np.float32)
    for k in range(4):
        wanted += w + [*w[1:], 0] + 2 * x.asnumpy() * w[0] ** 2
        w = w * 2 + k
    start = weight.asnumpy().copy()
    for function in (f, ms.jit(f)):
        weight.set_data(Tensor(start))
        np.testing.assert_allclose(ms.grad(function)(x).asnumpy(), wanted, rtol=1e-6)
        np.testing.assert_array_equal(weight.asnumpy(), w)
