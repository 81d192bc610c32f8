"""Hooks on gradients and functions with a gradient of their own."""

import pytest

from duograph.autodiff.backward_hooks import HookBackward, InsertGradientOf
from duograph.autodiff.custom import custom_call
from duograph.autodiff.function import Function
from duograph.autodiff.grads import grad
from duograph.autodiff.hooks import register_tensor_hook
from duograph.autodiff.vmap import vmap
from duograph.jit import jit
from duograph.ops.arithmetic import add, mul
from duograph.tensor.tensor import Tensor

from .programs import assert_same_bits

X = Tensor([1.0, 2.0])
TWO, THREE = Tensor([2.0, 2.0]), Tensor([3.0, 3.0])


def test_tensor_hook_sees_the_complete_gradient_once():
    seen = []

    def hook(g):
        seen.append(g.array().tolist())
        return mul(g, TWO)

    def late(x):
        z = mul(x, THREE)
        first = mul(z, z)
        register_tensor_hook(z, hook)
        return add(first, z)

    assert grad(late)(X).array().tolist() == [42.0, 78.0]
    assert seen == [[7.0, 13.0]]


def test_hooks_stay_with_the_tensor_until_removed():
    x = Tensor([1.0, 2.0])
    handle = register_tensor_hook(x, lambda g: mul(g, TWO))
    assert grad(lambda x: mul(x, THREE))(x).array().tolist() == [6, 6]
    handle.remove()
    handle.remove()
    assert grad(lambda x: mul(x, THREE))(x).array().tolist() == [3, 3]
    with pytest.raises(TypeError):
        register_tensor_hook(x, 3)


def test_identities_with_hooks():
    doubled = HookBackward(lambda g: (mul(g[0], TWO),))
    assert grad(lambda x: mul(doubled(mul(x, THREE)), TWO))(X).array().tolist() == [12, 12]
    inserted = InsertGradientOf(lambda g: mul(g, THREE))
    assert_same_bits(lambda x, y: mul(inserted(mul(x, y)), y), X, THREE, order=2)


def own(x):
    return custom_call(lambda x: mul(x, TWO), lambda x, out, dout: (mul(mul(x, THREE), dout),), (x,))


def test_custom_gradient_in_both_lives():
    assert grad(own)(X).array().tolist() == [3, 6]
    assert_same_bits(lambda x, y: mul(own(mul(x, y)), y), X, THREE, order=2)


def test_custom_identity_and_bad_bprops():
    same = lambda x: custom_call(lambda x: x, lambda x, out, dout: (mul(dout, THREE),), (x,))  # noqa: E731
    assert grad(lambda x: mul(same(x), x))(X).array().tolist() == [4, 8]
    with pytest.raises(RuntimeError, match="Grad size"):
        grad(lambda x: custom_call(mul, lambda x, y, out, dout: (dout,), (x, x)))(X)
    with pytest.raises(RuntimeError, match="expected shape"):
        grad(lambda x: custom_call(lambda x: x, lambda x, out, dout: (Tensor([1.0]),), (x,)))(X)


def test_custom_gradient_under_vmap():
    """Its values are those of the function; a batched gradient would have to call the user's on whole batches."""
    scalars = lambda x: custom_call(lambda x: mul(x, x), lambda x, out, dout: (mul(x, dout),), (x,))  # noqa: E731
    assert vmap(scalars)(X).array().tolist() == [1, 4]
    for differentiated in (lambda x: grad(vmap(scalars))(x), lambda x: vmap(grad(scalars))(x)):
        with pytest.raises(RuntimeError, match="give the Cell the whole batch"):
            differentiated(X)


@pytest.mark.parametrize("compiled", [False, True])
def test_cotangents_that_do_not_flow_are_zeros_or_none(compiled):
    seen = []

    class Twice(Function):
        @staticmethod
        def forward(ctx, x, y, zeros):
            ctx.set_materialize_grads(zeros)
            return mul(x, TWO), mul(y, THREE)

        @staticmethod
        def backward(ctx, a, b):
            seen.append((a is None, b is None))
            return None if a is None else mul(a, TWO), None if b is None else mul(b, THREE), None

    for zeros in (True, False):
        taken = grad(lambda x, y, zeros=zeros: add(Twice.apply(x, y, zeros)[1], y), (0, 1))
        first, second = (jit(taken) if compiled else taken)(X, TWO)
        assert (first.array().tolist(), second.array().tolist()) == ([0.0, 0.0], [4.0, 4.0])
    assert set(seen) == {(False, False), (True, False)}
    with pytest.raises(TypeError, match="must be bool, but got 1"):
        Function().set_materialize_grads(1)
