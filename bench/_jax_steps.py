"""The problems in JAX: the whole step under ``jax.jit``, parameters and optimizer state donated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench._problems import HEADS, HIDDEN, VOCABULARY, WIDTH, problem


def _forward(jax: Any, name: str) -> Callable[[dict[str, Any], Any], Any]:
    jnp, lax = jax.numpy, jax.lax

    def conv(x, w, padding):
        return lax.conv_general_dilated(x, w, (1, 1), padding, dimension_numbers=("NHWC", "OIHW", "NHWC"))

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def mlp(w, x):
        n = len(w) // 2
        for i in range(n):
            x = x @ w[f"w{i}"].T + w[f"b{i}"]
            x = jax.nn.relu(x) if i < n - 1 else x
        return x

    def lenet(w, x):
        x = pool(jax.nn.relu(conv(x.transpose(0, 2, 3, 1), w["c0"], [(2, 2), (2, 2)]) + w["d0"]))
        x = pool(jax.nn.relu(conv(x, w["c1"], "VALID") + w["d1"]))
        x = x.transpose(0, 3, 1, 2).reshape(x.shape[0], -1)
        x = jax.nn.relu(x @ w["w0"].T + w["b0"])
        x = jax.nn.relu(x @ w["w1"].T + w["b1"])
        return x @ w["w2"].T + w["b2"]

    def normalised(x, axes, gamma, beta):
        mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
        return (x - mean) * lax.rsqrt(var + 1e-5) * gamma + beta

    def resnet(w, x):
        x = x.transpose(0, 2, 3, 1)
        h = jax.nn.relu(normalised(conv(x, w["c0"], [(1, 1)] * 2), (0, 1, 2), w["gamma0"], w["beta0"]))
        h = normalised(conv(h, w["c1"], [(1, 1)] * 2), (0, 1, 2), w["gamma1"], w["beta1"])
        return jax.nn.relu(h + x).mean((1, 2)) @ w["w"].T + w["b"]

    def gpt(w, x):
        b, t = x.shape
        h = w["tokens"][x] + w["positions"]
        mask = jnp.triu(jnp.full((t, t), -1e9, jnp.float32), 1)
        for i in range(2):
            z = normalised(h, -1, 1.0, 0.0) @ w[f"qkv{i}"].T + w[f"qkv_bias{i}"]
            q, k, v = z.reshape(b, t, 3, HEADS, WIDTH // HEADS).transpose(2, 0, 3, 1, 4)
            s = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) * (WIDTH // HEADS) ** -0.5 + mask, -1)
            a = (s @ v).transpose(0, 2, 1, 3).reshape(b, t, WIDTH)
            h = h + a @ w[f"out{i}"].T + w[f"out_bias{i}"]
            u = jax.nn.gelu(normalised(h, -1, 1.0, 0.0) @ w[f"up{i}"].T + w[f"up_bias{i}"])
            h = h + u @ w[f"down{i}"].T + w[f"down_bias{i}"]
        return (normalised(h, -1, 1.0, 0.0) @ w["head"].T).reshape(-1, VOCABULARY)

    def lstm(w, x):
        def cell(carry, xt):
            h, s = carry
            i, f, g, o = jnp.split(xt @ w["wx"] + h @ w["wh"] + w["b"], 4, 1)
            s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(s), s), None

        zero = jnp.zeros((x.shape[1], HIDDEN), jnp.float32)
        (h, _), _ = lax.scan(cell, (zero, zero), x)
        return h @ w["w"].T + w["v"]

    return {"LeNet": lenet, "ResNet block": resnet, "GPT, 2 layers": gpt, "LSTM": lstm}.get(name, mlp)


def _update(jax: Any, kind: str, rate: float) -> Callable[..., Any]:
    """(weights, state, gradients) -> (weights, state)."""
    jnp, over = jax.numpy, jax.tree_util.tree_map

    def update(w, state, g):
        if kind == "sgd":
            return over(lambda p, d: p - rate * d, w, g), state
        if kind == "momentum":
            m = over(lambda m, d: 0.9 * m + d, state[0], g)
            return over(lambda p, v: p - rate * v, w, m), (m, *state[1:])
        t = state[2] + 1
        m = over(lambda m, d: 0.9 * m + 0.1 * d, state[0], g)
        v = over(lambda v, d: 0.999 * v + 0.001 * d * d, state[1], g)
        scale = rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        decay = 1 - rate * 0.01 if kind == "adamw" else 1.0
        return over(lambda p, m, v: p * decay - scale * m / (jnp.sqrt(v) + 1e-8), w, m, v), (m, v, t)

    return update


def cases(name: str) -> dict[str, Callable[[], float]]:
    """A function that makes one training step and waits for its loss."""
    import jax

    jnp = jax.numpy
    p = problem(name)
    forward, update = _forward(jax, name), _update(jax, p.optimizer, p.rate)
    y = jnp.asarray(p.y.reshape(-1))

    def loss_of(w, x):
        logp = jax.nn.log_softmax(forward(w, x))
        return -jnp.take_along_axis(logp, y[:, None], 1).mean()

    def whole(w, state, x):
        loss, g = jax.value_and_grad(loss_of)(w, x)
        w, state = update(w, state, g)
        return loss, w, state

    compiled = jax.jit(whole, donate_argnums=(0, 1))
    w = {k: jnp.asarray(v) for k, v in p.weights.items()}
    zeros = [{k: jnp.zeros_like(v) for k, v in w.items()} for _ in range(2)]
    held = [w, (*zeros, jnp.float32(0))]
    x = jnp.asarray(p.x)

    def train_step() -> float:
        loss, held[0], held[1] = compiled(held[0], held[1], x)
        return float(loss)

    return {"jit": train_step}
