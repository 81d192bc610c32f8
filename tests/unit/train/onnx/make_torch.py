"""Makes ``torch.npz`` with PyTorch's exporter (2.13 was used): files, inputs and results. Tests only read it."""

import io
from pathlib import Path

import numpy as np
import torch
from torch import nn

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU6())
        self.down = nn.Conv2d(4, 6, 1, stride=2)

    def forward(self, x):
        return self.down(x + self.body(x))


class Picture(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 7, 2, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        self.block, self.mean, self.head = Block(), nn.AdaptiveAvgPool2d(1), nn.Linear(6, 3)

    def forward(self, x):
        return self.head(torch.flatten(self.mean(self.block(self.stem(x))), 1)).softmax(-1)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(9, 8), nn.LayerNorm(8)
        layer = nn.TransformerEncoderLayer(8, 2, 12, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(8, 2)

    def forward(self, ids):
        x = self.encoder(self.norm(self.words(ids)))
        return self.head(x.mean(1)), x[:, -1]


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(8, 2, batch_first=True)

    def forward(self, x):
        x, (h, c) = self.lstm(x)
        y, n = self.gru(x)
        return y, h, c, n


found = {}
for net, x, axes in (
    (Picture(), torch.randn(2, 3, 20, 20), {0: "n", 2: "h", 3: "w"}),
    (Words(), torch.arange(10).reshape(2, 5) % 9, {0: "n"}),
    (Steps(), torch.randn(2, 4, 3), {0: "n"}),
):
    name = type(net).__name__.lower()
    net.train()(x)
    net.eval()
    for version in (11, 17):
        if name == "words" and version == 11:
            continue
        buffer = io.BytesIO()
        torch.onnx.export(net, (x,), buffer, dynamo=False, opset_version=version, input_names=["x"],
                          dynamic_axes={"x": axes})  # fmt: skip
        found[f"{name}.{version}"] = np.frombuffer(buffer.getvalue(), np.uint8)
    results = net(x)
    found[f"{name}.x"] = x.numpy()
    for i, result in enumerate(results if isinstance(results, tuple) else (results,)):
        found[f"{name}.{i}"] = result.detach().numpy()
np.savez_compressed(Path(__file__).parent / "torch.npz", **found)
