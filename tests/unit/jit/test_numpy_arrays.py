"""NumPy arrays as arguments, and from outside, are inputs: read when the call begins, guarded by dtype and shape."""

import pickle

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, ops

RNG = np.random.default_rng(7)
MODES = ("ast", "bytecode", "trace")


def array(*shape):
    return RNG.standard_normal(shape).astype("f4")


def bits(value):
    if isinstance(value, list | tuple):
        return [bits(v) for v in value]
    if isinstance(value, Tensor | np.ndarray):
        found = value.asnumpy() if isinstance(value, Tensor) else value
        return type(value), str(found.dtype), found.shape, found.tobytes()
    return value


WEIGHT = Tensor(array(8, 8))
TABLE = array(8)


def holder():
    class Holder:
        pass

    def keep(a):
        held.last, held.all = a, {"first": [a]}
        return Tensor(a) * 2

    held = Holder()
    return lambda a: (keep(a), held.last, held.all["first"])


def into_parameter():
    p = Parameter(Tensor(np.zeros(4, "f4")), name="p")

    def step(a):
        p.add_(Tensor(a))
        return p * 2

    return step


CASES = {
    "operand": (lambda: lambda a: ops.relu(Tensor(a) @ WEIGHT), [(array(4, 8),) for _ in range(4)], 1),
    "sizes": (lambda: lambda a: ops.relu(Tensor(a) @ WEIGHT), [(array(n, 8),) for n in (2, 3, 5, 4)], 2),
    "result": (lambda: lambda a: (Tensor(a), Tensor(a).add_(1), a), [(array(4),) for _ in range(4)], 1),
    "function": (lambda: lambda a: ms.tensor(a, dtype=ms.float64) * 2, [(array(4),) for _ in range(4)], 1),
    "global": (lambda: lambda x: x + Tensor(TABLE), [(Tensor(array(8)),) for _ in range(4)], 1),
    "one twice": (lambda: lambda a, b: Tensor(a) * Tensor(b), [(TABLE, TABLE)] * 3, 1),
    "facts": (lambda: lambda a: (Tensor(a) * a.shape[0], a.ndim, a.size, len(a), a.dtype == np.float32),
              [(array(4, 2),) for _ in range(4)], 1),
    "dtypes": (lambda: lambda a, b: (Tensor(a, ms.float32), Tensor(b, ms.float32), Tensor(b, ms.int8)),
               [(RNG.standard_normal(5) * 1e3, RNG.integers(-(2**40), 2**40, 5)) for _ in range(4)], 1),
    "in containers": (lambda: lambda b: Tensor(b["x"]) @ WEIGHT + Tensor(b["l"][0]),
                      [({"x": array(4, 8), "l": [array(8)]},) for _ in range(4)], 1),
    "kept": (holder, [(array(4),) for _ in range(4)], 1),
    "written": (into_parameter, [(array(4),) for _ in range(4)], 1),
    "branch": (lambda: lambda a: Tensor(a) * 2 if Tensor(a).sum() > 1e9 else Tensor(a) - 1,
               [(array(4),) for _ in range(4)], 1),
    "gradient": (lambda: lambda a: ms.value_and_grad(lambda t: (t * Tensor(a)).sum())(Tensor(a)),
                 [(array(4),) for _ in range(4)], 1),
    "fresh closure": (lambda: lambda a: ms.jit(lambda: Tensor(a) * 2)(), [(array(4),) for _ in range(4)], 1),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_an_array_is_an_input(name, mode):
    make, calls, versions = CASES[name]
    plain, compiled = make(), ms.jit(make(), capture_mode=mode)
    for args in calls:
        assert bits(compiled(*args)) == bits(plain(*args))
    found = compiled.explain()
    assert len(found.versions) == versions and not found.fallbacks
    assert all(not v["why_not_native"] for v in found.versions)
    assert sum(v["native_calls"] for v in found.versions) > 0


FLOATS, WHOLE = np.linspace(0.1, 0.9, 6), np.arange(10, 16)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("table", [TABLE, FLOATS, WHOLE, FLOATS.astype("f2")], ids=lambda a: str(a.dtype))
def test_elements_are_numbers_of_the_run(table, mode):
    """At an index that varies; what is out of range raises as NumPy does."""
    table = table.copy()

    def f(x, t):
        return x * table[t] + float(table[0]), table[t]

    compiled, x = ms.jit(f, capture_mode=mode), Tensor([1.0, 2.0])
    for t in (0, 1, 2, -1, 5, 9, -6, 3, -9):
        if t == 3:
            table[3] = 7
        try:
            expected = f(x, t)
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                compiled(x, t)
            continue
        found = compiled(x, t)
        assert bits(found[0]) == bits(expected[0])
        assert type(found[1]) is type(expected[1]) and found[1] == expected[1]
    assert len(compiled.explain().versions) == 2


ODD = [array(8, 4).T, array(4, 8).astype(">f4"), np.asfortranarray(array(4, 8)), array(4, 16)[:, ::2]]


@pytest.mark.parametrize("mode", MODES)
def test_arrays_that_native_code_cannot_read_go_to_plain_python(mode):
    def f(a):
        return ops.relu(Tensor(a) @ WEIGHT)

    compiled = ms.jit(f, capture_mode=mode)
    for a in [array(4, 8), *ODD, array(4, 8), np.frombuffer(bytearray(129), "f4", 32, 1).reshape(4, 8), array(4, 8)]:
        assert bits(compiled(a)) == bits(f(a))
    assert len(compiled.explain().versions) == 1


def test_what_the_array_holds_is_read_at_each_call():
    a = np.zeros(4, "f4")
    f = ms.jit(lambda x: x + Tensor(a))
    for k in range(5):
        a[:] = k
        assert f(Tensor([1.0])).asnumpy().tolist() == [1.0 + k] * 4
    assert f.stats["captures"] == 1


def test_a_result_is_no_view_of_the_array():
    f = ms.jit(lambda a: Tensor(a))
    for _ in range(4):
        a = np.zeros(4, "f4")
        made = f(a)
        a[:] = 1
        assert made.asnumpy().tolist() == [0.0] * 4


def test_what_a_gradient_needs_of_an_array_is_a_copy():
    a = np.ones(4, "f4")
    f = ms.jit(lambda x, a: x * Tensor(a))

    def later(x):
        y = f(x, a)
        a[:] = 100
        return y.sum()

    for _ in range(4):
        a[:] = 3
        assert ms.grad(later)(Tensor([1.0, 2.0, 3.0, 4.0])).asnumpy().tolist() == [3.0] * 4


def adds_first(t, a):
    t.add_(1)
    return Tensor(a) * 2


def adds_on_a_path(t, a):
    if t.sum() < 1e9:
        t.add_(1)
    return Tensor(a) * 2


def adds_to_tensor(t, a):
    t.add_(1)
    return a * 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", [adds_first, adds_on_a_path, adds_to_tensor])
def test_a_write_to_memory_that_an_array_shares_is_seen(f, mode):
    """`Tensor.from_numpy` shares memory, of all of an array or of a part: native code must not read too early."""

    def pairs():
        rng = np.random.default_rng(3)
        for kind in (0, 0, 0, 1, 0, 2, 3, 0, 1):
            a = rng.standard_normal(8).astype("f4")
            other = rng.standard_normal(6).astype("f4")
            t = Tensor.from_numpy((other, a[:6], a[2:], a[1:7])[kind])
            yield t, a[:6] if kind != 3 else a[:6].copy()

    compiled = ms.jit(f, capture_mode=mode)
    for one, two in zip(pairs(), pairs(), strict=True):
        ours = (one[0], Tensor.from_numpy(one[1])) if f is adds_to_tensor else one
        theirs = (two[0], Tensor.from_numpy(two[1])) if f is adds_to_tensor else two
        assert bits((compiled(*ours), *ours)) == bits((f(*theirs), *theirs))


def trained(wrap):
    ms.set_seed(1)
    net = ms.nn.SequentialCell(ms.nn.Dense(8, 8), ms.nn.ReLU(), ms.nn.Dense(8, 3))
    loss, optimiser = ms.nn.CrossEntropyLoss(), ms.nn.Adam(net.trainable_params(), 1e-2)
    both = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimiser.parameters)
    rng = np.random.default_rng(2)
    xs, ys = rng.standard_normal((64, 8)).astype("f4"), rng.integers(0, 3, 64)

    def step(x, y):
        value, grads = both(Tensor(x), Tensor(y))
        optimiser(grads)
        return value

    step = wrap(step)
    values = [step(xs[i : i + 8], ys[i : i + 8]) for _ in range(3) for i in range(0, 64, 8)]
    return step, bits(values)


