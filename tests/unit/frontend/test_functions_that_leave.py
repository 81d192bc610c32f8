"""Functions that are defined inside compiled code and leave it: they are Python's own, with what they close over."""

import inspect

import pytest

import duograph as ms
from duograph import Tensor

XS = [Tensor([1.0, 2.0]), Tensor([2.0, 3.0]), Tensor([1.0, 2.0])]


def with_a_tensor(x):
    k = x * 2

    def g(y):
        """Adds."""
        return y + k

    return g


def with_defaults(x):
    n = 3

    def g(y, z=4, *, w=x.sum()):
        return y * n + z + w

    return x, g


def recursive(x):
    def fact(n):
        return 1 if n < 2 else n * fact(n - 1)

    return lambda y: y * fact(4) + x


def sharing_a_variable(x):
    count = 0

    def more(y):
        nonlocal count
        count += 1
        return y * count

    def get(y):
        return y + count

    more(x)
    return more, get, get


def late_binding(x):
    return [lambda y: y * i + x for i in range(3)][0]


def in_a_loop(x):
    found = []
    for i in range(2):

        def g(y, i=i):
            return y * i + x

        found.append(g)
    return found


def of_functions(x):
    def outer(k):
        def inner(y):
            return y * k + x

        return inner

    return outer(3), outer(4), outer


def bound_later(x):
    def g(y):
        return y * later

    later = x + 5
    return g


def two_on_a_line(x):
    return (lambda y: y + x), (lambda y: y * x)


def by_a_tensor(x):
    if x.sum() > 4:
        return lambda y: y * 2
    return lambda y: y * 3


def with_a_list(x):
    held = [x]

    def add(y):
        held.append(y)
        return sum(held)

    return held, add


def a_generator_function(x):
    def steps(y):
        for i in range(2):
            yield y * i + x

    return steps


def calling_each_other(x):
    found = {}
    found["f"] = lambda y: (y, found["g"](y))
    found["g"] = lambda y: y * x
    return found


def factory(scale):
    def made(x):
        return lambda y: y * scale + x

    return made


with_a_cell_from_outside = factory(Tensor([10.0, 20.0]))
CAPTURED = [
    with_a_tensor, with_defaults, recursive, sharing_a_variable, in_a_loop, of_functions, bound_later, two_on_a_line,
    by_a_tensor, with_a_list, a_generator_function, calling_each_other, with_a_cell_from_outside,
]  # fmt: skip


def with_attributes(x):
    def g(y):
        return y * x

    g.rate = 3
    return g


def annotated(x):
    def g(y: int) -> int:
        return y * x

    return g


def used(value):
    """What can be seen of functions, and what two calls of each give."""
    if isinstance(value, list | tuple):
        return [used(v) for v in value]
    if isinstance(value, dict):
        return {k: used(v) for k, v in value.items()}
    if not inspect.isfunction(value):
        return str(value)
    told = [value.__name__, value.__qualname__, value.__doc__, value.__module__, str(value.__kwdefaults__)]
    told += [value.__code__.co_firstlineno, vars(value), value.__annotations__, str(inspect.signature(value))]
    for _ in range(2):
        found = value(Tensor([3.0, 4.0]))
        told.append(used(list(found) if inspect.isgenerator(found) else found))
    return told


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("fn", [*CAPTURED, late_binding, with_attributes, annotated], ids=lambda fn: fn.__qualname__)
def test_the_same_as_plain_python(fn, mode):
    compiled = ms.jit(fn, capture_mode=mode)
    for x in XS:
        assert used(compiled(x)) == used(fn(x))
    if fn in CAPTURED:
        assert not compiled.explain().fallbacks
        assert not compiled.explain().breaks


def test_functions_share_their_variable_in_each_call():
    compiled = ms.jit(sharing_a_variable)
    first, second = compiled(XS[0]), compiled(XS[0])
    assert first[0].__closure__[0] is first[1].__closure__[0]
    assert first[1] is first[2]
    assert first[0].__closure__[0] is not second[0].__closure__[0]


def test_versions_serve_functions_of_one_code():
    for scale in (2.0, 3.0, 4.0):
        made = factory(scale)
        assert used(ms.jit(made)(XS[0])) == used(made(XS[0]))


def test_gradients_pass_what_a_function_closes_over():
    def loss(make, x):
        return (make(x)(x) * x).sum()

    for make in (with_a_tensor, bound_later, with_a_cell_from_outside):
        expected = ms.grad(lambda x, make=make: loss(make, x))(XS[0])
        compiled = ms.jit(make)
        for _ in range(2):
            assert str(ms.grad(lambda x, compiled=compiled: loss(compiled, x))(XS[0])) == str(expected)
