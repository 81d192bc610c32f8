"""Operator classes, as MindSpore 2.10 has them."""

import mindspore.ops as ops
import mindspore.ops.operations as P
import numpy as np
from mindspore import Tensor, jit

from tests.compat.dynamic.support import fails, same

T = Tensor

x = lambda *s: T((np.arange(np.prod(s or (2, 3))).reshape(s or (2, 3)) / 4 + 0.25).astype(np.float32))

one = lambda *s: T(np.ones(s, np.float32))


class MyPrim(ops.PrimitiveWithInfer):
    @ops.prim_attr_register
    def __init__(self, k=2):
        super().__init__("MyPrim")
        self.kk = k

    def infer_shape(self, a):
        return a

    def infer_dtype(self, a):
        return a


def test_err():
    same(P.ReduceSum("a"), "Prim[ReduceSum]<keep_dims=a, skip_mode=False>")
    same(P.Concat("a"), "Prim[Concat]<axis=a>")
    fails(
        lambda: P.Reshape()(x(), (4, 4)),
        ValueError,
        "proposed_shape '[const vector]{4, 4}' is invalid for input of size 6",
    )
    fails(
        lambda: P.MatMul()(x(), x()),
        ValueError,
        "For 'MatMul' the input dimensions must be equal, but got 'x1_col': 3 and 'x2_row': 2.",
    )
    fails(
        lambda: P.Add()(x(), x(3, 3)),
        ValueError,
        "For 'Add', input1.shape and input2.shape need to broadcast. The value of",
    )
    fails(lambda: P.Add()(x(), "a"), TypeError, 'Failed calling Add with "Add()(input=Tensor, other=string)".')
    fails(lambda: P.Transpose()(x(), (0, 0)), ValueError, "For 'Transpose' perms should all be unique dim,")
    fails(
        lambda: P.Softmax("a"),
        TypeError,
        "For 'Softmax', the type of 'axis' should be one of '[int, tuple of int]', but got <class '",
    )
    fails(lambda: P.Softmax(5)(x()), ValueError, "For primitive[Softmax], the axis must be in [-2,2), but got 5.")
    fails(
        lambda: P.Conv2D(1, 2, pad_mode="x"),
        ValueError,
        "For 'Conv2D', the 'pad_mode' must be str and must be in '['valid', 'same', 'pad']', but go",
    )
    same(P.Squeeze(0)(x()), ("Float32", [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]))
    fails(
        lambda: P.ExpandDims()(x(), 9),
        ValueError,
        "Dimension out of range (expected to be in range of [-3, 3), but got 9)",
    )
    same(P.OneHot(3.5), "Prim[OneHot]<axis=3.5>")
    fails(lambda: P.ReLU()("a"), TypeError, 'Failed calling ReLU with "ReLU()(input=string)".')
    fails(
        lambda: P.Concat(0)((x(), x(2, 2))),
        ValueError,
        "For primitive[Concat], shapes of tensors must match except in given concat axis 0, but got",
    )
    fails(
        lambda: P.BroadcastTo((3, 3))(x()),
        ValueError,
        "For 'BroadcastTo', in order to broadcast, each dimension pair must be equal or input dimen",
    )
    same(P.LogicalAnd()(x(), x()), ("Bool", [[True, True, True], [True, True, True]]))
    same(P.LogicalNot()(x()), ("Bool", [[False, False, False], [False, False, False]]))
    fails(
        lambda: P.BitwiseAnd()(x(), x()),
        TypeError,
        "For primitive[BitwiseAnd], the input argument[x] must be a type of {Tensor[Bool], Tensor[I",
    )
    same(P.CumSum(1), "Prim[CumSum]<exclusive=1, reverse=False>")
    same(P.ArgMaxWithValue("a"), "Prim[ArgMaxWithValue]<axis=a, keep_dims=False>")


def test_myprim():
    p = MyPrim(3)
    same(p.name, "MyPrim")
    same(p.kk, 3)
    same(p.k, 3)


def test_constexpr():
    @ops.constexpr
    def f(a, b):
        return a + b

    @jit
    def g(z):
        return z + f(1, 2)

    same(f(1, 2), 3)
    same(g(T(1.0)), ("Float32", 4.0))


def test_mint():
    from mindspore import mint

    same(mint.add(x(), x(), alpha=2), ("Float32", [[0.75, 1.5, 2.25], [3.0, 3.75, 4.5]]))
    same(mint.sum(x(), 1), ("Float32", [1.5, 3.75]))
    same(mint.mean(x(), dim=0, keepdim=True), ("Float32", [[0.625, 0.875, 1.125]]))
    same(mint.matmul(x(), x(3, 2)), ("Float32", [[1.375, 1.75], [3.0625, 4.0]]))
    same(mint.cat((x(), x()), 1), ("Float32", [[0.25, 0.5, 0.75, 0.25, 0.5, 0.75], [1.0, 1.25, 1.5, 1.0, 1.25, 1.5]]))
    same(mint.zeros((2,)), ("Float32", [0.0, 0.0]))
    same(mint.max(x(), 1), (("Float32", [0.75, 1.5]), ("Int64", [2, 2])))
    same(mint.softmax(x(), -1), ("Float32", [[0.2542752, 0.3264958, 0.419229], [0.2542752, 0.3264958, 0.419229]]))
    same(mint.nn.functional.relu(x() - 1), ("Float32", [[0.0, 0.0, 0.0], [0.0, 0.25, 0.5]]))
    same(mint.where(x() > 1, x(), 0.0), ("Float32", [[0.0, 0.0, 0.0], [0.0, 1.25, 1.5]]))
    same(
        mint.split(x(), 1, 1),
        (("Float32", [[0.25], [1.0]]), ("Float32", [[0.5], [1.25]]), ("Float32", [[0.75], [1.5]])),
    )
    same(mint.permute(x(), (1, 0)), ("Float32", [[0.25, 1.0], [0.5, 1.25], [0.75, 1.5]]))
    same(mint.eq(x(), x()), ("Bool", [[True, True, True], [True, True, True]]))
    same(mint.clamp(x(), 0.5, 1), ("Float32", [[0.5, 0.5, 0.75], [1.0, 1.0, 1.0]]))
    same(mint.bmm(x(1, 2, 3), x(1, 3, 2)), ("Float32", [[[1.375, 1.75], [3.0625, 4.0]]]))
    same(mint.eye(2), ("Float32", [[1.0, 0.0], [0.0, 1.0]]))
    same(mint.nonzero(T([1, 0])), ("Int64", [[0]]))
    same(mint.isclose(x(), x()), ("Bool", [[True, True, True], [True, True, True]]))
    same(mint.sub(x(), 1, alpha=3), ("Float32", [[-2.75, -2.5, -2.25], [-2.0, -1.75, -1.5]]))
    same(mint.flatten(x()), ("Float32", [0.25, 0.5, 0.75, 1.0, 1.25, 1.5]))
    same(mint.tile(x(), (1, 2)), ("Float32", [[0.25, 0.5, 0.75, 0.25, 0.5, 0.75], [1.0, 1.25, 1.5, 1.0, 1.25, 1.5]]))
    same(mint.masked_select(x(), x() > 1), ("Float32", [1.25, 1.5]))
    same(mint.gather(x(), 1, T([[0], [1]])), ("Float32", [[0.25], [1.25]]))
    same(mint.nn.Linear(3, 2)(x()).shape, (2, 2))
