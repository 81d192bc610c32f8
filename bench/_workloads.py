"""What the benchmarks measure: the networks of the seed documents and of the digits demonstration.

Everything takes the package as an argument, so that the same lines run on MindSpore.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np

SLICE = 0.02
"""Seconds that one measurement of a short call should take."""


def per_call(call: Callable[[], Any]) -> Callable[[], float]:
    """A case that gives the seconds of one call, measured over as many calls as fill `SLICE`."""
    repeats = 0

    def case() -> float:
        nonlocal repeats
        if not repeats:
            for _ in range(3):  # what happens only once (compiling, becoming native) is not measured
                call()
            start = time.perf_counter()
            call()
            repeats = max(1, min(5000, int(SLICE / (time.perf_counter() - start))))
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return (time.perf_counter() - start) / repeats

    return case


def best_of(run: Callable[[], Any], repeats: int = 5) -> Callable[[], float]:
    """A case: the best of some runs in a row, since whoever shares the machine only ever adds to a time."""

    def case() -> float:
        best = float("inf")
        for _ in range(repeats):
            start = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - start)
        return best

    return case


@contextmanager
def graph_mode(ms: Any) -> Any:
    """Cells compile in the block."""
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        yield
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def tensor(ms: Any, *shape: int, seed: int = 0) -> Any:
    """Numbers from 0 to 1, always the same."""
    return ms.Tensor(np.random.default_rng(seed).random(shape, np.float32))


def seed_networks(ms: Any) -> dict[str, tuple[Callable[[], Any], tuple[Any, ...]]]:
    """Per network of the seed documents: what makes it, and its inputs."""
    nn, ops = ms.nn, ms.ops

    class Network(nn.Cell):
        def __init__(self):
            super().__init__()
            self.flatten = nn.Flatten()
            self.layers = nn.SequentialCell(
                nn.Dense(28 * 28, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10)
            )

        def construct(self, x):
            x = self.flatten(x)
            return self.layers(x)

    class Mul(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mul = ops.Mul()

        def construct(self, x, y):
            return self.mul(x, y)

    class Loop(nn.Cell):
        def __init__(self):
            super().__init__()
            self.z = ms.Parameter(ms.Tensor(np.array([1.0], np.float32)), name="z")

        def construct(self, x):
            for _ in range(3):
                x = x + self.z
            return x

    class AddMulMul(nn.Cell):
        def __init__(self):
            super().__init__()
            self.param = ms.Parameter(ms.Tensor(0.5, ms.float32))

        def construct(self, x):
            x = x + x
            x = x * self.param
            return x * x

    class Mixed(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, kernel_size=2, stride=1, padding=0, weight_init="ones", pad_mode="valid")
            self.bn = nn.BatchNorm2d(2, momentum=0.99, eps=0.00001, gamma_init="ones")
            self.relu = nn.ReLU()
            self.add_mul_mul = AddMulMul()

        def construct(self, x):
            x = self.conv(x)
            x = self.bn(x)
            x = self.relu(x)
            x = self.add_mul_mul(x)
            return self.relu(x)

    class Linear(nn.Cell):
        def __init__(self):
            super().__init__()
            self.matmul = ops.MatMul()
            self.z = ms.Parameter(ms.Tensor(np.array([2.0], np.float32)), name="z")

        def construct(self, x, y):
            x = x * self.z
            return self.matmul(x, y)

    class Gradient(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Linear()

        def construct(self, x, y):
            return ms.grad(self.net)(x, y)

    three = tensor(ms, 3)
    return {
        "five layers": (Network, (tensor(ms, 64, 1, 28, 28),)),
        "mul": (Mul, (three, three)),
        "loop": (Loop, (three,)),
        "mixed": (Mixed, (tensor(ms, 1, 1, 2, 2),)),
        "gradient": (Gradient, (tensor(ms, 2, 3), tensor(ms, 3, 3, seed=1))),
    }


def digits_networks(ms: Any) -> dict[str, Callable[[], Any]]:
    """The networks of ``python -m duograph demo``."""
    nn = ms.nn
    return {
        "mlp": lambda: nn.SequentialCell(nn.Flatten(), nn.Dense(64, 96), nn.ReLU(), nn.Dense(96, 10)),
        "cnn": lambda: nn.SequentialCell(
            nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Flatten(), nn.Dense(64, 10),
        ),
    }  # fmt: skip


def digits_batch(ms: Any) -> tuple[Any, Any]:
    """A batch of 64 images and labels; the numbers do not matter here."""
    labels = np.random.default_rng(1).integers(0, 10, 64).astype(np.int32)
    return tensor(ms, 64, 1, 8, 8), ms.Tensor(labels)


def training_step(ms: Any, network: Any) -> Callable[[Any, Any], Any]:
    """One step of training as a plain function."""
    loss_function = ms.nn.CrossEntropyLoss()
    optimizer = ms.nn.Adam(network.trainable_params(), learning_rate=1e-2)

    def forward(images, labels):
        return loss_function(network(images), labels)

    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(images, labels):
        loss, gradients = value_and_grad(images, labels)
        optimizer(gradients)
        return loss

    network.set_train()
    return step


def training_cell(ms: Any, network: Any) -> Any:
    """One step of training as a Cell, for graph mode."""
    optimizer = ms.nn.Adam(network.trainable_params(), learning_rate=1e-2)
    return ms.nn.TrainOneStepCell(ms.nn.WithLossCell(network, ms.nn.CrossEntropyLoss()), optimizer).set_train()
