"""Function transforms, functions of ops and numpy, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.numpy as mnp
import numpy as np
from mindspore import Tensor, vmap

from tests.compat.dynamic.support import fails, same

T = Tensor

x = lambda *s: T((np.arange(np.prod(s or (2, 3))).reshape(s or (2, 3)) / 4 + 0.25).astype(np.float32))


def sq(a):
    return a * a


def addab(a, b):
    return a + b


def mulsum(a, b):
    return (a * b).sum()


def cube(a):
    return a**3


def two(a, b):
    return (a * b, a + b)


def lambda_cube(a):
    return a**3


def test_vmap():
    same(vmap(sq)(x()), ("Float32", [[0.0625, 0.25, 0.5625], [1.0, 1.5625, 2.25]]))
    same(vmap(addab, (0, None))(x(), T([1.0, 2.0, 3.0])), ("Float32", [[1.25, 2.5, 3.75], [2.0, 3.25, 4.5]]))
    same(vmap(mulsum)(x(), x()), ("Float32", [0.875, 4.8125]))
    same(vmap(addab, (1, 1), 1)(x(), x()), ("Float32", [[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]]))
    same(vmap(vmap(sq))(x()), ("Float32", [[0.0625, 0.25, 0.5625], [1.0, 1.5625, 2.25]]))
    same(
        vmap(two, in_axes=(0, 0), out_axes=(0, 1))(x(), x()),
        (("Float32", [[0.0625, 0.25, 0.5625], [1.0, 1.5625, 2.25]]), ("Float32", [[0.5, 2.0], [1.0, 2.5], [1.5, 3.0]])),
    )
    fails(
        lambda: vmap(addab, (0, 0))(x(), x(3, 3)),
        RuntimeError,
        "The 'axis_size' of each argument in the scope of 'vmap' should be equal, but got 2 and 3.",
    )
    fails(
        lambda: vmap(sq, in_axes=5)(x()),
        RuntimeError,
        "The axis: 5 in 'in_axes' is out of bounds for array of dimension [-2,2).",
    )
    fails(
        lambda: vmap(sq, in_axes="a")(x()),
        RuntimeError,
        "The axis in vmap`s 'in_axes' can only be of type Int or None, but got",
    )


def test_vmapgrad():
    same(vmap(ms.grad(cube))(T([1.0, 2.0])), ("Float32", [3.0, 12.0]))
    same(ms.grad(lambda a: vmap(cube)(a).sum())(T([1.0, 2.0])), ("Float32", [3.0, 12.0]))


def test_jvp():
    same(ms.jvp(cube, T([1.0, 2.0]), T([1.0, 1.0])), (("Float32", [1.0, 8.0]), ("Float32", [3.0, 12.0])))
    same(
        ms.jvp(two, (T([1.0, 2.0]), T([3.0, 4.0])), (T([1.0, 1.0]), T([1.0, 0.0]))),
        ((("Float32", [3.0, 8.0]), ("Float32", [4.0, 6.0])), (("Float32", [4.0, 4.0]), ("Float32", [2.0, 1.0]))),
    )


def test_vjp():
    o, f = ms.vjp(two, T([1.0, 2.0]), T([3.0, 4.0]))
    same(o, (("Float32", [3.0, 8.0]), ("Float32", [4.0, 6.0])))
    same(f((T([1.0, 1.0]), T([1.0, 1.0]))), (("Float32", [4.0, 5.0]), ("Float32", [2.0, 3.0])))
    same(ms.vjp(cube, T(2.0))[1](T(1.0)), (("Float32", 12.0),))


def test_jac():
    same(ms.jacfwd(cube)(T([1.0, 2.0])), ("Float32", [[3.0, 0.0], [0.0, 12.0]]))
    same(ms.jacrev(cube)(T([1.0, 2.0])), ("Float32", [[3.0, 0.0], [0.0, 12.0]]))
    same(
        ms.jacrev(two, (0, 1))(T([1.0, 2.0]), T([3.0, 4.0])),
        (
            (("Float32", [[3.0, 0.0], [0.0, 4.0]]), ("Float32", [[1.0, 0.0], [0.0, 2.0]])),
            (("Float32", [[1.0, 0.0], [0.0, 1.0]]), ("Float32", [[1.0, 0.0], [0.0, 1.0]])),
        ),
    )
    same(
        ms.jacfwd(ms.jacrev(lambda_cube))(T([1.0, 2.0])),
        ("Float32", [[[6.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 12.0]]]),
    )


def test_numpy():
    same(mnp.array([1, 2]), ("Int32", [1, 2]))
    same(mnp.array([1.0, 2.0]), ("Float32", [1.0, 2.0]))
    same(mnp.zeros((2,)), ("Float32", [0.0, 0.0]))
    same(mnp.ones((2, 2), mnp.int32), ("Int32", [[1, 1], [1, 1]]))
    same(mnp.arange(5), ("Int32", [0, 1, 2, 3, 4]))
    same(mnp.arange(0.0, 1.0, 0.25), ("Float32", [0.0, 0.25, 0.5, 0.75]))
    same(mnp.linspace(0, 1, 3), ("Float32", [0.0, 0.5, 1.0]))
    same(mnp.eye(2), ("Float32", [[1.0, 0.0], [0.0, 1.0]]))
    same(mnp.full((2,), 3), ("Int32", [3, 3]))
    same(
        mnp.concatenate((x(), x())),
        ("Float32", [[0.25, 0.5, 0.75], [1.0, 1.25, 1.5], [0.25, 0.5, 0.75], [1.0, 1.25, 1.5]]),
    )
    same(mnp.stack([x(), x()]).shape, (2, 2, 3))
    same(mnp.sum(x(), axis=0), ("Float32", [1.25, 1.75, 2.25]))
    same(mnp.mean(x()), ("Float32", 0.875))
    same(mnp.max(x(), 1), ("Float32", [0.75, 1.5]))
    same(mnp.dot(x(), x(3, 2)), ("Float32", [[1.375, 1.75], [3.0625, 4.0]]))
    same(mnp.matmul(x(), x(3, 2)), ("Float32", [[1.375, 1.75], [3.0625, 4.0]]))
    same(mnp.where(x() > 1, x(), 0), ("Float32", [[0.0, 0.0, 0.0], [0.0, 1.25, 1.5]]))
    same(mnp.transpose(x()), ("Float32", [[0.25, 1.0], [0.5, 1.25], [0.75, 1.5]]))
    same(mnp.reshape(x(), (3, 2)), ("Float32", [[0.25, 0.5], [0.75, 1.0], [1.25, 1.5]]))
    same(mnp.sqrt(x()), ("Float32", [[0.5, 0.7071068, 0.8660254], [1.0, 1.118034, 1.224745]]))
    same(mnp.argmax(x()), ("Int64", 5))
    same(mnp.cumsum(x()), ("Float32", [0.25, 0.75, 1.5, 2.5, 3.75, 5.25]))
    same(mnp.clip(x(), 0.5, 1), ("Float32", [[0.5, 0.5, 0.75], [1.0, 1.0, 1.0]]))
    same(mnp.tile(x(), (1, 2)), ("Float32", [[0.25, 0.5, 0.75, 0.25, 0.5, 0.75], [1.0, 1.25, 1.5, 1.0, 1.25, 1.5]]))
    same(mnp.split(x(), 2), (("Float32", [[0.25, 0.5, 0.75]]), ("Float32", [[1.0, 1.25, 1.5]])))
    same(mnp.expand_dims(x(), 0).shape, (1, 2, 3))
    same(mnp.squeeze(x(1, 3)), ("Float32", [0.25, 0.5, 0.75]))
    same(mnp.unique(T([1, 2, 1])), ("Int64", [1, 2]))
    same(mnp.std(x()), ("Float32", 0.4269563))
    same(mnp.var(x(), 0), ("Float32", [0.140625, 0.140625, 0.140625]))
    same(mnp.add(1, 2), ("Int32", 3))
    same(mnp.power(x(), 2), ("Float32", [[0.0625, 0.25, 0.5625], [1.0, 1.5625, 2.25]]))
    same(mnp.isnan(x()), ("Bool", [[False, False, False], [False, False, False]]))
    same(mnp.logical_and(T([True]), T([False])), ("Bool", [False]))
    same(mnp.array_equal(x(), x()), ("Bool", True))
    same(mnp.broadcast_to(T([1.0, 2.0]), (2, 2)), ("Float32", [[1.0, 2.0], [1.0, 2.0]]))
    same(mnp.outer(T([1.0, 2.0]), T([3.0, 4.0])), ("Float32", [[3.0, 4.0], [6.0, 8.0]]))
    same(
        mnp.pad(x(), 1),
        (
            "Float32",
            [
                [0.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, 0.25, 0.5, 0.75, 0.0],
                [0.0, 1.0, 1.25, 1.5, 0.0],
                [0.0, 0.0, 0.0, 0.0, 0.0],
            ],
        ),
    )
    same(mnp.flip(x()), ("Float32", [[1.5, 1.25, 1.0], [0.75, 0.5, 0.25]]))
    same(mnp.roll(x(), 1), ("Float32", [[1.5, 0.25, 0.5], [0.75, 1.0, 1.25]]))
    same(mnp.float32, "Float32")
    same(mnp.pi, 3.141593)
    same(mnp.tril(x()), ("Float32", [[0.25, 0.0, 0.0], [1.0, 1.25, 0.0]]))
    same(mnp.diag(T([1.0, 2.0])), ("Float32", [[1.0, 0.0], [0.0, 2.0]]))
    same(mnp.trace(x()), ("Float32", 1.5))
    same(mnp.norm(x()), ("Float32", 2.384848))
    same(mnp.inner(T([1.0, 2.0]), T([3.0, 4.0])), ("Float32", 11.0))
    same(mnp.kron(T([1.0, 2.0]), T([1.0, 1.0])), ("Float32", [1.0, 1.0, 2.0, 2.0]))
    same(mnp.average(x()), ("Float32", 0.875))
    same(mnp.count_nonzero(x()), ("Int32", 6))
    same(mnp.take(x(), T([0, 2])), ("Float32", [0.25, 0.75]))
    same(mnp.repeat(x(), 2), ("Float32", [0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1.0, 1.0, 1.25, 1.25, 1.5, 1.5]))
    same(mnp.rint(x()), ("Float32", [[0.0, 0.0, 1.0], [1.0, 1.0, 2.0]]))
    same(mnp.ptp(x()), ("Float32", 1.25))
    same(mnp.heaviside(T([0.0]), T([0.5])), ("Float32", [0.5]))
    same(mnp.bincount(T([1, 1])), ("Float32", [0.0, 2.0]))
    same(mnp.asarray([1, 2.5]), ("Float32", [1.0, 2.5]))
    same(mnp.empty((2, 2)).shape, (2, 2))
    same(mnp.logspace(0, 1, 2), ("Float32", [1.0, 10.0]))
    same(mnp.identity(2), ("Float32", [[1.0, 0.0], [0.0, 1.0]]))
    same(mnp.vander(T([1.0, 2.0])), ("Float32", [[1.0, 1.0], [2.0, 1.0]]))
    same(mnp.cross(T([1.0, 0, 0]), T([0.0, 1, 0])), ("Float32", [0.0, 0.0, 1.0]))
    same(mnp.hypot(3.0, 4.0), ("Float32", 5.0))
    same(mnp.floor_divide(7, 2), ("Int32", 3))
    same(mnp.remainder(7, 4), ("Int32", 3))
    same(mnp.true_divide(1, 2), ("Float32", 0.5))
