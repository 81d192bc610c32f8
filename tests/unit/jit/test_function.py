"""`JitFunction`: versions and where they live, recompilation, fallbacks, copies, threads, gradients."""

from __future__ import annotations

import concurrent.futures
import copy
import gc
import inspect
import pickle
import sys
import threading
import time
import weakref
from types import SimpleNamespace

import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from duograph.frontend.guards.guard import RENEWALS, Guard
from duograph.frontend.programs.program import RunPlainly
from duograph.jit import entries
from duograph.jit.bound import BoundJit
from duograph.jit.entry import Entry, RunFailed
from duograph.jit.misses import RENEWED
from duograph.jit.policy import STALE

X = Tensor([1.0, 2.0])


def double(x, k=2):
    """Twice."""
    return x * k


compiled_double = ms.jit(double)


@ms.jit
def tripled(x):
    return x * 3


class Scale:
    def __init__(self, k):
        self.k = k

    @ms.jit
    def apply(self, x):
        return x * self.k


class Net(nn.Cell):
    def __init__(self, k=3.0):
        super().__init__()
        self.w = Parameter(Tensor([k]), name="w")

    @ms.jit
    def construct(self, x):
        return x * self.w


class PlainNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([3.0]), name="w")

    def construct(self, x):
        return (x * self.w * self.w).sum()


# -- versions ----------------------------------------------------------------------------------------------------------


def test_one_version_per_type_of_arguments():
    f = ms.jit(double)
    for _ in range(3):
        for x in (X, Tensor([1, 2]), Tensor([[1.0]])):
            assert f(x).tolist() == double(x).tolist()
    assert f.stats["versions"] == 3 and f.stats["hits"] == 9 and f.stats["fallbacks"] == 0


def test_methods_have_versions_per_instance():
    one, two = Scale(2), Scale(5)
    assert one.apply(X).tolist() == [2.0, 4.0] and two.apply(X).tolist() == [5.0, 10.0]
    for scale in (one, two):
        assert len(scale.apply.explain().versions) == 1
    assert len(Scale.apply.explain().versions) == 2, "asked of the class: those of all instances"


def test_versions_die_with_the_instance():
    net, scale = Net(), Scale(4)
    net(X)
    scale.apply(X)
    refs = [weakref.ref(net), weakref.ref(scale), weakref.ref(net.w)]
    del net, scale
    gc.collect()
    assert [r() for r in refs] == [None, None, None]


def test_versions_of_graph_mode_die_with_the_cell():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net = PlainNet()
        net(X)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    ref = weakref.ref(net)
    del net
    gc.collect()
    assert ref() is None


def test_arguments_are_not_kept():
    f = ms.jit(lambda x: x * 2)
    x = Tensor([1.0])
    f(x)
    ref = weakref.ref(x)
    del x
    gc.collect()
    assert ref() is None


def test_numbers_become_inputs_at_the_second_value():
    f = ms.jit(lambda x, n: x * n + n)
    for n in range(10):
        assert f(X, n).tolist() == [n + n, 2.0 * n + n]
    assert len(f.explain().versions) == 2
    assert f.explain().recompiles == ["n was 0, is 1"]


@pytest.mark.parametrize("held", [list, lambda numbers: {"rewards": numbers}, lambda numbers: Returns(numbers)])
def test_numbers_of_kinds_of_calls_that_take_turns_become_inputs(held):
    """The latest version is always one of the other length: what differs from those of this length counts."""

    def f(x, episode):
        found = getattr(episode, "rewards", episode)
        return sum(x * reward for reward in (found["rewards"] if isinstance(found, dict) else found))

    compiled, x = ms.jit(f), Tensor([1.0, 2.0])
    for k in range(24):
        numbers = [k * 0.25 + i for i in range(2 + 3 * (k % 2))]
        assert compiled(x, held(numbers)).tolist() == f(x, held(numbers)).tolist()
    assert len(compiled.explain().versions) == 4  # of each length the first, and one for all numbers


