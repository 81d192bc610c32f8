"""Native calls of compiled functions: which calls are native, how arguments are bound, when Python takes over."""

from __future__ import annotations

import gc
import sys
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from duograph.base.config import configure
from duograph.core.op import rules_version
from duograph.frontend.guards import native as native_guards
from duograph.runtime.launch import launcher
from tests.unit.growth import growth
from tests.unit.jit.native_calls import bits, f32, is_native, led_by_python, native_hits, warmed
from tests.unit.runtime.engine import launching

X = f32(1.0, -2.0, 3.0)
Y = f32(0.5, 0.25, 4.0)


def scaled(x, k=2.0, *, shift=1.0):
    return x * k + shift


def total(*args):
    out = args[0] + 1.0
    for x in args[1:]:
        out = out + x
    return out


def first_and_rest(first, *rest):
    return first - total(*rest)


# -- binding of arguments ----------------------------------------------------------------------------------------------


def test_calls_become_native_once_a_version_has_run():
    function = ms.jit(scaled)
    assert [is_native(function, X) for _ in range(4)] == [False, False, True, True]
    assert function.stats["hits"] == 4


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((X,), {}), ((X, 3.0), {}), ((), {"x": X}), ((X,), {"shift": 2.0}), ((), {"shift": 2.0, "k": 4.0, "x": X})],
)
def test_arguments_by_position_and_name(args, kwargs):
    function = warmed(ms.jit(scaled), *args, **kwargs)
    assert is_native(function, *args, **kwargs)
    assert bits(function(*args, **kwargs)) == bits(scaled(*args, **kwargs))


def test_what_one_form_of_call_has_bound_another_does_not_mix_up():
    """``k`` left out and ``shift`` given is not ``k`` given by position."""
    function = warmed(ms.jit(scaled), X, shift=3.0)
    assert bits(function(X, 3.0)) == bits(scaled(X, 3.0))
    assert bits(function(X, shift=3.0)) == bits(scaled(X, shift=3.0))


def test_positional_only_parameters():
    function = warmed(ms.jit(lambda x, /, k: x * k), X, k=2.0)
    assert is_native(function, X, k=2.0)
    with pytest.raises(TypeError, match="positional-only"):
        function(x=X, k=2.0)


@pytest.mark.parametrize("count", [1, 2, 10, 50])
def test_any_number_of_arguments(count):
    args = [f32(float(i), 1.0) for i in range(count)]
    function = warmed(ms.jit(total), *args)
    assert is_native(function, *args)
    assert bits(function(*args)) == bits(total(*args))
    if count > 1:
        assert bits(function(*args[:-1])) == bits(total(*args[:-1]))


def test_arguments_before_a_star():
    function = warmed(ms.jit(first_and_rest), X, Y, Y)
    assert is_native(function, X, Y, Y)
    assert bits(function(X, Y, Y)) == bits(first_and_rest(X, Y, Y))


@pytest.mark.parametrize(
    ("function", "args", "kwargs"),
    [
        (lambda **named: named["a"] + named["b"], (), {"a": X, "b": Y}),
        (lambda x, /, y, **named: (x * y, named), (X, Y), {"x": 3, "z": X}),
        (lambda x, y=1, *, k=2, **named: (x * k + y, named), (X,), {"k": 3, "z": 4, "_": "t"}),
        (lambda x, y=1, *, k=2, **named: (x * k + y, sorted(named)), (), {"b": 3, "y": 4, "x": X, "a": None}),
        (lambda *args, **named: (total(*args) * named["a"], named), (X, Y), {"a": 3.0}),
        (lambda x, *args, k=1.0: (x * k, args), (X, Y, 2), {"k": 3.0}),
        (lambda x, *args, k, z=1, **named: (x * k + z, named, args), (X, Y, 2), {"a": 3, "k": 3.0, "b": Y}),
    ],
)
def test_keyword_arguments_of_any_name(function, args, kwargs):
    compiled = warmed(ms.jit(function), *args, **kwargs)
    assert is_native(compiled, *args, **kwargs)
    first, second = compiled(*args, **kwargs), compiled(*args, **kwargs)
    assert bits(first) == bits(second) == bits(function(*args, **kwargs))
    if isinstance(first, tuple) and isinstance(first[1], dict):
        assert first[1] is not second[1] is not kwargs


