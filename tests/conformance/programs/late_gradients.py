"""What a ``bprop`` or a hook of the user reads, and is given, is what there is when the gradient is computed."""

import duograph as ms
from duograph import nn, ops
from tests.conformance.harness import T, program

X = T([1.0, 2.0])
COUNT = 1  # each run sets its own value


class _Scaled(nn.Cell):
    """Its gradient is a product of what comes in and ``scale``, whatever that is by then."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.calls = 0

    def construct(self, x):
        return ops.tanh(x * x + 1) * x

    def bprop(self, x, out, dout):
        return (dout * self.scale + out * COUNT,)


def _steps(change, inside=True, scale=2.0):
    """Three gradients of a Cell; ``change`` is done between the call and the gradient, in a function that is compiled
    as a whole (``inside``), or outside of one."""
    cell = _Scaled(scale)
    forward = cell if inside else ms.jit(lambda x: ops.exp(-cell(x)) + cell(x) * x)

    def loss(x):
        y = forward(x)
        change(cell, y)
        return (y * y).sum()

    def step(x):
        return ms.grad(loss)(x)

    return step if inside else lambda x: [step(x), step(x * 2), step(x)]


def _next(cell, y):
    cell.scale = cell.scale + 1


def _next_global(cell, y):
    global COUNT
    COUNT += 1


def _next_call(cell, y):
    cell.calls += 1


def _in_place(cell, y):
    cell.scale.add_(1.0)


def _output(cell, y):
    y.mul_(2.0)


CALLS = [(X,), (X * 2,), (X,)]


@program(calls=CALLS, build=True, captured=False)
def attribute_that_changes():
    return _steps(_next)


@program(calls=CALLS, build=True, captured=False)
def tensor_that_is_replaced():
    return _steps(_next, scale=T([1.0, 2.0]))


@program(calls=CALLS, build=True, captured=False)
def tensor_that_is_written_to():
    return _steps(_in_place, scale=T([1.0, 2.0]) * 1)


@program(calls=CALLS, build=True, captured=False, COUNT=1)
def global_that_changes():
    return _steps(_next_global)


@program(calls=CALLS, build=True)
def attribute_that_is_not_read():
    return _steps(_next_call)


@program(calls=CALLS, build=True, captured=False)
def output_that_is_overwritten_error():
    return _steps(_output)


@program(calls=CALLS, build=True, captured=False)
def attribute_that_changes_outside():
    return _steps(_next, inside=False)


@program(calls=CALLS, build=True, captured=False)
def tensor_that_is_replaced_outside():
    return _steps(_next, inside=False, scale=T([1.0, 2.0]))


@program(calls=[(X, 3), (X, 1), (-X, 2)], build=True, captured=False)
def attribute_that_a_loop_changes():
    cell = _Scaled(1)

    def loss(x, n):
        for _ in range(n):
            x = cell(x)
            cell.scale += 1
        while x.sum() < 9:
            x = cell(x) + 1
            cell.scale += 1
        return x.sum()

    return lambda x, n: ms.grad(loss)(x, n)


@program(calls=CALLS, build=True, captured=False)
def attribute_that_changes_after_the_gradient():
    cell = _Scaled(1)

    def step(x):
        found = ms.grad(lambda y: cell(y).sum())(x)
        cell.scale += 1
        return found

    return step


@program(calls=CALLS, build=True, captured=False)
def variable_of_a_hook():
    def step(x):
        factor = 2

        def loss(y):
            nonlocal factor
            z = ops.InsertGradientOf(lambda d: d * factor)(y * y)
            factor += 1
            return (z * y).sum()

        return ms.grad(loss)(x), factor

    return step


def _with_hooks(tensor, gradient):
    """What ``gradient()`` gives with the hooks of ``tensor`` as they come and go."""

    def run(x):
        factor = [2]
        found = [gradient(x)]
        first = (x if tensor is None else tensor).register_hook(lambda d: d * factor[0])
        found.append(gradient(x))
        factor[0] = 5
        second = (x if tensor is None else tensor).register_hook(lambda d: d + 1)
        found.append(gradient(x))
        first.remove()
        found.append(gradient(x))
        second.remove()
        return [*found, gradient(x)]

    return run


@program(calls=CALLS, build=True, captured=False)
def hooks_of_a_weight_come_and_go():
    weight = ms.Parameter(T([3.0, 4.0]), name="weight")
    return _with_hooks(weight, ms.jit(lambda x: ms.grad(lambda a: (a * weight).sum(), 0, [weight])(x)))


@program(calls=CALLS, build=True, captured=False)
def hooks_of_an_argument_come_and_go():
    return _with_hooks(None, ms.jit(lambda x: ms.grad(lambda a: (ops.tanh(a) * a).sum())(x)))


@program(calls=CALLS, build=True, captured=False)
def hook_that_is_registered_inside_on_a_weight():
    weight = ms.Parameter(T([3.0, 4.0]), name="weight")

    def loss(x):
        weight.register_hook(lambda d: d * 2)
        return (x * weight).sum()

    return lambda x: ms.grad(loss, 0, [weight])(x)


@program(calls=CALLS, build=True, captured=False)
def attribute_of_the_argument_of_a_gradient():
    gradient = ms.jit(lambda x: ms.grad(lambda a: (a * a * getattr(a, "factor", 1)).sum())(x))

    def run(x):
        found = [gradient(x)]
        for x.factor in (2, 3):
            found.append(gradient(x))
        del x.factor
        return [*found, gradient(x)]

    return run
