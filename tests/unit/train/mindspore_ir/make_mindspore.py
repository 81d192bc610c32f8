"""Writes ``mindspore.npz``: networks as MindSpore 2.10 exports them, with inputs and what it computes.

Run with MindSpore installed, in an environment without duograph.
"""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

RANDOM = np.random.RandomState(0)


class Convolutions(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(4, 8, 3, 2, pad_mode="pad", padding=1, has_bias=True)
        self.deep = nn.Conv2d(8, 8, 3, group=8)
        self.norm, self.groups = nn.BatchNorm2d(8), nn.GroupNorm(2, 4)
        self.up = nn.Conv2dTranspose(8, 4, 2, 2)
        self.mean, self.most = nn.AvgPool2d(2, 2), nn.MaxPool2d(3, 2, pad_mode="same")
        self.acts = nn.SequentialCell(
            nn.ReLU6(), nn.HSwish(), nn.LeakyReLU(), nn.ELU(), nn.PReLU(), nn.SiLU(), nn.Mish()
        )
        self.fc = nn.Dense(16, 3)

    def construct(self, x):
        y = self.acts(self.norm(self.deep(self.stem(x))))
        z = self.groups(self.up(self.mean(y)))
        return ops.softmax(self.fc(ops.flatten(self.most(z)[:, :, :2, :2])), -1), ops.mean(y, (2, 3))


class Attention(nn.Cell):
    def __init__(self, size=8, heads=2):
        super().__init__()
        self.table, self.norm = nn.Embedding(10, size), nn.LayerNorm((size,))
        self.q, self.k, self.v, self.out = (nn.Dense(size, size) for _ in range(4))
        self.heads, self.gelu = heads, nn.GELU()

    def split(self, x, b, t):
        return x.reshape(b, t, self.heads, -1).transpose(0, 2, 1, 3)

    def construct(self, ids):
        x = self.table(ids)
        b, t, size = x.shape
        q, k, v = self.split(self.q(x), b, t), self.split(self.k(x), b, t), self.split(self.v(x), b, t)
        weights = ops.softmax(ops.matmul(q, k.swapaxes(-1, -2)) / (size // self.heads) ** 0.5, -1)
        y = ops.matmul(weights, v).transpose(0, 2, 1, 3).reshape(b, t, size)
        return self.gelu(self.out(self.norm(x + y)[:, 0]))


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, 2, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(6, 2, batch_first=True)

    def construct(self, x):
        y, (h, _) = self.lstm(x)
        return self.gru(y)[0], h


class Elements(nn.Cell):
    def construct(self, x):
        a, b = ops.split(x, 2, 1)
        best, place = ops.topk(x, 2)
        return (
            ops.concat((a, b * 2), 0).sum(), ops.stack((a, b)).max(axis=0), x[:, ::2].mean(1, keep_dims=True),
            ops.where(a > b, a, b), ops.clip_by_value(x, -0.5, 0.5), ops.exp(a) - ops.log(ops.abs(b) + 1),
            ops.cast(x, ms.int32), ops.tile(a, (1, 2)), ops.gather(x, Tensor([1, 0]), 0), x.T, a.pow(2), best, place,
            ops.one_hot(ops.argmax(x, -1), 4, Tensor(1.0), Tensor(0.0)), ops.cumsum(x, 1), ops.log_softmax(x, 1),
            ops.interpolate(x.reshape(1, 1, 2, 4), size=(3, 3), mode="bilinear", align_corners=True),
        )  # fmt: skip


class Branches(nn.Cell):
    def construct(self, x):
        if x.sum() > 0:
            x = x * 2
        else:
            x = x - 1
        return x + 1


class Loops(nn.Cell):
    def construct(self, x, n):
        i = Tensor(0)
        while i < n:
            j = Tensor(0)
            while j < i:
                x = x + j
                j = j + 1
            if x.sum() > 9:
                x = x / 2
            i = i + 1
        return x, i


class Sizes(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 4, 3), nn.Dense(4, 2)

    def construct(self, x):
        return self.fc(ops.mean(ops.relu(self.conv(x)), (2, 3)).reshape(x.shape[0], -1))


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def main():
    ms.set_seed(1)
    ms.set_context(mode=ms.GRAPH_MODE)
    found = {}
    cases = {
        "convolutions": (Convolutions(), [floats(2, 4, 16, 16)]),
        "attention": (Attention(), [RANDOM.randint(0, 10, (2, 5)).astype(np.int32)]),
        "recurrent": (Recurrent(), [floats(2, 5, 4)]),
        "elements": (Elements(), [floats(2, 4)]),
        "branches": (Branches(), [floats(3)]),
        "loops": (Loops(), [floats(3), np.array(5)]),
        "sizes": (Sizes(), [floats(2, 3, 6, 6)]),
        "assigning": (Assigning(), [floats(2)]),
    }
    for name, (net, arrays) in cases.items():
        net.set_train(False)
        inputs = [Tensor(array) for array in arrays]
        results = net(*inputs)
        for i, result in enumerate(results if isinstance(results, tuple) else (results,)):
            found[f"{name}.result{i}"] = result.asnumpy()
        if name == "sizes":
            inputs = [Tensor(shape=[None, 3, None, None], dtype=ms.float32)]
            net.set_inputs(*inputs)
        ms.export(net, *inputs, file_name=f"/tmp/{name}", file_format="MINDIR")
        found[f"{name}.file"] = np.fromfile(f"/tmp/{name}.mindir", np.uint8)
        for i, array in enumerate(arrays):
            found[f"{name}.input{i}"] = array
    np.savez_compressed("mindspore.npz", **found)


class Assigning(nn.Cell):
    def __init__(self):
        super().__init__()
        self.state = ms.Parameter(Tensor([1.0, 2.0]), name="state")

    def construct(self, x):
        ops.assign(self.state, self.state + x)
        return self.state * 2


if __name__ == "__main__":
    main()
