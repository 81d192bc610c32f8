"""A mask that nobody but NumPy has a part in gives the bits, and the errors, that the operators give."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from duograph.api import indexing

VIEWS = {"whole": lambda x: x, "transposed": lambda x: x.swapaxes(0, 1), "backwards": lambda x: x[::-1]}
VALUES = {
    "number": lambda x, m: 2,
    "nothing": lambda x, m: -0.0,
    "each": lambda x, m: ops.ones((int(m.sum()), *x.shape[m.ndim :])) * 3,
    "of a wider dtype": lambda x, m: Tensor(np.full((int(m.sum()), *x.shape[m.ndim :]), 2.7)),
    "part of itself": lambda x, m: x[m],
    "a view of itself": lambda x, m: x[:1],
    "too many": lambda x, m: ops.ones(int(m.sum()) + 1),
}


def outcome(view, rank, write, dtype, shape=(3, 4)):
    random = np.random.default_rng(3)
    base = Tensor((random.standard_normal(shape) * 4).astype(np.float32)).astype(dtype)
    x = VIEWS[view](base)
    mask = Tensor(random.random(x.shape[:rank] or (7,)) > 0.4)
    try:
        if write is None:
            result = x[mask]
            return result.dtype, result.asnumpy().tobytes(), result.shape, result._view
        x[mask] = VALUES[write](x, mask)
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return type(error), str(error)
    return base.asnumpy().tobytes(), x.asnumpy().tobytes()


@pytest.mark.parametrize("dtype", [ms.float32, ms.int8, ms.bool_, ms.bfloat16])
@pytest.mark.parametrize("write", [None, *VALUES])
@pytest.mark.parametrize("rank", [0, 1, 2])
@pytest.mark.parametrize("view", VIEWS)
def test_masks_give_what_the_operators_give(view, rank, write, dtype, monkeypatch):
    found = outcome(view, rank, write, dtype)
    monkeypatch.setattr(indexing, "_is_mask_for_numpy", lambda x, index: False)
    assert found == outcome(view, rank, write, dtype)


def test_a_write_is_seen_by_views_gradients_and_compiled_code():
    x = ops.ones((2, 3))
    view, compiled = x[0], ms.jit(lambda t: t.sum())
    assert compiled(x).item() == 6.0
    x[Tensor([True, False])] = 5.0
    assert view.tolist() == [5.0, 5.0, 5.0] and compiled(x).item() == 18.0

    def overwrites(t):
        y = t * 1
        z = y * y
        y[t > 0] = 0.0
        return z.sum()

    with pytest.raises(RuntimeError, match="modified in place"):
        ms.grad(overwrites)(ops.ones(3))


def test_a_broadcast_view_refuses_a_write():
    x = ops.broadcast_to(ops.ones((1, 3)), (2, 3))
    with pytest.raises(RuntimeError, match="cannot be written"):
        x[Tensor([True, False])] = 5.0


@pytest.mark.parametrize("op", [lambda x: ops.nonzero(x), lambda x: ops.unique(x)[0]])
def test_sizes_that_data_decide_differ_from_call_to_call(op):
    for values in ([1, 0, 2], [0, 0, 0], [3, 3, 1], [1, 0, 2]):
        x = Tensor(values)
        assert op(x).asnumpy().tolist() == op(Tensor(values)).asnumpy().tolist()
        assert op(x).shape[0] == len(set(values) if op(x).ndim == 1 else [v for v in values if v])