class Returns:
    def __init__(self, rewards):
        self.rewards = rewards


def test_numbers_that_shapes_depend_on_stay_constants():
    f = ms.jit(lambda n: ops.ones((n,)) + [n][0])
    for n in (1, 2, 3, 1):
        assert f(n).tolist() == [1.0 + n] * n


def test_the_log_tells_why():
    f = ms.jit(lambda x, flag, items: x if flag else sum(items, x))
    f(X, True, [1])
    f(X, False, [1])
    f(Tensor([1.0]), False, [1])
    f(Tensor([1.0]), False, [1, 2])
    log = f.explain().recompiles
    assert log[0] == "flag was True, is False"
    assert log[1] == "x was Tensor float32[2], is Tensor float32[1]"
    assert log[2] == "length of items was 1, is 2"


class Settings:
    def __init__(self):
        self.gain = 2.0


def test_a_dictionary_that_is_replaced_by_an_equal_one_needs_no_version():
    """Each guard holds; native checks know the dictionary, and are made anew."""
    settings = Settings()
    f = ms.jit(lambda x: x * settings.gain + x.mean())
    for replaces in (False, False, False, True, False, False):
        if replaces:
            settings.__dict__ = {"gain": 2.0}
        assert f(X).tolist() == (X * 2.0 + X.mean()).tolist()
    (version,) = f.explain().versions
    assert (version["hits"], version["native_calls"]) == (6, 2)  # of the new native call
    assert f.explain().recompiles == [RENEWED]
    settings.gain = 3.0
    f(X)
    assert "gain was 2.0, is 3.0" in f.explain().recompiles[1]


def test_dictionaries_that_are_replaced_all_the_time_are_looked_into_by_python():
    settings, f = Settings(), ms.jit(lambda x: x * settings.gain + x.mean())
    for _ in range(20):
        settings.__dict__ = {"gain": 2.0}
        assert f(X).tolist() == (X * 2.0 + X.mean()).tolist()
    (version,) = f.explain().versions
    assert version["hits"] == 20 and len(f.explain().recompiles) == RENEWALS + 1


# -- what cannot be captured -------------------------------------------------------------------------------------------


def uses_numpy(x):
    y = x + 1
    return Tensor(y.asnumpy() * 2)


def test_numbers_that_python_does_not_write_are_told_without_their_digits():
    compiled = ms.jit(lambda x, n: x if n > 1 else -x)
    for n in (10**5000, 2, 10**5000 + 1):
        compiled(ms.Tensor([1.0]), n)
    assert "very large int" in str(compiled.explain())


def test_fallbacks_are_recorded_with_the_line():
    f = ms.jit(uses_numpy)
    for _ in range(3):
        assert f(X).tolist() == [4.0, 6.0]
    (fallback,) = f.explain().fallbacks
    assert "asnumpy" in fallback.reason and fallback.hits == 3
    assert fallback.span.line == inspect.getsourcelines(uses_numpy)[1] + 2
    assert "return Tensor(y.asnumpy() * 2)" in fallback.rendered and "^" in fallback.rendered


def uses_numpy_in_step(x, i):
    return float(x.asnumpy().sum()) + i


def test_attempts_that_go_on_failing_become_rare():
    f = ms.jit(uses_numpy_in_step)
    for i in range(100):  # other arguments each time: each might be the first that can be compiled
        assert f(X, i) == 3.0 + i
    explanation = f.explain()
    assert len(explanation.fallbacks) == 10  # five in a row, then after 1, 3, 7, 15 and 31 calls
    assert explanation.unattempted == 90 and "90 calls with new arguments ran as plain Python" in str(explanation)


def test_versions_that_no_later_call_uses_become_rare():
    f = ms.jit(lambda x, name: (x * 2, name.upper()))
    for i in range(100):
        assert f(X, f"call {i}")[1] == f"CALL {i}"
    assert f.stats["versions"] == 14 and f.explain().unattempted == 86


