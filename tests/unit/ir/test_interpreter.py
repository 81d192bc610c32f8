"""The interpreter: control flow, recursion, effects on memory, errors, observation, symbolic sizes."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.base.source import Span
from duograph.debug.opt import declare_ops
from duograph.ir.interpreter import Interpreter, plan_of, run
from duograph.ir.parser import parse

declare_ops()

LOOP = """
graph @main(%n: int, %x: f32[2]) -> (int, f32[2]) {
  %0 = while_loop(0, %x, %n, cond=@test, body=@body, n_carry=2) : (int, f32[2])
  return %0
}
graph @test(%i: int, %x: f32[2], %n: int) -> bool {
  %0 = scalar_binary(%i, %n, fn='lt') : bool
  return %0
}
graph @body(%i: int, %x: f32[2], %n: int) -> (int, f32[2]) {
  %0 = scalar_binary(%i, 1, fn='add') : int
  %1 = add(%x, %x) : f32[2]
  %2 = make_tuple(%0, %1) : (int, f32[2])
  return %2
}
"""

SUM_TO = """
graph @sum(%n: int) -> int {
  %0 = scalar_binary(%n, 0, fn='gt') : bool
  %1 = cond(%0, %n, then=@more, orelse=@done) : int
  return %1
}
graph @more(%n: int) -> int {
  %0 = scalar_binary(%n, 1, fn='sub') : int
  %1 = call(%0, graph=@sum) : int
  %2 = scalar_binary(%n, %1, fn='add') : int
  return %2
}
graph @done(%n: int) -> int {
  return %n
}
"""


def test_while():
    n, x = run(parse(LOOP), 3, np.ones(2, np.float32))
    assert n == 3 and x.dtype == np.float32 and x.tolist() == [8, 8]
    assert run(parse(LOOP), 0, np.ones(2, np.float32))[1].tolist() == [1, 1]


def test_scan_counts_and_carries():
    text = """
    graph @main(%n: int) -> (int,) {
      %0 = scan(%n, 0, body=@body, n_carry=1) : (int,)
      return %0
    }
    graph @body(%i: int, %s: int) -> (int,) {
      %0 = scalar_binary(%s, %i, fn='add') : int
      %1 = make_tuple(%0) : (int,)
      return %1
    }
    """
    assert [run(parse(text), n) for n in (-1, 0, 1, 5)] == [(0,), (0,), (0,), (10,)]


def test_recursion_is_deeper_than_pythons():
    assert run(parse(SUM_TO), 5000) == 5000 * 5001 // 2


def test_recursion_without_end():
    text = """
    graph @f(%n: int) -> int {
      %0 = call(%n, graph=@f) : int
      return %0
    }
    """
    with pytest.raises(RecursionError):
        run(parse(text), 1)


def test_the_plan_is_made_once():
    graph = parse(LOOP)
    run(graph, 1, np.ones(2, np.float32))
    assert plan_of(graph) is plan_of(graph)


def test_dead_values_are_freed():
    text = "graph @main(%x: f32[4]) -> f32[4] {\n" + "  %0 = add(%x, %x) : f32[4]\n"
    text += "".join(f"  %{i} = add(%{i - 1}, %{i - 1}) : f32[4]\n" for i in range(1, 9)) + "  return %8\n}"
    seen = []

    class Watch(Interpreter):
        def run_node(self, node, operands):
            out = super().run_node(node, operands)
            seen.append(out)
            return out

    graph = parse(text)
    assert [len(s.dead) for s in plan_of(graph).stretches[0][0]] == [1] * 9
    assert Watch().run(graph, [np.ones(4, np.float32)]).tolist() == [512.0] * 4
    assert len(seen) == 9


def test_errors_name_op_and_line():
    graph = parse("graph @main(%x: f32[2]) -> bool {\n  %0 = tensor_item(%x, kind='bool') : bool\n  return %0\n}")
    graph.context.origins[graph.output] = (Span("net.py", 12, 4, 12, 9),)
    with pytest.raises(ValueError, match="2 elements") as error:
        run(graph, np.ones(2, np.float32))
    assert error.value.__notes__ == ["while running tensor_item : bool, from net.py:12:5"]


def test_symbolic_sizes_come_from_the_arguments():
    text = "graph @main(%x: f32[N,2]) -> f32[2*N] {\n  %0 = reshape(%x, shape=({2*N},)) : f32[2*N]\n  return %0\n}"
    graph = parse(text)
    assert run(graph, np.ones((3, 2), np.float32)).shape == (6,)
    assert run(graph, np.ones((1, 2), np.float32)).shape == (2,)


def test_constants_cannot_be_written_to():
    out = run(parse("graph @main() -> f32[2] {\n  return const<f32[2]>[1.0, 2.0]\n}"))
    assert not out.flags.writeable
