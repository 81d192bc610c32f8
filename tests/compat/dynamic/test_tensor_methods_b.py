"""Methods of Tensor, as MindSpore 2.10 has them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor

from tests.compat.dynamic.support import fails, same

T = Tensor

x23 = lambda: T(np.arange(6).reshape(2, 3).astype(np.float32))

x234 = lambda: T(np.arange(24).reshape(2, 3, 4).astype(np.float32))


def test_topk():
    same(T([3.0, 1, 2]).topk(2), (("Float32", [3.0, 2.0]), ("Int32", [0, 2])))
    same(T([3.0, 1, 2]).topk(2, largest=False), (("Float32", [1.0, 2.0]), ("Int32", [1, 2])))
    same(T([3.0, 1, 2]).top_k(2), (("Float32", [3.0, 2.0]), ("Int32", [0, 2])))


def test_take():
    same(x23().take(T([0, 2])), ("Float32", [0.0, 2.0]))
    same(x23().take(T([0, 2]), axis=1), ("Float32", [[0.0, 2.0], [3.0, 5.0]]))
    same(x23().take(T([7]), mode="wrap"), ("Float32", [1.0]))


def test_choose():
    same(T([0, 1, 0]).choose([T([1, 2, 3]), T([4, 5, 6])]), ("Int64", [1, 5, 3]))


def test_diagonal():
    same(x23().diagonal(), ("Float32", [0.0, 4.0]))
    same(x23().diagonal(1), ("Float32", [1.0, 5.0]))
    same(x234().diagonal(0, 0, 2), ("Float32", [[0.0, 13.0], [4.0, 17.0], [8.0, 21.0]]))
    same(x23().trace(), ("Float32", 4.0))
    same(T([1.0, 2]).diag(), ("Float32", [[1.0, 0.0], [0.0, 2.0]]))


def test_repeat():
    fails(lambda: x23().repeat(2, axis=1), TypeError, "repeat() got an unexpected keyword argument 'axis'")
    fails(lambda: x23().repeat([1, 2], axis=0), TypeError, "repeat() got an unexpected keyword argument 'axis'")


def test_tile():
    same(x23().tile((2, 1)), ("Float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    same(x23().tile((1, 2, 1)).shape, (1, 4, 3))
    same(
        x23().repeat_interleave(2, 0), ("Float32", [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [3.0, 4.0, 5.0]])
    )


def test_gather():
    same(x23().gather(T([0, 2]), 1), ("Float32", [[0.0, 2.0], [3.0, 5.0]]))
    same(x23().gather_elements(1, T([[0], [2]])), ("Float32", [[0.0], [5.0]]))
    same(x23().gather_nd(T([[0, 1], [1, 2]])), ("Float32", [1.0, 5.0]))


def test_scatter():
    x = T(np.zeros((2, 3), np.float32))
    same(x.scatter(1, T([[0, 1]]), T([[1.0, 2.0]])), ("Float32", [[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]))


def test_tstype():
    same(T([1, 2]).astype("float16"), ("Float16", [1.0, 2.0]))
    same(T([1.7]).astype(ms.int32), ("Int32", [1]))
    same(T([1]).to(ms.float64), ("Float64", [1.0]))
    same(T([1.2]).int(), ("Int32", [1]))
    same(T([1]).float(), ("Float32", [1.0]))
    same(T([1, 0]).bool(), ("Bool", [True, False]))
    same(T([1]).half(), ("Float16", [1.0]))
    same(T([1.5]).long(), ("Int64", [1]))


def test_item():
    same(T(3).item(), 3)
    same(T([2.5]).item(), 2.5)


def test_itemset():
    x = x23()
    same(x.itemset(0, 9), ("Float32", [[9.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    same(x.itemset((1, 1), 8), ("Float32", [[0.0, 1.0, 2.0], [3.0, 8.0, 5.0]]))


def test_tolist():
    same(x23().tolist(), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    same(T(3).tolist(), 3)
    same(T([True]).tolist(), [True])


def test_copy():
    x = x23()
    y = x.copy()
    y[0] = 5
    same(x, ("Float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    same(y, ("Float32", [[5.0, 5.0, 5.0], [3.0, 4.0, 5.0]]))


def test_abs():
    same(T([-1.0, 2]).abs(), ("Float32", [1.0, 2.0]))
    same(abs(T([-1, 2])), ("Int64", [1, 2]))
    same(T([-1.0]).absolute(), ("Float32", [1.0]))


def test_acosh():
    same(T([1.5]).acosh(), ("Float32", [0.9624236]))
    same(T([1.0]).arccosh(), ("Float32", [0.0]))
    same(T([0.5]).arcsin(), ("Float32", [0.5235988]))
    same(T([0.5]).arctan2(T([1.0])), ("Float32", [0.4636476]))


def test_pow():
    x = T([2.0, 3])
    same(x.pow(2), ("Float32", [4.0, 9.0]))
    same(x**2, ("Float32", [4.0, 9.0]))
    same(2**x, ("Float32", [4.0, 8.0]))
    same(x**x, ("Float32", [4.0, 27.0]))
    same(T([2]) ** 2, ("Int64", [4]))
    same(x.pow(T([1.0, 2])), ("Float32", [2.0, 9.0]))


def test_arith():
    x = T([7.0, -7])
    same(x // 2, ("Float32", [3.0, -4.0]))
    same(x % 3, ("Float32", [1.0, 2.0]))
    same(x / 2, ("Float32", [3.5, -3.5]))
    same(2 / x, ("Float32", [0.2857143, -0.2857143]))
    same(2 - x, ("Float32", [-5.0, 9.0]))
    same(-x, ("Float32", [-7.0, 7.0]))
    same(x.fmod(3), ("Float32", [1.0, -1.0]))
    same(x.remainder(3), ("Float32", [1.0, 2.0]))
    fails(lambda: x.mod(T([3.0])), AttributeError, "'Tensor' object has no attribute 'mod'")


def test_arith_int():
    x = T([7, -7])
    same(x // 2, ("Int64", [3, -4]))
    same(x % 3, ("Int64", [1, 2]))
    same(x / 2, ("Float32", [3.5, -3.5]))
    same(3 - x, ("Int64", [-4, 10]))
    same(x * 2.0, ("Float32", [14.0, -14.0]))
    same(x + True, ("Int64", [8, -6]))
    same(x & 3, ("Int64", [3, 1]))
    same(x | 1, ("Int64", [7, -7]))
    same(x ^ 2, ("Int64", [5, -5]))
    same(x // 2.0, ("Float32", [3.0, -4.0]))


def test_compare():
    x = x23()
    same(x > 2, ("Bool", [[False, False, False], [True, True, True]]))
    same(x >= 2, ("Bool", [[False, False, True], [True, True, True]]))
    same(x < 2, ("Bool", [[True, True, False], [False, False, False]]))
    same(x <= 2, ("Bool", [[True, True, True], [False, False, False]]))
    same(x == 2, ("Bool", [[False, False, True], [False, False, False]]))
    same(x != 2, ("Bool", [[True, True, False], [True, True, True]]))
    same(x.eq(2), ("Bool", [[False, False, True], [False, False, False]]))
    same(x.ne(2), ("Bool", [[True, True, False], [True, True, True]]))
    same(x.gt(2), ("Bool", [[False, False, False], [True, True, True]]))
    same(x.ge(T(2.0)), ("Bool", [[False, False, True], [True, True, True]]))
    same(x.lt(2), ("Bool", [[True, True, False], [False, False, False]]))
    same(x.le(2), ("Bool", [[True, True, True], [False, False, False]]))
    same(x.equal(T(2.0)), ("Bool", [[False, False, True], [False, False, False]]))
    same(x.greater(2), ("Bool", [[False, False, False], [True, True, True]]))
    same(x.less(2), ("Bool", [[True, True, False], [False, False, False]]))
    same(x.not_equal(2), ("Bool", [[True, True, False], [True, True, True]]))
