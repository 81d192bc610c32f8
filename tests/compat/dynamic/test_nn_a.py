"""Layers, losses, optimizers, containers of Cells, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Tensor

from tests.compat.dynamic.support import fails, same

T = Tensor

one = lambda *s: T(np.ones(s, np.float32))

ar = lambda *s: T((np.arange(np.prod(s)).reshape(s) / 7 - 1).astype(np.float32))


def test_get_act():
    same(nn.get_activation("relu")(ar(3)), ("Float32", [0.0, 0.0, 0.0]))
    same(nn.get_activation("softmax")(ar(3)), ("Float32", [0.2870034, 0.3310773, 0.3819192]))
    same(nn.get_activation("leakyrelu")(ar(3)), ("Float32", [-0.2, -0.1714286, -0.1428571]))
    fails(
        lambda: nn.get_activation("abc"),
        KeyError,
        "\"The 'name' must be in ['softmin', 'softmax', 'softmax2d', 'logsoftmax',",
    )
    same(nn.get_activation(None), None)


def test_dense():
    n = nn.Dense(3, 2, weight_init="ones", bias_init="zeros", activation="relu")
    same(n(ar(2, 3)), ("Float32", [[0.0, 0.0], [0.0, 0.0]]))
    same(
        n, "Dense(\n  input_channels=3, output_channels=2, has_bias=True, activation=ReLU()\n  (activation): ReLU()\n)"
    )
    same([p.name for p in n.get_parameters()], ["weight", "bias"])
    same(n.weight.shape, (2, 3))
    same(n.bias, ("Float32", [0.0, 0.0]))
    same(
        nn.Dense(3, 2, T(np.ones((2, 3), np.float32)), T([1.0, 2.0]))(ar(2, 3)),
        ("Float32", [[-1.571429, -0.5714288], [-0.2857143, 0.7142857]]),
    )
    same(nn.Dense(3, 2, has_bias=False), "Dense(input_channels=3, output_channels=2)")


def test_dense_err():
    fails(
        lambda: nn.Dense(3, 2)(ar(2, 4)),
        ValueError,
        "For 'Dense' the input dimensions must be equal, but got 'x1_col': 4 and 'x2_row': 3.",
    )
    fails(
        lambda: nn.Dense(3, 2, weight_init=T(np.ones((3, 3), np.float32))),
        ValueError,
        "For 'Dense', weight init shape error. The",
    )
    fails(
        lambda: nn.Dense(3, 2, bias_init=T(np.ones((3,), np.float32))),
        ValueError,
        "For 'Dense', bias init shape error. The",
    )
    fails(
        lambda: nn.Dense(3, 2, activation=3),
        TypeError,
        "For 'Dense', the 'activation' must be str or Cell or Primitive, but got int.",
    )
    fails(
        lambda: nn.Dense(-1, 2),
        ValueError,
        "For 'Dense', the 'in_channels' must be int and must > 0, but got '-1' with type 'int'.",
    )


def test_conv1d():
    same(
        nn.Conv1d(1, 2, 3, weight_init="ones")(ar(1, 1, 5)),
        (
            "Float32",
            [[[-1.857143, -2.571429, -2.142857, -1.714286, -1.0], [-1.857143, -2.571429, -2.142857, -1.714286, -1.0]]],
        ),
    )
    same(
        nn.Conv1dTranspose(1, 1, 2, pad_mode="valid", weight_init="ones")(ar(1, 1, 3)),
        ("Float32", [[[-1.0, -1.857143, -1.571429, -0.7142857]]]),
    )
    same(
        nn.Conv2dTranspose(1, 1, 2, pad_mode="valid", weight_init="ones")(ar(1, 1, 2, 2)),
        (
            "Float32",
            [[[[-1.0, -1.857143, -0.8571429], [-1.714286, -3.142857, -1.428571], [-0.7142857, -1.285714, -0.5714286]]]],
        ),
    )
    same(
        nn.Conv2dTranspose(1, 1, 3, stride=2, weight_init="ones")(ar(1, 1, 2, 2)),
        (
            "Float32",
            [
                [
                    [
                        [-1.0, -1.0, -1.857143, -0.8571429],
                        [-1.0, -1.0, -1.857143, -0.8571429],
                        [-1.714286, -1.714286, -3.142857, -1.428571],
                        [-0.7142857, -0.7142857, -1.285714, -0.5714286],
                    ]
                ]
            ],
        ),
    )
    same(nn.Conv3d(1, 1, 2, pad_mode="valid", weight_init="ones")(ar(1, 1, 2, 2, 2)), ("Float32", [[[[[-4.0]]]]]))


def test_pool():
    x = ar(1, 1, 4, 4)
    same(nn.MaxPool2d(2, 2)(x), ("Float32", [[[[-0.2857143, 0.0], [0.8571429, 1.142857]]]]))
    same(nn.AvgPool2d(2, 2)(x), ("Float32", [[[[-0.6428572, -0.3571429], [0.5, 0.7857143]]]]))
    same(
        nn.MaxPool2d(3, 1, pad_mode="same")(x),
        (
            "Float32",
            [
                [
                    [
                        [-0.2857143, -0.1428571, 0.0, 0.0],
                        [0.2857143, 0.4285714, 0.5714286, 0.5714286],
                        [0.8571429, 1.0, 1.142857, 1.142857],
                        [0.8571429, 1.0, 1.142857, 1.142857],
                    ]
                ]
            ],
        ),
    )
    same(nn.AvgPool2d(3, 2, pad_mode="same")(x), ("Float32", [[[[-0.2857143, -0.07142859], [0.5714286, 0.7857143]]]]))
    same(nn.MaxPool1d(2, 2)(ar(1, 1, 4)), ("Float32", [[[-0.8571429, -0.5714286]]]))
    same(nn.AvgPool1d(2, 2)(ar(1, 1, 4)), ("Float32", [[[-0.9285715, -0.6428572]]]))
    same(nn.AdaptiveAvgPool2d(2)(x), ("Float32", [[[[-0.6428571, -0.3571429], [0.5, 0.7857143]]]]))
    same(nn.AdaptiveMaxPool2d((1, 2))(x), ("Float32", [[[[0.8571429, 1.142857]]]]))
    same(nn.AdaptiveAvgPool1d(2)(ar(1, 1, 4)), ("Float32", [[[-0.9285715, -0.6428572]]]))
    same(
        nn.MaxPool2d(2, 1, pad_mode="pad", padding=1)(x),
        (
            "Float32",
            [
                [
                    [
                        [-1.0, -0.8571429, -0.7142857, -0.5714286, -0.5714286],
                        [-0.4285714, -0.2857143, -0.1428571, 0.0, 0.0],
                        [0.1428571, 0.2857143, 0.4285714, 0.5714286, 0.5714286],
                        [0.7142857, 0.8571429, 1.0, 1.142857, 1.142857],
                        [0.7142857, 0.8571429, 1.0, 1.142857, 1.142857],
                    ]
                ]
            ],
        ),
    )
    same(nn.MaxPool2d(), "MaxPool2d(kernel_size=1, stride=1, pad_mode=VALID)")
    same(
        nn.AvgPool2d(2, 1, pad_mode="pad", padding=1)(x),
        (
            "Float32",
            [
                [
                    [
                        [-0.25, -0.4642857, -0.3928571, -0.3214286, -0.1428571],
                        [-0.3571429, -0.6428572, -0.5, -0.3571429, -0.1428571],
                        [-0.07142857, -0.07142857, 0.07142857, 0.2142857, 0.1428571],
                        [0.2142857, 0.5, 0.6428571, 0.7857143, 0.4285715],
                        [0.1785714, 0.3928571, 0.4642857, 0.5357143, 0.2857143],
                    ]
                ]
            ],
        ),
    )
    same(nn.LPPool2d(1, 2)(x), ("Float32", [[[[-2.571429, -1.428572], [2.0, 3.142857]]]]))
    same(nn.MaxPool3d(2, 2)(ar(1, 1, 2, 2, 2)), ("Float32", [[[[[0.0]]]]]))


def test_pool_err():
    fails(lambda: nn.MaxPool2d(2, pad_mode="abc"), ValueError, "For 'MaxPool2d', the 'pad_mode' must be")
    fails(
        lambda: nn.MaxPool2d("a"),
        TypeError,
        "For 'MaxPool2d', the type of 'kernel_size' should be one of '['int', 'tuple']', but got ty",
    )


def test_bn():
    n = nn.BatchNorm2d(2)
    a = n(ar(1, 2, 2, 2))
    n.set_train()
    b = n(ar(1, 2, 2, 2))
    same(
        a,
        (
            "Float32",
            [[[[-0.999995, -0.8571386], [-0.7142822, -0.5714257]], [[-0.4285693, -0.2857129], [-0.1428564, 0.0]]]],
        ),
    )
    same(
        b,
        (
            "Float32",
            [[[[-1.341378, -0.4471258], [0.4471262, 1.341378]], [[-1.341378, -0.447126], [0.4471259, 1.341378]]]],
        ),
    )
    same(n.moving_mean, ("Float32", [-0.07857143, -0.02142857]))
    same(n.moving_variance, ("Float32", [0.9034013, 0.9034013]))
    same([p.name for p in n.get_parameters()], ["mean", "variance", "gamma", "beta"])
    same([p.name for p in n.trainable_params()], ["gamma", "beta"])


def test_bn1():
    n = nn.BatchNorm1d(3).set_train()
    same(n(ar(2, 3)), ("Float32", [[-0.9998913, -0.9998912, -0.9998912], [0.999891, 0.9998911, 0.9998911]]))
    same(n.moving_mean, ("Float32", [-0.07857143, -0.06428572, -0.05]))
    same(n.moving_variance, ("Float32", [0.9091836, 0.9091836, 0.9091836]))
    same(
        nn.BatchNorm1d(3)(ar(2, 3)),
        ("Float32", [[-0.999995, -0.8571386, -0.7142822], [-0.5714257, -0.4285693, -0.2857129]]),
    )


def test_ln():
    same(nn.LayerNorm((3,))(ar(2, 3)), ("Float32", [[-1.22474, 0.0, 1.22474], [-1.224741, 0.0, 1.22474]]))
    same(
        nn.LayerNorm([3], begin_norm_axis=1, begin_params_axis=1)(ar(2, 3)),
        ("Float32", [[-1.22474, 0.0, 1.22474], [-1.224741, 0.0, 1.22474]]),
    )
    same(
        nn.GroupNorm(1, 2)(ar(1, 2, 2, 2)),
        (
            "Float32",
            [[[[-1.527454, -1.091039], [-0.6546232, -0.2182078]], [[0.2182077, 0.6546231], [1.091039, 1.527454]]]],
        ),
    )
    same(nn.GroupNorm(2, 4), "GroupNorm(num_groups=2, num_channels=4)")
    fails(
        lambda: nn.LayerNorm(3),
        TypeError,
        "For 'LayerNorm', the type of 'normalized_shape' must be tuple[int] or list[int], but got 3",
    )


def test_emb():
    n = nn.Embedding(4, 2, embedding_table="ones")
    same(n(T([[0, 1], [2, 3]], ms.int32)), ("Float32", [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]))
    same(nn.Embedding(4, 2, True, "ones", padding_idx=0)(T([0, 1])), ("Float32", [[0.0, 0.0], [1.0, 1.0]]))
    same(nn.EmbeddingLookup(4, 2, "ones", target="CPU")(T([0, 1], ms.int32)), ("Float32", [[1.0, 1.0], [1.0, 1.0]]))
    same(n.embedding_table.name, "embedding_table")


def test_dropout():
    n = nn.Dropout(p=0.5)
    same(n(one(3)), ("Float32", [1.0, 1.0, 1.0]))
    same(nn.Dropout(keep_prob=0.5), "Dropout(keep_prob=0.5)")
    same(nn.Dropout(p=0.0), "Dropout(p=0.0)")
    fails(
        lambda: nn.Dropout(p=-0.1), ValueError, "For 'Dropout', the 'p' must be a number in range [0, 1), but got -0.1."
    )
    fails(lambda: nn.Dropout(p="a"), TypeError, "For 'Dropout', the type of 'p' should be one of")
    same(nn.Dropout1d(0.5)(one(1, 2, 3)), ("Float32", [[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]))
    same(n, "Dropout(p=0.5)")
