"""`export`, `load` and `GraphCell`: what comes back from a file is the same program, to the bit."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import duograph as ms
from duograph import Parameter, Tensor, nn, ops
from duograph.ir.parser import parse
from tests.seeds.conftest import run_duograph

X = Tensor([[1.0, -2.0, 3.0], [0.5, 0.25, -1.0]])


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2)
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x):
        return self.drop(self.fc(x))


@pytest.fixture
def again(tmp_path):
    """Exports and loads."""

    def go(net, *inputs, **init):
        path = str(tmp_path / "net.mindir")
        ms.export(net, *inputs, file_name=path, file_format="MINDIR")
        return nn.GraphCell(ms.load(path), **init)

    return go


def bits(value):
    """Types, shapes and bytes of a result."""
    if isinstance(value, Tensor):
        return str(value.dtype), value.shape, value.asnumpy().tobytes()
    if isinstance(value, list | tuple):
        return type(value).__name__, [bits(v) for v in value]
    return {k: bits(v) for k, v in value.items()} if isinstance(value, dict) else (type(value), value)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("training", [False, True])
def test_round_trip_of_a_network(again, mode, training):
    net = Net()
    net.set_train(training)
    loaded = again(net, X)
    results = []
    ms.set_context(mode=mode)
    try:
        for cell in (net, loaded):
            ms.set_seed(5)
            results.append([bits(cell(X)), bits(cell(X)), bits(ms.get_rng_state())])
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert results[0] == results[1]
    assert (results[0][0] != results[0][1]) == training, "random state goes on from call to call"


def test_a_fresh_process_gives_the_same_bits(tmp_path):
    net, path = Net(), str(tmp_path / "net.mindir")
    ms.export(net, X, file_name=path, file_format="MINDIR")
    text = f"""
