"""Printed forms; every expected text was printed by MindSpore 2.10."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.api.tensor_methods import Tensor
from duograph.core import dtype as dt

REPR = [
    (
        Tensor([1.0, 2.5, -3]),
        "Tensor(shape=[3], dtype=Float32, value= [ 1.00000000e+00,  2.50000000e+00, -3.00000000e+00])",
    ),
    (
        Tensor([[1.0, 2.0], [3.0, 4.0]]),
        (
            "Tensor(shape=[2, 2], dtype=Float32, value=\n[[ 1.00000000e+00,  2.00000000e+00],\n"
            " [ 3.00000000e+00,  4.00000000e+00]])"
        ),
    ),
    (Tensor(1.5), "Tensor(shape=[], dtype=Float32, value= 1.5)"),
    (Tensor(123456789.0), "Tensor(shape=[], dtype=Float32, value= 1.23457e+08)"),
    (Tensor(True), "Tensor(shape=[], dtype=Bool, value= True)"),
    (Tensor([]), "Tensor(shape=[0], dtype=Float32, value= )"),
    (Tensor(np.zeros((0, 3))), "Tensor(shape=[0, 3], dtype=Float64, value=\n)"),
    (Tensor([True, False]), "Tensor(shape=[2], dtype=Bool, value= [ True, False])"),
    (Tensor([1, -20, 3]), "Tensor(shape=[3], dtype=Int64, value= [  1, -20,   3])"),
    (Tensor([1.5, 2], dt.float16), "Tensor(shape=[2], dtype=Float16, value= [ 1.5000e+00,  2.0000e+00])"),
    (Tensor([1.5, 2], dt.bfloat16), "Tensor(shape=[2], dtype=BFloat16, value= [1.5,   2])"),
    (
        Tensor([1e10, 1.234567, -1e-5], dt.bfloat16),
        "Tensor(shape=[3], dtype=BFloat16, value= [ 9.99922e+09,      1.23438, -1.00136e-05])",
    ),
    (Tensor([1 + 2j, -1.5 - 3j]), "Tensor(shape=[2], dtype=Complex128, value= [1+2j, -1.5-3j])"),
    (
        Tensor([[np.nan, 1.0], [2.0, np.inf]]),
        (
            "Tensor(shape=[2, 2], dtype=Float32, value=\n[[            nan,  1.00000000e+00],\n"
            " [ 2.00000000e+00,             inf]])"
        ),
    ),
    (Tensor([-0.0, 0.0]), "Tensor(shape=[2], dtype=Float32, value= [-0.00000000e+00,  0.00000000e+00])"),
    (
        Tensor(np.arange(30)),
        (
            "Tensor(shape=[30], dtype=Int64, value= [ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, "  # noqa: E501
            "17, 18, 19, 20, 21, 22, 23, \n 24, 25, 26, 27, 28, 29])"
        ),
    ),
    (
        Tensor(np.arange(14) > 3),
        (
            "Tensor(shape=[14], dtype=Bool, value= [False, False, False, False,  True,  True,  True,  True,  True,  True,  "  # noqa: E501
            "True,  True, \n  True,  True])"
        ),
    ),
    (Tensor(np.arange(2000)), "Tensor(shape=[2000], dtype=Int64, value= [   0,    1,    2 ... 1997, 1998, 1999])"),
    (
        Tensor(np.ones((1, 7), np.int32)),
        "Tensor(shape=[1, 7], dtype=Int32, value=\n[[1, 1, 1 ... 1, 1, 1]])",
    ),
    (
        Tensor(np.ones((7, 2), np.int32)),
        "Tensor(shape=[7, 2], dtype=Int32, value=\n[[1, 1],\n [1, 1],\n [1, 1],\n ...\n [1, 1],\n [1, 1],\n [1, 1]])",
    ),
    (
        Tensor(np.arange(8).reshape(2, 2, 2)),
        "Tensor(shape=[2, 2, 2], dtype=Int64, value=\n[[[0, 1],\n  [2, 3]],\n [[4, 5],\n  [6, 7]]])",
    ),
]


@pytest.mark.parametrize(("tensor", "text"), REPR, ids=[str(i) for i in range(len(REPR))])
def test_repr(tensor, text):
    assert repr(tensor) == text


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (Tensor([1.0, 2.5, -3]), "[ 1.   2.5 -3. ]"),
        (Tensor([[1.0, 2.0], [3.0, 4.0]]), "[[1. 2.]\n [3. 4.]]"),
        (Tensor(1.5), "1.5"),
        (Tensor(True), "True"),
        (Tensor([True, False]), "[ True False]"),
        (Tensor([]), "[]"),
        (Tensor([1.5, 2.5], dt.bfloat16), "[1.500000 2.500000]"),
        (Tensor(1.5, dt.bfloat16), "1.500000"),
        (Tensor([1 + 2j]), "[1.+2.j]"),
        (Tensor(np.arange(1001.0)), "[   0.    1.    2. ...  998.  999. 1000.]"),
    ],
)
def test_str(tensor, text):
    assert str(tensor) == text == f"{tensor}"


def test_containers_show_repr():
    assert str([Tensor([1, 2])]) == "[Tensor(shape=[2], dtype=Int64, value= [1, 2])]"
    assert str({"a": Tensor(1)}) == "{'a': Tensor(shape=[], dtype=Int64, value= 1)}"


def test_format_spec():
    assert f"{Tensor(1.0):.3f}" == "1.000" and f"{Tensor([2.5]):>6}" == "   2.5" and f"{Tensor(True):d}" == "1"
    with pytest.raises(TypeError, match=r"unsupported format string .*'\.3f' formats one number, .* \(2,\)"):
        f"{Tensor([1.0, 2.0]):.3f}"
    assert "%.2f" % Tensor(3.5) == "3.50"