class Norm(nn.Cell):
    """A layer that initialises itself from its first input."""

    inited = False

    def __init__(self):
        super().__init__()
        self.scale = Parameter(Tensor([1.0, 1.0]), name="scale")

    def construct(self, x):
        if not self.inited:
            self.scale.set_data(Tensor(1 / x.asnumpy()))
            self.inited = True
        return x * self.scale


DEBUG = True


def debugged(x, settings):
    if DEBUG or settings["debug"]:
        assert x.asnumpy().sum() > 0
    return x * 2


def test_a_refusal_holds_while_what_led_to_it_does():
    norm = Norm()
    f = ms.jit(lambda x: next(map(norm, [x])))  # which is plain Python as a whole
    for _ in range(20):
        assert f(X).tolist() == [1.0, 1.0]
    assert len(f.explain().fallbacks) == 1 and f.stats["hits"] >= 18


def test_a_flag_that_is_switched_off_ends_a_refusal(monkeypatch):
    f, settings = ms.jit(debugged), {"debug": True}
    for _ in range(100):
        f(X, settings)
    assert f.stats["versions"] == 0
    settings["debug"] = False
    for _ in range(50):
        f(X, settings)
    assert f.stats["versions"] == 0
    monkeypatch.setattr(sys.modules[__name__], "DEBUG", False)
    for _ in range(50):
        f(X, settings)
    assert f.stats["versions"] == 1 and f.stats["hits"] > 10


def test_a_counter_that_a_refused_function_reads_does_not_make_it_try_for_ever():
    class Counter:
        n = 0

    counter = Counter()

    @ms.jit
    def f(x):
        counter.n += 1
        return x.asnumpy().sum() * counter.n

    for n in range(100):
        assert f(X) == 3 * (n + 1)
    assert len(f.explain().fallbacks) <= 10


def test_refusals_of_two_phases_are_both_remembered():
    class Phase:
        name = "train"

    phase = Phase()

    @ms.jit
    def f(x):
        return (x.asnumpy().sum(), phase.name) if phase.name == "train" else (x.asnumpy().max(), phase.name)

    for n in range(100):
        phase.name = "train" if n % 2 else "test"
        assert f(X) == ((3, "train") if n % 2 else (2, "test"))
    assert len(f.explain().fallbacks) <= 4  # two as a whole, and again when cutting has turned out to be no use


def test_a_refusal_runs_no_code_of_the_program():
    asked = []

    class Settings:
        @property
        def debug(self):
            asked.append("debug")
            return True

        def __getattr__(self, name):
            asked.append(name)
            return None

    settings = Settings()

    @ms.jit
    def f(x):
        return x.asnumpy() if settings.debug and not settings.other else x

    for _ in range(20):
        f(X)
    assert asked == ["debug", "other"] * 20


def test_a_miss_asks_each_version_once_and_no_guard_in_python(monkeypatch):
    """A version that was valid for one call only is checked as cheaply as others."""
    f = ms.jit(lambda x, name: (x * 2, name.upper()))
    for i in range(60):
        f(X, f"call {i}")
    asked = []
    matches, holds = Entry.matches, Guard.holds
    monkeypatch.setattr(Entry, "matches", lambda self, args: asked.append(self) or matches(self, args))
    monkeypatch.setattr(Guard, "holds", lambda self, args: asked.append(self) or holds(self, args))
    assert f(X, "another one")[1] == "ANOTHER ONE"
    assert f.stats["versions"] > 4 and len(asked) <= 1  # the first one, for which no native check has been made


def test_versions_that_are_never_used_again_are_dropped():
    f = ms.jit(lambda x, name: (x * 2, name.upper()))
    for _ in range(3):
        f(X, "used")
    for i in range(3 * STALE):
        assert f(X, f"call {i}")[1] == f"CALL {i}"
    assert f.stats["versions"] < 4  # those of the latest attempts, which have become rare
    hits = f.stats["hits"]
    assert f(X, "used")[1] == "USED"
    assert f.stats["hits"] == hits + 1


