"""Memory of compiled functions: never more than eager's, and flat however often they are called."""

from __future__ import annotations

import gc
import os
import pathlib
import re

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops
from tests.unit.growth import growth
from tests.unit.runtime.processes import alone


def f32(*shape):
    return ms.Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


def training(net, loss, make):
    """A step that trains ``net``, its batch made by ``make``."""
    net.set_train()
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    def step(x, y):
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    return step, make()


def dense_network():
    net = nn.SequentialCell(nn.Dense(64, 256), nn.ReLU(), nn.Dense(256, 256), nn.GELU(), nn.Dense(256, 10))
    return training(net, nn.CrossEntropyLoss(), lambda: (f32(128, 64), ms.Tensor(np.arange(128) % 10, ms.int32)))


def convolutions():
    net = nn.SequentialCell(
        nn.Conv2d(3, 16, 3, has_bias=True), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(16, 16, 5), nn.ReLU(), nn.Flatten(), nn.Dense(16 * 144, 10),
    )  # fmt: skip
    return training(net, nn.CrossEntropyLoss(), lambda: (f32(16, 3, 24, 24), ms.Tensor(np.arange(16) % 10, ms.int32)))


def recurrence():
    """Stacks of residuals grow while the compiled program runs; no plan of its arena has them."""
    weight = f32(256, 256)

    def unrolled(x, n):
        i = 0
        while i < n:
            x = ops.tanh(x @ weight) + x
            i = i + 1
        return ops.sum(x * x)

    return ms.grad(unrolled), (f32(1024, 256), ms.Tensor(12))


def resident(name):
    """``VmRSS`` (now) or ``VmHWM`` (at most) of this process, in KiB."""
    return int(re.search(rf"{name}:\s+(\d+) kB", pathlib.Path("/proc/self/status").read_text())[1])


def peak_of(function, arguments):
    """How far the memory of the process grows, in KiB, during a call that begins with nothing in reserve."""
    gc.collect()
    ms.runtime.empty_cache()
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
    before = resident("VmRSS")
    function(*arguments)
    return resident("VmHWM") - before


def peaks(problem):
    function, arguments = problem()
    compiled = ms.jit(function)
    for _ in range(2):
        function(*arguments)
        compiled(*arguments)
    assert compiled.explain().versions[0]["in_python"] == []
    return peak_of(function, arguments), peak_of(compiled, arguments)


@pytest.mark.timed  # the system counts pages, now and then
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the system does not tell peaks of memory")
@pytest.mark.parametrize("problem", [dense_network, convolutions, recurrence])
def test_a_compiled_function_needs_no_more_memory_than_eager(problem):
    eager, compiled = alone(peaks, problem)
    assert eager > 1_500
    assert compiled <= eager


def native_steps():
    net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2))
    step, batch = training(net, nn.MSELoss(), lambda: (f32(3, 4), f32(3, 2)))
    step = ms.jit(step)
    for _ in range(2_000):
        step(*batch)
    gc.collect()
    held = ms.runtime.memory_allocated()

    def work():
        for _ in range(100_000):
            step(*batch)
        gc.collect()
        assert ms.runtime.memory_allocated() == held
        (version,) = step.explain().versions
        assert version["native_calls"] > 100_000

    return work


def test_memory_is_flat_over_100_000_steps():
    assert growth(native_steps) < 100_000  # not a byte for a step


def waves(x, n):
    while n > 0:
        x, n = ops.sin(x), n - 1
    return x.sum()


NET = nn.SequentialCell(nn.Dense(16, 16), nn.LayerNorm((16,)), nn.ReLU(), nn.Dense(16, 4))
COMPILED, LOOP = ms.jit(lambda x: NET(x).sum()), ms.jit(waves)
CALLS = {
    "eager step": training(NET, lambda x, y: x.sum(), tuple)[0],
    "compiled step": ms.jit(training(NET, lambda x, y: x.sum(), tuple)[0]),
    "gradient of a compiled function": lambda x, _: ms.value_and_grad(COMPILED, None, NET.trainable_params())(x),
    "its second gradient": lambda x, _: ms.grad(lambda x: ms.grad(COMPILED)(x).sum())(x),
    "gradient of a compiled loop": lambda x, n: ms.grad(LOOP)(x, n),
    "vmap and jvp": lambda x, _: ms.jvp(lambda x: ms.vmap(ops.sin)(x), x, x),
}


def garbage():
    """For each kind of call how many objects of five only the collector finds."""
    x, n = f32(8, 16), ms.Tensor(5)
    found = {}
    for name, call in CALLS.items():
        for _ in range(6):
            call(x, n)
        gc.collect()
        gc.disable()
        for _ in range(5):
            call(x, n)
        found[name] = gc.collect()
        gc.enable()
    return found


def test_nothing_waits_for_the_garbage_collector():
    """Cycles would hold tensors, often large ones, until it happens to come."""
    assert alone(garbage) == dict.fromkeys(CALLS, 0)
