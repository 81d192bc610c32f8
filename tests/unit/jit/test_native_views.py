"""Results that are views are made by native code: the same memory, links and objects as in plain Python."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, mint
from duograph.runtime.calls.views import MOST
from tests.unit.jit.native_calls import is_native, python_within, warmed


def rows(n, columns=6):
    return Tensor(np.arange(n * columns, dtype=np.float32).reshape(n, columns) - 5)


class Pair(NamedTuple):
    part: Tensor
    rest: Tensor


RESULTS = [
    lambda x: (x * 2).reshape(-1, 2, 3),
    lambda x: (x * 2).T,
    lambda x: (x * 2)[:, 0],
    lambda x: (x * 2)[-1],
    lambda x: (x * 2)[:, ::2][:, None],
    lambda x: x * 2 @ mint.ones(6),
    lambda x: (x * 2).max(1),
    lambda x: mint.broadcast_to((x * 2)[:, :1], (x.shape[0], 4)),
    lambda x: mint.split(x + 1, 3, 1),
    lambda x: [x[0], x.T[1:3], x.T],
    lambda x: {"a": (y := x + 1), "b": (z := y[1:]), "c": z[:, 2], "d": z},
    lambda x: x[x[:, 0] > -4][:, 1:],
    lambda x: (x + 1)[:, :0],
]


def described(value):
    """All that can be seen of tensors: bits, layout, and which memory they are views of."""
    if isinstance(value, Tensor):
        array = value.asnumpy()
        links, tensor = [], value
        while tensor._view is not None:
            links.append((tensor._view.op.name, sorted(tensor._view.attrs.items())))
            tensor = tensor._view.parent
        return array.tobytes(), array.dtype, array.shape, value.array().strides, value.array().flags.writeable, links
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    return [type(value), *map(described, value)] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("f", RESULTS)
@pytest.mark.parametrize("sizes", [(4,), (4, 5, 7, 2)], ids=str)
def test_views_are_those_of_python(f, sizes):
    compiled, held = ms.jit(f), [rows(n) for n in sizes]
    for x in held * 3:
        assert described(compiled(x)) == described(f(x))
    for x in held:
        assert is_native(compiled, x) and not python_within(compiled, x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x + 1)[0].expand((x.shape[0], 6)),
        lambda x: (x + 1)[: x.shape[0] // 2].reshape(-1)[:, None],
        lambda x: mint.broadcast_to((x + 1)[: x.shape[0] // 2][0, 0], (x.shape[0],)),
        lambda x: (x + 1)[1:].reshape(x.shape[0] - 1, 3, 2),
    ],
)
def test_sizes_that_the_shape_of_the_parent_does_not_tell(f):
    compiled = ms.jit(f)
    for n in (4, 5, 6, 7, 4, 5, 8, 9, 2, 3):
        assert described(compiled(rows(n))) == described(f(rows(n)))


def test_views_and_what_they_show_are_one_storage():
    def f(x):
        y = x + 1
        part = y[1:]
        return y, part, part, part[0], x[0]

    compiled = warmed(ms.jit(f), x := rows(3))
    y, part, again, inner, row = compiled(x)
    assert part is again and inner._view.parent._view.parent is part and part._view.parent is y
    inner.fill_(7.0)
    row.fill_(8.0)
    assert y[1].tolist() == [7.0] * 6 == part[0].tolist() and x[0].tolist() == [8.0] * 6


@pytest.mark.parametrize("takes_gradients", [True, False])
def test_views_stop_gradients_where_none_are_taken(takes_gradients):
    def f(x):
        return (x * 2)[1:], x[1:]

    compiled, x = warmed(ms.jit(f), rows(3)), rows(3)
    found = []
    for function in (f, compiled):
        if takes_gradients:
            found.append(described(function(x)))
        else:
            with ms.no_grad():
                found.append(described(function(x)))
    assert found[0] == found[1]
    assert ("stop_gradient", []) in found[0][2][5] or takes_gradients


def test_more_layouts_than_are_noted():
    def f(x):
        return (x * 2)[:, 1]

    compiled = ms.jit(f)
    for n in [*range(2, MOST + 12), 3, MOST + 5]:
        assert described(compiled(rows(n))) == described(f(rows(n)))


def test_arguments_of_any_layout():
    def f(x):
        return x.reshape(-1), x[:, 0], x.T

    compiled = ms.jit(f)
    for x in [rows(6), rows(6).T, rows(6), rows(6).T, rows(7)[1:], rows(6, 12)[:, ::2]] * 2:
        assert described(compiled(x)) == described(f(x))


def test_views_in_objects_and_attributes():
    def f(x, state):
        y = x * 2
        state.last, state.all = y[-1], y
        return Pair(y[0], y[1:])

    for sizes in ((3,), (3, 4, 5)):
        mine, theirs = SimpleNamespace(last=None, all=None), SimpleNamespace(last=None, all=None)
        compiled = ms.jit(f)
        for x in [rows(n) for n in sizes] * 4:
            assert described(compiled(x, mine)) == described(f(x, theirs))
            assert described([mine.last, mine.all]) == described([theirs.last, theirs.all])
            assert mine.last._view.parent._view.parent is mine.all


def test_bounds_that_vary():
    def f(x, k):
        return x[:, :k], (x + 1)[k:], (x + 1).narrow(1, k, 2)

    compiled, x = ms.jit(f), rows(5)
    for k in [1, 3, 2, 4, 1, 0, 3]:
        assert described(compiled(x, k)) == described(f(x, k))


def test_paths_with_sizes_that_vary():
    seen = []

    def f(x):
        if x.sum() > 0:
            seen.append(x.shape[0])
            return (x * 2)[:, 0]
        return x.T

    compiled = ms.jit(f)
    for n in [3, 4, 1, 5, 2, 1, 6, 3]:
        for x in (rows(n), -rows(n)):
            assert described(compiled(x)) == described(f(x))
    assert seen[::2] == seen[1::2]