def test_a_version_that_missed_often_is_used_when_it_holds_again():
    kind = "a"

    @ms.jit
    def f(x):
        return x * {"a": 2, "b": 3, "c": 4}[kind]

    for name, factor in [("a", 2), *[("b", 3), ("c", 4)] * 6, ("a", 2), ("b", 3), ("a", 2)]:
        kind = name
        assert f(X).tolist() == (X * factor).tolist()
    assert f.stats["versions"] == 3


def test_a_version_that_is_used_while_another_is_added(monkeypatch):
    """Both threads replace the list of versions; what one has added must not be lost by the other."""
    store = entries.Entries()
    first, second, added = (SimpleNamespace(patterns=(), is_small=False, hits=0, names=(k,)) for k in "abc")
    for version in (first, second):
        store.add(version)
    real = entries.put_first

    def add() -> None:
        with store.lock:
            store.add(added)

    def put_first(entry, others):  # between reading the list and replacing it
        if entry is first:
            other.start()
            other.join(0.5)  # waits for the lock, if there is one
        return real(entry, others)

    other = threading.Thread(target=add)
    monkeypatch.setattr(entries, "put_first", put_first)
    store.note_use(first)
    other.join()
    assert store.compiled == [added, first, second]


def test_versions_that_later_calls_use_are_all_made():
    f = ms.jit(lambda x, name: (x * 2, name.upper()))
    for _ in range(5):
        for n in range(1, 31):
            assert f(X, f"call {n}")[1] == f"CALL {n}"
    assert f.stats["versions"] == 30


def test_what_can_be_compiled_is_found_among_what_cannot():
    @ms.jit
    def f(x, name):
        return x.asnumpy().sum() if name.startswith("numpy") else x.sum()

    for name in [f"numpy {i}" for i in range(6)] + ["ours"] * 5:
        assert f(X, name) == 3
    assert f.stats["versions"] == 1 and f.stats["hits"] > 0


def test_fallbacks_keep_nothing_of_the_call():
    x = Tensor([1.0, 2.0])
    alive = weakref.ref(x)
    f = ms.jit(lambda x: Tensor(x.asnumpy()))
    f(x)
    del x
    gc.collect()
    assert f.explain().fallbacks and alive() is None


def test_a_version_that_fails_where_python_does_not_is_retired(monkeypatch, answering):
    f = ms.jit(lambda x: x * 2)
    f(X)

    def fail(self, args):
        raise RunFailed from ValueError("a size is not known")

    monkeypatch.setattr(Entry, "run", fail)
    for _ in range(3):
        assert f(Tensor([2.0, 3.0])).tolist() == [4.0, 6.0]
    (fallback,) = f.explain().fallbacks
    assert fallback.reason == "the compiled version failed: ValueError: a size is not known" and fallback.hits == 2
    assert "please report it" in fallback.rendered and f.stats["versions"] == 0


def test_a_version_that_raises_where_python_does_not_is_retired(monkeypatch, answering):
    f = ms.jit(lambda x: x * 2)
    f(X)

    def mistaken(self, args):
        raise RunPlainly(TypeError("must be an int, but got Scalar"))

    monkeypatch.setattr(Entry, "run", mistaken)
    for _ in range(3):
        assert f(Tensor([2.0, 3.0])).tolist() == [4.0, 6.0]
    (fallback,) = f.explain().fallbacks
    assert fallback.reason == "the compiled version failed: TypeError: must be an int, but got Scalar"
    assert fallback.hits == 2 and f.stats["versions"] == 0


