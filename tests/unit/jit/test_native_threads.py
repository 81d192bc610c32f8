"""Native calls in several threads at once, in forked processes, and where the machine cannot be had."""

from __future__ import annotations

import os
import threading

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from duograph.base.config import configure
from tests.unit.jit.native_calls import bits, f32, is_native, native_hits, warmed
from tests.unit.runtime.processes import child_agrees, python

LARGE = [Tensor(np.random.default_rng(i).standard_normal((192, 192)).astype(np.float32)) for i in range(4)]


def product(a, b):
    return ops.relu(ops.matmul(a, b)) + a


def test_threads_that_run_one_function():
    """The GIL is released in the code, so calls meet; who comes second is served by Python."""
    compiled = warmed(ms.jit(product), LARGE[0], LARGE[1])
    pairs = [(a, b) for a in LARGE for b in LARGE]
    expected = [bits(product(a, b)) for a, b in pairs]
    wrong = []

    def work(first):
        for i in range(60):
            k = (first + i) % len(pairs)
            if bits(compiled(*pairs[k])) != expected[k]:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(5 * t,)) for t in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert is_native(compiled, LARGE[0], LARGE[1])


def test_a_thread_that_takes_the_tensors_away_meanwhile():
    """What a call reads lives until it ends, though nobody else wants it any more."""
    net = ms.nn.Dense(192, 192)
    compiled = warmed(ms.jit(net), LARGE[0])
    stop = threading.Event()

    def replace():
        while not stop.is_set():
            net.weight.set_data(Tensor(np.ones((192, 192), np.float32)))
            net.bias = ms.Parameter(Tensor(np.zeros(192, np.float32)), name="bias")

    other = threading.Thread(target=replace)
    other.start()
    try:
        for _ in range(100):
            assert np.isfinite(compiled(LARGE[0]).asnumpy()).all()
    finally:
        stop.set()
        other.join()


def test_settings_of_one_thread_are_not_those_of_another():
    compiled = warmed(ms.jit(lambda x: x + 1.0), f32(1.0))
    before = native_hits(compiled)
    done = []

    def quietly():
        with configure(jit=False):
            compiled(f32(1.0))
        done.append(native_hits(compiled))

    thread = threading.Thread(target=quietly)
    thread.start()
    thread.join()
    assert done == [before]
    assert is_native(compiled, f32(1.0))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_in_the_middle_of_a_call():
    """The child has not the thread whose call was going on; it can call all the same."""
    compiled = warmed(ms.jit(product), LARGE[0], LARGE[1])
    expected = bits(product(LARGE[0], LARGE[1]))
    stop = threading.Event()

    def work():
        while not stop.is_set():
            compiled(LARGE[2], LARGE[3])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            assert child_agrees(
                lambda: bits(compiled(LARGE[0], LARGE[1])) == expected and is_native(compiled, LARGE[0], LARGE[1])
            )
    finally:
        stop.set()
        thread.join()


WITHOUT = """
import numpy as np
from duograph.runtime.python import cpython
{change}
import duograph as ms
compiled = ms.jit(lambda x, y: (x + y) * 2.0)
x = ms.Tensor(np.arange(3, dtype=np.float32))
for _ in range(5):
    assert compiled(x, x).asnumpy().tolist() == [0.0, 4.0, 8.0]
print(compiled._own.compiled[0].why_not_native)
"""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("cpython.CALL = (50, cpython.HEAD + 120)", "slot 50 of JitFunction"),
        ("cpython.Layout.has_versions = False", ""),
    ],
)
def test_a_python_that_is_laid_out_otherwise(change, reason):
    text = WITHOUT.format(change=change)
    assert reason in python(text)


AT_THE_END = """
import sys
import numpy as np
import duograph as ms

compiled = ms.jit(lambda x: (x + 1.0, {"y": x}))
x = ms.Tensor(np.zeros(3, np.float32))
for _ in range(4):
    compiled(x)

class Late:
    def __del__(self):
        sys.kept = [compiled(x) for _ in range(3)]

sys.late = Late()
late = Late()
print("fine")
"""


def test_calls_at_the_end_of_the_process():
    assert python(AT_THE_END) == "fine\n"


def test_first_calls_at_the_same_time():
    """Two threads once put native code into the class at the same time; the second then took the first one's for
    Python's own, and whatever was left to Python called itself without end."""
    program = """
        import sys, threading, time
        import duograph as ms
        from duograph.runtime.machine import code

        real = code.load
        def slow(*args, **kwargs):
            made = real(*args, **kwargs)
            time.sleep(0.02)
            return made
        code.load = slow
        compiled = ms.jit(lambda x: x * 2 + 1)
        found = []
        def work(first):
            for k in range(6):
                n = first + k % 3 + 1
                found.append(compiled(ms.Tensor([1.0] * n)).asnumpy().tolist() == [3.0] * n)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(len(found), all(found), compiled(ms.Tensor([2.0] * 50)).asnumpy().sum())
    """
    assert python(program) == "18 True 250.0\n"


def test_calls_that_write_tensors_need_little_stack():
    program = """
        import threading
        import numpy as np
        import duograph as ms
        from duograph import nn

        weights = [ms.Parameter(ms.Tensor(np.ones((64, 64), np.float32)), name=f"w{i}") for i in range(20)]
        optimizer = nn.Momentum(weights, 0.5, 0.5)
        gradients = tuple(ms.Tensor(np.ones(w.shape, np.float32)) for w in weights)
        for _ in range(3):
            optimizer(gradients)
        threading.stack_size(128 * 1024)
        thread = threading.Thread(target=lambda: [optimizer(gradients) for _ in range(5)])
        thread.start()
        thread.join()
        print(weights[7].asnumpy()[0, 0])
    """
    assert float(python(program)) == pytest.approx(1 - 0.5 * sum(2 - 2 ** (1 - t) for t in range(1, 9)))


class _Many:
    """Objects with very many tensors, which a call reads, shares, writes and gives."""

    def __init__(self, count):
        self.held = [ms.Parameter(f32(k), name=f"p{k}") for k in range(count)]

    def step(self, x):
        for p in self.held:
            p += x
        return [p * x for p in self.held]


def test_a_thread_of_little_stack_calls_what_has_many_tensors():
    many, plain, x, answers = _Many(700), _Many(700), f32(2.0), []
    compiled = warmed(ms.jit(many.step), x)
    assert is_native(compiled, x)
    for _ in range(4):
        plain.step(x)
    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=lambda: answers.append(is_native(compiled, x)))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    plain.step(x)
    assert answers == [True]
    assert [bits(r) for r in compiled(x)] == [bits(r) for r in plain.step(x)]
