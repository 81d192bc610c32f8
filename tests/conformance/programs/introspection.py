"""Programs that look at functions, partials, closures and classes, and change classes while they run."""

import copy
import functools
import os
import types

import duograph as ms
from duograph import nn
from tests.conformance.harness import T, program

X = [(T([1.0, 2.0]),), (T([3.0, -1.0]),), (T([1.0, 2.0, 3.0]),)]


def _affine(p, q, r=0.0):
    return p * q + r


@program(calls=X)
def parts_of_a_partial(x):
    held = functools.partial(_affine, x, r=3.0)
    return held(2.0), held.func is _affine, held.args[0] is x, held.keywords["r"]


@program(calls=X)
def a_partial_of_a_partial(x):
    outer = functools.partial(functools.partial(_affine, x), 2.0, r=1.0)
    return outer(r=4.0), outer(), outer.args[1:], outer.func is _affine, sorted(outer.keywords)


OUTSIDE = functools.partial(_affine, r=2.0)


@program(calls=X)
def a_partial_of_one_from_outside(x):
    outer = functools.partial(OUTSIDE, x, 3.0)
    return outer(), len(outer.args), outer.func is _affine


class _Base:
    def run(self, x):
        return x + 1


class _Derived(_Base):
    def run(self, x):
        return super(_Derived).__get__(self, _Derived).run(x) * 2


@program(calls=X)
def super_that_is_bound_later(x):
    return _Derived().run(x), super(_Derived).__thisclass__ is _Derived


class _Plain:
    pass


@program(calls=X, captured=False)
def a_method_of_a_partial(x):
    plain = _Plain()
    plain.run = types.MethodType(functools.partial(lambda k, self, y: y * k, 3.0), plain)
    return plain.run(x)


@program(calls=X, captured=False)
def a_cell_variable_after_it_was_written(x):
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    count()
    count()
    return count.__closure__[0].cell_contents, x + n


@program(calls=X, captured=False)
def a_closure_across_a_break(x):
    seen = []

    def add(value):
        seen.append(value)
        return len(seen)

    add(x)
    os.getpid()
    add(x * 2)
    return add.__closure__[0].cell_contents, len(seen)


@program(calls=X, captured=False)
def a_key_across_a_break(x):
    held = functools.partial(lambda v: v, x)
    counts = {held: 1, "x": x}
    counts[held] += 1
    os.getpid()
    counts[held] += 1
    return counts[held], held(), next(iter(counts)) is held


class _Slotted:
    __slots__ = ("value",)


@program(calls=X, captured=False)
def a_slot_is_deleted(x):
    made = _Slotted()
    made.value = x * 2
    value = made.value
    object.__delattr__(made, "value")
    return value, hasattr(made, "value")


@program(build=True, calls=X, captured=False)
def a_descriptor_that_comes_and_goes():
    class Fixed:
        def __get__(self, obj, cls=None):
            return 5.0

        def __set__(self, obj, value):
            pass

    class Holder:
        pass

    def run(x):
        Holder.fixed = Fixed()
        y = x * Holder().fixed
        del Holder.fixed
        return y, hasattr(Holder, "fixed")

    return run


@program(build=True, calls=X, captured=False)
def an_attribute_of_a_cell_is_deleted():
    net = nn.ReLU()
    net.gain = 3.0

    def run(x):
        y = net(x) * getattr(net, "gain", 1.0)
        if hasattr(net, "gain"):
            del net.gain
        return y

    return run


@program(build=True, calls=X, captured=False)
def cells_are_copied():
    net = nn.SequentialCell(nn.ReLU(), nn.Tanh())

    def run(x):
        return copy.copy(net)(x), copy.deepcopy(net)(x), net(x)

    return run


@program(build=True, calls=[(T([1.0]),), (T([1.0, 2.0]),), (T([1.0, 2.0, 3.0]),), (T([2.0] * 4),)])
def second_derivatives_of_a_users_bprop():
    class Cube(nn.Cell):
        def construct(self, x):
            return x * x * x

        def bprop(self, x, out, dout):
            return (dout * 3 * x * x,)

    cube = Cube()
    return lambda x: ms.grad(lambda v: ms.grad(lambda u: cube(u).sum())(v).sum())(x)


@program(calls=[(X[0][0], 2), (X[0][0], 2), (X[1][0], 3)], build=True, captured=False)
def cells_of_an_outer_function_that_has_counted():
    count, seen = 0, []

    def add(n):
        nonlocal count
        count += n
        seen.append(count)
        return count

    def counted(x, n):
        y = x * add(n)
        cell = add.__closure__[0]
        add(1)
        return y, cell.cell_contents, [c.cell_contents for c in add.__closure__][0]

    return counted
