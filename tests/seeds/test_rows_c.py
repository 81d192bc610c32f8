"""Rows C1 to C22: `jit` in all its forms and with all its arguments."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn
from tests.seeds.conftest import run_duograph

X = Tensor([1.0, 2.0, 3.0])


def double(x):
    """Twice."""
    return x * 2


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(3, 2)

    def construct(self, x):
        return self.dense(x)


def equal(a, b):
    return a.asnumpy().tobytes() == b.asnumpy().tobytes() and a.dtype == b.dtype


def test_c1_decorator_with_and_without_arguments():
    plain, called = ms.jit(double), ms.jit()(double)
    with_arguments = ms.jit(jit_level="O0")(double)
    for f in (plain, called, with_arguments):
        assert equal(f(X), double(X))
        assert f.__wrapped__ is double and f.__name__ == "double" and f.__doc__ == "Twice."


def test_c2_decorator_on_construct():
    class Compiled(Net):
        @ms.jit
        def construct(self, x):
            return self.dense(x)

    net = Compiled()
    assert equal(net(Tensor([[1.0, 2.0, 3.0]])), net.dense(Tensor([[1.0, 2.0, 3.0]])))


def test_c3_function_transform_leaves_the_original():
    compiled = ms.jit(double)
    assert equal(compiled(X), double(X)) and type(double).__name__ == "function"


def test_c4_cells_and_cell_classes_but_no_other_classes():
    x = Tensor([[1.0, 2.0, 3.0]])
    net = Net()
    assert equal(ms.jit(net)(x), net(x))
    assert ms.jit(Net)()(x).shape == (1, 2)
    with pytest.raises(TypeError, match="class"):

        @ms.jit
        class Plain:
            pass


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_c5_jit_is_static_in_every_context(mode):
    ms.set_context(mode=mode)
    f = ms.jit(lambda x: x * 3)
    f(X)
    f(X)
    assert len(f.explain().versions) == 1 and not f.explain().fallbacks


def test_c6_the_rest_stays_python(capsys):
    f = ms.jit(double)
    y = f(X)
    print("outside", y.asnumpy().tolist())
    assert capsys.readouterr().out == "outside [2.0, 4.0, 6.0]\n"


def test_c7_cells_made_inside_are_new_on_each_call():
    def run(x):
        return nn.Dense(3, 2)(x)

    x = Tensor([[1.0, 2.0, 3.0]])
    ms.set_seed(1)
    reference = [run(x), run(x)]
    ms.set_seed(1)
    compiled = ms.jit(run)
    assert all(equal(a, b) for a, b in zip(reference, [compiled(x), compiled(x)], strict=True))
    assert not equal(*reference)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "PSJit"},
        {"mode": "PIJit"},
        {"hash_args": double},
        {"compile_once": True},
        {"jit_config": ms.JitConfig(jit_level="O1")},
        {"mode": "PIJit", "jit_config": {"loop_unrolling": True}},
        {"mode": "PIJit", "jit_config": {"loop_unrolling": False}},
        {"input_signature": Tensor([0.0, 0.0, 0.0])},
    ],
)
@pytest.mark.filterwarnings("ignore:.*no effect")
def test_c8_to_c15_older_arguments(options):
    assert equal(ms.jit(double, **options)(X), double(X))


def test_c10_input_signature_is_checked():
    f = ms.jit(double, input_signature=(Tensor(shape=(None, 2), dtype=ms.float32),))
    for rows in (1, 2, 3, 4):
        assert f(Tensor(np.ones((rows, 2), np.float32))).shape == (rows, 2)
    with pytest.raises((ValueError, TypeError)):
        f(Tensor(np.ones((2, 3), np.float32)))


def test_c10_one_version_for_many_shapes():
    f = ms.jit(double, input_signature=(Tensor(shape=(None, 2), dtype=ms.float32),))
    for rows in (1, 2, 3, 4):
        f(Tensor(np.ones((rows, 2), np.float32)))
    assert len(f.explain().versions) == 1


def test_c11_changed_captures_are_seen():
    results = []
    for factor in (2, 3):

        @ms.jit
        def f(x, factor=factor):
            return x * factor

        results.append(f(X).asnumpy().tolist())
    assert results == [[2.0, 4.0, 6.0], [3.0, 6.0, 9.0]]


@pytest.mark.parametrize("capture_mode", ["ast", "bytecode", "trace"])
def test_c16_capture_modes(capture_mode):
    f = ms.jit(double, capture_mode=capture_mode)
    assert equal(f(X), double(X))
    assert f.explain().captured_from == ("bytecode" if capture_mode == "bytecode" else "source")
    told = {"ast": "", "bytecode": "captured from bytecode", "trace": "captured from source, run by run"}
    assert told[capture_mode] in str(f.explain())


def test_c16_levels():
    """O1 puts the three operations into one kernel, O0 runs them as written."""

    def steps(level):
        f = ms.jit(lambda x: (x + 1) * (x - 1) + x, jit_level=level, fullgraph=False, backend="")
        assert equal(f(X), (X + 1) * (X - 1) + X)
        (version,) = f.explain().versions
        return version["graph"] != version["captured"], version["memory"]

    assert steps("O0") != steps("O1")


@pytest.mark.parametrize("dynamic", [0, 1])
def test_c16_dynamic(dynamic):
    f = ms.jit(lambda x: x * 2, dynamic=dynamic)
    for n in range(2, 9):
        assert f(ms.ops.ones(n)).tolist() == [2.0] * n


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"capture_mode": "source"}, ValueError),
        ({"jit_level": "O3"}, ValueError),
        ({"jit_level": 1}, ValueError),
        ({"dynamic": 2}, ValueError),
        ({"fullgraph": 1}, TypeError),
        ({"backend": "nothing"}, RuntimeError),
        ({"mode": "Jit"}, ValueError),
        ({"exec_order": "random"}, ValueError),
        ({"infer_boost": "maybe"}, ValueError),
    ],
    ids=str,
)
def test_c16_c17_wrong_arguments(wrong, error):
    with pytest.raises(error, match=next(iter(wrong))):
        ms.jit(double, **wrong)


def test_c17_unknown_option_is_told():
    with pytest.warns(UserWarning, match="jit_levle.*jit_level"):
        ms.jit(double, jit_levle="O1")


def test_c18_another_decision_needs_no_other_version():
    def f(x):
        if x.sum() > 3:
            return x * 2
        return x - 1

    compiled = ms.jit(f, capture_mode="trace")
    for x in (X, -X, X):
        assert equal(compiled(x), f(x))
    assert len(compiled.explain().versions) == 1


def test_c19_switched_off_by_the_environment():
    text = (
        "import mindspore as ms\ncalls = []\n"
        "@ms.jit\ndef f(x):\n    calls.append(x.asnumpy().sum())\n    return x + 1\n"
        "f(ms.Tensor([1.0])); f(ms.Tensor([2.0]))\nprint(calls, len(f.explain().versions))"
    )
    assert run_duograph("-c", text, MS_JIT="0").endswith("0\n")


def test_c20_nested_jit():
    inner = ms.jit(double)

    class Plain:
        @ms.jit
        def method(self, x):
            return inner(x) + 1

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.plain = Plain()

        def construct(self, x):
            return self.plain.method(x)

    expected = double(X) + 1
    assert equal(ms.jit(lambda x: inner(x) + 1)(X), expected)
    assert equal(Outer()(X), expected)
    ms.set_context(mode=ms.GRAPH_MODE)
    assert equal(Outer()(X), expected)


def test_c21_functions_without_a_file():
    namespace = {"ms": ms}
    exec("@ms.jit\ndef f(x):\n    if x.sum() > 0:\n        return x * 2\n    return x\n", namespace)
    assert equal(namespace["f"](X), double(X))
    assert not namespace["f"].explain().fallbacks


def test_c21_functions_from_standard_input():
    text = "import mindspore as ms\n@ms.jit\ndef f(x):\n    return x * 2\nprint(f(ms.Tensor([1.0])))"
    assert run_duograph("-c", text) == "[2.]\n"


def test_c22_lambdas():
    f, g = ms.jit(lambda a: a * 2), ms.jit(lambda a, k=3: a * k)
    assert equal(f(X), X * 2) and equal(g(X), X * 3)
    assert not f.explain().fallbacks and not g.explain().fallbacks
