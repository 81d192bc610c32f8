"""The problems in MindSpore's API: for duograph, and word for word for MindSpore."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from bench._problems import CHANNELS, HEADS, HIDDEN, SEQUENCE, TIME, VOCABULARY, WIDTH, Problem, problem


def network(ms: Any, name: str, p: Problem) -> Any:
    """A Cell with the problem's weights."""
    nn, ops, Tensor, Parameter = ms.nn, ms.ops, ms.Tensor, ms.Parameter
    w = p.weights

    def dense(matrix: str, bias: str | None) -> Any:
        out, in_ = w[matrix].shape
        if bias is None:
            return nn.Dense(in_, out, weight_init=Tensor(w[matrix]), has_bias=False)
        return nn.Dense(in_, out, weight_init=Tensor(w[matrix]), bias_init=Tensor(w[bias]))

    class LeNet(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            same = {"pad_mode": "pad", "padding": 2}
            self.c0 = nn.Conv2d(1, 6, 5, has_bias=True, weight_init=Tensor(w["c0"]), bias_init=Tensor(w["d0"]), **same)
            self.c1 = nn.Conv2d(
                6, 16, 5, pad_mode="valid", has_bias=True, weight_init=Tensor(w["c1"]), bias_init=Tensor(w["d1"])
            )
            self.pool, self.relu, self.flatten = nn.MaxPool2d(2, 2), nn.ReLU(), nn.Flatten()
            self.f0, self.f1, self.f2 = (dense(f"w{i}", f"b{i}") for i in range(3))

        def construct(self, x):
            x = self.pool(self.relu(self.c0(x)))
            x = self.pool(self.relu(self.c1(x)))
            x = self.relu(self.f0(self.flatten(x)))
            return self.f2(self.relu(self.f1(x)))

    class ResNetBlock(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            convs = [
                nn.Conv2d(CHANNELS, CHANNELS, 3, pad_mode="pad", padding=1, weight_init=Tensor(w[f"c{i}"]))
                for i in range(2)
            ]
            self.c0, self.c1 = convs
            self.n0, self.n1 = (nn.BatchNorm2d(CHANNELS) for _ in range(2))
            self.relu, self.fc = nn.ReLU(), dense("w", "b")

        def construct(self, x):
            h = self.relu(self.n0(self.c0(x)))
            h = self.n1(self.c1(h))
            return self.fc(self.relu(h + x).mean((2, 3)))

    class Block(nn.Cell):
        def __init__(self, i: int) -> None:
            super().__init__()
            self.ln0, self.ln1 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
            self.qkv, self.out, self.up, self.down = (
                dense(f"{n}{i}", f"{n}_bias{i}") for n in ("qkv", "out", "up", "down")
            )
            self.mask = Tensor(np.triu(np.full((SEQUENCE, SEQUENCE), -1e9, np.float32), 1))

        def construct(self, x):
            b, t, d = x.shape
            qkv = ops.transpose(self.qkv(self.ln0(x)).reshape((b, t, 3, HEADS, d // HEADS)), (2, 0, 3, 1, 4))
            q, k, v = qkv[0], qkv[1], qkv[2]
            scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) * (d // HEADS) ** -0.5 + self.mask
            a = ops.matmul(ops.softmax(scores, -1), v)
            x = x + self.out(ops.transpose(a, (0, 2, 1, 3)).reshape((b, t, d)))
            return x + self.down(ops.gelu(self.up(self.ln1(x)), approximate="tanh"))

    class GPT(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH, embedding_table=Tensor(w["tokens"]))
            self.positions = Parameter(Tensor(w["positions"]), name="positions")
            self.blocks = nn.SequentialCell([Block(i) for i in range(2)])
            self.norm, self.head = nn.LayerNorm((WIDTH,)), dense("head", None)

        def construct(self, x):
            h = self.blocks(self.tokens(x) + self.positions)
            return self.head(self.norm(h)).reshape((-1, VOCABULARY))

    class LSTM(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.wx, self.wh, self.b = (Parameter(Tensor(w[n]), name=n) for n in ("wx", "wh", "b"))
            self.fc = dense("w", "v")
            self.zero = Tensor(np.zeros((32, HIDDEN), np.float32))

        def construct(self, x):
            h, s = self.zero, self.zero
            for t in range(TIME):
                z = ops.matmul(x[t], self.wx) + ops.matmul(h, self.wh) + self.b
                i, f, g, o = ops.split(z, HIDDEN, axis=1)
                s = ops.sigmoid(f) * s + ops.sigmoid(i) * ops.tanh(g)
                h = ops.sigmoid(o) * ops.tanh(s)
            return self.fc(h)

    if "MLP" in name:
        layers = [dense(f"w{i}", f"b{i}") for i in range(len(w) // 2)]
        return nn.SequentialCell([x for layer in layers for x in (layer, nn.ReLU())][:-1])
    return {"LeNet": LeNet, "ResNet block": ResNetBlock, "GPT, 2 layers": GPT, "LSTM": LSTM}[name]()


def step(ms: Any, name: str, reducer: Any = None) -> tuple[Callable[[Any, Any], Any], tuple[Any, Any], Any]:
    """A training step, its batch, and the network; ``reducer`` of the parameters makes a step of many processes."""
    p = problem(name)
    net = network(ms, name, p)
    net.set_train()
    loss_of = ms.nn.CrossEntropyLoss()
    parameters = net.trainable_params()
    adamw = importlib.import_module(f"{ms.__name__}.experimental.optim").AdamW
    optimizer = {
        "momentum": lambda: ms.nn.SGD(parameters, p.rate, momentum=0.9), "sgd": lambda: ms.nn.SGD(parameters, p.rate),
        "adam": lambda: ms.nn.Adam(parameters, p.rate), "adamw": lambda: adamw(parameters, lr=p.rate),
    }[p.optimizer]()  # fmt: skip

    def forward(x, y):
        return loss_of(net(x), y)

    gradients = ms.value_and_grad(forward, None, parameters)
    reduced = reducer(parameters) if reducer else lambda grads: grads

    def train_step(x, y):
        loss, grads = gradients(x, y)
        optimizer(reduced(grads))
        return loss

    return train_step, (ms.Tensor(p.x), ms.Tensor(p.y.reshape(-1))), net


def cases(package: str, name: str) -> dict[str, Callable[[], Any]]:
    """Per mode a function that makes one training step and waits for its loss."""
    ms = importlib.import_module(package)
    importlib.import_module(f"{package}.nn")
    eager, batch, _ = step(ms, name)
    plain, other, _ = step(ms, name)
    compiled = ms.jit(plain)
    return {"eager": lambda: eager(*batch).asnumpy(), "jit": lambda: compiled(*other).asnumpy()}
