"""Arguments that are views: what is written through them is written to the storage that *this* call's view shows."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor

MODES = [{}, {"jit_level": "O0"}, {"backend": "interpreter"}]


def base(k):
    return Tensor(np.arange(12, dtype=np.float32).reshape(4, 3) + k)


def zeroed(v):
    v.zero_()
    return v


def written_and_read(v):
    v[0] = 5
    return v + 1


def written_through_a_view(v):
    w = v[1:]
    w += 10
    return v.sum()


def written_beside(a, b):
    a.mul_(2)
    return b + 0


def agree(f, compiled, *picks):
    """Both functions on views that are picked from a base of their own each, call by call."""
    for k, pick in enumerate(picks):
        bases = [(base(k), base(k + 100)) for _ in range(2)]
        results = [g(*pick(*pair)).tolist() for g, pair in zip((f, compiled), bases, strict=True)]
        assert results[0] == results[1], k
        for one, two in zip(*bases, strict=True):
            assert one.tolist() == two.tolist(), k


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [zeroed, written_and_read, written_through_a_view])
def test_views_of_other_storages_at_other_places(f, mode):
    row = lambda b, _: (b[1],)
    agree(f, ms.jit(f, **mode), *[row] * 5)
    places = [lambda b, _: (b[2],), lambda b, _: (b[0:1].reshape(3),), lambda b, _: (Tensor([1.0, 2.0, 3.0]),)]
    agree(f, ms.jit(f, **mode), row, *places, row, lambda b, _: (b.T[1][:3],), *places)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_one_version_serves_views_of_all_storages(mode):
    compiled = ms.jit(zeroed, **mode)
    agree(zeroed, compiled, *[lambda b, _: (b[1],)] * 6)
    assert len(compiled.explain().versions) == 1


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_views_that_sometimes_share_their_storage(mode):
    apart, together, overlapping = (
        lambda b, o: (b[1:], o[1:]),
        lambda b, o: (b[1:], b[1:]),
        lambda b, o: (b[1:], b[:3]),
    )
    whole, other = lambda b, o: (b[1], b), lambda b, o: (b[1], o)
    compiled = ms.jit(written_beside, **mode)
    agree(written_beside, compiled, apart, together, overlapping, apart, overlapping, together)
    agree(written_beside, ms.jit(written_beside, **mode), other, whole, other, whole, other)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_a_global_view_is_rebound(mode):
    held = [base(0)[1]]
    first = held[0]

    def f(x):
        held[0].add_(x)
        return held[0] * 2

    compiled = ms.jit(f, **mode)
    assert compiled(Tensor(1.0)).tolist() == [8.0, 10.0, 12.0]
    second = base(10)
    held[0] = second[2]
    assert compiled(Tensor(1.0)).tolist() == [34.0, 36.0, 38.0]
    assert first.tolist() == [4.0, 5.0, 6.0]
    assert second[2].tolist() == [17.0, 18.0, 19.0]


def on_some_paths(x):
    if x.sum() > 3:
        x.mul_(5)
    return x * x


def on_one_of_two_paths(x):
    if x.sum() > 3:
        x.mul_(5)
    else:
        x = x * 3
    return x


def in_a_loop(x):
    for _ in range(int(x.sum())):
        x.mul_(2)
    return x


def on_all_paths(x):
    if x.sum() > 3:
        x.mul_(5)
    else:
        x.add_(1)
    return x * x


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("f", [on_some_paths, on_one_of_two_paths, in_a_loop, on_all_paths])
def test_gradients_of_what_some_paths_write(f, mode):
    """What a gradient is taken of is a view of the user's tensor."""
    compiled = ms.jit(f, **mode)

    def slope(f, x):
        return ms.grad(lambda x: f(x).sum())(x).tolist(), x.tolist()

    for values in ([0.5], [5.0], [1.75, 2.5], [0.25, 0.5], [0.5]):
        assert slope(compiled, Tensor(values)) == slope(f, Tensor(values))
        rows = [Tensor([values, values]) for _ in range(2)]
        assert slope(compiled, rows[0][1]) == slope(f, rows[1][1])
        assert rows[0].tolist() == rows[1].tolist()
