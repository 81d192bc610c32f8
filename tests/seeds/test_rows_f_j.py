"""Rows F1 to F11 (compilation and MindIR) and J2, J5."""

from __future__ import annotations

import pytest

import duograph as ms
from duograph import Tensor, nn, ops
from tests.seeds.conftest import run_duograph

X = Tensor([1.0, 2.0])


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
        dead = ops.exp(x)
        return (x * 2 + x * 2) * 1

    compiled = ms.jit(f)
    assert compiled(X).asnumpy().tolist() == [4.0, 8.0]
    (version,) = compiled.explain().versions
    assert "exp" not in version["graph"]
    assert version["captured"].count("mul") > version["graph"].count("mul")


def test_f6_compile_without_running():
    class Net(nn.Cell):
        def construct(self, x):
            print("ran")
            return x * 2

    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    net.compile(X)
    assert net(X).asnumpy().tolist() == [2.0, 4.0]


def test_f7_dumps(tmp_path):
    text = "import mindspore as ms\nprint(ms.jit(lambda x: x + x)(ms.Tensor([1.0])))"
    printed = run_duograph("-c", text, MS_DEV_SAVE_GRAPHS="2", MS_DEV_SAVE_GRAPHS_PATH=str(tmp_path))
    assert printed == "[2.]\n"
    dumps = sorted(tmp_path.rglob("*.ir"))
    assert dumps and all("add" in path.read_text() for path in dumps[:1])


def test_f10_f11_errors_at_compile_time_name_the_line():
    def f(x):
        y = x * 2
        return Tensor(y.asnumpy())  # here

    with pytest.raises(Exception, match="asnumpy") as caught:
        ms.jit(f, fullgraph=True)(X)
    line = f.__code__.co_firstlineno + 2
    assert f"test_rows_f_j.py:{line}" in str(caught.value) and "^" in str(caught.value)


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
