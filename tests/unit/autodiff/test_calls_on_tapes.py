"""Compiled calls inside of eager gradients: dynamic mode's bits, errors and writes at every call, native or not.

Each program below is made anew for every mode, and takes some steps; what the steps give must be the same in dynamic
mode, with compiled functions, with those led by Python, and with Cells compiled one by one in GRAPH_MODE. The first
call of a version is captured, the second prepares, from the third on it is native.
"""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from duograph.autodiff.compiled import GraphFunction
from duograph.base.config import configure
from duograph.runtime.programs.executable import release_memory
from tests.unit.jit.native_calls import bits
from tests.unit.runtime.processes import alone

STEPS = 5


def t(*shape, seed=0):
    return ms.Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


class Net(nn.Cell):
    """Dense, tanh, dense, with weights that are the same each time."""

    def __init__(self, seed=0, first=None):
        super().__init__()
        self.a = (
            nn.Dense(4, 4, weight_init=t(4, 4, seed=seed), bias_init=t(4, seed=seed + 1)) if first is None else first
        )
        self.b = nn.Dense(4, 4, weight_init=t(4, 4, seed=seed + 2), bias_init=t(4, seed=seed + 3))

    def construct(self, x):
        return self.b(ops.tanh(self.a(x)) * ops.sigmoid(x))


PROGRAMS = {}


def program(make):
    PROGRAMS[make.__name__] = make
    return make


@program
def cells_one_by_one(call):
    nets = [call(Net(seed)) for seed in (0, 10, 20)]
    weights = [w for net in nets for w in net.trainable_params()]

    def loss(x):
        for net in nets:
            x = net(x) + x
        return x.sum()

    return lambda: ms.value_and_grad(loss, 0, weights)(t(2, 4))


@program
def many_calls_on_one_tape(call):
    net = call(Net())

    def loss(x):
        for _ in range(6):
            x = net(x)
        return (x * x).mean()

    return lambda: ms.value_and_grad(loss, None, net.trainable_params())(t(2, 4))


@program
def weights_shared_by_two_cells(call):
    shared = nn.Dense(4, 4, weight_init=t(4, 4), bias_init=t(4))
    one, two = call(Net(1, shared)), call(Net(2, shared))
    weights = list(dict.fromkeys([*one.trainable_params(), *two.trainable_params()]))
    return lambda: ms.grad(lambda x: (one(x) * two(x) + one(two(x))).sum(), 0, weights)(t(3, 4))


@program
def compiled_in_compiled(call):
    net = call(Net())
    outer = call(lambda x, y: net(x * y) + net(y).exp() * x)
    return lambda: ms.grad(lambda x, y: outer(x, y).sum(), (0, 1), net.trainable_params())(t(2, 4), t(2, 4, seed=5))


@program
def one_tensor_twice(call):
    f = call(lambda x, y: ops.tanh(x * y) + x.exp() * y)
    return lambda: (ms.grad(lambda x: f(x, x).sum())(t(3)), ms.grad(lambda x: f(x, x[:]).sum())(t(3)))


@program
def who_is_watched_changes(call):
    net = call(Net())
    weights = net.trainable_params()

    def step():
        x = t(2, 4)
        mine = ms.grad(lambda x: net(x).sum())(x)
        theirs = ms.grad(lambda x: net(x).sum(), None, weights)(x)
        return mine, theirs, ms.grad(lambda x: net(x).sum(), 0, weights[:1])(x), net(x), ms.grad(lambda x: x.sum())(x)

    return step


@program
def gradients_of_gradients(call):
    net = call(Net())
    first = ms.grad(lambda x: net(x).sum())
    second = ms.grad(lambda x: (first(x) * x).sum(), 0, net.trainable_params())
    third = ms.grad(lambda x: (ms.grad(lambda y: (first(y) ** 2).sum())(x) ** 2).mean(), None, net.trainable_params())
    return lambda: (first(t(2, 4)), second(t(2, 4)), third(t(2, 4)))


@program
def two_tapes_that_watch_different_things(call):
    net = call(Net())
    weights = net.trainable_params()

    def outer(x):
        return sum((g * g).sum() for g in ms.grad(lambda y: net(y).sum(), None, weights)(x * 1))

    return lambda: (ms.grad(outer)(t(2, 4)), ms.grad(outer, None, weights[:2])(t(2, 4)))


