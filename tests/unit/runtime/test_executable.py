"""Executables: straight-line code, numbers, symbolic sizes, steps in Python, wrong inputs, threads, memory."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from duograph.ir.parser import parse
from duograph.ops.scalar import UnforeseenKind
from duograph.runtime.programs.executable import Executable, compile_graph, release_memory
from duograph.runtime.programs.profile import profile
from tests.unit.growth import growth
from tests.unit.runtime.programs import both, compiled, f32, same

CHAIN = """
graph @main(%x: f32[4,8], %y: f32[8]) -> (f32[4,8], f32[4]) {
  %0 = add(%x, %y) : f32[4,8]
  %1 = mul(%0, %0) : f32[4,8]
  %2 = sub(%1, %x) : f32[4,8]
  %3 = reduce_sum(%2, axis=(1,), keep_dims=false) : f32[4]
  %4 = make_tuple(%2, %3) : (f32[4,8], f32[4])
  return %4
}
"""


def test_straight_line():
    out, total = both(CHAIN, f32(4, 8), f32(8))
    assert out.shape == (4, 8) and total.shape == (4,)


def test_single_result():
    assert both("graph @main(%x: f32[3]) -> f32[3] {\n  %0 = neg(%x) : f32[3]\n  return %0\n}", f32(3)).shape == (3,)


def test_what_is_fused_into_the_result_is_not_computed_again():
    text = """
    graph @main(%x: f32[4,8], %y: f32[8]) -> f32[4,8] {
      %0 = mul(%x, %y) : f32[4,8]
      %1 = neg(%0) : f32[4,8]
      return %1
    }
    """
    executable = compiled(text)
    (step,) = executable.build.steps_of(executable.graph)
    assert len(step.lowering.calls) == 1
    both(text, f32(4, 8), f32(8))


def test_one_native_call_for_everything():
    executable = compiled(CHAIN)
    executable.run([f32(4, 8), f32(8)])
    assert executable.notes == []
    assert len(executable.build.functions) == 1


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_zero_size(shape):
    dims = ",".join(map(str, shape))
    text = f"""
    graph @main(%x: f32[{dims}]) -> (f32[{dims}], f32[]) {{
      %0 = add(%x, %x) : f32[{dims}]
      %1 = reduce_sum(%0, axis={tuple(range(len(shape)))}, keep_dims=false) : f32[]
      %2 = make_tuple(%0, %1) : (f32[{dims}], f32[])
      return %2
    }}
    """
    both(text, np.zeros(shape, np.float32))


def test_outputs_never_share_memory_with_inputs_or_each_other():
    text = """
    graph @main(%x: f32[4]) -> (f32[4], f32[4], f32[2,2]) {
      %0 = reshape(%x, shape=(2, 2)) : f32[2,2]
      %1 = make_tuple(%x, %x, %0) : (f32[4], f32[4], f32[2,2])
      return %1
    }
    """
    x = f32(4)
    outs = compiled(text).run([x])
    assert all(same(o.ravel(), x) for o in outs)
    assert not any(np.shares_memory(a, b) for i, a in enumerate([x, *outs]) for b in [x, *outs][:i])


def test_constants():
    text = """
    graph @main(%x: f32[2]) -> (f32[2], f32[2], int) {
      %0 = add(%x, const<f32[2]>[1.5, 2.5]) : f32[2]
      %1 = make_tuple(%0, const<f32[2]>[1.5, 2.5], 7) : (f32[2], f32[2], int)
      return %1
    }
    """
    _, constant, number = both(text, f32(2))
    assert constant.tolist() == [1.5, 2.5] and number == 7


# ---- numbers --------------------------------------------------------------------------------------------------------


def arithmetic(fn: str, kind: str, result: str) -> str:
    return f"""
    graph @main(%a: {kind}, %b: {kind}) -> {result} {{
      %0 = scalar_binary(%a, %b, fn='{fn}') : {result}
      return %0
    }}
    """


@pytest.mark.parametrize("fn", ["add", "sub", "mul", "floordiv", "mod", "and", "or", "xor", "max", "min"])
@pytest.mark.parametrize("a", [7, -7, 0, 1 << 40])
@pytest.mark.parametrize("b", [2, -2, -1, 5])
def test_ints_are_pythons(fn, a, b):
    both(arithmetic(fn, "int", "int"), a, b)


@pytest.mark.parametrize("fn", ["add", "sub", "mul", "truediv", "max", "min"])
@pytest.mark.parametrize("a", [0.1, -2.5, float("inf"), float("nan"), -0.0])
def test_floats_are_pythons(fn, a):
    both(arithmetic(fn, "float", "float"), a, 3.0)


@pytest.mark.parametrize("fn", ["pow", "lshift", "rshift"])
def test_powers_and_shifts_of_ints(fn):
    executable = compiled(arithmetic(fn, "int", "int"))
    for a in (0, 1, -1, 3, -10, 1 << 40):
        for b in (0, 1, 2, 5, 62, 63, 64):
            want = {"pow": a**b, "lshift": a << b, "rshift": a >> b}[fn]
            assert executable.run([a, b]) == want
    assert not any("Python" in note for note in executable.notes)


@pytest.mark.parametrize("fn", ["pow", "floordiv", "mod"])
def test_floats_have_the_bits_of_pythons(fn):
    executable = compiled(arithmetic(fn, "float", "float"))
    values = [0.0, -0.0, 1.0, -1.0, 0.5, 1 / 3, 2.0, 7.25, -3.5, 1e-300, 1e300, *map(float, ("inf", "-inf", "nan"))]
    for a in values:
        for b in values:
            try:
                want = {"pow": lambda: a**b, "floordiv": lambda: a // b, "mod": lambda: a % b}[fn]()
            except (ZeroDivisionError, OverflowError) as error:
                with pytest.raises(type(error)):
                    executable.run([a, b])
                continue
            if isinstance(want, complex):
                with pytest.raises(UnforeseenKind):
                    executable.run([a, b])
            else:
                assert repr(executable.run([a, b])) == repr(want), (a, b)


def test_an_int_to_a_negative_power_is_no_int():
    """Plain Python answers then (`JitFunction._run`)."""
    with pytest.raises(UnforeseenKind):
        compiled(arithmetic("pow", "int", "int")).run([2, -2])


@pytest.mark.parametrize("fn", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparisons(fn):
    for a, b in [(1, 2), (2, 2), (3, 2)]:
        both(arithmetic(fn, "int", "bool"), a, b)
    both(arithmetic(fn, "float", "bool"), float("nan"), 1.0)


def test_numbers_of_more_than_64_bits_are_the_interpreters():
    executable = compiled(arithmetic("mul", "int", "int"))
    assert executable.run([1 << 40, 1 << 40]) == 1 << 80
    assert executable.run([3, 4]) == 12
    assert executable.run([1 << 70, 2]) == 1 << 71
    assert executable.repeats == 1
    assert any("64 bits" in note for note in executable.notes)


def test_division_by_zero_is_pythons_error():
    with pytest.raises(ZeroDivisionError):
        compiled(arithmetic("floordiv", "int", "int")).run([1, 0])


def test_numbers_and_tensors():
    text = """
    graph @main(%x: f32[3], %n: int) -> (f32[3], int, float, bool) {
      %0 = reduce_sum(%x, axis=(0,), keep_dims=false) : f32[]
      %1 = tensor_item(%0, kind='int') : int
      %2 = scalar_binary(%1, %n, fn='add') : int
      %3 = scalar_tensor(%2, dtype=f32) : f32[]
      %4 = mul(%x, %3) : f32[3]
      %5 = tensor_item(%0, kind='float') : float
      %6 = tensor_item(%0, kind='bool') : bool
      %7 = make_tuple(%4, %2, %5, %6) : (f32[3], int, float, bool)
      return %7
    }
    """
    both(text, np.array([1.5, 2.25, 3], np.float32), 4)


# ---- symbolic sizes -------------------------------------------------------------------------------------------------

SYMBOLIC = """
graph @main(%x: f32[n,4], %y: f32[n,4]) -> (f32[n,4], f32[2*n], int) {
  %0 = add(%x, %y) : f32[n,4]
  %1 = mul(%0, %x) : f32[n,4]
  %2 = reduce_sum(%1, axis=(1,), keep_dims=false) : f32[n]
  %3 = concat(%2, %2, axis=0) : f32[2*n]
  %4 = dim_size(%1, axis=0) : int
  %5 = make_tuple(%1, %3, %4) : (f32[n,4], f32[2*n], int)
  return %5
}
"""


def test_one_executable_serves_many_sizes():
    graph = parse(SYMBOLIC)
    executable = Executable(graph)
    from duograph.ir.interpreter import Interpreter

    for n in (1, 7, 300, 3, 0):
        values = [f32(n, 4), f32(n, 4, seed=1)]
        assert same(executable.run(values), Interpreter().run(graph, values))
    assert not executable.repeats


def test_sizes_that_disagree_are_no_crash():
    with pytest.raises(ValueError):
        compiled(SYMBOLIC).run([f32(3, 4), f32(2, 4)])


def test_sizes_that_depend_on_data():
    text = """
    graph @main(%x: f32[6]) -> (i64[nz,1], i64[nz,1], int) {
      %0 = nonzero(%x) : i64[nz,1]
      %1 = add(%0, %0) : i64[nz,1]
      %2 = dim_size(%1, axis=0) : int
      %3 = make_tuple(%0, %1, %2) : (i64[nz,1], i64[nz,1], int)
      return %3
    }
    """
    executable = compiled(text)
    for x in ([0, 1, 0, 2, 3, 0], [0] * 6, [1] * 6):
        hits, doubled, n = executable.run([np.array(x, np.float32)])
        assert hits.ravel().tolist() == [i for i, v in enumerate(x) if v]
        assert doubled.tolist() == (2 * hits).tolist() and n == len(hits)
    assert not executable.repeats and not executable.notes


# ---- wrong inputs ---------------------------------------------------------------------------------------------------


def test_wrong_inputs_never_reach_native_code():
    executable = compiled(CHAIN)
    for values in ([f32(4, 8)], [f32(4, 8), 3.0], [f32(4, 8).astype(np.float64), f32(8)], [f32(5, 8), f32(8)]):
        try:
            executable.run(values)
        except (TypeError, ValueError):
            pass  # the interpreter's error; or its result, where NumPy takes such values
    assert same(executable.run([f32(4, 8), f32(8)]), compiled(CHAIN).run([f32(4, 8), f32(8)]))


def test_arrays_of_any_layout():
    wide, backwards, readonly = f32(8, 8)[::2], f32(8)[::-1], f32(4, 8)
    readonly.flags.writeable = False
    both(CHAIN, wide, backwards)
    both(CHAIN, np.asfortranarray(f32(4, 8)), f32(16)[::2])
    both(CHAIN, readonly, f32(8))
    raw = np.zeros(4 * 8 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(4, 8)
    assert not raw.flags.aligned
    both(CHAIN, raw, f32(8))


# ---- calls ----------------------------------------------------------------------------------------------------------


def test_two_threads_run_the_same_executable():
    executable = compile_graph(parse(CHAIN))
    inputs = [(f32(4, 8, seed=s), f32(8, seed=s)) for s in range(8)]
    expected = [executable.run(list(i)) for i in inputs]
    wrong: list[int] = []

    def work(first: int) -> None:
        for k in range(300):
            i = (first + k) % len(inputs)
            if not same(executable.run(list(inputs[i])), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def many_calls():
    executable = compiled(CHAIN)
    values = [f32(4, 8), f32(8)]

    def work():
        for _ in range(20_000):
            executable.run(values)

    return work


def test_memory_is_flat_over_many_calls():
    assert growth(many_calls) < 20_000


def test_memory_can_be_released_between_calls():
    executable = compiled(CHAIN)
    expected = executable.run([f32(4, 8), f32(8)])
    release_memory()
    assert same(executable.run([f32(4, 8), f32(8)]), expected)


def test_an_executable_is_kept_with_its_graph():
    graph = parse(CHAIN)
    assert compile_graph(graph) is compile_graph(graph)
    assert compile_graph(graph) is not compile_graph(graph, level=0)


def test_profile_names_the_kernels():
    text = profile(parse(CHAIN), [f32(4, 8), f32(8)], level=0, repeats=2)
    head, columns, *rows = text.splitlines()
    assert head.endswith("us in 4 kernel calls") and "kernel" in columns
    assert len(rows) == 4 and any("reduce" in row for row in rows)


def test_gigantic_requests_are_refused_and_nothing_is_lost():
    text = """
    graph @main(%x: f32[n]) -> f32[n,n] {
      %0 = reshape(%x, shape=({n}, 1)) : f32[n,1]
      %1 = add(%0, %x) : f32[n,n]
      return %1
    }
    """
    executable = compiled(text)
    with pytest.raises(MemoryError):
        executable.run([np.zeros(1 << 27, np.float32)])
    x = f32(3)
    assert same(executable.run([x]), x[:, None] + x)
