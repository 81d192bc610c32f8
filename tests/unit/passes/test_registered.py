"""Passes and backends of users: what they get, what becomes of versions, and whose errors are whose."""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import ops, passes
from duograph.ir.interpreter import Interpreter
from duograph.ir.walk import rebuild, with_origin
from duograph.ops.activation import relu
from duograph.ops.arithmetic import neg
from duograph.passes.manager import ApplyRules
from duograph.passes.pipelines import compile_pipeline
from duograph.rewrite.rule import RuleSet, rule

X = np.linspace(-2, 2, 6).astype(np.float32)


@pytest.fixture
def register():
    """`passes.register`; what it has registered is taken away after the test."""
    found = []

    def registering(function, **options):
        found.append(passes.register(function, **options))
        return found[-1]

    yield registering
    for function in found:
        passes.unregister(function)


def sin_to_relu(graph):
    def emit(node, operands, attrs):
        op = relu if node.op.name == "sin" else node.op
        return with_origin(node.context.apply(op, operands, attrs, node.tag), node)

    return rebuild(graph, emit)


def program(x):
    return ops.sin(x) * 2


SIN, RELU = (np.sin(X) * 2).astype(np.float32), np.maximum(X, 0) * 2


@pytest.mark.parametrize("before", ["simplify", "anchors", "overlap", None])
@pytest.mark.parametrize("backend", ["", "interpreter"])
def test_a_pass_belongs_to_the_key_of_versions(before, backend):
    f = ms.jit(program, backend=backend)
    x = ms.Tensor(X)
    for _ in range(4):
        assert np.allclose(f(x).asnumpy(), SIN)
    passes.register(sin_to_relu, before=before)
    try:
        for _ in range(4):
            assert (f(x).asnumpy() == RELU).all()
        assert np.allclose(ms.jit(program, jit_level="O0")(x).asnumpy(), SIN)
        assert np.allclose(program(x).asnumpy(), SIN)
    finally:
        passes.unregister(sin_to_relu)
    for _ in range(4):
        assert np.allclose(f(x).asnumpy(), SIN)
    assert "a pass registered or taken away" in str(f.explain().recompiles)


def test_it_runs_on_gradients_and_not_on_what_eager_mode_fuses(register):
    seen = []

    @register
    def look(graph):
        seen.append(graph.name)
        return graph

    x = ms.Tensor(X)
    for _ in range(20):
        (x * 2 + 1).sum()
    assert seen == []
    f = ms.jit(lambda x: (ops.sin(x) * x * x).sum())
    big = ms.Tensor(np.ones(5000, np.float32))
    ms.grad(f)(big)
    assert len(seen) >= 2


def other_context(graph):
    from duograph.ir.node import Context
    from duograph.ir.walk import clone

    return clone(graph, Context())


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda graph: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda graph: None, "it must give a graph, but gave a NoneType"),
        (other_context, "of another context"),
        (lambda graph: graph.context.graph("g", (), graph.output), r"must have the parameters \(.*f32"),
        (lambda graph: graph.context.graph("g", graph.params, graph.params[0]), r"must give \(f32.*\), but gives f32"),
    ],
)
@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
def test_its_errors_are_its_own(register, function, why, mode):
    register(function, name="mine")
    with pytest.raises(
        passes.ExtensionError, match=f"the registered pass 'mine' .*test_registered.py:.* failed on @.*{why}"
    ):
        ms.jit(program, capture_mode=mode)(ms.Tensor(X))


def test_rules_that_do_not_end_are_a_fault_of_the_set_of_rules(register):
    @rule(lambda x: relu(x))
    def longer(x):
        """relu(x) -> relu(--x)"""
        return relu(neg(neg(x)))

    register(ApplyRules("mine", RuleSet("mine", [longer])).run)
    with pytest.raises(
        passes.ExtensionError, match="the registered pass 'mine' failed on .*do not end.*longer"
    ) as found:
        ms.jit(lambda x: ops.relu(x))(ms.Tensor(X))
    assert "fault of duograph" not in str(found.value)


def test_bad_registrations(register):
    register(sin_to_relu)
    with pytest.raises(ValueError, match="'sin_to_relu' is registered already"):
        passes.register(sin_to_relu)
    with pytest.raises(ValueError, match="'before' must be one of"):
        passes.register(lambda g: g, before="fold")
    with pytest.raises(TypeError, match="must be callable"):
        passes.register(3)
    with pytest.raises(ValueError, match="is not registered"):
        passes.unregister(program)


def test_the_page_and_the_dumps_have_it(register, tmp_path):
    register(sin_to_relu)
    f = ms.jit(program)
    f(ms.Tensor(X))
    f.explain().save(str(tmp_path / "r.html"))
    assert "sin_to_relu" in (tmp_path / "r.html").read_text(encoding="utf-8")


