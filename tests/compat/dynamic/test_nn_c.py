"""Layers, losses, optimizers, containers of Cells, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Tensor
from mindspore.nn import SGD, Adam, Momentum, TrainOneStepCell, WithLossCell
from mindspore.nn.optim import RMSProp
from mindspore.nn.wrap.loss_scale import (
    FixedLossScaleUpdateCell,
)

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


def test_opt_adam():
    same(
        train(lambda n: Adam(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9174491), ("Float32", 0.459768)],
            ("Float32", [[0.7078024, 0.7076147, 0.7073433], [0.7062935, 0.7061784, 0.7060099]]),
            ("Float32", [0.2911706, 0.2930945]),
        ),
    )
    same(
        train(lambda n: Adam(n.trainable_params(), 0.1, use_nesterov=True)),
        (
            [("Float32", 1.561225), ("Float32", 0.4917769), ("Float32", 0.1503319)],
            ("Float32", [[0.6056403, 0.6042249, 0.6021711], [0.5947893, 0.5938897, 0.5925705]]),
            ("Float32", [0.3866834, 0.4004558]),
        ),
    )
    same(
        train(lambda n: Adam(n.trainable_params(), 0.1, weight_decay=0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9174491), ("Float32", 0.459445)],
            ("Float32", [[0.7069409, 0.7066478, 0.7062481], [0.7057306, 0.7055386, 0.7052723]]),
            ("Float32", [0.2905386, 0.2926245]),
        ),
    )
    same(
        train(lambda n: nn.AdamWeightDecay(n.trainable_params(), 0.1, weight_decay=0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.1283761), ("Float32", 0.6666077)],
            ("Float32", [[0.2594831, 0.2487545, 0.232793], [0.1799768, 0.1721119, 0.1604038]]),
            ("Float32", [0.6562862, 0.7503697]),
        ),
    )
    same(
        train(lambda n: nn.Adam(n.trainable_params(), 0.1, use_amsgrad=True)),
        (
            [("Float32", 1.561225), ("Float32", 0.9174491), ("Float32", 0.4597681)],
            ("Float32", [[0.7078024, 0.7076147, 0.7073433], [0.7062935, 0.7061784, 0.7060098]]),
            ("Float32", [0.2911706, 0.2930945]),
        ),
    )


def test_opt_more():
    same(
        train(lambda n: nn.RMSProp(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9439458), ("Float32", 0.5758872)],
            ("Float32", [[0.7704356, 0.8029585, 0.8372723], [0.7467462, 0.7823725, 0.8204365]]),
            ("Float32", [0.250066, 0.2790532]),
        ),
    )
    same(
        train(lambda n: nn.RMSProp(n.trainable_params(), 0.1, centered=True)),
        (
            [("Float32", 1.561225), ("Float32", 0.9412881), ("Float32", 0.5697939)],
            ("Float32", [[0.7680314, 0.801523, 0.8365473], [0.7435234, 0.780441, 0.8194658]]),
            ("Float32", [0.2532117, 0.283441]),
        ),
    )
    same(
        train(lambda n: nn.Adagrad(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 1.554307), ("Float32", 1.549293)],
            ("Float32", [[0.9977981, 0.9978292, 0.9978815], [0.9977826, 0.9978086, 0.9978533]]),
            ("Float32", [0.002218273, 0.002232148]),
        ),
    )
    same(
        train(lambda n: nn.FTRL(n.trainable_params())),
        (
            [("Float32", 1.561225), ("Float32", 0.299824), ("Float32", 0.298678)],
            ("Float32", [[0.6822851, 0.6292127, 0.5570943], [0.7126669, 0.6627089, 0.5934882]]),
            ("Float32", [0.001561581, 0.001761728]),
        ),
    )
    same(
        train(lambda n: nn.AdaMax(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9174491), ("Float32", 0.5026846)],
            ("Float32", [[0.7395019, 0.7390155, 0.7382975], [0.7354181, 0.7350731, 0.7345605]]),
            ("Float32", [0.2579689, 0.2628162]),
        ),
    )
    same(
        train(lambda n: nn.Adadelta(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 1.558906), ("Float32", 1.556529)],
            ("Float32", [[0.9990297, 0.9990297, 0.9990297], [0.9990297, 0.9990297, 0.9990297]]),
            ("Float32", [0.0009702955, 0.0009703496]),
        ),
    )
    same(
        train(lambda n: nn.ASGD(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9440932), ("Float32", 0.5832688)],
            ("Float32", [[0.7758765, 0.8113294, 0.8467823], [0.7496291, 0.7899177, 0.8302063]]),
            ("Float32", [0.2481702, 0.2820202]),
        ),
    )
    same(
        train(lambda n: nn.Rprop(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9174491), ("Float32", 0.3822488)],
            ("Float32", [[0.636, 0.636, 0.636], [0.636, 0.636, 0.636]]),
            ("Float32", [0.364, 0.364]),
        ),
    )
    same(
        train(lambda n: nn.ProximalAdagrad(n.trainable_params())),
        (
            [("Float32", 1.561225), ("Float32", 1.554307), ("Float32", 1.549293)],
            ("Float32", [[0.9977981, 0.9978292, 0.9978815], [0.9977826, 0.9978086, 0.9978533]]),
            ("Float32", [0.002218273, 0.002232149]),
        ),
    )
    same(
        train(lambda n: nn.LazyAdam(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9174491), ("Float32", 0.459768)],
            ("Float32", [[0.7078024, 0.7076147, 0.7073433], [0.7062935, 0.7061784, 0.7060099]]),
            ("Float32", [0.2911706, 0.2930945]),
        ),
    )


def test_opt_lr():
    same(
        train(lambda n: Momentum(n.trainable_params(), [0.1, 0.05, 0.01], 0.9)),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.5560497)],
            ("Float32", [[0.8061798, 0.8372474, 0.868315], [0.7833273, 0.8185678, 0.8538081]]),
            ("Float32", [0.2174734, 0.2466828]),
        ),
    )
    same(
        train(lambda n: Momentum(n.trainable_params(), T([0.1, 0.05, 0.01]), 0.9)),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.5560497)],
            ("Float32", [[0.8061798, 0.8372474, 0.868315], [0.7833273, 0.8185678, 0.8538081]]),
            ("Float32", [0.2174734, 0.2466828]),
        ),
    )
    same(
        train(lambda n: Momentum(n.trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 2), 0.9)),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.3048676)],
            ("Float32", [[0.5920165, 0.6567992, 0.7215819], [0.5441426, 0.6177233, 0.6913042]]),
            ("Float32", [0.4534791, 0.5150656]),
        ),
    )
    same(
        train(lambda n: Momentum(n.trainable_params(), T(0.1), 0.9)),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.2819909)],
            ("Float32", [[0.5676689, 0.6362574, 0.7048459], [0.5169605, 0.5948735, 0.6727867]]),
            ("Float32", [0.4801198, 0.5453917]),
        ),
    )
    same(
        train(lambda n: SGD(n.trainable_params(), nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5))),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.6217226)],
            ("Float32", [[0.7980313, 0.830079, 0.8621265], [0.7743402, 0.8107437, 0.8471473]]),
            ("Float32", [0.2243333, 0.2548249]),
        ),
    )


def test_opt_group():
    n = Net()
    ps = [
        {"params": [n.fc.weight], "lr": 0.05, "weight_decay": 0.1},
        {"params": [n.fc.bias]},
        {"order_params": n.trainable_params()},
    ]
    o = Momentum(ps, 0.1, 0.9)
    s = TrainOneStepCell(WithLossCell(n, nn.MSELoss()), o)
    s(ar(2, 3), ar(2, 2))
    same(n.fc.weight.value(), ("Float32", [[0.947551, 0.9552041, 0.9628571], [0.9419388, 0.9506122, 0.9592857]]))
    same(n.fc.bias.value(), ("Float32", [0.1071429, 0.1214286]))
    same(o.is_group, True)
    same(o.is_group_lr, True)
    same([p.name for p in o.parameters], ["fc.weight", "fc.bias"])
    same(o.get_lr_parameter(n.fc.weight), ("Float32", 0.05))


def test_opt_attr():
    n = Net()
    o = Momentum(n.trainable_params(), 0.1, 0.9)
    same(o.learning_rate, ("Float32", 0.1))
    same(o.get_lr(), ("Float32", 0.1))
    same(o.global_step, ("Int32", [0]))
    same(
        [p.name for p in o.get_parameters()],
        ["global_step", "learning_rate", "fc.weight", "fc.bias", "momentum", "moments.fc.weight", "moments.fc.bias"],
    )
    same(o.momentum, ("Float32", 0.9))
    same(o.loss_scale, 1.0)
    same(o.unique, True)
    same(o.target, "CPU")
    same(o.moments, (("Float32", [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), ("Float32", [0.0, 0.0])))


def test_opt_attr2():
    n = Net()
    o = Adam(n.trainable_params(), 0.1)
    same(
        [p.name for p in o.get_parameters()],
        [
            "global_step",
            "learning_rate",
            "fc.weight",
            "fc.bias",
            "beta1_power",
            "beta2_power",
            "moment1.fc.weight",
            "moment1.fc.bias",
            "moment2.fc.weight",
            "moment2.fc.bias",
        ],
    )
    same(o.beta1_power, ("Float32", 1.0))
    same(o, "Adam()")


def test_opt_err():
    n = Net()
    p = n.trainable_params()
    fails(
        lambda: Momentum(p, 0.1, -0.1),
        ValueError,
        "For 'Momentum', the argument 'momentum' must be at least 0.0, but got -0.1",
    )
    fails(
        lambda: Momentum(p, 0.1, "a"),
        TypeError,
        "For 'Momentum', the type of 'momentum' should be 'float', but got type 'str'.",
    )
    fails(
        lambda: Adam(p, beta1=1.5),
        ValueError,
        "For 'Adam', the 'beta1' must be in range of (0.0, 1.0), but got 1.5 with type 'float'.",
    )
    fails(
        lambda: Adam(p, beta1="a"), TypeError, "For 'Adam', the type of 'beta1' should be 'float', but got type 'str'."
    )
    fails(lambda: Adam(p, eps=0), TypeError, "For 'Adam', the type of 'eps' should be 'float', but got type 'int'.")
    fails(
        lambda: Momentum(p, 0.1, 0.9, weight_decay=-1.0),
        ValueError,
        "For 'Momentum', the 'weight_decay' must be float and must >= 0, but got '-1.0' with type '",
    )
    fails(
        lambda: Momentum([1], 0.1, 0.9),
        TypeError,
        "For 'Optimizer', all elements of the argument 'parameters' must be 'Parameter' or 'dict', ",
    )
    fails(
        lambda: SGD(p, 0.1, -0.5), ValueError, "For 'SGD', the argument 'momentum' must be at least 0.0, but got -0.5."
    )
    fails(
        lambda: SGD(p, 0.1, nesterov=True),
        ValueError,
        "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must equal to 0",
    )
    fails(
        lambda: Momentum(p, 0.1, 0.9, loss_scale=-1.0),
        ValueError,
        "For 'Momentum', the 'loss_scale' must be float and must > 0, but got '-1.0' with type 'flo",
    )
    fails(lambda: RMSProp(p, 0.1, epsilon=-1.0), ValueError, "For 'RMSProp', the 'epsilon' must be float and must >")
    fails(
        lambda: Momentum(p, -1.0, 0.9),
        ValueError,
        "For 'Momentum', the 'learning rate' must be float and must >= 0, but got '-1.0' with type ",
    )
    fails(
        lambda: Momentum([{"params": []}], 0.1, 0.9),
        ValueError,
        "For 'Optimizer', the argument group `params` must not be empty.",
    )
    fails(
        lambda: Momentum([{"param": p}], 0.1, 0.9),
        KeyError,
        "\"For 'Optimizer', the key in group params must be one of in ['params', 'lr', 'weight_decay",
    )


def test_functional():
    n = Net()
    o = nn.SGD(n.trainable_params(), 0.1)
    lf = nn.MSELoss()

    def fwd(x, y):
        z = n(x)
        return (lf(z, y), z)

    g = ms.value_and_grad(fwd, None, o.parameters, has_aux=True)
    (l, z), gr = g(ar(2, 3), ar(2, 2))
    r = o(gr)
    same(l, ("Float32", 1.561225))
    same(z, ("Float32", [[-2.571429, -2.571429], [-1.285714, -1.285714]]))
    same(
        gr,
        (
            ("Float32", [[0.9489797, 0.7959185, 0.6428573], [1.061225, 0.8877552, 0.7142858]]),
            ("Float32", [-1.071429, -1.214286]),
        ),
    )
    same(r, (True, True))
    same(n.fc.weight.value(), ("Float32", [[0.905102, 0.9204081, 0.9357142], [0.8938776, 0.9112245, 0.9285714]]))


def test_lossscale2():
    n = Net()
    s = nn.TrainOneStepWithLossScaleCell(
        nn.WithLossCell(n, nn.MSELoss()), Momentum(n.trainable_params(), 0.1, 0.9), scale_sense=T(16.0)
    )
    same(s.set_sense_scale(T(8.0)), None)
    same(FixedLossScaleUpdateCell(8.0), "FixedLossScaleUpdateCell()")
