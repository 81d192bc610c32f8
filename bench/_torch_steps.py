"""The problems in PyTorch: eager, and ``torch.compile`` of network and loss; fused optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench._problems import CHANNELS, HEADS, HIDDEN, SEQUENCE, TIME, VOCABULARY, WIDTH, Problem, problem


def network(torch: Any, name: str, p: Problem) -> Any:
    """A module with the problem's weights."""
    nn, F = torch.nn, torch.nn.functional
    w = {k: torch.from_numpy(v.copy()) for k, v in p.weights.items()}

    def dense(matrix: str, bias: str | None) -> Any:
        out, in_ = w[matrix].shape
        made = nn.Linear(in_, out, bias=bias is not None)
        made.weight = nn.Parameter(w[matrix])
        if bias is not None:
            made.bias = nn.Parameter(w[bias])
        return made

    def conv(weight: str, bias: str | None, padding: int) -> Any:
        out, in_, k, _ = w[weight].shape
        made = nn.Conv2d(in_, out, k, padding=padding, bias=bias is not None)
        made.weight = nn.Parameter(w[weight])
        if bias is not None:
            made.bias = nn.Parameter(w[bias])
        return made

    class ResNetBlock(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.c0, self.c1 = conv("c0", None, 1), conv("c1", None, 1)
            self.n0, self.n1 = nn.BatchNorm2d(CHANNELS), nn.BatchNorm2d(CHANNELS)
            self.fc = dense("w", "b")

        def forward(self, x):
            h = self.n1(self.c1(F.relu(self.n0(self.c0(x)))))
            return self.fc(F.relu(h + x).mean((2, 3)))

    class Block(nn.Module):
        def __init__(self, i: int) -> None:
            super().__init__()
            self.ln0, self.ln1 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out, self.up, self.down = (
                dense(f"{n}{i}", f"{n}_bias{i}") for n in ("qkv", "out", "up", "down")
            )

        def forward(self, x):
            b, t, d = x.shape
            q, k, v = self.qkv(self.ln0(x)).reshape(b, t, 3, HEADS, d // HEADS).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
            return x + self.down(F.gelu(self.up(self.ln1(x)), approximate="tanh"))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH, _weight=nn.Parameter(w["tokens"]))
            self.positions = nn.Parameter(w["positions"])
            self.blocks = nn.Sequential(Block(0), Block(1))
            self.norm, self.head = nn.LayerNorm(WIDTH), dense("head", None)

        def forward(self, x):
            h = self.blocks(self.tokens(x) + self.positions[:SEQUENCE])
            return self.head(self.norm(h)).reshape(-1, VOCABULARY)

    class LSTM(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wx, self.wh, self.b = (nn.Parameter(w[n]) for n in ("wx", "wh", "b"))
            self.fc = dense("w", "v")

        def forward(self, x):
            h = s = torch.zeros(x.shape[1], HIDDEN)
            for t in range(TIME):
                i, f, g, o = (x[t] @ self.wx + h @ self.wh + self.b).chunk(4, 1)
                s = torch.sigmoid(f) * s + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(s)
            return self.fc(h)

    if "MLP" in name:
        layers = [dense(f"w{i}", f"b{i}") for i in range(len(w) // 2)]
        return nn.Sequential(*[x for layer in layers for x in (layer, nn.ReLU())][:-1])
    if name == "LeNet":
        return nn.Sequential(
            conv("c0", "d0", 2), nn.ReLU(), nn.MaxPool2d(2), conv("c1", "d1", 0), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), dense("w0", "b0"), nn.ReLU(), dense("w1", "b1"), nn.ReLU(), dense("w2", "b2"),
        )  # fmt: skip
    return {"ResNet block": ResNetBlock, "GPT, 2 layers": GPT, "LSTM": LSTM}[name]()


def step(torch: Any, name: str, compiled: bool, wrap: Any = lambda net: net) -> Callable[[], float]:
    """A training step that gives its loss; ``wrap`` makes a network of many processes of it."""
    p = problem(name)
    net = network(torch, name, p)
    x, y = torch.from_numpy(p.x), torch.from_numpy(p.y.reshape(-1)).long()
    if name in ("ResNet block", "LeNet"):
        net, x = net.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
    net = wrap(net)
    parameters = list(net.parameters())
    optimizer = {
        "momentum": lambda: torch.optim.SGD(parameters, p.rate, momentum=0.9, fused=True),
        "sgd": lambda: torch.optim.SGD(parameters, p.rate, fused=True),
        "adam": lambda: torch.optim.Adam(parameters, p.rate, fused=True),
        "adamw": lambda: torch.optim.AdamW(parameters, p.rate, fused=True),
    }[p.optimizer]()

    def loss_of(x, y):
        return torch.nn.functional.cross_entropy(net(x), y)

    forward = torch.compile(loss_of) if compiled else loss_of

    def train_step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = forward(x, y)
        loss.backward()
        optimizer.step()
        return loss.item()

    return train_step


def cases(name: str) -> dict[str, Callable[[], float]]:
    """Per mode a function that makes one training step and waits for its loss."""
    import torch

    return {"eager": step(torch, name, False), "compile": step(torch, name, True)}
