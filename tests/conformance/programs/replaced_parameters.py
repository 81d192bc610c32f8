"""`Parameter.set_data` gives a parameter other memory: who shares the old one keeps the old contents, in every mode."""

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from tests.conformance.harness import T, program

X = T([1.0, 2.0, 3.0])
THRICE = [(X,), (X * 2,), (X * 3,)]
BOTH = [(X,), (-X,), (X,), (-X,)]


def parameter(name="p"):
    return Parameter(Tensor([1.0, 2.0, 3.0], ms.float32), name=name)


def with_parameter(calls=THRICE, **options):
    """A program ``f(p, x)`` about a parameter; seen are its result, the parameter, and a view from before all calls."""

    def declare(f):
        def make():
            p = parameter()
            view = p[1:]

            def run(x):
                return f(p, x), p, view

            return run

        make.__name__, make.__module__ = f.__name__, __name__
        return program(calls=calls, build=True, **options)(make)

    return declare


@with_parameter()
def a_view_keeps_the_old_contents(p, x):
    view = p[1:]
    p.set_data(p * 2 + x)
    return view + 0, p[1:] + 0


@with_parameter(captured=False)
def an_old_view_is_returned(p, x):
    view = p[1:]
    p.set_data(p * 2)
    return view


@with_parameter(captured=False)
def an_old_view_is_written(p, x):
    view = p[1:]
    p.set_data(p * 2)
    view += x[1:]
    return view + 0


@with_parameter()
def a_new_view_is_returned(p, x):
    p.set_data(p * 2)
    view = p[1:]
    p.add_(x)
    return view, p[:2], view + 0


@with_parameter(captured=False)
def replaced_twice(p, x):
    p.set_data(p * 2)
    view = p[1:]
    p.set_data(p + x)
    return view + 0


@with_parameter()
def written_in_place_and_replaced(p, x):
    ops.assign(p, p * 3)
    p.set_data(p + x)
    return p * 1


@with_parameter()
def replaced_and_written_in_place(p, x):
    p.set_data(p + x)
    ops.assign_add(p, x)
    return p * 1


@with_parameter()
def replaced_by_itself(p, x):
    p.set_data(p)
    return x + p


@with_parameter()
def the_new_contents_are_returned(p, x):
    new = p + x
    p.set_data(new)
    return new, new * 2


@with_parameter()
def assigned_to_data(p, x):
    p.data = p * 2 + x
    return p.value() + 0


@with_parameter()
def another_handle(p, x):
    p.set_data(p + x)
    handle = Tensor(p)
    p.add_(1.0)
    return handle + 0, handle


@with_parameter(calls=BOTH)
def on_one_path(p, x):
    if x.sum() > 0:
        p.set_data(p * 2)
    return p[1:] + x[1:]


@with_parameter(calls=BOTH)
def on_both_paths(p, x):
    if x.sum() > 0:
        p.set_data(p * 2)
    else:
        p.set_data(p + x)
    return p[1:] + x[1:]


@with_parameter(calls=BOTH)
def replaced_or_written_in_place(p, x):
    if x.sum() > 0:
        p.set_data(p * 2)
    else:
        p.add_(x)
    return p[1:] + x[1:]


@with_parameter(calls=BOTH)
def a_view_from_before_the_branch(p, x):
    view = p[1:]
    if x.sum() > 0:
        p.set_data(p * 2)
    else:
        p.set_data(p - 1)
    return view + p[:2]


@with_parameter()
def in_an_unrolled_loop(p, x):
    for i in range(3):
        p.set_data(p * 0.5 + x * i)
    return p + 0


@with_parameter()
def in_a_loop(p, x):
    while p.sum() < 100:
        p.set_data(p * 2 + x)
    return p + 0


@with_parameter()
def in_a_long_loop(p, x):
    for _ in range(200):
        p.set_data(p * 0.5 + x)
    return p + 0


@with_parameter(captured=False)
def a_view_in_a_loop(p, x):
    total = x.sum()
    while total < 100:
        view = p[1:]
        p.set_data(p * 2)
        total = total + view.sum()
    return total


@with_parameter(calls=BOTH)
def replaced_before_an_error(p, x):
    p.set_data(p * 2)
    if x.sum() < 0:
        raise ValueError("negative")
    return p + x


@program(calls=THRICE, build=True)
def two_parameters_swap():
    p, q = parameter("p"), parameter("q")
    q.add_(10.0)
    old = p[:2], q[:2]

    def f(x):
        kept = p + x
        p.set_data(q)
        q.set_data(kept)
        return p, q, old

    return f


@program(calls=THRICE, build=True)
def one_value_for_two_parameters():
    p, q = parameter("p"), parameter("q")

    def f(x):
        new = p + x
        p.set_data(new)
        q.set_data(new)
        q.add_(1.0)
        return new, p, q

    return f


@program(calls=[(X, 0), (X, 1), (X, 2), (X, 3)], build=True, captured=False)
def views_as_arguments():
    p = parameter()
    views = [p[1:], p[:2]]

    def f(x, n):
        view = views[n % 2]
        p.set_data(p + x)
        return view + 0, view, p

    return f


class Averaged(nn.Cell):
    """A layer and the moving average of its parameters."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(3, 2, weight_init="ones")
        self.kept = nn.Dense(3, 2, weight_init="zeros")
        self.before = self.kept.weight[0]

    def construct(self, x):
        y = self.layer(x.reshape(1, 3))
        for kept, p in zip(self.kept.trainable_params(), self.layer.trainable_params(), strict=True):
            kept.set_data(kept * 0.9 + p * 0.1)
        return y, self.kept(x.reshape(1, 3)), self.kept.weight, self.before


@program(calls=THRICE, build=True)
def moving_average():
    return Averaged()


@program(calls=[(X,), (X * 2,)], grad=0, build=True)
def a_gradient_of_what_was_read_before():
    p = parameter()

    def f(x):
        y = (p * x).sum()
        p.set_data(p * 2)
        return y + (p * x * x).sum()

    return f


@program(calls=[(X,), (X * 2,)], grad=0, build=True)
def no_gradient_through_the_new_contents():
    p = parameter()

    def f(x):
        p.set_data(x * x)
        return (p * x).sum()

    return f


@program(calls=[(X,), (X * 2,)], build=True)
def gradients_of_the_parameter():
    p = parameter()

    def forward(x):
        y = (p * x).sum()
        p.set_data(p * 2)  # a constant from here on
        return y + (p * x * x).sum()

    gradient = ms.grad(forward, None, weights=[p])
    return lambda x: gradient(x)


@with_parameter()
def written_and_then_replaced(p, x):
    p.add_(x)
    p.set_data(p * 2)
    return (p * x).sum()


@with_parameter(calls=BOTH)
def written_and_replaced_on_one_path(p, x):
    p.add_(x)
    if x.sum() > 0:
        p.set_data(p * 2)
    return p + 0
