"""Steps that run in Python, failures that make the interpreter repeat a call, and effects that must happen once."""

from __future__ import annotations

import os

import numpy as np
import pytest

from duograph.base.config import configure
from duograph.core.op import get_op
from duograph.core.types import TOKEN
from duograph.frontend.programs.primitives import py_effect
from duograph.ir.control import make_tuple
from duograph.ir.node import Context, Graph
from duograph.ir.parser import parse
from duograph.runtime.programs.executable import Executable
from tests.unit.runtime.processes import child_agrees
from tests.unit.runtime.programs import both, compiled, f32, same

LOOKUP = """
graph @main(%x: f32[4], %k: i64[2]) -> f32[2] {
  %0 = gather(%x, %k, axis=0) : f32[2]
  %1 = add(%0, %0) : f32[2]
  return %1
}
"""


def test_failures_are_the_references_errors():
    executable = compiled(LOOKUP)
    executable.run([f32(4), np.array([0, 3])])
    with pytest.raises(RuntimeError, match="should be in the range"):
        executable.run([f32(4), np.array([0, 4])])
    assert executable.repeats == 1
    assert same(executable.run([f32(4), np.array([1, 2])]), compiled(LOOKUP).run([f32(4), np.array([1, 2])]))


def test_ops_of_numpy_run_between_native_ones():
    text = """
    graph @main(%x: f32[3,3]) -> f32[3,3] {
      %0 = add(%x, %x) : f32[3,3]
      %1 = inverse(%0) : f32[3,3]
      %2 = mul(%1, %x) : f32[3,3]
      return %2
    }
    """
    both(text, np.eye(3, dtype=np.float32) + f32(3, 3) / 10)
    assert any(note.startswith("inverse runs in Python") for note in compiled(text).notes)


def effects(*stages: str) -> tuple[Graph, list[object]]:
    """A program of effects (``say``) and lookups (``look``) on ``%x[%k]``; what was said is appended to the list."""
    context, said = Context(), []
    template = parse(LOOKUP)
    x, k = (context.param(p.name, p.type) for p in template.params)
    token = context.param("token", TOKEN)
    effect, last = token, x
    for stage in stages:
        if stage == "say":
            effect = context.apply(py_effect, (effect, last), {"target": lambda v: said.append(v.tolist())})
        elif stage == "fail":
            effect = context.apply(py_effect, (effect, last), {"target": _refuse})
        else:
            found = context.apply(get_op("gather"), (x, k), {"axis": 0})
            last = context.apply(get_op("reduce_sum"), (found,), {"axis": (0,), "keep_dims": False})
    return context.graph("main", (x, k, token), context.apply(make_tuple, (last, effect), {})), said


def _refuse(value: object) -> None:
    raise LookupError("refused")


def test_effects_happen_once_and_in_order():
    graph, said = effects("say", "look", "say")
    Executable(graph).run([np.arange(4, dtype=np.float32), np.array([1, 2]), None])
    assert said == [[0, 1, 2, 3], 3]


def test_effects_wait_for_what_does_not_depend_on_them():
    graph, said = effects("say", "look", "say")
    with pytest.raises(RuntimeError, match="should be in the range"):
        Executable(graph).run([np.arange(4, dtype=np.float32), np.array([1, 9]), None])
    assert said == []


def test_an_effect_that_raises_is_not_run_again():
    graph, said = effects("say", "fail", "say")
    with pytest.raises(LookupError, match="refused"):
        Executable(graph).run([np.arange(4, dtype=np.float32), np.array([1, 2]), None])
    assert said == [[0, 1, 2, 3]]


def test_what_effects_are_given_stays_as_it_was():
    context, kept = Context(), []
    template = parse(LOOKUP)
    x, token = context.param("x", template.params[0].type), context.param("token", TOKEN)
    doubled = context.apply(get_op("add"), (x, x), {})
    effect = context.apply(py_effect, (token, doubled), {"target": kept.append})
    last = context.apply(get_op("add"), (doubled, x), {})
    graph = context.graph("main", (x, token), context.apply(make_tuple, (last, effect), {}))
    executable = Executable(graph)
    for i in range(3):
        executable.run([np.full(4, i, np.float32), None])
    assert [a.tolist() for a in kept] == [[2.0 * i] * 4 for i in range(3)]


def test_interrupts_go_through():
    context = Context()
    token = context.param("token", TOKEN)

    def stop() -> None:
        raise KeyboardInterrupt

    effect = context.apply(py_effect, (token,), {"target": stop})
    executable = Executable(context.graph("main", (token,), context.apply(make_tuple, (effect,), {})))
    with pytest.raises(KeyboardInterrupt):
        executable.run([None])
    assert executable.repeats == 0


def test_debug_mode_finds_code_that_writes_where_it_must_not():
    with configure(debug=True):
        executable = compiled(LOOKUP)
    values = [f32(4), np.array([0, 3])]
    executable.run(values)
    zones = executable.build.plan.red_zones()
    assert zones
    run = executable._idle[0]
    start = run.bufs[len(run.bufs) - 2] - run.memory.ctypes.data
    run.memory[start + zones[0][0]] = 1
    with pytest.raises(SystemError, match="behind the block"):
        executable.run(values)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_process_goes_on():
    executable = compiled(LOOKUP)
    values = [f32(4), np.array([0, 3])]
    expected = executable.run(values)
    assert child_agrees(lambda: same(executable.run(values), expected))
