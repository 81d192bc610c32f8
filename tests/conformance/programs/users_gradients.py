"""Gradients in users' hands: written to when they are there, and made by functions of their own.

A gradient that a user gets is a tensor like any other. What a ``bprop`` or a hook does besides giving values happens
when the gradient is computed, and only then.
"""

import duograph as ms
from duograph import nn, ops
from tests.conformance.harness import T, program

X, Y, M = T([1.0, -2.0, 3.0]), T([0.5, 4.0, -1.0]), T([[1.0, 2.0], [3.0, 4.0]])
LOG = []


@program(M)
def write_to_the_gradient_of_a_sum(x):
    g = ms.grad(lambda a: a.sum())(x)
    g[0] = 2
    return g, ms.grad(lambda a: a.sum(0).sum())(x).add_(1), ms.grad(lambda a: a.mean(1))(x).fill_(7)


@program(X, Y)
def gradients_do_not_share_memory(x, y):
    g, h = ms.grad(lambda a, b: a + b, (0, 1))(x, y)
    g[0] = 7
    both = ms.grad(lambda a, b: ops.concat([a, b, a]), (0, 1))(x, y)
    both[0].mul_(3)
    return g, h, g is h, both


_compiled = ms.jit(lambda a, b: a + b)


@program(X, Y)
def nor_do_those_of_a_compiled_part(x, y):
    g, h = ms.grad(_compiled, (0, 1))(x, y)
    g[0] = 7
    return g, h, g is h


@program(X, Y)
def nor_with_the_cotangent(x, y):
    given = y * 1
    for fn in (lambda a: a, lambda a: a.reshape(3, 1).reshape(3), ms.jit(lambda a: a)):
        _, pull = ms.vjp(fn, x)
        (g,) = pull(given)
        g += 1
    return g, given, g is given


@program(X)
def second_gradient_through_gradients_that_were_shared(x):
    def first(a, b):
        g, h = ms.grad(lambda p, q: (p + q) ** 3, (0, 1))(a, b)
        g[0] = 7 * a[0]
        return g * h * a

    return ms.grad(first, (0, 1))(x, x * 2)


@program(X)
def a_hook_writes_to_what_it_gets(x):
    def hook(gradient):
        gradient[1] = 5
        return gradient

    def f(a):
        b = a * 2
        b.register_hook(hook)
        return b.sum()

    return ms.grad(f)(x)


