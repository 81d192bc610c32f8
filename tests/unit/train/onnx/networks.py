"""Networks and functions that are exported: name -> (program, inputs); some sizes are left open where that is said."""

import numpy as np

import duograph as ms
from duograph import Tensor, mint, nn, ops

RNG = np.random.default_rng(7)


def floats(*shape):
    return Tensor(RNG.normal(size=shape).astype(np.float32))


def ids(high, *shape, dtype=np.int32):
    return Tensor(RNG.integers(0, high, shape).astype(dtype))


class Residual(nn.Cell):
    def __init__(self, channels):
        super().__init__()
        self.one = nn.Conv2d(channels, channels, 3, pad_mode="same")
        self.two = nn.Conv2d(channels, channels, 3, pad_mode="same", group=2)
        self.a, self.b = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

    def construct(self, x):
        return ops.relu(x + self.b(self.two(ops.relu(self.a(self.one(x))))))


class ResNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 7, stride=2, pad_mode="pad", padding=3, has_bias=True)
        self.pool = nn.MaxPool2d(3, 2, pad_mode="same")
        self.blocks = nn.SequentialCell(Residual(8), Residual(8))
        self.mean, self.head = nn.AdaptiveAvgPool2d(1), nn.Dense(8, 5)

    def construct(self, x):
        x = self.mean(self.blocks(self.pool(self.stem(x))))
        return self.head(x.reshape((x.shape[0], -1)))


