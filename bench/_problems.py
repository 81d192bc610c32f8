"""The training problems that frameworks are compared on: sizes, weights and batches as NumPy arrays, nothing else.

Every framework builds its network from the same weights and sees the same batch, so losses can be compared.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

Arrays = dict[str, np.ndarray]
HEADS, SEQUENCE, VOCABULARY, WIDTH, BLOCKS = 8, 64, 1000, 256, 2  # of the GPT
TIME, HIDDEN, FEATURES = 32, 128, 64  # of the LSTM
CHANNELS = 64  # of the ResNet block


@dataclass(frozen=True)
class Problem:
    """One problem.

    Attributes:
        weights: start values by name; matrices are (out, in) unless stated.
        x, y: one batch.
        optimizer: ``"momentum"``, ``"sgd"``, ``"adam"`` or ``"adamw"``.
        rate: learning rate.
    """

    weights: Arrays
    x: np.ndarray
    y: np.ndarray
    optimizer: str
    rate: float


def _matrix(rng: np.random.Generator, *shape: int) -> np.ndarray:
    fan_in = int(np.prod(shape[1:]))
    return (rng.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)


def _mlp(rng: np.random.Generator, batch: int, *sizes: int) -> Problem:
    weights: Arrays = {}
    for i, (a, b) in enumerate(itertools.pairwise(sizes)):
        weights[f"w{i}"], weights[f"b{i}"] = _matrix(rng, b, a), np.zeros(b, np.float32)
    x = rng.standard_normal((batch, sizes[0])).astype(np.float32)
    return Problem(weights, x, rng.integers(0, sizes[-1], batch).astype(np.int32), "momentum", 0.01)


def _lenet(rng: np.random.Generator) -> Problem:
    weights: Arrays = {}
    for name, shape in (("c0", (6, 1, 5, 5)), ("c1", (16, 6, 5, 5)), ("w0", (120, 400)), ("w1", (84, 120)),
                        ("w2", (10, 84))):  # fmt: skip
        weights[name], weights[name.replace("w", "b").replace("c", "d")] = (
            _matrix(rng, *shape), np.zeros(shape[0], np.float32),
        )  # fmt: skip
    x = rng.standard_normal((32, 1, 28, 28)).astype(np.float32)
    return Problem(weights, x, rng.integers(0, 10, 32).astype(np.int32), "adam", 1e-3)


def _resnet(rng: np.random.Generator) -> Problem:
    weights: Arrays = {}
    for i in range(2):
        weights[f"c{i}"] = _matrix(rng, CHANNELS, CHANNELS, 3, 3)
        weights[f"gamma{i}"], weights[f"beta{i}"] = np.ones(CHANNELS, np.float32), np.zeros(CHANNELS, np.float32)
    weights["w"], weights["b"] = _matrix(rng, 10, CHANNELS), np.zeros(10, np.float32)
    x = rng.standard_normal((16, CHANNELS, 32, 32)).astype(np.float32)
    return Problem(weights, x, rng.integers(0, 10, 16).astype(np.int32), "sgd", 0.01)


def _gpt(rng: np.random.Generator) -> Problem:
    def small(*shape: int) -> np.ndarray:
        return (0.02 * rng.standard_normal(shape)).astype(np.float32)

    weights: Arrays = {"tokens": small(VOCABULARY, WIDTH), "positions": small(SEQUENCE, WIDTH)}
    for i in range(BLOCKS):
        for name, (out, in_) in {"qkv": (3 * WIDTH, WIDTH), "out": (WIDTH, WIDTH), "up": (4 * WIDTH, WIDTH),
                                 "down": (WIDTH, 4 * WIDTH)}.items():  # fmt: skip
            weights[f"{name}{i}"], weights[f"{name}_bias{i}"] = small(out, in_), np.zeros(out, np.float32)
    weights["head"] = small(VOCABULARY, WIDTH)
    x, y = (rng.integers(0, VOCABULARY, (8, SEQUENCE)).astype(np.int32) for _ in range(2))
    return Problem(weights, x, y, "adamw", 1e-3)


def _lstm(rng: np.random.Generator) -> Problem:
    weights = {
        "wx": (rng.standard_normal((FEATURES, 4 * HIDDEN)) / 8).astype(np.float32),  # (in, out)
        "wh": (rng.standard_normal((HIDDEN, 4 * HIDDEN)) / 11).astype(np.float32),
        "b": np.zeros(4 * HIDDEN, np.float32), "w": _matrix(rng, 10, HIDDEN), "v": np.zeros(10, np.float32),
    }  # fmt: skip
    x = rng.standard_normal((TIME, 32, FEATURES)).astype(np.float32)
    return Problem(weights, x, rng.integers(0, 10, 32).astype(np.int32), "sgd", 0.01)


PROBLEMS = {
    "MLP": lambda rng: _mlp(rng, 64, 784, 512, 512, 10),
    "small MLP": lambda rng: _mlp(rng, 32, 64, 64, 10),
    "LeNet": _lenet,
    "ResNet block": _resnet,
    "GPT, 2 layers": _gpt,
    "LSTM": _lstm,
}


def problem(name: str) -> Problem:
    """The problem ``name``; the same at every call."""
    return PROBLEMS[name](np.random.default_rng(1234))
