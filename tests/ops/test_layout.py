"""Whether a reshape is a view: NumPy's answer, for known sizes and for symbols under the assumptions that are noted."""

import random

import numpy as np
import pytest

from duograph import Tensor
from duograph.core import dtype as dt
from duograph.core.dim import Dim, Symbol, evaluate
from duograph.core.op import all_ops, binding, get_op
from duograph.core.types import TensorType
from duograph.ir.builder import Builder
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.layout import lies_contiguously, shares_memory, strides_of

SYMBOLS = tuple(Symbol(name, 1) for name in "abc")
NEW_SHAPES = {
    "one axis": lambda s: (-1,),
    "behind": lambda s: (*s, 1),
    "in front": lambda s: (1, -1),
    "rows": lambda s: (-1, s[-1]),
    "columns": lambda s: (s[0], -1),
    "reversed": lambda s: tuple(reversed(s)),
    "pairs": lambda s: (-1, 2),
    "the same": lambda s: s,
}


def views(rng, rank):
    """A few ops that make views, as functions of a Tensor."""
    made = []
    for _ in range(rng.randrange(4)):
        kind = rng.randrange(5)
        if kind == 0:
            perm = tuple(rng.sample(range(rank), rank))
            made.append(lambda x, p=perm: get_op("transpose")(x, perm=p))
        elif kind == 1:
            cut = tuple((rng.choice([None, 1]), rng.choice([None, -1]), rng.choice([None, 2, -1])) for _ in range(rank))
            made.append(lambda x, c=cut: get_op("strided_slice")(x, slices=c))
        elif kind == 2:
            made.append(lambda x, n=rng.choice([1, 2]): get_op("broadcast_to")(x, shape=(n, *x.shape)))
            rank += 1
        elif kind == 3 and rank > 1:
            made.append(lambda x, k=rng.choice([0, 1]): get_op("diagonal")(x, offset=k, axis1=0, axis2=1))
            rank -= 1
        else:
            made.append(lambda x: get_op("identity")(x))
    return made


def symbolic(shape, ops):
    """A tensor of symbolic shape, and what ``ops`` make of it."""
    binder = GraphBinder(Builder())
    with binding(binder):
        x = binder.wrap(binder.builder.param("x", TensorType(dt.int8, shape)))
        for op in ops:
            x = op(x)
    return x


def as_array(ops, shape):
    x = Tensor(np.zeros(shape, np.int8))
    for op in ops:
        x = op(x)
    return x.array()


def numbers(extents, sizes):
    return tuple(evaluate(n, sizes) if isinstance(n, Dim) else n for n in extents)


@pytest.mark.parametrize("is_static", [True, False])
def test_a_reshape_is_a_view_where_it_is_numpys(is_static):
    rng = random.Random(7)
    held = asked = 0
    for _ in range(400):
        extents = [1, 2, 3, 4] if is_static else [*SYMBOLS, 1, 2, 4]
        shape = tuple(rng.choice(extents) for _ in range(rng.randrange(1, 4)))
        ops = views(rng, len(shape))
        x = symbolic(shape, ops)
        if not x.shape:
            continue
        target = NEW_SHAPES[rng.choice(list(NEW_SHAPES))](x.shape)
        try:
            reshaped = get_op("reshape").infer(x.abstract, shape=target).shape
        except ValueError:
            continue
        answer, noted = shares_memory(get_op("reshape"), x, reshaped)
        contiguous, noted_of_it = lies_contiguously(x)
        assert not (is_static and (noted or noted_of_it))
        for values in ([1, 1, 1], [2, 3, 4], [4, 4, 4], [5, 1, 6], [1, 7, 2], [6, 2, 1], [7, 11, 13]):
            sizes = dict(zip(SYMBOLS, values, strict=True))
            array = as_array(ops, numbers(shape, sizes))
            try:
                wanted, got = numbers(reshaped, sizes), numbers(x.shape, sizes)
            except ZeroDivisionError:
                continue
            if got != array.shape or np.prod(wanted) != array.size:
                continue
            asked += 1
            if all(evaluate(a, sizes) == evaluate(b, sizes) for a, b in noted_of_it):
                assert contiguous == array.flags.c_contiguous
                for step, real, n in zip(numbers(strides_of(x), sizes), array.strides, array.shape, strict=True):
                    assert step == real or n <= 1 or not array.size
            if all(evaluate(a, sizes) == evaluate(b, sizes) for a, b in noted):
                held += 1
                assert answer == _is_view(array, wanted), (shape, array.strides, reshaped, sizes)
    assert held > asked / 2 > 100


def _is_view(array, shape):
    made = array.reshape(shape)
    return not made.size or np.shares_memory(made, array)


def test_every_op_that_makes_views_says_its_strides():
    silent = [op.name for op in all_ops().values() if op.view and op.strides is None]
    assert silent == ["reshape"]
