"""Containers from outside that are written: nothing is assumed of what is not read, and everything of what is.

Each case makes a state, and a function that is called with it many times, in eager mode and compiled. After each call
the results and the states must be equal. `CASES` never recompile because of what has been written; `READ` read it
besides, somehow, and have to notice.
"""

import collections
import copy
import functools
import json
import operator
import threading
import types

import pytest

import duograph as ms
from duograph import Tensor, nn, ops

CALLS = 14
CASES, READ = [], []


def case(make):
    CASES.append(pytest.param(make, id=make.__name__))
    return make


def read(make):
    READ.append(pytest.param(make, id=make.__name__))
    return make


def plain(value):
    """``value`` as something that can be compared."""
    if isinstance(value, Tensor):
        return ("tensor", str(value.dtype), value.asnumpy().tolist())
    if isinstance(value, dict):
        return (type(value).__name__, [(plain(k), plain(v)) for k, v in value.items()])
    if isinstance(value, list | tuple | collections.deque):
        return (type(value).__name__, [plain(v) for v in value])
    if isinstance(value, set):
        return ("set", list(value))
    if hasattr(value, "__dict__") and not callable(value):
        return (type(value).__name__, plain({k: v for k, v in vars(value).items() if not k.startswith("_")}))
    return (type(value).__name__, value) if not callable(value) else "function"


def outcomes(make, compiled):
    """What each call gives, and leaves behind."""
    fn, state = make()
    function = ms.jit(fn) if compiled else fn
    found = []
    for k in range(CALLS):
        x = Tensor([k - 4.0, 2.0])
        try:
            given = function(x, k, state) if fn.__code__.co_argcount == 3 else function(x, k)
        except Exception as error:  # noqa: BLE001 - compared
            given = (type(error).__name__, str(error))
        found.append((plain(given), plain(state)))
    return found, function


@pytest.mark.parametrize("make", CASES)
def test_what_is_only_written_is_the_same_program_each_time(make):
    expected, _ = outcomes(make, compiled=False)
    got, function = outcomes(make, compiled=True)
    assert got == expected
    explanation = function.explain()
    assert not explanation.fallbacks
    assert len(explanation.versions) <= 3, explanation.recompiles  # a number that varies is learned by a version


@pytest.mark.parametrize("make", READ)
def test_what_is_read_as_well_is_noticed(make):
    expected, _ = outcomes(make, compiled=False)
    got, _ = outcomes(make, compiled=True)
    assert got == expected


def test_a_log_of_all_details_keeps_no_object_alive(caplog):
    """The records of a log outlive a call; finalizers run in their place nevertheless."""
    expected, _ = outcomes(pushed_out, compiled=False)
    with caplog.at_level("DEBUG", "duograph"):
        got, _ = outcomes(pushed_out, compiled=True)
    kept = [argument for record in caplog.records for argument in record.args or ()]
    assert got == expected and kept and all(type(argument) is str for argument in kept)


# ---- written only ---------------------------------------------------------------------------------------------------


@case
def closure_list():
    losses = []

    def f(x, n):
        losses.append(x.sum())
        losses.extend([x, n])
        losses.insert(0, {"n": n, "x": [x]})
        return x * 2

    return f, losses


@case
def argument():
    def f(x, n, state):
        state.append(x * n)
        state += [n]
        return x

    return f, [1, 2]


@case
def attribute_of_an_object():
    o = types.SimpleNamespace(history=[], log=collections.deque(maxlen=3), seen={-1})

    def f(x, n):
        o.history.append(float(x.sum()))
        o.log.appendleft(n)
        o.log.extend((x, n))
        o.seen.add(n)
        o.seen.discard(n - 2)
        o.history += [n]
        return x

    return f, o


@case
def lists_in_a_dictionary():
    history = {"loss": [], "epochs": [1], "other": [[1]]}

    def f(x, n, state):
        state["loss"].append(x.sum())
        state["epochs"].append(n)
        return x

    return f, history


@case
def method_of_a_cell():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.history = []
            self.stats = {"seen": []}

        def construct(self, x):
            self.history.append(x.sum())
            self.stats["seen"].append(1)
            return ops.relu(x)

    net = Net()
    state = (net.history, net.stats)
    return (lambda x, n: net(x)), state


@case
def cache():
    cache = collections.OrderedDict(old=1)
    found = {}

    def f(x, n):
        cache[n] = x
        found["last"] = x
        found["same"] = n
        found.update(a=x, b=n)
        found["same"] = n + 1
        return x

    return f, (cache, found)


