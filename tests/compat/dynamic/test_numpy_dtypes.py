"""Dtypes of mindspore.numpy, as MindSpore 2.10 has them."""

import mindspore.numpy as mnp
import numpy as np
from mindspore import Tensor as T

from tests.compat.dynamic.support import same


def test_1():
    same(mnp.array(3), ("Int32", 3))
    same(mnp.array([1, 2.5]), ("Float32", [1.0, 2.5]))
    same(mnp.array((1, 2)), ("Int32", [1, 2]))
    same(mnp.asarray([[1], [2]]), ("Int32", [[1], [2]]))
    same(mnp.array(True), ("Bool", True))
    same(mnp.array([True, 1]), ("Int32", [1, 1]))
    same(mnp.array([np.int64(3)]), ("Int32", [3]))
    same(mnp.array([1, 2], dtype="float16"), ("Float16", [1.0, 2.0]))
    same(mnp.array([1], mnp.int64), ("Int64", [1]))
    same(mnp.add(1, 2), ("Int32", 3))
    same(mnp.add(T([1]), 2), ("Int64", [3]))
    same(mnp.add([1, 2], [3, 4]), ("Int32", [4, 6]))
    same(mnp.sqrt(4), ("Float32", 2.0))
    same(mnp.maximum(1, 2), ("Int32", 2))
    same(mnp.full((2,), True), ("Bool", [True, True]))
    same(mnp.full_like(T([1.0]), 3), ("Float32", [3.0]))
    same(mnp.asfarray([1, 2]), ("Float32", [1.0, 2.0]))
    same(mnp.arange(3), ("Int32", [0, 1, 2]))
    same(mnp.zeros((2,), np.float32), ("Float32", [0.0, 0.0]))
    same(mnp.array(3.0), ("Float32", 3.0))
    same(mnp.float_, "Float32")
    same(mnp.int_, "Int32")
