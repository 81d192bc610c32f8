"""What may change between the calls of one compiled function (syntax notes, section 10)."""

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.conformance.harness import T, program

X = T([1.0, 2.0])

FACTOR = 1  # each run sets its own value


@program(calls=[(X,), (X * 2,), (X - 5,)])
def new_values(x):
    return x * 2


@program(calls=[(T([1.0] * n),) for n in (1, 2, 3, 4, 2, 1)])
def new_shapes(x):
    return x * x.shape[0], x.sum(), x.reshape(-1, 1).shape


@program(calls=[(T([1, 2]),), (T([1.0, 2.0]),), (T([True, False]),), (T([1.0, 2.0], ms.float16),)])
def new_dtypes(x):
    return x * 2 + 1


@program(calls=[(T(1.0),), (T([1.0]),), (T([[1.0]]),)])
def new_ranks(x):
    return x * 2, x.ndim


@program(calls=[(X, n) for n in (1, 2, 3, 2, 100)])
def new_ints(x, n):
    return x * n, n + 1


@program(calls=[(X, 1.5), (X, 2.5), (X, 2), (X, True)])
def new_scalars(x, a):
    return x * a, a


@program(calls=[(X, "sum"), (X, "max"), (X, "sum")])
def new_strings(x, how):
    return x.sum() if how == "sum" else x.max()


@program(calls=[([X],), ([X, X],), ([X, X, X],)])
def new_list_lengths(items):
    total = 0
    for item in items:
        total = total + item
    return total


@program(calls=[({"a": X},), ({"b": X},), ({"a": X, "b": X},)])
def new_dict_keys(d):
    return sum(d.values()), list(d)


@program(calls=[(X, None), (X, X), (X, None)])
def none_or_tensor(x, y):
    return x if y is None else x + y


@program(calls=[(X, ops.relu), (X, ops.tanh), (X, lambda v: v * 3)])
def new_functions(x, f):
    return f(x)


@program(calls=[(X,), (X,), (X,)], FACTOR=1)
def global_changed_by_the_program(x):
    global FACTOR
    y = x * FACTOR
    FACTOR += 1
    return y


@program(calls=[(X,), (X,)], build=True)
def new_inner_functions():
    def f(x):
        @ms.jit
        def g(v):
            return v + x

        return g(x)

    return f


class Scaled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.factor = 2
        self.w = Parameter(Tensor([1.0, 1.0], ms.float32), name="w")

    def construct(self, x):
        return x * self.factor * self.w


def between_calls(change, cell=False):
    """A program that compiles a Cell once, calls it, changes something from outside, and calls it again."""

    def declare(_):
        def make():
            net = Scaled()

            def f(x):
                compiled = ms.jit(net)
                first = compiled(x)
                change(net)
                return first, compiled(x), net(x)

            return f

        make.__name__ = _.__name__
        make.__module__ = __name__
        return program(X, build=True, captured=False)(make)

    return declare


@between_calls(lambda net: setattr(net, "factor", 5))
def attribute_changed_outside():
    pass


@between_calls(lambda net: net.w.set_data(Tensor([3.0, 4.0], ms.float32)))
def set_data_outside():
    pass


@between_calls(lambda net: ops.assign(net.w, Tensor([3.0, 4.0], ms.float32)))
def assign_outside():
    pass


@between_calls(lambda net: setattr(net, "w", Parameter(Tensor([7.0, 8.0], ms.float32), name="w")))
def parameter_replaced_outside():
    pass


@between_calls(lambda net: net.register_forward_hook(lambda cell, args, out: out * 10))
def hook_registered_outside():
    pass


@between_calls(lambda net: ms.load_param_into_net(net, {"w": Parameter(Tensor([5.0, 6.0], ms.float32), name="w")}))
def weights_loaded_outside():
    pass


@program(X, build=True, captured=False)
def global_changed_between_calls():
    names = {"k": 1}

    def f(x):
        compiled = ms.jit(lambda v: v * names["k"])
        first = compiled(x)
        names["k"] = 4
        return first, compiled(x)

    return f


@program(X, build=True, captured=False)
def closure_changed_between_calls():
    def f(x):
        k = 2

        @ms.jit
        def g(v):
            return v * k

        first = g(x)
        k = 5
        return first, g(x)

    return f


@program(X, build=True, captured=False)
def training_flag_changed_between_calls():
    net = nn.Dropout(p=0.5)

    def f(x):
        compiled = ms.jit(net)
        quiet = compiled(x)
        net.set_train()
        return quiet, compiled(x)

    return f
