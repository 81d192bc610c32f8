"""What a branch has chosen among the caller's tensors leaves as the caller's own object, or as a view of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor

MODES = ["ast", "bytecode", "trace"]


class Pair(NamedTuple):
    one: Tensor
    other: Tensor


def one_of_two(x, y, k):
    return x if x.sum() > k else y


def itself_or_new(x, y, k):
    z = x if x.sum() > k else x * 2
    return z, y


def in_containers(x, y, k):
    z = x if x.sum() > 0 else y
    return {"a": [z, z], "b": Pair(z, x + k)}


def views(x, y, k):
    if x.sum() > k:
        z = x[1:3]
    else:
        z = y.T[:2]
    return z, z[0]


def bounds_from_outside(x, y, k):
    return x[:k] if x.sum() > 0 else x[k:]


def one_after_another(x, y, k):
    z = x
    for limit in (0, 5, 20):
        if z.sum() < limit:
            z = z + 1 if limit == 5 else y
    return z


def nested(x, y, k):
    if x.sum() > 0:
        z = y if y.sum() > k else x * y
    elif k > 1:
        z = x
    else:
        z = x.reshape(-1)[4:].reshape(3, 4)
    return z


def early_ends(x, y, k):
    for part in (x, y):
        if part.sum() > k:
            return part
    return x - y


PROGRAMS = [one_of_two, itself_or_new, in_containers, views, bounds_from_outside, one_after_another, nested, early_ends]


def tensors_in(value):
    if isinstance(value, Tensor):
        return [value]
    return [t for item in (value.values() if isinstance(value, dict) else value) for t in tensors_in(item)]


def outcome(f, x, y, k):
    """Which results are which arguments and one another, and what a write through each of them changes."""
    given = [x, y]
    out = tensors_in(f(x, y, k))
    seen = [[a is b for b in (*given, *out)] for a in out]
    for i, tensor in enumerate(out):
        seen.append([t.tolist() for t in (*given, *out)])
        tensor.mul_(i + 2)
    return seen, [t.tolist() for t in (*given, *out)]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mode", MODES)
def test_results_are_the_objects_of_dynamic_mode(program, mode):
    compiled = ms.jit(program, capture_mode=mode)
    for k, low, rows in [(1, 0, 4), (1, -9, 4), (2, 0, 4), (2, -9, 4), (3, -5, 4), (0, -9, 4), (1, 0, 5), (2, -20, 5)]:
        arguments = [np.arange(low + i, low + i + rows * 4, dtype=np.float32).reshape(rows, 4) / 4 for i in (0, 3)]
        if program is nested:
            arguments = [a[:4] for a in arguments]
        assert outcome(compiled, *map(Tensor, arguments), k) == outcome(program, *map(Tensor, arguments), k)
    assert compiled.explain().versions and not compiled.explain().fallbacks


def test_gradients_of_what_was_chosen():
    def f(x, y, k):
        return one_of_two(x, y, k) * 3 + itself_or_new(x, y, k)[0]

    compiled, loss = ms.jit(one_of_two), lambda of: lambda x, y: (of(x, y, 1) * x).sum()
    whole = ms.jit(ms.grad(lambda x, y: f(x, y, 1).sum(), (0, 1)))
    for low in (1.0, -3.0, 2.0, -1.0):
        x, y = Tensor([low, 2.0]), Tensor([4.0, low])
        for _ in range(3):
            for grads, wanted in (
                (ms.grad(loss(compiled), (0, 1)), ms.grad(loss(one_of_two), (0, 1))),
                (whole, ms.grad(lambda x, y: f(x, y, 1).sum(), (0, 1))),
            ):
                assert [g.tolist() for g in grads(x, y)] == [g.tolist() for g in wanted(x, y)]
