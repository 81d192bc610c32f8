"""Indexing and writes through an index, as MindSpore 2.10 has them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor

from tests.compat.dynamic.support import fails, same

T = Tensor

x = lambda *s: T(np.arange(np.prod(s or (3, 4))).reshape(s or (3, 4)).astype(np.float32))

i32 = lambda v: T(v, ms.int32)


def st(f, a=None):
    a = x() if a is None else a
    f(a)
    return a


def s8(a):
    a[...] = 3


def s9(a):
    a[..., 0] = T([7.0, 8.0, 9.0])


def s10(a):
    a[0] = [1, 2, 3, 4]


def s11(a):
    a[0:2, 0:2] = T([[1.0, 2.0], [3.0, 4.0]])


def s12(a):
    a[T([True, False, True])] = T([1.0, 2.0, 3.0, 4.0])


def s13(a):
    a[None] = 5


def s14(a):
    a[:, i32([0, 3])] = T([[1.0, 2.0]])


def s15(a):
    a[::2] = -1


def s16(a):
    a[0] = T(5, ms.int32)


def s17(a):
    a[0] = True


def s19(a):
    a[1] = (4, 3, 2, 1)


def s20(a):
    a[i32(1)] = 8


def s21(a):
    a[0][1] = 77


def s22(a):
    a[0] += 1


def s23(a):
    a[a > 3] += 10


def s24(a):
    a[()] = 2


def s25(a):
    a[True] = 4


def s28(a):
    a[[True, False, False]] = 3


def s29(a):
    a[1, [0, 1]] = 6


def s30(a):
    a[i32([0, 0, 0]), 0] = T([1.0, 2.0, 3.0])


def s31(a):
    a[0] = T([1.0, 2.0, 3.0, 4.0], ms.float64)


def s32(a):
    a[0:0] = 5


def s33(a):
    a[:, None, 0] = 5


def e1(a):
    a[5] = 1


def e3(a):
    a[0] = T([1.0, 2.0])


def e4(a):
    a[0] = [1, 2]


def e5(a):
    a["x"] = 1


def e8(a):
    a[0, 0, 0] = 1


def e10(a):
    a[1.5] = 1


def test_g1():
    a = x(2, 3, 4)
    same(a[0], ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(a[-1], ("Float32", [[12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0], [20.0, 21.0, 22.0, 23.0]]))
    same(a[0, 1], ("Float32", [4.0, 5.0, 6.0, 7.0]))
    same(a[0, 1, 2], ("Float32", 6.0))
    same(a[:, 1], ("Float32", [[4.0, 5.0, 6.0, 7.0], [16.0, 17.0, 18.0, 19.0]]))
    same(a[..., 0], ("Float32", [[0.0, 4.0, 8.0], [12.0, 16.0, 20.0]]))
    same(a[0, ...], ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(a[:, :, 1:3], ("Float32", [[[1.0, 2.0], [5.0, 6.0], [9.0, 10.0]], [[13.0, 14.0], [17.0, 18.0], [21.0, 22.0]]]))
    same(a[::2], ("Float32", [[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]]))
    same(
        a[:, ::-1],
        (
            "Float32",
            [
                [[8.0, 9.0, 10.0, 11.0], [4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0]],
                [[20.0, 21.0, 22.0, 23.0], [16.0, 17.0, 18.0, 19.0], [12.0, 13.0, 14.0, 15.0]],
            ],
        ),
    )
    same(a[1:, 0:2, ::2], ("Float32", [[[12.0, 14.0], [16.0, 18.0]]]))
    same(a[None].shape, (1, 2, 3, 4))
    same(a[:, None, 0].shape, (2, 1, 4))
    same(a[True].shape, (1, 2, 3, 4))
    fails(lambda: a[False].shape, IndexError, "When tensor is indexed by a bool object, the value only support 'True'.")
    same(a[...].shape, (2, 3, 4))
    same(a[()].shape, (2, 3, 4))


def test_g2():
    a = x()
    same(a[[0, 2]], ("Float32", [[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]]))
    same(a[[0, 2], [1, 3]], ("Float32", [1.0, 11.0]))
    same(a[i32([0, 2])], ("Float32", [[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]]))
    same(a[i32([[0, 1], [2, 0]])].shape, (2, 2, 4))
    same(a[i32([0, 1]), i32([1, 2])], ("Float32", [1.0, 6.0]))
    same(a[:, i32([0, 3])], ("Float32", [[0.0, 3.0], [4.0, 7.0], [8.0, 11.0]]))
    same(a[i32([1]), :].shape, (1, 4))
    same(a[(0, 2),].shape, (2, 4))
    same(a[a > 5], ("Float32", [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]))
    same(a[T([True, False, True])], ("Float32", [[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]]))
    same(a[:, T([True, False, True, False])], ("Float32", [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]))
    same(a[[True, False, True]], ("Float32", [[0.0, 1.0, 2.0, 3.0], [8.0, 9.0, 10.0, 11.0]]))
    same(a[i32(1)], ("Float32", [4.0, 5.0, 6.0, 7.0]))
    same(a[i32(1), i32(2)], ("Float32", 6.0))


def test_g3():
    a = x(2, 3, 4)
    same(a[i32([0, 1]), :, i32([0, 1])].shape, (2, 3))
    same(a[:, i32([0, 1]), i32([0, 1])].shape, (2, 2))
    same(a[0, [0, 1], :].shape, (2, 4))
    same(a[[0, 1], None, 1:].shape, (2, 1, 2, 4))
    same(a[..., i32([0])].shape, (2, 3, 1))
    same(a[i32([[0], [1]]), i32([[0, 1]])].shape, (2, 2, 4))
    same(a[1:2, i32([0, 1]), None].shape, (1, 2, 1, 4))
    same(a[a > 10].shape, (13,))
    same(a[:, x(3, 4) > 5].shape, (2, 6))
    same(a[0][1][2], ("Float32", 6.0))
    same(
        a[-2:],
        (
            "Float32",
            [
                [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]],
                [[12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0], [20.0, 21.0, 22.0, 23.0]],
            ],
        ),
    )
    same(a[5:].shape, (0, 3, 4))
    same(a[2:1].shape, (0, 3, 4))


def test_g_neg():
    a = x()
    same(a[-1], ("Float32", [8.0, 9.0, 10.0, 11.0]))
    same(a[[-1, -2]], ("Float32", [[8.0, 9.0, 10.0, 11.0], [4.0, 5.0, 6.0, 7.0]]))
    same(a[i32([-1])], ("Float32", [[8.0, 9.0, 10.0, 11.0]]))
    same(a[-3:-1], ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]))
    same(a[-100:100], ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(a[::-2], ("Float32", [[8.0, 9.0, 10.0, 11.0], [0.0, 1.0, 2.0, 3.0]]))


def test_g_err():
    a = x()
    fails(lambda: a[3], IndexError, "index 3 is out of bounds for dimension with size 3")
    fails(lambda: a[0, 4], IndexError, "index 4 is out of bounds for dimension with size 4")
    fails(lambda: a[0, 0, 0], IndexError, "too many indices for tensor of dimension2")
    fails(
        lambda: a["a"],
        IndexError,
        "Unsupported Python object type received: <class 'str'>. Supported types for tensor indexin",
    )
    fails(
        lambda: a[1.0],
        IndexError,
        "Only support integers, slices(`:`), ellipsis(`...`), None, bool, tensor, int, list and tup",
    )
    fails(
        lambda: a[{}],
        IndexError,
        "Unsupported Python object type received: <class 'dict'>. Supported types for tensor indexi",
    )
    fails(lambda: a[a], IndexError, "The tensor index must be int or bool type, but got")
    fails(lambda: a[0:1:0], ValueError, "For 'StridedSlice', 'strides' cannot contain 0")
    fails(lambda: a[T([1.5])], IndexError, "The tensor index must be int or bool type, but got")
    fails(lambda: a[..., ...], IndexError, "An index can only have a single ellipsis('...')")
    same(a[[[0, 1], [1]]], ("Float32", [1.0, 5.0]))


def test_set():
    same(
        [st(f) for f in (s8, s9, s10, s11, s12)],
        [
            ("Float32", [[3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]]),
            ("Float32", [[7.0, 1.0, 2.0, 3.0], [8.0, 5.0, 6.0, 7.0], [9.0, 9.0, 10.0, 11.0]]),
            ("Float32", [[1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
            ("Float32", [[1.0, 2.0, 2.0, 3.0], [3.0, 4.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]),
            ("Float32", [[1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0, 7.0], [1.0, 2.0, 3.0, 4.0]]),
        ],
    )
    same(st(s13), ("Float32", [[5.0, 5.0, 5.0, 5.0], [5.0, 5.0, 5.0, 5.0], [5.0, 5.0, 5.0, 5.0]]))
    same(st(s14), ("Float32", [[1.0, 1.0, 2.0, 2.0], [1.0, 5.0, 6.0, 2.0], [1.0, 9.0, 10.0, 2.0]]))
    same(st(s15), ("Float32", [[-1.0, -1.0, -1.0, -1.0], [4.0, 5.0, 6.0, 7.0], [-1.0, -1.0, -1.0, -1.0]]))
    same(st(s16), ("Float32", [[5.0, 5.0, 5.0, 5.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s17), ("Float32", [[1.0, 1.0, 1.0, 1.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s19), ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 3.0, 2.0, 1.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s20), ("Float32", [[0.0, 1.0, 2.0, 3.0], [8.0, 8.0, 8.0, 8.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s21), ("Float32", [[0.0, 77.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s22), ("Float32", [[1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s23), ("Float32", [[0.0, 1.0, 2.0, 3.0], [14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0]]))
    same(st(s24), ("Float32", [[2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0]]))
    same(st(s25), ("Float32", [[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]]))
    same(st(s28), ("Float32", [[3.0, 3.0, 3.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s29), ("Float32", [[0.0, 1.0, 2.0, 3.0], [6.0, 6.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s30), ("Float32", [[3.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s31), ("Float32", [[1.0, 2.0, 3.0, 4.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s32), ("Float32", [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]))
    same(st(s33), ("Float32", [[5.0, 1.0, 2.0, 3.0], [5.0, 5.0, 6.0, 7.0], [5.0, 9.0, 10.0, 11.0]]))


def test_set_err():
    fails(lambda: st(e1), IndexError, "Index 5 is out of bounds for axis 0 with size 3")
    fails(
        lambda: st(e3),
        ValueError,
        "For 'BroadcastTo', in order to broadcast, each dimension pair must be equal or input dimen",
    )
    fails(
        lambda: st(e4),
        ValueError,
        "For 'BroadcastTo', in order to broadcast, each dimension pair must be equal or input dimen",
    )
    fails(
        lambda: st(e5),
        IndexError,
        "Unsupported Python object type received: <class 'str'>. Supported types for tensor indexin",
    )
    fails(lambda: st(e8), IndexError, "too many indices for tensor of dimension2")
    fails(
        lambda: st(e10),
        IndexError,
        "Only support integers, slices(`:`), ellipsis(`...`), None, bool, tensor, int, list and tup",
    )


def test_set_int():
    a = T([1, 2, 3])
    a[0] = 9.7
    b = T([True, False])
    b[0] = 0
    c = T([1.0, 2.0], ms.float16)
    c[0] = 3
    d = T([1, 2], ms.uint8)
    d[0] = 300
    same(a, ("Int64", [9, 2, 3]))
    same(b, ("Bool", [False, False]))
    same(c, ("Float16", [3.0, 2.0]))
    same(d, ("UInt8", [44, 2]))
