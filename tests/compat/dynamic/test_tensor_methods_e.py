"""Methods of Tensor, as MindSpore 2.10 has them."""

import numpy as np
from mindspore import Tensor

from tests.compat.dynamic.support import fails

T = Tensor

x23 = lambda: T(np.arange(6).reshape(2, 3).astype(np.float32))


def test_err_flatten():
    fails(
        lambda: x23().flatten(order="X"),
        ValueError,
        "For Tensor.flatten, the parameter 'order' must be 'C' or 'F', but got 'X'",
    )


def test_err_split():
    fails(
        lambda: x23().split(0),
        ValueError,
        "For split, the value of 'split_size_or_sections' must be more than zero, but got 0.",
    )


def test_err_set2():
    def program():
        x = x23()
        x["a"] = 1
        return x

    fails(
        program,
        IndexError,
        "Unsupported Python object type received: <class 'str'>. Supported types for tensor indexin",
    )
