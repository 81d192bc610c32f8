"""Compiled programs that are no training step: MLP forward, control flow, a chain of pointwise ops with gradient."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bench import _jax_steps, _mindspore_steps, _torch_steps
from bench._problems import problem
from bench._workloads import per_call

_RNG = np.random.default_rng(5)
ROOTS = (1 + 99 * _RNG.random(1000)).astype(np.float32)
CHAIN = [_RNG.standard_normal(1_000_000).astype(np.float32) for _ in range(2)]


def newton(x0: Any, a: Any, biggest: Any, mean: Any, total: Any) -> Any:
    """Cube roots by Newton's method, as far as needed, then a branch on the result."""
    x = x0
    while biggest(abs(x * x * x - a) / a) > 1e-5:
        x = x - (x * x * x - a) / (3 * x * x)
    y = x * 2.0 if mean(x) > 3.0 else x - 1.0
    return total(y * y)


def _mindspore(package: str) -> dict[str, Callable[[], Any]]:
    ms = importlib.import_module(package)
    ops = ms.ops
    net = _mindspore_steps.network(ms, "MLP", problem("MLP"))
    x, a = ms.Tensor(problem("MLP").x), ms.Tensor(ROOTS)
    u, w = (ms.Tensor(v) for v in CHAIN)

    def roots(a):
        x = a * 0 + 50.0
        while (ops.abs(x * x * x - a) / a).max() > 1e-5:
            x = x - (x * x * x - a) / (3 * x * x)
        if x.mean() > 3.0:
            y = x * 2.0
        else:
            y = x - 1.0
        return (y * y).sum()

    def chain(x, w):
        for _ in range(4):
            x = ops.sigmoid(ops.tanh(x * w + 0.1) * 0.9)
        return x.mean()

    gradient = ms.value_and_grad(chain)
    forward = ms.jit(lambda x: net(x))
    compiled_roots, compiled_chain = ms.jit(roots), ms.jit(lambda x, w: gradient(x, w))
    return {
        "MLP forward: jit": lambda: forward(x).asnumpy(),
        "MLP forward: eager": lambda: net(x).asnumpy(),
        "Newton, while and if: jit": lambda: compiled_roots(a).asnumpy(),
        "Newton, while and if: eager": lambda: roots(a).asnumpy(),
        "20 pointwise ops, value and gradient: jit": lambda: compiled_chain(u, w)[0].asnumpy(),
        "20 pointwise ops, value and gradient: eager": lambda: gradient(u, w)[0].asnumpy(),
    }


def _torch() -> dict[str, Callable[[], Any]]:
    import torch

    net = _torch_steps.network(torch, "MLP", problem("MLP"))
    x, a = torch.from_numpy(problem("MLP").x), torch.from_numpy(ROOTS)
    u, w = (torch.from_numpy(v).requires_grad_(i == 0) for i, v in enumerate(CHAIN))

    def roots(a):
        return newton(a * 0 + 50.0, a, torch.max, torch.mean, torch.sum)

    def chain(x, w):
        for _ in range(4):
            x = torch.sigmoid(torch.tanh(x * w + 0.1) * 0.9)
        return x.mean()

    def value_and_gradient(f):
        def call():
            u.grad = None
            out = f(u, w)
            out.backward()
            return out.item()

        return call

    def without_gradient(f, *args):
        def call():
            with torch.no_grad():
                return f(*args).numpy()

        return call

    compiled_net, compiled_roots = torch.compile(net), torch.compile(roots)
    return {
        "MLP forward: eager": without_gradient(net, x), "MLP forward: compile": without_gradient(compiled_net, x),
        "Newton, while and if: eager": without_gradient(roots, a),
        "Newton, while and if: compile": without_gradient(compiled_roots, a),
        "20 pointwise ops, value and gradient: eager": value_and_gradient(chain),
        "20 pointwise ops, value and gradient: compile": value_and_gradient(torch.compile(chain)),
    }  # fmt: skip


def _jax() -> dict[str, Callable[[], Any]]:
    import jax

    jnp, lax = jax.numpy, jax.lax
    weights = {k: jnp.asarray(v) for k, v in problem("MLP").weights.items()}
    forward = jax.jit(_jax_steps._forward(jax, "MLP"))
    x, a = jnp.asarray(problem("MLP").x), jnp.asarray(ROOTS)
    u, w = (jnp.asarray(v) for v in CHAIN)

    @jax.jit
    def roots(a):
        x = lax.while_loop(
            lambda x: (abs(x * x * x - a) / a).max() > 1e-5, lambda x: x - (x * x * x - a) / (3 * x * x), a * 0 + 50.0
        )
        y = lax.cond(x.mean() > 3.0, lambda: x * 2.0, lambda: x - 1.0)
        return (y * y).sum()

    def chain(x, w):
        for _ in range(4):
            x = jax.nn.sigmoid(jnp.tanh(x * w + 0.1) * 0.9)
        return x.mean()

    gradient = jax.jit(jax.value_and_grad(chain))
    return {
        "MLP forward: jit": lambda: forward(weights, x).block_until_ready(),
        "Newton, while and if: jit": lambda: float(roots(a)),
        "20 pointwise ops, value and gradient: jit": lambda: gradient(u, w)[1].block_until_ready(),
    }


def cases() -> dict[str, Callable[[], float]]:
    """Compiled and dynamic; ratios are to the compiled program."""
    return {name: per_call(call) for name, call in _mindspore("duograph").items()}


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same programs in PyTorch, JAX or MindSpore."""
    build = {"torch": _torch, "jax": _jax, "mindspore": lambda: _mindspore("mindspore")}[package]
    return {name: per_call(call) for name, call in build().items()}
