"""Layers, losses, optimizers, containers of Cells, as MindSpore 2.10 has them."""

import mindspore as ms
import mindspore.nn as nn
import numpy as np
from mindspore import Parameter, ParameterTuple, Tensor
from mindspore.nn import Adam, Momentum, TrainOneStepCell, WithLossCell

from tests.compat.dynamic.support import fails, same

T = Tensor

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


def test_cell_paramname():
    class N(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(T([1.0]), name="same")
            self.b = Parameter(T([1.0]), name="same")

    same(N(), "N()")


def test_cell_paramtuple():
    class N(nn.Cell):
        def __init__(self):
            super().__init__()
            self.t = ParameterTuple((Parameter(T([1.0]), name="x"), Parameter(T([2.0]), name="y")))

        def construct(self, x):
            return x + self.t[0] + self.t[1]

    n = N()
    same(n(T([1.0])), ("Float32", [4.0]))
    same([p.name for p in n.get_parameters()], ["x", "y"])
    same(ms.grad(n, None, n.t)(T([1.0])), (("Float32", [1.0]), ("Float32", [1.0])))


def test_seq_err():
    fails(
        lambda: nn.SequentialCell(1),
        TypeError,
        "For 'SequentialCell', the 'args[0]' must be Cell, list or orderedDict, but got int",
    )
    fails(
        lambda: nn.SequentialCell([nn.ReLU(), 1]),
        TypeError,
        "For 'insert_child_to_cell', the argument 'child_cell' must be 'Cell' if not None, but got ",
    )
    fails(
        lambda: nn.SequentialCell(nn.ReLU())[5],
        IndexError,
        "For 'SequentialCell', the value of 'index' must be a number in range [-1, 1), but got 5.",
    )
    fails(
        lambda: nn.SequentialCell(nn.ReLU()).append(1),
        TypeError,
        "For 'SequentialCell', each cell must be subclass of Cell, but got int.",
    )
    fails(
        lambda: nn.SequentialCell(nn.ReLU())["a"],
        TypeError,
        "For 'SequentialCell', the type of 'index' must be int, but got str.",
    )


def test_seq_od():
    from collections import OrderedDict

    s = nn.SequentialCell(OrderedDict([("x", nn.Dense(1, 1)), ("y", nn.ReLU())]))
    same(list(s.name_cells()), ["x", "y"])
    same([p.name for p in s.get_parameters()], ["x.weight", "x.bias"])
    same(s.x, "Dense(input_channels=1, output_channels=1, has_bias=True)")


def test_celllist():
    c = nn.CellList([nn.ReLU(), nn.Tanh()])
    c.append(nn.Sigmoid())
    c.insert(1, nn.ELU())
    c.extend([nn.ReLU()])
    c += [nn.Tanh()] if hasattr(c, "__iadd__") else []
    d = len(c)
    del c[0]
    same(d, 6)
    same(len(c), 5)
    same(c[0], "ELU()")
    same(c[1:3], "CellList(\n  (0): Tanh()\n  (1): Sigmoid()\n)")
    same([x.cls_name for x in c], ["ELU", "Tanh", "Sigmoid", "ReLU", "Tanh"])
    same(c, "CellList(\n  (0): ELU()\n  (1): Tanh()\n  (2): Sigmoid()\n  (3): ReLU()\n  (4): Tanh()\n)")


def test_celllist_err():
    fails(lambda: nn.CellList([1]), TypeError, "For 'CellList', each cell must be subclass of Cell, but got int.")
    fails(
        lambda: nn.CellList([nn.ReLU()])[3],
        IndexError,
        "For 'CellList', the value of 'index' must be a number in range [-1, 1), but got 3.",
    )
    fails(
        lambda: nn.CellList([nn.ReLU()]).append(1),
        TypeError,
        "For 'CellList', each cell must be subclass of Cell, but got int.",
    )
    fails(
        lambda: nn.CellList([nn.ReLU()]).insert(7, nn.ReLU()),
        IndexError,
        "For 'CellList', the value of 'index' must be a number in range [-1,",
    )
    fails(lambda: nn.CellList([nn.ReLU()])(ar(1)), NotImplementedError, "")
    fails(
        lambda: nn.CellList(1),
        TypeError,
        "For 'CellList', the new cells wanted to append should be instance of list, but got int.",
    )
    fails(
        lambda: nn.CellList([nn.ReLU()]).extend(1),
        TypeError,
        "For 'CellList', the new cells wanted to append should be instance of list, but got int.",
    )


def test_celldict():
    d = nn.CellDict({"a": nn.ReLU(), "b": nn.Tanh()})
    d["c"] = nn.Sigmoid()
    d.update({"a": nn.ELU()})
    x = d.pop("b")
    same(list(d.keys()), ["a", "c"])
    same(x, "Tanh()")
    same(len(d), 2)
    same("a" in d, True)
    same([v.cls_name for v in d.values()], ["ELU", "Sigmoid"])
    same([k for k, v in d.items()], ["a", "c"])
    same(d["a"], "ELU()")
    same(d, "CellDict(\n  (a): ELU()\n  (c): Sigmoid()\n)")


def test_celldict_err():
    d = nn.CellDict({"a": nn.ReLU()})
    fails(lambda: d["z"], KeyError, "'z'")
    same(nn.CellDict([("a", nn.ReLU())]), "CellDict(\n  (a): ReLU()\n)")


def test_tofloat():
    n = nn.Dense(3, 2, "ones").to_float(ms.float16)
    m = Net().to_float(ms.float16)
    same(m(ar(2, 3)).dtype, "Float16")
    same(n.weight.dtype, "Float32")


def test_graph_cell():
    ms.set_context(mode=ms.GRAPH_MODE)
    same(
        train(lambda n: Momentum(n.trainable_params(), 0.1, 0.9)),
        (
            [("Float32", 1.561225), ("Float32", 0.9441322), ("Float32", 0.2819909)],
            ("Float32", [[0.5676689, 0.6362574, 0.7048459], [0.5169605, 0.5948735, 0.6727867]]),
            ("Float32", [0.4801198, 0.5453917]),
        ),
    )
    same(
        train(lambda n: Adam(n.trainable_params(), 0.1)),
        (
            [("Float32", 1.561225), ("Float32", 0.9174491), ("Float32", 0.459768)],
            ("Float32", [[0.7078024, 0.7076147, 0.7073433], [0.7062935, 0.7061784, 0.7060099]]),
            ("Float32", [0.2911706, 0.2930945]),
        ),
    )


def test_init_attr():
    n = nn.Dense(3, 2)
    same(n.in_channels, 3)
    same(n.out_channels, 2)
    same(n.has_bias, True)
    same(n.activation_flag, False)
    same(nn.Conv2d(1, 2, 3).kernel_size, (3, 3))
    same(nn.Conv2d(1, 2, 3).pad_mode, "same")
    same(nn.Conv2d(1, 2, 3).weight.shape, (2, 1, 3, 3))
    same(nn.Conv2d(1, 2, 3, has_bias=True).bias.shape, (2,))
    same(nn.Conv2d(1, 2, 3).padding, 0)
    same(nn.LayerNorm((3,)).gamma.name, "gamma")
    same(nn.BatchNorm2d(3).gamma.name, "gamma")


def test_recompute():
    n = Net()
    n.recompute()
    same(
        ms.grad(n, None, n.trainable_params())(ar(2, 3)),
        (("Float32", [[-1.571429, -1.285714, -1.0], [-1.571429, -1.285714, -1.0]]), ("Float32", [2.0, 2.0])),
    )


def test_extend_repr():
    class N(nn.Cell):
        def __init__(self):
            super().__init__()
            self.d = nn.Dense(1, 1)

        def extend_repr(self):
            return "hello=1"

    same(repr(N()), "N(\n  hello=1\n  (d): Dense(input_channels=1, output_channels=1, has_bias=True)\n)")
    same(repr(nn.SequentialCell()), "SequentialCell()")
    same(repr(nn.CellList()), "CellList()")
    same(repr(nn.Dropout(p=0.5)), "Dropout(p=0.5)")
    same(repr(nn.MaxPool2d(2)), "MaxPool2d(kernel_size=2, stride=1, pad_mode=VALID)")
