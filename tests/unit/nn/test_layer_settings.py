"""Settings of layers and losses that change between calls count in compiled calls as in dynamic ones."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import duograph as ms
from duograph import nn, ops

RNG = np.random.default_rng(0)


def f32(*shape):
    return ms.Tensor(RNG.standard_normal(shape).astype(np.float32))


def i32(*values):
    return ms.Tensor(list(values), ms.int32)


ROWS, IMAGES, SERIES, STEP = f32(4, 6), f32(2, 4, 8, 8), f32(2, 3, 8), ms.Tensor(3, ms.int32)
LAYERS = {
    "layer norm": (lambda: nn.LayerNorm((6,)), [ROWS]),
    "batch norm": (lambda: nn.BatchNorm2d(4).set_train(), [IMAGES]),
    "group norm": (lambda: nn.GroupNorm(2, 4), [IMAGES]),
    "leaky relu": (lambda: nn.LeakyReLU(0.2), [ROWS]),
    "gelu": (lambda: nn.GELU(), [ROWS]),
    "threshold": (lambda: nn.Threshold(0.1, 20.0), [ROWS]),
    "dense": (lambda: nn.Dense(6, 3, activation="relu"), [ROWS]),
    "convolution": (lambda: nn.Conv2d(4, 3, 3, has_bias=True), [IMAGES]),
    "max pool": (lambda: nn.MaxPool2d(2, 2), [IMAGES]),
    "average pool": (lambda: nn.AvgPool2d(2, 2), [IMAGES]),
    "lstm": (lambda: nn.LSTM(8, 5), [SERIES]),
    "gru": (lambda: nn.GRU(8, 5), [SERIES]),
    "attention": (lambda: nn.MultiheadAttention(8, 2), [SERIES] * 3),
    "encoder": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), [SERIES]),
    "squares": (lambda: nn.MSELoss(), [ROWS, ROWS * 2]),
    "huber": (lambda: nn.HuberLoss(), [ROWS, ROWS * 2]),
    "cross entropy": (lambda: nn.CrossEntropyLoss(label_smoothing=0.1), [ROWS, i32(1, 2, 3, 0)]),
    "binary cross entropy": (lambda: nn.BCELoss(reduction="mean"), [ops.sigmoid(ROWS), ops.sigmoid(-ROWS)]),
    "cosine": (lambda: nn.CosineEmbeddingLoss(0.1), [ROWS, ROWS * 2, i32(1, -1, 1, -1)]),
    "falling rate": (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5), [STEP]),
    "cosine rate": (lambda: nn.CosineDecayLR(0.01, 0.1, 4), [STEP]),
}
CHANGES = {
    float: lambda v: v / 2 + 0.01, bool: lambda v: not v, int: lambda v: v + 1,
    str: lambda v: {"mean": "sum", "sum": "mean", "none": "sum"}.get(v, v),
}  # fmt: skip
UNRELATED = ("training", "requires_grad", "cls_name", "param_prefix")


def outcome(function, arguments):
    """The bits that a call gives, or the class of its error."""
    try:
        made = function(*arguments)
    except Exception as error:  # noqa: BLE001 - some settings do not fit the others; then both must say so
        return type(error)
    return [t.asnumpy().tobytes() for t in (made if isinstance(made, tuple) else (made,)) if isinstance(t, ms.Tensor)]


@pytest.mark.parametrize("name", LAYERS)
def test_settings_may_change_between_calls(name):
    """Every plain attribute of the layer and of the Cells in it, one after the other."""
    make, arguments = LAYERS[name]
    original = make()
    for path, cell in original.cells_and_names():
        for key, value in vars(cell).items():
            if key.startswith("_") or key in UNRELATED or type(value) not in CHANGES:
                continue
            net, plain = copy.deepcopy(original), copy.deepcopy(original)
            compiled = ms.jit(lambda *args, net=net: net(*args))
            assert outcome(compiled, arguments) == outcome(plain, arguments)
            assert not compiled.explain().fallbacks
            for changed in (net, plain):
                object.__setattr__(dict(changed.cells_and_names())[path], key, CHANGES[type(value)](value))
            assert outcome(compiled, arguments) == outcome(plain, arguments), f"{path}.{key}"
