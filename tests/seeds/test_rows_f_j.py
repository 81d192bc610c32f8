"""Rows F1 to F11 (compilation and MindIR) and J2, J5."""

from __future__ import annotations

import re

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from duograph.base.config import config, configure
from duograph.ir.parser import parse
from duograph.ir.printer import print_graph
from duograph.ir.verify import verify
from duograph.nn.graph_mode import compiled_cell
from tests.seeds.conftest import run_duograph, run_python

X = Tensor([1.0, 2.0])


def test_f1_from_source_to_results():
    """Source, captured graph, optimised graph, execution: each of them can be looked at."""

    def f(x):
        dead = x * 5  # noqa: F841
        return x + 0

    compiled = ms.jit(f)
    assert compiled(X).asnumpy().tolist() == [1.0, 2.0]
    (version,) = compiled.explain().versions
    assert "add" in version["captured"] and "# test_rows_f_j.py:" in version["captured"]
    assert "return" in version["graph"]


def test_f2_graphs_are_functional():
    """Closed, in dependency order, each value once: the verifier says so, and branches and loops are functions."""

    def f(x):
        for _ in range(3):
            x = x + 1 if x.sum() > 0 else x - 1
        while x.sum() < 20:
            x = x * 2
        return x

    compiled = ms.jit(f)
    compiled(X)
    (version,) = compiled.explain().versions
    graph = parse(version["captured"])
    verify(graph)
    assert {"cond", "while_loop"} <= {node.op.name for node in graph.nodes}
    assert all(
        operand in graph.params or operand.serial < node.serial for node in graph.nodes for operand in node.operands
    )


def test_f2_higher_order_functions():
    def f(x):
        def g(y):
            return lambda: (x + y) * (x + y)

        return g(3)()

    assert ms.jit(f)(Tensor(4.0)).asnumpy() == 49


def test_f2_closures():
    def make(x):
        def add(y):
            return x + y

        return add

    def f(x):
        return make(1)(x), make(2)(x)

    assert [int(v) for v in ms.jit(f)(Tensor(3))] == [4, 5]


def fibonacci(n):
    if n < 1:
        return 0
    if n == 1:
        return 1
    return fibonacci(n - 1) + fibonacci(n - 2)


@pytest.mark.parametrize("n", [10, Tensor(10)], ids=["constant", "tensor"])
def test_f2_f3_fibonacci(n):
    assert int(ms.jit(lambda: fibonacci(10))()) == 55
    assert int(ms.jit(fibonacci)(n)) == 55


def test_f4_optimisation():
    def f(x):
        dead = ops.exp(x)  # noqa: F841
        return (x * 2 + x * 2) * 1

    compiled = ms.jit(f)
    assert compiled(X).asnumpy().tolist() == [4.0, 8.0]
    (version,) = compiled.explain().versions
    assert "exp" not in version["graph"]
    assert version["captured"].count("mul") > version["graph"].count("mul")


def test_f4_adding_zero_disappears_where_it_is_exact():
    compiled = ms.jit(lambda x: x + 0)
    assert compiled(Tensor([1, 2])).asnumpy().tolist() == [1, 2]
    (version,) = compiled.explain().versions
    assert "add" in version["captured"] and "add" not in version["graph"]
    floats = ms.jit(lambda x: x + 0)
    assert not np.signbit(floats(Tensor([-0.0])).asnumpy())[0], "-0.0 + 0 is 0.0, and stays so"


def test_f6_compile_without_running(capsys):
    class Net(nn.Cell):
        def construct(self, x):
            print("ran")
            return x * 2

    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    net.compile(X)
    assert capsys.readouterr().out == "", "compiling does not run"
    (version,) = compiled_cell(net).explain().versions
    assert version["hits"] == 0
    assert net(X).asnumpy().tolist() == [2.0, 4.0]
    assert capsys.readouterr().out == "ran\n"
    (version,) = compiled_cell(net).explain().versions
    assert version["hits"] == 1, "the call uses what compile() made"


