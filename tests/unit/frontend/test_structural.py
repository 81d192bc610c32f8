"""Versions that serve other objects which hold the same, and what tells those objects apart."""

from __future__ import annotations

import dataclasses
import functools
import gc
import math
import threading
import types
import weakref

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops

X = Tensor(np.arange(1.0, 5.0, dtype=np.float32))
ROWS = Tensor(np.ones((2, 4), np.float32))


def same(a, b):
    assert type(a) is type(b)
    if isinstance(a, Tensor):
        assert a.dtype is b.dtype and a.asnumpy().tobytes() == b.asnumpy().tobytes()
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        assert a == b


def captures(*functions):
    """How often the functions were captured: versions that were not found with others."""
    return sum(len([e for e in f._own.compiled if e._origin is None]) for f in functions)


def served(f, make, calls=6):
    """What ``f`` gives for fresh objects of ``make``, each time as plain Python gives it; the versions it has then."""
    for i in range(calls):
        same(f(make(i), X), f.fn(make(i), X))
    return f.explain().versions


def scaled(k):
    def scale(x):
        return x * k

    return scale


def add(a, x, b=0):
    return x + a + b


@dataclasses.dataclass
class Config:
    gain: float = 2.0
    sizes: tuple = (1, 2)

    def apply(self, x):
        return x * self.gain + self.sizes[0]


class Settings:
    def __init__(self, rate=0.5):
        self.rate = rate
        self.names = {"a": 1, "b": [2, 3]}
        self.inner = Config()

    def __call__(self, x):
        return self.inner.apply(x) * self.rate + self.names["b"][1]


class Net(nn.Cell):
    def __init__(self, width=4, scale=2.0):
        super().__init__()
        self.first = nn.Dense(4, width)
        self.rest = nn.CellList([nn.Dense(width, width), nn.ReLU()])
        self.scale = scale

    def construct(self, x):
        x = self.first(x)
        for cell in self.rest:
            x = cell(x)
        return x * self.scale


FRESH = {
    "lambda": lambda i: lambda x: x * 2,
    "closure": lambda i: scaled(3),
    "closure over a tensor": lambda i: scaled(Tensor(np.full(4, i, np.float32))),
    "partial": lambda i: functools.partial(add, 3, b=1),
    "partial of a closure": lambda i: functools.partial(scaled(2)),
    "bound method": lambda i: Config().apply,
    "dataclass": lambda i: Config(),
    "object": lambda i: Settings(),
    "defaults": lambda i: lambda x, k=2, *, s=(1, 2): x * k + s[1],
}


@pytest.mark.parametrize("name", FRESH)
def test_fresh_objects_that_hold_the_same_are_served(name):
    @ms.jit
    def f(g, x):
        return (g.apply(x) if isinstance(g, Config) else g(x)) + 1

    (version,) = served(f, FRESH[name])
    assert version["native_calls"] >= 3
    assert not f.explain().unattempted


def test_fresh_cells_are_served_and_their_parameters_read():
    f = ms.jit(lambda net, x: net(x).sum())
    for _ in range(6):
        net = Net()
        same(f(net, ROWS), net(ROWS).sum())
        net.first.weight.set_data(net.first.weight * 2)
        same(f(net, ROWS), net(ROWS).sum())
    version = f.explain().versions[0]  # the second one is about the Cell that was captured
    assert version["native_calls"] > 6 and captures(f) == 1


@pytest.mark.parametrize("change", [
    lambda net: setattr(net, "scale", 3.0),
    lambda net: net.rest.append(nn.Dense(4, 4)),
    lambda net: net.to_float(ms.float16),
    lambda net: net.register_forward_hook(lambda cell, x, y: y * 2),
    lambda net: setattr(net, "construct", lambda x: x - 1),
    lambda net: setattr(net.first, "has_bias", False),
    lambda net: setattr(net, "first", nn.Dense(4, 4, has_bias=False)),
    lambda net: setattr(net.rest, "0", nn.ReLU()),
])  # fmt: skip
def test_a_cell_that_holds_something_else_is_another_one(change):
    f = ms.jit(lambda net, x: net(x).sum())
    for _ in range(4):
        f(Net(), ROWS)
    net = Net()
    change(net)
    same(f(net, ROWS), net(ROWS).sum())
    same(f(net, ROWS), net(ROWS).sum())
    other = Net()
    same(f(other, ROWS), other(ROWS).sum())