@program
def several_results_and_what_is_handed_on(call):
    f = call(lambda x, y: (x, x * y.exp() + y, y.sigmoid() * 2, x * y.exp() + y))

    def loss(x, y):
        a, b, c, d = f(x, y)
        return (a * b).sum() + (c * d * d).sum()

    def some(x, y):
        return f(x, y)[2].sum()

    def step():
        return ms.grad(loss, (0, 1))(t(3), t(3, seed=1)), ms.grad(some, (0, 1))(t(3), t(3, seed=1))

    return step


@program
def gradients_are_tensors_of_their_own(call):
    f = call(lambda x, y: x + y + 1 - 0 * y)

    def step():
        g, h = ms.grad(lambda x, y: f(x, y), (0, 1))(t(3), t(3, seed=1))
        g[0] = 7
        return g, h, g is h

    return step


@program
def hooks(call):
    net = call(Net())
    seen = []

    def loss(x):
        y = net(x)
        y.register_hook(lambda g: (seen.append(g), g * 2)[1])
        return net(y).sum()

    def step():
        handle = net.a.weight.register_hook(lambda g: g * 3)
        found = ms.grad(loss, 0, net.trainable_params())(t(2, 4))
        handle.remove()
        return found, list(seen)

    return step


@program
def hooks_of_inner_gradients(call):
    """They run for the gradient that is taken outside, too."""

    def doubled(x):
        y = x * 2
        y.register_hook(lambda g: g * 3)
        return (y * y).sum()

    def unused(x):
        y = x.exp()
        y.register_hook(lambda g: g * 5)
        return x.sum() * 2, y

    rows = call(lambda x: ms.vmap(ms.grad(doubled))(x))
    f, g = call(lambda x: ms.grad(doubled)(x)), call(lambda x: ms.value_and_grad(unused, has_aux=True)(x))

    def step():
        outer = [lambda x: f(x).sum(), lambda x: g(x)[0][1].sum(), lambda x: rows(x).sum()]
        return [ms.grad(fn)(t(2, 3)) for fn in outer]

    return step


@program
def hooks_on_results(call):
    """What a call has computed from a result is among the uses of it that a hook sees."""

    def chosen(x, w):
        y = x
        if w.sum() > 0:
            y = x * 2
        return y, w * y

    def plain(x, w):
        y = x * 3
        return y, w * y, y

    def written(x, w):
        x.mul_(w)
        return x + w, w * x

    def last_is_seven(g):
        g[-1] = 7
        return g

    def loss(x, w, f, late):
        x = x * 1
        y, w, *_ = f(x, w)
        if f is functions[-1]:
            y = x
        out = (y * w).sum()
        if late:
            w.register_hook(lambda g: g * 2)
        y.register_hook(last_is_seven)
        y.register_hook(lambda g: g * 3)
        return out + y.sum()

    functions = [call(chosen), call(plain), call(written)]

    def step():
        rows = [(f, late, sign) for f in functions for late in (False, True) for sign in (1, -1)]
        return [ms.grad(loss, (0, 1))(t(2, 3), t(2, 3).abs() * sign, f, late) for f, late, sign in rows]

    return step


@program
def names_of_one_tensor(call):
    """Arguments of a gradient are one tensor to the program, and have a gradient each."""
    count = ms.Parameter(ms.Tensor([0.0, 0.0, 0.0]), requires_grad=False)

    def chosen(a, b):
        c = b
        count.add_(a)
        if count.sum() > 0:
            c = a
        return b * 1, c * 2

    f = call(chosen)

    def loss(a, b):
        y, z = f(a, b)
        return (y * z).sum()

    def step():
        inputs = [ms.Tensor([1.0, 2.0, 3.0]), ms.Tensor([-4.0, -5.0, -6.0])]
        return [ms.grad(loss, (0, 1))(x, x) for x in inputs], count * 1

    return step


@program
def written_between_forward_and_backward(call):
    f = call(lambda x, w: ops.tanh(x * w) * w.exp())

    def overwritten(x, w):
        y = x * 1
        out = f(y, w)
        y[0] = 3
        return out.sum() + y.sum()

    def result(x, w):
        out = f(x, w)
        out[1] = 3
        return (out * out).sum()

    def after(x, w):
        out = f(x, w)
        return out.sum(), w

    def step():
        x, w = t(3), t(3, seed=1)
        found = []
        for fn in (overwritten, result):
            try:
                found.append(ms.grad(fn, (0, 1))(x, w))
            except RuntimeError as error:
                found.append(type(error).__name__)
        return found

    return step