@case
def best_so_far():
    state = {"best": 1e9}
    losses = []

    def f(x, n):
        v = (x * x).sum().item()
        if v < state["best"]:
            state["best"] = v
        losses.append(v)
        return v

    return f, (state, losses)


@case
def on_one_path_only():
    log = []

    def f(x, n):
        if x.sum() > 0:
            log.append("positive")
            log.append(x)
        else:
            log.append(x * 2)
        log.append("end")
        return x

    return f, log


@case
def compared_with_none():
    o = types.SimpleNamespace(log=[])

    def f(x, n):
        if o.log is not None:
            o.log.append(n)
        return x

    return f, o


@case
def in_a_loop_and_a_function_inside():
    log = []

    def f(x, n):
        def note(v):
            log.append(v)

        for i in range(3):
            note(x * i)
        return [note(v) for v in (x, x + 1)]

    return f, log


@case
def half_way():
    log = []

    def f(x, n):
        log.append(n)
        if x.sum() > 0:
            raise ValueError("stop")
        log.append(x)
        return x

    return f, log


@case
def two_that_are_different():
    a, b = [], []

    def f(x, n):
        a.append(n)
        b.append(x)
        a.append(x)
        return x

    return f, (a, b)


@case
def in_a_loop_that_a_tensor_ends():
    found = {"last": 0.5}

    def f(x, n):
        count = x.sum() * 0
        while count < 3:
            count = count + 1
            found["last"] = x * count
        return count

    return f, found


# ---- read, too ------------------------------------------------------------------------------------------------------


def reader(name, use, make=list):
    """A case that appends to ``state``, and then looks at it in its own way."""

    def case():
        o = types.SimpleNamespace(log=make(), more={"log": []})
        o.more["log"].append(0)

        def f(x, n):
            o.log.append(n)
            o.more["log"].append(n)
            return use(o, x)

        return f, o

    case.__name__ = name
    READ.append(pytest.param(case, id=name))


def inner(*args, **kwargs):
    return len(args[0]), kwargs["k"][-1]


def local_names(o, x):
    log = o.log
    return len(locals()["log"])


def default(o, x):
    def g(held=o.log):
        return held[-1]

    return g()


reader("length", lambda o, x: len(o.log))
reader("index", lambda o, x: (o.log[0], o.log[-1], o.more["log"][1]))
reader("slice", lambda o, x: o.log[-2:])
reader("sum", lambda o, x: sum(o.log) + max(o.more["log"]))
reader("truth", lambda o, x: 1 if o.log else 2)
reader("membership", lambda o, x: (3 in o.log, "log" in o.more))
reader("comparison", lambda o, x: (o.log == o.more["log"], o.log < [0, 1, 3]))
reader("iteration", lambda o, x: [v * 2 for v in o.log])
reader("star", lambda o, x: (*o.log, inner(o.log, k=o.more["log"])))
reader("text", lambda o, x: f"{o.log} {o.more}" + str(o.log) + repr(o.more))
reader("json", lambda o, x: json.dumps(o.more))
reader("sorted", lambda o, x: sorted(o.log, reverse=True))
reader("copy", lambda o, x: (o.log.copy(), copy.copy(o.log), list(o.log), o.log + [1], o.log * 2))
reader("deep copy", lambda o, x: copy.deepcopy(o.more))
reader("getattr", lambda o, x: (len(o.log), len(operator.attrgetter("log")(o))))
reader("map", lambda o, x: list(map(len, [o.log, o.more["log"]])))
reader("partial", lambda o, x: functools.partial(len, o.log)())
reader("values", lambda o, x: [len(v) for v in o.more.values()] + list(o.more.items()))
reader("given back", lambda o, x: (o.log, o.more))
reader("locals", local_names)
reader("default", default)
reader("count", lambda o, x: (o.log.count(1), o.log.index(0)))
reader("pop", lambda o, x: o.log.pop(0))
reader("last", lambda o, x: o.log.pop() + o.more["log"].pop())
reader("cleared", lambda o, x: o.log.clear() if len(o.log) > 3 else None)
reader("deleted", lambda o, x: operator.delitem(o.log, 0))
reader("assigned", lambda o, x: operator.setitem(o.log, 0, x))
reader("reversed", lambda o, x: (o.log.reverse(), list(reversed(o.log))))
reader("get", lambda o, x: o.more.get("log").append(5))
reader("setdefault", lambda o, x: o.more.setdefault("log", []).append(5))
reader("extended by itself", lambda o, x: o.log.extend(o.log[-1:]))
reader("holding itself", lambda o, x: len(o.log) + len(vars(o)))
reader("deque", lambda o, x: o.log[0], make=functools.partial(collections.deque, maxlen=2))