def test_a_loop_over_batches_of_numpy_has_one_version():
    step, values = trained(ms.jit)
    assert values == trained(lambda f: f)[1]
    found = step.explain()
    assert [v["native_calls"] for v in found.versions] == [22] and not found.fallbacks


def pickled(a):
    return pickle.loads(pickle.dumps(a))


WITH_ANOTHER_DTYPE_OBJECT = [
    pickled(array(3, 4)),
    pickled(array(3, 4) > 0),
    array(3, 4).view(np.dtype("f4", metadata={"unit": "m"})),
    array(3, 4).view(np.dtype("f4").newbyteorder("=")),
    np.arange(12, dtype=np.longlong).reshape(3, 4),
]


@pytest.mark.parametrize("made", [Tensor, Tensor.from_numpy, ms.Parameter, pickled, np.copy])
@pytest.mark.parametrize("a", WITH_ANOTHER_DTYPE_OBJECT, ids=["pickle", "bool", "metadata", "order", "longlong"])
def test_equal_dtypes_that_are_other_objects(a, made):
    """What worker processes give, and what is in pickled datasets, has dtypes that are no single objects."""
    assert a.dtype is not Tensor(a).dtype.numpy
    f = ms.jit(lambda x: ops.cast(x if isinstance(x, Tensor) else Tensor(x), ms.float32) * 2 + 1)
    for _ in range(8):
        assert bits(f(made(a))) == bits(ops.cast(Tensor(a), ms.float32) * 2 + 1)
    assert len(f.explain().versions) == 1 and not f.explain().failures and not f.explain().recompiles


def test_rows_of_worker_processes_run_natively():
    data = ms.dataset.GeneratorDataset(Rows(), ["x"], num_parallel_workers=2, shuffle=False).batch(4)
    f = ms.jit(lambda x: ops.sin(x) + 1)
    for (x,) in data.create_tuple_iterator():
        assert bits(f(x)) == bits(ops.sin(Tensor(x.asnumpy())) + 1)
    assert len(f.explain().versions) == 1 and not f.explain().failures


class Rows:
    def __len__(self):
        return 24

    def __getitem__(self, i):
        return np.full(3, i, np.float32)
