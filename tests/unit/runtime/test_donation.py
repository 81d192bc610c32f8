"""Outputs in the memory of donated inputs: where kernels write directly, where a copy is made, what is never lost."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.ir.parser import parse
from duograph.runtime.programs.executable import Executable
from tests.unit.runtime.programs import compiled, f32, same

UPDATE = """
graph @main(%p: f32[64], %g: f32[64]) -> (f32[64], f32[]) {
  %0 = reduce_sum(%p, axis=(0,), keep_dims=false) : f32[]
  %1 = sub(%p, %g) : f32[64]
  %2 = make_tuple(%1, %0) : (f32[64], f32[])
  return %2
}
"""


def test_an_update_is_in_place():
    executable = compiled(UPDATE, donate={0: 0})
    p, g = f32(64), f32(64, seed=1)
    expected = Executable(parse(UPDATE)).run([p, g])
    new, total = executable.run([p, g])
    assert new is p
    assert same((new, total), expected)


def test_the_kernel_itself_writes():
    text = UPDATE.replace("%0 = reduce_sum(%p", "%0 = reduce_sum(%g")
    executable = compiled(text, donate={0: 0})
    assert "copy" not in executable.text()
    p = f32(64)
    assert executable.run([p, f32(64, seed=1)])[0] is p


def test_values_that_are_read_later_are_copied_at_the_end():
    text = """
    graph @main(%p: f32[4], %q: f32[4]) -> (f32[4], f32[4]) {
      %0 = make_tuple(%q, %p) : (f32[4], f32[4])
      return %0
    }
    """
    p, q = f32(4), f32(4, seed=1)
    before = p.copy(), q.copy()
    new_p, new_q = compiled(text, donate={0: 0, 1: 1}).run([p, q])
    assert new_p is p and new_q is q
    assert same((p, q), before[::-1])


def test_a_failure_leaves_the_inputs_alone():
    text = """
    graph @main(%p: f32[4], %k: i64[4]) -> (f32[4], f32[4]) {
      %0 = sub(%p, %p) : f32[4]
      %1 = gather(%p, %k, axis=0) : f32[4]
      %2 = make_tuple(%0, %1) : (f32[4], f32[4])
      return %2
    }
    """
    p = f32(4)
    before = p.copy()
    with pytest.raises(RuntimeError, match="should be in the range"):
        compiled(text, donate={0: 0}).run([p, np.array([0, 1, 2, 9])])
    assert same(p, before)


def test_inputs_that_share_memory_are_not_written():
    executable = compiled(UPDATE, donate={0: 0})
    p = f32(64)
    before = p.copy()
    new, _ = executable.run([p, p])
    assert new is not p and same(p, before) and not new.any()
    p.flags.writeable = False
    new, _ = executable.run([p, f32(64)])
    assert new is not p and same(p, before)


@pytest.mark.parametrize("donated", [1, 2])
def test_inputs_in_tuples_count_one_by_one(donated):
    text = """
    graph @main(%t: (f32[64], f32[64]), %x: f32[64]) -> (f32[64], f32[64]) {
      %0 = tuple_get(%t, index=1) : f32[64]
      %1 = add(%0, %x) : f32[64]
      %2 = reduce_sum(%1, axis=(0,), keep_dims=true) : f32[1]
      %3 = mul(%0, %2) : f32[64]
      %4 = make_tuple(%1, %3) : (f32[64], f32[64])
      return %4
    }
    """
    values = [(f32(64), f32(64, seed=1)), f32(64, seed=2)]
    expected = Executable(parse(text)).run(values)
    found = compiled(text, donate={0: donated}).run(values)
    assert found[0] is [*values[0], values[1]][donated]
    assert same(found, expected)


@pytest.mark.parametrize(
    "update", ["dynamic_update(%p, %v, %i, axes=(0,))", "range_update(%p, %v, %i, %j, axis=0, step=1)"]
)
def test_an_update_at_a_place_that_is_known_at_run_time_is_in_place(update):
    text = f"""
    graph @main(%p: f32[64,2], %v: f32[3,2], %i: int, %j: int) -> (f32[64,2], f32[2]) {{
      %0 = {update} : f32[64,2]
      %1 = strided_slice(%0, slices=((5, 6, 1), (none, none, none))) : f32[1,2]
      %2 = reshape(%1, shape=(2,)) : f32[2]
      %3 = make_tuple(%0, %2) : (f32[64,2], f32[2])
      return %3
    }}
    """
    executable = compiled(text, donate={0: 0})
    assert "arena of 0 bytes" in executable.memory_table()
    p, v = f32(64, 2), f32(3, 2, seed=1)
    expected = Executable(parse(text)).run([p.copy(), v, 4, 7])
    new, row = executable.run([p, v, 4, 7])
    assert new is p and same((new, row), expected)
    before = p.copy()
    with pytest.raises(Exception):  # noqa: B017 (which one is the interpreter's matter)
        executable.run([p, v, 62, 70])
    assert same(p, before)


def test_a_failure_comes_before_what_is_not_yet_there_is_copied():
    text = """
    graph @main(%p: f32[64], %g: f32[64], %i: int) -> (f32[64],) {
      %0 = add(%g, %g) : f32[64]
      %1 = dynamic_update(%0, %g, %i, axes=(0,)) : f32[64]
      %2 = make_tuple(%1) : (f32[64],)
      return %2
    }
    """
    p = f32(64)
    before = p.copy()
    with pytest.raises(Exception):  # noqa: B017
        compiled(text, donate={0: 0}).run([p, f32(64, seed=1), 1])
    assert same(p, before)


def test_several_updates_of_one_value_are_in_place():
    text = """
    graph @main(%p: f32[64], %v: f32[1], %i: int) -> (f32[64], f32[1]) {
      %0 = dynamic_update(%p, %v, %i, axes=(0,)) : f32[64]
      %1 = slice_update(%0, %v, slices=((3, 4, 1),)) : f32[64]
      %2 = slice_update(%1, %v, slices=((5, 6, 1),)) : f32[64]
      %3 = strided_slice(%2, slices=((7, 8, 1),)) : f32[1]
      %4 = make_tuple(%2, %3) : (f32[64], f32[1])
      return %4
    }
    """
    executable = compiled(text, donate={0: 0})
    assert "arena of 0 bytes" in executable.memory_table()
    p, v = f32(64), f32(1, seed=1)
    expected = Executable(parse(text)).run([p.copy(), v, 9])
    before = p.copy()
    with pytest.raises(Exception):  # noqa: B017
        executable.run([p, v, 64])
    assert same(p, before)
    new, row = executable.run([p, v, 9])
    assert new is p and same((new, row), expected)


@pytest.mark.parametrize(
    "read", ["strided_slice(%0, slices=((3, 4, 1),))", "strided_slice(%p, slices=((3, 4, 1),))"], ids=["between", "old"]
)
def test_what_is_read_of_a_value_before_its_next_update_stays(read):
    text = f"""
    graph @main(%p: f32[64], %v: f32[1]) -> (f32[64], f32[1]) {{
      %0 = slice_update(%p, %v, slices=((2, 3, 1),)) : f32[64]
      %1 = slice_update(%0, %v, slices=((3, 4, 1),)) : f32[64]
      %2 = {read} : f32[1]
      %3 = make_tuple(%1, %2) : (f32[64], f32[1])
      return %3
    }}
    """
    p, v = f32(64), f32(1, seed=1)
    expected = Executable(parse(text)).run([p.copy(), v])
    assert same(compiled(text, donate={0: 0}).run([p, v]), expected)


def test_an_update_by_what_was_read_of_the_value_is_in_place():
    text = """
    graph @main(%p: f32[64], %v: f32[1]) -> (f32[64],) {
      %0 = slice_update(%p, %v, slices=((2, 3, 1),)) : f32[64]
      %1 = strided_slice(%0, slices=((2, 3, 1),)) : f32[1]
      %2 = add(%1, %v) : f32[1]
      %3 = slice_update(%0, %2, slices=((2, 3, 1),)) : f32[64]
      %4 = make_tuple(%3) : (f32[64],)
      return %4
    }
    """
    executable, p, v = compiled(text, donate={0: 0}), f32(64), f32(1, seed=1)
    arena = executable.memory_table().splitlines()[0]
    assert int(arena.split()[2]) < 256
    expected = Executable(parse(text)).run([p.copy(), v])
    assert same(executable.run([p, v]), expected)


def test_places_are_checked_before_the_first_of_several_updates():
    text = """
    graph @main(%p: f32[64], %q: f32[64], %v: f32[1], %i: int, %j: int) -> (f32[64], f32[64], f32[1]) {
      %0 = dynamic_update(%p, %v, %i, axes=(0,)) : f32[64]
      %1 = scalar_binary(%j, 1, fn='add') : int
      %2 = dynamic_update(%0, %v, %1, axes=(0,)) : f32[64]
      %3 = dynamic_slice(%2, %j, axes=(0,), sizes=(1,)) : f32[1]
      %4 = dynamic_update(%q, %3, %j, axes=(0,)) : f32[64]
      %5 = make_tuple(%2, %4, %3) : (f32[64], f32[64], f32[1])
      return %5
    }
    """
    executable = compiled(text, donate={0: 0, 1: 1})
    p, q, v = f32(64), f32(64, seed=1), f32(1, seed=2)
    before = p.copy(), q.copy()
    for i, j in ((64, 3), (3, 63), (3, -65), (0, 64)):
        with pytest.raises(Exception):  # noqa: B017 (which one is the interpreter's matter)
            executable.run([p, q, v, i, j])
        assert same((p, q), before)
    expected = Executable(parse(text)).run([p.copy(), q.copy(), v, 5, -3])
    found = executable.run([p, q, v, 5, -3])
    assert found[0] is p and found[1] is q and same(found, expected)


def test_a_place_that_is_read_from_what_was_written_is_not_checked_before():
    text = """
    graph @main(%p: f32[64], %n: i64[8], %m: i64[1], %v: f32[1], %i: int) -> (f32[64], i64[8]) {
      %0 = dynamic_update(%n, %m, %i, axes=(0,)) : i64[8]
      %1 = dynamic_slice(%0, %i, axes=(0,), sizes=(1,)) : i64[1]
      %2 = reshape(%1, shape=()) : i64[]
      %3 = tensor_item(%2, kind='int') : int
      %4 = dynamic_update(%p, %v, %3, axes=(0,)) : f32[64]
      %5 = make_tuple(%4, %0) : (f32[64], i64[8])
      return %5
    }
    """
    executable = compiled(text, donate={0: 0, 1: 1})
    p, n, v = f32(64), np.arange(8), f32(1, seed=2)
    before = p.copy(), n.copy()
    with pytest.raises(Exception):  # noqa: B017
        executable.run([p, n, np.array([64]), v, 3])
    assert same((p, n), before)
    expected = Executable(parse(text)).run([p.copy(), n.copy(), np.array([9]), v, 3])
    assert same(executable.run([p, n, np.array([9]), v, 3]), expected)
