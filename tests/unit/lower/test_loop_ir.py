"""Loop IR: what is built can be printed, read back, verified, interpreted and compiled, and all agree to the bit."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from duograph.lower.loop import Builder, VType
from duograph.lower.loop.interpret import OutOfBounds, fused_multiply_add, interpret
from duograph.lower.loop.ir import Function, Instr
from duograph.lower.loop.parser import LoopSyntaxError, parse_function
from duograph.lower.loop.types import NUMPY
from duograph.lower.loop.verify import INSTRUCTIONS, LoopIRError, verify
from duograph.runtime.kernels.kernels import kernel_address

KERNEL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


def run_native(function: Function, arrays, dims=()):
    """The status of the machine code of ``function`` on these arrays."""
    bufs = (ctypes.c_void_p * max(1, len(arrays)))(*[a.ctypes.data for a in arrays])
    words = np.zeros(max(1, len(dims)), np.int64)
    for i, (d, dim) in enumerate(zip(dims, function.dims, strict=True)):
        if dim.type.is_float:
            words[i : i + 1].view(np.float64)[0] = d
        else:
            words[i] = d
    return KERNEL(kernel_address(function))(ctypes.addressof(bufs), words.ctypes.data)


def both(function: Function, arrays, dims=()):
    """Status and contents of all arrays after running ``function``: checked to be the same natively, interpreted,
    and interpreted after a round trip through text."""
    read = parse_function(verify(function).text)
    assert verify(read).text == function.text
    made = []
    for run in (run_native, interpret, lambda f, a, d: interpret(read, a, d)):
        copies = [a.copy() for a in arrays]
        status = run(function, copies, dims)
        made.append((status, [c.tobytes() for c in copies]))
    assert made[0] == made[1] == made[2]
    return made[0][0], copies


def axpy() -> Function:
    """out = a*x + out over n elements, in chunks of 100."""
    b = Builder("axpy")
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32")
    n, a = b.dim("n"), b.dim("a", "f64")

    def chunk(begin, end):
        def row(i, lanes):
            factor = b.splat(b.convert(a, "f32"), lanes)
            b.store(out, i, b.fma(factor, b.load(x, i, lanes), b.load(out, i, lanes)))

        b.vector_loop(begin, end, 16, row)

    b.parallel(0, n, 100, chunk)
    return b.finish()


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 100, 1000])
def test_parallel_vector_loops(n):
    rng = np.random.default_rng(n)
    x, out = rng.standard_normal(n, np.float32), rng.standard_normal(n, np.float32)
    _, (_, made) = both(axpy(), [x, out], [n, 0.37])
    np.testing.assert_allclose(made, np.float32(0.37) * x + out, rtol=1e-5, atol=1e-6)


def test_the_text_is_the_identity():
    assert axpy().symbol == axpy().symbol
    other = Builder("axpy")
    other.buffer("x", "f32")
    assert other.finish().symbol != axpy().symbol


def test_loops_carry_values_and_may_run_zero_times():
    b = Builder("fibonacci")
    out, n = b.buffer("out", "i64"), b.dim("n")
    last, _ = b.for_(0, n, 1, lambda i, p, q: (q, p + q), [b.const(0), b.const(1)])
    steps, _ = b.while_([b.const(0), n], lambda k, m: b.gt(m, 1), lambda k, m: (k + 1, b.div(m, 2)))
    b.store(out, 0, last)
    b.store(out, 1, steps)
    f = b.finish()
    assert [both(f, [np.zeros(2, np.int64)], [n])[1][0].tolist() for n in (0, 1, 10, 90)] == [
        [0, 0], [1, 0], [55, 3], [2880067194370816120, 6],
    ]  # fmt: skip


def test_branches_yield_values():
    b = Builder("clip")
    out, n = b.buffer("out", "i64"), b.dim("n")
    (value,) = b.if_(b.lt(n, 0), lambda: b.const(0), lambda: b.if_(b.gt(n, 9), lambda: b.const(9), lambda: n)[0])
    b.store(out, 0, value)
    f = b.finish()
    assert [both(f, [np.zeros(1, np.int64)], [n])[1][0][0] for n in (-5, 0, 7, 12)] == [0, 0, 7, 9]


def test_the_largest_failure_is_the_status_and_the_kernel_goes_on():
    b = Builder("fails")
    out, n = b.buffer("out", "i64"), b.dim("n")
    b.fail(b.gt(n, 1), 1)
    b.parallel(0, n, 1, lambda begin, end: b.fail(b.eq(begin, 3), 3))
    b.fail(b.gt(n, 2), 2)
    b.store(out, 0, n)
    f = b.finish()
    for n, status in ((0, 0), (2, 1), (3, 2), (5, 3)):
        got, (array,) = both(f, [np.zeros(1, np.int64)], [n])
        assert (got, array[0]) == (status, n)


def test_memory_of_every_kind():
    b = Builder("memory")
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32")
    n = b.dim("n")
    scratch = b.alloca("f32", 8)
    heap = b.alloc(b.mul(n, 4), "f32")
    b.copy(heap, 0, x, 0, n)
    b.store(scratch, 0, b.load(heap, 0, 8, mask=b.lt(b.lanes(8), b.splat(n, 8))))
    second = b.view(scratch, 4, "f32")
    reverse = b.splat(b.sub(n, 1), 4) - b.lanes(4)
    b.scatter(out, b.lanes(4) * 2, b.gather(x, reverse))
    b.store(out, 1, b.load(second, 0))
    b.free(heap)
    _, (_, made) = both(b.finish(), [np.arange(5, dtype=np.float32), np.zeros(8, np.float32)], [5])
    assert made.tolist() == [4, 1, 3, 0, 2, 0, 1, 0]


@pytest.mark.parametrize("elem", ["bool", "i8", "bf16", "f32", "f64", "i64"])
def test_masks_of_one_lane(elem):
    b = Builder("one")
    x, out, on = b.buffer("x", elem), b.buffer("out", elem), b.buffer("on", "bool")

    def one(i):
        mask = b.load(on, i)
        b.store(out, i, b.load(x, i, 1, mask))
        b.store(out, i + 2, b.load(x, i), mask)
        b.scatter(out, i + 4, b.gather(x, i, mask), mask)

    b.for_(0, 2, 1, one)
    arrays = [np.ones(2, NUMPY[elem]), np.zeros(6, NUMPY[elem]), np.array([True, False])]
    _, (_, made, _) = both(b.finish(), arrays)
    assert made.astype(int).tolist() == [1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize("goal", sorted(set(NUMPY) - {"bool"}))
@pytest.mark.parametrize("source", sorted(NUMPY))
def test_conversions(source, goal):
    b = Builder("convert")
    x, out = b.buffer("x", source), b.buffer("out", goal)
    b.store(out, 0, b.convert(b.load(x, 0, 8), goal))
    values = np.array([0, 1, 1, 0, 3, 5, 100, 77]).astype(NUMPY[source])
    _, (_, made) = both(b.finish(), [values, np.zeros(8, NUMPY[goal])])
    np.testing.assert_array_equal(made.astype(np.float64), values.astype(np.float64))


def test_bfloat16_rounds_to_even_and_keeps_nan():
    b = Builder("round")
    x, out = b.buffer("x", "f32"), b.buffer("out", "bf16")
    b.store(out, 0, b.convert(b.load(x, 0, 8), "bf16"))
    values = np.array([1 + 2**-8, 1 + 3 * 2**-8, 3.4e38, -0.0, np.inf, 1e-40, 1 + 2**-8 + 2**-20, 2.0], np.float32)
    _, (_, made) = both(b.finish(), [values, np.zeros(8, NUMPY["bf16"])])
    assert made.tobytes() == values.astype(NUMPY["bf16"]).tobytes()


def test_functions_call_functions():
    from duograph.runtime.kernels.kernels import register

    inner = axpy()
    register([inner])
    b = Builder("twice")
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32")
    n = b.dim("n")
    for _ in range(2):
        b.call(inner.symbol, [x, out], [n, b.const(2.0, "f64")])
    outer = b.finish()
    arrays = [np.ones(20, np.float32), np.zeros(20, np.float32)]
    run_native(outer, arrays, [20])
    assert (arrays[1] == 4).all()
    again = [np.ones(20, np.float32), np.zeros(20, np.float32)]
    interpret(outer, again, [20], {inner.symbol: inner})
    assert (again[1] == 4).all()


def test_fma_is_rounded_once():
    tiny = np.float32(2**-12)
    a = np.array([1 + tiny, 2.0**64, np.inf, 0.0], np.float32)
    b = np.array([1 - tiny, 2.0**64, 0.0, 5.0], np.float32)
    c = np.array([-1, -1, 1, -0.0], np.float32)
    with np.errstate(all="ignore"):
        made = fused_multiply_add(a, b, c)
    assert made[0] == -(np.float64(tiny) ** 2)
    assert np.isinf(made[1]) and np.isnan(made[2]) and made[3] == 0


# ---- bad input -------------------------------------------------------------------------------------------------------


def test_the_interpreter_stays_inside_buffers():
    b = Builder("beyond")
    out = b.buffer("out", "f32")
    b.store(out, 4, b.const(1.0, "f32"))
    with pytest.raises(OutOfBounds, match="elements 4 to 5"):
        interpret(b.finish(), [np.zeros(4, np.float32)])


@pytest.mark.parametrize(
    "line",
    ["%0: f32 = nonsense 1", "%0: i64 = add 1 %7", "store &0 0 1", "for 0 1 1 {", "%0: f32x4 = splat"],
)
def test_what_is_no_loop_ir_is_refused(line):
    text = f"func(&0 out: f32; ) {{\n  {line}\n}}\n"
    with pytest.raises((LoopSyntaxError, LoopIRError, ValueError)):
        verify(parse_function(text))


def test_half_types_are_for_memory():
    b = Builder("half")
    x = b.buffer("x", "f16")
    with pytest.raises(LoopIRError, match="convert to f32"):
        b.store(x, 0, b.load(x, 0) + b.load(x, 1))
        verify(b.finish())


def test_regions_cannot_use_what_another_region_made():
    b = Builder("scopes")
    out = b.buffer("out", "i64")
    leaked = []
    b.for_(0, 3, 1, lambda i: leaked.append(i + 1))
    b.store(out, 0, leaked[0])
    with pytest.raises(LoopIRError, match="not defined here"):
        verify(b.finish())


def test_every_instruction_is_checked():
    assert Instr("load", (), {}, ()).op in INSTRUCTIONS
    assert VType("f32", 4).with_elem("bool") == VType("bool", 4)
