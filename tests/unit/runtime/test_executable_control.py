"""Control flow in executables: branches, loops and what they carry, recursion, stacks, compile time."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.ir.interpreter import Interpreter
from duograph.ir.parser import parse
from duograph.runtime.programs.executable import Executable
from duograph.runtime.programs.residuals import cells
from tests.unit.alarms import interrupted_by
from tests.unit.growth import growth
from tests.unit.runtime.processes import alone
from tests.unit.runtime.programs import both, compiled, f32, same

BRANCH = """
graph @main(%p: bool, %x: f32[3], %y: f32[3]) -> (f32[3], f32[3], int) {
  %0 = cond(%p, %x, %y, then=@then, orelse=@orelse) : (f32[3], f32[3], int)
  return %0
}
graph @then(%x: f32[3], %y: f32[3]) -> (f32[3], f32[3], int) {
  %0 = add(%x, %y) : f32[3]
  %1 = make_tuple(%0, %x, 1) : (f32[3], f32[3], int)
  return %1
}
graph @orelse(%x: f32[3], %y: f32[3]) -> (f32[3], f32[3], int) {
  %0 = make_tuple(%y, %x, 2) : (f32[3], f32[3], int)
  return %0
}
"""


@pytest.mark.parametrize("p", [True, False])
def test_branches(p):
    both(BRANCH, p, f32(3), f32(3, seed=1))


def test_result_of_a_branch_is_used_later():
    text = BRANCH.replace("return %0\n}\ngraph @then", "%1 = tuple_get(%0, index=0) : f32[3]\n  %2 = neg(%1) : f32[3]\n"
                          "  %3 = tuple_get(%0, index=2) : int\n  %4 = make_tuple(%2, %x, %3) : (f32[3], f32[3], int)\n"
                          "  return %4\n}\ngraph @then")  # fmt: skip
    for p in (True, False):
        both(text, p, f32(3), f32(3, seed=1))


def loop(body: str, carry: str, init: str = "%x, %y") -> str:
    """A program that runs ``body`` %n times."""
    types = ", ".join(["f32[3]"] * carry.count("%"))
    params = ", ".join(f"{c.strip()}: f32[3]" for c in carry.split(","))
    return f"""
    graph @main(%n: int, %x: f32[3], %y: f32[3]) -> ({types}) {{
      %0 = scan(%n, {init}, body=@body, n_carry={carry.count("%")}) : ({types})
      return %0
    }}
    graph @body(%i: int, {params}) -> ({types}) {{
      {body}
    }}
    """


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_carries_that_take_turns(n):
    """``(a, b) -> (b, a)``, ``(a, b) -> (a + b, a)``: values of the last iteration are read while the next are made."""
    both(loop("%0 = make_tuple(%b, %a) : (f32[3], f32[3])\nreturn %0", "%a, %b"), n, f32(3), f32(3, seed=1))
    fibonacci = "%0 = add(%a, %b) : f32[3]\n%1 = make_tuple(%0, %a) : (f32[3], f32[3])\nreturn %1"
    both(loop(fibonacci, "%a, %b"), n, f32(3), f32(3, seed=1))
    twice = "%0 = add(%a, %b) : f32[3]\n%1 = make_tuple(%0, %0) : (f32[3], f32[3])\nreturn %1"
    both(loop(twice, "%a, %b"), n, f32(3), f32(3, seed=1))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_carries_in_place_and_unchanged(n):
    both(loop("%0 = mul(%a, %b) : f32[3]\n%1 = make_tuple(%0, %b) : (f32[3], f32[3])\nreturn %1", "%a, %b"),
         n, f32(3), f32(3, seed=1))  # fmt: skip
    reshaped = """%0 = reshape(%a, shape=(1, 3)) : f32[1,3]
      %1 = mul(%a, %a) : f32[3]
      %2 = reshape(%0, shape=(3,)) : f32[3]
      %3 = add(%2, %b) : f32[3]
      %4 = make_tuple(%1, %3) : (f32[3], f32[3])
      return %4"""
    both(loop(reshaped, "%a, %b"), n, f32(3), f32(3, seed=1))


def test_inputs_are_never_written_by_loops():
    executable = compiled(
        loop("%0 = mul(%a, %b) : f32[3]\n%1 = make_tuple(%0, %b) : (f32[3], f32[3])\nreturn %1", "%a, %b")
    )
    x, y = f32(3), f32(3, seed=1)
    before = x.copy(), y.copy()
    executable.run([4, x, y])
    assert same((x, y), before)


WHILE = """
graph @main(%limit: f32[], %x: f32[2]) -> (f32[2], int) {
  %0 = while_loop(%x, 0, %limit, cond=@test, body=@body, n_carry=2) : (f32[2], int)
  return %0
}
graph @test(%x: f32[2], %i: int, %limit: f32[]) -> bool {
  %0 = reduce_sum(%x, axis=(0,), keep_dims=false) : f32[]
  %1 = less(%0, %limit) : bool[]
  %2 = tensor_item(%1, kind='bool') : bool
  return %2
}
graph @body(%x: f32[2], %i: int, %limit: f32[]) -> (f32[2], int) {
  %0 = add(%x, %x) : f32[2]
  %1 = scalar_binary(%i, 1, fn='add') : int
  %2 = make_tuple(%0, %1) : (f32[2], int)
  return %2
}
"""


@pytest.mark.parametrize("limit", [0, 3, 1000])
def test_while(limit):
    both(WHILE, np.float32(limit).reshape(()), np.ones(2, np.float32))


def test_loop_over_symbolic_sizes():
    text = WHILE.replace("f32[2]", "f32[n]")
    graph = parse(text)
    executable = Executable(graph)
    for n in (2, 5, 100):
        values = [np.float32(100).reshape(()), np.ones(n, np.float32)]
        assert same(executable.run(values), Interpreter().run(graph, values))
    assert not executable.repeats


SUM_TO = """
graph @sum(%n: int, %x: f32[2]) -> f32[2] {
  %0 = scalar_binary(%n, 0, fn='gt') : bool
  %1 = cond(%0, %n, %x, then=@more, orelse=@done) : f32[2]
  return %1
}
graph @more(%n: int, %x: f32[2]) -> f32[2] {
  %0 = scalar_binary(%n, 1, fn='sub') : int
  %1 = add(%x, %x) : f32[2]
  %2 = call(%0, %x, graph=@sum) : f32[2]
  %3 = add(%1, %2) : f32[2]
  return %3
}
graph @done(%n: int, %x: f32[2]) -> f32[2] {
  return %x
}
"""


def test_recursion():
    for n in (0, 1, 2, 50, 400):
        both(SUM_TO, n, f32(2))


def test_recursion_beyond_the_native_depth_is_the_interpreters():
    graph = parse(SUM_TO)
    executable = Executable(graph)
    values = [9_500, f32(2)]
    assert same(executable.run(values), Interpreter().run(graph, values))
    assert executable.repeats == 1 and any("recursion" in note for note in executable.notes)
    with pytest.raises(RecursionError):
        executable.run([10**9, f32(2)])


def test_calls_of_one_graph_are_one_function():
    text = """
    graph @main(%x: f32[3]) -> f32[3] {
      %0 = call(%x, graph=@f) : f32[3]
      %1 = call(%0, graph=@f) : f32[3]
      %2 = call(%1, graph=@f) : f32[3]
      return %2
    }
    graph @f(%x: f32[3]) -> f32[3] {
      %0 = exp(%x) : f32[3]
      %1 = neg(%0) : f32[3]
      return %1
    }
    """
    both(text, f32(3))
    assert len(compiled(text).build.functions) == 2


STACKS = """
graph @main(%n: int, %x: f32[3]) -> (f32[3], int) {
  %0 = stack_new(items=(type<f32[3]>, type<int>)) : stack<(f32[3], int)>
  %1 = scan(%n, %0, %x, body=@push, n_carry=2) : (stack<(f32[3], int)>, f32[3])
  %2 = tuple_get(%1, index=0) : stack<(f32[3], int)>
  %3 = while_loop(%2, %x, 0, cond=@some, body=@pop, n_carry=3) : (stack<(f32[3], int)>, f32[3], int)
  %4 = tuple_get(%3, index=1) : f32[3]
  %5 = tuple_get(%3, index=2) : int
  %6 = make_tuple(%4, %5) : (f32[3], int)
  return %6
}
graph @push(%i: int, %s: stack<(f32[3], int)>, %x: f32[3]) -> (stack<(f32[3], int)>, f32[3]) {
  %0 = stack_push(%s, %x, %i) : stack<(f32[3], int)>
  %1 = add(%x, %x) : f32[3]
  %2 = make_tuple(%0, %1) : (stack<(f32[3], int)>, f32[3])
  return %2
}
graph @some(%s: stack<(f32[3], int)>, %x: f32[3], %k: int) -> bool {
  %0 = stack_size(%s) : int
  %1 = scalar_binary(%0, 0, fn='gt') : bool
  return %1
}
graph @pop(%s: stack<(f32[3], int)>, %x: f32[3], %k: int) -> (stack<(f32[3], int)>, f32[3], int) {
  %0 = stack_pop(%s) : (stack<(f32[3], int)>, f32[3], int)
  %1 = tuple_get(%0, index=0) : stack<(f32[3], int)>
  %2 = tuple_get(%0, index=1) : f32[3]
  %3 = tuple_get(%0, index=2) : int
  %4 = sub(%x, %2) : f32[3]
  %5 = scalar_binary(%k, %3, fn='add') : int
  %6 = make_tuple(%1, %4, %5) : (stack<(f32[3], int)>, f32[3], int)
  return %6
}
"""


@pytest.mark.parametrize("n", [0, 1, 10, 5000])
def test_stacks_grow_natively(n):
    executable = compiled(STACKS)
    values = [n, f32(3) * 1e-3]
    assert same(executable.run(values), Interpreter().run(parse(STACKS), values))
    assert executable.notes == []


def runs_with_stacks():
    executable = compiled(STACKS)

    def work():
        for _ in range(200):
            executable.run([20_000, f32(3)])

    return work


def test_memory_of_stacks_is_given_back():
    assert growth(runs_with_stacks) < 4096


def test_code_does_not_depend_on_trip_counts():
    body = "%0 = mul(%a, %b) : f32[3]\n%1 = make_tuple(%0, %b) : (f32[3], f32[3])\nreturn %1"
    short, long = (loop(body, "%a, %b").replace("scan(%n", f"scan({n}") for n in (3, 3_000_000))
    lines = [len(compiled(text).text().splitlines()) for text in (short, long)]
    assert lines[0] == lines[1]


def test_stacks_leave_and_come_back():
    """A forward program gives a stack, another program takes it: natively, and by the interpreter."""
    forward = parse("""
    graph @main(%n: int, %x: f32[3]) -> (stack<(f32[3], int)>, f32[3]) {
      %0 = stack_new(items=(type<f32[3]>, type<int>)) : stack<(f32[3], int)>
      %1 = scan(%n, %0, %x, body=@push, n_carry=2) : (stack<(f32[3], int)>, f32[3])
      return %1
    }
    """ + STACKS[STACKS.index("graph @push"):STACKS.index("graph @some")])  # fmt: skip
    backward = parse("""
    graph @main(%s: stack<(f32[3], int)>, %x: f32[3]) -> (stack<(f32[3], int)>, f32[3], int) {
      %0 = while_loop(%s, %x, 0, cond=@some, body=@pop, n_carry=3) : (stack<(f32[3], int)>, f32[3], int)
      return %0
    }
    """ + STACKS[STACKS.index("graph @some"):])  # fmt: skip
    x = f32(3)
    expected_stack, last = Interpreter().run(forward, [100, x])
    expected = Interpreter().run(backward, [expected_stack, x])
    there, back = Executable(forward), Executable(backward)
    stack, got = there.run([100, x])
    assert same(got, last)
    for _ in range(2):  # a stack can be used any number of times
        rest, *results = back.run([stack, x])
        assert same(tuple(results), expected[1:])
    del rest
    assert not there.notes and not back.notes
    made = cells(stack)
    assert made.depth == 100 and same(made.items, expected_stack.items)
    assert same(Interpreter().run(backward, [made, x])[1:], expected[1:])
    assert same(back.run([made, x])[1:], expected[1:])  # what the interpreter has saved is the interpreter's
    assert back.notes == ["residuals were saved by the interpreter"]


def interrupt_an_endless_loop():
    text = WHILE.replace("less(%0, %limit)", "not_equal(%0, %limit)").replace("add(%x, %x)", "mul(%x, %x)")
    executable = compiled(text)
    values = [np.float32(-1).reshape(()), np.ones(2, np.float32)]
    with interrupted_by(KeyboardInterrupt, after=0.3):
        executable.run(values)
    return executable.repeats, int(executable.run([np.float32(2).reshape(()), np.ones(2, np.float32)])[1])


def test_an_endless_loop_can_be_interrupted():
    """In a process that can be ended from outside if that is not so."""
    assert alone(interrupt_an_endless_loop) == [0, 0]
