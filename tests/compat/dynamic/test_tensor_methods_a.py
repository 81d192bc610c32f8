"""Methods of Tensor, as MindSpore 2.10 has them."""

import mindspore as ms
import numpy as np
from mindspore import Tensor

from tests.compat.dynamic.support import same

T = Tensor

x23 = lambda: T(np.arange(6).reshape(2, 3).astype(np.float32))

x234 = lambda: T(np.arange(24).reshape(2, 3, 4).astype(np.float32))


def test_size():
    x = x23()
    same(x.size, 6)
    same(x.ndim, 2)
    same(x.shape, (2, 3))
    same(x.itemsize, 4)
    same(x.nbytes, 24)
    same(x.strides, (12, 4))
    same(x.dtype, "Float32")


def test_T():
    same(x23().T, ("Float32", [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]))
    same(x234().T.shape, (4, 3, 2))


def test_all():
    same(T([True, False]).all(), ("Bool", False))
    same(T([True, False]).any(), ("Bool", True))
    same(x23().all(), ("Bool", False))


def test_view():
    same(x23().view(3, 2), ("Float32", [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
    same(x23().view((6,)), ("Float32", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
    same(x23().view(-1), ("Float32", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))


def test_reshape():
    same(x23().reshape(3, 2), ("Float32", [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
    same(x23().reshape((6,)), ("Float32", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
    same(x23().reshape([3, -1]), ("Float32", [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]))
    same(x23().ravel(), ("Float32", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
    same(x23().flatten(), ("Float32", [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))


def test_transpose():
    same(x234().transpose(2, 0, 1).shape, (4, 2, 3))
    same(x234().transpose((1, 0, 2)).shape, (3, 2, 4))
    same(x234().transpose([0, 2, 1]).shape, (2, 4, 3))
    same(x23().transpose(), ("Float32", [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]))


def test_swapaxes():
    same(x234().swapaxes(0, 2).shape, (4, 3, 2))
    same(x234().swapdims(0, 1).shape, (3, 2, 4))


def test_squeeze():
    x = T(np.ones((1, 3, 1), np.float32))
    same(x.squeeze(), ("Float32", [1.0, 1.0, 1.0]))
    same(x.squeeze(0), ("Float32", [[1.0], [1.0], [1.0]]))
    same(x.squeeze((0, 2)), ("Float32", [1.0, 1.0, 1.0]))
    same(x.unsqueeze(0).shape, (1, 1, 3, 1))
    same(x.expand_dims(1).shape, (1, 1, 3, 1))


def test_mean():
    same(x23().mean(), ("Float32", 2.5))
    same(x23().mean(0), ("Float32", [1.5, 2.5, 3.5]))
    same(x23().mean(axis=1, keep_dims=True), ("Float32", [[1.0], [4.0]]))
    same(x23().mean((0, 1)), ("Float32", 2.5))


def test_sum():
    same(x23().sum(), ("Float32", 15.0))
    same(x23().sum(axis=0), ("Float32", [3.0, 5.0, 7.0]))
    same(x23().sum(axis=1, keepdims=True), ("Float32", [[3.0], [12.0]]))
    same(T([1, 2]).sum(), ("Int64", 3))
    same(T([True, True]).sum(), ("Int64", 2))
    same(x23().sum(dtype=ms.float64), ("Float64", 15.0))


def test_prod():
    same(x23().prod(), ("Float32", 0.0))
    same(x23().prod(1, True), ("Float32", [[0.0], [60.0]]))


def test_max():
    same(x23().max(), ("Float32", 5.0))
    same(x23().max(axis=0), ("Float32", [3.0, 4.0, 5.0]))
    same(x23().max(axis=1, return_indices=True), (("Float32", [2.0, 5.0]), ("Int64", [2, 2])))
    same(x23().max(axis=1, keepdims=True), ("Float32", [[2.0], [5.0]]))


def test_min():
    same(x23().min(), ("Float32", 0.0))
    same(x23().min(axis=0), ("Float32", [0.0, 1.0, 2.0]))
    same(x23().min(axis=1, return_indices=True), (("Float32", [0.0, 3.0]), ("Int64", [0, 0])))


def test_max_init():
    same(x23().max(axis=0, initial=4.0), ("Float32", [4.0, 4.0, 5.0]))


def test_max_where():
    same(
        x23().max(axis=0, initial=0, where=T([[True, False, True], [True, True, False]])), ("Float32", [3.0, 4.0, 2.0])
    )


def test_argmax():
    same(x23().argmax(), ("Int64", 5))
    same(x23().argmax(axis=0), ("Int64", [1, 1, 1]))
    same(x23().argmax(1, True), ("Int64", [[2], [2]]))
    same(x23().argmin(1), ("Int32", [0, 0]))


def test_argmax_with_value():
    same(x23().argmax_with_value(0), (("Float32", [3.0, 4.0, 5.0]), ("Int64", [1, 1, 1])))
    same(x23().argmin_with_value(1, True), (("Float32", [[0.0], [3.0]]), ("Int64", [[0], [0]])))


def test_std():
    same(x23().std(), ("Float32", 1.707825))
    same(x23().std(axis=0), ("Float32", [1.5, 1.5, 1.5]))
    same(x23().var(), ("Float32", 2.916667))
    same(x23().var(axis=0), ("Float32", [2.25, 2.25, 2.25]))
    same(x23().var(axis=1, ddof=1), ("Float32", [1.0, 1.0]))
    same(x23().std(0, 1, True), ("Float32", [[2.12132, 2.12132, 2.12132]]))


def test_cumsum():
    same(x23().cumsum(axis=0), ("Float32", [[0.0, 1.0, 2.0], [3.0, 5.0, 7.0]]))
    same(x23().cumsum(), ("Float32", [0.0, 1.0, 3.0, 6.0, 10.0, 15.0]))
    same(x23().cumprod(1), ("Float32", [[0.0, 0.0, 0.0], [3.0, 12.0, 60.0]]))


def test_clip():
    same(x23().clip(1, 3), ("Float32", [[1.0, 1.0, 2.0], [3.0, 3.0, 3.0]]))
    same(x23().clip(T(1.0), T(3.0)), ("Float32", [[1.0, 1.0, 2.0], [3.0, 3.0, 3.0]]))
    same(x23().clamp(1, 4), ("Float32", [[1.0, 1.0, 2.0], [3.0, 4.0, 4.0]]))
    same(x23().clamp(min=2), ("Float32", [[2.0, 2.0, 2.0], [3.0, 4.0, 5.0]]))


def test_fill():
    same(x23().fill(3.0), ("Float32", [[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]]))


def test_masked_fill():
    same(x23().masked_fill(x23() > 2, 9.0), ("Float32", [[0.0, 1.0, 2.0], [9.0, 9.0, 9.0]]))
    same(x23().masked_fill(x23() > 2, T(7.0)), ("Float32", [[0.0, 1.0, 2.0], [7.0, 7.0, 7.0]]))


def test_masked_select():
    same(x23().masked_select(x23() > 2), ("Float32", [3.0, 4.0, 5.0]))


def test_nonzero():
    same(T([1, 0, 2]).nonzero(), ("Int64", [[0], [2]]))
    same(T([[1, 0], [0, 3]]).nonzero(), ("Int64", [[0, 0], [1, 1]]))


def test_sort():
    same(T([3.0, 1, 2]).sort(), (("Float32", [1.0, 2.0, 3.0]), ("Int32", [1, 2, 0])))
    same(T([3.0, 1, 2]).argsort(), ("Int32", [1, 2, 0]))
    same(T([[3.0, 1, 2]]).sort(axis=1, descending=True), (("Float32", [[3.0, 2.0, 1.0]]), ("Int32", [[0, 2, 1]])))
    same(T([3.0, 1, 2]).argsort(descending=True), ("Int32", [0, 2, 1]))
