"""Indexing and writes through an index, as MindSpore 2.10 has them."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, jit, ops

from tests.compat.dynamic.support import same

T = Tensor

x = lambda *s: T(np.arange(np.prod(s or (3, 4))).reshape(s or (3, 4)).astype(np.float32))

i32 = lambda v: T(v, ms.int32)


def gset(a, v):
    b = a * 1
    b[0] = v
    return (b * b).sum()


def gset2(a, v):
    b = a * 1
    b[1:, 0:2] = v
    b[0, 0] = 5
    return (b * b).sum()


def gset3(a, v):
    b = a * 1
    b[b > 5] = 0
    return (b * v).sum()


def gset4(a, v):
    b = a * 1
    b[i32([0, 2])] = v
    return (b**2).sum()


def h1(a):
    return (a[0], a[-1, 2], a[1:, ::2])


def h2(a):
    return (a[[0, 2]], a[i32([1])], a[i32([0, 1]), i32([1, 2])])


def h3(a):
    return (a[None, :, 0].shape, a[..., 0])


def h4(a):
    s = a[0, 0]
    for i in range(3):
        s = s + a[i, i]
    return s


def h5(a):
    i = T(1)
    return (a[i], a[i:3] if False else a[i, 1])


def h6(a):
    return (a[a > 4].sum(), a[T([True, False, True])])


def test_grad_get():
    same(
        ms.grad(lambda a: a[0].sum() + a[1:, 1:3].sum())(x()),
        ("Float32", [[1.0, 1.0, 1.0, 1.0], [0.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]]),
    )
    same(
        ms.grad(lambda a: a[i32([0, 0])].sum())(x()),
        ("Float32", [[2.0, 2.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    )
    same(
        ms.grad(lambda a: (a[a > 5] ** 2).sum())(x()),
        ("Float32", [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 12.0, 14.0], [16.0, 18.0, 20.0, 22.0]]),
    )
    same(
        ms.grad(lambda a: a[..., None, 0].sum())(x()),
        ("Float32", [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]),
    )
    same(
        ms.grad(lambda a: a[[0, 1], [1, 1]].sum())(x()),
        ("Float32", [[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
    )


def test_grad_set():
    same(
        ms.grad(gset, (0, 1))(x(), T([1.0, 2.0, 3.0, 4.0])),
        (
            ("Float32", [[0.0, 0.0, 0.0, 0.0], [8.0, 10.0, 12.0, 14.0], [16.0, 18.0, 20.0, 22.0]]),
            ("Float32", [2.0, 4.0, 6.0, 8.0]),
        ),
    )
    same(
        ms.grad(gset2, (0, 1))(x(), T(2.0)),
        (("Float32", [[0.0, 2.0, 4.0, 6.0], [0.0, 0.0, 12.0, 14.0], [0.0, 0.0, 20.0, 22.0]]), ("Float32", 16.0)),
    )
    same(
        ms.grad(gset3, (0, 1))(x(), x()),
        (
            ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
            ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]),
        ),
    )
    same(
        ms.grad(gset4, (0, 1))(x(), T([1.0, 2.0, 3.0, 4.0])),
        (
            ("Float32", [[0.0, 0.0, 0.0, 0.0], [8.0, 10.0, 12.0, 14.0], [0.0, 0.0, 0.0, 0.0]]),
            ("Float32", [4.0, 8.0, 12.0, 16.0]),
        ),
    )


def test_jit_set():
    same(jit(gset)(x(), T(3.0)), ("Float32", 528.0))
    same(
        ms.grad(jit(gset), (0, 1))(x(), T([1.0, 2.0, 3.0, 4.0])),
        (
            ("Float32", [[0.0, 0.0, 0.0, 0.0], [8.0, 10.0, 12.0, 14.0], [16.0, 18.0, 20.0, 22.0]]),
            ("Float32", [2.0, 4.0, 6.0, 8.0]),
        ),
    )


def test_jit_get():
    same(
        [jit(f)(x()) for f in (h1, h2, h3, h4, h5, h6)],
        [
            (("Float32", [0.0, 1.0, 2.0, 3.0]), ("Float32", 10.0), ("Float32", [[4.0, 6.0], [8.0, 10.0]])),
            (
                ("Float32", [[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]]),
                ("Float32", [[4.0, 5.0, 6.0, 7.0]]),
                ("Float32", [1.0, 6.0]),
            ),
            ((1, 3), ("Float32", [0.0, 4.0, 8.0])),
            ("Float32", 15.0),
            (("Float32", [4.0, 5.0, 6.0, 7.0]), ("Float32", 5.0)),
            (("Float32", 56.0), ("Float32", [[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]])),
        ],
    )


def test_dyn_idx():
    @jit
    def f(a, i):
        s = T(0.0)
        while i < 3:
            s = s + a[i, 0]
            i = i + 1
        return s

    same(f(x(), T(0)), ("Float32", 12.0))


def test_loop_set():
    @jit
    def f(a):
        i = T(0)
        while i < 3:
            a[i] = i * 2
            i += 1
        return a

    same(f(x() * 1), ("Float32", [[0.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0], [4.0, 4.0, 4.0, 4.0]]))


def test_param_set():
    p = Parameter(x(), name="p")
    p[0] = 1
    p[1:] = p[0] * 2
    same(p, ("Float32", [[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0]]))
    same(p[0, 0], ("Float32", 1.0))


def test_iadd():
    a = x()
    b = a
    a += 1
    c = x()
    c -= 1
    c *= 2
    c /= 4
    c //= 1
    c **= 2
    c %= 5
    same(a, ("Float32", [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]))
    same(b, ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(c, ("Float32", [[1.0, 0.0, 0.0, 1.0], [1.0, 4.0, 4.0, 4.0], [4.0, 1.0, 1.0, 0.0]]))


def test_iter():
    same([float(v.sum()) for v in x()], [6.0, 22.0, 38.0])
    same([len(x()), x().shape[0]], [3, 3])
    same(list(zip(x(), range(2)))[1][0], ("Float32", [4.0, 5.0, 6.0, 7.0]))


def test_ms_slice():
    same(ops.slice(x(), (0, 1), (2, 2)), ("Float32", [[1.0, 2.0], [5.0, 6.0]]))
    same(ops.strided_slice(x(), (0, 0), (3, 4), (2, 2)), ("Float32", [[0.0, 2.0], [8.0, 10.0]]))
    same(ops.gather(x(), i32([0, 2]), 1), ("Float32", [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]))
    same(ops.gather_nd(x(), i32([[0, 1], [2, 3]])), ("Float32", [1.0, 11.0]))
    same(
        ops.tensor_scatter_update(x(), i32([[0, 1]]), T([9.0])),
        ("Float32", [[0.0, 9.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
    )
    same(
        ops.tensor_scatter_add(x(), i32([[0, 1], [0, 1]]), T([9.0, 1.0])),
        ("Float32", [[0.0, 11.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
    )
    same(ops.scatter_nd(i32([[0], [2]]), T([1.0, 2.0]), (4,)), ("Float32", [1.0, 0.0, 2.0, 0.0]))
    same(ops.index_select(x(), 1, i32([0, 1])), ("Float32", [[0.0, 1.0], [4.0, 5.0], [8.0, 9.0]]))
    same(ops.masked_select(x(), x() > 9), ("Float32", [10.0, 11.0]))
    same(
        ops.select(x() > 5, x(), -x()),
        ("Float32", [[-0.0, -1.0, -2.0, -3.0], [-4.0, -5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
    )
    same(
        ops.where(x() > 5, x(), T(0.0)),
        ("Float32", [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
    )
    same(
        ops.index_add(Parameter(x(), name="q"), i32([0]), x(1, 4), 0),
        ("Float32", [[0.0, 2.0, 4.0, 6.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
    )
    same(
        ops.tensor_scatter_max(x(), i32([[0, 1]]), T([9.0])),
        ("Float32", [[0.0, 9.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
    )
    same(ops.scatter_nd_add(Parameter(T([1.0, 2.0]), name="sn"), i32([[0]]), T([5.0])), ("Float32", [6.0, 2.0]))
    same(ops.scatter_update(Parameter(T([1.0, 2.0]), name="su"), i32([0]), T([5.0])), ("Float32", [5.0, 2.0]))
    same(ops.scatter_add(Parameter(T([1.0, 2.0]), name="sa"), i32([0, 0]), T([5.0, 1.0])), ("Float32", [7.0, 2.0]))
    same(
        ops.tensor_scatter_elements(x(), i32([[0, 0, 0, 0]]), x(1, 4) * 2, 0),
        ("Float32", [[0.0, 2.0, 4.0, 6.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
    )
    same(ops.unsorted_segment_sum(x(), i32([0, 1, 0]), 2), ("Float32", [[8.0, 10.0, 12.0, 14.0], [4.0, 5.0, 6.0, 7.0]]))
    same(ops.gather_d(x(), 1, i32([[0], [1], [2]])), ("Float32", [[0.0], [5.0], [10.0]]))