class WritesToCotangent(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        dout[0] = 0
        return (dout,)


@program(X, build=True)
def a_bprop_writes_to_its_cotangent():
    cell = WritesToCotangent()
    return lambda x: ms.grad(lambda a: cell(a).sum())(x)


# -- what raises, prints and writes in a function on gradients ----------------------------------------------------


class Divides(nn.Cell):
    def construct(self, x, k):
        return x * 2

    def bprop(self, x, k, out, dout):
        10 // k
        return dout * 2, k


class Indexes(nn.Cell):
    def construct(self, x, i):
        return x * 2

    def bprop(self, x, i, out, dout):
        x[i]
        return dout * 2, i


class Decides(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        if x.sum() > 3:
            raise ValueError("too large")
        return (dout * 3,)


class Prints(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        print("in bprop", x.shape)
        LOG.append("backward")
        return (dout * 3,)


@program(calls=[(X, 2), (X, 5), (X, 0), (X, 1)], captured=False, build=True)
def a_bprop_divides_and_drops_the_result_error():
    cell = Divides()
    return lambda x, k: ms.grad(cell)(x, k)


@program(calls=[(X, T(2)), (X, T(5)), (X, T(0))], captured=False, build=True)
def a_bprop_indexes_and_drops_the_result_error():
    cell = Indexes()
    return lambda x, i: ms.grad(cell)(x, i)


@program(calls=[(X, T(2)), (X, T(5))], captured=False, build=True)
def a_bprop_that_is_not_run_raises_nothing():
    cell = Indexes()
    return lambda x, i: cell(x, i)


@program(calls=[(X, 2), (X, 5), (X, 0), (-X, 0)], captured=False, build=True)
def a_bprop_divides_in_a_loop_and_a_branch_error():
    cell = Divides()

    def f(x, k):
        while x.sum() > 1 and x.sum() < 20:
            x = cell(x, k)
        return x

    return lambda x, k: ms.grad(f)(x, k)


@program(calls=[(X, 2), (X, 5), (X, 0)], captured=False, build=True)
def a_bprop_divides_in_a_compiled_part_error():
    cell = Divides()
    part = ms.jit(lambda x, k: cell(x, k) + 1)
    return lambda x, k: ms.grad(part)(x, k)


@program(calls=[(X,), (X * 2,), (X,)], captured=False, build=True)
def a_bprop_decides_and_raises_error():
    cell = Decides()
    return lambda x: ms.grad(cell)(x)


@program(calls=[(X,), (Y,)], captured=False, build=True, LOG=[])
def a_bprop_prints_and_writes():
    cell = Prints()

    def f(x):
        print("before")
        y = cell(x)
        g = ms.grad(cell)(y)
        print("after")
        return y, g, len(LOG)

    return f


class SumsGradient(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        return (dout.sum(),)


@program(calls=[(X,), (Y,)], captured=False, build=True, grad=0)
def a_bprop_of_a_wrong_shape_error():
    return SumsGradient()


@program(calls=[(X, Y), (Y, X)], captured=False, build=True, grad=1)
def a_bprop_of_a_wrong_shape_that_is_not_run():
    cell = SumsGradient()
    return lambda x, y: cell(x) * y


@program(calls=[(X,), (Y,)], captured=False, build=True, LOG=[])
def a_bprop_with_effects_that_is_not_run():
    cell = Prints()
    return lambda x: (cell(x), len(LOG))


@program(calls=[(X, 2), (X, 0), (-X, 0)])
def a_hook_divides_error(x, k):
    def hook(gradient):
        10 // k

    def f(a):
        b = a * 2
        b.register_hook(hook)
        return b.sum()

    return ms.grad(f)(x)


# -- arguments that are written -----------------------------------------------------------------------


def _adds_sometimes(x, y):
    if y.sum() > 5:
        x[2] = y[2]
    return y + x


def _adds_in_a_loop(x, y):
    while x.sum() < 9:
        x += y * y + 1
    return x * y


def _overwrites_in_a_branch(x, y):
    b = x * 2
    if x.sum() > 0:
        c = b * b
        b[0] = 5
    else:
        c = b
    return c * y


def _writes_before_it_reads_in_a_branch(x, y):
    b = x * 2
    if x.sum() > 0:
        b[0] = y[1]
        c = b * b
    else:
        c = b
    return c * y


@program(calls=[(X, Y), (X, Y * 3), (X * 0, Y)], captured=False)
def gradient_of_an_argument_that_is_written_on_one_path(x, y):
    return ms.grad(_adds_sometimes, (0, 1))(x, y), x


@program(calls=[(X, Y), (X * 9, Y)], captured=False)
def gradient_of_an_argument_that_a_loop_writes(x, y):
    return ms.grad(_adds_in_a_loop, (0, 1))(x, y), x


@program(calls=[(X, Y), (-X, Y)], captured=False)
def gradient_that_needs_what_a_branch_has_overwritten_error(x, y):
    return ms.grad(_overwrites_in_a_branch, (0, 1))(x, y)


@program(calls=[(X, Y), (-X, Y)])
def gradient_of_a_branch_that_writes_before_it_reads(x, y):
    return ms.grad(_writes_before_it_reads_in_a_branch, (0, 1))(x, y)


class _GivesItsOutput(nn.Cell):
    """Its gradient reads what it has given, through which a gradient of second order flows."""

    def construct(self, x, s):
        return x * s

    def bprop(self, x, s, out, dout):
        return dout * 100 + out, dout.sum()


_gives_its_output = _GivesItsOutput()


@program(X, T(2.0))
def second_gradient_through_what_the_cell_has_given(x, s):
    once = ms.grad(lambda a: _gives_its_output(a, s).sum())
    return once(x), ms.grad(lambda a: once(a * a).sum())(x)


class _DecidesWithOwnGradient(nn.Cell):
    def construct(self, x):
        y = x * 2
        grown = None if y.max() > 1 else 1
        return y + 1 if grown is None else y

    def bprop(self, x, out, dout):
        return (dout * 7 * x,)


_decides = _DecidesWithOwnGradient()


@program(calls=[(X,), (Y * 0.1,)], grad=0, captured=False)
def a_decision_within_a_function_that_has_its_own_gradient(x):
    return ms.grad(lambda a: (_decides(a) * a).sum())(x) * x


@program(calls=[(X,), (Y * 0.1,), (-X,)], grad=0, captured=False)
def and_that_within_a_branch(x):
    y = x
    if x.sum() > 0:
        y = _decides(x) * x + y
    else:
        y = y * x
    return y * y * x


@program(calls=[(X,), (Y * 0.1,), (-X,)], grad=0, captured=False)
def a_tensor_handed_on_within_no_grad(x):
    y = x * x
    z = y
    with ms.no_grad():
        if y.sum() > 5:
            z = y / 2
    return y * z + x


@program(calls=[(X,), (Y * 0.1,), (-X,)], grad=0, captured=False)
def no_grad_with_decisions_that_do_not_join(x):
    y = x * x
    z, count = y, 0
    with ms.no_grad():
        if y.sum() > 5:
            z, count = y / 2, count + 1
        factor = None if z.max() > 1 else 2.0
        if factor is None:
            factor = z.mean()
    return y * z * factor + x * count


@program(calls=[(X,), (Y * 0.1,), (-X,)], grad=0, captured=False)
def a_loop_that_hands_a_tensor_on_within_no_grad(x):
    y = x * x
    z = y
    with ms.no_grad():
        while z.sum() > 3:
            z = z * 0.5
    return y * z + x


@program(calls=[(X, Y), (-X, Y)], grad=(0, 1), captured=False)
def an_argument_is_chosen_where_nothing_is_recorded(x, y):
    with ms.no_grad():
        z = x if x.sum() > 0 else y
        one = ms.Tensor([1.0, 2.0, 3.0]) if y.sum() > 0 else y
    return (z * one * x * y).sum()


@program(calls=[(X, {"k": Y}), (-X, {"k": Y})], captured=False, choice=True)
def an_item_is_chosen_where_nothing_is_recorded(x, items):
    y = x * 2
    with ms.no_grad():
        items["j"] = items["k"] if y.sum() > 0 else y
    return items["j"] * y