@pytest.mark.parametrize("options", [{"fullgraph": True}, {"jit_config": ms.JitConfig(jit_syntax_level="STRICT")}])
def test_strict_raises_with_line_and_caret(options):
    with pytest.raises(RuntimeError) as caught:
        ms.jit(uses_numpy, **options)(X)
    text = str(caught.value)
    assert "test_function.py" in text and "y.asnumpy()" in text and "^^^" in text and "DG0104" in text


def test_strict_from_the_context():
    ms.set_context(jit_syntax_level=ms.STRICT)
    try:
        with pytest.raises(RuntimeError, match="asnumpy"):
            ms.jit(uses_numpy)(X)
    finally:
        ms.set_context(jit_syntax_level=ms.LAX)


def test_strict_lets_the_programs_own_errors_through():
    f = ms.jit(lambda x: x + Tensor([1.0, 2.0, 3.0]), fullgraph=True)
    with pytest.raises(ValueError, match="broadcast"):
        f(X)


def test_errors_of_arguments_are_pythons():
    f = ms.jit(double)
    for args, kwargs in (((), {}), ((X, 1, 2), {}), ((X,), {"z": 1})):
        with pytest.raises(TypeError) as plain:
            double(*args, **kwargs)
        with pytest.raises(TypeError) as mine:
            f(*args, **kwargs)
        assert str(mine.value) == str(plain.value)


def test_errors_of_arguments_come_alone():
    """Not while another one is handled, which a traceback would show."""
    with pytest.raises(TypeError) as raised:
        ms.jit(lambda x: x)(1, 2)
    assert raised.value.__context__ is None


class Scaled(nn.Cell):
    def construct(self, x, /, scale=2, *rest, shift=0, **named):
        return x * scale, rest, shift, named


@pytest.mark.parametrize("make", [lambda: ms.jit(Scaled().construct), lambda: ms.jit(Scaled())], ids=["method", "cell"])
def test_arguments_by_keyword(make):
    compiled, plain, x = make(), Scaled(), ms.Tensor([1.0])
    for args, kwargs in (
        ((x,), {}), ((x, 3), {}), ((x,), {"shift": 1}), ((x,), {"scale": 3}), ((x, 3, 4), {}),
        ((x, 3, 4), {"shift": 2}), ((x,), {"y": 1, "shift": 5, "x": 7}), ((x,), {"shift": 1}),
    ):  # fmt: skip
        for _ in range(3):
            assert str(compiled(*args, **kwargs)) == str(plain(*args, **kwargs))


def test_arguments_by_keyword_after_some_that_are_left_out():
    def f(x, mask=None, causal=False, *, scale=1):
        return x * scale, mask, causal

    compiled, x = ms.jit(f), ms.Tensor([1.0])
    for kwargs in ({}, {"causal": True}, {"mask": 1, "causal": True}, {"causal": False}, {"scale": 2, "causal": 3}):
        for _ in range(3):
            assert compiled(x, **kwargs)[1:] == f(x, **kwargs)[1:]


def test_code_with_other_parameters():
    def f(x, n=2):
        return x * n

    compiled, before = ms.jit(f), f.__code__
    for code in (before, (lambda x, m=2: x - m).__code__, (lambda x, m, k=3: x - m - k).__code__, before):
        f.__code__ = code
        for args, kwargs in (((5,), {}), ((5, 4), {}), ((5,), {"n": 3}), ((5,), {"m": 3})):
            outcomes = []
            for call in (f, compiled):
                try:
                    outcomes.append(call(*args, **kwargs))
                except TypeError as error:
                    outcomes.append(str(error))
            assert outcomes[0] == outcomes[1]


def test_an_exception_leaves_the_function_usable():
    @ms.jit
    def f(x):
        if x.sum() > 0:
            raise KeyError("positive")
        return x

    for _ in range(2):
        with pytest.raises(KeyError, match="positive"):
            f(X)
        assert f(-X).tolist() == [-1.0, -2.0]
    assert len(f.explain().versions) == 1


# -- being an object ---------------------------------------------------------------------------------------------------


