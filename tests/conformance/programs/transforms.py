"""Gradients and other transformations inside and around programs (syntax notes, section 9)."""

import duograph as ms
from duograph import nn, ops
from tests.conformance.harness import T, program

X, Y = T([1.0, 2.0]), T([3.0, 0.5])


def square(x):
    return x * x


def mixed(x, y):
    return x * x * y + y


@program(X)
def grad_inside(x):
    return ms.grad(square)(x), ms.grad(lambda v: v.exp())(x)


@program(X, Y)
def grad_positions_inside(x, y):
    return ms.grad(mixed, (0, 1))(x, y), ms.grad(mixed, 1)(x, y)


@program(X)
def value_and_grad_inside(x):
    return ms.value_and_grad(square)(x)


@program(X)
def grad_has_aux_inside(x):
    def f(v):
        return v * v, v + 1

    return ms.grad(f, has_aux=True)(x), ms.value_and_grad(f, has_aux=True)(x)


@program(X)
def second_order_inside(x):
    def cube(v):
        return v * v * v

    return ms.grad(ms.grad(cube))(x), ms.grad(ms.grad(ms.grad(cube)))(x)


@program(X, grad=0)
def second_order_around(x):
    return ms.grad(lambda v: v * v * v)(x)


@program(calls=[(T(3.0),), (T(-3.0),)], grad=0)
def second_order_through_branch(x):
    def f(v):
        return v * v * v if v > 0 else v * v

    return ms.grad(f)(x)


@program(T(1.5), grad=0)
def second_order_through_loop(x):
    def f(v):
        while v < 100:
            v = v * v
        return v

    return ms.grad(f)(x)


@program(X, grad=0)
def same_tensor_twice_inside(x):
    def f(a, b):
        return (a * b).sum()

    return ms.grad(f, (0, 1))(x, x)


@program(X, build=True)
def gradient_of_weights():
    net = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
    weights = ms.ParameterTuple(net.trainable_params())

    def f(x):
        return ms.grad(lambda v: net(v.reshape(1, 2)), None, weights)(x)

    return f


@program(X, build=True)
def gradient_of_inputs_and_weights():
    net = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")
    return lambda x: ms.value_and_grad(lambda v: net(v.reshape(1, 2)), 0, net.trainable_params())(x)


@program(X, Y)
def grad_operation_forms(x, y):
    return (
        ops.GradOperation()(mixed)(x, y), ops.GradOperation(get_all=True)(mixed)(x, y),
        ops.GradOperation(sens_param=True)(mixed)(x, y, ops.ones_like(x) * 2),
    )  # fmt: skip


@program(X)
def grad_operation_scalar_sens(x):
    scale = ms.Tensor(8.0) * x[0]
    grad = ops.GradOperation(sens_param=True)
    return grad(lambda a: (a * a).sum().reshape(1))(x, scale), grad(lambda a: (a * a).sum())(x, scale.reshape(1, 1))


@program(X, build=True)
def grad_operation_by_list():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    weights = ms.ParameterTuple(net.trainable_params())

    def f(x):
        x = x.reshape(1, 2)
        return ops.GradOperation(get_by_list=True)(net, weights)(x)

    return f


@program(X)
def grad_with_constants(x):
    def f(v, n, name="a"):
        return v**n if name == "a" else v

    return ms.grad(f)(x, 3), ms.grad(f)(x, 2, "b")


@program(X)
def integer_tensor_has_zero_gradient(x):
    def f(v, k):
        return v * k

    return ms.grad(f)(x, ms.Tensor([2, 3]))


@program(X, grad=0)
def unused_input(x):
    return ms.grad(lambda a, b: a * 2, 1)(x, x) + x


@program(X)
def jit_calls_jit(x):
    @ms.jit
    def inner(v):
        return v * 2

    return inner(x) + inner(x + 1)


jitted_square = ms.jit(square)


@program(X, grad=0)
def jit_function_from_outside(x):
    return jitted_square(x) + jitted_square(x * 2)


@program(X)
def hyper_map(x):
    double = lambda v: v * 2
    return ops.HyperMap()(double, (x, (x + 1, x + 2))), ops.Map()(double, [x, x + 1])


add_any = ops.MultitypeFuncGraph("add_any")


@add_any.register("Tensor", "Tensor")
def add_tensors(a, b):
    return a + b


@add_any.register("Number", "Number")
def add_numbers(a, b):
    return a + b + 100


@program(X)
def multitype_function(x):
    return add_any(x, x), add_any(1, 2), ops.HyperMap()(add_any, (x, 1), (x, 2))


@program(X)
def depend_and_partial(x):
    y = ops.depend(x, x + 1)
    return y, ops.partial(square, x)()


@ops.constexpr
def squares(n):
    return tuple(i * i for i in range(n))


@program(X)
def constant_expression(x):
    return squares(4), x * squares(3)[2]


@program(X)
def select_instead_of_if(x):
    return ops.select(x > 1, x * 10, x)


@program(X, X)
def jvp_and_vjp(x, v):
    return ms.jvp(square, x, v), ms.vjp(square, x)[1](v)


@program(X)
def jacobians(x):
    return ms.jacfwd(square)(x), ms.jacrev(square)(x)


@program(T([[1.0, 2.0], [3.0, 4.0]]), T([1.0, 1.0]))
def vmap_instead_of_loop(x, y):
    return ms.vmap(lambda a, b: a * b + a.sum(), in_axes=(0, None))(x, y)


@program(X, grad=0)
def no_gradient_block(x):
    with ms.no_grad():
        y = x * x
    return x * y


@program(X)
def primitives(x):
    return (
        ops.Add()(x, x), ops.ReduceSum(keep_dims=True)(x, 0), ops.Concat(0)((x, x)), ops.Cast()(x, ms.int32),
        ops.Softmax()(x), ops.Reshape()(x, (2, 1)), ops.MatMul()(x.reshape(1, 2), x.reshape(2, 1)),
    )  # fmt: skip


@program(X)
def random_numbers(x):
    return ops.rand(2) + x, ops.randn(2), ops.randint(0, 10, (3,)), ops.standard_normal((2,))


@program(calls=[(X,), (X,)])
def random_numbers_advance(x):
    return ops.rand(2)


@program(X, grad=0)
def dropout_is_random_but_the_same(x):
    return ops.dropout(x, p=0.5, training=True)


@program(X)
def grad_position_out_of_range_error(x):
    return ms.grad(square, 3)(x)


@program(X)
def recompute_function(x):
    return ms.grad(lambda v: ms.recompute(nn.Tanh(), v * v))(x)


@program(T([[1.0, 2.0], [3.0, 4.0]]), T(2.0), captured=False)
def a_number_of_what_is_not_mapped(x, k):
    """Found by fuzzing: `vmap` in dynamic mode hid it, too."""
    is_large = (k > 1).all()

    def scaled(v):
        return v * float(k) + (1 if is_large.item() else 2)

    return ms.vmap(scaled)(x)
