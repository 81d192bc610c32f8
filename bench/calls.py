"""Overheads: one operator on eight numbers, with and without a gradient, and calls of compiled functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bench._workloads import per_call

REPEATS = 200
_RNG = np.random.default_rng(6)
VECTORS = [_RNG.standard_normal(8).astype(np.float32) for _ in range(50)]


def total(*args: Any) -> Any:
    """A function of many arguments with little to compute."""
    out = args[0] + 1.0
    for x in args[1:]:
        out = out + x
    return out


def each(call: Callable[[], Any], count: int) -> Callable[[], float]:
    """Seconds per operation of a call that makes ``count`` of them."""
    timed = per_call(call)
    return lambda: timed() / count


def _sums(a: Any, b: Any) -> Callable[[], Any]:
    def call():
        for _ in range(REPEATS):
            c = a + b
        return c

    return call


def _mindspore(package: str) -> dict[str, Callable[[], float]]:
    ms = importlib.import_module(package)
    vectors = [ms.Tensor(v) for v in VECTORS]
    a, b = vectors[:2]

    def many(a):
        for _ in range(REPEATS):
            c = a + b
        return c.sum()

    gradient = ms.grad(many)
    found = {
        "eager a + b: eager": each(_sums(a, b), REPEATS),
        "eager a + b, recorded: eager": each(lambda: gradient(a), REPEATS),
    }
    for n in (1, 10, 50):
        compiled = ms.jit(total)
        found[f"call, {n} tensors: jit"] = per_call(lambda f=compiled, args=tuple(vectors[:n]): f(*args))
    return found


def _torch() -> dict[str, Callable[[], float]]:
    import torch

    vectors = [torch.from_numpy(v) for v in VECTORS]
    a, b = vectors[0].clone().requires_grad_(), vectors[1]

    def recorded():
        for _ in range(REPEATS):
            c = a + b
        c.sum().backward()

    found = {
        "eager a + b: eager": each(_sums(vectors[0], b), REPEATS),
        "eager a + b, recorded: eager": each(recorded, REPEATS),
    }
    for n in (1, 10, 50):
        compiled = torch.compile(total)
        found[f"call, {n} tensors: compile"] = per_call(lambda f=compiled, args=tuple(vectors[:n]): f(*args))
    return found


def _jax() -> dict[str, Callable[[], float]]:
    import jax

    vectors = [jax.numpy.asarray(v) for v in VECTORS]
    found = {"eager a + b: eager": each(_sums(*vectors[:2]), REPEATS)}
    for n in (1, 10, 50):
        compiled = jax.jit(total)
        found[f"call, {n} tensors: jit"] = per_call(lambda f=compiled, args=tuple(vectors[:n]): f(*args))
    return found


def cases() -> dict[str, Callable[[], float]]:
    """Seconds per operator or call."""
    return _mindspore("duograph")


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same in PyTorch, JAX or MindSpore."""
    return {"torch": _torch, "jax": _jax, "mindspore": lambda: _mindspore("mindspore")}[package]()