def test_keyword_arguments_that_are_for_other_parameters():
    def f(x, y=1.0, *, k=1.0, **named):  # what is in ``named`` is not asked
        return x * y + k

    function = warmed(ms.jit(f), X, a=1)
    for kwargs in ({"a": 1}, {"y": 3.0, "a": 1}, {"k": 5.0, "b": 1}, {"y": 2.0}, {"b": None, "k": 2.0, "y": 7.0}, {}):
        for _ in range(4):
            assert bits(function(X, **kwargs)) == bits(f(X, **kwargs))
    with pytest.raises(TypeError, match="multiple values"):
        function(X, x=X, a=1)
    with pytest.raises(TypeError, match="missing"):
        function(a=1)


def test_wrong_arguments_give_pythons_own_error():
    function = warmed(ms.jit(scaled), X)
    for args, kwargs in (((), {}), ((X, 1.0, 2.0), {}), ((X,), {"j": 1}), ((X,), {"x": X})):
        with pytest.raises(TypeError, match="scaled"):
            function(*args, **kwargs)


class Counter:
    def __init__(self, step: float):
        self.step = step

    @ms.jit
    def advanced(self, x):
        return x + self.step


def test_methods_by_instance_and_by_class():
    one, two = Counter(1.0), Counter(2.0)
    for counter in (one, two):
        warmed(counter.advanced, X)
    assert is_native(Counter.advanced, one, X) and is_native(Counter.advanced, two, X)
    assert bits(one.advanced(X)) == bits(X + 1.0) and bits(two.advanced(X)) == bits(X + 2.0)
    bound = one.advanced
    one.step = 5.0
    assert bits(bound(X)) == bits(X + 5.0)


def test_versions_go_with_their_instance():
    counter = Counter(1.0)
    warmed(counter.advanced, X)
    gone = weakref.ref(counter)
    del counter
    gc.collect()
    assert gone() is None


def test_explain_says_which_calls_were_native():
    function = warmed(ms.jit(scaled), X)
    function(X)
    version = function.explain().versions[0]
    assert (version["hits"], version["native_calls"], version["why_not_native"]) == (4, 2, "")
    interpreted = warmed(ms.jit(scaled, backend="interpreter"), X)
    assert "the interpreter runs it" in str(interpreted.explain())


# -- results -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x + y, [x * y, (3, "text", x - y)], None),
        lambda x, y: [x + y] * 2,
        lambda x, y: {"sum": x + y, "parts": [x, y]},
        lambda x, y: [{}, {"b": {"x": x, 3: (x * y, {})}, "a": "text", -1: y}],
        lambda x, y: {True: x, 1.5: y, None: x + y, ("a", 2): 3},
        lambda x, y: dict.fromkeys(["b", "a"], x + y),
        lambda x, y: x,
        lambda x, y: (x, y, x),
        lambda x, y: x[1:],
        lambda x, y: (x + y).reshape((1, 3)),
        lambda x, y: ((x > y).sum(), x.shape),
        lambda x, y: float((x + y).sum()),
        lambda x, y: (int(x.sum()), bool((x > y).all())),
        lambda x, y: x if (x + y).sum() > 0 else (x, y),
        lambda x, y: 7,
    ],
)
def test_results_are_those_of_python(function):
    compiled = warmed(ms.jit(function), X, Y)
    assert is_native(compiled, X, Y)
    out = compiled(X, Y)
    assert bits(out) == bits(led_by_python(compiled, X, Y)) == bits(function(X, Y))


def test_results_are_new_objects_and_own_their_memory():
    compiled = warmed(ms.jit(lambda x: [x + 1.0, x * 1.0]), X)
    one, two = compiled(X), compiled(X)
    assert one is not two and one[0] is not two[0]
    kept = bits(two)
    one[0].add_(5.0)
    one[1].add_(5.0)
    assert bits(two) == kept and X.asnumpy().tolist() == [1.0, -2.0, 3.0]


def test_dicts_are_new_and_in_order_and_made_without_python():
    compiled = warmed(ms.jit(lambda x, y: {"loss": x + y, "a": {"x": x}, 7: float(y.sum())}), X, Y)
    (native,) = compiled._own.native
    assert native.plan.paths[0].finish is None
    one, two = compiled(X, Y), compiled(X, Y)
    assert list(one) == list(two) == ["loss", "a", 7] and one is not two and one["a"] is not two["a"]
    assert one["a"]["x"] is X and type(one[7]) is float and type(one) is dict
    one.clear()
    assert list(compiled(X, Y)) == ["loss", "a", 7]
    twice = warmed(ms.jit(lambda x: [d := {"x": x * 2}, d]), X)
    first, second = twice(X)
    assert first is second