def test_it_looks_like_the_function():
    f = ms.jit(double)
    assert (f.__name__, f.__doc__, f.__wrapped__, f.__module__) == ("double", "Twice.", double, __name__)
    assert inspect.signature(f) == inspect.signature(double)
    assert "double" in repr(f)


def test_copies_and_pickles():
    f = compiled_double
    f(X)
    for twin in (copy.copy(f), copy.deepcopy(f)):
        assert twin(X).tolist() == [2.0, 4.0]
    net = Net(4.0)
    net(X)
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        twin.w.set_data(Tensor([10.0]))
        assert twin(X).tolist() == [10.0, 20.0] and net(X).tolist() == [4.0, 8.0]


def test_a_function_is_pickled_and_copied_as_without_the_decorator():
    """By its name, where a module or a class holds it; copies are the function itself."""
    for f in (tripled, Scale.apply):
        assert pickle.loads(pickle.dumps(f)) is f

    @ms.jit
    def local(x):
        return x

    assert copy.copy(local) is local and copy.deepcopy([local])[0] is local
    with pytest.raises((AttributeError, pickle.PicklingError), match="local"):
        pickle.dumps(local)
    of_object = ms.jit(Scale(2).apply.__func__.fn.__get__(Scale(2)))
    twin = copy.deepcopy(of_object)
    assert twin is not of_object and twin.fn.__self__ is not of_object.fn.__self__


def test_signatures_are_those_of_the_functions():
    class Made:
        @ms.jit
        def __init__(self, first, *, second=2):
            self.first = first

        @ms.jit
        def __call__(self, other, *rest):
            return other

    assert str(inspect.signature(Made)) == "(first, *, second=2)"
    assert str(inspect.signature(Made(1))) == str(inspect.signature(Made(1).__call__)) == "(other, *rest)"
    assert str(inspect.signature(Made.__call__)) == "(self, other, *rest)"


def test_cells_compiled_by_graph_mode_can_be_copied():
    net = PlainNet()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        first = net(X)
        twins = [copy.deepcopy(net), pickle.loads(pickle.dumps(net))]
        for twin in twins:
            twin.w.set_data(Tensor([1.0]))
            assert twin(X).tolist() == 3.0
        assert net(X).tolist() == first.tolist() == 27.0
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_bound_methods():
    scale, other = Scale(2), Scale(3)
    bound = scale.apply
    assert isinstance(bound, BoundJit) and bound.__self__ is scale and bound.__func__ is vars(Scale)["apply"]
    assert bound == scale.apply and bound != other.apply and hash(bound) == hash(scale.apply)
    assert bound.__name__ == "apply" and Scale.apply(scale, X).tolist() == [2.0, 4.0]
    assert list(map(bound, [X]))[0].tolist() == [2.0, 4.0]
    assert pickle.loads(pickle.dumps(bound))(X).tolist() == [2.0, 4.0]


def test_static_and_class_methods():
    class K:
        factor = 3

        @staticmethod
        @ms.jit
        def a(x):
            return x * 2

        @ms.jit
        @staticmethod
        def b(x):
            return x * 2

        @classmethod
        @ms.jit
        def c(cls, x):
            return x * cls.factor

    for f in (K.a, K().a, K.b, K().b):
        assert f(X).tolist() == [2.0, 4.0]
    assert K.c(X).tolist() == K().c(X).tolist() == [3.0, 6.0]


def test_inherited_methods_and_super():
    class Child(Scale):
        @ms.jit
        def apply(self, x):
            return super().apply(x) + 1

    assert Child(2).apply(X).tolist() == [3.0, 5.0]


def test_jit_of_jit_is_the_same():
    assert ms.jit(compiled_double) is compiled_double


def test_many_threads_call_one_function():
    @ms.jit
    def f(x, n):
        while x.sum() < 100:
            x = x * 2 + n
        return x

    def work(i):
        x = Tensor([1.0 + i % 7] * (1 + i % 3))
        return f(x, i % 4).tolist(), f.__wrapped__(x, i % 4).tolist()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for got, expected in pool.map(work, range(64)):
            assert got == expected


