"""Gradients of control flow: the bits of eager, of a tape around a graph, and of ``grad`` inside a graph are equal."""

import numpy as np
import pytest

from duograph.autodiff import tape
from duograph.autodiff.grads import grad
from duograph.autodiff.graph_vjp import vjp
from duograph.autodiff.loops import make_graph
from duograph.base.diagnostics import InternalError
from duograph.core import dtype as dt
from duograph.core.op import binding
from duograph.core.types import TensorType
from duograph.ir.builder import Builder
from duograph.ir.interpreter import run
from duograph.ops.arithmetic import add, mul, sub
from duograph.ops.compare import greater, less
from duograph.ops.graph_binder import GraphBinder
from duograph.ops.unary import exp, log
from duograph.tensor.tensor import Tensor

from .programs import assert_same_bits, compiled, if_, recursive, scan_, truth, while_

F32 = TensorType(dt.float32, ())
S, W = Tensor(0.37), Tensor(1.3)
ZERO, ONE = Tensor(0.0), Tensor(1.0)


def below(y, limit):
    return truth(less(y, Tensor(limit)))


def branch(s, w):
    taken = if_(truth(greater(s, ZERO)), lambda: mul(mul(s, s), w), lambda: mul(w, s))
    return add(mul(taken, s), mul(s, mul(w, s)))


def repeated_until(s, w):
    (y,) = while_(lambda y: below(y, 20.0), lambda y: (add(mul(y, w), mul(y, y)),), s)
    return add(mul(y, w), mul(s, s))


def never(s, w):
    (y,) = while_(lambda y: below(y, -20.0), lambda y: (add(mul(y, w), mul(y, y)),), s)
    return add(mul(y, w), mul(s, s))


def counted(s, w):
    y, a = scan_(4, lambda i, y, a: (add(mul(y, w), mul(s, a)), mul(y, w)), s, w)
    return add(mul(y, a), mul(mul(w, s), w))


def branch_in_loop(s, w):
    def body(i, y):
        new = if_(truth(greater(y, ONE)), lambda: mul(y, s), lambda: add(mul(y, w), y))
        return add(i, ONE), new

    _, y = while_(lambda i, y: below(i, 5.0), body, ZERO, s)
    return mul(y, w)


def nested(s, w):
    def body(i, y):
        _, v = while_(lambda j, v: truth(less(j, i)), lambda j, v: (add(j, ONE), mul(v, w)), ZERO, y)
        return add(i, ONE), add(mul(v, s), y)

    _, y = while_(lambda i, y: below(i, 4.0), body, ZERO, s)
    return mul(y, w)


def exponentials(s, w):
    (y,) = while_(lambda y: below(y, 3.0), lambda y: (add(exp(mul(y, s)), w),), s)
    return y


@pytest.mark.parametrize("program", [branch, repeated_until, never, counted, branch_in_loop, nested, exponentials])
@pytest.mark.parametrize("s", [0.37, 0.83])
def test_same_bits_first_order(program, s):
    assert_same_bits(program, Tensor(s), W, order=0)


@pytest.mark.parametrize("program", [branch, repeated_until, never, counted, branch_in_loop])
def test_same_bits_third_order(program):
    assert_same_bits(program, S, W, order=3)


def unused_log(s, w):
    u = log(sub(s, s))
    v = if_(truth(greater(ZERO, w)), lambda: mul(u, w), lambda: mul(w, w))
    return add(mul(v, w), s)


def test_a_branch_not_taken_contributes_exact_zeros():
    assert_same_bits(unused_log, S, W, order=2)
    around = grad(compiled([F32, F32], unused_log), (0, 1))(S, W)
    assert [float(g.array()) for g in around] == [1.0, pytest.approx(3 * 1.3 * 1.3, rel=1e-6)]


def power(self, x, n):
    return if_(below(n, 1.0), lambda: mul(x, x), lambda: mul(self(mul(x, W), sub(n, ONE)), add(x, n)))


def fibonacci(self, n, x):
    return if_(below(n, 2.0), lambda: mul(n, x), lambda: add(self(sub(n, ONE), x), self(sub(n, Tensor(2.0)), x)))


def test_recursion_differentiates():
    f = recursive("power", [F32, F32], F32, power)
    assert_same_bits(lambda x, n: mul(f(x, n), x), Tensor(1.1), Tensor(4.0), order=2)
    fib = recursive("fib", [F32, F32], F32, fibonacci)
    assert float(compiled([F32, F32], fib)(Tensor(10.0), ONE).array()) == 55.0
    assert_same_bits(lambda x, n: fib(n, mul(x, x)), W, Tensor(6.0), order=1)


def test_integer_carries_do_not_break_the_tape():
    def program(x):
        step, last = Tensor(1), Tensor(3)
        _, y = while_(lambda i, y: truth(less(i, last)), lambda i, y: (add(i, step), mul(y, x)), Tensor(0), x)
        return y

    assert_same_bits(program, W, order=2)


def test_vjp_of_a_graph():
    binder = GraphBinder(Builder())
    with binding(binder):
        graph = make_graph("f", [F32, F32], lambda x, y: mul(mul(x, x), y))
    forward, backward = vjp(graph)
    out, *saved = run(forward, np.float32(3), np.float32(5))
    assert out == 45
    assert [float(g) for g in run(backward, np.float32(1), *saved)] == [30.0, 9.0]


def test_a_tape_without_rules_for_control_ops_refuses(monkeypatch):
    """The rules stand above the tape and register themselves: one that was forgotten must not be a gradient of 0."""
    loop = compiled((F32, F32), repeated_until)
    monkeypatch.setattr(tape, "RULES", {})
    with pytest.raises(InternalError, match="autodiff.recording"):
        grad(lambda s, w: loop(s, w), (0, 1))(S, W)
