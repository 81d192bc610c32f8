"""Code lives as long as somebody uses it."""

import gc
import threading
import weakref

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, ops
from duograph.core.dtype import float32, int64
from duograph.core.op import get_op
from duograph.core.types import TensorType
from duograph.lower.loop.builder import Builder
from duograph.runtime.kernels import kernels
from duograph.runtime.kernels.single import lower_op
from tests.unit.runtime.processes import python


def copying(factor):
    """A kernel that nobody else has."""
    b = Builder(f"copying{factor}")
    x, out = b.buffer("x", "f32"), b.buffer("out", "f32")
    b.store(out, 0, b.mul(b.load(x, 0), factor))
    return b.finish()


@pytest.fixture
def nothing_recent(monkeypatch):
    monkeypatch.setattr(kernels, "MOST_RECENT", 0)


def test_code_goes_with_its_last_user(nothing_recent):
    function = copying(1.2345)
    (code,) = kernels.load_kernels([function])
    assert kernels.load_kernels([function]) == (code,)
    mapping = weakref.ref(code._mapping)
    del code
    gc.collect()
    assert mapping() is None
    keep = []
    assert kernels.kernel_address(function, keep) == keep[0].address(function.symbol)


def test_a_compiled_function_keeps_its_code(nothing_recent):
    def made(c):
        compiled = ms.jit(lambda x: x * c + x.sum())
        return compiled, [compiled(x).asnumpy().tobytes() for _ in range(3)]

    x = Tensor(np.arange(3, dtype=np.float32))
    compiled, want = made(1.875)
    for n in range(30):
        made(2 + n / 64)
    gc.collect()
    assert [compiled(x).asnumpy().tobytes() for _ in range(3)] == want


def test_a_call_keeps_what_it_runs(nothing_recent):
    """Other threads drop functions, whose code goes, while their calls are going on."""
    x = Tensor(np.ones((160, 160), np.float32))
    held, wrong, stop = [], [], threading.Event()

    def fresh(n):
        c = 1 + n / 64
        return ms.jit(lambda x: ms.ops.matmul(x, x) * c), 160 * c

    held.append(fresh(0))

    def call():
        while not stop.is_set():
            f, want = held[0]
            if not (f(x).asnumpy() == want).all():
                wrong.append(want)
            del f

    threads = [threading.Thread(target=call) for _ in range(2)]
    for t in threads:
        t.start()
    for n in range(1, 25):
        held[0] = fresh(n)
        gc.collect()
    stop.set()
    for t in threads:
        t.join()
    assert not wrong


def test_mappings_do_not_grow_with_compilations():
    program = """
        import gc
        import numpy as np
        import duograph as ms
        from duograph.runtime.kernels import kernels

        kernels.MOST_RECENT = 20
        x = ms.Tensor(np.ones((4, 5), np.float32))

        def mappings():
            gc.collect()
            with open("/proc/self/maps") as file:
                return len(file.readlines())

        def compile_some(first, count):
            for n in range(first, first + count):
                c = 1 + n / 7
                f = ms.jit(lambda x: x * c + (x - c) * x.sum())
                for _ in range(3):
                    f(x)

        compile_some(0, 30)
        before = mappings()
        compile_some(30, 90)
        print(mappings() - before)
    """
    assert int(python(program, MALLOC_ARENA_MAX="1")) < 20  # an arena for each thread is malloc's


def needs_calls(name, shape, *others, **attrs):
    return bool(kernels.calls_of(lower_op(get_op(name), [TensorType(float32, shape), *others], attrs)))


def test_results_without_elements_need_no_call():
    """Its loops over the other extents would run for hours. What may note a failure is called all the same."""
    assert needs_calls("tril", (2**40, 3), diagonal=0)
    assert not needs_calls("tril", (2**40, 0), diagonal=0)
    assert needs_calls("gather", (5, 0), TensorType(int64, (2,)), axis=0)
    big = ops.zeros((2**40, 0))
    for call in (lambda: ops.tril(big), lambda: ms.jit(ops.tril)(big)):
        assert [call().shape for _ in range(4)] == [big.shape] * 4
    with pytest.raises(RuntimeError, match="but got 7"):
        ops.gather(ops.zeros((5, 0)), Tensor([7]), 0)
