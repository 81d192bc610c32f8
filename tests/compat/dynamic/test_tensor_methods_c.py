"""Methods of Tensor, as MindSpore 2.10 has them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, ops

from tests.compat.dynamic.support import fails, same

T = Tensor

x23 = lambda: T(np.arange(6).reshape(2, 3).astype(np.float32))

x234 = lambda: T(np.arange(24).reshape(2, 3, 4).astype(np.float32))


def test_logical():
    a, b = (T([True, False]), T([True, True]))
    same(a.logical_and(b), ("Bool", [True, False]))
    same(a.logical_or(b), ("Bool", [True, True]))
    same(a.logical_not(), ("Bool", [False, True]))
    same(a.logical_xor(b), ("Bool", [False, True]))
    same(~a, ("Bool", [False, True]))
    same(a & b, ("Bool", [True, False]))
    same(a | b, ("Bool", [True, True]))
    same(a ^ b, ("Bool", [False, True]))


def test_isxxx():
    x = T([1.0, np.nan, np.inf])
    same(x.isnan(), ("Bool", [False, True, False]))
    same(x.isinf(), ("Bool", [False, False, True]))
    same(x.isfinite(), ("Bool", [True, False, False]))
    same(x.isclose(x), ("Bool", [True, False, True]))
    same(x.isclose(x, equal_nan=True), ("Bool", [True, True, True]))
    same(x.nan_to_num(0.0, 9.0, -9.0), ("Float32", [1.0, 0.0, 9.0]))
    same(T([1]).is_floating_point(), False)
    same(x.is_complex(), False)
    same(x.is_signed(), True)


def test_expand():
    same(T([[1.0], [2.0]]).expand_as(x23()), ("Float32", [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]))
    same(T([1.0, 2]).broadcast_to((2, 2)), ("Float32", [[1.0, 2.0], [1.0, 2.0]]))
    same(T([[1.0]]).expand((2, 2)), ("Float32", [[1.0, 1.0], [1.0, 1.0]]))


def test_split():
    same(x23().split(1), (("Float32", [[0.0, 1.0, 2.0]]), ("Float32", [[3.0, 4.0, 5.0]])))
    same(x23().split([1, 2], 1), (("Float32", [[0.0], [3.0]]), ("Float32", [[1.0, 2.0], [4.0, 5.0]])))
    same(x23().chunk(2, 1), (("Float32", [[0.0, 1.0], [3.0, 4.0]]), ("Float32", [[2.0], [5.0]])))
    same(x23().tensor_split(2, 1), (("Float32", [[0.0, 1.0], [3.0, 4.0]]), ("Float32", [[2.0], [5.0]])))
    same(x23().unbind(0), (("Float32", [0.0, 1.0, 2.0]), ("Float32", [3.0, 4.0, 5.0])))
    same(x23().hsplit(3), (("Float32", [[0.0], [3.0]]), ("Float32", [[1.0], [4.0]]), ("Float32", [[2.0], [5.0]])))
    same(x23().vsplit(2), (("Float32", [[0.0, 1.0, 2.0]]), ("Float32", [[3.0, 4.0, 5.0]])))


def test_where():
    same(ops.where(T([True, False]), T([1.0, 2]), T([3.0, 4])), ("Float32", [1.0, 4.0]))


def test_roll():
    same(x23().flip((0, 1)), ("Float32", [[5.0, 4.0, 3.0], [2.0, 1.0, 0.0]]))
    same(x23().fliplr(), ("Float32", [[2.0, 1.0, 0.0], [5.0, 4.0, 3.0]]))
    same(x23().flipud(), ("Float32", [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]))
    same(x23().rot90(1, (0, 1)), ("Float32", [[2.0, 5.0], [1.0, 4.0], [0.0, 3.0]]))


def test_norm():
    same(x23().norm(), ("Float32", 7.416198))
    same(x23().norm(1), ("Float32", 7.0))
    same(x23().norm(dim=1), ("Float32", [2.236068, 7.071068]))
    same(x23().norm(2, 1, True), ("Float32", [[2.236068], [7.071068]]))


def test_matmul():
    same(x23().matmul(x23().T), ("Float32", [[5.0, 14.0], [14.0, 50.0]]))
    same(x23() @ x23().T, ("Float32", [[5.0, 14.0], [14.0, 50.0]]))
    same(x23().mm(x23().T), ("Float32", [[5.0, 14.0], [14.0, 50.0]]))
    same(T([1.0, 2]).outer(T([3.0, 4])), ("Float32", [[3.0, 4.0], [6.0, 8.0]]))
    same(T([1.0, 2]).inner(T([3.0, 4.0])), ("Float32", 11.0))
    fails(lambda: x23().mv(T([1.0, 2, 3])), AttributeError, "'Tensor' object has no attribute 'mv'")


def test_addxx():
    m = T(np.ones((2, 2), np.float32))
    same(m.addmm(m, m, beta=2, alpha=3), ("Float32", [[8.0, 8.0], [8.0, 8.0]]))
    same(T([1.0, 1]).addmv(m, T([1.0, 2])), ("Float32", [4.0, 4.0]))
    same(m.addr(T([1.0, 2]), T([1.0, 2])), ("Float32", [[2.0, 3.0], [3.0, 5.0]]))
    same(m.addcmul(m, m, 2), ("Float32", [[3.0, 3.0], [3.0, 3.0]]))
    same(m.addbmm(m[None], m[None]), ("Float32", [[3.0, 3.0], [3.0, 3.0]]))
    same(m.baddbmm(m[None], m[None]), ("Float32", [[[3.0, 3.0], [3.0, 3.0]]]))


def test_init():
    from mindspore.common.initializer import One, initializer

    t = T(shape=(2, 2), dtype=ms.float32, init=One())
    same(t.init_data(), ("Float32", [[1.0, 1.0], [1.0, 1.0]]))
    same(t.has_init, False)
    same(initializer("ones", (2,), ms.int32), ("Int32", [1, 1]))


def test_set_dtype():
    same(T([1, 2], ms.float32).set_dtype(ms.int32), "Int32")


def test_new():
    x = x23()
    same(x.new_zeros((2,)), ("Float32", [0.0, 0.0]))
    same(x.new_ones((2,)), ("Float32", [1.0, 1.0]))
    same(x.new_zeros((2,), dtype=ms.int32), ("Int32", [0, 0]))
    same(ops.zeros_like(x), ("Float32", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    same(ops.ones_like(x), ("Float32", [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]))
    same(ops.full_like(x, 3), ("Float32", [[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]]))


def test_tril():
    same(x23().tril(), ("Float32", [[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]))
    same(x23().triu(1), ("Float32", [[0.0, 1.0, 2.0], [0.0, 0.0, 5.0]]))
    same(x23().tril(-1), ("Float32", [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]))


def test_unique():
    same(T([1, 2, 1]).unique_consecutive(), ("Int64", [1, 2, 1]))
    same(ops.unique(T([3, 1, 3])), (("Int64", [3, 1]), ("Int64", [0, 1, 0])))


def test_bincount():
    same(T([1, 1, 2]).bincount(), ("Float32", [0.0, 2.0, 1.0]))
    same(T([1.0, 2, 2]).histc(2), ("Float32", [1.0, 2.0]))
    same(T([1, 2]).bitwise_and(T([3, 2])), ("Int64", [1, 2]))
    same(T([1, 2]).bitwise_left_shift(1), ("Int64", [2, 4]))


def test_diff():
    same(x23().diff(), ("Float32", [[1.0, 1.0], [1.0, 1.0]]))
    same(x23().diff(axis=0), ("Float32", [[3.0, 3.0, 3.0]]))
    same(T([1.0, 2, 4]).ptp(), ("Float32", 3.0))
    same(x23().median(), (("Float32", [1.0, 4.0]), ("Int64", [1, 1])))
    same(x23().median(1), (("Float32", [1.0, 4.0]), ("Int64", [1, 1])))
    same(x23().logsumexp(1), ("Float32", [2.407605, 5.407606]))
    same(x23().cummax(0), (("Float32", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]), ("Int64", [[0, 0, 0], [1, 1, 1]])))
    same(x23().amax(0), ("Float32", [3.0, 4.0, 5.0]))
    same(x23().amin(1), ("Float32", [0.0, 3.0]))
    same(x23().nansum(), ("Float32", 15.0))
    same(x23().count_nonzero(), ("Int32", 5))


def test_softmax():
    same(x23().softmax(axis=0), ("Float32", [[0.04742587, 0.04742587, 0.04742587], [0.9525741, 0.9525741, 0.9525741]]))
    fails(lambda: x23().log_softmax(1), AttributeError, "'Tensor' object has no attribute 'log_softmax'")


def test_movedim():
    same(x234().movedim(0, 2).shape, (3, 4, 2))
    same(x234().moveaxis((0, 1), (1, 2)).shape, (4, 2, 3))
    same(x234().permute(2, 0, 1).shape, (4, 2, 3))
    same(x234().permute((2, 0, 1)).shape, (4, 2, 3))
    same(x234().narrow(1, 0, 2).shape, (2, 2, 4))
    same(x234().select(1, 0).shape, (2, 4))
    same(x234().index_select(1, T([0, 1])).shape, (2, 2, 4))
