"""The gradient functions in dynamic mode: result structures, options, higher order, views and writes in place."""

import numpy as np
import pytest

from duograph.autodiff.api import GradOperation, get_grad, grad, jacfwd, jacrev, jvp, no_grad, value_and_grad, vjp, vmap
from duograph.autodiff.check import check_gradients
from duograph.ops.arithmetic import add, mul
from duograph.ops.diagonals import diagonal, tril, triu
from duograph.ops.movement import reduce_sum, reshape
from duograph.ops.slices import slice_axis
from duograph.ops.unary import exp, sin
from duograph.tensor.eager import write
from duograph.tensor.tensor import Tensor

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


def values(result):
    if isinstance(result, tuple | list):
        return [values(r) for r in result]
    return result.array().tolist() if isinstance(result, Tensor) else result


def test_positions_and_structures():
    assert values(grad(mul)(X, Y)) == [3, 4]
    assert values(grad(mul, (0, 1))(X, Y)) == [[3, 4], [1, 2]]
    assert values(grad(mul, 1)(X, Y)) == [1, 2]
    assert values(grad(lambda x, y: (mul(x, y), x), has_aux=True)(X, Y)) == [[3, 4], [[1, 2]]]
    assert values(value_and_grad(mul)(X, Y)) == [[3, 8], [3, 4]]
    assert values(grad(mul, None, weights=[X])(X, Y)) == [[3, 4]]
    assert values(grad(lambda y: mul(X, y), 0, weights=[X])(Y)) == [[1, 2], [[3, 4]]]
    assert values(grad(lambda t: mul(t["a"], t["b"][0]))({"a": X, "b": [Y]})["b"]) == [[1, 2]]
    with_ids = grad(mul, (0, 1), return_ids=True)(X, Y)
    assert values(get_grad(with_ids, 1)) == [1, 2]


def test_same_tensor_twice_gives_two_gradients():
    assert values(grad(mul, (0, 1))(X, X)) == [[1, 2], [1, 2]]


def test_unused_inputs_and_non_tensors():
    assert values(grad(lambda x, y: y)(X, Y)) == [0, 0]
    assert grad(lambda n, x: x)(3, X) == ()


@pytest.mark.parametrize("get_all", [False, True])
@pytest.mark.parametrize("get_by_list", [False, True])
@pytest.mark.parametrize("sens_param", [False, True])
def test_grad_operation(get_all, get_by_list, sens_param):
    sens = [Tensor([10.0, 100.0])] if sens_param else []
    scale = np.array([10.0, 100.0]) if sens_param else np.ones(2)
    w = Tensor([5.0, 6.0])

    def f(x, y):
        return mul(mul(x, y), w)

    got = GradOperation(get_all, get_by_list, sens_param)(f, [w] if get_by_list else None)(X, Y, *sens)
    inputs = [(scale * [15, 24]).tolist(), (scale * [5, 12]).tolist()]
    weights = [(scale * [3, 8]).tolist()]
    if get_by_list:
        assert values(got) == ([inputs, weights] if get_all else weights)
    else:
        assert values(got) == (inputs if get_all else inputs[0])


@pytest.mark.parametrize(
    ("position", "error"),
    [("a", TypeError), (1.5, TypeError), (-1, ValueError), ((0, 0), ValueError), (None, ValueError)],
)
def test_bad_positions_at_definition(position, error):
    with pytest.raises(error):
        grad(mul, position)


@pytest.mark.parametrize("position", [5, (0, 5), ()])
def test_bad_positions_at_the_call(position):
    with pytest.raises(RuntimeError):
        grad(mul, position)(X, Y)


def test_bad_options():
    with pytest.raises(TypeError, match="has_aux"):
        grad(mul, 0, has_aux=1)
    with pytest.raises(ValueError, match="more than one outputs"):
        grad(mul, 0, has_aux=True)(X, Y)
    with pytest.raises(TypeError, match="callable"):
        grad(None)(X)


def test_higher_order_against_finite_differences():
    check_gradients(lambda x, y: mul(sin(mul(x, y)), exp(x)), [[0.3, -0.2], [0.5, 0.7]], order=3)


def test_writes_through_views_equal_the_functional_program():
    def in_place(x, y):
        z = mul(x, y)
        write(slice_axis(z, 0, 0, 1), slice_axis(mul(x, x), 0, 1, 2))
        return mul(z, x)

    # z = [x1*x1, x1*y1]
    assert values(grad(in_place, (0, 1))(X, Y)) == [[4.0, 2 * 1 * 2 + 2 * 4 * 2], [0, 4]]


def test_view_made_before_the_write_sees_it():
    def f(x):
        z = mul(x, x)
        v = reshape(z, shape=(2, 1))
        write(z, mul(x, Y))
        return reduce_sum(v, axis=(0, 1))

    assert values(grad(f)(X)) == [3, 4]


def test_writes_reach_the_caller():
    x = Tensor([1.0, 2.0])

    def f(a):
        write(a, add(a, a))
        return mul(a, Y)

    assert values(grad(f)(x)) == [6, 8]
    assert values(x) == [2, 4]


def test_overwritten_saved_value_is_an_error_and_other_elements_are_not():
    def whole(x):
        z = mul(x, Y)
        w = mul(z, z)
        write(z, x)
        return w

    def other_element(x):
        z = mul(x, Y)
        first = slice_axis(z, 0, 0, 1)
        w = mul(first, first)
        write(slice_axis(z, 0, 1, 2), first)
        return w

    with pytest.raises(RuntimeError, match="modified in place"):
        grad(whole)(X)
    assert values(grad(other_element)(X)) == [2 * 9.0, 0]


def test_no_grad():
    def f(x):
        with no_grad():
            scale = mul(x, Y)
        return mul(scale, x)

    assert values(grad(f)(X)) == [3, 8]


def test_products_and_jacobians():
    out, vjp_fn = vjp(mul, X, Y)
    assert values(out) == [3, 8]
    assert values(vjp_fn(Tensor([1.0, 10.0]))) == [[3, 40], [1, 20]]
    assert values(jvp(mul, (X, Y), (X, Y))) == [[3, 8], [6, 16]]
    for jacobian in (jacrev, jacfwd):
        assert values(jacobian(mul, (0, 1))(X, Y)) == [[[3, 0], [0, 4]], [[1, 0], [0, 2]]]

    def cube(x):
        return reduce_sum(mul(mul(x, x), x), axis=(0,))

    assert values(jacfwd(jacrev(cube))(X)) == [[6, 0], [0, 12]]


def test_vmap():
    m = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert values(vmap(mul, (0, None))(m, X)) == [[1, 4], [3, 8], [5, 12]]
    assert values(vmap(mul, (0, None), 1)(m, X)) == [[1, 3, 5], [4, 8, 12]]

    def square_sum(a):
        return reduce_sum(mul(a, a), axis=(0,))

    assert values(vmap(grad(square_sum))(m)) == [[2, 4], [6, 8], [10, 12]]
    assert values(grad(lambda m: vmap(square_sum)(m))(m)) == [[2, 4], [6, 8], [10, 12]]
    with pytest.raises(RuntimeError, match="axis_size"):
        vmap(mul)(m, X)


@pytest.mark.parametrize("op", [triu, lambda x: tril(x, diagonal=1), lambda x: diagonal(x, offset=0, axis1=0, axis2=1)])
def test_vmap_refuses_what_each_element_refuses(op):
    """Also where the whole batch would fit."""
    with pytest.raises((ValueError, RuntimeError)) as alone:
        op(X)
    with pytest.raises(alone.type) as batched:
        vmap(op)(Tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert str(batched.value) == str(alone.value)