# ---- backends -------------------------------------------------------------------------------------------------------


class Interpreted:
    """A backend that runs op by op, and keeps what it was given."""

    def __init__(self):
        self.graphs, self.examples, self.calls = [], [], 0

    def __call__(self, graph, inputs):
        self.graphs.append(graph)
        self.examples.append(inputs)

        def run(*values):
            self.calls += 1
            return Interpreter().run(graph, values)

        return run


@pytest.mark.parametrize("mode", ["ast", "bytecode", "trace"])
@pytest.mark.parametrize("level", ["O0", "O1", "O2"])
def test_a_backend_runs_the_optimised_graph(mode, level):
    backend = Interpreted()
    f = ms.jit(program, backend=backend, capture_mode=mode, jit_level=level)
    x = ms.Tensor(X)
    for _ in range(5):
        assert f(x).asnumpy().tobytes() == program(x).asnumpy().tobytes()
    assert (len(backend.graphs), backend.calls) == (1, 5)
    assert [p.name for p in backend.graphs[0].params][0] == "x"
    assert (backend.examples[0][0] == X).all() and not backend.examples[0][0].flags.writeable
    f(ms.Tensor(X[:3]))
    assert len(backend.graphs) == 2


def test_each_backend_has_versions_of_its_own():
    first, second = Interpreted(), Interpreted()
    x = ms.Tensor(X)

    def made(backend):
        return ms.jit(program, backend=backend)

    for _ in range(3):
        assert made(first)(x).tolist() == made(second)(x).tolist() == made("")(x).tolist()
    assert len(first.graphs) >= 1 and len(second.graphs) >= 1 and first.calls == second.calls == 3


def test_gradients_state_and_control_flow():
    backend = Interpreted()

    def loop(x):
        i = 0
        while x.sum() > 1:
            x = x / 2
            i = i + 1
        return x * i

    x = ms.Tensor(np.abs(X) * 10)
    assert ms.jit(loop, backend=backend)(x).tolist() == loop(x).tolist()
    f = ms.jit(lambda x: (ops.sin(x) * x * x).sum(), backend=backend)
    big = ms.Tensor(np.linspace(0, 1, 5000).astype(np.float32))
    assert ms.grad(f)(big).asnumpy().tobytes() == ms.grad(lambda x: (ops.sin(x) * x * x).sum())(big).asnumpy().tobytes()
    assert len(backend.graphs) >= 3
    p = ms.Parameter(ms.Tensor(X), name="p")

    def step(x):
        p.assign_add(x) if hasattr(p, "assign_add") else ops.assign_add(p, x)
        return p * 2 + ops.rand(6)

    ms.set_seed(3)
    want = [step(ms.Tensor(X)).tolist() for _ in range(3)]
    p.set_data(ms.Tensor(X))
    ms.set_seed(3)
    g = ms.jit(step, backend=backend)
    assert [g(ms.Tensor(X)).tolist() for _ in range(3)] == want


@pytest.mark.parametrize(
    ("backend", "why"),
    [
        (lambda graph, inputs: 1 / 0, "failed on @.*ZeroDivisionError"),
        (lambda graph, inputs: 3, "must give a function, but gave a int"),
        (lambda graph, inputs: lambda *values: 1 / 0, "made a function that failed on @.*ZeroDivisionError"),
        (lambda graph, inputs: lambda *values: (values[0],) * 2, "must give 1 results, but gave 2"),
        (lambda graph, inputs: lambda *values: values[0], "must give 1 results, but gave a ndarray"),
        (lambda graph, inputs: lambda *values: [values[0].astype("i4")], "result 0 must be f32"),
        (lambda graph, inputs: lambda *values: [values[0][:2]], "result 0 must be f32"),
    ],
)
def test_errors_of_backends_are_told(backend, why):
    f = ms.jit(program, backend=backend)
    for _ in range(3):
        with pytest.raises(passes.ExtensionError, match=f"the backend '<lambda>' .*{why}"):
            f(ms.Tensor(X))
    assert not f.explain().failures


def test_backends_cannot_write_to_what_is_the_users():
    def backend(graph, inputs):
        def run(x, *_):
            x += 1
            return [x]

        return run

    x = ms.Tensor(X)
    with pytest.raises(passes.ExtensionError, match="read-only"):
        ms.jit(program, backend=backend)(x)
    assert (x.asnumpy() == X).all()


def test_the_engine_is_what_it_was():
    text = "graph @g(%x: f32[2]) -> f32[2] {\n  %0 = sin(%x) : f32[2]\n  return %0\n}\n"
    from duograph.ir.parser import parse

    assert [n.op.name for n in compile_pipeline(parse(text)).nodes] == ["sin"]
