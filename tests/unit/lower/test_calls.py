"""Arguments of many calls come from tables that are made once; those that are known late are stored before the call."""

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from duograph.base.events import record
from duograph.lower.emit.calls import FEWEST_CALLS
from duograph.lower.emit.functions import emit_functions
from duograph.lower.loop import Builder
from duograph.lower.target import current_target
from duograph.runtime.kernels.kernels import register
from duograph.runtime.programs.frame import floor_divided
from tests.unit.lower.test_loop_ir import run_native


def add_one():
    """Adds a constant and a number to so many words."""
    b = Builder("add_one")
    out, n, more = b.buffer("out", "i64"), b.dim("n"), b.dim("more")
    b.for_(0, n, 1, lambda i: b.store(out, i, b.add(b.load(out, i), b.add(more, 1))))
    return b.finish()


def caller(inner, calls, late):
    """Calls on a part of a buffer that begins where a size says, as large as another size; some sizes are ``late``."""
    b = Builder("caller")
    out, n, at = b.buffer("out", "i64"), b.dim("n"), b.dim("at")
    start = b.mul(b.add(at, 1), 8)
    b.fail(b.gt(at, 100), 3)
    b.leave()
    for k in range(calls):
        size = b.add(n, k % 3) if late and k % 2 else n
        b.call(inner.symbol, [b.view(b.view(out, start, "i64"), 8 * (k % 2), "i64")], [size, b.const(k)])
    return b.finish()


@pytest.mark.parametrize("calls", [FEWEST_CALLS - 1, FEWEST_CALLS, 40])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("sizes", [(5, 0), (0, 2), (7, 3), (5, 101)])
def test_tables_give_what_was_asked_for(calls, late, sizes):
    inner = add_one()
    register([inner])
    outer = caller(inner, calls, late)
    n, at = sizes
    made, expected = np.zeros(1000, np.int64), np.zeros(1000, np.int64)
    status = run_native(outer, [made], sizes)
    assert status == (3 if at > 100 else 0)
    for k in range(0 if status else calls):
        first = at + 1 + k % 2
        expected[first : first + n + (k % 3 if late and k % 2 else 0)] += k + 1
    np.testing.assert_array_equal(made, expected)


def test_what_is_known_early_is_not_stored_before_each_call():
    inner = add_one()
    text = emit_functions([caller(inner, 40, late=False)], current_target())
    assert "%cdims" not in text and "%cbufs" not in text
    assert text.count("store i64") == emit_functions([caller(inner, 20, late=False)], current_target()).count(
        "store i64"
    )
    assert "%cdims" in emit_functions([caller(inner, 40, late=True)], current_target())


@pytest.mark.parametrize("y", [1, 2, 3, 8, 1 << 20, -3, -8])
def test_division_by_a_known_number_is_pythons(y):
    b = Builder("divide")
    out, x = b.buffer("out", "i64"), b.dim("x")
    for k, found in enumerate(floor_divided(b, x, y)):
        b.store(out, k, found)
    function = b.finish()
    for n in (-17, -16, -1, 0, 1, 15, 16, 17, (1 << 20) - 1, -(1 << 20) - 1):
        native = np.zeros(2, np.int64)
        run_native(function, [native], [n])
        assert native.tolist() == [n // y, n % y]


def test_a_program_for_all_sizes_takes_no_more_text_per_step_than_one_for_one_size():
    weights = [Tensor(np.ones((4, 4), np.float32)) for _ in range(30)]

    @ms.jit
    def f(x):
        for w in weights:
            x = ops.softmax(ops.matmul(x, w), -1)
        return x.sum(0)

    lines = []
    for rows in (3, 5):
        with record() as log:
            f(ops.ones((rows, 4)))
        found = [f for event in log.of_kind("kernels") for f in event.data["functions"] if f.symbol.startswith("k_f_")]
        lines.append(len(emit_functions(found[-1:], current_target()).splitlines()))
    assert len(f.explain().versions) == 2
    assert lines[1] < 2 * lines[0]
