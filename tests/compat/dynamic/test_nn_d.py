"""Layers, losses, optimizers, containers of Cells, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Parameter, Tensor
from mindspore.nn import TrainOneStepCell, WithLossCell
from mindspore.nn.wrap.cell_wrapper import WithGradCell

from tests.compat.dynamic.support import fails, same

T = Tensor

ar = lambda *s: T((np.arange(np.prod(s)).reshape(s) / 7 - 1).astype(np.float32))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")

    def construct(self, x):
        return self.fc(x)


class Sub(nn.Cell):
    def __init__(self):
        super().__init__(auto_prefix=True)
        self.a = Net()
        self.b = nn.SequentialCell(nn.Dense(2, 2), nn.ReLU())
        self.p = Parameter(T([1.0]), name="pp")
        self.q = Parameter(T([1.0]))
        self.l = nn.CellList([nn.Dense(1, 1)])

    def construct(self, x):
        return self.b(self.a(x))


def test_wlc():
    n = Net()
    w = WithLossCell(n, nn.MSELoss())
    same(w.backbone_network is n, True)
    same(w(ar(2, 3), ar(2, 2)), ("Float32", 1.561225))
    same(
        nn.WithEvalCell(n, nn.MSELoss())(ar(2, 3), ar(2, 2)),
        (
            ("Float32", 1.561225),
            ("Float32", [[-2.571429, -2.571429], [-1.285714, -1.285714]]),
            ("Float32", [[-1.0, -0.8571429], [-0.7142857, -0.5714286]]),
        ),
    )
    same(
        nn.ForwardValueAndGrad(w, n.trainable_params(), get_by_list=True)(ar(2, 3), ar(2, 2)),
        (
            ("Float32", 1.561225),
            (
                ("Float32", [[0.9489797, 0.7959185, 0.6428573], [1.061225, 0.8877552, 0.7142858]]),
                ("Float32", [-1.071429, -1.214286]),
            ),
        ),
    )


def test_withgrad():
    n = Net()
    same(
        WithGradCell(n, nn.MSELoss())(ar(2, 3), ar(2, 2)),
        (
            ("Float32", [[0.9489797, 0.7959185, 0.6428573], [1.061225, 0.8877552, 0.7142858]]),
            ("Float32", [-1.071429, -1.214286]),
        ),
    )
    same(
        nn.ForwardValueAndGrad(n, get_all=True, sens_param=True)(ar(2, 3), ar(2, 2)),
        (
            ("Float32", [[-2.571429, -2.571429], [-1.285714, -1.285714]]),
            (("Float32", [[-1.857143, -1.857143, -1.857143], [-1.285714, -1.285714, -1.285714]]),),
        ),
    )


def test_fvg_err():
    fails(
        lambda: nn.ForwardValueAndGrad(Net(), get_all=1),
        TypeError,
        "For 'ForwardValueAndGrad', the type of 'get_all' must be bool, but got",
    )
    fails(lambda: TrainOneStepCell(1, 2), AttributeError, "'int' object has no attribute 'set_grad'")
    same(WithLossCell(1, 2), "WithLossCell()")


def test_lr():
    same(nn.piecewise_constant_lr([2, 4], [0.1, 0.05]), [0.1, 0.1, 0.05, 0.05])
    same(nn.exponential_decay_lr(0.1, 0.9, 4, 2, 1), [0.1, 0.1, 0.09, 0.09])
    same(nn.natural_exp_decay_lr(0.1, 0.9, 4, 2, 1, True), [0.1, 0.1, 0.04065697, 0.04065697])
    same(nn.inverse_decay_lr(0.1, 0.5, 4, 1, 1, True), [0.1, 0.06666667, 0.05, 0.04])
    same(nn.cosine_decay_lr(0.01, 0.1, 4, 2, 2), [0.1, 0.1, 0.055, 0.055])
    same(nn.warmup_lr(0.1, 4, 2, 2), [0.0, 0.0, 0.05, 0.05])
    same(nn.CosineDecayLR(0.01, 0.1, 4)(T(2)), ("Float32", 0.055))
    same(nn.WarmUpLR(0.1, 4)(T(2)), ("Float32", 0.05))
    same(nn.ExponentialDecayLR(0.1, 0.9, 4, True)(T(5)), ("Float32", 0.09))
    same(nn.InverseDecayLR(0.1, 0.5, 4, True)(T(5)), ("Float32", 0.06666667))
    same(nn.NaturalExpDecayLR(0.1, 0.9, 4)(T(2)), ("Float32", 0.01652989))
    same(nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5)(T(2)), ("Float32", 0.07363961))


def test_lr_err():
    fails(
        lambda: nn.piecewise_constant_lr([2], [0.1, 0.05]),
        ValueError,
        "For 'piecewise_constant_lr', the size of 'milestone' must be same with the size of 'learni",
    )
    fails(
        lambda: nn.cosine_decay_lr(0.1, 0.01, 4, 2, 2),
        ValueError,
        "For 'cosine_decay_lr', the 'max_lr' must be greater than the 'min_lr', but got 'max_lr' va",
    )
    fails(
        lambda: nn.ExponentialDecayLR(0, 0.9, 4),
        TypeError,
        "For 'ExponentialDecayLR', the 'learning_rate' must be float, but got 'int'",
    )
    fails(
        lambda: nn.CosineDecayLR(0.1, 0.01, 4),
        ValueError,
        "For 'CosineDecayLR', the 'max_lr' must be greater than the 'min_lr', but got 'max_lr' valu",
    )
    fails(
        lambda: nn.WarmUpLR(0.1, 0),
        ValueError,
        "For 'WarmUpLR', the 'warmup_steps' must be int and must > 0, but got '0' with type 'int'.",
    )


def test_cell1():
    n = Sub()
    same(
        [p.name for p in n.get_parameters()],
        ["pp", "q", "a.fc.weight", "a.fc.bias", "b.0.weight", "b.0.bias", "l.0.weight", "l.0.bias"],
    )
    same(
        list(n.parameters_dict()),
        ["pp", "q", "a.fc.weight", "a.fc.bias", "b.0.weight", "b.0.bias", "l.0.weight", "l.0.bias"],
    )
    same([k for k, _ in n.cells_and_names()], ["", "a", "a.fc", "b", "b.0", "b.1", "l", "l.0"])
    same([k for k, _ in n.name_cells().items()], ["a", "b", "l"])
    same(
        [p.name for p in n.trainable_params()],
        ["pp", "q", "a.fc.weight", "a.fc.bias", "b.0.weight", "b.0.bias", "l.0.weight", "l.0.bias"],
    )
    same([p.name for p in n.untrainable_params()], [])
    same(
        [k for k, _ in n.parameters_and_names()],
        ["p", "q", "a.fc.weight", "a.fc.bias", "b.0.weight", "b.0.bias", "l.0.weight", "l.0.bias"],
    )
    same(len(list(n.cells())), 3)
    same(n.training, False)
    same(n.set_train().training, True)
    same(n.a.training, True)
    same(n.set_train(False).training, False)
    same(n.cls_name, "Sub")
    same(n.phase, "predict")
    same(n.get_flags(), {"training": False})
    same(n.param_prefix, "")
    same(n.a.param_prefix, "")
    same(n.cell_type, None)


def test_cell2():
    n = Sub()
    n.insert_child_to_cell("zz", nn.ReLU())
    n.insert_param_to_cell("pz", Parameter(T([2.0]), name="pz"))
    n.update_parameters_name("pre.")
    same(
        [p.name for p in n.get_parameters()],
        [
            "pre.p",
            "pre.q",
            "pre.pz",
            "pre.a.fc.weight",
            "pre.a.fc.bias",
            "pre.b.0.weight",
            "pre.b.0.bias",
            "pre.l.0.weight",
            "pre.l.0.bias",
        ],
    )
    same(list(n.name_cells()), ["a", "b", "l", "zz"])
    same(n.set_grad().requires_grad, True)
    same(n.set_comm_fusion(2) is n, True)
    same(n.to_float(ms.float16) is n, True)
    same(n.add_flags(x=1) is n, True)


def test_cell_err():
    n = Net()
    same(n.insert_child_to_cell("fc", nn.ReLU()), None)
    fails(
        lambda: n.insert_child_to_cell(1, nn.ReLU()),
        TypeError,
        "For 'insert_child_to_cell', the type of parameter 'child_name' must be str, but got <class",
    )
    fails(
        lambda: n.insert_child_to_cell("a.b", nn.ReLU()),
        KeyError,
        "\"For 'insert_child_to_cell', the parameter 'child_name' can not be None and can not contai",
    )
    fails(
        lambda: n.insert_param_to_cell("", Parameter(T([1.0]), name="x")),
        KeyError,
        "\"For 'insert_param_to_cell', the argument 'param_name' should not be None.\"",
    )
    fails(
        lambda: n.insert_param_to_cell("a.b", Parameter(T([1.0]), name="x")),
        KeyError,
        "\"For 'insert_param_to_cell', the argument 'param_name' should not contain'.' \"",
    )
    fails(
        lambda: n.insert_param_to_cell("x", 3),
        TypeError,
        "For 'insert_param_to_cell', the argument 'param' must be 'Parameter' if not None, but got ",
    )
    same(n.set_train("a"), "Net(\n  (fc): ReLU()\n)")
    fails(
        lambda: n.to_float(ms.int32),
        ValueError,
        "For 'to_float', the argument 'dst_type' must be mstype.float32, mstype.float16 or mstype.b",
    )
    fails(
        lambda: n.insert_child_to_cell("k", 3),
        TypeError,
        "For 'insert_child_to_cell', the argument 'child_cell' must be 'Cell' if not None, but got ",
    )
    same(n.set_grad(3), "Net(\n  (fc): ReLU()\n)")
    fails(
        lambda: n.to_float("a"),
        ValueError,
        "For 'to_float', the argument 'dst_type' must be mstype.float32, mstype.float16 or mstype.b",
    )
    fails(lambda: n.abc, AttributeError, "The 'Net' object has no attribute 'abc'.")


def test_cell_call():
    n = Net()
    fails(lambda: n(), TypeError, "Net.construct() missing 1 required positional argument: 'x'")
    fails(lambda: n(ar(2, 3), ar(2, 3)), TypeError, "Net.construct() takes 2 positional arguments but 3 were given")
    same(n(x=ar(2, 3)), ("Float32", [[-2.571429, -2.571429], [-1.285714, -1.285714]]))
    fails(lambda: n(y=ar(2, 3)), TypeError, "Net.construct() got an unexpected keyword argument 'y'")
    fails(lambda: nn.Cell()(ar(1)), AttributeError, "For 'Cell', the method 'construct' is not defined.")
    same(n.construct(ar(2, 3)), ("Float32", [[-2.571429, -2.571429], [-1.285714, -1.285714]]))


def test_cell_setattr():
    n = Net()
    n.w2 = Parameter(T([1.0]), name="w2")
    a = list(n.parameters_dict())
    n.fc = nn.ReLU()
    b = list(n.parameters_dict())
    n.zz = 3
    del n.w2
    same(a, ["w2", "fc.weight", "fc.bias"])
    same(b, ["w2"])
    same(n.zz, 3)
    same(list(n.parameters_dict()), [])


def test_cell_setattr_err():
    def program():
        n = Net()
        n.w2 = Parameter(T([1.0]), name="w2")
        n.w2 = T([3.0])
        a = n.w2
        n.fc = 3
        return a

    fails(
        program, TypeError, "Sub cell 'fc' already exists in network, can not assign this type: '<class 'int'>' as a ce"
    )


def test_cell_setattr_err2():
    n = Net()
    n.fc = None
    same(n.fc, None)
