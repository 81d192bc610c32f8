"""Gradients that depend on the path, for results that nothing flows into; and results that no memory holds."""

import duograph as ms
from duograph import ops
from tests.conformance.harness import T, program

X = T([1.0, -2.0, 3.0])


@program(X, grad=0)
def gradient_of_a_power_of_indices_error(x):
    """The rule refuses integers. For a result into which nothing flows it must not be asked."""
    value, indices = x.sort(0)
    return value, 2**indices


@program(calls=[(X,), (-X,)], captured=False)
def gradient_beside_a_power_of_indices(x):
    def loss(x):
        value, indices = x.sort(0)
        if x.sum() > 0:
            return (value * value).sum(), 2**indices
        return value.sum(), x.astype(ms.int16).max() + indices

    return ms.grad(loss, has_aux=True)(x), ms.grad(ms.jit(loss), has_aux=True)(x)


@program(calls=[(X / 3,), (-X,)], grad=0)
def third_derivative_in_a_branch(x):
    """What the branch gives and its gradient reads was saved twice: two variables, each with a sum of its own."""

    def f(x):
        return ops.tanh(x) * ops.sigmoid(x) if x.sum() > 0 else ops.rsqrt(-x)

    return ms.grad(ms.grad(f))(x), ms.grad(ms.grad(ms.grad(f)))(x)


@program(calls=[(X / 3,), (-X / 7,)], grad=0, captured=False)
def gradient_of_two_names_for_one_tensor(x):
    y, z = x * 2, x * 3
    if x.sum() > 0:
        y = z = ops.sin(x)
    return y * z * y + z + y * y


MUCH = (1 << 22, 1 << 22)
"""The shape of a tensor that fits into the address space but into no memory."""


@program(calls=[(X, 1), (X, 2), (X, 3), (X, 4)], captured=False)
def an_unused_result_larger_than_memory_error(x, n):
    if n == 1:
        ops.zeros(MUCH)
    elif n == 2:
        x.sum() * ops.ones((MUCH[0], 1)) * ops.ones((1, MUCH[1]))
    elif n == 3:
        return x + ops.ones(MUCH).sum()
    return x.sum().broadcast_to(MUCH)[0, :3]


@program(calls=[(X,), (-X,)], captured=False)
def memory_errors_are_caught(x):
    try:
        if x.sum() > 0:
            ops.full(MUCH, 2.0)
    except MemoryError:
        return x * 2
    return x * 3