class Transformer(nn.Cell):
    """As BERT, small."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(11, 8), nn.Embedding(16, 8)
        self.norm = nn.LayerNorm((8,))
        self.layers = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True), 2
        )
        self.head = nn.Dense(8, 3)

    def construct(self, ids, padding):
        x = self.norm(self.words(ids) + self.places(ops.arange(ids.shape[1])))
        x = self.layers(x, src_key_padding_mask=padding)
        return ops.log_softmax(self.head(x[:, 0]), -1), x


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True), 2)


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(9, 4)
        self.lstm = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(6, 5, batch_first=True)

    def construct(self, ids):
        x, (h, c) = self.lstm(self.words(ids))
        y, n = self.gru(x)
        return {"y": y, "h": h, "c": c, "n": n}


class Decoder(nn.Cell):
    """Transposed convolutions and resampling."""

    def __init__(self):
        super().__init__()
        self.up = nn.Conv2dTranspose(4, 2, 3, stride=2, pad_mode="pad", padding=1, output_padding=1)
        self.bigger = nn.Upsample(scale_factor=2.0, mode="bilinear", recompute_scale_factor=True)

    def construct(self, x):
        x = self.up(ops.leaky_relu(x))
        return self.bigger(x), ops.interpolate(x, size=(5, 7), mode="nearest"), ops.adaptive_avg_pool2d(x, (2, 3))


def newton(x):
    """A loop that ends when the values say so, and a branch."""
    guess, rounds = ops.ones_like(x), 0
    while (ops.abs(guess * guess - x)).max() > 1e-3 and rounds < 20:
        guess = (guess + x / guess) / 2
        rounds += 1
    if guess.mean() > 2:
        return guess - 1, rounds
    return guess, rounds


def powers(x, count):
    """A loop of a number of rounds that is only known at run time."""
    total = ops.zeros_like(x)
    for i in range(int(count)):
        total = total * 2 + x + i
    return total


def nested(x):
    y = x
    while y.sum() < 10:
        if y.max() > 1:
            k = 0
            while k < 2:
                y = y + 0.5
                k += 1
        else:
            y = y * 2 + 1
    return y


def sizes(x):
    n, m = x.shape
    rows = ops.arange(n)
    return (
        x.reshape((n * m,)),
        x.reshape((m, n)) + rows,
        ops.concat([x, x[: n // 2]], 0),
        ops.tile(x, (2, 1)),
        x.sum() / n,
    )


def places(x, i, j):
    return x[i], x[:, i], x[i, j], x[i[:, None], j], x[..., j]


PROGRAMS = {
    "resnet": (ResNet, (floats(2, 3, 32, 32),)),
    "transformer": (Transformer, (ids(11, 2, 6), Tensor(np.arange(12).reshape(2, 6) % 6 > 3))),
    "encoder": (encoder, (floats(2, 5, 8),)),
    "recurrent": (Recurrent, (ids(9, 2, 5),)),
    "index tensors": (
        places,
        (floats(4, 3, 5), Tensor(np.array([2, -1, 0], np.int32)), Tensor(np.array([1, -2, 0], np.int64))),
    ),
    "decoder": (Decoder, (floats(1, 4, 5, 6),)),
    "newton": (newton, (Tensor(np.array([2.0, 9.0, 0.5], np.float32)),)),
    "newton high": (newton, (Tensor(np.array([20.0, 90.0], np.float32)),)),
    "powers": (powers, (floats(3), Tensor(4))),
    "nested": (nested, (Tensor(np.array([0.25, 0.5], np.float32)),)),
    "sizes": (sizes, (floats(4, 3),)),
    "activations": (
        lambda x: [
            ops.relu6(x), ops.gelu(x), ops.gelu(x, approximate="tanh"), ops.silu(x), ops.elu(x), ops.selu(x),
            ops.mish(x), ops.hardswish(x), ops.hardsigmoid(x), ops.softplus(x), ops.softsign(x), ops.leaky_relu(x, 0.1),
            ops.logsigmoid(x), ops.tanh(x), ops.hardtanh(x), nn.PReLU()(x), ops.softmax(x, 0), ops.fast_gelu(x),
        ],
        (floats(3, 4),),
    ),
    "arithmetic": (
        lambda x, y, n: [
            x + y, x - 1, x * y, x / y, x // y, x % y, n // 3, n % 3, n + 1, x**2, ops.exp(x), ops.log(y * y),
            ops.sqrt(y * y), ops.rsqrt(y * y + 1), ops.erf(x), ops.sin(x), ops.floor(x), ops.round(x), ops.sign(x),
            ops.log1p(y * y),
            ops.expm1(x), ops.maximum(x, y), ops.clamp(x, -0.5, 0.5), ops.where(x > y, x, y), x == y, (x > 0) & (y > 0),
            ops.isnan(x / 0), n.astype(ms.float32), x.astype(ms.int64), ops.trunc(x), ops.fmod(x, y), ~(x > 0), n != 2,
        ],
        (floats(3, 4), floats(3, 4), ids(9, 4)),
    ),
    "reductions": (
        lambda x: [
            x.sum(), x.mean(1), x.max(0), x.min(), x.prod(-1), x.var(), x.std(0), (x > 0).all(), (x > 3).any(1),
            x.argmax(1), ops.argmin(x, axis=0), ops.norm(x), ops.logsumexp(x, 1), ops.cumsum(x, 1), *ops.topk(x, 2),
            *ops.sort(x, descending=True), ops.cumsum(x, 0),
        ],
        (floats(3, 4),),
    ),
    "shapes": (
        lambda x: [
            x.T, x.reshape(4, 3), x[1:, ::2], ops.flip(x, (1,)), x[..., None], ops.stack([x, x], 1),
            *ops.split(x, 2, axis=1), ops.broadcast_to(x, (2, 3, 4)), ops.roll(x, (1, -1), (0, 1)), ops.tril(x),
            ops.triu(x, 1), ops.pad(x, (1, 2), value=3.0), ops.tile(x, (2, 1, 2)), x.permute(1, 0),
            ops.pad(x[None], (1, 2), mode="reflect"), x.swapaxes(0, 1), x.flatten(),
            ops.squeeze(x[:, :1]), ops.zeros((2, 2)),
        ],
        (floats(3, 4),),
    ),
    "indices": (
        lambda x, i: [
            ops.gather(x, i, 0), ops.gather_elements(x, 1, i.astype(ms.int64).reshape(2, 2)),
            ops.one_hot(i, 5, Tensor(1.0), Tensor(0.0)),
            ops.gather_nd(x, i.reshape(2, 2) % 3), x[2], x[:, 1], ops.repeat_interleave(x, 3, 1),
            ops.repeat_interleave(x, Tensor([2, 0, 1]), 0), ops.diagonal(x, 1), ops.trace(x),
            x[None].diagonal(-1, 2, 1), ops.tensor_scatter_add(x, i.reshape(2, 2) - 2, x[0, :2]),
            ops.tensor_scatter_max(x, i[:, None], x[[0, 1, 0, 2]]),
            ops.scatter_nd(i[:, None], x[[0, 1, 0, 2]], (3, 4)),
        ],
        (floats(3, 4), ids(3, 4)),
    ),
    "products": (
        lambda x, y, v: [
            x @ y, ops.matmul(x[0], y[0]), ops.bmm(x, y), ops.matmul(x, v), ops.addmm(x[0] @ y[0], x[0], y[0]),
            ops.einsum("bij,bjk->bik", x, y), ops.cosine_similarity(x[0], x[1]),
        ],
        (floats(2, 3, 4), floats(2, 4, 3), floats(4)),
    ),
    "pools": (
        lambda x: [
            ops.max_pool2d(x, 2), ops.max_pool2d(x, 3, 2, 1), ops.avg_pool2d(x, 2, 2), ops.avg_pool2d(x, 3, 2, 1),
            ops.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
            mint.nn.functional.avg_pool2d(x, 2, divisor_override=3),
            ops.max_pool2d(x, 2, 2, ceil_mode=True), ops.adaptive_avg_pool2d(x, (3, 2)), ops.group_norm(x, 1),
        ],
        (floats(1, 2, 7, 8),),
    ),
    "containers": (
        lambda d: (d["a"] + d["b"][0], {"c": d["b"][1], "n": 3}),
        ({"a": floats(2), "b": [floats(2), floats(3)]},),
    ),
    "half": (lambda x: ops.relu(x * 2 + 1), (Tensor([1.0, -2.0], ms.float16),)),
    "double": (lambda x: (x * 2 + 1).mean(), (Tensor([1.0, -2.0], ms.float64),)),
}  # fmt: skip

OPEN = {
    "resnet": ([None, 3, 32, 32],), "encoder": ([None, None, 8],), "sizes": ([None, None],),
    "newton": ([None],), "arithmetic": ([3, None], [3, None], [None]), "products": ([None, 3, 4], [None, 4, 3], [4]),
    "activations": ([None, 4],),
}  # fmt: skip
"""Sizes that are left open."""


def program_of(name):
    """A program, ready for inference."""
    ms.set_seed(3)
    made = PROGRAMS[name][0]
    return made().set_train(False) if isinstance(made, type) or made is encoder else made


def inputs_of(name, open_sizes):
    """What to export a program with."""
    given = PROGRAMS[name][1]
    if not open_sizes:
        return given
    return tuple(Tensor(shape=shape, dtype=x.dtype) for shape, x in zip(OPEN[name], given))


def leaves(value):
    """The arrays in what a program takes or gives, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)]