@pytest.mark.parametrize("other", [
    lambda: lambda x: x * 3,
    lambda: scaled(4),
    lambda: scaled(3.0),
    lambda: functools.partial(add, 2),
    lambda: functools.partial(add, 3, b=2),
])  # fmt: skip
def test_other_contents_are_other_versions(other):
    f = ms.jit(lambda g, x: g(x))
    for make in (lambda: scaled(3), other, lambda: scaled(3), other, other):
        same(f(make(), X), make()(X))


def test_what_is_changed_afterwards_is_seen():
    f = ms.jit(lambda g, x: g(x))

    def make(k, d=1):
        def g(x, d=d):
            return x * k + d

        def put(value):
            nonlocal k
            k = value

        g.put = put
        return g

    for _ in range(4):
        f(make(2), X)
    g = make(2)
    same(f(g, X), g(X))
    for change in (
        lambda: g.put(5),
        lambda: setattr(g, "__defaults__", (7,)),
        lambda: setattr(g, "__code__", make(1).__code__.replace(co_name="h")),
        lambda: setattr(g, "__kwdefaults__", {}),
    ):
        change()
        same(f(g, X), g(X))
        same(f(g, X), g(X))
    same(f(make(2), X), make(2)(X))


@pytest.mark.parametrize("values", [[Config(2.0).apply, Config(3.0).apply], [math.sin, math.cos, abs]])
def test_what_an_attribute_holds_that_is_a_method_of_something_else(values):
    class Holder:
        pass

    f = ms.jit(lambda held, x: held.apply(x) if hasattr(held.apply, "__func__") else x * held.apply(1.0))
    held = Holder()
    for value in (*values, *values):
        held.apply = value
        same(f(held, X), f.fn(held, X))
        same(f(held, X), f.fn(held, X))


def test_functions_of_c_code_that_are_replaced():
    class OfClass:
        apply = math.sin

    class OfSlot:
        __slots__ = ("apply",)

    class OfMethod:
        def apply(self, x):
            return x * 10

    held, slot, own = OfClass(), OfSlot(), OfMethod()
    of_instance = OfClass()
    for read, put in (
        (lambda x: x * held.apply(1.0), lambda v: setattr(OfClass, "apply", v)),
        (lambda x: x * slot.apply(1.0), lambda v: setattr(slot, "apply", v)),
        (lambda x: x * of_instance.apply(1.0), lambda v: setattr(of_instance, "apply", v)),
        (lambda x: x * own.apply(1.0), lambda v: setattr(own, "apply", v)),
    ):
        f = ms.jit(read)
        for v in (math.sin, math.cos, abs, math.cos, lambda x: x * 2, math.exp):
            put(v)
            for _ in range(2):
                try:
                    want = read(X)
                except TypeError:  # a Python function on a class is a method
                    with pytest.raises(TypeError):
                        f(X)
                else:
                    same(f(X), want)


def test_a_global_namespace_is_part_of_a_function():
    def make(namespace):
        return eval(CODE, namespace)

    f = ms.jit(lambda g, x: g(x))
    for k in (2, 2, 3, 2, 3):
        g = make({"k": k})
        same(f(g, X), g(X))


CODE = compile("lambda x: x * k", __file__, "eval")


# -- identity ----------------------------------------------------------------------------------------------------------


def test_programs_that_ask_which_object_it_is():
    kept = scaled(2)
    programs = {
        "is": lambda g, x: (g is kept, g(x)),
        "equal": lambda g, x: (g == kept, g(x)),
        "in": lambda g, x: (g in [kept, None], g(x)),
        "key": lambda g, x: ({kept: 1}.get(g), g(x)),
        "member": lambda g, x: (g in {kept, None}, g(x)),
        "index": lambda g, x: ([kept, None, g].count(g), g(x)),
        "tuple": lambda g, x: ((kept, 1) == (g, 1), g(x)),
    }
    for name, program in programs.items():
        f = ms.jit(program)
        for g in (scaled(2), kept, scaled(2), scaled(2), kept, kept, scaled(2)):
            assert f(g, X)[0] == program(g, X)[0], name
            same(f(g, X)[1], program(g, X)[1])