def test_what_goes_through_is_the_same_object():
    compiled = warmed(ms.jit(lambda x, y: (x, [y, x])), X, Y)
    a, (b, c) = compiled(X, Y)
    assert a is X and b is Y and c is X


# -- when guards fail --------------------------------------------------------------------------------------------------


def test_other_dtypes_shapes_and_layouts():
    function = warmed(ms.jit(scaled), X)
    matrix = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    for x in (Tensor(np.ones(3, np.float64)), f32(1.0), matrix, matrix.T, matrix[:, ::2], Tensor(np.float32(2.0))):
        for _ in range(4):
            assert bits(function(x)) == bits(scaled(x))


def test_numbers_specialise_then_become_inputs():
    function = ms.jit(scaled)
    for k in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0):
        assert bits(function(X, k)) == bits(scaled(X, k))
    assert is_native(function, X, 7.0)
    for k in (8, True, float("nan"), 1 << 80):
        assert bits(function(X, k)) == bits(scaled(X, k))


def test_two_versions_are_both_native():
    function = ms.jit(scaled)
    small, large = X, Tensor(np.ones((4, 4), np.float32))
    for _ in range(4):
        function(small), function(large)
    assert is_native(function, small) and is_native(function, large) and is_native(function, small)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1.0,
        lambda x: (x.reshape((-1,)), x.sum(0), ops.concat((x, x))),
        lambda x: ops.matmul(x, x.T).exp().sum(1),
        lambda x: [x[1:] * 2.0, x.shape[0]],
    ],
)
def test_one_version_for_many_sizes(function):
    compiled = ms.jit(function, dynamic=1)
    for n in (2, 3, 4, 5):
        compiled(Tensor(np.ones((n, 3), np.float32)))
    for n in (7, 300, 1, 2, 1000):
        x = Tensor(np.linspace(0, 1, 3 * n, dtype=np.float32).reshape(n, 3))
        assert is_native(compiled, x) or n == 1
        assert bits(compiled(x)) == bits(led_by_python(compiled, x)) == bits(function(x))
    empty = Tensor(np.ones((0, 3), np.float32))
    assert bits(compiled(empty)) == bits(function(empty))


def test_sizes_that_have_to_agree():
    compiled = ms.jit(lambda x, y: x + y, dynamic=1)
    vectors = {n: Tensor(np.arange(n, dtype=np.float32)) for n in (1, 2, 3, 4, 5, 6)}
    for n in (2, 3, 4, 5):
        compiled(vectors[n], vectors[n])
    assert is_native(compiled, vectors[6], vectors[6])
    for _ in range(3):
        assert bits(compiled(vectors[4], vectors[1])) == bits(vectors[4] + vectors[1])
        with pytest.raises(ValueError, match="broadcast"):
            compiled(vectors[3], vectors[2])


GLOBAL = 2.0


def test_globals_closures_attributes_and_defaults():
    global GLOBAL
    held = [1.0]
    step = 1.0

    def function(x, k=3.0):
        return x * GLOBAL + held[0] * step + k

    compiled = warmed(ms.jit(function), X)
    assert is_native(compiled, X)
    try:
        GLOBAL = 5.0
        assert bits(compiled(X)) == bits(function(X))
    finally:
        GLOBAL = 2.0
    held[0] = 7.0
    assert bits(compiled(X)) == bits(function(X))
    step = 0.5
    assert bits(compiled(X)) == bits(function(X))
    function.__defaults__ = (11.0,)
    assert bits(compiled(X)) == bits(function(X))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 3)
        self.scale = 2.0

    def construct(self, x):
        return self.dense(x) * self.scale