@read
def two_names():
    a = []
    o = types.SimpleNamespace(log=a)

    def f(x, n):
        a.append(n)
        o.log.append(x)
        a.append(n)
        return len(a)

    return f, a


@read
def one_name_more_later():
    a, b = [], []
    o = types.SimpleNamespace(log=b, n=0)

    def f(x, n):
        a.append(n)
        o.log.append(x)
        a.append(1)
        return x

    def g(x, n):
        if n == 7:
            o.log = a
        return compiled(x, n)

    compiled = ms.jit(f)
    return g, (a, b)


@read
def another_kind_later():
    o = types.SimpleNamespace(log=[])

    class Own(list):
        def append(self, value):
            super().append((value, "own"))

    def f(x, n):
        o.log.append(n)
        return x

    compiled = ms.jit(f)

    def g(x, n):
        if n == 5:
            o.log = Own()
        if n == 9:
            o.log = collections.deque([1], 2)
        return compiled(x, n)

    return g, o


@read
def pushed_out():
    """Finalizers run in their place."""
    told = []

    class Told:
        def __del__(self):
            told.append("gone")

    last = collections.deque(maxlen=2)
    found = {}

    def f(x, n):
        told.append(n)
        last.append(x)
        found["x"] = x
        found[n] = x
        told.append("end")
        return x

    compiled = ms.jit(f)

    def g(x, n):
        if n in (3, 8):
            found["x"] = Told()
            last.append(Told())
            found[n] = Told()
        return compiled(x, n)

    return g, (told,)


@read
def a_key_that_is_read():
    cache = {}

    def f(x, n):
        k = n % 4
        if k not in cache:
            cache[k] = x
        return cache[k]

    return f, cache


@read
def bounded():
    log = []

    def f(x, n):
        log.append(n)
        if len(log) > 3:
            log.pop(0)
        return x

    return f, log


@read
def many_that_are_read():
    buffers = {str(i): [i] for i in range(40)}

    def f(x, n):
        for i in range(40):
            buffers[str(i)].append(n)
        return [buffers[str(i)][-1] for i in range(40)]

    return f, buffers


@case
def the_last_that_was_appended():
    losses, latest = [], collections.deque(maxlen=1)

    def f(x, n):
        losses.append(float(x.sum()))
        losses.extend([n, x])
        latest.append(x * 2)
        return losses[-3] * 2, losses[-2], losses[-1] is x, latest[-1]

    return f, [losses, latest]


@case
def the_last_on_two_paths():
    signs = []

    def f(x, n):
        signs.append([n])
        signs[-1].append(x)
        if x.sum() > 0:
            signs.append("positive")
        else:
            signs.append("negative")
        return signs[-1]

    return f, signs


@read
def more_than_was_appended():
    losses, none = [], collections.deque(maxlen=0)

    def f(x, n):
        losses.append(x * n)
        none.append(x)
        return losses[-2] if len(none) else none[-1]

    return f, [losses, none]


def test_thousand_calls_are_one_version():
    losses = []

    @ms.jit
    def step(x):
        losses.append((x * x).sum())
        return x

    for k in range(1000):
        step(Tensor([float(k)]))
    assert [v.item() for v in losses] == [float(k) ** 2 for k in range(1000)]
    assert len(step.explain().versions) == 1
    assert not step.explain().recompiles


def test_what_others_append_meanwhile_stays():
    log = []

    @ms.jit
    def step(x):
        log.append(x)
        return x

    threads = [threading.Thread(target=lambda: [step(Tensor([1.0])) for _ in range(200)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        log.append(None)
    for thread in threads:
        thread.join()
    assert len(log) == 800


def test_a_restarted_capture_knows_what_varies():
    """What an attempt lets go of when it ends is not what the next one starts with."""
    log = []

    @ms.jit
    def f(x, n, held):
        held.append(n)
        return x

    for n in range(8):
        f(Tensor([1.0]), n, log)
    assert log == list(range(8))
    assert len(f.explain().versions) == 2
