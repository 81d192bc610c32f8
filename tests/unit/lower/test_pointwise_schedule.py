"""Elementwise loops: every broadcast, every dtype, every rest of a row; one kernel for all shapes of a pattern."""

from __future__ import annotations

import numpy as np
import pytest

from duograph.core import dtype as dt
from duograph.core.dim import Symbol
from duograph.core.op import get_op
from duograph.core.types import FLOAT, TensorType
from duograph.lower.layout import broadcast_strides, collapse
from duograph.lower.lowering import Lowering, Operand, outputs_of
from duograph.lower.pointwise import ROW_CHUNK, lower_pointwise, lower_program
from duograph.lower.program import Leaf, single_step
from duograph.lower.rule import Pointwise, rule_of
from duograph.runtime.pool import pool
from tests.unit.lower.kernel_checks import DTYPES, bits, check, run_lowered, sample

SHAPES = {
    "numbers": ((), ()),
    "one with a vector": ((), (37,)),
    "equal": ((5, 7), (5, 7)),
    "row": ((5, 70), (70,)),
    "column": ((5, 70), (5, 1)),
    "outer product": ((5, 1), (1, 33)),
    "middle": ((4, 1, 7), (4, 5, 1)),
    "channels": ((2, 3, 4, 5), (3, 1, 1)),
    "every second axis": ((2, 1, 4, 1), (1, 3, 1, 5)),
    "narrow rows": ((300, 3), (3,)),
    "rows that are cut": ((3, ROW_CHUNK + 5), (3, 1)),
    "nothing": ((0, 4), (4,)),
}


def lowered(name: str, *types, **attrs) -> Lowering:
    op = get_op(name)
    operands = [t if isinstance(t, Operand) else Operand(t) for t in types]
    c = Lowering(op, attrs, operands, outputs_of(op.result_type(tuple([x.type for x in operands]), attrs)))
    lower_pointwise(c, rule_of(op))
    return c


def f32(*shape) -> TensorType:
    return TensorType(dt.float32, shape)


@pytest.mark.parametrize("case", SHAPES)
def test_broadcasting(case):
    a, b = (sample(shape, np.float32, k) for k, shape in enumerate(SHAPES[case]))
    check("add", a, b)
    check("select", np.asarray(a > 0), a, b)
    check("select", np.asarray(b > 0), b, a)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 7, 8, 15, 16, 17, 33, 64, 100])
def test_whatever_is_left_of_a_row(dtype, size):
    check("add", sample(size, dtype), sample(size, dtype, 1))
    check("add", sample((3, size), dtype), sample(size, dtype, 1))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_share_long_loops(threads):
    x, y = sample(1_000_003, np.float32), sample((3, ROW_CHUNK + 5), np.float32)
    pool.set_threads(threads)
    try:
        check("mul", x, x)
        check("add", y, y[:, :1].copy())
    finally:
        pool.refresh()


def test_one_kernel_serves_all_shapes_of_a_pattern():
    row = lowered("add", f32(5, 70), f32(70)).calls[0].function
    assert lowered("add", f32(9, 3), f32(3)).calls[0].function is row
    assert lowered("add", f32(2, 5, 70), f32(70)).calls[0].function is row
    assert lowered("add", f32(2, 5, 7), f32(5, 7)).calls[0].function is row
    assert lowered("add", f32(5, 70), f32(5, 1)).calls[0].function is not row


def test_symbolic_extents_are_numbers_of_the_call():
    n = Symbol("n")
    c = lowered("mul", f32(n, 3), f32(3))
    for size in (0, 1, 5, 1000):
        x, y, out = sample((size, 3), np.float32), sample(3, np.float32, 1), np.empty((size, 3), np.float32)
        run_lowered(c, [x, y], [out], {"n": size})
        assert bits(out) == bits(x * y)


def test_constants_are_written_into_the_code():
    x = Operand(f32(40))
    c = lowered("mul", x, Operand(f32(), value=np.array(2.5, np.float32)))
    (call,) = c.calls
    assert call.buffers == (x, *c.outs)
    assert "2.5" in call.function.text


def test_numbers_known_at_run_time_are_numbers_of_the_call():
    number = Operand(FLOAT)
    rule = Pointwise(lambda b, x, factor: x * b.convert(factor, "f32"))
    x, out = Operand(f32(40)), Operand(f32(40))
    leaves = [Leaf(x, (1,)), Leaf(number)]
    call = lower_program("scale", single_step(get_op("mul"), rule, {}, leaves, f32(40)), (40,), [out])
    assert call.buffers == (x, out) and number in call.dims
    c = Lowering(get_op("mul"), {}, [x, number], [out], [call])
    values, scaled = sample(40, np.float32), np.empty(40, np.float32)
    run_lowered(c, [values, 0.5], [scaled])
    assert bits(scaled) == bits(values * np.float32(0.5))


def test_half_types_are_rounded_by_each_op():
    x = np.array([2049.0, 0.1, 1e-7, 65504.0], np.float16)
    check("add", x, x)
    check("mul", x, np.full(4, 0.3, np.float16))


def test_what_may_be_overwritten():
    """An operand of the shape and element size of the result, but none that is broadcast."""
    (call,) = lowered("add", f32(5, 7), f32(7)).calls
    assert call.inplace == ((0, 2),)
    (call,) = lowered("less", f32(5), f32(5)).calls
    assert call.inplace == ()
    (call,) = lowered("select", TensorType(dt.bool_, (5,)), f32(5), f32(5)).calls
    assert call.inplace == ((1, 3), (2, 3))


def test_in_place():
    c = lowered("mul", f32(1000), f32(1000))
    x, y = sample(1000, np.float32), sample(1000, np.float32, 1)
    want = x * y
    run_lowered(c, [x, y], [y])
    assert bits(y) == bits(want)


def test_loops_join_where_every_operand_walks_on():
    space = (2, 3, 4, 5)
    whole = broadcast_strides(space, space)
    assert collapse(space, [whole]) == ([120], [[1]])
    assert collapse(space, [whole, broadcast_strides((4, 5), space)]) == ([6, 20], [[20, 1], [0, 1]])
    assert collapse(space, [whole, broadcast_strides((3, 1, 1), space)]) == ([2, 3, 20], [[60, 20, 1], [0, 1, 0]])
    assert collapse((4, 1, 6), [(6, 6, 1)]) == ([24], [[1]])