PROGRAM = """
import mindspore as ms
def f(x, w):
    y = x @ w
    return y + 0 if y.sum() > 0 else y * 2
print(ms.jit(f)(ms.Tensor([[1.0]]), ms.Tensor([[2.0]])))
"""


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_f7_dumps(tmp_path, level):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    folder = tmp_path / "ir"
    variables = {"MS_DEV_SAVE_GRAPHS": str(level), "MS_DEV_SAVE_GRAPHS_PATH": str(folder)}
    assert run_duograph(str(script), **variables) == "[[2.]]\n"
    dumps = sorted(folder.rglob("*.ir"))
    stages = [path.name.split("_", 1)[1].rsplit("_", 1)[0] for path in dumps]
    ends = ["bootstrap", "canonical", "optimised"]
    if level == 0:
        assert not folder.exists()
        return
    assert [stage for stage in stages if stage in ends] == ends
    assert (stages == ends) == (level == 1), "level 2 has the passes, too"
    assert [path.name[:2] for path in dumps] == [f"{i:02}" for i in range(len(dumps))]
    assert len(list(folder.rglob("*.dot"))) == (len(dumps) if level == 3 else 0)
    assert all(dot.read_text().startswith("digraph {") for dot in folder.rglob("*.dot"))
    first = dumps[0].read_text()
    for line in ("# IR entry: @f", "# Total subgraphs: 3", "# Total params: 4", "#   %x: f32[1,1]", "#   matmul: 1"):
        assert line in first
    assert re.search(r"= matmul.* : f32\[1,1\] +# program.py:4", first), "type and source location"
    for path in dumps:
        graph = parse(path.read_text())
        assert print_graph(graph, origins=False) == print_graph(parse(print_graph(graph)), origins=False)


def test_f7_dumps_at_run_time(tmp_path):
    before = config().save_graphs, config().save_graphs_path
    ms.set_context(save_graphs=1, save_graphs_path=str(tmp_path / "context"))
    try:
        ms.jit(lambda x: x + x)(X)
    finally:
        ms.set_context(save_graphs=before[0], save_graphs_path=before[1])
    with configure(save_graphs=2, save_graphs_path=str(tmp_path / "configure"), dump_style="mindspore"):
        ms.jit(lambda x: x - x)(X)
    ms.jit(lambda x: x * x)(X)
    names = {path.name: len(list(path.iterdir())) for path in tmp_path.iterdir()}
    assert names["context"] == 3 and names["configure"] > 3
    text = next((tmp_path / "configure").glob("*bootstrap*.ir")).read_text()
    assert text.count("# IR entry: @") == 1 and "Sub(%para1_x, %para1_x)" in text and "# In file" in text


def test_f7_environment_changed_by_the_script(tmp_path):
    text = f"""
import os, mindspore as ms
f = ms.jit(lambda x: x + x)
os.environ["MS_DEV_SAVE_GRAPHS"], os.environ["MS_DEV_SAVE_GRAPHS_PATH"] = "1", {str(tmp_path)!r}
print(f(ms.Tensor([1.0])))"""
    assert run_duograph("-c", text) == "[2.]\n"
    assert len(list(tmp_path.glob("*.ir"))) == 3


