"""Layers, losses, optimizers, containers of Cells, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Tensor, ops
from mindspore.nn import SGD, Momentum, TrainOneStepCell, WithLossCell

from tests.compat.dynamic.support import fails, same

T = Tensor

one = lambda *s: T(np.ones(s, np.float32))

ar = lambda *s: T((np.arange(np.prod(s)).reshape(s) / 7 - 1).astype(np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        return self.fc(x)


def train(optf, steps=3, loss=None):
    n = Net()
    o = optf(n)
    l = WithLossCell(n, loss or nn.MSELoss())
    s = TrainOneStepCell(l, o)
    s.set_train()
    ls = [s(ar(2, 3), ar(2, 2)) for _ in range(steps)]
    return (ls, n.fc.weight.value(), n.fc.bias.value())


def test_misc():
    x = ar(2, 3)
    same(nn.Flatten()(ar(2, 3, 2)).shape, (2, 6))
    same(nn.Flatten(0, 1)(ar(2, 3, 2)).shape, (6, 2))
    same(nn.Identity()(x), ("Float32", [[-1.0, -0.8571429, -0.7142857], [-0.5714286, -0.4285714, -0.2857143]]))
    same(
        nn.Pad(((1, 1), (0, 1)))(x),
        (
            "Float32",
            [
                [0.0, 0.0, 0.0, 0.0],
                [-1.0, -0.8571429, -0.7142857, 0.0],
                [-0.5714286, -0.4285714, -0.2857143, 0.0],
                [0.0, 0.0, 0.0, 0.0],
            ],
        ),
    )
    same(nn.Norm(axis=1)(x), ("Float32", [1.498298, 0.7693093]))
    same(nn.OneHot(depth=3)(T([0, 2], ms.int32)), ("Float32", [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    same(
        nn.ClipByNorm()(x, T(1.0)),
        ("Float32", [[-0.5937322, -0.5089134, -0.4240945], [-0.3392756, -0.2544567, -0.1696378]]),
    )
    same(nn.Tril()(x), ("Float32", [[-1.0, -0.0, -0.0], [-0.5714286, -0.4285714, -0.0]]))
    same(nn.Unflatten(1, (3, 1))(x).shape, (2, 3, 1))
    same(nn.PixelShuffle(2)(ar(1, 4, 1, 1)), ("Float32", [[[[-1.0, -0.8571429], [-0.7142857, -0.5714286]]]]))
    same(
        nn.ReflectionPad1d(1)(x),
        (
            "Float32",
            [
                [-0.8571429, -1.0, -0.8571429, -0.7142857, -0.8571429],
                [-0.4285714, -0.5714286, -0.4285714, -0.2857143, -0.4285714],
            ],
        ),
    )
    same(nn.ZeroPad2d(1)(ar(1, 1, 1, 1)), ("Float32", [[[[0.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 0.0]]]]))
    same(
        nn.ConstantPad1d(1, 5.0)(x),
        ("Float32", [[5.0, -1.0, -0.8571429, -0.7142857, 5.0], [5.0, -0.5714286, -0.4285714, -0.2857143, 5.0]]),
    )
    same(nn.ReplicationPad1d(1)(ar(1, 1, 3)), ("Float32", [[[-1.0, -1.0, -0.8571429, -0.7142857, -0.7142857]]]))
    same(
        nn.ChannelShuffle(2)(ar(1, 4, 1, 1)), ("Float32", [[[[-1.0]], [[-0.7142857]], [[-0.8571429]], [[-0.5714286]]]])
    )


def test_loss():
    x, y = (ar(2, 3), ar(2, 3) * 2)
    l = T([0, 2], ms.int32)
    same(nn.MSELoss()(x, y), ("Float32", 0.4727891))
    same(nn.L1Loss()(x, y), ("Float32", 0.6428571))
    same(nn.SmoothL1Loss()(x, y), ("Float32", [[0.5, 0.3673469, 0.255102], [0.1632653, 0.09183674, 0.04081633]]))
    same(nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(x, l), ("Float32", 1.105404))
    same(nn.SoftmaxCrossEntropyWithLogits()(x, y), ("Float32", [-5.766565, -2.924099]))
    same(nn.CrossEntropyLoss()(x, l), ("Float32", 1.105403))
    same(nn.BCELoss()(ops.sigmoid(x), T(np.ones((2, 3), np.float32))), ("Float32", 1.072069))
    same(nn.BCEWithLogitsLoss()(x, y), ("Float32", -0.5163659))
    same(nn.NLLLoss()(x, l), ("Float32", 0.6428571))
    same(nn.KLDivLoss()(x, ops.sigmoid(y)), ("Float32", -0.1954836))
    same(nn.HuberLoss()(x, y), ("Float32", 0.2363946))
    same(nn.CosineEmbeddingLoss()(x, y, T([1, -1], ms.int32)), ("Float32", 0.5))
    same(nn.MSELoss("none")(x, y), ("Float32", [[1.0, 0.7346939, 0.5102041], [0.3265306, 0.1836735, 0.08163266]]))
    same(nn.L1Loss("sum")(x, y), ("Float32", 3.857143))
    same(nn.RMSELoss()(x, y), ("Float32", 0.6875966))
    same(nn.MAELoss()(x, y), ("Float32", 0.6428571))
    same(nn.DiceLoss()(ops.sigmoid(x), y), ("Float32", 1.416))
    same(nn.FocalLoss()(ar(2, 3), ar(2, 3)), ("Float32", -0.3334752))
    same(nn.HingeEmbeddingLoss()(x, ops.sign(y)), ("Float32", 1.642857))
    same(nn.MarginRankingLoss()(x, y, ops.sign(y)), ("Float32", 0.6428571))
    same(nn.PoissonNLLLoss()(x, y), ("Float32", -0.4040072))
    same(nn.GaussianNLLLoss()(x, y, one(2, 3)), ("Float32", 0.2363946))
    same(nn.MultiLabelSoftMarginLoss()(x, y), ("Float32", -0.516366))
    same(nn.MultiMarginLoss()(x, T([0, 1])), ("Float32", 0.7380952))


def test_loss_err():
    fails(
        lambda: nn.MSELoss("abc"),
        ValueError,
        "For 'MSELoss', the 'reduction' must be in ['mean', 'sum', 'none'], but got abc.",
    )
    fails(
        lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=1),
        TypeError,
        "For 'SoftmaxCrossEntropyWithLogits', the 'sparse' must be a bool, but got int.",
    )
    fails(
        lambda: nn.SoftmaxCrossEntropyWithLogits(reduction="abc"),
        ValueError,
        "For 'SoftmaxCrossEntropyWithLogits', the 'reduction' must be in ['mean', 'sum', 'none'], b",
    )
    same(nn.BCELoss("x"), "BCELoss()")


def test_rnn():
    ms.set_seed(1)
    n = nn.LSTM(2, 3, 1, batch_first=True)
    [p.set_data(ops.ones_like(p) * 0.1) for p in n.get_parameters()]
    o, (h, c) = n(ar(2, 4, 2))
    same(
        o,
        (
            "Float32",
            [
                [
                    [0.003622322, 0.003622322, 0.003622322],
                    [0.02135158, 0.02135158, 0.02135158],
                    [0.04981238, 0.04981238, 0.04981238],
                    [0.08746393, 0.08746393, 0.08746393],
                ],
                [
                    [0.07436747, 0.07436747, 0.07436747],
                    [0.1464301, 0.1464301, 0.1464301],
                    [0.2186468, 0.2186468, 0.2186468],
                    [0.2912548, 0.2912548, 0.2912548],
                ],
            ],
        ),
    )
    same(h, ("Float32", [[[0.08746393, 0.08746393, 0.08746393], [0.2912548, 0.2912548, 0.2912548]]]))
    same(c, ("Float32", [[[0.1603875, 0.1603875, 0.1603875], [0.5119975, 0.5119975, 0.5119975]]]))
    same([p.name for p in n.get_parameters()], ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"])


def test_gru():
    n = nn.GRU(2, 3)
    [p.set_data(ops.ones_like(p) * 0.1) for p in n.get_parameters()]
    o, h = n(ar(4, 2, 2), T(np.zeros((1, 2, 3), np.float32)))
    same(
        o,
        (
            "Float32",
            [
                [[-0.01754499, -0.01754499, -0.01754499], [0.0111904, 0.0111904, 0.0111904]],
                [[0.02761121, 0.02761121, 0.02761121], [0.07011878, 0.07011878, 0.07011878]],
                [[0.1034709, 0.1034709, 0.1034709], [0.1515316, 0.1515316, 0.1515316]],
                [[0.1922779, 0.1922779, 0.1922779], [0.2410793, 0.2410793, 0.2410793]],
            ],
        ),
    )
    same(h, ("Float32", [[[0.1922779, 0.1922779, 0.1922779], [0.2410793, 0.2410793, 0.2410793]]]))
    same([p.name for p in n.get_parameters()], ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"])


def test_rnn1():
    n = nn.RNN(2, 3, bidirectional=True)
    [p.set_data(ops.ones_like(p) * 0.1) for p in n.get_parameters()]
    o, h = n(ar(4, 2, 2), T(np.zeros((2, 2, 3), np.float32)))
    same(
        o,
        (
            "Float32",
            [
                [
                    [0.01428474, 0.01428474, 0.01428474, 0.08143766, 0.08143766, 0.08143766],
                    [0.07130734, 0.07130734, 0.07130734, 0.1586217, 0.1586217, 0.1586217],
                ],
                [
                    [0.1320806, 0.1320806, 0.1320806, 0.2244423, 0.2244423, 0.2244423],
                    [0.2041953, 0.2041953, 0.2041953, 0.2951463, 0.2951463, 0.2951463],
                ],
                [
                    [0.2752, 0.2752, 0.2752, 0.332526, 0.332526, 0.332526],
                    [0.3463221, 0.3463221, 0.3463221, 0.3949334, 0.3949334, 0.3949334],
                ],
                [
                    [0.4133981, 0.4133981, 0.4133981, 0.3426949, 0.3426949, 0.3426949],
                    [0.4762959, 0.4762959, 0.4762959, 0.3921056, 0.3921056, 0.3921056],
                ],
            ],
        ),
    )
    same(
        h,
        (
            "Float32",
            [
                [[0.4133981, 0.4133981, 0.4133981], [0.4762959, 0.4762959, 0.4762959]],
                [[0.08143766, 0.08143766, 0.08143766], [0.1586217, 0.1586217, 0.1586217]],
            ],
        ),
    )


def test_rnncell():
    n = nn.LSTMCell(2, 3)
    [p.set_data(ops.ones_like(p) * 0.1) for p in n.get_parameters()]
    g = nn.GRUCell(2, 3)
    [p.set_data(ops.ones_like(p) * 0.1) for p in g.get_parameters()]
    r = nn.RNNCell(2, 3)
    [p.set_data(ops.ones_like(p) * 0.1) for p in r.get_parameters()]
    same(
        n(ar(1, 2), (ar(1, 3), ar(1, 3))),
        (("Float32", [[-0.2181326, -0.1966852, -0.1739993]]), ("Float32", [[-0.5442877, -0.4814903, -0.4186928]])),
    )
    same(g(ar(1, 2), ar(1, 3)), ("Float32", [[-0.5256441, -0.4628466, -0.4000491]]))
    same(r(ar(1, 2), ar(1, 3)), ("Float32", [[-0.2381927, -0.2381927, -0.2381927]]))
    same([p.name for p in n.get_parameters()], ["weight_ih", "weight_hh", "bias_ih", "bias_hh"])


def test_mha():
    n = nn.MultiheadAttention(4, 2)
    [p.set_data(ops.ones_like(p) * 0.1) for p in n.get_parameters()]
    same(
        n(ar(2, 1, 4), ar(2, 1, 4), ar(2, 1, 4)),
        (
            (
                "Float32",
                [
                    [[0.05841736, 0.05841736, 0.05841736, 0.05841736]],
                    [[0.06010554, 0.06010554, 0.06010554, 0.06010554]],
                ],
            ),
            ("Float32", [[[0.51731, 0.48269], [0.4988456, 0.5011545]]]),
        ),
    )


def test_trans():
    n = nn.TransformerEncoderLayer(4, 2, 8, 0.0)
    [p.set_data(ops.ones_like(p) * 0.1) for p in n.get_parameters()]
    same(n(ar(2, 1, 4)).shape, (2, 1, 4))


def test_opt_mom():
    same(
        train(lambda n: Momentum(n.trainable_params(), 0.1, 0.9)),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.2819909)],
            ("Float32", [[0.5676689, 0.6362574, 0.7048459], [0.5169605, 0.5948735, 0.6727867]]),
            ("Float32", [0.4801198, 0.5453917]),
        ),
    )
    same(
        train(lambda n: Momentum(n.trainable_params(), 0.1, 0.9, loss_scale=2.0)),
        (
            [("Float32", 1.561225), ("Float32", 1.232095), ("Float32", 0.7475457)],
            ("Float32", [[0.7594684, 0.7979707, 0.8364729], [0.7311282, 0.7748101, 0.8184921]]),
            ("Float32", [0.2695159, 0.3057736]),
        ),
    )


def test_opt_sgd():
    same(
        train(lambda n: SGD(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.5833159)],
            ("Float32", [[0.7758983, 0.8113526, 0.8468068], [0.7496504, 0.7899405, 0.8302304]]),
            ("Float32", [0.2481796, 0.2820301]),
        ),
    )
    same(
        train(lambda n: SGD(n.trainable_params(), 0.1, momentum=0.9, nesterov=True)),
        (
            [("Float32", 1.561225), ("Float32", 0.5295425), ("Float32", 0.09470034)],
            ("Float32", [[0.5055906, 0.5822644, 0.6589382], [0.4482612, 0.5356402, 0.6230193]]),
            ("Float32", [0.5367164, 0.6116534]),
        ),
    )
    same(
        train(lambda n: SGD(n.trainable_params(), 0.1, 0.9, 0.5)),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.393744)],
            ("Float32", [[0.6510591, 0.7068163, 0.7625734], [0.6099826, 0.6732563, 0.7365299]]),
            ("Float32", [0.3903, 0.4429157]),
        ),
    )
    same(
        train(lambda n: SGD(n.trainable_params(), 0.1, weight_decay=0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9055814), ("Float32", 0.5352623)],
            ("Float32", [[0.7531371, 0.787455, 0.8217729], [0.7271711, 0.7662731, 0.805375]]),
            ("Float32", [0.2402253, 0.2737138]),
        ),
    )