def test_changes_of_a_network_are_seen():
    net = Net()
    x = f32(1.0, 2.0, 3.0).reshape((1, 3))
    compiled = warmed(ms.jit(net), x)
    assert is_native(compiled, x)

    def check():
        for _ in range(3):
            assert bits(compiled(x)) == bits(net(x))

    net.scale = 3.0
    check()
    net.dense.weight.set_data(Tensor(np.full((3, 3), 0.5, np.float32)))
    check()
    net.dense.weight = Parameter(Tensor(np.full((3, 3), 0.25, np.float32)), name="w")
    check()
    net.dense.weight.requires_grad = False
    check()
    net.dense = nn.Dense(3, 3)
    check()
    handle = net.dense.register_forward_hook(lambda cell, args, out: out + 1.0)
    check()
    handle.remove()
    check()
    net.set_train()
    check()
    net.dense.weight.set_data(Tensor(np.ones((4, 3), np.float32)))
    net.dense.bias.set_data(Tensor(np.ones(4, np.float32)))
    check()


def test_a_class_that_changes_is_seen():
    class Shifted:
        amount = 1.0

        def of(self, x):
            return x + self.amount

    shifted = Shifted()
    compiled = warmed(ms.jit(lambda x: shifted.of(x)), X)
    Shifted.amount = 2.0
    assert bits(compiled(X)) == bits(X + 2.0)
    Shifted.of = lambda self, x: x - self.amount
    assert bits(compiled(X)) == bits(X - 2.0)


# -- when Python takes over --------------------------------------------------------------------------------------------


def test_settings_are_honoured():
    compiled = warmed(ms.jit(scaled), X)
    assert is_native(compiled, X)
    with configure(jit=False):
        assert not is_native(compiled, X)
    with configure(kernels="reference"):
        assert not is_native(compiled, X)
    assert is_native(compiled, X)
    assert not is_native(warmed(ms.jit(scaled, backend="interpreter"), X), X)


def test_a_setting_of_the_process_makes_new_native_calls():
    compiled = warmed(ms.jit(scaled), X)
    ms.set_context(save_graphs_path="elsewhere")
    try:
        assert not is_native(compiled, X)
        assert is_native(compiled, X)
    finally:
        ms.set_context(save_graphs_path=".")


def test_rules_that_changed_make_versions_invalid():
    compiled = warmed(ms.jit(scaled), X)
    rules_version[0] += 1
    assert not is_native(compiled, X)
    assert len(compiled.explain().versions) == 2


def test_inside_a_capture_and_under_a_tape():
    compiled = warmed(ms.jit(lambda x: (x * x).sum()), X)
    before = native_hits(compiled)
    assert bits(ms.grad(compiled)(X)) == bits(X * 2.0)
    outer = ms.jit(lambda x: compiled(x) + 1.0)
    assert bits(outer(X)) == bits((X * X).sum() + 1.0)
    assert native_hits(compiled) == before
    assert is_native(compiled, X)


def test_a_function_that_first_ran_for_a_gradient():
    compiled = ms.jit(lambda x: (x * x).sum())
    for _ in range(3):
        ms.grad(compiled)(X)
    assert is_native(warmed(compiled, X), X)


def test_signatures_are_checked_by_python():
    compiled = ms.jit(lambda x: x + 1.0, input_signature=(X,))
    warmed(compiled, X)
    with pytest.raises(ValueError, match="signature"):
        compiled(f32(1.0))


def test_errors_of_the_program_come_from_the_users_line():
    def function(x, i):
        return x[i]

    index = Tensor(np.array([0, 2], np.int64))
    compiled = warmed(ms.jit(function), X, index)
    assert is_native(compiled, X, index)
    with pytest.raises(IndexError) as caught:
        compiled(X, Tensor(np.array([0, 7], np.int64)))
    with pytest.raises(IndexError) as expected:
        function(X, Tensor(np.array([0, 7], np.int64)))
    assert str(caught.value) == str(expected.value)
    assert is_native(compiled, X, index)


def test_a_program_that_raises_is_left_to_python():
    def function(x):
        if x.sum() > 100:
            raise ValueError("too much")
        return x + 1.0

    compiled = warmed(ms.jit(function), X)
    assert is_native(compiled, X)
    hits = native_hits(compiled)
    with pytest.raises(ValueError, match="too much") as caught:
        compiled(f32(50.0, 50.0, 50.0))
    assert caught.traceback[-1].name == "function"
    assert native_hits(compiled) == hits
    assert bits(compiled(X)) == bits(X + 1.0)