# -- gradients and modes -----------------------------------------------------------------------------------------------


def cube(x):
    if x.sum() > 0:
        return (x * x * x).sum()
    return (x * x).sum()


@pytest.mark.parametrize("x", [X, -X], ids=["positive", "negative"])
def test_gradients_through_a_compiled_function(x):
    compiled = ms.jit(cube)
    for order in (
        ms.grad,
        lambda f: ms.grad(lambda v: ms.grad(f)(v).sum()),
        lambda f: ms.grad(lambda v: ms.grad(lambda u: ms.grad(f)(u).sum())(v).sum()),
    ):
        expected = order(cube)(x).asnumpy().tobytes()
        assert order(compiled)(x).asnumpy().tobytes() == expected
        assert ms.jit(order(cube))(x).asnumpy().tobytes() == expected
        assert ms.jit(order(compiled))(x).asnumpy().tobytes() == expected


def test_gradients_of_weights_through_a_compiled_cell():
    net, plain = Net(3.0), PlainNet()
    for model in (net, ms.jit(plain)):
        source = net if model is net else plain
        loss = lambda x, m=model: m(x).sum()  # noqa: E731
        value, grads = ms.value_and_grad(loss, None, source.trainable_params())(X)
        expected = [3.0] if model is net else [2 * 3.0 * 3.0]
        assert grads[0].tolist() == expected and value.tolist() == (9.0 if model is net else 27.0)


def test_switching_modes_back_and_forth():
    net = PlainNet()
    seen = []
    try:
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE) * 3:
            ms.set_context(mode=mode)
            net.w.set_data(Tensor([float(len(seen) // 2)]))
            seen.append((net(X).tolist(), ms.grad(net)(X).tolist()))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert seen[0::2] == seen[1::2] and len({str(s) for s in seen}) == 3


def test_a_changed_rule_is_used_by_what_was_compiled():
    f = ms.jit(lambda x: x * 2)
    f(X)
    net = PlainNet()
    net.set_train(True)
    compiled = ms.jit(net)
    before = compiled(X).tolist()
    net.set_train(False)
    assert compiled(X).tolist() == before and len(compiled.explain().versions) >= 1


def test_compile_ahead():
    net = PlainNet()
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        net.compile(X)
        assert net(X).tolist() == 27.0
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize("hook", ["register_forward_pre_hook", "register_forward_hook"])
def test_hooks_of_cells_get_what_is_given_by_position(hook, is_cut):
    class Net(nn.Cell):
        def construct(self, x, m=1, *, z=0):
            y = ops.tanh(x) * 2 + ops.sin(x) * x.exp() * m + z
            if is_cut:
                time.sleep(0)
            return ops.cos(y) * y - y.exp()

    seen, net = [], Net()
    getattr(net, hook)(lambda cell, given, *out: seen.append(len(given)))
    run, x = ms.jit(net), Tensor([0.25, 1.0])
    for _ in range(100):
        for args, kwargs in (((x,), {}), ((), {"x": x}), ((x, 2), {}), ((x,), {"m": 2}), ((), {"x": x, "z": 1})):
            assert run(*args, **kwargs).tolist() == net(*args, **kwargs).tolist()
            assert seen == [len(args)] * 2
            seen.clear()


def test_attributes_of_a_function_are_those_of_its_compiled_form():
    def counted(x):
        counted.calls += 1
        return x * counted.scale

    counted.calls, counted.scale = 0, 2.0
    plain = counted
    counted = ms.jit(counted)
    assert [counted(X).tolist() for _ in range(3)] == [[2.0, 4.0]] * 3 and counted.calls == 3
    counted.scale = 5.0
    assert counted(X).tolist() == [5.0, 10.0]
    plain.later = 1
    assert counted.later == 1 and not hasattr(counted, "never")