@program
def a_parameter_is_updated_on_the_tape(call):
    net = call(Net())
    weight = net.a.weight

    def loss(x):
        y = net(x)
        weight.set_data(weight * 0.5)
        z = net(y)
        ops.assign(weight, weight * 3)
        return (z + net(x)).sum()

    return lambda: (ms.grad(loss, 0, [net.b.weight])(t(2, 4)), weight.value())


@program
def training(call):
    net = call(nn.SequentialCell(Net(), nn.BatchNorm1d(4), nn.Dropout(p=0.5), Net(5)))
    net.set_train()
    weights = net.trainable_params()
    optimizer = nn.Momentum(weights, 0.1, 0.9)
    step_of = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, weights)
    ms.set_seed(3)

    def step():
        loss, gradients = step_of(t(6, 4))
        optimizer(gradients)
        return loss, [w.value() for w in net.get_parameters()]

    return step


@program
def not_in_order_and_cut_off(call):
    f = call(lambda x, y: (ops.tanh(x) @ y).exp() + y)
    return lambda: (
        ms.grad(lambda x, y: (f(x.T, y) * t(4, 4).T).sum(), (0, 1))(t(4, 4), t(4, 4, seed=2)),
        ms.grad(lambda x, y: f(ops.stop_gradient(x), y * 2).sum(), (0, 1))(t(4, 4), t(4, 4, seed=2)),
        ms.grad(lambda x, y: f(x, y)[::2, 1].sum(), (0, 1))(t(4, 4), t(4, 4, seed=2)),
    )


@program
def paths_that_depend_on_data(call):
    def body(x, y):
        z = x if x.sum() > y.sum() else (x * y).tanh()
        while z.sum() < 4:
            z = z + y.exp()
        return z * x + y

    f = call(body)
    return lambda: [ms.grad(lambda a, b: (f(a, b) * a).sum(), (0, 1))(t(3, seed=s), t(3, seed=s + 1)) for s in range(4)]


@program
def gradients_at_any_time(call):
    net = call(Net())

    def step():
        out, pull = ms.vjp(net, t(2, 4))
        return out, pull(t(2, 4, seed=3)), pull(t(2, 4, seed=4)), ms.jvp(net, t(2, 4), t(2, 4, seed=3))

    return step


@program
def rules_of_the_user(call):
    class Clipped(nn.Cell):
        def construct(self, x):
            return x.exp() * x

        def bprop(self, x, out, dout):
            return (ops.clamp(dout * out, -0.5, 0.5),)

    clipped = Clipped()
    f = call(lambda x: clipped(x * 2).tanh() + x.sigmoid() * x)
    return lambda: ms.grad(lambda x: f(f(x)).sum())(t(3))


@program
def what_raises(call):
    f = call(lambda x, i: x[i].exp() * x.sum() + x.tanh().sum())

    def step():
        found = [ms.grad(f)(t(3), ms.Tensor(1))]
        try:
            ms.grad(f)(t(3), ms.Tensor(5))
        except IndexError as error:
            found.append(type(error).__name__)
        return found

    return step


@program
def integers_and_truths(call):
    f = call(lambda x, n: (x * n + x.exp(), n + 1, x > 0, x.tanh() * (n > 1)))

    def loss(x, n):
        a, b, c, d = f(x, n)
        return (a * c).sum() + (d * b).sum()

    return lambda: ms.grad(loss)(t(3), ms.Tensor([1, 2, 3]))


@program
def memory_that_is_given_back(call):
    net = call(Net())

    def step():
        found = ms.grad(lambda x: net(net(x)).sum(), 0, net.trainable_params())(t(2, 4))
        release_memory()
        return found

    return step


@program
def sizes_that_vary(call):
    net = call(Net())
    return lambda: [ms.grad(lambda x: net(x).sum(), 0, net.trainable_params())(t(n, 4)) for n in (1, 2, 5, 2)]