class Model(nn.Cell):
    """Branches on data, has state."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 2)

    def construct(self, x):
        y = self.dense(x)
        return ops.relu(y) if y.sum() > 0 else y * 2


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_f8_export_and_load(tmp_path, mode):
    ms.set_context(mode=mode)
    net, path = Model(), str(tmp_path / "model.mindir")
    ms.export(net, Tensor(shape=[None, 4], dtype=ms.float32), file_name=path, file_format="MINDIR")
    again = nn.GraphCell(ms.load(path))
    for x in (ops.ones((1, 4)), ops.ones((3, 4)), -ops.ones((3, 4))):
        assert again(x).asnumpy().tobytes() == net(x).asnumpy().tobytes()
        assert ms.grad(again)(x).asnumpy().tobytes() == ms.grad(net)(x).asnumpy().tobytes()


def test_f8_jitted_functions_and_formats(tmp_path):
    path = str(tmp_path / "f")
    ms.export(ms.jit(lambda x, y: x @ y), X, X, file_name=path, file_format="MINDIR")
    assert nn.GraphCell(ms.load(f"{path}.mindir"))(X, X).asnumpy() == 5
    for file_format, error in (("AIR", ValueError), ("PNG", ValueError)):
        with pytest.raises(error, match=file_format):
            ms.export(Model(), X, file_name=path, file_format=file_format)


class Leaving(nn.Cell):
    def construct(self, x):
        y = x * 2
        return Tensor(y.asnumpy())


def test_f9_what_needs_python_is_not_exported(tmp_path):
    with pytest.raises(RuntimeError, match="asnumpy") as caught:
        ms.export(Leaving(), X, file_name=str(tmp_path / "f"), file_format="MINDIR")
    line = Leaving.construct.__code__.co_firstlineno + 2
    assert f"test_rows_f_j.py:{line}" in str(caught.value) and "^^^" in str(caught.value)
    assert not list(tmp_path.iterdir())


def strict_function(level):
    return ms.jit(fullgraph=True) if level == "fullgraph" else ms.jit(jit_config=ms.JitConfig(jit_syntax_level=level))


@pytest.mark.parametrize("level", ["fullgraph", "STRICT"])
def test_f10_errors_at_compile_time(level, capsys):
    ran = []

    def f(x):
        ran.append(1)
        print("ran")
        y = x * 2
        return Tensor(y.asnumpy())  # here

    with pytest.raises(Exception, match="asnumpy") as caught:
        strict_function(level)(f)(X)
    line = f.__code__.co_firstlineno + 4
    assert f"test_rows_f_j.py:{line}" in str(caught.value) and "^^^" in str(caught.value)
    assert not ran and capsys.readouterr().out == "", "nothing ran before the error"


def test_f10_strict_context():
    def f(x):
        return Tensor(x.asnumpy())

    class Net(nn.Cell):
        def construct(self, x):
            return f(x)

    ms.set_context(mode=ms.GRAPH_MODE, jit_syntax_level=ms.STRICT)
    try:
        with pytest.raises(Exception, match="asnumpy"):
            Net()(X)
    finally:
        ms.set_context(jit_syntax_level=ms.LAX)
    assert Net()(X).asnumpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (lambda x: x.reshape((3,)), ValueError),
        (lambda x: x + ops.ones((3,)), ValueError),
        (lambda x: x.nope, AttributeError),
        (lambda x: [x][1], IndexError),  # noqa: PLE0643
        (lambda x: {"a": x}["b"], KeyError),
        (lambda x: x + "a", TypeError),
        (lambda x: 1 // 0 + x, ZeroDivisionError),
        (lambda x: undefined_name + x, NameError),  # noqa: F821
    ],
)
@pytest.mark.parametrize("fullgraph", [False, True])
def test_f11_error_classes_are_those_of_eager(body, error, fullgraph):
    with pytest.raises(error) as eager:
        body(X)
    with pytest.raises(error) as compiled:
        ms.jit(body, fullgraph=fullgraph)(X)
    assert type(compiled.value) is type(eager.value) and str(compiled.value) == str(eager.value)
    files = [(entry.path.name, entry.lineno + 1) for entry in compiled.traceback]
    assert ("test_rows_f_j.py", body.__code__.co_firstlineno) in files, "the traceback has the user's line"


def test_f11_errors_at_run_time():
    def f(x):
        if x.sum() > 0:
            raise ValueError("too large", 3)  # here
        return x

    compiled = ms.jit(f)
    assert compiled(-X).asnumpy().tolist() == [-1.0, -2.0]
    with pytest.raises(ValueError, match="too large") as caught:
        compiled(X)
    line = f.__code__.co_firstlineno + 2
    assert caught.value.args == ("too large", 3)
    assert line in [entry.lineno + 1 for entry in caught.traceback]


def test_f11_no_noise():
    """The text is the user's program and what is wrong with it."""
    text = """
import mindspore as ms
@ms.jit
def f(x):
    return x.reshape((3,))
f(ms.Tensor([1.0, 2.0]))
"""
    done = run_python("-m", "duograph", "-c", text)
    assert done.returncode == 1 and "ValueError" in done.stderr and "line 5" in done.stderr
    assert "C++" not in done.stderr and len(done.stderr.splitlines()) < 25


add = ops.MultitypeFuncGraph("add")


@add.register("Tensor", "Tensor")
def add_tensors(a, b):
    return a + b


@add.register("Number", "Number")
def add_numbers(a, b):
    return a - b


@pytest.mark.parametrize("decorate", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_j2_maps_and_dispatch(decorate):
    f = decorate(lambda x: (ops.HyperMap()(add, (x, 5), (x, 3)), ops.Map()(add, (x,), (x,)), add(7, 3)))
    (total, difference), (again,), number = f(X)
    assert total.asnumpy().tolist() == again.asnumpy().tolist() == [2.0, 4.0]
    assert (difference, number) == (2, 4)


@pytest.mark.parametrize("decorate", [lambda f: f, ms.jit], ids=["eager", "jit"])
def test_j5_select(decorate):
    f = decorate(lambda x: ops.select(x > 1, x * 10, x))
    assert f(X).asnumpy().tolist() == [1.0, 20.0]
