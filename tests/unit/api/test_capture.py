"""Tensor methods under capture: the graph of a program on symbolic tensors gives the bits of the program itself."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.api.tensor_methods import Tensor
from duograph.core import dtype as dt
from duograph.core.op import binding
from duograph.ir.builder import Builder
from duograph.ir.interpreter import run
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.scalar import Scalar
from duograph.tensor.parameter import Parameter
from duograph.tensor.tensor import SymbolicValueError, wrap


def captured(program, *arrays):
    """The results of ``program`` built as a graph and interpreted."""
    builder = Builder()
    params = [builder.param("x", Tensor(a).abstract) for a in arrays]
    binder = GraphBinder(builder)
    with binding(binder):
        out = program(*[wrap(p) for p in params])
        outs = [binder.node_of(o) for o in (out if isinstance(out, tuple) else (out,))]
    results = run(builder.graph("main", (*params,), outs), *arrays)
    return results if isinstance(results, tuple) else (results,)


def set_chain(x):
    y = x[0]
    y[1] = 7
    x[1, :, 0] = y[:, 3]
    x.T[0].add_(1)
    x[x > 20] = -1
    x[[0, 1], :, 2] *= 2
    return x, y


PROGRAMS = {
    "operators": lambda x: (
        x + 1,
        2 - x,
        x * x,
        x / 3,
        x // 2,
        x % 4,
        x**2,
        -x,
        x < 5,
        3 >= x,
        x == x,
        ~(x > 1),
        abs(x),
    ),
    "promotion": lambda x: (x + Tensor([1, 2, 3, 4]), x.astype(dt.int32) / 2, x.astype(dt.int32) + 1.5, x.half() + 1),
    "basic": lambda x: (x[0], x[-1, 1:], x[..., None, ::2], x[:, ::-1], x[True], x[1, 2, 3]),
    "advanced": lambda x: (x[[0, 1]], x[:, [0, 2], [1, 1]], x[Tensor([1, 0]), 0], x[0, :, [1, 2]], x[Tensor(1)]),
    "set": set_chain,
    "shape": lambda x: (
        x.T,
        x.reshape(4, -1),
        x.flatten(1),
        x.swapaxes(0, 2),
        x.squeeze(),
        x.expand(2, 2, 3, 4),
        *x.split(2, 1),
        *x.chunk(2, -1),
        *x.unbind(1),
        x.tile((2, 1, 1)),
        x.movedim(0, 2),
    ),
    "reduce": lambda x: (
        x.sum(),
        x.mean(0),
        x.max(),
        *x.max(1),
        x.min(axis=2, keepdims=True),
        x.argmax(1),
        x.std(),
        x.var(0),
        x.prod(2),
        (x > 3).all(),
        x.any(0),
        x.amax((0, 1)),
        x.ptp(1),
    ),
    "in place": lambda x: (x.add_(1), x.reshape(-1)[::2].mul_(3), x.clamp_(0, 20), x.masked_fill_(x > 9, 0), x),
    "elements": lambda x: (
        x.gather(2, Tensor(np.zeros((2, 3, 1), np.int64))),
        x.take(Tensor([1, 5])),
        x.diagonal(),
        x.index_select(1, Tensor([2, 0])),
        x.where(x > 5, 0.0),
        x.masked_fill(x < 3, 1.0),
    ),
    "order": lambda x: (*x.sort(), x.argsort(1), *x.topk(2), x.cumsum(1), x.flip(0)),
    "functions": lambda x: (
        x.exp(),
        x.sqrt(),
        x.sigmoid(),
        x.log1p(),
        x.matmul(x.mT),
        x.softmax(-1),
        x.norm(),
        x.tril(),
    ),
    "construct": lambda x: (Tensor([x[0, 0, 0], x[1, 1, 1]]), Parameter(x, "p") + 1, Tensor(x, dt.float16), x.clone()),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_graph_and_eager_have_the_same_bits(name):
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    eager = PROGRAMS[name](Tensor(array))
    for got, want in zip(captured(PROGRAMS[name], array.copy()), eager, strict=True):
        got = got.asnumpy() if isinstance(got, Tensor) else np.asarray(got)
        assert got.dtype == want.asnumpy().dtype
        assert got.shape == want.shape
        assert got.tobytes() == want.asnumpy().tobytes()


def test_run_time_integers_index():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)

    def program(x, i):
        k = Scalar.of(binder_item(i))
        y = x[k] + x[:, k][0] + x[k, k]
        x[k, 1:] = 9
        return y, x, x[k, [0, 2]]

    def binder_item(i):
        from duograph.ops.scalar import tensor_item

        return tensor_item(i, kind="int").node

    y, x, picked = (
        np.asarray(r.asnumpy() if isinstance(r, Tensor) else r) for r in captured(program, array, np.array(2))
    )
    want = array.copy()
    np.testing.assert_array_equal(y, want[2] + want[0, 2] + want[2, 2])
    want[2, 1:] = 9
    np.testing.assert_array_equal(x, want)
    np.testing.assert_array_equal(picked, want[2, [0, 2]])


def test_run_time_slices():
    from duograph.ops.scalar import tensor_item

    array = np.arange(12, dtype=np.float32).reshape(3, 4)

    def program(x, i):
        k = tensor_item(i, kind="int")
        y = x[:, k:].sum(1), x[k - 1 :, 0] * 2, x[::-1, : k + 1], x[[0, 1], i:]
        x[:k, 1] = 5
        x[0, k:] = Tensor([7.0, 8.0])
        row = x[k]
        row[0] = -1
        row[k:].mul_(2)
        return (*y, x)

    want = array.copy()
    expected = [want[:, 2:].sum(1), want[1:, 0] * 2, want[::-1, :3], want[[0, 1], 2:]]  # the third is a view
    want[:2, 1] = 5
    want[0, 2:] = [7, 8]
    want[2, 0] = -1
    want[2, 2:] *= 2
    for got, right in zip(captured(program, array, np.array(2)), [*expected, want], strict=True):
        np.testing.assert_array_equal(np.asarray(got.asnumpy() if isinstance(got, Tensor) else got), right)


def test_values_are_not_given_away():
    def peek(ask):
        def program(x):
            with pytest.raises(SymbolicValueError):
                ask(x)
            return x

        captured(program, np.ones(1, np.float32))

    for ask in (bool, float, int, lambda x: x.asnumpy(), lambda x: x.tolist(), np.asarray, lambda x: x.item()):
        peek(ask)
    outside = Tensor([1.0])
    with binding(GraphBinder(Builder())), pytest.raises(SymbolicValueError):
        bool(outside)
