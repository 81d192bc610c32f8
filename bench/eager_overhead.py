"""One small op in dynamic mode, without and with a tape; NumPy's own time is the floor."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bench._workloads import per_call

_CHAIN = 100
"""Ops in the chain whose gradient is taken."""


def cases() -> dict[str, Callable[[], float]]:
    """Seconds per op."""
    import duograph as ms

    x, y = np.ones(8, np.float32), np.ones(8, np.float32)
    m = np.ones((8, 8), np.float32)
    floor = {
        "add: numpy": per_call(lambda: x + y),
        "matmul: numpy": per_call(lambda: m @ m),
        "sum: numpy": per_call(m.sum),
        "reshape: numpy": per_call(lambda: m.reshape(64)),
        "chain of add: numpy": per_call(lambda: x + y),
    }
    return {**floor, **_titled("duograph", _mindspore_like(ms))}


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """Peers, each in its own words."""
    peer = importlib.import_module(package)
    kinds: dict[str, Callable[[Any], dict[str, Any]]] = {"mindspore": _mindspore_like, "torch": _torch, "jax": _jax}
    return kinds[package](peer)


def _titled(title: str, found: dict[str, Callable[[], float]]) -> dict[str, Callable[[], float]]:
    return {name.replace(": ", f": {title} ", 1): case for name, case in found.items()}


def _chain(x: Any) -> Any:
    y = x
    for _ in range(_CHAIN - 1):
        y = y + x
    return y.sum()


def _divided(case: Callable[[], float]) -> Callable[[], float]:
    return lambda: case() / _CHAIN


def _mindspore_like(ms: Any) -> dict[str, Callable[[], float]]:
    x, y, m = (
        ms.Tensor(np.ones(8, np.float32)),
        ms.Tensor(np.ones(8, np.float32)),
        ms.Tensor(np.ones((8, 8), np.float32)),
    )
    gradient = ms.grad(_chain)
    return {
        "add: dynamic": per_call(lambda: x + y),
        "matmul: dynamic": per_call(lambda: m @ m),
        "sum: dynamic": per_call(m.sum),
        "reshape: dynamic": per_call(lambda: m.reshape(64)),
        "chain of add: dynamic": _divided(per_call(lambda: _chain(x))),
        "chain of add: with gradient": _divided(per_call(lambda: gradient(x))),
    }


def _torch(torch: Any) -> dict[str, Callable[[], float]]:
    x, y, m = torch.ones(8), torch.ones(8), torch.ones(8, 8)
    w = torch.ones(8, requires_grad=True)
    return {
        "add: dynamic": per_call(lambda: x + y),
        "matmul: dynamic": per_call(lambda: m @ m),
        "sum: dynamic": per_call(m.sum),
        "reshape: dynamic": per_call(lambda: m.reshape(64)),
        "chain of add: dynamic": _divided(per_call(lambda: _chain(x))),
        "chain of add: with gradient": _divided(per_call(lambda: torch.autograd.grad(_chain(w), w))),
    }


def _jax(jax: Any) -> dict[str, Callable[[], float]]:
    x, m = jax.numpy.ones(8), jax.numpy.ones((8, 8))
    gradient = jax.grad(_chain)
    return {
        "add: dynamic": per_call(lambda: (x + x).block_until_ready()),
        "matmul: dynamic": per_call(lambda: (m @ m).block_until_ready()),
        "sum: dynamic": per_call(lambda: m.sum().block_until_ready()),
        "reshape: dynamic": per_call(lambda: m.reshape(64).block_until_ready()),
        "chain of add: dynamic": _divided(per_call(lambda: _chain(x).block_until_ready())),
        "chain of add: with gradient": _divided(per_call(lambda: gradient(x).block_until_ready())),
    }