import mindspore as ms
from mindspore import nn
net = nn.GraphCell(ms.load({path!r}))
print(net(ms.Tensor({X.asnumpy().tolist()})).asnumpy().tobytes().hex())"""
    assert run_duograph("-c", text) == net(X).asnumpy().tobytes().hex() + "\n"


def test_parameters_and_gradients(again):
    net = nn.Dense(3, 2)
    loaded = again(net, X)
    assert [(p.name, p.requires_grad) for p in loaded.get_parameters()] == [("weight", True), ("bias", True)]

    def gradients(cell):
        def loss(x):
            return (cell(x) ** 3).sum()

        return ms.grad(loss, 0, list(cell.trainable_params()))(X), ms.grad(lambda x: ms.grad(loss)(x).sum())(X)

    assert bits(gradients(loaded)) == bits(gradients(net))


def test_params_init(again):
    net = nn.Dense(3, 2)
    loaded = again(net, X, params_init={"weight": ops.zeros_like(net.weight), "unknown": X})
    assert bits(loaded(X)) == bits(ops.zeros((2, 2)) + net.bias)
    with pytest.raises(ValueError, match="weight"):
        again(net, X, params_init={"weight": X[0]})


def test_training_a_loaded_network(again):
    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0, 2.0]), name="w")

        def construct(self, x):
            self.w += x
            return self.w * 2

    step = Step()
    loaded = again(step, Tensor([1.0, 1.0]))
    for cell in (step, loaded):
        cell(Tensor([1.0, 1.0]))
        assert cell(Tensor([10.0, 10.0])).asnumpy().tolist() == [24.0, 26.0]
    assert loaded.parameters_dict()["w"].asnumpy().tolist() == [12.0, 13.0]


def branches(x):
    return x * 2 if x.sum() > 0 else -x


def loops(x):
    total = x * 0
    while total.sum() < 10:
        total = total + x.abs()
        for row in x:
            total = total + row
    return total


def raises(x):
    if x.sum() > 0:
        raise ValueError("too large")
    return x


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def containers(x):
    return {"a": x, "b": [x + 1, None, (2, 0.5)], "view": x[0], 3: slice(1, 2)}


def higher_order(x):
    return ms.grad(lambda v: (v * v * v).sum())(x)


def data_dependent(x):
    return ops.nonzero(x > 0) + 1


@pytest.mark.parametrize("function", [branches, loops, containers, higher_order, data_dependent])
def test_functions(again, function):
    loaded = again(function, X)
    for x in (X, -X):
        assert bits(loaded(x)) == bits(function(x))
    assert bits(again(ms.jit(function), X)(X)) == bits(function(X))


def test_recursion(again):
    assert int(again(fibonacci, Tensor(3))(Tensor(10))) == 55


def test_errors_of_the_program(again):
    loaded = again(raises, -X)
    assert bits(loaded(-X)) == bits(-X)
    with pytest.raises(ValueError, match="too large"):
        loaded(ops.ones_like(X))


def test_ties_of_results_with_arguments(again):
    def f(x, items):
        items.append(x)
        x.add_(1)
        return x, x[0]

    loaded = again(f, X.copy(), [])
    x, items = X.copy(), []
    same, row = loaded(x, items)
    assert same is x and items[0] is x and np.shares_memory(row.asnumpy(), x.asnumpy())
    assert bits(x) == bits(X + 1)


def test_open_sizes(again):
    net = Net()
    loaded = again(net, Tensor(shape=[None, 3], dtype=ms.float32))
    for rows in (1, 2, 7):
        x = ops.ones((rows, 3))
        assert bits(loaded(x)) == bits(net(x))
        assert bits(ms.grad(loaded)(x)) == bits(ms.grad(net)(x))
    with pytest.raises(RuntimeError, match=r"Float32 \(any, 3\), but got Float32 \(2, 4\)"):
        loaded(ops.ones((2, 4)))


def test_arguments(again):
    def f(x, k, *rest):
        return x * k + rest[0]["y"]

    y = {"y": Tensor(2.0)}
    loaded = again(f, X, 3, y)
    assert bits(loaded(X, 3, {"y": Tensor(4.0)})) == bits(X * 3 + 4.0)
    with pytest.raises(RuntimeError, match="'k'.* was 3"):
        loaded(X, 4, y)
    with pytest.raises(RuntimeError, match="must be a Tensor"):
        loaded(X.asnumpy(), 3, y)
    with pytest.raises(RuntimeError, match="must be Float32"):
        loaded(X.astype(ms.float16), 3, y)


def test_one_tensor_twice_is_two_arguments(again):
    assert bits(again(lambda a, b: a - b, X, X)(X, X * 3)) == bits(X - X * 3)


def test_constants_may_be_left_out(again):
    loaded = again(lambda x, k: x * k, X, 3)
    assert bits(loaded(X)) == bits(loaded(X, 3)) == bits(X * 3)
    with pytest.raises(RuntimeError, match="takes 2"):
        loaded(X, 3, X)


def test_inside_another_program(again):
    net = nn.Dense(3, 2)
    loaded = again(net, X)
    outer = ms.jit(lambda x: loaded(x).sum(), fullgraph=True)
    assert bits(outer(X)) == bits(net(X).sum())
    assert bits(ms.grad(outer)(X)) == bits(ms.grad(lambda x: net(x).sum())(X))
    assert bits(again(lambda x: loaded(x) + 1, X)(X)) == bits(net(X) + 1), "and exported again"


def test_what_is_in_the_file(tmp_path):
    table = Parameter(np.arange(100, dtype=np.float32), name="table")
    path = tmp_path / "f.mindir"
    files = set()
    for _ in range(2):
        ms.export(lambda x: table + x, Tensor(1.0), file_name=str(path), file_format="MINDIR")
        files.add(path.read_bytes())
    assert len(files) == 1, "equal programs are equal files"
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["graph.mindir", "program.json", "arrays.safetensors"]
        text = archive.read("graph.mindir").decode()
    assert str(ms.load(str(path))) == text
    assert [p.name for p in parse(text).params] == ["table", "x", "seed", "offset"]


def test_large_constants(again):
    loaded = again(lambda x: ops.arange(0, 100) * x, Tensor(2))
    assert loaded(Tensor(3)).asnumpy().tolist() == list(range(0, 300, 3))


# ---- what cannot be exported ----------------------------------------------------------------------------------------

LOG: list[object] = []


def uses_numpy(x):
    y = x + 1
    return Tensor(y.asnumpy() * 2)  # the line


def prints(x):
    print(x)  # the line
    return x


def writes(x):
    LOG.append(x)  # the line
    return x


class Pair:
    def __init__(self, x):
        self.x = x


def returns_an_object(x):
    return Pair(x)  # the line


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (uses_numpy, "asnumpy"),
        (prints, "print"),
        (writes, "LOG"),
        (returns_an_object, "class Pair"),
    ],
)
def test_programs_that_need_python(tmp_path, function, words):
    with pytest.raises(RuntimeError, match=words) as caught:
        ms.export(function, X, file_name=str(tmp_path / "f"), file_format="MINDIR")
    text, first = str(caught.value), function.__code__.co_firstlineno
    assert function.__name__ in text and "test_mindir.py:" in text and "^" in text
    line = int(text.partition("test_mindir.py:")[2].partition(":")[0])
    assert first <= line <= first + 2
    if function in (uses_numpy, prints):
        assert f"test_mindir.py:{line}" in text and "# the line" in text
    assert not list(tmp_path.iterdir())


# ---- wrong use ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"file_format": "AIR"}, ValueError),
        ({"file_format": "TXT"}, ValueError),
        ({"file_format": 3}, ValueError),
        ({"file_name": 3}, TypeError),
        ({"enc_key": b"0123456789ABCDEF"}, NotImplementedError),
        ({"nope": 1}, TypeError),
    ],
)
def test_wrong_settings(tmp_path, settings, error):
    with pytest.raises(error):
        ms.export(nn.ReLU(), X, **{"file_name": str(tmp_path / "f"), "file_format": "MINDIR", **settings})


@pytest.mark.parametrize("inputs", [(), (X, X), (np.ones(3),)])
def test_wrong_inputs(tmp_path, inputs):
    with pytest.raises(TypeError):
        ms.export(nn.ReLU(), *inputs, file_name=str(tmp_path / "f"), file_format="MINDIR")


def test_wrong_nets(tmp_path):
    for net in ("net", nn.ReLU, 3):
        with pytest.raises(TypeError, match="net"):
            ms.export(net, X, file_name=str(tmp_path / "f"), file_format="MINDIR")


def test_wrong_files(tmp_path):
    bad = tmp_path / "bad.mindir"
    bad.write_text("no archive")
    for name, error in ((3, ValueError), ("x.txt", ValueError), (str(tmp_path / "no.mindir"), ValueError)):
        with pytest.raises(error, match="file_name"):
            ms.load(name)
    with pytest.raises(RuntimeError, match="Load MindIR failed"):
        ms.load(str(bad))


def test_wrong_graph_cells(again):
    graph = again(nn.ReLU(), X).graph
    for arguments in ((3,), (graph, 3), (graph, {"a": 3})):
        with pytest.raises(TypeError, match="GraphCell"):
            nn.GraphCell(*arguments)
