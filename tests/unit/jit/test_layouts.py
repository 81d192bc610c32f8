"""Arguments that are not contiguous: what their strides decide is guarded, and one version serves many sizes."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from tests.unit.jit.native_calls import bits

CAPTURES = ("ast", "bytecode", "trace")


def base():
    return Tensor(np.arange(144, dtype=np.float32).reshape(12, 12) - 20)


VIEWS = {
    "columns": lambda b, n: b[:, :n],
    "transposed": lambda b, n: b[:n, 1:].T,
    "block": lambda b, n: b[1 : n + 1, 2 : n + 2],
    "steps": lambda b, n: b[::2, :n],
    "backwards": lambda b, n: b[::-1][:n],
    "evenly": lambda b, n: b.reshape(-1)[::2][: n * 4].reshape(n, 4),
    "repeated": lambda b, n: ops.broadcast_to(b[0:1], (n, 12)),
}


# -- what shares memory ------------------------------------------------------------------------------------------------


def same_shape(kind):
    """A tensor of 4 x 3 elements, none of which follows another in memory; `reshape(-1)` of the first is a view."""
    whole = ops.zeros((4, 6 if kind == "view" else 7))
    return whole, whole[:, ::2] if kind == "view" else whole[:, :3]


def writes(x):
    y = x.reshape(-1)
    y[0] = 5.0
    return x.sum()


def gives_both(x):
    return x, x.reshape(-1)


def writes_behind_a_view(x):
    y = x[1:].reshape(-1)
    y += 1.0
    return x * 1


def writes_on_one_path(x):
    y = x.reshape(-1)
    if x.sum() == 0:
        y[1] = 2.0
    return y


def asks(x):
    return x.stride(), x.is_contiguous(), x[:, :1].is_contiguous()


@pytest.mark.parametrize("capture", CAPTURES)
@pytest.mark.parametrize("first", ["view", "copy"])
@pytest.mark.parametrize("function", [writes, gives_both, writes_behind_a_view, writes_on_one_path, asks])
def test_strides_decide_what_shares_memory(function, first, capture):
    def outcome(called, kind):
        whole, x = same_shape(kind)
        result = called(x)
        if isinstance(result, tuple) and isinstance(result[1], Tensor):
            result[1][2] = 3.0
        return bits((result, whole, x)) if function is not asks else result

    compiled = ms.jit(function, capture_mode=capture)
    for kind in (first, first, first, "view", "copy", "view", "copy"):
        assert outcome(compiled, kind) == outcome(function, kind)


def test_where_nothing_is_written_strides_are_not_asked():
    compiled = ms.jit(lambda x: x.reshape(-1) * 2)
    for kind in ("copy", "view", "copy"):
        _, x = same_shape(kind)
        compiled(x)
    assert len(compiled.explain().versions) == 1


# -- sizes that vary ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.tanh(x) * 2 + 1,
        lambda x: (x - x.mean(0)) / (x.std(0) + 1e-5),
        lambda x: ops.softmax(x @ x.T, -1).sum(0),
        lambda x: x.reshape(-1) * 2,
    ],
)
def test_many_sizes_need_one_version_more(function, view):
    compiled = ms.jit(lambda x: function(x))
    for n in (3, 4, 5, 7, 2, 6, 9, 3, 4, 5):
        x = VIEWS[view](base(), n)
        assert bits(compiled(x)) == bits(function(x))
    assert len(compiled.explain().versions) <= 3 and not compiled.explain().fallbacks
    last = compiled.explain().versions[0]
    assert "(not contiguous)" in " ".join(last["guards"]) or view in ("evenly", "repeated")


def flattens_and_writes(x):
    y = x.reshape(-1)
    y[0] = 7.0
    return x * 1


def writes_rows(x):
    x[0] = 1.0
    x.add_(1.0)
    return x.sum()


def gives_itself_and_a_copy(x):
    return x, x.contiguous(), x[..., 0:1].is_contiguous()


def gradient(x):
    return ops.grad(lambda z: (z.reshape(-1) ** 2).sum())(x), x.T


@pytest.mark.parametrize("capture", CAPTURES)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("function", [flattens_and_writes, writes_rows, gives_itself_and_a_copy, gradient])
def test_sizes_vary_and_memory_is_shared_as_in_eager_mode(function, view, capture):
    def outcome(called, n):
        whole = base()
        x = VIEWS[view](whole, n)
        try:
            result = called(x)
        except (RuntimeError, TypeError, ValueError) as error:
            return type(error), bits(whole)
        results = result if isinstance(result, tuple) else (result,)
        for k, made in enumerate(results):
            if isinstance(made, Tensor) and made.ndim and view != "repeated":
                made[0] = 50.0 + k
        return bits((results, whole, x))

    compiled = ms.jit(function, capture_mode=capture)
    for n in (3, 4, 5, 1, 2, 6, 3, 9):
        assert outcome(compiled, n) == outcome(function, n)