def test_the_object_of_this_call_leaves_it():
    f = ms.jit(lambda g, x: (g, [g], {"g": g}, g(x)))
    for make in (lambda: scaled(2), Settings, lambda: functools.partial(add, 1), lambda: Config().apply):
        for _ in range(5):
            g = make()
            one, (two,), held, result = f(g, X)
            assert one is g and two is g and held["g"] is g
            same(result, g(X))


def test_containers_keep_the_object_of_this_call():
    history = []

    @ms.jit
    def f(g, x):
        history.append(g)
        return g(x)

    made = [scaled(2) for _ in range(5)]
    for g in made:
        f(g, X)
    assert all(a is b for a, b in zip(history, made, strict=True))


def test_attributes_are_set_on_the_object_of_this_call():
    @ms.jit
    def f(g, x):
        g.rate = g.rate * 2
        g.seen = x
        return g(x)

    for _ in range(5):
        one, two = Settings(), Settings()
        same(f(one, X), f.fn(two, X))
        assert one.rate == two.rate and one.seen is X


def test_closure_variables_are_written_where_they_are():
    def make():
        count = 0

        @ms.jit
        def step(x):
            nonlocal count
            count += 1
            return x * count

        return step, lambda: count

    for _ in range(4):
        step, count = make()
        for i in range(1, 4):
            same(step(X), X * i)
            assert count() == i


def test_one_object_in_two_places_and_two_that_hold_the_same():
    def program(g, h, x):
        g.rate += 1.0
        return h.rate * x

    f = ms.jit(program)
    plain = ms.jit(lambda g, h, x: g(x) + h(x))
    for shared in (True, False, True, False, False, True, True):
        g, h = Settings(), Settings()
        pairs = [(g, g if shared else h)]
        k, m = Settings(), Settings()
        want = program(k, k if shared else m, X)
        same(f(*pairs[0], X), want)
        same(plain(*pairs[0], X), plain.fn(*pairs[0], X))


def test_gradients_of_tied_and_of_separate_weights():
    def make(tied):
        a = Parameter(Tensor([2.0, 3.0]), name="a")
        b = a if tied else Parameter(Tensor([2.0, 3.0]), name="a")

        class Pair:
            pass

        return a, b

    class Holder:
        def __init__(self, tied):
            self.a, self.b = make(tied)

    def program(held, x):
        return ops.grad(lambda a: (a * held.b * x).sum())(held.a)

    f = ms.jit(program)
    for tied in (False, False, True, False, True, True):
        same(f(Holder(tied), Tensor([1.0, 2.0])), program(Holder(tied), Tensor([1.0, 2.0])))


# -- functions that are decorated anew ---------------------------------------------------------------------------------


def test_decorated_in_a_loop():
    made = []
    for i in range(6):
        step = ms.jit(lambda x: x * 2 + 1)
        same(step(X + i), (X + i) * 2 + 1)
        made.append(step)
    assert captures(*made) == 1
    assert made[-1].explain().versions[0]["native_calls"] == 1


def test_decorated_in_a_function():
    made = []

    def run(k, w):
        @ms.jit
        def g(x):
            return x * k + w

        made.append(g)
        return g(X), g(X)

    for i in range(6):
        w = Tensor(np.full(4, i, np.float32))
        same(run(3, w), (X * 3 + w,) * 2)
    assert captures(*made) == 1
    same(run(4, X), (X * 4 + X,) * 2)
    assert captures(*made) == 2
    assert len(made[-1].explain().versions) == 1
    same(run(3, X), (X * 3 + X,) * 2)


def test_the_older_function_is_changed_and_the_newer_one_is():
    def make(k):
        @ms.jit
        def g(x):
            return x * k

        return g

    one, two = make(2), make(2)
    for g in (one, two, one, two, one, two):
        same(g(X), X * 2)
    one.fn.__code__ = (lambda k: lambda x: x - k)(0).__code__
    same(one(X), X - 2)
    same(two(X), X * 2)
    two.fn.__closure__[0].cell_contents = 5
    same(one(X), X - 2)
    same(two(X), X * 5)
    three = make(2)
    same(three(X), X * 2)


def test_compiled_cells_made_anew():
    made = []
    for _ in range(5):
        net = Net()
        step = ms.jit(net)
        same(step(ROWS), net(ROWS))
        same(step(ROWS), net(ROWS))
        made.append(step)
    assert captures(*made) == 1


