"""Tensor and Cell as Python objects; errors, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.ops.operations as P
import numpy as np
from mindspore import Parameter, Tensor
from mindspore.common.api import _cell_graph_executor, _pynative_executor
from mindspore.ops import composite as C
from mindspore.ops.composite import GradOperation
from mindspore.train import Model

from tests.compat.dynamic.support import fails, same

T = Tensor


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.d = nn.Dense(3, 2, "ones")
        self.r = nn.ReLU()

    def construct(self, x):
        return self.r(self.d(x))


def test_tensor_op_np():
    a = T([1.0, 2.0], ms.float32)
    same(a + np.float32(1), ("Float32", [2.0, 3.0]))
    same(a * np.int64(2), ("Float32", [2.0, 4.0]))
    fails(
        lambda: a + np.array([1.0, 2.0], np.float32),
        TypeError,
        "Failed calling Add with \"Add()(input=Tensor, other=<class 'numpy.ndarray'>)\".",
    )
    same(np.float32(2) * a, ("float32", [2.0, 4.0], "numpy"))
    same(a + True, ("Float32", [2.0, 3.0]))
    same(a + (1, 2), ("Float32", [2.0, 4.0]))
    same(a - [1, 2], ("Float32", [0.0, 0.0]))
    fails(lambda: a * (1, 2), TypeError, 'Failed calling Mul with "Mul()(input=Tensor,')
    same([1, 2] + a, ("Float32", [2.0, 4.0]))


def test_tensor_op_err():
    a = T([1.0, 2.0])
    fails(lambda: a + "a", TypeError, 'Failed calling Add with "Add()(input=Tensor, other=string)".')
    fails(lambda: a - {}, TypeError, "Failed calling Sub with \"Sub()(input=Tensor, other=<class 'dict'>)\".")
    fails(lambda: a * "x", TypeError, 'Failed calling Mul with "Mul()(input=Tensor, other=string)".')
    fails(lambda: a @ 1, TypeError, 'Failed calling MatMulExt with "MatMulExt()(input=Tensor, other=int)".')
    fails(lambda: -T([True]), TypeError, "Select CPU operator[Neg] fail! Unsupported data type!")
    fails(
        lambda: a + T([1.0, 2.0, 3.0]),
        ValueError,
        "For 'AddExt', input.shape and other.shape need to broadcast. The value of input.shape[1] o",
    )
    fails(lambda: a // None, TypeError, 'Failed calling FloorDiv with "FloorDiv()(input=Tensor, other=None)".')
    fails(
        lambda: a & a,
        TypeError,
        "For primitive[BitwiseAnd], the input argument[x] must be a type of {Tensor[Bool], Tensor[I",
    )
    same(~a, ("Bool", [False, False]))
    fails(lambda: a << 1, TypeError, "unsupported operand type(s) for <<: 'Tensor' and 'int'")
    same(a[0] + a, ("Float32", [2.0, 3.0]))
    same(abs(T([True])), ("Bool", [True]))
    same(round(T(1.5)), ("Float32", 2.0))
    fails(
        lambda: a and 1,
        ValueError,
        "The tensor should have only one element, but got 2, more than one element is ambiguous.",
    )


def test_param_ops():
    p = Parameter(T([1.0, 2.0]), name="p")
    same(p + p, ("Float32", [2.0, 4.0]))
    same(p * 2, ("Float32", [2.0, 4.0]))
    same(-p, ("Float32", [-1.0, -2.0]))
    same(p == p, ("Bool", [True, True]))
    same(p[0], ("Float32", 1.0))
    same(p.mean(), ("Float32", 1.5))
    same(ops.relu(p), ("Float32", [1.0, 2.0]))
    same(type(p * 1).__name__, "Tensor")
    same(p.asnumpy(), ("float32", [1.0, 2.0], "numpy"))
    same(len(p), 2)
    same(list(p), [("Float32", 1.0), ("Float32", 2.0)])
    same(p.shape, (2,))
    same(float(p.sum()), 3.0)
    same(p.copy().name, "p")
    same(p.astype(ms.int32), ("Int32", [1, 2]))
    same(str(p), "Parameter (name=p, shape=(2,), dtype=Float32, requires_grad=True)")
    same(p.init_data() is p, True)


def test_pyn_exec():
    _pynative_executor.sync()
    same(_pynative_executor.grad_flag() if hasattr(_pynative_executor, "grad_flag") else 0, False)


def test_exec_compile():
    r = _cell_graph_executor.compile(Net(), T(np.ones((2, 3), np.float32)))
    same(isinstance(r, tuple), True)
    same(len(r), 2)
    same(r[1], True)


def test_exec_compile_err():
    class Bad(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = P.Add()

        def construct(self, x, y):
            return self.a(x, y)

    fails(
        lambda: _cell_graph_executor.compile(Bad(), T(np.ones((2, 3), np.float32)), T(np.ones((3, 3), np.float32))),
        ValueError,
        "For 'Add', input1.shape and input2.shape need to broadcast. The value of",
    )


def test_exec_compile_err4():
    fails(
        lambda: _cell_graph_executor.compile(Net(), T(np.ones((2, 4), np.float32))),
        ValueError,
        "For 'Dense' the input dimensions must be equal, but got 'x1_col': 4 and 'x2_row': 3.",
    )


def test_net_in_net():
    class In(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(T([2.0]), name="w")

        def construct(self, x):
            return x * self.w

    class Out(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = In()
            self.b = In()
            self.lst = [In(), In()]

        def construct(self, x):
            return self.b(self.a(x)) + self.lst[0](x)

    n = Out()
    same([p.name for p in n.get_parameters()], ["a.w", "b.w"])
    same(n(T([1.0])), ("Float32", [6.0]))
    same([p.name for p in n.trainable_params()], ["a.w", "b.w"])


def test_model_train():
    n = Net()
    m = Model(n, nn.MSELoss(), nn.SGD(n.trainable_params(), 0.1))
    same(m.predict(T(np.ones((2, 3), np.float32))).shape, (2, 2))
    same(m.train_network is not None, True)


def test_gradop_cell_err():
    class Bad(nn.Cell):
        def construct(self, x):
            raise ValueError("boom")

    fails(lambda: C.GradOperation()(Bad())(T(1.0)), ValueError, "boom")
    fails(lambda: ms.grad(Bad())(T(1.0)), ValueError, "boom")
    fails(lambda: Bad()(T(1.0)), ValueError, "boom")


def test_grad_pos():
    f = lambda x, y, z: x * y + z
    same(ms.grad(f, (0, 2))(T(2.0), T(3.0), T(4.0)), (("Float32", 3.0), ("Float32", 1.0)))
    fails(lambda: ms.grad(f, 3)(T(1.0), T(2.0), T(3.0)), RuntimeError, "Position index 3 is exceed input size.")
    same(ms.grad(f, (1,))(T(2.0), T(3.0), T(4.0)), ("Float32", 2.0))
    fails(lambda: ms.grad(f, "a"), TypeError, "For 'F.grad', the 'grad_position' must be int or tuple.")
    fails(lambda: ms.grad(f, (0, 0)), ValueError, "There are duplicate positions in `grad_position`, please check it")
    fails(lambda: ms.grad(f, -1), ValueError, "grad_position must be >= 0.")
    fails(lambda: ms.grad(f, 1.5), TypeError, "For 'F.grad', the 'grad_position' must be int or tuple.")
    fails(lambda: ms.grad(f, None), ValueError, "`grad_position` and `weight` can not be None at the same time.")
    same(ms.grad(f, 0)(T(2.0), 3, 4), ("Float32", 3.0))
    same(ms.grad(f, 0)(2.0, T(3.0), T(4.0)), ())
    fails(
        lambda: ms.grad(f, [0, 1])(T(2.0), T(3.0), T(4.0)),
        TypeError,
        "For 'F.grad', the 'grad_position' must be int or tuple.",
    )
    fails(
        lambda: ms.value_and_grad(f, 0, has_aux="a"),
        TypeError,
        "For '_Grad', the 'has_aux' should be bool, but got str",
    )


def test_grad_kwargs():
    def f(x, y=3, *, k=2):
        return x * y * k

    same(ms.grad(f)(T(2.0)), ("Float32", 6.0))
    same(ms.grad(f)(T(2.0), k=5), ("Float32", 15.0))
    same(ms.grad(f)(T(2.0), y=T(4.0)), ("Float32", 8.0))
    same(ms.grad(f, (0, 1))(T(2.0), T(4.0)), (("Float32", 8.0), ("Float32", 4.0)))
    same(ms.value_and_grad(f)(T(2.0), 7), (("Float32", 28.0), ("Float32", 14.0)))


def test_sens_kw():
    g = GradOperation(sens_param=True)
    f = lambda x: x * x
    same(g(f)(T([1.0, 2.0]), T([1.0, 10.0])), ("Float32", [2.0, 40.0]))
    same(g(f)(T([1.0, 2.0]), sens=T([1.0, 10.0])), ("Float32", [2.0, 40.0]))
    same(GradOperation(True, False, True)(f)(T(2.0), T(1.0)), (("Float32", 4.0),))