def test_the_generator_advances_as_eager_does():
    def function(x):
        return ops.dropout(x, 0.5), ops.standard_normal((2,))

    compiled = warmed(ms.jit(function), X)
    ms.set_seed(7)
    ms.manual_seed(7)
    found = [bits(compiled(X)) for _ in range(3)]
    assert is_native(compiled, X)
    ms.manual_seed(7)
    assert found == [bits(function(X)) for _ in range(3)]


def test_a_jitted_function_that_calls_itself_through_python():
    seen = []

    def function(x, depth):
        return x + depth

    compiled = ms.jit(function)

    class Callback(float):
        def __eq__(self, other):
            seen.append(bits(compiled(X, 1.0)))
            return float(self) == other

        __hash__ = float.__hash__

    warmed(compiled, X, 1.0)
    assert bits(compiled(X, Callback(1.0))) == bits(X + 1.0)
    assert all(s == bits(X + 1.0) for s in seen)


# -- references and memory ---------------------------------------------------------------------------------------------


def test_references_are_given_back():
    shared = [X, Y]
    compiled = warmed(ms.jit(lambda x, y, *rest, **_: (x + y, [x, {"k": rest[0]}], "constant")), X, Y, *shared)
    plain = warmed(ms.jit(lambda x, k=1.0: (x, x * k)), X)
    warmed(plain, X, k=1.0)
    watched = [X, Y, X._data, Y._data, shared, compiled, plain]
    gc.collect()
    gc.disable()  # what earlier tests have left may know X and Y
    try:
        before = [sys.getrefcount(o) for o in watched]
        for _ in range(100):
            compiled(X, Y, *shared)
            plain(X)
            plain(X, k=1.0)
        assert [sys.getrefcount(o) for o in watched] == before
    finally:
        gc.enable()


def native_calls():
    compiled = warmed(ms.jit(lambda x, y: (x + y, {"z": x * y})), X, Y)
    objects, held = [], []

    def work():
        for _ in range(20_000):
            compiled(X, Y)
        gc.collect()
        objects.append(len(gc.get_objects()))
        held.append(ms.runtime.memory_allocated())
        assert objects[1:] == sorted(
            objects[1:], reverse=True
        )  # the collector gives up tuples of numbers, now and then
        assert len({*held}) == 1

    return work


def test_memory_is_flat():
    """Also the number of objects, and the memory of tensors."""
    assert growth(native_calls) < 20_000  # not a byte for a call


def test_memory_can_be_taken_away():
    from duograph.runtime.programs.executable import release_memory

    compiled = warmed(ms.jit(lambda x, y: ops.matmul(x.reshape((3, 1)), y.reshape((1, 3))).exp().sum(0)), X, Y)
    expected = bits(compiled(X, Y))
    release_memory()
    assert bits(compiled(X, Y)) == expected
    assert is_native(warmed(compiled, X, Y), X, Y)


# -- the launcher ------------------------------------------------------------------------------------------------------


def test_a_launcher_that_is_made_anew_serves_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one more method its code lies elsewhere: calls do not stay with the one that is off."""
    was_on = launcher._engine is not None
    with launching() as engine:
        assert is_native(warmed(ms.jit(lambda x: x * 2), f32(3)), f32(3))
    launcher.deactivate()
    monkeypatch.setattr(launcher, "_methods", [*launcher._methods, (Tensor, "sin", Tensor.sin, False)])
    try:
        with launching() as another:
            assert another.loaded.block != engine.loaded.block
            assert is_native(warmed(ms.jit(lambda x: x * 2), f32(3)), f32(3))
    finally:
        launcher.deactivate()
        monkeypatch.undo()
        if was_on:
            launcher.activate()


def test_guards_are_translated_once(monkeypatch):
    """The native call goes on with the program of the check that comes before it."""
    made, translated = [], native_guards.translated
    monkeypatch.setattr(native_guards, "translated", lambda *args: made.append(args) or translated(*args))
    settings = SimpleNamespace(gain=2.0)
    f = ms.jit(lambda x: x * settings.gain + x.mean())
    x = Tensor([1.0, 2.0])
    expected = (x * 2.0 + x.mean()).tolist()
    assert f(x).tolist() == expected
    made.clear()  # tests check each version with the call that has made it
    assert [f(x).tolist() for _ in range(4)] == [expected] * 4 and len(made) == 1
    settings.gain = 3.0
    assert f(x).tolist() == (x * 3.0 + x.mean()).tolist()
