"""All executors answer the same questions, with the same values."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import duograph as ms
from duograph.base.config import configure
from duograph.frontend.programs.execute import executor, run_graph_owned
from duograph.ir.executor import Executor
from duograph.ir.interpreter import Interpreter
from duograph.ir.parser import parse
from duograph.runtime.programs.executable import NATIVE, NativeExecutor

STEP = """
graph @step(%w: f32[8], %g: f32[8]) -> (f32[8], f32[8]) {
  %0 = mul(%g, %g) : f32[8]
  %1 = sub(%w, %0) : f32[8]
  %2 = make_tuple(%1, %g) : (f32[8], f32[8])
  return %2
}
"""
EXECUTORS = {"interpreter": Interpreter(), "native": NATIVE}


@pytest.mark.parametrize("name", EXECUTORS)
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("donate", [None, {0: 0}])
def test_same_values(name, level, donate):
    w, g = np.arange(8, dtype=np.float32), np.full(8, 0.5, np.float32)
    chosen: Executor = EXECUTORS[name]
    graph = parse(STEP)
    chosen.prepare(graph, level, donate)
    new, same = chosen.run(graph, [w.copy(), g], level, donate)
    assert (new == w - np.float32(0.25)).all()
    assert (same == g).all()


@pytest.mark.parametrize("kind", [Interpreter, NativeExecutor])
def test_same_protocol(kind):
    for name in ("prepare", "run"):
        assert inspect.signature(getattr(kind, name)) == inspect.signature(getattr(Executor, name))


def test_the_configuration_chooses_and_the_backend_overrules():
    assert executor() is NATIVE
    assert isinstance(executor("interpreter"), Interpreter)
    with configure(kernels="reference"):
        assert isinstance(executor(), Interpreter)


@pytest.mark.parametrize("backend", ["", "interpreter"])
def test_what_is_kept_for_gradients_is_memory_of_its_own(backend):
    g = np.full(8, 0.5, np.float32)
    _, same = run_graph_owned(parse(STEP), [g, g], 1, backend)
    assert not np.shares_memory(same, g)


def test_gradient_graphs_are_dumped_like_others(tmp_path):
    """Of a gradient that is taken outside of the compiled function: its forward and its backward graph."""

    @ms.jit
    def step(x):
        return (x * x).sum()

    with configure(save_graphs=1, save_graphs_path=str(tmp_path)):
        ms.grad(step)(ms.Tensor([1.0, 2.0]))
    written = [path.read_text() for path in tmp_path.glob("*.ir")]
    for name in (".fwd(", ".bwd("):
        assert sum(name in text.partition("graph @")[2].partition("%")[0] for text in written) == 3  # one a stage
