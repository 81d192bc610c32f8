"""Functions, closures, tensors, indexing."""

import mindspore as ms
import mindspore.ops as ops
import numpy as np
from mindspore import Tensor


def case_curry(jit):
    def outer(a):
        def mid(b):
            def inner(c):
                return a * b + c

            return inner

        return mid

    @jit
    def foo(x):
        return outer(x)(2)(3), outer(1)(x)(x)

    return foo(Tensor(4))


def case_multi_call_types(jit):
    @jit
    def foo(x):
        return x * 2

    return foo(Tensor([1])), foo(Tensor([1.5])), foo(3), foo(2.5), foo("ab"), foo((1, 2)), foo([1]), foo(True)


def case_call_with_varying_numbers(jit):
    @jit
    def foo(x, n):
        if n > 3:
            return x * n
        return x + n

    return [foo(Tensor(1.0), i) for i in range(7)]


def case_call_with_varying_shapes(jit):
    @jit
    def foo(x):
        return x.sum(), x.shape, x.reshape(-1)[0], ops.concat([x, x]).shape

    return [foo(Tensor(np.ones((i, 2)), ms.float32)) for i in range(1, 6)]


def case_return_different_types(jit):
    @jit
    def foo(x):
        if x > 5:
            return x
        if x > 0:
            return (x, 1)
        return None

    return foo(Tensor(7)), foo(Tensor(1)), foo(Tensor(-1))


def case_setitem_tensor_bounds(jit):
    @jit
    def foo(x, a):
        x[a] = 10
        x[a + 1 :] = 0
        return x

    return foo(Tensor([1, 2, 3, 4, 5]), Tensor(1))


def case_mixed_index(jit):
    @jit
    def foo(x):
        return (
            x[0, ..., None, 1],
            x[:, [0, 1]],
            x[Tensor([0, 1]), Tensor([1, 0])],
            x[1:, -1],
            x[(0, 1)],
            x[[True, False]],
        )

    return foo(Tensor(np.arange(8).reshape(2, 2, 2), ms.float32))


def case_index_float(jit):
    @jit
    def foo(x):
        return x[1.5]

    return foo(Tensor([1, 2]))