@contextmanager
def mode_of(mode):
    settings = {"dynamic": {"jit": False}, "led by Python": {"save_graphs_path": "elsewhere"}}.get(mode, {})
    with configure(**settings) if settings else nullcontext():  # else native calls are not for it
        ms.set_context(mode=ms.GRAPH_MODE if mode == "one by one" else ms.PYNATIVE_MODE)
        try:
            yield
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)


def compiled(what):
    """A compiled function, or a Cell whose ``construct`` is one."""
    if isinstance(what, nn.Cell):
        what.construct = ms.jit(what.construct)
        return what
    return ms.jit(what)


def results(name, mode):
    with mode_of(mode):
        call = compiled if mode in ("compiled", "led by Python") else lambda what: what
        step = PROGRAMS[name](call)
        return [bits(step()) for _ in range(STEPS)]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mode", ["compiled", "led by Python", "one by one"])
def test_steps_are_those_of_dynamic_mode(name, mode):
    assert results(name, mode) == results(name, "dynamic")


NATIVE = ["cells_one_by_one", "many_calls_on_one_tape", "training", "gradients_of_gradients", "sizes_that_vary"]


@pytest.mark.parametrize("name", NATIVE)
def test_calls_on_tapes_are_native(name, monkeypatch):
    """From the third call on, forward and backward: where one of them were not, programs would be slow, and right."""
    made = []

    def call(what):
        done = compiled(what)
        made.append(done.construct if isinstance(done, nn.Cell) else done)
        return done

    step = PROGRAMS[name](call)
    for _ in range(4):
        step()
    led = [entry.runs for f in made for store in f._stores() for entry in store.compiled]

    def graph_run(*_):
        raise AssertionError("a graph was run by Python")

    monkeypatch.setattr(GraphFunction, "call", graph_run) if name != "gradients_of_gradients" else None
    monkeypatch.setattr(GraphFunction, "run_on", graph_run)
    step()
    assert [entry.runs for f in made for store in f._stores() for entry in store.compiled] == led


@pytest.fixture
def switching_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_threads_have_tapes_of_their_own(switching_often):
    """Python runs in the middle of such a call, and other threads meanwhile: they must not meet in its memory."""
    net = compiled(Net())
    weights = net.trainable_params()
    gradient = ms.grad(lambda x: net(net(x)).sum(), 0, weights)
    wanted = [bits(gradient(t(2, 4, seed=s))) for s in range(4)]
    found = {}

    def work(s):
        found[s] = [bits(gradient(t(2, 4, seed=s))) for _ in range(200)]

    threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found[s] == [wanted[s]] * 200 for s in range(4))


def counted_after_calls():
    """References to a weight, objects, and weak references, after 200, 400 and 600 calls."""
    net = compiled(Net())
    gradient = ms.grad(lambda x: net(x).sum(), 0, net.trainable_params())
    for _ in range(8):
        gradient(t(2, 4))
    references, objects, weak = [], [], []
    for _ in range(3):
        for _ in range(200):
            gradient(t(2, 4))
        gc.collect()
        references.append(sys.getrefcount(net.a.weight))
        alive = gc.get_objects()
        weak.append(sum(type(o) is weakref.ref for o in alive))
        objects.append(len(alive) - weak[-1])
        del alive
    return references, objects, weak


def test_a_call_on_a_tape_keeps_nothing_alive():
    """What a call has saved goes with the tape."""
    references, objects, weak = alone(counted_after_calls)
    assert references[1] == references[2]
    assert objects[1] >= objects[2]  # the collector gives up tuples of numbers
    assert weak[2] - weak[1] < 100  # tables of such are cleaned now and then


def test_weights_of_one_branch_take_the_fast_way_back(monkeypatch):
    """Whether they have a gradient at all is known once the branch is taken."""

    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first, self.second = Net(0), Net(10)

        def construct(self, x):
            return self.first(x) if x.sum() > 0 else self.second(x)

    def steps(net, call):
        gradient = ms.value_and_grad(call, None, net.trainable_params())
        return [bits(gradient(x)) for x in (t(2, 4), -t(2, 4), t(2, 4), -t(2, 4), t(2, 4))]

    dynamic = Two()
    expected = steps(dynamic, lambda x: dynamic(x).sum())
    static = Two()
    compiled = ms.jit(static)
    assert steps(static, lambda x: compiled(x).sum()) == expected
    monkeypatch.setattr("duograph.autodiff.levels.pull_call", None)
    assert steps(static, lambda x: compiled(x).sum()) == expected