def test_methods_of_fresh_instances():
    class Scale(nn.Cell):
        def __init__(self, k):
            super().__init__()
            self.k = k
            self.w = Parameter(Tensor(np.full(4, k, np.float32)), name="w")

        @ms.jit
        def construct(self, x):
            return x * self.w + self.k

    made = [Scale(k) for k in (2, 2, 3, 2, 3)]
    for net in made * 3:
        same(net(X), X * net.w + net.k)
    own = [e for net in made for e in net.construct.function._store([net]).compiled]
    assert sum(e._origin is None for e in own) == 2


def test_graph_mode_cells_made_anew():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        for _ in range(4):
            net = Net()
            result = net(ROWS)
            with ms.nn.dispatch.plainly():
                same(result, net(ROWS))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("level", ["O0", "O1"])
def test_levels_do_not_share(level):
    def make():
        return ms.jit(lambda x: x * 2 + 1, jit_level=level)

    for _ in range(3):
        f = make()
        same(f(X), X * 2 + 1)
    assert all(e.level == level for e in f._own.used)


def test_nothing_of_the_user_is_kept_alive():
    class Big:
        def __init__(self):
            self.weight = Tensor(np.ones(4, np.float32))
            self.k = 2

    def run():
        big, net = Big(), Net()

        @ms.jit
        def g(x):
            return (net(x * big.weight) + big.k).sum()

        for _ in range(3):
            g(ROWS)
        return weakref.ref(big), weakref.ref(net), weakref.ref(g.fn)

    found = [ref for _ in range(3) for ref in run()]
    gc.collect()
    assert [ref() for ref in found] == [None] * 9


def test_under_a_tape():
    def run(k):
        w = Parameter(Tensor([1.0, 2.0, 3.0, 4.0]), name="w")

        @ms.jit
        def loss(x):
            return (ops.exp(x * w) * k + ops.tanh(w) * x + ops.sin(x) * w).sum()

        return [ms.value_and_grad(f, None, [w])(X) for f in (loss, loss.fn)]

    for k in (2, 2, 3, 2, 2):
        (value, (grad,)), (want, (gradient,)) = run(k)
        same(value, want)
        same(grad, gradient)


def test_threads_share_versions():
    failures = []

    def work(n):
        try:
            for i in range(60):
                k = (n + i) % 3

                @ms.jit
                def g(x):
                    return x * k + n  # noqa: B023

                same(g(X), X * k + n)
                same(g(X), X * k + n)
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def namespace(i):
    return types.SimpleNamespace(gain=ROWS * (i + 1), sizes=(1, 2))


@pytest.mark.parametrize("make", [lambda i: Config(ROWS * (i + 1)), namespace], ids=["dataclass", "namespace"])
@pytest.mark.parametrize("takes", ["weights", "input"])
def test_the_function_of_a_gradient_gets_an_object_made_anew(make, takes):
    net = nn.Dense(4, 2)

    def loss(batch, x):
        return (net(batch.gain) ** 2).sum() + batch.sizes[1] * x.sum()

    gradient = ms.value_and_grad(loss, *((None, net.trainable_params()) if takes == "weights" else (1,)))

    @ms.jit
    def step(batch, x):
        return gradient(batch, x)

    assert len(served(step, make)) == 1


def test_the_list_of_weights_changes():
    net = nn.Dense(4, 2)
    weights = net.trainable_params()
    gradient = ms.grad(lambda x: net(x).sum(), None, weights)
    f = ms.jit(lambda x: gradient(x))
    for change in (lambda: None, weights.pop, lambda: weights.insert(0, net.bias), weights.reverse, weights.clear):
        change()
        for _ in range(2):
            assert [g.shape for g in f(ROWS)] == [g.shape for g in gradient(ROWS)]


def test_functions_of_a_table_that_look_at_the_table():
    def make(factor):
        table = {}
        table["sum"] = lambda x: x.sum() * factor
        table["mean"] = lambda x: table["sum"](x) / x.shape[0]

        class Readout(nn.Cell):
            def construct(self, x):
                return table["mean"](x) * x

        return Readout, table

    (one, first), (two, second) = make(2), make(3)
    for net in (one(), one(), two(), one()):
        assert (ms.jit(net)(ROWS) == net(ROWS)).all()
    f = ms.jit(one())
    for changed in (first, second):  # its closure is that of the other table, or the other table changes
        first["mean"] = second["mean"]
        changed["sum"] = lambda x: x.sum() * 7
        assert (f(ROWS) == one()(ROWS)).all()
