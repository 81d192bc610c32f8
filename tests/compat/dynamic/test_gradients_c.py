"""Gradients, hooks, Parameters, initializers, as MindSpore 2.10 has them."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore.common.initializer import (
    Constant,
    XavierUniform,
    initializer,
)

from tests.compat.dynamic.support import fails, same

T = Tensor

one = lambda *s: T(np.ones(s, np.float32))


def test_p2():
    p = Parameter(1.0, name="s")
    q = Parameter(3, name="i")
    r = Parameter(initializer("ones", (2,), ms.float32), name="r")
    s = Parameter([1, 2, 3], name="l")
    t = Parameter(np.ones(2), name="n")
    same(p, ("Float32", 1.0))
    same(q, ("Int32", 3))
    same(r, ("Float32", [1.0, 1.0]))
    same(s, ("Int64", [1, 2, 3]))
    same(t, ("Float64", [1.0, 1.0]))


def test_p3():
    p = Parameter(T([1.0, 2.0]), name="a")
    p.set_data(T([3.0, 4.0]))
    a = p.asnumpy().copy()
    p.set_data(T([1.0, 2.0, 3.0]), slice_shape=True)
    same(a, ("float32", [3.0, 4.0], "numpy"))
    same(p, ("Float32", [1.0, 2.0, 3.0]))


def test_p5():
    p = Parameter(T([1.0, 2.0]), name="a")
    q = p.clone()
    r = p.clone("zeros")
    s = p.copy()
    q.name = "b"
    same(p.name, "a")
    same(q, ("Float32", [1.0, 2.0]))
    same(r, ("Float32", [0.0, 0.0]))
    same(s, ("Float32", [1.0, 2.0]))
    same(q.name, "b")
    same(r.name, "a")


def test_p6():
    p = Parameter(T([1.0, 2.0]), name="a")
    p.requires_grad = False
    p.name = "z"
    p.layerwise_parallel = True
    same(p.requires_grad, False)
    same(p.name, "z")


def test_p_err():
    def program():
        p = Parameter(T([1.0, 2.0]), name="a")
        p.requires_grad = 1

    fails(lambda: program(), TypeError, "The argument `requires_grad` must be bool type")


def test_p_err2():
    def program():
        p = Parameter(T([1.0, 2.0]), name="a")
        p.name = 1

    fails(
        lambda: program(),
        ValueError,
        "The type of the Parameter's name should be 'string' or 'None', but got <class 'int'>.",
    )


def test_p_err3():
    fails(
        lambda: Parameter(T([1.0, 2.0]), name="a", requires_grad=1),
        TypeError,
        "The argument `requires_grad` must be bool type",
    )


def test_p_err4():
    fails(
        lambda: Parameter(T([1.0, 2.0]), name="a", layerwise_parallel=1),
        TypeError,
        "The argument `layerwise_parallel` must be bool type.",
    )


def test_p_err5():
    fails(
        lambda: Parameter("abc", name="a"),
        TypeError,
        "For 'Tensor', the type of 'input_data' should be one of '['TensorPy', 'Tensor', 'ndarray',",
    )


def test_p_err6():
    def program():
        p = Parameter(T([1.0, 2.0]), name="a")
        p.layerwise_parallel = 1

    fails(lambda: program(), TypeError, "The argument `layerwise_parallel` must be bool type.")


def test_p_err7():
    def program():
        p = Parameter(T([1.0, 2.0]), name="a")
        p.parallel_optimizer = 1

    fails(lambda: program(), TypeError, "The argument `parallel_optimizer` must be bool type.")


def test_p_assign2():
    p = Parameter(T([1.0, 2.0]), name="a")
    p.assign_value(T([3.0, 3.0]))
    p[0] = 9
    a = p.asnumpy().copy()
    p += 1
    same(a, ("float32", [9.0, 3.0], "numpy"))
    same(p, ("Float32", [10.0, 4.0]))


def test_ptuple():
    pt = ParameterTuple([Parameter(T([1.0]), name="a"), Parameter(T([2.0]), name="b")])
    q = pt.clone("x")
    same(pt, (("Float32", [1.0]), ("Float32", [2.0])))
    same(q, (("Float32", [1.0]), ("Float32", [2.0])))
    same(len(pt), 2)
    same(pt.count(pt[0]), 1)


def test_ptuple_err():
    fails(
        lambda: ParameterTuple([1, 2]),
        TypeError,
        "For ParameterTuple initialization, ParameterTuple input should be 'Parameter' collection, ",
    )
    fails(lambda: ParameterTuple(1), TypeError, "'int' object is not iterable")
    fails(
        lambda: ParameterTuple([Parameter(T([1.0]), name="a"), Parameter(T([2.0]), name="a")]),
        ValueError,
        "The value Parameter (name=a, shape=(1,), dtype=Float32, requires_grad=True) , its name 'a'",
    )


def test_init():
    same(
        [initializer(n, (2, 2), ms.float32).init_data().asnumpy().tolist() for n in ("zeros", "ones", "identity")],
        [[[0.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]],
    )
    same(initializer(Constant(3), (2,)).init_data(), ("Float32", [3.0, 3.0]))
    same(initializer(0.5, [2]).init_data(), ("Float32", [0.5, 0.5]))
    same(initializer("normal", (2, 3)).init_data().shape, (2, 3))
    fails(
        lambda: initializer("abc", (2,)),
        ValueError,
        "For 'initializer', the class corresponding to 'abc' was not found.",
    )
    fails(
        lambda: initializer("ones", "a"),
        ValueError,
        "For 'initializer', the argument 'shape' is invalid, the value of 'shape' must be positive ",
    )
    fails(
        lambda: initializer("ones", (2, -1)),
        ValueError,
        "For 'initializer', the argument 'shape' is invalid, the value of 'shape' must be positive ",
    )
    same(initializer(T([1.0, 2.0]), (2,)), ("Float32", [1.0, 2.0]))
    same(initializer(XavierUniform(), (3, 4)).shape, (3, 4))
    fails(
        lambda: initializer("identity", (2,)).init_data(),
        ValueError,
        "For Identity initializer, the dimension of the initialized tensor should be 2, but got 1.",
    )


def test_init_names():
    same(
        [
            initializer(n, (4, 4)).init_data().shape
            for n in (
                "xavier_uniform",
                "he_uniform",
                "he_normal",
                "uniform",
                "orthogonal",
                "truncatedNormal",
                "xavier_normal",
                "dirac",
            )
            if n != "dirac" and n != "xavier_normal"
        ],
        [(4, 4), (4, 4), (4, 4), (4, 4), (4, 4), (4, 4)],
    )
