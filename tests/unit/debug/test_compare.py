"""`compare`: equal to the bit, or the first statement that differs, in each way of compiling."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import duograph as ms
from duograph import debug, nn, ops

X = np.random.RandomState(1).standard_normal((5, 7)).astype(np.float32)


def program(x, w):
    h = ops.relu(x @ w)
    h = ops.exp(h) * 2
    if h.sum() > 0:
        h = h + 1
    return h * h, {"mean": h.mean()}


W = np.random.RandomState(2).standard_normal((7, 3)).astype(np.float32)
LINE = program.__code__.co_firstlineno


def test_equal_to_the_bit():
    args = ms.Tensor(X), ms.Tensor(W)
    for fn in (program, ms.jit(program)):
        found = debug.compare(fn, *args, levels=("O0", "O1"))
        assert found.equal and str(found) == "equal to the bit" and len(found.rows) == 6


@pytest.mark.parametrize("stage", ["capture", "passes", "machine code"])
def test_the_first_statement_that_differs(stage, monkeypatch):
    if stage == "machine code":
        steps = importlib.import_module("duograph.runtime.programs.steps")
        executable = importlib.import_module("duograph.runtime.programs.executable")
        run = executable.Executable.run

        def planted(self, values, repeat=True):
            out = run(self, values, repeat)
            return out if not any(n.op.name == "exp" for n in self.graph.nodes) else _plus(out)

        monkeypatch.setattr(executable.Executable, "run", planted)
        assert steps
    else:
        module = importlib.import_module("duograph.jit.entry")
        real = module.compile_program

        def changed(graph, level):
            made = real(graph, level)
            wrong = _with_wrong_exp(made)
            pipelines = importlib.import_module("duograph.passes.pipelines")
            pipelines.BEFORE.of(graph.context)[wrong] = wrong if stage == "capture" else graph
            return wrong

        monkeypatch.setattr(module, "compile_program", changed)
    found = debug.compare(program, ms.Tensor(X), ms.Tensor(W), modes=("ast",), levels=("O1",))
    assert not found.equal
    difference = found.rows["ast", "O1"]
    assert difference.stage == stage
    assert difference.span.line == LINE + 2
    assert f"test_compare.py:{LINE + 2}: ops.exp(h)" in str(found)


def _plus(value):
    if isinstance(value, tuple | list):
        return type(value)([_plus(v) for v in value])
    return value + 1 if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def _with_wrong_exp(graph):
    from duograph.ir.walk import rebuild, with_origin
    from duograph.ops.arithmetic import add

    def emit(node, operands, attrs):
        new = node.context.apply(node.op, operands, attrs, node.tag)
        if node.op.name == "exp":
            twice = node.context.apply(add, (operands[0], operands[0]), {})
            new = node.context.apply(node.op, (twice,), attrs, node.tag)
        return with_origin(new, node)

    return rebuild(graph, emit)


def test_what_is_written_is_as_before():
    net = nn.Dense(7, 3)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    step = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    def train(x):
        loss, grads = step(x)
        optimizer(grads)
        return loss + ops.rand(1).sum() * 0

    before = net.weight.asnumpy()
    assert debug.compare(train, ms.Tensor(X), levels=("O1",)).equal
    assert (net.weight.asnumpy() == before).all()

    def in_place(x):
        x.add_(1)
        return x * 2

    x = ms.Tensor(X)
    assert debug.compare(in_place, x, modes=("ast",)).equal
    assert (x.asnumpy() == X).all()


def test_what_raises_and_what_does_not_compile():
    def raises(x):
        if x.sum() < 1e9:
            raise ValueError(f"of {x.shape}")
        return x

    assert debug.compare(raises, ms.Tensor(X)).equal
    assert debug.compare(lambda x: x.asnumpy().tolist(), ms.Tensor(X), modes=("ast",), levels=("O1",)).equal
    found = debug.compare(nn.Dense(7, 2), ms.Tensor(X), modes=("ast",))
    assert found.rows.keys() == {("ast", f"O{i}") for i in range(3)}
    with pytest.raises(TypeError, match="'fn' must be callable"):
        debug.compare(3)
