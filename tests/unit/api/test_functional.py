"""Public functions: values against NumPy, result dtypes as MindSpore's, and the errors users see."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, mint, ops
from duograph import numpy as mnp

X = np.arange(12, dtype=np.float32).reshape(3, 4)
V, NEG, I, B = np.float32([1, 2, 3]), np.float32([-1, 0, 2.5]), np.array([1, 2, 3]), np.array([True, False, True])


def T(a: object) -> Tensor:
    return Tensor(a)


def flat(result: object) -> list[object]:
    return [r for part in result for r in flat(part)] if isinstance(result, tuple | list) else [result]


CASES = [
    # call, expected values (one per result), expected dtypes
    ("add", lambda: ops.add(T(I), 1.5), [I + 1.5], ["Float32"]),
    ("add numbers", lambda: ops.add(1, 2), [3], ["Int64"]),
    ("div", lambda: ops.div(T(I), 2), [I / 2], ["Float32"]),
    ("div floor", lambda: ops.div(T(I), 2, rounding_mode="floor"), [I // 2], ["Int64"]),
    ("floor_div", lambda: ops.floor_div(T(NEG), 2.0), [NEG // 2], ["Float32"]),
    ("fmod", lambda: ops.fmod(T(NEG), 2), [np.fmod(NEG, 2)], ["Float32"]),
    ("remainder", lambda: ops.remainder(T(NEG), 2), [NEG % 2], ["Float32"]),
    ("pow", lambda: ops.pow(T(I), 0.5), [I**0.5], ["Float32"]),
    ("fmax", lambda: ops.fmax(T(NEG), 0.0), [np.fmax(NEG, 0)], ["Float32"]),
    ("gcd", lambda: ops.gcd(T([12, -18, 0]), T([8, 12, 5])), [[4, 6, 5]], ["Int64"]),
    ("lcm", lambda: ops.lcm(T([4, 6]), T([6, 9])), [[12, 18]], ["Int64"]),
    ("exp of ints", lambda: ops.exp(T(I)), [np.exp(I)], ["Float32"]),
    ("logical_not", lambda: ops.logical_not(T(I)), [~I.astype(bool)], ["Bool"]),
    ("sum of bool", lambda: ops.sum(T(B)), [2], ["Int64"]),
    ("sum axis", lambda: ops.sum(T(X), 1, True), [X.sum(1, keepdims=True)], ["Float32"]),
    ("mean of ints", lambda: ops.mean(T([1, 2])), [1], ["Int64"]),
    ("max pair", lambda: ops.max(T(X), 1), [X.max(1), X.argmax(1)], ["Float32", "Int64"]),
    ("max of all", lambda: ops.max(T(X)), [11, 0], ["Float32", "Int64"]),
    ("argmin", lambda: ops.argmin(T(X), 1), [[0, 0, 0]], ["Int32"]),
    ("std", lambda: ops.std(T(X), 0, 1), [X.std(0, ddof=1)], ["Float32"]),
    ("var_mean", lambda: ops.var_mean(T(X), 1), [X.var(1), X.mean(1)], ["Float32", "Float32"]),
    ("norm", lambda: ops.norm(T(X), 2, 1), [np.linalg.norm(X, 2, 1)], ["Float32"]),
    ("concat", lambda: ops.concat((T(I), T(V))), [np.concatenate((I, V))], ["Float32"]),
    ("split", lambda: ops.split(T(X), [1, 3], 1), np.split(X, [1], 1), ["Float32", "Float32"]),
    ("flatten", lambda: ops.flatten(T(X.reshape(3, 2, 2))), [X.reshape(3, 4)], ["Float32"]),
    (
        "pad",
        lambda: ops.pad(T(X), (1, 0, 0, 2), value=5.0),
        [np.pad(X, ((0, 2), (1, 0)), constant_values=5)],
        ["Float32"],
    ),
    ("pad reflect", lambda: ops.pad(T(X), (1, 1), "reflect"), [np.pad(X, ((0, 0), (1, 1)), "reflect")], ["Float32"]),
    ("full", lambda: ops.full((2,), 3), [[3, 3]], ["Int64"]),
    ("arange", lambda: ops.arange(0, 1, 0.25), [np.arange(0, 1, 0.25)], ["Float32"]),
    ("linspace", lambda: ops.linspace(0, 1, 5), [np.linspace(0, 1, 5)], ["Float32"]),
    ("one_hot", lambda: ops.one_hot(T([0, 5]), 2), [[[1, 0], [0, 0]]], ["Int64"]),
    ("where numbers", lambda: ops.where(T(B), 1.0, 2), [np.where(B, 1.0, 2)], ["Float32"]),
    ("clip_by_value", lambda: ops.clip_by_value(T(V), 1.5, 2.5), [V.clip(1.5, 2.5)], ["Float32"]),
    (
        "gather batch",
        lambda: ops.gather(T(X), T([[0], [1], [2]]), 1, 1),
        [X[[0, 1, 2], [0, 1, 2]][:, None]],
        ["Float32"],
    ),
    (
        "index_fill",
        lambda: ops.index_fill(T(X), 0, T([1]), 5.0),
        [np.where(np.arange(3)[:, None] == 1, 5, X)],
        ["Float32"],
    ),
    ("sort", lambda: ops.sort(T([3, 1, 2])), [[1, 2, 3], [1, 2, 0]], ["Int64", "Int32"]),
    ("topk", lambda: ops.topk(T(V), 2), [[3, 2], [2, 1]], ["Float32", "Int32"]),
    ("unique", lambda: ops.unique(T([3, 1, 3])), [[3, 1], [0, 1, 0]], ["Int64", "Int64"]),
    ("median", lambda: ops.median(T([1.0, 4, 2, 3])), [2, 2], ["Float32", "Int64"]),
    ("quantile", lambda: ops.quantile(T(X), 0.3, 1), [np.quantile(X, 0.3, 1)], ["Float32"]),
    ("einsum", lambda: ops.einsum("ij,kj->ik", T(X), T(X)), [X @ X.T], ["Float32"]),
    ("kron", lambda: ops.kron(T(V), T(X)), [np.kron(V, X)], ["Float32"]),
    ("cross", lambda: ops.cross(T(V), T(NEG)), [np.cross(V, NEG)], ["Float32"]),
    ("relu of ints", lambda: ops.relu(T([-1, 2])), [[0, 2]], ["Int64"]),
    ("softmax", lambda: ops.softmax(T(V)), [np.exp(V) / np.exp(V).sum()], ["Float32"]),
    ("mse_loss", lambda: ops.mse_loss(T(V), T(NEG)), [((V - NEG) ** 2).mean()], ["Float32"]),
    ("clip_by_global_norm", lambda: ops.clip_by_global_norm([T(V)], 1.0), [V / np.linalg.norm(V)], ["Float32"]),
    ("mint.max", lambda: mint.max(T(X)), [11], ["Float32"]),
    ("mint.add", lambda: mint.add(T(I), T(I), alpha=2), [3 * I], ["Int64"]),
    ("mint.std", lambda: mint.std(T(V)), [V.std(ddof=1)], ["Float32"]),
    ("mnp.arange", lambda: mnp.arange(3), [[0, 1, 2]], ["Int32"]),
    ("mnp.mean", lambda: mnp.mean([1, 2]), [1.5], ["Float32"]),
]


@pytest.mark.parametrize(("call", "want", "dtypes"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_values_and_dtypes(call, want, dtypes):
    got = flat(call())
    assert [str(t.dtype) for t in got] == dtypes
    for t, w in zip(got, want, strict=True):
        assert t.shape == np.shape(w)
        np.testing.assert_allclose(t.asnumpy(), w, rtol=1e-5, atol=1e-6)


ERRORS = [
    (lambda: ops.relu("a"), TypeError, r'Failed calling ReLU with "ReLU\(\)\(input=string\)"'),
    (lambda: ops.add(T(V), "a"), TypeError, "Failed calling Add"),
    (lambda: ops.sum(T(X), 5), ValueError, "SumExt"),
    (lambda: ops.sum(T(X), (0, 0)), RuntimeError, "appears multiple times"),
    (lambda: ops.concat([]), ValueError, "must be greater than 0"),
    (lambda: ops.stack((T(V), T(I))), TypeError, "same data type"),
    (lambda: ops.reshape(T(X), (5, 5)), ValueError, "invalid for input of size 12"),
    (lambda: ops.zeros((-1, 2)), ValueError, "greater than or equal to 0"),
    (lambda: ops.arange(3, 0), ValueError, "delta cannot be positive"),
    (lambda: ops.dropout(T(V), 2.0), ValueError, "in range"),
    (lambda: ops.div(T(V), 2, rounding_mode="x"), ValueError, "rounding_mode"),
    (lambda: ops.cast(T(V), "float16"), TypeError, "dtype"),
    (lambda: ops.linspace(T(V), 1, True), TypeError, "'steps' must be int, but got bool"),
    (lambda: ops.linspace(T(V), 1, 2.5), TypeError, "'steps' must be int, but got float"),
    (lambda: ops.cross_entropy(T(X), T(I), reduction="foo"), ValueError, "reduction"),
    (lambda: ops.assign(T(V), T([1.0, 2.0])), ValueError, "same shape"),
    (lambda: ops.nothing, AttributeError, "has no attribute 'nothing'"),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_assign_writes_and_gives_back_the_variable():
    p = T(V)
    assert ops.assign_add(p, T(V)) is p
    assert p.asnumpy().tolist() == [2, 4, 6]
    assert ops.assign(p, T(I)) is p
    assert p.asnumpy().tolist() == [1, 2, 3]


def test_in_place_functions_give_the_contents_of_a_parameter():
    p = ms.Parameter(T(V), name="p")
    shared = ops.assign_add(p, T(V))
    assert type(shared) is Tensor and shared.asnumpy().tolist() == [2, 4, 6]
    ops.assign(p, T(I))
    assert shared.asnumpy().tolist() == [1, 2, 3]


def test_hyper_map_goes_into_nested_sequences():
    graph = ops.MultitypeFuncGraph("plus")
    graph.register("Number", "Number")(lambda x, y: x + y)
    graph.register("Tensor", "Number")(lambda x, y: x * y)
    result = ops.HyperMap(graph)((1, [2, T(V)]), (3, [4, 2]))
    assert result[0] == 4
    assert result[1][0] == 6
    assert result[1][1].asnumpy().tolist() == [2, 4, 6]
    with pytest.raises(ValueError, match="cannot find fn match given args"):
        graph("a", 1)


def test_random_draws_follow_the_seed():
    ms.set_seed(3)
    first = ops.randn(4).asnumpy()
    second = ops.randn(4).asnumpy()
    ms.set_seed(3)
    assert (ops.randn(4).asnumpy() == first).all()
    assert (first != second).any()


def test_modules_of_functions_and_primitives_are_importable():
    from duograph.ops.function.math_func import cumsum
    from duograph.ops.operations import _inner_ops

    from duograph.ops import composite, functional, operations

    assert operations.Add is ops.Add is _inner_ops.Add
    assert cumsum is ops.cumsum
    assert composite.HyperMap is ops.HyperMap
    assert functional.tensor_add(1, 2).asnumpy() == 3


def test_products_ignore_what_zero_multiplies():
    """As in BLAS, and as PyTorch's documentation says of ``addmm``."""
    unknown, x = Tensor([[float("nan"), float("inf")]]), Tensor([[1.0, 2.0], [3.0, 4.0]])
    got = ms.jit(lambda b: mint.addmm(unknown, x, x, beta=b))
    for call in (
        got,
        lambda b: mint.addmm(unknown, x, x, beta=b),
        lambda b: mint.addmm(unknown.reshape(1, 2), x, x, beta=b),
    ):
        assert [np.isfinite(call(b).asnumpy()).all() for b in (0, 0.0, 1, 2.0, 0)] == [True, True, False, False, True]
    assert mint.addmv(unknown[0], x, x[0], beta=0).asnumpy().tolist() == [5.0, 11.0]
