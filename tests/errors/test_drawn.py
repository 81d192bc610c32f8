"""What stands below the message of a user's mistake: the kind, the user's expression with the operands, a way out.

The mistakes are those that users make first. Each is made in dynamic mode, compiled, and in GRAPH_MODE: class, message
and drawing are the same.
"""

from __future__ import annotations

import numpy as np
import pytest

import duograph as ms
from duograph import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(8, 4)

    def construct(self, x):
        return self.fc1(x)


class Truth(nn.Cell):
    def construct(self, x):
        return ops.relu(x) if x else x


class Reshape(nn.Cell):
    def construct(self, x):
        return x.reshape(5, -1)


class Sum(nn.Cell):
    def construct(self, x):
        return x + x[:, 1:]


class Number(nn.Cell):
    def construct(self, x):
        return x * float(x)


class Ragged(nn.Cell):
    def construct(self, x):
        return x + Tensor([[1, 2], [3]]).sum()


class Write(nn.Cell):
    def construct(self, x):
        y = x * 2
        y[9] = 1.0
        return y


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 3)

    def construct(self, x):
        return self.rnn(x)


class Loss(nn.Cell):
    def __init__(self):
        super().__init__()
        self.loss = nn.CrossEntropyLoss()

    def construct(self, x):
        return self.loss(x, Tensor([0, 9], ms.int32))


def ones(dtype=np.float32):
    return np.ones((2, 8), dtype)


WRONG_DTYPE = "the input 'x' has dtype {}, but the parameter 'fc1.weight' has dtype float32. Convert the input with"
MISTAKES = {
    "array": (Net, lambda: ones(), TypeError, "must be a Tensor, but got numpy.ndarray", "DG0404", "Dense (fc1)"),
    "int": (Net, lambda: Tensor(ones(np.int32)), TypeError, WRONG_DTYPE.format("int32"), "DG0401", "self.fc1(x)"),
    "half": (Net, lambda: Tensor(ones(np.float16)), TypeError, WRONG_DTYPE.format("float16"), "DG0401", "f16[2,8]"),
    "double": (Net, lambda: Tensor(ones(np.float64)), TypeError, WRONG_DTYPE.format("float64"), "DG0401", "f64[2,8]"),
    "width": (Net, lambda: Tensor(ones()[:, 1:]), ValueError, "(in the layer 'Dense (fc1)'", "DG0412", "f32[2,7]"),
    "reshape": (Reshape, lambda: Tensor(ones()), ValueError, "size 16", "DG0413", "help: 16 elements"),
    "sizes": (Sum, lambda: Tensor(ones()), ValueError, "need to broadcast", "DG0410", "help: counted from the last"),
    "truth": (Truth, lambda: Tensor(ones()), ValueError, "more than one element", "DG0420", "help: x.any()"),
    "number": (Number, lambda: Tensor(ones()), ValueError, "Only one element", "DG0420", "x.tolist() all of them"),
    "ragged": (Ragged, lambda: Tensor(ones()), TypeError, "unsupported element", "DG0404", "rows must have one length"),
    "write": (Write, lambda: Tensor(ones()), IndexError, "out of bounds for axis 0", "DG0414", "9 is not in [-2, 2)"),
    "recurrent": (
        Recurrent,
        lambda: Tensor(ones()),
        ValueError,
        "(in the layer 'LSTM (rnn)')",
        "DG0405",
        "self.rnn(x)",
    ),
    "label": (Loss, lambda: Tensor(ones()), RuntimeError, "classes in [0, 8), but got: 9", None, "self.loss"),
}


def error_of(net, x, kind):
    with pytest.raises(kind) as caught:
        net(x)
    assert type(caught.value) is kind
    return str(caught.value), "\n".join(getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_drawn_alike_in_all_modes(name):
    make, argument, kind, message, code, drawn = MISTAKES[name]
    dynamic = error_of(make(), argument(), kind)
    assert message in dynamic[0] and drawn in dynamic[1] and "^" in dynamic[1]
    assert dynamic[1].startswith(f"error[{code}]: ") or code is None
    compiled = make()
    compiled.construct = ms.jit(compiled.construct)
    assert error_of(compiled, argument(), kind) == dynamic
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert error_of(make(), argument(), kind) == dynamic
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_model_without_a_loss():
    net = Net()
    model = ms.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1))
    columns = {"x": ones(), "y": np.zeros(2, np.int32)}
    data = ms.dataset.NumpySlicesDataset(columns, ["x", "y"]).batch(2)
    with pytest.raises(TypeError, match="Give Model a 'loss_fn'") as caught:
        model.train(1, data)
    assert "error[DG0403]" in caught.value.__notes__[0] and "model.train(1, data)" in caught.value.__notes__[0]


def test_a_program_that_catches_sees_the_exception_of_mindspore():
    """Nothing of the drawing is in the text, the arguments or the class."""

    def caught(x):
        try:
            return x.reshape(5, -1)
        except ValueError as error:
            return error.args, str(error)

    words = "proposed_shape '[const vector]{5, -1}' is invalid for input of size 16"
    assert caught(Tensor(ones())) == ((words,), words) == ms.jit(caught)(Tensor(ones()))
