"""Single layers in memory-bound sizes: softmax, layer norm with its gradients, cross entropy, an Adam update."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bench._workloads import per_call

_RNG = np.random.default_rng(7)
ROWS = _RNG.standard_normal((64, 1000)).astype(np.float32)
LABELS = _RNG.integers(0, 1000, 64).astype(np.int32)
STATES = _RNG.standard_normal((512, 768)).astype(np.float32)
WEIGHTS, GRADIENT = (_RNG.standard_normal(1_000_000).astype(np.float32) for _ in range(2))

Calls = dict[str, Callable[[], Any]]


def _mindspore(package: str) -> Calls:
    ms = importlib.import_module(package)
    ops = ms.ops
    rows, labels, states = ms.Tensor(ROWS), ms.Tensor(LABELS), ms.Tensor(STATES)
    norm = ms.nn.LayerNorm((768,), epsilon=1e-5)
    with_gradients = ms.value_and_grad(lambda x: (norm(x) * states).sum(), 0, norm.trainable_params())
    loss = ms.value_and_grad(lambda x: ops.cross_entropy(x, labels))
    functions = {
        "softmax 64x1000": (lambda x: ops.softmax(x, -1), rows),
        "layer norm 512x768": (lambda x: norm(x), states),
        "layer norm 512x768, gradients": (lambda x: with_gradients(x), states),
        "cross entropy 64x1000, gradient": (lambda x: loss(x), rows),
    }
    found: Calls = {}
    for name, (f, x) in functions.items():
        compiled = ms.jit(f)
        found[f"{name}: jit"] = lambda f=compiled, x=x: f(x)
        found[f"{name}: eager"] = lambda f=f, x=x: f(x)
    for how in ("jit", "eager"):
        optimizer = ms.nn.Adam([ms.Parameter(ms.Tensor(WEIGHTS.copy()), name="w")], 1e-3)
        update: Any = lambda g, optimizer=optimizer: optimizer((g,))  # noqa: E731 - compiled in one of two cases
        update = ms.jit(update) if how == "jit" else update
        found[f"Adam, 1e6 weights: {how}"] = lambda f=update, g=ms.Tensor(GRADIENT): f(g)
    return found


def _torch() -> Calls:
    import torch

    f = torch.nn.functional
    rows, labels, states = (torch.from_numpy(v) for v in (ROWS, LABELS.astype(np.int64), STATES))
    norm = torch.nn.LayerNorm(768)
    tracked = {id(v): v.clone().requires_grad_() for v in (rows, states)}

    def gradient(value: Any, x: Any) -> Callable[[], Any]:
        def call():
            tracked[id(x)].grad = None
            norm.zero_grad()
            value(tracked[id(x)]).backward()

        return call

    def plain(value: Any, x: Any) -> Callable[[], Any]:
        def call():
            with torch.no_grad():
                return value(x)

        return call

    functions = {
        "softmax 64x1000": (plain, lambda x: torch.softmax(x, -1), rows),
        "layer norm 512x768": (plain, lambda x: norm(x), states),
        "layer norm 512x768, gradients": (gradient, lambda x: (norm(x) * states).sum(), states),
        "cross entropy 64x1000, gradient": (gradient, lambda x: f.cross_entropy(x, labels), rows),
    }
    found: Calls = {}
    for name, (kind, value, x) in functions.items():
        found[f"{name}: eager"], found[f"{name}: compile"] = kind(value, x), kind(torch.compile(value), x)
    weights = torch.nn.Parameter(torch.from_numpy(WEIGHTS.copy()))
    weights.grad = torch.from_numpy(GRADIENT)
    found["Adam, 1e6 weights: eager"] = torch.optim.Adam([weights], 1e-3, fused=True).step
    return found


def _jax() -> Calls:
    import jax

    jnp = jax.numpy
    rows, labels, states, gradient = (jnp.asarray(v) for v in (ROWS, LABELS, STATES, GRADIENT))
    scale, shift = jnp.ones(768), jnp.zeros(768)

    def norm(x, scale, shift):
        d = x - x.mean(-1, keepdims=True)
        return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + shift

    def cross_entropy(x):
        return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean()

    compiled = {
        "softmax 64x1000": (lambda x: jax.nn.softmax(x, -1), (rows,)),
        "layer norm 512x768": (norm, (states, scale, shift)),
        "layer norm 512x768, gradients": (
            jax.value_and_grad(lambda *a: (norm(*a) * states).sum(), (0, 1, 2)), (states, scale, shift)
        ),
        "cross entropy 64x1000, gradient": (jax.value_and_grad(cross_entropy), (rows,)),
    }  # fmt: skip
    found: Calls = {
        f"{name}: jit": lambda f=jax.jit(f), a=arguments: jax.block_until_ready(f(*a))
        for name, (f, arguments) in compiled.items()
    }

    def adam(state):
        w, m, v, t = state
        t, m, v = t + 1, 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient * gradient
        rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        return w - rate * m / (jnp.sqrt(v) + 1e-8), m, v, t

    step = jax.jit(adam, donate_argnums=0)
    state = [(jnp.asarray(WEIGHTS), jnp.zeros(WEIGHTS.size), jnp.zeros(WEIGHTS.size), jnp.zeros(()))]

    def update():
        state[0] = jax.block_until_ready(step(state[0]))

    found["Adam, 1e6 weights: jit"] = update
    return found


def cases() -> dict[str, Callable[[], float]]:
    """Compiled and dynamic; ratios are to the compiled layer."""
    return {name: per_call(call) for name, call in _mindspore("duograph").items()}


def peer_cases(package: str) -> dict[str, Callable[[], float]]:
    """The same layers in PyTorch, JAX or MindSpore."""
    build = {"torch": _torch, "jax": _jax, "mindspore": lambda: _mindspore("mindspore")}[package]
    return {name: per_call(call) for name, call in build().items()}
